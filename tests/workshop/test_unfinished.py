"""Work that ran out of requests or calls stays, is told as it is, and is not done twice."""

from __future__ import annotations

import io
import json

import openpyxl
import pytest
from tests.conftest import PROOF
from tests.workshop.conftest import Step, calls, plan, says, write

from backshop.base.limits import IMPLEMENT_TURNS_MAX
from backshop.models.loop.model_turn import FAILING_MAX

TABLE = "name\nend\n"
TOLD = "Do not make these writes again"


def row(n: int) -> tuple[str, dict[str, object]]:
    """Return a call that adds a row before the last line of a table."""
    edit = {"search": "end\n", "replace": f"row {n}\nend\n"}
    return "edit_text_file", {"path": "t.csv", "edits": [edit], "change_note": f"row {n}"}


def rows(chat) -> list[str]:
    """Return the rows that are in the Draft."""
    text = chat.draft_bytes("t.csv").decode()
    assert text.startswith("name\n")
    assert text.endswith("end\n")
    return [line for line in text.split("\n") if line.startswith("row")]


def look(n: int) -> tuple[str, dict[str, object]]:
    """Return a call that changes nothing and is like no other."""
    return "list_files", {"prefix": f"{n}"}


def attempt(*made: int, then: str | None = None) -> list[Step]:
    """Return an attempt that adds these rows, one a request; without `then` it never reports."""
    wanted = [row(n) for n in made]
    if then is None:
        wanted += [look(n) for n in range(IMPLEMENT_TURNS_MAX - len(made))]
    steps = [calls("implement", turn, one) for turn, one in enumerate(wanted, 1)]
    if then is not None:
        end = {"purpose": "implement", "turn": len(made) + 1}
        steps.append({"when": end, "respond": {"text": then}})
    return [{**one, "times": 1} for one in steps]


def script(*steps: Step) -> list[Step]:
    return [
        says("research", "A table."),
        says("plan", plan("Rows")),
        *steps,
        says("implement", "Done."),
        says("summary", "They are there."),
    ]


OUT = attempt(1, 2, 3)


@pytest.fixture
def table(chat):
    chat.add({"t.csv": TABLE})
    return chat


@pytest.mark.rule("W11.12", "W11.13", "W9.3")
def test_an_unfinished_item_keeps_its_rows_and_the_second_try_goes_on(table):
    wire = table.play(script(*OUT, *attempt(4, 5, then="All rows.")))

    done = table.ask()

    told = [m.text for r in wire.requests for m in r.messages if TOLD in m.text]
    assert done["status"] == "complete"
    assert rows(table) == [f"row {n}" for n in range(1, 6)]
    assert told
    assert "edit_text_file on t.csv (row 3), log entry 3" in told[0]
    assert done["facts_lines"][1:] == ["1 of 1 item done."]
    assert "draft.rewound" not in table.kinds()


@pytest.mark.rule("W11.13", "W12.7")
def test_a_second_try_that_repeats_its_rows_does_not_double_them(table):
    """A model that pays no attention to what it is told makes the same writes again."""
    table.play(script(*OUT, *attempt(1, 2, 3, 4, then="All rows.")))

    table.ask()

    log = table.call("WorkshopGetToolLog", limit=200)["entries"]
    assert rows(table) == [f"row {n}" for n in range(1, 5)]
    assert [one.get("replay_of") for one in log[-4:]] == [1, 2, 3, None]
    assert table.kinds().count("draft.batch_applied") == 4


@pytest.mark.rule("W11.13")
def test_a_row_that_is_wanted_twice_is_written_when_it_is_asked_for_once_more(table):
    table.play(script(*OUT, *attempt(1, 1, then="Twice.")))

    table.ask()

    assert rows(table).count("row 1") == 2


@pytest.mark.rule("W11.13")
def test_a_second_try_may_write_the_whole_text_that_the_first_one_replaced(table):
    first, second = write("t.csv", "A\n"), write("t.csv", "B\n")
    made = [first, second, *(look(n) for n in range(IMPLEMENT_TURNS_MAX - 2))]
    steps = [{**calls("implement", n, one), "times": 1} for n, one in enumerate(made, 1)]
    table.play(script(*steps, {**calls("implement", 1, first), "times": 1}))

    table.ask()

    assert table.draft_bytes("t.csv") == b"A\n"


def cell(value: int, **more: object) -> tuple[str, dict[str, object]]:
    """Return a call that says what a cell holds."""
    one = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": value}]}
    given = {"path": "b.xlsx", "operations": [one], "create_if_missing": True, **more}
    return "xlsx_operations", given


@pytest.mark.rule("W11.13")
def test_a_second_try_sets_cells_again_that_the_first_one_wrote_over(chat):
    first, second = cell(1), cell(2)
    made = [first, second, *(look(n) for n in range(IMPLEMENT_TURNS_MAX - 2))]
    steps = [{**calls("implement", n, one), "times": 1} for n, one in enumerate(made, 1)]
    again = [{**calls("implement", 1, second, first), "times": 1}]
    chat.play(script(*steps, *again))

    chat.ask()

    log = chat.call("WorkshopGetToolLog", limit=200)["entries"]
    assert [one.get("replay_of") for one in log[-2:]] == [2, None]
    workbook = openpyxl.load_workbook(io.BytesIO(chat.draft_bytes("b.xlsx")))
    assert workbook["S"]["A1"].value == 1


@pytest.mark.rule("W11.12", "W11.13", "W11.20")
def test_an_item_that_runs_out_twice_is_unfinished_and_says_so(table):
    table.play(script(*OUT, *attempt(4)))

    done = table.ask()

    [item] = table.call("WorkshopGetPlan")["items"]
    assert (done["status"], item["status"]) == ("complete", "unfinished")
    assert rows(table) == [f"row {n}" for n in range(1, 5)]
    assert done["facts_lines"][1:] == [
        "0 of 1 item done.",
        "Item 1, Rows, is unfinished (the last request brought no text); 4 writes of it stay.",
    ]
    assert "- [!] 1. Rows [Failed: unfinished: " in table.call("WorkshopGetPlan")["plan_md"]


@pytest.mark.rule("W11.12", "W11.13")
def test_a_second_try_that_fails_takes_back_its_own_writes_alone(table):
    broken = {
        "when": {"purpose": "implement", "turn": 2},
        "times": 0,
        "respond": {"error": "empty"},
    }
    table.play(script(*OUT, {**calls("implement", 1, row(99)), "times": 1}, broken))

    done = table.ask()

    assert rows(table) == ["row 1", "row 2", "row 3"]
    assert done["facts_lines"][2] == (
        "Item 1, Rows, is unfinished (the model answered nothing, twice); 3 writes of it stay; "
        "1 write of it was taken back."
    )


@pytest.mark.rule("W11.13", "W12.1", "W12.7")
def test_a_resume_after_an_unfinished_try_is_told_and_goes_on_from_there(table):
    down = {"when": {"purpose": "implement", "turn": 2}, "times": 0, "respond": {"error": "auth"}}
    table.play(script(*OUT, calls("implement", 1, row(4)), down), "first")
    message = table.send()
    stopped = table.run(message)
    kept = rows(table)
    facts = table.facts()
    wire = table.play(script(*attempt(4, 5, then="All rows.")), "second")

    done = table.run(message)

    assert (stopped["status"], done["status"]) == ("paused", "complete")
    assert kept == ["row 1", "row 2", "row 3"]
    assert facts[1:] == [
        "0 of 1 item done.",
        "Item 1, Rows, is not done; it is made when the turn goes on; 3 writes of it stay; "
        "1 write of it was taken back.",
    ]
    assert any(TOLD in m.text for m in wire.requests[0].messages)
    assert rows(table) == [f"row {n}" for n in range(1, 6)]
    assert done["facts_lines"][1:] == ["1 of 1 item done."]


@pytest.mark.rule("W8.1", "W8.3", "W23.16", "M9.8")
def test_sixty_writes_in_one_answer_are_cut_to_fifty_and_stay(table):
    first = 0 if PROOF else 47  # what changes nothing takes less long
    sixty = [*(look(n) for n in range(first)), *(row(n) for n in range(first, 60))]
    many = calls("implement", 1, *sixty, item=1)
    rest = calls("implement", 2, row(50), row(51), item=1)
    wire = table.play(script(many, rest))

    done = table.ask()

    log = table.call("WorkshopGetToolLog", limit=200)["entries"]
    answers = [m.text for m in wire.requests[3].messages if m.role.value == "tool"]
    error = json.loads(answers[-1][answers[-1].index("{") : answers[-1].rindex("}") + 1])["error"]
    assert done["status"] == "complete"
    assert [one["success"] for one in log] == [True] * 50 + [False] * 10 + [True] * 2
    assert (error["reason"], error["hints"]) == (
        "too_many_calls",
        ["Make this call again in your next answer."],
    )
    assert rows(table) == [f"row {n}" for n in range(first, 52)]
    assert "8 writes to t.csv were not run: too many calls in one answer." in done["facts_lines"]


@pytest.mark.rule("W8.3", "W23.16")
def test_calls_over_the_cap_of_an_answer_fail_neither_research_nor_the_turn(table):
    many = calls("research", 1, *(look(n) for n in range(58)))
    missing = [("read_file", {"path": f"missing-{n}.csv"}) for n in range(FAILING_MAX - 1)]
    failed = [calls("research", turn, one) for turn, one in enumerate(missing, 2)]
    table.play([many, *failed, *script()])

    assert table.ask()["status"] == "complete"  # one failure more would have ended it
