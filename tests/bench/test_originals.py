"""The person's own files get the results back, each only if it is still what was copied in."""

from __future__ import annotations

import pytest

from backshop.base.errors import BackshopError


def bound(room, *names: str) -> None:
    """Add files, remember where they came from."""
    added = room.add({name: f"old {name}\n" for name in names})["add_results"]
    originals = [{"path": one["path"], "target": one["source_path"]} for one in added]
    room.call("WorkbenchBindOriginals", originals=originals)


def became(room) -> dict[str, str]:
    """Write back, and return what became of each file."""
    done = room.call("WorkbenchWriteBack")
    return {one["path"]: one["became"] for one in done["files"]}


@pytest.mark.rule("B26.1", "B26.2", "B26.3")
def test_results_go_back_to_the_originals_and_what_is_new_beside_them(room):
    bound(room, "a.txt", "b.txt")
    room.write({"a.txt": "new\n", "made/c.txt": "made\n"})
    before = (room.folder / "outside" / "a.txt").read_text()
    room.call("DraftPublish")

    first, again = became(room), became(room)

    outside = room.folder / "outside"
    assert before == "old a.txt\n"
    assert first == {"a.txt": "written", "made/c.txt": "written"}
    assert again == {}
    assert (outside / "a.txt").read_text() == "new\n"
    assert (outside / "b.txt").read_text() == "old b.txt\n"
    assert (outside / "made" / "c.txt").read_text() == "made\n"
    audit = [one["kind"] for one in room.call("AuditList")["entries"]]
    assert audit.count("original_written") == 2
    assert "originals_bound" in audit


@pytest.mark.rule("B26.2", "B26.4")
def test_a_file_that_changed_meanwhile_stays_and_can_be_written_once_it_is_settled(room):
    bound(room, "a.txt", "b.txt", "d.txt")
    room.write({"a.txt": "new a\n", "b.txt": "new b\n", "c.txt": "new c\n", "d.txt": "new d\n"})
    room.call("DraftPublish")
    outside = room.folder / "outside"
    (outside / "a.txt").write_text("theirs\n")
    (outside / "c.txt").write_text("there already\n")
    (outside / "d.txt").unlink()

    first = became(room)
    (outside / "a.txt").write_text("old a.txt\n")
    second = became(room)

    assert first == {
        **{"a.txt": "changed", "b.txt": "written", "c.txt": "changed", "d.txt": "missing"},
    }
    assert second == {"a.txt": "written", "c.txt": "changed", "d.txt": "missing"}
    assert (outside / "a.txt").read_text() == "new a\n"
    assert (outside / "c.txt").read_text() == "there already\n"
    assert not (outside / "d.txt").exists()


@pytest.mark.rule("B26.1")
def test_originals_are_outside_the_home_and_without_them_nothing_is_written(room):
    room.add({"a.txt": "a"})
    home = str(room.shop.config.home / "x.txt")

    with pytest.raises(BackshopError) as none:
        room.call("WorkbenchWriteBack")
    for target in (home, "a.txt", ""):
        with pytest.raises(BackshopError) as bad:
            room.call("WorkbenchBindOriginals", originals=[{"path": "a.txt", "target": target}])
        assert bad.value.reason == "bad_destination"

    assert none.value.reason == "no_originals"


@pytest.mark.rule("B26.2")
def test_a_folder_that_cannot_be_written_is_told_and_the_rest_goes_on(room):
    bound(room, "one/a.txt", "b.txt")
    room.write({"a.txt": "new a\n", "b.txt": "new b\n"})
    room.call("DraftPublish")
    outside = room.folder / "outside"
    (outside / "one").rename(outside / "gone")

    assert became(room) == {"a.txt": "failed", "b.txt": "written"}
    (outside / "gone").rename(outside / "one")
    assert became(room) == {"a.txt": "written"}
