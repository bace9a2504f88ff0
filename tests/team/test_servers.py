"""Two web servers of one team: what one begins, the other goes on with (T6.1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from tests.postgres import fresh_database
from tests.web.browsing import Served, serving

from backshop.app.parcels import PARCEL_MS, PARCELS_MAX
from backshop.testing.ambient import FixedClock


class Pair:
    """Two servers with homes of their own on one database and one store of contents."""

    def __init__(self, first: Served, second: Served, clock: FixedClock) -> None:
        self.servers = (first, second)
        self.clock = clock
        self.bench = first.bench()

    def send(self, at: int, step: str, files: dict[str, bytes], **words: str) -> Any:
        server = self.servers[at]
        bench = words.pop("bench", self.bench)
        given = [("files", (name, content)) for name, content in files.items()]
        data = {"upload": "folder", "step": step, "paths": list(files), **words}
        with server.client() as client:
            return client.post(f"/bench/{bench}/files", files=given, data=data).json()

    def listed(self) -> set[str]:
        assert self.servers[0].paths(self.bench) == self.servers[1].paths(self.bench)
        return self.servers[0].paths(self.bench)

    def waiting(self) -> int:
        return len(self.servers[0].shop.store.streams("upload"))


@pytest.fixture
def pair(tmp_path, monkeypatch) -> Iterator[Pair]:
    clock = FixedClock()
    with ExitStack() as stack:
        monkeypatch.setenv("BACKSHOP_DATABASE_URL", stack.enter_context(fresh_database()))
        monkeypatch.setenv("BACKSHOP_BLOBS_URL", f"file://{tmp_path}/contents")
        homes = (tmp_path / "first", tmp_path / "second")
        first, second = (stack.enter_context(serving(home, clock=clock)) for home in homes)
        yield Pair(first, second, clock)


@pytest.mark.rule("T6.1", "B6.9", "B6.17")
def test_pieces_of_an_upload_may_reach_different_servers(pair):
    assert pair.send(0, "more", {"a.txt": b"a", "deep/b.txt": b"b"}) == {"add_results": []}
    assert pair.send(1, "more", {"deep/c.txt": b"c", "../out.txt": b"x"}) == {"add_results": []}
    assert pair.send(0, "more", {"a.txt": b"a", "deep/b.txt": b"b"}) == {"add_results": []}  # again
    assert pair.listed() == set()

    added = pair.send(1, "add", {"d.txt": b"d"})["add_results"]

    assert {one["source_path"]: one["status"] for one in added} == {
        "a.txt": "added",
        "deep/b.txt": "added",
        "deep/c.txt": "added",
        "d.txt": "added",
        "../out.txt": "failed",
    }
    assert pair.listed() == {"a.txt", "deep/b.txt", "deep/c.txt", "d.txt"}
    assert pair.waiting() == 0


@pytest.mark.rule("T6.1", "B6.9")
def test_an_upload_is_stopped_at_another_server_or_left_lying_and_nothing_was_added(pair):
    pair.send(0, "more", {"a.txt": b"a"})
    pair.send(1, "stop", {})
    assert (pair.listed(), pair.waiting()) == (set(), 0)

    for n in range(PARCELS_MAX):
        pair.send(0, "more", {"a.txt": b"a"}, upload=f"left {n}")
    full = pair.send(1, "more", {"a.txt": b"a"}, upload="one more")
    pair.clock.move(PARCEL_MS + 1)
    later = pair.send(1, "more", {"a.txt": b"a"}, upload="one more")

    assert (full["error"]["reason"], later) == ("too_many", {"add_results": []})
    assert (pair.listed(), pair.waiting()) == (set(), 1)


@pytest.mark.rule("T6.1", "T6.4")
def test_an_upload_belongs_to_who_began_it_and_to_its_bench(pair):
    pair.send(0, "more", {"a.txt": b"a"})
    other = pair.servers[1].bench("Other")

    for step in ("more", "add", "stop"):
        refused = pair.send(1, step, {"b.txt": b"b"}, bench=other)
        assert refused["error"]["error_code"] == "ACCESS_DENIED"

    assert len(pair.send(1, "add", {})["add_results"]) == 1
    assert pair.listed() == {"a.txt"}
