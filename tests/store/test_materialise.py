"""Views: every method gives the same folder, only differences are touched, no link is followed."""

from __future__ import annotations

import pytest

from backshop.base import tree
from backshop.base.paths import BenchPath
from backshop.store import Placer, StorageCorrupt, Store, View

METHODS = [(), ("link",), ("clone", "link")]


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "home") as opened:
        yield opened


def stored(store, files):
    """Store a folder given as path → text and return its tree."""
    entries = {}
    for path, text in files.items():
        mode: tree.Mode = "755" if path.endswith(".sh") else "644"
        entries[BenchPath(path)] = tree.File(store.blobs.put(text.encode()), len(text), mode)
    built = tree.build(entries)
    for node in built.nodes.values():
        store.blobs.put(node)
    return built.id


def shown(folder):
    """Return a folder as path → (text, mode)."""
    return {
        str(path.relative_to(folder)): (path.read_text(), path.stat().st_mode & 0o777)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.rule("T4.4", "T8.19", "B2.6")
@pytest.mark.parametrize("methods", METHODS)
def test_every_method_shows_the_same_files(store, tmp_path, methods):
    view = View(tmp_path / "bench" / "draft", store.load_tree, Placer(store.blobs, methods=methods))
    first = stored(store, {"a.txt": "one", "d/e/run.sh": "go", "d/f.txt": "same", "gone/x": "x"})
    second = stored(store, {"a.txt": "two", "d/e/run.sh": "go", "d/f.txt": "same", "n/new": "n"})

    for wanted in (first, second, first, second):
        view.show(wanted)
        assert view.shown() == wanted

    assert shown(view.folder) == {
        "a.txt": ("two", 0o444),
        "d/e/run.sh": ("go", 0o555),
        "d/f.txt": ("same", 0o444),
        "n/new": ("n", 0o444),
    }
    assert not (view.folder / "gone").exists()
    view.remove()
    assert list((tmp_path / "bench").iterdir()) == []


@pytest.mark.rule("T4.4")
def test_only_files_that_differ_are_touched(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs, methods=()))
    many = {f"f{number}": str(number) for number in range(50)}
    first, second = stored(store, many), stored(store, many | {"f7": "seven"})
    view.show(first)
    view.show(second)  # from now on both folders exist and are brought forward
    before = {path.name: path.stat().st_ino for path in (tmp_path / ".v.spare").iterdir()}

    view.show(stored(store, many | {"f8": "eight"}))

    after = {path.name: path.stat().st_ino for path in view.folder.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {"f8"}


@pytest.mark.rule("B4.8")
def test_a_link_planted_in_the_spare_leads_nowhere(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    first, second = stored(store, {"d/a": "1"}), stored(store, {"d/a": "2", "d/b": "b"})
    view.show(first)
    view.show(second)
    outside = tmp_path / "outside"
    outside.mkdir()
    spare = tmp_path / ".v.spare"
    (spare / "d" / "a").unlink()
    (spare / "d").rmdir()
    (spare / "d").symlink_to(outside)

    view.show(stored(store, {"d/a": "3", "d/b": "b"}))

    assert list(outside.iterdir()) == []
    assert shown(view.folder) == {"d/a": ("3", 0o444), "d/b": ("b", 0o444)}


@pytest.mark.rule("B2.11", "T8.8")
def test_a_blob_changed_through_a_link_is_never_shown_again(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs, methods=("link",)))
    tree_id = stored(store, {"a": "good"})
    view.show(tree_id)
    linked = view.folder / "a"
    linked.chmod(0o644)
    linked.write_text("evil!")
    blob = store.blobs.put(b"other")

    with pytest.raises(StorageCorrupt):
        View(tmp_path / "w", store.load_tree, Placer(store.blobs)).show(tree_id)

    assert store.blobs.read(blob) == b"other"


def test_a_note_that_is_nonsense_only_costs_time(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    first, second = stored(store, {"a": "1"}), stored(store, {"a": "2"})
    view.show(first)
    (tmp_path / ".v.view.json").write_text("[not ours")

    view.show(second)

    assert view.shown() == second
    assert shown(view.folder) == {"a": ("2", 0o444)}
