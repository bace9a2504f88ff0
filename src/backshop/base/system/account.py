"""The accounts of a machine: who runs this, and whose something is."""

from __future__ import annotations

import os
import pwd
from pathlib import Path


def is_root() -> bool:
    """Say whether this process may do everything on the machine."""
    return os.geteuid() == 0


def account_name(number: int) -> str:
    """Return what an account is called; its number if it has no name."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"#{number}"


def hand_over(path: Path, number: int) -> None:
    """Make an account and its group the owner of a file or folder; of a link, the link itself."""
    os.chown(path, number, number, follow_symlinks=False)


def set_mode(handle: int, mode: int) -> None:
    """Say who may read, write and run an open file."""
    os.fchmod(handle, mode)
