"""Files in a bench's `meta/` that say to people and scripts what its folders show (B2.1, B2.8).

Caches, written when they say something new; nobody reads them back as truth.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from pathlib import Path

from backshop.base.ambient import timestamp
from backshop.base.system import open_folder
from backshop.base.tree import EMPTY

from ..state import BenchState
from .expected_tree import Expected

_AT_ONCE = 4096  # bytes of one page: a write of them is seen whole or not at all


def write(meta: Path, state: BenchState, draft: Expected | None, written_at: str) -> None:
    """Write what is so now; `view.json` last."""
    _replace(meta / "workbench.json", _about(state))
    if draft is None:
        (meta / "draft.json").unlink(missing_ok=True)
    else:
        _replace(meta / "draft.json", _about_draft(state, draft))
    _replace(meta / "view.json", {**_trees(state), "written_at": written_at})


def is_told(meta: Path, state: BenchState) -> bool:
    """Whether `view.json` is there and says what is so."""
    try:
        told = json.loads((meta / "view.json").read_bytes())
    except (OSError, ValueError):
        return False
    return bool(told == {**_trees(state), "written_at": told.get("written_at")})


def _trees(state: BenchState) -> dict[str, object]:
    return {
        "published_tree": state.published,
        "draft_tree": state.draft.tree if state.draft else None,
        "context_tree": state.context_tree,
    }


def _about(state: BenchState) -> dict[str, object]:
    return {
        "workbench_id": state.bench_id,
        "name": state.name,
        "created_at": timestamp(state.created_ms),
        "published_generation": state.generation,
        "has_draft": state.draft is not None,
    }


def _about_draft(state: BenchState, shown: Expected) -> dict[str, object]:
    """Say where the Draft began, and what a folder of changes cannot show."""
    draft = state.draft
    assert draft is not None, "a Draft that is shown is there"
    is_whole = shown.head.base == EMPTY
    return {
        "draft_id": draft.draft_id,
        "created_at": timestamp(draft.created_ms),
        "base_tree": draft.base_tree,
        "base_generation": draft.base_generation,
        "folder": "complete" if is_whole else "changes",
        "deleted": [] if is_whole else sorted(shown.deleted),
    }


def _replace(path: Path, value: object) -> None:
    """Write over the old text where one write does it whole; else beside it, and rename.

    Renaming over a file makes some file systems write it out at once, with every command.
    """
    text = json.dumps(value, indent=1, sort_keys=True).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = _opened(path)
    if handle is not None:
        try:
            old = os.pread(handle, _AT_ONCE + 1, 0)
            if old.rstrip() == text:
                return
            if max(len(old), len(text)) <= _AT_ONCE:
                os.pwrite(handle, text.ljust(len(old)), 0)  # JSON may end with spaces
                return
        finally:
            os.close(handle)
    temp = path.with_name(f".{path.name}.tmp")
    temp.write_bytes(text)
    temp.replace(path)


def _opened(path: Path) -> int | None:
    """Open a file of ours to be written over; None if there is none of that kind."""
    with suppress(OSError):
        handle = open_folder.open_file(path, open_folder.EDIT)
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
            return handle
        os.close(handle)
    return None
