"""Files of a bench as the person handles them: listed, added, removed, copied out, renamed."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from backshop.app import Backshop
from backshop.base.ambient import Mint
from backshop.testing.ambient import FixedClock

from .conftest import Room
from .test_story import refused

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


SUFFIXES = ("xlsx", "docx", "pptx", "odt", "xlsm", "docm", "ods")


def package() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("part.xml", "<a/>")
    return out.getvalue()


def listed(room: Room) -> dict[str, Any]:
    return {one["path"]: one for one in room.call("WorkbenchFilesList")["files"]}


def generation(room: Room) -> int:
    found = room.call("WorkbenchOpen")["workbench"]["published_generation"]
    assert isinstance(found, int)
    return found


@pytest.mark.rule("B6.1", "B6.2", "B22.85")
def test_a_file_has_one_of_nine_kinds_and_an_access_that_follows_from_it(room):
    room.add(
        {
            "Makefile": "all:\n\techo\n",
            "notes.tex": "\\section{A}",
            "t.csv": "a,b\n1,2\n",
            "p.png": PNG,
            "blob": bytes(range(256)) * 4,
            "a.zip": package(),
            **{f"a.{suffix}": package() for suffix in SUFFIXES},
            "a.xls": b"\xd0\xcf\x11\xe0" + bytes(600),
            "a.pdf": b"%PDF-1.7\n",
        }
    )

    found = {path: (one["kind"], one["access"]) for path, one in listed(room).items()}

    assert found["Makefile"] == found["notes.tex"] == ("text", "read_write")
    assert found["t.csv"] == ("csv", "read_write")
    assert found["p.png"] == ("image", "read_only")
    assert found["blob"] == ("binary", "opaque")
    assert found["a.zip"] == ("binary", "opaque")
    for kind in ("xlsx", "docx", "pptx"):
        assert found[f"a.{kind}"] == (kind, "read_write")
    assert found["a.pdf"] == ("pdf", "read_only")
    assert found["a.odt"] == ("odt", "read_only")
    assert found["a.xlsm"] == ("xlsx", "read_write")  # its macros stay
    assert found["a.docm"] == ("docx", "read_only")
    assert found["a.ods"] == found["a.xls"] == ("xlsx", "read_only")
    opaque = {path for path, one in listed(room).items() if one["is_opaque"]}
    assert opaque == {path for path, (_, access) in found.items() if access == "opaque"}


@pytest.mark.rule("B6.5", "B1.4", "B6.16")
def test_an_entry_keeps_its_identity_and_says_where_it_comes_from(tmp_path):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", clock=clock, mint=Mint(clock)) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "one", "b.txt": "two", "gone.txt": "x"})
        first = listed(room)["a.txt"]
        clock.move(5_000)
        room.write({"a.txt": "ONE", "new.txt": "n"})
        room.call("DraftDeletePath", path="gone.txt")
        room.call("DraftRenamePath", path="b.txt", new_path="moved.txt")
        drafted = listed(room)
        room.call("ReviewSetDeletionConfirmations", paths=["gone.txt"])
        room.call("DraftPublish")
        published = listed(room)
        clock.move(5_000)
        renamed = room.call("WorkbenchFileRename", path="a.txt", new_path="z/a.txt")
        room.add({"moved.txt": "three"}, on_conflict="replace")
        after = listed(room)

    assert first["origin"] == "import"
    assert first["import_sha256"] == first["sha256"]
    assert first["added_at"] == first["modified_at"]
    assert STAMP.fullmatch(first["added_at"])
    assert "draft_status" not in first
    statuses = {path: one.get("draft_status") for path, one in drafted.items()}
    assert statuses == {
        "a.txt": "MODIFIED",
        "new.txt": "ADDED",
        "gone.txt": "DELETED",
        "moved.txt": "RENAMED",
    }
    a, new = published["a.txt"], published["new.txt"]
    assert (a["file_id"], a["origin"], a["added_at"]) == (
        first["file_id"],
        "bench",
        first["added_at"],
    )
    assert a["modified_at"] > first["modified_at"]
    assert a["import_sha256"] == first["sha256"] != a["sha256"]
    assert (new["origin"], new.get("import_sha256")) == ("bench", None)
    assert set(after) == {"z/a.txt", "moved.txt", "new.txt"}
    assert after["z/a.txt"]["file_id"] == first["file_id"]
    assert renamed["path"] == "z/a.txt"
    assert after["moved.txt"]["file_id"] == published["moved.txt"]["file_id"]
    assert after["moved.txt"]["origin"] == "import"


@pytest.mark.rule("B6.16", "B10.2", "B8.9")
def test_a_rename_outside_a_draft_is_the_persons_change_with_a_way_back(room):
    room.add({"a.txt": "one"})

    done = room.call("WorkbenchFileRename", path="a.txt", new_path="b.txt")

    assert room.draft() is None
    assert room.published() == {"b.txt": "one"} == room.on_disk("published")
    assert generation(room) == 2
    [kept] = room.call("CheckpointsList")["checkpoints"]
    assert (kept["reason"], kept["trigger"]) == ("auto", "before_rename")
    room.call("CheckpointRestore", checkpoint_id=done["checkpoint_id"])
    assert room.published() == {"a.txt": "one"}


@pytest.mark.rule("B6.10", "B6.11", "B6.12")
def test_a_folder_is_walked_without_links_and_without_what_belongs_to_version_control(room):
    outside = room.folder / "outside"
    for name in ("d/a.txt", "d/.git/config", "d/e/b.bin", "d/.hg/x", "d/.svn/y", "d/e/.env"):
        path = outside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(range(256)) if name.endswith("bin") else b"text")
    (outside / "d" / "link").symlink_to(outside / "d" / "e")
    folder = str(outside / "d")

    plain = room.call("WorkbenchFilesAdd", source_paths=[folder])
    assert generation(room) == 0
    done = room.call("WorkbenchFilesAdd", source_paths=[folder], recursive=True, dest_dir="in")

    assert [(one["status"], one["reason"]) for one in plain["add_results"]] == [
        ("skipped", "directory")
    ]
    results = {Path(one["source_path"]).name: one for one in done["add_results"]}
    assert set(listed(room)) == {"in/d/a.txt", "in/d/e/b.bin", "in/d/e/.env"}
    assert results["a.txt"]["path"] == "in/d/a.txt"
    assert results["a.txt"]["status"] == "added"
    assert results["a.txt"]["file_id"] == listed(room)["in/d/a.txt"]["file_id"]
    assert results["b.bin"]["opaque_notice"] is True
    assert not results["a.txt"].get("opaque_notice")
    assert (results["link"]["status"], results["link"]["reason"]) == ("skipped", "symlink")
    assert generation(room) == 1


@pytest.mark.rule("B6.10", "B6.9")
def test_a_walk_ends_where_the_bench_would_be_full(room):
    limits = {"max_files": 3, "max_file_bytes": 100, "max_total_bytes": 1000, "max_depth": 3}
    room.call("WorkbenchSetLimits", limits=limits)
    folder = room.folder / "many"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.txt").write_text("x")

    code = refused(room.call, "WorkbenchFilesAdd", source_paths=[str(folder)], recursive=True)

    assert code[0] == "LIMIT_EXCEEDED"
    assert room.published() == {}


@pytest.mark.rule("B6.13", "B6.12", "B10.4")
def test_removing_answers_for_each_path_and_keeps_a_checkpoint(room):
    room.add({"a.txt": "one", "b.txt": "two", "c.txt": "three"})
    wanted = ["a.txt", "a.txt", "none.txt", "../x", "b.txt"]

    done = room.call("WorkbenchFilesRemove", workbench_paths=wanted)
    again = room.call("WorkbenchFilesRemove", workbench_paths=["a.txt"])

    assert [(one["path"], one["status"], one.get("reason")) for one in done["remove_results"]] == [
        ("a.txt", "removed", None),
        ("a.txt", "skipped", "duplicate_request"),
        ("none.txt", "failed", "not_found"),
        ("../x", "failed", "invalid_path"),
        ("b.txt", "removed", None),
    ]
    assert room.published() == {"c.txt": "three"}
    assert generation(room) == 2  # one for the whole request, none for the one without effect
    assert again["remove_results"][0]["status"] == "failed"
    [kept] = room.call("CheckpointsList")["checkpoints"]
    assert (kept["trigger"], kept["description"]) == ("before_remove", "Before removing 2 files")
    assert (room.folder / "outside" / "a.txt").read_text() == "one"
    room.call("CheckpointRestore", checkpoint_id=done["checkpoint_id"])
    assert set(room.published()) == {"a.txt", "b.txt", "c.txt"}


@pytest.mark.rule("B6.15", "B6.14", "B22.17")
def test_copying_out_answers_for_each_path_and_changes_nothing(room):
    room.add({"notes.txt": "one", ".env": "two"})
    out = room.folder / "out"
    out.mkdir()
    before = (generation(room), room.published())
    asked = {"destination_dir": str(out)}

    for _ in range(2):
        room.call("WorkbenchFilesExtract", **asked)
    wanted = ["notes.txt", "notes.txt", "none", "/etc/passwd"]
    done = room.call("WorkbenchFilesExtract", workbench_paths=wanted, **asked)

    names = {path.name: path.read_text() for path in out.iterdir()}
    assert names == {
        **{"notes.txt": "one", "notes(1).txt": "one", "notes(2).txt": "one"},
        **{".env": "two", ".env(1)": "two"},
    }
    assert [
        (one["status"], one.get("reason"), Path(one.get("final_path") or "").name)
        for one in done["extract_results"]
    ] == [
        ("extracted", None, "notes(2).txt"),
        ("skipped", "duplicate_request", ""),
        ("failed", "not_found", ""),
        ("failed", "invalid_path", ""),
    ]
    assert (generation(room), room.published()) == before
    kinds = [one["kind"] for one in room.call("AuditList")["entries"]]
    assert kinds.count("files_extracted") == 3


@pytest.mark.rule("B5.4", "B5.1", "B5.9", "B5.8")
def test_benches_have_names_and_share_nothing_but_contents(room):
    other = Room(room.shop, room.folder)
    room.add({"a.txt": "same"})
    other.add({"b.txt": "same"})
    room.write({"a.txt": "draft"})

    room.call("WorkbenchRename", new_name="  Zahlen\u0301 ")
    other.call("WorkbenchRename", new_name="Zahlen\u0301")
    assert refused(room.call, "WorkbenchRename", new_name="  ")[0] == "VALIDATION_FAILED"
    assert refused(room.call, "WorkbenchRename", new_name="x" * 121)[0] == "VALIDATION_FAILED"
    other.call("WorkbenchFilesRemove", workbench_paths=["b.txt"])

    names = [one["name"] for one in room.shop.call("WorkbenchList", {})["workbenches"]]
    assert names == ["Zahle\u0144"] * 2
    assert (room.published(), room.draft()) == ({"a.txt": "same"}, {"a.txt": "draft"})
    assert other.published() == {}
    other.write({"made.txt": "from nothing"})  # a bench without files takes a file too
    other.call("DraftPublish")
    assert other.published() == {"made.txt": "from nothing"}


@pytest.mark.rule("B5.1")
@pytest.mark.parametrize("name", ["two\nlines", "a\u2028b", "bell\a", "re\u202etrauq", "\u2067x"])
def test_a_name_of_a_workbench_is_one_line_that_reads_as_what_it_is(room, name):
    persian = "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627"
    room.call("WorkbenchRename", new_name=persian)

    assert refused(room.call, "WorkbenchRename", new_name=name)[0] == "VALIDATION_FAILED"
    assert refused(room.shop.call, "WorkbenchCreate", {"name": name})[0] == "VALIDATION_FAILED"
    names = [one["name"] for one in room.shop.call("WorkbenchList", {})["workbenches"]]
    assert names == [persian]


@pytest.mark.rule("B5.1")
def test_a_workbench_that_nobody_could_see_the_name_of_is_untitled(room):
    room.shop.call("WorkbenchCreate", {"name": "\u200b\u2060 \u00a0"})

    names = {one["name"] for one in room.shop.call("WorkbenchList", {})["workbenches"]}
    assert "Untitled Workbench" in names
    assert refused(room.call, "WorkbenchRename", new_name="\u200b")[0] == "VALIDATION_FAILED"


@pytest.mark.rule("B5.2", "B1.6", "B7.7")
def test_opening_says_how_things_stand_and_moves_no_head(room):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "two"})
    before = room.shop.benches.desk.state(room.id)
    (room.shop.config.home / "benches" / room.id / "published" / "a.txt").unlink()

    with Backshop.open(room.shop.config.home) as again:
        opened = again.call("WorkbenchOpen", {"workbench_id": room.id})
        after = again.benches.desk.state(room.id)

    assert opened["workbench"]["workbench_id"] == room.id
    assert (opened["draft"]["has_draft"], opened["draft"]["reminder"]) == (True, "none")
    assert (opened["health"], opened["warnings"]) == ("ok", [])
    assert (after.published, after.draft, after.generation) == (
        before.published,
        before.draft,
        before.generation,
    )
    assert (after.context_tree, after.conversation_head_id) == (
        before.context_tree,
        before.conversation_head_id,
    )
