"""The facts of a workbench's stream. A fact records values and computes nothing.

Every fact that names a tree pins it. `actor` is `user`, `agent`, `system` or `mcp:<client>`.
"""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.event import event
from backshop.base.ids import (
    BatchId,
    BenchId,
    BlobId,
    CheckpointId,
    DraftId,
    MessageId,
    RevisionId,
    TreeId,
)
from backshop.base.paths import BenchPath

from .values import FileFact, ItemChange, Limits, PathChange, Source


@event("bench.created")
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchCreated:
    """A workbench came into being, empty or as a fork."""

    bench_id: BenchId
    name: str
    limits: Limits
    profile: str
    tree: TreeId
    context_tree: TreeId
    files: tuple[FileFact, ...] = ()
    parent_bench_id: BenchId | None = None
    fork_mode: str | None = None
    forked_from_message_id: MessageId | None = None
    default_model_id: str | None = None
    """What the person had chosen for new workbenches when this one was made (M2.6)."""
    actor: str = "user"


@event("bench.renamed")
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRenamed:
    """The person gave it another name."""

    name: str
    actor: str = "user"


@event("bench.limits_set")
@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsSet:
    """The person changed how much it may hold."""

    limits: Limits
    profile: str
    actor: str = "user"


@event("bench.deleted")
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchDeleted:
    """The person threw it away; it stays in the trash for a while."""

    actor: str = "user"


@event("bench.undeleted")
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchUndeleted:
    """The person took it out of the trash."""

    actor: str = "user"


@event("files.added")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilesAdded:
    """Copies of the person's files came into Published, some in place of others."""

    tree: TreeId
    files: tuple[FileFact, ...]
    actor: str = "user"


@event("files.removed")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRemoved:
    """Files left Published."""

    tree: TreeId
    paths: tuple[BenchPath, ...]
    actor: str = "user"


@event("file.renamed")
@dataclass(frozen=True, slots=True, kw_only=True)
class FileRenamed:
    """A file of Published has another path."""

    tree: TreeId
    path: BenchPath
    new_path: BenchPath
    actor: str = "user"


@event("published.adopted")
@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAdopted:
    """Edits made in the Published folder by other programs became the person's change."""

    tree: TreeId
    files: tuple[FileFact, ...]
    removed: tuple[BenchPath, ...]
    actor: str = "user"


@event("files.extracted")
@dataclass(frozen=True, slots=True, kw_only=True)
class FilesExtracted:
    """Copies of Published files went out of the workbench."""

    count: int
    actor: str = "user"


@event("draft.created")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCreated:
    """A Draft began; it is compared with `base_tree` for as long as it lives."""

    draft_id: DraftId
    base_tree: TreeId
    base_generation: int
    revision_id: RevisionId
    source: Source
    message_id: MessageId | None = None  # the record its first state belongs to, else the head
    actor: str = "agent"


@event("draft.batch_applied")
@dataclass(frozen=True, slots=True, kw_only=True)
class BatchApplied:
    """A set of writes reached the Draft, all of them or none."""

    batch_id: BatchId
    draft_id: DraftId
    changes: tuple[PathChange, ...]
    tree: TreeId  # the whole Draft, not a patch: any revision restores on its own
    revision_id: RevisionId
    source: Source
    kind: str = "batch"
    """`batch`, `rescan` or `rollback`: what kind of revision it makes."""
    message_id: MessageId | None = None
    run_id: str | None = None
    actor: str = "agent"


@event("draft.restored", v=2, upgraders={1: lambda old: {**old, "still_confirmed": []}})
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRestored:
    """The Draft went back to an earlier revision of it."""

    draft_id: DraftId
    tree: TreeId
    revision_id: RevisionId
    restored_revision_id: RevisionId
    still_confirmed: tuple[BenchPath, ...] = ()
    """Deletions that are the same in both states, and stay agreed to; in version 1 none did."""
    actor: str = "user"


@event("draft.rewound")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRewound:
    """The Draft is again what a revision holds, or there is none, as there was none then."""

    revision_id: RevisionId
    message_id: MessageId | None = None  # the record this state belongs to
    restored_revision_id: RevisionId | None = None
    tree: TreeId | None = None
    kind: str = "rewind"
    """`rewind`, `rollback` (an item undone), `turn` (the same Draft under another record) or
    `replay` (a batch that was taken back with an interrupted item, without applying it again)."""
    actor: str = "user"


@event("draft.rebased")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRebased:
    """Others changed Published; the Draft now begins from what is there (B9.16)."""

    draft_id: DraftId
    base_tree: TreeId
    base_generation: int
    tree: TreeId
    revision_id: RevisionId
    paths: tuple[BenchPath, ...]
    """What others had changed."""
    actor: str = "user"


@event("draft.deletions_confirmed")
@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionsConfirmed:
    """The person agreed, or no longer agrees, that these files go."""

    draft_id: DraftId
    paths: tuple[BenchPath, ...]
    sha256: tuple[BlobId, ...]
    confirmed: bool
    actor: str = "user"


@event("draft.published")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPublished:
    """The person approved the Draft; it is Published now."""

    draft_id: DraftId
    tree: TreeId
    files: tuple[FileFact, ...]
    removed: tuple[BenchPath, ...]
    message_id: MessageId
    checkpoint_id: CheckpointId | None = None
    counts: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Added, modified, deleted, renamed."""
    actor: str = "user"


@event("draft.discarded")
@dataclass(frozen=True, slots=True, kw_only=True)
class DraftDiscarded:
    """The person threw the Draft away; Published never knew of it."""

    draft_id: DraftId
    message_id: MessageId
    actor: str = "user"


@event("checkpoint.created")
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCreated:
    """A state of Published that can be brought back."""

    checkpoint_id: CheckpointId
    reason: str
    description: str
    tree: TreeId
    context_tree: TreeId
    file_count: int
    total_bytes: int
    trigger: str | None = None
    actor: str = "user"


@event("checkpoint.restored")
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRestored:
    """Published, context and conversation are again what a checkpoint holds."""

    checkpoint_id: CheckpointId
    pre_restore_checkpoint_id: CheckpointId
    tree: TreeId
    context_tree: TreeId
    message_id: MessageId
    is_rewind: bool = False  # part of going back in the conversation, which says so (B10.13)
    items: tuple[ItemChange, ...] = ()
    """Context items that are others now."""
    actor: str = "user"


@event("checkpoint.pinned")
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPinned:
    """The person wants this one kept, or no longer."""

    checkpoint_id: CheckpointId
    pinned: bool
    actor: str = "user"


@event("checkpoints.pruned")
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsPruned:
    """Old checkpoints went, by the rule of retention."""

    checkpoint_ids: tuple[CheckpointId, ...]
    reason: str
    actor: str = "system"


@event("revisions.pruned")
@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionsPruned:
    """Old states of Drafts went, by the rule of retention; stubs stay."""

    revision_ids: tuple[RevisionId, ...]
    actor: str = "system"


@event("conversation.head_moved")
@dataclass(frozen=True, slots=True, kw_only=True)
class HeadMoved:
    """The conversation ends at another record now; None is its beginning."""

    message_id: MessageId | None = None
    actor: str = "user"


@event("context.changed")
@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChanged:
    """A context item was added, updated or deleted."""

    category: str
    action: str
    tree: TreeId
    actor: str = "user"


@event("bench.recovered")
@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """Opening it had to bring folders back in line with the log."""

    actions: tuple[str, ...]
    actor: str = "system"


@event("published.repaired")
@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRepaired:
    """The Published folder was made again; what others had put there was salvaged."""

    salvaged: tuple[str, ...]
    actor: str = "user"


BenchEvent = (
    BenchCreated
    | BenchRenamed
    | LimitsSet
    | BenchDeleted
    | BenchUndeleted
    | FilesAdded
    | FilesRemoved
    | FileRenamed
    | PublishedAdopted
    | FilesExtracted
    | DraftCreated
    | BatchApplied
    | DraftRestored
    | DraftRewound
    | DraftRebased
    | DeletionsConfirmed
    | DraftPublished
    | DraftDiscarded
    | CheckpointCreated
    | CheckpointRestored
    | CheckpointPinned
    | CheckpointsPruned
    | RevisionsPruned
    | HeadMoved
    | ContextChanged
    | Recovered
    | PublishedRepaired
)
