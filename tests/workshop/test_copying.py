"""A fork that takes the conversation along, to its end or up to a message."""

from __future__ import annotations

import pytest
from tests.bench.conftest import Room

from backshop.app import Backshop
from backshop.base.errors import BackshopError


@pytest.fixture
def room(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        yield Room(shop, tmp_path)


def say(room: Room, text: str) -> str:
    return str(room.call("WorkshopSendUserMessage", text=text)["message_id"])


def fork(room: Room, **request) -> Room:
    own = room.call("WorkbenchFork", mode="clone_all", **request)["workbench_id"]
    copy = Room.__new__(Room)
    copy.shop, copy.folder, copy.id = room.shop, room.folder, own
    return copy


def told(room: Room) -> list[tuple[str, str]]:
    page = room.call("WorkshopGetConversation")
    return [(m["message_id"], m["text"] or m["event_kind"]) for m in page["messages"]]


def card(room: Room) -> dict[str, object]:
    """Return what the card of the publish says."""
    messages = room.call("WorkshopGetConversation")["messages"]
    return next(m["metadata"] for m in messages if m.get("event_kind") == "checkpoint_published")


def refused(call, *args, **kwargs) -> tuple[str, str | None]:
    with pytest.raises(BackshopError) as caught:
        call(*args, **kwargs)
    return caught.value.code, caught.value.reason


@pytest.mark.rule("B5.7", "B10.8", "B22.77")
def test_a_whole_copy_has_files_context_and_conversation_and_a_life_of_its_own(room):
    room.add({"a.txt": "one"})
    room.call(
        "ContextUpdateDirect",
        category="situation",
        files=[{"path": "context.md", "content": "Friday"}],
        create=True,
    )
    first = say(room, "Hello")
    room.write({"a.txt": "two"})
    room.call("DraftPublish")
    say(room, "And now?")
    before = told(room)
    blobs = set(room.shop.store.blobs.names())

    copy = fork(room)

    assert told(copy) == before
    assert copy.published() == room.published() == {"a.txt": "two"}
    assert copy.call("ContextGet", category="situation")["status"] == "active"
    assert set(room.shop.store.blobs.names()) == blobs  # no content was copied
    info = copy.call("WorkbenchOpen")["workbench"]
    assert (info["parent_workbench_id"], info["fork_mode"]) == (room.id, "clone_all")
    assert "forked_from_message_id" not in info
    assert [card(one)["restorable"] for one in (room, copy)] == [True, False]
    say(copy, "Only here")
    copy.write({"a.txt": "three"})
    assert told(room) == before
    assert room.published() == {"a.txt": "two"}
    copy.call("DraftDiscard")
    undone = copy.call("WorkshopUndoToMessage", message_id=first, mode="chat_only")
    assert undone["conversation_head_id"] == first
    assert copy.call("WorkbenchOpen")["health"] == "ok"


@pytest.mark.rule("B5.7", "B10.13")
def test_a_copy_up_to_a_message_has_the_files_of_then(room):
    room.add({"a.txt": "one"})
    first = say(room, "Hello")
    room.write({"a.txt": "two"})
    room.call("DraftPublish")
    second = say(room, "And now?")

    then, now = fork(room, from_message_id=first), fork(room, from_message_id=second)

    assert [text for _, text in told(then)] == ["Hello"]
    assert then.published() == {"a.txt": "one"}
    assert then.call("WorkbenchOpen")["workbench"]["forked_from_message_id"] == first
    assert [text for _, text in told(now)] == [
        *("Hello", "draft_created"),
        *("checkpoint_published", "And now?"),
    ]
    assert now.published() == {"a.txt": "two"}
    assert fork(now).published() == {"a.txt": "two"}  # a copy of a copy


@pytest.mark.rule("B5.7", "B10.13", "W5.15")
def test_a_copy_up_to_a_message_leaves_out_what_was_remarked_under_it(room):
    room.add({"a.txt": "one"})
    first = say(room, "Hello")
    room.shop.call("ProvidersSetEnabled", {"provider_id": "scripted", "enabled": False})
    assert refused(room.call, "WorkshopRunAgent", message_id=first)[1] == "model_unavailable"
    room.shop.call("ProvidersSetEnabled", {"provider_id": "scripted", "enabled": True})
    second = say(room, "And now?")
    whole = room.call("WorkshopGetConversation", include_inactive=True)["messages"]

    then, now = fork(room, from_message_id=first), fork(room, from_message_id=second)

    def kinds(one: Room) -> list[str]:
        page = one.call("WorkshopGetConversation", include_inactive=True)
        return [m.get("event_kind") or m["text"] for m in page["messages"]]

    assert [m.get("event_kind") for m in whole].count("run_refused") == 1
    assert kinds(then) == ["Hello"]
    assert kinds(now) == ["Hello", "run_refused", "And now?"]


@pytest.mark.rule("B5.7")
def test_what_cannot_be_copied_is_refused_and_makes_no_workbench(room):
    room.add({"a.txt": "one"})
    first = say(room, "Hello")
    other = f"msg_{'0' * 26}"
    count = len(room.shop.call("WorkbenchList", {})["workbenches"])

    assert refused(room.call, "WorkbenchFork", mode="clone_files_only", from_message_id=first) == (
        "VALIDATION_FAILED",
        "bad_mode",
    )
    assert refused(fork, room, from_message_id=other)[0] == "NOT_FOUND"
    assert refused(fork, room, from_message_id="..") == ("VALIDATION_FAILED", "bad_id")
    assert refused(room.call, "WorkbenchFork", mode="clone_everything") == (
        "VALIDATION_FAILED",
        "bad_mode",
    )
    room.write({"a.txt": "two"})
    assert refused(fork, room) == ("DRAFT_EXISTS", "draft_exists")
    assert len(room.shop.call("WorkbenchList", {})["workbenches"]) == count


@pytest.mark.rule("B5.7", "B10.13")
def test_a_copy_up_to_a_message_whose_files_are_not_kept_any_more_is_refused(tmp_path):
    settings = {"model.default": "scripted:demo", "bench.checkpoint_max_bytes": 1}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "one"})
        first = say(room, "Hello")
        for text in ("two", "three"):
            room.write({"a.txt": text})
            room.call("DraftPublish")

        assert refused(fork, room, from_message_id=first) == (
            "REVISION_PRUNED",
            "revision_pruned",
        )
