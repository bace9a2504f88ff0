"""The table of phases."""

from __future__ import annotations

import pytest

from backshop.bench import TOOLS
from backshop.workshop.tool.phase import PHASES, WRITING_TOOLS, PhaseKey


@pytest.mark.rule("W7.1", "P7.3")
def test_research_and_plan_have_some_tools_and_implement_has_all():
    counts = {key.value: (len(one.tools), one.max_turns) for key, one in PHASES.items()}

    assert counts == {
        "research": (14, 30),
        "plan": (2, 10),
        "implement": (26, 30),
        "summary": (0, 1),
    }
    assert PHASES[PhaseKey.IMPLEMENT].tools == {one.name for one in TOOLS} | {"recall_tool_result"}


@pytest.mark.rule("W7.12")
def test_tools_that_write_are_known_by_every_name_a_log_may_have():
    writing = [one for one in TOOLS if one.effects == "write"]

    assert {name for one in writing for name in (one.name, *one.aliases)} == WRITING_TOOLS
