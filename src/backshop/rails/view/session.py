"""What people see of sessions: lists, one session, its timeline (R10.2, R10.3, R10.10).

Projections over the record, read anew each time; nothing here writes. Of a damaged session the
proved part is shown and said to be that (R4.18).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backshop.base.ambient import timestamp
from backshop.base.codec import encode
from backshop.base.limits import DORMANT_DAYS
from backshop.store import Caller, Head

from ..definition import template
from ..errors import RailsError
from ..repository import Readable, Sessions, stream_of
from ..resume.search import status_of, title_of
from ..run import graph, preference
from ..run.answer import resume_ref
from ..run.interpret import scope
from ..search import Text
from ..search import words as words_of
from ..session.state import NodeState, Output, RunState, SessionState, current_outputs

Json = dict[str, object]
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which sessions a list shows."""

    status: str | None = None
    workflow_id: str | None = None
    workspace: str | None = None
    branch: str | None = None
    health: str | None = None
    query: str | None = None


def session_rows(sessions: Sessions, wanted: Filter, now_ms: int, caller: Caller) -> Iterator[Json]:
    """Yield a row per session, the most recently used first; damaged ones are shown as such."""
    for head in reversed(sessions.heads(caller)):
        row = _row(sessions, head, now_ms)
        if _fits(row, wanted):
            row.pop("_words", None)
            yield row


def session_page(
    sessions: Sessions, session_id: str, now_ms: int, *, with_timeline: bool = False
) -> Json:
    """Return one session: its runs, its own notes, its health."""
    head = sessions.store.head(stream_of(session_id))
    if head is None:
        raise unknown("session", session_id)
    row = _row(sessions, head, now_ms)
    row.pop("_words", None)
    try:
        found = sessions.readable(session_id)
    except RailsError:  # the row says what is the matter
        return {**row, "runList": [], "notes": [], "observations": {}}
    state = found.state
    page: Json = {
        **row,
        "runList": [run_row(sessions, state, state.runs[one]) for one in state.run_order],
        "notes": [
            output_row(sessions, one, is_current=one in current_outputs(state.outputs))
            for one in state.outputs
        ],
        "observations": dict(state.observations),
    }
    return {**page, "timeline": list(_timeline(sessions, found))} if with_timeline else page


def run_row(sessions: Sessions, state: SessionState, run: RunState) -> Json:
    """Return a run as lists show it."""
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


def output_row(sessions: Sessions, output: Output, *, is_current: bool) -> Json:
    """Return an output with its whole content; a replaced one stays visible (R5.10)."""
    payload = output.payload
    found: Json = {
        "outputId": output.output_id,
        "channel": output.channel,
        "isCurrent": is_current,
        "supersedes": output.supersedes,
    }
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


def pending_id(sessions: Sessions, node: NodeState) -> str | None:
    """Return the step a node waits for; None when it waits for none or that is lost."""
    position = sessions.maybe_snapshot(node.snapshot_ref)
    pending = position.engine.pending if position else None
    return pending.step_id if pending else None


def node_title(sessions: Sessions, node: NodeState) -> str:
    """Return what a node waits for, in words."""
    position = sessions.maybe_snapshot(node.snapshot_ref)
    workflow = sessions.maybe_workflow(node.workflow_hash)
    if position is None or workflow is None:
        return "(lost)"
    engine = position.engine
    if engine.pending is None:
        return "Complete"
    title = workflow.steps[engine.pending.step_id].title
    return template.render(title, scope(workflow, engine.stack, node.context))


def step_title(sessions: Sessions, node: NodeState, step_id: str) -> str:
    """Return a step's title as read at a node; its id where the title is lost."""
    position = sessions.maybe_snapshot(node.snapshot_ref)
    workflow = sessions.maybe_workflow(node.workflow_hash)
    step = workflow.steps.get(step_id) if workflow else None
    if position is None or workflow is None or step is None:
        return step_id
    return template.render(step.title, scope(workflow, position.engine.stack, node.context))


def salvage_of(found: Readable) -> Json:
    """Return what says that less than the whole record is shown; empty for a whole one."""
    if not found.is_salvage:
        return {}
    return {
        "salvage": True,
        "health": found.health,
        "reason": found.reason or "salvaged",
        "events": found.state.last_idx + 1,
    }


def unknown(what: str, name: str) -> RailsError:
    """Return the refusal of an id that names nothing."""
    return RailsError(
        "VALIDATION_ERROR",
        f"there is no {what} {name[:80]!r}",
        "Look it up with RailsSessionsList; ids are exact.",
    )


def _row(sessions: Sessions, head: Head, now_ms: int) -> Json:
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
        found = sessions.readable(session_id)
    except RailsError as error:
        status = str(error.details.get("status") or "corrupt_head")
        named = Text(session_id)
        return {**row, "health": status, "runs": 0, "workflowIds": [], "_words": named}
    state = found.state
    runs = [state.runs[one] for one in state.run_order]
    last = max(runs, key=lambda run: run.last_seq) if runs else None
    tip = state.nodes[last.preferred] if last and last.preferred else None
    title = state.observations.get("title")
    if title is None and runs:
        title = title_of(sessions, state, runs[0])
    row |= {
        "title": title,
        "status": _status(sessions, state, last, now_ms),
        "runs": len(runs),
        "branches": sum(run.forks for run in runs) + len(runs),
        "workflowIds": sorted({run.started.workflow_id for run in runs}),
        "workflowHashes": sorted({run.started.workflow_hash for run in runs}),
        "currentStepId": pending_id(sessions, tip) if tip else None,
        "preferences": preference.wire(tip.preferences, tip.wished) if tip else None,
        "criticalGaps": len(graph.critical_gaps(tip)) if tip else 0,
        "lastActivity": timestamp(state.last_ms),
        "gitBranch": state.observations.get("git_branch"),
        "workspaceName": state.observations.get("workspace_name"),
        "isBuiltin": any(run.started.driver == "builtin" for run in runs),
        **salvage_of(found),
    }
    if found.origin is not None:
        row["origin"] = encode(found.origin)
    words = [str(title or ""), session_id, *(run.started.workflow_id for run in runs)]
    words += [resume_ref(run.run_id) for run in runs]
    words += [title_of(sessions, state, run) or "" for run in runs[1:]]
    row["_words"] = Text(" ".join(words))
    return row


def _status(sessions: Sessions, state: SessionState, last: RunState | None, now_ms: int) -> str:
    """Return a session's status: that of its latest run, `dormant` if nobody goes on (R5.9)."""
    status = status_of(sessions, state, last) if last else "in_progress"
    is_dormant = now_ms - state.last_ms > DORMANT_DAYS * _DAY_MS
    return "dormant" if status == "in_progress" and is_dormant else status


def _fits(row: Json, wanted: Filter) -> bool:
    if wanted.status is not None and row["status"] != wanted.status:
        return False
    if wanted.health is not None and row["health"] != wanted.health:
        return False
    ids = row["workflowIds"]
    assert isinstance(ids, list)
    if wanted.workflow_id is not None and wanted.workflow_id not in ids:
        return False
    if wanted.workspace is not None and row.get("workspaceName") != wanted.workspace:
        return False
    if wanted.branch is not None and row.get("gitBranch") != wanted.branch:
        return False
    text = row["_words"]
    assert isinstance(text, Text)
    return all(map(text.says, words_of(wanted.query or "")))


def _timeline(sessions: Sessions, found: Readable) -> Iterator[Json]:
    """Yield what happened in the order of the record: nodes by run, and the session's notes."""
    for event in sessions.events(found):
        entry: Json = {"eventIndex": event.idx, "at": timestamp(event.at_ms)}
        if event.kind == "node_created":
            node = found.state.nodes[event.scope_b or ""]
            yield {
                **entry,
                "runId": event.scope_a,
                "nodeId": node.node_id,
                "nodeKind": node.kind,
                "title": node_title(sessions, node),
            }
        elif event.kind == "session_output_appended":
            channel = event.fact.output_channel
            yield {**entry, "runId": None, "nodeId": None, "nodeKind": "note", "title": channel}
