"""A kill tells what brings it back: the scenario, the call or the moment, and its seed."""

from __future__ import annotations

import pytest
from tests.crash.conftest import pytest_runtest_call
from tests.crash.harness import Harness, Tally

APPEND = "tests.crash.scenarios:append"


def test_a_random_kill_tells_its_moment_and_seed(tmp_path):
    start = tmp_path / "start"
    start.mkdir()

    with Harness() as harness:
        kills = list(harness.random_kills(APPEND, start, count=2, within_ms=5, seed=9))
        again = list(harness.random_kills(APPEND, start, count=2, within_ms=5, seed=9))

    assert [one.how for one in kills] == [one.how for one in again]
    assert kills[1].how.startswith(f"{APPEND}, killed after ")
    assert kills[1].how.endswith("of 5.000 ms (moment 2 of seed 9)")


def test_a_failure_names_the_last_kill(monkeypatch):
    monkeypatch.setattr(Tally, "last", f"{APPEND}, signal=KILL:when=3")
    running = pytest_runtest_call()
    next(running)

    with pytest.raises(AssertionError) as caught:
        running.throw(AssertionError("lost"))  # type: ignore[attr-defined]

    assert caught.value.__notes__ == [f"last disturbed: {APPEND}, signal=KILL:when=3"]
