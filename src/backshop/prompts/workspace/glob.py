"""Globs of paths, matched in bounded work whoever wrote them.

`*` and `?` stay within a name, `**` crosses folders, `**/` is any folders or none.
"""

from __future__ import annotations

import re
from functools import lru_cache

from backshop.base.pattern import Search, compiled

GLOB_MAX_WORK = 300_000  # steps over all paths, about half a second
_ANY, _STAR, _DEEP, _FOLDERS = "?", "*", "**", "**/"
_REGEX = {_ANY: "[^/]", _STAR: "[^/]*", _DEEP: ".*", _FOLDERS: "(?:[^/]+/)*"}


class Glob:
    """One pattern of a model's, ready to match."""

    def __init__(self, pattern: str) -> None:
        source = rf"\A(?:{glob_regex(pattern)})\Z"
        self._search = Search(compiled(source, "s", max_chars=len(source)), GLOB_MAX_WORK)

    def matches(self, text: str) -> bool:
        """Say whether the whole text matches.

        Raises:
            TooCostly: with the texts before, it takes more than `GLOB_MAX_WORK` steps.
        """
        return self._search.matches(text)


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
