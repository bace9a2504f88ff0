"""Login links and the logins they lead to: once, for a day, until they are ended (S7.2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backshop.app import Links
from backshop.app.people.login_link import COOKIE_DAYS, LINK_HOURS
from backshop.store import Store
from backshop.testing.ambient import FixedClock

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def links(tmp_path: Path, clock: FixedClock) -> Iterator[Links]:
    with Store.open(tmp_path / "home", clock=clock) as store:
        yield Links(store, "a secret", clock)


@pytest.mark.rule("S7.2")
def test_a_login_link_lets_one_in_within_its_day_and_nobody_after_it(links, clock):
    first, second = links.new(), links.new()

    clock.move(LINK_HOURS * HOUR_MS)
    assert links.spend(first)
    assert not links.spend(first)
    clock.move(1)
    assert not links.spend(second)
    assert not links.spend(links.new() + "0")


@pytest.mark.rule("S7.2")
def test_a_login_link_of_a_clock_far_ahead_lets_nobody_in(links, clock):
    clock.move(LINK_HOURS * HOUR_MS)
    near = links.new()
    clock.move(1)
    far = links.new()

    clock.move(-LINK_HOURS * HOUR_MS - 1)

    assert (links.spend(far), links.spend(near)) == (False, True)


@pytest.mark.rule("S7.2")
def test_a_login_that_ended_stays_over_for_as_long_as_its_cookie_lives(links, clock):
    links.end("hers")
    clock.move(COOKIE_DAYS * DAY_MS)
    links.end("his")

    assert [links.is_over(one, "", 0) for one in ("hers", "his", "theirs")] == [True, True, False]


@pytest.mark.rule("S7.2")
def test_ending_every_login_of_somebody_ends_nobody_elses(links):
    links.end_all("user_ada")

    assert links.is_over("hers", "user_ada", 0)
    assert not links.is_over("hers, made since", "user_ada", links.round_of("user_ada"))
    assert not links.is_over("his", "user_bob", 0)
    assert not links.is_over("the owner's", "", 0)
