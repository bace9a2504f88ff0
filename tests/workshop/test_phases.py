"""The table of phases."""

from __future__ import annotations

import pytest

from backshop.bench import TOOLS
from backshop.workshop.prompt.gathering import tools_of
from backshop.workshop.tool.phase import PHASES, WORK, PhaseKey


@pytest.mark.rule("W7.1", "P7.3")
def test_research_uses_13_tools_plan_2_and_implement_all_but_the_one_that_asks_for_a_plan():
    counts = {str(key): (len(one.tools), one.max_turns) for key, one in PHASES.items()}

    assert counts == {
        "work": (25, 30),
        "research": (13, 30),
        "plan": (2, 10),
        "implement": (24, 30),
        "summary": (0, 2),
    }
    own = {"recall_tool_result", "report_failure"}
    assert PHASES[PhaseKey.IMPLEMENT].tools == {one.name for one in TOOLS} | own
    assert PHASES[WORK].tools == {one.name for one in tools_of(WORK, "auto")}
    assert all(one.why for key, one in PHASES.items() if key != WORK)
