"""Registers facts under stable names, with versions and upgraders (T5.2)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from .acting import By
from .canon import parse
from .codec import decode, decode_stored, encode
from .errors import ValidationFailed

Upgrader = Callable[[dict[str, Any]], dict[str, Any]]
C = TypeVar("C", bound=type)

SIGNATURE = "$by"
"""Where a stored fact says who acted: no field of a fact can have this name."""


@dataclass(frozen=True, slots=True)
class EventType:
    """A kind of fact: its stored name, current version, class, and the way up from older ones."""

    name: str
    version: int
    cls: type
    upgraders: Mapping[int, Upgrader]


class UnknownEvent(Exception):
    """A stored event this program cannot read: another kind, or a version it does not know."""

    def __init__(self, name: str, version: int) -> None:
        super().__init__(f"event {name!r} version {version} is not known to this program")
        self.name = name
        self.version = version


_BY_NAME: dict[str, EventType] = {}
_BY_CLASS: dict[type, EventType] = {}
_UNLOADED: list[Callable[[], object]] = []
_LOADING = threading.RLock()


def event(
    name: str, *, v: int = 1, upgraders: Mapping[int, Upgrader] | None = None
) -> Callable[[C], C]:
    """Register a frozen dataclass as the fact stored under `name`.

    `upgraders[n]` turns data of version n into version n + 1; every earlier version has one.
    """
    steps = dict(upgraders or {})
    if sorted(steps) != list(range(1, v)):
        raise ValueError(f"{name}: upgraders {sorted(steps)} do not lead from 1 to {v}")

    def register(cls: C) -> C:
        taken = _BY_NAME.get(name)
        if taken is not None and not is_redefinition(taken.cls, cls):
            raise ValueError(f"event name {name!r} is taken by {taken.cls.__name__}")
        _refuse_lossy(name, cls)
        kind = EventType(name, v, cls, steps)
        _BY_NAME[name] = _BY_CLASS[cls] = kind
        return cls

    return register


def is_redefinition(old: type, new: type) -> bool:
    """Say whether a class is another run of the same definition: a reload, a notebook's cell."""
    return (old.__module__, old.__qualname__) == (new.__module__, new.__qualname__)


def _refuse_lossy(name: str, cls: type) -> None:
    """Refuse optional fields whose default is not None: None is not stored, so it would change."""
    for one in fields(cls):
        optional = "None" in str(one.type)
        if optional and one.default is not None:
            raise ValueError(f"{name}: {one.name} may be None and does not default to it")


def known_after(load: Callable[[], object]) -> None:
    """Name what registers more kinds; it runs once, when a kind is met that nobody knows yet."""
    _UNLOADED.append(load)


def _find(name: str) -> EventType | None:
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    with _LOADING:
        while name not in _BY_NAME and _UNLOADED:
            _UNLOADED.pop()()
    return _BY_NAME.get(name)


def type_of(fact: object) -> EventType:
    """Return the registered type of a fact."""
    return _BY_CLASS[type(fact)]


def event_name(kind: type) -> str | None:
    """Return the stored name of a class of facts, or None if it is not one."""
    found = _BY_CLASS.get(kind)
    return found.name if found else None


def registered() -> tuple[EventType, ...]:
    """Return every registered type, by name; for the catalogue and its golden file."""
    return tuple(_BY_NAME[name] for name in sorted(_BY_NAME))


def to_data(fact: object) -> dict[str, Any]:
    """Return the stored data of a fact."""
    data: dict[str, Any] = encode(fact)
    return data


def signed(data: dict[str, Any], by: By) -> dict[str, Any]:
    """Return a fact's data with who acted in it, if that is known (T1.6)."""
    said = by.data()
    return {**data, SIGNATURE: said} if said else data


def unsigned(data: dict[str, Any]) -> dict[str, Any]:
    """Return a fact's data alone."""
    return {name: value for name, value in data.items() if name != SIGNATURE}


def from_body(name: str, version: int, body: bytes) -> Any:
    """Do what `from_data` does on stored canonical bytes; one pass for the current version.

    Fields this program does not know are passed over: a later program of the same version may
    have added optional ones, and they stay in the row (R4.19).
    """
    kind = _find(name)
    if kind is not None and version == kind.version:
        return decode_stored(kind.cls, body, ignore_unknown=True)
    data = parse(body)
    if not isinstance(data, dict):
        raise ValidationFailed("an event's body is not an object", reason="bad_json")
    return from_data(name, version, unsigned(data))


def from_data(name: str, version: int, data: dict[str, Any]) -> Any:
    """Return the fact that was stored, brought up to the current version.

    Raises:
        UnknownEvent: the kind, or a version newer than ours.
        ValidationFailed: the data does not fit its kind.
    """
    kind = _find(name)
    if kind is None or not 1 <= version <= kind.version:
        raise UnknownEvent(name, version)
    for step in range(version, kind.version):
        data = kind.upgraders[step](data)
    return decode(kind.cls, data)
