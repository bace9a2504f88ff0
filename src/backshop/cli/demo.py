"""`backshop demo`: a round trip through the store that a person can watch, offline."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backshop.base import tree
from backshop.base.event import event
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath

from .door import DoorCommand

if TYPE_CHECKING:
    from backshop.store import Store


@event("demo.saved")
@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The demo's folder reached a state worth keeping."""

    tree: str
    note: str


@click.command(cls=DoorCommand)
def demo() -> None:
    """Show how files, versions and going back work, in a folder that is removed afterwards."""
    from backshop.store import Placer, Store, View

    with (
        tempfile.TemporaryDirectory(prefix="backshop-demo-") as folder,
        Store.open(Path(folder) / "home") as store,
    ):
        view = View(Path(folder) / "files", store.load_tree, Placer(store.blobs))
        first = _save(store, {"report.txt": "Sales grew.\n", "data.csv": "a,b\n1,2\n"}, "first")
        view.show(first)
        _say("A folder with two files is stored as one tree", view.folder)
        second = _save(store, {"report.txt": "Sales GREW A LOT!!!\n"}, "an agent was here")
        view.show(second)
        _say("An agent rewrote the report and deleted the data", view.folder)
        view.show(first)
        _say("Going back is one fact in the log; nothing was lost", view.folder)
        click.echo("The log, each entry chained to the one before:")
        for row in store.read("bench:demo"):
            click.echo(f"  {row.idx}  {row.hash[:12]}  {row.fact.note}")
    click.echo("\nTry `backshop --help`, or read docs/start.")


def _save(store: Store, files: dict[str, str], note: str) -> TreeId:
    from backshop.store import NewEvent, Part, Pin, Plan

    entries = {
        BenchPath(name): tree.File(store.blobs.put(text.encode()), len(text.encode()))
        for name, text in files.items()
    }
    built = tree.build(entries)
    fact = NewEvent(Saved(tree=built.id, note=note), f"saved:{built.id}")
    part = Part("bench:demo", [fact], pins=[Pin(BlobId(built.id), "tree")])
    store.append(Plan((part,), tuple(built.nodes.values())))
    return built.id


def _say(what: str, folder: Path) -> None:
    click.echo(f"{what}:")
    for path in sorted(folder.iterdir()):
        first_line = path.read_text(encoding="utf-8").splitlines()[0]
        click.echo(f"  {path.name:<12} {first_line}")
    click.echo()
