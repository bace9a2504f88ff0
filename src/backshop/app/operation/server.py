"""Which servers run on a home, and with which settings: what is wanted against what is applied.

A server keeps a file in `<home>/running` locked while it lives, with a digest of each setting it
began with; a file nobody holds is of a server that is gone, killed or not, and is removed. Nothing
here is needed for anything but telling a person what to restart (R10.7).
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backshop import __version__
from backshop.base.ambient import Clock, SystemClock, timestamp
from backshop.base.canon import canonical
from backshop.base.system import lock, open_folder

from ..settings.resolution import Config, Effective, load
from ..settings.table import SETTINGS

FOLDER = "running"
PROGRAM = "program"  # listed beside the settings that differ when another version is installed
_FILE_MAX_BYTES = 64 * 1024
_LASTING = ("file", "default")  # what the next start would read again; the rest is the starter's


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that runs on this machine, and what it began with that is not wanted any more."""

    door: str
    pid: int
    since: str
    version: str
    applied: str
    """One digest of all the settings it began with."""
    differs: tuple[str, ...]
    is_this: bool


@contextmanager
def running(
    config: Config, door: str, clock: Clock | None = None, *, address: str | None = None
) -> Iterator[None]:
    """Let it be known, as long as this lasts, that a server runs, where, and what it began with."""
    handle = None
    with suppress(OSError):  # a home that cannot be written to is told about elsewhere
        handle = _noted(config, door, clock or SystemClock(), address)
    try:
        yield
    finally:
        if handle is not None:
            path, file = handle
            path.unlink(missing_ok=True)
            os.close(file)


def servers(config: Config) -> tuple[Server, ...]:
    """Return the servers of a home, the oldest first."""
    wanted = load(home=config.home, environ={}).values
    found = [_server(record, wanted) for record in _records(config)]
    return tuple(sorted(found, key=lambda one: (one.since, one.pid)))


def web_address(config: Config) -> str | None:
    """Return where the web app of a home runs on this machine; of several the newest."""
    known = [one for one in _records(config) if one.get("door") == "web" and one.get("address")]
    newest = max(known, key=lambda one: str(one.get("since")), default=None)
    return None if newest is None else str(newest["address"])


def _records(config: Config) -> Iterator[dict[str, Any]]:
    for path in sorted((config.home / FOLDER).glob("*.json")):
        record = _living(path)
        if record is not None:
            yield record


def differing(config: Config) -> tuple[str, ...]:
    """Return the settings that this process began with and that have changed since."""
    return _differs(_digests(config.values), load(home=config.home, environ={}).values)


def applied(values: Mapping[str, Effective]) -> str:
    """Return one digest of all settings a process begins with."""
    return "sha256:" + hashlib.sha256(canonical(_digests(values))).hexdigest()


def _noted(config: Config, door: str, clock: Clock, address: str | None) -> tuple[Path, int]:
    folder = config.home / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{uuid.uuid4().hex}.json"
    new = path.with_suffix(".new")
    record = {
        "door": door,
        "address": address,
        "pid": os.getpid(),
        "since": timestamp(clock.now_ms()),
        "version": __version__,
        "applied": applied(config.values),
        "settings": _digests(config.values),
    }
    file = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    lock.hold(file)
    os.write(file, json.dumps(record).encode())
    new.rename(path)  # it is held by now: nobody takes it for one left behind
    return path, file


def _living(path: Path) -> dict[str, Any] | None:
    """Return the record of a server that still holds its file; remove what nobody holds."""
    try:
        file = open_folder.open_file(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        lock.share_now(file)
        path.unlink(missing_ok=True)
        return None
    except OSError:  # it is held
        with suppress(ValueError, OSError):
            found = json.loads(os.read(file, _FILE_MAX_BYTES))
            return found if isinstance(found, dict) else None
        return None
    finally:
        os.close(file)


def _server(record: Mapping[str, Any], wanted: Mapping[str, Effective]) -> Server:
    version = str(record.get("version"))
    differs = _differs(record.get("settings") or {}, wanted)
    return Server(
        door=str(record.get("door")),
        pid=int(record.get("pid") or 0),
        since=str(record.get("since")),
        version=version,
        applied=str(record.get("applied")),
        differs=differs if version == __version__ else (PROGRAM, *differs),
        is_this=record.get("pid") == os.getpid(),
    )


def _differs(began: Mapping[str, Any], wanted: Mapping[str, Effective]) -> tuple[str, ...]:
    """Return the settings the next start would read otherwise; its starter's own stay."""
    return tuple(
        name
        for name, (digest, source) in sorted(began.items())
        if source in _LASTING and name in wanted and digest != _digest(wanted[name].value)
    )


def _digests(values: Mapping[str, Effective]) -> dict[str, list[str]]:
    """Return a digest and the source of each setting that a running server does not read again."""
    return {
        setting.name: [_digest(values[setting.name].value), values[setting.name].source]
        for setting in SETTINGS
        if not setting.live
    }


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]
