"""What phases leave behind, and how an item says how it came out."""

from __future__ import annotations

import pytest

from backshop.workshop.turn import outcome
from backshop.workshop.turn.outcome import ItemOutcome


@pytest.mark.rule("W11.11", "W11.21")
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
        (
            'Tried.\n```json\n{"status": "failed", "reason": "no such sheet"}\n```',
            ItemOutcome("Tried.", status="failed", reason="no such sheet"),
        ),
        (
            '{"status": "Unfinished", "reason": "half"}',
            ItemOutcome("half", status="unfinished", reason="half"),
        ),
        ('Did it.\n```json\n{"status": "done"}\n```', None),
        ('Did it.\n```json\n{"status": ["failed"]}\n```', None),
        ('Fine\n```json\n{"no_change": "yes"}\n```', None),
        ('Fine\n```json\n{"no_change": tru\n```', None),
        ('```json\n{"no_change": true}\n```\nand more', None),
    ],
)
def test_an_item_says_how_it_came_out_only_in_the_agreed_form(text, expected):
    assert outcome.item_outcome(text) == (expected or ItemOutcome(text.strip()))


@pytest.mark.rule("W11.3")
def test_research_is_cut_visibly():
    found = outcome.research_text("ä" * 40_000)

    assert len(found.encode()) <= 48 * 1024
    assert "bytes left out" in found
