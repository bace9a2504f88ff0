"""Answers of the bench's commands, field by field; those of a review are in `bench.review`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backshop.base.acting import Acted, By

from .requests import LimitValues


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A new workbench; where `reuse` was asked for, perhaps one that was there already."""

    workbench_id: str
    created: bool | None = None
    """Said of `reuse` alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCreated:
    """The sample workbench, and whether it was made just now."""

    workbench_id: str
    name: str
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """It is done; warnings say what went less well than asked."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Discarded(Done):
    """The Draft was thrown away."""

    discarded_draft_id: str | None = None
    """It, while `DraftBringBack` can bring it back; none where it changed nothing (B9.17)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchInfo:
    """A workbench in one line."""

    workbench_id: str
    name: str
    created_at: str
    updated_at: str
    file_count: int
    total_bytes: int
    published_generation: int
    has_draft: bool
    health: str
    deleted_at: str | None = None
    parent_workbench_id: str | None = None
    fork_mode: str | None = None
    forked_at: str | None = None
    forked_from_message_id: str | None = None
    folder_name: str | None = None
    """What the folder is called that it follows, if it does (B23)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchList:
    """A page of workbenches."""

    workbenches: tuple[BenchInfo, ...]
    next_cursor: str | None = None


Names = Mapping[str, str]
"""What people are called, by what events call them; empty in a home of one person."""


def acted(by: By | None, names: Names) -> Acted | None:
    """Return who did something as answers say it."""
    return None if by is None else Acted(**by.data(), name=names.get(by.person or ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundInfo:
    """When the person asked for changes of the Draft, in which message, and what they had seen."""

    message_id: str
    tree: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSince:
    """A file of the Draft that was written after something, and what wrote it."""

    path: str
    agent: str | None = None
    """As events name it (T1.6); None for a person, or where it was not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesAsked:
    """What the person asked for about the Draft, and nobody has taken up yet (W24.10)."""

    message_id: str
    text: str
    asked_at: str
    written_since: tuple[WrittenSince, ...] = ()
    """What was written after it with plain tools, the first hundred: it may be done (W24.12)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftState:
    """Whether there is a Draft, and how old."""

    has_draft: bool
    state: str
    draft_id: str | None = None
    created_at: str | None = None
    last_activity_at: str | None = None
    source: str | None = None
    base_generation: int | None = None
    tree: str | None = None
    revision_id: str | None = None
    reminder: str = "none"
    outside_changes: tuple[str, ...] = ()
    stale_reason: str | None = None
    """Why it cannot be published as it is: `published_changed` since it began (B9.4)."""
    undoable: tuple[str, ...] = ()
    """Paths the person reverted, deleted or renamed in it last; `DraftUndo` takes that back."""
    writers: tuple[Acted, ...] = ()
    """Whose writes are in it, as far as that was recorded."""
    rounds: int = 0
    """How often the person asked for changes of it (W24.1)."""
    last_round: RoundInfo | None = None
    discarded_draft_id: str | None = None
    """The Draft that was thrown away last, while `DraftBringBack` can bring it back (B9.17)."""
    discarded_message_id: str | None = None
    """The line of the conversation that tells of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A workbench with all it takes to show it."""

    workbench: BenchInfo
    draft: DraftState
    health: str
    health_reason: str | None = None
    outside_changes: tuple[str, ...] = ()
    """Paths of the Published folder that are not what Published has there (B9.5)."""
    folder: FolderState | None = None
    """How the person's folder stands that it follows, if it does (B23)."""
    recovery: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much it may hold."""

    limits: LimitValues
    profile: str
    supported_types: tuple[str, ...] = ()
    """Kinds of files that can be looked into; others are kept as they are."""
    sandbox_root: str | None = None
    """The workbench's folder on this machine; for the home's owner only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file (B6.5)."""

    path: str
    kind: str
    access: str
    size: int
    sha256: str
    mime_type: str
    is_opaque: bool
    readable: bool
    unreadable_reason: str | None = None
    file_id: str | None = None
    origin: str | None = None
    import_sha256: str | None = None
    added_at: str | None = None
    modified_at: str | None = None
    draft_status: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileList:
    """A page of files."""

    files: tuple[FileEntry, ...]
    total: int
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddResult:
    """What became of one source."""

    source_path: str
    status: str
    path: str | None = None
    file_id: str | None = None
    reason: str | None = None
    detail: str | None = None
    """What is wrong with a name that is not a path of a workbench."""
    opaque_notice: bool | None = None
    normalized_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of every source."""

    add_results: tuple[AddResult, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PathResult:
    """What became of one path."""

    path: str
    status: str
    reason: str | None = None
    final_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What became of every path."""

    remove_results: tuple[PathResult, ...]
    checkpoint_id: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WroteBack:
    """One file of the person's own, and what became of it.

    `written`, `unchanged` (it was so already), or why it is what it was: `changed` since it was
    copied in, `missing`, `not_a_file`, `open` in another program, `failed`.
    """

    path: str
    target: str
    became: str
    detail: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether the result is there."""
        return self.became in ("written", "unchanged")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBack:
    """Which results are where the person keeps their files."""

    files: tuple[WroteBack, ...]
    salvaged: tuple[str, ...] = ()
    """Where the bench keeps what other programs wrote meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What became of every path."""

    extract_results: tuple[PathResult, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """A file under its new path."""

    path: str
    checkpoint_id: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batched:
    """What a write did to the Draft."""

    draft_id: str | None
    draft_revision_id: str | None
    no_changes: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected(Batched):
    """What the person did to the Draft by hand, or took back of that."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file that a step would change or has changed."""

    path: str
    kind: str
    old_path: str | None = None
    similarity: int | None = None
    bytes_before: int | None = None
    bytes_after: int | None = None
    sha256_before: str | None = None
    sha256_after: str | None = None
    verified: bool | None = None
    """Afterwards: what lies in the Published folder was read and has this hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many files are touched in which way."""

    added: int
    modified: int
    renamed: int
    deleted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What differs between two states of Published; `counts` cover all of it."""

    entries: tuple[ChangedFile, ...]
    counts: Counts
    total: int
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The Draft is Published; `changed` with the hashes that are there now."""

    published_generation: int
    published_at: str
    tree: str
    checkpoint_id: str | None = None
    no_changes: bool = False
    dry_run: bool = False
    changed: tuple[ChangedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    """Other files of the workbench whose contents are missing or altered."""
    folder: FolderWritten | None = None
    """What became of it in the folder that the workbench follows (B23.6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointInfo:
    """One checkpoint."""

    checkpoint_id: str
    created_at: str
    reason: str
    description: str
    files: int
    total_bytes: int
    published_generation: int
    pinned: bool
    restorable: bool
    unrestorable_reason: str | None = None
    trigger: str | None = None
    actor: str = "user"
    by: Acted | None = None
    request: str | None = None
    """Of one kept before a publish: what had been asked for that was published then (B27.5)."""
    restored_id: str | None = None
    """Of one kept before a restore: the checkpoint that was brought back then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointList:
    """A page of checkpoints, newest first."""

    checkpoints: tuple[CheckpointInfo, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointMade:
    """A new checkpoint."""

    checkpoint_id: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """Published is again what the checkpoint holds."""

    published_generation: int
    tree: str
    pre_restore_checkpoint_id: str | None = None
    dry_run: bool = False
    changed: tuple[ChangedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    folder_behind: int = 0
    """How many files the followed folder has otherwise now; `FolderWriteBack` writes them."""
    folder: FolderWritten | None = None
    """What became of it in the folder, where that was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """Outside edits were dealt with; `salvaged` says where their bytes are."""

    published_generation: int
    salvaged: tuple[str, ...] = ()
    draft_revision_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderConflicted:
    """A file of the folder that was not written, because it is not what was reviewed."""

    path: str
    became: str
    """What stands in the way: `changed`, `missing`, `not_a_file` or `open`."""
    theirs_sha256: str | None = None
    ours_sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOutside:
    """A file of the folder that others changed: `ADDED`, `MODIFIED`, `DELETED`, `UNREADABLE`."""

    path: str
    kind: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSkipped:
    """What is passed over in the folder."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderState:
    """How a workbench and the folder it follows stand to each other (B23)."""

    name: str
    is_there: bool
    in_step: bool
    """Whether the folder holds what Published is, and nobody changed anything in it."""
    is_writing: bool
    """Whether a write-back was begun and did not come to its end."""
    to_write: tuple[str, ...] = ()
    to_write_count: int = 0
    conflicts: tuple[FolderConflicted, ...] = ()
    outside: tuple[FolderOutside, ...] = ()
    outside_count: int = 0
    skipped: tuple[FolderSkipped, ...] = ()
    skipped_count: int = 0
    reason: str | None = None
    """Why it cannot be used, or not be taken in by itself: `gone`, `replaced`, `emptied`, …"""
    folder: str | None = None
    """Where it is on this machine; for the home's owner only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFailed:
    """A file that could not be written: `no_rights`, `disk_full`, `write_failed`, …"""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderWritten:
    """What became of Published in the folder."""

    written: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    in_the_way: tuple[FolderFailed, ...] = ()
    """Of each conflict why: `changed`, `missing`, `not_a_file` or `open`."""
    failed: tuple[FolderFailed, ...] = ()
    left: int = 0
    """How many files are still to be written, conflicts apart."""
    is_atomic: bool = True
    """False: the file system cannot exchange names, so a name was missing for a moment."""
    salvaged: tuple[str, ...] = ()
    """Where it is kept what came out of its place and was not what was reviewed."""
    kept_out: tuple[str, ...] = ()
    """What is Published and never written: paths into `.git`, `.hg` and `.svn`."""
    commit_message: str | None = None
    """What a commit could say, where the folder is in a git repository; nothing is committed."""
    reason: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderTook:
    """What others did in the folder is Published now."""

    taken: tuple[str, ...]
    published_generation: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOpened:
    """The workbench of a folder, and whether it was made just now."""

    workbench_id: str
    name: str
    created: bool
    files: int
    folder: FolderState
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFolder:
    """What the Draft's folder holds."""

    whole: bool
    """Whether every file of the Draft is there; else those it changes."""
    files: int
    outside_changes: tuple[str, ...] = ()
    folder: str | None = None
    """Where it is on this machine; for the home's owner only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSize:
    """What a workbench takes on disk."""

    file_bytes: int
    """The files of Published, added up."""
    content_bytes: int
    """Every version that is kept, each content once; other workbenches may need the same."""
    folder_bytes: int
    """The workbench's folders on this machine, as the file system counts them."""
    published_bytes: int
    draft_bytes: int
    salvage_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What became of a path that others had changed; ours may lie under `copy_path`."""

    path: str
    keep: str
    copy_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """The Draft begins from what Published is now."""

    published_generation: int
    resolved: tuple[Resolved, ...] = ()
    draft_revision_id: str | None = None
    checkpoint_id: str | None = None
    dry_run: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditText:
    """The audit log as JSON Lines."""

    jsonl: str
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One thing that happened (B17.1)."""

    seq: int
    at: str
    actor: str
    kind: str
    paths: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    counts: dict[str, int] | None = None
    error: str | None = None
    provider_id: str | None = None
    model_id: str | None = None
    scope_hash: str | None = None
    by: Acted | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """A page of the audit log."""

    entries: tuple[AuditEntry, ...]
    next_after_seq: int | None = None
