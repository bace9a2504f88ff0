"""Which values that stand in cells already a new validation would not take (F38.9)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ...book.sheet_edit import SheetEdit
from ...book.workbook import Value
from ...syntax.address import Area, cell_name
from ..session import Session

_NAMED = 5  # cells that a warning names
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "greater_than": operator.gt,
    "less_than": operator.lt,
    "greater_or_equal": operator.ge,
    "less_or_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
}


@dataclass(frozen=True, slots=True)
class ListCheck:
    """Takes the values of a list; texts in cells are compared without case."""

    texts: frozenset[str]
    has_case: bool

    def takes(self, value: Value) -> bool:
        """Whether a value is one of the list."""
        if value.number is not None and value.kind != "boolean":
            return any(_number(text) == value.number for text in self.texts)
        if value.kind == "boolean":
            return value.text.upper() in {one.upper() for one in self.texts}
        if self.has_case:
            return value.text in self.texts
        return value.text.lower() in {one.lower() for one in self.texts}


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """Takes numbers, or texts by their length."""

    kind: str
    operator: str
    ends: tuple[float, ...]

    def takes(self, value: Value) -> bool:
        """Whether a value is such a number."""
        number = float(len(value.text)) if self.kind == "text_length" else value.number
        if number is None or (value.kind == "boolean" and self.kind != "text_length"):
            return False
        if self.kind == "whole" and not number.is_integer():
            return False
        if self.operator == "between":
            return self.ends[0] <= number <= self.ends[1]
        if self.operator == "not_between":
            return not self.ends[0] <= number <= self.ends[1]
        return _SIGNS[self.operator](number, self.ends[0])


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def breaking(
    edit: SheetEdit, areas: Iterable[Area], check: ListCheck | NumberCheck
) -> list[tuple[int, int]]:
    """Return the filled cells whose values a validation does not take; errors do not count."""
    found = []
    for area in areas:
        places = edit.cells_in(area)
        edit.load({row for row, _ in places})
        for place in places:
            value = edit.value(*place)
            if value.kind not in ("blank", "error") and not check.takes(value):
                found.append(place)
    return sorted(found)


def tell_breaking(session: Session, edit: SheetEdit, places: Sequence[tuple[int, int]]) -> None:
    """Warn of cells that a validation would not take."""
    if places:
        names = ", ".join(cell_name(*place) for place in places[:_NAMED])
        more = ", …" if len(places) > _NAMED else ""
        where = f"{edit.sheet.name}!{names}{more}"
        session.warnings.add("breaks_validation", len(places), where)
