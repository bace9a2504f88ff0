"""Reads a sheet back after lines came or went: nothing is lost, what moved is the same (F23.8)."""

from __future__ import annotations

from backshop.formats.errors import fail

from ..book.sheet_xml import RawCell, RowSpan, SheetXml
from ..syntax.line_shift import LineShift

_ROWS_READ = 200  # spread over the sheet, and all around the change; values are counted in all
_NEAR = 3

Held = tuple[int, str, str | None, bool]


def check_lines(before: SheetXml | None, after: SheetXml | None, shift: LineShift) -> None:
    """Compare a sheet with what it was by the reading path.

    Raises:
        FormatError: `verify_failed`.
    """
    if before is None or after is None:
        raise fail("verify_failed", "a sheet whose lines changed cannot be read back")
    if shift.by > 0 and _count(before) != _count(after):
        raise fail("verify_failed", "values of a sheet whose lines changed are missing")
    rows = before.rows()
    near = [row for row in rows if abs(row.number - shift.at) <= _NEAR]
    wanted = {row.number: row for row in (*rows[:: max(1, len(rows) // _ROWS_READ)], *near)}
    now = {number: _line(shift, number) for number in wanted}
    found = {row.number: row for row in after.pick({n for n in now.values() if n is not None})}
    for number, row in wanted.items():
        there = now[number]
        if there is None:
            continue
        old = _moved(before, row, shift)
        new = _held(after, found.get(there))
        if any(new.get(place) != held for place, held in old.items()):
            raise fail("verify_failed", f"row {there} of the sheet reads back differently")


def _line(shift: LineShift, row: int) -> int | None:
    return shift.line(row) if shift.axis == "row" else row


def _count(xml: SheetXml) -> tuple[int, ...]:
    """Return how many formulas and values stand in a sheet."""
    p = xml.words.prefix
    tags = (b"<%sv>" % p, b"<%sv " % p, b"<%sf>" % p, b"<%sf " % p, b"<%sis>" % p)
    counts = [xml.data.count(tag, xml.inner, xml.close) for tag in tags]
    return counts[0] + counts[1], counts[2] + counts[3], counts[4]


def _moved(xml: SheetXml, row: RowSpan, shift: LineShift) -> dict[int, Held]:
    """Return what the cells of a row hold, by the columns they are going to be in."""
    found = _held(xml, row)
    if shift.axis == "row":
        return found
    return {now: held for col, held in found.items() if (now := shift.line(col)) is not None}


def _held(xml: SheetXml, row: RowSpan | None) -> dict[int, Held]:
    return {cell.col: _content(cell) for cell in xml.cells(row)} if row is not None else {}


def _content(cell: RawCell) -> Held:
    return cell.style, cell.kind, cell.value, cell.formula is not None
