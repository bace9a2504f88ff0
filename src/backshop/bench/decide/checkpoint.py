"""Rules about checkpoints, and about which trees a state still needs."""

from __future__ import annotations

from collections.abc import Iterable

from backshop.base.errors import ValidationFailed
from backshop.base.ids import (
    BlobId,
    CheckpointId,
    MessageId,
    TreeId,
)
from backshop.base.paths import is_line
from backshop.base.tree import EMPTY
from backshop.bench.events import (
    BenchEvent,
    CheckpointCreated,
    CheckpointPinned,
    CheckpointRestored,
    FilesRestored,
)
from backshop.bench.fold import apply
from backshop.bench.state import BenchState
from backshop.bench.values import FileFact, ItemChange

from .refuse import (
    Totals,
    require_checkpoint,
    require_exists,
    require_no_draft,
    require_room,
)

DESCRIPTION_MAX_CHARS = 200


def checkpoint(
    state: BenchState,
    checkpoint_id: CheckpointId,
    reason: str,
    description: str,
    totals: Totals,
    trigger: str | None = None,
) -> CheckpointCreated:
    """Return the fact that keeps Published and context as they are now."""
    return CheckpointCreated(
        checkpoint_id=checkpoint_id,
        reason=reason,
        trigger=trigger,
        description=description,
        tree=state.published,
        context_tree=state.context_tree,
        file_count=totals.files,
        total_bytes=totals.bytes,
    )


def checkpoint_by_hand(
    state: BenchState, checkpoint_id: CheckpointId, description: str, totals: Totals
) -> list[BenchEvent]:
    """Keep Published because the person asks for it (B10.3)."""
    require_no_draft(state)
    if len(description) > DESCRIPTION_MAX_CHARS or not is_line(description):
        raise ValidationFailed(
            "a description is one line of at most 200 characters", reason="bad_description"
        )
    text = description.strip() or "Manual checkpoint"
    return [checkpoint(state, checkpoint_id, "manual", text, totals)]


def restore(
    state: BenchState,
    wanted: CheckpointId,
    pre_restore_id: CheckpointId,
    message_id: MessageId,
    totals: Totals,
    description: str,
    items: tuple[ItemChange, ...] = (),
) -> list[BenchEvent]:
    """Bring a checkpoint back, keeping one of what it replaces (B10.9, B10.10)."""
    require_no_draft(state)
    target = require_checkpoint(state, wanted)
    return [
        checkpoint(state, pre_restore_id, "pre_restore", description, totals),
        CheckpointRestored(
            checkpoint_id=wanted,
            pre_restore_checkpoint_id=pre_restore_id,
            tree=target.tree,
            context_tree=target.context_tree,
            message_id=message_id,
            items=items,
        ),
    ]


def restore_file(
    state: BenchState,
    wanted: CheckpointId,
    tree_id: TreeId,
    file: FileFact,
    after: Totals,
    kept: CheckpointCreated,
) -> list[BenchEvent]:
    """Bring one file of a checkpoint back, keeping one of what is there now (B27.1)."""
    require_no_draft(state)
    require_checkpoint(state, wanted)
    require_room(state, after, 1)
    return [kept, FilesRestored(tree=tree_id, checkpoint_id=wanted, files=(file,))]


def pin(state: BenchState, wanted: CheckpointId, pinned: bool) -> list[BenchEvent]:
    """Keep a checkpoint from being pruned, or not."""
    require_exists(state)
    require_checkpoint(state, wanted)
    return [CheckpointPinned(checkpoint_id=wanted, pinned=pinned)]


def pins(before: BenchState, after: BenchState) -> tuple[list[BlobId], list[BlobId]]:
    """Return the trees the bench needs now and did not before, and those it needs no longer."""
    old, new = before.roots(), after.roots()
    return _names(new - old), _names(old - new)


def _names(roots: set[TreeId]) -> list[BlobId]:
    return [BlobId(root) for root in sorted(roots) if root != EMPTY]


def with_facts(state: BenchState, facts: Iterable[BenchEvent]) -> BenchState:
    """Return the state these facts will lead to, for what depends on it before they are stored."""
    for fact in facts:
        state = apply(state, fact, state.updated_ms, 0)
    return state
