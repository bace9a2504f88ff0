"""Slices: typed tuples of frozen items that make up a session's state, and what may change them."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from enum import Enum, StrEnum
from types import NoneType, UnionType
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from backshop.base import codec
from backshop.base.errors import ValidationFailed
from backshop.base.event import event, is_redefinition

from .callables import fits, is_deferred
from .errors import PromptValidationError, SessionError
from .name import check_key

T = TypeVar("T")
C = TypeVar("C", bound=type)
Upgrader = Callable[[dict[str, Any]], dict[str, Any]]

_EVENT_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_SCALARS = (str, int, float, bool, NoneType, UUID)


class SlicePolicy(StrEnum):
    """Whether a slice follows rewind, restore and tool rollback (`STATE`) or survives (`LOG`)."""

    STATE = "state"
    LOG = "log"


STATE, LOG = SlicePolicy.STATE, SlicePolicy.LOG


@dataclass(frozen=True, slots=True, eq=False)
class SliceType:
    """A registered kind of slice; `name` and `version` are what is stored, never a module path."""

    name: str
    version: int
    cls: type
    policy: SlicePolicy
    propagate: Literal["up"] | None
    upgraders: Mapping[int, Upgrader]

    def encode(self, item: object) -> Any:
        """Return an item as JSON."""
        try:
            return codec.encode(item, omit_none=False)
        except ValidationFailed as error:
            raise SessionError(
                f"an item of {self.name!r} does not fit its type", code="WRONG_ITEM"
            ) from error

    def decode(self, data: Any, version: int) -> Any:
        """Return the item that was stored, brought up to the current version."""
        for step in range(version, self.version):
            data = self.upgraders[step](data)
        return codec.decode(self.cls, data)


_BY_NAME: dict[str, SliceType] = {}
_BY_CLASS: dict[type, SliceType] = {}


def slice_type(
    name: str,
    version: int = 1,
    policy: SlicePolicy = STATE,
    *,
    propagate: Literal["up"] | None = None,
    upgraders: Mapping[int, Upgrader] | None = None,
) -> Callable[[C], C]:
    """Register a frozen dataclass as the item type of the slice `name` (P2.2).

    `upgraders[n]` turns stored data of version n into version n + 1.
    """
    check_key(name, "slice name")
    steps = dict(upgraders or {})
    if sorted(steps) != list(range(1, version)):
        raise ValueError(f"{name}: upgraders {sorted(steps)} do not lead from 1 to {version}")

    def register(cls: C) -> C:
        taken = _BY_NAME.get(name)
        if taken is not None and not is_redefinition(taken.cls, cls):
            raise ValueError(f"slice name {name!r} is taken by {taken.cls.__name__}")
        check_item_type(cls)
        _BY_NAME[name] = _BY_CLASS[cls] = SliceType(name, version, cls, policy, propagate, steps)
        return cls

    return register


def event_type(
    name: str, version: int = 1, *, upgraders: Mapping[int, Upgrader] | None = None
) -> Callable[[C], C]:
    """Register a frozen dataclass as an event of your own (P2.5).

    It is stored as `own.` and the name, so that no event of a later Backshop can be meant.
    `upgraders[n]` turns stored data of version n into version n + 1.
    """
    if _EVENT_NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is not an event name: words joined by dots, as in plan.changed")
    register = event(f"own.{name}", v=version, upgraders=upgraders)

    def checked(cls: C) -> C:
        check_item_type(cls)
        return register(cls)

    return checked


def slice_of(cls: type) -> SliceType:
    """Return the registered slice of an item type."""
    found = _BY_CLASS.get(cls)
    if found is None:
        raise SessionError(f"{cls.__name__} is not a slice type", code="UNKNOWN_SLICE")
    return found


def slice_named(name: str) -> SliceType | None:
    """Return the slice stored under `name`, or None if this program does not know it."""
    return _BY_NAME.get(name)


def is_slice(cls: type) -> bool:
    """Say whether items of this type have a slice."""
    return cls in _BY_CLASS


@dataclass(frozen=True, slots=True)
class SliceView(Generic[T]):
    """The items of one slice, oldest first."""

    _items: tuple[T, ...]

    def all(self) -> tuple[T, ...]:
        """Return every item."""
        return self._items

    def latest(self) -> T | None:
        """Return the newest item, or None if the slice is empty."""
        return self._items[-1] if self._items else None

    def where(self, predicate: Callable[[T], bool]) -> tuple[T, ...]:
        """Return the items the predicate holds for."""
        return tuple(item for item in self._items if predicate(item))

    def count(self) -> int:
        """Return how many items there are."""
        return len(self._items)


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session's state at one moment: what predicates, policies and reducers may see (P2.4)."""

    session_id: str
    seq: int
    slices: Mapping[str, tuple[Any, ...]]

    def __getitem__(self, cls: type[T]) -> SliceView[T]:
        return SliceView(self.slices.get(slice_of(cls).name, ()))

    def view(self) -> SessionView:
        """Return itself, so that a session and its view can be passed alike."""
        return self


@dataclass(frozen=True, slots=True)
class Append(Generic[T]):
    """Add one item."""

    item: T


@dataclass(frozen=True, slots=True)
class Extend(Generic[T]):
    """Add several items."""

    items: tuple[T, ...]


@dataclass(frozen=True, slots=True)
class Replace(Generic[T]):
    """Put these items in place of all."""

    items: tuple[T, ...]


@dataclass(frozen=True, slots=True)
class Clear:
    """Remove every item."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Change nothing."""


Change = Append[Any] | Extend[Any] | Replace[Any] | Clear | Keep
Reducer = Callable[[tuple[Any, ...], Any], Change]


def changed(items: tuple[Any, ...], change: Change) -> tuple[Any, ...]:
    """Return the slice after a reducer's answer."""
    match change:
        case Append(item):
            return (*items, item)
        case Extend(more):
            return (*items, *more)
        case Replace(new):
            return tuple(new)
        case Clear():
            return ()
        case Keep():
            return items


def append(items: tuple[Any, ...], event: Any) -> Change:
    """Reduce by adding the event itself."""
    return Append(event)


def replace_latest(items: tuple[Any, ...], event: Any) -> Change:
    """Reduce to the event alone."""
    return Replace((event,))


def upsert_by(key: Callable[[Any], Hashable]) -> Reducer:
    """Return a reducer that replaces the item of the same key in place, or adds it."""

    def reduce(items: tuple[Any, ...], event: Any) -> Change:
        wanted = key(event)
        if all(key(item) != wanted for item in items):
            return Append(event)
        return Replace(tuple(event if key(item) == wanted else item for item in items))

    return reduce


def keep_last(count: int, key: Callable[[Any], Hashable] = lambda item: None) -> Reducer:
    """Return a reducer that adds the event and keeps the newest `count` items of its key."""

    def reduce(items: tuple[Any, ...], event: Any) -> Change:
        wanted = key(event)
        excess = sum(key(item) == wanted for item in items) + 1 - count
        return Replace((*_without_first(items, wanted, key, excess), event))

    return reduce


def _without_first(
    items: tuple[Any, ...], wanted: Hashable, key: Callable[[Any], Hashable], excess: int
) -> Iterable[Any]:
    for item in items:
        if excess > 0 and key(item) == wanted:
            excess -= 1
        else:
            yield item


def check_reducer(reducer: Reducer) -> None:
    """Refuse what cannot be called as `reducer(items, event)` and answer at once."""
    if not callable(reducer):
        raise SessionError(f"{reducer!r} cannot be called", code="BAD_REDUCER")
    name = getattr(reducer, "__name__", type(reducer).__name__)
    if is_deferred(reducer):
        raise SessionError(
            f"{name} is async or a generator; a reducer answers at once", code="BAD_REDUCER"
        )
    if not fits(reducer, None, None):
        raise SessionError(f"{name} cannot be called as (items, event)", code="BAD_REDUCER")


def check_item_type(cls: type) -> None:
    """Refuse what could not be stored and read back as an equal value (P2.2)."""
    params = getattr(cls, "__dataclass_params__", None)
    if not is_dataclass(cls) or params is None or not params.frozen:
        raise PromptValidationError(f"{cls.__name__} is not a frozen dataclass", code="BAD_ITEM")
    hints = get_type_hints(cls)
    for one in fields(cls):
        _check_storable(hints[one.name], f"{cls.__name__}.{one.name}")


def _check_storable(annotation: Any, where: str) -> None:
    annotation = getattr(annotation, "__supertype__", annotation)  # NewType
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in _SCALARS or origin is Literal:
        return
    if origin in (tuple, Union, UnionType) or (origin is dict and inner[0] is str):
        for part in inner:
            if part is not Ellipsis:
                _check_storable(part, where)
        return
    if isinstance(annotation, type) and issubclass(annotation, (Enum, date)):
        return
    if isinstance(annotation, type) and is_dataclass(annotation):
        return check_item_type(annotation)
    raise PromptValidationError(f"{where} cannot be stored in a session", code="BAD_ITEM")
