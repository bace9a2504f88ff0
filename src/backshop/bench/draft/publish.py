"""A Draft becomes Published, or is thrown away (B9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backshop.base import tree
from backshop.base.ambient import timestamp
from backshop.base.errors import LimitExceeded, NotFound, ValidationFailed
from backshop.base.ids import TreeId, check_id, check_sha256
from backshop.base.paths import BenchPath
from backshop.store import WriteFailed

from .. import decide, requests
from ..answers import ChangedFile, Discarded, Done, FolderWritten, Published
from ..errors import BenchDamaged, PublishedChanged
from ..folder import standing, write_back
from ..folder.root import FolderAway
from ..repository import BenchRepository, damaged
from ..retry import decided_again
from ..review import change_set
from ..revision import Draft
from ..state import BenchState
from ..tree.difference import Change
from ..values import FileFact
from ..view.folder import Outside
from .progress import Begin, announced

PHASES = (
    "validating",
    "conflict_check",
    "checkpoint_pre_publish",
    "swap_directories",
    "finalizing",
)
UNDONE = ("checkpoint_pre_publish", "swap_directories")
"""Phases that a failure can only end before the commit: it is taken back."""


def publish(desk: BenchRepository, request: requests.DraftPublish) -> Published:
    """Make the Draft Published; what was reviewed is what is published (B9)."""
    if request.dry_run:
        return _publish(desk, request, lambda _: None)
    bench_id = check_id(request.workbench_id, "wb")
    with announced(desk, bench_id, "DraftPublishProgress", PHASES, UNDONE) as begin:
        return _publish(desk, request, begin)


@decided_again
def _publish(desk: BenchRepository, request: requests.DraftPublish, progress: Begin) -> Published:
    reviewed = None
    if request.reviewed_tree is not None:
        reviewed = TreeId(check_sha256(request.reviewed_tree))
    with desk.locked(request.workbench_id, lost_ok=True) as state:
        progress("validating")
        draft = decide.require_draft(state)
        _require_had(desk, draft)
        _require_clean_draft(desk, state, draft)
        desk.require_disk()
        progress("conflict_check")
        _require_clean_published(desk, state)
        found = desk.compare.changes(draft.base_tree, draft.tree)
        _require_untouched_folder(desk, state, draft, found)
        wish = _publish_wish(desk, state, draft, found, reviewed)
        checkpoint_id, message_id = desk.new_checkpoint(), desk.new_message()
        decide.publish(state, wish, checkpoint_id, message_id)  # refuses before anything is begun
        if request.dry_run:
            return _published(state, draft.tree, found, None, dry_run=True)
        progress("checkpoint_pre_publish")
        progress("swap_directories")
        done = desk.commit(
            request.workbench_id,
            lambda now: [
                *decide.publish(decide.unmoved(now, state), wish, checkpoint_id, message_id),
                *decide.begin_writing(now, draft.tree),
            ],
        )
        progress("finalizing")
        proofs = desk.views.proofs(done.state, found)
        folder = write_back.brought_or_told(desk, done.state)
    kept = checkpoint_id if done.state.checkpoint(checkpoint_id) else None
    return _published(
        done.state,
        done.state.published,
        found,
        kept,
        proofs=proofs,
        warnings=(*done.warnings, *(folder.warnings if folder else ())),
        damaged=desk.lost_paths(done.state),
        folder=folder,
    )


def _require_had(desk: BenchRepository, draft: Draft) -> None:
    """Refuse where something that is to be published is lost; other files cost only themselves."""
    lost = desk.soundness.beyond(draft.base_tree, draft.tree)
    if lost:
        raise damaged(lost)


def _publish_wish(
    desk: BenchRepository,
    state: BenchState,
    draft: Draft,
    found: Sequence[Change],
    reviewed: TreeId | None,
) -> decide.PublishWish:
    number = change_set.counts(found)
    return decide.PublishWish(
        reviewed_tree=reviewed,
        files=[_fact(desk, state, draft, change) for change in found if change.after is not None],
        removed={c.path: c.before.sha256 for c in found if c.kind == "DELETED" and c.before},
        moved=[c.old_path for c in found if c.old_path is not None],
        counts=(number.added, number.modified, number.deleted, number.renamed),
        before=desk.totals(state),
        after=desk.totals_after(state, draft.tree),
        since_review=_since(desk, reviewed, draft.tree),
    )


def _since(desk: BenchRepository, reviewed: TreeId | None, now: TreeId) -> list[BenchPath]:
    """Return what differs from the tree that was reviewed, if that tree is still known."""
    if reviewed is None or reviewed == now:
        return []
    try:
        return [change.path for change in desk.compare.changes(reviewed, now)]
    except (NotFound, ValueError):
        return []


def _fact(desk: BenchRepository, state: BenchState, draft: Draft, change: Change) -> FileFact:
    assert change.after is not None
    known = state.files.records.get(change.old_path or change.path)
    brought = draft.brought.get(change.path)
    return FileFact(
        path=change.path,
        file_id=known.file_id if known else desk.new_file(),
        sha256=change.after.sha256,
        size=change.after.size,
        imported=brought is not None and brought.sha256 == change.after.sha256,
    )


def _published(
    state: BenchState,
    tree_id: TreeId,
    found: Sequence[Change],
    checkpoint_id: str | None,
    *,
    dry_run: bool = False,
    proofs: Mapping[BenchPath, bool] | None = None,
    warnings: tuple[str, ...] = (),
    damaged: tuple[str, ...] = (),
    folder: FolderWritten | None = None,
) -> Published:
    return Published(
        published_generation=state.generation,
        published_at=timestamp(state.updated_ms),
        tree=tree_id,
        checkpoint_id=checkpoint_id,
        no_changes=not found,
        dry_run=dry_run,
        changed=tuple(changed_file(change, proofs) for change in found),
        warnings=warnings,
        damaged=damaged,
        folder=folder,
    )


def changed_file(change: Change, proofs: Mapping[BenchPath, bool] | None = None) -> ChangedFile:
    """Return a change as an answer lists it; `proofs` say what was seen in the folder since."""
    return ChangedFile(
        path=change.path,
        kind=change.kind,
        old_path=change.old_path,
        similarity=change.similarity,
        bytes_before=change.before.size if change.before else None,
        bytes_after=change.after.size if change.after else None,
        sha256_before=change.before.sha256 if change.before else None,
        sha256_after=change.after.sha256 if change.after else None,
        verified=None if proofs is None else proofs.get(change.path),
    )


def discard(desk: BenchRepository, request: requests.BenchRequest) -> Discarded:
    """Throw the Draft away; works even when it is damaged (B9.14)."""
    message_id = desk.new_message()
    with desk.locked(request.workbench_id, damaged_ok=True) as state:
        keep = state.draft is not None and _is_whole(desk, state, state.draft)
        done = desk.commit(request.workbench_id, lambda s: decide.discard(s, message_id, keep=keep))
    gone = done.state.returnable
    return Discarded(
        warnings=done.warnings, discarded_draft_id=None if gone is None else gone.draft_id
    )


def bring_back(desk: BenchRepository, request: requests.BenchRequest) -> Done:
    """Take it back that the Draft was thrown away, if all of it is still there (B9.17)."""
    revision_id, message_id = desk.new_revision(), desk.new_message()
    with desk.locked(request.workbench_id, lost_ok=True) as state:
        _require_contents(desk, state, decide.discarded(state))
        done = desk.commit(
            request.workbench_id, lambda now: decide.bring_back(now, revision_id, message_id)
        )
    return Done(warnings=done.warnings)


def _is_whole(desk: BenchRepository, state: BenchState, draft: Draft) -> bool:
    """Say whether a Draft lacks nothing that Published has not lost as well."""
    return not any(desk.soundness.beyond(state.published, one) for one in draft.roots)


def _require_contents(desk: BenchRepository, state: BenchState, draft: Draft) -> None:
    lost = desk.soundness.beyond(state.published, draft.tree, thorough=True)
    if lost:
        raise BenchDamaged("the Draft lacks contents", reason=lost[0].reason, detail=lost[0].path)


def _require_clean_draft(desk: BenchRepository, state: BenchState, draft: Draft) -> None:
    _require_contents(desk, state, draft)
    outside = desk.views.outside(state, "draft", mark=True)
    if outside:
        raise ValidationFailed(
            "another program changed the Draft's folder",
            reason="draft_outside_changes",
            detail=_listed(outside),
        )


def _require_clean_published(desk: BenchRepository, state: BenchState) -> None:
    lost = desk.lost_paths(state)
    outside = [
        one
        for one in desk.views.outside(state, "published", mark=True)
        if one.actual is not None or one.path not in lost  # nobody removed what is lost anyway
    ]
    if outside:
        raise PublishedChanged(
            "another program changed the Published folder",
            reason="published_changed",
            detail=_listed(outside),
            choices=decide.CHOICES,
        )


def _require_untouched_folder(
    desk: BenchRepository, state: BenchState, draft: Draft, found: Sequence[Change]
) -> None:
    """Refuse where others changed a file of the followed folder that the Draft changes too.

    What only they changed stays as it is. A folder that cannot be looked at does not stand in the
    way: the log is what is published, and the folder follows when it is there (B23.6).
    """
    if state.folder is None:
        return
    try:
        outside = standing.look(desk, state).outside
    except (FolderAway, LimitExceeded, WriteFailed):
        return
    touched = {path for one in found for path in (one.path, one.old_path) if path is not None}
    ours = {path: tree.lookup(draft.tree, path, desk.store.load_tree) for path in touched}
    clashing = [one.path for one in outside if one.path in ours and one.found != ours[one.path]]
    if clashing:
        raise PublishedChanged(
            "another program changed files of the folder that the Draft changes too",
            reason="folder_changed",
            detail=", ".join(clashing[: decide.LISTED_PATHS]),
            choices=decide.CHOICES,
        )


def _listed(outside: list[Outside]) -> str:
    return ", ".join(one.path for one in outside[: decide.LISTED_PATHS])
