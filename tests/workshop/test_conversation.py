"""What is said stays said: records, head, cards, going back and forth, the model that answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from tests.workshop.conftest import Chat, hears, story

from backshop.app import About, Backshop, Subscription
from backshop.base.errors import AccessDenied, BackshopError, RevisionPruned
from backshop.base.ids import BlobId, CheckpointId, MessageId, RevisionId
from backshop.bench.decide import Totals
from backshop.testing.ambient import FixedClock
from backshop.workshop.conversation import decide
from backshop.workshop.conversation.decide import Ids, Restoring

BIG = "x" * 100_000  # a file of its own, not in the database
BUSY = ("DRAFT_EXISTS", "draft_exists", ())
IDS = Ids(message=MessageId("msg_x"), revision=RevisionId("rev_x"), checkpoint=CheckpointId("cp_x"))


@pytest.mark.rule("W5.2", "W2.6", "W23.1", "W23.2", "B7.10", "B22.25")
def test_a_message_becomes_the_head_and_bad_ones_leave_no_trace(chat):
    first = chat.send("  Hello \n")
    second = chat.send("Again")

    messages = chat.call("WorkshopGetConversation")["messages"]
    assert [(m["message_id"], m["text"], m.get("parent_id")) for m in messages] == [
        (first, "  Hello", None),
        (second, "Again", first),
    ]
    assert chat.state()["conversation_head_id"] == second
    refused = chat.refused
    name = "WorkshopSendUserMessage"
    assert refused(name, text=" \n\t")[:2] == ("VALIDATION_FAILED", "empty_message")
    assert refused(name, text="x" * 102_401)[:2] == ("LIMIT_EXCEEDED", "message_too_long")
    chat.send("x" * 102_400)
    assert refused(name, text="x", mode="fly")[:2] == ("VALIDATION_FAILED", "bad_params")
    assert refused(name, text="\ud800")[:2] == ("VALIDATION_FAILED", "bad_json")
    chat.write({"a.txt": "a"})
    assert refused(name, text="x") == BUSY
    with pytest.raises(BackshopError) as caught:
        chat.send("x")
    offered = caught.value.info("workbench").actions
    assert tuple(offered) == ("review_draft", "publish_draft", "discard_draft")


@pytest.mark.rule("W3.1", "W23.3")
def test_sending_twice_under_one_id_is_sending_once(chat):
    first = chat.send("Once", client_message_id="c-1")

    assert chat.send("Once", client_message_id="c-1") == first
    assert chat.said() == [("user", "Once")]


@pytest.mark.rule("W23.4")
def test_a_new_process_finds_the_same_conversation(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        chat = Chat(shop, tmp_path)
        chat.send("Hello")
        chat.call("WorkshopSwitchModel", model_id="scripted:echo")
        before, said = chat.state(), chat.said()
        own = chat.id
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        again = shop.call("WorkshopGetState", {"workbench_id": own})
        found = shop.call("WorkshopGetConversation", {"workbench_id": own})["messages"]

    assert again == before
    assert len(found) == len(said) == 2


@pytest.mark.rule("W16.1", "M2.3")
def test_switching_the_model_is_a_record_unless_it_is_the_same(chat):
    chat.call("WorkshopSwitchModel", model_id="scripted:demo")
    assert chat.said() == []

    chat.call("WorkshopSwitchModel", model_id="scripted:echo")

    [record] = chat.call("WorkshopGetConversation")["messages"]
    assert record["metadata"] == {
        "from_model_id": "scripted:demo",
        "to_model_id": "scripted:echo",
    }
    assert (record["event_kind"], record["advances_head"]) == ("model_switched", True)
    assert chat.state()["model_id"] == "scripted:echo"
    code = ("PROVIDER_NOT_CONFIGURED", "model_unavailable", ())
    unknown = ("VALIDATION_FAILED", "unknown_model", ())
    assert chat.refused("WorkshopSwitchModel", model_id="nobody:none") == unknown
    assert chat.refused("WorkshopSwitchModel", model_id="openai:gpt-5.2") == code


@pytest.mark.rule("M2.1", "M2.6", "M16")
def test_a_workbench_has_a_default_of_its_own_until_somebody_switches(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        before = Chat(shop, tmp_path)
        shop.call("UserSetDefaultModel", {"model_id": "scripted:demo"})
        chat = Chat(shop, tmp_path)
        shop.call("UserSetDefaultModel", {"model_id": "scripted:echo"})

        assert before.call("WorkbenchGetDefaultModel") == {"model_id": "scripted:echo"}
        assert chat.call("WorkbenchGetDefaultModel") == {"model_id": "scripted:demo"}
        assert chat.state()["model_id"] == "scripted:demo"

        chat.call("WorkbenchSetDefaultModel", model_id="openai:gpt-5.2")
        assert chat.state()["model_id"] == "openai:gpt-5.2"
        chat.call("WorkshopSwitchModel", model_id="scripted:echo")
        assert chat.call("WorkbenchGetDefaultModel") == {"model_id": "scripted:echo"}
        chat.call("WorkbenchSetDefaultModel", model_id="scripted:demo")

        assert chat.state()["model_id"] == "scripted:echo"
        assert chat.state()["default_model_id"] == "scripted:demo"
        unknown = ("VALIDATION_FAILED", "unknown_model", ())
        assert chat.refused("WorkbenchSetDefaultModel", model_id="nobody:none") == unknown


@pytest.mark.rule("W18.1", "W18.3", "W3.3", "W4.3", "B9.9", "B9.14", "W2.5")
def test_publishing_and_discarding_leave_cards(chat):
    chat.send("First")
    with chat.shop.hub.subscribe() as news:
        chat.write({"a.txt": "a"})
        chat.call("DraftDiscard")
        chat.write({"a.txt": "b"})
        done = chat.call("DraftPublish")
        chat.call("CheckpointCreate", description="by hand")  # no card: the page has it
        heard = {one.name for one in hears(news, lambda one: one.name == "CheckpointCreated")}

    messages = chat.call("WorkshopGetConversation")["messages"]
    kinds = [m.get("event_kind") for m in messages]
    assert kinds == [
        None,
        "draft_created",
        "draft_discarded",
        "draft_created",
        "checkpoint_published",
    ]
    card = messages[-1]
    assert card["metadata"]["checkpoint_id"] == done["checkpoint_id"]
    assert card["metadata"]["counts"] == {"added": 1, "modified": 0, "deleted": 0, "renamed": 0}
    assert chat.state()["conversation_head_id"] == card["message_id"]
    assert {"DraftStateChanged", "CheckpointCreated", "WorkshopMessageAdded"} <= heard
    assert len(chat.call("CheckpointsList")["checkpoints"]) == 2


@pytest.mark.rule("W15.1", "W15.2", "W15.5", "W23.54", "W23.55", "W23.60", "B8.14")
def test_going_back_takes_chat_and_draft_together(chat):
    chat.add({"a.txt": "one"})
    first = chat.send("First")
    second = chat.send("Second")
    chat.write({"a.txt": "two"})
    chat.write({"a.txt": "three"})

    shown = chat.call("WorkshopUndoToMessage", message_id=first, dry_run=True)
    back = chat.call("WorkshopUndoToMessage", message_id=first)

    [would] = shown["changed"]
    assert (would["path"], would["bytes_before"], would["bytes_after"]) == ("a.txt", 5, 3)
    assert back["changed"] == [{**would, "verified": True}]
    assert shown["effects"] == {
        "discarded_count": 1,
        "draft": "discard",
        "published_changed": False,
        "revision_available": True,
        "choices": [],
        "files_lost": [],
    }
    assert back["conversation_head_id"] == first
    assert (chat.draft(), chat.published(), chat.on_disk("draft")) == (None, {"a.txt": "one"}, None)
    assert chat.said() == [("user", "First"), ("undo", "")]
    inactive = chat.call("WorkshopGetConversation", include_inactive=True)["messages"]
    assert {m["text"]: m["active"] for m in inactive if m.get("role") == "user"} == {
        "First": True,
        "Second": False,
    }
    assert chat.refused("WorkshopUndoToMessage", message_id=second)[1] == "message_inactive"
    third = chat.send("Third")
    parent = chat.call("WorkshopGetConversation")["messages"][-1]["parent_id"]
    assert (parent, chat.state()["conversation_head_id"]) == (first, third)


@pytest.mark.rule("W15.12", "W23.61")
def test_redo_takes_rewinds_back_newest_first(chat):
    chat.add({"a.txt": "one"})
    first = chat.send("First")
    second = chat.send("Second")
    third = chat.send("Third")
    chat.write({"a.txt": "two"})
    draft = chat.draft()
    chat.call("WorkshopUndoToMessage", message_id=second)
    chat.call("WorkshopUndoToMessage", message_id=first)

    assert chat.call("WorkshopRedo")["conversation_head_id"] == second
    assert chat.draft() is None
    assert chat.call("WorkshopRedo")["conversation_head_id"] == third
    assert chat.draft() == draft == chat.on_disk("draft")
    assert chat.refused("WorkshopRedo")[:2] == ("VALIDATION_FAILED", "nothing_to_redo")
    chat.call("WorkshopUndoToMessage", message_id=first)
    chat.send("Other")
    assert chat.refused("WorkshopRedo")[1] == "nothing_to_redo"


@pytest.mark.rule("W15.12", "P2.15")
def test_redo_takes_what_was_known_of_the_files_forth_again(chat):
    chat.add({"a.txt": "one"})
    chat.call("DigestSet", body="Known before.")
    first = chat.send("First")
    chat.call("DigestSet", body="Known since.")
    chat.send("Second")

    def known() -> str:
        return str(chat.call("DigestGet")["body"])

    for _ in range(2):
        chat.call("WorkshopUndoToMessage", message_id=first)
        assert known() == "Known before."
        chat.call("WorkshopRedo")
        assert known() == "Known since."


@pytest.mark.rule("W15.3", "W15.4", "W23.56", "B10.13")
def test_across_a_publish_the_person_chooses(chat):
    chat.add({"a.txt": "one"})
    first = chat.send("First")
    chat.write({"a.txt": "two"})
    chat.call("DraftPublish")
    chat.add({"b.txt": "later"})
    chat.send("Second")

    refusal = chat.refused("WorkshopUndoToMessage", message_id=first)
    shown = chat.call("WorkshopUndoToMessage", message_id=first, dry_run=True)["effects"]

    offered = ("chat_only", "restore_published")
    assert refusal == ("CONFLICT_PUBLISHED_CHANGED", "published_changed", offered)
    assert (shown["published_changed"], shown["files_lost"]) == (True, ["b.txt"])
    bad = chat.refused("WorkshopUndoToMessage", message_id=first, mode="discard_draft")
    assert bad[1] == "bad_mode"
    done = chat.call("WorkshopUndoToMessage", message_id=first, mode="restore_published")
    assert chat.published() == {"a.txt": "one"} == chat.on_disk("published")
    assert done["restored_checkpoint_id"]
    assert [c["reason"] for c in chat.call("CheckpointsList")["checkpoints"]] == [
        "pre_restore",
        "publish",
    ]
    chat.call("WorkshopRedo")
    assert chat.published() == {"a.txt": "two", "b.txt": "later"}
    chat.call("WorkshopUndoToMessage", message_id=first, mode="chat_only")
    assert chat.published() == {"a.txt": "two", "b.txt": "later"}
    assert chat.state()["conversation_head_id"] == first


@pytest.mark.rule("B10.16", "B14.18", "W15.2", "B9.15")
def test_published_that_comes_back_is_shown_before_proved_after_and_announced(chat):
    chat.add({"a.txt": "one"})
    first = chat.send("First")
    chat.write({"a.txt": "two!"})
    chat.call("DraftPublish")
    situation = [{"path": "context.md", "content": "- later"}]
    chat.call("ContextUpdateDirect", category="situation", files=situation, create=True)
    back = {"message_id": first, "mode": "restore_published"}

    shown = chat.call("WorkshopUndoToMessage", **back, dry_run=True)["changed"]
    unasked = chat.call("WorkshopUndoToMessage", message_id=first, dry_run=True)["changed"]
    with chat.shop.hub.subscribe(About(workbench_id=chat.id)) as live:
        done = chat.call("WorkshopUndoToMessage", **back)
        undone = _until(live, "WorkshopUndoCompleted")
        again = chat.call("WorkshopRedo")
        redone = _until(live, "WorkshopRedoCompleted")

    [would] = shown
    assert (would["kind"], would["bytes_before"], would["bytes_after"]) == ("MODIFIED", 4, 3)
    assert unasked == shown
    assert done["changed"] == [{**would, "verified": True}]
    assert (again["changed"][0]["bytes_after"], again["changed"][0]["verified"]) == (4, True)
    assert [name for name, _ in undone] == [
        "CheckpointCreated",
        "WorkbenchFilesChanged",
        "ContextChanged",
        "WorkshopMessageAdded",
        "WorkshopUndoCompleted",
    ]
    item = {"category": "situation"}
    assert dict(undone)["ContextChanged"] == {**item, "action": "deleted"}
    assert dict(redone)["ContextChanged"] == {**item, "action": "added"}


def _until(live: Subscription, name: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what was announced up to a notification; drafts and weights come beside it."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    while not found or found[-1][0] != name:
        found += [
            (one.name, one.payload)
            for one in live.wait(60)
            if one.name not in ("WorkbenchClutterChanged", "DraftStateChanged")
        ]
    return found


@pytest.mark.rule("W15.3", "B10.12", "B10.13")
def test_going_back_never_makes_published_what_lacks_contents(chat):
    chat.add({"a.txt": BIG})
    first = chat.send("First")
    chat.write({"a.txt": "two"})
    chat.call("DraftPublish")
    lost = chat.shop.store.blobs.path(BlobId(sha256(BIG.encode()).hexdigest()))
    kept = lost.read_bytes()
    lost.unlink()
    back = {"message_id": first, "mode": "restore_published"}
    before = chat.shop.store.last_seq()

    refused = chat.refused("WorkshopUndoToMessage", **back)

    assert refused[:2] == ("CHECKPOINT_RESTORE_FAILED", "missing_blob")
    assert (chat.shop.store.last_seq(), chat.published()) == (before, {"a.txt": "two"})
    lost.write_bytes(kept)
    lost.chmod(0o444)
    chat.call("WorkshopUndoToMessage", **back)
    assert chat.published() == {"a.txt": BIG}


@pytest.mark.rule("W15.3", "W15.12")
def test_a_redo_never_brings_a_draft_back_that_lacks_contents(chat):
    first = chat.send("First")
    chat.send("Second")
    chat.write({"a.txt": BIG})
    lost = chat.shop.store.blobs.path(BlobId(sha256(BIG.encode()).hexdigest()))
    chat.call("WorkshopUndoToMessage", message_id=first)
    lost.unlink()

    assert chat.refused("WorkshopRedo")[:2] == ("STORAGE_CORRUPT", "missing_blob")
    assert (chat.draft(), chat.state()["conversation_head_id"]) == (None, first)


@pytest.mark.rule("B8.16", "B8.17", "W23.57")
def test_a_discarded_draft_cannot_come_back_by_going_back(chat):
    chat.send("First")
    second = chat.send("Second")
    chat.write({"a.txt": "two"})
    chat.call("DraftDiscard")
    chat.send("Third")

    refusal = chat.refused("WorkshopUndoToMessage", message_id=second)
    chat.call("WorkshopUndoToMessage", message_id=second, mode="discard_draft")

    offered = ("chat_only", "discard_draft")
    assert refusal == ("REVISION_PRUNED", "revision_pruned", offered)
    assert (chat.draft(), chat.state()["conversation_head_id"]) == (None, second)


@pytest.mark.rule("B8.11")
def test_a_state_of_a_draft_that_a_rewind_took_away_is_none_of_the_next_draft(chat):
    first = chat.send("First")
    chat.send("Second")
    gone = chat.write({"a.txt": "one"}).draft_revision_id
    chat.call("WorkshopUndoToMessage", message_id=first)
    chat.write({"b.txt": "two"})

    refusal = chat.refused("DraftRestoreRevision", revision_id=gone)

    assert refusal[:2] == ("NOT_FOUND", "not_found")
    assert chat.draft() == {"b.txt": "two"}


@pytest.mark.rule("T6.4", "W15.12")
def test_the_right_to_change_published_is_asked_for_when_a_redo_is_decided(chat):
    chat.add({"a.txt": "one"})
    kept = chat.call("CheckpointCreate")["checkpoint_id"]
    chat.add({"a.txt": "two"}, on_conflict="replace")
    chat.call("CheckpointRestore", checkpoint_id=kept)
    known = chat.shop.workshops.book.state(chat.id)
    totals = Totals(files=1, bytes=3)

    assert decide.redo(known, IDS, Restoring(totals=totals))
    with pytest.raises(AccessDenied):
        decide.redo(known, IDS, Restoring(totals=totals, may_publish=False))


@pytest.mark.rule("W15.12", "B8.16")
def test_a_rewind_is_not_taken_back_to_a_draft_that_is_not_kept_any_more(chat):
    first = chat.send("First")
    chat.write({"a.txt": "one"})
    chat.call("WorkshopSwitchModel", model_id="scripted:echo")
    chat.write({"a.txt": "two"})
    chat.call("WorkshopUndoToMessage", message_id=first)
    known = chat.shop.workshops.book.state(chat.id)
    saved = known.undos[-1].saved_revision_id
    bench = replace(known.bench, revisions=known.bench.revisions.without({saved}))
    needed = Restoring(totals=Totals(files=1, bytes=3))

    assert decide.redo(known, IDS, needed)
    with pytest.raises(RevisionPruned):
        decide.redo(replace(known, bench=bench), IDS, needed)


@pytest.mark.rule("B8.18", "B22.47", "B3.11", "B8.20")
def test_a_state_that_cannot_be_read_gives_way_to_the_newest_older_one(chat):
    chat.add({"a.txt": "one"})
    first = chat.send("First")
    good = chat.write({"a.txt": "good"}).draft_revision_id
    chat.write({"a.txt": BIG})
    lost = chat.shop.store.blobs.path(BlobId(sha256(BIG.encode()).hexdigest()))
    chat.call("WorkshopSwitchModel", model_id="scripted:echo")
    chat.write({"a.txt": "newest"})
    lost.unlink()
    with chat.shop.hub.subscribe(About(workbench_id=chat.id)) as live:
        done = chat.call("WorkshopUndoToMessage", message_id=first)
        heard = live.wait(60)

    assert (done["fallback"], done["degraded"]) == (True, True)
    assert done["warnings"] == ["revision_fallback"]
    assert chat.draft() == {"a.txt": "good"} == chat.on_disk("draft")
    assert done["draft_revision_id"] == chat.call("DraftGetState")["revision_id"] != good
    assert chat.call("ReviewGetChangeSet")["tree"] == chat.call("DraftGetState")["tree"]
    assert "DraftStateChanged" in [one.name for one in heard]
    opened = chat.call("WorkbenchOpen")
    assert (opened["health"], opened["health_reason"]) == ("degraded", "revision_missing_blob")


@pytest.mark.rule("W23.59", "W15.1")
def test_going_back_and_forth_needs_no_model(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:  # nothing is configured here
        chat = Chat(shop, tmp_path)
        first = chat.send("First")
        second = chat.send("Second")
        chat.write({"a.txt": "a"})
        refused = chat.refused("WorkshopRegenerate")

        chat.call("WorkshopUndoToMessage", message_id=first)
        back = chat.draft()
        chat.call("WorkshopRedo")

        assert (refused[1], back, chat.draft()) == ("model_unavailable", None, {"a.txt": "a"})
        assert chat.state()["conversation_head_id"] == second


@pytest.mark.rule("W15.3", "W23.58")
def test_there_are_records_one_cannot_go_back_to(chat):
    first = chat.send("First")
    chat.send("Second")
    chat.call("WorkshopUndoToMessage", message_id=first)
    banner = chat.call("WorkshopGetConversation")["messages"][-1]["message_id"]

    undo = "WorkshopUndoToMessage"
    assert chat.refused(undo, message_id=banner)[:2] == ("VALIDATION_FAILED", "bad_target")
    stranger = "msg_" + "0" * 26
    assert chat.refused(undo, message_id=stranger)[:2] == ("NOT_FOUND", "message_not_found")
    before = chat.shop.store.last_seq()
    assert chat.call(undo, message_id=first)["discarded_count"] == 0
    assert chat.shop.store.last_seq() == before


@pytest.mark.rule("B1.1", "B10.14")
def test_a_bench_holds_copies_one_draft_and_records_of_two_kinds(chat, tmp_path):
    chat.add({"a.txt": "one"})
    for path in tmp_path.rglob("a.txt"):
        if "home" not in path.parts:
            path.write_text("changed outside")
    item = [{"path": "context.md", "content": "then"}]
    chat.call("ContextUpdateDirect", category="situation", files=item, create=True)
    first = chat.send("First")
    kept = chat.call("CheckpointCreate")["checkpoint_id"]
    chat.send("Second")

    state = [chat.write({"a.txt": text}) for text in ("two", "three")]
    assert chat.call("DraftCreate")["draft_id"] == state[0].draft_id == state[1].draft_id
    assert [one["checkpoint_id"] for one in chat.call("CheckpointsList")["checkpoints"]] == [kept]
    chat.call("DraftRestoreRevision", revision_id=state[0].draft_revision_id)
    assert (chat.draft(), chat.published()) == ({"a.txt": "two"}, {"a.txt": "one"})
    chat.call("DraftPublish")
    chat.call("ContextDelete", category="situation")

    chat.call("CheckpointRestore", checkpoint_id=kept)
    assert chat.published() == {"a.txt": "one"}
    assert chat.call("ContextGet", category="situation")["status"] == "active"
    line = [m for m in chat.call("WorkshopGetConversation")["messages"] if m["role"] == "user"]
    assert [one["message_id"] for one in line] == [first]


@pytest.mark.rule("B10.10", "B10.11", "W18.1", "W15.12")
def test_restoring_a_checkpoint_takes_the_conversation_back_and_forth(chat):
    chat.add({"a.txt": "one"})
    first = chat.send("First")
    kept = chat.call("CheckpointCreate", description="good")["checkpoint_id"]
    chat.send("Second")
    chat.write({"a.txt": "two"})
    chat.call("DraftPublish")
    head = chat.state()["conversation_head_id"]

    done = chat.call("CheckpointRestore", checkpoint_id=kept)

    said = chat.call("WorkshopGetConversation")["messages"]
    assert [m.get("event_kind") or m["text"] for m in said] == ["First", "checkpoint_restored"]
    assert said[-1]["parent_id"] == first
    chat.call("CheckpointRestore", checkpoint_id=done["pre_restore_checkpoint_id"])
    said = chat.call("WorkshopGetConversation")["messages"]
    assert said[-1]["parent_id"] == head
    assert [m["text"] for m in said if m["role"] == "user"] == ["First", "Second"]
    chat.call("CheckpointRestore", checkpoint_id=kept)
    restored = chat.published()
    chat.call("WorkshopRedo")
    said = chat.call("WorkshopGetConversation")["messages"]
    assert (restored, chat.published()) == ({"a.txt": "one"}, {"a.txt": "two"})
    assert [m["text"] for m in said if m["role"] == "user"] == ["First", "Second"]


@pytest.mark.rule("B10.13", "W15.4")
def test_going_back_over_a_restore_brings_back_what_the_restore_replaced(chat):
    chat.add({"a.txt": "one"})
    first = chat.send("First")
    kept = chat.call("CheckpointCreate")["checkpoint_id"]
    chat.add({"a.txt": "two"}, on_conflict="replace")
    chat.call("CheckpointRestore", checkpoint_id=kept)

    chat.call("WorkshopUndoToMessage", message_id=first, mode="restore_published")

    assert chat.published() == {"a.txt": "two"}


@pytest.mark.rule("B7.8", "B7.9", "W18.5")
def test_a_reminder_can_be_put_off(tmp_path):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", clock=clock) as shop:
        chat = Chat(shop, tmp_path)
        chat.write({"a.txt": "a"})
        hour = 3_600_000
        clock.move(25 * hour)
        draft_id = chat.state()["draft"]["draft_id"]

        assert chat.state()["reminder"] == "age"
        chat.call("WorkshopDismissReminder", draft_id=draft_id)
        assert chat.state()["reminder"] == "none"
        clock.move(25 * hour)
        assert chat.state()["reminder"] == "age"
        other = "draft_" + "0" * 26
        assert chat.refused("WorkshopDismissReminder", draft_id=other)[0] == "NOT_FOUND"


@pytest.mark.rule("W2.7", "W3")
def test_long_conversations_come_in_pages(chat):
    sent = [chat.send(f"Message {n}") for n in range(7)]

    newest = chat.call("WorkshopGetConversation", limit=3)
    older = chat.call(
        "WorkshopGetConversation", limit=5, before=newest["messages"][0]["message_id"]
    )

    assert [m["message_id"] for m in newest["messages"]] == sent[4:]
    assert (newest["has_more"], older["has_more"]) == (True, False)
    assert [m["message_id"] for m in older["messages"]] == sent[:4]
    assert chat.refused("WorkshopGetConversation", limit=0)[1] == "bad_params"


@pytest.mark.rule("M4.11", "M2.1")
def test_consent_is_asked_for_the_model_the_workbench_uses(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        shop.call("UserSetDefaultModel", {"model_id": "scripted:echo"})
        bench = shop.call("WorkbenchCreate", {"name": "Talk"})["workbench_id"]
        shop.call("WorkshopSwitchModel", {"workbench_id": bench, "model_id": "scripted:demo"})

        status = shop.call("EgressGetConsentStatus", {"workbench_id": bench})

        assert status["model_id"] == "scripted:demo"


@pytest.mark.rule("B22.26", "B7.8")
def test_a_draft_is_reminded_of_by_its_age_and_by_its_rest(tmp_path):
    clock, hour, second = FixedClock(), 3_600_000, 1_000
    with Backshop.open(tmp_path / "home", clock=clock) as shop:
        chat = Chat(shop, tmp_path)
        chat.write({"a.txt": "a"})
        clock.move(23 * hour)
        chat.write({"a.txt": "b"})
        clock.move(hour)
        assert chat.state()["reminder"] == "none"
        clock.move(second)
        assert chat.state()["reminder"] == "age"
        clock.move(7 * 24 * hour - hour)
        assert chat.state()["reminder"] == "stale"


@pytest.mark.rule("B22.34", "B9.4")
def test_a_publish_leaves_one_checkpoint_one_card_and_no_open_revision(chat):
    chat.add({"a.txt": "one"})
    made = [chat.write({"a.txt": text}).draft_revision_id for text in ("two", "three")]

    chat.call("DraftPublish")

    [kept] = chat.call("CheckpointsList")["checkpoints"]
    cards = [m.get("event_kind") for m in chat.call("WorkshopGetConversation")["messages"]]
    state = chat.shop.benches.desk.state(chat.id)
    assert kept["reason"] == "publish"
    assert cards == ["draft_created", "checkpoint_published"]
    assert {one.revision_id for one in state.revisions.all() if one.is_pruned} >= set(made)
    chat.call("CheckpointRestore", checkpoint_id=kept["checkpoint_id"])
    assert chat.published() == {"a.txt": "one"}


@pytest.mark.rule("B22.48", "W15.4")
def test_a_rewind_before_a_publish_restores_its_files_and_can_be_taken_back(chat):
    chat.add({"a.txt": "one"})
    first = chat.send("First")
    chat.write({"a.txt": "two"})
    chat.call("DraftPublish")
    chat.send("Second")

    chat.call("WorkshopUndoToMessage", message_id=first, mode="restore_published")

    assert chat.published() == {"a.txt": "one"}
    kept = [
        one["checkpoint_id"]
        for one in chat.call("CheckpointsList")["checkpoints"]
        if one["reason"] == "pre_restore"
    ]
    chat.call("CheckpointRestore", checkpoint_id=kept[0])
    said = chat.call("WorkshopGetConversation")["messages"]
    assert (len(kept), chat.published()) == (1, {"a.txt": "two"})
    assert [m["text"] for m in said if m["role"] == "user"] == ["First", "Second"]


@pytest.mark.rule("W5.15", "W2.5")
def test_a_message_that_nobody_took_up_says_why_until_somebody_does(chat):
    wire = chat.play(story(("b.txt", "b")))
    message = chat.send()
    chat.shop.call("ProvidersSetEnabled", {"provider_id": "scripted", "enabled": False})
    for _ in range(2):
        with pytest.raises(BackshopError) as refused:
            chat.run(message)
        assert refused.value.reason == "model_unavailable"

    [mark] = marks(chat)

    assert mark["parent_id"] == message
    assert mark["metadata"]["error"]["error_code"] == "PROVIDER_NOT_CONFIGURED"
    assert mark["text"] == refused.value.message
    assert not wire.requests
    chat.shop.call("ProvidersSetEnabled", {"provider_id": "scripted", "enabled": True})
    chat.run(message)
    assert (marks(chat), len(marks(chat, include_inactive=True))) == ([], 1)


def marks(chat, **more):
    found = chat.call("WorkshopGetConversation", **more)["messages"]
    return [one for one in found if one.get("event_kind") == "run_refused"]
