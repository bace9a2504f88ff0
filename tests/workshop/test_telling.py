"""What turns are told of what was said before, and the prompts they sent."""

from __future__ import annotations

import re

import pytest

from backshop.models.catalog.profile import Efforts, adjusted
from backshop.workshop.prompt.text import FILES_ARE_NEWER

from .conftest import calls, says

QUIET = [says("research", "# Research\n\nNothing."), says("plan", "Items: none")]

SWITCHED = "(Note: another model answers from here on.)\n\n"


def conversation(wire, purpose="research"):
    """Return what the last call of a purpose was told, oldest first."""
    last = [one for one in wire.requests if one.purpose.value == purpose][-1]
    return [one.text.removeprefix(SWITCHED) for one in last.dialogue if not one.is_context]


@pytest.mark.rule("P7.5", "P7.11", "P2.13")
def test_the_prompt_behind_an_answer_can_be_shown(chat):
    chat.add({"a.txt": "hello"})
    wire = chat.play([*QUIET, says("summary", "There is one file.")])
    done = chat.ask("What is there?")

    shown = chat.call("PromptShow", message_id=done["message_id"], phase="summary")
    first = chat.call("PromptShow", message_id=done["message_id"], phase="research")

    sent = [one for one in wire.requests if one.purpose.value == "summary"][-1]
    said = [sent.system_text, *(one.text for one in sent.messages if one.is_context)]
    assert shown["text"].strip("\n") == "\n\n".join(one.strip("\n") for one in said)
    assert {"rules", "manifest", "workspace-digest"} <= {one["path"] for one in shown["parts"]}
    assert "list_files" in first["tools"]


@pytest.mark.rule("W17.1", "W23.82", "W23.60")
def test_the_next_turn_hears_the_exchange_before_it_but_not_what_was_rewound(chat):
    chat.add({"a.txt": "x"})
    wire = chat.play([*QUIET, says("summary", "Answer.")])
    first = chat.ask("First question")
    chat.ask("Second question")
    told = conversation(wire)
    chat.call("WorkshopUndoToMessage", message_id=first["message_id"])
    chat.ask("Third question")

    answer = "Answer.\n\n(Facts of this turn, from the log:\nNo file was changed.)"
    assert told == ["First question", answer, "Second question"]
    assert conversation(wire) == ["First question", answer, "Third question"]


@pytest.mark.rule("W15.4")
@pytest.mark.parametrize("way", ["chat_only", "restore_published", "redone"])
def test_where_the_conversation_alone_went_back_the_next_prompts_say_that_files_are_newer(
    chat, way
):
    chat.add({"a.txt": "one"})
    wire = chat.play([*QUIET, says("summary", "Answer.")])
    first = chat.ask("First")
    chat.write({"a.txt": "two"})
    chat.call("DraftPublish")
    chat.ask("Second")
    mode = "chat_only" if way == "redone" else way
    chat.call("WorkshopUndoToMessage", message_id=first["message_id"], mode=mode)
    if way == "redone":
        chat.call("WorkshopRedo")
    before = len(wire.requests)

    def told() -> dict[str, bool]:
        return {
            one.purpose.value: FILES_ARE_NEWER in one.messages[-1].text
            for one in list(wire.requests)[before:]
        }

    chat.ask("Third")
    assert told() == dict.fromkeys(("research", "plan", "summary"), way == "chat_only")
    before = len(wire.requests)
    chat.ask("Fourth")
    assert True not in told().values()


@pytest.mark.rule("M14.2", "W17.1", "W23.66", "M19.37", "M19.40", "B16.9")
def test_a_long_conversation_is_summed_up_and_the_originals_come_back_with_a_rewind(chat):
    chat.add({"a.txt": "x"})
    steps = [*QUIET, says("summary", "y" * 9_000), says("compression", "In short.")]
    wire = chat.play(steps)
    asked, weights = [], []
    for number in range(7):
        asked.append(chat.ask(f"Question {number}"))
        weights.append(chat.call("WorkbenchGetClutter")["score"])

    told = conversation(wire)
    records = chat.call("WorkshopGetConversation", limit=100)["messages"]
    summaries = [one for one in records if one["type"] == "summary_message"]
    cards = [one for one in records if one.get("event_kind") == "context_compressed"]
    chat.call("WorkshopUndoToMessage", message_id=asked[1]["message_id"])
    chat.ask("Again")

    assert told[0].endswith("In short.")
    assert len(told) == 9
    assert told[-1] == "Question 6"
    assert [one["text"] for one in summaries] == ["In short."]
    assert len(cards) == 1
    assert weights[0] < weights[1] < weights[5]
    assert weights[6] < weights[5] + (weights[1] - weights[0])  # the summary counts, not the rest
    assert conversation(wire)[0] == "Question 0"


@pytest.mark.rule("M14.3", "M14.2", "M14.4")
@pytest.mark.parametrize("answer", [{"text": "In short."}, {"error": "auth"}])
def test_what_is_not_conversation_is_never_shortened(chat, answer):
    """Rules, lines of files, maps, context items and the newest message stand whole."""
    names = [f"table {number}.csv" for number in range(30)]
    chat.add(dict.fromkeys(names, "name,amount\na,1\n"))
    item = "MARK " + "context " * 400
    files = [{"path": "context.md", "content": item}]
    chat.call("ContextUpdateDirect", category="situation", files=files, create=True)
    step = {"when": {"purpose": "compression"}, "times": 0, "respond": answer}
    wire = chat.play([*QUIET, says("summary", "y" * 9_000), step])
    chat.ask("Question 0")
    before = material_of(wire)
    for number in range(1, 6):
        chat.ask(f"Question {number}")
    newest = "Now this: " + "word " * 1_500
    chat.ask(newest)
    after = material_of(wire)

    assert "compression" in {one.purpose.value for one in wire.requests}
    assert conversation(wire)[-1].strip() == newest.strip()
    assert "Question 0" not in conversation(wire)[0]
    for one in (before, after):
        assert item.strip() in one
        assert all(f"- {name} (" in one for name in names)
    assert maps_of(after) == maps_of(before) != []
    assert before.split("\n## 2.")[0] == after.split("\n## 2.")[0] != before


def material_of(wire):
    """Return what the last research was told beside the conversation."""
    last = [one for one in wire.requests if one.purpose.value == "research"][-1]
    return "\n".join(one.text for one in last.messages if one.role == "system" or one.is_context)


def maps_of(text):
    return re.findall(r"<map .*?</map", text, re.DOTALL)


@pytest.mark.rule("M14.4", "W17.3", "M19.38")
def test_where_summing_up_fails_the_turn_goes_on_and_says_so(chat):
    chat.add({"a.txt": "x"})
    failing = {"when": {"purpose": "compression"}, "times": 0, "respond": {"error": "auth"}}
    wire = chat.play([*QUIET, says("summary", "y" * 9_000), failing])
    done = [chat.ask(f"Question {n}") for n in range(7)]

    records = chat.call("WorkshopGetConversation", limit=100)["messages"]
    card = next(one for one in records if one.get("event_kind") == "context_compressed")

    assert done[-1]["status"] == "complete"
    assert "earlier messages are left out here" in conversation(wire)[0]
    assert card["metadata"]["fallback"] == "omitted"
    assert not any(one["type"] == "summary_message" for one in records)


@pytest.mark.rule("M7.2")
def test_an_effort_a_model_lacks_falls_to_the_nearest_lower_one():
    efforts = Efforts(research="max", plan="medium", implement="none")

    assert adjusted(efforts, ("low", "medium", "high")) == (
        ("research", "max", "high"),
        ("implement", "none", "low"),
    )
    assert adjusted(efforts, ()) == ()


@pytest.mark.rule("W6.2", "P7.10")
def test_each_phase_is_told_its_step_and_its_artifacts(chat):
    chat.add({"a.txt": "x"})
    wire = chat.play(
        [
            says("research", "RESEARCH TEXT"),
            says("plan", "## Items\n- [ ] 1. Write b.txt"),
            calls("implement", 1, ("write_text_file", {"path": "b.txt", "content": "b"})),
            says("implement", "REPORT TEXT"),
            says("summary", "Wrote b.txt."),
        ]
    )
    chat.ask("Write b")

    said = {
        one.purpose.value: [told.text for told in one.messages if told.is_context][-1]
        for one in wire.requests
    }
    assert "Find out what the request asks" in said["research"]
    assert "RESEARCH TEXT" in said["plan"]
    assert "RESEARCH TEXT" in said["implement"]
    assert "- [ ] 1. Write b.txt" in said["implement"]
    assert "- [x] 1. Write b.txt" in said["summary"]
    assert "REPORT TEXT" in said["summary"]
    assert "- b.txt (added" in said["summary"]


@pytest.mark.rule("M10.3")
def test_people_hear_that_a_provider_is_waited_for(chat):
    chat.add({"a.txt": "x"})
    limited = {"error": {"kind": "rate_limit", "retry_after_s": 0.01}}
    chat.play([{"when": {"purpose": "research"}, "respond": limited}, *QUIET, says("summary", "A")])
    with chat.shop.hub.subscribe() as events:
        chat.ask("What is there?")
        heard = events.wait(5)

    (warning,) = [one for one in heard if one.name == "WorkshopRateLimitWarning"]
    assert warning.payload["phase"] == "research"
    assert (warning.payload["retry_attempt"], warning.payload["wait_ms"]) == (1, 10)
