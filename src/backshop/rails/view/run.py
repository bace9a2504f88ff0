"""What people see of a run: its graph, and everything about one node (R10.4–R10.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backshop.base.ambient import timestamp
from backshop.base.codec import encode
from backshop.store import Event

from ..discovery import outline
from ..errors import unknown_node
from ..repository import Readable, Sessions
from ..run import graph, preference, prompt
from ..run.answer import resume_ref
from ..run.interpret import Workflow, scope
from ..run.prompt import render
from ..run.snapshot import Snapshot
from ..session import events as ev
from ..session.state import NodeState, SessionState, current_outputs
from ..token import token as tk
from .session import node_title, output_row, pending_id, run_row, salvage_of, step_title, unknown

Json = dict[str, object]


def run_graph(
    sessions: Sessions, run_id: str, *, around: str | None = None, limit: int | None = None
) -> Json:
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
    return {
        "sessionId": session_id,
        **run_row(sessions, state, run),
        **salvage_of(found),
        "preferredTip": run.preferred,
        "nodes": [_node_row(sessions, state, node, node.node_id in main) for node in nodes],
        "edges": [
            {
                "from": node.edge.from_node_id,
                "to": node.edge.to_node_id,
                "edgeKind": node.edge.edge_kind,
                "cause": node.edge.cause.kind,
            }
            for node in nodes
            if node.edge is not None
        ],
        "skipped": _skipped(sessions, found, run_id, every, window),
        "window": {
            "first": window.first,
            "count": len(nodes),
            "total": len(every),
            "earlier": every[window.before].node_id if window.first else None,
            "later": every[window.after].node_id if window.end < len(every) else None,
        },
    }


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


def node_page(sessions: Sessions, node_id: str) -> Json:
    """Return everything recorded about one node."""
    session_id = sessions.home_of(node_id)
    found = sessions.readable(session_id) if session_id is not None else None
    node = found.state.nodes.get(node_id) if found is not None else None
    if found is None or node is None:
        raise unknown_node()
    state = found.state
    workflow = sessions.maybe_workflow(node.workflow_hash)
    position = sessions.maybe_snapshot(node.snapshot_ref)
    labels = sessions.label(state)
    facts = [one for one in sessions.events(found) if one.scope_b == node_id]
    page: Json = {
        "sessionId": found.session_id,
        "runId": node.run_id,
        "nodeId": node_id,
        "nodeKind": node.kind,
        "title": node_title(sessions, node),
        "completedStepId": labels(node).step_id if node.parent else None,
        "completedTitle": labels(node).title if node.parent else None,
        "isTip": not node.children,
        "isPreferred": state.runs[node.run_id].preferred == node_id,
        "createdAt": timestamp(node.created_ms),
        "edge": encode(node.edge) if node.edge else None,
        "lineage": [one.node_id for one in graph.lineage(state, node_id)],
        "children": list(node.children),
        "pending": None,
        "blockers": [],
        "inputs": [],
        "outputs": [
            output_row(sessions, one, is_current=one in current_outputs(node.outputs))
            for one in node.outputs
        ],
        "preferences": preference.wire(node.preferences, node.wished),
        "preferencesSource": _source(sessions, found, node),
        "context": dict(node.context),
        "capabilities": _capabilities(node, workflow),
        "openGaps": [encode(gap.fact) for gap in node.gaps.values()],
        "badges": badges(node),
        "facts": [_event(event) for event in facts],
        **salvage_of(found),
    }
    if workflow is not None and position is not None:
        page |= _step(state, node, workflow, position)
    if not found.is_salvage:
        page["resume"] = _resume(sessions, node)
    return page


def pinned_page(sessions: Sessions, workflow_hash: str) -> Json:
    """Return a workflow as a run keeps it, whatever its source says by now (R3.8)."""
    found = sessions.maybe_workflow(workflow_hash)
    if found is None:
        raise unknown("pinned workflow", workflow_hash)
    compiled = found.compiled
    return {
        "workflowHash": workflow_hash,
        "workflowId": compiled.workflow_id,
        "name": compiled.name,
        "version": compiled.version,
        "outline": [outline(step) for step in compiled.steps],
        "compiled": encode(compiled),
    }


def badges(node: NodeState) -> list[str]:
    """Return what is special about a node, in words of a closed set."""
    found = set(node.badges)
    if node.kind == "blocked_attempt":
        found.add("blocked")
    if node.edge is not None and node.edge.cause.kind in ("non_tip_advance", "intentional_fork"):
        found.add("fork")
    observed = [name for name in node.capabilities if f"CapabilityObserved:{name}" in node.counts]
    if observed:
        found.add("capability")
    if any(node.capabilities[name].displayed == "unavailable" for name in observed):
        found = found - {"capability"} | {"degraded_capability"}
    return sorted(found)


def _node_row(sessions: Sessions, state: SessionState, node: NodeState, is_main: bool) -> Json:
    row: Json = {
        "nodeId": node.node_id,
        "nodeKind": node.kind,
        "parentNodeId": node.parent,
        "pendingStepId": pending_id(sessions, node),
        "completedStepId": sessions.label(state)(node).step_id if node.parent else None,
        "title": node_title(sessions, node),
        "isTip": not node.children,
        "isOnPreferredPath": is_main,
        "badges": badges(node),
        "createdAt": timestamp(node.created_ms),
        "eventIndex": node.created_idx,
    }
    workflow = sessions.maybe_workflow(node.workflow_hash)
    position = sessions.maybe_snapshot(node.snapshot_ref)
    if workflow is None or position is None or position.engine.pending is None:
        return row
    if position.engine.stack:
        row["pass"] = "/".join(str(one.iteration + 1) for one in position.engine.stack)
    step = workflow.steps[position.engine.pending.step_id]
    row["collapsed"] = step.collapsed
    row["provenance"] = str(step.provenance.source)
    return row


def _step(state: SessionState, node: NodeState, workflow: Workflow, position: Snapshot) -> Json:
    """Return what the node waits for: the step as delivered, its blockers, what it asks of you."""
    engine = position.engine
    rendered = render(workflow, engine, node.context, node.preferences)
    found: Json = {
        "pending": dict(rendered.data) if rendered else None,
        "blockers": list(position.blocked.blockers) if position.blocked else [],
    }
    if rendered is None:
        return found
    found["provenance"] = encode(rendered.step.provenance)
    seen = scope(workflow, engine.stack, node.context)
    given: dict[str, ev.UserInputRecorded] = {one.input_id: one for one in node.inputs}
    found["inputs"] = [
        {
            **encode(one),
            "decision": given[one.id].decision if one.id in given else None,
            "summary": given[one.id].summary if one.id in given else None,
            "provenance": given[one.id].provenance if one.id in given else None,
            "needsPerson": prompt.needs_person(one),
        }
        for one in prompt.inputs_of(rendered.step, seen)
    ]
    return found


def _resume(sessions: Sessions, node: NodeState) -> Json:
    token = tk.state_token(sessions.keyring.keys(), node.node_id, node.workflow_hash)
    return {
        "resumeRef": resume_ref(node.run_id),
        "call": {"tool": "continue_workflow", "arguments": {"stateToken": token}},
    }


def _capabilities(node: NodeState, workflow: Workflow | None) -> Json:
    """Return what is known of each capability beside the level the workflow asks for."""
    requested = workflow.compiled.capabilities if workflow else {}
    found: Json = {}
    for name in sorted({*requested, *node.capabilities}):
        seen = node.capabilities.get(name)
        found[name] = {
            "requested": requested.get(name),
            "enforced": seen.enforced if seen else "unknown",
            "displayed": seen.displayed if seen else "unknown",
        }
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
) -> list[Json]:
    """Return steps that were passed over in a window, with the remark that says why.

    A node's remarks stand in the append that made it, so they lie between its neighbours'.
    """
    rows = []
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
                step_id = entry.refs[0].get("stepId") if entry.refs else None
                node = found.state.nodes.get(event.scope_b or "")
                title = step_title(sessions, node, str(step_id)) if node and step_id else step_id
                row = {"nodeId": event.scope_b, "stepId": step_id, "title": title}
                rows.append({**row, "why": entry.summary})
    return rows


def _event(event: Event) -> Json:
    return {
        "eventIndex": event.idx,
        "eventId": event.event_id,
        "kind": event.kind,
        "data": event.data,
        "hash": event.hash,
        "at": timestamp(event.at_ms),
        **({} if event.by is None else {"by": event.by.data()}),
    }
