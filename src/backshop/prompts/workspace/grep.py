"""Searching text with a pattern a model wrote, in bounded work (P6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backshop.base.pattern import BadPattern, Search, TooCostly, compiled

from .mount import FileProblem

MATCHES_MAX = 1000
SEARCH_MAX_WORK = 300_000  # about half a second, besides 0.1 s for each MB of lines
_LINE_MAX_CHARS = 400


@dataclass(frozen=True, slots=True)
class Match:
    """A line that matches."""

    path: str
    line: int
    text: str


def search(pattern: str, files: Sequence[tuple[str, str]]) -> tuple[tuple[Match, ...], int]:
    """Return at most 1,000 matching lines and how many there are.

    Raises:
        FileProblem: `bad_pattern`, also for one that takes too many steps.
    """
    found: list[Match] = []
    total = 0
    try:
        wanted = Search(compiled(pattern), SEARCH_MAX_WORK)
        for path, text in files:
            for number, line in enumerate(text.split("\n"), 1):
                if wanted.matches(line):
                    total += 1
                    if len(found) < MATCHES_MAX:
                        found.append(Match(path, number, line[:_LINE_MAX_CHARS]))
    except BadPattern as error:
        raise FileProblem("bad_pattern", f"not a regular expression: {error}") from error
    except TooCostly as error:
        raise FileProblem("bad_pattern", str(error)) from error
    return tuple(found), total
