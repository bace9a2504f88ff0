"""One formula while it is computed: its tree walked through, as Excel would (F24.9).

A plain formula takes one cell out of a range that stands where one value belongs: the cell of its
own row or column. An array formula goes through all of them, and so do the arguments of functions
like SUMPRODUCT in any formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..syntax.address import Area
from ..syntax.expression import CONTROL
from ..syntax.function import ACROSS_SHEETS, MANY, VOLATILE
from ..syntax.signature import SIGNATURES
from ..syntax.tree import (
    Applied,
    Braces,
    Cells,
    Constant,
    ErrorConstant,
    Function,
    Local,
    Omitted,
    Operation,
    Sign,
    Tree,
    rows_of,
)
from .coercion import calculated, compared, to_number, to_text, to_truth, to_whole
from .context import Context
from .date_system import dated, to_day
from .definition import Definition, Lazy, Scalar, Whole
from .lifting import lifted
from .memory import Cell
from .value import (
    ERRORS,
    MISSING,
    NULL,
    VALUE,
    Array,
    Error,
    Fault,
    Lambda,
    Missing,
    NotComputed,
    Operand,
    Reference,
    References,
    Value,
)

_COMPARISONS = frozenset({"=", "<>", "<", ">", "<=", ">="})
_NEVER_ACROSS = frozenset({"AGGREGATE", "SUBTOTAL"})  # documented: an error
_MAX_CALLS = 200  # of functions a formula made, one within the other


class Evaluator:
    """Computes one formula."""

    __slots__ = ("array", "cell", "context", "depth", "names", "rows")

    def __init__(
        self,
        context: Context,
        cell: Cell,
        rows: Sequence[int],
        *,
        array: bool,
        names: Mapping[str, Operand] | None = None,
        depth: int = 0,
    ) -> None:
        self.context, self.cell, self.rows = context, cell, rows
        self.array = array  # an array formula goes through every range
        self.names = names or {}
        self.depth = depth

    def result(self, tree: Tree) -> Value | Array:
        """Return what the formula gives: one value, or several for an array formula."""
        found = self.value(tree, self.array)
        if isinstance(found, Array) and not self.array:
            return found.rows[0][0]
        return found

    # --- expressions ---------------------------------------------------------------------------

    def value(self, tree: Tree, lifts: bool) -> Value | Array:
        """Return what an expression gives where values are wanted."""
        return self.settled(self.operand(tree, lifts), lifts)

    def settled(self, operand: Operand, lifts: bool) -> Value | Array:
        """Return the values of an operand: of a range those of all cells, or of the one beside."""
        if isinstance(operand, Reference):
            area = operand.area
            if area.row1 == area.row2 and area.col1 == area.col2:
                return self.context.memory.value(operand.sheet, area.row1, area.col1)
            return self.context.memory.array(operand) if lifts else self.beside(operand)
        if isinstance(operand, Missing):
            return None
        if isinstance(operand, References):
            if operand.across:
                raise NotComputed("doubtful")
            return VALUE
        if isinstance(operand, Lambda):
            raise NotComputed("unsupported_syntax", "LAMBDA")
        return operand

    def beside(self, reference: Reference) -> Value:
        """Return the cell of a range that stands in the formula's own row or column."""
        area = reference.area
        row, col = self.cell.row, self.cell.col
        if area.width == 1 and area.row1 <= row <= area.row2:
            col = area.col1
        elif area.height == 1 and area.col1 <= col <= area.col2:
            row = area.row1
        else:
            return VALUE
        return self.context.memory.value(reference.sheet, row, col)

    def operand(self, tree: Tree, lifts: bool) -> Operand:
        """Return what an expression gives; a reference stays one."""
        match tree:
            case Constant(value):
                return value
            case Cells():
                return self._cells(tree)
            case Operation(sign, left, right):
                if sign in {":", " ", ","}:
                    return self._joined(sign, self.operand(left, lifts), self.operand(right, lifts))
                return self._operation(sign, self.value(left, lifts), self.value(right, lifts))
            case Function(name, arguments):
                return self.call(name, arguments, lifts)
            case Sign(sign, inner):
                return self._sign(sign, inner, lifts)
            case Omitted():
                return MISSING
            case ErrorConstant(code):
                if code not in ERRORS:
                    raise NotComputed("unsupported_syntax")
                return ERRORS[code]
            case Local(name):
                if name not in self.names:
                    raise NotComputed("unknown_name")
                return self.names[name]
            case Braces(rows):
                return Array([[self._constant(one) for one in row] for row in rows])
            case Applied(callee, arguments):
                function = self.operand(callee, lifts)
                given = [self.operand(one, lifts) for one in arguments]
                return self.apply(function, given)

    def _constant(self, tree: Constant | ErrorConstant) -> Value:
        return tree.value if isinstance(tree, Constant) else ERRORS.get(tree.code, VALUE)

    def _cells(self, tree: Cells) -> Operand:
        bounds = rows_of(tree, self.rows)
        if bounds is None:
            raise NotComputed("unsupported_syntax")
        area = Area(bounds[0], tree.col1, bounds[1], tree.col2)
        if tree.sheet is None:
            return Reference(self.cell.sheet, area)
        numbers = [self.context.sheet(name) for name in _ends(tree.sheet, self.context)]
        if None in numbers:
            raise NotComputed("unknown_sheet")
        first, last = (
            min(n for n in numbers if n is not None),
            max(n for n in numbers if n is not None),
        )
        if len(numbers) == 1:
            return Reference(first, area)
        parts = tuple(Reference(number, area) for number in range(first, last + 1))
        return References(parts, across=True)

    def _joined(self, sign: str, left: Operand, right: Operand) -> Operand:
        """Return the range between two references, their shared cells, or both."""
        for side in (left, right):
            if isinstance(side, Error):
                return side
        if sign == ",":
            parts: list[Reference] = []
            for side in (left, right):
                if isinstance(side, References):
                    if side.across:
                        raise NotComputed("doubtful")
                    parts.extend(side.parts)
                elif isinstance(side, Reference):
                    parts.append(side)
                else:
                    return VALUE
            return References(tuple(parts))
        if not isinstance(left, Reference) or not isinstance(right, Reference):
            raise NotComputed("unsupported_syntax")
        if left.sheet != right.sheet:
            return VALUE
        if sign == ":":
            return Reference(left.sheet, left.area.join(right.area))
        shared = left.area.clip(right.area)
        return Reference(left.sheet, shared) if shared else NULL

    def _operation(self, sign: str, left: Value | Array, right: Value | Array) -> Value | Array:
        if isinstance(left, Array) or isinstance(right, Array):
            return lifted((left, right), lambda given: self._operated(sign, given[0], given[1]))
        try:
            return self._operated(sign, left, right)
        except Fault as fault:
            return fault.error

    def _operated(self, sign: str, left: Value, right: Value) -> Value:
        """Return what an operator gives for two values."""
        if sign == "&":
            return to_text(left) + to_text(right)
        if sign in _COMPARISONS:
            return compared(sign, left, right)
        system = self.context.date_1904
        return calculated(sign, dated(left, system), dated(right, system))

    def _sign(self, sign: str, tree: Tree, lifts: bool) -> Operand:
        if sign == "@":
            return self.single(self.operand(tree, lifts))
        if sign == "+":
            return self.value(tree, lifts)
        value = self.value(tree, lifts)
        return self._operation("-" if sign == "-" else "/", *_sides(sign, value))

    def single(self, operand: Operand) -> Value | Array:
        """Return the one value that `@` takes out of a range or an array."""
        if isinstance(operand, Reference):
            return self.settled(operand, False)
        if isinstance(operand, Array):
            return operand.rows[0][0]
        return self.settled(operand, False)

    # --- calls ---------------------------------------------------------------------------------

    def call(self, name: str, trees: Sequence[Tree], lifts: bool) -> Operand:
        """Return what a function gives."""
        definition = self.context.functions.get(name)
        signature = SIGNATURES.get(name)
        if definition is None or signature is None:
            raise NotComputed(*refusal(name))
        if not signature.least <= len(trees) <= signature.most:
            raise NotComputed("unknown_function", name)
        if name in MANY and not self.array:
            raise NotComputed("array_context", name)  # as Excel never stores it
        if isinstance(definition, Lazy):
            return self._lazily(definition, name, trees, lifts)
        takes = [signature.takes(place) for place in range(len(trees))]
        given: list[Operand] = []
        for kind, tree in zip(takes, trees, strict=True):
            inner = lifts or kind == "A"
            found = self.operand(tree, inner)
            if kind == "V" and not isinstance(found, Missing):
                found = self._one_by_one(definition, found, inner)
            given.append(found)
        if name not in ACROSS_SHEETS and any(isinstance(g, References) and g.across for g in given):
            if name in _NEVER_ACROSS:
                return VALUE
            raise NotComputed("doubtful", name)
        try:
            return self._called(definition, name, takes, given)
        except Fault as fault:
            return fault.error
        except NotComputed as stopped:
            raise NotComputed(stopped.reason, stopped.about or name) from None
        except OverflowError:
            raise NotComputed("doubtful", name) from None

    def _one_by_one(self, definition: Definition, operand: Operand, lifts: bool) -> Value | Array:
        """Return the values of an argument where one value belongs."""
        wide = isinstance(operand, Reference) and operand.area.count > 1
        if wide and lifts and isinstance(definition, Scalar) and not definition.of_arrays:
            raise NotComputed("doubtful")
        return self.settled(operand, lifts)

    def _lazily(self, definition: Lazy, name: str, trees: Sequence[Tree], lifts: bool) -> Operand:
        if lifts and not self.array and name in CONTROL:
            lifts = False  # in a plain formula the choice they make is one choice
        try:
            found: Operand = definition.call(self, trees, lifts)
        except Fault as fault:
            return fault.error
        except NotComputed as stopped:
            raise NotComputed(stopped.reason, stopped.about or name) from None
        return found

    def _called(
        self, definition: Scalar | Whole, name: str, takes: Sequence[str], given: list[Operand]
    ) -> Operand:
        wide = [
            place
            for place, kind in enumerate(takes)
            if kind == "V" and isinstance(given[place], Array)
        ]
        if not wide:
            return self._invoked(definition, given)

        def one(values: list[Value]) -> Value:
            inner = list(given)
            for place, value in zip(wide, values, strict=True):
                inner[place] = value
            return self.as_one(self._invoked(definition, inner), name)

        return lifted([array for p in wide if isinstance(array := given[p], Array)], one)

    def as_one(self, operand: Operand, about: str) -> Value:
        """Return the one value that a step for one value of an array gave."""
        if isinstance(operand, Reference) and operand.area.count == 1:
            area = operand.area
            return self.context.memory.value(operand.sheet, area.row1, area.col1)
        if isinstance(operand, Array) and operand.height == operand.width == 1:
            return operand.rows[0][0]
        if isinstance(operand, Array | Reference | References | Missing | Lambda):
            raise NotComputed("array_context", about)
        return operand

    def _invoked(self, definition: Scalar | Whole, given: Sequence[Operand]) -> Operand:
        found: Operand
        if isinstance(definition, Whole):
            found = definition.call(self, *given)
            return found
        letters = definition.takes
        last = len(letters) - 1
        taken = [self._taken(letters[min(at, last)], value) for at, value in enumerate(given)]
        if definition.dated:
            taken.insert(0, self.context.date_1904)
        found = definition.call(*taken)
        return found

    def _taken(self, letter: str, value: Operand) -> object:
        """Return an argument as a function takes it."""
        if isinstance(value, Missing):
            value = None
        assert not isinstance(value, Array | Reference | References | Lambda), "one value"
        match letter:
            case "n":
                return to_number(dated(value, self.context.date_1904))
            case "w":
                return to_whole(dated(value, self.context.date_1904))
            case "t":
                return to_text(value)
            case "b":
                return to_truth(value)
            case "d":
                return to_day(value, self.context.date_1904)
            case "v" if isinstance(value, Error):
                raise Fault(value)
        return value

    def apply(self, function: Operand, given: Sequence[Operand]) -> Operand:
        """Return what a function that the formula made gives."""
        if isinstance(function, Error):
            return function
        if not isinstance(function, Lambda) or len(given) > len(function.names):
            return VALUE
        if self.depth >= _MAX_CALLS:
            raise NotComputed("too_deep", "LAMBDA")
        if len(given) < function.least:
            return VALUE
        missing = [MISSING] * (len(function.names) - len(given))
        names = {**function.known, **dict(zip(function.names, [*given, *missing], strict=True))}
        inner = self.within(names)
        inner.depth = self.depth + 1
        return inner.operand(function.body, True)

    def within(self, names: Mapping[str, Operand]) -> Evaluator:
        """Return the same formula with more names known."""
        return Evaluator(
            self.context, self.cell, self.rows, array=self.array, names=names, depth=self.depth
        )


def refusal(name: str) -> tuple[str, str]:
    """Return why a function is not computed, and its name."""
    return ("volatile" if name in VOLATILE else "unknown_function"), name


def _sides(sign: str, value: Value | Array) -> tuple[Value | Array, Value | Array]:
    return (0.0, value) if sign == "-" else (value, 100.0)


def _ends(name: str, context: Context) -> list[str]:
    """Return a sheet, or the first and last one of a range of sheets."""
    if ":" in name and context.sheet(name) is None:
        return name.split(":")
    return [name]
