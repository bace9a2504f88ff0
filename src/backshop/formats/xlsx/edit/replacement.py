"""Replaces text in the cells of a workbook, in formulas only when asked (F17.15)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from backshop.formats.find import Needle, replace_spans
from backshop.formats.protocol import Op
from backshop.formats.write.operation import problem, strip_controls

from ..book.cell_xml import EMPTY
from ..book.sheet_edit import SheetEdit
from ..book.sheet_xml import RawCell
from ..book.stylesheet import Look
from ..book.workbook import Sheet
from ..syntax.address import WHOLE, Area, cell_name
from .cell_operation import area_of, write_cell
from .cell_value import content
from .session import Session

Place = tuple[int, int]
_SEVERAL = frozenset({"array", "dataTable"})


def replace_text(session: Session, op: Op) -> str:
    """Put a text in the place of another; what stays because of its look or place is counted."""
    needle, by = _needle(session, op)
    if op.args["range"] is not None and op.args["sheet"] is None:
        raise problem("missing_field", f"{op.where}.sheet", "a range is one of a sheet")
    if session.edits:
        session.flush()  # cells written before in this call are searched too
    sheets = session.book.sheets if op.args["sheet"] is None else [_sheet(session, op)]
    left: Counter[str] = Counter()
    count = 0
    for sheet in sheets:
        if sheet.kind == "worksheet" and sheet.part is not None:
            edit = session.edit(sheet.name, op.where)
            count += _in_sheet(session, op, edit, needle, by, left)
    for why, number in sorted(left.items()):
        session.warnings.add("occurrences_left", number, f"{op.where}: {why}")
    return _said(session, op, count, left)


def _needle(session: Session, op: Op) -> tuple[Needle, str]:
    search = str(op.args["search"])
    if not search:
        raise problem("bad_value", f"{op.where}.search", "must not be empty")
    expect = op.args["expect"]
    if isinstance(expect, int) and expect < 0:
        raise problem("bad_value", f"{op.where}.expect", "must not be negative")
    by = strip_controls(str(op.args["replace"]), session.warnings, f"{op.where}.replace")
    return Needle(search, bool(op.args["match_case"]), bool(op.args["whole_word"])), by


def _sheet(session: Session, op: Op) -> Sheet:
    return session.book.sheet(str(op.args["sheet"]), f"{op.where}.sheet")


def _said(session: Session, op: Op, count: int, left: Counter[str]) -> str:
    search, expect = str(op.args["search"]), op.args["expect"]
    if expect is not None and expect != count:
        reason = "no_match" if count == 0 else "ambiguous_match"
        found = (f"{count} matches",)
        raise problem(reason, f"{op.where}.search", f"{expect} expected", found)
    if count == 0:
        session.unmatched.append((op.where, search))
        session.warnings.add("no_match", where=op.where)
        session.left += [f"{number} {why}" for why, number in sorted(left.items())]
        if left:
            return f"nothing replaced: {search!r} occurs only where it stays"
        return f"nothing replaced: {search!r} occurs in no cell"
    session.replaced += count
    return f"{count} occurrence{'' if count == 1 else 's'} replaced"


def _in_sheet(
    session: Session, op: Op, edit: SheetEdit, needle: Needle, by: str, left: Counter[str]
) -> int:
    found = list(_matching(session, op, edit, needle, left))
    session.count(len(found), op.where)
    places = {place for place, *_ in found}
    for place, old, spans in found:
        new = replace_spans([old], spans, by)[0]
        kind = "formula" if edit.formula(*place) is not None else "string"
        at = f"{op.where} in {edit.sheet.name}!{cell_name(*place)}"
        text = EMPTY
        if new:
            book, names = session.book, session.names
            text = content(new, kind, at, book.date_1904, session.warnings, names)
        write_cell(session, edit, place, text, kind, Look(), at, places)
        session.aim(edit, Area(*place, *place))
    return sum(len(spans) for _, _, spans in found)


def _matching(
    session: Session, op: Op, edit: SheetEdit, needle: Needle, left: Counter[str]
) -> Iterator[tuple[Place, str, list[tuple[int, int]]]]:
    """Yield the cells that are going to change, what they hold, and where it matches."""
    book, xml = session.book, edit.xml
    text = op.args["range"]
    area = WHOLE if text is None else area_of(text, f"{op.where}.range", edit)
    may_be_number = any(char.isdigit() for char in needle.search)
    for row in xml.iter_rows():
        if not area.row1 <= row.number <= area.row2:
            continue
        for cell in xml.cells(row, area.col1, area.col2):
            formula = book.formula(cell, xml) if cell.formula is not None else None
            is_text = cell.kind in {"s", "inlineStr", "str"}
            if formula is None and not (is_text or (may_be_number and cell.value is not None)):
                continue
            text = book.value(cell).text if formula is None else f"={formula}"
            spans = _spans(op, needle, text)
            if not spans:
                continue
            why = _why_left(op, edit, cell)
            if why:
                left[why] += len(spans)
            else:
                yield (cell.row, cell.col), text, spans


def _spans(op: Op, needle: Needle, text: str) -> list[tuple[int, int]]:
    """Return where a cell's text matches; with `whole_cell` all of it does, or nothing."""
    found = needle.spans(text)
    if op.args["whole_cell"]:
        return [span for span in found if span == (0, len(text))]
    return found


def _why_left(op: Op, edit: SheetEdit, cell: RawCell) -> str:
    """Return why a match stays: nothing may be lost of a cell that is changed."""
    if cell.formula is not None:
        if not op.args["in_formulas"]:
            return "in formulas"
        return "in formulas over several cells" if cell.formula.kind in _SEVERAL else ""
    if cell.kind not in {"s", "inlineStr", "str"}:
        return "in numbers, dates and truth values, which set_cells changes"
    return "in cells of several looks" if edit.book.has_runs(cell, edit.xml) else ""
