"""Calls cost the same early and late in a session, counted and not timed (T3.2, R7.23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from tests.effort import work
from tests.rails.workflows import flow, loop, step

LONG = flow(
    loop("pass", step("look"), step("note"), type="for", count=1000, maxIterations=1000),
    step("end"),
)
MAX_RATIO = 1.3
NOTE = "x" * 900  # a dozen of them fill a recap
EARLY = 30


@contextmanager
def statements(ann: Any) -> Iterator[Counter[str]]:
    """Count what the database is asked, by the statement's first word."""
    seen: Counter[str] = Counter()
    with ann.rails.sessions.store.database.reader() as cursor:
        driver = cursor.driver
    driver.set_trace_callback(lambda text: seen.update([text.split()[0]]))
    yield seen
    driver.set_trace_callback(None)


@pytest.mark.rule("T3.2", "R7.22", "R7.23", "R6.12")
def test_a_call_late_in_a_session_works_no_harder_than_an_early_one(agent, scaled):
    ann = agent(LONG)
    answer = first = ann.start("user.flow")
    seen: dict[int, dict[str, int]] = {}
    late = scaled(200, 1900)
    for number in range(late + 1):
        last = answer
        if number in (EARLY, late):
            seen[number] = {"advance": work(partial(ann.go, last, NOTE))}
        answer = ann.go(last, NOTE)
        if number in (EARLY, late):
            seen[number] |= {
                "replay": work(partial(ann.go, last, NOTE)),
                "fetch": work(partial(ann.look, answer)),
                "fetch of the first step": work(partial(ann.look, first)),
            }

    ratios = {name: seen[late][name] / seen[EARLY][name] for name in seen[EARLY]}
    assert {name: ratio for name, ratio in ratios.items() if ratio > MAX_RATIO} == {}


@pytest.mark.rule("R7.22", "T2.1")
def test_an_advance_is_one_read_and_one_append(agent):
    ann = agent(LONG)
    answer = ann.go(ann.start("user.flow"), NOTE)
    with statements(ann) as asked:
        ann.go(answer, NOTE)

    assert (asked["BEGIN"], asked["COMMIT"]) == (1, 1)
    assert asked["SELECT"] <= 6, "keys, the node, the new events, head and key under the lock"
