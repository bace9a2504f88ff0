"""Templates, routines and virtual steps become ordinary steps (R1.27, R1.28, R1.30, R8.15)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from backshop.rails.definition.finding import Findings, escaped
from backshop.rails.definition.workflow import (
    Blocks,
    BlockValue,
    ConditionData,
    ConfirmationKind,
    ContractUse,
    Definition,
    FunctionDefinition,
    Origin,
    Provenance,
    Step,
    StepKind,
    TemplateCall,
    Text,
)
from backshop.rails.packs import CAPABILITIES, CAPABILITY_OBSERVATION

from .fields import did_you_mean, nearest

PROBE = "wr.templates.capability_probe"
ROUTINE_PREFIX = "wr.templates.routine."
STEPS_MAX = 4000  # far beyond what the size of a snapshot allows
_ARGUMENT = re.compile(r"(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})")
_CAPABILITY_WORDS = {
    "delegation": ("delegating to a subagent", "Delegate one trivial question to a subagent"),
    "web_browsing": ("web browsing", "Fetch one short public page or run one search"),
}


@dataclass(frozen=True, slots=True)
class Library:
    """The routines that template calls can name, by template id."""

    routines: Mapping[str, Definition] = field(default_factory=dict)

    @property
    def template_ids(self) -> tuple[str, ...]:
        """Every template there is."""
        return (PROBE, *sorted(self.routines))


def template_id(routine_id: str) -> str:
    """Return the template id of a bundled routine."""
    return ROUTINE_PREFIX + routine_id.removeprefix("wr.").removeprefix("routine-")


@dataclass(frozen=True, slots=True)
class Expanded:
    """The steps after expansion, and the routines they came from by template id."""

    steps: tuple[Step, ...]
    routines: Mapping[str, Definition]


def expand(definition: Definition, library: Library, findings: Findings) -> Expanded:
    """Return the steps with nothing left to expand; probes of required capabilities lead."""
    expander = _Expander(definition, library, findings)
    steps = expander.inline(definition.steps)
    return Expanded((*expander.probes(), *steps), expander.used)


def arguments(routine: Definition) -> tuple[str, ...]:
    """Return the names of the arguments a routine's texts ask for, in the order they come."""
    found: dict[str, None] = {}

    def note(text: str) -> str:
        found.update(dict.fromkeys(_ARGUMENT.findall(text)))
        return text

    for step in _everything(routine.steps):
        note(step.title)
        note(step.prompt or "")
        if step.blocks is not None:
            _filled(step.blocks, note)
    return tuple(found)


class _Expander:
    def __init__(self, definition: Definition, library: Library, findings: Findings) -> None:
        self._definition = definition
        self._library = library
        self._findings = findings
        self._placed: set[str] = set()
        self.used: dict[str, Definition] = {}

    def inline(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Expand top-level steps; bodies by reference move into their loops."""
        by_id = {step.id: step for step in steps}
        borrowed = {step.body_ref for step in steps}
        found: list[Step] = []
        for step in steps:
            if step.id in borrowed and step.kind is not StepKind.LOOP:
                continue
            found += self._one(self._with_body(step, by_id))
            if len(found) > STEPS_MAX:
                message = f"more than {STEPS_MAX} steps after expansion"
                self._findings.error("WF_BUDGET", step.pointer, message)
                break
        return tuple(found)

    def probes(self) -> Iterator[Step]:
        """Yield a probe for each required capability that no step places itself (R8.15)."""
        for capability, level in sorted(self._definition.capabilities.items()):
            if level == "required" and capability not in self._placed:
                step_id = f"wr-probe-{capability.replace('_', '-')}"
                provenance = Provenance(source=Origin.FEATURE, origin_id=PROBE)
                yield _probe(step_id, f"/capabilities/{capability}", capability, provenance)

    def _with_body(self, loop: Step, by_id: Mapping[str, Step]) -> Step:
        if loop.body_ref is None:
            return loop
        body = by_id.get(loop.body_ref)
        if body is not None and body.kind is not StepKind.LOOP:
            return replace(loop, body=(body,))
        problem = (
            f"`{loop.body_ref}` is a loop; nest it inline"
            if body is not None
            else f"no top-level step `{loop.body_ref}`{did_you_mean(loop.body_ref, by_id)}"
        )
        self._findings.error("WF_LOOP_BODY_REF", f"{loop.pointer}/body", problem)
        return loop

    def _one(self, step: Step) -> tuple[Step, ...]:
        if step.kind is StepKind.LOOP:
            return (replace(step, body=self._body(step)),)
        steps = self._called(step, step.call) if step.call is not None else (step,)
        return (*steps, *_virtual(step))

    def _body(self, loop: Step) -> tuple[Step, ...]:
        steps = [one for part in loop.body for one in self._one(part)]
        if loop.body and not steps:
            self._findings.error("WF_LOOP_INVALID", f"{loop.pointer}/body", "the body is empty")
        if not loop.notes_optional:
            return tuple(steps)
        return tuple(replace(one, notes_optional=True) for one in steps)

    def _called(self, caller: Step, call: TemplateCall) -> tuple[Step, ...]:
        if call.template_id == PROBE:
            return self._placed_probe(caller, call)
        routine = self._library.routines.get(call.template_id)
        if routine is None:
            known = self._library.template_ids
            message = f"unknown template `{call.template_id}`; known: {', '.join(known)}"
            self._findings.error(
                "WF_TEMPLATE_UNKNOWN",
                f"{caller.pointer}/templateCall/templateId",
                message,
                nearest(call.template_id, known),
            )
            return ()
        self.used[call.template_id] = routine
        if any(step.call is not None for step in _everything(routine.steps)):
            self._findings.error(
                "WF_TEMPLATE_RECURSIVE",
                f"{caller.pointer}/templateCall",
                f"routine `{routine.id}` calls a template itself",
            )
            return ()
        return self._routine_steps(caller, call, routine)

    def _routine_steps(
        self, caller: Step, call: TemplateCall, routine: Definition
    ) -> tuple[Step, ...]:
        inner = _Expander(routine, Library(), Findings()).inline(routine.steps)
        fill = self._filler(caller, call)
        steps = [_adapted(step, caller, call, routine, fill) for step in inner]
        return (*steps[:-1], self._closing(steps[-1], caller)) if steps else ()

    def _filler(self, caller: Step, call: TemplateCall) -> Callable[[str], str]:
        values: dict[str, str] = {}
        for name, value in call.args.items():
            pointer = f"{caller.pointer}/templateCall/args/{escaped(name)}"
            if isinstance(value, bool):
                values[name] = "true" if value else "false"
            elif isinstance(value, str | int | float):
                values[name] = str(value)
            else:
                message = f"argument `{name}` is a text, number or boolean"
                self._findings.error("WF_TEMPLATE_ARG", pointer, message)
                values[name] = ""

        def fill(text: str) -> str:
            return _ARGUMENT.sub(lambda match: self._argument(match[1], values, caller), text)

        return fill

    def _argument(self, name: str, values: Mapping[str, str], caller: Step) -> str:
        if name not in values:
            message = f"argument `{name}` is missing{did_you_mean(name, values)}"
            self._findings.error("WF_TEMPLATE_ARG", f"{caller.pointer}/templateCall/args", message)
        return values.get(name, "")

    def _closing(self, last: Step, caller: Step) -> Step:
        """Put what the caller demands onto the last step of what it called."""
        if caller.confirmation.kind is not ConfirmationKind.NONE:
            last = replace(last, confirmation=caller.confirmation)
        if caller.contract is not None:
            if last.contract and last.contract.contract_ref != caller.contract.contract_ref:
                self._findings.error(
                    "WF_CONTRACT_CONFLICT",
                    caller.pointer,
                    f"the routine ends with {last.contract.contract_ref}, "
                    f"this call asks for {caller.contract.contract_ref}",
                )
            last = replace(last, contract=caller.contract)
        fragments = (*last.fragments, *caller.fragments)
        asked = (*last.user_inputs, *caller.user_inputs)
        pointer = caller.pointer
        self._once("WF_FRAGMENT_INVALID", f"{pointer}/promptFragments", (f.id for f in fragments))
        self._once("WF_SCHEMA", f"{pointer}/userInputs", (one.id for one in asked))
        return replace(
            last,
            validation=caller.validation or last.validation,
            assessment_refs=(*last.assessment_refs, *caller.assessment_refs),
            consequences=(*last.consequences, *caller.consequences),
            user_inputs=asked,
            fragments=fragments,
        )

    def _once(self, code: str, pointer: str, ids: Iterable[str]) -> None:
        """Note ids that a call adds to a step which has them already."""
        twice = (name for name, count in Counter(ids).items() if count > 1)
        for name in sorted(twice):
            message = f"`{name}` is also declared by the last step of the routine"
            self._findings.error(code, pointer, message)

    def _placed_probe(self, caller: Step, call: TemplateCall) -> tuple[Step, ...]:
        pointer = f"{caller.pointer}/templateCall/args"
        capability, when = call.args.get("capability"), call.args.get("when", "early_if_required")
        if capability not in CAPABILITIES:
            message = f"`capability` is one of {', '.join(CAPABILITIES)}"
            self._findings.error("WF_TEMPLATE_ARG", pointer, message)
            return ()
        if when not in ("early_if_required", "always"):  # anything may stand here, lists too
            message = "`when` is early_if_required or always"
            self._findings.error("WF_TEMPLATE_ARG", pointer, message)
        capability = str(capability)
        required = self._definition.capabilities.get(capability) == "required"
        self._placed.add(capability)
        if when == "early_if_required" and not required:
            return ()
        provenance = Provenance(source=Origin.TEMPLATE, origin_id=PROBE)
        probe = _probe(caller.id, caller.pointer, capability, provenance)
        return (replace(probe, run_condition=caller.run_condition),)


def _everything(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from _everything(step.body)


def _adapted(
    step: Step,
    caller: Step,
    call: TemplateCall,
    routine: Definition,
    fill: Callable[[str], str],
) -> Step:
    """Return a routine's step as it stands at the place it is called from."""
    return replace(
        step,
        pointer=f"{caller.pointer}/templateCall",
        id=f"{caller.id}.{step.id}",
        title=fill(step.title),
        prompt=fill(step.prompt) if step.prompt is not None else None,
        blocks=_filled(step.blocks, fill) if step.blocks else None,
        agent_role=step.agent_role or caller.agent_role or routine.agent_role,
        model_tier=step.model_tier or caller.model_tier or routine.model_tier,
        guidance=tuple(dict.fromkeys((*step.guidance, *caller.guidance, *routine.meta_guidance))),
        run_condition=both(caller.run_condition, step.run_condition),
        notes_optional=step.notes_optional or caller.notes_optional,
        functions=_functions(step, routine),
        body=tuple(_adapted(inner, caller, call, routine, fill) for inner in step.body),
        provenance=Provenance(source=Origin.TEMPLATE, origin_id=call.template_id),
    )


def _functions(step: Step, routine: Definition) -> tuple[FunctionDefinition, ...]:
    own = {one.name for one in step.functions}
    return (*step.functions, *(one for one in routine.functions if one.name not in own))


def _filled(blocks: Blocks, fill: Callable[[str], str]) -> Blocks:
    def value(parts: BlockValue) -> BlockValue:
        return tuple(Text(fill(one.text)) if isinstance(one, Text) else one for one in parts)

    return Blocks(
        goal=value(blocks.goal),
        constraints=tuple(map(value, blocks.constraints)),
        procedure=tuple(map(value, blocks.procedure)),
        output_required=tuple((key, fill(text)) for key, text in blocks.output_required),
        verify=tuple(map(value, blocks.verify)),
    )


def both(first: ConditionData | None, second: ConditionData | None) -> ConditionData | None:
    """Return a condition that holds when both do; None always holds."""
    if not first or not second:
        return first or second
    return {"and": [first, second]}


def _virtual(step: Step) -> Iterator[Step]:
    """Yield the steps that `verification`, `audit` and `synthesis` ask for."""
    if (check := step.verification) is not None:
        command = f"Run this check yourself and read its output: `{check.command}`"
        prompt = check.prompt or f"Verify the result of the step “{step.title}”."
        text = "\n\n".join([prompt, command] if check.command else [prompt])
        yield _after(step, "verification", "Verify", text)
    if (check := step.audit) is not None:
        rubric = f"Judge by this rubric:\n{check.rubric}"
        prompt = check.prompt or f"Audit the result of the step “{step.title}”."
        text = "\n\n".join([prompt, rubric] if check.rubric else [prompt])
        yield _after(step, "audit", "Audit", text)
    if step.synthesis is not None:
        prompt = step.synthesis.prompt or (
            "Bring the results of the delegated runs together: compare them, settle what they "
            "disagree about, and say what follows."
        )
        after = _after(step, "synthesis", "Bring together", prompt)
        yield replace(after, contract=step.synthesis.contract, notes_optional=False)


def _after(step: Step, suffix: str, verb: str, prompt: str) -> Step:
    return Step(
        pointer=f"{step.pointer}/{suffix}",
        id=f"{step.id}__{suffix}",
        title=f"{verb}: {step.title}"[:128],
        prompt=prompt,
        agent_role=step.agent_role,
        model_tier=step.model_tier,
        run_condition=step.run_condition,
        notes_optional=True,
        provenance=Provenance(source=Origin.FEATURE, origin_id=step.id),
    )


def _probe(step_id: str, pointer: str, capability: str, provenance: Provenance) -> Step:
    name, attempt = _CAPABILITY_WORDS[capability]
    return Step(
        pointer=pointer,
        id=step_id,
        title=f"Check: {name}",
        prompt=(
            f"This workflow cannot be done well without {name}. Find out whether it works here.\n\n"
            f"{attempt}, for real and as small as possible. Then report what happened with one "
            "`wr.capability_observation` artifact: `status` available if the attempt worked, "
            "unavailable if it failed or there is no such tool, with `attempt.result` and, on "
            "failure, `attempt.failureCode` and a `remediation` the person can act on. Do not "
            "report a capability you have not tried."
        ),
        contract=ContractUse(contract_ref=CAPABILITY_OBSERVATION),
        notes_optional=True,
        probe=capability,
        provenance=provenance,
    )
