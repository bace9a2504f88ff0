"""Checkpoints go when what only they keep takes too much room, the oldest first (B10.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from backshop.base import tree
from backshop.base.ids import BlobId, CheckpointId, TreeId

from ..state import BenchState, Checkpoint

_ORDER = ("auto", "publish", "pre_restore")
Contents = Mapping[BlobId, int]


def beyond_bytes(state: BenchState, load: tree.Load, max_bytes: int) -> list[CheckpointId]:
    """Return the checkpoints to let go so that the others keep at most so many bytes."""
    live = _contents(_live_trees(state), load)
    kept = {
        one.checkpoint_id: _contents((one.tree, one.context_tree), load)
        for one in state.checkpoints
    }
    holders = Counter(blob for contents in kept.values() for blob in contents if blob not in live)
    sizes = {blob: size for contents in kept.values() for blob, size in contents.items()}
    total = sum(sizes[blob] for blob in holders)
    gone: list[CheckpointId] = []
    for one in _prunable(state.checkpoints):
        if total <= max_bytes:
            break
        gone.append(one.checkpoint_id)
        for blob in kept[one.checkpoint_id]:
            if blob in holders:
                holders[blob] -= 1
                total -= sizes[blob] if holders[blob] == 0 else 0
    return gone


def _prunable(checkpoints: Sequence[Checkpoint]) -> Iterable[Checkpoint]:
    """Give those that may go, in order: never pinned ones, made by hand, or the newest of a kind
    that leads back from a publish or a restore."""
    for reason in _ORDER:
        of_kind = [one for one in checkpoints if one.reason == reason]
        free = of_kind if reason == "auto" else of_kind[:-1]
        yield from (one for one in free if not one.pinned)


def _live_trees(state: BenchState) -> set[TreeId]:
    found = {state.published, state.context_tree}
    if state.draft is not None:
        found |= {state.draft.tree, state.draft.base_tree}
    return found | {one.tree for one in state.revisions.kept if one.tree is not None}


def _contents(trees: Iterable[TreeId], load: tree.Load) -> dict[BlobId, int]:
    return {file.sha256: file.size for one in trees for _, file in tree.walk(one, load)}
