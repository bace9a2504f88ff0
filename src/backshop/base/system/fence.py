"""The system's own fence around a worker, for what native libraries do by themselves (F2.8).

Python's audit events end where a library opens a file without Python. Where Linux offers it, the
kernel refuses too: no sockets and no programs for the whole process (seccomp), no file outside
those of the task for the thread that works on it (Landlock). Elsewhere nothing here does anything.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterable
from functools import cache

from . import IS_LINUX

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_READ_FILE, _READ_FOLDER, _EXECUTE = 1 << 2, 1 << 3, 1 << 0
_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
_OF_FILES = _EXECUTE | 1 << 1 | _READ_FILE | 1 << 14  # execute, write, read, truncate
_SYSTEM = (  # libraries, and how large the machine is
    *("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/mime.types"),
    *("/sys/devices/system/cpu", "/sys/fs/cgroup", "/proc/sys/vm", "/proc/self"),
    *("/proc/meminfo", "/proc/cpuinfo", "/proc/stat"),
)
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random", "/dev/zero")

# architecture as audit names it, and what is refused there: sockets, programs, other processes,
# other views of the system, and io_uring, which does all of it in its own way
_REFUSED: dict[str, tuple[int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        (
            *(41, 42, 49, 50, 53, 59, 101, 165, 246, 272, 298, 304, 308, 310, 311, 320, 321, 322),
            *(323, 425, 426, 427, 438),
        ),
    ),
    "aarch64": (
        0xC00000B7,
        (
            *(40, 97, 104, 117, 198, 199, 200, 201, 203, 221, 241, 265, 268, 270, 271, 280, 281),
            *(282, 294, 425, 426, 427, 438),
        ),
    ),
}


@cache
def _libc() -> ctypes.CDLL | None:
    return ctypes.CDLL(None, use_errno=True) if IS_LINUX else None


@cache
def abi() -> int:
    """Return the version of Landlock the kernel speaks, 0 for none."""
    libc = _libc()
    return max(0, libc.syscall(_CREATE_RULESET, None, 0, 1)) if libc else 0


def forbid_programs_and_network() -> bool:
    """Let the kernel refuse sockets and programs to this process for good; False if it cannot."""
    libc, known = _libc(), _REFUSED.get(platform.machine())
    if libc is None or known is None or struct.calcsize("P") != 8:
        return False
    program = _program(*known)
    steps = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    given = ctypes.create_string_buffer(header, len(header))
    return bool(libc.prctl(_SET_SECCOMP, _FILTER, given, 0, 0) == 0)


def _program(architecture: int, refused: tuple[int, ...]) -> bytes:
    """Return the filter: refuse the listed calls and those of another architecture."""
    load, jump_equal, jump_from, give = 0x20, 0x15, 0x35, 0x06
    allow, deny = 0x7FFF0000, 0x00050000 | 13  # EACCES
    count = len(refused)
    steps = [
        (load, 0, 0, 4),
        (jump_equal, 0, count + 3, architecture),
        (load, 0, 0, 0),
        (jump_from, count + 1, 0, 0x40000000),  # the other way to call on x86
        *((jump_equal, count - index, 0, call) for index, call in enumerate(refused)),
        (give, 0, 0, allow),
        (give, 0, 0, deny),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def enclose(reads: Iterable[str], folders: Iterable[str], writes: Iterable[str]) -> bool:
    """Confine the calling thread to files and folders, for good; False if the kernel cannot.

    `reads` are files, `folders` are read with all they hold, `writes` are written as well.
    """
    libc = _libc()
    if libc is None or not abi():
        return False
    rights = _RIGHTS_BY_ABI[min(abi(), 3)]
    handled = struct.pack("Q", rights)
    rules = libc.syscall(_CREATE_RULESET, handled, len(handled), 0)
    if rules < 0:
        return False
    try:
        for path in (*reads, *folders, *_SYSTEM):
            _allow(libc, rules, path, _READ_FILE | _READ_FOLDER)
        for path in _DEVICES:
            _allow(libc, rules, path, rights & _OF_FILES & ~_EXECUTE)
        for path in writes:
            _allow(libc, rules, path, rights & ~_EXECUTE)
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return bool(libc.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    """Add a rule; a path that is not there needs none."""
    place = libc.open(os.fsencode(path), os.O_PATH | os.O_CLOEXEC)  # not audited: it reads nothing
    if place < 0:
        return
    try:
        mine = rights if os.path.isdir(path) else rights & _OF_FILES  # noqa: PTH112  # no object
        rule = struct.pack("=Qi", mine, place)
        libc.syscall(_ADD_RULE, rules, 1, rule, 0)
    finally:
        os.close(place)
