"""One file of a person's folder is exchanged only for what was reviewed; nothing else is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from io import FileIO
from pathlib import Path

import pytest

from backshop.base.canon import sha256_hex
from backshop.base.ids import BlobId
from backshop.base.system import file_name
from backshop.bench.folder.exchange import Became, Outcome, Wish, exchange_file

OLD, NEW, THEIRS = b"old\n", b"old\nand new\n", b"theirs\n"

HAMMER = """
import sys
from pathlib import Path
name, rounds = Path(sys.argv[1]), int(sys.argv[2])
print("on", flush=True)
for number in range(rounds):
    how = number % 3
    if how == 0:  # in place, at the end
        with name.open("ab") as file:
            file.write(b"edit %d\\n" % number)
    elif how == 1:  # in place, read and written
        with name.open("r+b") as file:
            text = file.read()
            file.seek(0)
            file.write(text + b"edit %d\\n" % number)
    else:  # beside it, and renamed over it
        beside = name.with_name("beside")
        beside.write_bytes(name.read_bytes() + b"edit %d\\n" % number)
        beside.rename(name)
"""


def blob(content):
    return None if content is None else BlobId(sha256_hex(content))


def wish(tmp_path, before=OLD, after=NEW, mode="644"):
    content = None
    if after is not None:
        content = tmp_path / "content"
        content.write_bytes(after)
    return Wish(name="a.txt", before=blob(before), after=blob(after), content=content, mode=mode)


class Kept(list[bytes]):
    """What was kept, in memory."""

    def __call__(self, handle):
        with os.fdopen(os.dup(handle), "rb") as file:
            self.append(file.read())


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "folder"
    place.mkdir()
    (place / "a.txt").write_bytes(OLD)
    return place


@pytest.fixture(params=["exchange", "by turns"])
def names(request, monkeypatch):
    """Both kinds of file systems: this one, and one that cannot exchange names."""
    if request.param == "by turns":
        monkeypatch.setattr(file_name, "_RENAME_EXCHANGE", 1 << 30)
    return request.param


def held(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir()}


@pytest.mark.parametrize(
    ("there", "before", "after", "became", "left"),
    [
        (OLD, OLD, NEW, Became.WRITTEN, NEW),
        (NEW, OLD, NEW, Became.UNCHANGED, NEW),
        (THEIRS, OLD, NEW, Became.CHANGED, THEIRS),
        (None, OLD, NEW, Became.MISSING, None),
        (None, None, NEW, Became.WRITTEN, NEW),
        (THEIRS, None, NEW, Became.CHANGED, THEIRS),
        (OLD, OLD, None, Became.WRITTEN, None),
        (THEIRS, OLD, None, Became.CHANGED, THEIRS),
        (None, OLD, None, Became.UNCHANGED, None),
    ],
)
@pytest.mark.rule("B23.7", "B23.8")
def test_a_file_becomes_what_was_wished_or_stays(
    folder, tmp_path, names, there, before, after, became, left
):
    if there is None:
        (folder / "a.txt").unlink()
    else:
        (folder / "a.txt").write_bytes(there)

    found = exchange_file(folder / "a.txt", wish(tmp_path, before, after), Kept())

    assert (found.became, found.found) == (became, blob(left))
    assert held(folder) == ({} if left is None else {"a.txt": left})


@pytest.mark.rule("B23.8")
def test_what_slips_in_before_the_exchange_comes_out_again(folder, tmp_path, monkeypatch, names):
    real = file_name.rename_new

    def late(handle, name, new):
        if name.endswith("-part"):  # the file was looked at, and the new content is ready
            (folder / "a.txt").write_bytes(THEIRS)
        real(handle, name, new)

    monkeypatch.setattr(file_name, "rename_new", late)
    kept = Kept()

    found = exchange_file(folder / "a.txt", wish(tmp_path), kept)

    assert found == Outcome(Became.CHANGED, blob(THEIRS))
    assert held(folder) == {"a.txt": THEIRS}
    assert kept == [THEIRS]


@pytest.mark.rule("B23.8")
def test_what_is_written_while_something_goes_back_stays_and_both_are_kept(
    folder, tmp_path, monkeypatch
):
    real = file_name.exchange_in
    calls = []

    def busy(handle, one, two):
        calls.append(one)
        if len(calls) == 1:
            (folder / "a.txt").write_bytes(THEIRS)
        if len(calls) == 2:
            (folder / "a.txt").write_bytes(b"later\n")
        return real(handle, one, two)

    monkeypatch.setattr(file_name, "exchange_in", busy)
    kept = Kept()

    found = exchange_file(folder / "a.txt", wish(tmp_path), kept)

    assert found == Outcome(Became.CHANGED, blob(b"later\n"))
    assert held(folder) == {"a.txt": b"later\n"}
    assert set(kept) == {THEIRS, b"later\n"}


@pytest.mark.rule("B23.8")
def test_a_file_that_somebody_has_open_to_write_is_left_to_them(folder, tmp_path, names):
    with (folder / "a.txt").open("r+b") as theirs:
        found = exchange_file(folder / "a.txt", wish(tmp_path), Kept())
        theirs.write(b"mine")

    assert found.became is Became.OPEN
    assert held(folder) == {"a.txt": b"mine"}


@pytest.mark.rule("B23.8")
def test_a_file_opened_to_write_before_the_exchange_goes_back(folder, tmp_path, monkeypatch):
    real, opened = file_name.rename_new, []

    def late(handle, name, new):
        opened.append((folder / "a.txt").open("r+b"))
        real(handle, name, new)

    monkeypatch.setattr(file_name, "rename_new", late)

    found = exchange_file(folder / "a.txt", wish(tmp_path), Kept())
    opened[0].write(b"mine")
    opened[0].close()

    assert found.became is Became.OPEN
    assert held(folder) == {"a.txt": b"mine"}


@pytest.mark.rule("B23.8", "B23.11")
def test_who_opened_the_new_content_while_it_was_there_for_a_moment_writes_into_what_stays(
    folder, tmp_path, monkeypatch
):
    real = file_name.exchange_in
    opened: list[FileIO] = []

    def busy(handle, one, two):
        if not opened:
            (folder / "a.txt").write_bytes(THEIRS)  # so the new content goes out again
        done = real(handle, one, two)
        if not opened:
            opened.append((folder / "a.txt").open("ab", buffering=0))
        return done

    monkeypatch.setattr(file_name, "exchange_in", busy)
    kept = Kept()

    exchange_file(folder / "a.txt", wish(tmp_path), kept)
    opened[0].write(b"more\n")
    opened[0].close()

    assert held(folder) == {"a.txt": NEW + b"more\n"}
    assert THEIRS in kept


@pytest.mark.rule("B23.8", "B23.12")
def test_what_a_killed_one_left_is_not_removed_while_somebody_writes_into_it(folder, tmp_path):
    left = wish(tmp_path)
    temp = folder / left.temp
    temp.write_bytes(NEW)
    with temp.open("ab", buffering=0) as theirs:
        found = exchange_file(folder / "a.txt", left, Kept())
        theirs.write(b"theirs\n")
    assert (found.became, found.found) == (Became.OPEN, blob(OLD))
    kept = Kept()

    exchange_file(folder / "a.txt", left, kept)

    assert NEW + b"theirs\n" in [*kept, *held(folder).values()]


@pytest.mark.rule("B23.9")
@pytest.mark.parametrize("odd", ["link", "folder", "pipe"])
def test_what_is_no_file_is_neither_followed_nor_replaced(folder, tmp_path, odd):
    outside = tmp_path / "outside"
    outside.write_bytes(OLD)
    (folder / "a.txt").unlink()
    if odd == "link":
        (folder / "a.txt").symlink_to(outside)
    elif odd == "folder":
        (folder / "a.txt").mkdir()
    else:
        os.mkfifo(folder / "a.txt")

    for one in (wish(tmp_path), wish(tmp_path, OLD, None), wish(tmp_path, None, NEW)):
        assert exchange_file(folder / "a.txt", one, Kept()).became is Became.NOT_A_FILE

    assert outside.read_bytes() == OLD
    assert [one.name for one in folder.iterdir()] == ["a.txt"]


@pytest.mark.rule("B23.10")
def test_rights_and_attributes_stay(folder, tmp_path):
    target = folder / "a.txt"
    target.chmod(0o640)
    os.setxattr(target, "user.note", b"mine")

    exchange_file(target, wish(tmp_path), Kept())
    assert (target.stat().st_mode & 0o777, os.getxattr(target, "user.note")) == (0o640, b"mine")

    exchange_file(target, wish(tmp_path, NEW, OLD, "755"), Kept())
    assert target.stat().st_mode & 0o777 == 0o750

    exchange_file(target, wish(tmp_path, OLD, OLD, "644"), Kept())
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.rule("B23.8")
def test_two_who_wish_at_once_do_not_take_each_others_leftovers(folder, tmp_path):
    first = Wish(name="a.txt", before=blob(OLD), after=blob(NEW), owner="wb_1")
    second = Wish(name="a.txt", before=blob(OLD), after=blob(NEW), owner="wb_2")

    assert first.temp != second.temp


@pytest.mark.timeout(60)
@pytest.mark.rule("B23.11")
def test_no_edit_of_another_program_is_lost(folder, tmp_path, scaled):
    """Every edit is in the file in the end, or in what was kept, or was published over knowingly.

    The file goes back and forth between contents that each follow from what was there; an edit
    counts as known once an exchange was refused because of it.
    """
    rounds = scaled(600, 20_000)
    target, kept = folder / "a.txt", Kept()
    theirs = subprocess.Popen(
        [sys.executable, "-c", HAMMER, str(target), str(rounds)], stdout=subprocess.PIPE
    )
    assert theirs.stdout is not None
    theirs.stdout.readline()
    known, number = OLD, 0
    while theirs.poll() is None:
        number += 1
        ours = known + b"ours %d\n" % number
        found = exchange_file(target, wish(tmp_path, known, ours), kept)
        known = ours if found.is_done else read_calmly(target)
    theirs.stdout.close()

    last = target.read_bytes()
    everything = last + b"".join(kept)
    assert theirs.returncode == 0
    edits = [b"edit %d\n" % one for one in range(rounds)]
    assert [one for one in edits if one not in everything] == []
    assert set(held(folder)) <= {"a.txt", "beside"}


def read_calmly(target: Path) -> bytes:
    while True:
        try:
            return target.read_bytes()
        except FileNotFoundError:
            continue
