"""The table of phases."""

from __future__ import annotations

import pytest

from backshop.bench import TOOLS
from backshop.workshop.tool.phase import PHASES, PhaseKey


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
