"""What the commands of the person's side take (R7.26)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from backshop.base.codec import camel
from backshop.base.limits import QUERY_MAX_CHARS

from .. import requests

Json = dict[str, object]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsList:
    """Which sessions to list."""

    status: str | None = None
    workflow_id: str | None = None
    workspace: str | None = None
    branch: str | None = None
    health: str | None = None
    query: str | None = field(default=None, metadata={"max_length": QUERY_MAX_CHARS})
    limit: int = field(default=50, metadata={"ge": 1, "le": 500})
    cursor: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunsList:
    """Which runs to list, over all sessions."""

    status: str | None = None
    workflow_id: str | None = None
    workspace: str | None = None
    agent: str | None = None
    """Who acted last, as events name them; `agent` is Backshop's own."""
    within_hours: int | None = field(default=None, metadata={"ge": 1, "le": 100_000})
    """Only those where something happened since."""
    at_work: bool = False
    """Only those where an agent acted within the last minutes."""
    query: str | None = field(default=None, metadata={"max_length": QUERY_MAX_CHARS})
    limit: int = field(default=50, metadata={"ge": 1, "le": 500})
    cursor: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingList:
    """How many of the things that wait for a person to list."""

    limit: int = field(default=50, metadata={"ge": 1, "le": 500})


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunBranch:
    """The node to branch from, and what is to be done differently there."""

    node_id: str
    note: str | None = field(default=None, metadata={"max_length": 2048})


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionGet:
    """Which session; its timeline only if asked for."""

    session_id: str
    timeline: bool = False


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunGet:
    """Which run; with a limit only so many nodes, around one or else around the preferred tip."""

    run_id: str
    around: str | None = None
    limit: int | None = field(default=None, metadata={"ge": 1, "le": 5000})


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowPinned:
    """The hash of a workflow some run of this home was started with."""

    workflow_hash: str = field(metadata={"pattern": "^sha256:[0-9a-f]{64}$"})


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGet:
    """Which node."""

    node_id: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetPreferences:
    """A new mode for a run, from its preferred tip on."""

    run_id: str
    preferences: requests.Preferences


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetContext:
    """Inputs the person changes at the preferred tip of a run."""

    run_id: str
    set: Json = field(default_factory=dict)
    removed: tuple[str, ...] = ()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class UserInputRecord:
    """What the person decides or gives for a step that waits for them."""

    node_id: str
    input_id: str
    decision: Literal["approved", "rejected", "provided"]
    summary: str | None = field(default=None, metadata={"max_length": 1024})


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class GapResolve:
    """A gap that is none any more, and why."""

    gap_id: str
    summary: str = field(metadata={"min_length": 1, "max_length": 1024})


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSetKeep:
    """Whether a session is exempt from retention."""

    session_id: str
    keep: bool


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDelete:
    """A session to delete; `confirm` repeats its id."""

    session_id: str
    confirm: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionExport:
    """How to carry a session away."""

    session_id: str
    format: Literal["bundle", "markdown", "jsonl"] = "bundle"
    run_id: str | None = None
    salvage: bool = False
    times: bool = False


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionImport:
    """The text of a bundle."""

    bundle: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsExpire:
    """Whether to really delete; without it they are only counted."""

    apply: bool = False
