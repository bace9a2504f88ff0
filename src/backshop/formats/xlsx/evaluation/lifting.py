"""A step of single values taken for every value of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .memory import MAX_ARRAY_CELLS
from .value import NA, Array, Fault, NotComputed, Value


def lifted(arguments: Sequence[Value | Array], step: Callable[[list[Value]], Value]) -> Array:
    """Take a step for every place of the arrays among its arguments; others stay the same.

    A row or a column of one is repeated; places that an array does not have are `#N/A`.
    """
    arrays = [one for one in arguments if isinstance(one, Array)]
    height, width = max(a.height for a in arrays), max(a.width for a in arrays)
    repeat = _repeat(arrays, height)
    if height * width > MAX_ARRAY_CELLS:
        raise NotComputed("too_many_cells")
    rows: list[list[Value]] = []
    for row in range(height):
        cells: list[Value] = []
        for col in range(width):
            given = [_at(one, row, col) if isinstance(one, Array) else one for one in arguments]
            cells.append(NA if _OUTSIDE in given else _taken(step, given))
        rows.append(cells)
    return Array(rows, repeat)


_OUTSIDE: Value = "\ue000outside"  # no cell holds it: a text of its own, told by identity


def _at(array: Array, row: int, col: int) -> Value:
    rows, width = array.rows, array.width
    if len(rows) == 1:
        row = 0
    if width == 1:
        col = 0
    return rows[row][col] if row < len(rows) and col < width else _OUTSIDE


def _taken(step: Callable[[list[Value]], Value], given: list[Value]) -> Value:
    try:
        return step(given)
    except Fault as fault:
        return fault.error


def _repeat(arrays: Sequence[Array], height: int) -> int:
    """Return how often the last row stands for itself; all arrays must agree."""
    found = {(one.height, one.repeat) for one in arrays if one.repeat > 1}
    if not found:
        return 1
    others = any(one.repeat == 1 and one.height > 1 for one in arrays)
    if len(found) > 1 or others or next(iter(found))[0] != height:
        raise NotComputed("whole_column")
    return next(iter(found))[1]
