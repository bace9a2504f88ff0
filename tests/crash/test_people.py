"""Kill a person's calls anywhere: what they made is theirs, or was not made (T6.4)."""

from __future__ import annotations

import pytest
from tests.conftest import PROOF
from tests.crash import people_story

from backshop.app import Backshop
from backshop.app.people.people import Grant, Role

pytestmark = [pytest.mark.needs("strace"), pytest.mark.timeout(3600 if PROOF else 600)]


@pytest.mark.rule("T6.4", "T2.1")
def test_whatever_is_there_belongs_to_its_maker(harness, tmp_path, scaled):
    start = tmp_path / "start"
    start.mkdir()
    people_story.start(start)
    kills = harness.kills("tests.crash.people_story:make", start, sample=scaled(8, 10_000))
    for kill in kills:
        with Backshop.open(kill.folder / "home") as shop:
            streams = [one for kind in ("bench", "session") for one in shop.store.streams(kind)]
            names = {one.stream.partition(":")[2] for one in streams}
            grants = shop.people.state.grants

        assert {subject for subject, _ in grants} == names
        assert set(grants.values()) <= {Grant(Role.PUBLISH, True)}
        assert set(kill.said) <= names
