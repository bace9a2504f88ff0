"""How large the cells of a sheet are on a screen, about: programs measure with their own fonts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..book.frame import Frame
from ..book.sheet_xml import SheetXml, attributes
from ..book.workbook import child, children, truth
from ..syntax.address import MAX_COL, MAX_ROW, Area

EMU = 9525  # of a pixel
_DIGIT_PX, _PADDING_PX = 7, 5  # of the font that workbooks usually have
_COLUMN_PX, _ROW_PX = 64, 20
_PX_PER_POINT = 4 / 3
_ROWS_LOOKED_AT = 4096  # what is taller ends somewhere below


class CellSizes:
    """The widths of columns and the heights of rows, in pixels."""

    def __init__(self, xml: SheetXml, frame: Frame) -> None:
        self._xml = xml
        shape = child(frame.root, "sheetFormatPr")
        width = _float(shape.get("defaultColWidth")) if shape is not None else None
        height = _float(shape.get("defaultRowHeight")) if shape is not None else None
        self._width = _COLUMN_PX if width is None else column_px(width)
        self._height = _ROW_PX if height is None else round(height * _PX_PER_POINT)
        self._columns: list[tuple[int, int, int]] = []
        for item in children(child(frame.root, "cols"), "col"):
            first, last = _float(item.get("min")), _float(item.get("max"))
            wide = _float(item.get("width"))
            if first is not None and last is not None and wide is not None:
                shown = 0 if truth(item.get("hidden")) else column_px(wide)
                self._columns.append((int(first), int(last), shown))

    def column(self, col: int) -> int:
        """Return the width of a column."""
        return next((px for first, last, px in self._columns if first <= col <= last), self._width)

    def rows(self, numbers: Iterable[int]) -> dict[int, int]:
        """Return the heights of those rows that say one."""
        found = {}
        for row in self._xml.pick(set(numbers)):
            tag = attributes(self._xml.data[row.start : row.inner])
            height = _float(tag.get(b"ht", b"").decode("ascii", "replace"))
            if truth(tag.get(b"hidden", b"0").decode("ascii", "replace")):
                found[row.number] = 0
            elif height is not None:
                found[row.number] = round(height * _PX_PER_POINT)
        return found

    def covered(self, row: int, col: int, width: float, height: float) -> Area:
        """Return the cells that something of this size lies on whose corner is in a cell."""
        last_col = _reach(col, MAX_COL, width, self.column)
        most = min(MAX_ROW, row + _ROWS_LOOKED_AT)
        own = self.rows(range(row, min(most, row + int(height) + 1) + 1)) if height > 0 else {}
        last_row = _reach(row, most, height, lambda number: own.get(number, self._height))
        return Area(row, col, last_row, last_col)


def column_px(width: float) -> int:
    """Return a width in characters as pixels, the padding of a cell included."""
    return int(width * _DIGIT_PX + 0.5) if width >= 1 else int(width * (_DIGIT_PX + _PADDING_PX))


def _reach(first: int, most: int, length: float, size: Callable[[int], int]) -> int:
    at = first
    left = length - size(at)
    while left > 0 and at < most:
        at += 1
        left -= size(at)
    return at


def _float(text: str | None) -> float | None:
    try:
        found = float(text) if text else None
    except ValueError:
        return None
    return found if found is not None and 0 <= found < 1e6 else None
