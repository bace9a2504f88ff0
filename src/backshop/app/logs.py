"""Where the program's own log goes: a file in the home, readable by its owner only (S5.3)."""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path

FILE_MAX_BYTES = 5 * 1024 * 1024
FILES_KEPT = 3
_NAME = "backshop"
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(process)d %(message)s"


class _OwnFile(RotatingFileHandler):
    """A log file made on the first record, with mode 0600; where it cannot be made, no log."""

    def _open(self):  # type: ignore[no-untyped-def]  # the base class's own type is private
        path = Path(self.baseFilename)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8", errors="replace")

    def handleError(self, record: logging.LogRecord) -> None:  # the base class's name
        """Drop a record that cannot be written: a full disk must not become a second error."""


def attach(home: Path, level: str) -> None:
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
    handler.setFormatter(logging.Formatter(_FORMAT))
    handler.setLevel(level.upper())
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
