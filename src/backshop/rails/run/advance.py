"""The rule of an acknowledgement: the step counts as done, or it is said why not (R7.22)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from backshop.base.codec import encode
from backshop.base.ids import did
from backshop.base.limits import BLOCKED_ATTEMPTS_BUILTIN_MAX, BLOCKED_ATTEMPTS_MAX

from ..errors import RailsError
from ..session import events as ev
from ..session.state import NodeState, SessionState
from . import answer, capability, graph, inputs, interpret, preference, prompt, reason, start
from . import contract as run_contract
from .answer import AnswerFacts, handed_in
from .inputs import Submitted
from .interpret import Position, Workflow
from .judge import Acknowledgement, Judgement, decides_loop, judge, warning
from .plan import Plan, artifact_order
from .reason import Reason
from .snapshot import Blocked, Snapshot

Json = dict[str, object]
FORK_SIBLINGS_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings that rules look at."""

    notes_required: bool = False
    max_blocked: int = BLOCKED_ATTEMPTS_MAX
    max_blocked_builtin: int = BLOCKED_ATTEMPTS_BUILTIN_MAX
    agent_may_automate: bool = False
    agent_may_approve: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledge(start.Note):
    """A wish to have a node's pending step counted as done."""

    policy: Policy
    kept: Submitted = field(default_factory=Submitted)
    """What blocked attempts of this step brought (R6.14)."""
    attempts: Mapping[str, Submitted] = field(default_factory=dict)
    """What each of them handed in, by its node."""
    warnings: Sequence[Json] = ()
    observations: Sequence[ev.ObservationRecorded] = ()
    is_intended_fork: bool = False
    ceiling: ev.Effective | None = None
    """The mode where the run stands, for a call made further back: a branch is no way around it."""

    @property
    def output(self) -> Submitted:
        """What counts as handed in: this call's output, and what is kept of those before it."""
        return inputs.effective(self.request.output, self.kept)

    def mode(self, node: NodeState) -> tuple[ev.Effective, tuple[ev.PreferenceChange, ...]]:
        """Return the mode from here on, and what was wished for and not granted (R8.4)."""
        is_limited = self.request.by == "agent" and not self.policy.agent_may_automate
        now = node.preferences
        if is_limited and self.ceiling is not None:
            now = preference.lowest(now, self.ceiling)
        return preference.granted(now, self.request.preferences, only_careful=is_limited)


def advance(state: SessionState, wish: Acknowledge) -> start.Decided:
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
        Acknowledgement(
            output=wish.output,
            context=wish.request.context,
            is_agents=wish.request.by != "person",
            is_builtin=wish.request.by == "builtin",
            may_approve=wish.request.by == "person" or wish.policy.agent_may_approve,
            spent=spent(state, node, wish.attempts, wish.output, context),
        ),
        to_node=to_node,
        notes_required=wish.policy.notes_required and wish.request.by != "builtin",
    )
    if reason.blocks(wish.mode(node)[0].autonomy):  # R8.4
        found = list(judgement.reasons)
        choice = None
        if not found:
            choice = interpret.after(
                workflow, engine, context, decision=judgement.decision, skip_missing=False
            )
            found = [start.missing_reason(one) for one in choice.missing]
        if found or choice is None or choice.engine is None:
            return _blocked(state, wish, judgement, found, context)
        return _advanced(state, wish, judgement, choice, context, ())
    decision = judgement.decision
    if decides_loop(workflow.steps[engine.pending.step_id]) and decision == "none":
        decision = "stop"  # R1.26
    choice = interpret.after(workflow, engine, context, decision=decision, skip_missing=True)
    found = [*judgement.reasons, *(start.missing_reason(one) for one in choice.missing)]
    return _advanced(state, wish, judgement, choice, context, found)


def spent(
    state: SessionState,
    node: NodeState,
    attempts: Mapping[str, Submitted],
    output: Submitted,
    context: Mapping[str, object],
) -> frozenset[str]:
    """Return the answers of the person that do not count for this acknowledgement (R8.21).

    One counts for a single acknowledgement that succeeds; one that was given on a blocked attempt
    counts for what that attempt handed in and nothing else, and an approval of nothing for nothing.
    """
    found: set[str] = set()
    for one in graph.upwards(state, node.node_id):
        above = state.nodes[one.parent].inputs if one.parent and one.kind != "step" else ()
        own = {given.user_input_id for given in one.inputs} - {g.user_input_id for g in above}
        attempt = graph.attempt_of(state, one)
        brought = attempts.get(attempt.node_id) if attempt else None
        is_other = brought is not None and (
            inputs.content(brought) != inputs.content(output) or dict(one.context) != dict(context)
        )
        if own and (is_other or _has_led_on(state, one)):
            found |= own
        elif own and attempt is None:
            found |= {given.user_input_id for given in one.inputs if _approves(given)} & own
        if one.kind == "step":
            break
    return frozenset(found)


def _approves(given: ev.UserInputRecorded) -> bool:
    return given.reason == "needs_user_approval" and given.decision != "rejected"


def _has_led_on(state: SessionState, node: NodeState) -> bool:
    """Say whether the step pending here was done, from here or from a blocked attempt below."""
    waiting = [node]
    while waiting:
        children = [state.nodes[child] for child in waiting.pop().children]
        if any(one.edge is not None and one.edge.edge_kind == "acked_step" for one in children):
            return True
        waiting += [one for one in children if one.kind != "step"]
    return False


def _advanced(
    state: SessionState,
    wish: Acknowledge,
    judgement: Judgement,
    choice: interpret.Choice,
    context: Mapping[str, object],
    as_gaps: Sequence[Reason],
) -> start.Decided:
    assert choice.engine is not None
    node, workflow = state.nodes[wish.node_id], wish.workflow
    to_node = did("node", node.node_id, wish.attempt_id)
    mode, refused = wish.mode(node)
    snapshot = Snapshot(workflow.hash, choice.engine)
    gaps = [*judgement.gaps, *_gaps(as_gaps, choice, to_node)]
    warnings = _all_warnings(wish, judgement, node, mode)
    warnings += [
        warning(
            "LOOP_LIMIT_REACHED",
            f"Loop {one.loop_id} ended at its limit of {one.max_iterations} passes.",
            loopId=one.loop_id,
            maxIterations=one.max_iterations,
        )
        for one in choice.limits
    ]
    more: Json = graph.person_said(node)
    if judgement.assessed and not as_gaps:
        more["stepContext"] = {"assessments": [_assessed_wire(one) for one in judgement.assessed]}
    if node.is_rewound:
        siblings = [
            child
            for child in node.children
            if (edge := state.nodes[child].edge) and edge.edge_kind == "acked_step"
        ]
        more["fork"] = {"fromNodeId": node.node_id, "siblings": siblings[-FORK_SIBLINGS_MAX:]}
    facts = AnswerFacts(
        place=start.place_of(state, wish.session_id, node),
        mode=mode,
        wished=refused or node.wished,
        rendered=prompt.render(workflow, choice.engine, context, mode),
        warnings=warnings,
        gaps=[encode(one) for one in gaps],
        more=more,
    )
    body = answer.stored(answer.body(facts, start.first_offer(to_node, workflow, choice.engine)))
    is_lean = wish.request.by == "builtin"
    plan = Plan(wish.session_id, node.run_id, to_node, is_lean=is_lean)
    event = _record(plan, wish, ev.Outcome("advanced", to_node), body)
    plan.node("step", node.node_id, snapshot)
    plan.edge("acked_step", node.node_id, _cause(node, wish), event)
    _judged(plan, wish, judgement, gaps, node)
    plan.trace([*_rewind_trace(node), *choice.trace])
    for one in warnings:
        plan.warning(one)
    start.observe(plan, state, wish.observations)
    return start.Decided(plan, body, to_node, snapshot, context)


def _blocked(
    state: SessionState,
    wish: Acknowledge,
    judgement: Judgement,
    found: Sequence[Reason],
    context: Mapping[str, object],
) -> start.Decided:
    node, workflow = state.nodes[wish.node_id], wish.workflow
    engine = wish.snapshot.engine
    run = state.runs[node.run_id]
    limit = wish.policy.max_blocked
    if run.started.driver == "builtin":
        limit = wish.policy.max_blocked_builtin
    mode, refused = wish.mode(node)
    rendered = prompt.render(workflow, engine, context, mode)
    assert rendered is not None
    rendered = replace(rendered, form=_still_open(rendered, judgement, found, wish.output))
    if node.blocked_depth >= limit:
        raise _too_many(rendered, found, limit)
    to_node = did("node", node.node_id, wish.attempt_id)
    listed = reason.blockers(found)
    retryable = all(one.is_retryable for one in found)
    blocked = Blocked(
        retryable=retryable,
        reasons=tuple(sorted({one.name for one in found})),
        blockers=tuple(listed),
        chain_depth=node.blocked_depth + 1,
    )
    snapshot = Snapshot(workflow.hash, engine, blocked)
    warnings = _all_warnings(wish, judgement, node, mode)
    facts = AnswerFacts(
        place=start.place_of(state, wish.session_id, node),
        mode=mode,
        wished=refused or node.wished,
        context={key: value for one in found for key, value in one.context.items()},
        more={**handed_in(wish.output, rendered.form), **graph.person_said(node)},
        rendered=rendered,
        warnings=warnings,
        gaps=[encode(one) for one in judgement.gaps],
        blockers=listed,
        is_retryable=retryable,
        validation=_validation(judgement),
        example=_example(workflow, rendered, found),
    )
    body = answer.stored(answer.body(facts, start.first_offer(to_node, workflow, engine)))
    is_lean = wish.request.by == "builtin"
    plan = Plan(wish.session_id, node.run_id, to_node, is_lean=is_lean)
    event = _record(plan, wish, ev.Outcome("blocked", to_node, tuple(listed)), body)
    plan.node("blocked_attempt", node.node_id, snapshot)
    plan.edge("blocked_attempt", node.node_id, "attempt_blocked", event)
    _judged(plan, wish, judgement, judgement.gaps, node)
    for one in warnings:
        plan.warning(one)
    start.observe(plan, state, wish.observations)
    return start.Decided(plan, body, to_node, snapshot, context)


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
    node: NodeState,
) -> None:
    """Add the facts an acknowledgement brought, in the order of R4.16."""
    mode, refused = wish.mode(node)
    plan.context("user" if wish.request.by == "person" else "agent_delta", wish.request.context)
    for one in judgement.relayed:
        plan.user_input(one.input_id, one.reason, one.decision, one.summary, one.provenance)
    for check in judgement.checks:
        plan.validation(wish.attempt_id, check.contract_ref, check.result)
    unkept = _unkept(wish)
    order = [index for index, _, _ in artifact_order(wish.output, unkept)]
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
    source = start.source_of(wish.request)
    plan.preferences(source, preference.delta(node.preferences, mode), mode)
    plan.wish(refused)
    plan.outputs(wish.output, unkept)


def _unkept(wish: Acknowledge) -> frozenset[int]:
    """Return the artifacts that are recorded as events alone (R1.36)."""
    features = {one.id: one.config or {} for one in wish.workflow.compiled.features}
    if features.get("wr.features.capabilities", {}).get("recordObservationsAs") != "event":
        return frozenset()
    return capability.places(wish.output.artifacts)


def _all_warnings(
    wish: Acknowledge, judgement: Judgement, node: NodeState, mode: ev.Effective
) -> list[Json]:
    found = [*wish.warnings, *judgement.warnings, *start.notes_warnings(wish.request)]
    found += start.refused_warnings(wish.mode(node)[1], node.run_id)
    return found + (start.excess_warnings(mode, wish.workflow) if mode != node.preferences else [])


def _gaps(
    as_gaps: Sequence[Reason], choice: interpret.Choice, node_id: str
) -> list[ev.GapRecorded]:
    limits = [
        reason.limit_gap(node_id, one.loop_id, one.iteration, one.max_iterations)
        for one in choice.limits
    ]
    return [*reason.gaps(as_gaps, node_id), *limits]


def _validation(judgement: Judgement) -> Json | None:
    failed = [check.result for check in judgement.checks if not check.result.valid]
    if not failed:
        return None
    issues = [issue for result in failed for issue in result.issues]
    suggestions = [one for result in failed for one in result.suggestions]
    return {
        "issues": run_contract.fit_issues(issues),
        "suggestions": run_contract.fit_suggestions(suggestions),
    }


def _example(
    workflow: Workflow, rendered: prompt.Rendered, found: Sequence[Reason]
) -> Mapping[str, object] | None:
    """Return the contract's example for the first output blocker: what such a payload is like."""
    for one in reason.ordered(found):
        if one.pointer["kind"] != "output_contract":
            continue
        contract = run_contract.asked_of(workflow.compiled, rendered.step)
        if contract is not None and contract.contract_ref == one.pointer["contractRef"]:
            return contract.example
    return None


def still_open(
    workflow: Workflow,
    engine: Position,
    node: NodeState,
    rendered: prompt.Rendered,
    kept: Submitted,
    used: frozenset[str] = frozenset(),
) -> tuple[dict[str, object], dict[str, object]]:
    """Return what a blocked step still asks for: the output and the context of the next call.

    From the record alone: what the settings say does not change what is told of a step (R7.25).
    """
    judgement = judge(
        workflow,
        engine,
        node,
        node.context,
        Acknowledgement(output=kept, is_agents=True, spent=used),
        to_node=node.node_id,
        notes_required=False,
    )
    found = list(judgement.reasons)
    if not found:
        choice = interpret.after(
            workflow, engine, node.context, decision=judgement.decision, skip_missing=False
        )
        found = [start.missing_reason(one) for one in choice.missing]
    form = _still_open(rendered, judgement, found, kept)
    return form, {key: value for one in found for key, value in one.context.items()}


def _still_open(
    rendered: prompt.Rendered, judgement: Judgement, found: Sequence[Reason], brought: Submitted
) -> dict[str, object]:
    """Return what a blocked step still asks for: what it has got is kept (R6.14)."""
    wrong = {one.pointer.get("contractRef") for one in found}
    judged = {one.assessment_id for one in judgement.assessed if not one.fired}
    asked = rendered.form.get("artifacts")
    artifacts: list[Mapping[str, object]] = []
    for one in asked if isinstance(asked, list) else ():
        is_assessment = one["kind"] == "wr.assessment" and "assessmentId" in one
        if one["assessmentId"] not in judged if is_assessment else _ref(rendered) in wrong:
            artifacts.append(one)
    artifacts += [one.artifact for one in found if one.artifact is not None]
    notes = rendered.form.get("notesMarkdown")
    is_noted = brought.notes is not None and run_contract.CRITERIA_REF not in wrong
    left: dict[str, object] = {"notesMarkdown": notes} if notes and not is_noted else {}
    return {**left, "artifacts": artifacts} if artifacts else left


def _ref(rendered: prompt.Rendered) -> str | None:
    use = rendered.step.contract
    return use.contract_ref if use else None


def _too_many(rendered: prompt.Rendered, found: Sequence[Reason], limit: int) -> RailsError:
    first = reason.ordered(found)[0]
    wanted = json.dumps(rendered.form, ensure_ascii=False)
    return RailsError(
        "PRECONDITION_FAILED",
        f"continue_workflow: this step was blocked {limit} times in a row; {first.message}",
        f"Fetch the step anew with the stateToken of the answer before the first refusal and send"
        f" output = {wanted}, every <…> replaced by what is so.",
    )


def _assessed_wire(one: run_contract.Assessed) -> Json:
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
