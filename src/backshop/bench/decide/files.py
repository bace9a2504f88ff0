"""Rules about Published files that the person changes directly."""

from __future__ import annotations

from collections.abc import Sequence

from backshop.base.ids import (
    TreeId,
)
from backshop.base.paths import BenchPath
from backshop.bench.events import (
    BenchEvent,
    CheckpointCreated,
    FileRenamed,
    FilesAdded,
    FilesRemoved,
    PublishedAdopted,
)
from backshop.bench.state import BenchState
from backshop.bench.values import FileFact

from .refuse import (
    Totals,
    require_exists,
    require_no_draft,
    require_room,
)


def add(
    state: BenchState,
    tree_id: TreeId,
    files: Sequence[FileFact],
    after: Totals,
    checkpoint: CheckpointCreated | None,
) -> list[BenchEvent]:
    """Put copies into Published; replacing something keeps a checkpoint first (B6.8, B6.9)."""
    require_no_draft(state)
    require_room(state, after, len(files))
    return [*([checkpoint] if checkpoint else []), FilesAdded(tree=tree_id, files=tuple(files))]


def remove(
    state: BenchState, tree_id: TreeId, paths: Sequence[BenchPath], checkpoint: CheckpointCreated
) -> list[BenchEvent]:
    """Take files out of Published, keeping a checkpoint (B6.13)."""
    require_no_draft(state)
    return [checkpoint, FilesRemoved(tree=tree_id, paths=tuple(paths))]


def rename_file(
    state: BenchState,
    tree_id: TreeId,
    path: BenchPath,
    new_path: BenchPath,
    checkpoint: CheckpointCreated,
) -> list[BenchEvent]:
    """Give a Published file another path (B6.16)."""
    require_no_draft(state)
    return [checkpoint, FileRenamed(tree=tree_id, path=path, new_path=new_path)]


def adopt(
    state: BenchState,
    tree_id: TreeId,
    files: Sequence[FileFact],
    removed: Sequence[BenchPath],
    checkpoint: CheckpointCreated,
) -> list[BenchEvent]:
    """Take edits of the Published folder as the person's own (B9.5)."""
    require_exists(state)
    return [
        checkpoint,
        PublishedAdopted(tree=tree_id, files=tuple(files), removed=tuple(removed)),
    ]
