"""The rule of an acknowledgement: the step counts as done, or it is said why not (R7.22)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backshop.base.codec import encode
from backshop.base.ids import did
from backshop.base.limits import BLOCKED_ATTEMPTS_BUILTIN_MAX, BLOCKED_ATTEMPTS_MAX

from . import capabilities, contracts, inputs, interpret, preferences, prompt, reasons, respond
from . import events as ev
from .decide import (
    Decided,
    excess_warnings,
    first_offer,
    missing_reason,
    notes_warnings,
    observe,
    place_of,
)
from .errors import RailsError
from .inputs import Request
from .interpret import Workflow
from .judge import Judgement, decides_loop, judge, warning
from .plan import Plan, artifact_order
from .reasons import Reason
from .respond import Facts
from .snapshot import Blocked, Snapshot
from .state import NodeState, SessionState

Json = dict[str, object]
FORK_SIBLINGS_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings that rules look at."""

    notes_required: bool = False
    max_blocked: int = BLOCKED_ATTEMPTS_MAX
    max_blocked_builtin: int = BLOCKED_ATTEMPTS_BUILTIN_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledge:
    """A wish to have a node's pending step counted as done."""

    session_id: str
    node_id: str
    attempt_id: str
    workflow: Workflow
    snapshot: Snapshot
    request: Request
    policy: Policy
    warnings: Sequence[Json] = ()
    observations: Sequence[ev.ObservationRecorded] = ()
    is_intended_fork: bool = False


def advance(state: SessionState, wish: Acknowledge) -> Decided:
    """Count the pending step as done, or say why it is not (R7.22)."""
    node, workflow, engine = state.nodes[wish.node_id], wish.workflow, wish.snapshot.engine
    if engine.pending is None:
        raise RailsError(
            "PRECONDITION_FAILED",
            "continue_workflow: the run is complete here; no step is pending",
            "Stop, or acknowledge an earlier step's token to branch from there.",
        )
    to_node = did("node", node.node_id, wish.attempt_id)
    context = inputs.merged(node.context, wish.request.context)
    judgement = judge(
        workflow,
        engine,
        node,
        context,
        wish.request.output,
        to_node=to_node,
        notes_required=wish.policy.notes_required,
    )
    autonomy = wish.request.preferences.autonomy or node.preferences.autonomy  # R8.4
    if reasons.blocks(autonomy):
        found = list(judgement.reasons)
        choice = None
        if not found:
            choice = interpret.after(
                workflow, engine, context, decision=judgement.decision, skip_missing=False
            )
            found = [missing_reason(one) for one in choice.missing]
        if found or choice is None or choice.engine is None:
            return _blocked(state, wish, judgement, found, context)
        return _advanced(state, wish, judgement, choice, context, ())
    decision = judgement.decision
    if decides_loop(workflow.steps[engine.pending.step_id]) and decision == "none":
        decision = "stop"  # R1.26
    choice = interpret.after(workflow, engine, context, decision=decision, skip_missing=True)
    found = [*judgement.reasons, *(missing_reason(one) for one in choice.missing)]
    return _advanced(state, wish, judgement, choice, context, found)


def _advanced(
    state: SessionState,
    wish: Acknowledge,
    judgement: Judgement,
    choice: interpret.Choice,
    context: Mapping[str, object],
    as_gaps: Sequence[Reason],
) -> Decided:
    assert choice.engine is not None
    node, workflow = state.nodes[wish.node_id], wish.workflow
    to_node = did("node", node.node_id, wish.attempt_id)
    mode = preferences.applied(node.preferences, wish.request.preferences)
    snapshot = Snapshot(workflow.hash, choice.engine)
    gaps = [*judgement.gaps, *_gaps(as_gaps, choice, to_node)]
    warnings = _all_warnings(wish, judgement, node.preferences, mode)
    warnings += [
        warning(
            "LOOP_LIMIT_REACHED",
            f"Loop {one.loop_id} ended at its limit of {one.max_iterations} passes.",
            loopId=one.loop_id,
            maxIterations=one.max_iterations,
        )
        for one in choice.limits
    ]
    more: Json = {}
    if judgement.assessed and not as_gaps:
        more["stepContext"] = {"assessments": [_assessed_wire(one) for one in judgement.assessed]}
    if node.is_rewound:
        siblings = [
            child
            for child in node.children
            if (edge := state.nodes[child].edge) and edge.edge_kind == "acked_step"
        ]
        more["fork"] = {"fromNodeId": node.node_id, "siblings": siblings[-FORK_SIBLINGS_MAX:]}
    facts = Facts(
        place=place_of(state, wish.session_id, node),
        mode=mode,
        rendered=prompt.render(workflow, choice.engine, context, mode),
        warnings=warnings,
        gaps=[encode(one) for one in gaps],
        more=more,
    )
    body = respond.stored(respond.body(facts, first_offer(to_node, workflow, choice.engine)))
    plan = Plan(wish.session_id, node.run_id, to_node)
    event = _record(plan, wish, ev.Outcome("advanced", to_node), body)
    plan.node("step", node.node_id, snapshot)
    plan.edge("acked_step", node.node_id, _cause(node, wish), event)
    _judged(plan, wish, judgement, gaps, node.preferences, mode)
    plan.trace([*_rewind_trace(node), *choice.trace])
    for one in warnings:
        plan.warning(one)
    observe(plan, state, wish.observations)
    return Decided(plan, body, to_node, snapshot)


def _blocked(
    state: SessionState,
    wish: Acknowledge,
    judgement: Judgement,
    found: Sequence[Reason],
    context: Mapping[str, object],
) -> Decided:
    node, workflow = state.nodes[wish.node_id], wish.workflow
    engine = wish.snapshot.engine
    run = state.runs[node.run_id]
    limit = wish.policy.max_blocked
    if run.started.driver == "builtin":
        limit = wish.policy.max_blocked_builtin
    rendered = prompt.render(
        workflow, engine, context, preferences.applied(node.preferences, wish.request.preferences)
    )
    assert rendered is not None
    if node.blocked_depth >= limit:
        raise _too_many(rendered, found, limit)
    to_node = did("node", node.node_id, wish.attempt_id)
    mode = preferences.applied(node.preferences, wish.request.preferences)
    listed = reasons.blockers(found)
    retryable = all(one.is_retryable for one in found)
    blocked = Blocked(
        retryable=retryable,
        reasons=tuple(sorted({one.name for one in found})),
        blockers=tuple(listed),
        chain_depth=node.blocked_depth + 1,
    )
    snapshot = Snapshot(workflow.hash, engine, blocked)
    warnings = _all_warnings(wish, judgement, node.preferences, mode)
    facts = Facts(
        place=place_of(state, wish.session_id, node),
        mode=mode,
        rendered=rendered,
        warnings=warnings,
        gaps=[encode(one) for one in judgement.gaps],
        blockers=listed,
        is_retryable=retryable,
        validation=_validation(judgement),
        example=_example(workflow, rendered, found),
    )
    body = respond.stored(respond.body(facts, first_offer(to_node, workflow, engine)))
    plan = Plan(wish.session_id, node.run_id, to_node)
    event = _record(plan, wish, ev.Outcome("blocked", to_node, tuple(listed)), body)
    plan.node("blocked_attempt", node.node_id, snapshot)
    plan.edge("blocked_attempt", node.node_id, "attempt_blocked", event)
    _judged(plan, wish, judgement, judgement.gaps, node.preferences, mode)
    for one in warnings:
        plan.warning(one)
    observe(plan, state, wish.observations)
    return Decided(plan, body, to_node, snapshot)


def _record(plan: Plan, wish: Acknowledge, outcome: ev.Outcome, body: bytes) -> str:
    fact = ev.AdvanceRecorded(
        attempt_id=wish.attempt_id,
        request_digest=wish.request.digest(),
        outcome=outcome,
        response_ref=plan.keep(body, "response"),
    )
    return plan.on(wish.node_id, fact, wish.node_id, wish.attempt_id)


def _judged(
    plan: Plan,
    wish: Acknowledge,
    judgement: Judgement,
    gaps: Sequence[ev.GapRecorded],
    before: ev.Effective,
    mode: ev.Effective,
) -> None:
    """Add the facts an acknowledgement brought, in the order of R4.16."""
    plan.context("agent_delta", wish.request.context)
    for one in judgement.relayed:
        plan.user_input(one.input_id, one.reason, one.decision, one.summary, "agent_relayed")
    for check in judgement.checks:
        plan.validation(wish.attempt_id, check.contract_ref, check.result)
    unkept = _unkept(wish)
    order = [index for index, _, _ in artifact_order(wish.request.output, unkept)]
    for assessed in judgement.assessed:
        assert plan.node_id is not None
        plan.assessment(
            assessed.assessment_id,
            wish.attempt_id,
            did("out", plan.node_id, "artifact", order.index(assessed.index)),
            assessed.dimensions,
            tuple(fired for _, fired in assessed.fired),
        )
    for observation in judgement.observations:
        plan.capability(observation.capability, observation.status, observation.provenance)
    for divergence in judgement.divergences:
        plan.divergence(divergence.reason, divergence.summary, divergence.related)
    for gap in gaps:
        plan.gap(gap)
    plan.preferences("user", preferences.delta(before, mode), mode)
    plan.outputs(wish.request.output, unkept)


def _unkept(wish: Acknowledge) -> frozenset[int]:
    """Return the artifacts that are recorded as events alone (R1.36)."""
    features = {one.id: one.config or {} for one in wish.workflow.compiled.features}
    if features.get("wr.features.capabilities", {}).get("recordObservationsAs") != "event":
        return frozenset()
    return capabilities.places(wish.request.output.artifacts)


def _all_warnings(
    wish: Acknowledge, judgement: Judgement, before: ev.Effective, mode: ev.Effective
) -> list[Json]:
    found = [*wish.warnings, *judgement.warnings, *notes_warnings(wish.request)]
    return found + (excess_warnings(mode, wish.workflow) if mode != before else [])


def _gaps(
    as_gaps: Sequence[Reason], choice: interpret.Choice, node_id: str
) -> list[ev.GapRecorded]:
    limits = [
        reasons.limit_gap(node_id, one.loop_id, one.iteration, one.max_iterations)
        for one in choice.limits
    ]
    return [*reasons.gaps(as_gaps, node_id), *limits]


def _validation(judgement: Judgement) -> Json | None:
    failed = [check.result for check in judgement.checks if not check.result.valid]
    if not failed:
        return None
    issues = [issue for result in failed for issue in result.issues]
    suggestions = [one for result in failed for one in result.suggestions]
    return {
        "issues": contracts.fit_issues(issues),
        "suggestions": contracts.fit_suggestions(suggestions),
    }


def _example(
    workflow: Workflow, rendered: prompt.Rendered, found: Sequence[Reason]
) -> Mapping[str, object] | None:
    """Return the payload that would satisfy the first output blocker."""
    for one in reasons.ordered(found):
        if one.pointer["kind"] != "output_contract":
            continue
        contract = contracts.contract_of(workflow.compiled, str(one.pointer["contractRef"]))
        step = rendered.step
        if contract is not None and step.contract is not None:
            return contract.example
        declared = {one.id: one for one in workflow.compiled.assessments}
        for ref in step.assessment_refs:
            return contracts.assessment_example(declared[ref])
    return None


def _too_many(rendered: prompt.Rendered, found: Sequence[Reason], limit: int) -> RailsError:
    first = reasons.ordered(found)[0]
    example = json.dumps(rendered.example, ensure_ascii=False)
    return RailsError(
        "PRECONDITION_FAILED",
        f"continue_workflow: this step was blocked {limit} times in a row; {first.message}",
        f"Send output = {example}; or rehydrate from the step's stateToken, or switch the mode.",
    )


def _assessed_wire(one: contracts.Assessed) -> Json:
    dimensions = []
    for dimension in one.dimensions:
        shown: Json = {"dimensionId": dimension.dimension_id, "level": dimension.level}
        if dimension.rationale is not None:
            shown["rationale"] = dimension.rationale
        dimensions.append(shown)
    return {
        "assessmentId": one.assessment_id,
        "dimensions": dimensions,
        "normalizationNotes": [
            f"{dimension.dimension_id} was read as {dimension.level}"
            for dimension in one.dimensions
            if dimension.normalization == "normalized"
        ],
    }


def _cause(node: NodeState, wish: Acknowledge) -> ev.CauseKind:
    if wish.is_intended_fork:
        return "intentional_fork"
    return "non_tip_advance" if node.is_rewound else "tip_advance"


def _rewind_trace(node: NodeState) -> list[ev.TraceEntry]:
    if not node.is_rewound:
        return []
    return [ev.TraceEntry("detected_non_tip_advance", f"branched from {node.node_id}")]
