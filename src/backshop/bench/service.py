"""`Bench`: files, Draft, review and checkpoints of every workbench of a home.

One method for each command, named after it. The work is in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from backshop.base import paths
from backshop.base.ambient import Clock, Mint
from backshop.base.ids import BenchId, TreeId
from backshop.base.paths import BenchPath
from backshop.formats import Formats
from backshop.store import THE_OWNER, Caller, Store

from . import checkpoint, decide, first_look, requests
from .answers import (
    Added,
    AuditPage,
    AuditText,
    Batched,
    BenchList,
    BenchSize,
    CheckpointInfo,
    CheckpointList,
    CheckpointMade,
    Compared,
    Corrected,
    Created,
    Discarded,
    Done,
    DraftFolder,
    DraftState,
    Extracted,
    FileList,
    FolderOpened,
    FolderState,
    FolderTook,
    FolderWritten,
    Names,
    Opened,
    Published,
    Reconciled,
    Removed,
    Renamed,
    Repaired,
    Restored,
    SampleCreated,
    Scope,
    WrittenBack,
)
from .audit import note, trail
from .context import item
from .context.item import Artifact, ContextItem, ContextItems
from .conversations import ConversationPort, NoConversations
from .draft import batch, comparison, outside_edit, publish, reconciliation
from .draft.batch import Author, Put
from .draft.selection import Selections
from .files import addition, published_files
from .folder import conflict, link, original, standing, taking, write_back
from .folder.commit_message import commit_message
from .lifecycle import disk_use, lifecycle, sample, trash
from .lifecycle import fork as lifecycle_fork
from .repository import Announce, BenchRepository, Room, unheard
from .review import change_set, view_request
from .review.change_set import ChangeEntry, ChangeSet, Confirmed, Summary
from .review.discussion import Discussion
from .review.file_diff import Diff, Differ
from .review.look import look_into
from .review.reference import reference_of
from .review.viewer import Picture, Viewer
from .settings import BenchSettings


class Bench:
    """The facade of this room. Safe for threads and for several processes on one home."""

    def __init__(
        self,
        store: Store,
        formats: Formats,
        mint: Mint,
        clock: Clock,
        settings: BenchSettings | None = None,
        *,
        conversations: ConversationPort | None = None,
        announce: Announce = unheard,
        room: Room | None = None,
        names: Callable[[], Names] = dict,
    ) -> None:
        self.desk = BenchRepository(
            store, mint, clock, formats, settings, announce=announce, room=room, names=names
        )
        self.formats = formats
        self.viewer = Viewer(self.desk, formats)
        self.differ = Differ(self.desk, formats)
        self.discussion = Discussion(self.desk, formats)
        self.selections = Selections(self.desk, formats)
        self.conversations = conversations or NoConversations()

    def create(self, request: requests.WorkbenchCreate, caller: Caller = THE_OWNER) -> Created:
        """Make an empty workbench."""
        return lifecycle.create(self.desk, request, caller)

    def create_sample(
        self, request: requests.WorkbenchCreateSample, caller: Caller = THE_OWNER
    ) -> SampleCreated:
        """Make a workbench with files to try things on."""
        return sample.create(self.desk, request, caller)

    def open(self, request: requests.BenchRequest) -> Opened:
        """Open a workbench, repairing its folders if a crash left them behind."""
        return lifecycle.open_bench(self.desk, request)

    def list(self, request: requests.WorkbenchList, caller: Caller = THE_OWNER) -> BenchList:
        """List workbenches."""
        trash.purge(self.desk, self.conversations.sisters)
        return lifecycle.list_benches(self.desk, request, caller)

    def rename(self, request: requests.WorkbenchRename) -> Done:
        """Give a workbench another name."""
        return lifecycle.rename(self.desk, request)

    def delete(self, request: requests.WorkbenchDelete) -> Done:
        """Throw a workbench away."""
        return trash.delete(self.desk, request)

    def undelete(self, request: requests.BenchRequest) -> Done:
        """Take a workbench out of the trash."""
        return trash.undelete(self.desk, request, self.conversations.sisters)

    def fork(self, request: requests.WorkbenchFork, caller: Caller = THE_OWNER) -> Created:
        """Make another workbench from this one."""
        return lifecycle_fork.fork(self.desk, request, self.conversations.retell, caller)

    def get_scope(self, request: requests.BenchRequest) -> Scope:
        """Say how much a workbench may hold."""
        return lifecycle.scope(self.desk, request)

    def set_limits(self, request: requests.WorkbenchSetLimits) -> Scope:
        """Change how much a workbench may hold."""
        return lifecycle.set_limits(self.desk, request)

    def files_list(self, request: requests.WorkbenchFilesList) -> FileList:
        """List files."""
        return published_files.list_files(self.desk, request)

    def files_add(self, request: requests.WorkbenchFilesAdd) -> Added:
        """Copy files in."""
        return addition.add(self.desk, request)

    def files_remove(self, request: requests.WorkbenchFilesRemove) -> Removed:
        """Take files out of Published."""
        return published_files.remove(self.desk, request)

    def bind_originals(self, request: requests.WorkbenchBindOriginals) -> Done:
        """Remember which files of the person's own results go back to."""
        return original.bind(self.desk, request)

    def write_back(self, request: requests.BenchRequest) -> WrittenBack:
        """Let the person's own files hold what is Published."""
        return original.write_back(self.desk, request)

    def files_extract(self, request: requests.WorkbenchFilesExtract) -> Extracted:
        """Copy Published files out."""
        return published_files.extract(self.desk, request)

    def file_rename(self, request: requests.WorkbenchFileRename) -> Renamed:
        """Rename a Published file."""
        return published_files.rename(self.desk, request)

    def draft_get_state(self, request: requests.BenchRequest) -> DraftState:
        """Say whether there is a Draft."""
        return batch.state_of(self.desk, request)

    def draft_create(self, request: requests.DraftCreate) -> Batched:
        """Begin a Draft without a write."""
        return batch.create(self.desk, request)

    def draft_publish(self, request: requests.DraftPublish) -> Published:
        """Make the Draft Published; a failure is noted."""
        if request.dry_run:
            return publish.publish(self.desk, request)
        asked = self._asked(request.workbench_id)
        with note.failing(self.desk, request.workbench_id, "publish_failed"):
            done = publish.publish(self.desk, request)
        if done.folder is None:
            return done
        return replace(done, folder=self._told(request.workbench_id, done.folder, asked))

    def draft_discard(self, request: requests.BenchRequest) -> Discarded:
        """Throw the Draft away."""
        return publish.discard(self.desk, request)

    def draft_bring_back(self, request: requests.BenchRequest) -> Done:
        """Take it back that the Draft was thrown away."""
        return publish.bring_back(self.desk, request)

    def draft_delete_path(self, request: requests.DraftPath) -> Batched:
        """Delete a path of the Draft."""
        return batch.delete_path(self.desk, request)

    def draft_rename_path(self, request: requests.DraftPath) -> Batched:
        """Rename a path of the Draft."""
        return batch.rename_path(self.desk, request)

    def draft_revert_path(self, request: requests.DraftPath) -> Batched:
        """Bring a path back to what it was when the Draft began."""
        return batch.revert_path(self.desk, request)

    def draft_restore_revision(self, request: requests.DraftRestoreRevision) -> Batched:
        """Bring an earlier revision of the Draft back."""
        return batch.restore_revision(self.desk, request)

    def draft_undo(self, request: requests.DraftUndo) -> Corrected:
        """Take back the last correction of the Draft by hand."""
        return batch.undo(self.desk, request)

    def draft_rescan(self, request: requests.RepairMode) -> Repaired:
        """Deal with outside edits of the Draft's folder."""
        return outside_edit.rescan(self.desk, request)

    def draft_folder(self, request: requests.DraftFolderChoice) -> DraftFolder:
        """Say what the Draft's folder holds, or have it hold every file, or what changed."""
        return disk_use.draft_folder(self.desk, request)

    def get_size(self, request: requests.BenchRequest) -> BenchSize:
        """Say what a workbench takes on disk."""
        return disk_use.size(self.desk, request)

    def published_repair(self, request: requests.RepairMode) -> Repaired:
        """Deal with outside edits of the Published folder."""
        return outside_edit.repair_published(self.desk, request)

    def published_reconcile(self, request: requests.PublishedReconcile) -> Reconciled:
        """Bring the Draft onto what others made of Published."""
        return reconciliation.reconcile(self.desk, request)

    def apply_batch(self, bench_id: str, puts: Sequence[Put], author: Author) -> Batched:
        """Write to the Draft; for tools and the Workshop, not a command of its own."""
        return batch.apply_batch(self.desk, bench_id, puts, author)

    def open_folder(self, request: requests.WorkbenchOpenFolder) -> FolderOpened:
        """Open the workbench of a folder, or make one with the folder's files."""
        return link.open_folder(self.desk, request)

    def folder_follow(self, request: requests.FolderFollow) -> FolderState:
        """Say where the folder of a workbench is now."""
        return link.follow(self.desk, request)

    def folder_get_state(self, request: requests.BenchRequest) -> FolderState:
        """Say how a workbench and the folder it follows stand to each other."""
        return standing.get_state(self.desk, request)

    def folder_write_back(self, request: requests.BenchRequest) -> FolderWritten:
        """Write into the folder what Published has otherwise."""
        done = write_back.write_back(self.desk, request)
        return self._told(request.workbench_id, done, self._asked(request.workbench_id))

    def folder_take(self, request: requests.FolderTake) -> FolderTook:
        """Take what others did in the folder into Published."""
        return taking.take(self.desk, request)

    def folder_settle(self, request: requests.FolderSettle) -> FolderState:
        """Decide conflicts between the folder and Published."""
        return conflict.settle(self.desk, request)

    def folder_refresh(self, bench_id: str) -> None:
        """Take in what others did in the folder before an agent looks; not a command of its own."""
        if self.desk.state(bench_id).folder is not None and not self.desk.store.is_read_only:
            with self.desk.views.locked(BenchId(bench_id)):
                taking.refreshed(self.desk, self.desk.state(bench_id))

    def _asked(self, bench_id: str) -> str | None:
        """Return what the person asked for last, of a workbench of a folder."""
        state = self.desk.state(bench_id)
        return None if state.folder is None else self.conversations.asked(state)

    def _told(self, bench_id: str, done: FolderWritten, asked: str | None) -> FolderWritten:
        followed = self.desk.state(bench_id).folder
        assert followed is not None, "it was written to"
        message = commit_message(followed.folder, asked, done.written)
        return replace(done, commit_message=message)

    def checkpoint_create(self, request: requests.CheckpointCreate) -> CheckpointMade:
        """Keep Published as it is."""
        return checkpoint.create(self.desk, request)

    def checkpoints_list(self, request: requests.CheckpointsList) -> CheckpointList:
        """List checkpoints."""
        return checkpoint.list_all(self.desk, request, self.conversations.stories)

    def checkpoint_get(self, request: requests.CheckpointId_) -> CheckpointInfo:
        """Return one checkpoint."""
        return checkpoint.get(self.desk, request, self.conversations.stories)

    def checkpoint_compare(self, request: requests.CheckpointCompare) -> Compared:
        """Compare a checkpoint with another, or with Published."""
        return checkpoint.compare(self.desk, request)

    def draft_compare_revisions(self, request: requests.DraftCompareRevisions) -> Compared:
        """Compare a revision of a Draft with another, or with the Draft."""
        return comparison.compare(self.desk, request)

    def draft_get_revision_diff(self, request: requests.DraftGetRevisionDiff) -> Diff:
        """Return what differs in one file between a revision and another, or the Draft."""
        path = paths.bench_path(request.path)
        pair = comparison.two_trees(self.desk, request)
        return self._between(pair, path, request)

    def checkpoint_get_diff(self, request: requests.CheckpointGetDiff) -> Diff:
        """Return what differs in one file between a checkpoint and another, or Published."""
        path = paths.bench_path(request.path)
        pair = checkpoint.two_trees(
            self.desk, request.workbench_id, request.checkpoint_id, request.other_id
        )
        return self._between(pair, path, request)

    def _between(
        self,
        pair: tuple[TreeId, TreeId],
        path: BenchPath,
        request: requests.CheckpointGetDiff | requests.DraftGetRevisionDiff,
    ) -> Diff:
        """Return the best diff of a path in two trees."""
        asked = view_request.ReviewPath(
            workbench_id=request.workbench_id,
            path=request.path,
            cursor=request.cursor,
            sheet=request.sheet,
        )
        return self.differ.best(self.differ.between(*pair, path), asked)

    def glance(self, bench_id: str, version: str, path: str, since: str | None = None) -> Picture:
        """Return a small picture of a file in a version: of what changed in it since another."""
        hint = None
        if since is not None:
            other = None if version == "PUBLISHED" else version
            pair = checkpoint.two_trees(self.desk, bench_id, since, other)
            hint = self.differ.focus_between(*pair, paths.bench_path(path))
        return self.viewer.glance(bench_id, version, path, hint)

    def checkpoint_restore(self, request: requests.CheckpointRestore) -> Restored:
        """Bring a checkpoint back; a failure is noted."""
        if request.dry_run:
            return checkpoint.restore(self.desk, request)
        with note.failing(self.desk, request.workbench_id, "restore_failed"):
            return checkpoint.restore(self.desk, request)

    def checkpoint_pin(self, request: requests.CheckpointPin) -> Done:
        """Keep a checkpoint from being pruned."""
        return checkpoint.pin(self.desk, request)

    def review_get_change_set(self, request: requests.ReviewGetChangeSet) -> ChangeSet:
        """List what the Draft changes."""
        found = change_set.change_set(
            self.desk, request, self.differ.hint_of, self.conversations.summarise
        )
        state = self.desk.state(request.workbench_id)
        draft = decide.require_draft(state)
        began = reference_of(draft, request.since).tree
        look = look_into(self.desk, self.formats, began, draft.tree)
        vouched = self.conversations.vouch(state)
        asked = self.conversations.unanswered(state)
        first = tuple(dict.fromkeys((*vouched.first, *first_look.told(look))))
        return replace(
            found,
            draft_facts=(*first, *vouched.rest),
            draft_facts_first=len(first) or None,
            subject=self.conversations.subject(state),
            request=asked[-1] if asked else None,
            requests=asked,
        )

    def review_get_entry(self, request: view_request.ReviewPath) -> ChangeEntry:
        """Return what the list says about one changed file."""
        return change_set.one_entry(self.desk, request, self.differ.hint_of)

    def review_get_summary(self, request: view_request.ReviewPath) -> Summary:
        """Return what a file's change is about."""
        return change_set.summary(self.desk, request, self.conversations.summarise)

    def review_get_deletion_confirmations(self, request: requests.BenchRequest) -> Confirmed:
        """Return the deletions the person agreed to."""
        return change_set.confirmations(self.desk, request)

    def review_set_deletion_confirmations(
        self, request: requests.ReviewSetDeletionConfirmations
    ) -> Done:
        """Agree to deletions, or not any more."""
        change_set.confirm(self.desk, request)
        return Done()

    def context_list(self, request: requests.BenchRequest) -> ContextItems:
        """List the four context items."""
        return item.list_items(self.desk, request)

    def context_get(self, request: requests.ContextSlot) -> ContextItem:
        """Return one context item."""
        return item.get(self.desk, request)

    def context_get_artifact(self, request: requests.ContextSlot) -> Artifact:
        """Return the files of a context item."""
        return item.get_artifact(self.desk, request)

    def context_update_direct(self, request: requests.ContextUpdateDirect) -> ContextItem:
        """Replace the files of a context item by hand."""
        return item.update(self.desk, request)

    def context_delete(self, request: requests.ContextSlot) -> Done:
        """Empty a context item."""
        return item.delete(self.desk, request)

    def audit_list(self, request: requests.AuditList) -> AuditPage:
        """Return the audit log."""
        return trail.page(self.desk, request)

    def audit_export(self, request: requests.BenchRequest) -> AuditText:
        """Return the whole audit log as JSON Lines."""
        return trail.export(self.desk, request)
