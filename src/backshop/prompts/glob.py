"""Globs of paths, matched in bounded time whoever wrote them.

`*` and `?` stay within a name, `**` crosses folders, `**/` is any folders or none. A regular
expression with many of them can take for ever, and holds the interpreter while it does; so it
serves for a few only, and what has more is walked character by character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_ANY, _STAR, _DEEP, _FOLDERS = "?", "*", "**", "**/"
_REGEX = {_ANY: "[^/]", _STAR: "[^/]*", _DEEP: ".*", _FOLDERS: "(?:[^/]+/)*"}
_REGEX_STARS_MAX = 2  # the time of a regular expression grows with a power of this

Place = tuple[int, bool]
"""Where a walk is: before which part, and whether inside a folder that `**/` passes."""


class Glob:
    """One pattern, ready to match."""

    def __init__(self, pattern: str) -> None:
        self._parts = _parts(pattern)
        stars = sum(one in (_STAR, _DEEP, _FOLDERS) for one in self._parts)
        few = stars <= _REGEX_STARS_MAX
        self._regex = re.compile(glob_regex(pattern), re.DOTALL) if few else None

    def matches(self, text: str) -> bool:
        """Say whether the whole text matches."""
        if self._regex is not None:
            return self._regex.fullmatch(text) is not None
        places = self._reached([(0, False)])
        for char in text:
            places = self._reached(after for one in places for after in self._after(one, char))
            if not places:
                return False
        return (len(self._parts), False) in places

    def _reached(self, places: Iterable[Place]) -> set[Place]:
        """Return the places and those behind them that need no further character."""
        found, waiting = set[Place](), list(places)
        while waiting:
            place = waiting.pop()
            if place in found:
                continue
            found.add(place)
            at, inside = place
            if at < len(self._parts) and not inside and self._parts[at] in (_STAR, _DEEP, _FOLDERS):
                waiting.append((at + 1, False))
        return found

    def _after(self, place: Place, char: str) -> Iterator[Place]:
        """Yield where one character leads."""
        at, inside = place
        if at == len(self._parts):
            return
        part = self._parts[at]
        if part == _FOLDERS:
            if char != "/":
                yield at, True
            elif inside:
                yield at, False
        elif part == _DEEP or (part == _STAR and char != "/"):
            yield at, False
        elif (part == _ANY and char != "/") or part == f"={char}":
            yield at + 1, False


@lru_cache(maxsize=1024)
def glob_regex(pattern: str) -> str:
    """Return a regular expression for a glob; for patterns of our own and of callers."""
    return "".join(_REGEX.get(one) or re.escape(one[1:]) for one in _parts(pattern))


def _parts(pattern: str) -> tuple[str, ...]:
    """Return the wildcards of a pattern and its characters, these with `=` before them.

    A wildcard that repeats itself means no more than once.
    """
    found: list[str] = []
    place = 0
    while place < len(pattern):
        wild = next((one for one in (_FOLDERS, _DEEP, _STAR) if pattern.startswith(one, place)), "")
        if wild:
            if not found or found[-1] != wild:
                found.append(wild)
            place += len(wild)
            continue
        found.append(_ANY if pattern[place] == _ANY else f"={pattern[place]}")
        place += 1
    return tuple(found)
