"""Every command about a workbench in every state it can be in, generated from the registry.

A command that is not told of here fails the first test: somebody has to decide what it does with
a Draft, during a run, and on a workbench that is gone (B7.6).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from backshop.app import Backshop
from backshop.base.codec import compact, schema
from backshop.base.errors import BackshopError
from backshop.base.paths import BenchPath

from .conftest import Room

BIG = "big " * 30_000
HANDLED = {  # the two columns of B7.6: with a Draft, during a run
    **dict.fromkeys(
        (
            *("WorkbenchFilesAdd", "WorkbenchFilesRemove", "DraftBringBack"),
            *("WorkbenchFileRename", "WorkbenchDelete", "WorkbenchFork", "ContextProcess"),
            *("ContextUpdateDirect", "ContextDelete", "CheckpointCreate", "CheckpointRestore"),
            *("WorkshopSendUserMessage", "WorkshopProposeChanges"),
        ),
        ("DRAFT_EXISTS", "BENCH_BUSY"),
    ),
    **dict.fromkeys(
        (
            *("DraftPublish", "DraftDiscard", "DraftRescan", "DraftDeletePath", "DraftRenamePath"),
            *("DraftRevertPath", "DraftRestoreRevision", "DraftUndo", "PublishedRepair"),
            *("DraftCreate", "DraftFolder", "ReviewSetDeletionConfirmations", "PublishedReconcile"),
            *("WorkshopUndoToMessage", "WorkshopRedo", "WorkshopRegenerate", "WorkbenchWriteBack"),
            *("DraftLeaveChanges", "DraftTakeChanges"),
            "WorkshopRequestChanges",
            *("FolderFollow", "FolderSettle", "FolderTake", "FolderWriteBack"),
        ),
        (None, "BENCH_BUSY"),
    ),
}
NEEDS_DRAFT = {  # NOT_FOUND: no_draft without one (B12.20, B20)
    *("DraftPublish", "DraftDiscard", "DraftRescan", "DraftDeletePath", "DraftRenamePath"),
    *("DraftRevertPath", "DraftRestoreRevision", "DraftUndo", "ReviewSetDeletionConfirmations"),
    *("ReviewGetChangeSet", "ReviewGetDeletionConfirmations", "ReviewGetDiff"),
    *("ReviewGetDocxContentDiff", "ReviewGetEntry", "ReviewGetOfficeTextDiff"),
    *("ReviewGetPptxContentDiff", "ReviewGetSummary", "ReviewGetTableDiff", "ReviewGetTextDiff"),
    *("ReviewGetXlsxCellDiff", "ReviewGetXlsxPreviewGrid", "ReviewGetImagePreview"),
    *("ReviewGetPdfPreviewPage", "ReviewGetDocxPreviewPage", "ReviewGetOdtPreviewPage"),
    *("ReviewGetPptxPreviewSlide", "PublishedReconcile", "DraftFolder"),
    *("ReviewGetPptxDrawnSlide", "ReviewGetDrawnDocument"),
    *("ReviewAddComment", "ReviewAnswerComment", "ReviewResolveComment", "ReviewWithdrawComment"),
    *("ReviewListComments", "ReviewListChanges", "DraftLeaveChanges", "DraftTakeChanges"),
    "WorkshopRequestChanges",
}
FREE = {  # commands that change something and ask neither for a Draft nor for quiet
    *("WorkbenchRename", "WorkbenchSetLimits", "WorkshopSwitchModel", "WorkshopSetFlow"),
    *("CheckpointPin", "DigestClear", "DigestRefresh", "DigestSet", "WorkshopDismissReminder"),
    *("EgressGrantWorkshopConsent", "EgressRevokeConsent", "AccessSet", "WorkbenchUndelete"),
    *("WorkshopCancelRun", "WorkshopRunAgent", "WorkbenchSetDefaultModel", "WorkshopAddNote"),
    *("WorkshopStreamAssistantReply", "WorkshopApplyProposal", "WorkshopDismissProposal"),
    *("WorkbenchFilesExtract", "UserInvite"),
    *("ReviewAddComment", "ReviewAnswerComment", "ReviewResolveComment", "ReviewWithdrawComment"),
    *("WorkbenchFilesExtract", "WorkshopSaveWorkflow", "WorkbenchBindOriginals"),
}
HELPS = {  # what a damaged workbench still takes (B3.11), beside everything that only reads
    *("WorkbenchDelete", "CheckpointRestore", "DraftDiscard"),
}
OF_OTHERS = {  # what it takes too where single contents are lost, about its other files
    *("WorkbenchFilesAdd", "WorkbenchFilesRemove", "WorkbenchFileRename", "DraftCreate"),
    "DraftBringBack",
}
OF_PEOPLE = ("Egress", "Usage", "Access", "EngineGet", "UserInvite")
OTHERS = {"AccessList", "EgressGetConsentStatus"}  # about people and models, not this room's


@dataclass(frozen=True)
class Case:
    """A command as the registry has it."""

    name: str
    writes: bool


def cases() -> list[Case]:
    with tempfile.TemporaryDirectory() as home, Backshop.open(Path(home) / "home") as shop:
        return [
            Case(bound.command.name, bound.command.writes)
            for bound in shop.commands
            if "workbench_id" in compact(schema(bound.command.request)).get("properties", {})
        ]


CASES = cases()


class Place(Room):
    """A bench with everything the commands may ask for."""

    def __init__(self, shop: Backshop, folder: Path) -> None:
        super().__init__(shop, folder)
        shop.call("UserSetDefaultModel", {"model_id": "scripted:echo"})
        self.add({"a.txt": "one", "t.csv": "k,v\na,1\n", "big.txt": BIG, "gone.txt": "gone"})
        self.checkpoint = self.call("CheckpointCreate")["checkpoint_id"]
        self.message = self.call("WorkshopSendUserMessage", text="hello")["message_id"]
        self.out = folder / "out"
        self.out.mkdir()
        self.revision = "rev_" + "0" * 26
        self.draft_id = "draft_" + "0" * 26

    def with_draft(self) -> None:
        done = self.write({"a.txt": "two", "t.csv": "k,v\na,2\n"})
        assert done.draft_revision_id is not None
        self.revision, self.draft_id = done.draft_revision_id, done.draft_id
        self.call("DraftDeletePath", path="gone.txt")

    def request(self, name: str) -> dict[str, Any]:
        """Return what the command needs to succeed in a state that allows it."""
        source = self.folder / "outside" / "a.txt"
        text = {"mode": "text", "text": "x"}
        status = {"provider_id": "scripted", "model_id": "scripted:echo", "scope_hash": "0" * 64}
        table = {"path": "t.csv"}
        known: dict[str, dict[str, Any]] = {
            "UserInvite": {"name": "Friend", "role": "read"},
            "AccessSet": {"user_id": "user_" + "0" * 26, "role": "viewer"},
            "CheckpointCompare": {"checkpoint_id": self.checkpoint},
            "CheckpointGet": {"checkpoint_id": self.checkpoint},
            "CheckpointGetDiff": {"checkpoint_id": self.checkpoint, "path": "a.txt"},
            "CheckpointPin": {"checkpoint_id": self.checkpoint},
            "CheckpointRestore": {"checkpoint_id": self.checkpoint},
            "ContextDelete": {"category": "situation"},
            "ContextGet": {"category": "situation"},
            "ContextGetArtifact": {"category": "situation"},
            "ContextProcess": {"category": "situation", "input": text},
            "ContextUpdateDirect": {
                "category": "situation",
                "files": [{"path": "context.md", "content": "x"}],
                "create": True,
            },
            "DigestSet": {"body": "x"},
            "DraftCompareRevisions": {"revision_id": self.revision},
            "DraftGetRevisionDiff": {"revision_id": self.revision, "path": "a.txt"},
            "DraftDeletePath": {"path": "t.csv"},
            "DraftLeaveChanges": {"path": "a.txt"},
            "DraftTakeChanges": {"path": "a.txt"},
            "DraftRenamePath": {"path": "a.txt", "new_path": "b.txt"},
            "DraftRescan": {"mode": "revert"},
            "DraftRestoreRevision": {"revision_id": self.revision},
            "DraftRevertPath": {"path": "a.txt"},
            "EgressGrantWorkshopConsent": status,
            "FolderFollow": {"folder": str(self.out)},
            "FolderSettle": {"paths": ["a.txt"], "keep": "theirs"},
            "PublishedReconcile": {"keep": "theirs"},
            "PublishedRepair": {"mode": "restore"},
            "ReviewAddComment": {"path": "a.txt", "text": "x"},
            "ReviewAnswerComment": {"comment_id": "cmt_" + "0" * 26, "text": "x"},
            "ReviewResolveComment": {"comment_id": "cmt_" + "0" * 26},
            "ReviewWithdrawComment": {"comment_id": "cmt_" + "0" * 26},
            "ReviewListChanges": {"path": "a.txt"},
            "ReviewSetDeletionConfirmations": {"paths": ["gone.txt"]},
            "WorkbenchBindOriginals": {
                "originals": [{"path": "a.txt", "target": str(self.folder / "outside" / "a.txt")}]
            },
            "WorkbenchDelete": {"confirm": self.id},
            "WorkbenchFileRename": {"path": "a.txt", "new_path": "b.txt"},
            "WorkbenchFilesAdd": {"source_paths": [str(source)], "on_conflict": "skip"},
            "WorkbenchFilesExtract": {"destination_dir": str(self.out)},
            "WorkbenchFilesRemove": {"workbench_paths": ["a.txt"]},
            "WorkbenchRename": {"new_name": "Other"},
            "WorkbenchSetLimits": {"profile": "large"},
            "WorkbenchTableDescribe": table,
            "WorkbenchTableQuery": {**table, "query": "SELECT 1"},
            "WorkbenchTableReadRows": table,
            "WorkbenchTableStats": table,
            "WorkshopAddNote": {"text": "smaller"},
            "WorkshopDismissReminder": {"draft_id": self.draft_id},
            "WorkshopApplyProposal": {"proposal_id": "prop_" + "0" * 26},
            "WorkshopGetProposal": {"proposal_id": "prop_" + "0" * 26},
            "WorkshopGetToolLogEntry": {"entry_id": 1},
            "WorkshopStreamAssistantReply": {"message_id": self.message},
            "WorkshopRegenerate": {"message_id": self.message},
            "WorkshopRequestChanges": {"text": "smaller"},
            "WorkshopRunAgent": {"message_id": self.message},
            "WorkshopSaveWorkflow": {"name": "Again"},
            "WorkshopSendUserMessage": {"text": "again"},
            "WorkshopSetFlow": {"flow": "rpi"},
            "WorkshopSwitchModel": {"model_id": "scripted:echo"},
            "WorkbenchSetDefaultModel": {"model_id": "scripted:echo"},
            "WorkshopUndoToMessage": {"message_id": self.message},
        }
        path = {"path": "a.txt"} if name.startswith(("ReviewGet", "WorkbenchFileGet")) else {}
        if name in ("ReviewGetChangeSet", "ReviewGetDeletionConfirmations"):
            path = {}
        if name in ("WorkbenchFileRead", "ReviewGetTableDiff"):
            path = {"path": "t.csv"}
        return known.get(name, path)

    def outcome(self, name: str) -> tuple[str | None, str | None]:
        """Return code and reason of the refusal, or nothing; anything else fails the test."""
        try:
            self.call(name, **self.request(name))
        except BackshopError as error:
            info = error.info("workbench")
            return info.error_code, info.reason
        return None, None

    def heads(self) -> tuple[Any, ...]:
        state = self.shop.benches.desk.raw_state(self.id)
        draft = None if state.draft is None else (state.draft.tree, state.draft.confirmed)
        checkpoints = [(one.checkpoint_id, one.pinned) for one in state.checkpoints]
        return (
            *(state.published, state.context_tree, state.generation, draft, checkpoints),
            *(state.name, state.limits, state.deleted_ms, state.conversation_head_id),
        )


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with Backshop.open(tmp_path / "home") as shop:
        yield Place(shop, tmp_path)


@pytest.mark.rule("B22.80", "B7.6")
def test_every_command_that_changes_something_is_told_of():
    writers = {case.name for case in CASES if case.writes} | {"WorkbenchFilesExtract"}

    assert writers == set(HANDLED) | FREE
    assert {case.name for case in CASES} >= NEEDS_DRAFT | HELPS | OTHERS


@pytest.mark.rule("B22.80", "B7.6", "B20")
def test_with_a_draft(place):
    place.with_draft()
    before = place.heads()
    for case in CASES:
        wanted = HANDLED.get(case.name, (None, None))[0]
        if wanted is None:
            continue
        assert place.outcome(case.name)[0] == wanted, case.name
        assert place.heads() == before, case.name
    for case in CASES:
        if not case.writes and case.name not in HANDLED:
            code, reason = place.outcome(case.name)
            assert code not in ("DRAFT_EXISTS", "BENCH_BUSY"), (case.name, reason)
            assert (code, reason) != ("NOT_FOUND", "no_draft"), case.name
            assert place.heads() == before, case.name


@pytest.mark.rule("B22.80", "B3.8", "B7.6")
@pytest.mark.parametrize("drafted", [False, True])
def test_during_a_run(place, drafted):
    if drafted:
        place.with_draft()
    place.shop.store.leases.take(f"bench:{place.id}", "somebody", 60)
    before = place.heads()
    for name in HANDLED:
        code, reason = place.outcome(name)
        wanted = {"BENCH_BUSY"}
        if drafted and HANDLED[name][0]:
            wanted.add("DRAFT_EXISTS")
        if not drafted and name in NEEDS_DRAFT:
            wanted.add("NOT_FOUND")
        assert code in wanted, (name, code, reason)
        assert place.heads() == before, name
    for case in CASES:
        if not case.writes and case.name not in HANDLED:
            assert place.outcome(case.name)[0] != "BENCH_BUSY", case.name
    assert place.heads() == before


@pytest.mark.rule("B22.80", "B12.20", "B20")
def test_without_a_draft(place):
    before = place.heads()
    for name in sorted(NEEDS_DRAFT):
        code, reason = place.outcome(name)
        assert (code, reason) == ("NOT_FOUND", "no_draft"), name
        assert place.heads() == before, name
    for case in CASES:
        if not case.writes and case.name not in NEEDS_DRAFT:
            assert place.outcome(case.name)[0] not in ("DRAFT_EXISTS", "BENCH_BUSY"), case.name
    assert place.heads() == before


@pytest.mark.rule("B22.80", "B3.11")
def test_on_a_damaged_bench_only_what_helps_works(place):
    desk = place.shop.benches.desk
    lost = desk.find(desk.state(place.id).published, BenchPath("big.txt")).sha256
    desk.store.blobs.path(lost).unlink()
    desk.store.blobs.copies = lambda _: ()  # nor does any folder hold it
    assert place.call("WorkbenchOpen")["health"] == "damaged"
    before = place.heads()
    for name in HANDLED:
        if name in HELPS | OF_OTHERS | NEEDS_DRAFT or name.startswith("Workshop"):
            continue
        code, reason = place.outcome(name)
        assert code == "STORAGE_CORRUPT", (name, code, reason)
        assert place.heads() == before, name
    answer = place.call("WorkbenchFilesExtract", destination_dir=str(place.out))
    statuses = {one["path"]: one["status"] for one in answer["extract_results"]}
    assert statuses == {
        **{"a.txt": "extracted", "t.csv": "extracted", "gone.txt": "extracted"},
        "big.txt": "failed",
    }


@pytest.mark.rule("B3.11", "T5.7")
@pytest.mark.parametrize("name", sorted(OF_OTHERS))
def test_a_bench_with_one_lost_content_takes_changes_of_its_other_files(place, name):
    desk = place.shop.benches.desk
    if name == "DraftBringBack":
        place.with_draft()
        place.call("DraftDiscard")
    lost = desk.find(desk.state(place.id).published, BenchPath("big.txt")).sha256
    desk.store.blobs.path(lost).unlink()
    desk.store.blobs.copies = lambda _: ()  # nor does any folder hold it
    assert place.call("WorkbenchOpen")["health"] == "damaged"

    assert place.outcome(name)[0] is None


@pytest.mark.rule("B22.80", "B1.3", "B20", "B22.1")
@pytest.mark.parametrize(
    ("given", "code", "reason"),
    [
        ("wb_" + "0" * 26, "NOT_FOUND", "not_found"),
        *((bad, "VALIDATION_FAILED", "bad_id") for bad in ("..", ".", "", "wb_x/../y", "0" * 16)),
    ],
)
def test_a_bench_that_is_none_is_refused_everywhere(place, given, code, reason):
    requests = {case.name: place.request(case.name) for case in CASES}
    for name, request in requests.items():
        if name in OTHERS or name.startswith(("Egress", "Usage", "Access", "EngineGet")):
            continue
        try:
            place.shop.call(name, {**request, "workbench_id": given})
        except BackshopError as error:
            info = error.info("workbench")
            assert (info.error_code, info.reason) == (code, reason), name
        else:
            pytest.fail(f"{name} takes a workbench that is none")
    assert not (place.shop.config.home / "benches" / "..").samefile(place.folder)


@pytest.mark.rule("B22.80", "B5.5")
def test_in_the_trash_only_taking_it_back_works(place):
    place.call("WorkbenchDelete", confirm=place.id)
    for case in CASES:
        if case.name in OTHERS or case.name.startswith(OF_PEOPLE):
            continue
        if case.name in ("WorkbenchUndelete", "AuditList", "AuditExport"):
            continue
        assert place.outcome(case.name)[0] == "NOT_FOUND", case.name
    place.call("WorkbenchUndelete")
    assert place.published()["a.txt"] == "one"
