"""How a session's state follows from its events, one by one.

Copies share structure: applying a fact costs the same in the first minute of a session and after
years of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from backshop.base.ids import did

from . import events as ev
from . import lineage
from .ordinal import attempt_id, count_key, purpose_of, warned_key
from .state import Attempt, Gap, NodeState, Observed, Output, Recorded, RunState, SessionState

FOLD_NAME = "rails.session"
FOLD_VERSION = 8
ONCE_PER_LINEAGE = frozenset({"CAPABILITY_DEGRADED", "ARTIFACT_UNRECOGNISED"})


def apply(state: SessionState, event: Recorded) -> SessionState:
    """Return the state after a stored event. Total: what happened is never refused."""
    fact = event.fact
    state = replace(state, last_idx=event.idx, last_seq=event.seq, last_ms=event.at_ms)
    match fact:
        case ev.SessionCreated():
            return replace(state, created=True, created_ms=event.at_ms)
        case ev.ObservationRecorded():
            seen = {**state.observations, fact.key: str(fact.value.get("value"))}
            counts = {**state.observed, fact.key: state.observed.get(fact.key, 0) + 1}
            return replace(state, observations=seen, observed=counts)
        case ev.SessionOutputAppended():
            return _session_output(state, event, fact)
        case ev.RunStarted():
            return _run(state, event, fact)
        case ev.NodeCreated():
            return _node(state, event, fact)
        case ev.EdgeCreated():
            return _edge(state, event, fact)
        case ev.AdvanceRecorded():
            return _advance(state, event, fact)
        case ev.CheckpointRecorded():
            return _checkpoint(state, event, fact)
    return _node_fact(state, event, fact)


def _session_output(
    state: SessionState, event: Recorded, fact: ev.SessionOutputAppended
) -> SessionState:
    state = replace(state, outputs=(*state.outputs, _output(fact)))
    if fact.attempt_id in state.attempts:
        return state
    attempt = Attempt(
        node_id="",
        event_id=event.event_id,
        request_digest=fact.request_digest,
        response_ref="",
        outcome="checkpoint",
        to_node_id="",
    )
    return replace(
        state,
        attempts=state.attempts.put(fact.attempt_id, attempt),
        session_attempts=(*state.session_attempts, fact.attempt_id),
    )


def _output(fact: ev.SessionOutputAppended | ev.NodeOutputAppended) -> Output:
    return Output(
        output_id=fact.output_id,
        channel=fact.output_channel,
        payload=fact.payload,
        supersedes=fact.supersedes_output_id,
    )


def _run(state: SessionState, event: Recorded, fact: ev.RunStarted) -> SessionState:
    run_id = event.scope_a or ""
    run = RunState(
        run_id=run_id,
        started=fact,
        started_idx=event.idx,
        started_ms=event.at_ms,
        last_seq=event.seq,
        last_ms=event.at_ms,
    )
    run = _acted(run, event)
    return replace(state, runs=state.runs.put(run_id, run), run_order=(*state.run_order, run_id))


def _acted(run: RunState, event: Recorded) -> RunState:
    """Note which agent acted last; what a person does leaves it as it was."""
    agent = event.by.agent if event.by else None
    return run if agent is None else replace(run, agent=agent, agent_ms=event.at_ms)


def _node(state: SessionState, event: Recorded, fact: ev.NodeCreated) -> SessionState:
    run_id, node_id = event.scope_a or "", event.scope_b or ""
    node = NodeState(
        node_id=node_id,
        run_id=run_id,
        kind=fact.node_kind,
        parent=fact.parent_node_id,
        workflow_hash=fact.workflow_hash,
        snapshot_ref=fact.snapshot_ref,
        created_idx=event.idx,
        created_ms=event.at_ms,
        last_idx=event.idx,
    )
    parent = state.nodes.get(fact.parent_node_id) if fact.parent_node_id else None
    if parent is not None:
        node = lineage.below(state, _inherited(node, parent), parent)
    run = state.runs.get(run_id)
    if run is not None and fact.parent_node_id is None:
        node, run = _rooted(node, replace(run, root=node_id))
    if run is not None:
        run = replace(run, nodes=run.nodes + 1)
        state = replace(state, runs=state.runs.put(run_id, run))
    state = _touch(replace(state, nodes=state.nodes.put(node_id, node)), event, node_id)
    return state if parent is None else _linked(state, event, _edge_of(state, parent, node))


def _rooted(node: NodeState, run: RunState) -> tuple[NodeState, RunState]:
    """Let a run begin with the mode and the context that it says itself."""
    mode, context = run.started.preferences, run.started.context
    if mode is not None:
        node, run = replace(node, preferences=mode), replace(run, baseline=mode)
    return (node if context is None else replace(node, context=context)), run


def _edge_of(state: SessionState, parent: NodeState, node: NodeState) -> ev.EdgeCreated:
    """Return the edge that a node and the attempt that led to it imply (R4.16)."""
    kinds: dict[ev.NodeKind, tuple[ev.EdgeKind, ev.CauseKind]] = {
        "step": ("acked_step", "non_tip_advance" if parent.is_rewound else "tip_advance"),
        "checkpoint": ("checkpoint", "checkpoint_created"),
        "blocked_attempt": ("blocked_attempt", "attempt_blocked"),
    }
    edge, cause = kinds[node.kind]
    fork = attempt_id(parent.node_id, "fork", parent.forks - 1)
    taken = attempt_id(parent.node_id, "ack", parent.advances - 1)
    branch = attempt_id(parent.node_id, "branch", parent.branches - 1)
    begun = state.attempts.get(branch)
    if did("node", parent.node_id, fork) == node.node_id:
        taken, cause = fork, "intentional_fork" if edge == "acked_step" else cause
    elif begun is not None and begun.to_node_id == node.node_id:
        taken, cause = branch, "intentional_fork"
    attempt = state.attempts.get(taken)
    return ev.EdgeCreated(
        edge_kind=edge,
        from_node_id=parent.node_id,
        to_node_id=node.node_id,
        cause=ev.Cause(cause, "" if attempt is None else attempt.event_id),
    )


def _inherited(node: NodeState, parent: NodeState) -> NodeState:
    depths = {"blocked_attempt": parent.blocked_depth + 1, "checkpoint": parent.blocked_depth}
    return replace(
        node,
        context=parent.context,
        preferences=parent.preferences,
        wished=parent.wished,
        from_person=parent.from_person,
        capabilities=parent.capabilities,
        gaps=parent.gaps,
        warned=parent.warned,
        depth=parent.depth + 1,
        blocked_depth=depths.get(node.kind, 0),
        inputs=() if node.kind == "step" else parent.inputs,
    )


def _edge(state: SessionState, event: Recorded, fact: ev.EdgeCreated) -> SessionState:
    """Let an edge say itself what it is; what follows from it followed from its node."""
    child = state.nodes.get(fact.to_node_id)
    if child is None or child.edge is None:
        return state
    child = replace(child, edge=fact, last_idx=event.idx)
    return _touch(replace(state, nodes=state.nodes.put(child.node_id, child)), event, child.node_id)


def _linked(state: SessionState, event: Recorded, fact: ev.EdgeCreated) -> SessionState:
    origin, child = state.nodes.get(fact.from_node_id), state.nodes.get(fact.to_node_id)
    if origin is None or child is None:
        return state
    begins = replace(child, edge=fact).is_branch
    leads_on = origin.is_rewound or origin.branches > int(begins)
    is_fork = (begins or fact.edge_kind == "acked_step") and leads_on
    origin = replace(
        origin,
        children=(*origin.children, child.node_id),
        is_rewound=origin.is_rewound or fact.edge_kind == "acked_step",
    )
    child = replace(child, edge=fact, last_idx=event.idx)
    nodes = state.nodes.put(origin.node_id, origin).put(child.node_id, child)
    state = _touch(replace(state, nodes=nodes), event, child.node_id)
    run = state.runs.get(child.run_id)
    if is_fork and run is not None:
        state = replace(state, runs=state.runs.put(run.run_id, replace(run, forks=run.forks + 1)))
    return state


def _advance(state: SessionState, event: Recorded, fact: ev.AdvanceRecorded) -> SessionState:
    state = _changed(state, event.scope_b or "", lambda node: _acknowledged(node, fact.attempt_id))
    return _attempted(state, event, fact, fact.outcome.kind, fact.outcome.to_node_id)


def _attempted(
    state: SessionState,
    event: Recorded,
    fact: ev.AdvanceRecorded | ev.CheckpointRecorded,
    outcome: str,
    to_node_id: str,
) -> SessionState:
    attempt = Attempt(
        node_id=event.scope_b or "",
        event_id=event.event_id,
        request_digest=fact.request_digest,
        response_ref=fact.response_ref,
        outcome=outcome,
        to_node_id=to_node_id,
    )
    state = replace(state, attempts=state.attempts.put(fact.attempt_id, attempt))
    return _touch(state, event, attempt.node_id)


def _acknowledged(node: NodeState, attempt: str) -> NodeState:
    if purpose_of(node.node_id, attempt, "ack", {"fork": node.forks}) == "fork":
        return replace(node, forks=node.forks + 1)
    return replace(node, advances=node.advances + 1)


def _checkpoint(state: SessionState, event: Recorded, fact: ev.CheckpointRecorded) -> SessionState:
    node_id = event.scope_b or ""
    state = _changed(state, node_id, lambda node: _noted(node, fact.attempt_id))
    return _attempted(state, event, fact, "checkpoint", fact.to_node_id)


def _noted(node: NodeState, attempt: str) -> NodeState:
    if purpose_of(node.node_id, attempt, "checkpoint", {"branch": node.branches}) == "branch":
        return replace(node, branches=node.branches + 1)
    return replace(node, checkpoints=node.checkpoints + 1)


def _node_fact(state: SessionState, event: Recorded, fact: object) -> SessionState:
    """Apply a fact that says something about one node."""
    node_id = event.scope_b or ""
    node = state.nodes.get(node_id)
    if node is None:
        return state
    kind = count_key(fact)
    node = replace(node, counts={**node.counts, kind: node.counts.get(kind, 0) + 1})
    match fact:
        case ev.NodeOutputAppended():
            state, node = lineage.noted(state, node)
            node = replace(node, outputs=(*node.outputs, _output(fact)))
        case ev.ContextSet():
            kept = {k: v for k, v in node.context.items() if k not in fact.removed}
            node = replace(node, context={**kept, **fact.set})
            node = replace(node, from_person=_from_person(state, node, fact))
        case ev.PreferencesChanged():
            wished = () if fact.source == "user" else node.wished
            node = replace(node, preferences=fact.effective, wished=wished)
            if fact.source != "system":
                node = replace(node, badges=node.badges | {"mode_change"})
            state = _baseline(state, node, fact)
        case ev.PreferencesWished():
            node = replace(node, wished=fact.wanted, badges=node.badges | {"mode_wish"})
        case ev.CapabilityObserved():
            node = _observed(node, fact)
        case ev.UserInputRecorded():
            node = replace(node, inputs=(*node.inputs, fact))
        case ev.GapRecorded():
            node = _gap(node, fact)
            state = replace(state, gap_nodes=state.gap_nodes.put(fact.gap_id, node_id))
        case ev.DivergenceRecorded():
            node = replace(node, badges=node.badges | {"divergence"})
        case ev.WarningRecorded():
            node = replace(node, badges=node.badges | {"warning"})
            if fact.code in ONCE_PER_LINEAGE:
                node = replace(node, warned=node.warned | {warned_key(fact)})
        case _:
            pass
    return _touch(replace(state, nodes=state.nodes.put(node_id, node)), event, node_id)


def _baseline(state: SessionState, node: NodeState, fact: ev.PreferencesChanged) -> SessionState:
    run = state.runs.get(node.run_id)
    if run is None or run.root != node.node_id or node.advances or node.children:
        return state
    return replace(state, runs=state.runs.put(run.run_id, replace(run, baseline=fact.effective)))


def _from_person(state: SessionState, node: NodeState, fact: ev.ContextSet) -> frozenset[str]:
    """Return which context keys hold a person's own word after a change (R8.21)."""
    run = state.runs.get(node.run_id)
    is_theirs = fact.source == "user" or (
        fact.source == "initial" and run is not None and run.started.driver == "cli"
    )
    touched = {*fact.set, *fact.removed}
    kept = node.from_person - touched
    return kept | set(fact.set) if is_theirs else kept


def _observed(node: NodeState, fact: ev.CapabilityObserved) -> NodeState:
    before = node.capabilities.get(fact.capability, Observed())
    is_strong = fact.provenance.get("enforcementGrade") == "strong"
    now = Observed(fact.status if is_strong else before.enforced, fact.status)
    return replace(node, capabilities={**node.capabilities, fact.capability: now})


def _gap(node: NodeState, fact: ev.GapRecorded) -> NodeState:
    resolved = fact.resolution.resolves_gap_id
    if resolved is not None:
        return replace(node, gaps=node.gaps.drop(resolved))
    gaps = node.gaps.put(fact.gap_id, Gap(node_id=node.node_id, fact=fact))
    return replace(node, gaps=gaps, badges=node.badges | {"gap"})


def _changed(
    state: SessionState, node_id: str, change: Callable[[NodeState], NodeState]
) -> SessionState:
    node = state.nodes.get(node_id)
    return state if node is None else replace(state, nodes=state.nodes.put(node_id, change(node)))


def _touch(state: SessionState, event: Recorded, node_id: str) -> SessionState:
    """Note activity: a leaf that something happened to is its run's preferred tip (R5.8)."""
    node = state.nodes.get(node_id)
    if node is None:
        return state
    if node.last_idx != event.idx:
        node = replace(node, last_idx=event.idx)
        state = replace(state, nodes=state.nodes.put(node_id, node))
    run = state.runs.get(node.run_id)
    if run is None:
        return state
    preferred = run.preferred if node.children else node_id
    run = _acted(replace(run, preferred=preferred, last_seq=event.seq, last_ms=event.at_ms), event)
    return replace(state, runs=state.runs.put(run.run_id, run))
