"""The bench's commands: name ↔ request ↔ facade method (B19)."""

from __future__ import annotations

from typing import Any

from backshop.base.command import Command, commands_of

from . import answers, requests
from .context import item
from .review import change_set, file_diff, view_request, viewer
from .service import Bench

_command = commands_of("workbench")


FOUND = dict[str, Any]  # what a format answers, in the shape of its kind (F5, F27, F29)

COMMANDS: tuple[Command[Bench, Any, Any], ...] = (
    _command("WorkbenchCreate", "Make an empty workbench.", requests.WorkbenchCreate, answers.Created, Bench.create, writes=True, role="write", anybody=True, makes="workbench", for_caller=True),
    _command("WorkbenchCreateSample", "Make a workbench with files to try things on.", requests.WorkbenchCreateSample, answers.SampleCreated, Bench.create_sample, writes=True, role="write", anybody=True, makes="workbench", for_caller=True),
    _command("WorkbenchOpen", "Open a workbench.", requests.BenchRequest, answers.Opened, Bench.open, role="read"),
    _command("WorkbenchList", "List workbenches.", requests.WorkbenchList, answers.BenchList, Bench.list, role="read", anybody=True, for_caller=True),
    _command("WorkbenchRename", "Give a workbench another name.", requests.WorkbenchRename, answers.Done, Bench.rename, writes=True, role="publish"),
    _command("WorkbenchDelete", "Throw a workbench away.", requests.WorkbenchDelete, answers.Done, Bench.delete, writes=True, role="publish"),
    _command("WorkbenchUndelete", "Take a workbench out of the trash.", requests.BenchRequest, answers.Done, Bench.undelete, writes=True, role="publish"),
    _command("WorkbenchFork", "Make another workbench from this one.", requests.WorkbenchFork, answers.Created, Bench.fork, writes=True, role="read", makes="workbench", for_caller=True),
    _command("WorkbenchGetScope", "Say how much a workbench may hold.", requests.BenchRequest, answers.Scope, Bench.get_scope, role="read"),
    _command("WorkbenchGetSize", "Say what a workbench takes on disk.", requests.BenchRequest, answers.BenchSize, Bench.get_size, role="read"),
    _command("WorkbenchSetLimits", "Change how much a workbench may hold.", requests.WorkbenchSetLimits, answers.Scope, Bench.set_limits, writes=True, role="publish"),
    _command("WorkbenchFilesList", "List files of a workbench.", requests.WorkbenchFilesList, answers.FileList, Bench.files_list, role="read"),
    _command("WorkbenchFilesAdd", "Copy files into a workbench.", requests.WorkbenchFilesAdd, answers.Added, Bench.files_add, writes=True, role="publish", server_paths=("source_paths",)),
    _command("WorkbenchFilesRemove", "Take files out of Published.", requests.WorkbenchFilesRemove, answers.Removed, Bench.files_remove, writes=True, role="publish"),
    _command("WorkbenchFilesExtract", "Copy Published files to a folder outside.", requests.WorkbenchFilesExtract, answers.Extracted, Bench.files_extract, role="read", server_paths=("destination_dir",)),
    _command("WorkbenchFileRename", "Rename a Published file.", requests.WorkbenchFileRename, answers.Renamed, Bench.file_rename, writes=True, role="publish"),
    _command("WorkbenchFileGetInfo", "Return kind, size and a few facts of one file.", view_request.FileRequest, FOUND, lambda b, r: b.viewer.info(r), role="read"),
    _command("WorkbenchFileGetMap", "Return the structure of a file.", view_request.FileRequest, FOUND, lambda b, r: b.viewer.map(r), role="read"),
    _command("WorkbenchFileRead", "Read part of a file.", view_request.FileRead, FOUND, lambda b, r: b.viewer.read(r), role="read"),
    _command("WorkbenchFileGetGrid", "Return a window of a sheet.", view_request.FileGrid, FOUND, lambda b, r: b.viewer.grid(r), role="read"),
    _command("WorkbenchFileGetSection", "Return the outline of a document and one section.", view_request.FileSection, FOUND, lambda b, r: b.viewer.section(r), role="read"),
    _command("WorkbenchFileGetSlide", "Return one slide with the places of its shapes.", view_request.FileSlide, FOUND, lambda b, r: b.viewer.slide(r), role="read"),
    _command("WorkbenchFileGetPage", "Return a picture of one page of a file.", view_request.FilePage, viewer.PagePreview, lambda b, r: b.viewer.page(r), role="read"),
    _command("WorkbenchTableDescribe", "Return what each column of a table holds.", view_request.TableRequest, FOUND, lambda b, r: b.viewer.describe(r), role="read"),
    _command("WorkbenchTableStats", "Return statistics of columns of a table.", view_request.TableStats, FOUND, lambda b, r: b.viewer.stats(r), role="read"),
    _command("WorkbenchTableReadRows", "Return rows of a table in the order of the file.", view_request.TableReadRows, FOUND, lambda b, r: b.viewer.rows(r), role="read"),
    _command("WorkbenchTableQuery", "Ask a table with one SELECT over `data`.", view_request.TableQuery, FOUND, lambda b, r: b.viewer.query(r), role="read"),
    _command("DraftGetState", "Say whether there is a Draft.", requests.BenchRequest, answers.DraftState, Bench.draft_get_state, role="read"),
    _command("DraftCreate", "Begin a Draft without a write.", requests.DraftCreate, answers.Batched, Bench.draft_create, writes=True, role="write"),
    _command("DraftPublish", "Make the Draft Published.", requests.DraftPublish, answers.Published, Bench.draft_publish, phase="publish", writes=True, role="publish"),
    _command("DraftDiscard", "Throw the Draft away.", requests.BenchRequest, answers.Done, Bench.draft_discard, phase="review", writes=True, role="write"),
    _command("DraftDeletePath", "Delete a path of the Draft.", requests.DraftPath, answers.Batched, Bench.draft_delete_path, phase="review", writes=True, role="write"),
    _command("DraftRenamePath", "Rename a path of the Draft.", requests.DraftPath, answers.Batched, Bench.draft_rename_path, phase="review", writes=True, role="write"),
    _command("DraftRevertPath", "Bring a path of the Draft back.", requests.DraftPath, answers.Batched, Bench.draft_revert_path, phase="review", writes=True, role="write"),
    _command("DraftUndo", "Take back the last path that was reverted, deleted or renamed in the Draft by hand.", requests.DraftUndo, answers.Corrected, Bench.draft_undo, phase="review", writes=True, role="write"),
    _command("DraftRestoreRevision", "Bring an earlier revision of the Draft back.", requests.DraftRestoreRevision, answers.Batched, Bench.draft_restore_revision, phase="review", writes=True, role="write"),
    _command("DraftRescan", "Deal with outside edits of the Draft's folder.", requests.RepairMode, answers.Repaired, Bench.draft_rescan, phase="review", writes=True, role="write"),
    _command("DraftFolder", "Say what the Draft's folder holds, or have it hold every file.", requests.DraftFolder, answers.DraftFolder, Bench.draft_folder, phase="review", writes=True, role="write"),
    _command("PublishedRepair", "Deal with outside edits of the Published folder.", requests.RepairMode, answers.Repaired, Bench.published_repair, phase="publish", writes=True, role="publish"),
    _command("PublishedReconcile", "Bring the Draft onto what others made of Published.", requests.PublishedReconcile, answers.Reconciled, Bench.published_reconcile, phase="publish", writes=True, role="publish"),
    _command("CheckpointCreate", "Keep Published as it is.", requests.CheckpointCreate, answers.CheckpointMade, Bench.checkpoint_create, writes=True, role="write"),
    _command("CheckpointsList", "List checkpoints.", requests.CheckpointsList, answers.CheckpointList, Bench.checkpoints_list, role="read"),
    _command("CheckpointGet", "Return one checkpoint.", requests.CheckpointId_, answers.CheckpointInfo, Bench.checkpoint_get, role="read"),
    _command("CheckpointCompare", "Compare a checkpoint with another, or with Published.", requests.CheckpointCompare, answers.Compared, Bench.checkpoint_compare, role="read"),
    _command("CheckpointGetDiff", "Return what differs in one file between a checkpoint and another, or Published.", requests.CheckpointGetDiff, file_diff.Diff, Bench.checkpoint_get_diff, role="read"),
    _command("CheckpointRestore", "Bring a checkpoint back.", requests.CheckpointRestore, answers.Restored, Bench.checkpoint_restore, phase="restore", writes=True, role="publish"),
    _command("CheckpointPin", "Keep a checkpoint from being pruned.", requests.CheckpointPin, answers.Done, Bench.checkpoint_pin, writes=True, role="write"),
    _command("ReviewGetChangeSet", "List what the Draft changes.", requests.ReviewGetChangeSet, change_set.ChangeSet, Bench.review_get_change_set, phase="review", role="read"),
    _command("ReviewGetDiff", "Return the best diff there is for a path.", view_request.ReviewPath, file_diff.Diff, Bench.review_get_diff, phase="review", role="read"),
    _command("ReviewGetTextDiff", "Return the line diff of a path.", view_request.ReviewPath, file_diff.Diff, Bench.review_get_text_diff, phase="review", role="read"),
    _command("ReviewGetOfficeTextDiff", "Return the line diff of an office file's text.", view_request.ReviewPath, file_diff.Diff, Bench.review_get_text_diff, phase="review", role="read"),
    _command("ReviewGetTableDiff", "Return the rows of a delimited file that differ.", view_request.ReviewPath, file_diff.Diff, lambda b, r: b.differ.table_diff(r), phase="review", role="read"),
    _command("ReviewGetXlsxCellDiff", "Return the cells of a workbook that differ.", view_request.ReviewPath, file_diff.Diff, lambda b, r: b.differ.cell_diff(r), phase="review", role="read"),
    _command("ReviewGetDocxContentDiff", "Return the sections of a document, paired, and what differs in one.", view_request.ReviewPath, file_diff.Diff, lambda b, r: b.differ.document_diff(r), phase="review", role="read"),
    _command("ReviewGetPptxContentDiff", "Return the slides of a presentation, paired, and what differs on one.", view_request.ReviewPath, file_diff.Diff, lambda b, r: b.differ.deck_diff(r), phase="review", role="read"),
    _command("ReviewGetEntry", "Return what the list says about one changed file.", view_request.ReviewPath, change_set.ChangeEntry, Bench.review_get_entry, phase="review", role="read"),
    _command("ReviewGetSummary", "Return what a file's change is about.", view_request.ReviewPath, change_set.Summary, Bench.review_get_summary, phase="review", role="read"),
    _command("ReviewGetPdfPreviewPage", "Return a picture of a PDF page of one version.", view_request.ReviewPage, viewer.PagePreview, lambda b, r: b.viewer.preview(r, "pdf"), phase="review", role="read"),
    _command("ReviewGetDocxPreviewPage", "Return a picture of a page of a Word document.", view_request.ReviewPage, viewer.PagePreview, lambda b, r: b.viewer.preview(r, "docx"), phase="review", role="read"),
    _command("ReviewGetOdtPreviewPage", "Return a picture of a page of an OpenDocument text.", view_request.ReviewPage, viewer.PagePreview, lambda b, r: b.viewer.preview(r, "odt"), phase="review", role="read"),
    _command("ReviewGetPptxPreviewSlide", "Return a picture of a slide of one version.", view_request.ReviewSlide, viewer.PagePreview, lambda b, r: b.viewer.slide_preview(r), phase="review", role="read"),
    _command("ReviewGetImagePreview", "Return a picture of an image of one version.", view_request.ReviewPage, viewer.PagePreview, lambda b, r: b.viewer.preview(r, "image"), phase="review", role="read"),
    _command("ReviewGetXlsxPreviewGrid", "Return a window of a sheet of one version.", view_request.ReviewGrid, FOUND, lambda b, r: b.viewer.preview_grid(r), phase="review", role="read"),
    _command("ReviewGetDeletionConfirmations", "Return the deletions the person agreed to.", requests.BenchRequest, change_set.Confirmed, Bench.review_get_deletion_confirmations, phase="review", role="read"),
    _command("ReviewSetDeletionConfirmations", "Agree to deletions, or not any more.", requests.ReviewSetDeletionConfirmations, answers.Done, Bench.review_set_deletion_confirmations, phase="review", writes=True, role="write"),
    _command("ContextList", "List the four context items.", requests.BenchRequest, item.ContextItems, Bench.context_list, role="read"),
    _command("ContextGet", "Return one context item.", requests.ContextSlot, item.ContextItem, Bench.context_get, role="read"),
    _command("ContextGetArtifact", "Return the files of a context item.", requests.ContextSlot, item.Artifact, Bench.context_get_artifact, role="read"),
    _command("ContextUpdateDirect", "Replace the files of a context item by hand.", requests.ContextUpdateDirect, item.ContextItem, Bench.context_update_direct, writes=True, role="write"),
    _command("ContextDelete", "Empty a context item.", requests.ContextSlot, answers.Done, Bench.context_delete, writes=True, role="write"),
    _command("AuditExport", "Return the whole audit log as JSON Lines.", requests.BenchRequest, answers.AuditText, Bench.audit_export, role="read"),
    _command("AuditList", "Return the audit log of a workbench.", requests.AuditList, answers.AuditPage, Bench.audit_list, role="read"),
)  # fmt: skip
