"""The child process in which files are opened: limited memory, watched, told by messages (F2.8).

A worker reads a task from its input, runs one function of one format module and writes the answer
back. It holds an audit guard from its first breath: no sockets, no programs, no file outside those
it was given for this task; where the kernel can, it refuses the same to native code
(`base.system.fence`). Started by `pool`, never imported for anything but its message types.
"""

from __future__ import annotations

import errno
import importlib
import os
import pickle
import shutil
import struct
import sys
import tempfile
import threading
import traceback
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, NoReturn

from backshop.base.system import child, fence

from ..errors import FormatError, fail
from ..output import NO_SPACE
from . import isolation, overdue

HEADER = struct.Struct("<Q")
_HARMLESS = ("/dev/null", "/dev/urandom", "/etc/mime.types", "/proc/self/statm")
_READABLE = ("/usr/share/fonts", "/usr/share/zoneinfo")
_NETWORK = ("socket.", "urllib.", "ftplib.", "http.client.", "smtplib.", "ssl.")
_PROGRAMS = frozenset(
    ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile")
)
_FORKS = frozenset(("os.fork", "os.forkpty"))
_MOVES = frozenset(
    (
        *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate"),
        *("os.chmod", "os.chown", "shutil.rmtree", "shutil.move", "shutil.copyfile"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One call: a function of a module of this room (or of a plugin) with its arguments."""

    module: str
    function: str
    args: tuple[object, ...] = ()
    kwargs: dict[str, object] = field(default_factory=dict)
    reads: tuple[str, ...] = ()  # files it may open
    writes: tuple[str, ...] = ()  # folders it may write into, and read
    writing: bool = False  # a limit hit is then a write failure (F3)


@dataclass(frozen=True, slots=True)
class Done:
    """The function's result."""

    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Why there is no result, in words of F3."""

    reason: str
    message: str
    detail: str | None = None
    hints: tuple[str, ...] = ()
    is_last: bool = False  # the worker ends with it


class Refused(PermissionError):
    """The guard stopped something a file must never make us do."""


class Guard:
    """Decides about every audited act of this process; `refused` names the first one stopped."""

    def __init__(self, scratch: str) -> None:
        places = {sys.prefix, sys.base_prefix, sys.exec_prefix, *filter(None, sys.path)}
        self._python = tuple(os.path.realpath(place) + os.sep for place in places)
        self._always = (*(place + os.sep for place in _READABLE), *self._python)
        self._scratch = os.path.realpath(scratch) + os.sep
        self._reads: frozenset[str] = frozenset()
        self._writes: tuple[str, ...] = ()
        self.refused: str | None = None

    @property
    def readable(self) -> tuple[str, ...]:
        """The folders every task may read."""
        return self._always

    def admit(self, reads: tuple[str, ...], writes: tuple[str, ...]) -> None:
        """Take the files and folders of the next task; forget those of the last."""
        self._reads = frozenset(map(os.path.realpath, reads))
        self._writes = tuple(os.path.realpath(place) + os.sep for place in writes)
        self.refused = None

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if event == "open":
            self._open(args[0], args[1], args[2])
        elif event in _FORKS:
            if not isolation.may_fork():
                self._refuse(event)
        elif event in _PROGRAMS or event.startswith(_NETWORK):
            self._refuse(event)
        elif event in _MOVES:
            for path in args:
                if isinstance(path, str | bytes | os.PathLike):
                    self._check_write(path, event)

    def _open(self, path: object, mode: object, flags: object) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a descriptor that is open already
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if isinstance(mode, str):
            writes = writes or any(letter in mode for letter in "wax+")
        if writes:
            self._check_write(path, "open")
            return
        name = os.fsdecode(path)
        if name in _HARMLESS:  # before links are followed: /proc/self is one
            return
        real = os.path.realpath(name)
        inside = (*self._always, self._scratch, *self._writes)
        if real in self._reads or (real + os.sep).startswith(inside):
            return
        self._refuse(f"open {Path(real).name}")

    def _check_write(self, path: str | bytes | os.PathLike[str], what: str) -> None:
        real = os.path.realpath(os.fsdecode(path))
        if real == "/dev/null" or (real + os.sep).startswith((self._scratch, *self._writes)):
            return
        if "__pycache__" in real and real.startswith(self._python):
            return  # the interpreter keeps what it compiled
        self._refuse(f"{what} {Path(real).name}")

    def _refuse(self, what: str) -> NoReturn:
        self.refused = self.refused or what
        raise Refused(errno.EACCES, "refused by the guard", what)


def run_fenced(task: Task, guard: Guard, scratch: str) -> Done | Failed:
    """Call the function in a thread the kernel confines to the files of its task.

    A thread of its own, because such a fence is never opened again, and the next task has other
    files. Threads and processes that libraries start from there are inside too.
    """
    answers: list[Done | Failed] = []

    def work() -> None:
        fence.enclose(task.reads, guard.readable, (scratch, *task.writes))
        answers.append(run(task, guard))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return answers[0]


def run(task: Task, guard: Guard) -> Done | Failed:
    """Call the function; whatever it throws becomes a reason of F3."""
    guard.admit(task.reads, task.writes)
    failed: Failed | None = None
    value: object = None
    try:
        function = getattr(importlib.import_module(task.module), task.function, None)
        if function is None:
            return Failed(reason="unsupported_format", message="this kind has no such operation")
        value = function(*task.args, **task.kwargs)
    except BaseException as error:  # the border of the worker (F3.2)
        failed = describe(error, writing=task.writing)
    if guard.refused is not None:  # even when a library swallowed it
        return Failed(
            reason="guard_refused", message="the file asked for more", detail=guard.refused
        )
    return failed or Done(value)


def describe(error: BaseException, *, writing: bool) -> Failed:
    """Return an exception in words of F3; library texts stay behind, their names go along."""
    if isinstance(error, FormatError):
        return Failed(
            reason=error.reason, message=error.message, detail=error.detail, hints=error.hints
        )
    if isinstance(error, MemoryError):
        return Failed(reason="memory_limit", message="the file needs more memory than it may use")
    if isinstance(error, FileNotFoundError):
        return Failed(reason="not_found", message="the file is not there")
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return Failed(reason="disk_full", message="the disk has no room for the result")
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" at {Path(place[0].filename).name}:{place[0].lineno}" if place else ""
    if "memory" in str(error).lower() and "alloc" in str(error).lower():  # native libraries
        return Failed(reason="memory_limit", message="the file needs more memory than it may use")
    reason = "verify_failed" if writing else "corrupt_file"
    message = "the result could not be written" if writing else "the file cannot be read"
    return Failed(reason=reason, message=message, detail=f"{type(error).__name__}{where}")


def raised(failed: Failed, *, writing: bool) -> FormatError:
    """Return the exception for a failure that came from a worker."""
    return fail(
        failed.reason, failed.message, detail=failed.detail, hints=failed.hints, writing=writing
    )


def send(stream: IO[bytes], data: bytes) -> None:
    """Write one message."""
    stream.write(HEADER.pack(len(data)))
    stream.write(data)
    stream.flush()


def _last_word(answers: IO[bytes], error: FormatError) -> None:
    """Answer in place of a task that does not come to its end, and end with it."""
    send(answers, isolation.answered(replace(describe(error, writing=False), is_last=True)))
    os._exit(0)


def main(memory_bytes: int, scratch: str) -> None:
    """Serve tasks until the input ends."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # what a library prints must not become a message
        os.dup2(nowhere, descriptor)
    child.bound_memory(memory_bytes)
    child.leave_no_core()
    tempfile.tempdir = scratch
    guard = Guard(scratch)
    fence.forbid_programs_and_network()
    sys.addaudithook(guard)
    overdue.arm(partial(_last_word, answers))
    send(answers, isolation.answered(Done("ready")))
    while head := tasks.read(HEADER.size):
        task: Task = pickle.loads(tasks.read(HEADER.unpack(head)[0]))  # noqa: S301  # our parent's
        answer = run_fenced(task, guard, scratch)
        try:
            data = isolation.answered(answer)
        except (
            *(pickle.PicklingError, AttributeError, TypeError, MemoryError, RecursionError),
        ) as error:
            data = isolation.answered(describe(error, writing=task.writing))
        send(answers, data)
    shutil.rmtree(scratch, ignore_errors=True)  # whoever started us may be gone
