"""Formulas of conditional formats, computed for one cell after another (F43.77)."""

from __future__ import annotations

from time import monotonic

from backshop.formats.figure.plain import exact_text

from ..book.workbook import Book, Sheet
from ..calculation.surroundings import Surroundings
from ..evaluation.context import Context
from ..evaluation.evaluator import Evaluator
from ..evaluation.function.engine import Engine
from ..evaluation.function.library import FUNCTIONS
from ..evaluation.memory import Cell, Memory, Pending
from ..evaluation.value import Array, Error, NotComputed, Value
from ..syntax.formula import shift
from ..syntax.tree import Trees, Unreadable

_MOST = 40_000  # formulas of one drawing
_SECONDS = 3.0  # of one drawing


class RuleFormulas:
    """Computes what rules ask of the cells of a sheet; what has no answer is counted."""

    def __init__(self, book: Book, sheet: Sheet) -> None:
        self._book = book
        self._at = book.sheets.index(sheet)
        self._trees = Trees()
        self._made: Context | None = None
        self._left = _MOST
        self._until: float | None = None
        self.unknown = 0

    def holds(self, formula: str, origin: tuple[int, int], row: int, col: int) -> bool:
        """Say whether a formula, written for the first cell of its rule, is true for a cell."""
        found = self._value(formula, origin, row, col)
        return isinstance(found, bool | float) and bool(found)

    def constant(self, formula: str, origin: tuple[int, int], row: int, col: int) -> str:
        """Return what a formula gives for a cell, as a number or a text is written in one."""
        found = self._value(formula, origin, row, col)
        if isinstance(found, str):
            return '"' + found.replace('"', '""') + '"'
        return exact_text(float(found)) if isinstance(found, bool | float) else ""

    def _value(self, formula: str, origin: tuple[int, int], row: int, col: int) -> Value:
        """Return the value, None where it is not computed."""
        now = monotonic()
        self._until = self._until or now + _SECONDS
        self._left -= 1
        if self._left < 0 or now > self._until:
            self.unknown += 1
            return None
        text = shift(formula.removeprefix("="), row - origin[0], col - origin[1])
        try:
            tree, rows = self._trees.of(text)
            cell = Cell(self._at, row, col)
            found = Evaluator(self._context(), cell, rows, array=False).result(tree)
        except (Unreadable, NotComputed, Pending, RecursionError):
            self.unknown += 1
            return None
        except Exception:  # the border of one formula, as where results are computed
            self.unknown += 1
            return None
        return None if isinstance(found, Array | Error) else found

    def _context(self) -> Context:
        if self._made is None:
            around = Surroundings(self._book)
            self._made = Context(
                sheets=tuple(sheet.name for sheet in self._book.sheets),
                memory=Memory(around.load, around.used_rows),
                date_1904=self._book.date_1904,
                hidden=around.hidden,
                formula=around.formula,
                stored_spill=around.spill,
                call=Engine().call,
                functions=FUNCTIONS,
                named=around.named,
            )
        return self._made
