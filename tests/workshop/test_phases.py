"""The table of phases."""

from __future__ import annotations

import pytest

from backshop.bench import TOOLS
from backshop.workshop.tool.phase import PHASES, PhaseKey


@pytest.mark.rule("W7.1", "P7.3")
def test_research_and_plan_have_some_tools_and_implement_has_all():
    counts = {key.value: (len(one.tools), one.max_turns) for key, one in PHASES.items()}

    assert counts == {
        "research": (14, 30),
        "plan": (2, 10),
        "implement": (24, 30),
        "summary": (0, 1),
    }
    assert PHASES[PhaseKey.IMPLEMENT].tools == {one.name for one in TOOLS} | {"recall_tool_result"}
