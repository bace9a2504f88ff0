"""Finds the facts, reasons and warnings of an acknowledgement: whether it is enough (R7.22)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from backshop.base.ids import did
from backshop.base.limits import SUMMARY_MAX_BYTES

from ..answers import WarningCode
from ..compile import CompiledStep, UserInput
from ..definition import template
from ..errors import cut
from ..packs import LOOP_CONTROL, PACKS
from ..session.events import GapReason, GapRecorded, Resolution, UserInputRecorded
from ..session.state import NodeState
from . import capability as run_capability
from . import contract, form
from .answer import resume_ref
from .capability import Observation
from .contract import Assessed, Check
from .inputs import Artifact, Delta, Submitted
from .interpret import Decision, Position, Workflow, scope
from .prompt import context_form, input_form, inputs_of, needs_person
from .reason import Reason

Json = dict[str, object]
OWN_KINDS = "workshop."
"""What the built-in agent keeps beside the artifacts of contracts."""
_KNOWN_KINDS = {kind: pack for pack in PACKS.values() for kind in (pack.kind, *pack.aliases)}
_DIVERGENCE = "wr.workflow_divergence"


@dataclass(frozen=True, slots=True)
class Relayed:
    """What the person decided or gave, and whether it is their own word or the agent's."""

    input_id: str
    reason: str
    decision: str
    summary: str
    provenance: str


@dataclass(frozen=True, slots=True)
class Diverged:
    """A departure the agent reports."""

    reason: str
    summary: str
    related: str | None


@dataclass(slots=True)
class Judgement:
    """Everything an acknowledgement's output comes to, before the mode is looked at."""

    reasons: list[Reason] = field(default_factory=list)
    warnings: list[Json] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    assessed: list[Assessed] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    relayed: list[Relayed] = field(default_factory=list)
    divergences: list[Diverged] = field(default_factory=list)
    gaps: list[GapRecorded] = field(default_factory=list)
    decision: Decision = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """What an acknowledgement hands in, and whose word it is."""

    output: Submitted  # with what an attempt before it brought and this one does not (R6.14)
    context: Delta = field(default_factory=Delta)
    is_agents: bool = False
    is_builtin: bool = False
    may_approve: bool = False
    """Whether the word of this call counts where only a person's own does."""
    spent: frozenset[str] = frozenset()
    """Recorded answers of the person that were given for something else (R8.21)."""


def judge(
    workflow: Workflow,
    engine: Position,
    node: NodeState,
    context: Mapping[str, object],
    handed: Acknowledgement,
    *,
    to_node: str,
    notes_required: bool,
) -> Judgement:
    """Check everything the pending step requires, together (R1.33)."""
    assert engine.pending is not None
    step = workflow.steps[engine.pending.step_id]
    seen = scope(workflow, engine.stack, context)
    found, sent = Judgement(), handed.output
    found.observations = run_capability.observations(step, sent.artifacts)
    _artifacts(found, step, handed, node, to_node)
    _contract(found, workflow, step, sent, seen)
    _assessments(found, workflow, step, sent)
    _inputs(found, step, node, context, seen, handed)
    _context(found, workflow, step, context)
    _notes(found, step, sent, notes_required)
    _capabilities(found, workflow, step, node)
    return found


def warning(code: WarningCode, message: str, **details: object) -> Json:
    """Return a warning as answers show it."""
    found: Json = {"code": code, "message": message}
    return {**found, "details": details} if details else found


def _artifacts(
    found: Judgement, step: CompiledStep, handed: Acknowledgement, node: NodeState, to_node: str
) -> None:
    """Sort the artifacts by what they are; the unknown are stored and mentioned once."""
    unknown = []
    required = step.contract.contract_ref if step.contract else None
    for artifact in handed.output.artifacts:
        kind = str(artifact["kind"])
        pack = _KNOWN_KINDS.get(kind)
        if pack is None:
            is_own = handed.is_builtin and kind.startswith(OWN_KINDS)
            unknown += [] if is_own else [kind]
            continue
        issues = contract.conforms(kind, artifact)
        if issues:
            if pack.contract_ref != required and kind != "wr.assessment":
                message = f"A {kind} artifact was stored but not understood: {issues[0]}"
                found.warnings.append(warning("ARTIFACT_UNRECOGNISED", message, kind=kind))
            continue
        _understood(found, pack.kind, artifact, handed, node, to_node)
    if unknown and "ARTIFACT_UNRECOGNISED:unknown_kind" not in node.warned:
        message = f"Artifacts of these kinds are stored as they are: {', '.join(unknown)}"
        found.warnings.append(
            warning("ARTIFACT_UNRECOGNISED", cut(message, 500), reason="unknown_kind")
        )


def _understood(
    found: Judgement,
    kind: str,
    artifact: Artifact,
    handed: Acknowledgement,
    node: NodeState,
    to_node: str,
) -> None:
    if kind == "wr.loop_control":
        found.decision = "stop" if artifact["decision"] == "stop" else "continue"
    elif kind == _DIVERGENCE:
        related = artifact.get("relatedStepId")
        summary = cut(str(artifact["summary"]), SUMMARY_MAX_BYTES)
        found.divergences.append(
            Diverged(str(artifact["reason"]), summary, str(related) if related else None)
        )
    elif kind == "wr.gap":
        _agent_gap(found, artifact, handed, node, to_node)


def _agent_gap(
    found: Judgement, artifact: Artifact, handed: Acknowledgement, node: NodeState, to_node: str
) -> None:
    resolves = artifact.get("resolvesGapId")
    known = node.gaps.get(str(resolves)) if resolves is not None else None
    is_persons = known is not None and known.fact.reason.category == "user_only_dependency"
    if is_persons and not handed.may_approve:
        message = "Only the person can close this gap; the artifact was stored only."
        found.warnings.append(warning("ARTIFACT_UNRECOGNISED", message, kind="wr.gap"))
        return
    if resolves is not None and resolves not in node.gaps:
        message = f"There is no open gap {str(resolves)[:60]}; the artifact was stored only."
        found.warnings.append(warning("ARTIFACT_UNRECOGNISED", message, kind="wr.gap"))
        return
    number = len(found.gaps)
    found.gaps.append(
        GapRecorded(
            gap_id=did("gap", to_node, "agent_reported", number),
            severity=artifact["severity"],  # type: ignore[arg-type]  # its contract holds
            reason=GapReason("agent_reported", str(artifact.get("detail") or "reported")),
            summary=cut(str(artifact["summary"]), SUMMARY_MAX_BYTES),
            resolution=Resolution("resolves", str(resolves))
            if resolves is not None
            else Resolution("unresolved"),
        )
    )


def _contract(
    found: Judgement,
    workflow: Workflow,
    step: CompiledStep,
    sent: Submitted,
    seen: Mapping[str, object],
) -> None:
    for check in (
        contract.check_contract(workflow.compiled, step, sent),
        contract.check_criteria(step, sent, seen),
    ):
        if check is not None:
            found.checks.append(check)
            if check.reason is not None:
                found.reasons.append(check.reason)


def _assessments(found: Judgement, workflow: Workflow, step: CompiledStep, sent: Submitted) -> None:
    checks, found.assessed = contract.check_assessments(workflow.compiled, step, sent)
    found.checks += checks
    found.reasons += [check.reason for check in checks if check.reason is not None]
    for one in found.assessed:
        found.reasons += contract.followups(one)
        for dimension in one.dimensions:
            if dimension.normalization == "normalized":
                message = (
                    f"{one.assessment_id}.{dimension.dimension_id} was read as {dimension.level}."
                )
                found.warnings.append(warning("LEVEL_NORMALIZED", message))


def _inputs(
    found: Judgement,
    step: CompiledStep,
    node: NodeState,
    context: Mapping[str, object],
    seen: Mapping[str, object],
    handed: Acknowledgement,
) -> None:
    """See whether the person has given what only they can (R8.21)."""
    declared = inputs_of(step, seen)
    counted = [one for one in node.inputs if _counts(one, declared, handed.spent)]
    decisions = {one.input_id: one.decision for one in counted}
    why = {one.input_id: one.summary for one in counted if one.decision == "rejected"}
    for one, decision, summary in _said(found, declared, handed):
        is_word = handed.is_agents and not handed.may_approve
        provenance = "agent_relayed" if handed.is_agents else "person"
        found.relayed.append(Relayed(one.id, one.reason, decision, summary, provenance))
        if not is_word or decision == "rejected" or not needs_person(one):
            decisions[one.id] = decision  # type: ignore[assignment]  # its contract holds
            why[one.id] = summary
        if handed.is_agents:
            found.warnings.append(_claimed(one, decision, is_counted=one.id in decisions))
    for one in declared:
        decision_now = decisions.get(one.id)
        has_value = _has_value(one, node, context, handed)
        if decision_now == "rejected" or (decision_now is None and not has_value):
            rejection = why.get(one.id) if decision_now == "rejected" else None
            is_spent = any(
                given.input_id == one.id and given.user_input_id in handed.spent
                for given in node.inputs
            )
            found.reasons.append(
                _missing_input(step, node, one, rejection=rejection, is_spent=is_spent)
            )


def _context(
    found: Judgement, workflow: Workflow, step: CompiledStep, context: Mapping[str, object]
) -> None:
    """See that no placeholder of the suggested context was sent as it was (R8.42)."""
    for key, blank in context_form(workflow, step).items():
        value = context.get(key)
        if value != blank and not (isinstance(value, str) and any(form.blanks(value))):
            continue
        shown = json.dumps({key: blank}, ensure_ascii=False)
        found.reasons.append(
            Reason(
                detail="missing_context_key",
                pointer={"kind": "context_key", "key": key},
                message=f"context.{key} is still the placeholder; it says nothing.",
                fix=f"Send context = {shown}, the <…> replaced by the real value, with the tokens"
                " of this answer.",
                context={key: blank},
            )
        )


def answered(
    step: CompiledStep, node: NodeState, seen: Mapping[str, object], spent: frozenset[str]
) -> dict[str, str | None]:
    """Return what only the person can give, each with their word that counts, None if open."""
    declared = inputs_of(step, seen)
    found = {one.input_id: one.decision for one in node.inputs if _counts(one, declared, spent)}
    handed = Acknowledgement(output=Submitted(), is_agents=True, spent=spent)
    return {
        one.id: found.get(one.id)
        or ("provided" if _has_value(one, node, node.context, handed) else None)
        for one in declared
    }


def _said(
    found: Judgement, declared: Sequence[UserInput], handed: Acknowledgement
) -> Iterator[tuple[UserInput, str, str]]:
    """Yield what this call says that the person decided or gave: input, decision, summary."""
    known = {one.id: one for one in declared}
    for artifact in handed.output.artifacts:
        if artifact["kind"] != "wr.user_input" or contract.conforms("wr.user_input", artifact):
            continue
        one = known.get(str(artifact["inputId"]))
        if one is None:
            message = f"This step asks for no input {str(artifact['inputId'])[:60]!r}."
            found.warnings.append(warning("ARTIFACT_UNRECOGNISED", message, kind="wr.user_input"))
            continue
        decision = str(artifact["decision"])
        yield one, decision, cut(str(artifact.get("summary") or decision), SUMMARY_MAX_BYTES)
    for one in declared:
        value = handed.context.set.get(one.context_key or "")
        if value is not None and not form.is_blank(value):
            yield one, "provided", cut(template.show(value), SUMMARY_MAX_BYTES)


def _counts(given: UserInputRecorded, declared: Sequence[UserInput], spent: frozenset[str]) -> bool:
    """Say whether a recorded answer counts.

    Where a person's is needed, what was given for something else does not, nor an agent's word,
    unless it is that they rejected it.
    """
    if not any(one.id == given.input_id and needs_person(one) for one in declared):
        return True
    is_theirs = given.provenance != "agent_relayed" or given.decision == "rejected"
    return is_theirs and given.user_input_id not in spent


def _has_value(
    one: UserInput, node: NodeState, context: Mapping[str, object], handed: Acknowledgement
) -> bool:
    key = one.context_key
    if key is None or context.get(key) is None or form.is_blank(context.get(key)):
        return False
    if not needs_person(one) or handed.may_approve:
        return True
    is_new = key in handed.context.set
    return not handed.is_agents if is_new else key in node.from_person


def _claimed(one: UserInput, decision: str, *, is_counted: bool) -> Json:
    message = f"That the person answered {one.id!r} with {decision!r} is noted as your word."
    if not is_counted:
        message += " It does not count here: the person answers this themselves."
    return warning("INPUT_CLAIMED", message, inputId=one.id, counted=is_counted)


def _missing_input(
    step: CompiledStep, node: NodeState, one: UserInput, *, rejection: str | None, is_spent: bool
) -> Reason:
    message = f"Only the person can give this ({one.reason}): {one.prompt}"
    if is_spent and needs_person(one):
        message += " (what they answered before was for what was handed in then, or is used)"
    if rejection is not None:
        message = f"The person rejected this: {one.prompt}"
        message += f" They said: {rejection}" if rejection != "rejected" else ""
    pointer: dict[str, object] = (
        {"kind": "context_key", "key": one.context_key}
        if one.context_key
        else {"kind": "workflow_step", "stepId": step.step_id}
    )
    context, artifact = _answer_form(one)
    return Reason(
        detail=one.reason,
        pointer=pointer,
        message=message,
        fix=_ask(node, one, context, artifact) if rejection is None else _change(node, one),
        context=context,
        artifact=artifact,
    )


def _answer_form(one: UserInput) -> tuple[Json, Json | None]:
    """Return how an agent hands a person's answer on: context, or an artifact; both as forms."""
    if needs_person(one):
        return {}, None
    if one.context_key:
        return {one.context_key: input_form(one)}, None
    return {}, {"kind": "wr.user_input", "inputId": one.id, "decision": "<provided|rejected>"}


def _change(node: NodeState, one: UserInput) -> str:
    """Say what follows a rejection: other content is asked for again (R8.21)."""
    if not needs_person(one):
        return "Ask the person what they want instead; they can take the rejection back."
    ref = resume_ref(node.run_id)
    return (
        "Change what you hand in as they want it and make the call again with the tokens of this"
        " answer: they are then asked anew. The same content stays rejected, unless they take it"
        f" back with `backshop run answer {ref} --input {one.id} approved`."
    )


def _ask(node: NodeState, one: UserInput, context: Json, artifact: Json | None) -> str:
    if needs_person(one):
        ref = resume_ref(node.run_id)
        return (
            f"Ask the person to answer in Studio or with `backshop run answer {ref} --input"
            f" {one.id} approved` (or rejected, or provided with --summary). When they have, make"
            " the call again with the tokens of this answer."
        )
    how = f"send context = {json.dumps(context, ensure_ascii=False)}"
    if artifact is not None:
        how = f"send output.artifacts = [{json.dumps(artifact, ensure_ascii=False)}]"
    return (
        f"Ask the person. When they have answered, {how}, every <…> replaced by what they said,"
        " with the tokens of this answer."
    )


def _notes(found: Judgement, step: CompiledStep, sent: Submitted, required: bool) -> None:
    pointer = {"kind": "workflow_step", "stepId": step.step_id}
    fix = (
        f'Send output = {{"notesMarkdown": "{form.NOTES}"}}, the <…> replaced by what you did, with'
        " the tokens of this answer."
    )
    if sent.is_blank:
        message = "output.notesMarkdown is still the placeholder; it says nothing of this step."
        reason = Reason(detail="missing_required_notes", pointer=pointer, message=message, fix=fix)
        found.reasons.append(reason)
        return
    if sent.notes is not None or step.notes_optional or step.contract is not None:
        return
    if required:
        message = "This step needs notes in output.notesMarkdown; none were sent."
        reason = Reason(detail="missing_required_notes", pointer=pointer, message=message, fix=fix)
        found.reasons.append(reason)
    else:
        message = f"No notes were sent for step {step.step_id}; the recap will not mention it."
        found.warnings.append(warning("NOTES_MISSING", message, stepId=step.step_id))


def _capabilities(
    found: Judgement, workflow: Workflow, step: CompiledStep, node: NodeState
) -> None:
    requested = workflow.compiled.capabilities
    now = run_capability.after(node.capabilities, found.observations)
    level = requested.get(step.probe) if step.probe else None
    reason = run_capability.probe_reason(step, now, found.observations, level)
    missing = any(one.detail == "missing_required_output" for one in found.reasons)
    if reason is not None and not (missing and reason.detail == "required_capability_unknown"):
        found.reasons.append(reason)
    for capability in run_capability.degraded(requested, found.observations, node.warned):
        message = f"{capability} is not available here; the run goes on without it."
        found.warnings.append(warning("CAPABILITY_DEGRADED", message, capability=capability))


def decides_loop(step: CompiledStep) -> bool:
    """Say whether acknowledging this step must carry a loop decision."""
    use = step.contract
    return use is not None and use.required and use.contract_ref == LOOP_CONTROL
