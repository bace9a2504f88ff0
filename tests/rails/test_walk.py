"""All published workflow files are walked to their end by an agent that knows none of them."""

from __future__ import annotations

import pytest
from tests.rails.agent import Agent, rails_of
from tests.rails.walker import walk

from backshop.rails import Settings

PRESETS = ("guided", "full_auto", "full_auto_nonstop")
FILES = 48


def agent_of(home, corpora, preset="guided"):
    settings = Settings(preset=preset)
    return Agent(rails_of(home, bundled_dirs=(corpora / "workflows",), settings=settings))


@pytest.mark.needs("corpora")
@pytest.mark.rule("R1.39", "C1", "C96", "R8.7")
def test_every_corpus_file_is_walked_to_completion_in_every_mode(tmp_path, corpora, scaled):
    agent = agent_of(tmp_path, corpora)
    listed = agent.call("list_workflows", {"limit": 200})
    ids = [one["workflowId"] for one in listed["workflows"]]
    stuck = []
    for preset in PRESETS:
        agent.rails.settings = Settings(preset=preset)
        for workflow_id in ids[:: scaled(2, 1)]:
            found = walk(agent.call, workflow_id, ask=agent.approve)
            if not found.is_complete or (preset == PRESETS[2] and found.blocked):
                stuck.append((preset, workflow_id, found.last))

    assert listed["invalid"] == []
    assert len(ids) >= FILES
    assert stuck == []


@pytest.mark.needs("corpora")
@pytest.mark.rule("R8.16", "R8.21")
def test_what_blocks_in_guided_mode_is_a_gap_in_never_stop(tmp_path, corpora):
    agent, other = agent_of(tmp_path, corpora), agent_of(tmp_path, corpora, PRESETS[2])

    guided = walk(agent.call, "wr.mr-review", ask=agent.approve)
    nonstop = walk(other.call, "wr.mr-review")

    assert "USER_ONLY_DEPENDENCY" in guided.blocked
    assert nonstop.blocked == []
    assert [gap["reason"]["category"] for gap in nonstop.gaps] == ["user_only_dependency"]
