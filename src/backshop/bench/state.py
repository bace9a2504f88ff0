"""A workbench as its facts tell it: heads, file records, Draft, revisions, checkpoints.

Copies share structure (`PMap`), so a fact costs the same whatever the size of the bench, and a
checkpoint keeps the file records of its time for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never

from backshop.base import tree
from backshop.base.ids import (
    BenchId,
    BlobId,
    CheckpointId,
    DraftId,
    FileId,
    MessageId,
    RevisionId,
    TreeId,
)
from backshop.base.paths import BenchPath
from backshop.base.pmap import PMap

from .events import (
    BatchApplied,
    BenchCreated,
    BenchDeleted,
    BenchEvent,
    BenchRenamed,
    BenchUndeleted,
    CheckpointCreated,
    CheckpointPinned,
    CheckpointRestored,
    CheckpointsPruned,
    ContextChanged,
    DeletionsConfirmed,
    DraftCreated,
    DraftDiscarded,
    DraftPublished,
    DraftRestored,
    FileFact,
    FileRenamed,
    FilesAdded,
    FilesExtracted,
    FilesRemoved,
    Limits,
    LimitsSet,
    PathChange,
    PublishedAdopted,
    PublishedRepaired,
    Recovered,
    Source,
)

MIB = 1024 * 1024
PROFILES = {
    "classic": Limits(
        max_files=10, max_file_bytes=25 * MIB, max_total_bytes=250 * MIB, max_depth=1
    ),
    "standard": Limits(
        max_files=1000, max_file_bytes=25 * MIB, max_total_bytes=5120 * MIB, max_depth=16
    ),
    "large": Limits(
        max_files=200_000, max_file_bytes=2048 * MIB, max_total_bytes=512_000 * MIB, max_depth=16
    ),
}


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What the bench knows of a Published file beyond its content."""

    file_id: FileId
    origin: str
    added_ms: int
    modified_ms: int
    import_sha256: BlobId | None
    size: int


@dataclass(frozen=True, slots=True)
class Files:
    """The records of all Published files, and their bytes together."""

    records: PMap[FileRecord] = field(default_factory=PMap)
    total_bytes: int = 0

    def with_facts(self, facts: Iterable[FileFact], at_ms: int) -> Files:
        """Return a copy in which these files came, changed or moved."""
        records, total = self.records, self.total_bytes
        for fact in facts:
            old = records.get(fact.path)
            kept_import = old.import_sha256 if old else None
            total += fact.size - (old.size if old else 0)
            record = FileRecord(
                file_id=fact.file_id,
                origin="import" if fact.imported else "bench",
                added_ms=old.added_ms if old else at_ms,
                modified_ms=at_ms,
                import_sha256=fact.sha256 if fact.imported else kept_import,
                size=fact.size,
            )
            records = records.put(fact.path, record)
        return Files(records, total)

    def without(self, paths: Iterable[BenchPath]) -> Files:
        """Return a copy without these paths."""
        records, total = self.records, self.total_bytes
        for path in paths:
            old = records.get(path)
            total -= old.size if old else 0
            records = records.drop(path)
        return Files(records, total)

    def renamed(self, path: BenchPath, new_path: BenchPath) -> Files:
        """Return a copy in which a file has another path."""
        record = self.records.get(path)
        if record is None:
            return self
        return Files(self.records.drop(path).put(new_path, record), self.total_bytes)


@dataclass(frozen=True, slots=True)
class Revision:
    """A Draft state that can be brought back; `tree` None once pruned."""

    revision_id: RevisionId
    kind: str
    tree: TreeId | None
    created_ms: int
    draft_id: DraftId
    message_id: MessageId | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """The one changeable copy."""

    draft_id: DraftId
    base_tree: TreeId
    base_generation: int
    tree: TreeId
    revision_id: RevisionId
    source: Source
    created_ms: int
    activity_ms: int
    changes: PMap[PathChange] = field(default_factory=PMap)
    """The newest change of each path, for summaries and effect reports."""
    confirmed: PMap[BlobId] = field(default_factory=PMap)
    """Deletions the person agreed to: path → what is deleted."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state of Published that can be brought back, with its file records."""

    checkpoint_id: CheckpointId
    reason: str
    trigger: str | None
    description: str
    tree: TreeId
    context_tree: TreeId
    files: Files
    conversation_head_id: MessageId | None
    generation: int
    created_ms: int
    event_seq: int
    file_count: int
    total_bytes: int
    actor: str
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class BenchState:
    """All heads of a bench (B1.6) and what hangs on them."""

    bench_id: BenchId | None = None
    name: str = ""
    limits: Limits = PROFILES["standard"]
    profile: str = "standard"
    published: TreeId = tree.EMPTY
    context_tree: TreeId = tree.EMPTY
    generation: int = 0
    files: Files = field(default_factory=Files)
    draft: Draft | None = None
    conversation_head_id: MessageId | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    revisions: tuple[Revision, ...] = ()
    deleted_ms: int | None = None
    created_ms: int = 0
    updated_ms: int = 0
    parent_bench_id: BenchId | None = None
    fork_mode: str | None = None

    @property
    def exists(self) -> bool:
        """Whether it was ever created and is not in the trash."""
        return self.bench_id is not None and self.deleted_ms is None

    def checkpoint(self, checkpoint_id: CheckpointId) -> Checkpoint | None:
        """Return a live checkpoint, or None."""
        return next((c for c in self.checkpoints if c.checkpoint_id == checkpoint_id), None)

    def roots(self) -> set[TreeId]:
        """Return every tree the bench can still come back to (B2.9)."""
        found = {self.published, self.context_tree}
        if self.draft is not None:
            found |= {self.draft.tree, self.draft.base_tree}
        for checkpoint in self.checkpoints:
            found |= {checkpoint.tree, checkpoint.context_tree}
        found |= {revision.tree for revision in self.revisions if revision.tree is not None}
        return found


def apply(state: BenchState, fact: BenchEvent, at_ms: int, seq: int) -> BenchState:
    """Return the state after `fact`. Total: what happened is never refused."""
    state = replace(state, updated_ms=at_ms)
    match fact:
        case BenchCreated():
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
            )
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
        case PublishedAdopted(tree=tree_id, files=files, removed=removed):
            left = state.files.without(removed)
            return _published(state, tree_id, left.with_facts(files, at_ms))
        case CheckpointCreated() | CheckpointRestored() | CheckpointPinned() | CheckpointsPruned():
            return _apply_checkpoint(state, fact, at_ms, seq)
        case ContextChanged(tree=tree_id):
            return replace(state, context_tree=tree_id)
        case FilesExtracted() | Recovered() | PublishedRepaired():
            return state
        case (
            DraftCreated()
            | BatchApplied()
            | DraftRestored()
            | DeletionsConfirmed()
            | DraftPublished()
            | DraftDiscarded()
        ):
            return _apply_draft(state, fact, at_ms)
    assert_never(fact)


CheckpointEvent = CheckpointCreated | CheckpointRestored | CheckpointPinned | CheckpointsPruned


def _apply_checkpoint(state: BenchState, fact: CheckpointEvent, at_ms: int, seq: int) -> BenchState:
    match fact:
        case CheckpointCreated():
            return _with_checkpoint(state, fact, at_ms, seq)
        case CheckpointRestored():
            return _restored(state, fact)
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


DraftEvent = (
    DraftCreated
    | BatchApplied
    | DraftRestored
    | DeletionsConfirmed
    | DraftPublished
    | DraftDiscarded
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
            first = Revision(fact.revision_id, "turn", fact.base_tree, at_ms, fact.draft_id)
            return replace(state, draft=draft, revisions=(*state.revisions, first))
        case BatchApplied() | DraftRestored():
            return _moved(state, fact, at_ms)
        case DeletionsConfirmed():
            return _confirmed(state, fact, at_ms)
        case DraftPublished():
            if fact.tree != state.published:
                files = state.files.without(fact.removed).with_facts(fact.files, at_ms)
                state = _published(state, fact.tree, files)
            return _closed(state, fact.draft_id, fact.message_id)
        case DraftDiscarded(draft_id=draft_id, message_id=message_id):
            return _closed(state, draft_id, message_id)
    assert_never(fact)


def _moved(state: BenchState, fact: BatchApplied | DraftRestored, at_ms: int) -> BenchState:
    draft = state.draft
    if draft is None:
        return state
    kind, message_id = "rewind", None
    draft = replace(draft, tree=fact.tree, revision_id=fact.revision_id, activity_ms=at_ms)
    if isinstance(fact, BatchApplied):
        kind, message_id = fact.kind, fact.message_id
        changes, confirmed = draft.changes, draft.confirmed
        for change in fact.changes:
            changes = changes.put(change.path, change)
            confirmed = confirmed.drop(change.path)  # no longer what was confirmed (B13.5)
        draft = replace(draft, changes=changes, confirmed=confirmed)
    else:
        draft = replace(draft, confirmed=PMap[BlobId]())
    revision = Revision(fact.revision_id, kind, fact.tree, at_ms, draft.draft_id, message_id)
    return replace(state, draft=draft, revisions=(*state.revisions, revision))


def _confirmed(state: BenchState, fact: DeletionsConfirmed, at_ms: int) -> BenchState:
    draft = state.draft
    if draft is None:
        return state
    confirmed = draft.confirmed
    for path, sha256 in zip(fact.paths, fact.sha256, strict=True):
        confirmed = confirmed.put(path, sha256) if fact.confirmed else confirmed.drop(path)
    return replace(state, draft=replace(draft, confirmed=confirmed, activity_ms=at_ms))


def _closed(state: BenchState, draft_id: DraftId, message_id: MessageId) -> BenchState:
    """End a Draft: its revisions become stubs (B8.16)."""
    revisions = tuple(
        replace(r, tree=None) if r.draft_id == draft_id else r for r in state.revisions
    )
    return replace(state, draft=None, revisions=revisions, conversation_head_id=message_id)


def _published(state: BenchState, tree_id: TreeId, files: Files) -> BenchState:
    return replace(state, published=tree_id, files=files, generation=state.generation + 1)


def _with_checkpoint(
    state: BenchState, fact: CheckpointCreated, at_ms: int, seq: int
) -> BenchState:
    made = Checkpoint(
        checkpoint_id=fact.checkpoint_id,
        reason=fact.reason,
        trigger=fact.trigger,
        description=fact.description,
        tree=fact.tree,
        context_tree=fact.context_tree,
        files=state.files,
        conversation_head_id=state.conversation_head_id,
        generation=state.generation,
        created_ms=at_ms,
        event_seq=seq,
        file_count=fact.file_count,
        total_bytes=fact.total_bytes,
        actor=fact.actor,
    )
    return replace(state, checkpoints=(*state.checkpoints, made))


def _restored(state: BenchState, fact: CheckpointRestored) -> BenchState:
    target = state.checkpoint(fact.checkpoint_id)
    files = state.files if target is None else target.files
    done = _published(state, fact.tree, files)
    return replace(done, context_tree=fact.context_tree, conversation_head_id=fact.message_id)
