"""Two web servers of one team: what one begins, the other goes on with (T6.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from tests.postgres import fresh_database
from tests.web.browsing import Served, serving

from backshop.app import Backshop
from backshop.app.operation.upload import PARCEL_MS, PARCELS_MAX
from backshop.bench import Author, Put, Source
from backshop.testing.ambient import FixedClock

AGENT = Author(source=Source(kind="workshop", ref="turn"))


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

    def published(self) -> dict[str, str]:
        """Return Published as the log knows it."""
        desk = self.servers[0].shop.benches.desk
        found = desk.entries(desk.state(self.bench).published).items()
        return {path: desk.store.blobs.read(one.sha256).decode() for path, one in found}

    def overtake(self, act: Callable[[], object]) -> None:
        """Let the second server act after the first worked a change out, before it commits."""
        desk = self.servers[0].shop.benches.desk

        def late(*args: Any, **kwargs: Any) -> Any:
            del vars(desk)["commit"]
            act()
            return desk.commit(*args, **kwargs)

        vars(desk)["commit"] = late

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


@pytest.mark.rule("T6.1", "S7.2")
def test_a_login_link_is_good_at_each_server_once(pair):
    def entered(at: int, token: str) -> tuple[int, bool]:
        with pair.servers[at].client(logged_in=False) as client:
            answer = client.get("/login", params={"token": token})
            client.cookies = answer.cookies
            return answer.status_code, client.get("/settings").status_code == 200

    first, second = pair.servers[0].login.new_link(), pair.servers[0].login.new_link()

    assert [entered(1, first), entered(0, first)] == [(303, True), (403, False)]
    assert [entered(0, second), entered(1, second)] == [(303, True), (403, False)]


@pytest.mark.rule("T6.1", "B9.4", "B8.10")
def test_another_machines_work_is_never_taken_for_an_outside_edit(pair):
    first, second = (server.shop for server in pair.servers)

    def write(shop: Backshop, **files: str) -> None:
        puts = [
            Put(path=f"{name}.txt", blob=shop.store.blobs.put(text.encode()), size=len(text))
            for name, text in files.items()
        ]
        shop.benches.apply_batch(pair.bench, puts, AGENT)

    def shown(shop: Backshop) -> tuple[dict[str, Any], dict[str, str]]:
        """Return how the bench is, and what its folder on this machine shows."""
        opened = shop.call("WorkbenchOpen", {"workbench_id": pair.bench})
        folder = shop.benches.desk.views.folder(pair.bench) / "published"
        held = {one.name: one.read_text() for one in folder.iterdir() if one.is_file()}
        return opened, held

    wanted: dict[str, str] = {}
    for n in range(3):  # each finds a folder that shows what it left two publishes ago
        for shop, name in ((first, "ours"), (second, "theirs")):
            text = f"{name} {n}"
            write(shop, both=text, **{name: text})
            state = shop.call("DraftGetState", {"workbench_id": pair.bench})
            assert state["outside_changes"] == []
            shop.call("DraftPublish", {"workbench_id": pair.bench})
            wanted |= {"both.txt": text, f"{name}.txt": text}
            opened, held = shown(shop)
            assert (opened["health"], opened["warnings"], held) == ("ok", [], wanted)

    for shop in (first, second):
        repaired = shop.call("PublishedRepair", {"workbench_id": pair.bench, "mode": "restore"})
        assert not repaired.get("salvaged")
        opened, held = shown(shop)
        assert (opened["health"], held) == ("ok", wanted)


CHANGES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "WorkbenchFilesAdd": ({}, {"a.txt": "a", "b.txt": "b", "new.txt": "new"}),
    "WorkbenchFilesRemove": ({"workbench_paths": ["a.txt"]}, {"b.txt": "b"}),
    "WorkbenchFileRename": ({"path": "a.txt", "new_path": "c.txt"}, {"c.txt": "a", "b.txt": "b"}),
    "PublishedRepair": ({"mode": "adopt"}, {"a.txt": "by hand", "b.txt": "b"}),
}


@pytest.mark.rule("B3.9", "T6.1", "T2.3")
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_another_machine_overtook_is_worked_out_anew(pair, tmp_path, name):
    first = pair.servers[0]
    wish, wanted = CHANGES[name]
    for server in pair.servers:
        pair.send(0, "add", {"a.txt": b"a", "b.txt": b"b"}, on_conflict="skip")
        server.call("WorkbenchOpen", workbench_id=pair.bench)
    if name == "PublishedRepair":
        edited = first.shop.benches.desk.views.folder(pair.bench) / "published" / "a.txt"
        edited.unlink()
        edited.write_text("by hand")
    if name == "WorkbenchFilesAdd":
        (tmp_path / "new.txt").write_text("new")
        wish = {"source_paths": [str(tmp_path / "new.txt")]}

    pair.overtake(lambda: pair.send(1, "add", {"theirs.txt": b"theirs"}, upload="theirs"))
    first.call(name, workbench_id=pair.bench, **wish)

    assert pair.published() == {**wanted, "theirs.txt": "theirs"}
    for server in pair.servers:
        opened = server.call("WorkbenchOpen", workbench_id=pair.bench)
        assert (opened["health"], opened["warnings"]) == ("ok", [])


@pytest.mark.rule("B3.9", "T6.1", "B14.12")
def test_context_items_of_two_machines_both_stay(pair):
    first, second = pair.servers

    def tell(server: Served, category: str) -> None:
        text = f"---\nname: {category}\ndescription: We make boats.\n---\nBoats.\n"
        files = [{"path": "SKILL.md", "content": text}]
        wish = {"category": category, "files": files, "create": True}
        server.call("ContextUpdateDirect", workbench_id=pair.bench, **wish)

    pair.overtake(lambda: tell(second, "department-context"))
    tell(first, "company-context")

    items = first.call("ContextList", workbench_id=pair.bench)["items"]
    active = {one["category"] for one in items if one["status"] == "active"}
    assert active == {"company-context", "department-context"}


@pytest.mark.rule("B3.9", "B9.3")
def test_a_publish_that_a_write_overtook_publishes_all_of_the_draft_with_its_records(pair):
    first, second = pair.servers

    def write(server: Served, name: str) -> None:
        text = name.encode()
        puts = [Put(path=f"{name}.txt", blob=server.shop.store.blobs.put(text), size=len(text))]
        server.shop.benches.apply_batch(pair.bench, puts, AGENT)

    write(first, "ours")
    pair.overtake(lambda: write(second, "theirs"))
    first.call("DraftPublish", workbench_id=pair.bench)

    assert pair.published() == {"ours.txt": "ours", "theirs.txt": "theirs"}
    assert pair.listed() == {"ours.txt", "theirs.txt"}
    records = first.shop.benches.desk.state(pair.bench).files.records
    assert set(records) == {"ours.txt", "theirs.txt"}
