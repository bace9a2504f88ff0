"""How a session's events become its slices: routes, reducers, and what a rewind takes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backshop.base.canon import canonical, parse, sha256_hex
from backshop.base.errors import ValidationFailed
from backshop.base.event import event, event_name

from ..digest.digest import DigestCleared, DigestItem, DigestUpdated, reduce_cleared, reduce_updated
from ..errors import ReducerError, SessionError, SnapshotError
from ..slices import (
    LOG,
    STATE,
    Append,
    Clear,
    Extend,
    Keep,
    Reducer,
    Replace,
    SlicePolicy,
    SliceType,
    changed,
    is_slice,
    slice_named,
    slice_of,
)
from .log import Recorded

Slices = Mapping[str, tuple[Any, ...]]
Load = Callable[[str], bytes]
SNAPSHOT_SCHEMA = 1


@event("slice.appended")
@dataclass(frozen=True, slots=True, kw_only=True)
class SliceAppended:
    """Items were added to a slice."""

    slice: str
    version: int
    items: tuple[Any, ...]


@event("slice.dispatched")
@dataclass(frozen=True, slots=True, kw_only=True)
class SliceDispatched:
    """An item was dispatched: the reducers of its type decide what becomes of it."""

    slice: str
    version: int
    item: Any


@event("slice.replaced")
@dataclass(frozen=True, slots=True, kw_only=True)
class SliceReplaced:
    """A slice got these items in place of all."""

    slice: str
    version: int
    items: tuple[Any, ...]


@event("slice.cleared")
@dataclass(frozen=True, slots=True, kw_only=True)
class SliceCleared:
    """A slice was emptied."""

    slice: str


@event("session.forked")
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionForked:
    """A child session began with a copy of its parent's state."""

    parent_id: str
    purpose: str
    snapshot_ref: str


@event("session.restored")
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRestored:
    """The state became that of a snapshot; history stayed."""

    snapshot_ref: str


@event("session.rewound")
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRewound:
    """Everything active after `to_seq` became inactive."""

    to_seq: int
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """A reducer for events of one type on one slice."""

    event_type: type
    slice_type: SliceType
    reducer: Reducer


BUILT_IN = (
    Route(DigestUpdated, slice_of(DigestItem), reduce_updated),
    Route(DigestCleared, slice_of(DigestItem), reduce_cleared),
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The slices of a session at one moment, as JSON; equal states have an equal hash (P2.11)."""

    schema: int
    session_id: str
    seq: int
    slices: Mapping[str, Any]
    hash: str

    def to_json(self) -> bytes:
        """Return the canonical form."""
        return canonical({**_head(self), "hash": self.hash})

    @classmethod
    def from_json(cls, data: bytes) -> Snapshot:
        """Return the snapshot that was written."""
        value: Any = parse(data)
        keys = {"schema", "session_id", "seq", "slices", "hash"}
        if not isinstance(value, dict) or value.keys() != keys:
            raise SnapshotError("this is no snapshot", code="BAD_SNAPSHOT")
        return cls(
            value["schema"], value["session_id"], value["seq"], value["slices"], value["hash"]
        )


def _head(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "schema": snapshot.schema,
        "session_id": snapshot.session_id,
        "seq": snapshot.seq,
        "slices": snapshot.slices,
    }


def take_snapshot(
    session_id: str, seq: int, slices: Slices, *, policy: SlicePolicy | None = None
) -> Snapshot:
    """Return the slices as JSON; empty ones are left out."""
    data = {}
    for name, items in sorted(slices.items()):
        kind = slice_named(name)
        if kind is not None and items and policy in (None, kind.policy):
            data[name] = {"version": kind.version, "items": [kind.encode(one) for one in items]}
    made = Snapshot(SNAPSHOT_SCHEMA, session_id, seq, data, "")
    return replace(made, hash=sha256_hex(canonical(_head(made))))


def snapshot_state(snapshot: Snapshot) -> dict[str, tuple[Any, ...]]:
    """Return the STATE slices of a snapshot, checked before anything is changed."""
    if snapshot.schema != SNAPSHOT_SCHEMA:
        raise SnapshotError("the snapshot has another schema", code="UNSUPPORTED_VERSION")
    if sha256_hex(canonical(_head(snapshot))) != snapshot.hash:
        raise SnapshotError("the snapshot does not match its hash", code="BAD_SNAPSHOT")
    found = {}
    for name, data in snapshot.slices.items():
        kind = slice_named(name)
        if kind is None:
            raise SnapshotError(f"the slice {name!r} is not known", code="UNKNOWN_SLICE")
        if not 1 <= data["version"] <= kind.version:
            raise SnapshotError(f"the slice {name!r} is newer", code="UNSUPPORTED_VERSION")
        if kind.policy is STATE:
            found[name] = tuple(kind.decode(item, data["version"]) for item in data["items"])
    return found


def routed(fact: object, routes: Sequence[Route]) -> tuple[SliceType, ...]:
    """Return the slices an event changes; empty if nothing routes it."""
    system = _system_slice(fact)
    if system is not None:
        return (system,)
    kind = _item_type(fact) or type(fact)
    found = {one.slice_type.name: one.slice_type for one in _routes_of(kind, routes)}
    if is_slice(kind):
        found.setdefault(slice_of(kind).name, slice_of(kind))
    return tuple(found.values())


def item_of(fact: object) -> object:
    """Return what was dispatched: the item of a recorded slice item, else the fact itself."""
    kind = slice_named(fact.slice) if isinstance(fact, SliceDispatched) else None
    if kind is None or not isinstance(fact, SliceDispatched):
        return fact
    return _decoded(kind, fact.version, (fact.item,))[0]


def _item_type(fact: object) -> type | None:
    kind = slice_named(fact.slice) if isinstance(fact, SliceDispatched) else None
    return kind.cls if kind else None


def _routes_of(kind: type, routes: Sequence[Route]) -> list[Route]:
    """Return the routes of an event type, also those made before it was defined again."""
    name = _name_of(kind)
    return [
        route
        for route in routes
        if route.event_type is kind or (name is not None and name == _name_of(route.event_type))
    ]


def _name_of(kind: type) -> str | None:
    """Return the stable name a type of event or item is registered under."""
    return slice_of(kind).name if is_slice(kind) else event_name(kind)


def apply(
    slices: Slices,
    fact: object,
    routes: Sequence[Route],
    load: Load,
    only: SlicePolicy | None = None,
) -> Slices:
    """Return the slices after an event; with `only`, slices of the other policy stay.

    Raises:
        ReducerError: a reducer failed or answered with something else.
    """
    after = dict(slices)
    if isinstance(fact, SessionRestored | SessionForked):
        if only is not LOG:
            state = snapshot_state(Snapshot.from_json(load(fact.snapshot_ref)))
            kept = {n: s for n, s in after.items() if _policy(n) is LOG}
            after = {**kept, **state}
        return after
    system = _system_slice(fact)
    if system is not None:
        if only in (None, system.policy):
            after[system.name] = _by_system(after.get(system.name, ()), fact, system)
        return after
    arrived = item_of(fact)
    for slice_type in routed(fact, routes):
        if only in (None, slice_type.policy):
            after[slice_type.name] = _reduced(
                after.get(slice_type.name, ()), arrived, slice_type, routes
            )
    return after


def folded(
    slices: Slices,
    facts: Iterable[object],
    routes: Sequence[Route],
    load: Load,
    only: SlicePolicy | None = None,
) -> Slices:
    """Return the slices after many events: `apply` for each, with plain items taken in at once."""
    waiting: dict[str, list[object]] = {}
    for fact in facts:
        plain = _plain(fact, routes)
        if plain is None:
            slices, waiting = apply(_with(slices, waiting), fact, routes, load, only), {}
        elif only in (None, plain.policy):
            waiting.setdefault(plain.name, []).extend(_plain_items(fact, plain))
    return _with(slices, waiting)


def _plain(fact: object, routes: Sequence[Route]) -> SliceType | None:
    """Return the slice this event simply adds to, if that is all it does."""
    if isinstance(fact, SliceAppended):
        return slice_named(fact.slice)
    kind = _item_type(fact) or type(fact)
    if not is_slice(kind) or _routes_of(kind, routes):
        return None
    return slice_of(kind)


def _plain_items(fact: object, kind: SliceType) -> Sequence[object]:
    if isinstance(fact, SliceAppended):
        return _decoded(kind, fact.version, fact.items)
    return (item_of(fact),)


def _with(slices: Slices, more: Mapping[str, Sequence[object]]) -> Slices:
    return {**slices, **{name: (*slices.get(name, ()), *items) for name, items in more.items()}}


def _policy(name: str) -> SlicePolicy | None:
    kind = slice_named(name)
    return kind.policy if kind else None


def _system_slice(fact: object) -> SliceType | None:
    if isinstance(fact, SliceAppended | SliceReplaced | SliceCleared):
        return slice_named(fact.slice)
    return None


def _by_system(items: tuple[Any, ...], fact: object, kind: SliceType) -> tuple[Any, ...]:
    match fact:
        case SliceAppended(version=version, items=new):
            return (*items, *_decoded(kind, version, new))
        case SliceReplaced(version=version, items=new):
            return _decoded(kind, version, new)
    return ()


def _decoded(kind: SliceType, version: int, items: Sequence[Any]) -> tuple[Any, ...]:
    try:
        return tuple(kind.decode(item, version) for item in items)
    except ValidationFailed as error:
        raise SessionError(
            f"an item of {kind.name!r} does not fit its type: {error.message}", code="WRONG_ITEM"
        ) from error


def _reduced(
    items: tuple[Any, ...], fact: object, kind: SliceType, routes: Sequence[Route]
) -> tuple[Any, ...]:
    mine = [one for one in _routes_of(type(fact), routes) if one.slice_type.name == kind.name]
    if not mine:
        return (*items, fact)
    for route in mine:
        try:
            change = route.reducer(items, fact)
        except Exception as error:  # a reducer is the caller's code: P2.7
            raise ReducerError(
                f"a reducer of {kind.name!r} failed: {error}", code="REDUCER_FAILED"
            ) from error
        if not isinstance(change, Append | Extend | Replace | Clear | Keep):
            raise ReducerError(
                f"a reducer of {kind.name!r} returned {type(change).__name__}",
                code="REDUCER_FAILED",
            )
        items = changed(items, change)
    if any(not is_slice(type(one)) or slice_of(type(one)).name != kind.name for one in items):
        raise ReducerError(f"a reducer put a stranger into {kind.name!r}", code="REDUCER_FAILED")
    return items


class History:
    """A session's events and the state they add up to."""

    def __init__(self, routes: Sequence[Route], load: Load) -> None:
        self._routes = tuple(routes)
        self._load = load
        self._records: list[Recorded] = []
        self._active: list[Recorded] = []
        self.slices: Slices = {}

    @property
    def seq(self) -> int:
        """The last seq."""
        return self._records[-1].seq if self._records else 0

    @property
    def records(self) -> Sequence[Recorded]:
        """Every event, active or not."""
        return tuple(self._records)

    @property
    def routes(self) -> tuple[Route, ...]:
        """The reducers in use."""
        return self._routes

    def is_active(self, seq: int) -> bool:
        """Say whether a rewind may go to `seq`."""
        return seq == 0 or any(one.seq == seq for one in self._active)

    def after(self, facts: Iterable[object]) -> Slices:
        """Return the slices as they would be after these facts; nothing is recorded."""
        slices = self.slices
        for fact in facts:
            if isinstance(fact, SessionRewound):
                slices = self._rewound(slices, self._until(fact.to_seq))
            else:
                slices = apply(slices, fact, self._routes, self._load)
        return slices

    def add(self, records: Iterable[Recorded]) -> None:
        """Take over what the log has."""
        run: list[object] = []
        for one in records:
            if isinstance(one.fact, SessionRewound):
                self.slices = folded(self.slices, run, self._routes, self._load)
                run = []
                self._active = self._until(one.fact.to_seq)
                self.slices = self._rewound(self.slices, self._active)
            else:
                run.append(one.fact)
            self._records.append(one)
            self._active.append(one)
        self.slices = folded(self.slices, run, self._routes, self._load)

    def rerouted(self, routes: Sequence[Route]) -> History:
        """Return the same events folded with other reducers."""
        fresh = History(routes, self._load)
        fresh.add(self._records)
        return fresh

    def require_active(self, seq: int) -> None:
        """Refuse a target that is not on the active line."""
        if not self.is_active(seq):
            raise SessionError(
                f"there is no active event {seq} to rewind to", code="REWIND_TARGET_INACTIVE"
            )

    def _until(self, seq: int) -> list[Recorded]:
        return [one for one in self._active if one.seq <= seq]

    def _rewound(self, slices: Slices, active: Sequence[Recorded]) -> Slices:
        facts = (one.fact for one in active if not isinstance(one.fact, SessionRewound))
        state = folded({}, facts, self._routes, self._load, only=STATE)
        kept = {name: items for name, items in slices.items() if _policy(name) is LOG}
        return {**kept, **state}
