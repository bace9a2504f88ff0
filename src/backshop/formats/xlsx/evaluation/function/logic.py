"""Functions that choose what is computed, and those that give names to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...syntax.tree import Local, Omitted, Tree
from ..coercion import compared, to_truth, to_whole
from ..definition import Definition, Lazy, Scalar
from ..lifting import lifted
from ..value import (
    NA,
    VALUE,
    Array,
    Doubt,
    Error,
    Fault,
    Lambda,
    Missing,
    NotComputed,
    Operand,
    Reference,
    Value,
)

if TYPE_CHECKING:
    from ..evaluator import Evaluator

_MOST_STEPS = 20_000


def _if(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    test = formula.value(trees[0], lifts)
    if not isinstance(test, Array):
        return _branch(formula, trees, 1 if to_truth(test) else 2, lifts)
    sides = [formula.settled(_branch(formula, trees, at, lifts), lifts) for at in (1, 2)]
    return lifted((test, *sides), lambda given: given[1] if to_truth(given[0]) else given[2])


def _branch(formula: Evaluator, trees: Sequence[Tree], at: int, lifts: bool) -> Operand:
    if at >= len(trees):
        return at != 2
    if isinstance(trees[at], Omitted):
        return 0.0
    return formula.operand(trees[at], lifts)


def _ifs(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    if len(trees) % 2:
        raise NotComputed("unknown_function")
    for test, result in zip(trees[::2], trees[1::2], strict=True):
        met = formula.value(test, lifts)
        if isinstance(met, Array):
            return _ifs_lifted(formula, trees, lifts)
        if isinstance(met, str):
            raise Doubt
        if to_truth(met):
            return formula.operand(result, lifts)
    return NA


def _ifs_lifted(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    given = [formula.value(tree, lifts) for tree in trees]

    def one(values: list[Value]) -> Value:
        for test, result in zip(values[::2], values[1::2], strict=True):
            if to_truth(test):
                return result
        return NA

    return lifted(given, one)


def _without(kinds: tuple[str, ...]) -> Lazy:
    """Return a function that puts another value in the place of errors; () means all of them."""

    def is_caught(value: Value) -> bool:
        return isinstance(value, Error) and (not kinds or value.code in kinds)

    def found(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
        operand = formula.operand(trees[0], lifts)
        value = formula.settled(operand, lifts)
        if not isinstance(value, Array):
            if is_caught(value):
                return formula.value(trees[1], lifts)
            return value
        if not any(is_caught(one) for one in value.values()):
            return value
        other = formula.value(trees[1], lifts)
        return lifted((value, other), lambda given: given[1] if is_caught(given[0]) else given[0])

    return Lazy(found)


def _choose(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    which = formula.value(trees[0], lifts)
    if not isinstance(which, Array):
        at = to_whole(which)
        if not 1 <= at < len(trees):
            raise Fault(VALUE)
        return _branch(formula, trees, at, lifts)
    if all(type(value) is float for value in which.values()) and which.height == 1:
        joined = _chosen_columns(formula, trees, which, lifts)
        if joined is not None:
            return joined
    sides = [
        formula.settled(_branch(formula, trees, at, lifts), lifts) for at in range(1, len(trees))
    ]

    def one(given: list[Value]) -> Value:
        at = to_whole(given[0])
        if not 1 <= at < len(given):
            raise Fault(VALUE)
        return given[at]

    return lifted((which, *sides), one)


def _chosen_columns(
    formula: Evaluator, trees: Sequence[Tree], which: Array, lifts: bool
) -> Array | None:
    """Return columns side by side: CHOOSE({1,2},B1:B9,A1:A9) makes a table of them."""
    columns: list[Array] = []
    for value in which.rows[0]:
        at = to_whole(value)
        if not 1 <= at < len(trees):
            raise Fault(VALUE)
        found = formula.operand(trees[at], lifts)
        if not isinstance(found, Reference | Array):
            return None
        array = formula.context.array(found)
        if array.width != 1:
            return None
        columns.append(array)
    if len({(one.height, one.repeat) for one in columns}) != 1:
        return None
    rows = [[one.rows[row][0] for one in columns] for row in range(columns[0].height)]
    return Array(rows, columns[0].repeat)


def _switch(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    wanted = formula.value(trees[0], lifts)
    if isinstance(wanted, Array):
        return _switch_lifted(formula, trees, wanted, lifts)
    if isinstance(wanted, Error):
        return wanted
    if wanted is None:
        raise Doubt
    rest = trees[1:]
    for at in range(0, len(rest) - 1, 2):
        value = formula.value(rest[at], lifts)
        if isinstance(value, Array):
            raise NotComputed("array_context")
        if _meets(wanted, value):
            return formula.operand(rest[at + 1], lifts)
    return formula.operand(rest[-1], lifts) if len(rest) % 2 else NA


def _meets(wanted: Value, value: Value) -> bool:
    if value is None:
        raise Doubt
    return compared("=", wanted, value)


def _switch_lifted(
    formula: Evaluator, trees: Sequence[Tree], wanted: Array, lifts: bool
) -> Operand:
    given = [formula.value(tree, lifts) for tree in trees[1:]]

    def one(values: list[Value]) -> Value:
        key, rest = values[0], values[1:]
        if key is None:
            raise Doubt
        for at in range(0, len(rest) - 1, 2):
            if _meets(key, rest[at]):
                return rest[at + 1]
        return rest[-1] if len(rest) % 2 else NA

    return lifted((wanted, *given), one)


def _not(value: bool) -> bool:
    return not value


# --- names and functions of a formula -------------------------------------------------------------


def _let(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    if len(trees) % 2 == 0:
        raise NotComputed("unknown_function")
    names = dict(formula.names)
    for name, tree in zip(trees[:-1:2], trees[1:-1:2], strict=True):
        if not isinstance(name, Local):
            raise NotComputed("unsupported_syntax")
        names[name.name] = formula.within(names).operand(tree, lifts)
    return formula.within(names).operand(trees[-1], lifts)


def _lambda(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    names = [name for name in trees[:-1] if isinstance(name, Local)]
    if len(names) < len(trees) - 1:
        raise NotComputed("unsupported_syntax")
    needed = [at for at, name in enumerate(names, start=1) if not name.may_miss]
    found = tuple(name.name for name in names)
    return Lambda(found, max(needed, default=0), trees[-1], formula.names)


def _isomitted(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    return isinstance(formula.operand(trees[0], lifts), Missing)


def _function(formula: Evaluator, tree: Tree, lifts: bool) -> Lambda:
    found = formula.operand(tree, lifts)
    if isinstance(found, Error):
        raise Fault(found)
    if not isinstance(found, Lambda):
        raise Fault(VALUE)
    return found


def _applied(formula: Evaluator, function: Lambda, given: Sequence[Operand], about: str) -> Value:
    if len(given) != len(function.names):
        raise Fault(VALUE)
    found = formula.apply(function, given)
    return formula.as_one(formula.settled(found, True), about)


def _grid(formula: Evaluator, tree: Tree, lifts: bool) -> Array:
    """Return an argument that is gone through step by step."""
    operand = formula.operand(tree, lifts)
    if isinstance(operand, Error):
        raise Fault(operand)
    array = formula.context.array(operand)
    array.refuse_repeats()
    if array.height * array.width > _MOST_STEPS:
        raise NotComputed("too_many_cells")
    return array


def _map(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    arrays = [_grid(formula, tree, lifts) for tree in trees[:-1]]
    function = _function(formula, trees[-1], lifts)
    if len({(one.height, one.width) for one in arrays}) != 1:
        raise Doubt
    return Array(
        [
            [
                _applied(formula, function, [one.rows[row][col] for one in arrays], "MAP")
                for col in range(arrays[0].width)
            ]
            for row in range(arrays[0].height)
        ]
    )


def _reduced(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> list[list[Value]]:
    """Return what a function gives step by step, row by row, each time from what it gave before."""
    array = _grid(formula, trees[-2], lifts)
    function = _function(formula, trees[-1], lifts)
    before: Value
    if len(trees) < 3 or isinstance(trees[0], Omitted):
        raise Doubt
    before = formula.as_one(formula.value(trees[0], lifts), "REDUCE")
    out: list[list[Value]] = []
    for row in array.rows:
        line: list[Value] = []
        for value in row:
            before = _applied(formula, function, [before, value], "REDUCE")
            line.append(before)
        out.append(line)
    return out


def _reduce(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    return _reduced(formula, trees, lifts)[-1][-1]


def _scan(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    return Array(_reduced(formula, trees, lifts))


def _lines(formula: Evaluator, tree: Tree, lifts: bool, *, by_row: bool) -> list[Operand]:
    """Return the rows or columns of an argument; cells stay cells."""
    operand = formula.operand(tree, lifts)
    array = _grid(formula, tree, lifts)
    if isinstance(operand, Reference):
        area, sheet = operand.area, operand.sheet
        areas = area.rows() if by_row else area.columns()
        return [Reference(sheet, one) for one in areas]
    if by_row:
        return [Array([row]) for row in array.rows]
    return [Array([[row[col]] for row in array.rows]) for col in range(array.width)]


def _byrow(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    function = _function(formula, trees[-1], lifts)
    lines = _lines(formula, trees[0], lifts, by_row=True)
    return Array([[_applied(formula, function, [line], "BYROW")] for line in lines])


def _bycol(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    function = _function(formula, trees[-1], lifts)
    lines = _lines(formula, trees[0], lifts, by_row=False)
    return Array([[_applied(formula, function, [line], "BYCOL") for line in lines]])


def _makearray(formula: Evaluator, trees: Sequence[Tree], lifts: bool) -> Operand:
    sizes = [to_whole(formula.as_one(formula.value(tree, lifts), "")) for tree in trees[:2]]
    function = _function(formula, trees[2], lifts)
    if min(sizes) < 1:
        raise Fault(VALUE)
    if sizes[0] * sizes[1] > _MOST_STEPS:
        raise NotComputed("too_many_cells")
    return Array(
        [
            [
                _applied(formula, function, [float(row), float(col)], "MAKEARRAY")
                for col in range(1, sizes[1] + 1)
            ]
            for row in range(1, sizes[0] + 1)
        ]
    )


def _true() -> bool:
    return True


def _false() -> bool:
    return False


FUNCTIONS: dict[str, Definition] = {
    "IF": Lazy(_if),
    "IFS": Lazy(_ifs),
    "IFERROR": _without(()),
    "IFNA": _without((NA.code,)),
    "CHOOSE": Lazy(_choose),
    "SWITCH": Lazy(_switch),
    "NOT": Scalar(_not, "b"),
    "TRUE": Scalar(_true, "e"),
    "FALSE": Scalar(_false, "e"),
    "LET": Lazy(_let),
    "LAMBDA": Lazy(_lambda),
    "ISOMITTED": Lazy(_isomitted),
    "MAP": Lazy(_map),
    "REDUCE": Lazy(_reduce),
    "SCAN": Lazy(_scan),
    "BYROW": Lazy(_byrow),
    "BYCOL": Lazy(_bycol),
    "MAKEARRAY": Lazy(_makearray),
}
