"""Other accounts of the machine: nobody but its owner can enter a home (S10.2)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from backshop.app import Backshop, attach, save, secret_of
from backshop.base.errors import DiskFull
from backshop.mcp.http import token_of


@pytest.fixture
def usual_mask() -> Iterator[None]:
    """Let new files be readable by everybody, as on most machines."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.rule("S10.2")
@pytest.mark.parametrize("before", ["nothing", "an empty folder", "settings"])
def test_a_home_can_be_entered_by_its_owner_alone(tmp_path, usual_mask, before):
    home = tmp_path / "home"
    if before == "an empty folder":
        home.mkdir(mode=0o755)
    elif before == "settings":
        home.mkdir(mode=0o755)
        save(home, "team.turns", 2)

    with Backshop.open(home) as shop:
        shop.call("WorkbenchCreate", {"name": "Mine"})
        secret_of(home, "web.key")
        token_of(home)

    assert mode_of(home) == 0o700
    assert (mode_of(home / "web.key"), mode_of(home / "mcp.token")) == (0o600, 0o600)


@pytest.mark.rule("S10.2")
def test_a_folder_with_other_things_in_it_keeps_its_mode(tmp_path, usual_mask):
    home = tmp_path / "shared"
    home.mkdir(mode=0o755)
    (home / "theirs.txt").write_text("theirs")
    (home / "store.db").touch()  # it was made a home here before

    with Backshop.open(home):
        attach(home, "info")

    assert mode_of(home) == 0o755


@pytest.mark.rule("S10.2")
@pytest.mark.parametrize("left", [b"", b"abc", b"x" * 31, b"\xff" * 31])
def test_a_secret_that_was_cut_off_lets_nobody_in(tmp_path, left):
    path = tmp_path / "web.key"
    path.write_bytes(left)

    made = secret_of(tmp_path, "web.key")

    assert len(made) >= 32
    assert (secret_of(tmp_path, "web.key"), path.read_text()) == (made, made)
    assert [one.name for one in tmp_path.iterdir()] == ["web.key"]


@pytest.mark.rule("S10.2")
def test_a_secret_that_could_not_be_written_leaves_no_half_of_it(tmp_path, monkeypatch):
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        secret_of(tmp_path, "web.key")

    assert list(tmp_path.iterdir()) == []
