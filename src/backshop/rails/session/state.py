"""A session as its events tell it: runs, nodes, and what is in force at each node.

Every node carries the values its lineage adds up to (context, preferences, capabilities, gaps),
so acting on a node never walks the history; `fold` adds them up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from backshop.base.acting import By
from backshop.base.pmap import PMap

from . import events as ev


class Recorded(Protocol):
    """A stored event, as the fold sees it."""

    @property
    def idx(self) -> int: ...
    @property
    def seq(self) -> int: ...
    @property
    def event_id(self) -> str: ...
    @property
    def scope_a(self) -> str | None: ...
    @property
    def scope_b(self) -> str | None: ...
    @property
    def at_ms(self) -> int: ...
    @property
    def fact(self) -> object: ...
    @property
    def by(self) -> By | None: ...


GUIDED = ev.Effective("guided", "conservative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One output of a node or of the session."""

    output_id: str
    channel: str
    payload: ev.Payload
    supersedes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A gap as recorded, with the node it hangs on."""

    node_id: str
    fact: ev.GapRecorded


@dataclass(frozen=True, slots=True)
class Observed:
    """What is known of one capability at a node (R5.14)."""

    enforced: str = "unknown"
    displayed: str = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A used acknowledgement or checkpoint token and what it led to."""

    node_id: str
    event_id: str
    request_digest: str
    response_ref: str
    outcome: str  # advanced | blocked | checkpoint
    to_node_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """A position in a run; the second group of fields is inherited along the lineage."""

    node_id: str
    run_id: str
    kind: ev.NodeKind
    parent: str | None
    workflow_hash: str
    snapshot_ref: str
    created_idx: int
    created_ms: int
    last_idx: int
    edge: ev.EdgeCreated | None = None
    children: tuple[str, ...] = ()
    is_rewound: bool = False  # has a child by acknowledgement (R5.7)
    advances: int = 0  # acknowledgements, without the forks
    forks: int = 0  # forks a person asked for (R6.5)
    checkpoints: int = 0  # without those with which a person began a branch
    branches: int = 0  # those (R10.12)
    outputs: tuple[Output, ...] = ()
    inputs: tuple[ev.UserInputRecorded, ...] = ()  # since this step became pending
    counts: Mapping[str, int] = field(default_factory=dict)  # facts of a kind, for ordinals
    badges: frozenset[str] = frozenset()
    noted: tuple[int, ...] = ()  # where its checkpoints with notes were made, as indexes

    context: Mapping[str, object] = field(default_factory=dict)
    preferences: ev.Effective = GUIDED
    wished: tuple[ev.PreferenceChange, ...] = ()  # what the agent asked for and does not have
    from_person: frozenset[str] = frozenset()  # context keys a person set
    capabilities: Mapping[str, Observed] = field(default_factory=dict)
    gaps: PMap[Gap] = field(default_factory=PMap)  # unresolved ones
    warned: frozenset[str] = frozenset()  # codes of warnings that are given once per lineage
    depth: int = 0
    blocked_depth: int = 0  # blocked attempts in a row up to here
    jump: str | None = None  # a far ancestor, see `lineage`
    told: int = 0  # entries a recap has up to here, as far as they were there when it was made
    teller: str | None = None  # the nearest ancestor that had one then

    @property
    def is_branch(self) -> bool:
        """Whether a person began a branch with it (R10.12)."""
        edge = self.edge
        return (
            edge is not None
            and edge.edge_kind == "checkpoint"
            and edge.cause.kind == "intentional_fork"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """One execution of a pinned workflow."""

    run_id: str
    started: ev.RunStarted
    started_idx: int
    started_ms: int
    root: str | None = None
    preferred: str | None = None  # the preferred tip (R5.8)
    nodes: int = 0
    forks: int = 0
    last_seq: int = 0
    last_ms: int = 0
    agent: str | None = None  # the last one that acted here, as its events name it (T1.6)
    agent_ms: int = 0
    baseline: ev.Effective | None = None
    late: tuple[str, ...] = ()  # nodes that got a checkpoint's notes after they had a child


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """Everything a session's events say that rules and answers need."""

    created: bool = False
    created_ms: int = 0
    last_idx: int = -1
    last_seq: int = 0
    last_ms: int = 0
    observations: Mapping[str, str] = field(default_factory=dict)
    observed: Mapping[str, int] = field(default_factory=dict)  # how often, by key
    runs: PMap[RunState] = field(default_factory=PMap)
    run_order: tuple[str, ...] = ()
    nodes: PMap[NodeState] = field(default_factory=PMap)
    attempts: PMap[Attempt] = field(default_factory=PMap)
    outputs: tuple[Output, ...] = ()
    session_attempts: tuple[str, ...] = ()
    gap_nodes: PMap[str] = field(default_factory=PMap)  # gap id → node it hangs on


EMPTY = SessionState()


def current_outputs(outputs: tuple[Output, ...]) -> tuple[Output, ...]:
    """Return the outputs that no later one replaces (R5.10)."""
    replaced = {one.supersedes for one in outputs}
    return tuple(one for one in outputs if one.output_id not in replaced)
