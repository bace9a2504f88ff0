"""Retention: which states of Drafts and which checkpoints go, by count and bytes (B8.15, B10.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from backshop.base import tree
from backshop.base.ids import BlobId, CheckpointId, RevisionId, TreeId

from ..events import BenchEvent, CheckpointsPruned, RevisionsPruned
from ..state import BenchState, Checkpoint

_ORDER = ("auto", "publish", "pre_restore")
Contents = Mapping[BlobId, int]
Needed = Callable[[], Collection[RevisionId]]
"""Names revisions that have to stay."""
PRUNED_LOT = 20  # a twentieth of what is kept
KEPT = {"auto": 200, "publish": 200, "pre_restore": 50}  # B10.6


def nothing_more() -> Collection[RevisionId]:
    """Name no revision that has to stay."""
    return ()


def prune(state: BenchState, max_revisions: int, needed: Needed = nothing_more) -> list[BenchEvent]:
    """Let checkpoints and revisions go that are beyond what is kept (B8.15, B10.6).

    `needed` names revisions that stay whatever their age; it is asked where some have to go.
    """
    return [*_pruned_revisions(state, max_revisions, needed), *_pruned_checkpoints(state)]


def _pruned_revisions(state: BenchState, most: int, needed: Needed) -> list[BenchEvent]:
    """Return the fact that states of Drafts go: first steps on the way to a message, then old ones.

    The last state bound to a message is what a rewind to it needs; those before it are only steps,
    except under the newest message, whose turn may be at work. The present one never goes, nor
    the one of the newest round, which a turn that fails goes back to. Many go at once, so that a
    write does not have to let one go each time.
    """
    kept = state.revisions.kept
    if len(kept) <= most + most // PRUNED_LOT:
        return []
    last = {r.message_id: r.revision_id for r in kept}
    newest = kept[-1].message_id
    is_step = [r.message_id != newest and last[r.message_id] != r.revision_id for r in kept]
    steps_first = [
        *(r.revision_id for r, step in zip(kept, is_step, strict=True) if step),
        *(r.revision_id for r, step in zip(kept, is_step, strict=True) if not step),
    ]
    stay = set(needed())
    if state.draft is not None:
        stay |= {state.draft.revision_id}
        look = state.draft.last_look
        stay |= {last[look.message_id]} if look is not None and look.message_id in last else set()
    gone = tuple([one for one in steps_first if one not in stay][: len(kept) - most])
    return [RevisionsPruned(revision_ids=gone)] if gone else []


def _pruned_checkpoints(state: BenchState) -> list[BenchEvent]:
    gone: list[CheckpointId] = []
    for reason, count in KEPT.items():
        of_kind = [c for c in state.checkpoints if c.reason == reason]
        gone += [c.checkpoint_id for c in of_kind[: max(0, len(of_kind) - count)] if not c.pinned]
    if not gone:
        return []
    return [CheckpointsPruned(checkpoint_ids=tuple(gone), reason="count")]


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
