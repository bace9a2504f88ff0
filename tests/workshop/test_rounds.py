"""Rounds on a Draft: asked for, answered on the Draft as it is, rewound, redone, regenerated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.workshop.change_request import composed
from backshop.workshop.conversation.decide import MESSAGE_MAX_BYTES

from .conftest import Chat, calls, plan, says, story, write


def first(chat: Chat) -> str:
    """Let a turn make the Draft; return the id of its answer."""
    chat.add({"a.txt": "one\n", "b.txt": "other\n"})
    chat.play(story(("a.txt", "two\n"), answer="a.txt says two."), "one")
    return str(chat.ask("Make it two")["message_id"])


def asked(chat: Chat, text: str = "Now three", **more: Any) -> str:
    """Ask for changes and return the id of the message."""
    return str(chat.call("WorkshopRequestChanges", text=text, **more)["message_id"])


def second(chat: Chat, content: str = "three\n", **more: Any) -> dict[str, Any]:
    """Do a round in which the agent writes a.txt anew."""
    chat.play(story(("a.txt", content), answer=f"a.txt says {content.strip()}."), content.strip())
    return chat.run(asked(chat, f"Now {content.strip()}", **more))


def state(chat: Chat):
    return chat.shop.benches.desk.state(chat.id)


# ---------------------------------------------------------------- asking


@pytest.mark.rule("W24.1", "W24.3", "W24.5", "B8.11")
def test_a_request_for_changes_is_answered_on_the_draft_as_it_is(chat):
    first(chat)
    before = state(chat).draft
    done = second(chat)

    draft = state(chat).draft
    assert (done["status"], done["has_draft"]) == ("complete", True)
    assert chat.draft() == {"a.txt": "three\n", "b.txt": "other\n"}
    assert (draft.draft_id, draft.base_tree) == (before.draft_id, before.base_tree)
    assert [one.tree for one in draft.rounds] == [before.tree]
    assert chat.published()["a.txt"] == "one\n"
    told = chat.call("DraftGetState")
    assert (told["rounds"], told["last_round"]["tree"]) == (1, before.tree)
    request = next(
        one
        for one in chat.call("WorkshopGetConversation")["messages"]
        if one["metadata"].get("on_draft")
    )
    assert (request["text"], request["metadata"]["draft_tree"]) == ("Now three", before.tree)
    assert told["last_round"]["message_id"] == request["message_id"]


@pytest.mark.rule("W24.1", "W24.2", "W5.2")
def test_what_no_request_for_changes_is(chat):
    assert chat.refused("WorkshopRequestChanges", text="x")[:2] == ("NOT_FOUND", "no_draft")
    first(chat)
    empty = chat.refused("WorkshopRequestChanges", text="  \n")
    assert empty[:2] == ("VALIDATION_FAILED", "empty_message")
    assert chat.refused("WorkshopRequestChanges")[1] == "empty_message"
    long = chat.refused("WorkshopRequestChanges", text="x" * (MESSAGE_MAX_BYTES + 1))
    assert long[:2] == ("LIMIT_EXCEEDED", "message_too_long")
    strange = chat.refused("WorkshopRequestChanges", text="x", comment_ids=["com_1"])
    assert strange[0] == "NOT_FOUND"
    assert chat.refused("WorkshopSendUserMessage", text="x")[:2] == ("DRAFT_EXISTS", "draft_exists")


@pytest.mark.rule("W24.1", "W3.1")
def test_the_same_request_sent_twice_is_one_round(chat):
    first(chat)
    one = asked(chat, client_message_id="c1")
    assert asked(chat, client_message_id="c1") == one
    assert len(state(chat).draft.rounds) == 1


@pytest.mark.rule("W24.2")
def test_a_sentence_and_notes_become_one_message():
    assert composed(" Smaller. ", ()) == ("Smaller.", 0)
    assert composed("", ("a", "b\nmore")) == ("- a\n- b\n  more", 2)
    assert composed("Please:", ("a",)) == ("Please:\n\n- a", 1)


@pytest.mark.rule("W24.2")
def test_notes_that_do_not_fit_a_message_are_counted():
    notes = ["n" * 1000] * 200
    text, kept = composed("Please:", notes)

    assert len(text.encode()) <= MESSAGE_MAX_BYTES
    left_out = int(text.rpartition("(")[2].split()[0])
    lines = [line for line in text.splitlines() if line.endswith("n")]
    assert len(lines) >= 50
    assert (len(lines), left_out) == (kept, 200 - kept)
    assert composed("x" * (MESSAGE_MAX_BYTES + 1), ("a",))[0].endswith("still open.)")


@pytest.mark.rule("W24.2", "B24.4", "B25.1")
def test_a_request_brings_up_open_comments_and_what_was_left_out(chat):
    first(chat)
    chat.call("ReviewAddComment", path="a.txt", text="Why two?", at="line 1")
    done = chat.call("ReviewAddComment", path="a.txt", text="Settled.")
    chat.call("ReviewResolveComment", comment_id=done["comment_id"])
    (unit,) = chat.call("ReviewListChanges", path="a.txt")["changes"]
    chat.call("DraftLeaveChanges", path="a.txt", ids=[unit["id"]])

    message = asked(chat, "Again, please.")

    record = chat.call("WorkshopGetConversation")["messages"][-1]
    assert record["text"] == (
        "Again, please.\n\n"
        "- Comment 1 on a.txt, line 1 (changed since; it read “two”): Why two?\n"
        "- Left out on purpose, not to be put back in a.txt: line 1 (“one” → “two”)"
    )
    (comment, _) = chat.call("ReviewListComments")["comments"]
    assert (record["message_id"], comment["asked"], comment["is_touched"]) == (message, 1, True)
    assert chat.refused("WorkshopRequestChanges", comment_ids=["cmt_" + "0" * 26])[0] == "NOT_FOUND"
    assert chat.refused("WorkshopRequestChanges", comment_ids=[])[1] == "empty_message"


@pytest.mark.rule("W24.3", "W23.2")
def test_a_message_about_a_draft_is_answered_as_long_as_that_draft_is_there(chat):
    first(chat)
    message = asked(chat)
    chat.call("DraftDiscard")

    assert chat.refused("WorkshopRunAgent", message_id=message)[:2] == ("NOT_FOUND", "no_draft")
    assert chat.state()["can_regenerate"] is False


@pytest.mark.rule("W24.5", "W1.5")
def test_a_question_about_the_draft_changes_nothing(chat):
    first(chat)
    wire = chat.play(
        [
            calls("research", 1, ("read_file", {"path": "a.txt"})),
            says("research", "It is two."),
            says("summary", "It says two."),
        ],
        "ask",
    )
    done = chat.run(asked(chat, "What does a.txt say?", mode="ask"))

    assert (done["status"], done["has_draft"]) == ("complete", True)
    assert chat.draft()["a.txt"] == "two\n"
    assert any("two" in one.text for r in wire.requests for one in r.messages)
    assert chat.call("ReviewGetChangeSet")["draft_summary"] == "a.txt says two."


# ---------------------------------------------------------------- what the model is told


@pytest.mark.rule("W24.4", "W6.16", "W7.6")
def test_the_prompt_of_a_round_tells_of_the_draft_and_shows_its_files(chat):
    first(chat)
    chat.call("DraftDeletePath", path="b.txt")
    wire = chat.play(story(("a.txt", "three\n")), "two")
    before = len(wire.requests)
    chat.run(asked(chat))

    told = ["\n".join(one.text for one in r.messages) for r in list(wire.requests)[before:]]
    for text in told:
        assert "The person has looked at it." in text
        assert "- a.txt (modified)" in text
        assert "- b.txt (deleted)" in text
        assert (
            "(Note: the person has looked at the Draft and writes about it.)\n\nNow three" in text
        )
    assert "two\n" in told[0]  # as the Draft has it, not as Published does
    system = {r.messages[0].text for r in list(wire.requests)[before:]}
    assert len(system) == 1


@pytest.mark.rule("W6.16", "W24.4")
def test_the_part_that_is_cached_is_that_of_the_turn_before(chat):
    chat.add({"a.txt": "one\n"})
    wire = chat.play(story(("a.txt", "two\n")), "one")
    chat.ask("Make it two")
    then = wire.requests[0].messages[0].text
    chat.run(asked(chat))

    assert {r.messages[0].text for r in wire.requests} == {then}


# ---------------------------------------------------------------- what is true of a round


@pytest.mark.rule("W24.5", "W11.20")
def test_facts_of_a_round_are_of_what_it_changed(chat):
    chat.add({"a.txt": "one\n", "b.txt": "other\n"})
    chat.play(story(("a.txt", "two\n"), ("c.txt", "new\n")), "one")
    chat.ask()
    chat.play(story(("b.txt", "else\n"), answer="b.txt is changed."), "two")
    done = chat.run(asked(chat, "Also b.txt"))

    assert [one["path"] for one in done["facts"]["files"]] == ["b.txt"]
    paths = [one["path"] for one in chat.call("ReviewGetChangeSet")["entries"]]
    assert sorted(paths) == ["a.txt", "b.txt", "c.txt"]


@pytest.mark.rule("W10.4", "W24.5")
def test_a_round_that_brings_everything_back_to_published_discards_the_draft(chat):
    first(chat)
    done = second(chat, "one\n")

    assert (done["has_draft"], chat.draft()) == (False, None)
    assert [one["path"] for one in done["facts"]["files"]] == ["a.txt"]
    request = state_request(chat)
    chat.call("WorkshopUndoToMessage", message_id=request)
    assert chat.draft()["a.txt"] == "two\n"


def state_request(chat: Chat) -> str:
    """Return the newest request for changes."""
    found = chat.call("WorkshopGetConversation")["messages"]
    return str([m for m in found if m["metadata"].get("on_draft")][-1]["message_id"])


@pytest.mark.rule("W24.5", "W11.12", "W23.94")
def test_a_round_that_fails_leaves_the_draft_as_it_was(chat):
    first(chat)
    before = state(chat).draft.tree
    refusing = [
        calls("research", 1, ("list_files", {})),
        says("research", "Found."),
        says("plan", plan("Write a.txt")),
        calls("implement", 1, write("a.txt", "broken")),
        says("implement", '```json\n{"status": "failed", "reason": "no"}\n```'),
        says("summary", "It failed."),
    ]
    chat.play(refusing, "two")
    done = chat.run(asked(chat))

    assert done["has_draft"] is True
    assert state(chat).draft.tree == before
    assert len(state(chat).draft.rounds) == 1


@pytest.mark.rule("W24.5", "W5.12")
def test_a_round_that_the_provider_refuses_leaves_the_draft_as_it_was(chat):
    first(chat)
    before = state(chat).draft.tree
    chat.play([{"respond": {"error": "auth"}, "times": 0}], "two")
    done = chat.run(asked(chat))

    assert (done["status"], done["has_draft"]) == ("failed", True)
    assert state(chat).draft.tree == before
    assert chat.state()["can_request_changes"] is True


@pytest.mark.rule("W24.5", "W5.11", "B7.12")
def test_a_round_that_is_stopped_keeps_the_draft_and_goes_on(chat):
    first(chat)
    steps = story(("a.txt", "three\n"), ("c.txt", "c\n"), answer="Done.")
    broken = [
        *steps[:3],
        steps[3],
        {**steps[4], "respond": {"error": "auth"}},
    ]
    chat.play([*broken, *steps[5:]], "two")
    message = asked(chat)
    done = chat.run(message)
    assert done["status"] == "paused"
    assert chat.draft()["a.txt"] == "three\n"

    chat.play(steps, "two")
    again = chat.run(message)
    assert (again["status"], chat.draft()["c.txt"]) == ("complete", "c\n")
    assert sorted(one["path"] for one in again["facts"]["files"]) == ["a.txt", "c.txt"]


# ---------------------------------------------------------------- looking at it


@pytest.mark.rule("W24.6", "B11.1", "B12.16")
def test_the_review_is_of_what_changed_since_the_last_look_or_of_all(chat):
    chat.add({"a.txt": "one\n", "b.txt": "other\n", "c.txt": "c\n"})
    chat.play(story(("a.txt", "two\n"), ("d.txt", "d\n")), "one")
    chat.ask()
    assert chat.refused("ReviewGetChangeSet", since="last_look")[:2] == ("NOT_FOUND", "no_round")
    assert chat.refused("ReviewGetDiff", path="a.txt", since="last_look")[1] == "no_round"
    assert chat.refused("ReviewGetChangeSet", since="ever")[1] == "bad_params"
    chat.play(story(("a.txt", "three\n"), ("b.txt", "else\n")), "two")
    chat.run(asked(chat))

    overall = chat.call("ReviewGetChangeSet")
    since = chat.call("ReviewGetChangeSet", since="last_look")
    assert [one["path"] for one in overall["entries"]] == ["d.txt", "a.txt", "b.txt"]
    assert [one["path"] for one in since["entries"]] == ["a.txt", "b.txt"]
    assert overall["tree"] == since["tree"]
    assert overall["reference_source"] == "draft_start_snapshot"
    assert since["reference_source"] == "last_look"
    text = chat.call("ReviewGetDiff", path="a.txt", since="last_look")
    lines = [(one["type"], one["text"]) for one in text["body"]["hunks"][0]["lines"]]
    assert lines == [("removed", "two"), ("added", "three")]
    assert text["reference_source"] == "last_look"
    assert chat.call("ReviewGetDiff", path="d.txt", since="last_look")["body"]["hunks"] == []
    assert chat.refused("ReviewGetEntry", path="d.txt", since="last_look")[0] == "NOT_FOUND"
    published = chat.call("DraftPublish", reviewed_tree=since["tree"])
    assert {one["path"] for one in published["changed"]} == {"a.txt", "b.txt", "d.txt"}


@pytest.mark.rule("W24.6", "B13.5")
def test_what_publishing_would_delete_is_told_whatever_was_looked_at(chat):
    chat.add({"a.txt": "one\n", "b.txt": "other\n"})
    chat.play(story(("a.txt", "two\n"), ("c.txt", "c\n")), "one")
    chat.ask()
    chat.call("DraftDeletePath", path="b.txt")
    asked(chat)
    chat.call("DraftDeletePath", path="c.txt")

    since = chat.call("ReviewGetChangeSet", since="last_look")
    assert [(one["path"], one["kind"]) for one in since["entries"]] == [("c.txt", "DELETED")]
    assert "deletion_confirmed" not in since["entries"][0]  # Published never had it
    assert since["unconfirmed"] == ["b.txt"]


def cell_writing(cell: str, **more: Any) -> list[dict[str, Any]]:
    """Return a script that writes one cell of t.xlsx."""
    steps = story(("t.xlsx", ""))
    operation = {"op": "set_cells", "sheet": "S", "cells": [{"cell": cell, "value": 1}]}
    wanted = {"path": "t.xlsx", "operations": [operation], **more}
    steps[3] = calls("implement", 1, ("xlsx_operations", wanted))
    return steps


@pytest.mark.rule("W24.6", "B12.11")
def test_pictures_and_grids_are_compared_with_the_last_look(chat):
    chat.add({"a.txt": "x"})
    chat.play(cell_writing("A1", create_new=True), "one")
    chat.ask()
    chat.play(cell_writing("B2"), "two")
    chat.run(asked(chat))

    look = {"path": "t.xlsx", "sheet": "S", "row_count": 5, "col_count": 5}
    now = chat.call("ReviewGetXlsxPreviewGrid", **look, since="last_look")
    then = chat.call("ReviewGetXlsxPreviewGrid", **look, version="REFERENCE", since="last_look")
    assert [one["cell"] for one in now["changes"]] == ["B2"]
    assert chat.call("ReviewGetXlsxPreviewGrid", **look, version="LAST_LOOK") == then
    assert then["missing"] is False
    start = chat.call("ReviewGetXlsxPreviewGrid", **look, version="REFERENCE")
    assert start["missing"] is True
    assert chat.refused("ReviewGetXlsxPreviewGrid", **look, since="ever")[1] == "bad_params"


# ---------------------------------------------------------------- histories


@pytest.mark.rule("W24.5", "W15.3", "B8.14", "W23.93")
def test_rounds_are_rewound_and_redone_one_by_one(chat):
    answer = first(chat)
    second(chat)
    middle = chat.state()["conversation_head_id"]
    second(chat, "four\n")
    assert (chat.draft()["a.txt"], len(state(chat).draft.rounds)) == ("four\n", 2)

    chat.call("WorkshopUndoToMessage", message_id=answer)
    assert (chat.draft()["a.txt"], state(chat).draft.rounds) == ("two\n", ())
    chat.call("WorkshopRedo")
    assert (chat.draft()["a.txt"], len(state(chat).draft.rounds)) == ("four\n", 2)
    chat.call("WorkshopUndoToMessage", message_id=middle)
    assert (chat.draft()["a.txt"], len(state(chat).draft.rounds)) == ("three\n", 1)
    chat.call("WorkshopRedo")
    assert chat.draft()["a.txt"] == "four\n"


@pytest.mark.rule("W24.5", "W15.6")
def test_the_answer_of_a_round_is_given_again_and_redo_goes_round_between_them(chat):
    first(chat)
    second(chat)
    chat.play(story(("a.txt", "3\n"), answer="a.txt says 3."), "again")
    done = chat.call("WorkshopRegenerate")

    assert (done["status"], chat.draft()["a.txt"]) == ("complete", "3\n")
    assert len(state(chat).draft.rounds) == 1
    chat.call("WorkshopRedo")
    assert chat.draft()["a.txt"] == "three\n"
    chat.call("WorkshopRedo")
    assert chat.draft()["a.txt"] == "3\n"


@pytest.mark.rule("W24.5")
def test_a_request_that_was_rewound_to_is_answered_again(chat):
    first(chat)
    chat.play(story(("a.txt", "three\n")), "two")
    message = asked(chat)
    chat.run(message)
    chat.call("WorkshopUndoToMessage", message_id=message)
    assert (chat.draft()["a.txt"], chat.state()["unanswered_request_id"]) == ("two\n", message)

    chat.play(story(("a.txt", "drei\n")), "three")
    assert chat.run(message)["status"] == "complete"
    assert chat.draft()["a.txt"] == "drei\n"


@pytest.mark.rule("W24.5", "B8.16", "W15.3")
def test_rounds_of_a_draft_that_was_discarded_or_published_are_gone(chat):
    answer = first(chat)
    second(chat)
    tree = chat.call("ReviewGetChangeSet")["tree"]
    chat.call("DraftPublish", reviewed_tree=tree)
    assert chat.published()["a.txt"] == "three\n"

    _, reason, choices = chat.refused("WorkshopUndoToMessage", message_id=answer)
    assert (reason, choices) == ("published_changed", ("chat_only", "restore_published"))
    chat.call("WorkshopUndoToMessage", message_id=answer, mode="restore_published")
    assert (chat.published()["a.txt"], chat.draft()) == ("one\n", None)
    chat.call("WorkshopRedo")
    assert chat.published()["a.txt"] == "three\n"


@pytest.mark.rule("W24.5", "B8.17")
def test_after_a_discard_a_rewind_among_its_rounds_asks_what_to_do(chat):
    answer = first(chat)
    second(chat)
    chat.call("DraftDiscard")
    request = state_request(chat)

    assert chat.refused("WorkshopUndoToMessage", message_id=answer)[1] == "revision_pruned"
    gone = chat.refused("WorkshopRegenerate", message_id=request, mode="chat_only")
    assert gone[:2] == ("NOT_FOUND", "no_draft")


@pytest.mark.rule("W24.5", "W2.7")
def test_the_record_of_the_draft_stays_where_it_was_made(chat):
    first(chat)
    second(chat)
    kinds = [kind for kind, _ in chat.said() if kind not in ("model_switched",)]
    assert kinds == [
        *("user", "draft_created", "assistant", "draft_changes_applied"),
        *("user", "assistant", "draft_changes_applied"),
    ]


@pytest.mark.rule("W24.5", "W23.4")
def test_rounds_survive_a_restart(tmp_path: Path):
    settings = {"model.default": "scripted:demo"}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        chat = Chat(shop, tmp_path)
        first(chat)
        second(chat)
        before = chat.call("DraftGetState"), chat.draft()
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        again = Chat.__new__(Chat)
        again.shop, again.folder, again.id = shop, tmp_path, chat.id
        assert (again.call("DraftGetState"), again.draft()) == before


# ---------------------------------------------------------------- another answer


@pytest.mark.rule("W24.7", "W15.8")
def test_another_answer_is_asked_for_with_a_note(chat):
    chat.add({"a.txt": "one\n"})
    chat.play(story(("a.txt", "two\n")), "one")
    message = chat.send("Make it two")
    chat.run(message)
    wire = chat.play(story(("a.txt", "zwei\n"), answer="In German."), "two")
    done = chat.call("WorkshopRegenerate", note="  In German, please. ")

    asked_for = [one.text for r in wire.requests for one in r.messages if "Make it two" in one.text]
    assert all(
        text.endswith(
            "(The person asked for another answer to this, and added:)\nIn German, please."
        )
        for text in asked_for
    )
    assert len(asked_for) == len(wire.requests)
    records = {m["message_id"]: m for m in chat.call("WorkshopGetConversation")["messages"]}
    assert records[message]["text"] == "Make it two"
    assert records[done["message_id"]]["metadata"]["note"] == "In German, please."
    again = next(m for m in records.values() if m.get("event_kind") == "regenerate")
    assert again["metadata"]["note"] == "In German, please."
    late = chat.play([says("research", "x"), says("summary", "y")], "three")
    chat.call("DraftDiscard")
    chat.ask("And now?", mode="ask")
    assert "added:)\nIn German, please." in "\n".join(one.text for one in late.requests[0].messages)


@pytest.mark.rule("W24.7")
def test_a_note_has_its_length(chat):
    first(chat)
    long = chat.refused("WorkshopRegenerate", note="x" * 4001)
    assert long[:2] == ("LIMIT_EXCEEDED", "message_too_long")


@pytest.mark.rule("W24.7", "B7.11", "W16.1")
def test_another_model_answers_this_once(chat):
    first(chat)
    before = state(chat).draft.tree
    refused = chat.refused("WorkshopRegenerate", model_id="openai:gpt-5.2")
    assert refused[1] == "model_unavailable"
    assert state(chat).draft.tree == before

    chat.shop.models.play("other", story(("a.txt", "zwei\n"), answer="Other."))
    chat.call("WorkshopRegenerate", model_id="scripted:other")
    assert chat.answer()["metadata"]["model_id"] == "scripted:other"
    assert chat.state()["model_id"] == "scripted:one"
    assert chat.said()[-1][0] != "model_switched"
    chat.run(asked(chat))
    assert chat.answer()["metadata"]["model_id"] == "scripted:one"


@pytest.mark.rule("W24.7", "W12.2")
def test_a_turn_of_another_model_goes_on_with_that_model(chat):
    first(chat)
    steps = story(("a.txt", "zwei\n"), ("c.txt", "c\n"))
    down = {**steps[4], "respond": {"error": "auth"}}
    chat.shop.models.play("other", [*steps[:4], down, *steps[5:]])
    done = chat.call("WorkshopRegenerate", model_id="scripted:other")
    assert done["status"] == "paused"
    chat.shop.models.play("other", steps)
    chat.run(chat.state()["resumable_turn"]["message_id"])
    assert chat.answer()["metadata"]["model_id"] == "scripted:other"


@pytest.mark.rule("W24.9")
def test_both_answers_stay_and_are_compared(chat):
    first(chat)
    chat.play(story(("a.txt", "zwei\n"), ("c.txt", "c\n")), "two")
    chat.call("WorkshopRegenerate")
    found = chat.call("WorkshopGetConversation")["messages"]
    told = next(m for m in found if m.get("event_kind") == "regenerate")["metadata"]

    pair = {"revision_id": told["replaced_revision_id"], "other_id": told["new_revision_id"]}
    entries = chat.call("DraftCompareRevisions", **pair)["entries"]
    assert [(one["path"], one["kind"]) for one in entries] == [
        ("c.txt", "ADDED"),
        ("a.txt", "MODIFIED"),
    ]
    alone = chat.call("DraftCompareRevisions", revision_id=told["replaced_revision_id"])
    assert alone["entries"] == entries
    diff = chat.call("DraftGetRevisionDiff", **pair, path="a.txt")
    lines = [(one["type"], one["text"]) for one in diff["body"]["hunks"][0]["lines"]]
    assert lines == [("removed", "two"), ("added", "zwei")]
    nobody = chat.refused("DraftCompareRevisions", revision_id="rev_" + "0" * 26)
    assert nobody[:2] == ("NOT_FOUND", "not_found")
    chat.call("DraftDiscard")
    assert chat.refused("DraftCompareRevisions", **pair)[0] == "REVISION_PRUNED"


@pytest.mark.rule("W24.9", "B8.15")
def test_the_replaced_answer_is_kept_however_much_its_successor_writes(tmp_path: Path):
    settings = {"model.default": "scripted:demo", "workshop.max_revisions": 10}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        chat = Chat(shop, tmp_path)
        first(chat)
        many = [write(f"f{number}.txt", "x") for number in range(25)]
        steps = story(("a.txt", "zwei\n"))
        steps[3] = calls("implement", 1, *many)
        chat.play(steps, "two")
        chat.call("WorkshopRegenerate")
        chat.call("WorkshopRedo")
        assert chat.draft() == {"a.txt": "two\n", "b.txt": "other\n"}


@pytest.mark.rule("W24.5", "B8.15")
def test_a_round_with_many_writes_can_be_taken_back_whole(tmp_path: Path):
    settings = {"model.default": "scripted:demo", "workshop.max_revisions": 10}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        chat = Chat(shop, tmp_path)
        first(chat)
        steps = story(("a.txt", "three\n"))
        steps[3] = calls("implement", 1, *(write(f"f{n}.txt", "x") for n in range(25)))
        steps[4] = says("implement", '```json\n{"status": "failed", "reason": "no"}\n```')
        chat.play(steps, "two")
        chat.run(asked(chat))
        assert chat.draft() == {"a.txt": "two\n", "b.txt": "other\n"}


# ---------------------------------------------------------------- the composer beside a Draft


@pytest.mark.rule("W24.8")
def test_with_the_setting_a_message_is_about_the_draft(tmp_path: Path):
    settings = {"model.default": "scripted:demo", "workshop.talk_on_draft": True}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        chat = Chat(shop, tmp_path)
        first(chat)
        assert chat.state()["can_send"] is True
        chat.play(story(("a.txt", "three\n")), "two")
        chat.ask("Now three")
        assert chat.draft() == {"a.txt": "three\n", "b.txt": "other\n"}
        assert chat.call("DraftGetState")["rounds"] == 1


@pytest.mark.rule("W24.8", "W23.2")
def test_without_the_setting_the_composer_is_closed(chat):
    first(chat)
    assert chat.state()["can_send"] is False


@pytest.mark.rule("W24.3", "W14.1")
def test_flow_compat_works_on_the_draft_too(chat):
    first(chat)
    changes = (
        '{"schema_version": 2, "summary": "s", "no_changes": false,'
        ' "writes": [{"path": "a.txt", "content": "three\\n", "summary": "three"}], "ops": []}'
    )
    chat.play([says("reply", "I make it three."), says("proposal", changes)], "compat")
    message = asked(chat)
    done = chat.call("WorkshopRunAgent", message_id=message, flow="compat")
    assert (done["status"], chat.draft()["a.txt"]) == ("complete", "three\n")


@pytest.mark.rule("W24.3")
def test_a_second_request_takes_the_place_of_one_nobody_answered(chat):
    first(chat)
    one = asked(chat, "Now three")
    chat.play(story(("a.txt", "four\n")), "two")
    two = asked(chat, "Rather four")
    with pytest.raises(BackshopError) as caught:
        chat.run(one)
    assert caught.value.reason == "bad_target"
    assert chat.run(two)["status"] == "complete"


@pytest.mark.rule("W24.3", "W5.3")
def test_a_message_that_is_not_about_the_draft_waits_until_it_is_gone(chat):
    message = chat.send("Something else")
    chat.write({"a.txt": "of an agent outside\n"})
    refused = chat.refused("WorkshopRunAgent", message_id=message)
    again = chat.refused("WorkshopRegenerate", message_id=message)

    assert (refused[:2], again[0]) == (("DRAFT_EXISTS", "draft_exists"), "DRAFT_EXISTS")


# ---------------------------------------------------------------- what it was about


@pytest.mark.rule("B27.5", "B27.6", "B9.9")
def test_a_checkpoint_says_what_was_asked_for_that_was_published_after_it(chat):
    first(chat)
    second(chat)
    subject = chat.call("ReviewGetChangeSet")["subject"]
    chat.call("DraftPublish")
    generation = state(chat).generation
    chat.write({"b.txt": "by nobody who asked\n"})  # no turn made it
    told = chat.call("ReviewGetChangeSet").get("subject")
    back = chat.call("DraftPublish")["checkpoint_id"]
    chat.call("CheckpointRestore", checkpoint_id=back)

    restored, by_nobody, asked_for = chat.call("CheckpointsList")["checkpoints"]
    cards = [
        one["metadata"]
        for one in chat.call("WorkshopGetConversation", include_inactive=True)["messages"]
        if one.get("event_kind") == "checkpoint_published"
    ]

    assert (subject, told) == ("Make it two", None)  # of several rounds what began it
    assert asked_for["request"] == "Make it two"
    assert by_nobody.get("request") is None
    assert (restored.get("request"), restored["restored_id"]) == (None, back)
    assert cards[0]["files"] == [{"path": "a.txt", "kind": "MODIFIED"}]
    assert [one["generation"] for one in cards] == [generation, generation + 1]


@pytest.mark.rule("B25.7", "W24.6")
def test_a_file_with_changes_left_in_is_not_told_as_left_out_since_the_last_look(chat):
    chat.add({"a.txt": "one\nmiddle\nend\n"})
    chat.play(story(("a.txt", "two\nmiddle\nlast\n")), "one")
    chat.ask()
    changes = chat.call("ReviewListChanges", path="a.txt")["changes"]
    chat.call("DraftLeaveChanges", path="a.txt", ids=[changes[0]["id"]])
    chat.play(story(("b.txt", "b\n")), "two")
    chat.run(asked(chat))

    since = chat.call("ReviewGetChangeSet", since="last_look")

    assert [one["path"] for one in since["entries"]] == ["b.txt"]
    assert not since.get("left_whole")
    chat.call("DraftLeaveChanges", path="a.txt", ids=[changes[1]["id"]])
    assert chat.call("ReviewGetChangeSet", since="last_look")["left_whole"] == ["a.txt"]
