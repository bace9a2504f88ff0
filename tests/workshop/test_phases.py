"""The table of phases."""

from __future__ import annotations

import pytest

from backshop.bench import TOOLS
from backshop.workshop.phases import PHASES, Mode, PhaseKey, phases_of, status_label

WRITES = {tool.name for tool in TOOLS if tool.effects != "read"}


@pytest.mark.rule("W7.1", "P7.3")
def test_research_has_13_tools_plan_2_and_implement_all_23():
    counts = {key.value: (len(one.tools), one.max_turns) for key, one in PHASES.items()}

    assert counts == {
        "research": (13, 30),
        "plan": (2, 10),
        "implement": (23, 30),
        "summary": (0, 1),
    }
    assert PHASES[PhaseKey.IMPLEMENT].tools == {one.name for one in TOOLS} | {"recall_tool_result"}


@pytest.mark.rule("W1.5", "W11.9")
def test_a_turn_that_only_asks_offers_no_tool_that_writes():
    assert phases_of(Mode.ASK) == (PhaseKey.RESEARCH, PhaseKey.SUMMARY)
    assert not any(PHASES[key].tools & WRITES for key in phases_of(Mode.ASK))
    assert phases_of(Mode.AGENT) == tuple(PHASES)


@pytest.mark.rule("W11.19")
def test_status_labels():
    assert status_label(PhaseKey.IMPLEMENT, number=2, total=5, item="Fill sheet") == (
        "Working on item 2 of 5: Fill sheet"
    )
    assert status_label(PhaseKey.RESEARCH) == "Analyzing files…"
