"""Ignore files mean what they mean to git, which is asked where it is installed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from backshop.base.paths import BenchPath
from backshop.bench.folder.ignore import ignores_above
from backshop.bench.folder.root import opened_root
from backshop.bench.folder.scan import Scan
from backshop.bench.state import PROFILES

NAMES = ("a", "b", "ab", "a.b", ".x", "a b", "[a]", "A", "b.txt", "foo")
LINES = (
    *("a", "*.b", "/a", "a/", "a/b", "**/b", "a/**", "a/**/b", "!b", "!a/b", "?", "[ab]", "[!a]"),
    *("*", "/*", "\\!b", "#x", "a ", "a\\ b", "[[:alpha:]]", "**", "a**b", "/**/foo", "foo/*"),
    *("!foo/b", ".*", "\\[a\\]", "[a", "*/b", "!*.txt", "[^b]*", "b*/", "**/a/", "/a/*", "[a-b]b"),
    *("a/b/", "\\"),
)


def followed(top: Path, folder: Path) -> set[str]:
    """Return the files of a folder that no ignore file leaves out."""
    found: set[str] = set()

    def walk(path, ignores):
        handle = os.open(folder.joinpath(*path), os.O_RDONLY)
        inner = ignores.with_folder(handle, path)
        os.close(handle)
        for entry in folder.joinpath(*path).iterdir():
            below = (*path, entry.name)
            if entry.name in (".git", ".gitignore"):
                continue
            if inner.leaves_out(below, is_folder=entry.is_dir()):
                continue
            if entry.is_dir():
                walk(below, inner)
            else:
                found.add("/".join(below))

    walk((), ignores_above(folder))
    return found


@pytest.mark.rule("B23.2")
@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("*.log", {"a.txt", "d/b.txt", "d/e/c.txt"}),
        ("*.log\n!d/x.log", {"a.txt", "d/b.txt", "d/x.log", "d/e/c.txt"}),
        ("d/\n!d/b.txt", {"a.txt", "x.log"}),
        ("/*\n!/d\n/d/*\n!/d/e", {"d/e/c.txt"}),
        ("**/c.txt\n/x.log", {"a.txt", "d/b.txt", "d/x.log"}),
        ("d/**", {"a.txt", "x.log"}),
        ("# d\n\\#x\n[!a-c].log \n", {"a.txt", "d/b.txt", "d/e/c.txt"}),
    ],
)
def test_lines(tmp_path, lines, left):
    for name in ("a.txt", "x.log", "d/b.txt", "d/x.log", "d/e/c.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / ".gitignore").write_text(lines)

    assert followed(tmp_path, tmp_path) == left


@pytest.mark.rule("B23.2")
def test_a_folder_inside_a_repository_hears_of_the_lines_above_it(tmp_path):
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "in" / "side"
    inside.mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("/in/side/a\n*.tmp\n")
    (tmp_path / "in" / ".gitignore").write_text("!x.tmp\n")
    for name in ("a", "b", "x.tmp", "y.tmp"):
        (inside / name).touch()

    assert followed(tmp_path, inside) == {"b", "x.tmp"}


@pytest.mark.rule("B23.2")
def test_a_line_made_to_take_long_does_not(tmp_path):
    (tmp_path / ".gitignore").write_text("*a" * 60 + "b\n" + "**/a/" * 60 + "b\n")
    (tmp_path / ("a" * 250)).touch()

    assert followed(tmp_path, tmp_path) == {"a" * 250}


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git to ask")
@pytest.mark.rule("B23.2")
def test_git_says_the_same(tmp_path, scaled):
    chosen = random.Random(23)
    for number in range(scaled(25, 2_000)):
        top = tmp_path / str(number)
        subprocess.run(["git", "init", "-q", str(top)], check=True)
        folders = _filled(top, chosen)
        for folder in chosen.sample(folders, min(len(folders), 2)):
            lines = [chosen.choice(LINES) for _ in range(chosen.randint(1, 4))]
            (folder / ".gitignore").write_text("\n".join(lines) + "\n")
        if chosen.random() < 0.3:
            (top / ".git" / "info" / "exclude").write_text(chosen.choice(LINES) + "\n")

        assert followed(top, top) == _others(top), number
        ours = _ours(top, chosen)
        assert _looked(top, ours) == _others(top) | ours, number
        shutil.rmtree(top)


def _others(top: Path) -> set[str]:
    """Return what git follows not yet, and does not leave out."""
    asked = ["git", "-C", str(top), "ls-files", "-z", "--others"]
    asked += ["--exclude-per-directory=.gitignore", "--exclude-from=.git/info/exclude"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    return {one for one in told.split("\0") if one and not one.endswith(".gitignore")}


def _ours(top: Path, chosen: random.Random) -> set[str]:
    """Let git follow some files, ignored or not, and return them."""
    every = (one.relative_to(top) for one in sorted(top.rglob("*")) if one.is_file())
    files = [one.as_posix() for one in every if one.parts[0] != ".git" and one.name != ".gitignore"]
    ours = chosen.sample(files, min(len(files), 3))
    if ours:
        told = ["git", "--literal-pathspecs", "-C", str(top), "add", "-f", "--", *ours]
        subprocess.run(told, check=True)
    return set(ours)


def _looked(top: Path, ours: set[str]) -> set[str]:
    """Return what a look finds where these files are followed; names that collide too."""
    scan = Scan(PROFILES["large"], ignores_above(top), {BenchPath(one) for one in ours})
    with opened_root(str(top), top.stat().st_ino) as root:
        found = scan.look(root)
    return {one for one in (*found.files, *found.skipped) if not one.endswith(".gitignore")}


def _filled(top: Path, chosen: random.Random) -> list[Path]:
    folders = [top]
    for _ in range(14):
        path = chosen.choice(folders) / chosen.choice(NAMES)
        if path.exists():
            continue
        if chosen.random() < 0.45:
            path.mkdir()
            folders.append(path)
        else:
            path.touch()
    return folders
