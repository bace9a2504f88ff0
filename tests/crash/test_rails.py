"""Kill rails at every system call: no acknowledged step is lost or done twice (C38, C39)."""

from __future__ import annotations

import pytest
from tests.crash import rails_story
from tests.crash.harness import Harness

from backshop.testing.agent import Agent, rails_of

pytestmark = [pytest.mark.needs("strace"), pytest.mark.timeout(600)]
STORY = "tests.crash.rails_story"
ANSWERS = 6


@pytest.fixture(scope="module")
def harness():
    with Harness() as running:
        yield running


@pytest.fixture
def start(tmp_path):
    folder = tmp_path / "start"
    folder.mkdir()
    rails_story.start(folder)
    return folder


@pytest.mark.rule("C38", "C39", "R6.12", "R4.6")
def test_killed_anywhere_in_a_run(harness, start, scaled):
    for kill in harness.kills(f"{STORY}:run", start, sample=scaled(15, 10_000)):
        again: list[str] = []
        rails_story.run(kill.folder, again.append)
        agent = rails_story.agent_of(kill.folder)
        sessions = agent.rails.sessions
        story = next(one for one in sessions.ids() if len(sessions.state(one).nodes) != 2)
        state = sessions.state(story)

        assert again[: len(kill.said)] == kill.said
        assert len(again) == ANSWERS
        assert len(state.nodes) == ANSWERS
        assert len(state.attempts) == ANSWERS - 1
        assert all(sessions.store.health(f"session:{one}").is_healthy for one in sessions.ids())
        sessions.store.close()


@pytest.mark.rule("R9.3")
def test_killed_anywhere_in_an_import(harness, start, scaled):
    for kill in harness.kills(f"{STORY}:take", start, sample=scaled(8, 10_000)):
        agent = Agent(rails_of(kill.folder / "other"))
        ids = agent.rails.sessions.ids()
        agent.rails.sessions.store.close()

        assert ids[: len(kill.said)] == kill.said
        again: list[str] = []
        rails_story.take(kill.folder, again.append)
        assert len(again) == 1
