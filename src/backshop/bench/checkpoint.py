"""Checkpoints: made, listed, compared, pinned, and brought back (B10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from backshop.base import paths, tree
from backshop.base.ambient import timestamp
from backshop.base.errors import ValidationFailed
from backshop.base.ids import CheckpointId, TreeId, check_id
from backshop.base.paths import BenchPath

from . import answers, decide, requests
from .context import item
from .draft import comparison
from .draft.progress import Begin, announced
from .draft.publish import changed_file
from .draft.rewind_preview import files_behind, files_behind_with
from .errors import RestoreFailed
from .events import BenchEvent
from .folder import write_back
from .repository import BenchRepository
from .retry import decided_again
from .state import BenchState, Checkpoint
from .tree.difference import Change
from .tree.soundness import Damage
from .values import FileFact, Story

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


Stories = Callable[[BenchState], Mapping[CheckpointId, Story]]
"""What the conversation tells of checkpoints."""


def list_all(
    desk: BenchRepository, request: requests.CheckpointsList, stories: Stories
) -> answers.CheckpointList:
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
    told = stories(state)
    return answers.CheckpointList(
        checkpoints=tuple(_info(desk, state, one, told) for one in page),
        next_cursor=page[-1].checkpoint_id if more else None,
    )


def get(
    desk: BenchRepository, request: requests.CheckpointId_, stories: Stories
) -> answers.CheckpointInfo:
    """Return one checkpoint."""
    state = desk.state(request.workbench_id)
    return _info(desk, state, _find(state, request.checkpoint_id), stories(state))


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
    path = None if request.path is None else paths.bench_path(request.path)
    with desk.locked(request.workbench_id, damaged_ok=path is None, lost_ok=True) as state:
        progress("validating")
        decide.require_no_draft(state)
        target = decide.require_checkpoint(state, wanted)
        if path is None:
            wish = _everything(desk, state, target)
        else:
            wish = _one_file(desk, state, target, path)
        desk.require_disk()
        found = wish.changes
        if request.dry_run or (path is not None and not found):
            return answers.Restored(
                published_generation=state.generation,
                tree=wish.tree,
                dry_run=request.dry_run,
                changed=tuple(changed_file(change) for change in found),
                folder_behind=wish.behind,
            )
        progress("checkpoint_pre_restore")
        progress("swap_directories")
        done = desk.commit(
            request.workbench_id,
            lambda now: [
                *wish.rule(decide.unmoved(now, state)),
                *(decide.begin_writing(now, wish.tree) if request.write_folder else ()),
            ],
            blobs=wish.blobs,
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
        pre_restore_checkpoint_id=wish.kept,
        changed=tuple(changed_file(change, proofs) for change in found),
        warnings=(*done.warnings, *(folder.warnings if folder else ())),
        folder_behind=behind,
        folder=folder,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """What Published is to become, the rule that makes it so, and what is kept before."""

    tree: TreeId
    changes: tuple[Change, ...]
    behind: int
    """How many files the followed folder would have otherwise then."""
    rule: Callable[[BenchState], list[BenchEvent]]
    kept: CheckpointId
    blobs: tuple[bytes, ...] = ()


def _everything(desk: BenchRepository, state: BenchState, target: Checkpoint) -> _Wish:
    """Return the wish for the whole checkpoint, conversation and context with it (B10.10)."""
    require_whole(desk, state, target)
    kept, message, totals = desk.new_checkpoint(), desk.new_message(), desk.totals(state)
    items = item.differing(desk, state.context_tree, target.context_tree)
    text = f"Before restoring {local_minute(target.created_ms)}"
    wanted = target.checkpoint_id
    return _Wish(
        tree=target.tree,
        changes=desk.compare.against(state.published, target.tree),
        behind=files_behind(desk, state, target.tree),
        rule=lambda now: decide.restore(now, wanted, kept, message, totals, text, items),
        kept=kept,
    )


def _one_file(
    desk: BenchRepository, state: BenchState, target: Checkpoint, path: BenchPath
) -> _Wish:
    """Return the wish for one file of a checkpoint; everything else stays as it is (B27.1)."""
    file = desk.find(target.tree, path)
    _require_had(desk.soundness.of_file(path, file))
    before = tree.lookup(state.published, path, desk.store.load_tree)
    built = desk.grow(state.published, {path: file})
    kept = decide.checkpoint(
        state,
        desk.new_checkpoint(),
        "auto",
        f"Before restoring {path}",
        desk.totals(state),
        "before_restore",
    )
    known, then = state.files.records.get(path), target.files.records.get(path)
    fact = FileFact(
        path=path,
        file_id=known.file_id if known else desk.new_file(),
        sha256=file.sha256,
        size=file.size,
        imported=then is not None and then.origin == "import",
    )
    after = desk.totals_with(state, state.published, {path: file}, built.id)
    return _Wish(
        tree=built.id,
        changes=() if before == file else (_change(path, before, file),),
        behind=files_behind_with(desk, state, path, file),
        rule=lambda now: decide.restore_file(
            now, target.checkpoint_id, built.id, fact, after, kept
        ),
        kept=kept.checkpoint_id,
        blobs=tuple(built.nodes.values()),
    )


def _change(path: BenchPath, before: tree.File | None, after: tree.File) -> Change:
    return Change(path, "ADDED" if before is None else "MODIFIED", before, after)


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
    _require_had(damage(desk, state, one, thorough=True))


def _require_had(lost: Sequence[Damage]) -> None:
    if lost:
        raise RestoreFailed(
            "the checkpoint lacks contents", reason=lost[0].reason, detail=lost[0].path
        )


def local_minute(at_ms: int) -> str:
    """Return a moment as the person's clock shows it (B10.4)."""
    return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def _info(
    desk: BenchRepository, state: BenchState, one: Checkpoint, told: Mapping[CheckpointId, Story]
) -> answers.CheckpointInfo:
    lost, story = damage(desk, state, one), told.get(one.checkpoint_id, Story())
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
        request=story.request,
        restored_id=story.restored,
    )
