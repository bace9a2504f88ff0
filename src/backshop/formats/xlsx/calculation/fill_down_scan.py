"""Goes through the formulas of a sheet once and gathers those that were filled down (F24.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ..book.sheet_xml import SheetXml, attributes, unescape
from ..book.workbook import Book
from ..syntax.address import MAX_ROW, Area, column_number, parse_area
from ..syntax.formula import shift, tokens
from ..syntax.numeral import DIGITS, row_numerals
from .fill_down import Form, Forms, Run
from .precedent import Place, Reader

_SPREAD = frozenset({"array", "dataTable"})


@dataclass
class Scanned:
    """The formulas of one sheet."""

    runs: list[Run] = field(default_factory=list)
    uncached: set[Place] = field(default_factory=set)  # without stored result
    left_out: set[Place] = field(default_factory=set)  # there was no room for them


class _Seen(NamedTuple):
    """A formula as it is stored."""

    row: int
    col: int
    text: str
    kind: str  # as RawFormula has it
    ref: str | None
    group: str | None
    cached: bool
    halted: bool  # a formula that may spill and shows an error: something may be in its way


class _Template(NamedTuple):
    """A shared formula in one column: its text split at digits, and which of them move."""

    pieces: list[str]
    row: int
    moving: list[int]


def scan(book: Book, xml: SheetXml, sheet: str, reader: Reader, room: int) -> Scanned:
    """Gather the formulas of a sheet; beyond `room` they are only counted out."""
    found = Scanned()
    forms = Forms(reader)
    templates: dict[tuple[str, int], _Template | None] = {}
    open_runs: dict[int, Run] = {}  # by column, the one the next row may go on with
    for seen in _formulas(book, xml):
        place = Place(sheet, seen.row, seen.col)
        if not seen.cached:
            found.uncached.add(place)
        if room <= 0:
            found.left_out.add(place)
            continue
        room -= 1
        if seen.kind in _SPREAD:
            found.runs.extend(_spread(place, seen, forms))
            continue
        pieces = None
        if seen.kind == "shared" and seen.group is not None and not seen.text:
            key = (seen.group, seen.col)
            if key not in templates:
                templates[key] = _template(xml, *key)
            pieces = _member(templates[key], seen.row)
        form, rows = forms.of(pieces or DIGITS.split(seen.text), place)
        run = open_runs.get(seen.col)
        if run is None or not run.extend(seen.row, form, rows):
            run = open_runs[seen.col] = Run(sheet, seen.row, seen.col, form, rows)
            found.runs.append(run)
    return found


def _spread(place: Place, seen: _Seen, forms: Forms) -> Iterator[Run]:
    """Yield a formula over several cells: the cell that holds it, then those that show its values.

    They have no formula of their own, but change with it. What a data table reads is not in its
    text, nor what keeps a formula from spilling.
    """
    form, rows = forms.of(DIGITS.split(seen.text), place)
    if seen.kind == "dataTable" or seen.halted:
        form = form._replace(dynamic=True)
    yield Run(place.sheet, place.row, place.col, form, rows)
    area = parse_area(seen.ref or "")
    if area is None or not area.has(place.row, place.col):
        return
    anchor = Area(place.row, place.col, place.row, place.col)
    shows = Form((), (), ((place.sheet, anchor),), form.dynamic, form.volatile)
    for col in range(area.col1, area.col2 + 1):
        first = max(area.row1, place.row + 1 if col == place.col else place.row)
        if first <= area.row2:
            yield Run(place.sheet, first, col, shows, [], last=area.row2)


def _template(xml: SheetXml, group: str, col: int) -> _Template | None:
    master = xml.master(group)
    if master is None or master.formula is None:
        return None
    text = shift(master.formula.text, 0, col - master.col)
    pieces = DIGITS.split(text)
    moving: list[int] = []
    number = 0
    for token in tokens(text):
        rows = row_numerals(token, number)
        moving += [2 * slot + 1 for slot in rows if not pieces[2 * slot].endswith("$")]
        number += len(DIGITS.findall(token.text))
    return _Template(pieces, master.row, moving)


def _member(template: _Template | None, row: int) -> list[str] | None:
    """Return what a shared formula says in one row, split at digits."""
    if template is None:
        return None
    pieces = template.pieces.copy()
    for at in template.moving:  # shared formulas wrap around the sheet's edge
        pieces[at] = str((int(pieces[at]) + row - template.row - 1) % MAX_ROW + 1)
    return pieces


def _formulas(book: Book, xml: SheetXml) -> Iterator[_Seen]:
    """Go through the formulas, the quick way where the sheet is written as programs write it."""
    if _is_usual(xml):
        yield from _quick(xml)
        return
    for cell in xml.formula_cells():
        formula = cell.formula
        assert formula is not None, "these cells have one"
        cached = not book.is_uncached(cell)
        yield _Seen(cell.row, cell.col, *formula, cached, cell.meta and cell.kind == "e")


@lru_cache(maxsize=32)
def _pattern(prefix: bytes) -> re.Pattern[bytes]:
    """Return what finds a formula in its cell: column, attributes, text and the stored result."""
    p = re.escape(prefix)
    return re.compile(
        rb'<%sc r="([A-Z]{1,3})[0-9]+"([^>]*)>'
        rb"<%sf(?: ([^>]*?))?(?:/>|>([^<]*)</%sf>)"
        rb"(?:<%sv(?: [^>]*?)?(?:(/)>|>([^<]?))|</%sc>)" % (p, p, p, p, p)
    )


def _is_usual(xml: SheetXml) -> bool:
    """Whether the pattern finds every formula there is."""
    mark = b"<" + xml.words.prefix + b"f"
    count = sum(xml.data.count(mark + end, xml.inner, xml.close) for end in (b">", b" ", b"/"))
    found = _pattern(xml.words.prefix).finditer(xml.data, xml.inner, xml.close)
    return count == sum(1 for _ in found)


def _quick(xml: SheetXml) -> Iterator[_Seen]:
    finditer = _pattern(xml.words.prefix).finditer
    for row in xml.iter_rows():
        for match in finditer(xml.data, row.inner, row.close):
            letters, attrs, given, text, _, value = match.groups()
            how = _how(given) if given else ("normal", None, None)
            cached = bool(value) or (value is not None and b'"str"' in attrs)
            yield _Seen(
                row.number,
                column_number(letters.decode()),
                unescape(text) if text else "",
                *how,
                cached,
                value == b"#" and b"cm=" in attrs,
            )


@lru_cache(maxsize=4096)
def _how(given: bytes) -> tuple[str, str | None, str | None]:
    """Return the kind, the range and the group of a formula by its attributes."""
    found = {name: value.decode("ascii", "replace") for name, value in attributes(given).items()}
    return found.get(b"t", "normal"), found.get(b"ref"), found.get(b"si")
