"""Comments, and changes taken and left, in the terminal (B24, B25, S4.2)."""

from __future__ import annotations

import json

import pytest
from tests.cli.test_bench import agent_writes

from backshop.base.errors import NotFound
from backshop.bench.draft.selection import ChangeInfo
from backshop.cli import main
from backshop.cli.draft.selection import change_lines, whole_id

LINES = [f"line {n}\n" for n in range(1, 21)]


@pytest.fixture
def run(tmp_path, capsys):
    """Run a command on a home with a Draft of one changed text."""

    def run_one(*args: str) -> tuple[int, str]:
        code = main([*args, "--home", str(tmp_path / "home")])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    (tmp_path / "plan.txt").write_text("".join(LINES))
    bench = run_one("bench", "create", "Plan")[1].strip()
    run_one("bench", "add", "Plan", str(tmp_path / "plan.txt"))
    changed = ["".join(LINES[:4]), "line five\n", *LINES[5:14], "line fifteen\n", *LINES[15:]]
    agent_writes(tmp_path, bench, "plan.txt", "".join(changed))
    return run_one


@pytest.mark.rule("S4.2", "B24.1", "B24.6")
def test_a_comment_is_made_listed_answered_and_resolved_in_the_terminal(run):
    added = run("comment", "add", "Plan", "plan.txt", "Why\x1b[31m five?", "--at", "line 5")
    run("comment", "answer", "Plan", "1", "Because of the plan.")
    listed = run("comment", "list", "Plan")[1]

    assert added == (0, "comment 1 on plan.txt line 5\n")
    assert "1. plan.txt line 5" in listed
    assert "| line five" in listed
    assert "↳ Because of the plan." in listed
    assert "\x1b" not in listed
    assert run("comment", "resolve", "Plan", "1") == (0, "comment 1 is resolved\n")
    assert run("comment", "list", "Plan", "--open") == (0, "there are no comments\n")
    assert run("comment", "resolve", "Plan", "1", "--reopen")[1] == "comment 1 is open again\n"
    assert "1 open comment(s)" in run("review", "Plan")[1]
    assert run("comment", "withdraw", "Plan", "1")[0] == 0
    assert run("comment", "answer", "Plan", "1", "x")[0] == 1


@pytest.mark.rule("S4.2", "B25.1", "B25.2", "B25.5")
def test_changes_are_left_out_and_taken_again_in_the_terminal(run):
    listed = run("draft", "changes", "Plan", "plan.txt")[1]
    known = json.loads(run("draft", "changes", "Plan", "plan.txt", "--json")[1])["changes"]

    left = run("draft", "leave", "Plan", "plan.txt", known[0]["id"][:6])
    difference = run("review", "Plan", "plan.txt")[1]
    undone = run("draft", "undo", "Plan")

    assert "line 5 → line five" in listed
    assert (left[0], left[1].splitlines()[0]) == (0, "plan.txt: 1 of 2 change(s) are in")
    assert "line five" not in difference
    assert "+line fifteen" in difference
    assert undone[0] == 0
    assert "line five" in run("review", "Plan", "plan.txt")[1]
    assert run("draft", "leave", "Plan", "plan.txt", "2")[0] == 0
    assert "(1 change(s) left out)" in run("review", "Plan")[1]
    assert run("draft", "take", "Plan", "--group", "text")[0] == 0
    assert run("draft", "leave", "Plan")[0] == 2
    assert run("draft", "leave", "Plan", "plan.txt", "zzz")[0] == 1


@pytest.mark.rule("S4.19", "B25.2")
def test_a_short_figure_is_the_number_in_the_list_whatever_ids_begin_with_it(run):
    """Every change is named by its number where the ids of others begin with that very figure."""
    ids = ("17067b", "2e1369", "1ef6aa", "e74ea4")
    known = [
        ChangeInfo(id=one * 6, kind="cell", group="values", label=f"A{n}", is_left=False)
        for n, one in enumerate(ids, 1)
    ]

    assert [whole_id(known, str(n)) for n in range(1, 5)] == [one.id for one in known]
    assert whole_id(known, "17067b") == known[0].id
    assert whole_id(known, "e7") == known[3].id
    for said in ("17", "0", "5", "²", ""):  # a number that the list does not have names nothing
        with pytest.raises(NotFound):
            whole_id(known, said)
    refused = run("draft", "leave", "Plan", "plan.txt", "3")
    assert refused[0] == 1
    assert "the list has no change 3" in refused[1]
    assert "1 to 2" in refused[1]


@pytest.mark.rule("S4.2", "B25.1")
def test_a_change_without_words_for_its_sides_has_no_arrow():
    """Widths of columns are one change that no two values tell."""
    one = ChangeInfo(id="17067b" * 6, kind="part", group="looks", label="columns", is_left=False)

    assert change_lines([one]) == ["  1  17067b  in        columns"]
