"""Where the program's own log goes: a file in the home, readable by its owner only (S5.3)."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO, Any

from backshop.base.ambient import timestamp
from backshop.base.canon import parse
from backshop.base.errors import ValidationFailed
from backshop.base.redact import Redactor, passwords_of, secrets_of
from backshop.base.system import lock

from ..settings.resolution import Config

FILE_MAX_BYTES = 5 * 1024 * 1024
FILES_KEPT = 3
_NAME = "backshop"
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(process)d %(message)s"


class _OwnFile(RotatingFileHandler):
    """A log file made on the first record, with mode 0600; where it cannot be made, no log.

    The processes of a home share it: one at a time writes or rotates, and goes on in the file that
    has the name now.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record where the log is now."""
        with _alone(Path(self.baseFilename).parent):
            if self.stream is not None and not _is_at(self.stream, self.baseFilename):
                stream, self.stream = self.stream, None  # opened again by the name
                with suppress(OSError, ValueError):  # what it could not write is lost already
                    stream.close()
            super().emit(record)

    def _open(self):  # type: ignore[no-untyped-def]  # the base class's own type is private
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8", errors="replace")

    def handleError(self, record: logging.LogRecord) -> None:  # the base class's name
        """Drop a record that cannot be written: a full disk must not become a second error."""


def _is_at(stream: IO[str], path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), Path(path).stat())
    except (OSError, ValueError):  # none of that name can be seen, or a rotation closed the file
        return False


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let no other process write to the log meanwhile, where the file system can see to that."""
    handle = None
    with suppress(OSError):
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # parents: not with this mode
        folder.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
        lock.hold(handle)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


class _Lines(logging.Formatter):
    """One JSON object a line, for programs that read logs."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON."""
        line: dict[str, Any] = {
            "time": timestamp(int(record.created * 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            line["exception"] = record.exc_text
        return json.dumps(line, ensure_ascii=False)


def keeper() -> Redactor:
    """Return the filter that keeps secrets out of the log of this process (M3.12).

    A process has one log, whatever homes it opens, and so one filter. It knows the secrets of the
    environment from the beginning.
    """
    logger = logging.getLogger(_NAME)
    found = next((one for one in logger.filters if isinstance(one, Redactor)), None)
    if found is None:
        found = Redactor()
        logger.addFilter(found)
    found.learn(secrets_of(os.environ))
    return found


def guard(config: Config) -> Redactor:
    """Keep the secrets of the settings out of every log here, the host program's too."""
    guarding = keeper()
    texts = [one.value for one in config.values.values() if isinstance(one.value, str)]
    guarding.learn(password for text in texts for password in passwords_of(text))
    ours, root = logging.getLogger(_NAME).handlers, logging.getLogger().handlers
    for sink in (*ours, *root, logging.lastResort):
        if sink is not None:
            sink.addFilter(guarding)
    return guarding


def layout_of(home: Path) -> str:
    """Return how lines are to be written in a home, also where its settings are wrong elsewhere."""
    named: object = os.environ.get("BACKSHOP_LOG_FORMAT")
    if named is None:
        with suppress(OSError, ValidationFailed):
            stored = parse((home / "settings.json").read_bytes())
            named = stored.get("log_format") if isinstance(stored, dict) else None
    return "json" if named == "json" else "text"


def begin(config: Config) -> None:
    """Keep the log of this program where its settings say."""
    guard(config)
    attach(config.home, config["log"], config["log_format"])


def attach(home: Path, level: str, layout: str = "text") -> None:
    """Send the log of this program to `<home>/logs/backshop.log` and nowhere else."""
    logger = logging.getLogger(_NAME)
    path = str((home / "logs" / "backshop.log").absolute())
    for handler in logger.handlers:
        if isinstance(handler, _OwnFile) and handler.baseFilename == path:
            handler.setLevel(level.upper())
            return
    handler = _OwnFile(
        path, maxBytes=FILE_MAX_BYTES, backupCount=FILES_KEPT, encoding="utf-8", delay=True
    )
    handler.setFormatter(_Lines() if layout == "json" else logging.Formatter(_FORMAT))
    handler.setLevel(level.upper())
    handler.addFilter(keeper())
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
