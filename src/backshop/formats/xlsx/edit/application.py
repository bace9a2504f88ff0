"""Applies operations to a workbook: all or none, checked, with a report of what changed (F16)."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

from backshop.formats.kind import MACROS_KEPT, require_new_workbook_name
from backshop.formats.package.package import Package
from backshop.formats.protocol import Applied, Json, OpsRequest, Source
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import decode, nowhere, resolve_base

from ..book.blank import blank_workbook
from ..book.workbook import Book
from ..calculation import recalculation
from ..calculation.precedent import Place
from ..lines.line_move import LineMove
from ..syntax.address import Area, cell_name
from . import effect, structure
from .drawing.chart_fill import fill_charts, verify_charts
from .list_end import tell_ends
from .operation import RUN, SPECS
from .session import Session
from .settlement import changed_cells, recalculated
from .unoffered import instead_of
from .verification import verify


def apply_ops(base: Source | None, request: OpsRequest, out: Path) -> Applied:
    """Write the edited workbook to `out`, or raise and write nothing."""
    start = resolve_base(base, request)
    decoded = decode(request.operations, SPECS, instead_of)
    warnings = Warnings([*start.warnings, *decoded.warnings])
    if start.source is None:
        require_new_workbook_name(request.name)
    package = Package.open_base(start.source, blank_workbook, macros_kept=MACROS_KEPT)
    session = Session(
        Book(package),
        warnings,
        pristine=start.source is None,
        files=request.files,
        engine=request.recalculate,
    )
    changes = [(op.index, RUN[op.name](session, op)) for op in decoded.ops]
    session.flush()
    if session.unmatched and not package.changed_parts:
        raise nowhere(session.unmatched, session.left)
    return finish(
        session,
        out,
        name=request.name,
        created=start.created,
        changes=tuple(changes),
        recalculate=request.recalculate,
    )


def finish(
    session: Session,
    out: Path,
    *,
    name: str,
    created: bool,
    changes: tuple[tuple[int, str], ...],
    recalculate: bool,
    extra: dict[str, Json] | None = None,
) -> Applied:
    """Recalculate, compare, verify and write what a session changed."""
    session.check_sheets()
    book, package = session.book, session.book.package
    old = Book(package.fresh(), strings_of=book)
    session.engine = recalculate
    outcome = recalculated(session, _errors(old, session))
    _tell_circles(session, outcome)
    tell_ends(session)
    _keep_chain_true(session, old)
    fill_charts(session)
    verify(session, outcome.places)
    verify_charts(session)
    report = effect.report(old, book, _expected(session, outcome))
    written = package.save(out)
    return Applied(
        name=name,
        size_bytes=written.size_bytes,
        sha256=written.sha256,
        created=created,
        ops_applied=len(changes),
        changes=changes,
        focus=focus(session),
        warnings=session.warnings.all(),
        changed_parts=written.changed_parts,
        effects=report,
        replaced=session.replaced,
        extra={**outcome.to_json(), **_macros(book), **(extra or {})},
    )


def _expected(session: Session, outcome: recalculation.Recalculation) -> effect.Expected:
    """Return what may differ without being collateral."""
    return effect.Expected(
        session.targets,
        session.moves,
        outcome.places,
        session.structural,
        session.grown,
        session.made,
        session.expected_parts,
        session.arranged,
        session.addresses,
        session.twins,
        outcome.stand_ins,
        session.is_new,
    )


def _macros(book: Book) -> dict[str, Json]:
    """Return what is said of macros that are inside (F40.2)."""
    return {"macros": "kept as they were, not run"} if structure.has_macros(book) else {}


def _tell_circles(session: Session, outcome: recalculation.Recalculation) -> None:
    """Say which of the formulas just written read themselves; Excel warns of them too."""
    for sheet, places in outcome.circles.items():
        for place in sorted(places & session.written.get(sheet, set())):
            session.warnings.add("circular_formula", where=f"{sheet}!{cell_name(*place)}")


def _errors(old: Book, session: Session) -> dict[Place, str]:
    """Return the errors that formula cells showed before, at their places of today."""
    names = {sheet.part: sheet.name for sheet in session.book.sheets}
    shifts = [(move.part, move.shift) for move in session.moves if isinstance(move, LineMove)]
    found: dict[Place, str] = {}
    for sheet in old.sheets:
        xml = old.xml(sheet)
        if xml is None or not xml.has_formulas or sheet.part not in names:
            continue
        if xml.data.find(b'"e"', xml.inner, xml.close) < 0:
            continue
        for cell in xml.formula_cells():
            place: tuple[int, int] | None = (cell.row, cell.col)
            for part, shift in shifts:
                place = shift.cell(*place) if place and part == sheet.part else place
            if cell.kind == "e" and cell.value and place:
                found[Place(names[sheet.part], *place)] = cell.value
    return found


def _keep_chain_true(session: Session, old: Book) -> None:
    """Drop the calculation chain when it may name cells that hold no formula any more."""
    book, changed = session.book, changed_cells(session)
    for name, stale in session.stale.items():
        changed.setdefault(name, set()).update(stale)
    if book.related("calcChain") is None:
        return
    for sheet in old.sheets:
        now = next((s for s in book.sheets if s.part == sheet.part), None)
        xml = old.xml(sheet)
        if xml is None or (now is not None and not changed.get(now.name)):
            continue
        written = changed[now.name] if now else None
        cells = xml.formula_cells()
        if any(written is None or (cell.row, cell.col) in written for cell in cells):
            recalculation.drop_chain(book)
            book.forget()
            return


def focus(session: Session) -> dict[str, Json] | None:
    """Return the box around the changes, on the sheet with most of them (F16.11)."""
    best: tuple[int, str, Area] | None = None
    for sheet, areas in session.touched.items():
        if session.book.find(sheet) is None:
            continue
        box = reduce(Area.join, areas)
        weight = sum(area.count for area in areas)
        if best is None or weight >= best[0]:
            best = (weight, sheet, box)
    if best is None:
        return None
    _, sheet, box = best
    return {
        "sheet": sheet,
        "row_start": box.row1 - 1,
        "row_end": box.row2 - 1,
        "col_start": box.col1 - 1,
        "col_end": box.col2 - 1,
    }
