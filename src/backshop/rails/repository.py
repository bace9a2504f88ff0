"""Sessions in the store: finding, folding, loading what nodes refer to, and writing.

Everything the store can raise becomes one of the codes of R7.3 here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from backshop.base.canon import parse
from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.limits import NOTES_KEPT_MAX_BYTES
from backshop.store import (
    THE_OWNER,
    Caller,
    Event,
    Fold,
    Head,
    HeadMoved,
    Status,
    StorageCorrupt,
    Store,
    StoreBusy,
    Write,
)
from backshop.store import Plan as StorePlan

from . import compile as pinned
from . import errors
from .definition import template
from .lru import Lru
from .run import graph
from .run import snapshot as snapshots
from .run.form import is_blank
from .run.inputs import Submitted
from .run.interpret import Workflow, scope
from .run.joint_append import Arrived, Beside, written
from .run.plan import Plan
from .run.recap import Label
from .run.snapshot import UNKNOWN_VERSION, Snapshot
from .run.start import Decided
from .session import local
from .session.fold import FOLD_NAME, FOLD_VERSION, apply
from .session.local import ImportOrigin, Local
from .session.state import EMPTY, NodeState, Output, SessionState, current_outputs
from .token.keyring import Keyring

STREAM = "session"
_WORKFLOWS_KEPT = 64
_SNAPSHOTS_KEPT = 2048

FOLD: Fold[SessionState] = Fold(FOLD_NAME, FOLD_VERSION, EMPTY, apply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """What can be shown of a session: all of it, or the proved part of a damaged one (R4.18)."""

    session_id: str
    state: SessionState
    health: str
    reason: str | None = None
    origin: ImportOrigin | None = None

    @property
    def is_salvage(self) -> bool:
        """Whether this is less than the whole record once was."""
        return self.health != "healthy" or (self.origin is not None and self.origin.salvaged)


@dataclass(frozen=True, slots=True)
class Located:
    """A node with the session it lies in."""

    session_id: str
    state: SessionState
    node: NodeState


class Sessions:
    """The sessions of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.keyring = Keyring(store)
        self._workflows: Lru[Workflow] = Lru(_WORKFLOWS_KEPT)
        self._snapshots: Lru[Snapshot] = Lru(_SNAPSHOTS_KEPT)
        self._checked: set[str] = set()

    # ------------------------------------------------------------ reading

    def exists(self, session_id: str) -> bool:
        """Say whether there is such a session."""
        with translated():
            return self.store.head(stream_of(session_id)) is not None

    def state(self, session_id: str) -> SessionState:
        """Return a session's state; a damaged one is refused (R4.18)."""
        stream = stream_of(session_id)
        with translated():
            self._require_healthy(stream)
            return self.store.state(stream, FOLD)

    def readable(self, session_id: str) -> Readable:
        """Return what can be believed of a session, to be looked at only.

        Raises:
            RailsError: `SESSION_NOT_HEALTHY` when nothing of it can be.
        """
        stream, origin = stream_of(session_id), self.local(session_id).origin
        try:
            state = self.state(session_id)
            self._require_known(state)
            return Readable(session_id=session_id, state=state, health="healthy", origin=origin)
        except errors.RailsError as error:
            if error.rails_code != "SESSION_NOT_HEALTHY" or errors.is_of_later_program(error):
                raise
        with translated():
            health = self.store.health(stream)
            if health.status not in (Status.HEALTHY, Status.CORRUPT_TAIL):
                raise errors.not_healthy(health.reason or "damaged", status=str(health.status))
            state = EMPTY
            for event in self.store.read(stream):
                if event.idx > health.valid_through:
                    break
                state = apply(state, event)
        return Readable(
            session_id=session_id,
            state=state,
            health=str(health.status),
            reason=health.reason,
            origin=origin,
        )

    def events(self, found: Readable, after: int = -1) -> Iterator[Event]:
        """Yield the events of what can be believed, after a position."""
        for event in self.store.read(stream_of(found.session_id), after):
            if event.idx > found.state.last_idx:
                return
            yield event

    def local(self, session_id: str) -> Local:
        """Return what this machine notes about a session."""
        with translated():
            head = self.store.head(stream_of(session_id))
        return local.read(head.local if head else None)

    def note_workspace(self, session_id: str, workspace: str) -> None:
        """Note where a session's files are here; never an event."""
        noted = replace(self.local(session_id), workspace=workspace)
        self.store.set_local(stream_of(session_id), local.written(noted))

    def heads(self, caller: Caller = THE_OWNER) -> list[Head]:
        """Return where every session stands that they see, the least recently written first."""
        with translated():
            found = self.store.streams(STREAM)
        return [head for head in found if caller.sees(head.stream.partition(":")[2])]

    def ids(self, caller: Caller = THE_OWNER) -> list[str]:
        """Return the ids of these sessions, in the same order."""
        return [head.stream.partition(":")[2] for head in self.heads(caller)]

    def home_of(self, node_id: str) -> str | None:
        """Return the session a node lies in, None if there is no such node."""
        with translated():
            found = self.store.find("node_created", scope_b=node_id)
        return found[0].stream.partition(":")[2] if found else None

    def home_of_run(self, run_id: str) -> str | None:
        """Return the session a run lies in, None if there is no such run."""
        with translated():
            found = self.store.find("run_started", scope_a=run_id)
        return found[0].stream.partition(":")[2] if found else None

    def locate(self, node_id: str) -> Located:
        """Return a node with its session.

        Raises:
            RailsError: `TOKEN_UNKNOWN_NODE`, `SESSION_NOT_HEALTHY`.
        """
        session_id = self.home_of(node_id)
        if session_id is not None:
            state = self.state(session_id)
            node = state.nodes.get(node_id)
            if node is not None:
                return Located(session_id, state, node)
        raise errors.unknown_node()

    def snapshot(self, ref: str) -> Snapshot:
        """Return a stored position."""

        def load() -> Snapshot:
            with _read_back():
                return snapshots.load(self.blob(ref))

        return self._snapshots.get(ref, load)

    def workflow(self, workflow_hash: str, data: Callable[[], bytes] | None = None) -> Workflow:
        """Return a pinned workflow, or with `data` one about to be pinned.

        Both are read from the stored bytes: every process tells a step in the same words (R7.25).
        """

        def load() -> Workflow:
            with _read_back():
                found = data() if data else self.blob(workflow_hash)
                return Workflow(pinned.load(found), workflow_hash)

        return self._workflows.get(workflow_hash, load)

    def maybe_snapshot(self, ref: str) -> Snapshot | None:
        """Return a stored position, None when it is lost (damaged sessions)."""
        with suppress(errors.RailsError):
            return self.snapshot(ref)
        return None

    def maybe_workflow(self, workflow_hash: str) -> Workflow | None:
        """Return a pinned workflow, None when it is lost (damaged sessions)."""
        with suppress(errors.RailsError):
            return self.workflow(workflow_hash)
        return None

    def blob(self, ref: str) -> bytes:
        """Return stored bytes by their digest."""
        try:
            with translated():
                return self.store.blobs.read(BlobId(ref.removeprefix("sha256:")))
        except NotFound as error:
            raise errors.not_healthy("missing_blob") from error

    def maybe_blob(self, ref: str) -> bytes | None:
        """Return stored bytes, or None when they are not here (imported sessions)."""
        if not self.store.blobs.has(BlobId(ref.removeprefix("sha256:"))):
            return None
        return self.blob(ref)

    def label(self, state: SessionState) -> Callable[[NodeState], Label]:
        """Return what tells which step a node's notes are about."""

        def of(node: NodeState) -> Label:
            origin = node if node.kind == "checkpoint" or node.parent is None else None
            at = origin or state.nodes[node.parent or ""]
            position, workflow = (
                self.maybe_snapshot(at.snapshot_ref),
                self.maybe_workflow(at.workflow_hash),
            )
            if position is None or workflow is None:
                return Label("unknown", "(lost)")
            engine = position.engine
            if engine.pending is None:
                return Label("complete", "After completion")
            step = workflow.steps[engine.pending.step_id]
            seen = scope(workflow, engine.stack, at.context)
            return Label(step.step_id, template.render(step.title, seen))

        return of

    def preview(self, output: Output) -> str:
        """Return the beginning of an artifact as text, empty where it is lost."""
        data = self.maybe_blob(output.payload.sha256 or "") or b""
        return errors.cut(data.decode(errors="replace"), NOTES_KEPT_MAX_BYTES)

    def handed(self, node: NodeState) -> Submitted:
        """Return the whole output of a node as it was handed in."""
        notes, artifacts = None, []
        for one in current_outputs(node.outputs):
            if one.channel == "recap":
                whole = self.maybe_blob(one.payload.full_ref) if one.payload.full_ref else None
                text = whole.decode() if whole else one.payload.notes_markdown
                notes = None if is_blank(text) else text
                continue
            value = parse(self.maybe_blob(one.payload.sha256 or "") or b"null")
            if isinstance(value, dict):
                artifacts.append(value)
        return Submitted(notes, tuple(artifacts))

    def attempts(self, state: SessionState, node: NodeState) -> dict[str, Submitted]:
        """Return what each blocked attempt of the pending step handed in, the newest first."""
        found = {}
        for one in graph.upwards(state, node.node_id):
            if one.kind == "step":
                break
            if one.kind == "blocked_attempt":
                found[one.node_id] = self.handed(one)
        return found

    # ------------------------------------------------------------ writing

    def update(
        self,
        session_id: str,
        rule: Callable[[SessionState], Plan | None],
        caller: Caller = THE_OWNER,
    ) -> SessionState:
        """Let a rule decide under the session's lock and append what it wants.

        A session that it begins is the caller's.
        """
        stream = stream_of(session_id)

        def write(state: SessionState) -> Write:
            plan = rule(state)
            return Write(()) if plan is None else written(plan)

        with translated():
            self._require_healthy(stream)
            return self.store.update(stream, FOLD, write, beginning=caller.beginning)[0]

    def decide(
        self,
        session_id: str,
        rule: Callable[[SessionState], Decided | None],
        beside: Beside | None = None,
        caller: Caller = THE_OWNER,
    ) -> tuple[SessionState, Decided | None]:
        """Do the same with a rule that also decides the answer; None changes nothing."""
        last: list[Decided | None] = [None]

        def plan(state: SessionState) -> Plan | None:
            last[0] = rule(state)
            return None if last[0] is None else last[0].plan

        if beside is None:
            return self.update(session_id, plan, caller), last[0]
        stream, other = stream_of(session_id), beside

        def together(states: tuple[Any, ...]) -> StorePlan | None:
            wish = plan(states[0])
            if wish is None or last[0] is None:
                return None
            workflow = self.workflow(last[0].snapshot.workflow_hash)
            arrived = Arrived.of(last[0], workflow)
            return other.joined(stream, written(wish), states[1], arrived)

        with translated():
            self._require_healthy(stream)
            targets = ((stream, FOLD), (other.stream, other.fold))
            states, _ = self.store.update_many(targets, together, beginning=caller.beginning)
            return states[0], last[0]

    def remember(self, snapshot: Snapshot) -> None:
        """Keep what was just written at hand."""
        self._snapshots.put(snapshot.ref, snapshot)

    def forget(self, session_id: str) -> None:
        """Check a session again when it is next used."""
        self._checked.discard(stream_of(session_id))

    def _require_healthy(self, stream: str) -> None:
        """Check a stream whole on its first use in this process (R4.17)."""
        if stream in self._checked:
            return
        head = self.store.head(stream)
        if head is None:
            return
        origin = local.read(head.local).origin
        if origin is not None and origin.salvaged:
            raise errors.not_healthy("salvaged", status="read_only")
        if not self._looks_whole(stream) and not (health := self.store.health(stream)).is_healthy:
            raise errors.not_healthy(health.reason or "damaged", status=str(health.status))
        self._checked.add(stream)

    def _require_known(self, state: SessionState) -> None:
        """Refuse a session whose runs stand in a form this program does not know (R4.20)."""
        for run in state.runs.values():
            self.workflow(run.started.workflow_hash)
            if run.preferred is not None:
                self.snapshot(state.nodes[run.preferred].snapshot_ref)

    def _looks_whole(self, stream: str) -> bool:
        """Fold the stream, which proves its chain, and see that its end and its pins are there."""
        try:
            state, head = self.store.state(stream, FOLD), self.store.head(stream)
        except StorageCorrupt:
            return False
        if head is not None and head.last_idx != state.last_idx:
            return False
        return all(self.store.blobs.has(pin.ref) for pin in self.store.pins(stream))


def stream_of(session_id: str) -> str:
    """Return the name of a session's stream."""
    return f"{STREAM}:{session_id}"


@contextmanager
def _read_back() -> Iterator[None]:
    """Name what cannot be read back: written by a later program, or damaged (R2.8, R5.2)."""
    try:
        yield
    except ValidationFailed as error:
        if error.reason == UNKNOWN_VERSION:
            raise errors.unknown_version() from error
        raise errors.not_healthy("schema_validation_failed") from error


@contextmanager
def translated() -> Iterator[None]:
    """Turn what the store raises into the codes of R7.3."""
    try:
        yield
    except (errors.RailsError, NotFound):
        raise
    except (StoreBusy, HeadMoved) as error:
        raise errors.RailsError(
            "TOKEN_SESSION_LOCKED",
            "another call is writing to this session",
            "Make the same call again in a second.",
        ) from error
    except StorageCorrupt as error:
        raise errors.not_healthy(error.reason or "damaged") from error
    except BackshopError as error:
        if error.code in ("STORE_UNAVAILABLE", "DISK_FULL", "FILE_WRITE_FAILED"):
            raise errors.RailsError(
                "STORE_UNAVAILABLE",
                f"the store cannot be used: {error.message}",
                "Make the same call again in a second; nothing was recorded.",
            ) from error
        raise


@contextmanager
def outside_tokens() -> Iterator[None]:
    """Name a held lock the way calls without tokens do (R4.8)."""
    try:
        yield
    except errors.RailsError as error:
        if error.rails_code != "TOKEN_SESSION_LOCKED":
            raise
        raise errors.RailsError("SESSION_LOCKED", error.message, error.suggestion) from error
