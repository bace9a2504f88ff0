"""Kill rails at every system call: no acknowledged step is lost or done twice (C38, C39)."""

from __future__ import annotations

import pytest
from tests.conftest import PROOF
from tests.crash import rails_story
from tests.crash.harness import CALLS, Outcome
from tests.postgres import fresh_database, twin
from tests.rails.agent import Agent, rails_of

pytestmark = [pytest.mark.needs("strace"), pytest.mark.timeout(3600 if PROOF else 600)]
STORY = "tests.crash.rails_story"
ANSWERS = 6
TALK = f"{CALLS},sendto"  # what a client of a server writes goes out through a socket


@pytest.fixture
def start(tmp_path):
    folder = tmp_path / "start"
    folder.mkdir()
    rails_story.start(folder)
    return folder


def check_run(kill: Outcome) -> None:
    """Tell the story again: what had been said is said again, and nothing stands twice."""
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


def check_import(kill: Outcome) -> None:
    """The session is there as a whole or not at all, and can be taken in again."""
    url = rails_story.url_of(kill.folder, "other")
    agent = Agent(rails_of(kill.folder / "other", database_url=url))
    sessions = agent.rails.sessions
    ids = sessions.ids()

    assert ids[: len(kill.said)] == kill.said
    assert all(sessions.store.health(f"session:{one}").is_healthy for one in ids)
    sessions.store.close()
    again: list[str] = []
    rails_story.take(kill.folder, again.append)
    assert len(again) == 1


@pytest.mark.rule("C38", "C39", "R6.12", "R4.6")
def test_killed_anywhere_in_a_run(harness, start, scaled):
    for kill in harness.kills(f"{STORY}:run", start, sample=scaled(6, 10_000)):
        check_run(kill)


@pytest.mark.rule("R9.3")
def test_killed_anywhere_in_an_import(harness, start, scaled):
    for kill in harness.kills(f"{STORY}:take", start, sample=scaled(4, 10_000)):
        check_import(kill)


@pytest.mark.needs("postgres")
@pytest.mark.rule("C94", "C38", "C39", "R9.3", "T8.17")
@pytest.mark.parametrize(
    ("story", "home", "check", "sample"),
    [("run", "home", check_run, 2), ("take", "other", check_import, 2)],
)
def test_a_client_of_a_server_killed_anywhere(
    harness, tmp_path, scaled, story, home, check, sample
):
    start, name = tmp_path / "start", f"{STORY}:{story}"
    start.mkdir()
    with fresh_database() as url:
        (start / f"{home}-url").write_text(url, encoding="utf-8")
        rails_story.start(start)
        with twin(start, tmp_path / "counted") as folder:
            total = harness.count(name, folder, TALK)
        for point in range(1, total + 1, max(1, total // scaled(sample, total))):
            with twin(start, tmp_path / f"killed-{point}") as folder:
                check(harness.run(name, folder, f"signal=KILL:when={point}", TALK))
