"""What every formula of a computation can see: cells, sheets, hidden rows, other formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ..syntax.address import Area
from .definition import Definition
from .memory import Cell, Memory
from .value import Array, Lambda, Missing, NotComputed, Operand, Reference, References, Value

Hidden = tuple[frozenset[int], frozenset[int]]
"""Rows of a sheet that were hidden by hand, and those that a filter hides."""


@dataclass
class Context:
    """The workbook around the formulas."""

    sheets: tuple[str, ...]
    memory: Memory
    date_1904: bool
    hidden: Callable[[int], Hidden]
    formula: Callable[[Cell], str | None]  # the text of a cell's formula
    stored_spill: Callable[[Cell], Area | None]  # the cells a formula fills, by the file
    call: Callable[[str, list[Operand]], Operand]  # a function of the engine below
    functions: Mapping[str, Definition]  # that are computed, by their names
    named: Callable[[str, int], str | None]  # what a name stands for on a sheet
    indexes: dict[tuple[str, Reference], object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.spilled = self.stored_spill  # the same, with those just computed
        self._numbers = {name.lower(): at for at, name in enumerate(self.sheets)}

    def sheet(self, name: str) -> int | None:
        """Return the number of a sheet, None when there is none of this name."""
        return self._numbers.get(name.lower())

    def present(self, operand: Operand) -> Iterator[Value]:
        """Go through the values of cells that hold something, or of an array."""
        if isinstance(operand, Reference):
            return (value for _, _, value in self.memory.present(operand))
        if isinstance(operand, References):
            return (value for part in operand.parts for value in self.present(part))
        if isinstance(operand, Array):
            return operand.values()
        raise NotComputed("unsupported_syntax")

    def array(self, operand: Operand) -> Array:
        """Return an operand as rows of values."""
        if isinstance(operand, Array):
            return operand
        if isinstance(operand, Reference):
            return self.memory.array(operand)
        if isinstance(operand, References | Lambda):
            raise NotComputed("unsupported_syntax")
        return Array([[None if isinstance(operand, Missing) else operand]])
