"""A person with a folder, in the terminal: open it, publish into it, settle what others did."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from backshop.cli.main import cli

from .test_bench import agent_writes, run  # noqa: F401  # the fixture

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "your-own-folder.md"


@pytest.mark.rule("S4.2")
def test_every_command_of_the_guide_is_one():
    found = re.findall(r"(?m)(?:^|`)(backshop [^`\n]+?)(?:`|   |$)", GUIDE.read_text("utf-8"))

    assert len(found) >= 10
    for line in found:
        words = shlex.split(line)[1:]
        command: click.Command = cli
        while isinstance(command, click.Group):
            inner = command.get_command(click.Context(command), words.pop(0))
            assert inner is not None, line
            command = inner
        known = {option for one in command.params for option in one.opts}
        assert {word for word in words if word.startswith("--")} <= known, line


@pytest.fixture
def own(tmp_path):
    folder = tmp_path / "Reports"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (folder / "b.txt").write_text("two\n")
    (folder / "link").symlink_to("/etc")
    return folder


@pytest.mark.rule("B23.1", "B23.6", "B23.20", "S4.2")
def test_a_folder_is_opened_written_and_taken_in(run, own, tmp_path):  # noqa: F811
    (own / ".git").mkdir()
    code, opened = run("open", str(own))
    bench = opened.split()[2]
    agent_writes(tmp_path, bench, "a.txt", "better\n")
    published = run("publish", "Reports", "--yes")

    assert code == 0
    assert opened.startswith(f"made: Reports  {bench}  (2 files)\n")
    assert f'backshop send {bench} "' in opened
    assert "1 passed over" in opened
    assert published[0] == 0
    assert "1 file(s) written into the folder" in published[1]
    assert "a commit message, if you want one:\n  Update a.txt\n\n  - a.txt" in published[1]
    assert (own / "a.txt").read_text() == "better\n"
    assert "link: symlink" in run("folder", "show", "Reports")[1]
    (own / "b.txt").write_text("mine\n")
    shown = run("folder", "show", "Reports")[1]
    assert "~ b.txt" in shown
    assert f"backshop folder take {bench}" in shown
    assert "taken: b.txt" in run("folder", "take", "Reports")[1]
    assert run("open", str(own))[1].startswith("opened: Reports")
    assert "holds what is Published" in run("bench", "show", "Reports")[1]


@pytest.mark.rule("B23.14", "B23.17", "B23.18", "B23.19", "S4.2")
def test_conflicts_going_back_and_a_folder_that_moved(run, own, tmp_path):  # noqa: F811
    bench = run("open", str(own), "--name", "Mine")[1].split()[2]
    agent_writes(tmp_path, bench, "a.txt", "better\n")
    with (own / "a.txt").open("r+"):
        published = run("publish", "Mine", "--yes")
    written = run("folder", "write", "Mine")

    assert "not written: a.txt; another program has it open and may write into it" in published[1]
    assert "note: not every file of your folder" in published[1]
    assert written == (0, "1 file(s) written into the folder\n")
    checkpoint = json.loads(run("checkpoint", "list", "Mine", "--json")[1])["checkpoints"][0]
    back = run("checkpoint", "restore", "Mine", checkpoint["checkpoint_id"], "--yes")
    assert f"`backshop folder write {bench}` writes them" in back[1]
    own.rename(tmp_path / "Elsewhere")
    gone = run("folder", "write", "Mine")
    assert (gone[0], "folder_gone" in gone[1]) == (1, True)
    moved = run("folder", "moved", "Mine", str(tmp_path / "Elsewhere"))[1]
    assert "1 file(s) are still to be written:" in moved
    with (tmp_path / "Elsewhere" / "a.txt").open("a") as theirs:
        theirs.write("and mine\n")
    refused = run("folder", "write", "Mine")
    assert (refused[0], "not written: a.txt; another program changed it" in refused[1]) == (1, True)
    assert "conflict at a.txt: another program changed it" in run("folder", "show", "Mine")[1]
    with (tmp_path / "Elsewhere" / "a.txt").open("r+"):
        early = run("folder", "settle", "Mine", "a.txt", "--keep", "ours")
    assert early[0] == 1
    assert early[1].startswith("not settled: a.txt; another program has it open and may write")
    assert "folder_settled" not in run("bench", "audit", "Mine")[1]
    settled = run("folder", "settle", "Mine", "a.txt", "--keep", "ours")[1]
    assert "holds what is Published" in settled
    assert (tmp_path / "Elsewhere" / "a.txt").read_text() == "one\n"


@pytest.mark.rule("B23.15", "B23.6", "S4.2")
def test_where_others_removed_files_it_is_told_and_both_ways_work(run, own):  # noqa: F811
    bench = run("open", str(own))[1].split()[2]
    (own / "a.txt").unlink()
    (own / "b.txt").unlink()

    code, said = run("folder", "write", "Reports")

    assert (code, said) == (
        0,
        "nothing to write\n"
        "others removed 2 file(s) in the folder, and nothing is written over what others did:\n"
        f"  `backshop folder take {bench} PATH…` takes that over into Published\n"
        f"  `backshop bench extract {bench} {own} PATH…` puts removed files back\n",
    )
    assert (
        f"`backshop folder take {bench} PATH…` takes them over"
        in (run("folder", "show", "Reports")[1])
    )
    assert run("folder", "take", bench, "a.txt")[0] == 0
    assert run("bench", "extract", bench, str(own), "b.txt")[0] == 0
    assert "holds what is Published" in run("folder", "show", "Reports")[1]
    assert run("folder", "write", "Reports") == (0, "nothing to write\n")
    (own / "b.txt").write_text("mine\n")
    assert "others changed files in the folder" in run("folder", "write", "Reports")[1]


@pytest.mark.rule("B23.14", "B9.16")
def test_a_clash_is_refused_with_the_ways_out(run, own, tmp_path):  # noqa: F811
    bench = run("open", str(own))[1].split()[2]
    agent_writes(tmp_path, bench, "a.txt", "better\n")
    (own / "a.txt").write_text("mine\n")

    code, said = run("publish", "Reports", "--yes")

    assert code == 1
    assert "draft reconcile Reports --keep theirs|ours|both" in said
    assert "(CONFLICT_PUBLISHED_CHANGED: folder_changed)" in said
    assert run("draft", "reconcile", "Reports", "--keep", "both")[0] == 0
    assert run("publish", "Reports", "--yes")[0] == 0
    assert (own / "a (draft).txt").read_text() == "better\n"
