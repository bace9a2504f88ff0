"""Runs one function in a process of its own that may die without harm (F24.8).

For engines that might hang, grow or crash: `run(compute, inputs, timeout_s=20, memory_bytes=GIB)`
returns the function's result, or a `Failure` that says what became of it. Only data comes back; the
child cannot reach anything of ours. Works inside a worker, whose guard lets exactly this fork pass.
"""

from __future__ import annotations

import io
import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

_PACKAGE = "backshop.formats."
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


class Answers(pickle.Unpickler):
    """Reads what a child sent. A child has touched hostile files, so its words are only data:
    classes of this room and of registered plugins, nothing that could act."""

    def __init__(self, data: bytes, packages: tuple[str, ...] = ()) -> None:
        super().__init__(io.BytesIO(data))
        self._packages = (_PACKAGE, *packages)

    def find_class(self, module: str, name: str) -> object:
        """Find a class that may be part of an answer."""
        if module.startswith(self._packages) and "." not in name and name[:1].isupper():
            found: object = super().find_class(module, name)
            if isinstance(found, type):
                return found
        if (module, name) in {("pathlib", "PosixPath"), ("builtins", "frozenset")}:
            safe: object = super().find_class(module, name)
            return safe
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
    limit = _address_space() + memory_bytes  # a fork inherits what is mapped
    _passing = True
    try:
        pid = os.fork()
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
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if data is None:
        return Outcome(None, Failure("timeout"))
    if not data:
        return Outcome(None, Failure("crash"))
    try:
        ok, value = Answers(data).load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError):
        return Outcome(None, Failure("crash"))  # the engine was made to say something else
    return Outcome(value, None) if ok else Outcome(None, Failure(str(value)))


def _child(
    function: Callable[..., T], args: tuple[object, ...], writing: int, limit_bytes: int
) -> None:
    """Compute, report and leave without running anything of the parent's."""
    try:
        _limit(limit_bytes)
        reply: tuple[bool, object] = (True, function(*args))
        data = pickle.dumps(reply)
    except MemoryError:
        data = pickle.dumps((False, "memory"))
    except BaseException as error:  # the border of a process: the name of what happened goes back
        data = pickle.dumps((False, type(error).__name__))
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(writing, view) :]
    finally:
        os._exit(0)


def _limit(size_bytes: int) -> None:
    """Bound the address space; a bound that stands already cannot be raised, only kept."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    allowed = size_bytes if hard == resource.RLIM_INFINITY else min(size_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def _address_space() -> int:
    """Return what the process has mapped already."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  # not a user's file
        return int(file.read().split()[0]) * resource.getpagesize()


def _receive(reading: int, deadline: float) -> bytes | None:
    ready = select.poll()
    ready.register(reading, select.POLLIN)
    pieces: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not ready.poll(left * 1000):
            return None
        piece = os.read(reading, 1 << 20)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
