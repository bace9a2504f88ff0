"""Checkpoints: made, listed, compared, pinned, and brought back (B10)."""

from __future__ import annotations

from datetime import datetime

from backshop.base.ambient import timestamp
from backshop.base.errors import ValidationFailed
from backshop.base.ids import CheckpointId, TreeId, check_id

from . import answers, decide, requests
from .context import item
from .draft import comparison
from .draft.progress import Begin, announced
from .draft.publish import changed_file
from .draft.rewind_preview import files_behind
from .errors import RestoreFailed
from .folder import write_back
from .repository import BenchRepository
from .retry import decided_again
from .state import BenchState, Checkpoint
from .tree.soundness import Damage

PAGE_MAX = 1000
MANY_MANUAL = 50
PHASES = ("validating", "checkpoint_pre_restore", "swap_directories", "finalizing")
UNDONE = PHASES[1:3]
"""Phases that a failure can only end before the commit: it is taken back."""


def create(desk: BenchRepository, request: requests.CheckpointCreate) -> answers.CheckpointMade:
    """Keep Published because the person asks for it (B10.3)."""
    if request.reason != "manual":
        raise ValidationFailed("a person makes manual checkpoints", reason="bad_reason")
    wanted = desk.new_checkpoint()
    with desk.locked(request.workbench_id) as state:
        desk.require_disk()
        totals = desk.totals(state)
        done = desk.commit(
            request.workbench_id,
            lambda now: decide.checkpoint_by_hand(now, wanted, request.description, totals),
        )
    manual = sum(c.reason == "manual" for c in done.state.checkpoints)
    many = ("many_checkpoints",) if manual > MANY_MANUAL else ()
    return answers.CheckpointMade(checkpoint_id=wanted, warnings=(*done.warnings, *many))


def list_all(desk: BenchRepository, request: requests.CheckpointsList) -> answers.CheckpointList:
    """List checkpoints, newest first; damaged ones too (B10.8)."""
    if not 1 <= request.limit <= PAGE_MAX:
        raise ValidationFailed("a page has 1 to 1000 checkpoints", reason="bad_params")
    state = desk.state(request.workbench_id)
    found = list(reversed(state.checkpoints))
    start = 0
    if request.cursor is not None:
        places = [n for n, c in enumerate(found) if c.checkpoint_id == request.cursor]
        if not places:
            raise ValidationFailed("the cursor is not of this list", reason="bad_params")
        start = places[0] + 1
    page = found[start : start + request.limit]
    more = start + request.limit < len(found)
    return answers.CheckpointList(
        checkpoints=tuple(_info(desk, state, one) for one in page),
        next_cursor=page[-1].checkpoint_id if more else None,
    )


def get(desk: BenchRepository, request: requests.CheckpointId_) -> answers.CheckpointInfo:
    """Return one checkpoint."""
    state = desk.state(request.workbench_id)
    return _info(desk, state, _find(state, request.checkpoint_id))


def compare(desk: BenchRepository, request: requests.CheckpointCompare) -> answers.Compared:
    """Say what differs from another checkpoint, or from Published (B10.15)."""
    pair = (request.workbench_id, request.checkpoint_id, request.other_id)
    return comparison.page(desk, lambda: two_trees(desk, *pair), request.limit, request.cursor)


def two_trees(
    desk: BenchRepository, bench_id: str, checkpoint_id: str, other_id: str | None
) -> tuple[TreeId, TreeId]:
    """Return the trees of a checkpoint and of another, or of Published."""
    state = desk.state(bench_id)
    before = _find(state, checkpoint_id).tree
    return before, state.published if other_id is None else _find(state, other_id).tree


def pin(desk: BenchRepository, request: requests.CheckpointPin) -> answers.Done:
    """Keep a checkpoint from being pruned, or not any more."""
    wanted = CheckpointId(check_id(request.checkpoint_id, "cp"))
    done = desk.commit(request.workbench_id, lambda now: decide.pin(now, wanted, request.pinned))
    return answers.Done(warnings=done.warnings)


def restore(desk: BenchRepository, request: requests.CheckpointRestore) -> answers.Restored:
    """Bring a checkpoint back, keeping what it replaces (B10.9–B10.12)."""
    if request.dry_run:
        return _restore(desk, request, lambda _: None)
    bench_id = check_id(request.workbench_id, "wb")
    with announced(desk, bench_id, "CheckpointRestoreProgress", PHASES, UNDONE) as begin:
        return _restore(desk, request, begin)


@decided_again
def _restore(
    desk: BenchRepository, request: requests.CheckpointRestore, progress: Begin
) -> answers.Restored:
    wanted = CheckpointId(check_id(request.checkpoint_id, "cp"))
    with desk.locked(request.workbench_id, damaged_ok=True) as state:
        progress("validating")
        decide.require_no_draft(state)
        target = decide.require_checkpoint(state, wanted)
        require_whole(desk, state, target)
        desk.require_disk()
        found = desk.compare.against(state.published, target.tree)
        if request.dry_run:
            return answers.Restored(
                published_generation=state.generation,
                tree=target.tree,
                dry_run=True,
                changed=tuple(changed_file(change) for change in found),
                folder_behind=files_behind(desk, state, target.tree),
            )
        progress("checkpoint_pre_restore")
        pre, message = desk.new_checkpoint(), desk.new_message()
        totals = desk.totals(state)
        progress("swap_directories")
        items = item.differing(desk, state.context_tree, target.context_tree)
        text = f"Before restoring {local_minute(target.created_ms)}"
        done = desk.commit(
            request.workbench_id,
            lambda now: [
                *decide.restore(
                    decide.unmoved(now, state), wanted, pre, message, totals, text, items
                ),
                *(decide.begin_writing(now, target.tree) if request.write_folder else ()),
            ],
        )
        progress("finalizing")
        proofs = desk.views.proofs(done.state, found)
        folder = None
        if request.write_folder:
            folder = write_back.brought_or_told(desk, done.state)
        behind = files_behind(desk, desk.state(request.workbench_id))
    return answers.Restored(
        published_generation=done.state.generation,
        tree=done.state.published,
        pre_restore_checkpoint_id=pre,
        changed=tuple(changed_file(change, proofs) for change in found),
        warnings=(*done.warnings, *(folder.warnings if folder else ())),
        folder_behind=behind,
        folder=folder,
    )


def _find(state: BenchState, raw: str) -> Checkpoint:
    return decide.require_checkpoint(state, CheckpointId(check_id(raw, "cp")))


def damage(
    desk: BenchRepository, state: BenchState, one: Checkpoint, *, thorough: bool = False
) -> list[Damage]:
    """Return what keeps a checkpoint from being brought back (B10.8)."""
    return [
        *desk.soundness.of_older(state, one.tree, thorough=thorough),
        *desk.soundness.beyond(state.context_tree, one.context_tree, thorough=thorough),
    ]


def is_restorable(desk: BenchRepository, state: BenchState, one: Checkpoint) -> bool:
    """Whether a checkpoint has all its contents, by the look that lists take (B10.8)."""
    return not damage(desk, state, one)


def require_whole(desk: BenchRepository, state: BenchState, one: Checkpoint) -> None:
    """Refuse to bring back a checkpoint that lacks contents (B10.12)."""
    lost = damage(desk, state, one, thorough=True)
    if lost:
        raise RestoreFailed(
            "the checkpoint lacks contents", reason=lost[0].reason, detail=lost[0].path
        )


def local_minute(at_ms: int) -> str:
    """Return a moment as the person's clock shows it (B10.4)."""
    return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def _info(desk: BenchRepository, state: BenchState, one: Checkpoint) -> answers.CheckpointInfo:
    lost = damage(desk, state, one)
    return answers.CheckpointInfo(
        checkpoint_id=one.checkpoint_id,
        created_at=timestamp(one.created_ms),
        reason=one.reason,
        trigger=one.trigger,
        description=one.description,
        files=one.file_count,
        total_bytes=one.total_bytes,
        published_generation=one.generation,
        pinned=one.pinned,
        restorable=not lost,
        unrestorable_reason=lost[0].reason if lost else None,
        actor=one.actor,
        by=answers.acted(one.by, desk.names()),
    )
