"""Formulas whose ranges end right beside new rows or columns, and do not take them in (F17.17).

A list that gets one more row at its end is summed up without it: the range of the sum ends above.
Nothing is changed for it, but the answer and the review say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..book.workbook import Value
from ..calculation.graph import Graph, build
from ..calculation.precedent import Place
from ..syntax.address import Area, cell_name, column_name
from ..syntax.formula import as_written
from .session import Added, Session

_COLUMNS, _NAMED, _SHOWN_CHARS = 200, 3, 60
_LOOKED_AT = 5  # cells beside a new number, of which one must be a number too
_NUMBERS = frozenset({"number", "date"})


def tell_ends(session: Session) -> None:
    """Warn of formulas that read what stands beside new lines, up to these and no further."""
    new = [one for one in session.added if session.book.find(one.sheet) is not None]
    if not any(_is_named(session, one) for one in new):
        return
    graph = build(session.book)
    for one in new:
        found = sorted(set(_Beside(graph, one, new).readers()))
        if found:
            session.warnings.add("range_not_extended", len(found), _said(graph, one, found))


def _is_named(session: Session, new: Added) -> bool:
    """Whether any range of the workbook may end or begin right beside new lines."""
    if new.axis == "row":
        before, behind = str(new.area.row1 - 1), str(new.area.row2 + 1)
        texts = (rf":\$?[A-Z]{{1,3}}\$?{before}(?![0-9])", rf"[A-Z]\$?{behind}:")
    else:
        before, behind = _letters(new.area.col1 - 1), _letters(new.area.col2 + 1)
        texts = (rf":\$?{before}\$?[0-9]", rf"(?<![A-Z]){behind}\$?[0-9]+:")
    pattern = re.compile("|".join(texts).encode())
    book = session.book
    sheets = [xml.data for sheet in book.sheets if (xml := book.xml(sheet)) and xml.has_formulas]
    return any(pattern.search(data) for data in (*sheets, book.package.read(book.part)))


def _letters(col: int) -> str:
    return column_name(col) if col >= 1 else "0"


@dataclass(frozen=True, slots=True)
class _Beside:
    """Finds who reads the lines beside new ones."""

    graph: Graph
    new: Added
    others: Sequence[Added]

    def readers(self) -> Iterator[Place]:
        """Go through the formulas that read numbers up to new ones, and not these."""
        area = self.new.area
        is_row = self.new.axis == "row"
        across = range(area.col1, area.col2 + 1) if is_row else range(area.row1, area.row2 + 1)
        ends = (area.row1, area.row2) if is_row else (area.col1, area.col2)
        for line in across[:_COLUMNS]:
            for end, step in zip(ends, (-1, 1), strict=True):
                beside = range(end + step, end + step * (_LOOKED_AT + 1), step)
                places = [(one, line) if is_row else (line, one) for one in (end, *beside)]
                own, *others = [place for place in places if min(place) >= 1]
                if self._is_number(*own) and any(self._is_number(*one) for one in others):
                    yield from self._reading(own, others[0])

    def _is_number(self, row: int, col: int) -> bool:
        cell = self.graph.reader.cell(self.new.sheet, row, col)
        value: Value | None = self.graph.book.value(cell) if cell is not None else None
        return value is not None and value.kind in _NUMBERS

    def _reading(self, own: tuple[int, int], next_: tuple[int, int]) -> Iterator[Place]:
        sheet = self.new.sheet
        here = Place(sheet, *own)
        mine = self.graph.node(here) if self.graph.holds(here) else None
        for place in self.graph.readers(Place(sheet, *next_)):
            node = self.graph.node(place)
            if node is None or self._is_new(place):
                continue
            areas = [area for name, area in node.reads if name == sheet]
            ranges = [area for area in areas if area.has(*next_) and self._is_list(area, place)]
            is_total = mine is not None and any(
                name == sheet and area.count > 1 and area.meets(one)
                for name, area in mine.areas
                for one in ranges
            )
            if ranges and not is_total and not any(area.has(*own) for area in areas):
                yield place

    def _is_new(self, place: Place) -> bool:
        return any(
            one.sheet == place.sheet and one.area.has(place.row, place.col) for one in self.others
        )

    def _is_list(self, area: Area, reader: Place) -> bool:
        """Whether a range goes along the lines, and is not that of a running total."""
        is_row = self.new.axis == "row"
        first, last = (area.row1, area.row2) if is_row else (area.col1, area.col2)
        line = reader.row if is_row else reader.col
        is_inside = reader.sheet == self.new.sheet and first <= line <= last
        return last > first and not is_inside


def _said(graph: Graph, new: Added, places: Sequence[Place]) -> str:
    is_row, area = new.axis == "row", new.area
    ends = (area.row1, area.row2) if is_row else (area.col1, area.col2)
    names = [str(line) if is_row else column_name(line) for line in ends]
    lines = f"{new.axis} {names[0]}" if len(set(names)) == 1 else f"{new.axis}s {'–'.join(names)}"
    said = []
    for place in places[:_NAMED]:
        node = graph.node(place)
        formula = f"={as_written(node.formula)}" if node is not None else ""
        shown = formula if len(formula) <= _SHOWN_CHARS else f"{formula[: _SHOWN_CHARS - 1]}…"
        said.append(f"{place.sheet}!{cell_name(place.row, place.col)} ({shown})")
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    verb = "does" if len(places) == 1 else "do"
    return f"{', '.join(said)}{more} {verb} not take in the new {lines} of {new.sheet}"
