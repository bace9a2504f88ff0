"""Turns on other machines: handed over, taken over, stopped, refused (T6.1, T6.2, T8.20)."""

from __future__ import annotations

import random

import pytest
from tests.crash import workshop_story as story
from tests.team.conftest import until

pytestmark = [pytest.mark.needs("postgres", "s3"), pytest.mark.timeout(900)]
ENDS_S = 240


@pytest.mark.rule("T6.1", "T6.2")
def test_a_turn_is_walked_by_a_worker_and_read_by_every_server(team):
    bench, message = team.bench()
    team.worker().wait_ready()

    done = team.begin(bench, message).result(ENDS_S)

    assert done["status"] == "complete"
    team.check_done(bench)
    with team.server() as other:  # a machine that has never seen this workbench
        assert team.files(bench, other) == story.DONE
        other.call("DraftPublish", {"workbench_id": bench})
        listed = other.call("WorkbenchFilesList", {"workbench_id": bench})["files"]
    assert sorted(one["path"] for one in listed) == ["new.txt", "table.txt"]
    seen = team.shop.call("WorkbenchFilesList", {"workbench_id": bench})["files"]
    assert seen == listed


def kill_at(team, calls: int) -> None:
    """Kill the worker that walks when it has made so many tool calls; another one goes on."""
    bench, message = team.bench()
    first = team.worker().wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= calls, f"tool call {calls}")
    first.kill()
    second = team.worker().wait_ready()

    assert running.result(ENDS_S)["status"] == "complete"
    team.check_done(bench)
    assert second.stop() == 0


@pytest.mark.rule("T6.2", "T8.20", "T8.4")
def test_a_killed_workers_turn_goes_on_elsewhere(team, scaled):
    for calls in random.Random(3).choices(range(1, 6), k=scaled(2, 12)):
        kill_at(team, calls)
