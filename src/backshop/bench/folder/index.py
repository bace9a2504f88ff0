"""What a folder's files were when they were looked at last, so that few have to be read again.

A cache beside the views: a file whose size, times and inode are the same is the same, unless it
was touched so shortly before the look that a later change could bear the same time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backshop.base.ids import BlobId

_COARSE_NS = 2_000_000_000  # the longest step of a clock of a file system in use

Print = tuple[int, int, int, int]
"""Size, mtime_ns, ctime_ns and inode of a file."""


@dataclass(frozen=True, slots=True)
class Index:
    """Contents by path, each with what its file looked like; as of one moment."""

    at_ns: int = 0
    files: Mapping[str, tuple[Print, BlobId]] = field(default_factory=dict)

    def known(self, path: str, found: os.stat_result) -> BlobId | None:
        """Return what a file holds if it is surely the one that was looked at."""
        entry = self.files.get(path)
        is_settled = max(found.st_mtime_ns, found.st_ctime_ns) < self.at_ns - _COARSE_NS
        return (
            entry[1] if entry is not None and is_settled and entry[0] == print_of(found) else None
        )


def print_of(found: os.stat_result) -> Print:
    """Return what tells a file from another, without reading it."""
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def load(place: Path, folder: str) -> Index:
    """Return what was known of a folder; nothing if that cannot be read."""
    try:
        told = json.loads(place.read_bytes())
        if told["folder"] != folder:
            return Index()
        files = {
            path: ((size, mtime, ctime, inode), BlobId(blob))
            for path, (size, mtime, ctime, inode, blob) in told["files"].items()
        }
        return Index(int(told["at_ns"]), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Index()


def save(place: Path, folder: str, index: Index) -> None:
    """Keep what is known; a disk without room only costs the next look time."""
    files = {path: [*seen, blob] for path, (seen, blob) in index.files.items()}
    told = {"folder": folder, "at_ns": index.at_ns, "files": files}
    beside = place.with_name(f".{place.name}.tmp")
    try:
        beside.write_text(json.dumps(told, separators=(",", ":")), encoding="utf-8")
        beside.replace(place)
    except OSError:
        beside.unlink(missing_ok=True)
