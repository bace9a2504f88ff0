"""How much a file or folder takes on disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def folder_bytes(path: Path) -> int:
    """Return the bytes a file or folder takes; what cannot be looked at counts nothing."""
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            return path.lstat().st_size
    except OSError:
        return 0
    total = 0
    for root, _, names in os.walk(path):
        for name in names:
            try:
                total += (Path(root) / name).lstat().st_size
            except OSError:
                continue
    return total
