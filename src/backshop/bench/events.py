"""The facts of a workbench's stream. A fact records values and computes nothing.

Every fact that names a tree pins it. `actor` is `user`, `agent`, `system` or `mcp:<client>`.
"""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base import ids
from backshop.base.acting import ByAgent, ByUser
from backshop.base.event import event
from backshop.base.paths import BenchPath
from backshop.base.place import Place

from .values import FileFact, FolderConflict, ItemChange, Limits, Original, PathChange, Source


@event("bench.created", v=2, upgraders={1: dict})  # 2: with the flow of new workbenches
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchCreated(ByUser):
    """A workbench came into being, empty or as a fork."""

    bench_id: ids.BenchId
    name: str
    limits: Limits
    profile: str
    tree: ids.TreeId
    context_tree: ids.TreeId
    files: tuple[FileFact, ...] = ()
    parent_bench_id: ids.BenchId | None = None
    fork_mode: str | None = None
    forked_from_message_id: ids.MessageId | None = None
    default_model_id: str | None = None
    """What the person had chosen for new workbenches when this one was made (M2.6)."""
    default_flow: str | None = None
    """How turns of new workbenches are executed since then, unless the person says so (W1.4)."""


@event("bench.renamed")
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRenamed(ByUser):
    """The person gave it another name."""

    name: str


@event("bench.limits_set")
@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsSet(ByUser):
    """The person changed how much it may hold."""

    limits: Limits
    profile: str


@event("bench.deleted")
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchDeleted(ByUser):
    """The person threw it away; it stays in the trash for a while."""


@event("bench.undeleted")
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchUndeleted(ByUser):
    """The person took it out of the trash."""


@event("files.added")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilesAdded(ByUser):
    """Copies of the person's files came into Published, some in place of others."""

    tree: ids.TreeId
    files: tuple[FileFact, ...]


@event("files.removed")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRemoved(ByUser):
    """Files left Published."""

    tree: ids.TreeId
    paths: tuple[BenchPath, ...]


@event("file.renamed")
@dataclass(frozen=True, slots=True, kw_only=True)
class FileRenamed(ByUser):
    """A file of Published has another path."""

    tree: ids.TreeId
    path: BenchPath
    new_path: BenchPath


@event("files.restored")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRestored(ByUser):
    """Single files of Published are again what a checkpoint holds; nothing else went back."""

    tree: ids.TreeId
    checkpoint_id: ids.CheckpointId
    files: tuple[FileFact, ...]


@event("published.adopted")
@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAdopted(ByUser):
    """Edits made in the Published folder by other programs became the person's change."""

    tree: ids.TreeId
    files: tuple[FileFact, ...]
    removed: tuple[BenchPath, ...]


@event("files.extracted")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilesExtracted(ByUser):
    """Copies of Published files went out of the workbench."""

    count: int


@event("originals.bound")
@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalsBound(ByUser):
    """The person said which of their own files the results go back to."""

    originals: tuple[Original, ...]


@event("original.written")
@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalWritten(ByUser):
    """A file of the person's own was exchanged for what is Published, or why it was not."""

    path: BenchPath
    target: str
    became: str
    sha256: ids.BlobId | None = None
    """What is there since, if it was written."""


@event("draft.created")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCreated(ByAgent):
    """A Draft began; it is compared with `base_tree` for as long as it lives."""

    draft_id: ids.DraftId
    base_tree: ids.TreeId
    base_generation: int
    revision_id: ids.RevisionId
    source: Source
    message_id: ids.MessageId | None = None  # the record its first state belongs to, else the head


@event("draft.batch_applied", v=2, upgraders={1: dict})  # 2: with what the person left out
@dataclass(frozen=True, slots=True, kw_only=True)
class BatchApplied(ByAgent):
    """A set of writes reached the Draft, all of them or none."""

    batch_id: ids.BatchId
    draft_id: ids.DraftId
    changes: tuple[PathChange, ...]
    tree: ids.TreeId  # the whole Draft, not a patch: any revision restores on its own
    revision_id: ids.RevisionId
    source: Source
    kind: str = "batch"
    """`batch`, `rescan` or `rollback`: what kind of revision it makes."""
    message_id: ids.MessageId | None = None
    run_id: str | None = None


@event("draft.restored", v=2, upgraders={1: lambda old: {**old, "still_confirmed": []}})
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRestored(ByUser):
    """The Draft went back to an earlier revision of it."""

    draft_id: ids.DraftId
    tree: ids.TreeId
    revision_id: ids.RevisionId
    restored_revision_id: ids.RevisionId
    still_confirmed: tuple[BenchPath, ...] = ()
    """Deletions that are the same in both states, and stay agreed to; in version 1 none did."""


@event("draft.rewound")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRewound(ByUser):
    """The Draft is again what a revision holds, or there is none, as there was none then."""

    revision_id: ids.RevisionId
    message_id: ids.MessageId | None = None  # the record this state belongs to
    restored_revision_id: ids.RevisionId | None = None
    tree: ids.TreeId | None = None
    kind: str = "rewind"
    """`rewind`, `rollback` (an item undone), `turn` (the same Draft under another record) or
    `replay` (a batch that was taken back with an interrupted item, without applying it again)."""


@event("draft.changes_requested")
@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesRequested(ByUser):
    """The person looked at the Draft and asked for changes of it in a message (W24.1)."""

    draft_id: ids.DraftId
    message_id: ids.MessageId
    tree: ids.TreeId  # what they looked at
    revision_id: ids.RevisionId
    comment_ids: tuple[ids.CommentId, ...] = ()  # what it brings up
    is_question: bool = False  # about the Draft, and nothing is to be changed


@event("draft.rebased")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRebased(ByUser):
    """Others changed Published; the Draft now begins from what is there (B9.16)."""

    draft_id: ids.DraftId
    base_tree: ids.TreeId
    base_generation: int
    tree: ids.TreeId
    revision_id: ids.RevisionId
    paths: tuple[BenchPath, ...]
    """What others had changed."""


@event("draft.deletions_confirmed")
@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionsConfirmed(ByUser):
    """The person agreed, or no longer agrees, that these files go."""

    draft_id: ids.DraftId
    paths: tuple[BenchPath, ...]
    sha256: tuple[ids.BlobId, ...]
    confirmed: bool


@event("comment.added")
@dataclass(frozen=True, slots=True, kw_only=True)
class CommentAdded(ByUser):
    """Somebody remarked on a place of the Draft."""

    draft_id: ids.DraftId
    comment_id: ids.CommentId
    path: BenchPath
    place: Place
    tree: ids.TreeId  # the files it is about, as they were then
    text: str
    quote: str | None = None


@event("comment.answered")
@dataclass(frozen=True, slots=True, kw_only=True)
class CommentAnswered(ByUser):
    """A person or an agent said something under a comment."""

    draft_id: ids.DraftId
    comment_id: ids.CommentId
    text: str


@event("comment.resolved")
@dataclass(frozen=True, slots=True, kw_only=True)
class CommentResolved(ByUser):
    """A person calls a comment done, or open again."""

    draft_id: ids.DraftId
    comment_id: ids.CommentId
    resolved: bool


@event("comment.withdrawn")
@dataclass(frozen=True, slots=True, kw_only=True)
class CommentWithdrawn(ByUser):
    """Who made a comment took it back."""

    draft_id: ids.DraftId
    comment_id: ids.CommentId


@event("draft.published")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPublished(ByUser):
    """The person approved the Draft; it is Published now."""

    draft_id: ids.DraftId
    tree: ids.TreeId
    files: tuple[FileFact, ...]
    removed: tuple[BenchPath, ...]
    message_id: ids.MessageId
    checkpoint_id: ids.CheckpointId | None = None
    counts: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Added, modified, deleted, renamed."""


@event("draft.discarded", v=2, upgraders={1: dict})  # 2: whether it is kept
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftDiscarded(ByUser):
    """The person threw the Draft away; Published never knew of it."""

    draft_id: ids.DraftId
    message_id: ids.MessageId
    kept: bool = False
    """Its contents stay pinned, so that it can come back (B9.17); programs before let them go."""


@event("draft.brought_back")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftBroughtBack(ByUser):
    """The person took it back that the Draft was thrown away (B9.17)."""

    draft_id: ids.DraftId
    revision_id: ids.RevisionId
    message_id: ids.MessageId


@event("checkpoint.created")
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCreated(ByUser):
    """A state of Published that can be brought back."""

    checkpoint_id: ids.CheckpointId
    reason: str
    description: str
    tree: ids.TreeId
    context_tree: ids.TreeId
    file_count: int
    total_bytes: int
    trigger: str | None = None


@event("checkpoint.restored")
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRestored(ByUser):
    """Published, context and conversation are again what a checkpoint holds."""

    checkpoint_id: ids.CheckpointId
    pre_restore_checkpoint_id: ids.CheckpointId
    tree: ids.TreeId
    context_tree: ids.TreeId
    message_id: ids.MessageId
    is_rewind: bool = False  # part of going back in the conversation, which says so (B10.13)
    items: tuple[ItemChange, ...] = ()
    """Context items that are others now."""


@event("checkpoint.pinned")
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPinned(ByUser):
    """The person wants this one kept, or no longer."""

    checkpoint_id: ids.CheckpointId
    pinned: bool


@event("checkpoints.pruned")
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsPruned:
    """Old checkpoints went, by the rule of retention."""

    checkpoint_ids: tuple[ids.CheckpointId, ...]
    reason: str
    actor: str = "system"


@event("revisions.pruned")
@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionsPruned:
    """Old states of Drafts went, by the rule of retention; stubs stay."""

    revision_ids: tuple[ids.RevisionId, ...]
    actor: str = "system"


@event("conversation.head_moved")
@dataclass(frozen=True, slots=True, kw_only=True)
class HeadMoved(ByUser):
    """The conversation ends at another record now; None is its beginning."""

    message_id: ids.MessageId | None = None


@event("context.changed")
@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChanged(ByUser):
    """A context item was added, updated or deleted."""

    category: str
    action: str
    tree: ids.TreeId


@event("bench.recovered")
@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """Opening it had to bring folders back in line with the log."""

    actions: tuple[str, ...]
    actor: str = "system"


@event("published.repaired")
@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRepaired(ByUser):
    """The Published folder was made again; what others had put there was salvaged."""

    salvaged: tuple[str, ...]


@event("folder.followed")
@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFollowed(ByUser):
    """The workbench follows a folder of the person from now on, or finds it elsewhere."""

    folder: str
    inode: int
    """Which folder of its disk it is: another one put in its place is not taken for it."""
    tree: ids.TreeId
    """What the folder is known to hold."""


@event("folder.write_began")
@dataclass(frozen=True, slots=True, kw_only=True)
class FolderWriteBegan(ByUser):
    """The folder is to hold what Published is; its files are written one by one."""

    tree: ids.TreeId


@event("folder.files_written")
@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFilesWritten(ByUser):
    """Some files of the folder are what they are to be; others were not what was reviewed."""

    tree: ids.TreeId
    """What the folder is known to hold now."""
    theirs: ids.TreeId
    """What is there instead, file by file, where a conflict waits."""
    paths: tuple[BenchPath, ...] = ()
    conflicts: tuple[FolderConflict, ...] = ()
    is_last: bool = False
    """Whether nothing is left to be written."""


@event("folder.taken")
@dataclass(frozen=True, slots=True, kw_only=True)
class FolderTaken(ByUser):
    """What others did in the folder is known now; `published.adopted` says what became of it."""

    tree: ids.TreeId
    theirs: ids.TreeId
    paths: tuple[BenchPath, ...]


@event("folder.conflict_settled")
@dataclass(frozen=True, slots=True, kw_only=True)
class FolderConflictSettled(ByUser):
    """The person chose between what is in the folder and what is in Published."""

    paths: tuple[BenchPath, ...]
    keep: str
    """`theirs` or `ours`."""


BenchEvent = (
    BenchCreated
    | BenchRenamed
    | LimitsSet
    | BenchDeleted
    | BenchUndeleted
    | FilesAdded
    | FilesRemoved
    | FileRenamed
    | FilesRestored
    | PublishedAdopted
    | FilesExtracted
    | OriginalsBound
    | OriginalWritten
    | DraftCreated
    | BatchApplied
    | DraftRestored
    | DraftRewound
    | ChangesRequested
    | DraftRebased
    | DeletionsConfirmed
    | CommentAdded
    | CommentAnswered
    | CommentResolved
    | CommentWithdrawn
    | DraftPublished
    | DraftDiscarded
    | DraftBroughtBack
    | CheckpointCreated
    | CheckpointRestored
    | CheckpointPinned
    | CheckpointsPruned
    | RevisionsPruned
    | HeadMoved
    | ContextChanged
    | Recovered
    | PublishedRepaired
    | FolderFollowed
    | FolderWriteBegan
    | FolderFilesWritten
    | FolderTaken
    | FolderConflictSettled
)
