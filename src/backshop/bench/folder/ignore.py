"""Which files of a folder its ignore files leave out, by git's rules; no git is run for it.

`.gitignore` of every folder from the repository's root down, and `.git/info/exclude`, which is
only read. A later line wins over an earlier one, a deeper file over a higher one. What a person
keeps in a configuration of git's own is not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from backshop.base.system import open_folder

NAME = ".gitignore"
_LONGEST_BYTES = 1024 * 1024  # of an ignore file that is read
_ANY_FOLDERS = None
_CLASSES: dict[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "digit": str.isdecimal,
    "lower": str.islower,
    "upper": str.isupper,
    "space": str.isspace,
}
Test = Callable[[str], bool]
_Token = str | Test | None
"""One character, a set of them, or any number of any."""


class _NoPattern(Exception):
    """It is written so that it matches nothing."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One pattern of an ignore file."""

    segments: tuple[tuple[_Token, ...] | None, ...]
    """None: any number of folders."""
    takes_back: bool
    is_for_folders: bool
    is_anchored: bool

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        if self.is_for_folders and not is_folder:
            return False
        if not self.is_anchored:
            return _is_name(self.segments[0] or (None,), path[-1])
        return _is_path(self.segments, path)


@dataclass(frozen=True, slots=True)
class Rules:
    """The lines of one ignore file, for what lies below its folder."""

    lines: tuple[_Line, ...]
    depth: int
    """How many segments of a path lead to that folder."""

    def verdict(self, path: Sequence[str], is_folder: bool) -> bool | None:
        """Say whether a path is left out; None: this file says nothing about it."""
        for line in reversed(self.lines):
            if line.matches(path[self.depth :], is_folder):
                return not line.takes_back
        return None


@dataclass(frozen=True, slots=True)
class Ignores:
    """What all ignore files say that hold in one folder of a walk."""

    above: tuple[str, ...] = ()
    """From the repository's root down to the folder that is walked."""
    files: tuple[Rules, ...] = ()
    is_closed: bool = False
    """Whether the folder is left out itself: then so is all in it, whatever a line takes back."""

    def with_folder(self, handle: int, path: Sequence[str]) -> Ignores:
        """Return what holds in an open folder below, with its own file if it has one."""
        lines = () if self.is_closed else _lines(_text(NAME, handle))
        if not lines:
            return self
        return Ignores(self.above, (*self.files, Rules(lines, len(self.above) + len(path))))

    def inside(self, path: Sequence[str]) -> Ignores:
        """Return what holds inside a folder that is entered, be it left out or not."""
        is_left_out = not self.is_closed and self.leaves_out(path, is_folder=True)
        return Ignores(is_closed=True) if is_left_out else self

    def leaves_out(self, path: Sequence[str], *, is_folder: bool) -> bool:
        """Say whether a path of the walked folder is left out; its folders were entered."""
        if self.is_closed:
            return True
        whole = (*self.above, *path)
        for rules in reversed(self.files):
            found = rules.verdict(whole, is_folder)
            if found is not None:
                return found
        return False


def ignores_above(folder: Path) -> Ignores:
    """Return what the repository that a folder lies in says, down to the folder, without its own.

    A folder in no repository has its own ignore files alone.
    """
    top = repository_of(folder)
    if top is None:
        return Ignores()
    below = folder.relative_to(top).parts
    found = [Rules(_lines(_text(top / ".git" / "info" / "exclude")), 0)]
    for depth in range(len(below)):
        found.append(Rules(_lines(_text(top.joinpath(*below[:depth]) / NAME)), depth))
    return Ignores(below, tuple(one for one in found if one.lines))


def repository_of(folder: Path) -> Path | None:
    """Return the nearest folder from here up that git keeps its own in, if there is one."""
    return next((one for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)


def _text(name: str | Path, folder: int | None = None) -> str:
    """Return an ignore file; what cannot be read, or is a link, says nothing."""
    try:
        with os.fdopen(open_folder.open_file(name, folder=folder), "rb") as file:
            return file.read(_LONGEST_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _lines(text: str) -> tuple[_Line, ...]:
    found: list[_Line] = []
    for raw in text.removeprefix("\ufeff").split("\n"):
        try:
            line = _line(raw.removesuffix("\r"))
        except _NoPattern:
            continue
        if line is not None:
            found.append(line)
    return tuple(found)


def _line(text: str) -> _Line | None:
    if not text or text.startswith("#"):
        return None
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    takes_back = text.startswith("!")
    text = text.removeprefix("!")
    is_for_folders = text.endswith("/")
    text = text.removesuffix("/")
    is_anchored = "/" in text
    segments = text.removeprefix("/").split("/")
    if not text or "" in segments:
        return None
    parsed = tuple(_ANY_FOLDERS if one == "**" else _tokens(one) for one in segments)
    if not is_anchored and parsed == (None,):
        parsed = ((None,),)
    return _Line(parsed, takes_back, is_for_folders, is_anchored)


def _tokens(segment: str) -> tuple[_Token, ...]:
    tokens: list[_Token] = []
    at = 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "*":
            if not tokens or tokens[-1] is not None:
                tokens.append(None)
        elif char == "?":
            tokens.append(lambda _: True)
        elif char == "[":
            test, at = _set(segment, at)
            tokens.append(test)
        elif char == "\\":
            if at == len(segment):
                raise _NoPattern
            tokens.append(segment[at])
            at += 1
        else:
            tokens.append(char)
    return tuple(tokens)


def _set(segment: str, at: int) -> tuple[Test, int]:
    """Read a set of characters from behind its bracket; return it and where it ends."""
    is_other = segment[at : at + 1] in ("!", "^")
    start = at = at + is_other
    tests: list[Test] = []
    while at == start or segment[at : at + 1] != "]":
        end = segment.find(":]", at)
        if segment.startswith("[:", at) and end > 0:
            known = _CLASSES.get(segment[at + 2 : end])
            if known is None:
                raise _NoPattern
            tests.append(known)
            at = end + 2
            continue
        low, at = _one(segment, at)
        high = low
        if segment[at : at + 1] == "-" and segment[at + 1 : at + 2] not in ("]", ""):
            high, at = _one(segment, at + 1)
        tests.append(_between(low, high))
    return lambda char: any(test(char) for test in tests) != is_other, at + 1


def _between(low: str, high: str) -> Test:
    return lambda char: low <= char <= high


def _one(segment: str, at: int) -> tuple[str, int]:
    at += segment[at : at + 1] == "\\"
    if at >= len(segment):
        raise _NoPattern  # the set is not closed
    return segment[at], at + 1


def _is_name(tokens: Sequence[_Token], name: str) -> bool:
    """Match one segment, in steps that grow with its length and not beyond."""
    at = place = 0
    star = mark = -1
    while at < len(name):
        token = tokens[place] if place < len(tokens) else ""
        if place < len(tokens) and token is None:
            star, mark = place, at
            place += 1
        elif token == name[at] or (callable(token) and token(name[at])):
            at += 1
            place += 1
        elif star >= 0:
            mark += 1
            at, place = mark, star + 1
        else:
            return False
    return all(token is None for token in tokens[place:])


def _is_path(segments: Sequence[tuple[_Token, ...] | None], path: Sequence[str]) -> bool:
    """Match whole segments in the same way; `**` at the end means what is inside."""
    at = place = 0
    star = mark = -1
    while at < len(path):
        if place < len(segments) and segments[place] is None:
            if place == len(segments) - 1:
                return True
            star, mark = place, at
            place += 1
        elif place < len(segments) and _is_name(segments[place] or (), path[at]):
            at += 1
            place += 1
        elif star >= 0:
            mark += 1
            at, place = mark, star + 1
        else:
            return False
    return place == len(segments)
