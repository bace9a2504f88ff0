"""The interpreter's state as a stored snapshot, and back (R5.1, R5.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from backshop.base.canon import canonical, parse, sha256_hex
from backshop.base.codec import camel, decode_json, encode
from backshop.base.errors import ValidationFailed

from .interpret import Decision, Frame, Pending, Position

Json = dict[str, object]
VERSION = 1
UNKNOWN_VERSION = "unknown_version"


@camel
@dataclass(frozen=True, slots=True)
class _Set:
    values: tuple[str, ...]
    kind: Literal["set"] = "set"


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class _FrameData:
    loop_id: str
    iteration: int
    body_index: int
    decision: Decision


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class _Pass:
    loop_id: str
    iteration: int


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    step_id: str
    loop_path: tuple[_Pass, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class _PendingData:
    kind: Literal["none", "some"]
    step: _Step | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """Why the step could not be acknowledged, kept with the position it is still at."""

    retryable: bool
    reasons: tuple[str, ...]
    blockers: tuple[Json, ...]
    chain_depth: int


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    kind: Literal["running", "blocked", "complete"]
    completed: _Set
    loop_stack: tuple[_FrameData, ...] | None = None
    pending: _PendingData | None = None
    blocked: Blocked | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class _EngineData:
    v: Literal[1] = 1
    state: _State


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class _SnapshotData:
    v: Literal[1] = 1
    kind: Literal["execution_snapshot"] = "execution_snapshot"
    workflow_hash: str
    engine: _EngineData


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A position in a pinned workflow; `blocked` when the last attempt was refused here."""

    workflow_hash: str
    engine: Position
    blocked: Blocked | None = None
    data: bytes = field(init=False, repr=False, compare=False)
    ref: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        data = canonical(encode(self._wire()))
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "ref", "sha256:" + sha256_hex(data))

    def _wire(self) -> _SnapshotData:
        engine, completed = self.engine, _Set(tuple(sorted(self.engine.completed)))
        if engine.is_complete:
            state = _State(kind="complete", completed=completed)
        else:
            state = _State(
                kind="blocked" if self.blocked else "running",
                completed=completed,
                loop_stack=tuple(map(_frame_data, engine.stack)),
                pending=_pending_data(engine.pending),
                blocked=self.blocked,
            )
        return _SnapshotData(workflow_hash=self.workflow_hash, engine=_EngineData(state=state))


def load(data: bytes) -> Snapshot:
    """Return the snapshot that was stored.

    Raises:
        ValidationFailed: it is none, of another version (R4.20), or its parts contradict each
            other (R5.2).
    """
    try:
        wire = decode_json(_SnapshotData, data)
    except ValidationFailed:
        _require_version(data)
        raise
    state = wire.engine.state
    stack = tuple(
        Frame(one.loop_id, one.iteration, one.body_index, one.decision)
        for one in state.loop_stack or ()
    )
    pending = None
    if state.pending is not None and state.pending.step is not None:
        step = state.pending.step
        path = tuple((one.loop_id, one.iteration) for one in step.loop_path)
        pending = Pending(step.step_id, path)
    engine = Position(frozenset(state.completed.values), stack, pending)
    _check(engine, state)
    return Snapshot(wire.workflow_hash, engine, state.blocked)


def _require_version(data: bytes) -> None:
    whole = parse(data)
    engine = whole.get("engine") if isinstance(whole, dict) else None
    for part in (whole, engine):
        if isinstance(part, dict) and part.get("v", VERSION) != VERSION:
            raise ValidationFailed(
                f"a position of version {part['v']}; this program knows {VERSION}",
                reason=UNKNOWN_VERSION,
            )


def _check(engine: Position, state: _State) -> None:
    loops = [frame.loop_id for frame in engine.stack]
    path = tuple((frame.loop_id, frame.iteration) for frame in engine.stack)
    pending = engine.pending
    wrong = (
        len(set(loops)) != len(loops)
        or (pending is not None and pending.key in engine.completed)
        or (pending is not None and pending.loop_path != path)
        or (pending is None) != (state.kind == "complete")
        or list(state.completed.values) != sorted(set(state.completed.values))
    )
    if wrong:
        raise ValidationFailed("a snapshot contradicts itself", reason="bad_snapshot")


def _frame_data(frame: Frame) -> _FrameData:
    return _FrameData(
        loop_id=frame.loop_id,
        iteration=frame.iteration,
        body_index=frame.body_index,
        decision=frame.decision,
    )


def _pending_data(pending: Pending | None) -> _PendingData:
    if pending is None:
        return _PendingData(kind="none")
    path = tuple(_Pass(loop_id=loop_id, iteration=at) for loop_id, at in pending.loop_path)
    return _PendingData(kind="some", step=_Step(step_id=pending.step_id, loop_path=path))
