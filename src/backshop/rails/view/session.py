"""What people see of sessions: lists, one session, its timeline (R10.2, R10.3, R10.10).

Projections over the record, read anew each time; nothing here writes. Of a damaged session the
proved part is shown and said to be that (R4.18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict, TypeVar

from backshop.base.ambient import timestamp
from backshop.base.codec import camel
from backshop.base.limits import DORMANT_DAYS
from backshop.store import Caller, Head

from ..answers import Mode
from ..definition import template
from ..errors import RailsError
from ..repository import Readable, Sessions, stream_of
from ..resume.search import status_of, title_of
from ..run import graph
from ..run.answer import resume_ref
from ..run.interpret import scope
from ..search import Text
from ..session import events as ev
from ..session.local import ImportOrigin
from ..session.state import NodeState, Output, RunState, SessionState, current_outputs

_DAY_MS = 86_400_000


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session as lists show it; `workflow_hashes` and what follows are of one that is read."""

    session_id: str
    title: str | None
    status: str
    health: str
    keep: bool
    events: int
    runs: int = 0
    branches: int | None = None
    workflow_ids: tuple[str, ...] = ()
    workflow_hashes: tuple[str, ...] | None = None
    current_step_id: str | None = None
    preferences: Mode | None = None
    critical_gaps: int | None = None
    last_activity: str | None = None
    git_branch: str | None = None
    workspace_name: str | None = None
    is_builtin: bool | None = None
    salvage: bool | None = None
    reason: str | None = None
    origin: ImportOrigin | None = None

    @property
    def nulls(self) -> tuple[str, ...]:
        """What is there even when it is None."""
        read = ("current_step_id", "preferences", "git_branch", "workspace_name")
        return () if self.workflow_hashes is None else read


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run as lists show it; those of a session do not repeat which it is."""

    session_id: str | None = None
    run_id: str
    resume_ref: str
    workflow_id: str
    workflow_hash: str
    title: str | None
    status: str
    driver: ev.Driver
    node_count: int
    branches: int
    parent: ev.Parent | None
    started_at: str
    last_activity: str
    agent: str | None = None
    """The agent that acted last, as events name it: `agent` is Backshop's own."""
    agent_at: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRow:
    """An output with its whole content; a replaced one stays visible (R5.10)."""

    output_id: str
    channel: str
    is_current: bool
    supersedes: str | None
    notes_markdown: str | None = None
    full_ref: str | None = None
    full_markdown: str | None = None
    kind: str | None = None
    sha256: str | None = None
    bytes: int | None = None
    content: str | None = None

    @property
    def nulls(self) -> tuple[str, ...]:
        """What is there even when it is None."""
        if self.channel != "recap":
            return ("kind", "sha256", "bytes", "content")
        return ("notes_markdown", "full_markdown") if self.full_ref else ("notes_markdown",)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A node of a run, or a note of the session, in the order of the record."""

    event_index: int
    at: str
    began_at: str | None = None
    """When the node before it was made."""
    completed: str | None = None
    """The step that was worked on between both."""
    run_id: str | None
    node_id: str | None
    node_kind: ev.NodeKind | Literal["note"]
    title: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage(SessionRow):
    """One session: its runs, its own notes, its timeline if asked for."""

    run_list: tuple[RunRow, ...] = ()
    notes: tuple[OutputRow, ...] = ()
    observations: Mapping[str, str] = field(default_factory=dict)
    timeline: tuple[Moment, ...] | None = None


class Salvage(TypedDict, total=False):
    """What says that less than the whole record is shown; empty for a whole one."""

    salvage: bool
    health: str
    reason: str
    events: int


Row = TypeVar("Row", bound=SessionRow)
Run = TypeVar("Run", bound=RunRow)


def session_rows(sessions: Sessions, now_ms: int, caller: Caller) -> Iterator[SessionRow]:
    """Yield a row per session, the most recently used first; damaged ones are shown as such."""
    for head in reversed(sessions.heads(caller)):
        yield _row(SessionRow, sessions, head, now_ms)


def found_by(sessions: Sessions, row: SessionRow) -> tuple[list[str], Text]:
    """Return the ids and the words a search finds a session by."""
    ids, words = [row.session_id], [row.title or ""]
    if row.workflow_hashes is not None:
        state = sessions.readable(row.session_id).state
        runs = [state.runs[one] for one in state.run_order]
        ids += [resume_ref(run.run_id) for run in runs]
        words += [run.started.workflow_id for run in runs]
        words += [title_of(sessions, state, run) or "" for run in runs[1:]]
    return ids, Text(" ".join(words))


def session_page(
    sessions: Sessions, session_id: str, now_ms: int, *, with_timeline: bool = False
) -> SessionPage:
    """Return one session: its runs, its own notes, its health."""
    head = sessions.store.head(stream_of(session_id))
    if head is None:
        raise unknown("session", session_id)
    try:
        found = sessions.readable(session_id)
    except RailsError:  # the row says what is the matter
        return _row(SessionPage, sessions, head, now_ms)
    state = found.state
    return _row(
        SessionPage,
        sessions,
        head,
        now_ms,
        run_list=tuple(
            run_row(RunRow, sessions, state, state.runs[one]) for one in state.run_order
        ),
        notes=output_rows(sessions, state.outputs),
        observations=dict(state.observations),
        timeline=tuple(_timeline(sessions, found)) if with_timeline else None,
    )


def run_row(
    made: Callable[..., Run], sessions: Sessions, state: SessionState, run: RunState, **more: object
) -> Run:
    """Return a run as lists show it, or more of it."""
    return made(
        run_id=run.run_id,
        resume_ref=resume_ref(run.run_id),
        workflow_id=run.started.workflow_id,
        workflow_hash=run.started.workflow_hash,
        title=title_of(sessions, state, run),
        status=status_of(sessions, state, run),
        driver=run.started.driver,
        node_count=run.nodes,
        branches=run.forks + 1,
        parent=run.started.parent,
        started_at=timestamp(run.started_ms),
        last_activity=timestamp(run.last_ms),
        agent=run.agent,
        agent_at=timestamp(run.agent_ms) if run.agent else None,
        **more,
    )


def output_rows(sessions: Sessions, outputs: tuple[Output, ...]) -> tuple[OutputRow, ...]:
    """Return outputs as pages show them."""
    current = current_outputs(outputs)
    return tuple(_output_row(sessions, one, is_current=one in current) for one in outputs)


def _output_row(sessions: Sessions, output: Output, *, is_current: bool) -> OutputRow:
    payload = output.payload
    row = OutputRow(
        output_id=output.output_id,
        channel=output.channel,
        is_current=is_current,
        supersedes=output.supersedes,
    )
    if output.channel == "recap":
        full = payload.full_ref or None
        text = _content(sessions, full)
        return replace(
            row, notes_markdown=payload.notes_markdown, full_ref=full, full_markdown=text
        )
    return replace(
        row,
        kind=payload.kind,
        sha256=payload.sha256,
        bytes=payload.byte_length,
        content=_content(sessions, payload.sha256),
    )


def _content(sessions: Sessions, ref: str | None) -> str | None:
    data = sessions.maybe_blob(ref) if ref else None
    return data.decode(errors="replace") if data else None


def mode_of(node: NodeState) -> Mode:
    """Return the mode of a node, with what the agent asked for and does not have."""
    return Mode(
        autonomy=node.preferences.autonomy,
        risk_policy=node.preferences.risk_policy,
        wished={one.key: one.value for one in node.wished} or None,
    )


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


def salvage_of(found: Readable) -> Salvage:
    """Return what is to be said of a salvaged record."""
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
        "Look it up with RailsSessionsList.",
    )


def _row(
    made: Callable[..., Row], sessions: Sessions, head: Head, now_ms: int, **more: object
) -> Row:
    session_id = head.stream.partition(":")[2]
    known = {"session_id": session_id, "keep": head.keep, "events": head.last_idx + 1, **more}
    try:
        found = sessions.readable(session_id)
    except RailsError as error:
        status = str(error.details.get("status") or "corrupt_head")
        return made(**known, title=None, status="unknown", health=status)
    state = found.state
    runs = [state.runs[one] for one in state.run_order]
    last = max(runs, key=lambda run: run.last_seq) if runs else None
    tip = state.nodes[last.preferred] if last and last.preferred else None
    title = state.observations.get("title")
    if title is None and runs:
        title = title_of(sessions, state, runs[0])
    return made(
        **{**known, "health": "healthy", **salvage_of(found)},
        title=title,
        status=_status(sessions, state, last, now_ms),
        runs=len(runs),
        branches=sum(run.forks for run in runs) + len(runs),
        workflow_ids=tuple(sorted({run.started.workflow_id for run in runs})),
        workflow_hashes=tuple(sorted({run.started.workflow_hash for run in runs})),
        current_step_id=pending_id(sessions, tip) if tip else None,
        preferences=mode_of(tip) if tip else None,
        critical_gaps=len(graph.critical_gaps(tip)) if tip else 0,
        last_activity=timestamp(state.last_ms),
        git_branch=state.observations.get("git_branch"),
        workspace_name=state.observations.get("workspace_name"),
        is_builtin=any(run.started.driver == "builtin" for run in runs),
        origin=found.origin,
    )


def _status(sessions: Sessions, state: SessionState, last: RunState | None, now_ms: int) -> str:
    """Return a session's status: that of its latest run, `dormant` if nobody goes on (R5.9)."""
    status = status_of(sessions, state, last) if last else "in_progress"
    return "dormant" if status == "in_progress" and is_dormant(state.last_ms, now_ms) else status


def is_dormant(last_ms: int, now_ms: int) -> bool:
    """Say whether nobody has gone on with something for days (R5.9)."""
    return now_ms - last_ms > DORMANT_DAYS * _DAY_MS


def _timeline(sessions: Sessions, found: Readable) -> Iterator[Moment]:
    """Yield what happened in the order of the record: nodes by run, and the session's notes."""
    labels = sessions.label(found.state)
    for event in sessions.events(found):
        node = None
        if event.kind == "node_created":
            node = found.state.nodes[event.scope_b or ""]
        elif event.kind != "session_output_appended":
            continue
        before = found.state.nodes.get(node.parent or "") if node else None
        yield Moment(
            event_index=event.idx,
            at=timestamp(event.at_ms),
            began_at=timestamp(before.created_ms) if before else None,
            completed=labels(node).title if node and before else None,
            run_id=event.scope_a if node else None,
            node_id=node.node_id if node else None,
            node_kind=node.kind if node else "note",
            title=node_title(sessions, node) if node else event.fact.output_channel,
        )
