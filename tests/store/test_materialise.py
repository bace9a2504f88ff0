"""Views: every method gives the same folder, only differences are touched, no link is followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from backshop.base import tree
from backshop.base.paths import BenchPath
from backshop.store import Placer, Shown, Store, View

METHODS = [(), ("range",), ("clone", "range")]


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


def show(view, tree_id, base=tree.EMPTY):
    """Show a tree; return what was found of others on the way, and whether all of it was new."""
    kept: dict[str, str] = {}
    rescued: list[Path] = []

    def keep(path, actual):
        kept[path] = str(actual.readlink()) if actual.is_symlink() else actual.read_text()

    before = view.folder.stat().st_ino if view.folder.exists() else None
    view.show(Shown(tree_id, base), keep, rescued.append)
    return kept, before != view.folder.stat().st_ino


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
        show(view, wanted)
        assert view.shown() == Shown(wanted)

    assert shown(view.folder) == {
        "a.txt": ("two", 0o444),
        "d/e/run.sh": ("go", 0o555),
        "d/f.txt": ("same", 0o444),
        "n/new": ("n", 0o444),
    }
    assert not (view.folder / "gone").exists()
    view.retire(lambda _: None)
    assert view.is_gone
    assert list((tmp_path / "bench").iterdir()) == []


@pytest.mark.rule("T4.4")
def test_only_files_that_differ_are_touched(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs, methods=()))
    many = {f"f{number}": str(number) for number in range(50)}
    show(view, stored(store, many))
    before = {path.name: path.stat().st_ino for path in view.folder.iterdir()}

    assert show(view, stored(store, many | {"f8": "eight"})) == ({}, False)

    after = {path.name: path.stat().st_ino for path in view.folder.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {"f8"}


@pytest.mark.rule("B4.8", "B22.14")
def test_a_link_planted_in_a_view_leads_nowhere(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    show(view, stored(store, {"d/a": "1", "d/gone": "x", "e": "e"}))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "gone").write_text("theirs")
    for name in ("a", "gone"):
        (view.folder / "d" / name).unlink()
    (view.folder / "d").rmdir()
    (view.folder / "d").symlink_to(outside)

    kept, _ = show(view, stored(store, {"d/a": "3", "d/b": "b", "e": "e"}))

    assert kept == {"d": str(outside)}
    assert shown(outside) == {"gone": ("theirs", 0o644)}
    assert shown(view.folder) == {
        p: (p[-1] if p != "d/a" else "3", 0o444) for p in ("d/a", "d/b", "e")
    }


@pytest.mark.rule("B3.12", "B2.10")
def test_what_others_put_in_the_way_is_kept_and_the_rest_of_theirs_stays(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    show(view, stored(store, {"a": "1", "b": "2", "c": "3", "e": "5", "f": "6"}))
    for name in ("a", "b", "c", "e"):
        (view.folder / name).unlink()
    (view.folder / "a").write_text("their a")
    (view.folder / "b").mkdir()
    (view.folder / "b" / "inner").write_text("their b")
    (view.folder / "c").write_text("their c")
    (view.folder / "n").write_text("their n")
    (view.folder / "e").write_text("new e")  # by chance what is wanted anyway
    (view.folder / "stays").write_text("their own")

    wanted = {"a": "one", "b": "two", "e": "new e", "f": "6", "n/x": "x"}
    kept, _ = show(view, stored(store, wanted))

    assert kept == {"a": "their a", "b/inner": "their b", "c": "their c", "n": "their n"}
    assert {path: text for path, (text, _) in shown(view.folder).items()} == {
        **wanted,
        "stays": "their own",
    }


@pytest.mark.rule("B2.10")
def test_a_view_of_changes_shows_what_its_base_has_not(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    base = stored(store, {"a": "1", "b": "2", "c": "3"})
    for files, expected in (
        ({"a": "one", "b": "2", "c": "3"}, {"a": "one"}),
        ({"a": "one", "b": "2", "n/x": "x"}, {"a": "one", "n/x": "x"}),
        ({"a": "1", "b": "two", "c": "3"}, {"b": "two"}),
        ({"a": "1", "b": "2", "c": "3"}, {}),
    ):
        _, is_new = show(view, stored(store, files), base)
        assert {path: text for path, (text, _) in shown(view.folder).items()} == expected
    assert not is_new
    assert show(view, base) == ({}, False)  # whole: what is missing comes
    assert len(shown(view.folder)) == 3


@pytest.mark.rule("B2.10", "B2.12")
def test_a_view_of_changes_is_completed_and_thinned_around_what_others_wrote(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    base = stored(store, {"a": "1", "b": "2", "d/c": "3", "d/e": "5"})
    draft = stored(store, {"a": "one", "b": "2", "d/c": "3", "d/e": "5"})
    show(view, draft, base)
    (view.folder / "b").write_text("their b")

    filled = show(view, draft)
    after_filling = {path: text for path, (text, _) in shown(view.folder).items()}
    (view.folder / "d" / "c").chmod(0o644)
    (view.folder / "d" / "c").write_text("their c")
    thinned = show(view, draft, base)

    assert after_filling == {"a": "one", "b": "their b", "d/c": "3", "d/e": "5"}
    assert {path: text for path, (text, _) in shown(view.folder).items()} == {
        "a": "one",
        "b": "their b",
        "d/c": "their c",
    }
    assert filled == thinned == ({}, False)


@pytest.mark.rule("B2.10", "B3.12")
def test_a_folder_that_goes_is_looked_through_out_of_sight_and_is_gone_afterwards(store, tmp_path):
    view = View(tmp_path / "bench" / "v", store.load_tree, Placer(store.blobs))
    show(view, stored(store, {"a": "1"}))
    (view.folder / "theirs").write_text("their own")
    looked: list[tuple[str, dict[str, tuple[str, int]]]] = []

    def rescue(place):
        assert not view.folder.exists()
        looked.append((place.name, shown(place)))

    view.retire(rescue)

    assert looked == [(".v.spare", {"a": ("1", 0o444), "theirs": ("their own", 0o644)})]
    assert view.is_gone
    assert view.is_new


@pytest.mark.rule("B2.6", "T4.4")
@pytest.mark.parametrize("methods", METHODS)
def test_no_file_of_a_view_shares_its_inode_with_a_stored_content(store, tmp_path, methods):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs, methods=methods))
    files = {"a": "good", "d/b.sh": "run", "large": "x" * 3_000_000}
    show(view, stored(store, files))

    for path in files:
        file = view.folder / path
        assert file.stat().st_nlink == 1
        file.chmod(0o644)
        file.write_text("evil!")

    assert [store.blobs.read(store.blobs.put(text.encode())) for text in files.values()] == [
        text.encode() for text in files.values()
    ]
    assert all(one.stat().st_nlink == 1 for one in (tmp_path / "home" / "blobs").glob("??/*"))


@pytest.mark.rule("T4.4")
def test_many_files_are_placed_by_two_threads_like_few(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    files = {f"d{number % 7}/f{number}": str(number % 50) for number in range(700)}
    show(view, stored(store, {"d3": "in the way", "d1/f1": "old"}))
    (view.folder / "d3").chmod(0o644)
    (view.folder / "d3").write_text("theirs")

    kept, _ = show(view, stored(store, files))

    assert kept == {"d3": "theirs"}
    assert {path: text for path, (text, _) in shown(view.folder).items()} == files


@pytest.mark.rule("B2.10", "B3.4")
def test_who_goes_on_after_a_kill_leaves_nothing_of_it_behind(store, tmp_path):
    class Killed(Placer):
        def place(self, file, folder, name, *rest):
            if name == "f3":
                raise KeyboardInterrupt
            super().place(file, folder, name, *rest)

    files = {f"d/f{number}": str(number) for number in range(6)} | {"gone/x": "x"}
    show(View(tmp_path / "v", store.load_tree, Placer(store.blobs)), stored(store, {"gone/x": "x"}))
    wanted = stored(store, {path: text for path, text in files.items() if path != "gone/x"})
    with pytest.raises(KeyboardInterrupt):
        show(View(tmp_path / "v", store.load_tree, Killed(store.blobs)), wanted)
    for left in (".bs-tmp-place", ".bs-tmp-place-2"):
        (tmp_path / "v" / "d" / left).write_text("half")
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))

    assert view.shown() is None
    assert show(view, wanted) == ({}, False)

    assert {path: text for path, (text, _) in shown(view.folder).items()} == {
        f"d/f{number}": str(number) for number in range(6)
    }


def test_a_note_that_is_nonsense_only_costs_time(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    first, second = stored(store, {"a": "1"}), stored(store, {"a": "2"})
    show(view, first)
    (tmp_path / ".v.view").write_text("[not ours")

    show(view, second)

    assert view.shown() == Shown(second)
    assert shown(view.folder) == {"a": ("2", 0o444)}


def linked(store, view, path):
    """Make a file of a view a link of its content, as they were in 0.1.0, and say so."""
    file = view.folder / path
    blob = store.blobs.path(store.blobs.put(file.read_bytes()))
    file.unlink()
    file.hardlink_to(blob)
    note = view.folder.with_name(f".{view.folder.name}.view")
    note.write_text(note.read_text().replace('"own":true', '"own":false'))
    return file


@pytest.mark.rule("B2.6", "B3.12")
@pytest.mark.parametrize("wanted", [{}, {"a": "other"}])
def test_an_edit_in_a_link_of_a_content_is_kept_before_it_is_displaced(store, tmp_path, wanted):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    show(view, stored(store, {"a": "good"}))
    linked(store, view, "a").chmod(0o644)
    (view.folder / "a").write_text("EDIT")
    (view.folder / "a").chmod(0o444)

    assert show(view, stored(store, wanted)) == ({"a": "EDIT"}, False)


class Saving(Placer):
    """Somebody saves, the way editors do, while a file is copied."""

    place_of: Path

    def _fill(self, source, folder, temp, mode):
        super()._fill(source, folder, temp, mode)
        (self.place_of / ".saved").write_text("theirs")
        (self.place_of / ".saved").rename(self.place_of / "a")


@pytest.mark.rule("B3.12")
def test_what_is_saved_while_a_file_is_copied_is_kept(store, tmp_path):
    show(View(tmp_path / "v", store.load_tree, Placer(store.blobs)), stored(store, {"a": "1"}))
    placer = Saving(store.blobs)
    placer.place_of = tmp_path / "v"

    kept, _ = show(View(tmp_path / "v", store.load_tree, placer), stored(store, {"a": "2"}))

    assert kept == {"a": "theirs"}
    assert shown(tmp_path / "v") == {"a": ("2", 0o444)}


@pytest.mark.rule("B2.6")
def test_what_is_saved_while_a_link_is_parted_stays(store, tmp_path):
    view = View(tmp_path / "v", store.load_tree, Placer(store.blobs))
    show(view, stored(store, {"a": "1"}))
    linked(store, view, "a")
    placer = Saving(store.blobs)
    placer.place_of = tmp_path / "v"

    assert View(tmp_path / "v", store.load_tree, placer).settle(10, 10**6)

    assert {path: text for path, (text, _) in shown(tmp_path / "v").items()} == {"a": "theirs"}
