"""What people see of sessions: lists, run graphs, single nodes (R10.2–R10.5).

Projections over the record, read anew each time; nothing here writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backshop.base.ambient import timestamp
from backshop.base.codec import encode
from backshop.store import Event, Head

from . import graph, preferences, resume
from .errors import RailsError
from .prompt import render
from .respond import resume_ref
from .resuming import status_of, title_of
from .sessions import Sessions, stream_of
from .state import NodeState, Output, RunState, SessionState, current_outputs

Json = dict[str, object]
PREVIEW_MAX_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which sessions a list shows."""

    status: str | None = None
    workflow_id: str | None = None
    workspace: str | None = None
    query: str | None = None


def session_rows(sessions: Sessions, wanted: Filter) -> Iterator[Json]:
    """Yield a row per session, the most recently used first; damaged ones are shown as such."""
    for head in reversed(sessions.store.streams("session")):
        row = _row(sessions, head)
        if _fits(row, wanted):
            row.pop("_words", None)
            yield row


def session_page(sessions: Sessions, session_id: str) -> Json:
    """Return one session: its runs, its own notes, its health."""
    head = sessions.store.head(stream_of(session_id))
    if head is None:
        raise unknown("session", session_id)
    row = _row(sessions, head)
    row.pop("_words", None)
    if row["health"] != "healthy":
        return {**row, "runList": [], "notes": [], "observations": {}}
    state = sessions.state(session_id)
    return {
        **row,
        "runList": [_run_row(sessions, state, state.runs[one]) for one in state.run_order],
        "notes": [_output(sessions, one) for one in current_outputs(state.outputs)],
        "observations": dict(state.observations),
    }


def run_graph(sessions: Sessions, run_id: str) -> Json:
    """Return a run as a graph: nodes with badges, edges with causes, the preferred tip."""
    session_id = sessions.home_of_run(run_id)
    if session_id is None:
        raise unknown("run", run_id)
    state = sessions.state(session_id)
    run = state.runs[run_id]
    nodes = graph.run_nodes(state, run_id)
    labels = sessions.label(state)
    return {
        "sessionId": session_id,
        **_run_row(sessions, state, run),
        "preferredTip": run.preferred,
        "nodes": [
            {
                "nodeId": node.node_id,
                "nodeKind": node.kind,
                "parentNodeId": node.parent,
                "pendingStepId": _pending_id(sessions, node),
                "completedStepId": labels(node).step_id if node.parent else None,
                "title": _node_title(sessions, state, node),
                "isTip": not node.children,
                "badges": _badges(node),
                "createdAt": timestamp(node.created_ms),
                "eventIndex": node.created_idx,
            }
            for node in nodes
        ],
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
        "skipped": _skipped(sessions, session_id, run_id),
    }


def node_page(sessions: Sessions, node_id: str) -> Json:
    """Return everything recorded about one node."""
    located = sessions.locate(node_id)
    state, node = located.state, located.node
    workflow = sessions.workflow(node.workflow_hash)
    snapshot = sessions.snapshot(node.snapshot_ref)
    rendered = render(workflow, snapshot.engine, node.context, node.preferences)
    events = [
        event
        for event in sessions.store.read(stream_of(located.session_id))
        if event.scope_b == node_id
    ]
    return {
        "sessionId": located.session_id,
        "runId": node.run_id,
        "nodeId": node_id,
        "nodeKind": node.kind,
        "lineage": [one.node_id for one in graph.lineage(state, node_id)],
        "children": list(node.children),
        "pending": dict(rendered.data) if rendered else None,
        "blockers": list(snapshot.blocked.blockers) if snapshot.blocked else [],
        "outputs": [_output(sessions, one) for one in node.outputs],
        "preferences": preferences.wire(node.preferences),
        "context": dict(node.context),
        "capabilities": {
            name: {
                "requested": workflow.compiled.capabilities.get(name),
                "enforced": one.enforced,
                "displayed": one.displayed,
            }
            for name, one in node.capabilities.items()
        },
        "openGaps": [encode(gap.fact) for gap in node.gaps.values()],
        "badges": _badges(node),
        "facts": [_event(event) for event in events],
    }


def unknown(what: str, name: str) -> RailsError:
    """Return the refusal of an id that names nothing."""
    return RailsError(
        "VALIDATION_ERROR",
        f"there is no {what} {name[:80]!r}",
        "Look it up with RailsSessionsList; ids are exact.",
    )


def _row(sessions: Sessions, head: Head) -> Json:
    session_id = head.stream.partition(":")[2]
    row: Json = {
        "sessionId": session_id,
        "title": None,
        "status": "unknown",
        "health": "healthy",
        "keep": head.keep,
        "events": head.last_idx + 1,
    }
    try:
        state = sessions.state(session_id)
    except RailsError as error:
        status = error.details.get("status") or "corrupt_tail"
        return {**row, "health": str(status), "runs": 0, "_words": frozenset[str]()}
    runs = [state.runs[one] for one in state.run_order]
    last = max(runs, key=lambda run: run.last_seq) if runs else None
    tip = state.nodes[last.preferred] if last and last.preferred else None
    title = state.observations.get("title")
    if title is None and runs:
        title = title_of(sessions, state, runs[0])
    pending = _pending_id(sessions, tip) if tip else None
    row |= {
        "title": title,
        "status": status_of(sessions, state, last) if last else "in_progress",
        "runs": len(runs),
        "branches": sum(run.forks for run in runs) + len(runs),
        "workflowIds": sorted({run.started.workflow_id for run in runs}),
        "currentStepId": pending,
        "preferences": preferences.wire(tip.preferences) if tip else None,
        "criticalGaps": len(graph.critical_gaps(tip)) if tip else 0,
        "lastActivity": timestamp(state.last_ms),
        "gitBranch": state.observations.get("git_branch"),
        "workspaceName": state.observations.get("workspace_name"),
    }
    words = " ".join([str(title or ""), session_id, *(run.started.workflow_id for run in runs)])
    words += " ".join(resume_ref(run.run_id) for run in runs)
    row["_words"] = resume.tokens(words)
    return row


def _fits(row: Json, wanted: Filter) -> bool:
    if wanted.status is not None and row["status"] != wanted.status:
        return False
    ids = row.get("workflowIds", [])
    if wanted.workflow_id is not None and wanted.workflow_id not in (
        ids if isinstance(ids, list) else []
    ):
        return False
    if wanted.workspace is not None and row.get("workspaceName") != wanted.workspace:
        return False
    words = row["_words"]
    assert isinstance(words, frozenset)
    return resume.tokens(wanted.query or "") <= words


def _run_row(sessions: Sessions, state: SessionState, run: RunState) -> Json:
    return {
        "runId": run.run_id,
        "resumeRef": resume_ref(run.run_id),
        "workflowId": run.started.workflow_id,
        "workflowHash": run.started.workflow_hash,
        "title": title_of(sessions, state, run),
        "status": status_of(sessions, state, run),
        "driver": run.started.driver,
        "nodeCount": run.nodes,
        "branches": run.forks + 1,
        "parent": encode(run.started.parent) if run.started.parent else None,
        "startedAt": timestamp(run.started_ms),
        "lastActivity": timestamp(run.last_ms),
    }


def _pending_id(sessions: Sessions, node: NodeState) -> str | None:
    pending = sessions.snapshot(node.snapshot_ref).engine.pending
    return pending.step_id if pending else None


def _node_title(sessions: Sessions, state: SessionState, node: NodeState) -> str:
    pending = _pending_id(sessions, node)
    if pending is None:
        return "Complete"
    return sessions.workflow(node.workflow_hash).steps[pending].title


def _badges(node: NodeState) -> list[str]:
    found = set(node.badges)
    if node.kind == "blocked_attempt":
        found.add("blocked")
    if node.edge is not None and node.edge.cause.kind in ("non_tip_advance", "intentional_fork"):
        found.add("fork")
    if any(one.displayed == "unavailable" for one in node.capabilities.values()):
        found.add("degraded_capability")
    return sorted(found)


def _skipped(sessions: Sessions, session_id: str, run_id: str) -> list[Json]:
    """Return steps that were passed over, with the remark that says why."""
    found = []
    for event in sessions.store.read(stream_of(session_id)):
        if event.kind != "decision_trace_appended" or event.scope_a != run_id:
            continue
        for entry in event.fact.entries:
            if entry.kind == "skipped_step":
                step_id = entry.refs[0].get("stepId") if entry.refs else None
                found.append({"nodeId": event.scope_b, "stepId": step_id, "why": entry.summary})
    return found


def _output(sessions: Sessions, output: Output) -> Json:
    payload = output.payload
    found: Json = {"outputId": output.output_id, "channel": output.channel}
    if output.channel == "recap":
        found["notesMarkdown"] = payload.notes_markdown
        if payload.full_ref:
            found["fullRef"] = payload.full_ref
            whole = sessions.maybe_blob(payload.full_ref)
            found["fullMarkdown"] = whole.decode(errors="replace") if whole else None
        return found
    data = sessions.maybe_blob(payload.sha256 or "")
    found |= {"kind": payload.kind, "sha256": payload.sha256, "bytes": payload.byte_length}
    found["content"] = data.decode(errors="replace") if data else None
    return found


def _event(event: Event) -> Json:
    return {
        "eventIndex": event.idx,
        "eventId": event.event_id,
        "kind": event.kind,
        "data": event.data,
        "hash": event.hash,
        "at": timestamp(event.at_ms),
    }
