"""A bench facade on a home of its own, and short ways to fill it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from backshop.app import Backshop
from backshop.base import tree
from backshop.base.paths import BenchPath
from backshop.bench import REVIEW_TOOLS, TOOLS, Author, Put, Source, Workspace
from backshop.prompts import ToolContext, invoke

BY_NAME = {tool.name: tool for tool in (*TOOLS, *REVIEW_TOOLS)}
AGENT = Author(source=Source(kind="workshop", ref="turn"))


class Room:
    """One shop with one bench; calls go through the command registry, as every door does."""

    def __init__(self, shop: Backshop, folder: Path) -> None:
        self.shop = shop
        self.folder = folder
        self.id: str = shop.call("WorkbenchCreate", {"name": "Test"})["workbench_id"]

    def call(self, name: str, /, **request):
        """Run a command about this bench."""
        return self.shop.call(name, {"workbench_id": self.id, **request})

    def add(self, files: Mapping[str, str | bytes], **options):
        """Write files outside and add them."""
        outside = self.folder / "outside"
        paths = []
        for name, content in files.items():
            path = outside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            paths.append(str(path))
        return self.call("WorkbenchFilesAdd", source_paths=paths, **options)

    def write(self, files: dict[str, str | None], author: Author = AGENT):
        """Write to the Draft as an agent does."""
        puts = []
        for path, text in files.items():
            blob = None if text is None else self.shop.store.blobs.put(text.encode())
            puts.append(Put(path=path, blob=blob, size=len((text or "").encode())))
        return self.shop.benches.apply_batch(self.id, puts, author)

    def published(self) -> dict[str, str]:
        """Return Published as the log knows it."""
        return self._tree(self.shop.benches.desk.state(self.id).published)

    def draft(self) -> dict[str, str] | None:
        """Return the Draft as the log knows it."""
        state = self.shop.benches.desk.state(self.id)
        return None if state.draft is None else self._tree(state.draft.tree)

    def draft_bytes(self, path: str) -> bytes:
        """Return one file of the Draft."""
        desk = self.shop.benches.desk
        draft = desk.state(self.id).draft
        assert draft is not None
        return desk.store.blobs.read(desk.find(draft.tree, BenchPath(path)).sha256)

    def on_disk(self, view: str) -> dict[str, str] | None:
        """Return a view as its folder shows it; a Draft's with the files it leaves out (B2.10)."""
        shown = self.in_folder(view)
        desk = self.shop.benches.desk
        state = desk.state(self.id)
        head = desk.views.heads(state).get(view)
        if view != "draft" or head is None or shown is None:
            return shown
        changed = {one.path for one in tree.diff(head.base, head.tree, desk.store.load_tree)}
        left_out = self._tree(head.base).items()
        return {path: text for path, text in left_out if path not in changed} | shown

    def in_folder(self, view: str) -> dict[str, str] | None:
        """Return the files that are in a view's folder."""
        folder = self.shop.config.home / "benches" / self.id / view
        if not folder.exists():
            return None
        return {
            path.relative_to(folder).as_posix(): path.read_text()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    def _tree(self, tree_id) -> dict[str, str]:
        desk = self.shop.benches.desk
        return {
            path: desk.store.blobs.read(file.sha256).decode()
            for path, file in desk.entries(tree_id).items()
        }


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with Backshop.open(tmp_path / "home") as shop:
        yield Room(shop, tmp_path)


@pytest.fixture
def use(room):
    return using(room)


def using(room: Room) -> Callable[..., Any]:
    """Return what calls a tool by name on the room's bench."""
    context = ToolContext(workspace=Workspace(room.shop.benches, room.id, AGENT))

    def call(name: str, **arguments):
        tool = BY_NAME[name]
        if name.endswith("_operations"):
            arguments = {"create_if_missing": True, **arguments}
        return invoke(tool, tool.decode(arguments), context=context)

    return call
