"""Rules about the Draft: opened, written in batches, taken back, published, discarded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import (
    BatchId,
    BlobId,
    CheckpointId,
    CommentId,
    DraftId,
    MessageId,
    RevisionId,
    TreeId,
)
from backshop.base.paths import BenchPath
from backshop.bench import events
from backshop.bench.errors import ConfirmationRequired, DraftExists, PublishedChanged
from backshop.bench.revision import Correction, Draft, Revision
from backshop.bench.state import BenchState
from backshop.bench.values import FileFact, PathChange, Source

from . import refuse
from .checkpoint import checkpoint
from .reconcile import CHOICES


def open_draft(
    state: BenchState,
    draft_id: DraftId,
    revision_id: RevisionId,
    source: Source,
    actor: str,
    message_id: MessageId | None = None,
) -> list[events.BenchEvent]:
    """Begin a Draft from Published; nothing if there is one (B7.2)."""
    refuse.require_exists(state)
    if state.draft is not None:
        return []
    return [
        events.DraftCreated(
            draft_id=draft_id,
            base_tree=state.published,
            base_generation=state.generation,
            revision_id=revision_id,
            source=source,
            message_id=message_id,
            actor=actor,
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWish:
    """A batch ready to be recorded: its tree is built and its contents are stored."""

    built_on: TreeId
    """The Draft (or Published) tree the batch was made from."""
    tree: TreeId
    changes: Sequence[PathChange]
    after: refuse.Totals
    source: Source
    actor: str = "agent"
    kind: str = "batch"
    message_id: MessageId | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class BatchIds:
    """Ids for a batch and for the Draft it may open."""

    batch: BatchId
    draft: DraftId
    opening: RevisionId
    revision: RevisionId


def batch(state: BenchState, wish: BatchWish, ids: BatchIds) -> list[events.BenchEvent]:
    """Record a batch; the first effective one opens the Draft (B7.3, B8.2)."""
    refuse.require_exists(state)
    _require_own(state, wish)
    current = state.published if state.draft is None else state.draft.tree
    if wish.built_on != current:
        raise PublishedChanged("the files changed while the batch was made", reason="batch_stale")
    if wish.tree == current:
        return []
    refuse.require_room(state, wish.after, len(wish.changes))
    opening = open_draft(state, ids.draft, ids.opening, wish.source, wish.actor, wish.message_id)
    return [
        *opening,
        events.BatchApplied(
            batch_id=ids.batch,
            draft_id=ids.draft if state.draft is None else state.draft.draft_id,
            changes=tuple(wish.changes),
            tree=wish.tree,
            revision_id=ids.revision,
            source=wish.source,
            kind=wish.kind,
            message_id=wish.message_id,
            run_id=wish.run_id,
            actor=wish.actor,
        ),
    ]


def ask_for_changes(
    state: BenchState,
    message_id: MessageId,
    revision_id: RevisionId,
    comment_ids: Sequence[str] = (),
    *,
    is_question: bool = False,
) -> list[events.BenchEvent]:
    """Record that the person looked at the Draft and asks for changes of it (W24.1)."""
    draft = refuse.require_draft(state)
    return [
        events.ChangesRequested(
            draft_id=draft.draft_id,
            message_id=message_id,
            tree=draft.tree,
            revision_id=revision_id,
            comment_ids=tuple(CommentId(one) for one in comment_ids),
            is_question=is_question,
        )
    ]


def _require_own(state: BenchState, wish: BatchWish) -> None:
    """Refuse an outside agent the Draft that a turn made: that one waits for review (W13.9).

    Where the conversation ends with a request for changes of it, it waits for an agent (W24.10).
    """
    draft = state.draft
    if draft is None or not wish.actor.startswith("mcp:"):
        return
    if draft.is_asked_by(state.conversation_head_id):
        return
    if draft.source.kind == "workshop" and draft.source.ref != wish.source.ref:
        raise DraftExists("a Draft is waiting for review", reason="draft_exists")


def restore_revision(
    state: BenchState, wanted: RevisionId, revision_id: RevisionId
) -> list[events.BenchEvent]:
    """Bring an earlier state of the Draft back, as a new revision (B8.11)."""
    draft = refuse.require_draft(state)
    found = state.revision(wanted)
    if found is None or found.draft_id != draft.draft_id or found.draft is None:
        raise NotFound("there is no such revision of this Draft", reason="not_found")
    then = found.draft
    same = [p for p in draft.confirmed if draft.changes.get(p) == then.changes.get(p)]
    return [
        events.DraftRestored(
            draft_id=draft.draft_id,
            tree=then.tree,
            revision_id=revision_id,
            restored_revision_id=wanted,
            still_confirmed=tuple(BenchPath(path) for path in sorted(same)),
        )
    ]


def correction(state: BenchState, made: str | None) -> Correction:
    """Return what the person did to the Draft by hand and can take back (B8.22).

    `made` is the revision that it made; another one means that something came after it.
    """
    draft = refuse.require_draft(state)
    if draft.correction is None or made not in (None, draft.revision_id):
        raise ValidationFailed(
            "the last thing that happened to the Draft is no correction by hand",
            reason="nothing_to_undo",
        )
    return draft.correction


def rewind(
    state: BenchState,
    target: Revision | None,
    revision_id: RevisionId,
    message_id: MessageId | None,
    *,
    kind: str = "rewind",
    actor: str = "user",
) -> list[events.BenchEvent]:
    """Make the Draft what it was at a revision; None is a time without one (B8.19, W10.6).

    A revision is written also when nothing changes, so that the way back is recorded.
    """
    refuse.require_exists(state)
    draft = None if target is None else target.draft
    return [
        events.DraftRewound(
            revision_id=revision_id,
            message_id=message_id,
            restored_revision_id=None if target is None or draft is None else target.revision_id,
            tree=None if draft is None else draft.tree,
            kind=kind,
            actor=actor,
        )
    ]


def confirm_deletions(
    state: BenchState,
    paths: Sequence[BenchPath],
    deleted: Mapping[BenchPath, BlobId],
    confirmed: bool,
) -> list[events.BenchEvent]:
    """Record that the person agrees to deletions, or not any more (B13.4, B13.5)."""
    draft = refuse.require_draft(state)
    strange = [path for path in paths if path not in deleted]
    if strange:
        raise ValidationFailed(
            "only deleted files can be confirmed",
            reason="not_deleted",
            detail=", ".join(strange[: refuse.LISTED_PATHS]),
        )
    return [
        events.DeletionsConfirmed(
            draft_id=draft.draft_id,
            paths=tuple(paths),
            sha256=tuple(deleted[path] for path in paths),
            confirmed=confirmed,
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishWish:
    """What the caller found out about the Draft before publishing it."""

    reviewed_tree: TreeId | None
    files: Sequence[FileFact]
    removed: Mapping[BenchPath, BlobId]
    moved: Sequence[BenchPath]
    """Old paths of renamed files: they go too, and need no confirmation."""
    counts: tuple[int, int, int, int]
    before: refuse.Totals
    after: refuse.Totals
    since_review: Sequence[BenchPath] = ()
    """What changed in the Draft after the tree that was reviewed."""


def publish(
    state: BenchState, wish: PublishWish, checkpoint_id: CheckpointId, message_id: MessageId
) -> list[events.BenchEvent]:
    """Make the Draft Published and keep a checkpoint of what it replaces (B9.3–B9.9)."""
    draft = refuse.require_draft(state)
    if wish.reviewed_tree is not None and wish.reviewed_tree != draft.tree:
        raise ConfirmationRequired(
            "the Draft changed since it was reviewed",
            reason="draft_changed",
            detail=", ".join(wish.since_review[: refuse.LISTED_PATHS]) or None,
            hints=(f"review tree {draft.tree}",),
        )
    if state.is_draft_left_behind:
        raise PublishedChanged(
            f"the Draft began at generation {draft.base_generation}, "
            f"Published is at {state.generation}",
            reason="published_changed",
            choices=CHOICES,
        )
    if draft.tree == state.published:
        return [
            events.DraftPublished(
                draft_id=draft.draft_id,
                tree=draft.tree,
                files=(),
                removed=(),
                message_id=message_id,
            )
        ]
    refuse.require_confirmed(draft.confirmed, wish.removed)
    refuse.require_room(state, wish.after, len(wish.files))
    return [
        checkpoint(state, checkpoint_id, "publish", "Before publish", wish.before),
        events.DraftPublished(
            draft_id=draft.draft_id,
            tree=draft.tree,
            files=tuple(wish.files),
            removed=(*wish.removed, *wish.moved),
            message_id=message_id,
            checkpoint_id=checkpoint_id,
            counts=wish.counts,
        ),
    ]


def discard(state: BenchState, message_id: MessageId, *, keep: bool) -> list[events.BenchEvent]:
    """Throw the Draft away (B9.14); it is kept to come back unless it lacks contents."""
    draft = refuse.require_draft(state)
    return [events.DraftDiscarded(draft_id=draft.draft_id, message_id=message_id, kept=keep)]


def discarded(state: BenchState) -> Draft:
    """Return the Draft that was thrown away, if it can still come back (B9.17)."""
    refuse.require_exists(state)
    if state.draft is not None:
        raise DraftExists("there is a Draft already", reason="draft_exists")
    if state.returnable is None:
        raise NotFound(
            "there is no discarded Draft that can come back: none was discarded that had"
            " changes, or the files changed since",
            reason="no_discarded_draft",
        )
    return state.returnable


def bring_back(
    state: BenchState, revision_id: RevisionId, message_id: MessageId
) -> list[events.BenchEvent]:
    """Make the Draft again what it was when it was thrown away (B9.17)."""
    return [
        events.DraftBroughtBack(
            draft_id=discarded(state).draft_id, revision_id=revision_id, message_id=message_id
        )
    ]
