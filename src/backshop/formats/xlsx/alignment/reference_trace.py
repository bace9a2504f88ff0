"""Where the references of a workbook led before and lead now: they tell which lines moved.

References are paired by where they stand: the same name, the same rule of a sheet, the same cell.
Those that say the same words around them and other lines have followed something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from lxml import etree

from ..book.sheet_xml import unescape
from ..book.workbook import Book, Sheet, child, children, local
from ..syntax.address import MAX_COL, MAX_ROW, Area, parse_area
from ..syntax.formula import Token, tokens
from .line_content import Content
from .line_run import Axis, SheetLines
from .line_search import Trace

_ROWS_LOOKED_AT = 400  # of a sheet, for formulas
_FORMULAS = 4_000  # of a sheet
_MOST = 2_000  # traces of the rows or columns of one sheet
_VIEWS = frozenset({"sheetViews", "customSheetViews", "dimension"})  # what nobody sees follow
_RULES = frozenset({"formula", "formula1", "formula2", "f"})
_PLACES = ("ref", "sqref")
_CHART_FORMULA = re.compile(rb"<(?:[\w.\-]+:)?f>([^<]+)</")
Texts = tuple[str, str]
_T = TypeVar("_T")


class Version(NamedTuple):
    """A sheet on both sides, as far as lines are looked for."""

    sheet: Sheet
    twin: Sheet
    old: Content
    new: Content


class Traces:
    """The references of two workbooks, by the sheet and the axis they are about."""

    def __init__(
        self, old: Book, new: Book, versions: list[Version], lines: Mapping[str, SheetLines]
    ) -> None:
        self._books = (old, new)
        self._twins = {one.sheet.name.lower(): one.twin.name.lower() for one in versions}
        self._found: dict[tuple[str, Axis], dict[Trace, None]] = {}
        for one in versions:
            self._frames(one)
            self._cells(one, lines.get(one.twin.name, SheetLines()))
        self._names()
        self._charts()

    def of(self, sheet: str, axis: Axis) -> tuple[Trace, ...]:
        """Return the references to a sheet of now, each pair of lines once."""
        return tuple(self._found.get((sheet.lower(), axis), ()))

    # --- where they stand ----------------------------------------------------------------------

    def _frames(self, version: Version) -> None:
        roots = version.old.xml.frame(), version.new.xml.frame()
        tables = [
            {table.part: book.package.xml(table.part) for table in book.tables(sheet)}
            for book, sheet in zip(self._books, (version.sheet, version.twin), strict=True)
        ]
        shared = sorted(tables[0].keys() & tables[1].keys())
        pairs = [roots, *((tables[0][part], tables[1][part]) for part in shared)]
        home, now = version.sheet.name, version.twin.name
        for one, two in pairs:
            areas, others = _areas(one), _areas(two)
            for name in areas.keys() & others.keys():
                for old, new in _paired(areas[name], others[name]):
                    self._add(home.lower(), old, new)
            formulas, rules = _formulas(one), _formulas(two)
            for name in formulas.keys() & rules.keys():
                for texts in _paired(formulas[name], rules[name]):
                    self._texts(texts, home, now)

    def _cells(self, version: Version, lines: SheetLines) -> None:
        old, new = version.old, version.new
        mark = b"<" + old.xml.words.prefix + b"f"
        rows = [
            row.number
            for row in old.xml.rows()
            if old.xml.has_formulas and old.xml.data.find(mark, row.inner, row.close) >= 0
        ]
        seen = 0
        for row in rows[:: len(rows) // _ROWS_LOOKED_AT + 1]:
            there = lines.rows.now(row)
            if there is None or seen >= _FORMULAS:
                continue
            news = new.cells(there)
            for col, cell in old.cells(row).items():
                twin = news.get(lines.columns.now(col) or 0)
                if cell.formula and twin and twin.formula:
                    seen += 1
                    texts = cell.formula, twin.formula
                    self._texts(texts, version.sheet.name, version.twin.name)

    def _names(self) -> None:
        sides = []
        for book in self._books:
            items = children(child(book.root, "definedNames"), "definedName")
            sides.append(
                {
                    (item.get("localSheetId"), item.get("name")): "".join(map(str, item.itertext()))
                    for item in items
                }
            )
        for key in sides[0].keys() & sides[1].keys():
            self._texts((sides[0][key], sides[1][key]), "", "")

    def _charts(self) -> None:
        one, two = (book.package for book in self._books)
        for part in one.names:
            if "chart" in part.lower() and part.endswith(".xml") and part in two:
                sides = [_CHART_FORMULA.findall(package.read(part)) for package in (one, two)]
                for old, new in _paired(*sides):
                    self._texts((unescape(old), unescape(new)), "", "")

    # --- what they say -------------------------------------------------------------------------

    def _texts(self, texts: Texts, home: str, now: str) -> None:
        """Pair the references of two formulas with the same words."""
        pieces = tokens(texts[0]), tokens(texts[1])
        if len(pieces[0]) != len(pieces[1]):
            return
        for one, two in zip(*pieces, strict=True):
            if one.kind != "ref" or one.external or one.area is None:
                continue
            sheet = (home if one.sheet is None else one.sheet).lower()
            if self._twins.get(sheet) != (now if two.sheet is None else two.sheet).lower():
                continue
            if _is_lost(two) or two.area is not None:
                self._add(sheet, one.area, two.area)

    def _add(self, sheet: str, old: Area, new: Area | None) -> None:
        twin = self._twins[sheet]
        if (old.row1, old.row2) != (1, MAX_ROW):
            rows = None if new is None else (new.row1, new.row2)
            self._keep((twin, "row"), Trace((old.row1, old.row2), rows))
        if (old.col1, old.col2) != (1, MAX_COL):
            cols = None if new is None else (new.col1, new.col2)
            self._keep((twin, "column"), Trace((old.col1, old.col2), cols))

    def _keep(self, key: tuple[str, Axis], trace: Trace) -> None:
        known = self._found.setdefault(key, {})
        if len(known) < _MOST:
            known[trace] = None


def _is_lost(token: Token) -> bool:
    return token.kind == "error" and "#REF!" in token.text


def _paired(one: list[_T], two: list[_T]) -> Iterator[tuple[_T, _T]]:
    """Pair what stands in the same order on both sides; nothing where something came or went."""
    return zip(one, two, strict=True) if len(one) == len(two) else iter(())


def _areas(root: etree._Element) -> dict[str, list[Area]]:
    """Return the ranges that the elements of a part are about, by the elements' names."""
    found: dict[str, list[Area]] = {}
    for name, item in _elements(root):
        for key in _PLACES:
            areas = [parse_area(one) for one in (item.get(key) or "").split()]
            found.setdefault(name, []).extend(area for area in areas if area is not None)
    return found


def _formulas(root: etree._Element) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, item in _elements(root):
        if local(item) in _RULES and item.text:
            found.setdefault(name, []).append(item.text)
    return found


def _elements(root: etree._Element) -> Iterator[tuple[str, etree._Element]]:
    """Go through a part, each element with the name of the child of the root it stands in."""
    yield "", root
    for top in root:
        if (name := local(top)) and name not in _VIEWS:
            yield from ((name, item) for item in top.iter(etree.Element))
