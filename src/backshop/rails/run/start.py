"""The rules of start and checkpoint: state and wish in, one append out (R7.21, R7.24).

Nothing here reads a clock, a file or the network; a rule may be called again and gives the same
facts. Ids come from stable parts, so a retried append meets itself. `advance` has its own module.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backshop.base.canon import canonical
from backshop.base.codec import encode
from backshop.base.ids import did

from ..errors import RailsError
from ..session import events as ev
from ..session.ordinal import attempt_id
from ..session.state import NodeState, SessionState
from . import answer, inputs, interpret, preference, prompt, reason
from .answer import AnswerFacts, Offer, Place
from .inputs import Request
from .interpret import MissingKey, Position, Workflow
from .judge import warning
from .plan import Plan, artifact_order
from .reason import Reason
from .recap import notes_to_keep
from .snapshot import Blocked, Snapshot

Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A wish to begin a run."""

    session_id: str
    run_id: str
    workflow: Workflow
    pinned: bytes  # the compiled snapshot
    source_kind: str
    source_ref: str
    driver: ev.Driver
    request: Request
    request_digest: str
    baseline: ev.Effective
    observations: Sequence[ev.ObservationRecorded] = ()
    references: tuple[ev.ReferenceStatus, ...] = ()
    parent: ev.Parent | None = None
    warnings: Sequence[Json] = ()
    only_careful: bool = False  # a change of mode may only make the run more careful (R8.4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A wish to record what was done at a node; by itself it does not advance."""

    session_id: str
    node_id: str
    attempt_id: str
    workflow: Workflow
    snapshot: Snapshot
    request: Request
    is_branch: bool = False
    """A person begins a branch with it (R10.12)."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What to append, the answer it leads to, and where the run then stands."""

    plan: Plan
    body: bytes
    node_id: str
    snapshot: Snapshot = field(repr=False)
    context: Mapping[str, object] = field(repr=False)


def start(state: SessionState, wish: Start) -> Decided:
    """Begin a run at the first step its context makes eligible (R7.21)."""
    mode, refused = preference.granted(
        wish.baseline, wish.request.preferences, only_careful=wish.only_careful
    )
    context = inputs.merged({}, wish.request.context)
    is_nonstop = not reason.blocks(mode.autonomy)
    choice = interpret.begin(wish.workflow, context, skip_missing=is_nonstop)
    if choice.engine is None:
        missing = choice.missing[0]
        raise RailsError(
            "PRECONDITION_FAILED",
            f"start_workflow: {missing.message}",
            f"Call start_workflow again and send context = {_context_form(missing)}, the <…>"
            " replaced by the real value.",
            details={"contextKey": missing.key},
        )
    node_id = did("node", wish.run_id, "root")
    snapshot = Snapshot(wish.workflow.hash, choice.engine)
    warnings = [*wish.warnings, *excess_warnings(mode, wish.workflow)]
    warnings += refused_warnings(refused, wish.run_id)
    gaps = reason.gaps([missing_reason(one) for one in choice.missing], node_id)
    gaps += [
        reason.limit_gap(node_id, one.loop_id, one.iteration, one.max_iterations)
        for one in choice.limits
    ]
    place = Place(
        session_id=wish.session_id,
        run_id=wish.run_id,
        workflow_id=wish.workflow.compiled.workflow_id,
    )
    facts = AnswerFacts(
        place=place,
        mode=mode,
        wished=refused,
        rendered=prompt.render(wish.workflow, choice.engine, context, mode),
        warnings=warnings,
        gaps=[encode(one) for one in gaps],
        guidance=answer.guidance_of(wish.workflow.compiled, wish.references, is_start=True),
    )
    body = answer.stored(answer.body(facts, first_offer(node_id, wish.workflow, choice.engine)))
    is_lean = wish.driver == "builtin"
    plan = Plan(wish.session_id, wish.run_id, node_id, is_lean=is_lean)
    _start_facts(plan, state, wish, body, mode, context)
    plan.node("step", None, snapshot)
    if not is_lean:
        plan.context("initial", wish.request.context)
        plan.preferences("system", preference.delta(None, wish.baseline), wish.baseline)
        plan.preferences(source_of(wish.request), preference.delta(wish.baseline, mode), mode)
    plan.wish(refused)
    for one in warnings:
        plan.warning(one)
    plan.trace(choice.trace)
    for gap in gaps:
        plan.gap(gap)
    return Decided(plan, body, node_id, snapshot, context)


def _start_facts(
    plan: Plan,
    state: SessionState,
    wish: Start,
    body: bytes,
    mode: ev.Effective,
    context: Mapping[str, object],
) -> None:
    started = ev.RunStarted(
        workflow_id=wish.workflow.compiled.workflow_id,
        workflow_hash=wish.workflow.hash,
        source_kind=wish.source_kind,
        source_ref=wish.source_ref,
        driver=wish.driver,
        parent=wish.parent,
        references=wish.references,
        request_digest=wish.request_digest,
        response_ref=plan.keep(body, "response"),
        preferences=mode if plan.is_lean else None,
        context=dict(context) if plan.is_lean else None,
    )
    plan.keep(wish.pinned, "workflow")
    if not state.created:
        plan.session(ev.SessionCreated())
        observe(plan, state, wish.observations)
        plan.run(started, wish.run_id)
    else:
        plan.run(started, wish.run_id)
        observe(plan, state, wish.observations)


def observe(plan: Plan, state: SessionState, seen: Sequence[ev.ObservationRecorded]) -> None:
    """Add what differs from what the session knows about where the work happens (R4.11).

    A value may come back (a branch left and returned to), so the key counts repetitions.
    """
    for one in seen:
        if state.observations.get(one.key) != str(one.value.get("value")):
            number = state.observed.get(one.key, 0)
            again = (str(number),) if number else ()
            plan.session(one, one.key, ev.short_digest(canonical(one.value)), *again)


def checkpoint(state: SessionState, wish: Note) -> Decided:
    """Record progress under a node; what is pending stays pending (R7.24)."""
    node, workflow, engine = state.nodes[wish.node_id], wish.workflow, wish.snapshot.engine
    to_node = did("node", node.node_id, "checkpoint", wish.attempt_id)
    blocked = still_blocked(wish.snapshot, node.preferences)
    facts = AnswerFacts(
        place=place_of(state, wish.session_id, node),
        mode=node.preferences,
        wished=node.wished,
        rendered=prompt.render(workflow, engine, node.context, node.preferences),
        warnings=notes_warnings(wish.request),
        blockers=blocked.blockers if blocked else (),
        is_retryable=blocked.retryable if blocked else True,
        more={"checkpoint": {"nodeId": to_node}},
    )
    body = answer.stored(answer.body(facts, first_offer(to_node, workflow, engine)))
    plan = Plan(wish.session_id, node.run_id, to_node)
    recorded = ev.CheckpointRecorded(
        attempt_id=wish.attempt_id,
        to_node_id=to_node,
        request_digest=wish.request.digest(),
        response_ref=plan.keep(body, "response"),
    )
    event = plan.on(node.node_id, recorded, node.node_id, wish.attempt_id)
    plan.node("checkpoint", node.node_id, wish.snapshot)
    cause: ev.CauseKind = "intentional_fork" if wish.is_branch else "checkpoint_created"
    plan.edge("checkpoint", node.node_id, cause, event)
    plan.outputs(wish.request.output)
    return Decided(plan, body, to_node, wish.snapshot, node.context)


def still_blocked(snapshot: Snapshot, mode: ev.Effective) -> Blocked | None:
    """Return why a position waits; None when nothing blocks it in this mode (R7.14)."""
    return snapshot.blocked if reason.blocks(mode.autonomy) else None


def session_checkpoint(session_id: str, attempt: str, request: Request) -> Plan:
    """Record notes or artifacts of a session itself (R7.8)."""
    plan = Plan(session_id)
    payloads: list[tuple[str, ev.Payload]] = []
    if request.output.notes is not None:
        payloads.append(("recap", plan.notes_payload(request.output.notes)))
    for _, data, kind in artifact_order(request.output):
        payloads.append(("artifact", plan.artifact_payload(data, kind)))
    for ordinal, (channel, payload) in enumerate(payloads):
        own = did("out", session_id, attempt, ordinal)
        fact = ev.SessionOutputAppended(
            output_id=own,
            output_channel=channel,  # type: ignore[arg-type]  # one of both words
            payload=payload,
            attempt_id=attempt,
            request_digest=request.digest(),
        )
        plan.session(fact, own)
    return plan


def notes_warnings(request: Request) -> list[Json]:
    notes = request.output.notes
    if notes is None or not notes_to_keep(notes)[1]:
        return []
    message = "The notes are longer than the recap keeps; the whole text is stored beside it."
    return [warning("NOTES_TRUNCATED", message, bytes=len(notes.encode()))]


def source_of(request: Request) -> str:
    """Return who a change of mode is recorded to come from."""
    return {"person": "user", "agent": "agent", "builtin": "system"}[request.by]


_OPTIONS = {"autonomy": "autonomy", "riskPolicy": "risk-policy"}
"""A preference as `backshop run set` spells it."""


def refused_warnings(refused: Sequence[ev.PreferenceChange], run_id: str) -> list[Json]:
    """Return what is said about automation that was asked for and not granted (R8.4)."""
    ref = answer.resume_ref(run_id)
    return [
        warning(
            "AUTOMATION_NOT_GRANTED",
            f"The wish for {one.key} {one.value} is noted and not in force: over MCP a run can only"
            f" be made more careful. The person can allow it in Studio or with `backshop run set"
            f" {ref} --{_OPTIONS[one.key]} {one.value}`.",
            key=one.key,
            wanted=one.value,
        )
        for one in refused
    ]


def excess_warnings(mode: ev.Effective, workflow: Workflow) -> list[Json]:
    recommended = workflow.compiled.recommended_preferences
    within = preference.highest_within(mode, recommended)
    return [
        warning(
            "MODE_EXCEEDS_RECOMMENDATION",
            f"{one.key} is {one.effective}; this workflow recommends at most {one.recommended}"
            f" ({within}).",
            key=one.key,
            effective=one.effective,
            recommended=one.recommended,
        )
        for one in preference.excesses(mode, recommended)
    ]


def missing_reason(missing: MissingKey) -> Reason:
    return Reason(
        detail="missing_context_key",
        pointer={"kind": "context_key", "key": missing.key},
        message=missing.message,
        fix=f"Send context = {_context_form(missing)}, the <…> replaced by the real value, with the"
        " tokens of this answer.",
        context={missing.key: missing.blank},
    )


def _context_form(missing: MissingKey) -> str:
    return json.dumps({missing.key: missing.blank}, ensure_ascii=False)


def first_offer(node_id: str, workflow: Workflow, engine: Position) -> Offer:
    return Offer(
        node_id=node_id,
        workflow_hash=workflow.hash,
        ack=None if engine.is_complete else attempt_id(node_id, "ack", 0),
        checkpoint=attempt_id(node_id, "checkpoint", 0),
    )


def place_of(state: SessionState, session_id: str, node: NodeState) -> Place:
    run = state.runs[node.run_id]
    return Place(session_id=session_id, run_id=node.run_id, workflow_id=run.started.workflow_id)
