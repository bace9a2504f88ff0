"""Stored results brought up to date with what a call did to a workbook (F24.2, F24.23)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..book.sheet_edit import SheetEdit
from ..book.sheet_xml import SheetXml
from ..book.workbook import Sheet
from ..calculation import recalculation
from ..calculation.moved_reference import SheetMove
from ..calculation.precedent import Place
from ..calculation.recalculation import Recalculation
from ..syntax.address import Area
from .session import Session


def settle(session: Session, names: Iterable[str]) -> None:
    """Compute what the call changed so far, before an operation reads results on these sheets.

    What was computed counts as reached from then on: it is computed again at the end, where cells
    that later operations write are known.
    """
    session.flush()
    if not _is_changed(session) or not any(_has_formulas(session, name) for name in names):
        return
    parts = _parts(session)
    if parts.keys() == session.settled.keys() and all(
        data is session.settled[part] for part, data in parts.items()
    ):
        return
    outcome = recalculated(session, {})
    for sheet, places in outcome.places.items():
        session.stale.setdefault(sheet, set()).update(places)
    session.settled = _parts(session)


def settled(session: Session, edit: SheetEdit, areas: Iterable[Area]) -> SheetEdit:
    """Return a sheet whose results in these cells can be read; the sheet itself without formulas.

    What was patched is in the package afterwards, so that the sheet may be another object.
    """
    for area in areas:
        places = edit.cells_in(area)
        edit.load({row for row, _ in places})
        if any(edit.formula(*place) is not None for place in places):
            settle(session, [edit.sheet.name])
            return session.edit(edit.sheet.name, "")
    return edit


def recalculated(session: Session, before: Mapping[Place, str]) -> Recalculation:
    """Compute the formulas that the operations reach; `before` are the errors cells showed."""
    return recalculation.recalculate(
        session.book,
        changed_cells(session),
        before,
        stale=session.stale,
        moved=session.structural,
        engine=session.engine,
        started=session.started,
        kept=session.kept if not (session.written or session.structural) else None,
        shifted=session.shifted,
    )


def changed_cells(session: Session) -> dict[str, set[tuple[int, int]]]:
    """Return the cells whose content was written, and formulas that a deleted sheet rewrote."""
    changed = {sheet: set(cells) for sheet, cells in session.written.items()}
    for name, cells in session.carried.items():
        changed.setdefault(name, set()).update(cells)
    if any(isinstance(m, SheetMove) and m.new is None for m in session.moves):
        for sheet in session.book.sheets:
            changed.setdefault(sheet.name, set()).update(_rewritten(session, sheet))
    return changed


def _rewritten(session: Session, sheet: Sheet) -> set[tuple[int, int]]:
    """Return the formulas of a sheet that say something else than they did before the call."""
    xml = session.book.xml(sheet)
    if xml is None or sheet.part is None:
        return set()
    before = session.book.package.original(sheet.part)
    if before == xml.data:
        return set()
    formulas = {}
    if before is not None:  # else it is a sheet that the call made, or a copy of one
        cells = SheetXml(before, sheet.part).formula_cells()
        formulas = {(cell.row, cell.col): cell.formula for cell in cells}
    return {
        (cell.row, cell.col)
        for cell in xml.formula_cells()
        if formulas.get((cell.row, cell.col)) != cell.formula
    }


def _parts(session: Session) -> dict[str, bytes]:
    """Return the parts that the call changed, as they are now."""
    package = session.book.package
    return {part: package.read(part) for part in package.changed_parts if part in package}


def _is_changed(session: Session) -> bool:
    noted = (session.written, session.carried, session.stale, session.shifted)
    return session.structural or any(map(bool, noted))


def _has_formulas(session: Session, name: str) -> bool:
    sheet = session.book.find(name)
    xml = session.book.xml(sheet) if sheet is not None else None
    return xml is not None and xml.has_formulas
