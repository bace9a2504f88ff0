"""The order in which formulas are computed: each when those it reads are done (F24.8).

A formula is simply begun. When it reads a cell that is not computed yet, that one comes first,
and the formula begins again. What OFFSET leads to, and which branch IF takes, need not be known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from ..syntax.address import MAX_COL, MAX_ROW, Area
from ..syntax.tree import Trees, Unreadable
from .context import Context
from .evaluator import Evaluator
from .memory import Cell, Pending
from .value import NA, SPILL, Array, Error, NotComputed, Value

_RESTARTS = 3


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula to compute: its text without `=`, names and tables spelled out."""

    cell: Cell
    text: str
    array: str = ""  # "fixed" or "dynamic" when it is computed cell by cell
    area: Area | None = None  # the cells that an array formula fills


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a formula has no value, and which function that is about."""

    reason: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """What an array formula gives: its cells, and their values row by row."""

    area: Area
    rows: list[list[Value]]


Result = Value | Block | Refusal


class _Again(Exception):
    """Cells were read before a formula filled them."""

    def __init__(self, formula: Formula) -> None:
        super().__init__()
        self.formula = formula


def run(
    formulas: Sequence[Formula],
    refused: Iterable[Cell],
    areas: Mapping[int, set[Area]],
    make: Callable[[], Context],
    blocked: Callable[[int, Area], bool],
    find: Callable[[Cell], Formula | None],
    until: float,
) -> dict[Cell, Result]:
    """Compute formulas; those that are refused, and what reads them, are not.

    `areas` are known to be read, `make` opens the cells, `blocked` says whether something other
    than values stands in the way of a formula that spills, `find` gives a formula whose result is
    not stored, `until` is when to stop by the monotonic clock.
    """
    known = list(formulas)
    out = list(refused)
    for _ in range(_RESTARTS):
        try:
            run = _Run(known, out, make(), blocked, find, until)
            run.preload(areas)
            return run.all()
        except NotComputed as stopped:
            return dict.fromkeys((one.cell for one in known), Refusal(stopped.reason))
        except _Again as again:
            at = next(i for i, one in enumerate(known) if one.cell == again.formula.cell)
            known[at] = again.formula
    return dict.fromkeys((one.cell for one in known), Refusal("circular"))


class _Run:
    def __init__(
        self,
        formulas: Sequence[Formula],
        refused: Sequence[Cell],
        context: Context,
        blocked: Callable[[int, Area], bool],
        find: Callable[[Cell], Formula | None],
        until: float,
    ) -> None:
        self.context, self.memory = context, context.memory
        self._formulas = {formula.cell: formula for formula in formulas}
        self._blocked, self._find, self._until = blocked, find, until
        self._trees = Trees()
        self._results: dict[Cell, Result] = {}
        self._begun: dict[Cell, None] = {}  # formulas that wait for others, the first one first
        context.spilled = self._spilled
        waiting: dict[Cell, Cell] = {}
        for formula in formulas:
            for row, col in formula.area.cells() if formula.area else ():
                waiting[Cell(formula.cell.sheet, row, col)] = formula.cell
        waiting.update({cell: cell for cell in self._formulas})
        self.memory.wait(waiting)
        for cell in refused:
            self.memory.refuse(cell)
        self.memory.watch(on=any(one.array == "dynamic" for one in formulas))

    def preload(self, areas: Mapping[int, set[Area]]) -> None:
        """Load what is known to be read, in one pass over each sheet."""
        for sheet, wanted in areas.items():
            self.memory.preload(sheet, wanted)

    def all(self) -> dict[Cell, Result]:
        """Compute every formula; those that spill first, because others may read what they fill."""
        wanted = self._formulas.values()
        order = sorted(wanted, key=lambda one: (one.array != "dynamic", one.cell))
        for formula in order:
            self._compute(formula.cell)
        return {formula.cell: self._results[formula.cell] for formula in order}

    def _compute(self, cell: Cell) -> None:
        stack = [cell]
        while stack:
            now = stack[-1]
            if now in self._results:
                stack.pop()
                continue
            if now not in self._formulas and not self._is_found(now):
                stack.pop()
                continue
            try:
                self._keep(now, self._value(self._formulas[now]))
                self._begun.pop(now, None)
            except Pending as pending:
                stack.extend(self._awaited(now, pending))

    def _is_found(self, cell: Cell) -> bool:
        """Whether a cell whose value is not stored holds a formula that can be computed."""
        formula = self._find(cell)
        if formula is None:
            self.memory.refuse(cell)
            return False
        self._formulas[cell] = formula
        return True

    def _awaited(self, now: Cell, pending: Pending) -> list[Cell]:
        """Return what has to be computed before a formula; a circle is refused."""
        self._begun[now] = None
        loop = next((cell for cell in pending.cells if cell in self._begun), None)
        if loop is None:
            return pending.cells
        begun = list(self._begun)
        for cell in begun[begun.index(loop) :]:
            self._keep(cell, Refusal("circular"))
            self._begun.pop(cell, None)
        return []

    def _value(self, formula: Formula) -> Result:
        if monotonic() > self._until:
            return Refusal("timeout")
        try:
            tree, rows = self._trees.of(formula.text)
        except Unreadable:
            return Refusal("unsupported_syntax")
        evaluator = Evaluator(self.context, formula.cell, rows, array=bool(formula.array))
        try:
            found = evaluator.result(tree)
            if formula.array:
                return self._spread(formula, found)
            assert not isinstance(found, Array), "a plain formula gives one value"
            return 0.0 if found is None else found
        except NotComputed as stopped:
            return Refusal(stopped.reason, stopped.about)
        except RecursionError:
            return Refusal("too_deep")
        except Pending:
            raise
        except Exception:  # the border of one formula: what it stumbles over is not the others'
            return Refusal("engine_failure")

    def _spread(self, formula: Formula, found: Value | Array) -> Result:
        """Return the cells an array formula fills, and with what."""
        array = found if isinstance(found, Array) else Array([[found]])
        array.refuse_repeats()
        cell = formula.cell
        if formula.array == "fixed":
            area = formula.area or Area(cell.row, cell.col, cell.row, cell.col)
            return Block(area, _fitted(array, area))
        area = Area(cell.row, cell.col, cell.row + array.height - 1, cell.col + array.width - 1)
        if area.count > 1 and not self._is_free(formula, area):
            one = Area(cell.row, cell.col, cell.row, cell.col)
            return Block(one, [[SPILL]])
        return Block(
            area, [[0.0 if value is None else value for value in row] for row in array.rows]
        )

    def _is_free(self, formula: Formula, area: Area) -> bool:
        """Whether nothing stands where a formula spills, but what it filled before."""
        sheet, before = formula.cell.sheet, formula.area
        if area.row2 > MAX_ROW or area.col2 > MAX_COL or self._blocked(sheet, area):
            return False
        self.memory.load(sheet, area)
        for row, col in area.cells():
            cell = Cell(sheet, row, col)
            if cell == formula.cell:
                continue
            if cell in self.memory.formulas:
                return False
            own = before is not None and before.has(row, col)
            if not own and self.memory.peek(sheet, row, col) is not None:
                return False
        return True

    def _keep(self, cell: Cell, result: Result) -> None:
        formula = self._formulas[cell]
        self._results[cell] = result
        sheet = cell.sheet
        if isinstance(result, Refusal):
            self.memory.refuse(cell)
            for row, col in formula.area.cells() if formula.area else ():
                self.memory.refuse(Cell(sheet, row, col))
        elif isinstance(result, Block):
            self._fill(formula, result)
        else:
            self.memory.settle(cell, result)

    def _fill(self, formula: Formula, block: Block) -> None:
        sheet, area, before = formula.cell.sheet, block.area, formula.area
        cell = Area(formula.cell.row, formula.cell.col, formula.cell.row, formula.cell.col)
        if self.memory.was_read(sheet, area, before or cell):
            raise _Again(replace(formula, area=area.join(before or cell)))
        for row, col in before.cells() if before else ():
            self.memory.settle(Cell(sheet, row, col), None)
        for row, col in area.cells():
            value = block.rows[row - area.row1][col - area.col1]
            self.memory.settle(Cell(sheet, row, col), value)

    def _spilled(self, cell: Cell) -> Area | None:
        """Return the cells that a formula fills; one that is not computed yet has to be first."""
        if cell in self._formulas:
            if cell not in self._results:
                raise Pending([cell])
            result = self._results[cell]
            if isinstance(result, Refusal):
                raise NotComputed("depends_on_not_computed")
            if isinstance(result, Block) and self._formulas[cell].array == "dynamic":
                if isinstance(result.rows[0][0], Error) and result.rows[0][0] == SPILL:
                    return None
                return result.area
            return None
        return self.context.stored_spill(cell)


def _fitted(array: Array, area: Area) -> list[list[Value]]:
    """Return the values of an array formula over given cells; one is repeated, others are #N/A."""
    out: list[list[Value]] = []
    for row in range(area.height):
        line: list[Value] = []
        for col in range(area.width):
            r = 0 if array.height == 1 else row
            c = 0 if array.width == 1 else col
            inside = r < array.height and c < array.width
            value = array.rows[r][c] if inside else NA
            line.append(0.0 if value is None else value)
        out.append(line)
    return out
