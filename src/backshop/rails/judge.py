"""What an acknowledgement says and whether it is enough: facts, reasons, warnings (R7.22)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from backshop.base.ids import did
from backshop.base.limits import SUMMARY_MAX_BYTES

from . import capabilities, contracts
from .answers import WarningCode
from .capabilities import Observation
from .compile import CompiledStep, UserInput
from .contracts import Assessed, Check
from .errors import cut
from .events import GapReason, GapRecorded, Resolution
from .inputs import Artifact, Submitted
from .interpret import Decision, Engine, Workflow, scope
from .packs import LOOP_CONTROL, PACKS
from .prompt import inputs_of
from .reasons import Reason
from .state import NodeState

Json = dict[str, object]
_KNOWN_KINDS = {kind: pack for pack in PACKS.values() for kind in (pack.kind, *pack.aliases)}
_DIVERGENCE = "wr.workflow_divergence"


@dataclass(frozen=True, slots=True)
class Relayed:
    """What the agent says the person decided or gave."""

    input_id: str
    reason: str
    decision: str
    summary: str


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


def judge(
    workflow: Workflow,
    engine: Engine,
    node: NodeState,
    context: Mapping[str, object],
    sent: Submitted,
    *,
    to_node: str,
    notes_required: bool,
) -> Judgement:
    """Check everything the pending step requires, together (R1.33)."""
    assert engine.pending is not None
    step = workflow.steps[engine.pending.step_id]
    seen = scope(workflow, engine.stack, context)
    found = Judgement()
    found.observations = capabilities.observations(step, sent.artifacts)
    _artifacts(found, step, sent, node, to_node)
    _contract(found, workflow, step, sent, seen)
    _assessments(found, workflow, step, sent)
    _inputs(found, step, node, context, seen, sent)
    _notes(found, step, sent, notes_required)
    _capabilities(found, workflow, step, node)
    return found


def warning(code: WarningCode, message: str, **details: object) -> Json:
    """Return a warning as answers show it."""
    found: Json = {"code": code, "message": message}
    return {**found, "details": details} if details else found


def _artifacts(
    found: Judgement, step: CompiledStep, sent: Submitted, node: NodeState, to_node: str
) -> None:
    """Sort the artifacts by what they are; the unknown are stored and mentioned once."""
    unknown = []
    required = step.contract.contract_ref if step.contract else None
    for artifact in sent.artifacts:
        kind = str(artifact["kind"])
        pack = _KNOWN_KINDS.get(kind)
        if pack is None:
            unknown.append(kind)
            continue
        issues = contracts.conforms(kind, artifact)
        if issues:
            if pack.contract_ref != required and kind != "wr.assessment":
                message = f"A {kind} artifact was stored but not understood: {issues[0]}"
                found.warnings.append(warning("ARTIFACT_UNRECOGNISED", message, kind=kind))
            continue
        _understood(found, pack.kind, artifact, node, to_node)
    if unknown and "ARTIFACT_UNRECOGNISED:unknown_kind" not in node.warned:
        message = f"Artifacts of these kinds are stored as they are: {', '.join(unknown)}"
        found.warnings.append(
            warning("ARTIFACT_UNRECOGNISED", cut(message, 500), reason="unknown_kind")
        )


def _understood(
    found: Judgement, kind: str, artifact: Artifact, node: NodeState, to_node: str
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
        _agent_gap(found, artifact, node, to_node)


def _agent_gap(found: Judgement, artifact: Artifact, node: NodeState, to_node: str) -> None:
    resolves = artifact.get("resolvesGapId")
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
        contracts.check_contract(workflow.compiled, step, sent),
        contracts.check_criteria(step, sent, seen),
    ):
        if check is not None:
            found.checks.append(check)
            if check.reason is not None:
                found.reasons.append(check.reason)


def _assessments(found: Judgement, workflow: Workflow, step: CompiledStep, sent: Submitted) -> None:
    checks, found.assessed = contracts.check_assessments(workflow.compiled, step, sent)
    found.checks += checks
    found.reasons += [check.reason for check in checks if check.reason is not None]
    for one in found.assessed:
        found.reasons += contracts.followups(one)
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
    sent: Submitted,
) -> None:
    """See whether the person has given what only they can (R8.21)."""
    declared = inputs_of(step, seen)
    known = {one.id: one for one in declared}
    decisions = {one.input_id: one.decision for one in node.inputs}
    for artifact in sent.artifacts:
        if artifact["kind"] != "wr.user_input" or contracts.conforms("wr.user_input", artifact):
            continue
        one = known.get(str(artifact["inputId"]))
        if one is None:
            message = f"This step asks for no input {str(artifact['inputId'])[:60]!r}."
            found.warnings.append(warning("ARTIFACT_UNRECOGNISED", message, kind="wr.user_input"))
            continue
        decision = str(artifact["decision"])
        summary = cut(str(artifact.get("summary") or decision), SUMMARY_MAX_BYTES)
        found.relayed.append(Relayed(one.id, one.reason, decision, summary))
        decisions[one.id] = decision  # type: ignore[assignment]  # its contract holds
    for one in declared:
        decision_now = decisions.get(one.id)
        has_value = one.context_key is not None and context.get(one.context_key) is not None
        if decision_now == "rejected" or (decision_now is None and not has_value):
            found.reasons.append(_missing_input(step, one, is_rejected=decision_now == "rejected"))


def _missing_input(step: CompiledStep, one: UserInput, *, is_rejected: bool) -> Reason:
    decision = "approved" if one.reason == "needs_user_approval" else "provided"
    artifact = {"kind": "wr.user_input", "inputId": one.id, "decision": decision}
    shown = json.dumps(artifact, ensure_ascii=False)
    how = f"send output.artifacts = [{shown}]"
    if one.context_key:
        value = one.options[0] if one.options else "<their answer>"
        given = json.dumps({one.context_key: value}, ensure_ascii=False)
        how = f"send context = {given}"
    message = f"Only the person can give this ({one.reason}): {one.prompt}"
    if is_rejected:
        message = f"The person rejected this: {one.prompt}"
    pointer: dict[str, object] = (
        {"kind": "context_key", "key": one.context_key}
        if one.context_key
        else {"kind": "workflow_step", "stepId": step.step_id}
    )
    return Reason(
        detail=one.reason,
        pointer=pointer,
        message=message,
        fix=f"Ask the person. When they have answered, {how} with the tokens of this answer.",
    )


def _notes(found: Judgement, step: CompiledStep, sent: Submitted, required: bool) -> None:
    if sent.notes is not None or step.notes_optional or step.contract is not None:
        return
    if required:
        found.reasons.append(
            Reason(
                detail="missing_required_notes",
                pointer={"kind": "workflow_step", "stepId": step.step_id},
                message="This step needs notes in output.notesMarkdown; none were sent.",
                fix='Send output = {"notesMarkdown": "<what you did>"} with the tokens of this'
                " answer.",
            )
        )
    else:
        message = f"No notes were sent for step {step.step_id}; the recap will not mention it."
        found.warnings.append(warning("NOTES_MISSING", message, stepId=step.step_id))


def _capabilities(
    found: Judgement, workflow: Workflow, step: CompiledStep, node: NodeState
) -> None:
    requested = workflow.compiled.capabilities
    now = capabilities.after(node.capabilities, found.observations)
    level = requested.get(step.probe) if step.probe else None
    reason = capabilities.probe_reason(step, now, found.observations, level)
    missing = any(one.detail == "missing_required_output" for one in found.reasons)
    if reason is not None and not (missing and reason.detail == "required_capability_unknown"):
        found.reasons.append(reason)
    for capability in capabilities.degraded(requested, found.observations, node.warned):
        message = f"{capability} is not available here; the run goes on without it."
        found.warnings.append(warning("CAPABILITY_DEGRADED", message, capability=capability))


def decides_loop(step: CompiledStep) -> bool:
    """Say whether acknowledging this step must carry a loop decision."""
    use = step.contract
    return use is not None and use.required and use.contract_ref == LOOP_CONTROL
