"""The table of phases."""

from __future__ import annotations

import pytest

from backshop.bench import TOOLS
from backshop.workshop.prompt.gathering import tools_of
from backshop.workshop.tool.phase import PHASES, WORK, WRITING_TOOLS, PhaseKey


@pytest.mark.rule("W7.1", "P7.3")
def test_research_uses_14_tools_plan_3_and_implement_all_but_the_one_that_asks_for_a_plan():
    counts = {str(key): (len(one.tools), one.max_turns) for key, one in PHASES.items()}

    assert counts == {
        "work": (26, 30),
        "research": (14, 30),
        "plan": (3, 10),
        "implement": (25, 30),
        "summary": (0, 2),
    }
    own = {"recall_tool_result", "report_failure"}
    assert PHASES[PhaseKey.IMPLEMENT].tools == {one.name for one in TOOLS} | own
    assert PHASES[WORK].tools == {one.name for one in tools_of(WORK, "auto")}
    assert all(one.why for key, one in PHASES.items() if key != WORK)


@pytest.mark.rule("W7.12")
def test_tools_that_write_are_known_by_every_name_a_log_may_have():
    writing = [one for one in TOOLS if one.effects == "write"]

    assert {name for one in writing for name in (one.name, *one.aliases)} == WRITING_TOOLS
