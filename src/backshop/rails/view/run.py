"""What people see of a run: its graph, and everything about one node (R10.4–R10.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated

from backshop.base.ambient import timestamp
from backshop.base.codec import camel, encode, renamed
from backshop.store import Event

from .. import question
from ..answers import Mode, NextCall
from ..definition.workflow import Provenance, UserInput
from ..discovery import outline
from ..errors import unknown_node
from ..repository import Readable, Sessions
from ..run import graph, prompt
from ..run.answer import resume_ref
from ..run.interpret import Workflow, scope
from ..run.prompt import render
from ..run.snapshot import Snapshot
from ..session import events as ev
from ..session.state import NodeState, SessionState
from ..token import token as tk
from .session import (
    OutputRow,
    RunRow,
    mode_of,
    node_title,
    output_rows,
    pending_id,
    run_row,
    salvage_of,
    step_title,
    unknown,
)

Json = dict[str, object]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """A node as a graph shows it."""

    node_id: str
    node_kind: ev.NodeKind
    parent_node_id: str | None
    pending_step_id: str | None
    completed_step_id: str | None
    title: str
    is_tip: bool
    is_on_preferred_path: bool
    badges: tuple[str, ...]
    created_at: str
    event_index: int
    took_ms: int | None = None
    """Since the node before it was made: all that the record says of how long a step took."""
    pass_: Annotated[str | None, renamed("pass")] = None
    collapsed: bool | None = None
    provenance: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRow:
    """An edge as a graph shows it."""

    from_: Annotated[str, renamed("from")]
    to: str
    edge_kind: ev.EdgeKind
    cause: ev.CauseKind


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A step that was passed over, and why."""

    node_id: str | None
    step_id: str | None
    title: str | None
    why: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which nodes of a run are shown, and around which the next ones lie."""

    first: int
    count: int
    total: int
    earlier: str | None
    later: str | None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunGraph(RunRow):
    """A run as a graph: nodes with badges, edges with causes, the preferred tip."""

    session_id: str
    salvage: bool | None = None
    health: str | None = None
    reason: str | None = None
    events: int | None = None
    preferred_tip: str | None
    nodes: tuple[NodeRow, ...]
    edges: tuple[EdgeRow, ...]
    skipped: tuple[Skipped, ...]
    window: Window


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class InputRow(UserInput):
    """What a step asks of the person, and what they said to it."""

    decision: str | None
    summary: str | None
    provenance: str | None
    needs_person: bool
    is_open: bool
    """Whether the step still waits for it: nothing that counts was said (R8.21)."""
    is_early: bool
    """Whether it is an approval and nothing is handed in that could be approved (R8.43)."""


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityRow:
    """What is known of a capability beside the level the workflow asks for."""

    requested: str | None
    enforced: str
    displayed: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A fact as it is recorded."""

    event_index: int
    event_id: str
    kind: str
    data: Mapping[str, object]
    hash: str
    at: str
    by: Mapping[str, str] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """How an agent goes on from a node."""

    resume_ref: str
    call: NextCall


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class NodePage:
    """Everything recorded about one node; what it waits for is as it was delivered."""

    session_id: str
    run_id: str
    node_id: str
    node_kind: ev.NodeKind
    title: str
    completed_step_id: str | None
    completed_title: str | None
    is_tip: bool
    is_preferred: bool
    created_at: str
    took_ms: int | None = None
    edge: ev.EdgeCreated | None
    lineage: tuple[str, ...]
    children: tuple[str, ...]
    pending: Mapping[str, object] | None
    blockers: tuple[Mapping[str, object], ...] = ()
    inputs: tuple[InputRow, ...] = ()
    outputs: tuple[OutputRow, ...]
    handed_context: Mapping[str, object] | None = None
    """Of a blocked attempt the context changed since its step began (R10.17)."""
    preferences: Mode
    preferences_source: str | None
    context: Mapping[str, object]
    capabilities: Mapping[str, CapabilityRow]
    open_gaps: tuple[ev.GapRecorded, ...]
    badges: tuple[str, ...]
    facts: tuple[FactRow, ...]
    salvage: bool | None = None
    health: str | None = None
    reason: str | None = None
    events: int | None = None
    provenance: Provenance | None = None
    resume: Resume | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedPage:
    """A workflow as a run keeps it."""

    workflow_hash: str
    workflow_id: str
    name: str
    version: str
    outline: tuple[Json, ...]
    compiled: Json


def run_graph(
    sessions: Sessions, run_id: str, *, around: str | None = None, limit: int | None = None
) -> RunGraph:
    """Return a run as a graph: nodes with badges, edges with causes, the preferred tip.

    With a limit it is a window of that many nodes in the order they were made, around the given
    one or the preferred tip.
    """
    session_id = sessions.home_of_run(run_id)
    if session_id is None:
        raise unknown("run", run_id)
    found = sessions.readable(session_id)
    state = found.state
    run = state.runs.get(run_id)
    if run is None:  # beyond the damage
        raise unknown("run", run_id)
    every = graph.run_nodes(state, run_id)
    window = _window(every, around or run.preferred, limit)
    nodes = every[window.first : window.end]
    main = {one.node_id for one in graph.upwards(state, run.preferred)}
    return run_row(
        RunGraph,
        sessions,
        state,
        run,
        session_id=session_id,
        **salvage_of(found),
        preferred_tip=run.preferred,
        nodes=tuple(_node_row(sessions, state, node, node.node_id in main) for node in nodes),
        edges=tuple(
            EdgeRow(
                from_=edge.from_node_id,
                to=edge.to_node_id,
                edge_kind=edge.edge_kind,
                cause=edge.cause.kind,
            )
            for edge in (node.edge for node in nodes)
            if edge is not None
        ),
        skipped=tuple(_skipped(sessions, found, run_id, every, window)),
        window=Window(
            first=window.first,
            count=len(nodes),
            total=len(every),
            earlier=every[window.before].node_id if window.first else None,
            later=every[window.after].node_id if window.end < len(every) else None,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Window:
    """Which of a run's nodes are meant, and in the middle of which the next windows lie."""

    first: int
    end: int
    before: int
    after: int


def _window(nodes: Sequence[NodeState], around: str | None, limit: int | None) -> _Window:
    total = len(nodes)
    size = min(limit or total, total)
    at = next((n for n, one in enumerate(nodes) if one.node_id == around), total)
    first = max(0, min(at - size // 2, total - size))
    half = max(1, size // 2)
    return _Window(
        first, first + size, max(0, first - half), min(total - 1, first + size + half - 1)
    )


def node_page(sessions: Sessions, node_id: str) -> NodePage:
    """Return everything recorded about one node."""
    session_id = sessions.home_of(node_id)
    found = sessions.readable(session_id) if session_id is not None else None
    node = found.state.nodes.get(node_id) if found is not None else None
    if found is None or node is None:
        raise unknown_node()
    state = found.state
    workflow = sessions.maybe_workflow(node.workflow_hash)
    position = sessions.maybe_snapshot(node.snapshot_ref)
    label = sessions.label(state)(node) if node.parent else None
    attempt = graph.attempt_of(state, node)
    page = NodePage(
        session_id=found.session_id,
        run_id=node.run_id,
        node_id=node_id,
        node_kind=node.kind,
        title=node_title(sessions, node),
        completed_step_id=label.step_id if label else None,
        completed_title=label.title if label else None,
        is_tip=not node.children,
        is_preferred=state.runs[node.run_id].preferred == node_id,
        created_at=timestamp(node.created_ms),
        took_ms=took_ms(state, node),
        edge=node.edge,
        lineage=tuple(one.node_id for one in graph.lineage(state, node_id)),
        children=node.children,
        pending=None,
        outputs=output_rows(sessions, node.outputs),
        handed_context=graph.handed_context(state, attempt) or None if attempt else None,
        preferences=mode_of(node),
        preferences_source=_source(sessions, found, node),
        context=dict(node.context),
        capabilities=_capabilities(node, workflow),
        open_gaps=tuple(gap.fact for gap in node.gaps.values()),
        badges=badges(sessions, state, node),
        facts=tuple(_fact(one) for one in sessions.events(found) if one.scope_b == node_id),
        **salvage_of(found),
        resume=None if found.is_salvage else resume_of(sessions, node),
    )
    if workflow is None or position is None:
        return page
    words = question.words_of(sessions, state, node)
    return _with_step(page, node, workflow, position, words, is_early=attempt is None)


def pinned_page(sessions: Sessions, workflow_hash: str) -> PinnedPage:
    """Return a workflow as a run keeps it, whatever its source says by now (R3.8)."""
    found = sessions.maybe_workflow(workflow_hash)
    if found is None:
        raise unknown("pinned workflow", workflow_hash)
    compiled = found.compiled
    return PinnedPage(
        workflow_hash=workflow_hash,
        workflow_id=compiled.workflow_id,
        name=compiled.name,
        version=compiled.version,
        outline=tuple(outline(step) for step in compiled.steps),
        compiled=encode(compiled),
    )


def took_ms(state: SessionState, node: NodeState) -> int | None:
    """Return the time between a node and the one before it; clocks may have been set back."""
    parent = state.nodes.get(node.parent or "")
    return None if parent is None else max(0, node.created_ms - parent.created_ms)


def badges(sessions: Sessions, state: SessionState, node: NodeState) -> tuple[str, ...]:
    """Return what is special about a node, in words of a closed set."""
    found = set(node.badges)
    if node.kind == "blocked_attempt":
        is_answered = not node.children and question.is_answered(sessions, state, node)
        found.add("answered" if is_answered else "blocked")
    if node.edge is not None and node.edge.cause.kind in ("non_tip_advance", "intentional_fork"):
        found.add("fork")
    observed = [name for name in node.capabilities if f"CapabilityObserved:{name}" in node.counts]
    if observed:
        found.add("capability")
    if any(node.capabilities[name].displayed == "unavailable" for name in observed):
        found = found - {"capability"} | {"degraded_capability"}
    return tuple(sorted(found))


def _node_row(sessions: Sessions, state: SessionState, node: NodeState, is_main: bool) -> NodeRow:
    row = NodeRow(
        node_id=node.node_id,
        node_kind=node.kind,
        parent_node_id=node.parent,
        pending_step_id=pending_id(sessions, node),
        completed_step_id=sessions.label(state)(node).step_id if node.parent else None,
        title=node_title(sessions, node),
        is_tip=not node.children,
        is_on_preferred_path=is_main,
        badges=badges(sessions, state, node),
        created_at=timestamp(node.created_ms),
        took_ms=took_ms(state, node),
        event_index=node.created_idx,
    )
    workflow = sessions.maybe_workflow(node.workflow_hash)
    position = sessions.maybe_snapshot(node.snapshot_ref)
    if workflow is None or position is None or position.engine.pending is None:
        return row
    step = workflow.steps[position.engine.pending.step_id]
    return replace(
        row,
        pass_="/".join(str(one.iteration + 1) for one in position.engine.stack) or None,
        collapsed=step.collapsed,
        provenance=str(step.provenance.source),
    )


def _with_step(
    page: NodePage,
    node: NodeState,
    workflow: Workflow,
    position: Snapshot,
    words: Mapping[str, str | None],
    *,
    is_early: bool,
) -> NodePage:
    """Add what the node waits for: the step as delivered, its blockers, what it asks of you."""
    blockers = position.blocked.blockers if position.blocked else ()
    rendered = render(workflow, position.engine, node.context, node.preferences)
    if rendered is None:
        return replace(page, blockers=blockers)
    seen = scope(workflow, position.engine.stack, node.context)
    given = {one.input_id: one for one in node.inputs}
    return replace(
        page,
        pending=dict(rendered.data),
        blockers=blockers,
        inputs=tuple(
            input_row(one, given.get(one.id), is_open=words.get(one.id) is None, is_early=is_early)
            for one in prompt.inputs_of(rendered.step, seen)
        ),
        provenance=rendered.step.provenance,
    )


def input_row(
    one: UserInput, given: ev.UserInputRecorded | None, *, is_open: bool, is_early: bool
) -> InputRow:
    """Return a question to the person with what was said to it."""
    return InputRow(
        **asdict(one),
        decision=given.decision if given else None,
        summary=given.summary if given else None,
        provenance=given.provenance if given else None,
        needs_person=prompt.needs_person(one),
        is_open=is_open,
        is_early=is_early and one.reason == "needs_user_approval",
    )


def resume_of(sessions: Sessions, node: NodeState) -> Resume:
    """Return how an agent goes on from a node."""
    token = tk.state_token(sessions.keyring.keys(), node.node_id, node.workflow_hash)
    call = NextCall(tool="continue_workflow", arguments={"stateToken": token})
    return Resume(resume_ref=resume_ref(node.run_id), call=call)


def _capabilities(node: NodeState, workflow: Workflow | None) -> dict[str, CapabilityRow]:
    requested = workflow.compiled.capabilities if workflow else {}
    found = {}
    for name in sorted({*requested, *node.capabilities}):
        seen = node.capabilities.get(name)
        found[name] = CapabilityRow(
            requested=requested.get(name),
            enforced=seen.enforced if seen else "unknown",
            displayed=seen.displayed if seen else "unknown",
        )
    return found


def _source(sessions: Sessions, found: Readable, node: NodeState) -> str | None:
    """Return who set the mode in force: the last change on the way to the node."""
    chain = {one.node_id for one in graph.upwards(found.state, node.node_id)}
    last = "system" if found.state.runs[node.run_id].started.preferences else None
    for event in sessions.events(found):
        if event.kind == "preferences_changed" and event.scope_b in chain:
            last = event.fact.source
    return last


def _skipped(
    sessions: Sessions,
    found: Readable,
    run_id: str,
    nodes: Sequence[NodeState],
    window: _Window,
) -> Iterator[Skipped]:
    """Yield steps that were passed over in a window, with the remark that says why.

    A node's remarks stand in the append that made it, so they lie between its neighbours'.
    """
    after = nodes[window.first - 1].created_idx if window.first else -1
    until = nodes[window.end].created_idx if window.end < len(nodes) else found.state.last_idx
    for event in sessions.events(found, after):
        if event.idx > until:
            break
        if event.kind != "decision_trace_appended" or event.scope_a != run_id:
            continue
        entries: Sequence[ev.TraceEntry] = event.fact.entries
        for entry in entries:
            if entry.kind == "skipped_step":
                step_id = str(entry.refs[0]["stepId"]) if entry.refs else None
                node = found.state.nodes.get(event.scope_b or "")
                title = step_title(sessions, node, step_id) if node and step_id else step_id
                yield Skipped(
                    node_id=event.scope_b, step_id=step_id, title=title, why=entry.summary
                )


def _fact(event: Event) -> FactRow:
    return FactRow(
        event_index=event.idx,
        event_id=event.event_id,
        kind=event.kind,
        data=event.data,
        hash=event.hash,
        at=timestamp(event.at_ms),
        by=event.by.data() if event.by else None,
    )
