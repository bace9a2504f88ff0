"""The passes in their order (R2.1): expand, bind, add features, render, check, weigh."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from backshop.rails.definition import template, workflow
from backshop.rails.definition.finding import Finding, Findings, TooManyFindings, has_error
from backshop.rails.packs import LOOP_CONTROL, PACKS

from . import blocks as prompt_blocks
from . import checks
from .expand import Expanded, Library, expand
from .features import apply_features, check_features
from .functions import Scope, scope, used_functions
from .model import Compiled, CompiledStep, Contract, Function, Loop, LoopControl
from .parse import parse_source
from .pin import snapshot
from .read import read_definition

STEP_PROMPT_MAX_BYTES = 64 * 1024
SNAPSHOT_MAX_BYTES = 2 * 1024 * 1024
_CAPABILITY_NAMES = {"delegation": "delegating to subagents", "web_browsing": "web browsing"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a definition: `compiled` is None when a finding is an error."""

    definition: workflow.Definition | None
    compiled: Compiled | None
    findings: tuple[Finding, ...]


def compile_data(
    data: object,
    *,
    library: Library | None = None,
    bindings: Mapping[str, str] | None = None,
    strict: bool = False,
) -> Outcome:
    """Compile parsed JSON; all findings of all passes are reported together."""
    findings = Findings()
    definition = compiled = None
    try:
        definition = read_definition(data, findings, strict=strict)
        if definition is not None:
            compiled = _compile(definition, library or Library(), bindings or {}, findings)
    except TooManyFindings:
        compiled = None  # the last finding says so
    found = findings.all
    return Outcome(definition, None if has_error(found) else compiled, found)


def compile_source(
    source: bytes,
    *,
    is_yaml: bool = False,
    library: Library | None = None,
    bindings: Mapping[str, str] | None = None,
    strict: bool = False,
) -> Outcome:
    """Compile the bytes of a definition file."""
    findings = Findings()
    data = parse_source(source, findings, is_yaml=is_yaml)
    if has_error(findings.all):
        return Outcome(None, None, findings.all)
    return compile_data(data, library=library, bindings=bindings, strict=strict)


def _compile(
    definition: workflow.Definition,
    library: Library,
    bindings: Mapping[str, str],
    findings: Findings,
) -> Compiled:
    expanded = expand(definition, library, findings)
    checks.check_step_ids(definition.steps, expanded.steps, findings)
    checks.check_unique_assessments(definition.assessments, findings)
    features = check_features(definition.features, findings)
    bound = prompt_blocks.Bindings(definition.slots, bindings, findings)
    assessments = _assessments(definition, expanded, findings)
    build = _Build(definition, features, bound, assessments, findings)
    around = (scope("workflow", definition.id, definition.functions),)
    steps = tuple(build.step(step, around) for step in expanded.steps)
    used = {ref for step in checks.everything(expanded.steps) for ref in step.assessment_refs}
    compiled = Compiled(
        workflow_id=definition.id,
        name=definition.name,
        description=definition.description,
        version=definition.version,
        agent_role=_maybe(build.text, definition.agent_role, "/agentRole"),
        model_tier=definition.model_tier,
        capabilities=dict(definition.capabilities),
        features=features,
        recommended_preferences=definition.recommended,
        contracts=_contracts(steps),
        assessments=tuple(
            one for key, one in assessments.items() if key in used or one in definition.assessments
        ),
        functions=tuple(build.functions[key] for key in sorted(build.functions)),
        references=definition.references,
        bindings=bound.resolved,
        meta_guidance=definition.meta_guidance,
        preconditions=definition.preconditions,
        clarification_prompts=definition.clarification_prompts,
        steps=steps,
    )
    _weigh(compiled, findings)
    return compiled


class _Build:
    """Turns expanded steps into compiled ones."""

    def __init__(
        self,
        definition: workflow.Definition,
        features: tuple[workflow.FeatureUse, ...],
        bindings: prompt_blocks.Bindings,
        assessments: Mapping[str, workflow.Assessment],
        findings: Findings,
    ) -> None:
        self._features = features
        self._bindings = bindings
        self._assessments = assessments
        self._findings = findings
        self._capability_lines = tuple(_capability_lines(definition))
        config = next((one.config for one in features if one.id == "wr.features.capabilities"), {})
        self._probes_visible = (config or {}).get("probeVisibility") == "visible"
        self.functions: dict[str, Function] = {}

    def step(self, step: workflow.Step, around: Sequence[Scope]) -> CompiledStep:
        """Compile one step; `around` holds the function scopes it stands in, nearest first."""
        checks.check_contract(step, self._findings)
        checks.check_assessments(self._assessments, step, self._findings)
        if step.kind is workflow.StepKind.LOOP:
            return self._loop(step, around)
        functions = used_functions(step, around, self._findings)
        self.functions |= {one.id: one for one in functions}
        dressed = apply_features(step, self._features)
        compiled = CompiledStep(
            step_id=step.id,
            kind=step.kind,
            title=self.text(step.title, f"{step.pointer}/title"),
            prompt=self._prompt(dressed),
            agent_role=_maybe(self.text, step.agent_role, f"{step.pointer}/agentRole"),
            model_tier=step.model_tier,
            guidance=self._guidance(dressed),
            fragments=tuple(replace(one, text=one.text.rstrip("\n")) for one in dressed.fragments),
            require_confirmation=_normal(step.confirmation),
            run_condition=step.run_condition or None,
            contract=step.contract,
            validation=step.validation,
            assessment_refs=tuple(dict.fromkeys(step.assessment_refs)),
            consequences=step.consequences,
            user_inputs=step.user_inputs,
            notes_optional=step.notes_optional,
            function_refs=tuple(one.id for one in functions),
            delegations=step.delegations if step.kind is workflow.StepKind.PARALLEL else None,
            probe=step.probe,
            provenance=step.provenance,
            collapsed=step.probe is not None and not self._probes_visible,
        )
        checks.check_texts(step, compiled, self._findings)
        return compiled

    def text(self, text: str, pointer: str) -> str:
        """Return an authored text with its bindings resolved."""
        return self._bindings.apply(text, pointer)

    def _prompt(self, step: workflow.Step) -> str:
        if step.blocks is None:
            text = (step.prompt or "").rstrip("\n")  # a YAML text ends in one; R7.17 adds its own
            return self.text(text, f"{step.pointer}/prompt")
        resolved = prompt_blocks.resolve_refs(step.blocks, step.pointer, self._findings)
        return self.text(prompt_blocks.render(resolved), f"{step.pointer}/promptBlocks")

    def _guidance(self, step: workflow.Step) -> tuple[str, ...]:
        lines = [self.text(line, f"{step.pointer}/guidance") for line in step.guidance]
        if step.probe is None:
            lines += self._capability_lines
        return tuple(dict.fromkeys(lines))

    def _loop(self, step: workflow.Step, around: Sequence[Scope]) -> CompiledStep:
        inside = (scope("loop", step.id, step.functions), *around)
        body = tuple(self.step(one, inside) for one in step.body)
        control = _control(step.loop, body) if step.loop else None
        checks.check_loop(step, control, self._findings)
        return CompiledStep(
            step_id=step.id,
            kind=workflow.StepKind.LOOP,
            title=self.text(step.title, f"{step.pointer}/title"),
            run_condition=step.run_condition or None,
            notes_optional=step.notes_optional,
            loop=_compiled_loop(step.loop, control, body) if step.loop else None,
            body=body,
            provenance=step.provenance,
        )


def _normal(confirmation: workflow.Confirmation) -> workflow.Confirmation:
    return replace(confirmation, condition=confirmation.condition or None)


def _control(rule: workflow.LoopRule, body: Sequence[CompiledStep]) -> LoopControl | None:
    """Decide what a loop is decided by (R1.25); None when nothing was given."""
    if rule.type is workflow.LoopType.FOR:
        return LoopControl.COUNT
    if rule.type is workflow.LoopType.FOR_EACH:
        return LoopControl.ITEMS
    if rule.by_artifact:
        return LoopControl.ARTIFACT
    if rule.by_artifact is None and any(_decides(step) for step in body):
        return LoopControl.ARTIFACT
    return LoopControl.CONDITION if rule.condition is not None else None


def _decides(step: CompiledStep) -> bool:
    return step.contract is not None and step.contract.contract_ref == LOOP_CONTROL


def _compiled_loop(
    rule: workflow.LoopRule, control: LoopControl | None, body: Sequence[CompiledStep]
) -> Loop:
    items = control is LoopControl.ITEMS
    item_var = (rule.item_var or "currentItem") if items else None
    return Loop(
        type=rule.type,
        control=control or LoopControl.CONDITION,
        max_iterations=rule.max_iterations,
        iteration_var=rule.iteration_var or "currentIteration",
        item_var=item_var,
        index_var=(rule.index_var or "currentIndex") if items else None,
        condition=rule.condition if control is LoopControl.CONDITION else None,
        count=rule.count if control is LoopControl.COUNT else None,
        items=rule.items if items else None,
        uses_item_fields=item_var is not None and _uses_fields(item_var, body),
    )


def _uses_fields(item_var: str, body: Sequence[CompiledStep]) -> bool:
    starts = (f"{item_var}.", "_item.")
    return any(
        path.startswith(starts) and path not in {f"{item_var}.length", "_item.length"}
        for step in body
        for text in _texts(step)
        for path in template.paths(text)
    )


def _texts(step: CompiledStep) -> Iterator[str]:
    yield from (step.title, step.prompt, step.agent_role or "", *step.guidance)
    yield from (fragment.text for fragment in step.fragments)
    for inner in step.body or ():
        yield from _texts(inner)


def _capability_lines(definition: workflow.Definition) -> Iterator[str]:
    """Say in every step what the workflow wishes of optional capabilities (R8.14, R8.15)."""
    for capability, level in sorted(definition.capabilities.items()):
        name = _CAPABILITY_NAMES[capability]
        if level == "disabled":
            yield f"Do not use {name} in this workflow."
        elif level == "preferred":
            yield (
                f"Try {name} where it helps this step. If it does not work, go on without it and "
                "report the outcome with a `wr.capability_observation` artifact."
            )


def _assessments(
    definition: workflow.Definition, expanded: Expanded, findings: Findings
) -> dict[str, workflow.Assessment]:
    """Return the workflow's own assessments and those of the routines it calls."""
    found = {one.id: one for one in definition.assessments}
    for template_id, routine in expanded.routines.items():
        for one in routine.assessments:
            if found.setdefault(one.id, one) != one:
                message = f"`{one.id}` is also an assessment of {template_id}, and differs"
                findings.error("WF_ASSESSMENT_INVALID", "/assessments", message)
    return found


def _contracts(steps: Sequence[CompiledStep]) -> tuple[Contract, ...]:
    refs = {use.contract_ref for step in _all(steps) if (use := step.contract)}
    if any(step.assessment_refs for step in _all(steps)):
        refs.add("wr.contracts.assessment")
    return tuple(
        Contract(contract_ref=ref, schema=PACKS[ref].schema, example=PACKS[ref].example)
        for ref in sorted(refs & PACKS.keys())
    )


def _all(steps: Sequence[CompiledStep]) -> Iterator[CompiledStep]:
    for step in steps:
        yield step
        yield from _all(step.body or ())


def _weigh(compiled: Compiled, findings: Findings) -> None:
    for step in _all(compiled.steps):
        size = len("\n".join(_texts(step)).encode()) if step.body is None else 0
        if size > STEP_PROMPT_MAX_BYTES:
            message = (
                f"the text of step `{step.step_id}` has {size} bytes, "
                f"at most {STEP_PROMPT_MAX_BYTES} fit"
            )
            findings.error("WF_BUDGET", "/steps", message)
    size = len(snapshot(compiled))
    if size > SNAPSHOT_MAX_BYTES:
        message = f"compiled, it has {size} bytes, at most {SNAPSHOT_MAX_BYTES} fit"
        findings.error("WF_BUDGET", "", message)


def _maybe(apply: Callable[[str, str], str], text: str | None, pointer: str) -> str | None:
    return apply(text, pointer) if text is not None else None
