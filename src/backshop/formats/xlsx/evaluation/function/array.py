"""Functions that make arrays of arrays: filter, sort, unique, stack, cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import TYPE_CHECKING

from ..coercion import folded, is_same_text, ordered, rank, to_truth, to_whole
from ..definition import Definition, Whole
from ..memory import MAX_ARRAY_CELLS
from ..number_list import direct
from ..value import (
    CALC,
    MISSING,
    NA,
    NUM,
    VALUE,
    Array,
    Doubt,
    Error,
    Fault,
    Missing,
    NotComputed,
    Operand,
    Value,
)

if TYPE_CHECKING:
    from ..evaluator import Evaluator

_MOST_MATRIX = 64  # rows of a matrix that is inverted: beyond it noise takes over


def _array(formula: Evaluator, operand: Operand) -> Array:
    """Return an argument as rows of values; an error by itself stops."""
    if isinstance(operand, Error):
        raise Fault(operand)
    if isinstance(operand, Missing):
        raise Doubt
    array = formula.context.array(operand)
    array.refuse_repeats()
    return array


def _one(formula: Evaluator, operand: Operand) -> Value:
    """Return the one value of an argument."""
    return formula.as_one(formula.settled(operand, True), "")


def _whole(formula: Evaluator, operand: Operand, default: int) -> int:
    return default if isinstance(operand, Missing) else to_whole(_one(formula, operand))


def _truth(formula: Evaluator, operand: Operand) -> bool:
    return not isinstance(operand, Missing) and to_truth(_one(formula, operand))


def _turned(array: Array) -> Array:
    return Array([list(column) for column in zip(*array.rows, strict=True)])


def _transpose(formula: Evaluator, operand: Operand) -> Operand:
    return _turned(_array(formula, operand))


# --- FILTER, SORT, UNIQUE -------------------------------------------------------------------------


def _filter(
    formula: Evaluator, operand: Operand, include: Operand, empty: Operand = MISSING
) -> Operand:
    if isinstance(include, Error):
        raise Fault(include)
    if isinstance(operand, Error):
        raise Fault(operand)
    array, marks = formula.context.array(operand), formula.context.array(include)
    by_column = marks.height == 1 and marks.width == array.width and marks.width > 1
    wanted = marks.rows[0] if by_column else marks.column(0)
    if not by_column and (marks.width != 1 or marks.height != array.height):
        if marks.repeat > 1 or array.repeat > 1:
            raise NotComputed("whole_column")
        raise Fault(VALUE)
    if marks.repeat != array.repeat:
        raise NotComputed("whole_column")
    kept = [_is_kept(value) for value in wanted]
    if array.repeat > 1 and (by_column or kept[-1]):
        raise NotComputed("whole_column")
    if not any(kept):
        return CALC if isinstance(empty, Missing) else formula.settled(empty, True)
    if by_column:
        return Array([[v for v, k in zip(row, kept, strict=True) if k] for row in array.rows])
    return Array([row for row, k in zip(array.rows, kept, strict=True) if k])


def _is_kept(value: Value) -> bool:
    if isinstance(value, str):
        raise Fault(VALUE)
    return to_truth(value)


def _place_in_order(one: Value, two: Value) -> int:
    """Say how two values stand in a sorted list: errors come last."""
    if one is None or two is None:
        raise Doubt
    if isinstance(one, Error) or isinstance(two, Error):
        if isinstance(one, Error) and isinstance(two, Error):
            return 0
        return rank(one) - rank(two)
    return ordered(one, two)


def _sorted_rows(
    rows: list[list[Value]], keys: Sequence[tuple[Sequence[Value], int]]
) -> list[list[Value]]:
    """Return rows in the order of some keys; equal ones stay as they stood."""

    def compare(one: int, two: int) -> int:
        for values, way in keys:
            first, second = values[one], values[two]
            if way < 0 and rank_differs(first, second):
                raise Doubt  # kinds that change places
            order = _place_in_order(first, second)
            if order:
                return order * way
        return 0

    return [rows[at] for at in sorted(range(len(rows)), key=cmp_to_key(compare))]


def rank_differs(one: Value, two: Value) -> bool:
    """Whether two values are of different kinds."""
    return one is not None and two is not None and rank(one) != rank(two)


def _sort(
    formula: Evaluator,
    operand: Operand,
    index: Operand = MISSING,
    order: Operand = MISSING,
    by_column: Operand = MISSING,
) -> Operand:
    array = _array(formula, operand)
    turned = _truth(formula, by_column)
    if turned:
        array = _turned(array)
    places = [1.0] if isinstance(index, Missing) else _array(formula, index).all()
    ways = [1.0] if isinstance(order, Missing) else _array(formula, order).all()
    if len(ways) == 1:
        ways = ways * len(places)
    if len(ways) != len(places):
        raise Fault(VALUE)
    keys = []
    for place, way in zip(places, ways, strict=True):
        col, sign = to_whole(place), to_whole(way)
        if not 1 <= col <= array.width or sign not in {1, -1}:
            raise Fault(VALUE)
        keys.append((array.column(col - 1), sign))
    found = Array(_sorted_rows(array.rows, keys))
    return _turned(found) if turned else found


def _sortby(formula: Evaluator, operand: Operand, *given: Operand) -> Operand:
    array = _array(formula, operand)
    keys: list[tuple[Sequence[Value], int]] = []
    turned = False
    for at in range(0, len(given), 2):
        key = _array(formula, given[at])
        way = _whole(formula, given[at + 1], 1) if at + 1 < len(given) else 1
        if way not in {1, -1}:
            raise Fault(VALUE)
        if key.width == 1 and key.height == array.height:
            keys.append((key.column(0), way))
        elif key.height == 1 and key.width == array.width:
            turned = True
            keys.append((key.rows[0], way))
        else:
            raise Fault(VALUE)
    if turned:
        if any(len(values) != array.width for values, _ in keys):
            raise Fault(VALUE)
        return _turned(Array(_sorted_rows(_turned(array).rows, keys)))
    return Array(_sorted_rows(array.rows, keys))


def _unique(
    formula: Evaluator, operand: Operand, by_column: Operand = MISSING, once: Operand = MISSING
) -> Operand:
    if isinstance(operand, Error):
        raise Fault(operand)
    array = formula.context.array(operand)
    if array.repeat > 1:
        array = _with_one_blank(array)
    turned = _truth(formula, by_column)
    rows = _turned(array).rows if turned else array.rows
    values = {type(value) for row in rows for value in row}
    if type(None) in values and any(value in ("", 0.0) for row in rows for value in row):
        raise Doubt
    seen: dict[tuple[object, ...], list[int]] = {}
    for at, row in enumerate(rows):
        seen.setdefault(tuple(_identity(value) for value in row), []).append(at)
    _refuse_alike(rows)
    single = _truth(formula, once)
    kept = [rows[places[0]] for places in seen.values() if not single or len(places) == 1]
    if not kept:
        return CALC
    found = Array(kept)
    return _turned(found) if turned else found


def _with_one_blank(array: Array) -> Array:
    if any(value is not None for value in array.rows[-1]):
        array.refuse_repeats()
    return Array([*array.rows, array.rows[-1]])  # at least two, so that it is not there once


def _identity(value: Value) -> object:
    if isinstance(value, str):
        return ("text", folded(value))
    if isinstance(value, bool):
        return ("truth", value)
    return value


def _refuse_alike(rows: Sequence[Sequence[Value]]) -> None:
    """Doubt numbers that differ in their noise only, and texts that differ in special letters."""
    numbers: dict[str, float] = {}
    texts: dict[str, str] = {}
    for row in rows:
        for value in row:
            if type(value) is float:
                if numbers.setdefault(f"{value:.15g}", value) != value:
                    raise Doubt
            elif isinstance(value, str) and not value.isascii():
                is_same_text(texts.setdefault(value.casefold(), value), value)


# --- making and cutting ---------------------------------------------------------------------------


def _sequence(
    formula: Evaluator,
    rows: Operand,
    columns: Operand = MISSING,
    start: Operand = MISSING,
    step: Operand = MISSING,
) -> Operand:
    height, width = _whole(formula, rows, 1), _whole(formula, columns, 1)
    first = 1.0 if isinstance(start, Missing) else direct(_one(formula, start))
    by = 1.0 if isinstance(step, Missing) else direct(_one(formula, step))
    if height < 1 or width < 1:
        raise Fault(CALC if min(height, width) == 0 else VALUE)
    _refuse_many(height * width)
    return Array(
        [[first + by * (row * width + col) + 0.0 for col in range(width)] for row in range(height)]
    )


def _refuse_many(count: int) -> None:
    if count > MAX_ARRAY_CELLS:
        raise NotComputed("too_many_cells")


def _part(length: int, count: int, *, takes: bool) -> range:
    """Return the places that TAKE keeps, or DROP leaves."""
    if takes:
        if count == 0:
            raise Fault(CALC)
        return range(min(count, length)) if count > 0 else range(max(length + count, 0), length)
    kept = range(count, length) if count >= 0 else range(length + count)
    if not len(kept):
        raise Fault(CALC)
    return kept


def _taken(
    takes: bool, formula: Evaluator, operand: Operand, rows: Operand, columns: Operand
) -> Operand:
    array = _array(formula, operand)
    height = range(array.height)
    width = range(array.width)
    if not isinstance(rows, Missing):
        height = _part(array.height, to_whole(_one(formula, rows)), takes=takes)
    if not isinstance(columns, Missing):
        width = _part(array.width, to_whole(_one(formula, columns)), takes=takes)
    return Array([[array.rows[row][col] for col in width] for row in height])


def _take(
    formula: Evaluator, operand: Operand, rows: Operand, columns: Operand = MISSING
) -> Operand:
    return _taken(True, formula, operand, rows, columns)


def _drop(
    formula: Evaluator, operand: Operand, rows: Operand, columns: Operand = MISSING
) -> Operand:
    return _taken(False, formula, operand, rows, columns)


def _chosen(formula: Evaluator, length: int, given: Sequence[Operand]) -> list[int]:
    """Return the places that are named, from 0; negative numbers count from the end."""
    found = []
    for operand in given:
        for value in _array(formula, operand).all():
            place = to_whole(value)
            if place == 0 or abs(place) > length:
                raise Fault(VALUE)
            found.append(place - 1 if place > 0 else length + place)
    return found


def _chooserows(formula: Evaluator, operand: Operand, *given: Operand) -> Operand:
    array = _array(formula, operand)
    return Array([array.rows[at] for at in _chosen(formula, array.height, given)])


def _choosecols(formula: Evaluator, operand: Operand, *given: Operand) -> Operand:
    array = _array(formula, operand)
    places = _chosen(formula, array.width, given)
    return Array([[row[at] for at in places] for row in array.rows])


def _vstack(formula: Evaluator, *given: Operand) -> Operand:
    arrays = [_stacked(formula, operand) for operand in given]
    width = max(one.width for one in arrays)
    return Array([[*row, *[NA] * (width - len(row))] for one in arrays for row in one.rows])


def _hstack(formula: Evaluator, *given: Operand) -> Operand:
    arrays = [_turned(_stacked(formula, operand)) for operand in given]
    height = max(one.width for one in arrays)
    rows: list[list[Value]] = [
        [*row, *[NA] * (height - len(row))] for one in arrays for row in one.rows
    ]
    return _turned(Array(rows))


def _stacked(formula: Evaluator, operand: Operand) -> Array:
    if isinstance(operand, Error):
        return Array([[operand]])
    return _array(formula, operand)


def _lined_up(
    formula: Evaluator, operand: Operand, ignore: Operand, by_column: Operand
) -> list[Value]:
    """Return the values of an array in one line."""
    array = _array(formula, operand)
    skips = _whole(formula, ignore, 0)
    if not 0 <= skips <= 3:
        raise Fault(VALUE)
    values = (_turned(array) if _truth(formula, by_column) else array).all()
    found = [
        value
        for value in values
        if not (skips in {1, 3} and value is None)
        and not (skips in {2, 3} and isinstance(value, Error))
    ]
    if not found:
        raise Fault(CALC)
    return found


def _tocol(
    formula: Evaluator, operand: Operand, ignore: Operand = MISSING, scan: Operand = MISSING
) -> Operand:
    return Array([[value] for value in _lined_up(formula, operand, ignore, scan)])


def _torow(
    formula: Evaluator, operand: Operand, ignore: Operand = MISSING, scan: Operand = MISSING
) -> Operand:
    return Array([_lined_up(formula, operand, ignore, scan)])


def _wrapped(
    formula: Evaluator, operand: Operand, count: Operand, pad: Operand
) -> list[list[Value]]:
    array = _array(formula, operand)
    if array.height > 1 and array.width > 1:
        raise Fault(VALUE)
    size = to_whole(_one(formula, count))
    if size < 1:
        raise Fault(NUM)
    filler = NA if isinstance(pad, Missing) else _one(formula, pad)
    values = array.all()
    lines = [values[at : at + size] for at in range(0, len(values), size)]
    if len(lines) > 1:
        lines[-1] = [*lines[-1], *[filler] * (size - len(lines[-1]))]
    elif len(values) < size:
        raise Doubt
    return lines


def _wraprows(
    formula: Evaluator, operand: Operand, count: Operand, pad: Operand = MISSING
) -> Operand:
    return Array(_wrapped(formula, operand, count, pad))


def _wrapcols(
    formula: Evaluator, operand: Operand, count: Operand, pad: Operand = MISSING
) -> Operand:
    return _turned(Array(_wrapped(formula, operand, count, pad)))


def _expand(
    formula: Evaluator,
    operand: Operand,
    rows: Operand,
    columns: Operand = MISSING,
    pad: Operand = MISSING,
) -> Operand:
    array = _array(formula, operand)
    height = _whole(formula, rows, array.height)
    width = _whole(formula, columns, array.width)
    if height < array.height or width < array.width:
        raise Fault(VALUE)
    _refuse_many(height * width)
    filler = NA if isinstance(pad, Missing) else _one(formula, pad)
    lines = [[*row, *[filler] * (width - array.width)] for row in array.rows]
    lines += [[filler] * width for _ in range(height - array.height)]
    return Array(lines)


# --- matrices -------------------------------------------------------------------------------------


def _matrix(formula: Evaluator, operand: Operand) -> list[list[float]]:
    rows = _array(formula, operand).rows
    found: list[list[float]] = []
    for row in rows:
        line = []
        for value in row:
            if isinstance(value, Error):
                raise Fault(value)
            if type(value) is not float:
                raise Fault(VALUE)
            line.append(value)
        found.append(line)
    return found


def _mmult(formula: Evaluator, left: Operand, right: Operand) -> Operand:
    one, two = _matrix(formula, left), _matrix(formula, right)
    if len(one[0]) != len(two):
        raise Fault(VALUE)
    _refuse_many(len(one) * len(two) * len(two[0]) // 10)
    columns = list(zip(*two, strict=True))
    return Array([[_dot(row, column) for column in columns] for row in one])


def _dot(row: Sequence[float], column: Sequence[float]) -> Value:
    products = [a * b for a, b in zip(row, column, strict=True)]
    found = 0.0
    for product in products:
        found += product
    if found and abs(found) <= 1e-13 * max(map(abs, products)):
        raise Doubt
    return found


def _reduced(rows: list[list[float]]) -> tuple[float, list[list[float]]]:
    """Return the determinant of a square matrix, and the matrix beside it taken along."""
    size = len(rows)
    determinant = 1.0
    for at in range(size):
        best = max(range(at, size), key=lambda row: abs(rows[row][at]))
        largest = max(abs(value) for value in rows[best][:size])
        if abs(rows[best][at]) <= 1e-13 * max(largest, 1e-300):
            if rows[best][at] == 0.0:
                return 0.0, rows
            raise Doubt
        if best != at:
            rows[at], rows[best] = rows[best], rows[at]
            determinant = -determinant
        determinant *= rows[at][at]
        for row in range(size):
            if row != at and rows[row][at]:
                share = rows[row][at] / rows[at][at]
                rows[row] = [a - share * b for a, b in zip(rows[row], rows[at], strict=True)]
    return determinant, rows


def _square(formula: Evaluator, operand: Operand) -> list[list[float]]:
    rows = _matrix(formula, operand)
    if len(rows) != len(rows[0]):
        raise Fault(VALUE)
    if len(rows) > _MOST_MATRIX:
        raise NotComputed("too_many_cells")
    return rows


def _mdeterm(formula: Evaluator, operand: Operand) -> float:
    rows = _square(formula, operand)
    is_whole = all(value == int(value) for row in rows for value in row)
    found, _ = _reduced([list(row) for row in rows])
    if is_whole and abs(found) < 1e12:
        near = round(found)
        if abs(found - near) < 1e-6 * max(1.0, abs(near)):
            return float(near)
    return found


def _minverse(formula: Evaluator, operand: Operand) -> Operand:
    rows = _square(formula, operand)
    size = len(rows)
    wide = [[*row, *(float(at == col) for col in range(size))] for at, row in enumerate(rows)]
    determinant, done = _reduced(wide)
    if determinant == 0:
        raise Fault(NUM)
    found: list[list[Value]] = []
    for at, row in enumerate(done):
        found.append([_clean(value / row[at]) for value in row[size:]])
    return Array(found)


def _clean(value: float) -> float:
    if 0 < abs(value) < 1e-13:
        raise Doubt
    return value + 0.0


def _munit(formula: Evaluator, operand: Operand) -> Operand:
    size = to_whole(_one(formula, operand))
    if size < 1:
        raise Fault(VALUE)
    _refuse_many(size * size)
    return Array([[float(row == col) for col in range(size)] for row in range(size)])


_CALLS: dict[str, Callable[..., Operand]] = {
    "TRANSPOSE": _transpose,
    "FILTER": _filter,
    "SORT": _sort,
    "SORTBY": _sortby,
    "UNIQUE": _unique,
    "SEQUENCE": _sequence,
    "TAKE": _take,
    "DROP": _drop,
    "CHOOSEROWS": _chooserows,
    "CHOOSECOLS": _choosecols,
    "VSTACK": _vstack,
    "HSTACK": _hstack,
    "TOCOL": _tocol,
    "TOROW": _torow,
    "WRAPROWS": _wraprows,
    "WRAPCOLS": _wrapcols,
    "EXPAND": _expand,
    "MMULT": _mmult,
    "MDETERM": _mdeterm,
    "MINVERSE": _minverse,
    "MUNIT": _munit,
}
FUNCTIONS: dict[str, Definition] = {name: Whole(call) for name, call in _CALLS.items()}
