"""Notes to an agent at work: read before its next step, each once, never lost (W27)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from tests.workshop.conftest import Chat, calls, plan, says, write

from backshop.base.errors import BackshopError
from backshop.models import ModelRequest, ToolCall
from backshop.workshop.tool.tool_log import ToolJournal
from backshop.workshop.turn import note

Meanwhile = Callable[[ToolCall], None]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Meanwhile], None]:
    """Return how something is done whenever the agent is about to call a tool."""

    def during(do: Meanwhile) -> None:
        calling = ToolJournal.calling

        def both(self: ToolJournal, call: ToolCall) -> None:
            calling(self, call)
            do(call)

        monkeypatch.setattr(ToolJournal, "calling", both)

    return during


def notes(request: ModelRequest) -> list[str]:
    """Return the notes a request carries."""
    lead = note.TOLD.format("")
    said = [one.text for one in request.messages if one.role == "user"]
    return [text.removeprefix(lead) for text in said if text.startswith(lead)]


def shown(chat: Chat) -> list[tuple[str, str]]:
    """Return the notes of the transcript, and what became of each."""
    found = chat.call("WorkshopGetConversation")["messages"]
    kept = [one for one in found if one.get("event_kind") == "note"]
    return [(one["text"], one["metadata"]["became"]) for one in kept]


def add(chat: Chat, *texts: str) -> None:
    for text in texts:
        chat.call("WorkshopAddNote", text=text)


@pytest.mark.rule("W27.1", "W27.2", "W6.16")
def test_notes_are_read_in_order_before_the_next_request_which_only_grows(chat, meanwhile):
    chat.add({"a.md": "red"})
    wire = chat.play(
        [
            calls("work", 1, write("a.md", "blue")),
            calls("work", 2, ("list_files", {})),
            says("work", "Blue, in capitals."),
        ]
    )
    meanwhile(lambda call: add(chat, "In capitals", "And bold") if "write" in call.name else None)

    done = chat.ask("Make a.md blue")

    assert done["status"] == "complete"
    assert [notes(one) for one in wire.requests] == [[], *[["In capitals", "And bold"]] * 2]
    for before, after in pairwise([one.messages for one in wire.requests]):
        assert after[: len(before)] == before
    assert shown(chat) == [("In capitals", "read"), ("And bold", "read")]
    assert chat.kinds().count("workshop.notes_read") == 1
    assert [kind for kind, _ in chat.said()[1:4]] == ["user", "note", "note"]

    chat.call("DraftDiscard")
    wire = chat.play([says("work", "Yes.")], "later")
    chat.ask("Are you sure?")  # a later turn is told what was added to the message before
    told = "\n".join(one.text for one in wire.requests[0].messages)
    assert "the person added:)\nIn capitals" in told
    assert notes(wire.requests[0]) == []


@pytest.mark.rule("W27.2")
def test_a_note_that_comes_with_the_last_word_of_direct_work_is_still_acted_on(chat, monkeypatch):
    chat.add({"a.md": "red"})
    wire = chat.play(
        [
            calls("work", 1, write("a.md", "blue")),
            {"when": {"purpose": "work", "turn": 2}, "respond": {"text": "It is blue."}},
            {
                "when": {"purpose": "work", "turn": 2},
                "respond": {"tool_calls": [_call("a.md", "BLUE")]},
            },
            says("work", "It is BLUE now."),
        ]
    )
    complete = wire.complete

    def last_word(request: ModelRequest, *more: Any) -> Any:
        if len(wire.requests) == 1:
            add(chat, "In capitals, please")
        return complete(request, *more)

    monkeypatch.setattr(wire, "complete", last_word, raising=False)

    chat.ask("Make a.md blue")

    assert chat.answer()["text"] == "It is BLUE now."
    assert chat.draft() == {"a.md": "BLUE"}
    assert shown(chat) == [("In capitals, please", "read")]


def _call(path: str, content: str) -> dict[str, Any]:
    name, arguments = write(path, content)
    return {"name": name, "arguments": arguments}


@pytest.mark.rule("W27.2", "W27.3")
def test_a_note_of_a_plan_is_told_to_every_loop_after_it_and_a_late_one_is_kept(
    chat, meanwhile, monkeypatch
):
    chat.add({"a.md": "red"})
    wire = chat.play(
        [
            calls("research", 1, ("list_files", {})),
            says("research", "Found."),
            says("plan", plan("Write b", "Write c")),
            calls("implement", 1, write("b.md", "b"), item=1),
            calls("implement", 1, write("c.md", "c"), item=2),
            says("implement", "Wrote it."),
            says("summary", "All done."),
        ]
    )
    chat.call("WorkshopSetFlow", flow="rpi")
    complete = wire.complete

    def say(call: ToolCall) -> None:
        if call.arguments.get("path") == "b.md":
            add(chat, "Short, please")

    def last_word(request: ModelRequest, *more: Any) -> Any:
        if len(wire.requests) == 6:  # of the last item: only the summary follows
            add(chat, "Too late")
        return complete(request, *more)

    meanwhile(say)
    monkeypatch.setattr(wire, "complete", last_word, raising=False)
    chat.ask("Write two files")

    heard = [(str(one.purpose), notes(one)) for one in wire.requests]
    short = ["Short, please"]
    assert heard[:4] == [("research", []), ("research", []), ("plan", []), ("implement", [])]
    assert heard[4:7] == [("implement", short)] * 3
    assert heard[7:] == [("summary", short)]
    assert shown(chat) == [("Short, please", "read"), ("Too late", "late")]

    said = chat.call("WorkshopGetConversation")["messages"]
    late = next(one for one in said if one["text"] == "Too late")
    asked = {"text": late["text"], "client_message_id": late["message_id"]}
    first = chat.call("WorkshopRequestChanges", **asked)
    assert shown(chat)[1] == ("Too late", "sent")
    assert chat.call("WorkshopRequestChanges", **asked) == first


@pytest.mark.rule("W27.2", "W12.7")
def test_a_turn_that_stopped_tells_its_notes_once_when_it_goes_on(chat, meanwhile):
    chat.add({"a.md": "red"})
    steps = [calls("work", 1, write("a.md", "blue")), calls("work", 2, ("list_files", {}))]
    fails = {"when": {"purpose": "work", "turn": 3}, "respond": {"error": "unavailable"}}
    chat.play([*steps, fails])

    def say(call: ToolCall) -> None:
        add(chat, "First" if "write" in call.name else "Second")

    meanwhile(say)
    message = chat.send("Make a.md blue")
    assert chat.run(message)["status"] == "paused"
    meanwhile(lambda call: None)
    assert shown(chat)[0] == ("First", "read")
    wire = chat.play([says("work", "Done.")], "again")
    chat.run(message)

    texts = [text for text, _ in shown(chat)]
    assert notes(wire.requests[0]) == texts
    assert [became for _, became in shown(chat)] == ["read"] * len(texts)


@pytest.mark.rule("W27.1", "W27.4")
def test_notes_are_refused_where_nobody_reads_them(chat, meanwhile):
    chat.add({"a.md": "red"})
    assert chat.refused("WorkshopAddNote", text="x")[:2] == ("NOT_FOUND", "no_turn")
    refused: list[tuple[str, str | None]] = []
    took: list[bool] = []

    def tries(**wish: str) -> None:
        try:
            chat.call("WorkshopAddNote", **wish)
        except BackshopError as error:
            refused.append((error.code, error.reason))

    def say(_: ToolCall) -> None:
        took.append(chat.state()["active_turn"]["takes_notes"])
        tries(text="  ")
        tries(text="x" * 4_001)
        tries(text="x", origin="moon")
        tries(text="x", turn_id="turn_0")
        tries(text="same", client_message_id="one")
        tries(text="same", client_message_id="one")
        for number in range(20):
            tries(text=f"note {number}")

    meanwhile(say)
    chat.play([calls("work", 1, ("list_files", {})), says("work", "Done.")])
    chat.ask()

    assert took == [True]
    assert [reason for _, reason in refused] == [
        *("empty_message", "message_too_long", "bad_params", "no_turn"),
        "too_many_notes",
    ]
    assert [text for text, _ in shown(chat)].count("same") == 1


@pytest.mark.rule("W27.4")
def test_a_single_reply_takes_no_notes(chat, monkeypatch):
    chat.add({"a.md": "red"})
    wire = chat.play([says("reply", "Red."), says("proposal", '{"no_changes": true}')])
    found: list[object] = []
    complete = wire.complete

    def ask(request: ModelRequest, *more: Any) -> Any:
        found.append(chat.state()["active_turn"]["takes_notes"])
        with pytest.raises(BackshopError) as caught:
            chat.call("WorkshopAddNote", text="x")
        found.append(caught.value.reason)
        return complete(request, *more)

    monkeypatch.setattr(wire, "complete", ask, raising=False)
    chat.call("WorkshopSetFlow", flow="compat")
    chat.ask("Which colour?", mode="ask")

    assert found == [False, "no_notes"]
