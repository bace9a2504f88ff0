"""Which conditional parts of a table style hold for a cell: first row, bands, corners (F9.10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backshop.formats.package.guard import Element

from . import name as n
from .document import grid_cells, table_rows
from .stylesheet import Style, StyleSheet, child_value, whole

PART = n.w("tblStylePr")
_LOOK, _ROW_BAND, _COLUMN_BAND = map(n.w, ("tblLook", "tblStyleRowBandSize", "tblStyleColBandSize"))
_BITS = {
    "firstRow": 0x0020,
    "lastRow": 0x0040,
    "firstColumn": 0x0080,
    "lastColumn": 0x0100,
    "noHBand": 0x0200,
    "noVBand": 0x0400,
}
_CORNERS = (
    ("nwCell", "firstRow", "firstCol"),
    ("neCell", "firstRow", "lastCol"),
    ("swCell", "lastRow", "firstCol"),
    ("seCell", "lastRow", "lastCol"),
)
_TRUE = frozenset({"1", "true", "on"})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a cell stands in its table, counted from 0; `after` is the column behind it."""

    row: int
    column: int
    after: int


class Conditions:
    """Knows for every cell of the tables it is asked about what conditions it meets."""

    def __init__(self, styles: StyleSheet) -> None:
        self._styles = styles
        self._cells: dict[Element, dict[Element, tuple[str, ...]]] = {}

    def of(self, table: Element, cell: Element, style_id: str | None) -> tuple[str, ...]:
        """Return the conditions a cell meets, the one that decides first."""
        if table not in self._cells:
            self._cells[table] = dict(self._all(table, list(self._styles.chain(style_id))))
        return self._cells[table].get(cell, ())

    def _all(self, table: Element, chain: list[Style]) -> Iterator[tuple[Element, tuple[str, ...]]]:
        wanted = _switches(table)
        bands = [_band(chain, tag) for tag in (_ROW_BAND, _COLUMN_BAND)]
        rows = table_rows(table)
        for at, row in enumerate(rows):
            cells = grid_cells(row)
            starts = [place for place, cell in enumerate(cells) if cell is not None]
            for place, after in zip(starts, [*starts[1:], len(cells)], strict=True):
                cell = cells[place]
                assert cell is not None, "only places of cells were taken"
                found = _met(_Place(at, place, after), len(rows), len(cells), wanted, bands)
                yield cell, tuple(found)


def parts_of(style: Style, condition: str) -> Iterator[Element]:
    """Yield what a table style says for a condition."""
    return (one for one in style.element.iterchildren(PART) if one.get(n.TYPE) == condition)


def _switches(table: Element) -> frozenset[str]:
    """Return which conditions a table asks for."""
    properties = table.find(n.TBL_PR)
    look = properties.find(_LOOK) if properties is not None else None
    if look is None:
        return frozenset()
    try:
        bits = int(look.get(n.VAL) or "0", 16)
    except ValueError:
        bits = 0
    return frozenset(
        name
        for name, bit in _BITS.items()
        if (look.get(n.w(name)) in _TRUE if look.get(n.w(name)) is not None else bits & bit)
    )


def _band(chain: list[Style], tag: str) -> int:
    sizes = (child_value(style.element.find(n.TBL_PR), tag) for style in chain)
    return next((size for text in sizes if (size := whole(text))), 1)


def _met(
    place: _Place, rows: int, columns: int, wanted: frozenset[str], bands: list[int]
) -> Iterator[str]:
    first_row = "firstRow" in wanted and place.row == 0
    last_row = "lastRow" in wanted and place.row == rows - 1
    first_column = "firstColumn" in wanted and place.column == 0
    last_column = "lastColumn" in wanted and place.after >= columns
    own = {
        "firstCol": first_column,
        "lastCol": last_column,
        "firstRow": first_row,
        "lastRow": last_row,
    }
    yield from (corner for corner, row, column in _CORNERS if own[row] and own[column])
    yield from (name for name, holds in own.items() if holds)
    if "noHBand" not in wanted and not (first_row or last_row):
        at = (place.row - ("firstRow" in wanted)) // bands[0]
        yield f"band{at % 2 + 1}Horz"
    if "noVBand" not in wanted and not (first_column or last_column):
        at = (place.column - ("firstColumn" in wanted)) // bands[1]
        yield f"band{at % 2 + 1}Vert"
    yield "wholeTable"
