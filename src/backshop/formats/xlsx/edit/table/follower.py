"""What a call noted before follows a table that changes, and its formulas are computed again."""

from __future__ import annotations

from dataclasses import replace

from ...calculation.table_use import users
from .. import structure
from ..session import Session
from .table_move import GONE, TableLoss, TableNames, TablePlain

TableMove = TableNames | TableLoss | TablePlain


def follow(session: Session, move: TableMove) -> int:
    """Let every formula of the workbook follow; return how many did."""
    session.flush()
    count = structure.follow(session.book, move)
    session.moves.append(move)
    session.forget_vocabulary()
    for sheet, places in session.expected.items():
        for place, content in places.items():
            if content.kind == "formula":
                text = _followed(move, content.text, sheet, place)
                places[place] = replace(content, text=text)
    return count


def _followed(move: TableMove, text: str, sheet: str, place: tuple[int, int]) -> str:
    if isinstance(move, TablePlain):
        return move.followed(text, sheet, *place)
    return move.followed(text)


def note_users(session: Session, name: str) -> None:
    """Let the formulas that name a table, or stand in one, be computed again."""
    for sheet, cells in users(session.book, {name.lower(), ""}).items():
        session.stale.setdefault(sheet, set()).update(cells)


def note_broken(session: Session, count: int, what: str) -> None:
    """Say how many references lead nowhere now, and let their formulas be computed again."""
    if not count:
        return
    session.warnings.add("broken_references", count, what)
    for sheet in session.book.sheets:
        xml = session.book.xml(sheet)
        for cell in xml.formula_cells() if xml else ():
            if cell.formula is not None and GONE in cell.formula.text:
                session.stale.setdefault(sheet.name, set()).add((cell.row, cell.col))
