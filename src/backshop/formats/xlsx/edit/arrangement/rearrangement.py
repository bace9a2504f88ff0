"""Carries rows of a block to other places and notes all that follows from it (F39.2)."""

from __future__ import annotations

from itertools import islice

from backshop.formats.errors import fail

from ...book.row_sign import signs
from ...book.sheet_xml import RawCell, SheetXml
from ...calculation.graph import build
from ...syntax.address import cell_name
from ..session import Arranged, Session
from . import attachment
from .block import Block, settle
from .row_carriage import RowCarriage, Sources
from .row_formula import RowFormulas

_NAMED = 5


def carry(session: Session, rows: Block, sources: Sources, formulas: RowFormulas) -> None:
    """Let every row of a block hold what its source holds; notes and links go along."""
    settle(session, rows)
    _warn(session, rows, formulas)
    carriage = RowCarriage(rows, sources, formulas, session.styles)
    part = rows.edit.xml.part
    data = carriage.rendered()
    _verify(rows, sources, formulas, SheetXml(data, part))
    session.edits.pop(part, None)
    session.book.package.put(part, data)
    if _has_formulas(session):
        _note_cells(session, rows, sources, formulas)
    session.flush()
    edit = session.edit(rows.edit.sheet.name, "")
    goes = {source: row for row, source in sources.items() if source is not None}

    def place(row: int, col: int) -> tuple[int, int] | None:
        if not rows.area.has(row, col):
            return row, col
        return (goes[row], col) if row in goes else None

    attachment.carry(session, edit, place)
    session.flush()
    session.aim(edit, rows.area)
    noted = session.arranged.setdefault(edit.sheet.name, [])
    noted.append(Arranged(rows.area, formulas.columns))


def _warn(session: Session, rows: Block, formulas: RowFormulas) -> None:
    """Say which formulas speak of single rows by their places, which hold others now."""
    book, sheet = session.book, rows.edit.sheet.name
    if _has_formulas(session):
        found = build(book).partly_reading(sheet, rows.area)
        first = list(islice(found, _NAMED))
        if first:
            names = ", ".join(f"{one.sheet}!{cell_name(one.row, one.col)}" for one in first)
            count = len(first) + sum(1 for _ in found)
            session.warnings.add("references_by_place", count, f"{names} read rows of {rows.said}")
    if formulas.fixed:
        where = f"formulas in {rows.said} read fixed cells of it, which hold other rows now"
        session.warnings.add("references_by_place", formulas.fixed, where)
    if formulas.beside:
        where = f"formulas in {rows.said} read cells of their row outside it, which stay"
        session.warnings.add("references_by_place", formulas.beside, where)


def _has_formulas(session: Session) -> bool:
    book = session.book
    return any(xml.has_formulas for one in book.sheets if (xml := book.xml(one)))


def _note_cells(session: Session, rows: Block, sources: Sources, formulas: RowFormulas) -> None:
    """Note which cells hold something else now, and which formulas kept their results."""
    name = rows.edit.sheet.name
    is_first = not session.carried and not session.stale
    used = rows.edit.used() or rows.area
    columns = range(rows.area.col1, min(rows.area.col2, used.col2) + 1)
    moved = [row for row, source in sources.items() if row != source]
    session.carried.setdefault(name, set()).update((row, col) for row in moved for col in columns)
    goes = {source: row for row, source in sources.items() if source is not None}
    kept = {
        (goes[cell.row], cell.col)
        for cell in formulas.cells()
        if is_first and cell.row in goes and _keeps(rows, formulas, cell)
    }
    session.kept = {name: kept} if is_first else {}


def _keeps(rows: Block, formulas: RowFormulas, cell: RawCell) -> bool:
    """Whether a cell is a formula whose stored result holds wherever its row stands."""
    if cell.formula is None or cell.col in formulas.columns:
        return False
    return not rows.edit.book.is_uncached(cell) and formulas.keeps(cell)


def _verify(rows: Block, sources: Sources, formulas: RowFormulas, xml: SheetXml) -> None:
    """Read every carried row back and compare it with the row it came from (F23.8)."""
    book, edit = rows.edit.book, rows.edit
    before, after = signs((book, edit.xml), (book, xml), edit.sheet.name, rows.area)
    written = {row.number: row for row in xml.iter_rows()}
    for row, source in sources.items():
        origin = rows.rows.get(source) if source is not None else None
        sides = before.of(origin, formulas.columns), after.of(written.get(row), formulas.columns)
        if sides[0] != sides[1]:
            raise fail("verify_failed", "a carried row reads back differently", detail=rows.said)
