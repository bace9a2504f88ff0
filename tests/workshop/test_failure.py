"""Failures of the engine itself, as the person is told of them (M11.9)."""

from __future__ import annotations

import pytest

from backshop.base.errors import CODES, NotFound
from backshop.rails import RailsError
from backshop.rails.errors import RAILS_CODES
from backshop.workshop.turn.agent import failure

STATED = {
    "SESSION_LOCKED": "BENCH_BUSY",
    "TOKEN_SESSION_LOCKED": "BENCH_BUSY",
    "SESSION_NOT_HEALTHY": "STORAGE_CORRUPT",
    "STORE_UNAVAILABLE": "STORE_UNAVAILABLE",
}


@pytest.mark.rule("M11.9", "R7.3", "M11.3")
@pytest.mark.parametrize("code", RAILS_CODES)
def test_a_failure_of_rails_is_told_in_the_codes_of_a_turn(code):
    told = failure(RailsError(code, "x" * 900, "do this"))

    assert told.code == STATED.get(code, "INTERNAL_ERROR")
    assert told.actions == CODES[told.code].actions
    assert len(told.message) == 500


def test_any_other_failure_keeps_its_code():
    told = failure(NotFound("gone", reason="not_found"))

    assert (told.code, told.reason) == ("NOT_FOUND", "not_found")
