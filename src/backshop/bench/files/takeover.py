"""Edits that other programs made, on their way into Published: judged like files that are added."""

from __future__ import annotations

from collections.abc import Mapping

from backshop.base import tree
from backshop.base.errors import LimitExceeded
from backshop.base.paths import BenchPath

from .. import decide
from ..events import CheckpointCreated
from ..repository import BenchRepository
from ..state import BenchState
from ..values import FileFact


def taken_over(
    desk: BenchRepository, state: BenchState, files: Mapping[BenchPath, tree.File | None]
) -> tuple[tree.Built, list[FileFact], list[BenchPath]]:
    """Return Published with outside edits: its tree, the files that come and those that go."""
    _require_room(state, files)
    built = desk.grow(state.published, dict(files))
    facts = [
        FileFact(
            path=path,
            file_id=known.file_id if (known := state.files.records.get(path)) else desk.new_file(),
            sha256=file.sha256,
            size=file.size,
            imported=True,
        )
        for path, file in files.items()
        if file is not None
    ]
    return built, facts, [path for path, file in files.items() if file is None]


def _require_room(state: BenchState, files: Mapping[BenchPath, tree.File | None]) -> None:
    """Refuse edits that would not have been added either (B6.4)."""
    if any(file and file.size > state.limits.max_file_bytes for file in files.values()):
        raise LimitExceeded("a file is larger than this workbench takes", reason="too_large")
    count, size = len(state.files.records), state.files.total_bytes
    for path, file in files.items():
        old = state.files.records.get(path)
        count += (file is not None) - (old is not None)
        size += (file.size if file else 0) - (old.size if old else 0)
    decide.require_room(state, decide.Totals(count, size), len(files))


def kept_before(desk: BenchRepository, state: BenchState) -> CheckpointCreated:
    """Return the checkpoint that outside edits are taken over with (B9.5)."""
    return decide.checkpoint(
        state,
        desk.new_checkpoint(),
        "auto",
        "Before taking over outside edits",
        desk.totals(state),
        "before_adopt",
    )
