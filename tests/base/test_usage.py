"""Sums of calls, and their words (M13.2, M13.6)."""

from __future__ import annotations

import pytest

from backshop.base.usage import TokenUsage, Used, together, used_line, with_call

TOLD = TokenUsage(input_tokens=7_100, cached_input_tokens=5_950, output_tokens=155)
GUESSED = TokenUsage(input_tokens=1_000, output_tokens=20, estimated=True)


@pytest.mark.rule("M13.6")
@pytest.mark.parametrize(
    ("calls", "line"),
    [
        ([], "0 calls · 0 tokens in · 0 out"),
        ([(GUESSED, None)], "1 call · 1,000 tokens in · 20 out · estimated"),
        ([(TOLD, 0.01)] * 2, "2 calls · 14,200 tokens in (11,900 cached) · 310 out · $0.02"),
        (
            [(TOLD, 0.004), (GUESSED, None)],
            "2 calls · 8,100 tokens in (5,950 cached) · 175 out · less than $0.01 for 1 of 2 calls"
            " · partly estimated",
        ),
        ([(TOLD, 1234.5)], "1 call · 7,100 tokens in (5,950 cached) · 155 out · $1,234.50"),
        ([(TOLD, 0.0)], "1 call · 7,100 tokens in (5,950 cached) · 155 out · $0.00"),
    ],
)
def test_a_sum_of_calls_in_words(calls, line):
    used = Used()
    for usage, usd in calls:
        used = with_call(used, usage, usd)

    assert used_line(used) == line


@pytest.mark.rule("M13.2")
def test_sums_are_added_up_with_what_is_known_of_their_price():
    priced, plain = with_call(Used(), TOLD, 0.5), with_call(Used(), GUESSED, None)

    both = together(priced, plain)

    assert both == with_call(priced, GUESSED, None)
    assert (both.calls, both.priced_calls, both.estimated_calls) == (2, 1, 1)
    assert together(plain, plain).usd_estimate is None
    assert together() == Used()
