"""The page about turns shows what really comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.flows.turns import play

from backshop.app import Backshop

PAGE = Path(__file__).parents[2] / "docs" / "explain" / "a-turn-step-by-step.md"


@pytest.mark.rule("W11.2", "W11.4", "W11.16", "W11.20")
def test_the_artefacts_of_the_page_are_those_of_the_turn(tmp_path):
    section = PAGE.read_text(encoding="utf-8").partition("## What a turn leaves behind")[2]
    shown = re.findall(r"^```\w+\n(.*?)\n```$", section, re.MULTILINE | re.DOTALL)[:7]
    with Backshop.open(tmp_path / "home") as shop:
        bench = shop.call("WorkbenchCreateSample", {})["workbench_id"]

        turn = play(shop, bench, shown[0])

    calls = "\n".join(f"{phase:<9}  {tool}" for phase, tool in turn.tools)
    assert turn.has_draft
    artefacts = [turn.research, turn.plan.rstrip(), calls, turn.reports[0], turn.answer]
    assert shown[1:] == [*artefacts, "\n".join(turn.facts)]
