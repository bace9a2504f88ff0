"""Runs a command in bubblewrap: no network, no files of the machine, bounded in every way (P6.8).

Knows a folder and a command, nothing of prompts. There is no way to run without the sandbox.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import IO, Any, Protocol

from backshop.base import system
from backshop.base.system import account, child

OUTPUT_MAX_BYTES = 32 * 1024  # of each stream, half from its start and half from its end
TIMED_OUT = 124
_POLL_S = 0.1
_PROBE_S = 10.0
_DETAIL_MAX_CHARS = 500
_INSIDE = "/workspace"
_NOBODY = 65534
_SIGNALS = range(129, 160)  # how a shell tells that a signal ended a program
_SHIM = (  # 1 GiB of memory, seconds of processor time, 64 MiB a file, 256 processes
    "ulimit -v 1048576; ulimit -t $1; ulimit -f 131072; "
    "{ ulimit -u 256 || ulimit -p 256; } 2>/dev/null; "
    'shift; exec "$@"'
)
_OPTIONS = (
    *("--unshare-all", "--unshare-user", "--uid", str(_NOBODY), "--gid", str(_NOBODY)),
    *("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
    *("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"),
    *("--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
    *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),  # noqa: S108  # the sandbox's own
    *("--setenv", "PATH", "/usr/bin", "--setenv", "HOME", "/tmp"),  # noqa: S108
    *("--setenv", "LANG", "C.UTF-8"),
)


class Reason(StrEnum):
    """Why there is no sandbox here."""

    DISABLED = "DISABLED"
    UNSUPPORTED_PLATFORM = "UNSUPPORTED_PLATFORM"
    NOT_INSTALLED = "NOT_INSTALLED"
    PROBE_FAILED = "PROBE_FAILED"


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether commands can be run: `reason` is None where they can."""

    reason: Reason | None
    detail: str = ""
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A command with all it gets; `folder` is a folder of the machine, shown as the workspace."""

    command: Sequence[str]
    folder: Path
    cwd: str = ""
    stdin: bytes = b""
    env: Mapping[str, str]
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended; `is_whole` unless it was stopped or killed."""

    exit_code: int
    stdout: str
    stderr: str
    is_whole: bool


class Stop(Protocol):
    """Whether somebody wants the command to end."""

    @property
    def requested(self) -> bool: ...


def probe(program: str | None = None) -> Probe:
    """Say whether the sandbox works here, tried once in a process with the options in use."""
    if not system.IS_LINUX:
        return Probe(Reason.UNSUPPORTED_PLATFORM, system.NAME)
    found = shutil.which(program or "bwrap")
    if found is None:
        return Probe(Reason.NOT_INSTALLED, "bwrap is not on the path")
    return _tried(found)


@cache
def _tried(program: str) -> Probe:
    with tempfile.TemporaryDirectory(prefix="backshop-probe-") as name:
        job = Job(command=("true",), folder=Path(name), env={}, timeout_s=_PROBE_S)
        try:
            ended = run(program, job)
        except OSError as error:
            return Probe(Reason.PROBE_FAILED, str(error.strerror)[:_DETAIL_MAX_CHARS], program)
    if ended.exit_code:
        said = " ".join(ended.stderr.split()) or f"exit code {ended.exit_code}"
        return Probe(Reason.PROBE_FAILED, said[:_DETAIL_MAX_CHARS], program)
    return Probe(None, program=program)


def run(program: str, job: Job, stop: Stop | None = None) -> Outcome:
    """Run a command to its end, or until its time is over or somebody stops it."""
    with tempfile.TemporaryFile() as given:
        given.write(job.stdin)
        given.seek(0)
        process = subprocess.Popen(  # an argument vector; the sandbox is the point
            _arguments(program, job),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            start_new_session=True,
            **_identity(job.folder),
        )
    with process:
        readers = [_Kept(process.stdout), _Kept(process.stderr)]
        try:
            is_stopped = not _ended(process, job.timeout_s, stop)
        finally:
            _kill(process)
        for reader in readers:
            reader.finish()
    code = TIMED_OUT if is_stopped else process.returncode
    is_whole = not is_stopped and code not in _SIGNALS
    return Outcome(code, readers[0].text(), readers[1].text(), is_whole)


def _identity(folder: Path) -> dict[str, Any]:
    """Say who runs the sandbox: never root, whose files under /proc a namespace leaves writable."""
    if not account.is_root():
        return {}
    for place in (folder, *folder.rglob("*")):
        account.hand_over(place, _NOBODY)
    return {"user": _NOBODY, "group": _NOBODY, "extra_groups": ()}


def _arguments(program: str, job: Job) -> list[str]:
    where = f"{_INSIDE}/{job.cwd}" if job.cwd else _INSIDE
    named = [word for name, value in job.env.items() for word in ("--setenv", name, value)]
    return [
        program,
        *_OPTIONS,
        *named,
        *("--bind", str(job.folder), _INSIDE, "--chdir", where, "--"),
        # processor time ends after the clock has: that a program took too long is told as that
        *("/bin/sh", "-c", _SHIM, "sh", str(int(job.timeout_s) + 2), *job.command),
    ]


def _ended(process: subprocess.Popen[bytes], timeout_s: float, stop: Stop | None) -> bool:
    """Wait for the end; False when the time is over first, or somebody wants it to stop."""
    until = time.monotonic() + timeout_s
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
            return True
        if time.monotonic() >= until or (stop is not None and stop.requested):
            return False


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        child.end_group(process.pid)  # what it started dies with it
        process.wait()


class _Kept:
    """Reads a stream to its end and keeps its first and last bytes."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self._stream = stream
        self._head, self._tail = bytearray(), bytearray()
        self._total = 0
        self._thread = threading.Thread(target=self._read, daemon=True, name="backshop-sandbox")
        self._thread.start()

    def finish(self) -> None:
        """Wait for the last bytes."""
        self._thread.join()

    def text(self) -> str:
        """Return what was kept, saying where something is left out."""
        left_out = self._total - len(self._head) - len(self._tail)
        gap = f"\n[{left_out} bytes left out]\n".encode() if left_out else b""
        return bytes(self._head + gap + self._tail).decode(errors="replace")

    def _read(self) -> None:
        if self._stream is None:
            return
        half = OUTPUT_MAX_BYTES // 2
        while data := os.read(self._stream.fileno(), 65536):
            self._total += len(data)
            room = half - len(self._head)
            self._head += data[:room]
            self._tail += data[room:]
            del self._tail[: max(0, len(self._tail) - half)]
