"""Flow `auto`: a turn works directly, in one loop, and plans only where the request needs it."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.workshop.conftest import Chat, Step, calls, hears, plan, says, write

from backshop.app import About, Backshop
from backshop.app.notice.table import Notification
from backshop.base.limits import WORK_FILES_MAX

PLAN = ("request_plan", {"findings": "Two files.", "items": [{"label": "A"}, {"label": "B"}]})


def ends(chat: Chat) -> list[str]:
    """Return the events of the turn's steps."""
    return [kind.removeprefix("workshop.") for kind in chat.kinds() if "workshop." in kind]


@pytest.mark.rule("W11.32", "W1.4")
def test_direct_work_edits_and_answers_in_one_loop_of_two_calls(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    wire = chat.play([calls("work", 1, write("a.md", "blue")), says("work", "It is blue now.")])

    done = chat.ask("Make a.md blue")

    assert (done["status"], done["has_draft"]) == ("complete", True)
    assert chat.answer()["text"] == "It is blue now."
    assert chat.answer()["metadata"]["flow"] == "auto"
    assert chat.facts() == ["1 file was changed: a.md (modified, 1 line change)"]
    assert [one.purpose for one in wire.requests] == ["work", "work"]


@pytest.mark.rule("W11.32", "W4.2")
def test_direct_work_is_told_as_implement_item_one_of_one(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    chat.play([calls("work", 1, write("a.md", "blue")), says("work", "Done.")])
    with chat.shop.hub.subscribe(About(workbench_id=chat.id)) as news:
        chat.ask()
        heard = hears(news, lambda one: one.name == "WorkshopTurnFinished")

    told = [(one.name, one.payload.get("phase")) for one in heard if "Phase" in one.name]
    assert told == [
        ("WorkshopPhaseStarted", "implement"),
        ("WorkshopPhaseCompleted", "implement"),
    ]
    steps = [one.payload for one in heard if one.name == "WorkshopImplementProgress"]
    assert [(one["current_item"], one["total_items"]) for one in steps] == [(1, 1)]


@pytest.mark.rule("W6.16")
def test_each_request_of_direct_work_begins_with_the_whole_one_before_it(chat: Chat) -> None:
    chat.add({"a.md": "red", "long.txt": "x\n" * 30_000})
    wire = chat.play(
        [
            calls("work", 1, ("read_file", {"path": "long.txt"})),
            calls("work", 2, ("read_file", {"path": "a.md"}), ("list_files", {})),
            calls("work", 3, write("a.md", "blue")),
            says("work", "Done."),
        ]
    )

    chat.ask("Make a.md blue")

    sent = [(one.tools, one.tool_choice, one.effort, one.messages) for one in wire.requests]
    assert len(sent) == 4
    for before, after in pairwise(sent):
        assert after[:3] == before[:3]
        assert after[3][: len(before[3])] == before[3]


@pytest.mark.rule("W11.32")
def test_a_question_is_answered_by_direct_work_without_a_plan_or_a_draft(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    wire = chat.play([says("work", "Red.")])

    done = chat.ask("Which colour?")

    assert (done["status"], done["has_draft"], chat.answer()["text"]) == ("complete", False, "Red.")
    assert chat.facts() == ["No file was changed."]
    assert len(wire.requests) == 1


@pytest.mark.rule("W11.32", "W1.5")
def test_direct_work_that_only_answers_may_write_nothing(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    wire = chat.play(
        [
            calls("work", 1, write("a.md", "blue")),
            calls("work", 2, PLAN),
            says("work", "I may not."),
        ]
    )

    done = chat.ask("Make it blue", mode="ask")

    assert (done["status"], done["has_draft"]) == ("complete", False)
    told = [one.text for one in wire.requests[-1].messages if one.role == "tool"]
    assert ["only answers" in one for one in told] == [True, True]


@pytest.mark.rule("W11.33")
def test_a_plan_that_direct_work_asks_for_costs_no_call_of_its_own(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    wire = chat.play(
        [
            calls("work", 1, write("a.md", "blue")),
            calls("work", 2, PLAN, *[("list_files", {})] * 9),  # what comes with it ends nothing
            calls("implement", 1, write("b.md", "b"), item=1),
            calls("implement", 1, write("c.md", "c"), item=2),
            says("implement", "Wrote it."),
            says("summary", "All three."),
        ]
    )

    done = chat.ask()

    assert (done["status"], done["has_draft"], chat.answer()["text"]) == (
        *("complete", True),
        "All three.",
    )
    purposes = [str(one.purpose) for one in wire.requests]
    assert purposes == ["work", "work", *["implement"] * 4, "summary"]
    assert chat.draft() == {"a.md": "blue", "b.md": "b", "c.md": "c"}
    assert chat.facts()[-1] == "2 of 2 items done."
    shown = chat.call("WorkshopGetPlan")
    assert [one["label"] for one in shown["items"]] == ["A", "B"]
    assert "Two files." in shown["research_md"]
    assert "write_text_file on a.md" in shown["research_md"]


@pytest.mark.rule("W11.33")
def test_a_plan_of_one_item_is_refused_and_done_directly(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    one: tuple[str, dict[str, Any]] = ("request_plan", {"findings": "x", "items": [{"label": "A"}]})
    wire = chat.play(
        [calls("work", 1, one), calls("work", 2, write("a.md", "blue")), says("work", "Done.")]
    )

    done = chat.ask()

    assert (done["status"], chat.draft()) == ("complete", {"a.md": "blue"})
    answers = [one.text for one in wire.requests[1].messages if one.role == "tool"]
    assert "do it directly" in answers[0]


@pytest.mark.rule("W11.33")
def test_direct_work_that_never_plans_is_made_to_and_keeps_what_it_wrote(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    rushed: list[Step] = [calls("work", turn, write(f"{turn}.md", "x")) for turn in range(1, 20)]
    wire = chat.play(
        [
            *rushed,
            says("plan", plan("Rest")),
            calls("implement", 1, write("rest.md", "r")),
            says("implement", "Wrote it."),
            says("summary", "All."),
        ]
    )

    done = chat.ask("Write twenty files")

    assert done["status"] == "complete"
    kept = {f"{number}.md": "x" for number in range(1, WORK_FILES_MAX + 1)}
    assert chat.draft() == {"a.md": "red", **kept, "rest.md": "r"}
    told = [one.text for one in wire.requests[WORK_FILES_MAX + 1].messages if one.role == "tool"]
    assert any("near its limit" in one for one in told)
    assert "request_plan" in told[-1]
    purposes = [str(one.purpose) for one in wire.requests]
    assert purposes[WORK_FILES_MAX + 2] == "plan"


@pytest.mark.rule("W11.33", "W8.3", "W11.20")
def test_many_files_written_in_one_answer_are_planned_by_the_model_itself(chat: Chat) -> None:
    writes = [write(f"{number}.md", "x") for number in range(1, 21)]
    rest = writes[WORK_FILES_MAX:]
    wire = chat.play(
        [
            calls("work", 1, *writes),
            calls("work", 2, PLAN),
            calls("implement", 1, *rest[:8], item=1),
            calls("implement", 1, *rest[8:], item=2),
            says("implement", "Wrote it."),
            says("summary", "All twenty."),
        ]
    )

    done = chat.ask("Write twenty files")

    assert (done["status"], chat.answer()["text"]) == ("complete", "All twenty.")
    assert chat.draft() == {f"{number}.md": "x" for number in range(1, 21)}
    told = [one.text for one in wire.requests[1].messages if one.role == "tool"]
    assert ["Call request_plan" in one for one in told] == [False] * WORK_FILES_MAX + [True] * 15
    assert not any("refused" in line for line in chat.facts())


@pytest.mark.rule("W11.32", "W11.33")
def test_direct_work_that_says_done_over_writes_that_never_ran_is_unfinished(chat: Chat) -> None:
    writes = [write(f"{number}.md", "x") for number in range(1, WORK_FILES_MAX + 2)]
    chat.play([calls("work", 1, *writes), says("work", "All are written.")])

    chat.ask("Write six files")

    assert chat.facts()[-2:] == [
        "The work is unfinished (more was to be written than goes without a plan, and nothing was "
        f"planned); {WORK_FILES_MAX} writes of it stay.",
        f"1 write to {WORK_FILES_MAX + 1}.md was not run: the turn could not write then.",
    ]


@pytest.mark.rule("W11.21", "W11.32")
@pytest.mark.parametrize(
    ("keep", "texts", "said"),
    [
        (False, None, "The work failed (no such sheet); 1 write of it was taken back."),
        (True, {"a.md": "blue"}, "The work is unfinished (no such sheet); 1 write of it stays."),
    ],
)
def test_direct_work_says_itself_that_it_failed(
    chat: Chat, keep: bool, texts: dict[str, str] | None, said: str
) -> None:
    chat.add({"a.md": "red"})
    chat.play(
        [
            calls("work", 1, write("a.md", "blue")),
            calls("work", 2, ("report_failure", {"reason": "no such sheet", "keep_changes": keep})),
            says("work", "It cannot be done."),
        ]
    )

    done = chat.ask()

    assert (done["status"], done["has_draft"]) == ("complete", texts is not None)
    assert said in chat.facts()
    if texts is not None:
        assert chat.draft() == texts


@pytest.mark.rule("W11.34", "W5.12")
@pytest.mark.parametrize(
    ("wrote", "error", "status", "advice"),
    [
        (False, "auth", "failed", "You can check the settings, or switch to another model."),
        (True, "auth", "paused", "You can check the settings, or switch to another model."),
        (False, "empty", "failed", "You can try again, or switch to another model."),
        (True, "empty", "paused", "It can go on from here."),
    ],
)
def test_direct_work_that_breaks_off_keeps_what_it_wrote(
    chat: Chat, wrote: bool, error: str, status: str, advice: str
) -> None:
    chat.add({"a.md": "red"})
    broken: Step = {"when": {"purpose": "work"}, "times": 0, "respond": {"error": error}}
    chat.play([*([calls("work", 1, write("a.md", "blue"))] if wrote else []), broken])

    done = chat.ask()

    assert (done["status"], done["has_draft"]) == (status, wrote)
    assert chat.answer()["text"].endswith(advice)
    if wrote:
        assert chat.draft() == {"a.md": "blue"}


@pytest.mark.rule("W11.34", "W12.2")
def test_direct_work_goes_on_with_what_it_wrote_and_doubles_nothing(chat: Chat) -> None:
    chat.add({"a.md": "one\n"})
    more = ("edit_text_file", {"path": "a.md", "edits": [{"search": "one", "replace": "one one"}]})
    broken: Step = {"when": {"purpose": "work", "turn": 2}, "respond": {"error": "auth"}}
    wire = chat.play([calls("work", 1, more), broken, says("work", "Done.")])
    first = chat.ask()
    assert (first["status"], chat.draft()) == ("paused", {"a.md": "one one\n"})

    done = chat.call("WorkshopRunAgent", message_id=chat.state()["resumable_turn"]["message_id"])

    assert (done["status"], chat.draft()) == ("complete", {"a.md": "one one\n"})
    told = wire.requests[2].messages[-1].text
    assert "edit_text_file on a.md" in told
    assert "ended before it reported" in told  # the key was refused: no requests had run out


@pytest.mark.rule("W5.8", "M10.5")
def test_text_of_direct_work_is_the_answer_only_where_no_call_comes_with_it(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    first = calls("work", 1, write("a.md", "blue"))
    first["respond"]["text"] = "Let me see."
    chat.play([first, says("work", "It is blue.")])
    with chat.shop.hub.subscribe(About(workbench_id=chat.id)) as news:
        chat.ask()
        heard = hears(news, lambda one: one.name == "WorkshopTurnFinished")

    assert chat.answer()["text"] == "It is blue."
    said = [one.payload for one in heard if one.name == "WorkshopAgentProgress"]
    assert [one["text"] for one in said] == ["Let me see."]
    deltas = [one.payload for one in heard if one.name == "WorkshopAssistantStream"]
    assert [(one["token_delta"], one["delta_seq"]) for one in deltas] == [
        ("Let me see.", 0),
        ("It is blue.", 0),
    ]


@pytest.mark.rule("W1.4")
def test_a_flow_holds_for_one_message_or_for_a_bench(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    chat.play([says("reply", "Hm."), says("proposal", "{}"), says("work", "Red.")])

    one = chat.call("WorkshopRunAgent", message_id=chat.send("Colour?"), flow="compat")
    assert (one["status"], chat.answer()["metadata"]["flow"]) == ("complete", "compat")

    chat.ask("Colour?")
    assert chat.answer()["metadata"]["flow"] == "auto"

    assert chat.refused("WorkshopRunAgent", message_id=chat.send("?"), flow="fast")[0] == (
        "VALIDATION_FAILED"
    )


@pytest.mark.rule("W1.4", "W15.9")
def test_an_answer_given_again_in_another_flow_is_a_run_of_its_own(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    chat.play([says("work", "Red."), says("reply", "Still red."), says("proposal", "{}")])
    chat.ask("Colour?")
    first = chat.answer()["metadata"]["run_id"]

    again = chat.call("WorkshopRegenerate")
    assert (again["status"], chat.answer()["metadata"]["run_id"]) == ("complete", first)

    chat.call("WorkshopSetFlow", flow="rpi")
    chat.play([says("research", "R"), says("plan", "## Items\nnone"), says("summary", "Red!")])
    other = chat.call("WorkshopRegenerate")

    assert (other["status"], chat.answer()["text"]) == ("complete", "Red!")
    assert chat.answer()["metadata"]["run_id"] != first


@pytest.mark.rule("W11.33", "W11.8")
def test_a_plan_of_more_than_a_hundred_items_is_to_be_grouped(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    many = [{"label": f"Item {number}"} for number in range(101)]
    wire = chat.play(
        [
            calls("work", 1, ("request_plan", {"findings": "x", "items": many})),
            calls("work", 2, write("a.md", "blue")),
            says("work", "Done."),
        ]
    )

    done = chat.ask()

    assert (done["status"], chat.draft()) == ("complete", {"a.md": "blue"})
    (told,) = [one.text for one in wire.requests[1].messages if one.role == "tool"]
    assert "at most 100 items" in told
    assert [str(one.purpose) for one in wire.requests] == ["work"] * 3


@pytest.mark.rule("W11.33")
@pytest.mark.parametrize("name", ["requests", "calls", "writes", "files"])
def test_how_much_is_done_directly_is_a_setting(tmp_path: Path, name: str) -> None:
    settings = {"model.default": "scripted:demo", f"workshop.work_{name}": 2}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        chat = Chat(shop, tmp_path)
        chat.add({"a.md": "red"})
        rushed = [calls("work", turn, write(f"{turn}.md", "x")) for turn in range(1, 20)]
        wire = chat.play(
            [
                *rushed,
                says("plan", plan("Rest")),
                calls("implement", 1, write("rest.md", "r")),
                says("implement", "Wrote it."),
                says("summary", "All."),
            ]
        )

        done = chat.ask("Write many files")

        assert done["status"] == "complete"
        assert chat.draft() == {"a.md": "red", "1.md": "x", "2.md": "x", "rest.md": "r"}
        told = [one.text for one in wire.requests[4].messages if "original" not in one.text]
        assert any("What was written so far, and stays" in one for one in told)
        assert str(wire.requests[4].purpose) == "plan"


@pytest.mark.rule("W15.1", "W15.12", "W10.5", "W23.54")
def test_direct_work_is_rewound_and_brought_back_like_any_turn(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    chat.play([calls("work", 1, write("a.md", "blue")), says("work", "It is blue now.")])
    message = chat.send("Make a.md blue")
    done = chat.run(message)

    chat.call("WorkshopUndoToMessage", message_id=message)
    assert (chat.draft(), chat.published()) == (None, {"a.md": "red"})
    assert chat.state()["can_regenerate"]

    chat.call("WorkshopRedo")
    assert chat.draft() == {"a.md": "blue"}
    assert chat.answer()["message_id"] == done["message_id"]

    again = chat.call("WorkshopRegenerate")
    assert (again["status"], chat.draft()) == ("complete", {"a.md": "blue"})
    assert again["message_id"] != done["message_id"]


@pytest.mark.rule("W5.11", "W5.9")
def test_direct_work_that_is_stopped_keeps_what_it_wrote_and_said(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    chat.play(
        [
            calls("work", 1, write("a.md", "blue")),
            {
                "when": {"purpose": "work"},
                "times": 0,
                "respond": {"deltas": ["It is ", "blue."], "delay_ms": 50},
            },
        ]
    )
    message = chat.send()

    def stop(one: Notification) -> bool:
        if one.name == "WorkshopAssistantStream":
            chat.call("WorkshopCancelRun")
        return one.name == "WorkshopTurnFinished"

    with chat.shop.hub.subscribe(About(workbench_id=chat.id)) as news:
        runner = threading.Thread(target=chat.run, args=(message,))
        runner.start()
        hears(news, stop)
        runner.join()

    answer = chat.answer()
    assert chat.draft() == {"a.md": "blue"}
    assert answer["status"] in ("canceled", "complete")
    assert answer["text"].startswith("It is ")


@pytest.mark.rule("W1.4", "M15.10")
@pytest.mark.parametrize(
    ("steps", "flow"),
    [
        ([says("research", "R"), says("plan", "## Items\nnone"), says("summary", "S")], "rpi"),
        ([says("work", "W"), says("summary", "S")], "auto"),
        ([{"times": 0, "respond": {"text": "any"}}], "auto"),
    ],
)
def test_a_script_that_knows_phases_plays_in_phases(
    chat: Chat, steps: list[Step], flow: str
) -> None:
    chat.add({"a.md": "red"})
    chat.play(steps)

    done = chat.ask("Colour?")

    assert (done["status"], chat.answer()["metadata"]["flow"]) == ("complete", flow)
    assert chat.state()["flow"] == "auto"


@pytest.mark.rule("W1.4")
def test_a_workbench_of_before_keeps_its_flow_until_the_person_sets_one(tmp_path: Path) -> None:
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        chat = Chat(shop, tmp_path)
        assert chat.state()["flow"] == "auto"
        created = next(iter(shop.store.read(f"bench:{chat.id}")))
        assert (created.kind, created.data["default_flow"]) == ("bench.created", "auto")
    for name, flow in (("compat", "compat"), ("rpi", "rpi"), ("auto", "auto")):
        settings = {"model.default": "scripted:demo", "workshop.flow": name}
        with Backshop.open(tmp_path / "home", settings=settings) as shop:
            assert shop.call("WorkshopGetState", {"workbench_id": chat.id})["flow"] == flow


@pytest.mark.rule("W11.33", "W8.1", "W23.90")
def test_forty_files_in_one_answer_are_five_and_a_plan(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    wire = chat.play(
        [
            calls("work", 1, *(write(f"{number}.md", "x") for number in range(40))),
            calls("work", 2, write("more.md", "x")),  # told to plan, and not listening
            says("plan", plan("Rest")),
            calls("implement", 1, write("rest.md", "r")),
            says("implement", "Wrote it."),
            says("summary", "All."),
        ]
    )

    done = chat.ask("Write forty files")

    assert (done["status"], len(chat.draft() or {})) == ("complete", 1 + WORK_FILES_MAX + 1)
    purposes = [str(one.purpose) for one in wire.requests]
    assert purposes == ["work", "work", "plan", "implement", "implement", "summary"]
    made = [one.get("error") for one in chat.call("WorkshopGetToolLog")["entries"][:40]]
    assert made == [None] * WORK_FILES_MAX + ["tool_not_available"] * (40 - WORK_FILES_MAX)


@pytest.mark.rule("W5.9", "W1.3")
def test_long_text_that_came_with_a_call_is_kept_for_a_while_and_then_withdrawn(chat: Chat) -> None:
    chat.add({"a.md": "red"})
    first = calls("work", 1, write("a.md", "blue"))
    first["respond"]["text"] = "Let me think. " * 400  # more than is kept at once
    chat.play([first, says("work", "It is blue.")])

    done = chat.ask()

    told = [one for one in chat.kinds() if one.startswith("workshop.answer")]
    assert told == ["workshop.answer_streamed", "workshop.answer_withdrawn"]
    assert (done["status"], chat.answer()["text"]) == ("complete", "It is blue.")
    assert [kind for kind, _ in chat.said(include_inactive=True)].count("assistant") == 1
    assert chat.draft() == {"a.md": "blue"}
