"""The doctor looks, and with `--repair` brings back what is still somewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from backshop.app import Backshop, examine
from backshop.cli import main


@pytest.fixture
def home(tmp_path, capsys):
    """A home with one workbench of two files."""
    source = tmp_path / "files"
    source.mkdir()
    (source / "a.txt").write_text("the first file\n" * 9000)
    (source / "b.txt").write_text("the second file\n" * 9000)
    folder = tmp_path / "home"
    assert main(["bench", "create", "Mine", "--home", str(folder)]) == 0
    assert (
        main(
            [
                "bench",
                "add",
                "Mine",
                str(source / "a.txt"),
                str(source / "b.txt"),
                "--home",
                str(folder),
            ]
        )
        == 0
    )
    capsys.readouterr()
    return folder


def doctor(home, capsys, *options):
    code = main(["doctor", "--json", "--home", str(home), *options])
    return code, json.loads(capsys.readouterr().out)["findings"]


@pytest.mark.rule("S4.2", "T8.8")
def test_a_content_that_a_view_still_holds_is_brought_back(home, capsys):
    with Backshop.open(home) as shop:
        names = list(shop.store.blobs.names())
    lost = next(home.glob(f"blobs/{names[0][:2]}/{names[0][2:]}"))
    lost.unlink()  # the view's link to the same content stays

    assert doctor(home, capsys, "--full")[0] in (0, 1)
    code, found = doctor(home, capsys, "--repair")

    assert code == 0
    assert any("brought back" in one["message"] for one in found)
    with Backshop.open(home) as shop:
        assert all(shop.store.blobs.verify(name) for name in names)


@pytest.mark.rule("S4.2")
def test_what_is_nowhere_any_more_is_named(home, capsys):
    with Backshop.open(home) as shop:
        name = next(iter(shop.store.blobs.names()))
    path = home / "blobs" / name[:2] / name[2:]
    path.chmod(0o600)
    path.write_bytes(b"altered")
    for copy in home.glob("benches/*/published/*"):
        copy.unlink()

    code, found = doctor(home, capsys, "--repair")

    assert code == 1
    assert {
        "level": "problem",
        "subject": name,
        "message": "lost: nothing here holds it any more",
    } in found


@pytest.mark.rule("S4.2")
def test_nothing_is_wrong_with_a_healthy_home(home, capsys):
    code, found = doctor(home, capsys, "--repair")

    assert code == 0
    assert {one["level"] for one in found} <= {"ok", "note"}


@pytest.mark.rule("S4.2", "F29.7")
def test_a_renderer_that_is_not_there_is_named(tmp_path, capsys):
    (tmp_path / "settings.json").write_text('{"formats.renderer_path": "/no/such/soffice"}')

    _, found = doctor(tmp_path, capsys)

    message = next(one["message"] for one in found if one["subject"] == "previews")
    assert message.startswith("formats.renderer_path names no program")


@pytest.mark.rule("S4.2")
def test_a_file_that_goes_while_the_doctor_looks_is_no_problem(tmp_path, monkeypatch):
    with Backshop.open(tmp_path / "home") as shop:
        shop.call("WorkbenchCreate", {})
    (tmp_path / "home" / ".settings-x").touch()
    looked = Path.lstat

    def goes(path: Path) -> os.stat_result:
        if path.name == ".settings-x":
            path.unlink(missing_ok=True)  # another process is through with it
        return looked(path)

    monkeypatch.setattr(Path, "lstat", goes)

    assert not [one for one in examine(tmp_path / "home") if one.level == "problem"]
