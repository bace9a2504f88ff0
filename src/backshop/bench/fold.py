"""How facts change a workbench: `apply`, total and pure."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from backshop.base.field_copy import made_from
from backshop.base.ids import BlobId, MessageId, RevisionId, TreeId
from backshop.base.pmap import PMap

from .comment import Answer, Comment, Comments
from .events import (
    BatchApplied,
    BenchCreated,
    BenchDeleted,
    BenchEvent,
    BenchRenamed,
    BenchUndeleted,
    ChangesRequested,
    CheckpointCreated,
    CheckpointPinned,
    CheckpointRestored,
    CheckpointsPruned,
    CommentAdded,
    CommentAnswered,
    CommentResolved,
    CommentWithdrawn,
    ContextChanged,
    DeletionsConfirmed,
    DraftBroughtBack,
    DraftCreated,
    DraftDiscarded,
    DraftPublished,
    DraftRebased,
    DraftRestored,
    DraftRewound,
    FileRenamed,
    FilesAdded,
    FilesExtracted,
    FilesRemoved,
    FilesRestored,
    FolderConflictSettled,
    FolderFilesWritten,
    FolderFollowed,
    FolderTaken,
    FolderWriteBegan,
    HeadMoved,
    LimitsSet,
    OriginalsBound,
    OriginalWritten,
    PublishedAdopted,
    PublishedRepaired,
    Recovered,
    RevisionsPruned,
)
from .revision import Correction, Draft, Revision, Round
from .state import BenchState, Checkpoint, FileRecord, Files, FolderLink, OriginalFile
from .values import Import, PathChange


def apply(state: BenchState, fact: BenchEvent, at_ms: int, seq: int) -> BenchState:
    """Return the state after `fact`. Total: what happened is never refused."""
    done = _applied(state, fact, at_ms, seq)
    went_on = done.draft is not None or done.generation != state.generation
    return replace(done, discarded=None) if done.discarded is not None and went_on else done


def _applied(state: BenchState, fact: BenchEvent, at_ms: int, seq: int) -> BenchState:
    state = replace(state, updated_ms=at_ms)
    if isinstance(fact, FolderEvent):
        return replace(state, folder=_apply_folder(state.folder, fact))
    match fact:
        case BenchCreated():
            return _created(state, fact, at_ms)
        case BenchRenamed(name=name):
            return replace(state, name=name)
        case LimitsSet(limits=limits, profile=profile):
            return replace(state, limits=limits, profile=profile)
        case BenchDeleted():
            return replace(state, deleted_ms=at_ms)
        case BenchUndeleted():
            return replace(state, deleted_ms=None)
        case FilesAdded(tree=tree_id, files=files):
            return _published(state, tree_id, state.files.with_facts(files, at_ms))
        case FilesRemoved(tree=tree_id, paths=paths):
            return _published(state, tree_id, state.files.without(paths))
        case FileRenamed(tree=tree_id, path=path, new_path=new_path):
            return _published(state, tree_id, state.files.renamed(path, new_path))
        case FilesRestored():
            return _files_restored(state, fact, at_ms)
        case PublishedAdopted(tree=tree_id, files=files, removed=removed):
            left = state.files.without(removed)
            return _published(state, tree_id, left.with_facts(files, at_ms))
        case CheckpointCreated() | CheckpointRestored() | CheckpointPinned() | CheckpointsPruned():
            return _apply_checkpoint(state, fact, at_ms, seq)
        case RevisionsPruned(revision_ids=gone):
            return replace(state, revisions=state.revisions.without(gone))
        case HeadMoved(message_id=message_id):
            return replace(state, conversation_head_id=message_id)
        case ContextChanged(tree=tree_id):
            return replace(state, context_tree=tree_id)
        case OriginalsBound() | OriginalWritten():
            return _apply_original(state, fact)
        case FilesExtracted() | Recovered() | PublishedRepaired():
            return state
        case (
            DraftCreated()
            | BatchApplied()
            | DraftRestored()
            | DraftRewound()
            | ChangesRequested()
            | DraftRebased()
            | DeletionsConfirmed()
            | DraftPublished()
            | DraftDiscarded()
            | DraftBroughtBack()
        ):
            return _apply_draft(state, fact, at_ms)
        case CommentAdded() | CommentAnswered() | CommentResolved() | CommentWithdrawn():
            return _remarked(state, fact, at_ms)
    assert_never(fact)


def _created(state: BenchState, fact: BenchCreated, at_ms: int) -> BenchState:
    return replace(
        state,
        bench_id=fact.bench_id,
        name=fact.name,
        limits=fact.limits,
        profile=fact.profile,
        published=fact.tree,
        context_tree=fact.context_tree,
        files=state.files.with_facts(fact.files, at_ms),
        created_ms=at_ms,
        parent_bench_id=fact.parent_bench_id,
        fork_mode=fact.fork_mode,
        forked_from=fact.forked_from_message_id,
    )


def _apply_original(state: BenchState, fact: OriginalsBound | OriginalWritten) -> BenchState:
    match fact:
        case OriginalsBound(originals=originals):
            bound = state.originals
            for one in originals:
                bound = bound.put(one.path, OriginalFile(one.target, one.sha256))
            first = state.originals_folder or next(
                (one.target.rpartition("/")[0] or "/" for one in originals), ""
            )
            return replace(state, originals=bound, originals_folder=first)
        case OriginalWritten():
            before = state.originals.get(fact.path)
            known = fact.sha256 or (before.sha256 if before else None)
            now = OriginalFile(fact.target, known, fact.became)
            return replace(state, originals=state.originals.put(fact.path, now))
    assert_never(fact)


CheckpointEvent = CheckpointCreated | CheckpointRestored | CheckpointPinned | CheckpointsPruned


def _apply_checkpoint(state: BenchState, fact: CheckpointEvent, at_ms: int, seq: int) -> BenchState:
    match fact:
        case CheckpointCreated():
            return _with_checkpoint(state, fact, at_ms, seq)
        case CheckpointRestored():
            return _restored(state, fact, at_ms)
        case CheckpointPinned(checkpoint_id=wanted, pinned=pinned):
            kept = [
                replace(c, pinned=pinned) if c.checkpoint_id == wanted else c
                for c in state.checkpoints
            ]
            return replace(state, checkpoints=tuple(kept))
        case CheckpointsPruned(checkpoint_ids=gone):
            remaining = tuple(c for c in state.checkpoints if c.checkpoint_id not in gone)
            return replace(state, checkpoints=remaining)
    assert_never(fact)


FolderEvent = (
    FolderFollowed | FolderWriteBegan | FolderFilesWritten | FolderTaken | FolderConflictSettled
)


def _apply_folder(link: FolderLink | None, fact: FolderEvent) -> FolderLink | None:
    if isinstance(fact, FolderFollowed):
        known = link or FolderLink(fact.folder, fact.inode, fact.tree)
        return replace(known, folder=fact.folder, inode=fact.inode, tree=fact.tree)
    if link is None:
        return None
    match fact:
        case FolderWriteBegan(tree=aim):
            return replace(link, aims=(*(one for one in link.aims if one != aim), aim))
        case FolderFilesWritten():
            conflicts = link.conflicts
            for path in fact.paths:
                conflicts = conflicts.drop(path)
            for conflict in fact.conflicts:
                conflicts = conflicts.put(conflict.path, conflict)
            aims = () if fact.is_last else link.aims
            return replace(link, tree=fact.tree, theirs=fact.theirs, conflicts=conflicts, aims=aims)
        case FolderTaken(tree=tree_id, theirs=theirs, paths=paths):
            conflicts = link.conflicts
            for path in paths:
                conflicts = conflicts.drop(path)
            return replace(link, tree=tree_id, theirs=theirs, conflicts=conflicts)
        case FolderConflictSettled():
            return link
    assert_never(fact)


DraftEvent = (
    DraftCreated
    | BatchApplied
    | DraftRestored
    | DraftRewound
    | ChangesRequested
    | DraftRebased
    | DeletionsConfirmed
    | DraftPublished
    | DraftDiscarded
    | DraftBroughtBack
)


def _apply_draft(state: BenchState, fact: DraftEvent, at_ms: int) -> BenchState:
    match fact:
        case DraftCreated():
            draft = Draft(
                draft_id=fact.draft_id,
                base_tree=fact.base_tree,
                base_generation=fact.base_generation,
                tree=fact.base_tree,
                revision_id=fact.revision_id,
                source=fact.source,
                created_ms=at_ms,
                activity_ms=at_ms,
            )
            bound = fact.message_id or state.conversation_head_id
            return _revised(state, "turn", draft, bound, at_ms)
        case BatchApplied():
            return _batched(state, fact, at_ms)
        case DraftRestored():
            return _restored_draft(state, fact, at_ms)
        case DraftRewound():
            return _rewound(state, fact, at_ms)
        case ChangesRequested():
            return _asked(state, fact, at_ms)
        case DraftRebased():
            return _rebased(state, fact, at_ms)
        case DeletionsConfirmed():
            return _confirmed(state, fact, at_ms)
        case DraftPublished():
            if fact.tree != state.published:
                brought = PMap[Import]() if state.draft is None else state.draft.brought
                files = state.files.with_draft(fact.files, fact.removed, brought, at_ms)
                state = _published(state, fact.tree, files)
            return _closed(state, fact.message_id, at_ms)
        case DraftDiscarded(message_id=message_id, kept=kept):
            gone = state.draft
            is_empty = gone is None or gone.tree == gone.base_tree
            done = _closed(state, message_id, at_ms)
            return replace(
                done,
                discarded=None if is_empty else gone,
                discarded_message_id=message_id if kept else None,
            )
        case DraftBroughtBack():
            return _brought_back(state, fact, at_ms)
    assert_never(fact)


def _batched(state: BenchState, fact: BatchApplied, at_ms: int) -> BenchState:
    draft = state.draft
    if draft is None:
        return state
    changes, confirmed, brought = draft.changes, draft.confirmed, draft.brought
    writes, comments = draft.writes, draft.comments
    draft = _selected(draft, fact.changes)
    for change in fact.changes:
        if change.old_path is not None:
            comments = comments.moved(change.old_path, change.path)
        brought = _brought(brought, change)
        writes = _written(writes, change)
        changes = changes.put(change.path, change)
        confirmed = confirmed.drop(change.path)  # no longer what was confirmed (B13.5)
    draft = replace(
        draft,
        tree=fact.tree,
        revision_id=fact.revision_id,
        activity_ms=at_ms,
        changes=changes,
        confirmed=confirmed,
        brought=brought,
        writes=writes,
        correction=_correction(draft, fact),
        comments=comments,
    ).written(state.by)
    return _revised(state, fact.kind, draft, fact.message_id or state.conversation_head_id, at_ms)


def _selected(draft: Draft, changes: tuple[PathChange, ...]) -> Draft:
    """Follow which changes are left out of which files; a file that is written has them no more."""
    selections = draft.selections
    for change in changes:
        selections = selections.drop(change.path)
        if change.old_path is not None:
            selections = selections.drop(change.old_path)
        if change.selection is not None and change.selection.left_out:
            selections = selections.put(change.path, change.selection)
            draft = draft.anchored(change.selection.tree)
    return replace(draft, selections=selections)


CommentEvent = CommentAdded | CommentAnswered | CommentResolved | CommentWithdrawn


def _remarked(state: BenchState, fact: CommentEvent, at_ms: int) -> BenchState:
    """Change the comments of the Draft, and of its present revision, so that both come back."""
    draft = state.draft
    if draft is None or draft.draft_id != fact.draft_id:
        return state
    comments = _commented(draft.comments, fact, at_ms, state)
    draft = replace(draft, comments=comments, activity_ms=at_ms)
    if isinstance(fact, CommentAdded):
        draft = draft.anchored(fact.tree)
    return replace(state, draft=draft, revisions=state.revisions.remarked(draft))


def _commented(comments: Comments, fact: CommentEvent, at_ms: int, state: BenchState) -> Comments:
    if isinstance(fact, CommentAdded):
        made = made_from(
            Comment,
            fact,
            without=("draft_id", "actor"),
            number=comments.made + 1,
            made_path=fact.path,
            at_ms=at_ms,
            by=state.by,
        )
        return comments.with_one(made)
    found = comments.find(fact.comment_id)
    if found is None:
        return comments
    match fact:
        case CommentAnswered(text=text, actor=actor):
            answer = Answer(text=text, at_ms=at_ms, by=state.by, is_agent=actor != "user")
            return comments.with_one(found.answered(answer))
        case CommentResolved(resolved=resolved):
            return comments.with_one(found.resolved(resolved, at_ms, state.by))
        case CommentWithdrawn():
            return comments.without(fact.comment_id)
    assert_never(fact)


def _correction(draft: Draft, fact: BatchApplied) -> Correction | None:
    """Return what the person did by hand (B8.9); a rescan only takes over what was done."""
    if fact.source.kind != "system" or fact.kind != "batch":
        return None
    paths = dict.fromkeys(change.path for change in fact.changes)
    return Correction(draft.revision_id, tuple(paths))


def _written(
    writes: PMap[tuple[PathChange, ...]], change: PathChange
) -> PMap[tuple[PathChange, ...]]:
    """Follow the writes to one path; a file that goes takes them along, a new name keeps them."""
    if change.op == "delete":
        return writes.drop(change.path)
    earlier = writes.get(change.path, ())
    if change.old_path is not None:
        earlier, writes = writes.get(change.old_path, ()), writes.drop(change.old_path)
    return writes.put(change.path, (*earlier, change))


def _brought(brought: PMap[Import], change: PathChange) -> PMap[Import]:
    """Follow one path: bytes the person brought stay theirs when an agent edits the file."""
    if change.import_size is not None and change.after_sha256 is not None:
        return brought.put(change.path, Import(change.after_sha256, change.import_size))
    if change.op == "delete":
        return brought.drop(change.path)
    moved = None if change.old_path is None else brought.get(change.old_path)
    if change.old_path is None or moved is None:
        return brought
    return brought.drop(change.old_path).put(change.path, moved)


def _restored_draft(state: BenchState, fact: DraftRestored, at_ms: int) -> BenchState:
    if state.draft is None:
        return state
    found = state.revision(fact.restored_revision_id)
    known = state.draft if found is None or found.draft is None else found.draft
    confirmed = PMap[BlobId]()
    for path in fact.still_confirmed:
        sha256 = state.draft.confirmed.get(path)
        confirmed = confirmed if sha256 is None else confirmed.put(path, sha256)
    draft = replace(
        state.draft,
        tree=fact.tree,
        revision_id=fact.revision_id,
        activity_ms=at_ms,
        changes=known.changes,
        confirmed=confirmed,
        brought=known.brought,
        writes=known.writes,
        correction=known.correction,
        selections=known.selections,
        anchors=state.draft.anchors | known.anchors,
    )
    return _revised(state, "rewind", draft, state.conversation_head_id, at_ms)


def _rewound(state: BenchState, fact: DraftRewound, at_ms: int) -> BenchState:
    """Make the Draft what a revision holds; it keeps its identity and its base (B8.19)."""
    found = None
    if fact.restored_revision_id is not None:
        found = state.revision(fact.restored_revision_id)
    if found is None or found.draft is None:
        gone = Revision(fact.revision_id, fact.kind, None, at_ms, None, fact.message_id)
        return replace(state, draft=None, revisions=state.revisions.with_one(gone))
    draft = replace(found.draft, revision_id=fact.revision_id, activity_ms=at_ms)
    if fact.kind != "rewind" and state.draft is not None:  # an agent's step back takes no remark
        anchors = draft.anchors | state.draft.anchors
        draft = replace(draft, comments=state.draft.comments, anchors=anchors)
    if draft.base_tree == state.published:  # went away and came back: still what it began from
        draft = replace(draft, base_generation=state.generation)
    return _revised(state, fact.kind, draft, fact.message_id, at_ms)


def _asked(state: BenchState, fact: ChangesRequested, at_ms: int) -> BenchState:
    """Let the Draft know what was looked at; the state at the message has it."""
    if state.draft is None:
        return state
    made = Round(fact.message_id, fact.tree, at_ms, fact.is_question)
    draft = replace(
        state.draft,
        revision_id=fact.revision_id,
        rounds=(*state.draft.rounds, made),
        comments=state.draft.comments.asked(fact.comment_ids, fact.message_id),
        activity_ms=at_ms,
        correction=None,
    )
    return _revised(state, "turn", draft, fact.message_id, at_ms)


def _rebased(state: BenchState, fact: DraftRebased, at_ms: int) -> BenchState:
    """Begin the Draft anew from what Published is now; agreed deletions were of other contents."""
    if state.draft is None:
        return state
    draft = replace(
        state.draft,
        base_tree=fact.base_tree,
        base_generation=fact.base_generation,
        tree=fact.tree,
        revision_id=fact.revision_id,
        activity_ms=at_ms,
        confirmed=PMap[BlobId](),
        correction=None,
    ).written(state.by)
    return _revised(state, "rebase", draft, state.conversation_head_id, at_ms)


def _revised(
    state: BenchState, kind: str, draft: Draft, message_id: MessageId | None, at_ms: int
) -> BenchState:
    made = Revision(draft.revision_id, kind, draft, at_ms, draft.draft_id, message_id)
    return replace(state, draft=draft, revisions=state.revisions.with_one(made))


def _confirmed(state: BenchState, fact: DeletionsConfirmed, at_ms: int) -> BenchState:
    draft = state.draft
    if draft is None:
        return state
    confirmed = draft.confirmed
    for path, sha256 in zip(fact.paths, fact.sha256, strict=True):
        confirmed = confirmed.put(path, sha256) if fact.confirmed else confirmed.drop(path)
    return replace(state, draft=replace(draft, confirmed=confirmed, activity_ms=at_ms))


def _closed(state: BenchState, message_id: MessageId, at_ms: int) -> BenchState:
    """End a Draft: revisions become stubs, and its card is bound to "no Draft" (B8.16).

    Those of a Draft that a rewind took back go too: nothing leads to them any more.
    """
    revisions = state.revisions.without_all().with_one(_no_draft(message_id, at_ms))
    return replace(state, draft=None, revisions=revisions, conversation_head_id=message_id)


def _brought_back(state: BenchState, fact: DraftBroughtBack, at_ms: int) -> BenchState:
    """Make the Draft again what it was when it was thrown away; the steps to it stay stubs."""
    if state.discarded is None:
        return state
    draft = replace(
        state.discarded, revision_id=fact.revision_id, activity_ms=at_ms, correction=None
    )
    state = replace(state, conversation_head_id=fact.message_id)
    return _revised(state, "turn", draft, fact.message_id, at_ms)


def _no_draft(message_id: MessageId, at_ms: int) -> Revision:
    """Return the revision of a card: its id is the card's with another prefix."""
    own = RevisionId(f"rev_{message_id.partition('_')[2]}")
    return Revision(own, "turn", None, at_ms, None, message_id)


def _published(state: BenchState, tree_id: TreeId, files: Files) -> BenchState:
    return replace(state, published=tree_id, files=files, generation=state.generation + 1)


def _with_checkpoint(
    state: BenchState, fact: CheckpointCreated, at_ms: int, seq: int
) -> BenchState:
    made = made_from(
        Checkpoint,
        fact,
        files=state.files,
        conversation_head_id=state.conversation_head_id,
        generation=state.generation,
        created_ms=at_ms,
        event_seq=seq,
        by=state.by,
    )
    return replace(state, checkpoints=(*state.checkpoints, made))


def _restored(state: BenchState, fact: CheckpointRestored, at_ms: int) -> BenchState:
    target = state.checkpoint(fact.checkpoint_id)
    files = state.files if target is None else target.files
    done = _published(state, fact.tree, files)
    return replace(
        done,
        context_tree=fact.context_tree,
        conversation_head_id=fact.message_id,
        revisions=done.revisions.with_one(_no_draft(fact.message_id, at_ms)),
    )


def _files_restored(state: BenchState, fact: FilesRestored, at_ms: int) -> BenchState:
    """Put files back with what was known of them then: where they came from goes along."""
    kept = state.checkpoint(fact.checkpoint_id)
    known = PMap[FileRecord]() if kept is None else kept.files.records
    found = {one.path: record for one in fact.files if (record := known.get(one.path))}
    brought = {str(path): one.brought for path, one in found.items() if one.brought is not None}
    return _published(state, fact.tree, state.files.with_draft(fact.files, (), brought, at_ms))
