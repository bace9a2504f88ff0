"""Forgets what was kept of contents that are gone: tables, maps and pictures (F25.8)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

_KEPT = ("tables", "maps", "previews")
_NAME = re.compile(r"([0-9a-f]{64})[-.]")  # every cache begins its names with the content's hash


def forget(cache: Path, is_there: Callable[[str], bool]) -> int:
    """Delete what the cache keeps of contents that are not there any more; return how many files.

    `is_there` is asked once for each sha256. What goes could always be made again.
    """
    gone: dict[str, bool] = {}
    count = 0
    for kind in _KEPT:
        for path in sorted((cache / kind).rglob("*")):
            match = _NAME.match(path.name)
            if match is None or not path.is_file():
                continue
            sha256 = match[1]
            if sha256 not in gone:
                gone[sha256] = not is_there(sha256)
            if gone[sha256]:
                path.unlink(missing_ok=True)
                count += 1
    return count
