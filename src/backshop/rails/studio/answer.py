"""What the commands of the person's side answer (R7.26)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from backshop.base.codec import camel

from ..answers import Mode
from ..session.events import GapRecorded
from ..view.run import Resume
from ..view.session import SessionRow
from ..view.waiting import Waiting


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsListed:
    """A page of sessions, the most recently used first."""

    sessions: tuple[SessionRow, ...]
    next_cursor: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingListed:
    """What waits for a person, the newest first; `total` counts what is not listed too."""

    waiting: tuple[Waiting, ...]
    total: int


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Branched:
    """A branch that was begun, and how an agent goes on with it."""

    session_id: str
    run_id: str
    node_id: str
    resume: Resume


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Where a person changed a run, and how it stands there."""

    session_id: str
    run_id: str
    node_id: str
    preferences: Mode
    open_gaps: tuple[GapRecorded, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Whether a session is exempt from retention now."""

    session_id: str
    keep: bool


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A session that is gone."""

    session_id: str
    deleted: bool = True


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A session as text."""

    session_id: str
    format: Literal["bundle", "markdown", "jsonl"]
    text: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A session that was brought in."""

    session_id: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """The sessions beyond the retention time; `applied`: they are gone."""

    sessions: tuple[str, ...]
    applied: bool


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """Tokens are signed with a new key."""

    rotated: bool = True
