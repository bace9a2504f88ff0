"""Requests of the bench's commands, field by field as in B19."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRequest:
    """A command about one workbench."""

    workbench_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchCreate:
    """Make an empty workbench; with `reuse` one of that name that is there will do."""

    name: str = ""
    profile: str | None = None
    reuse: bool = False


SAMPLE_NAME = "Sample Workbench"  # of the first; a number follows in that of later ones


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
class WorkbenchRename(BenchRequest):
    """Give a workbench another name."""

    new_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchDelete(BenchRequest):
    """Throw a workbench away; `confirm` is its id."""

    confirm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFork(BenchRequest):
    """Make another workbench from this one's Published."""

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
class WorkbenchSetLimits(BenchRequest):
    """Choose a profile, or give limits."""

    profile: str | None = None
    limits: LimitValues | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFilesList(BenchRequest):
    """List files of Published, or of the Draft."""

    view: str | None = None
    prefix: str = ""
    limit: int = 1000
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFilesAdd(BenchRequest):
    """Copy files into the workbench; the originals are never touched."""

    source_paths: tuple[str, ...]
    dest_dir: str | None = None
    recursive: bool = False
    on_conflict: str = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFilesRemove(BenchRequest):
    """Take files out of Published; a checkpoint is kept."""

    workbench_paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalPath:
    """A path of Published, and the file of the person's own that it was copied from."""

    path: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchBindOriginals(BenchRequest):
    """Say which files of the person's own paths of Published, as they are now, go back to."""

    originals: tuple[OriginalPath, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFilesExtract(BenchRequest):
    """Copy Published files to a folder outside; nothing there is overwritten."""

    destination_dir: str
    workbench_paths: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchFileRename(BenchRequest):
    """Give a Published file another path."""

    path: str
    new_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCreate(BenchRequest):
    """Begin a Draft without a write."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPublish(BenchRequest):
    """Make the Draft Published. `reviewed_tree` is the tree the person looked at."""

    reviewed_tree: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPath(BenchRequest):
    """A change of one path of the Draft by the person."""

    path: str
    new_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRestoreRevision(BenchRequest):
    """Bring an earlier revision of the Draft back."""

    revision_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionPair(BenchRequest):
    """Two revisions of Drafts; without another one, the Draft as it is now."""

    revision_id: str
    other_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCompareRevisions(RevisionPair):
    """Compare a revision with another, or with the Draft."""

    limit: int = 500
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftGetRevisionDiff(RevisionPair):
    """What differs in one file between a revision and another, or the Draft."""

    path: str
    cursor: str | None = None
    sheet: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftUndo(BenchRequest):
    """Take back the last correction of the Draft by hand.

    `revision_id` is what that correction answered with; if something came after it, nothing is
    taken back.
    """

    revision_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairMode(BenchRequest):
    """What to do with outside edits: `adopt`, or `restore`/`revert`."""

    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFolderChoice(BenchRequest):
    """What the Draft's folder is to hold: every file, what the Draft changes, or as it is."""

    whole: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChoice:
    """What to keep of one path: `theirs`, `ours` or `both`."""

    path: str
    keep: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedReconcile(BenchRequest):
    """Others changed Published: what to keep, for all paths and for single ones."""

    keep: str
    choices: tuple[PathChoice, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCreate(BenchRequest):
    """Keep Published as it is now."""

    description: str = ""
    reason: str = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsList(BenchRequest):
    """List checkpoints, newest first."""

    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointId_(BenchRequest):
    """A command about one checkpoint."""

    checkpoint_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRestore(CheckpointId_):
    """Bring a checkpoint back; with `dry_run` only say what would change."""

    path: str | None = None
    """Only this file, as the checkpoint holds it (B27.1); without it everything."""
    dry_run: bool = False
    write_folder: bool = False
    """Whether the folder that the workbench follows gets the files too (B23.19)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCompare(CheckpointId_):
    """Compare a checkpoint with another, or with Published."""

    other_id: str | None = None
    limit: int = 500
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointGetDiff(CheckpointId_):
    """What differs in one file between a checkpoint and another, or Published."""

    path: str
    other_id: str | None = None
    cursor: str | None = None
    sheet: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPin(CheckpointId_):
    """Keep a checkpoint from being pruned."""

    pinned: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewGetChangeSet(BenchRequest):
    """The list of what the Draft changes; `since` is `draft_start` or `last_look` (W24.6)."""

    limit: int = 500
    cursor: str | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSetDeletionConfirmations(BenchRequest):
    """Agree to deletions, or take the agreement back."""

    paths: tuple[str, ...]
    confirmed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAddComment(BenchRequest):
    """Remark on a file of the Draft: on a place of it, told by fields or in words, or on all."""

    path: str
    text: str
    place: Place | None = None
    at: str | None = None
    """The place in words: `Sheet1!B4`, `lines 3-5`, `row 7`, `slide 2`, `"these words"`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCommentId(BenchRequest):
    """A command about one comment, by its id."""

    comment_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAnswerComment(ReviewCommentId):
    """Say something under a comment."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewResolveComment(ReviewCommentId):
    """Call a comment done, or open again."""

    resolved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewListComments(BenchRequest):
    """The comments on the Draft, oldest first: of one file or of all, `open`, `resolved`, `all`."""

    path: str | None = None
    state: str = "all"
    limit: int = 200
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewListChanges(BenchRequest):
    """The changes of one file that can be taken or left one by one."""

    path: str
    limit: int = 500
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeChoice(BenchRequest):
    """Changes of the Draft that are to be left out, or taken again.

    Without a path those of all files, without ids all of the file; a group (`text`, `values`,
    `formulas`, `looks`, `structure`, `other`) means all of that sort.
    """

    path: str | None = None
    ids: tuple[str, ...] | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditList(BenchRequest):
    """The bench's audit log, oldest first."""

    after_seq: int = 0
    kinds: tuple[str, ...] | None = None
    limit: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSlot(BenchRequest):
    """A command about one context item."""

    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFile:
    """One text file of a context item."""

    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUpdateDirect(BenchRequest):
    """Replace the files of a context item; `create` fills an empty slot too."""

    category: str
    files: tuple[ContextFile, ...]
    create: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchOpenFolder:
    """Open the workbench of a folder; without one, make it with the folder's files."""

    folder: str
    name: str = ""
    profile: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFollow(BenchRequest):
    """Say where the folder of a workbench is now."""

    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderTake(BenchRequest):
    """Take what others did in the folder into Published: all of it, or these paths."""

    paths: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSettle(BenchRequest):
    """Decide conflicts: `theirs` is what is in the folder, `ours` what is in Published."""

    paths: tuple[str, ...]
    keep: str
