"""Whether a bundle tells a story that could have happened (R9.3).

Digests prove that a bundle is what somebody wrote, not that it makes sense. Before anything is
stored, every node must lead back to its run, stand at a step its workflow has, and have been
reached by the attempts it says.
"""

from __future__ import annotations

from collections.abc import Mapping

from backshop.base.errors import ValidationFailed

from .. import compile as pinned
from ..compile import StepKind
from ..run import snapshot as snapshots
from ..run.interpret import Workflow
from ..run.snapshot import Snapshot
from ..session import events as ev
from ..session.ordinal import attempt_id, purpose_of
from .document import Content, bad
from .import_ids import Arrival, Incoming


def prove(content: Content, coming: Arrival) -> None:
    """Refuse a bundle whose facts contradict each other.

    Raises:
        RailsError: `BUNDLE_INVALID_FORMAT`.
    """
    try:
        workflows = {
            ref: Workflow(pinned.load(data), f"sha256:{ref}")
            for ref, data in content.workflows.items()
        }
        positions = {ref: snapshots.load(data) for ref, data in content.snapshots.items()}
    except ValidationFailed as error:
        raise _senseless("a snapshot cannot be read") from error
    for position in positions.values():
        _check_position(position, workflows, is_salvaged=content.is_salvaged)
    _Story(coming, positions, is_salvaged=content.is_salvaged).check()


def _check_position(
    position: Snapshot, workflows: Mapping[str, Workflow], *, is_salvaged: bool
) -> None:
    workflow = workflows.get(position.workflow_hash.removeprefix("sha256:"))
    if workflow is None:
        if is_salvaged:  # lost with the rest
            return
        raise _senseless("a snapshot belongs to no workflow of it")
    engine = position.engine
    for frame in engine.stack:
        loop = workflow.steps.get(frame.loop_id)
        if loop is None or loop.loop is None or frame.iteration >= loop.loop.max_iterations:
            raise _senseless("a snapshot stands in a loop that is none")
        if not 0 <= frame.body_index < len(loop.body or ()) or frame.iteration < 0:
            raise _senseless("a snapshot stands outside the body of its loop")
    if engine.pending is not None:
        step = workflow.steps.get(engine.pending.step_id)
        if step is None or step.kind is StepKind.LOOP:
            raise _senseless("a snapshot waits for a step its workflow does not have")


class _Story:
    """Goes through the facts once, in order, and remembers what exists so far."""

    def __init__(
        self, coming: Arrival, positions: Mapping[str, Snapshot], *, is_salvaged: bool
    ) -> None:
        self._coming = coming
        self._positions = positions
        self._is_salvaged = is_salvaged
        self._runs: dict[str, ev.RunStarted] = {}
        self._nodes: dict[str, str] = {}  # node → run
        self._rooted: set[str] = set()
        self._promised: set[str] = set()  # nodes that attempts say they made
        self._counts: dict[tuple[str, str], int] = {}

    def check(self) -> None:
        first = self._coming.events[0].fact
        if not isinstance(first, ev.SessionCreated):
            raise _senseless("it does not begin with its session")
        for event in self._coming.events[1:]:
            self._one(event)
        if not self._is_salvaged:  # a damaged session may end in the middle of a step
            self._check_ends()

    def _check_ends(self) -> None:
        if set(self._runs) - self._rooted:
            raise _senseless("a run has no root")
        if self._promised - set(self._nodes):
            raise _senseless("an attempt led to a node that is not there")

    def _one(self, event: Incoming) -> None:
        match event.fact:
            case ev.SessionCreated():
                raise _senseless("its session is created twice")
            case ev.ObservationRecorded() | ev.SessionOutputAppended():
                return
            case ev.RunStarted() as fact:
                self._runs[event.run_id or ""] = fact
                return
            case ev.NodeCreated() as fact:
                self._node(event, fact)
            case ev.EdgeCreated() as fact:
                if fact.from_node_id not in self._nodes or fact.to_node_id not in self._nodes:
                    raise _senseless("an edge leads nowhere")
                return
            case ev.AdvanceRecorded() as fact:
                self._attempt(event, fact.attempt_id, "ack")
                self._promised.add(fact.outcome.to_node_id)
            case ev.CheckpointRecorded() as fact:
                self._attempt(event, fact.attempt_id, "checkpoint")
                self._promised.add(fact.to_node_id)
        if self._nodes.get(event.node_id or "") != event.run_id:
            raise _senseless("a fact hangs on a node that is not there")

    def _node(self, event: Incoming, fact: ev.NodeCreated) -> None:
        run, node = self._runs.get(event.run_id or ""), event.node_id or ""
        position = self._positions.get(fact.snapshot_ref.removeprefix("sha256:"))
        if run is None or node in self._nodes:
            raise _senseless("a node belongs to no run, or is there twice")
        if position is None and not self._is_salvaged:
            raise _senseless("a node's snapshot is not in it")
        stands = position.workflow_hash if position else run.workflow_hash
        if not fact.workflow_hash == run.workflow_hash == stands:
            raise _senseless("a node is of another workflow than its run")
        if fact.parent_node_id is None:
            if event.run_id in self._rooted:
                raise _senseless("a run has two roots")
            self._rooted.add(event.run_id or "")
        elif self._nodes.get(fact.parent_node_id) != event.run_id:
            raise _senseless("a node's parent is not there")
        self._nodes[node] = event.run_id or ""

    def _attempt(self, event: Incoming, attempt: str, purpose: str) -> None:
        node = event.node_id or ""
        asked = {one: self._counts.get((node, one), 0) for one in ("fork", "branch")}
        purpose = purpose_of(node, attempt, purpose, asked)
        number = self._counts.get((node, purpose), 0)
        self._counts[node, purpose] = number + 1
        if attempt != attempt_id(node, purpose, number):
            raise _senseless("an attempt has another id than its own")


def _senseless(why: str) -> Exception:
    return bad("BUNDLE_INVALID_FORMAT", why)
