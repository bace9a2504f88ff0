"""Functions done as Excel does them, because the engine does them otherwise (F24.9)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from . import excel_semantics
from .excel_semantics import (
    Doubt,
    Fault,
    Value,
    clear_of_edges,
    place_beside,
    to_index,
    to_number,
    to_text,
    to_whole,
)


def _mod(value: Value, divisor: Value) -> float:
    one, two = to_number(value), to_number(divisor)
    if two == 0:
        raise Fault("Div")
    if abs(one / two) > 1e12:
        raise Doubt
    found = one - two * math.floor(one / two)
    if one == int(one) and two == int(two):
        return found
    share = found / two
    if abs(share - round(share)) <= 1e-9:
        raise Doubt
    return found


def _quotient(value: Value, divisor: Value) -> float:
    one, two = to_number(value), to_number(divisor)
    if two == 0:
        raise Fault("Div")
    return float(math.trunc(clear_of_edges(one / two)))


def _time(hour: Value, minute: Value, second: Value) -> float:
    parts: list[float] = [to_whole(hour), to_whole(minute), to_whole(second)]
    if min(parts) < 0 or max(parts) > 32767:
        raise Doubt
    return (parts[0] * 3600 + parts[1] * 60 + parts[2]) % 86400 / 86400


def _cased(change: Callable[[str], str], value: Value) -> str:
    text = to_text(value)
    if any(len(change(char)) != 1 for char in text):
        raise Doubt
    return "".join(map(change, text))


def _proper(value: Value) -> str:
    text, out = to_text(value), []
    for index, char in enumerate(text):
        begins = index == 0 or not text[index - 1].isalpha()
        out.append(_cased(str.upper if begins else str.lower, char))
    return "".join(out)


def _replace(old: Value, start: Value, count: Value, new: Value) -> str:
    text, first, length = to_text(old), int(clear_of_edges(start)), int(clear_of_edges(count))
    if first < 1 or length < 0:
        raise Fault("Value")
    return text[: first - 1] + to_text(new) + text[first - 1 + length :]


def _flat(values: Sequence[Value]) -> list[Value]:
    cells: list[Value] = []
    for value in values:
        rows = value if isinstance(value, list) else [[value]]
        cells.extend(cell for row in rows for cell in row)
    return cells


def _concat(*values: Value) -> str:
    return "".join(map(to_text, _flat(values)))


def _textjoin(between: Value, ignore: Value, *values: Value) -> str:
    texts = map(to_text, _flat(values))
    return to_text(between).join(t for t in texts if t or not to_number(ignore))


def _sumproduct(*ranges: Value) -> float:
    shapes = {(len(r), len(r[0])) if isinstance(r, list) else (1, 1) for r in ranges}
    if len(shapes) != 1:
        raise Fault("Value")
    products = [1.0] * (next(iter(shapes))[0] * next(iter(shapes))[1])
    for cells in map(_flat, [[part] for part in ranges]):
        for index, cell in enumerate(cells):
            if isinstance(cell, dict):
                raise Fault(cell["kind"])
            plain = isinstance(cell, float | int) and not isinstance(cell, bool)
            products[index] *= cell if plain else 0.0
    return math.fsum(products)


def _wholes(values: Sequence[Value]) -> list[int]:
    """Return the whole numbers that GCD and LCM are of; they take nothing else in every program."""
    found = []
    for cell in _flat(values):
        if isinstance(cell, dict):
            raise Fault(cell["kind"])
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            raise Doubt  # text, a truth, an empty cell: programs differ
        if cell < 0 or cell >= 2**53:
            raise Fault("Num")
        found.append(int(clear_of_edges(cell)))
    return found


def _gcd(*values: Value) -> float:
    return float(math.gcd(*_wholes(values)))


def _lcm(*values: Value) -> float:
    found = math.lcm(*_wholes(values))
    if found >= 2**53:
        raise Fault("Num")
    return float(found)


def _match(key: Value, cells: Value) -> int:
    """Return the place of the last value not above the key, in a list that really ascends."""
    values = _flat([cells])
    if isinstance(key, dict):
        raise Fault(key["kind"])
    if key is None or isinstance(key, bool) or any(type(v) is not type(key) for v in values):
        raise Doubt
    for one, two in pairwise(values):
        if place_beside(one, two, equality=False) > 0:
            raise Doubt
    below = [
        place for place, v in enumerate(values, 1) if place_beside(v, key, equality=False) <= 0
    ]
    if not below:
        raise Fault("Na")
    return below[-1]


def _vlookup(key: Value, table: Value, col: Value) -> Value:
    place, width = int(to_index(col)), len(table[0])
    row = _match(key, [[cells[0]] for cells in table])
    if place > width:
        raise Fault("Ref")
    return table[row - 1][place - 1]


def _hlookup(key: Value, table: Value, row: Value) -> Value:
    return _vlookup(key, [list(column) for column in zip(*table, strict=True)], row)


OURS: dict[str, Callable[..., Value]] = {
    "MOD": _mod,
    "QUOTIENT": _quotient,
    "TIME": _time,
    "UPPER": partial(_cased, str.upper),
    "LOWER": partial(_cased, str.lower),
    "PROPER": _proper,
    "REPLACE": _replace,
    "CONCAT": _concat,
    "CONCATENATE": _concat,
    "TEXTJOIN": _textjoin,
    "SUMPRODUCT": _sumproduct,
    "GCD": _gcd,
    "LCM": _lcm,
}
STEPS: dict[str, Callable[..., Value]] = {
    **OURS,
    "CALCULATE": excel_semantics.calculate,
    "NEGATE": excel_semantics.negate,
    "PERCENT": excel_semantics.percent,
    "JOIN": excel_semantics.join,
    "COMPARE": excel_semantics.compare,
    "DIRECT": excel_semantics.direct,
    "TRUTH": excel_semantics.truth,
    "NUMBER": excel_semantics.numeric,
    "WHOLE": excel_semantics.to_whole,
    "STEP": excel_semantics.clear_of_edges,
    "DAY": excel_semantics.sure_day,
    "CLOCK": excel_semantics.clock,
    "SHOWN": excel_semantics.shown,
    "TEXT": excel_semantics.to_text,
    "KEY": excel_semantics.sought,
    "INDEX": excel_semantics.to_index,
    "MATCH": _match,
    "VLOOKUP": _vlookup,
    "HLOOKUP": _hlookup,
}
