"""Uploads that come in several requests: whose they are, how much, how long, and kept (T6.1)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from backshop.app.operation.upload import PARCEL_MS, PARCELS_MAX, Parcels
from backshop.base.errors import AccessDenied, LimitExceeded
from backshop.base.ids import UserId
from backshop.bench import requests
from backshop.store import Store
from backshop.testing.ambient import FixedClock

ADA, BOB = UserId("user_ada"), UserId("user_bob")
OURS, OTHER = "wb_ours", "wb_other"
LATER_MS = 32_503_680_000_000  # files get their times from the machine: all of them are old
LIMITS = requests.LimitValues(max_files=10, max_file_bytes=100, max_total_bytes=200, max_depth=10)


class Desk:
    """A store with uploads, and what was asked about the room for them."""

    def __init__(self, home: Path) -> None:
        self.clock = FixedClock(LATER_MS)
        self.store = Store.open(home, clock=self.clock)
        self.asked: list[tuple[str, int]] = []
        self.parcels = Parcels(
            self.store, self.clock, lambda bench, more: self.asked.append((bench, more))
        )

    def send(
        self, key: str, *files: tuple[str, bytes], user: UserId | None = ADA, bench: str = OURS
    ) -> None:
        given = [(io.BytesIO(content), name) for name, content in files]
        self.parcels.keep(key, bench, user, given, LIMITS)

    def kept(self, key: str) -> list[tuple[str, bytes]]:
        return [(name, source.read()) for source, name in self.parcels.kept(key)]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home")
    with made.store:
        yield made


@pytest.mark.rule("T6.1", "T6.4")
def test_an_upload_goes_on_for_who_began_it_and_into_its_bench_alone(desk):
    desk.send("k", ("a.txt", b"a"))

    for user, bench in ((BOB, OURS), (None, OURS), (ADA, OTHER)):
        with pytest.raises(AccessDenied):
            desk.send("k", ("b.txt", b"b"), user=user, bench=bench)
    desk.send("k", ("c.txt", b"c"))

    assert desk.kept("k") == [("a.txt", b"a"), ("c.txt", b"c")]


@pytest.mark.rule("T6.1", "T4.5")
def test_what_came_of_an_upload_is_no_garbage_until_it_is_dropped(desk):
    desk.send("k", ("a.txt", b"a"), ("b.txt", b"b"))

    assert desk.store.collect(apply=True, grace_hours=-1).blobs == 0
    assert desk.kept("k") == [("a.txt", b"a"), ("b.txt", b"b")]

    desk.parcels.drop("k")
    assert desk.store.collect(apply=True, grace_hours=-1).blobs == 2


@pytest.mark.rule("T6.1", "T6.5")
def test_a_piece_of_an_upload_that_is_sent_again_counts_once(desk):
    desk.send("k", ("a.txt", b"a" * 80))
    desk.send("k", ("b.txt", b"b" * 80))
    desk.send("k", ("a.txt", b"a" * 80))

    assert [name for name, _ in desk.kept("k")] == ["a.txt", "b.txt"]
    assert desk.asked == [(OURS, 80), (OURS, 160)]


@pytest.mark.rule("T6.1", "B6.9")
def test_an_upload_of_more_than_its_bench_holds_is_refused_and_leaves_no_content(desk):
    desk.send("k", ("a.txt", b"a" * 100))
    desk.send("k", ("b.txt", b"b" * 100))

    with pytest.raises(LimitExceeded) as refused:
        desk.send("k", ("c.txt", b"c"))

    assert refused.value.reason == "too_large"
    assert [name for name, _ in desk.kept("k")] == ["a.txt", "b.txt"]
    assert len(list(desk.store.blobs.names())) == 2


@pytest.mark.rule("T6.1", "T6.5")
def test_the_uploads_somebody_has_begun_count_for_nobody_else(desk):
    for number in range(PARCELS_MAX):
        desk.send(f"k{number}", ("a.txt", b"a"))

    with pytest.raises(LimitExceeded) as refused:
        desk.send("one more", ("a.txt", b"a"))
    desk.send("k0", ("b.txt", b"b"))
    desk.send("his", ("a.txt", b"a"), user=BOB)

    assert refused.value.reason == "too_many"
    assert desk.asked[-2:] == [(OURS, PARCELS_MAX + 1), (OURS, 1)]


@pytest.mark.rule("T6.1")
def test_an_upload_is_thrown_away_when_nobody_goes_on_with_it(desk):
    desk.send("left", ("a.txt", b"a"))
    desk.send("going on", ("a.txt", b"a"))
    desk.clock.move(PARCEL_MS)
    desk.send("going on", ("b.txt", b"b"))
    desk.clock.move(1)

    desk.send("new", ("a.txt", b"a"))

    assert desk.kept("left") == []
    assert [name for name, _ in desk.kept("going on")] == ["a.txt", "b.txt"]
