"""A Draft that was thrown away comes back, as long as nothing came of the files since (B9.17)."""

from __future__ import annotations

import pytest

from backshop.app import Backshop
from backshop.bench import TOOLS

from .test_story import refused

pytestmark = pytest.mark.rule("B9.17")
GONE = ("NOT_FOUND", "no_discarded_draft")


def discarded(room):
    return room.call("DraftGetState").get("discarded_draft_id")


@pytest.fixture
def thrown(room):
    """A room whose Draft, with all that a person did to it, was thrown away."""
    room.add({"a.txt": "one\ntwo\nthree\n", "b.txt": "stays", "old.txt": "old"})
    room.write({"a.txt": "ONE\ntwo\nTHREE\n", "new/c.txt": "new"})
    room.call("DraftDeletePath", path="b.txt")
    room.call("ReviewSetDeletionConfirmations", paths=["b.txt"])
    room.call("ReviewAddComment", path="a.txt", text="why in capitals?")
    first = room.call("ReviewListChanges", path="a.txt")["changes"][0]["id"]
    room.call("DraftLeaveChanges", path="a.txt", ids=[first])
    room.call("DraftRenamePath", path="old.txt", new_path="kept.txt")
    room.before = room.call("ReviewGetChangeSet"), room.call("ReviewListComments"), room.draft()
    room.state = room.call("DraftGetState")
    room.gone = room.call("DraftDiscard")
    return room


def test_a_discarded_draft_comes_back_with_all_that_was_in_it(thrown):
    assert thrown.draft() is thrown.on_disk("draft") is None
    assert thrown.gone["discarded_draft_id"] == discarded(thrown) == thrown.state["draft_id"]

    thrown.call("DraftBringBack")

    now = thrown.call("ReviewGetChangeSet"), thrown.call("ReviewListComments"), thrown.draft()
    state = thrown.call("DraftGetState")
    assert now == thrown.before
    assert thrown.on_disk("draft") == thrown.draft()
    assert (state["draft_id"], state["tree"]) == (thrown.state["draft_id"], thrown.state["tree"])
    assert discarded(thrown) is None
    assert refused(thrown.call, "DraftUndo") == ("VALIDATION_FAILED", "nothing_to_undo")
    thrown.call("DraftPublish", reviewed_tree=state["tree"])
    assert thrown.published() == {
        "a.txt": "one\ntwo\nTHREE\n",
        "new/c.txt": "new",
        "kept.txt": "old",
    }


def test_a_discarded_draft_comes_back_in_another_process_and_after_a_collection(thrown):
    assert thrown.shop.store.collect(apply=True, grace_hours=-1).applied
    with Backshop.open(thrown.folder / "home") as other:
        other.call("DraftBringBack", {"workbench_id": thrown.id})

    assert thrown.draft() == thrown.before[2]
    assert thrown.call("WorkbenchOpen")["health"] == "ok"


def test_a_discarded_draft_that_is_back_can_be_discarded_and_come_back_again(thrown):
    for _ in range(2):
        thrown.call("DraftBringBack")
        thrown.call("DraftDiscard")
    thrown.call("DraftBringBack")

    assert thrown.draft() == thrown.before[2]
    assert refused(thrown.call, "DraftBringBack") == ("DRAFT_EXISTS", "draft_exists")


@pytest.mark.parametrize("after", ["files", "draft", "restore"])
def test_a_discarded_draft_stays_gone_once_the_files_went_on(thrown, after):
    if after == "files":
        thrown.add({"more.txt": "more"})
    elif after == "restore":
        kept = thrown.call("CheckpointCreate")["checkpoint_id"]
        thrown.call("CheckpointRestore", checkpoint_id=kept)
    else:
        thrown.call("DraftCreate")
        thrown.call("DraftPublish")
    seen = thrown.published()

    assert discarded(thrown) is None
    assert refused(thrown.call, "DraftBringBack") == GONE
    assert (thrown.published(), thrown.draft()) == (seen, None)


def test_a_discarded_draft_comes_back_after_more_was_said_and_some_of_it_taken_back(thrown):
    sent = [thrown.call("WorkshopSendUserMessage", text=text) for text in ("one", "two")]
    thrown.call("WorkshopUndoToMessage", message_id=sent[0]["message_id"])
    thrown.call("DraftBringBack")

    assert thrown.draft() == thrown.before[2]


def test_a_draft_that_changed_nothing_is_not_offered_back(room):
    room.add({"a.txt": "one"})
    room.call("DraftCreate")
    gone = room.call("DraftDiscard")

    assert gone.get("discarded_draft_id") is discarded(room) is None
    assert refused(room.call, "DraftBringBack") == GONE


def test_a_discarded_draft_whose_contents_are_lost_stays_gone_and_says_which(thrown):
    blobs = thrown.shop.store.blobs
    lost = blobs.put(b"new")
    blobs.path(lost).unlink()

    code, _ = refused(thrown.call, "DraftBringBack")

    assert code in ("STORAGE_CORRUPT", "BENCH_DAMAGED")
    assert thrown.draft() is None
    assert discarded(thrown) is not None


def test_a_draft_that_lacked_contents_when_it_was_discarded_is_let_go_of(room):
    """Discarding is the way out of a damaged Draft: nothing may look for its contents after it."""
    room.add({"a.txt": "one"})
    room.write({"lost.txt": "lost"})
    blobs = room.shop.store.blobs
    blobs.path(blobs.put(b"lost")).unlink()
    (room.shop.config.home / "benches" / room.id / "draft" / "lost.txt").unlink()
    gone = room.call("DraftDiscard")
    found = room.shop.call("StoreDoctor", {"full": True})["findings"]

    assert gone.get("discarded_draft_id") is discarded(room) is None
    assert refused(room.call, "DraftBringBack") == GONE
    assert [one for one in found if one["level"] == "problem"] == []


def test_talk_and_audit_of_a_discarded_draft_say_that_it_is_back(thrown):
    thrown.call("DraftBringBack")
    said = [one["event_kind"] for one in thrown.call("WorkshopGetConversation")["messages"]]
    kinds = [one["kind"] for one in thrown.call("AuditList")["entries"]]

    assert said[-2:] == ["draft_discarded", "draft_brought_back"]
    assert kinds[-2:] == ["draft_discarded", "draft_brought_back"]


def test_no_agent_has_a_tool_that_brings_a_discarded_draft_back():
    assert not [tool.name for tool in TOOLS if "bring" in tool.name or "discard" in tool.name]
