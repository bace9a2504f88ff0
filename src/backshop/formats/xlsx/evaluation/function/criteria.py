"""Functions that count and sum what meets conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ...syntax.address import MAX_COL, MAX_ROW, Area
from ..coercion import folded
from ..criterion import Criterion, criterion, is_amount, plain_number
from ..definition import Definition, Whole
from ..number_list import first_error, mean, total
from ..value import (
    MISSING,
    NUM,
    VALUE,
    Doubt,
    Error,
    Fault,
    Missing,
    NotComputed,
    Operand,
    Reference,
    Value,
)
from .sum import sample_variance, variance

if TYPE_CHECKING:
    from ..evaluator import Evaluator

Place = tuple[int, int]
"""A cell of a range, by its distance from the first."""
_MOST_PLACES = 400_000


def _range(operand: Operand) -> Reference:
    if isinstance(operand, Error):
        raise Fault(operand)
    if not isinstance(operand, Reference):
        raise Doubt  # Excel takes nothing but cells there
    return operand


def _value(formula: Evaluator, operand: Operand) -> Value:
    return None if isinstance(operand, Missing) else formula.as_one(operand, "")


class _Index:
    """Where values stand in a range, by what they are."""

    def __init__(self, formula: Evaluator, where: Reference) -> None:
        self.places: dict[tuple[str, Value], list[Place]] = {}
        self.amounts = False  # texts that a number might be equal to
        self.exact: dict[Place, Value] = {}
        area = where.area
        for row, col, value in formula.context.memory.present(where):
            place = (row - area.row1, col - area.col1)
            if type(value) is float:
                self._put(("number", float(f"{value:.15g}")), place)
                if value != float(f"{value:.15g}"):
                    self.exact[place] = value
            elif isinstance(value, str):
                self._put(("text", folded(value)), place)
                if not value.isascii():
                    self._put(("text", value.casefold()), place)
                number = plain_number(value.strip(" "))
                if number is not None:
                    self._put(("number", number), place)
                elif is_amount(value):
                    self.amounts = True

    def _put(self, key: tuple[str, Value], place: Place) -> None:
        found = self.places.setdefault(key, [])
        if not found or found[-1] != place:
            found.append(place)


def _matching(
    formula: Evaluator, pairs: Sequence[tuple[Reference, Criterion]]
) -> tuple[Iterable[Place], int]:
    """Return the places that meet all conditions, and how many empty rows below all do as well."""
    first = pairs[0][0].area
    height, width = first.height, first.width
    used = max(
        min(height, formula.context.memory.used_rows - ref.area.row1 + 1) for ref, _ in pairs
    )
    used = max(used, 0)
    rest = (height - used) * width if all(test.takes_blank for _, test in pairs) else 0
    start = next((at for at, (_, test) in enumerate(pairs) if test.key is not None), None)
    candidates: Iterable[Place]
    if start is not None:
        candidates = _indexed(formula, *pairs[start])
        others = [pair for at, pair in enumerate(pairs) if at != start]
    else:
        blank = [pair for pair in pairs if not pair[1].takes_blank]
        if blank:
            area = blank[0][0].area
            present = formula.context.memory.present(blank[0][0])
            candidates = [(row - area.row1, col - area.col1) for row, col, _ in present]
        else:
            if used * width > _MOST_PLACES:
                raise NotComputed("too_many_cells")
            candidates = [(row, col) for row in range(used) for col in range(width)]
        others = list(pairs)
    for where, test in others:
        formula.context.memory.ready(where)
        area, sheet, read = where.area, where.sheet, formula.context.memory.value
        candidates = [
            place
            for place in candidates
            if test.meets(read(sheet, area.row1 + place[0], area.col1 + place[1]))
        ]
    return candidates, rest


def _indexed(formula: Evaluator, where: Reference, test: Criterion) -> list[Place]:
    """Return the places that are equal to what a condition wants, by an index made once."""
    indexes = formula.context.indexes
    formula.context.memory.ready(where)
    index = indexes.get(("criteria", where))
    if not isinstance(index, _Index):
        index = indexes["criteria", where] = _Index(formula, where)
    assert test.key is not None, "it asks for what is equal"
    kind, wanted = test.key
    if kind == "number" and index.amounts:
        raise Doubt
    found = index.places.get(test.key, [])
    if kind == "number" and any(place in index.exact for place in found):
        raise Doubt
    is_foreign = kind == "text" and isinstance(wanted, str) and not wanted.isascii()
    if is_foreign and len(index.places.get((kind, str(wanted).casefold()), found)) != len(found):
        raise Doubt
    return found


def _pairs(formula: Evaluator, given: Sequence[Operand]) -> list[tuple[Reference, Criterion]]:
    found = []
    for where, wanted in zip(given[::2], given[1::2], strict=True):
        test = criterion(_value(formula, wanted), formula.context.date_1904)
        found.append((_range(where), test))
    sizes = {(ref.area.height, ref.area.width) for ref, _ in found}
    if len(sizes) > 1:
        raise Fault(VALUE)
    return found


def _picked(formula: Evaluator, where: Reference, places: Iterable[Place]) -> list[float]:
    """Return the numbers at some places of a range."""
    formula.context.memory.ready(where)
    area, read = where.area, formula.context.memory.value
    values = [read(where.sheet, area.row1 + row, area.col1 + col) for row, col in places]
    errors = {value.code for value in values if isinstance(value, Error)}
    if errors:
        raise first_error(errors)
    return [value for value in values if type(value) is float]


def _countifs(formula: Evaluator, *given: Operand) -> float:
    if len(given) % 2:
        raise NotComputed("unknown_function")
    places, rest = _matching(formula, _pairs(formula, given))
    return float(len(list(places)) + rest)


def _ifs(of: Callable[[Sequence[float]], float]) -> Whole:
    def found(formula: Evaluator, values: Operand, *given: Operand) -> float:
        if len(given) % 2:
            raise NotComputed("unknown_function")
        where, pairs = _range(values), _pairs(formula, given)
        area = pairs[0][0].area
        if (where.area.height, where.area.width) != (area.height, area.width):
            raise Fault(VALUE)
        places, _ = _matching(formula, pairs)
        return of(_picked(formula, where, places))

    return Whole(found)


def _if(of: Callable[[Sequence[float]], float]) -> Whole:
    def found(
        formula: Evaluator, where: Operand, wanted: Operand, values: Operand = MISSING
    ) -> float:
        tested = _range(where)
        test = criterion(_value(formula, wanted), formula.context.date_1904)
        places, _ = _matching(formula, [(tested, test)])
        taken = tested if isinstance(values, Missing) else _beside(tested, _range(values))
        return of(_picked(formula, taken, places))

    return Whole(found)


def _beside(tested: Reference, values: Reference) -> Reference:
    """Return the cells that are summed: as many as are tested, from the first on."""
    one, two = tested.area, values.area
    area = Area(two.row1, two.col1, two.row1 + one.height - 1, two.col1 + one.width - 1)
    if area.row2 > MAX_ROW or area.col2 > MAX_COL:
        raise Doubt
    return Reference(values.sheet, area)


def _largest(found: Sequence[float]) -> float:
    return max(found, default=0.0)


def _smallest(found: Sequence[float]) -> float:
    return min(found, default=0.0)


# --- databases ------------------------------------------------------------------------------------


def _records(
    formula: Evaluator, database: Operand, field: Operand, conditions: Operand
) -> list[Value]:
    """Return what a field holds in the rows that meet a table of conditions."""
    table, wanted = (
        formula.context.array(_range(database)),
        formula.context.array(_range(conditions)),
    )
    table.refuse_repeats()
    wanted.refuse_repeats()
    headers = [_header(value) for value in table.rows[0]]
    col = _column(formula, headers, field)
    tests: list[list[tuple[int, Criterion]]] = []
    for row in wanted.rows[1:]:
        line = []
        for name, value in zip(wanted.rows[0], row, strict=True):
            if value is None:
                continue
            if _header(name) not in headers:
                raise Doubt  # a condition that is computed
            line.append((headers.index(_header(name)), _condition(value, formula)))
        tests.append(line)
    if not tests:
        raise Doubt
    return [
        None if col is None else row[col]
        for row in table.rows[1:]
        if any(all(test.meets(row[at]) for at, test in line) for line in tests)
    ]


def _condition(value: Value, formula: Evaluator) -> Criterion:
    """Return a condition of such a table: a text means all that begin with it."""
    if isinstance(value, str) and value and value[0] not in "<>=":
        value = value + "*" if plain_number(value) is None else value
    return criterion(value, formula.context.date_1904)


def _header(value: Value) -> str:
    if not isinstance(value, str) or not value:
        raise Doubt
    return folded(value)


def _column(formula: Evaluator, headers: Sequence[str], field: Operand) -> int | None:
    value = _value(formula, formula.settled(field, False))
    if isinstance(field, Missing):
        return None
    if isinstance(value, str):
        if folded(value) not in headers:
            raise Fault(VALUE)
        return headers.index(folded(value))
    if type(value) is float and value == int(value) and 1 <= value <= len(headers):
        return int(value) - 1
    raise Fault(VALUE)


def _database(of: Callable[[Sequence[float]], float]) -> Whole:
    def found(formula: Evaluator, database: Operand, field: Operand, where: Operand) -> float:
        values = _records(formula, database, field, where)
        errors = {value.code for value in values if isinstance(value, Error)}
        if errors:
            raise first_error(errors)
        return of([value for value in values if type(value) is float])

    return Whole(found)


def _dcounta(formula: Evaluator, database: Operand, field: Operand, where: Operand) -> float:
    if isinstance(field, Missing):
        raise Doubt
    values = _records(formula, database, field, where)
    return float(sum(value is not None for value in values))


def _dcount(formula: Evaluator, database: Operand, field: Operand, where: Operand) -> float:
    values = _records(formula, database, field, where)
    if isinstance(field, Missing):
        return float(len(values))
    return float(sum(type(value) is float for value in values))


def _dget(formula: Evaluator, database: Operand, field: Operand, where: Operand) -> Value:
    values = _records(formula, database, field, where)
    if len(values) != 1:
        raise Fault(NUM if values else VALUE)
    return values[0]


def _product(found: Sequence[float]) -> float:
    result = 1.0
    for number in found:
        result *= number
    return result if found else 0.0


_DATABASES: dict[str, Definition] = {
    "DSUM": _database(total),
    "DAVERAGE": _database(mean),
    "DMAX": _database(_largest),
    "DMIN": _database(_smallest),
    "DPRODUCT": _database(_product),
    "DSTDEV": _database(lambda found: sample_variance(found) ** 0.5),
    "DSTDEVP": _database(lambda found: variance(found) ** 0.5),
    "DVAR": _database(sample_variance),
    "DVARP": _database(variance),
    "DCOUNT": Whole(_dcount),
    "DCOUNTA": Whole(_dcounta),
    "DGET": Whole(_dget),
}


FUNCTIONS: dict[str, Definition] = {
    "COUNTIF": Whole(_countifs),
    "COUNTIFS": Whole(_countifs),
    "SUMIF": _if(total),
    "AVERAGEIF": _if(mean),
    "SUMIFS": _ifs(total),
    "AVERAGEIFS": _ifs(mean),
    "MAXIFS": _ifs(_largest),
    "MINIFS": _ifs(_smallest),
    **_DATABASES,
}
