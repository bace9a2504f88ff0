"""A workbench as its facts tell it: heads, file records, Draft, revisions, checkpoints.

Copies share structure (`PMap`), so a fact costs the same whatever the size of the bench, and a
checkpoint keeps the file records of its time for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from backshop.base import ids, tree
from backshop.base.acting import By
from backshop.base.paths import BenchPath
from backshop.base.pmap import PMap
from backshop.base.tree import EMPTY

from .revision import Draft, Revision, Revisions
from .values import FileFact, FolderConflict, Import, Limits

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

    file_id: ids.FileId
    origin: str
    added_ms: int
    modified_ms: int
    size: int
    brought: Import | None
    """What the person brought in; kept when a publish changes the file."""


@dataclass(frozen=True, slots=True)
class Files:
    """The records of all Published files, and their bytes together."""

    records: PMap[FileRecord] = field(default_factory=PMap)
    total_bytes: int = 0

    def with_facts(self, facts: Iterable[FileFact], at_ms: int) -> Files:
        """Return a copy in which these files came or changed."""
        done = self
        for fact in facts:
            done = done._with(fact, done.records.get(fact.path), at_ms)
        return done

    def with_draft(
        self,
        facts: Iterable[FileFact],
        removed: Sequence[BenchPath],
        brought: Mapping[str, Import],
        at_ms: int,
    ) -> Files:
        """Return a copy after a publish: a moved file keeps what is known of it (B6.5).

        `brought` is what the person put into the Draft's folder, path by path.
        """
        moved = {one.file_id: one for path in removed if (one := self.records.get(path))}
        done = self.without(removed)
        for fact in facts:
            old = done.records.get(fact.path) or moved.get(fact.file_id)
            done = done._with(fact, old, at_ms, brought.get(fact.path))
        return done

    def _with(
        self, fact: FileFact, old: FileRecord | None, at_ms: int, brought: Import | None = None
    ) -> Files:
        own = Import(fact.sha256, fact.size) if fact.imported else brought
        record = FileRecord(
            file_id=fact.file_id,
            origin="import" if fact.imported else "bench",
            added_ms=old.added_ms if old else at_ms,
            modified_ms=at_ms,
            size=fact.size,
            brought=own or (old.brought if old else None),
        )
        replaced = self.records.get(fact.path)
        total = self.total_bytes + fact.size - (replaced.size if replaced else 0)
        return Files(self.records.put(fact.path, record), total)

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
class OriginalFile:
    """A file of the person's own that a path of Published goes back to."""

    target: str
    sha256: ids.BlobId | None
    """What is there as far as the bench knows: copied in, or written by it."""
    became: str | None = None
    """What became of it when it was to be written last."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state of Published that can be brought back, with its file records."""

    checkpoint_id: ids.CheckpointId
    reason: str
    trigger: str | None
    description: str
    tree: ids.TreeId
    context_tree: ids.TreeId
    files: Files
    conversation_head_id: ids.MessageId | None
    generation: int
    created_ms: int
    event_seq: int
    file_count: int
    total_bytes: int
    actor: str
    pinned: bool = False
    by: By | None = None


@dataclass(frozen=True, slots=True)
class FolderLink:
    """The person's folder that a bench follows, and what it is known to hold (B23)."""

    folder: str
    inode: int
    tree: ids.TreeId
    """What the folder holds as far as is known: the rest of Published is still to be written."""
    theirs: ids.TreeId = EMPTY
    """What is there instead where a conflict waits."""
    conflicts: PMap[FolderConflict] = field(default_factory=PMap)
    aims: tuple[ids.TreeId, ...] = ()
    """What it was to hold in write-backs that did not come to their end, newest last."""


@dataclass(frozen=True, slots=True)
class BenchState:
    """All heads of a bench (B1.6) and what hangs on them."""

    bench_id: ids.BenchId | None = None
    name: str = ""
    limits: Limits = PROFILES["standard"]
    profile: str = "standard"
    published: ids.TreeId = tree.EMPTY
    context_tree: ids.TreeId = tree.EMPTY
    generation: int = 0
    files: Files = field(default_factory=Files)
    draft: Draft | None = None
    discarded: Draft | None = None
    """The Draft that was thrown away last, as long as nothing came of the files since (B9.17)."""
    discarded_message_id: ids.MessageId | None = None
    """What tells of that, if its contents are still pinned: an earlier program let go of them."""
    conversation_head_id: ids.MessageId | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    revisions: Revisions = field(default_factory=Revisions)
    deleted_ms: int | None = None
    created_ms: int = 0
    updated_ms: int = 0
    parent_bench_id: ids.BenchId | None = None
    fork_mode: str | None = None
    by: By | None = None
    """Who did what is folded last, as far as it says so (T1.6)."""
    forked_from: ids.MessageId | None = None
    folder: FolderLink | None = None
    """The person's folder that it follows, if it is a workbench of one."""
    originals: PMap[OriginalFile] = field(default_factory=PMap)
    originals_folder: str = ""
    """Where the first of them is: what is made here goes beside it."""

    @property
    def id(self) -> ids.BenchId:
        """The id of a bench that was created."""
        assert self.bench_id is not None
        return self.bench_id

    @property
    def exists(self) -> bool:
        """Whether it was ever created and is not in the trash."""
        return self.bench_id is not None and self.deleted_ms is None

    @property
    def is_draft_left_behind(self) -> bool:
        """Whether Published is another than the Draft began from, or was meanwhile (B9.4)."""
        draft, now = self.draft, (self.generation, self.published)
        return draft is not None and (draft.base_generation, draft.base_tree) != now

    def checkpoint(self, checkpoint_id: ids.CheckpointId) -> Checkpoint | None:
        """Return a live checkpoint, or None."""
        return next((c for c in self.checkpoints if c.checkpoint_id == checkpoint_id), None)

    def brought(self) -> Iterator[tuple[str, Import]]:
        """Yield what the person brought in, into Published and into the Draft's folder (M4.6)."""
        for path, record in self.files.records.items():
            if record.brought is not None:
                yield path, record.brought
        if self.draft is not None:
            yield from self.draft.brought.items()

    @property
    def returnable(self) -> Draft | None:
        """The discarded Draft, if it can come back (B9.17)."""
        return None if self.discarded_message_id is None else self.discarded

    def roots(self) -> set[ids.TreeId]:
        """Return every tree the bench can still come back to (B2.9)."""
        found = {self.published, self.context_tree}
        for draft in (self.draft, self.returnable):
            found |= set() if draft is None else draft.roots
        if self.folder is not None:
            found |= {self.folder.tree, self.folder.theirs, *self.folder.aims}
        for checkpoint in self.checkpoints:
            found |= {checkpoint.tree, checkpoint.context_tree}
        for revision in self.revisions.kept:
            assert revision.draft is not None, "what is kept has its Draft"
            found |= revision.draft.roots
        return found

    def revision(self, revision_id: ids.RevisionId) -> Revision | None:
        """Return a revision, pruned or not, or None."""
        return self.revisions.find(revision_id)
