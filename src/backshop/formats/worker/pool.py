"""Keeps worker processes and hands them tasks under a time limit (F2.7).

A worker that takes too long, grows too large or dies costs one call: the caller gets `timeout`,
`memory_limit` or `worker_crashed`, half-written output is removed, and the next call gets a fresh
worker. Threads may call at the same time; each call has a worker to itself.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backshop.base import limits as numbers
from backshop.base.system.readiness import is_readable

from ..errors import fail
from .isolation import Answers
from .process import HEADER, Done, Failed, Task, raised, send

START_DELAYS_S = (0.5, 2.0)  # M10.1, between three attempts
PROBE_S = 60.0
_START_TIMEOUT_S = 30.0
_CALLS_PER_WORKER = 500  # then a fresh one: libraries leak
_BOOT = "from backshop.formats.worker.process import main; main({memory:d}, {scratch!r})"


class StartFailed(Exception):
    """A worker process did not come up."""


class Silent(Exception):
    """A worker gave no whole answer; `late` when it is still busy, else it has died."""

    def __init__(self, *, late: bool) -> None:
        super().__init__("late" if late else "died")
        self.late = late


class Process:
    """One worker process and its two pipes."""

    def __init__(self, memory_bytes: int) -> None:
        self._scratch = tempfile.mkdtemp(prefix="backshop-worker-")
        environment = {
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join(str(Path(one).absolute()) for one in sys.path if one),
            "PYTHONHASHSEED": "0",  # F1.3
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "TMPDIR": self._scratch,
            "HOME": self._scratch,
            "MALLOC_ARENA_MAX": "2",  # arenas count against the address space
        }
        self._child = subprocess.Popen(
            [sys.executable, "-c", _BOOT.format(memory=memory_bytes, scratch=self._scratch)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=self._scratch,
            start_new_session=True,  # a Ctrl-C at the terminal is for us, not for it
        )
        self._end = weakref.finalize(self, _end, self._child, self._scratch)
        self.calls = 0
        try:
            self.receive(_START_TIMEOUT_S)
        except (Silent, OSError) as error:
            self.end()
            raise StartFailed from error

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._child.pid

    def ask(self, task: bytes, timeout_s: float, packages: tuple[str, ...]) -> Done | Failed:
        """Give a pickled task and wait for its answer.

        Raises:
            Silent: there was none in time, or the process died.
        """
        assert self._child.stdin is not None
        self.calls += 1
        try:
            send(self._child.stdin, task)
        except OSError as error:
            raise Silent(late=False) from error
        return self.receive(timeout_s, packages)

    def receive(self, timeout_s: float, packages: tuple[str, ...] = ()) -> Done | Failed:
        """Read one answer."""
        deadline = time.monotonic() + timeout_s
        size = HEADER.unpack(self._read(HEADER.size, deadline))[0]
        try:
            answer = Answers(self._read(size, deadline), packages).answer()
        except Exception as error:  # the border of a process that hostile files may have taken
            raise Silent(late=False) from error
        if not isinstance(answer, Done | Failed):
            raise Silent(late=False)
        return answer

    def end(self) -> None:
        """Kill the process and remove its scratch folder."""
        self._end()

    def _read(self, size: int, deadline: float) -> bytes:
        assert self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        pieces = bytearray()
        while len(pieces) < size:
            left = deadline - time.monotonic()
            if left <= 0 or not is_readable(descriptor, left):
                raise Silent(late=True)
            piece = os.read(descriptor, min(size - len(pieces), 1 << 20))
            if not piece:
                raise Silent(late=False)
            pieces += piece
        return bytes(pieces)


def _end(child: subprocess.Popen[bytes], scratch: str) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                continue
    shutil.rmtree(scratch, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Ambient:
    """What the pool takes from its surroundings, so that tests can give something else."""

    start: Callable[[int], Process] = Process
    now: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep


class Pool:
    """At most `workers` processes at a time, kept between calls."""

    def __init__(
        self,
        *,
        workers: int = 2,
        memory_bytes: int = numbers.WORKER_MEMORY_BYTES,
        packages: tuple[str, ...] = (),
        ambient: Ambient | None = None,
    ) -> None:
        self._memory_bytes = memory_bytes
        self._packages = packages
        self._ambient = ambient or Ambient()
        self._slots = threading.BoundedSemaphore(workers)
        self._lock = threading.Lock()
        self._idle: list[Process] = []
        self._failed_at: float | None = None

    def call(self, task: Task, timeout_s: float, outputs: tuple[Path, ...] = ()) -> object:
        """Run a task and return its result; on failure nothing new is left at `outputs`.

        Raises:
            FormatError: what the task failed with, or `timeout`, `worker_crashed`.
        """
        fresh = tuple(out for out in outputs if not out.exists())
        try:
            message = pickle.dumps(task, protocol=5)
        except RecursionError as error:
            raise fail("bad_value", "what was asked is nested too deeply") from error
        with self._slots:
            process = self._take()
            try:
                answer = process.ask(message, timeout_s, self._packages)
            except BaseException as error:
                process.end()
                _discard(fresh, outputs)
                if isinstance(error, Silent):
                    raise _lost(task, late=error.late) from error
                raise
            self._give_back(process, is_last=isinstance(answer, Failed) and answer.is_last)
        if isinstance(answer, Failed):
            _discard(fresh, outputs)
            raise raised(answer, writing=task.writing)
        return answer.value

    def close(self) -> None:
        """End all idle workers; a later call starts new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def _take(self) -> Process:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._start()

    def _give_back(self, process: Process, *, is_last: bool) -> None:
        if is_last or process.calls >= _CALLS_PER_WORKER:
            process.end()
            return
        with self._lock:
            self._idle.append(process)

    def _start(self) -> Process:
        """Start a worker, trying three times; while starts fail, try once every 60 s only."""
        with self._lock:
            failed_at = self._failed_at
        delays: tuple[float, ...] = START_DELAYS_S
        if failed_at is not None:
            if self._ambient.now() - failed_at < PROBE_S:
                raise fail("worker_crashed", "no worker process can be started")
            delays = ()
        for delay in (*delays, None):
            try:
                process = self._ambient.start(self._memory_bytes)
            except (StartFailed, OSError) as error:
                if delay is None:
                    with self._lock:
                        self._failed_at = self._ambient.now()
                    raise fail("worker_crashed", "no worker process can be started") from error
                self._ambient.wait(delay)
            else:
                with self._lock:
                    self._failed_at = None
                return process
        raise AssertionError("unreachable")


def _discard(fresh: tuple[Path, ...], outputs: tuple[Path, ...]) -> None:
    for out in fresh:
        out.unlink(missing_ok=True)
    for out in outputs:
        out.with_name(out.name + ".part").unlink(missing_ok=True)


def _lost(task: Task, *, late: bool) -> Exception:
    if late:
        return fail("timeout", "working on the file took too long", writing=task.writing)
    return fail("worker_crashed", "the process that worked on the file died")
