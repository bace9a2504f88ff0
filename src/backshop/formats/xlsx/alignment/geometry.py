"""Names of places that hold whichever lines came or went.

A place is named by the lines of the workbook before. Lines that came have names of their own,
so what refers to them has another name than what refers to anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import NamedTuple

from lxml import etree

from backshop.formats.package.guard import Element

from ..book.workbook import children, local
from ..syntax.address import Area, parse_area
from ..syntax.reference import Reference, moved, references
from .line_run import Axis, LineRun, SheetLines

_FORMULAS = frozenset(
    (
        *("formula", "formula1", "formula2", "f", "calculatedColumnFormula"),
        *("totalsRowFormula", "oldFormula"),
    )
)
_PLACES = ("ref", "sqref", "activeCell", "topLeftCell", "r1", "r2")
_DIGITS = 8  # no line of a sheet has more
_SAME = SheetLines()


class Run(NamedTuple):
    """A run of one sheet: its name of now in small letters, and the axis."""

    sheet: str
    axis: Axis
    run: LineRun


class Geometry:
    """The lines of all sheets before and now, by the names that sheets have now."""

    def __init__(self, lines: Mapping[str, SheetLines]) -> None:
        self._lines = {name.lower(): one for name, one in lines.items() if one}

    def __bool__(self) -> bool:
        return bool(self._lines)

    def of(self, sheet: str) -> SheetLines:
        """Return the lines of a sheet by its name of now."""
        return self._lines.get(sheet.lower(), _SAME)

    def runs(self) -> Iterator[Run]:
        """Go through all runs."""
        for name, lines in self._lines.items():
            for one, run in lines.runs():
                yield Run(name, one.axis, run)

    def without(self, left: set[Run]) -> Geometry:
        """Return it as it is where some of the runs are not there."""
        return Geometry(
            {
                name: SheetLines(
                    lines.rows.without({one.run for one in left if one[:2] == (name, "row")}),
                    lines.columns.without({one.run for one in left if one[:2] == (name, "column")}),
                )
                for name, lines in self._lines.items()
            }
        )

    # --- what is named -------------------------------------------------------------------------

    def formula(self, text: str, home: str) -> str:
        """Return a formula of now with names for the places it refers to."""
        return moved(text, home, self._told) if self._lines else text

    def places(self, text: str, sheet: str) -> str:
        """Return places of a sheet of now by their names."""
        if not self.of(sheet):
            return text
        return " ".join(moved(one, sheet, self._told) for one in text.split())

    def _told(self, reference: Reference) -> tuple[str, Area]:
        return reference.sheet, self.of(reference.sheet).told(reference.area)

    def met(self, text: str, home: str) -> set[Run]:
        """Return the runs that brought lines at which references of now begin or end."""
        found: set[Run] = set()
        for one in references(text, home) if self._lines else ():
            found |= self.met_area(one.area, one.sheet)
        return found

    def met_area(self, area: Area, sheet: str) -> set[Run]:
        """Return the runs that brought the first or last lines of a rectangle of now."""
        met = self.of(sheet).met(area)
        return {Run(sheet.lower(), lines.axis, run) for lines, run in met}

    def lost(self, text: str, home: str) -> set[Run]:
        """Return the runs that took lines at which references of before began or ended."""
        found: set[Run] = set()
        for one in references(text, home) if self._lines else ():
            found |= self.lost_area(one.area, one.sheet)
        return found

    def lost_area(self, area: Area, sheet: str) -> set[Run]:
        """Return the runs that took the first or last lines of a rectangle of before."""
        lost = self.of(sheet).loses(area)
        return {Run(sheet.lower(), lines.axis, run) for lines, run in lost}

    def element(self, element: Element, sheet: str) -> Element:
        """Return an element of a sheet of now, or of its table, with names for its places."""
        copy = deepcopy(element)
        if not self._lines:
            return copy
        for item in copy.iter(etree.Element):
            self._name(item, sheet)
        return copy

    def _name(self, item: Element, sheet: str) -> None:
        lines, kind = self.of(sheet), local(item)
        if kind in _FORMULAS and item.text:
            item.text = self.formula(item.text, sheet)
        if not lines:
            return
        if kind == "autoFilter":
            _name_columns(item, lines)
        for key in _PLACES:
            if said := item.get(key):
                item.set(key, self.places(said, sheet))
        parent = item.getparent()
        if kind == "brk" and parent is not None:
            axis = lines.rows if local(parent) == "rowBreaks" else lines.columns
            _name_number(item, "id", lambda line: axis.told(line + 1) - 1)
        if kind == "pane":
            _name_number(item, "ySplit", lines.rows.told)
            _name_number(item, "xSplit", lines.columns.told)


def _name_columns(item: Element, lines: SheetLines) -> None:
    """Name the columns of a filter, which it counts from its own first one."""
    area = parse_area(item.get("ref") or "")
    if area is not None:
        first, told = area.col1, lines.columns.told
        for column in children(item, "filterColumn"):
            _name_number(column, "colId", lambda at: told(first + at) - told(first))


def _name_number(item: Element, key: str, told: Callable[[int], int]) -> None:
    said = item.get(key) or ""
    if said.isdigit() and len(said) < _DIGITS:
        item.set(key, str(told(int(said))))
