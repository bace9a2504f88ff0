"""Text on its way: in order, not too often, and never left lying."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.testing.ambient import FixedClock
from backshop.workshop.signals import DELTA_S, KEEP_S, AnswerStream


class Stream:
    """A stream whose timers go off when told."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.sent: list[str] = []
        self.kept: list[str] = []
        self.waiting: list[tuple[float, Callable[[], None]]] = []
        self.stream = AnswerStream(
            send=lambda delta, seq: self.sent.insert(seq, delta),
            keep=self.kept.append,
            monotonic=self.clock.monotonic,
            later=self.later,
        )

    def later(self, seconds: float, do: Callable[[], None]) -> None:
        self.waiting.append((self.clock.monotonic() + seconds, do))

    def ring(self) -> None:
        """Let the timer that is due first go off in its time."""
        self.waiting.sort(key=lambda one: one[0])
        due, do = self.waiting.pop(0)
        self.clock.move(math.ceil(max(0, due - self.clock.monotonic()) * 1000) + 1)
        do()


@pytest.mark.rule("W5.8", "W23.83")
def test_many_small_pieces_are_few_deltas():
    made = Stream()

    for _ in range(10_000):
        made.stream.add("x")
    made.stream.close()

    assert len(made.sent) == 2
    assert "".join(made.sent) == made.stream.text == "x" * 10_000


@pytest.mark.rule("W5.8", "W5.9")
def test_what_came_last_is_sent_and_kept_although_nothing_more_comes():
    made = Stream()
    made.stream.add("first ")
    made.stream.add("last")
    before = (list(made.sent), list(made.kept))

    made.ring()
    sent = (list(made.sent), list(made.kept))
    while made.waiting:
        made.ring()

    assert before == (["first "], [])  # a short answer is kept once, by its final record
    assert sent == (["first ", "last"], [])
    assert made.kept == ["first last"]


@pytest.mark.rule("W5.9", "W5.12")
def test_a_timer_that_rings_after_the_end_of_an_answer_keeps_nothing_more():
    made = Stream()
    made.stream.add("first ")
    made.stream.add("last")
    made.stream.close()
    kept = list(made.kept)

    made.clock.move(round(KEEP_S * 1000))
    while made.waiting:
        made.ring()

    assert made.kept == kept  # the final record has it


@pytest.mark.rule("W5.9", "W23.46")
@given(st.lists(st.integers(0, 2_500), min_size=1, max_size=30))
def test_no_text_waits_longer_than_two_seconds_to_be_kept(gaps_ms):
    made = Stream()
    came: list[float] = []

    def look():
        kept = len("".join(made.kept))
        assert all(made.clock.monotonic() - at <= KEEP_S + 0.005 for at in came[kept:])

    for gap_ms in [*gaps_ms, 3_000]:
        end = made.clock.monotonic() + gap_ms / 1000
        while made.waiting and min(due for due, _ in made.waiting) < end:
            made.ring()
            look()
        made.clock.move(max(0, round((end - made.clock.monotonic()) * 1000)))
        look()
        came.append(made.clock.monotonic())
        made.stream.add("x")


@pytest.mark.rule("W5.8")
def test_a_timer_that_comes_late_finds_nothing_to_do():
    made = Stream()
    made.stream.add("a")
    made.stream.add("b")
    made.stream.close()

    made.ring()

    assert made.sent == ["a", "b"]
    assert (DELTA_S, KEEP_S) == (0.05, 2.0)
