"""Thousands of paths that try to get out, given to everything that takes a path (B4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.bench.conftest import AGENT, Room
from tests.bench.hostile_paths import hostile_paths

from backshop.app import Backshop
from backshop.base import paths
from backshop.base.errors import BackshopError
from backshop.bench import REVIEW_TOOLS, TOOLS, Put, Workspace
from backshop.prompts import ToolContext, invoke

REQUIRED = {
    "content": "x",
    "edits": [{"search": "one", "replace": "two"}],
    "operations": [],
    "query": "SELECT 1",
    "row_start": 1,
    "row_count": 1,
    "format": "csv",
    "target_sheet": "S",
    "mode": "replace_sheet",
}
PATH_FIELDS = ("path", "source_path", "target_path", "prefix")


def is_valid(path: str) -> bool:
    """Whether the grammar takes it, perhaps without a prefix that tools forgive (W7.5)."""
    for prefix in ("./", "draft/", "published/"):
        path = path.removeprefix(prefix)
    return grammatical(path)


def grammatical(path: str) -> bool:
    try:
        paths.parse(path, max_depth=16)
    except BackshopError:
        return False
    return True


def is_text(path: str) -> bool:
    """Whether it can be said in JSON; half a surrogate is refused with the request."""
    return not any("\ud800" <= char <= "\udfff" for char in path)


def outcome(call: Callable[..., object], *args: object, **kwargs: object) -> str | None:
    """Return the code of a refusal, or None; anything but our own errors fails the test."""
    try:
        call(*args, **kwargs)
    except BackshopError as error:
        return error.code
    return None


class Target:
    """One bench without a Draft and one with, and every way to give them a path."""

    def __init__(self, shop: Backshop, folder: Path) -> None:
        self.still, self.drafted = Room(shop, folder / "still"), Room(shop, folder / "drafted")
        for room in (self.still, self.drafted):
            room.folder.mkdir()
            room.add({"a.txt": "one", "t.csv": "k,v\na,1\n"})
        self.drafted.write({"a.txt": "two"})
        self.blob = shop.store.blobs.put(b"written")
        self.out = folder / "out"
        self.out.mkdir()
        self.context = ToolContext(workspace=Workspace(shop.benches, self.drafted.id, AGENT))

    def lists(self, given: list[str]) -> None:
        """Give paths to what takes many at once; each is answered, none is found."""
        extract = {"destination_dir": str(self.out)}
        for name, also in (("WorkbenchFilesExtract", extract), ("WorkbenchFilesRemove", {})):
            answer = self.still.call(name, workbench_paths=given, **also)
            [results] = [value for key, value in answer.items() if key.endswith("_results")]
            assert [one["reason"] for one in results] == ["invalid_path"] * len(given)

    def readers(self, path: str) -> Iterator[str | None]:
        """Give the path to what never writes, or only to what is there already."""
        still, drafted = self.still.call, self.drafted.call
        yield outcome(still, "WorkbenchFilesList", prefix=path)
        yield outcome(still, "WorkbenchFilesList", cursor=path)
        yield outcome(still, "WorkbenchFileRename", path=path, new_path="z.txt")
        for name in ("DraftDeletePath", "DraftRevertPath", "ReviewGetDiff", "ReviewGetTextDiff"):
            yield outcome(drafted, name, path=path)
        yield outcome(drafted, "DraftRenamePath", path=path, new_path="z.txt")
        yield outcome(drafted, "ReviewSetDeletionConfirmations", paths=[path])

    def writers(self, path: str) -> Iterator[str | None]:
        """Give the path to what would make a file there."""
        put = Put(path=path, blob=self.blob, size=7)
        yield outcome(self.drafted.shop.benches.apply_batch, self.drafted.id, [put], AGENT)
        source = str(self.still.folder / "outside" / "a.txt")
        yield outcome(
            self.still.call,
            "WorkbenchFilesAdd",
            source_paths=[source],
            dest_dir=path,
            on_conflict="skip",
        )
        yield outcome(self.still.call, "WorkbenchFileRename", path="a.txt", new_path=path)
        if is_valid(path):
            outcome(self.still.call, "WorkbenchFileRename", path=path, new_path="a.txt")
            outcome(self.drafted.call, "DraftDeletePath", path=path)
        yield outcome(self.drafted.call, "DraftRenamePath", path="t.csv", new_path=path)
        if is_valid(path):
            outcome(self.drafted.call, "DraftRenamePath", path=path, new_path="t.csv")

    def tools(self, path: str) -> Iterator[str | None]:
        """Give the path to every field of every tool that takes one."""
        for tool in (*TOOLS, *REVIEW_TOOLS):
            needed = tool.schema.get("required", ())
            start = {name: REQUIRED[name] for name in needed if name in REQUIRED}
            start |= {name: "t.csv" for name in needed if name in PATH_FIELDS}
            for field in (name for name in PATH_FIELDS if name in tool.schema["properties"]):
                try:
                    params = tool.decode({**start, field: path})
                except BackshopError as error:
                    yield error.code
                    continue
                result = invoke(tool, params, context=self.context)
                assert isinstance(result.value, dict)
                yield None if result.ok else str(result.value["error_code"])


def seen(root: Path, without: Path) -> dict[str, tuple[int, int]]:
    """Return everything below a folder but one: path → size and time of change."""
    found = {}
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if Path(place) / name != without]
        for name in (*names, *folders):
            status = (Path(place) / name).lstat()
            found[str(Path(place) / name)] = (status.st_size, status.st_mtime_ns)
    return found


@pytest.mark.rule("B4.1", "B4.2", "B4.8", "B4.10", "B20", "B22.13")
def test_no_path_leads_out(tmp_path, monkeypatch, scaled, capsys, record_property):
    inner = tmp_path / "one" / "two" / "three"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    with Backshop.open(inner / "home") as shop:
        target = Target(shop, inner)
        shop.formats.get_info(
            shop.formats.source(inner / "still" / "outside" / "a.txt", "a.txt", "0" * 64)
        )
        before = seen(tmp_path, shop.config.home)
        top = {path.name for path in Path("/").iterdir()}
        counts = {"paths": 0, "refused": 0, "inside": 0, "calls": 0}
        valid_left = scaled(8, 200)
        given = list(hostile_paths(scaled(800, 30_000)))
        target.lists([path for path in given if not grammatical(path) and is_text(path)])
        for path in given:
            counts["paths"] += 1
            valid = is_valid(path)
            results = [*target.readers(path)]
            if not valid or valid_left > 0:
                valid_left -= valid
                results += [*target.writers(path), *target.tools(path)]
            counts["calls"] += len(results)
            counts["refused"] += sum(code is not None for code in results)
            counts["inside"] += valid
            assert valid or set(results) <= {None, "VALIDATION_FAILED", "NOT_FOUND"}, path

        assert seen(tmp_path, shop.config.home) == before
        assert {path.name for path in Path("/").iterdir()} == top
        check_inside(shop, target)
    for what in ("paths", "calls", "refused"):
        record_property(what, counts[what])
    with capsys.disabled():
        print(" hostile paths:", counts, end="")


def check_inside(shop: Backshop, target: Target) -> None:
    """Every file of both benches has a path the grammar takes, and its folder shows the same."""
    for room in (target.still, target.drafted):
        assert all(is_valid(path) for path in (*room.published(), *(room.draft() or ())))
        assert room.on_disk("published") == room.published()
        assert room.on_disk("draft") == room.draft()
        place = shop.config.home / "benches" / room.id
        assert {path.name for path in place.iterdir()} <= {
            *("published", "draft", "meta", ".published.spare", ".draft.spare"),
            *(".published.view", ".draft.view"),
        }
    assert {path.name for path in shop.config.home.iterdir()} <= {
        *("benches", "blobs", "cache", "store.db", "store.db-wal", "store.db-shm"),
        *("store.db-mark", "settings.json"),
    }


@pytest.mark.rule("B4.9", "B6.7", "B6.14")
@pytest.mark.parametrize(
    "path",
    ["", "\0", "a\0b", "~nobody-of-this-name/x", "n" * 300, "x" * 70_000, "/dev/null"],
)
def test_odd_places_outside_are_answered_not_crashed_on(room, path):
    added = room.call("WorkbenchFilesAdd", source_paths=[path])

    assert [one["status"] for one in added["add_results"]] == ["skipped"]
    room.add({"a.txt": "one"})
    assert outcome(room.call, "WorkbenchFilesExtract", destination_dir=path) == "VALIDATION_FAILED"
