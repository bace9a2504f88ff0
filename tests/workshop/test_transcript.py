"""What the transcript shows after going back, coming back and answering again."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workshop.conftest import says, story


def moves(chat) -> list[tuple[str, dict[str, Any]]]:
    """Return the records about moves and Drafts as they are shown: what, and what of it."""
    shown = []
    for one in chat.call("WorkshopGetConversation")["messages"]:
        if one["type"] == "system_event" and one["event_kind"] != "model_switched":
            about = one["metadata"]
            told = {key: about[key] for key in ("taken_back", "of") if key in about}
            told |= {"live": True} if "redo_id" in about else {}
            shown.append((one["event_kind"], told))
    return shown


def answer(chat, text: str) -> str:
    chat.play([says("research", "r"), says("plan", "## Items\nnone"), says("summary", text)], text)
    return str(chat.ask(f"Ask for {text}")["message_id"])


@pytest.mark.rule("W15.5", "W15.12", "W2.7")
def test_a_rewind_that_was_undone_stays_undone_after_another_answer(chat):
    answer(chat, "one")
    said = chat.call("WorkshopGetConversation")["messages"]
    first = next(one["message_id"] for one in said if one["type"] == "user_message")
    answer(chat, "two")
    chat.call("WorkshopUndoToMessage", message_id=first)
    rewound = moves(chat)
    chat.call("WorkshopRedo")
    undone = moves(chat)
    chat.play(
        [says("research", "r"), says("plan", "## Items\nnone"), says("summary", "other")], "c"
    )
    chat.call("WorkshopRegenerate")

    assert rewound == [("undo", {"live": True})]
    assert undone == [("undo", {"taken_back": True}), ("redo", {"of": "rewind"})]
    assert moves(chat) == [("undo", {"taken_back": True}), ("regenerate", {"live": True})]


@pytest.mark.rule("W15.5", "W2.7")
def test_the_transcript_says_one_rewind_to_a_record_however_often_it_happened(chat):
    first = chat.send("First")
    chat.send("Second")
    chat.call("WorkshopUndoToMessage", message_id=first)
    chat.send("Third")
    chat.call("WorkshopUndoToMessage", message_id=first)
    twice = moves(chat)
    chat.call("WorkshopRedo")
    last = answer(chat, "one")
    for text in ("two", "three"):
        chat.play(
            [says("research", "r"), says("plan", "## Items\nnone"), says("summary", text)], text
        )
        chat.call("WorkshopRegenerate")

    assert twice == [("undo", {"live": True})]
    assert moves(chat) == [
        ("undo", {}),
        ("undo", {"taken_back": True}),
        ("redo", {"of": "rewind"}),
        ("regenerate", {"live": True}),
    ]
    assert chat.answer()["message_id"] != last


@pytest.mark.rule("W15.12")
def test_a_redo_takes_back_only_what_its_record_stands_for(chat):
    last = answer(chat, "one")
    said = chat.call("WorkshopGetConversation")["messages"]
    first = next(one["message_id"] for one in said if one["type"] == "user_message")
    chat.call("WorkshopUndoToMessage", message_id=first)
    stale = chat.state()["redo_target_id"]
    chat.call("WorkshopRedo", message_id=stale)

    again = chat.refused("WorkshopRedo", message_id=stale)
    chat.call("WorkshopUndoToMessage", message_id=first)
    other = chat.refused("WorkshopRedo", message_id=stale)

    assert again[:2] == other[:2] == ("VALIDATION_FAILED", "nothing_to_redo")
    assert chat.state()["conversation_head_id"] == first
    chat.call("WorkshopRedo", message_id=chat.state()["redo_target_id"])
    assert chat.state()["conversation_head_id"] == last


@pytest.mark.rule("W15.12")
def test_an_earlier_rewind_is_not_taken_back_before_the_later_one(chat):
    first, second, _ = (chat.send(text) for text in ("one", "two", "three"))
    chat.call("WorkshopUndoToMessage", message_id=second)
    earlier = chat.state()["redo_target_id"]
    chat.call("WorkshopUndoToMessage", message_id=first)

    refusal = chat.refused("WorkshopRedo", message_id=earlier)

    assert refusal[:2] == ("VALIDATION_FAILED", "nothing_to_redo")
    assert chat.state()["conversation_head_id"] == first


@pytest.mark.rule("W15.5", "W2.7")
def test_the_beginning_of_a_draft_goes_and_comes_with_it(chat):
    chat.play(story(("b.txt", "b"), answer="b.txt"), "first")
    question = chat.send()
    chat.run(question)
    begun = moves(chat)
    chat.call("WorkshopUndoToMessage", message_id=question)
    gone = moves(chat)
    chat.call("WorkshopRedo")
    back = moves(chat)
    chat.play(story(("c.txt", "c"), answer="c.txt"), "second")
    chat.call("WorkshopRegenerate", message_id=question)
    again = moves(chat)
    chat.call("DraftPublish")

    assert begun == [("draft_created", {}), ("draft_changes_applied", {})]
    assert gone == [("undo", {"live": True})]
    assert [kind for kind, _ in back] == [
        *("draft_created", "undo", "draft_changes_applied", "redo")
    ]
    assert [kind for kind, _ in again].count("draft_created") == 1
    assert [kind for kind, _ in moves(chat)].count("draft_created") == 1


@pytest.mark.rule("W15.12", "W2.5")
def test_going_to_the_other_answer_is_told_as_that_and_can_be_taken_back(chat):
    answer(chat, "one")
    chat.play([says("research", "r"), says("plan", "## Items\nnone"), says("summary", "two")], "b")
    chat.call("WorkshopRegenerate")
    card = chat.call("WorkshopGetConversation")["messages"][-1]["metadata"]

    done = chat.call("WorkshopRedo", message_id=card["redo_id"])

    assert done["of"] == "regenerate"
    assert moves(chat) == [("redo", {"of": "regenerate", "live": True})]
    here = chat.call("WorkshopGetConversation")["messages"][-1]
    assert here["metadata"]["redo_id"] == here["message_id"] == chat.state()["redo_target_id"]
    assert chat.call("WorkshopRedo", message_id=here["message_id"])["of"] == "regenerate"


@pytest.mark.rule("W2.7", "W15.12")
def test_a_restored_checkpoint_is_taken_back_by_its_own_card(chat):
    chat.add({"a.txt": "one"})
    kept = chat.call("CheckpointCreate")["checkpoint_id"]
    chat.send("First")
    chat.call("CheckpointRestore", checkpoint_id=kept)
    card = chat.call("WorkshopGetConversation")["messages"][-1]

    done = chat.call("WorkshopRedo", message_id=card["metadata"]["redo_id"])

    assert card["event_kind"] == "checkpoint_restored"
    assert done["of"] == "restore"
    assert moves(chat)[-1] == ("redo", {"of": "restore"})


@pytest.mark.rule("W18.8")
def test_a_restore_says_which_publish_it_went_back_before_and_whether_that_was_the_last(chat):
    def restored(checkpoint_id: str) -> dict[str, Any]:
        chat.call("CheckpointRestore", checkpoint_id=checkpoint_id)
        return dict(chat.call("WorkshopGetConversation")["messages"][-1]["metadata"])

    chat.play(story(("b.txt", "b")))
    chat.ask("Write it")
    kept = chat.call("DraftPublish")["checkpoint_id"]
    card = chat.call("WorkshopGetConversation")["messages"][-1]["metadata"]
    undone = restored(kept)["publish"]
    again = restored(kept)["publish"]
    other = restored(chat.call("CheckpointCreate")["checkpoint_id"])

    assert undone == {"files": card["files"], "counts": card["counts"], "is_undone": True}
    assert again == {**undone, "is_undone": False}
    assert "publish" not in other
