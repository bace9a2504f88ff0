"""A session to read: runs, steps, notes, artifacts, gaps (R9.7). Equal record, equal bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backshop.base.ambient import timestamp

from ..repository import Readable, Sessions
from ..resume.search import status_of, title_of
from ..run import graph
from ..run.answer import resume_ref
from ..session.state import NodeState, Output, RunState, SessionState
from ..view.artifact import Data, Prose, Shown, Table, shown
from ..view.artifact import Remarks as Found
from ..view.session import unknown

Remarks = dict[str, list[str]]


def exported(
    sessions: Sessions, session_id: str, run_id: str | None = None, *, times: bool = False
) -> str:
    """Return a session, or one run of it, as Markdown."""
    found = sessions.readable(session_id)
    state = found.state
    if run_id is not None and run_id not in state.runs:
        raise unknown("run", run_id)
    runs = [state.runs[one] for one in state.run_order if run_id in (None, one)]
    return "\n".join(_lines(sessions, found, runs, times)).rstrip() + "\n"


def _lines(sessions: Sessions, found: Readable, runs: list[RunState], times: bool) -> Iterator[str]:
    session_id, state = found.session_id, found.state
    title = state.observations.get("title")
    if title is None and runs:
        title = title_of(sessions, state, runs[0])
    yield f"# {_line(title or session_id)}"
    yield ""
    if found.is_salvage:
        yield (
            f"> **Salvaged.** The record of this session is damaged ({found.reason or 'salvaged'});"
            f" what follows are the {state.last_idx + 1} events that are proved."
        )
        yield ""
    if runs:
        yield "| Run | Workflow | Status | Resume ref |"
        yield "|---|---|---|---|"
        for run in runs:
            cells = (
                title_of(sessions, state, run) or run.run_id,
                run.started.workflow_id,
                status_of(sessions, state, run),
                resume_ref(run.run_id),
            )
            yield _cells(cells)
        yield ""
    remarks = _remarks(sessions, found)
    for run in runs:
        yield from _run(sessions, state, run, remarks, times)
    notes = [one for one in state.outputs if one.channel == "recap"]
    if notes:
        yield "## Notes of the session"
        yield ""
        for output in notes:
            yield _whole(sessions, output)
            yield ""


def _run(
    sessions: Sessions, state: SessionState, run: RunState, remarks: Remarks, times: bool
) -> Iterator[str]:
    yield f"## {_line(title_of(sessions, state, run) or run.run_id)}"
    yield ""
    if run.preferred is None:
        return
    main = graph.lineage(state, run.preferred)
    for node in main:
        yield from _node(sessions, state, node, remarks, times)
    shown = {node.node_id for node in main}
    rest = [node for node in graph.run_nodes(state, run.run_id) if node.node_id not in shown]
    if any(node.outputs for node in rest):
        yield "### Other branches"
        yield ""
        for node in rest:
            yield from _node(sessions, state, node, remarks, times)


def _moment(at_ms: int) -> str:
    return f"{timestamp(at_ms)[:19]} UTC".replace("T", " ", 1)


def _node(
    sessions: Sessions, state: SessionState, node: NodeState, remarks: Remarks, times: bool
) -> Iterator[str]:
    if node.parent is None and not node.outputs:
        return
    label = sessions.label(state)(node)
    mark = {"checkpoint": " (checkpoint)", "blocked_attempt": " (blocked)"}.get(node.kind, "")
    when = f" · {_moment(node.created_ms)}" if times else ""
    yield f"### {_line(label.title)} [{label.step_id}]{mark}{when}"
    yield ""
    notes = graph.notes_of(node)
    if notes is not None:
        yield _whole(sessions, notes)
        yield ""
    for artifact in graph.artifacts_of(node):
        yield from _artifact(sessions, artifact)
    for gap in node.gaps.values():
        if gap.node_id == node.node_id:
            yield f"- Gap ({gap.fact.severity}): {_line(gap.fact.summary)}"
            yield ""
    for remark in remarks.get(node.node_id, ()):
        yield f"- {_line(remark)}"
        yield ""


def _remarks(sessions: Sessions, readable: Readable) -> Remarks:
    """Return what else was noted about each node: divergences and warnings."""
    found: Remarks = {}
    for event in sessions.events(readable):
        if event.kind == "divergence_recorded":
            text = f"Divergence ({event.fact.reason}): {event.fact.summary}"
        elif event.kind == "warning_recorded":
            text = f"Warning: {event.fact.message}"
        else:
            continue
        found.setdefault(event.scope_b or "", []).append(text)
    return found


def _artifact(sessions: Sessions, artifact: Output) -> Iterator[str]:
    data = sessions.maybe_blob(artifact.payload.sha256 or "")
    kind = artifact.payload.kind or ""
    yield f"Artifact `{_line(kind)}`:"
    yield ""
    if data is None:
        yield "(its content is not here)"
    else:
        yield from _shown(shown(kind, data))
    yield ""


def _shown(value: Shown) -> Iterator[str]:
    match value:
        case Table(columns=columns, rows=rows):
            yield _cells(columns)
            yield _cells(["---"] * len(columns))
            for row in rows:
                yield _cells(row)
        case Found(findings=findings, comments=comments):
            for one in (*findings, *comments):
                mark = f"**{one.severity}** " if one.severity else ""
                yield f"- {mark}`{_line(one.place)}` {_line(one.title)}: {_line(one.text)}"
        case Prose(markdown=text, rest=rest):
            yield text
            if rest:
                yield ""
                yield _fenced(rest)
        case Data(text=text):
            yield _fenced(text)


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_line(cell).replace('|', '/') for cell in cells)} |"


def _fenced(text: str) -> str:
    return f"```json\n{text.replace('```', '` ` `')}\n```"


def _whole(sessions: Sessions, notes: Output) -> str:
    if notes.payload.full_ref:
        data = sessions.maybe_blob(notes.payload.full_ref)
        if data is not None:
            return data.decode(errors="replace")
    return notes.payload.notes_markdown or ""


def _line(text: str) -> str:
    return " ".join(text.split())
