"""The bench's commands: name, facade method, and the role each needs (B19)."""

from __future__ import annotations

from functools import partial
from typing import Any

from backshop.base.command import Command, method_command

from .draft.selection import Selections
from .review.discussion import Discussion
from .review.file_diff import Differ
from .review.viewer import Viewer
from .service import Bench

_command = partial(method_command, phase="workbench")

COMMANDS: tuple[Command[Bench, Any, Any], ...] = (
    _command("WorkbenchCreate", "Make an empty workbench.", Bench.create, writes=True, role="write", anybody=True, makes="workbench", for_caller=True),
    _command("WorkbenchCreateSample", "Make a workbench with files to try things on.", Bench.create_sample, writes=True, role="write", anybody=True, makes="workbench", for_caller=True),
    _command("WorkbenchOpen", "Open a workbench.", Bench.open, role="read"),
    _command("WorkbenchList", "List workbenches.", Bench.list, role="read", anybody=True, for_caller=True),
    _command("WorkbenchRename", "Give a workbench another name.", Bench.rename, writes=True, role="publish"),
    _command("WorkbenchDelete", "Throw a workbench away.", Bench.delete, writes=True, role="publish"),
    _command("WorkbenchUndelete", "Take a workbench out of the trash.", Bench.undelete, writes=True, role="publish"),
    _command("WorkbenchFork", "Make another workbench from this one.", Bench.fork, writes=True, role="read", makes="workbench", for_caller=True),
    _command("WorkbenchGetScope", "Say how much a workbench may hold.", Bench.get_scope, role="read"),
    _command("WorkbenchGetSize", "Say what a workbench takes on disk.", Bench.get_size, role="read"),
    _command("WorkbenchSetLimits", "Change how much a workbench may hold.", Bench.set_limits, writes=True, role="publish"),
    _command("WorkbenchFilesList", "List files of a workbench.", Bench.files_list, role="read"),
    _command("WorkbenchFilesAdd", "Copy files into a workbench.", Bench.files_add, writes=True, role="publish", server_paths=("source_paths",)),
    _command("WorkbenchFilesRemove", "Take files out of Published.", Bench.files_remove, writes=True, role="publish"),
    _command("WorkbenchFilesExtract", "Copy Published files to a folder outside.", Bench.files_extract, role="read", server_paths=("destination_dir",)),
    _command("WorkbenchBindOriginals", "Say which files of your own results go back to.", Bench.bind_originals, writes=True, role="owner", server_paths=("target",)),
    _command("WorkbenchWriteBack", "Let your own files hold what is Published, each only if it is still what was copied in.", Bench.write_back, phase="publish", writes=True, role="owner"),
    _command("WorkbenchFileRename", "Rename a Published file.", Bench.file_rename, writes=True, role="publish"),
    _command("DraftGetState", "Say whether there is a Draft.", Bench.draft_get_state, role="read"),
    _command("DraftCreate", "Begin a Draft without a write.", Bench.draft_create, writes=True, role="write"),
    _command("DraftPublish", "Make the Draft Published.", Bench.draft_publish, phase="publish", writes=True, role="publish"),
    _command("DraftDiscard", "Throw the Draft away.", Bench.draft_discard, phase="review", writes=True, role="write"),
    _command("DraftBringBack", "Take it back that the Draft was thrown away.", Bench.draft_bring_back, phase="review", writes=True, role="write"),
    _command("DraftDeletePath", "Delete a path of the Draft.", Bench.draft_delete_path, phase="review", writes=True, role="write"),
    _command("DraftRenamePath", "Rename a path of the Draft.", Bench.draft_rename_path, phase="review", writes=True, role="write"),
    _command("DraftRevertPath", "Bring a path of the Draft back.", Bench.draft_revert_path, phase="review", writes=True, role="write"),
    _command("DraftUndo", "Take back what was last reverted, deleted, renamed, left out or taken in the Draft by hand.", Bench.draft_undo, phase="review", writes=True, role="write"),
    _command("DraftRestoreRevision", "Bring an earlier revision of the Draft back.", Bench.draft_restore_revision, phase="review", writes=True, role="write"),
    _command("DraftCompareRevisions", "Compare a revision of a Draft with another, or with the Draft.", Bench.draft_compare_revisions, phase="review", role="read"),
    _command("DraftGetRevisionDiff", "Return what differs in one file between a revision of a Draft and another, or the Draft.", Bench.draft_get_revision_diff, phase="review", role="read"),
    _command("DraftRescan", "Deal with outside edits of the Draft's folder.", Bench.draft_rescan, phase="review", writes=True, role="write"),
    _command("DraftFolder", "Say what the Draft's folder holds, or have it hold every file.", Bench.draft_folder, phase="review", writes=True, role="write"),
    _command("PublishedRepair", "Deal with outside edits of the Published folder.", Bench.published_repair, phase="publish", writes=True, role="publish"),
    _command("PublishedReconcile", "Bring the Draft onto what others made of Published.", Bench.published_reconcile, phase="publish", writes=True, role="publish"),
    _command("WorkbenchOpenFolder", "Open the workbench of a folder, or make one with its files.", Bench.open_folder, writes=True, role="owner", server_paths=("folder",)),
    _command("FolderFollow", "Say where the folder of a workbench is now.", Bench.folder_follow, writes=True, role="owner", server_paths=("folder",)),
    _command("FolderGetState", "Say how a workbench and the folder it follows stand to each other.", Bench.folder_get_state, role="read"),
    _command("FolderWriteBack", "Write into the folder what Published has otherwise.", Bench.folder_write_back, phase="publish", writes=True, role="publish"),
    _command("FolderTake", "Take what others did in the folder into Published.", Bench.folder_take, phase="publish", writes=True, role="publish"),
    _command("FolderSettle", "Decide conflicts between the folder and Published.", Bench.folder_settle, phase="publish", writes=True, role="publish"),
    _command("CheckpointCreate", "Keep Published as it is.", Bench.checkpoint_create, writes=True, role="write"),
    _command("CheckpointsList", "List checkpoints.", Bench.checkpoints_list, role="read"),
    _command("CheckpointGet", "Return one checkpoint.", Bench.checkpoint_get, role="read"),
    _command("CheckpointCompare", "Compare a checkpoint with another, or with Published.", Bench.checkpoint_compare, role="read"),
    _command("CheckpointGetDiff", "Return what differs in one file between a checkpoint and another, or Published.", Bench.checkpoint_get_diff, role="read"),
    _command("CheckpointRestore", "Bring a checkpoint back.", Bench.checkpoint_restore, phase="restore", writes=True, role="publish"),
    _command("CheckpointPin", "Keep a checkpoint from being pruned.", Bench.checkpoint_pin, writes=True, role="write"),
    _command("ReviewGetChangeSet", "List what the Draft changes.", Bench.review_get_change_set, phase="review", role="read"),
    _command("ReviewGetEntry", "Return what the list says about one changed file.", Bench.review_get_entry, phase="review", role="read"),
    _command("ReviewGetSummary", "Return what a file's change is about.", Bench.review_get_summary, phase="review", role="read"),
    _command("ReviewGetDeletionConfirmations", "Return the deletions the person agreed to.", Bench.review_get_deletion_confirmations, phase="review", role="read"),
    _command("ReviewSetDeletionConfirmations", "Agree to deletions, or not any more.", Bench.review_set_deletion_confirmations, phase="review", writes=True, role="write"),
    _command("ContextList", "List the four context items.", Bench.context_list, role="read"),
    _command("ContextGet", "Return one context item.", Bench.context_get, role="read"),
    _command("ContextGetArtifact", "Return the files of a context item.", Bench.context_get_artifact, role="read"),
    _command("ContextUpdateDirect", "Replace the files of a context item by hand.", Bench.context_update_direct, writes=True, role="write"),
    _command("ContextDelete", "Empty a context item.", Bench.context_delete, writes=True, role="write"),
    _command("AuditExport", "Return the whole audit log as JSON Lines.", Bench.audit_export, role="read"),
    _command("AuditList", "Return the audit log of a workbench.", Bench.audit_list, role="read"),
)  # fmt: skip

DIFF_COMMANDS: tuple[Command[Differ, Any, Any], ...] = (
    _command("ReviewGetDiff", "Return the best diff there is for a path.", Differ.diff, phase="review", role="read"),
    _command("ReviewGetTextDiff", "Return the line diff of a path.", Differ.text_diff, phase="review", role="read"),
    _command("ReviewGetOfficeTextDiff", "Return the line diff of an office file's text.", Differ.text_diff, phase="review", role="read"),
    _command("ReviewGetTableDiff", "Return the rows of a delimited file that differ.", Differ.table_diff, phase="review", role="read"),
    _command("ReviewGetXlsxCellDiff", "Return the cells of a workbook that differ.", Differ.cell_diff, phase="review", role="read"),
    _command("ReviewGetDocxContentDiff", "Return the sections of a document, paired, and what differs in one.", Differ.document_diff, phase="review", role="read"),
    _command("ReviewGetPptxContentDiff", "Return the slides of a presentation, paired, and what differs on one.", Differ.deck_diff, phase="review", role="read"),
)  # fmt: skip

COMMENT_COMMANDS: tuple[Command[Discussion, Any, Any], ...] = (
    _command("ReviewAddComment", "Remark on a file of the Draft, or on a place of it.", Discussion.add, phase="review", writes=True, role="write"),
    _command("ReviewAnswerComment", "Say something under a comment.", Discussion.answer_by_person, phase="review", writes=True, role="write"),
    _command("ReviewResolveComment", "Call a comment done, or open again.", Discussion.resolve, phase="review", writes=True, role="write"),
    _command("ReviewWithdrawComment", "Take back a comment one made.", Discussion.withdraw, phase="review", writes=True, role="write"),
    _command("ReviewListComments", "Return the comments on the Draft, and where their places are now.", Discussion.page, phase="review", role="read"),
)  # fmt: skip

CHOICE_COMMANDS: tuple[Command[Selections, Any, Any], ...] = (
    _command("ReviewListChanges", "Return the changes of a file that can be taken or left one by one.", Selections.page, phase="review", role="read"),
    _command("DraftLeaveChanges", "Leave changes out of the Draft.", Selections.leave, phase="review", writes=True, role="write"),
    _command("DraftTakeChanges", "Take changes into the Draft again that were left out.", Selections.take, phase="review", writes=True, role="write"),
)  # fmt: skip

VIEW_COMMANDS: tuple[Command[Viewer, Any, Any], ...] = (
    _command("WorkbenchFileGetInfo", "Return kind, size and a few facts of one file.", Viewer.info, role="read"),
    _command("WorkbenchFileGetMap", "Return the structure of a file.", Viewer.map, role="read"),
    _command("WorkbenchFileRead", "Read part of a file.", Viewer.read, role="read"),
    _command("WorkbenchFileGetGrid", "Return a window of a sheet.", Viewer.grid, role="read"),
    _command("WorkbenchFileGetDrawnSheet", "Return a window of a sheet, drawn as SVG.", Viewer.drawn_sheet, role="read"),
    _command("WorkbenchFileGetSection", "Return the outline of a document and one section.", Viewer.section, role="read"),
    _command("WorkbenchFileGetSlide", "Return one slide with the places of its shapes.", Viewer.slide, role="read"),
    _command("WorkbenchFileGetDrawnSlide", "Return one slide as Backshop draws it, as SVG with the frames of its shapes.", Viewer.drawn_slide, role="read"),
    _command("WorkbenchFileGetDrawnDocument", "Return a window of a document as it flows, as blocks.", Viewer.drawn_document, role="read"),
    _command("WorkbenchFileGetPage", "Return a picture of one page of a file.", Viewer.page, role="read"),
    _command("WorkbenchTableDescribe", "Return what each column of a table holds.", Viewer.describe, role="read"),
    _command("WorkbenchTableStats", "Return statistics of columns of a table.", Viewer.stats, role="read"),
    _command("WorkbenchTableReadRows", "Return rows of a table in the order of the file.", Viewer.rows, role="read"),
    _command("WorkbenchTableQuery", "Ask a table with one SELECT over `data`.", Viewer.query, role="read"),
    _command("ReviewGetPdfPreviewPage", "Return a picture of a PDF page of one version.", Viewer.pdf_page, phase="review", role="read"),
    _command("ReviewGetDocxPreviewPage", "Return a picture of a page of a Word document.", Viewer.docx_page, phase="review", role="read"),
    _command("ReviewGetOdtPreviewPage", "Return a picture of a page of an OpenDocument text.", Viewer.odt_page, phase="review", role="read"),
    _command("ReviewGetPptxPreviewSlide", "Return a picture of a slide of one version.", Viewer.slide_preview, phase="review", role="read"),
    _command("ReviewGetPptxDrawnSlide", "Return one slide of one version as Backshop draws it.", Viewer.preview_drawn_slide, phase="review", role="read"),
    _command("ReviewGetDrawnDocument", "Return a window of a document of one version, as it flows.", Viewer.preview_drawn_document, phase="review", role="read"),
    _command("ReviewGetImagePreview", "Return a picture of an image of one version.", Viewer.image, phase="review", role="read"),
    _command("ReviewGetXlsxPreviewGrid", "Return a window of a sheet of one version.", Viewer.preview_grid, phase="review", role="read"),
    _command("ReviewGetXlsxDrawnSheet", "Return a window of a sheet of one version, drawn as SVG.", Viewer.preview_drawn_sheet, phase="review", role="read"),
    _command("ReviewGetXlsxPreviewPage", "Return a picture of a sheet of one version.", Viewer.xlsx_page, phase="review", role="read"),
)  # fmt: skip
