"""Random histories of a workbench of a folder: nothing of anybody is lost, and all comes together.

Others edit, delete and add files of the folder at any moment, also in the very moment of writing;
the person publishes, discards, takes, settles, restores, writes, and opens.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.base.system import file_name

from .test_own_folder import Own

NAMES = ("a.txt", "b.txt", "d/c.txt", "d/e.txt")
EXPECTED = {  # refusals that are answers here
    *("CONFLICT_PUBLISHED_CHANGED", "DRAFT_EXISTS", "NOT_FOUND", "CONFIRMATION_REQUIRED"),
    "VALIDATION_FAILED",
}


class History:
    """One bench, one folder, and what others wrote last at each path."""

    def __init__(self, shop: Backshop, folder: Path, seed: int) -> None:
        self.own = Own(shop, folder, {"a.txt": "0", "b.txt": "0", "d/c.txt": "0"})
        self.chosen = random.Random(seed)
        self.theirs: dict[str, str] = {}
        self.number = 0
        self.told: list[str] = []
        self.late = False

    def text(self, who: str) -> str:
        self.number += 1
        return f"{who} {self.number}\n"

    def step(self) -> None:
        act = self.chosen.choice(self.acts())
        self.told.append(act.__name__)
        try:
            act()
        except BackshopError as error:
            assert error.code in EXPECTED, (self.told, error.code, error.reason)
        self.check()

    def acts(self) -> list[Callable[[], object]]:
        return [
            *(self.outside, self.outside, self.outside_gone, self.later),
            *(self.draft, self.draft, self.draft_gone, self.publish, self.publish, self.discard),
            *(self.reconcile, self.open, self.open, self.take, self.settle, self.write),
            *(self.restore, self.restore_both),
        ]

    # ------------------------------------------------------------ others

    def outside(self) -> None:
        name, text = self.chosen.choice(NAMES), self.text("theirs")
        self.own.save({name: text})
        self.theirs[name] = text

    def outside_gone(self) -> None:
        name = self.chosen.choice(NAMES)
        (self.own.own / name).unlink(missing_ok=True)
        self.theirs.pop(name, None)

    def later(self) -> None:
        """Let somebody save in the moment of the next exchange."""
        self.late = True

    def now(self, name: str) -> None:
        path = next((self.own.own / one for one in NAMES if one.endswith(name)), None)
        if self.late and path is not None and path.exists():
            self.late = False
            text = self.text("late")
            path.write_text(text)
            self.theirs[path.relative_to(self.own.own).as_posix()] = text

    # ------------------------------------------------------------ the person and the agent

    def draft(self) -> None:
        self.own.write({self.chosen.choice(NAMES): self.text("ours")})

    def draft_gone(self) -> None:
        path = self.chosen.choice(NAMES)
        self.own.call("DraftDeletePath", path=path)
        self.own.call("ReviewSetDeletionConfirmations", paths=[path])

    def publish(self) -> None:
        self.own.call("DraftPublish")

    def discard(self) -> None:
        self.own.call("DraftDiscard")

    def reconcile(self) -> None:
        keep = self.chosen.choice(["theirs", "ours", "both"])
        self.own.call("PublishedReconcile", keep=keep)

    def open(self) -> None:
        self.own.call("WorkbenchOpen")

    def take(self) -> None:
        self.own.call("FolderTake")

    def settle(self) -> None:
        for one in self.own.call("FolderGetState")["conflicts"]:
            keep = self.chosen.choice(["theirs", "ours"])
            self.own.call("FolderSettle", paths=[one["path"]], keep=keep)

    def write(self) -> None:
        self.own.call("FolderWriteBack")

    def restore(self, *, both: bool = False) -> None:
        found = self.own.call("CheckpointsList")["checkpoints"]
        if found:
            wanted = self.chosen.choice(found)["checkpoint_id"]
            self.own.call("CheckpointRestore", checkpoint_id=wanted, write_folder=both)

    def restore_both(self) -> None:
        self.restore(both=True)

    # ------------------------------------------------------------ what holds

    def check(self) -> None:
        held = self.own.held()
        state = self.own.shop.benches.desk.state(self.own.id)
        kept = {text for tree in state.roots() for text in self.own._tree(tree).values()}
        everything = {*held.values(), *kept, *self.own.kept()}
        lost = {name: text for name, text in self.theirs.items() if text not in everything}
        assert lost == {}, self.told
        assert not [name for name in held if ".bs-tmp-" in name], self.told

    def end(self) -> None:
        """Let everything come together: nobody edits any more, the person decides all there is."""
        self.late = False
        own = self.own
        if own.call("DraftGetState")["has_draft"]:
            own.call("PublishedReconcile", keep="theirs")
            own.call("DraftDiscard")
        own.call("WorkbenchOpen")
        own.call("FolderWriteBack")
        for one in own.call("FolderGetState")["conflicts"]:
            own.call("FolderSettle", paths=[one["path"]], keep="theirs")
        opened = own.call("WorkbenchOpen")
        if opened["folder"].get("reason") == "emptied":  # everything went: the person says so
            own.call("FolderTake", paths=[one["path"] for one in opened["folder"]["outside"]])
        self.check()
        assert own.state()["in_step"], (self.told, own.state())
        assert own.published() == own.held(), self.told


@pytest.mark.timeout(1200)
@pytest.mark.rule("B23.6", "B23.8", "B23.11", "B23.15", "B23.17", "B23.18", "B23.19")
@pytest.mark.parametrize("part", range(2))
def test_histories(tmp_path, monkeypatch, scaled, part):
    real = file_name.exchange_in
    with Backshop.open(tmp_path / "home") as shop:
        for seed in range(part * 1000, part * 1000 + scaled(5, 150)):
            folder = tmp_path / str(seed)
            folder.mkdir()
            history = History(shop, folder, seed)

            def late(handle, one, two, history=history):
                if one.startswith(".bs-tmp-"):
                    history.now(two)
                return real(handle, one, two)

            monkeypatch.setattr(file_name, "exchange_in", late)
            for _ in range(24):
                history.step()
            history.end()
            shop.call(
                "WorkbenchDelete", {"workbench_id": history.own.id, "confirm": history.own.id}
            )
