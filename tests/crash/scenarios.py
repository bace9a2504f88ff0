"""What the children of the crash harness do: short stories that promise something on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.store.store_conformance import TOTAL, Counted, counted

from backshop.base import tree
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath
from backshop.store import (
    NewEvent,
    Part,
    Pin,
    Placer,
    Plan,
    Shown,
    Store,
    View,
    Write,
    move_store,
)

Say = Callable[[str], None]
APPENDS = 6
SNAPSHOT_STEP = 256


def store_of(folder: Path) -> Store:
    """Open the scenario's store; a file says where its database is if that is a server."""
    url = folder / "database-url"
    return Store.open(folder / "home", database_url=url.read_text() if url.exists() else None)


def start(folder: Path) -> None:
    """Make a home with a little history."""
    with store_of(folder) as store:
        for number in range(3):
            store.append(Plan((Part("session:s", [counted(number)]),)))
        trees = [_tree(store, number) for number in range(2)]
        _view(store, folder).show(Shown(trees[0]), keep_nothing, lambda _: None)


def fresh(folder: Path, say: Say) -> None:
    """Make a home from nothing and append once."""
    with store_of(folder) as store:
        say("opened")
        store.append(Plan((Part("session:s", [counted(1)]),)))
        say("appended")


def append(folder: Path, say: Say) -> None:
    """Append over two streams with a small and a large blob; say each acknowledged number."""
    with store_of(folder) as store:
        for number in range(10, 10 + APPENDS):
            large, small = f"large {number}".encode() * 20_000, f"small {number}".encode()
            ids = [store.blobs.put(large), BlobId(_name(small))]
            event = NewEvent(Counted(number=number), f"n:{number}")
            pins = [Pin(blob, "artifact") for blob in ids]
            store.append(
                Plan((Part("session:s", [event], pins=pins), Part("session:t", [event])), [small])
            )
            say(str(number))


def update(folder: Path, say: Say) -> None:
    """Count on with a rule that brings large blobs."""
    with store_of(folder) as store:
        for _ in range(APPENDS):
            state, _done = store.update(
                "session:u",
                TOTAL,
                lambda now: Write([counted(now.count)], (), [b"x" * 70_000 + bytes([now.count])]),
            )
            say(str(state.count))


def batch(folder: Path, say: Say) -> None:
    """Take in contents together, more than one sync of the file system is worth, and few."""
    with store_of(folder) as store:
        for round_, count in enumerate((70, 3)):
            contents = [f"batch {round_} content {number}".encode() for number in range(count)]
            for name in store.blobs.put_many(contents):
                say(name)


def snapshot(folder: Path, say: Say) -> None:
    """Fold a stream long enough to be kept, let it be kept, and fold it in a fresh store."""
    with store_of(folder) as store:
        events = [counted(number) for number in range(SNAPSHOT_STEP + 10)]
        store.append(Plan((Part("session:long", events),)))
        say(str(store.state("session:long", TOTAL).count))
    with store_of(folder) as store:
        say(str(store.state("session:long", TOTAL).count))


def move(folder: Path, say: Say) -> None:
    """Move the store with its contents to another folder."""
    (folder / "new").mkdir(exist_ok=True)
    with store_of(folder) as store:
        move_store(
            store,
            database_url=f"sqlite:///{folder / 'new' / 'store.db'}",
            blobs_url=f"file://{folder / 'new' / 'blobs'}",
        )
        say("moved")


def materialise(folder: Path, say: Say) -> None:
    """Show one tree after the other; say which one is to be seen now."""
    with store_of(folder) as store:
        view = _view(store, folder)
        for number in (1, 0, 1):
            shown = _tree(store, number)
            view.show(Shown(shown), keep_nothing, lambda _: None)
            say(shown)


def keep_nothing(path: str, actual: Path) -> None:
    """Nobody else writes into the scenario's view."""
    raise AssertionError(f"not ours: {path}")


def collect(folder: Path, say: Say) -> None:
    """Store loose blobs, collect them, and store one of them again."""
    with store_of(folder) as store:
        for number in range(4):
            store.blobs.put(f"loose {number}".encode())
        store.collect(apply=True, grace_hours=-1)
        kept = store.blobs.put(b"loose 2")
        part = Part("session:g", [counted(1)], pins=[Pin(kept, "artifact")])
        store.append(Plan((part,)))
        say(kept)


def _tree(store: Store, number: int) -> TreeId:
    files = {}
    for name in ("same.txt", f"only-{number}.txt", "d/changes.txt"):
        text = f"{name} {number if 'changes' in name else ''}".encode()
        files[BenchPath(name)] = tree.File(store.blobs.put(text), len(text))
    built = tree.build(files)
    pins = [Pin(BlobId(built.id), "tree")]
    event = NewEvent(Counted(number=number), f"tree:{number}")
    store.append(Plan((Part("bench:b", [event], pins=pins),), tuple(built.nodes.values())))
    return built.id


def tree_ids(folder: Path) -> list[TreeId]:
    """Return the two trees of `start`."""
    with store_of(folder) as store:
        return [TreeId(pin.ref) for pin in store.pins("bench:b")]


def _view(store: Store, folder: Path) -> View:
    return View(folder / "bench" / "draft", store.load_tree, Placer(store.blobs))


def view_of(store: Store, folder: Path) -> View:
    """Return the scenario's view."""
    return _view(store, folder)


def _name(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()
