"""Effects of a write as a reader takes them in: neighbours of one kind are one range (F16.16)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from .cell_range import column_name, column_number, rectangles, runs

RANGES_MAX = 40  # of one list; totals count on
_CELL = re.compile(r"(.*!)([A-Z]{1,3})([0-9]{1,7})", re.S)
_ROWS = re.compile(r"(.*!)([0-9]{1,7}):([0-9]{1,7})", re.S)
_COLUMNS = re.compile(r"(.*!)([A-Z]{1,3}):([A-Z]{1,3})", re.S)
_NUMBERED = re.compile(r"((?:paragraph|slide) (?:.* )?)([0-9]{1,7})", re.S)
_OF_SLIDE = re.compile(r"slide ([0-9]{1,7})(?: shape ([0-9]{1,7})| shapes .*| notes)?", re.S)
_OF_DECKS = frozenset({"slide", "shape", "notes"})
_NAMED = frozenset(
    {"sheet", "part", "chart", "picture", "conditional format", "validation", "name"}
)  # known by names: `Q1` and `Q2` are no neighbours


class OneEffect(Protocol):
    """What is asked of an effect: which kind of thing, where, what differs, how it is now."""

    @property
    def kind(self) -> str:
        """Cell, paragraph, shape."""

    @property
    def where(self) -> str:
        """Its address."""

    @property
    def aspect(self) -> str:
        """Value, formula, style."""

    @property
    def now(self) -> str:
        """What stands there, short; empty where that says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRange:
    """Neighbouring things that a write changed in the same way; `first` and `last` are examples."""

    kind: str
    where: str
    aspect: str
    count: int = 1
    first: str = ""
    last: str = ""

    def to_json(self) -> dict[str, str | int]:
        """Return the range as data; a thing that stands alone has no count."""
        said: dict[str, str | int] = {"kind": self.kind, "where": self.where, "aspect": self.aspect}
        if self.count > 1:
            said["count"] = self.count
        if self.count == 1 and self.first:
            said["now"] = self.first
        elif self.first or self.last:
            said |= {"first": self.first, "last": self.last}
        return said | self._fields()

    def _fields(self) -> dict[str, str | int]:
        """Return a slide, and a shape, by the fields that take them; words count from 1 (F44.2)."""
        found = _OF_SLIDE.fullmatch(self.where) if self.kind in _OF_DECKS else None
        if found is None or self.aspect == "removed":  # the number is another slide's now
            return {}
        fields: dict[str, str | int] = {"slide_index": int(found[1]) - 1}
        return fields | ({"shape": int(found[2]) - 1} if found[2] else {})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a thing stands among its neighbours: what they share, and two numbers."""

    family: str  # cell, row, column, numbered; empty: it has no neighbours
    head: str
    row: int = 0
    col: int = 0


def joined(effects: Iterable[OneEffect]) -> list[EffectRange]:
    """Return all effects as ranges, in the order in which the first of each range stands.

    Several aspects of one thing are told together.
    """
    found: dict[tuple[str, str], list[OneEffect]] = {}
    for one in effects:
        found.setdefault((one.kind, one.where), []).append(one)
    groups: dict[tuple[str, str, str, str], dict[tuple[int, int], str]] = {}
    for (kind, where), members in found.items():
        aspect = ", ".join(dict.fromkeys(one.aspect for one in members))
        now = next((one.now for one in members if one.now), "")
        place = _Place("", where) if kind in _NAMED else _place(where)
        key = (kind, aspect, place.family, place.head)
        groups.setdefault(key, {})[place.row, place.col] = now
    return [made for key, places in groups.items() for made in _ranges(*key, places)]


def joined_places(places: Iterable[str]) -> list[str]:
    """Return addresses with neighbouring ones as ranges."""
    groups: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for where in places:
        place = _place(where)
        groups.setdefault((place.family, place.head), set()).add((place.row, place.col))
    return [
        _where(family, head, box)
        for (family, head), members in groups.items()
        for box in _boxes(family, members)
    ]


def _place(where: str) -> _Place:
    if match := _CELL.fullmatch(where):
        return _Place("cell", match[1], int(match[3]), column_number(match[2]))
    if (match := _ROWS.fullmatch(where)) and match[2] == match[3]:
        return _Place("row", match[1], int(match[2]))
    if (match := _COLUMNS.fullmatch(where)) and match[2] == match[3]:
        return _Place("column", match[1], column_number(match[2]))
    if match := _NUMBERED.fullmatch(where):
        return _Place("numbered", match[1], int(match[2]))
    return _Place("", where)


def _boxes(family: str, places: Iterable[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    if family == "cell":
        return rectangles(places)
    return [(first, 0, last, 0) for first, last in runs(sorted(row for row, _ in places))]


def _where(family: str, head: str, box: tuple[int, int, int, int]) -> str:
    row1, col1, row2, col2 = box
    match family:
        case "cell":
            first, last = f"{column_name(col1)}{row1}", f"{column_name(col2)}{row2}"
            return head + (first if first == last else f"{first}:{last}")
        case "row":
            return f"{head}{row1}:{row2}"
        case "column":
            return f"{head}{column_name(row1)}:{column_name(row2)}"
        case "numbered":
            return f"{head}{row1}" if row1 == row2 else f"{head.rstrip()}s {row1}-{row2}"
    return head


def _ranges(
    kind: str, aspect: str, family: str, head: str, places: dict[tuple[int, int], str]
) -> Iterable[EffectRange]:
    for box in _boxes(family, places):
        row1, col1, row2, col2 = box
        yield EffectRange(
            kind=kind,
            where=_where(family, head, box),
            aspect=aspect,
            count=(row2 - row1 + 1) * (col2 - col1 + 1),
            first=places[row1, col1],
            last=places[row2, col2] if (row1, col1) != (row2, col2) else "",
        )
