"""Requests and answers of the bench's commands, field by field as in B19."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRequest:
    """A command about one workbench."""

    workbench_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchCreate:
    """Make an empty workbench."""

    name: str = ""
    profile: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchCreateSample:
    """Make a workbench with sample files; with `reuse` the one that is there will do."""

    reuse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchList:
    """List workbenches, newest change first."""

    limit: int = 50
    cursor: str | None = None
    include_trash: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchRename:
    """Give a workbench another name."""

    workbench_id: str
    new_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchDelete:
    """Throw a workbench away; `confirm` is its id."""

    workbench_id: str
    confirm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFork:
    """Make another workbench from this one's Published."""

    workbench_id: str
    mode: str = "clone_files_only"
    name: str | None = None
    from_message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitValues:
    """The four limits of a workbench."""

    max_files: int
    max_file_bytes: int
    max_total_bytes: int
    max_depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchSetLimits:
    """Choose a profile, or give limits."""

    workbench_id: str
    profile: str | None = None
    limits: LimitValues | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFilesList:
    """List files of Published, or of the Draft."""

    workbench_id: str
    view: str | None = None
    prefix: str = ""
    limit: int = 1000
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFilesAdd:
    """Copy files into the workbench; the originals are never touched."""

    workbench_id: str
    source_paths: tuple[str, ...]
    dest_dir: str | None = None
    recursive: bool = False
    on_conflict: str = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFilesRemove:
    """Take files out of Published; a checkpoint is kept."""

    workbench_id: str
    workbench_paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFilesExtract:
    """Copy Published files to a folder outside; nothing there is overwritten."""

    workbench_id: str
    destination_dir: str
    workbench_paths: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFileRename:
    """Give a Published file another path."""

    workbench_id: str
    path: str
    new_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCreate:
    """Begin a Draft without a write."""

    workbench_id: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPublish:
    """Make the Draft Published. `reviewed_tree` is the tree the person looked at."""

    workbench_id: str
    reviewed_tree: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPath:
    """A change of one path of the Draft by the person."""

    workbench_id: str
    path: str
    new_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRestoreRevision:
    """Bring an earlier revision of the Draft back."""

    workbench_id: str
    revision_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftUndo:
    """Take back the last correction of the Draft by hand.

    `revision_id` is what that correction answered with; if something came after it, nothing is
    taken back.
    """

    workbench_id: str
    revision_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairMode:
    """What to do with outside edits: `adopt`, or `restore`/`revert`."""

    workbench_id: str
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFolder:
    """What the Draft's folder is to hold: every file, what the Draft changes, or as it is."""

    workbench_id: str
    whole: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChoice:
    """What to keep of one path: `theirs`, `ours` or `both`."""

    path: str
    keep: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedReconcile:
    """Others changed Published: what to keep, for all paths and for single ones."""

    workbench_id: str
    keep: str
    choices: tuple[PathChoice, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCreate:
    """Keep Published as it is now."""

    workbench_id: str
    description: str = ""
    reason: str = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsList:
    """List checkpoints, newest first."""

    workbench_id: str
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointId_:
    """A command about one checkpoint."""

    workbench_id: str
    checkpoint_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRestore:
    """Bring a checkpoint back; with `dry_run` only say what would change."""

    workbench_id: str
    checkpoint_id: str
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCompare:
    """Compare a checkpoint with another, or with Published."""

    workbench_id: str
    checkpoint_id: str
    other_id: str | None = None
    limit: int = 500
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointGetDiff:
    """What differs in one file between a checkpoint and another, or Published."""

    workbench_id: str
    checkpoint_id: str
    path: str
    other_id: str | None = None
    cursor: str | None = None
    sheet: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPin:
    """Keep a checkpoint from being pruned."""

    workbench_id: str
    checkpoint_id: str
    pinned: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewGetChangeSet:
    """The list of what the Draft changes."""

    workbench_id: str
    limit: int = 500
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSetDeletionConfirmations:
    """Agree to deletions, or take the agreement back."""

    workbench_id: str
    paths: tuple[str, ...]
    confirmed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditList:
    """The bench's audit log, oldest first."""

    workbench_id: str
    after_seq: int = 0
    kinds: tuple[str, ...] | None = None
    limit: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSlot:
    """A command about one context item."""

    workbench_id: str
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFile:
    """One text file of a context item."""

    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUpdateDirect:
    """Replace the files of a context item; `create` fills an empty slot too."""

    workbench_id: str
    category: str
    files: tuple[ContextFile, ...]
    create: bool = False
