"""`{{path | filter}}`: where tokens stand in a text, and where a path leads in JSON.

The one engine behind the templates of workflows (R1.14) and of scripts (M15.4). Which paths there
are, what a filter does and what is said where nothing is found is for whoever fills them in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

_BRACES = re.compile(r"\{\{([^{}]*)\}\}")
_FILTERS = re.compile(r"(?:\|\s*[a-z]+(?:\s+\w+)?\s*)+")
_FILTER = re.compile(r"\|\s*([a-z]+)(?:\s+(\w+))?")


@dataclass(frozen=True, slots=True)
class Token:
    """What stands between double braces; without filters, `path` is all of it as written."""

    written: str
    path: str
    filters: tuple[tuple[str, str], ...] = ()  # name and argument


@dataclass(frozen=True, slots=True)
class Found:
    """The value a path leads to; None when it is missing or null."""

    value: object


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A segment on the way that is no object."""

    segment: str
    type_name: str


def tokens(text: str) -> Iterator[Token]:
    """Yield every token of a text."""
    return map(_token, _BRACES.finditer(text))


def whole(text: str) -> Token | None:
    """Return the token a text consists of, None when there is more or less."""
    match = _BRACES.fullmatch(text)
    return None if match is None else _token(match)


def fill(text: str, printed: Callable[[Token], str]) -> str:
    """Replace every token once; what is put in is never read as a token."""
    return _BRACES.sub(lambda match: printed(_token(match)), text)


def follow(steps: Iterable[str | int], value: object) -> Found | Obstacle:
    """Go from a value step by step: by name in objects, by number in lists."""
    here, behind = value, ""
    for step in steps:
        if isinstance(step, int) and isinstance(here, list | tuple):
            here = here[step] if 0 <= step < len(here) else None
        elif isinstance(here, Mapping):
            here = here.get(step)
        elif step == "length" and isinstance(here, str | list | tuple):
            here = len(here)
        elif here is None:
            return Found(None)
        else:
            return Obstacle(behind, type_name(here))
        behind = str(step)
    return Found(here)


def type_name(value: object) -> str:
    """Name a JSON type the way messages do."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "list"
        case _:
            return "object"


def _token(match: re.Match[str]) -> Token:
    path, bar, rest = match[1].partition("|")
    if bar and _FILTERS.fullmatch(bar + rest):
        return Token(match[0], path, tuple(_FILTER.findall(bar + rest)))
    return Token(match[0], match[1])
