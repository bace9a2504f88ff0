"""Runs as one list over all sessions: filtered, counted, the newest first (R10.13, R10.14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from backshop.base.codec import camel
from backshop.base.limits import AGENT_AT_WORK_MINUTES
from backshop.store import Caller

from ..errors import RailsError
from ..repository import Readable, Sessions
from ..search import Text
from ..session.state import RunState
from .session import RunRow, is_dormant, node_title, run_row

_MINUTE_MS = 60_000
_DONE = ("complete", "complete_with_gaps")


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunListed(RunRow):
    """A run with where it stands and where it belongs."""

    session_id: str
    session_title: str | None
    now_at: str | None
    """What its newest position waits for."""
    workspace_name: str | None
    git_branch: str | None
    is_at_work: bool
    """An agent acted in it within the last minutes and it is not complete (R10.14)."""


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunsFound:
    """A page of runs, how many there are in all, and what they can be narrowed by."""

    runs: tuple[RunListed, ...]
    total: int
    by_status: Mapping[str, int]
    """Of the runs that fit all else that was asked for."""
    workflows: Mapping[str, int]
    workspaces: Mapping[str, int]
    agents: Mapping[str, int]
    """Of all runs there are: who acted in them last."""
    at_work: tuple[RunListed, ...]
    """All runs where an agent is at work, whatever was asked for."""
    unreadable: int
    """Sessions that cannot be read, whose runs are not counted."""
    next_cursor: str | None = None


Fits = Callable[[RunListed], bool]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs: those that fit, and of these the ones in one state."""

    fits: Fits
    status: str | None
    start: int
    limit: int


def runs(sessions: Sessions, now_ms: int, caller: Caller, wanted: Wanted) -> RunsFound:
    """Return the runs that are wanted, the most recently used first, with their counts."""
    unreadable = 0
    found: list[tuple[int, RunListed]] = []
    for session_id in sessions.ids(caller):
        try:
            shown = sessions.readable(session_id)
        except RailsError:  # the list of sessions says what is the matter
            unreadable += 1
            continue
        found += _of_session(sessions, shown, now_ms)
    every = [row for _, row in sorted(found, key=lambda one: -one[0])]
    fitting = [row for row in every if wanted.fits(row)]
    rows = [row for row in fitting if wanted.status in (None, row.status)]
    end = wanted.start + wanted.limit
    return RunsFound(
        runs=tuple(rows[wanted.start : end]),
        total=len(rows),
        by_status=Counter(row.status for row in fitting),
        workflows=_counted(row.workflow_id for row in every),
        workspaces=_counted(row.workspace_name for row in every),
        agents=_counted(row.agent for row in every),
        at_work=tuple(row for row in every if row.is_at_work),
        unreadable=unreadable,
        next_cursor=str(end) if len(rows) > end else None,
    )


def text_of(row: RunListed) -> Text:
    """Return the words a search finds a run by."""
    said = (row.title, row.session_title, row.workflow_id, row.now_at)
    return Text(" ".join(one or "" for one in said))


def _of_session(
    sessions: Sessions, found: Readable, now_ms: int
) -> Iterator[tuple[int, RunListed]]:
    state = found.state
    for run in (state.runs[one] for one in state.run_order):
        tip = state.nodes.get(run.preferred or "")
        row = run_row(
            RunListed,
            sessions,
            state,
            run,
            session_id=found.session_id,
            session_title=state.observations.get("title"),
            now_at=node_title(sessions, tip) if tip else None,
            workspace_name=state.observations.get("workspace_name"),
            git_branch=state.observations.get("git_branch"),
            is_at_work=False,
        )
        yield run.last_seq, _judged(row, run, now_ms)


def _judged(row: RunListed, run: RunState, now_ms: int) -> RunListed:
    """Return a run with what depends on the time: whether anybody is at it."""
    is_recent = run.agent is not None and now_ms - run.agent_ms <= (
        AGENT_AT_WORK_MINUTES * _MINUTE_MS
    )
    if row.status == "in_progress" and is_dormant(run.last_ms, now_ms):
        return replace(row, status="dormant")
    return replace(row, is_at_work=is_recent and row.status not in _DONE)


def _counted(values: Iterator[str | None]) -> dict[str, int]:
    found = Counter(one for one in values if one is not None)
    return dict(sorted(found.items()))
