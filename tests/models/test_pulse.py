"""A call that is waited for: told every few seconds, and given up in time."""

from __future__ import annotations

import threading

import pytest

from backshop.base.errors import ErrorInfo, Retry, RetryKind
from backshop.models.egress.retry import Schedule
from backshop.models.loop.pulse import Pulse
from backshop.models.messages import ReasoningProgress, Started, TextDelta


@pytest.mark.rule("M8.10")
def test_a_pulse_tells_what_a_call_does_until_it_ends():
    told: list[tuple[str, float]] = []
    beats = threading.Semaphore(0)

    def tell(state: str, waited_s: float) -> None:
        told.append((state, waited_s))
        beats.release()

    with Pulse(tell, first_s=0.001, every_s=0.001) as pulse:
        for event in (Started(), ReasoningProgress(3), TextDelta("Hi")):
            pulse.saw(event)
            for _ in range(2):  # one beat may have been under way
                assert beats.acquire(timeout=10)

    states = [state for state, _ in told]
    assert sorted(set(states), key=states.index) == ["waiting", "thinking", "answering"]
    assert [waited for _, waited in told] == sorted(waited for _, waited in told)


@pytest.mark.rule("M10.1")
def test_a_provider_that_says_nothing_is_asked_twice_and_not_more():
    def failed(reason: str) -> ErrorInfo:
        return ErrorInfo(
            error_code="PROVIDER_UNAVAILABLE",
            message="nothing came",
            phase="workshop",
            reason=reason,
            retryable=True,
            retry=Retry(RetryKind.LATER),
        )

    silent, broken = Schedule(), Schedule()

    assert [silent.after(failed("timeout")) is not None for _ in range(3)] == [True, False, False]
    assert [broken.after(failed("stream_interrupted")) is not None for _ in range(4)] == [
        *(True, True, True),
        False,
    ]
