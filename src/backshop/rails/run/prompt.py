"""The text of a pending step, put together the same way every time (R7.17)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from backshop.base.limits import DEFINITIONS_MAX_BYTES

from ..compile import CompiledStep, ConfirmationKind, UserInput
from ..definition import condition, template
from ..errors import MARKER
from ..packs import LOOP_CONTROL
from ..session.events import Effective
from . import contract as run_contract
from . import form
from .interpret import Position, Workflow, scope

NOTES_LINE = (
    "Notes in output.notesMarkdown: a short recap of this step, at most 10 lines; what happened"
    " and what comes next."
)
_MODE_LINES = {
    "guided": "",
    "full_auto_stop_on_user_deps": (
        "Mode: full auto. Gather context instead of asking, state the assumptions you make, and"
        " disclose what you skip."
    ),
    "full_auto_never_stop": (
        "Mode: full auto, never stop. Gather context instead of asking, state the assumptions you"
        " make, and disclose what you skip. Do not stop; report gaps."
    ),
}
APPROVAL = "approval"
_QUOTED = re.compile(r"`([A-Za-z_][A-Za-z0-9_.-]*)`")
_BINDING_CHOICES = ("irreversible_action", "external_side_effect", "policy_or_compliance")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A pending step as an agent gets it, and what its next call should carry."""

    step: CompiledStep
    title: str
    prompt: str
    requires_confirmation: bool
    form: Mapping[str, object]  # `output` of the next call, to be filled in
    context: Mapping[str, str]  # and its `context`
    data: Mapping[str, object]  # `pending` of the answer


def render(
    workflow: Workflow, engine: Position, context: Mapping[str, object], mode: Effective
) -> Rendered | None:
    """Return the pending step with everything filled in; None when the run is complete."""
    if engine.pending is None:
        return None
    step = workflow.steps[engine.pending.step_id]
    seen = scope(workflow, engine.stack, context)
    title = template.render(step.title, seen)
    prompt = "\n\n".join(filter(None, _parts(workflow, step, engine, seen, mode)))
    confirms = confirmation_holds(step, seen)
    data: dict[str, object] = {
        "stepId": step.step_id,
        "title": title,
        "prompt": prompt,
        "requireConfirmation": confirms,
    }
    role = step.agent_role or workflow.compiled.agent_role
    if role:
        data["agentRole"] = template.render(role, seen)
    if tier := step.model_tier or workflow.compiled.model_tier:
        data["modelTier"] = tier
    if engine.stack:
        data["loop"] = _loop_data(workflow, engine)
    if step.contract is not None:
        contract = run_contract.asked_of(workflow.compiled, step)
        data["outputContract"] = {
            "contractRef": step.contract.contract_ref,
            "required": step.contract.required,
            "shape": run_contract.shape_of(contract) if contract else {},
            "example": dict(contract.example) if contract else {},
        }
    data["collapsed"] = step.collapsed
    return Rendered(
        step=step,
        title=title,
        prompt=prompt,
        requires_confirmation=confirms,
        form=output_form(workflow, step),
        context=context_form(workflow, step),
        data=data,
    )


def confirmation_holds(step: CompiledStep, seen: Mapping[str, object]) -> bool:
    """Say whether a person should look first, in any mode (R7.27)."""
    wanted = step.require_confirmation
    if wanted.kind is ConfirmationKind.NONE:
        return False
    return condition.judged(wanted.condition, seen) is not False  # unknown: somebody looks


def inputs_of(step: CompiledStep, seen: Mapping[str, object]) -> tuple[UserInput, ...]:
    """Return what only the person can give, the implied approval first (R8.21)."""
    approval = step.require_confirmation.kind is ConfirmationKind.HUMAN_APPROVAL
    if not approval or not confirmation_holds(step, seen):
        return step.user_inputs
    implied = UserInput(
        id=APPROVAL,
        reason="needs_user_approval",
        prompt="The person's approval of this step.",
    )
    return (implied, *step.user_inputs)


def output_form(workflow: Workflow, step: CompiledStep) -> dict[str, object]:
    """Return the `output` a step asks for, with placeholders that no check lets pass (R8.33)."""
    artifacts: list[object] = []
    contract = run_contract.asked_of(workflow.compiled, step)
    if contract is not None:
        artifacts.append(run_contract.form_of(contract))
    declared = {one.id: one for one in workflow.compiled.assessments}
    artifacts += [run_contract.assessment_form(declared[ref]) for ref in step.assessment_refs]
    if step.contract is not None:
        return {"artifacts": artifacts}
    found: dict[str, object] = {"notesMarkdown": form.NOTES}
    return {**found, "artifacts": artifacts} if artifacts else found


def context_form(workflow: Workflow, step: CompiledStep) -> dict[str, str]:
    """Return the `context` a step asks for: keys it names in backticks and something reads (R8.42).

    What the person gives stands with their input.
    """
    persons = {one.context_key for one in step.user_inputs}
    named = _QUOTED.findall("\n".join((step.prompt, *step.guidance)))
    return {
        key: workflow.reads[key]
        for key in dict.fromkeys(named)
        if key in workflow.reads and key not in persons and not key.startswith("wr_")
    }


def input_form(one: UserInput) -> str:
    """Return what stands for a person's answer until they have given it."""
    return form.one_of(one.options) if one.options else form.ANSWER


def _parts(
    workflow: Workflow,
    step: CompiledStep,
    engine: Position,
    seen: Mapping[str, object],
    mode: Effective,
) -> Iterator[str]:
    if engine.stack and not _decides_loop(step):
        frame = engine.stack[-1]
        loop = workflow.steps[frame.loop_id].loop
        most = loop.max_iterations if loop else 0
        yield f"Pass {frame.iteration + 1} of at most {most}."
    yield template.render(step.agent_role or workflow.compiled.agent_role or "", seen)
    yield template.render(step.prompt, seen)
    yield _delegations(step, seen)
    judged = {**seen, "wr_autonomy": mode.autonomy, "wr_risk_policy": mode.risk_policy}
    for fragment in step.fragments:
        verdict = condition.judged(fragment.when, judged)
        if verdict is True:
            yield template.render(fragment.text, seen)
        elif verdict is not False:
            yield f"[left out: {fragment.id} -- {verdict}]"
    guidance = [template.render(line, seen) for line in step.guidance]
    yield _bullets("Guidance:", guidance)
    yield _bullets("Required output:", list(_required(workflow, step, seen, mode)))
    yield _definitions(workflow, step)
    yield _MODE_LINES[mode.autonomy]


def _required(
    workflow: Workflow, step: CompiledStep, seen: Mapping[str, object], mode: Effective
) -> Iterator[str]:
    compiled = workflow.compiled
    if step.contract is not None:
        contract = run_contract.asked_of(compiled, step)
        if contract is not None:
            word = "An artifact" if step.contract.required else "Optionally an artifact"
            kind = run_contract.kinds_of(contract)[0]
            yield f"{word} of kind {kind} in output.artifacts (contract {contract.contract_ref}):"
            yield f"  {_json(run_contract.shape_of(contract))}"
            yield "  Replace every <…> by what is so; `name?` may be left out."
            yield (
                "  An example from other work, to show the form; its texts are refused:"
                f" {_json(contract.example)}"
            )
    for assessment in compiled.assessments:
        if assessment.id in step.assessment_refs:
            yield f"A wr.assessment artifact for {assessment.id} ({assessment.purpose}):"
            for dimension in assessment.dimensions:
                optional = "" if dimension.required else ", optional"
                levels = " | ".join(dimension.levels)
                yield f"  {dimension.id}: {levels}{optional} ({dimension.purpose})"
            yield f"  {_json(run_contract.assessment_form(assessment))}"
    if step.contract is None:
        yield from run_contract.requirements(step.validation)
    for one in inputs_of(step, seen):
        if not needs_person(one) and _is_given(one, seen):
            continue  # R8.36
        yield f"From the person ({one.reason}): {_asked(one)}"
    for key, hint in (step.contract.hints or {}).items() if step.contract else ():
        yield f"{key}: {hint}"
    if mode.autonomy != "guided" and confirmation_holds(step, seen):
        yield "In the notes, the decision you took in place of a confirmation, and its reason."
    if step.contract is None:
        yield NOTES_LINE if not step.notes_optional else f"Optional: {NOTES_LINE}"


def _is_given(one: UserInput, seen: Mapping[str, object]) -> bool:
    value = template.lookup(one.context_key, seen) if one.context_key else None
    return value is not None and not form.is_blank(value)


def needs_person(one: UserInput) -> bool:
    """Say whether only a person's own call answers this, never an agent's word (R8.21)."""
    return one.reason == "needs_user_approval" or one.choice_kind in _BINDING_CHOICES


def _asked(one: UserInput) -> str:
    options = f" Options: {', '.join(one.options)}." if one.options else ""
    if needs_person(one):
        return (
            f'{one.prompt}{options} The person answers this themselves (input "{one.id}"), in'
            " Studio or with `backshop run answer`; what you say of it is noted as your word."
        )
    way = (
        f"set context.{one.context_key}"
        if one.context_key
        else f'send a wr.user_input artifact with inputId "{one.id}"'
    )
    return f"{one.prompt}{options} When the person has answered, {way}; it is noted as your word."


def _delegations(step: CompiledStep, seen: Mapping[str, object]) -> str:
    """Describe the child runs a parallel step asks for (R1.30)."""
    if step.delegations is None:
        return ""
    blocks = []
    for one in step.delegations:
        if not condition.holds(one.run_condition, seen):
            continue
        inputs: dict[str, object] = {
            child: template.lookup(parent, seen) for parent, child in one.context_mapping.items()
        }
        inputs |= {key: template.render(text, seen) for key, text in one.args.items()}
        lines = [f"- Workflow: {one.workflow_id}", f"  Goal: {template.render(one.goal, seen)}"]
        if inputs:
            lines.append(f"  Context: {template.show(inputs)}")
        if one.model_tier:
            lines.append(f"  Model tier: {one.model_tier}")
        if one.allowed_tools is not None:
            lines.append(f"  Allowed tools: {', '.join(one.allowed_tools) or 'none'}")
        blocks.append("\n".join(lines))
    return "\n".join(
        (
            "Delegations of this step:",
            *blocks,
            "Start each with start_workflow as a run of its own, passing this step's stateToken as"
            " parentStateToken: in parallel where delegation is available, one after the other"
            " where it is not. Bring their results together in this step's notes.",
        )
    )


def _definitions(workflow: Workflow, step: CompiledStep) -> str:
    """List the functions a step refers to, on every delivery (R1.34)."""
    known = {one.id: one for one in workflow.compiled.functions}
    chosen = [known[ref] for ref in step.function_refs if ref in known]
    if not chosen:
        return ""
    text = "Definitions:"
    for index, one in enumerate(chosen):
        line = f"\n- {one.name}: {one.definition}"
        if len((text + line).encode()) > DEFINITIONS_MAX_BYTES:
            return f"{text}{MARKER}\nOmitted {len(chosen) - index} definitions."
        text += line
    return text


def _loop_data(workflow: Workflow, engine: Position) -> dict[str, object]:
    frame = engine.stack[-1]
    loop = workflow.steps[frame.loop_id].loop
    return {
        "loopId": frame.loop_id,
        "iteration": frame.iteration + 1,
        "maxIterations": loop.max_iterations if loop else 0,
    }


def _decides_loop(step: CompiledStep) -> bool:
    return step.contract is not None and step.contract.contract_ref == LOOP_CONTROL


def _bullets(heading: str, lines: list[str]) -> str:
    if not lines:
        return ""
    shown = (line if line.startswith("  ") else f"- {line}" for line in lines)
    return "\n".join((heading, *shown))


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
