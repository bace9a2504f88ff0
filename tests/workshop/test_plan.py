"""A plan is taken in leniently and kept canonically; amendments only add."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.limits import PLAN_ITEMS_MAX, PLAN_MAX_BYTES
from backshop.workshop.turn import plan as plans
from backshop.workshop.turn.plan import Mark, Status

PLAN = """<!-- original_count: 3 -->
# Execution Plan

## Task
Tidy the budget.

## Items
- [ ] 1. Read rates — From rates.csv
- [ ] 2. Fill sheet — Column C
- [ ] 3. Write note

## Notes
- keep names
"""


def taken(text: str) -> plans.Plan:
    found = plans.intake(text)
    assert found.plan is not None
    assert found.problem is None
    return found.plan


@pytest.mark.rule("W11.4", "W11.5")
def test_a_canonical_plan_stays_as_it_is():
    plan = taken(PLAN)

    assert plan.text == PLAN.rstrip("\n")
    assert [item.label for item in plan.items] == ["Read rates", "Fill sheet", "Write note"]
    assert [item.description for item in plan.items] == ["From rates.csv", "Column C", ""]
    assert plan.original_count == 3


@pytest.mark.rule("W11.5", "W23.35", "W23.36")
def test_items_in_every_spelling_are_items():
    plan = taken(
        "```markdown\n# My plan\n\n"
        "        * [ ] 1) Indented and starred\n"
        "+ [X] Unnumbered, ticked\n"
        "\t- [!] 7. Tabbed — with a reason [Failed: earlier]\n"
        "- [x]12. Tight\nWords between\n```\n"
    )

    assert plan.text == (
        "<!-- original_count: 4 -->\n# My plan\n\n"
        "- [ ] 1. Indented and starred\n"
        "- [ ] 2. Unnumbered, ticked\n"
        "- [ ] 3. Tabbed — with a reason\n"
        "- [ ] 4. Tight\nWords between"
    )


@pytest.mark.rule("W11.5")
@pytest.mark.parametrize(
    ("line", "label", "description"),
    [
        ("- [ ] **Fill the sheet** — column C", "Fill the sheet", "column C"),
        ("- [ ] 1. **Fill the sheet**: column C", "Fill the sheet", "column C"),
        ("- [ ] **1. Fill the sheet**", "Fill the sheet", ""),
        ("- [ ] __Fill the sheet__ - column C", "Fill the sheet", "column C"),
        ("- [ ] **Fill the sheet:** column C", "Fill the sheet", "column C"),
        ("- [ ] **Fill** the **sheet**", "**Fill** the **sheet**", ""),
        ("- [ ] **Fill** the sheet — column C", "**Fill** the sheet", "column C"),
        ("- [ ] 2 * 3 ** 4", "2 * 3 ** 4", ""),
    ],
)
def test_an_emphasised_label_is_the_words_in_it(line, label, description):
    plan = taken(f"## Items\n{line}\n")

    assert (plan.items[0].label, plan.items[0].description) == (label, description)
    assert plans.read(plan.text)[0].items == plan.items


def test_lines_that_only_look_like_items_are_text():
    found = plans.intake("# Plan\n- not a box\n- [ ] 1.\n- [ ]\n- [ ] —\n         - [ ] too deep\n")

    assert found.plan is None
    assert found.problem is not None


@pytest.mark.rule("W11.7")
@pytest.mark.parametrize(
    "text",
    [
        "Items: none",
        "# Plan\n\n## Items\nnone\n",
        "## Items\n\n- None.\n\n## Notes\n- said",
        "**Items:** none",
        "```\n## Items\n_none_\n```",
    ],
)
def test_a_plan_that_says_none_is_answered_from_research(text):
    assert plans.intake(text) == plans.Intake(answer_only=True)


@pytest.mark.rule("W11.7")
@pytest.mark.parametrize("text", ["", "I will do it.", "## Items\nfirst do this", "none of this"])
def test_a_plan_without_items_asks_for_the_form(text):
    found = plans.intake(text)

    assert (found.plan, found.answer_only) == (None, False)
    assert "- [ ] 1. Label" in (found.problem or "")


@pytest.mark.rule("W11.8")
def test_of_too_many_items_the_first_can_be_used():
    found = plans.intake("\n".join(f"- [ ] Step {n}" for n in range(150)))

    assert found.problem is not None
    assert found.plan is not None
    assert (len(found.plan.items), found.left_out) == (PLAN_ITEMS_MAX, 50)
    assert found.plan.original_count == PLAN_ITEMS_MAX


@pytest.mark.rule("W11.8")
def test_of_a_plan_that_is_too_long_the_items_that_fit_can_be_used():
    long = "x" * 3000
    found = plans.intake("\n".join(f"- [ ] Step {n} — {long}" for n in range(90)))

    assert found.plan is not None
    assert len(found.plan.text.encode()) <= PLAN_MAX_BYTES
    assert 30 <= len(found.plan.items) < 90
    assert found.left_out == 90 - len(found.plan.items)


def test_a_label_that_is_too_long_loses_nothing():
    (item,) = taken(f"- [ ] {'word ' * 60}— why").items

    assert len(item.label) <= 200
    assert f"{item.label} {item.description}".split() == [*["word"] * 60, "—", "why"]


@pytest.mark.rule("W11.4", "W11.6")
def test_marks_are_drawn_in_and_read_back():
    plan = taken(PLAN)
    marks = {1: Mark(Status.DONE), 2: Mark(Status.FAILED, "no [Failed: x] sheet\nthere")}

    text = plans.render(plan, marks)

    assert "- [x] 1. Read rates — From rates.csv\n" in text
    assert "- [!] 2. Fill sheet — Column C [Failed: no (Failed: x] sheet there]\n" in text
    assert "- [ ] 3. Write note\n" in text
    again, read = plans.read(text)
    assert again == plan
    assert read[2] == Mark(Status.FAILED, "no (Failed: x] sheet there")


@pytest.mark.rule("W11.6", "W23.40")
def test_an_imported_plan_counts_positions():
    plan, marks = plans.read("- [x] 4. A\n- [ ] 4. B\n<!-- original_count: soon -->\n- [!] 99. C")

    assert [(item.number, item.label) for item in plan.items] == [(1, "A"), (2, "B"), (3, "C")]
    assert plan.original_count == 3
    assert [mark.status.value for mark in marks.values()] == ["x", " ", "!"]


@pytest.mark.rule("W11.15", "W11.16")
def test_amendments_add_what_is_new_up_to_twice_the_plan():
    plan = taken(PLAN)
    report = "Done so far.\n- [ ] fill   SHEET — again\n- [x] 1. Read rates\n" + "\n".join(
        f"- [ ] New {n}" for n in range(10)
    )

    found = plans.amend(plan, report)

    assert [item.label for item in found.added] == ["New 0", "New 1", "New 2"]
    assert [item.number for item in found.added] == [4, 5, 6]
    assert found.dropped == 7
    assert found.report == "Done so far.\n- [x] 1. Read rates"
    assert found.plan.items[:3] == plan.items
    assert found.plan.text.index("- [ ] 6. New 2") < found.plan.text.index("## Notes")
    assert plans.read(found.plan.text)[0] == found.plan


@pytest.mark.rule("W11.15")
def test_amendments_leave_a_plan_within_twice_its_bytes():
    plan = taken("\n".join(f"- [ ] Old {n}" for n in range(40)))

    found = plans.amend(plan, "\n".join(f"- [ ] New {n} — {'€' * 600}" for n in range(40)))

    assert len(found.added) + found.dropped == 40
    size = len(found.plan.text.encode())
    assert 2 * PLAN_MAX_BYTES - 2_000 < size <= 2 * PLAN_MAX_BYTES


def test_a_report_is_cut_between_characters():
    found = plans.amend(taken(PLAN), "é" * 5000)

    assert len(found.report.encode()) <= 4096
    assert "left out" in found.report


LINES = st.lists(
    st.one_of(
        st.text(st.characters(codec="utf-8"), max_size=40),
        st.builds(
            lambda pad, bullet, box, number, text: f"{' ' * pad}{bullet} [{box}] {number}{text}",
            st.integers(0, 10),
            st.sampled_from("-*+"),
            st.sampled_from(" xX!"),
            st.sampled_from(["", "1. ", "3) ", "007. "]),
            st.text(st.sampled_from("ab —[]:Failed.12"), max_size=30),
        ),
        st.sampled_from(["# Plan", "## Items", "```", "<!-- original_count: 9 -->", "none"]),
    ),
    max_size=12,
)


@given(lines=LINES)
def test_taking_in_a_canonical_plan_again_changes_nothing(lines):
    found = plans.intake("\n".join(lines))

    if found.plan is not None and found.problem is None:
        plan = found.plan
        assert plans.intake(plan.text).plan == plan
        assert [item.number for item in plan.items] == [*range(1, len(plan.items) + 1)]
        assert plan.original_count == len(plan.items)


@given(lines=LINES, marks=st.lists(st.sampled_from(Status), max_size=12), reason=st.text())
def test_marks_survive_being_written(lines, marks, reason):
    plan = plans.intake("\n".join(lines)).plan
    if plan is None:
        return
    one = plans.one_line(reason)
    statuses = {
        item.number: Mark(mark, one if mark is Status.FAILED else "")
        for item, mark in zip(plan.items, marks, strict=False)
    }

    again, read = plans.read(plans.render(plan, statuses))

    assert again == plan
    assert {n: read[n].status for n in statuses} == {n: m.status for n, m in statuses.items()}


@given(lines=LINES, report=LINES)
def test_amending_changes_nothing_that_is_there(lines, report):
    plan = plans.intake("\n".join(lines)).plan
    if plan is None:
        return

    found = plans.amend(plan, "\n".join(report))

    assert found.plan.items[: len(plan.items)] == plan.items
    assert len(found.plan.items) <= max(len(plan.items), 2 * plan.original_count)
    assert plans.read(found.plan.text)[0] == found.plan
