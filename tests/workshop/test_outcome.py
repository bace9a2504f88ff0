"""What phases leave behind, and answers that say what happened."""

from __future__ import annotations

import pytest

from backshop.workshop import outcome
from backshop.workshop.outcome import ItemOutcome, TurnOutcome


@pytest.mark.rule("W11.11")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Did it.", ItemOutcome("Did it.")),
        (
            'Looked.\n```json\n{"no_change": true, "reason": "all  there"}\n```\n',
            ItemOutcome("Looked.", "all there"),
        ),
        ('{"no_change": true, "reason": "same"}', ItemOutcome("same", "same")),
        ('{"no_change": true}', ItemOutcome("no reason was given", "no reason was given")),
        ('Fine\n```json\n{"no_change": "yes"}\n```', None),
        ('Fine\n```json\n{"no_change": tru\n```', None),
        ('```json\n{"no_change": true}\n```\nand more', None),
    ],
)
def test_an_item_says_that_nothing_had_to_change_only_in_the_agreed_form(text, expected):
    assert outcome.item_outcome(text) == (expected or ItemOutcome(text.strip()))


@pytest.mark.rule("W11.3")
def test_research_is_cut_visibly():
    found = outcome.research_text("ä" * 40_000)

    assert len(found.encode()) <= 48 * 1024
    assert "bytes left out" in found


@pytest.mark.rule("W11.17", "W23.44")
def test_an_answer_that_leaves_out_a_file_gets_the_list():
    changed = (("a.xlsx", "modified"), ("b/c.md", "added"))

    assert outcome.completed("I changed a.xlsx and b/c.md.", changed) == ""
    assert outcome.completed("I changed a.xlsx.", changed) == (
        "\n\nChanged files:\n- a.xlsx (modified)\n- b/c.md (added)"
    )
    assert outcome.completed("Nothing.", ()) == ""


@pytest.mark.rule("W11.17", "W23.43")
def test_the_engine_says_the_same_facts():
    text = outcome.engine_summary(
        TurnOutcome(
            changed=(("a.xlsx", "modified"),),
            done=2,
            total=4,
            failed=(("Fill", "no sheet"),),
            no_effect=("Check",),
            dropped_amendments=3,
            notes=("The plan was cut.",),
        )
    )

    assert "2 of 4 items" in text
    assert "- a.xlsx (modified)" in text
    assert "Item failed: Fill (no sheet)" in text
    assert "Item changed nothing: Check" in text
    assert "3 further items" in text
    assert "The plan was cut." in text
    assert "No file was changed." in outcome.engine_summary(TurnOutcome())
