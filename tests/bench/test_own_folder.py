"""A workbench of a person's own folder: taken in, written back, and never at anybody's cost."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.effort import calls

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.base.system import durability, file_name
from backshop.bench.folder import scan, write_back

from .conftest import Room
from .test_announcing import Ear

START = {"a.txt": "one", "b.txt": "keep", "d/c.txt": "deep"}


class Own(Room):
    """A bench of a folder."""

    def __init__(self, shop: Backshop, folder: Path, files: dict[str, str] = START) -> None:
        self.shop = shop
        self.folder = folder
        self.own = folder / "own"
        self.own.mkdir(exist_ok=True)
        self.save(files)
        self.opened = shop.call("WorkbenchOpenFolder", {"folder": str(self.own)})
        self.id = self.opened["workbench_id"]

    def save(self, files: dict[str, str]) -> None:
        """Write into the folder as another program does."""
        for name, text in files.items():
            path = self.own / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def held(self) -> dict[str, str]:
        """Return what is in the folder."""
        found = sorted(one for one in self.own.rglob("*") if one.is_file())
        return {one.relative_to(self.own).as_posix(): one.read_text() for one in found}

    def state(self):
        """Return how things stand, in few words."""
        found = self.call("FolderGetState")
        return {
            "to_write": found["to_write"],
            "conflicts": [(one["path"], one["became"]) for one in found["conflicts"]],
            "outside": [(one["path"], one["kind"]) for one in found["outside"]],
            "in_step": found["in_step"],
        }

    def publish(self, files: dict[str, str | None]):
        """Write a Draft and publish it."""
        written: dict[str, str | None] = {
            path: text for path, text in files.items() if text is not None
        }
        if written:
            self.write(written)
        else:
            self.call("DraftCreate")
        gone = [path for path, text in files.items() if text is None]
        for path in gone:
            self.call("DraftDeletePath", path=path)
        if gone:
            self.call("ReviewSetDeletionConfirmations", paths=gone)
        return self.call("DraftPublish")

    def kept(self) -> set[str]:
        """Return what was rescued."""
        salvage = self.shop.config.home / "benches" / self.id / "meta" / "salvage"
        return {one.read_text() for one in salvage.rglob("*") if one.is_file()}


STEADY = {"to_write": [], "conflicts": [], "outside": [], "in_step": True}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Backshop]:
    with Backshop.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def own(shop, tmp_path) -> Own:
    return Own(shop, tmp_path)


def refused(act, *args, **named) -> tuple[str, str | None]:
    with pytest.raises(BackshopError) as caught:
        act(*args, **named)
    return caught.value.code, caught.value.reason


@pytest.mark.rule("B23.1", "B23.4")
def test_a_folder_is_copied_in_once_and_found_again(own, shop):
    again = shop.call("WorkbenchOpenFolder", {"folder": f"{own.own}/d/.."})

    assert own.published() == own.held() == START
    assert (own.opened["created"], own.opened["files"], own.opened["name"]) == (True, 3, "own")
    assert (again["created"], again["workbench_id"]) == (False, own.id)
    assert own.state() == STEADY
    assert shop.call("WorkbenchList", {})["workbenches"][0]["folder_name"] == "own"


@pytest.mark.rule("B23.2")
def test_what_ignore_files_name_links_and_version_stores_stay_out(shop, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / ".git" / "info").mkdir(parents=True)
    (tmp_path / "own" / ".git" / "info" / "exclude").write_text("secret.txt\n")
    (tmp_path / "own" / "link").symlink_to("/etc")
    ignored = {
        ".gitignore": "*.log\n!kept.log\nbuild/\n",
        "x.log": "",
        "kept.log": "k",
        "build/out.txt": "",
        "d/.gitignore": "/only-here\n",
        "d/only-here": "",
        "d/e/only-here": "e",
        "secret.txt": "s",
    }
    own = Own(shop, tmp_path, ignored)

    assert set(own.published()) == {".gitignore", "kept.log", "d/.gitignore", "d/e/only-here"}
    assert own.opened["folder"]["skipped"] == [{"path": "link", "reason": "symlink"}]


@pytest.mark.rule("B23.2")
def test_names_that_no_workbench_has_are_told_and_left_alone(shop, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / os.fsdecode(b"\xff.txt")).write_text("x")
    files = {
        "a:b.txt": "",
        "Same.txt": "1",
        "same.txt": "2",
        "e\u0301.txt": "e",
        "D/x": "",
        "d": "",
    }
    own = Own(shop, tmp_path, files)

    skipped = {one["path"]: one["reason"] for one in own.opened["folder"]["skipped"]}
    assert set(own.published()) == {"Same.txt", "\u00e9.txt", "d"}
    assert skipped == {
        "a:b.txt": "invalid_name",
        "same.txt": "collision",
        "D/x": "collision",
        "\\udcff.txt": "invalid_name",
    }
    own.publish({"\u00e9.txt": "changed"})
    assert (own.own / "e\u0301.txt").read_text() == "changed"


@pytest.mark.rule("B23.3", "B23.5")
def test_folders_that_cannot_be_followed_are_refused(own, shop, tmp_path):
    def follow(folder):
        return shop.call("WorkbenchOpenFolder", {"folder": str(folder)})

    (tmp_path / "file").write_text("x")
    home = shop.config.home
    assert refused(follow, tmp_path / "nowhere") == ("VALIDATION_FAILED", "bad_folder")
    assert refused(follow, tmp_path / "file") == ("VALIDATION_FAILED", "bad_folder")
    assert refused(follow, "") == ("VALIDATION_FAILED", "bad_folder")
    assert refused(follow, home / "benches") == ("VALIDATION_FAILED", "inside_home")
    assert refused(follow, tmp_path) == ("VALIDATION_FAILED", "inside_home")
    assert refused(follow, own.own / "d") == ("VALIDATION_FAILED", "folder_followed")
    assert len(shop.call("WorkbenchList", {})["workbenches"]) == 1


@pytest.mark.rule("B23.5")
def test_a_bench_in_the_trash_follows_nothing(own, shop):
    own.call("WorkbenchDelete", confirm=own.id)
    other = shop.call("WorkbenchOpenFolder", {"folder": str(own.own)})["workbench_id"]

    assert other != own.id
    assert refused(own.call, "WorkbenchUndelete") == ("VALIDATION_FAILED", "folder_followed")
    shop.call("WorkbenchDelete", {"workbench_id": other, "confirm": other})
    own.call("WorkbenchUndelete")
    assert own.state() == STEADY


@pytest.mark.rule("B23.3")
def test_a_folder_with_more_than_a_workbench_takes_makes_none(shop, tmp_path):
    shop.call("SettingsSet", {"key": "bench.profile", "value": "classic"})
    with Backshop.open(tmp_path / "other") as other:
        other.call("SettingsSet", {"key": "bench.profile", "value": "classic"})
    with Backshop.open(tmp_path / "other") as other:
        files = {f"{number}.txt": "x" for number in range(11)}

        assert refused(Own, other, tmp_path, files) == ("LIMIT_EXCEEDED", "too_large")
        assert other.call("WorkbenchList", {})["workbenches"] == []
        large = {"folder": str(tmp_path / "own"), "profile": "standard"}
        assert other.call("WorkbenchOpenFolder", large)["files"] == 11


@pytest.mark.rule("B23.6", "B23.7")
def test_publishing_writes_into_the_folder(own):
    with Ear(own) as ear:
        done = own.publish({"a.txt": "two", "n/new.txt": "new", "d/c.txt": None})
        heard = ear.heard()

    assert own.held() == own.published() == {"a.txt": "two", "b.txt": "keep", "n/new.txt": "new"}
    assert not (own.own / "d").exists()
    assert done["folder"]["written"] == ["a.txt", "n/new.txt", "d/c.txt"]
    assert done["warnings"] == []
    assert own.state() == STEADY
    progress = [dict(one.payload) for one in heard if one.name == "FolderWriteProgress"]
    assert progress == [{"done": number, "total": 3} for number in range(4)]
    assert [one.name for one in heard].count("FolderChanged") == 2
    kinds = [one["kind"] for one in own.call("AuditList")["entries"]]
    assert kinds[-3:] == ["draft_published", "folder_write_began", "folder_written"]


@pytest.mark.rule("B23.6")
def test_a_file_becomes_a_folder_and_a_folder_a_file(own):
    own.publish({"d/c.txt": None, "a.txt": None})
    own.publish({"d": "a file", "a.txt/in.txt": "a folder"})

    assert own.held() == {"b.txt": "keep", "d": "a file", "a.txt/in.txt": "a folder"}
    own.publish({"d": None, "a.txt/in.txt": None})
    own.publish(dict(START))
    assert own.held() == START


@pytest.mark.rule("B23.14", "B23.16")
def test_what_both_changed_is_refused_and_what_only_they_changed_is_left_alone(own):
    own.write({"a.txt": "draft"})
    own.save({"a.txt": "theirs", "b.txt": "theirs too", "new.txt": "theirs"})

    assert refused(own.call, "DraftPublish") == ("CONFLICT_PUBLISHED_CHANGED", "folder_changed")
    own.save({"a.txt": "one"})
    done = own.call("DraftPublish")

    assert done["folder"]["written"] == ["a.txt"]
    assert own.held() == {
        **START,
        "a.txt": "draft",
        "b.txt": "theirs too",
        "new.txt": "theirs",
    }
    assert own.published()["b.txt"] == "keep"
    assert own.state()["outside"] == [("b.txt", "MODIFIED"), ("new.txt", "ADDED")]


@pytest.mark.rule("B23.16")
@pytest.mark.parametrize(
    ("keep", "files"),
    [
        ("theirs", {"a.txt": "theirs"}),
        ("ours", {"a.txt": "draft"}),
        ("both", {"a.txt": "theirs", "a (draft).txt": "draft"}),
    ],
)
def test_a_clash_is_settled_as_with_published(own, keep, files):
    own.write({"a.txt": "draft"})
    own.save({"a.txt": "theirs", "b.txt": "more"})

    own.call("PublishedReconcile", keep=keep)
    own.call("DraftPublish")

    expected = {**START, **files, "b.txt": "more" if keep != "ours" else "keep"}
    assert own.published() == own.held() == expected
    assert own.state() == STEADY


@pytest.mark.rule("B23.15")
def test_without_a_draft_opening_and_sending_take_in_what_others_did(own):
    own.save({"a.txt": "theirs", "new.txt": "n"})
    (own.own / "b.txt").unlink()

    own.call("WorkbenchOpen")

    assert own.published() == own.held() == {"a.txt": "theirs", "d/c.txt": "deep", "new.txt": "n"}
    newest = own.call("CheckpointsList")["checkpoints"][0]
    assert (newest["trigger"], newest["actor"]) == ("before_adopt", "system")
    own.save({"a.txt": "again"})
    own.call("WorkshopSendUserMessage", text="hello")
    assert own.published()["a.txt"] == "again"


@pytest.mark.rule("B23.15")
def test_with_a_draft_or_where_something_waits_nothing_is_taken_in_by_itself(own):
    own.write({"b.txt": "draft"})
    own.save({"a.txt": "theirs"})

    opened = own.call("WorkbenchOpen")

    assert [one["path"] for one in opened["folder"]["outside"]] == ["a.txt"]
    assert own.published() == START
    assert own.call("FolderTake", paths=["a.txt"])["taken"] == ["a.txt"]
    assert own.published()["a.txt"] == "theirs"
    assert refused(own.call, "FolderTake", paths=["b.txt"]) == ("NOT_FOUND", "not_found")


@pytest.mark.rule("B23.8", "B23.17", "B23.18")
@pytest.mark.parametrize("keep", ["theirs", "ours"])
def test_a_conflict_waits_for_the_person(own, monkeypatch, keep):
    real = file_name.exchange_in

    def late(folder, one, two):
        if two == "a.txt" and (own.own / "a.txt").read_text() == "one":
            (own.own / "a.txt").write_text("theirs")
        return real(folder, one, two)

    monkeypatch.setattr(file_name, "exchange_in", late)
    done = own.publish({"a.txt": "two", "b.txt": "also"})

    assert (done["folder"]["written"], done["folder"]["conflicts"]) == (["b.txt"], ["a.txt"])
    assert done["warnings"] == ["folder_behind"]
    assert own.held() == {**START, "a.txt": "theirs", "b.txt": "also"}
    assert own.kept() == {"theirs"}
    assert own.state() == {**STEADY, "conflicts": [("a.txt", "changed")], "in_step": False}
    own.call("WorkbenchOpen")
    assert own.published()["a.txt"] == "two"

    own.call("FolderSettle", paths=["a.txt"], keep=keep)

    text = "theirs" if keep == "theirs" else "two"
    assert own.published() == own.held() == {**START, "a.txt": text, "b.txt": "also"}
    assert own.state() == STEADY
    assert own.call("AuditList")["entries"][-1]["kind"] == "folder_settled"
    assert refused(own.call, "FolderSettle", paths=["a.txt"], keep="ours")[0] == "NOT_FOUND"


@pytest.mark.rule("B23.17")
def test_a_conflict_that_is_none_any_more_goes_with_the_next_write(own):
    with (own.own / "a.txt").open("r+") as held:
        done = own.publish({"a.txt": "two"})
        assert done["folder"]["conflicts"] == ["a.txt"]
        assert own.state()["conflicts"] == [("a.txt", "open")]
        held.read()

    assert own.call("FolderWriteBack")["written"] == ["a.txt"]
    assert own.held() == {**START, "a.txt": "two"}
    assert own.state() == STEADY


@pytest.mark.rule("B23.9", "B23.17")
def test_what_stands_in_the_way_is_never_followed_or_recreated(own, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "c.txt").write_text("deep")
    own.write({"d/c.txt": "two", "d/e.txt": "new", "a.txt": "two", "b.txt": "two"})
    real = write_back.brought_or_told

    def late(desk, state):
        shutil.rmtree(own.own / "d")
        (own.own / "d").symlink_to(elsewhere)
        (own.own / "a.txt").unlink()
        (own.own / "b.txt").unlink()
        (own.own / "b.txt").mkdir()
        return real(desk, state)

    monkeypatch.setattr(write_back, "brought_or_told", late)

    own.call("DraftPublish")

    assert (elsewhere / "c.txt").read_text() == "deep"
    assert [one.name for one in elsewhere.iterdir()] == ["c.txt"]
    assert own.state()["conflicts"] == [
        ("a.txt", "missing"),
        ("b.txt", "not_a_file"),
        ("d/c.txt", "not_a_file"),
        ("d/e.txt", "not_a_file"),
    ]
    assert not (own.own / "a.txt").exists()


@pytest.mark.rule("B23.13")
def test_a_file_system_that_cannot_exchange_names_is_told(own, monkeypatch):
    monkeypatch.setattr(file_name, "_RENAME_EXCHANGE", 1 << 30)

    done = own.publish({"a.txt": "two", "new.txt": "new"})

    assert done["folder"]["is_atomic"] is False
    assert own.held() == own.published()


@pytest.mark.rule("B23.12", "B23.21")
@pytest.mark.parametrize(
    ("number", "reason"), [(errno.ENOSPC, "disk_full"), (errno.EACCES, "no_rights")]
)
def test_files_that_cannot_be_written_stay_old_and_are_written_later(
    own, monkeypatch, number, reason
):
    real, calls_ = durability.sync, []

    def full(handle):
        if Path(f"/proc/self/fd/{handle}").readlink().is_relative_to(own.own):
            calls_.append(handle)
            if len(calls_) > 1:
                raise OSError(number, os.strerror(number))
        real(handle)

    monkeypatch.setattr(durability, "sync", full)
    done = own.publish({"a.txt": "two", "b.txt": "two", "d/c.txt": "two"})
    monkeypatch.setattr(durability, "sync", real)

    assert done["folder"]["written"] == ["a.txt"]
    assert done["folder"]["failed"][0] == {"path": "b.txt", "reason": reason}
    assert done["warnings"] == ["folder_behind"]
    assert own.held() == {"a.txt": "two", "b.txt": "keep", "d/c.txt": "deep"}
    assert own.call("FolderGetState")["is_writing"] is True

    opened = own.call("WorkbenchOpen")

    assert opened["recovery"] == ["folder_written"]
    assert own.held() == own.published()
    assert own.state() == STEADY


@pytest.mark.rule("B23.21")
def test_a_folder_that_is_gone_or_another_one_is_told_and_not_made_again(own, shop, tmp_path):
    moved = tmp_path / "moved"
    own.own.rename(moved)
    done = own.publish({"a.txt": "two"})

    assert (done["folder"]["reason"], done["folder"]["left"]) == ("folder_gone", 1)
    assert not own.own.exists()
    assert own.call("FolderGetState")["reason"] == "gone"
    assert refused(own.call, "FolderWriteBack") == ("NOT_FOUND", "folder_gone")
    own.own.mkdir()
    assert own.call("WorkbenchOpen")["folder"]["reason"] == "replaced"
    assert list(own.own.iterdir()) == []
    own.own.rmdir()
    own.own.write_text("a file")
    assert own.call("FolderGetState")["reason"] == "not_a_folder"
    own.own.unlink()

    found = own.call("FolderFollow", folder=str(moved))

    own.own = moved
    assert (found["is_there"], found["to_write"]) == (True, ["a.txt"])
    own.call("WorkbenchOpen")
    assert own.held() == {**START, "a.txt": "two"}
    other = shop.call("WorkbenchCreate", {"name": "Other"})["workbench_id"]
    asked = {"workbench_id": other, "folder": str(tmp_path)}
    assert refused(shop.call, "FolderFollow", asked)[0] == "VALIDATION_FAILED"


@pytest.mark.rule("B23.15")
def test_a_folder_that_is_suddenly_empty_is_no_wish_to_delete(own):
    for one in list(own.own.iterdir()):
        shutil.rmtree(one) if one.is_dir() else one.unlink()

    opened = own.call("WorkbenchOpen")

    assert opened["folder"]["reason"] == "emptied"
    assert own.published() == START
    assert refused(own.call, "FolderTake") == ("VALIDATION_FAILED", "folder_emptied")
    assert own.call("FolderTake", paths=["a.txt"])["taken"] == ["a.txt"]


@pytest.mark.rule("B23.15")
def test_what_cannot_be_read_is_not_taken_for_deleted(own, tmp_path):
    (own.own / "a.txt").unlink()
    (own.own / "a.txt").symlink_to(tmp_path / "nowhere")
    shutil.move(own.own / "d", tmp_path / "d")
    (own.own / "d").symlink_to(tmp_path / "d")

    opened = own.call("WorkbenchOpen")["folder"]

    assert own.published() == START
    assert [(one["path"], one["reason"]) for one in opened["outside"]] == [
        ("a.txt", "symlink"),
        ("d/c.txt", "symlink"),
    ]
    code, reason = refused(own.call, "FolderTake", paths=["a.txt"])
    assert (code, reason) == ("FILE_READ_FAILED", "symlink")


@pytest.mark.rule("B23.19")
def test_a_restore_offers_the_folder_and_writes_it_when_asked(own):
    own.publish({"a.txt": "two", "new.txt": "new"})
    wanted = own.call("CheckpointsList")["checkpoints"][0]["checkpoint_id"]

    dry = own.call("CheckpointRestore", checkpoint_id=wanted, dry_run=True)
    done = own.call("CheckpointRestore", checkpoint_id=wanted)

    assert (dry["folder_behind"], done["folder_behind"]) == (2, 2)
    assert own.held() == {**START, "a.txt": "two", "new.txt": "new"}
    own.call("WorkbenchOpen")  # neither written nor taken in: the person decides
    assert own.state()["to_write"] == ["a.txt", "new.txt"]
    own.call("FolderWriteBack")
    assert own.held() == own.published() == START
    newest = own.call("CheckpointsList")["checkpoints"][0]["checkpoint_id"]
    again = own.call("CheckpointRestore", checkpoint_id=newest, write_folder=True)
    assert (again["folder_behind"], again["folder"]["written"]) == (0, ["a.txt", "new.txt"])
    assert own.held() == {**START, "a.txt": "two", "new.txt": "new"}


@pytest.mark.rule("B23.20")
def test_a_commit_message_is_offered_in_git_folders_and_git_is_not_touched(own):
    assert own.publish({"a.txt": "two"})["folder"].get("commit_message") is None
    git = own.own / ".git"
    git.mkdir()
    (git / "index").write_text("theirs")
    before = {one: one.stat() for one in (git, git / "index")}
    own.call("WorkshopSendUserMessage", text="Put the totals\ninto the table")

    done = own.publish({"a.txt": "three"})

    said = "Put the totals into the table\n\n- a.txt"
    assert done["folder"]["commit_message"] == said
    assert {one: one.stat() for one in (git, git / "index")} == before


@pytest.mark.rule("B23.20", "W24.2")
@pytest.mark.parametrize(
    ("text", "subject"),
    [("Rounder, please\nand soon", "Rounder, please and soon"), ("", "Write the totals")],
)
def test_a_commit_message_has_the_sentence_and_not_the_comments(own, text, subject):
    (own.own / ".git").mkdir()
    own.call("WorkshopSendUserMessage", text="Write the totals")
    own.write({"a.txt": "two"})
    own.call("ReviewAddComment", path="a.txt", text="This is not what I meant")
    own.call("WorkshopRequestChanges", text=text)

    done = own.call("DraftPublish")

    assert done["folder"]["commit_message"] == f"{subject}\n\n- a.txt"


@pytest.mark.rule("B23.2", "B23.20")
def test_nothing_is_ever_written_into_a_version_store(own):
    (own.own / ".git").mkdir()
    hooks = {".git/hooks/pre-commit": "#!/bin/sh\n", "d/.GIT/config": "x", ".hg/hgrc": "x"}
    done = own.publish({"a.txt": "two", **hooks})["folder"]

    assert (done["written"], set(done["kept_out"])) == (["a.txt"], set(hooks))
    assert own.held() == {**START, "a.txt": "two"}
    assert list((own.own / ".git").iterdir()) == []
    found = own.call("FolderGetState")
    assert found["in_step"]
    assert {(one["path"], one["reason"]) for one in found["skipped"]} == {
        (path, "version_store") for path in hooks
    }
    own.call("WorkbenchOpen")
    assert set(own.published()) == {*START, *hooks}


@pytest.mark.rule("B23.2")
def test_a_followed_file_stays_so_when_an_ignore_file_names_it(own):
    own.save({".gitignore": "b.txt\nd/\nnew.txt\n", "new.txt": "n", "d/other.txt": "n"})

    own.call("WorkbenchOpen")

    assert set(own.published()) == {*START, ".gitignore"}
    own.publish({"b.txt": "two", "d/c.txt": "two"})
    assert own.state() == STEADY


@pytest.mark.rule("B23.2", "B23.19")
@pytest.mark.parametrize("line", ["build/", "build", "build/*", "build/**", "**/build/", "/*\n!/b"])
def test_what_is_ignored_beside_a_file_of_ours_is_never_taken_in_or_removed(shop, tmp_path, line):
    theirs = {
        "build/out.bin": "out",
        "build/deep/x.o": "x",
        "build/deep/.gitignore": "!*\n",
        "build/ours/more.o": "more",
    }
    own = Own(shop, tmp_path, {".gitignore": f"{line}\n", **theirs})
    assert not set(own.published()) & set(theirs)
    kept = own.call("CheckpointCreate", description="before")["checkpoint_id"]
    before = own.published()

    own.publish({"build/gen.txt": "gen", "build/ours/gen.txt": "gen"})

    assert own.state() == STEADY
    own.call("WorkbenchOpen")
    assert own.state() == STEADY
    assert set(own.published()) == {*before, "build/gen.txt", "build/ours/gen.txt"}
    own.call("CheckpointRestore", checkpoint_id=kept, write_folder=True)
    assert own.held() == {".gitignore": f"{line}\n", **theirs}
    assert own.state() == STEADY


@pytest.mark.rule("B23.2", "B23.17")
def test_an_ignored_file_is_not_replaced_by_one_of_its_name(shop, tmp_path):
    own = Own(shop, tmp_path, {".gitignore": "build/\n", "build/out.bin": "theirs"})

    done = own.publish({"build/out.bin": "ours", "build/gen.txt": "gen"})["folder"]

    assert (done["written"], done["conflicts"]) == (["build/gen.txt"], ["build/out.bin"])
    assert own.held()["build/out.bin"] == "theirs"
    assert own.state()["conflicts"] == [("build/out.bin", "changed")]


@pytest.mark.rule("B23.1")
def test_a_folder_on_another_disk(shop, tmp_path):
    here = tmp_path.stat().st_dev
    places = (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"))  # other disks
    other = next((one for one in places if one.is_dir() and one.stat().st_dev != here), None)
    if other is None:
        pytest.skip("there is one disk only")
    with tempfile.TemporaryDirectory(dir=other) as folder:
        own = Own(shop, Path(folder))
        own.publish({"a.txt": "two", "n/new.txt": "new", "b.txt": None})

        assert (
            own.held()
            == own.published()
            == {
                "a.txt": "two",
                "d/c.txt": "deep",
                "n/new.txt": "new",
            }
        )


@pytest.mark.rule("B23.17", "B2.9")
def test_what_is_in_conflict_outlives_a_collection(own):
    own.publish({"a.txt": "two"})
    before = own.call("CheckpointsList")["checkpoints"][0]["checkpoint_id"]
    own.call("CheckpointRestore", checkpoint_id=before)
    own.save({"a.txt": "theirs"})
    assert own.call("FolderWriteBack")["conflicts"] == ["a.txt"]
    (own.own / "a.txt").unlink()
    own.shop.call("StoreGc", {"apply": True})

    theirs = own.call("FolderGetState")["conflicts"][0]["theirs_sha256"]
    assert own.shop.store.blobs.read(theirs) == b"theirs"


@pytest.mark.rule("B23.1", "T6.4")
def test_people_who_share_a_home_see_the_name_and_not_the_place(own):
    person = own.shop.call("UserAdd", {"name": "Ann"})["user_id"]
    own.call("AccessSet", user_id=person, role="publish")

    def ask(name, **request):
        return own.shop.call(name, {"workbench_id": own.id, **request}, user=person)

    assert ask("FolderGetState").get("folder") is None
    assert ask("WorkbenchOpen")["folder"].get("folder") is None
    assert ask("WorkbenchOpen")["folder"]["name"] == "own"
    assert refused(ask, "FolderFollow", folder="/tmp")[0] == "ACCESS_DENIED"
    opening = {"folder": str(own.own)}
    assert refused(own.shop.call, "WorkbenchOpenFolder", opening, user=person)[0] == "ACCESS_DENIED"


@pytest.mark.rule("B23.22")
def test_looking_again_reads_only_what_was_touched(own, monkeypatch):
    own.save({f"n{number}.txt": "x" for number in range(20)})
    own.call("WorkbenchOpen")
    now = time.time_ns()
    assert calls(scan.hashed, lambda: own.call("FolderGetState")) == 23  # touched just now
    monkeypatch.setattr(scan, "now_ns", lambda: now + 60_000_000_000)
    own.call("FolderGetState")

    assert calls(scan.hashed, lambda: own.call("FolderGetState")) == 0
    own.save({"n3.txt": "y"})
    assert calls(scan.hashed, lambda: own.call("FolderGetState")) == 1
    assert own.state()["outside"] == [("n3.txt", "MODIFIED")]


@pytest.mark.rule("B23.5", "B23.11")
def test_two_homes_that_follow_one_folder_lose_nothing(own, tmp_path):
    with Backshop.open(tmp_path / "second") as shop:
        other = Own(shop, tmp_path)
        own.write({"a.txt": "first"})
        other.write({"a.txt": "second", "b.txt": "second"})

        own.call("DraftPublish")
        assert refused(other.call, "DraftPublish")[1] == "folder_changed"
        other.call("PublishedReconcile", keep="both")
        other.call("DraftPublish")

        assert own.held() == {
            **START,
            "a.txt": "first",
            "a (draft).txt": "second",
            "b.txt": "second",
        }
        own.call("WorkbenchOpen")
        assert own.published() == other.published() == own.held()


HAMMER = """
import sys
from pathlib import Path
folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
print("on", flush=True)
for number in range(rounds):
    name = folder / f"{number % 4}.txt"
    if number % 2:
        with name.open("ab") as file:
            file.write(b"edit %d\\n" % number)
    else:
        beside = folder / "beside~"
        beside.write_bytes(name.read_bytes() + b"edit %d\\n" % number)
        beside.rename(name)
"""


@pytest.mark.timeout(120)
@pytest.mark.rule("B23.11")
def test_another_program_edits_while_drafts_are_published(shop, tmp_path, scaled):
    rounds = scaled(400, 20_000)
    own = Own(shop, tmp_path, {".gitignore": "*~\n", **{f"{n}.txt": "start\n" for n in range(4)}})
    theirs = subprocess.Popen(
        [sys.executable, "-c", HAMMER, str(own.own), str(rounds)], stdout=subprocess.PIPE
    )
    assert theirs.stdout is not None
    theirs.stdout.readline()
    number = 0
    while theirs.poll() is None:
        number += 1
        own.call("WorkbenchOpen")
        now = own.published()
        own.write({name: f"{now[name]}ours {number}\n" for name in ("0.txt", "1.txt", "2.txt")})
        try:
            own.call("DraftPublish")
        except BackshopError as error:
            assert error.code == "CONFLICT_PUBLISHED_CHANGED"
            own.call("PublishedReconcile", keep="theirs")
            own.call("DraftDiscard")
        for one in own.call("FolderGetState")["conflicts"]:
            own.call("FolderSettle", paths=[one["path"]], keep="theirs")
    theirs.stdout.close()

    own.call("WorkbenchOpen")
    desk = shop.benches.desk
    state = desk.state(own.id)
    kept = [text for tree_id in state.roots() for text in own._tree(tree_id).values()]
    everything = "".join([*own.held().values(), *own.kept(), *kept])
    lost = [n for n in range(rounds) if f"edit {n}\n" not in everything]
    assert theirs.returncode == 0
    assert lost == []
    assert not list(own.own.rglob(".bs-tmp-*"))
