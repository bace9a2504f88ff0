"""Functions that look a value up, in a list or a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ...syntax.address import MAX_ROW, Area
from ..coercion import folded, is_same_text, ordered, rank, to_number, to_truth, to_whole
from ..definition import Definition, Whole
from ..number_list import refuse_near
from ..value import (
    MISSING,
    NA,
    REF,
    VALUE,
    Array,
    Doubt,
    Error,
    Fault,
    Missing,
    Operand,
    Reference,
    Value,
)
from ..wildcard import is_wild, matches

if TYPE_CHECKING:
    from ..evaluator import Evaluator


class _List:
    """A row or a column that is searched: its values by place, from 0."""

    def __init__(self, formula: Evaluator, operand: Operand) -> None:
        self._index: dict[tuple[int, Value], int] | None = None
        self._numbers: list[float] | None = None  # in order
        self.upright = True
        self.values: Sequence[Value]
        if isinstance(operand, Reference) and operand.area.width == 1:
            self.values = _column(formula, operand)
            self.length = operand.area.height
            return
        array = formula.context.array(operand)
        if array.width == 1:
            self.values = array.column(0)
            self.length = array.height - 1 + array.repeat
        elif array.height == 1:
            self.values, self.upright = array.rows[0], False
            self.length = array.width
        else:
            raise Fault(NA)

    def equal(self, key: Value) -> int | None:
        """Return the first place of an equal value, by an index made once."""
        if self._index is None:
            self._index = {}
            for at, value in enumerate(self.values):
                if value is not None and not isinstance(value, Error):
                    self._index.setdefault(_key(value), at)
        found = self._index.get(_key(key))
        if found is not None and type(key) is float and self.values[found] != key:
            raise Doubt
        if isinstance(key, str) and not key.isascii():
            for value in self.values:
                if isinstance(value, str):
                    is_same_text(key, value)
        return found

    def refuse_near(self, key: Value) -> None:
        """Doubt a number with the noise of a computation where another is next to it."""
        if type(key) is not float or key == float(f"{key:.15g}"):
            return
        if self._numbers is None:
            self._numbers = sorted(value for value in self.values if type(value) is float)
        refuse_near(self._numbers, key)


def _key(value: Value) -> tuple[int, Value]:
    if isinstance(value, str):
        return 1, folded(value)
    return (2, value) if isinstance(value, bool) else (0, float(f"{value:.15g}"))


def _column(formula: Evaluator, where: Reference) -> list[Value]:
    """Return a column as far as it holds anything."""
    area = where.area
    found: list[Value] = []
    for row, _, value in formula.context.memory.present(where):
        found.extend([None] * (row - area.row1 - len(found)))
        found.append(value)
    return found


def _list(formula: Evaluator, operand: Operand) -> _List:
    """Return a list that is searched; of cells one is kept for all who search it."""
    if not isinstance(operand, Reference):
        return _List(formula, operand)
    formula.context.memory.ready(operand)
    found = formula.context.indexes.get(("list", operand))
    if not isinstance(found, _List):
        found = formula.context.indexes["list", operand] = _List(formula, operand)
    return found


def _sought(key: Operand, formula: Evaluator) -> Value:
    """Return what is looked for."""
    value = formula.as_one(formula.settled(key, False), "")
    if isinstance(value, Error):
        raise Fault(value)
    if isinstance(value, str) and len(value) > 255:
        raise Fault(VALUE)
    return value


def _exactly(found: _List, key: Value, *, wild: bool, last: bool = False) -> int | None:
    """Return the place of a value that is equal, or that a pattern describes."""
    if key is None:
        _refuse_empty(found)
        return None
    if wild and isinstance(key, str) and is_wild(key):
        places = range(len(found.values))
        for at in reversed(places) if last else places:
            value = found.values[at]
            if isinstance(value, str) and matches(key, value):
                return at
        return None
    first = found.equal(key)
    if first is None or not last:
        return first
    wanted = _key(key)
    for place in range(len(found.values) - 1, -1, -1):
        value = found.values[place]
        if value is not None and not isinstance(value, Error) and _key(value) == wanted:
            return place
    return at


def _refuse_empty(found: _List) -> None:
    """Doubt that an empty cell is not found in a list where something may be equal to it."""
    if any(value in (None, 0.0, "", False) for value in found.values if type(value) is not Error):
        raise Doubt
    if len(found.values) < found.length:
        raise Doubt  # empty cells at the end


def _not_above(values: Sequence[Value], key: Value) -> int | None:
    """Return the last place that is not above a key, in a list that really ascends.

    A key above everything finds the last value of its kind, whatever the order.
    """
    if key is None:
        raise Doubt
    places = [at for at, value in enumerate(values) if value is not None and _alike(value, key)]
    if not places:
        return None
    others = {type(v) for v in values if v is not None and not _alike(v, key)}
    kept = [values[at] for at in places]
    if all(ordered(value, key) < 0 for value in kept):
        return places[-1]
    if Error in others or _is_mixed(values, places):
        raise Doubt
    for one, two in pairwise(kept):
        if ordered(one, two) > 0:
            raise Doubt
    below = [at for at, value in zip(places, kept, strict=True) if ordered(value, key) <= 0]
    return below[-1] if below else None


def _is_mixed(values: Sequence[Value], places: Sequence[int]) -> bool:
    """Whether values of another kind stand among the others; above and below them is no matter."""
    return places[-1] - places[0] + 1 != len(places)


def _alike(value: Value, key: Value) -> bool:
    return not isinstance(value, Error) and rank(value) == rank(key)


def _not_below(values: Sequence[Value], key: Value) -> int | None:
    """Return the last place that is not below a key, in a list that really descends."""
    if key is None:
        raise Doubt
    if any(value is None or not _alike(value, key) for value in values):
        raise Doubt
    for one, two in pairwise(values):
        if ordered(one, two) <= 0:
            raise Doubt
    above = [at for at, value in enumerate(values) if ordered(value, key) >= 0]
    return above[-1] if above else None


# --- MATCH, VLOOKUP, LOOKUP -----------------------------------------------------------------------


def _match(formula: Evaluator, key: Operand, where: Operand, kind: Operand = 1.0) -> float:
    wanted = _sought(key, formula)
    way = 0.0 if isinstance(kind, Missing) else to_number(kind)  # type: ignore[arg-type]  # a value
    found = _list(formula, _of_cells_or_array(where))
    found.refuse_near(wanted)
    if way == 0:
        at = _exactly(found, wanted, wild=True)
    elif way > 0:
        at = _not_above(found.values, wanted)
    else:
        at = _not_below(found.values, wanted)
    if at is None:
        raise Fault(NA)
    return float(at + 1)


def _of_cells_or_array(operand: Operand) -> Operand:
    if isinstance(operand, Error):
        raise Fault(operand)
    if not isinstance(operand, Reference | Array):
        raise Doubt
    return operand


def _vlookup(
    formula: Evaluator, key: Operand, table: Operand, col: Operand, near: Operand = True
) -> Operand:
    return _looked_up(formula, key, table, col, near, by_row=False)


def _hlookup(
    formula: Evaluator, key: Operand, table: Operand, row: Operand, near: Operand = True
) -> Operand:
    return _looked_up(formula, key, table, row, near, by_row=True)


def _looked_up(
    formula: Evaluator, key: Operand, table: Operand, which: Operand, near: Operand, *, by_row: bool
) -> Operand:
    _of_cells_or_array(table)
    place = to_whole(_scalar(which))
    first, size = _first_line(formula, table, by_row)
    if not 1 <= place <= size:
        if isinstance(key, Error):
            raise Doubt  # two errors, and only one is shown
        raise Fault(VALUE if place < 1 else REF)
    wanted = _sought(key, formula)
    loose = not isinstance(near, Missing) and to_truth(_scalar(near))
    found = _list(formula, first)
    found.refuse_near(wanted)
    at = _not_above(found.values, wanted) if loose else _exactly(found, wanted, wild=True)
    if at is None:
        raise Fault(NA)
    row, col = (place - 1, at) if by_row else (at, place - 1)
    if isinstance(table, Reference):
        area = table.area
        return formula.context.memory.value(table.sheet, area.row1 + row, area.col1 + col)
    assert isinstance(table, Array), "cells or an array"
    return table.rows[row][col]


def _scalar(operand: Operand) -> Value:
    assert operand is None or isinstance(operand, float | str | bool | Error), "one value"
    return operand


def _first_line(formula: Evaluator, table: Operand, by_row: bool) -> tuple[Operand, int]:
    """Return the first row or column of a table, and how many there are."""
    if isinstance(table, Reference):
        area = table.area
        if by_row:
            return Reference(table.sheet, Area(area.row1, area.col1, area.row1, area.col2)), (
                area.height
            )
        return Reference(table.sheet, Area(area.row1, area.col1, area.row2, area.col1)), area.width
    assert isinstance(table, Array), "cells or an array"
    if by_row:
        table.refuse_repeats()
        return Array([table.rows[0]]), table.height
    return Array([[row[0]] for row in table.rows]), table.width


def _lookup(formula: Evaluator, key: Operand, where: Operand, result: Operand = MISSING) -> Operand:
    wanted = _sought(key, formula)
    _of_cells_or_array(where)
    if isinstance(result, Missing):
        array = formula.context.array(where)
        if array.width > 1 and array.height > 1:
            if type(wanted) is float and wanted != float(f"{wanted:.15g}"):
                raise Doubt
            return _lookup_in_block(array, wanted)
    found = _list(formula, where)
    found.refuse_near(wanted)
    at = _not_above(found.values, wanted)
    if at is None:
        raise Fault(NA)
    if isinstance(result, Missing):
        return found.values[at]
    _of_cells_or_array(result)
    return _at(formula, result, at)


def _lookup_in_block(array: Array, wanted: Value) -> Value:
    if array.width > array.height:
        at = _not_above(array.rows[0], wanted)
        if at is None:
            raise Fault(NA)
        return array.rows[-1][at]
    array.refuse_repeats()
    at = _not_above(array.column(0), wanted)
    if at is None:
        raise Fault(NA)
    return array.rows[at][-1]


def _at(formula: Evaluator, line: Operand, at: int) -> Value:
    """Return the value at a place of a row or column."""
    if isinstance(line, Reference):
        area = line.area
        if area.width > 1 and area.height > 1:
            raise Doubt
        upright = area.width == 1
        row, col = area.row1 + (at if upright else 0), area.col1 + (0 if upright else at)
        if row > MAX_ROW or (at >= area.count):
            raise Doubt
        return formula.context.memory.value(line.sheet, row, col)
    assert isinstance(line, Array), "cells or an array"
    values = line.column(0) if line.width == 1 else line.rows[0]
    if line.width > 1 and line.height > 1:
        raise Doubt
    if at >= len(values):
        if line.repeat > 1:
            return values[-1]
        raise Doubt
    return values[at]


# --- XLOOKUP --------------------------------------------------------------------------------------


def _placed(
    formula: Evaluator, key: Operand, where: Operand, mode: Operand, search: Operand
) -> tuple[int | None, _List]:
    wanted = _sought(key, formula)
    way = 0 if isinstance(mode, Missing) else to_whole(_scalar(mode))
    order = 1 if isinstance(search, Missing) else to_whole(_scalar(search))
    if way not in {-1, 0, 1, 2} or order not in {-2, -1, 1, 2}:
        raise Fault(VALUE)
    found = _list(formula, _of_cells_or_array(where))
    found.refuse_near(wanted)
    if abs(order) == 2:
        _refuse_unsorted(found.values, wanted, down=order < 0)
    last = order == -1
    if wanted is None and way:
        raise Doubt
    if way == 2:
        return _exactly(found, wanted, wild=True, last=last), found
    at = _exactly(found, wanted, wild=False, last=last)
    if at is None and way:
        at = _nearest(found.values, wanted, above=way > 0, last=last)
    return at, found


def _refuse_unsorted(values: Sequence[Value], wanted: Value, *, down: bool) -> None:
    """Doubt a search by halves in a list that is not in order, or holds a value twice."""
    if any(value is None or not _alike(value, wanted) for value in values):
        raise Doubt
    for one, two in pairwise(values):
        if (ordered(two, one) if down else ordered(one, two)) >= 0:
            raise Doubt


def _nearest(values: Sequence[Value], key: Value, *, above: bool, last: bool) -> int | None:
    """Return the place of the next larger or smaller value."""
    best: int | None = None
    for at, value in enumerate(values):
        if value is None or not _alike(value, key):
            continue
        side = ordered(value, key)
        if (side < 0) if above else (side > 0):
            continue
        order = -1 if best is None else ordered(value, values[best])
        closer = order < 0 if above else order > 0
        if best is None or closer or (last and order == 0):
            best = at
    return best


def _xmatch(
    formula: Evaluator,
    key: Operand,
    where: Operand,
    mode: Operand = MISSING,
    search: Operand = MISSING,
) -> float:
    at, _ = _placed(formula, key, where, mode, search)
    if at is None:
        raise Fault(NA)
    return float(at + 1)


def _xlookup(
    formula: Evaluator,
    key: Operand,
    where: Operand,
    result: Operand,
    missing: Operand = MISSING,
    mode: Operand = MISSING,
    search: Operand = MISSING,
) -> Operand:
    _of_cells_or_array(result)
    at, found = _placed(formula, key, where, mode, search)
    upright = found.upright
    height, width = _size(result)
    if found.length > 1 and (height if upright else width) != found.length:
        raise Fault(VALUE)
    if at is None:
        return NA if isinstance(missing, Missing) else missing
    if found.length == 1 and height > 1 and width > 1:
        raise Doubt
    if isinstance(result, Reference):
        area = result.area
        if upright:
            row = area.row1 + at
            return Reference(result.sheet, Area(row, area.col1, row, area.col2))
        col = area.col1 + at
        return Reference(result.sheet, Area(area.row1, col, area.row2, col))
    assert isinstance(result, Array), "cells or an array"
    if upright:
        return Array([result.rows[at]])
    return Array([[row[at]] for row in result.rows])


def _size(operand: Operand) -> tuple[int, int]:
    if isinstance(operand, Reference):
        return operand.area.height, operand.area.width
    assert isinstance(operand, Array), "cells or an array"
    return operand.height - 1 + operand.repeat, operand.width


FUNCTIONS: dict[str, Definition] = {
    "MATCH": Whole(_match),
    "VLOOKUP": Whole(_vlookup),
    "HLOOKUP": Whole(_hlookup),
    "LOOKUP": Whole(_lookup),
    "XMATCH": Whole(_xmatch),
    "XLOOKUP": Whole(_xlookup),
}
