"""All published workflow files are walked to their end by an agent that knows none of them."""

from __future__ import annotations

import pytest

from backshop.testing.agent import Agent, rails_of
from backshop.testing.walker import walk

MODES = ("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop")
FILES = 48


@pytest.mark.needs("corpora")
@pytest.mark.rule("R1.39", "C1", "C96", "R8.7")
def test_every_corpus_file_is_walked_to_completion_in_every_mode(tmp_path, corpora, scaled):
    agent = Agent(rails_of(tmp_path, bundled_dirs=(corpora / "workflows",)))
    listed = agent.call("list_workflows", {"limit": 200})
    ids = [one["workflowId"] for one in listed["workflows"]]
    stuck = []
    for mode in MODES:
        for workflow_id in ids[:: scaled(2, 1)]:
            found = walk(agent.call, workflow_id, autonomy=mode)
            if not found.is_complete or (mode == MODES[2] and found.blocked):
                stuck.append((mode, workflow_id, found.last))

    assert listed["invalid"] == []
    assert len(ids) >= FILES
    assert stuck == []


@pytest.mark.needs("corpora")
@pytest.mark.rule("R8.16", "R8.21")
def test_what_blocks_in_guided_mode_is_a_gap_in_never_stop(tmp_path, corpora):
    agent = Agent(rails_of(tmp_path, bundled_dirs=(corpora / "workflows",)))

    guided = walk(agent.call, "wr.mr-review")
    nonstop = walk(agent.call, "wr.mr-review", autonomy=MODES[2])

    assert "USER_ONLY_DEPENDENCY" in guided.blocked
    assert nonstop.blocked == []
    assert [gap["reason"]["category"] for gap in nonstop.gaps] == ["user_only_dependency"]
