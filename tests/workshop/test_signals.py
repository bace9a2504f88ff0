"""Text on its way: in order, not too often, and never left lying."""

from __future__ import annotations

import pytest

from backshop.testing.ambient import FixedClock
from backshop.workshop.signals import DELTA_S, KEEP_S, AnswerStream


class Stream:
    """A stream whose timers go off when told."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.sent: list[str] = []
        self.kept: list[str] = []
        self.waiting: list[tuple[float, object]] = []
        self.stream = AnswerStream(
            send=lambda delta, seq: self.sent.insert(seq, delta),
            keep=self.kept.append,
            monotonic=self.clock.monotonic,
            later=lambda seconds, do: self.waiting.append((seconds, do)),
        )

    def ring(self) -> None:
        """Let the timer that waits go off in its time."""
        seconds, do = self.waiting.pop(0)
        self.clock.move(int(seconds * 1000) + 1)
        do()  # type: ignore[operator]


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
    sent = list(made.sent)
    made.ring()

    assert before == (["first "], ["first "])
    assert sent == ["first ", "last"]
    assert "".join(made.kept) == "first last"
    assert made.waiting == []


@pytest.mark.rule("W5.8")
def test_a_timer_that_comes_late_finds_nothing_to_do():
    made = Stream()
    made.stream.add("a")
    made.stream.add("b")
    made.stream.close()

    made.ring()

    assert made.sent == ["a", "b"]
    assert (DELTA_S, KEEP_S) == (0.05, 2.0)
