"""Runs one function in a process of its own that may die without harm (F24.8).

For engines that might hang, grow or crash: `run(compute, inputs, timeout_s=20, memory_bytes=GIB)`
returns the function's result, or a `Failure` that says what became of it. Only data comes back; the
child cannot reach anything of ours. Works inside a worker, whose guard lets exactly this fork pass.
"""

from __future__ import annotations

import io
import os
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, EnumType
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from backshop.base.system import child
from backshop.base.system.readiness import is_readable

T = TypeVar("T")

_PACKAGES = ("backshop.formats.", "backshop.base.place")  # where values of answers are from
_passing = False  # read by the audit guard of `worker`


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no result: `timeout`, `memory`, `crash`, or the name of an exception."""

    cause: str


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """A result or a failure."""

    value: T | None
    failure: Failure | None


def answered(value: object) -> bytes:
    """Return an answer as `Answers` reads it.

    Raises:
        pickle.PicklingError: it is not data.
    """
    return pickle.dumps(_plain(value), protocol=5)


class Answers(pickle.Unpickler):
    """Reads what a child sent.

    A child has touched hostile files, so its words are only data: plain values, and records, names
    of enumerations and paths, which are made from them here. While it is read there is no class
    and no function that it could call or change.
    """

    def __init__(self, data: bytes, packages: tuple[str, ...] = ()) -> None:
        super().__init__(io.BytesIO(data))
        self._packages = (*_PACKAGES, *packages)

    def find_class(self, module: str, name: str) -> object:
        """Refuse: an answer names no class."""
        raise pickle.UnpicklingError(f"{module}.{name} is not part of an answer")

    def answer(self) -> Any:
        """Return the answer."""
        return _whole(self.load(), self._packages)


_ATOMS = frozenset((str, int, float, bool, bytes, type(None)))
_RECORD, _NAME, _PATH, _TUPLE = map(frozenset, "RNPT")  # what a tuple that begins with it is


def _plain(value: Any) -> object:
    """Return a value made of nothing but builtin types."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind in (list, tuple, set, frozenset):
        items = kind(map(_plain, value))
        return (_TUPLE, items) if kind is tuple and _is_marked(items) else items
    if kind is dict:
        return {_plain(key): _plain(item) for key, item in value.items()}
    named = (kind.__module__, kind.__qualname__)
    if isinstance(value, Enum):
        return _NAME, *named, value.name
    if isinstance(value, Path):
        return _PATH, str(value)
    if isinstance(value, tuple):
        return _RECORD, *named, tuple(map(_plain, value))
    if is_dataclass(kind):
        return _RECORD, *named, tuple(_plain(getattr(value, one.name)) for one in fields(kind))
    raise pickle.PicklingError(f"{kind.__name__} is not data")


def _is_marked(value: tuple[Any, ...]) -> bool:
    return bool(value) and type(value[0]) is frozenset


def _whole(value: Any, packages: tuple[str, ...]) -> Any:
    """Return what `_plain` was given."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is dict:
        return {_whole(key, packages): _whole(item, packages) for key, item in value.items()}
    if kind is tuple and _is_marked(value):
        return _marked(value, packages)
    if kind in (list, tuple, set, frozenset):
        return kind(_whole(one, packages) for one in value)
    raise pickle.UnpicklingError(f"{kind.__name__} is not part of an answer")


def _marked(value: tuple[Any, ...], packages: tuple[str, ...]) -> object:
    if value[0] == _PATH:
        return Path(value[1])
    if value[0] == _TUPLE:
        return tuple(_whole(one, packages) for one in value[1])
    mark, module, name, given = value
    kind = getattr(import_module(module), name) if module.startswith(packages) else None
    if mark == _NAME and isinstance(kind, EnumType):
        member: object = kind[given]
        return member
    if mark == _RECORD and isinstance(kind, type):
        items = [_whole(one, packages) for one in given]
        if issubclass(kind, tuple) and len(items) == len(getattr(kind, "_fields", ())):
            return tuple.__new__(kind, items)
        if is_dataclass(kind):
            made: object = object.__new__(kind)  # none of its code runs
            for one, item in zip(fields(kind), items, strict=True):
                object.__setattr__(made, one.name, item)
            return made
    raise pickle.UnpicklingError(f"{module}.{name} is not part of an answer")


def may_fork() -> bool:
    """Tell the audit guard whether a fork comes from here."""
    return _passing


def run(
    function: Callable[..., T], *args: object, timeout_s: float, memory_bytes: int
) -> Outcome[T]:
    """Call `function(*args)` in a child; its result must be data that pickles."""
    global _passing  # the guard is process-wide, so is its exception
    reading, writing = os.pipe()
    limit = child.mapped_bytes() + memory_bytes  # a fork inherits what is mapped
    _passing = True
    try:
        pid = child.fork()
    finally:
        _passing = False
    if pid == 0:
        os.close(reading)
        _child(function, args, writing, limit)
    os.close(writing)
    try:
        data = _receive(reading, time.monotonic() + timeout_s)
    finally:
        os.close(reading)
        child.end(pid)
    if data is None:
        return Outcome(None, Failure("timeout"))
    if not data:
        return Outcome(None, Failure("crash"))
    try:
        ok, value = Answers(data).answer()
    except Exception:  # the border of a process
        return Outcome(None, Failure("crash"))  # the engine was made to say something else
    return Outcome(value, None) if ok else Outcome(None, Failure(str(value)))


def _child(
    function: Callable[..., T], args: tuple[object, ...], writing: int, limit_bytes: int
) -> None:
    """Compute, report and leave without running anything of the parent's."""
    try:
        child.bound_memory(limit_bytes)
        reply: tuple[bool, object] = (True, function(*args))
        data = answered(reply)
    except MemoryError:
        data = answered((False, "memory"))
    except BaseException as error:  # the border of a process: the name of what happened goes back
        data = answered((False, type(error).__name__))
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(writing, view) :]
    finally:
        os._exit(0)


def _receive(reading: int, deadline: float) -> bytes | None:
    pieces: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not is_readable(reading, left):
            return None
        piece = os.read(reading, 1 << 20)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
