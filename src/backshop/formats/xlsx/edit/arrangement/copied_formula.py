"""A formula for the place it is copied to: what it names without `$` moves along (F39.9)."""

from __future__ import annotations

from backshop.formats.write.operation import problem

from ...syntax.address import MAX_COL, MAX_ROW, Area, cell_name
from ...syntax.formula import leaving, shift, stored
from ...syntax.reference import Reference, moved

Place = tuple[int, int]


def copied(text: str, here: Place, there: Place, where: str, *, turned: bool = False) -> str:
    """Return the formula of a cell for another one; `turned`: rows become columns.

    Raises:
        FormatError: `unsafe_formula`, `bad_range`, `op_conflict`.
    """
    stored(text, where)  # refuses what may not be written
    if turned:
        return _turned(text, here, there, where)
    rows, cols = there[0] - here[0], there[1] - here[1]
    beyond = leaving(text, rows, cols)
    if beyond is not None:
        what = f"{beyond} in {cell_name(*here)} would leave the sheet in {cell_name(*there)}"
        raise problem("bad_range", where, what, ["$ before a row or column keeps it"])
    return shift(text, rows, cols)


def _turned(text: str, here: Place, there: Place, where: str) -> str:
    """Return a formula whose references lie below where they lay beside, and the other way."""

    def change(reference: Reference) -> tuple[str, Area]:
        area, locks = reference.area, {*reference.rows, *reference.cols}
        if locks == {True}:
            return reference.sheet, area
        whole = area.height == MAX_ROW or area.width == MAX_COL
        made = Area(
            there[0] + area.col1 - here[1],
            there[1] + area.row1 - here[0],
            there[0] + area.col2 - here[1],
            there[1] + area.row2 - here[0],
        )
        inside = made.row1 >= 1 and made.col1 >= 1 and made.row2 <= MAX_ROW
        if len(locks) > 1 or whole or not inside or made.col2 > MAX_COL:
            what = (
                f"{area} in {cell_name(*here)} has no counterpart with rows and columns exchanged"
            )
            raise problem("op_conflict", where, what, ['"what": "values"'])
        return reference.sheet, made

    return moved(text, "", change)
