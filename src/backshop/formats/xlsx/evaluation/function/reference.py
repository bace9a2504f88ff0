"""Functions that lead to cells, or tell where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...syntax.address import MAX_COL, MAX_ROW, Area, parse_area
from ...syntax.formula import Token, tokens
from ...syntax.tree import Tree
from ..coercion import to_text, to_truth, to_whole
from ..definition import Definition, Lazy, wholes
from ..memory import Cell
from ..value import (
    MISSING,
    REF,
    VALUE,
    Array,
    Doubt,
    Error,
    Fault,
    Missing,
    NotComputed,
    Operand,
    Reference,
    References,
    Value,
)

if TYPE_CHECKING:
    from ..evaluator import Evaluator

_MOST_NUMBERS = 100_000
_NOT_GIVEN = Missing()  # INDEX(A1:C9,2), which is not INDEX(A1:C9,2,)


def _row(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    if not trees:
        return float(formula.cell.row)
    area = _area(formula.operand(trees[0], lifts))
    if area.height == 1:
        return float(area.row1)
    _refuse_many(area.height, lifts)
    return Array([[float(row)] for row in range(area.row1, area.row2 + 1)])


def _column(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    if not trees:
        return float(formula.cell.col)
    area = _area(formula.operand(trees[0], lifts))
    if area.width == 1:
        return float(area.col1)
    _refuse_many(area.width, lifts)
    return Array([[float(col) for col in range(area.col1, area.col2 + 1)]])


def _refuse_many(count: int, lifts: bool) -> None:
    if not lifts:
        raise NotComputed("array_context")  # the first of them, but not everywhere
    if count > _MOST_NUMBERS:
        raise NotComputed("too_many_cells")


def _area(operand: Operand) -> Area:
    if isinstance(operand, Error):
        raise Fault(operand)
    if not isinstance(operand, Reference):
        raise Doubt
    return operand.area


def _rows(formula: Evaluator, operand: Operand) -> float:
    if isinstance(operand, Error):
        raise Fault(operand)
    if isinstance(operand, Array):
        return float(operand.height - 1 + operand.repeat)
    if not isinstance(operand, Reference):
        raise Doubt
    return float(operand.area.height)


def _columns(formula: Evaluator, operand: Operand) -> float:
    if isinstance(operand, Error):
        raise Fault(operand)
    if isinstance(operand, Array):
        return float(operand.width)
    if not isinstance(operand, Reference):
        raise Doubt
    return float(operand.area.width)


def _areas(formula: Evaluator, operand: Operand) -> float:
    if isinstance(operand, References):
        return float(len(operand.parts))
    _area(operand)
    return 1.0


def _index(
    formula: Evaluator,
    operand: Operand,
    row: Operand,
    col: Operand = _NOT_GIVEN,
    area: Operand = MISSING,
) -> Operand:
    if isinstance(operand, Error):
        raise Fault(operand)
    if isinstance(operand, References):
        which = 1 if isinstance(area, Missing) else to_whole(_scalar(area))
        if not 1 <= which <= len(operand.parts):
            raise Fault(REF)
        operand = operand.parts[which - 1]
    elif not isinstance(area, Missing) and to_whole(_scalar(area)) != 1:
        raise Fault(REF)
    if not isinstance(operand, Reference | Array):
        raise Doubt
    height, width = _size(operand)
    first = 0 if isinstance(row, Missing) else to_whole(_scalar(row))
    second = 0 if isinstance(col, Missing) else to_whole(_scalar(col))
    if isinstance(col, Missing) and height == 1 and width > 1:
        if col is not _NOT_GIVEN:
            raise Doubt
        first, second = 0, first
    elif col is _NOT_GIVEN and width > 1 and height > 1 and not isinstance(row, Missing):
        raise Doubt  # a whole row, or an error: programs differ
    if first < 0 or second < 0:
        raise Fault(VALUE)
    if first > height or second > width:
        raise Fault(REF)
    return _taken(operand, first, second)


def _taken(operand: Reference | Array, row: int, col: int) -> Operand:
    """Return one cell of a block, or a whole row or column for 0."""
    if isinstance(operand, Reference):
        area = operand.area
        rows = (area.row1 + row - 1,) * 2 if row else (area.row1, area.row2)
        cols = (area.col1 + col - 1,) * 2 if col else (area.col1, area.col2)
        return Reference(operand.sheet, Area(rows[0], cols[0], rows[1], cols[1]))
    if row and col:
        return operand.rows[min(row, operand.height) - 1][col - 1]
    if row:
        return Array([operand.rows[min(row, operand.height) - 1]])
    if col:
        return Array([[line[col - 1]] for line in operand.rows], operand.repeat)
    return operand


def _size(operand: Reference | Array) -> tuple[int, int]:
    if isinstance(operand, Reference):
        return operand.area.height, operand.area.width
    return operand.height - 1 + operand.repeat, operand.width


def _scalar(operand: Operand) -> Value:
    if isinstance(operand, Missing):
        return None
    assert operand is None or isinstance(operand, float | str | bool | Error), "one value"
    return operand


def _offset(
    formula: Evaluator,
    base: Operand,
    rows: Operand,
    cols: Operand,
    height: Operand = MISSING,
    width: Operand = MISSING,
) -> Operand:
    area = _area(base)
    assert isinstance(base, Reference), "it has an area"
    top = area.row1 + to_whole(_scalar(rows))
    left = area.col1 + to_whole(_scalar(cols))
    tall = area.height if isinstance(height, Missing) else to_whole(_scalar(height))
    wide = area.width if isinstance(width, Missing) else to_whole(_scalar(width))
    if tall == 0 or wide == 0:
        raise Fault(REF)
    if tall < 0:
        top, tall = top + tall + 1, -tall
    if wide < 0:
        left, wide = left + wide + 1, -wide
    if top < 1 or left < 1 or top + tall - 1 > MAX_ROW or left + wide - 1 > MAX_COL:
        raise Fault(REF)
    return Reference(base.sheet, Area(top, left, top + tall - 1, left + wide - 1))


def _word(text: str) -> Token:
    """Return the one reference or name that a text is."""
    pieces = [token for token in tokens(text) if token.kind != "space"]
    if len(pieces) != 1:
        raise Doubt
    return pieces[0]


def _indirect(formula: Evaluator, text: Operand, a1: Operand = MISSING) -> Operand:
    if not isinstance(a1, Missing) and not to_truth(_scalar(a1)):
        raise Doubt  # row and column numbers
    token = _word(to_text(_scalar(text)).strip())
    if token.kind == "name" and token.sheet is None:
        refers = formula.context.named(token.body, formula.cell.sheet)
        token = _word(refers) if refers and "$" in refers else token
        if not token.sheet:
            raise Doubt  # no name, or one that means something else in each place
    if token.kind != "ref" or token.external:
        raise Doubt  # a table, another workbook
    area = parse_area(token.body)
    sheet = formula.cell.sheet if token.sheet is None else formula.context.sheet(token.sheet)
    if area is None:
        raise Doubt
    if sheet is None:
        if ":" in (token.sheet or ""):
            raise Doubt
        raise Fault(REF)
    return Reference(sheet, area)


def _anchorarray(formula: Evaluator, operand: Operand) -> Operand:
    """Return the cells that a formula filled: A1#."""
    area = _area(operand)
    if area.count != 1 or not isinstance(operand, Reference):
        raise Doubt
    found = formula.context.spilled(Cell(operand.sheet, area.row1, area.col1))
    if found is None:
        raise Fault(REF)
    return Reference(operand.sheet, found)


def _single(formula: Evaluator, operand: Operand) -> Operand:
    return formula.single(operand)


def _sheet(formula: Evaluator, operand: Operand = MISSING) -> float:
    if isinstance(operand, Missing):
        return float(formula.cell.sheet + 1)
    if isinstance(operand, Reference):
        return float(operand.sheet + 1)
    raise Doubt


def _sheets(formula: Evaluator, operand: Operand = MISSING) -> float:
    if isinstance(operand, Missing):
        return float(len(formula.context.sheets))
    if isinstance(operand, Reference):
        return 1.0
    raise Doubt


def _isref(formula: Evaluator, operand: Operand) -> bool:
    if isinstance(operand, Missing):
        raise Doubt
    return isinstance(operand, Reference | References)


def _isformula(formula: Evaluator, operand: Operand) -> bool:
    area = _area(operand)
    assert isinstance(operand, Reference), "it has an area"
    if area.count != 1:
        raise Doubt
    formula.context.memory.load(operand.sheet, area)
    return Cell(operand.sheet, area.row1, area.col1) in formula.context.memory.formulas


def _trimmed(leading: bool, trailing: bool, formula: Evaluator, operand: Operand) -> Operand:
    """Return a range without the empty rows and columns at its edges."""
    area = _area(operand)
    assert isinstance(operand, Reference), "it has an area"
    cells = [(row, col) for row, col, _ in formula.context.memory.present(operand)]
    if not cells:
        raise Fault(REF)
    rows, cols = [row for row, _ in cells], [col for _, col in cells]
    top, left = (min(rows), min(cols)) if leading else (area.row1, area.col1)
    bottom, right = (max(rows), max(cols)) if trailing else (area.row2, area.col2)
    return Reference(operand.sheet, Area(top, left, bottom, right))


def _trim_all(formula: Evaluator, operand: Operand) -> Operand:
    return _trimmed(True, True, formula, operand)


def _trim_leading(formula: Evaluator, operand: Operand) -> Operand:
    return _trimmed(True, False, formula, operand)


def _trim_trailing(formula: Evaluator, operand: Operand) -> Operand:
    return _trimmed(False, True, formula, operand)


FUNCTIONS: dict[str, Definition] = {
    "ROW": Lazy(_row),
    "COLUMN": Lazy(_column),
    **wholes(
        {
            "ROWS": _rows,
            "COLUMNS": _columns,
            "AREAS": _areas,
            "INDEX": _index,
            "OFFSET": _offset,
            "INDIRECT": _indirect,
            "ANCHORARRAY": _anchorarray,
            "SINGLE": _single,
            "SHEET": _sheet,
            "SHEETS": _sheets,
            "ISREF": _isref,
            "ISFORMULA": _isformula,
            "_TRO_ALL": _trim_all,
            "_TRO_LEADING": _trim_leading,
            "_TRO_TRAILING": _trim_trailing,
        }
    ),
}
