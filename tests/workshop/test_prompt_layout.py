"""What stands where in the calls of turns: what is the same comes first, and stays the same."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from docx import Document
from tests.workshop.conftest import Chat, Step, calls, plan, says, story, write

from backshop.base import yaml
from backshop.models.catalog import catalog
from backshop.models.messages import ModelRequest, Role, ToolChoice
from backshop.rails.catalog.source import BUNDLED
from backshop.workshop.turn.context import ANEW

PLAN = ("request_plan", {"findings": "Two.", "items": [{"label": "A"}, {"label": "B"}]})
ESCALATED = [
    calls("work", 1, write("a.md", "blue")),
    calls("work", 2, PLAN),
    calls("implement", 1, write("b.md", "b"), item=1),
    calls("implement", 1, write("c.md", "c"), item=2),
    says("implement", "Wrote it."),
    says("summary", "All three."),
]


def document() -> bytes:
    out = io.BytesIO()
    made = Document()
    made.add_paragraph("blue")
    made.save(out)
    return out.getvalue()


def system(request: ModelRequest) -> str:
    return request.system_text


def contexts(request: ModelRequest) -> list[str]:
    """Return the messages that nobody said: of the turn, and of the phase."""
    return [one.text for one in request.messages if one.is_context]


def window(monkeypatch: pytest.MonkeyPatch, tokens: int) -> None:
    """Let scripts play models with a window of this size."""
    original = catalog.scripted_model
    monkeypatch.setattr(
        catalog,
        "scripted_model",
        lambda model_id: replace(original(model_id), context_tokens_estimate=tokens),
    )


@pytest.mark.rule("W6.16", "P7.2", "P7.3", "W7.1")
@pytest.mark.parametrize("flow", ["auto", "rpi"])
def test_all_calls_of_a_turn_begin_alike_and_so_do_those_of_the_next(chat: Chat, flow: str) -> None:
    chat.add({"a.md": "red", "notes.txt": "x"})
    chat.call("WorkshopSetFlow", flow=flow)
    steps = ESCALATED if flow == "auto" else story(("a.md", "blue"), ("b.md", "b"))
    wire = chat.play(steps)
    chat.ask("Make a.md blue, then write two files")
    first = list(wire.requests)
    chat.call("DraftDiscard")
    chat.ask("Once more")
    second = list(wire.requests)[len(first) :]

    assert len({one.purpose for one in first}) == (3 if flow == "auto" else 4)
    assert len({system(one) for one in (*first, *second)}) == 1
    assert all(one.tools == first[0].tools for one in (*first, *second))
    for turn in (first, second):
        told = [contexts(one) for one in turn]
        assert {len(one) for one in told} == {2}
        assert len({one[0] for one in told}) == 1
        roles = {
            tuple(one.role for one in request.messages[: -_later(request)]) for request in turn
        }
        assert len(roles) == 1  # system, what was said, two of context
    said = [one for one in second[0].dialogue if not one.is_context]
    assert [one.role for one in said] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert said[-1].text.endswith("Once more")


def _later(request: ModelRequest) -> int:
    """Return how many messages came after the prompt; at least one, so that it can be cut off."""
    last = max(n for n, one in enumerate(request.messages) if one.is_context)
    return len(request.messages) - last


@pytest.mark.rule("W6.16", "W8.5")
def test_within_each_loop_of_a_plan_history_is_only_added_to(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    wire = chat.play(ESCALATED)

    chat.ask("Make a.md blue, then write two files")

    loops: list[list[ModelRequest]] = []
    for one in wire.requests:
        is_begun = one.messages[-1].is_context
        loops += [[one]] if is_begun else []
        loops[-1] += [] if is_begun else [one]
    assert [len(one) for one in loops] == [2, 2, 2, 1]
    for before, after in (pair for loop in loops for pair in pairwise(loop)):
        assert after.messages[: len(before.messages)] == before.messages
        assert (after.tools, after.tool_choice) == (before.tools, before.tool_choice)


@pytest.mark.rule("W6.16", "W6.4")
def test_what_the_draft_changes_is_told_with_the_phase_and_leaves_the_beginning_alone(
    chat: Chat,
) -> None:
    chat.add({"a.md": "red"})
    wire = chat.play(ESCALATED)

    chat.ask("Make a.md blue, then write two files")

    last = wire.requests[-1]
    turn, phase = contexts(last)
    assert ("red" in turn, "blue" in turn) == (True, False)
    assert "b.md" not in system(last) + turn
    assert "- b.md (text, 1 bytes, added in the Draft)" in phase


@pytest.mark.rule("M5.1", "M7.2", "W16.3")
def test_calls_of_auto_are_free_several_at_once_and_of_one_effort(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    wire = chat.play(ESCALATED)

    chat.ask("Make a.md blue, then write two files")

    manners = {(one.tool_choice, one.is_parallel, one.effort) for one in wire.requests}
    assert len(manners) == 1
    assert next(iter(manners))[:2] == (ToolChoice.AUTO, True)


@pytest.mark.rule("W11.17", "W16.3")
def test_a_summary_that_calls_a_tool_is_told_and_asked_once_more(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    steps = story(("b.md", "b"))
    steps.insert(0, calls("summary", 1, write("evil.md", "x")))
    wire = chat.play(steps)

    done = chat.ask()

    assert (done["status"], chat.answer()["text"]) == ("complete", "All done.")
    assert chat.draft() == {"a.md": "red", "b.md": "b"}
    asked = [one for one in wire.requests if one.purpose.value == "summary"]
    assert [one.tool_choice for one in asked] == [ToolChoice.AUTO, ToolChoice.NONE]
    assert "only writes the answer" in asked[1].messages[-1].text


@pytest.mark.rule("W23.92", "W6.11", "W8.5")
def test_a_window_of_8192_tokens_is_enough_for_one_word_and_says_what_is_left_out(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    window(monkeypatch, 8_192)
    chat.add({"a.md": "red", "b.docx": document(), **{f"n{n}.txt": "x" * 3_000 for n in range(20)}})
    edit = {"path": "a.md", "edits": [{"search": "red", "replace": "blue"}]}
    wire = chat.play([calls("work", 1, ("edit_text_file", edit)), says("work", "It is blue.")])

    done = chat.ask("Make the word in a.md blue, as in b.docx; the spreadsheet comes later")

    assert (done["status"], chat.answer()["text"]) == ("complete", "It is blue.")
    assert chat.facts() == ["1 file was changed: a.md (modified, 1 line change)"]
    told = contexts(wire.requests[0])[1]
    assert ("xlsx-style-skill" in told, "docx-style-skill" in told) == (True, False)
    assert "docx files are left out here" in told or "docx files is left out here" in told
    sent = sum(len(one.text) for one in wire.requests[-1].messages)
    assert sent < 8_192 * 4


@pytest.mark.rule("W8.5", "W23.19", "W8.7")
def test_a_loop_that_fills_the_window_begins_anew_with_what_its_calls_brought(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    window(monkeypatch, 16_000)
    chat.add({f"n{n}.txt": f"file {n} " + "x" * 5_000 for n in range(12)})
    reads = [
        {**calls("work", turn, ("read_file", {"path": f"n{turn}.txt"})), "times": 1}
        for turn in range(1, 12)
    ]
    done_after = {
        "when": {"purpose": "work", "prompt": "begins anew"},
        "respond": {"text": "Read."},
    }
    wire = chat.play([done_after, *reads])

    done = chat.ask("Read them all")

    assert (done["status"], chat.answer()["text"]) == ("complete", "Read.")
    last = wire.requests[-1]
    assert not [one for one in last.messages if one.role is Role.TOOL]
    turn, phase = contexts(last)
    assert turn == contexts(wire.requests[0])[0]
    assert ANEW.split(",")[0] in phase
    made = len(wire.requests) - 1
    told = [phase.index(f"#{number} read_file n{number}.txt: ") for number in (made, 1)]
    assert told == sorted(told)  # the newest first
    sizes = [sum(len(one.text) for one in request.messages) for request in wire.requests]
    assert max(sizes) < 16_000 * 4
    assert chat.facts() == ["No file was changed."]


@pytest.mark.rule("W8.5")
def test_a_loop_that_never_fits_ends_and_keeps_what_was_written(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    window(monkeypatch, 16_000)
    chat.add({f"n{n}.txt": f"file {n} " + "x" * 5_000 for n in range(12)})
    first = {**calls("work", 1, write("out.txt", "begun")), "times": 1}
    reads = [calls("work", turn, ("read_file", {"path": f"n{turn}.txt"})) for turn in range(1, 12)]
    chat.play([first, *reads])

    done = chat.ask("Read them all")

    assert (done["status"], (chat.draft() or {}).get("out.txt")) == ("paused", "begun")
    error = chat.state()["resumable_turn"]["error"]
    assert (error["code"], error["reason"]) == ("CONTEXT_EXHAUSTED", "prompt_budget")


def written(path: str) -> Step:
    """Return an answer that writes a file which takes a good part of the window."""
    name, arguments = write(path, "x" * 12_000)
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


@pytest.mark.rule("W11.33", "W8.5")
def test_limits_of_direct_work_hold_over_windows(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    window(monkeypatch, 16_000)
    chat.add({"n.txt": "x" * 5_000})
    wire = chat.play(
        [
            *(
                {"when": {"purpose": "work"}, "respond": written(f"{number}.md")}
                for number in range(1, 12)
            ),
            says("plan", plan("Rest")),
            calls("implement", 1, write("rest.md", "r")),
            says("implement", "Wrote it."),
            says("summary", "All."),
        ]
    )

    done = chat.ask("Write them all")

    purposes = [one.purpose.value for one in wire.requests]
    assert done["status"] == "complete"
    assert "plan" in purposes
    assert len([path for path in chat.draft() or {} if path[0].isdigit()]) == 5


@pytest.mark.rule("W13.1", "W13.3")
def test_plan_items_and_summary_of_auto_say_what_those_of_rpi_say() -> None:
    auto, rpi = (_steps(name) for name in ("auto.yaml", "rpi.yaml"))

    for name in ("plan", "items", "summary"):
        own = {key: value for key, value in auto[name].items() if key != "runCondition"}
        theirs = {key: value for key, value in rpi[name].items() if key != "runCondition"}
        assert own == theirs
        assert auto[name]["runCondition"] == {"var": "escalated", "equals": True}
    assert list(auto) == ["work", "plan", "items", "summary"]


def _steps(name: str) -> dict[str, dict[str, Any]]:
    found: Any = yaml.read((BUNDLED / name).read_text())
    return {one["id"]: one for one in found["steps"]}
