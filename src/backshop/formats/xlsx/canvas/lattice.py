"""Where the rows and columns of a window of a sheet stand, in pixels (F43.16)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from backshop.formats.canvas.face import Face

from ..book.frame import Frame
from ..book.workbook import child, children, truth
from ..syntax.address import MAX_COL, Area

_PX_PER_POINT = 4 / 3
_PADDING = 5  # pixels of a column that no digit has
_USUAL_CHARS = 8
_DIGITS = {  # in parts of the size, of faces that are drawn in narrower or wider ones
    "verdana": 0.636,
    "tahoma": 0.546,
    "segoe ui": 0.539,
    "trebuchet ms": 0.524,
    "georgia": 0.614,
    "comic sans ms": 0.610,
}
_COLUMN_MAX_PX, _ROW_MAX_PX = 2_000, 600


@dataclass(frozen=True)
class Measures:
    """The widths of all columns and the usual height of rows, as a sheet says them."""

    frame: Frame
    digit: float  # width of a digit of the workbook's usual face

    @classmethod
    def of(cls, frame: Frame, face: Face, size: float, name: str) -> Measures:
        """Return the measures of a sheet whose workbook is set in a face of a name.

        Excel rounds the width of a digit to pixels, as it does that of letters; here neither is
        rounded, as in print, or a number that just fits there would not fit here.
        """
        known = _DIGITS.get(name.strip().lower())
        digit = face.width("0", size) if known is None else known * size
        return cls(frame, min(max(digit, 1.0), 60.0))

    @cached_property
    def usual_width(self) -> int:
        """The width of a column that says none."""
        shape = child(self.frame.root, "sheetFormatPr")
        width = number(shape.get("defaultColWidth")) if shape is not None else None
        if width is not None:
            return self.pixels(width)
        chars = number(shape.get("baseColWidth")) if shape is not None else None
        bare = (chars if chars is not None else _USUAL_CHARS) * round(self.digit) + _PADDING
        return min(math.ceil(bare / 8) * 8, _COLUMN_MAX_PX)

    @cached_property
    def usual_height(self) -> float:
        """The height of a row that says none."""
        shape = child(self.frame.root, "sheetFormatPr")
        if shape is not None and truth(shape.get("zeroHeight")):
            return 0.0
        height = number(shape.get("defaultRowHeight")) if shape is not None else None
        return 20.0 if height is None else row_pixels(height)

    def pixels(self, width: float) -> int:
        """Return a width in digits, the padding of a cell included, as pixels."""
        return min(round(width * self.digit), _COLUMN_MAX_PX)

    @cached_property
    def _columns(self) -> list[tuple[int, int, int | None, int]]:
        """First, last, width where one is said, and look of the columns that say something."""
        found = []
        for item in children(child(self.frame.root, "cols"), "col"):
            first, last = number(item.get("min")), number(item.get("max"))
            if first is None or last is None or first > MAX_COL:
                continue
            wide = number(item.get("width"))
            width = 0 if truth(item.get("hidden")) else None if wide is None else self.pixels(wide)
            look = item.get("style") or ""
            style = int(look) if look.isdigit() and len(look) < 7 else 0
            found.append((int(first), min(int(last), MAX_COL), width, style))
        return found

    def widths(self, first: int, last: int) -> list[int]:
        """Return the widths of columns."""
        found = [self.usual_width] * max(0, last - first + 1)
        for low, high, width, _ in self._columns:
            if width is not None:
                for col in range(max(low, first), min(high, last) + 1):
                    found[col - first] = width
        return found

    def styles(self, first: int, last: int) -> dict[int, int]:
        """Return the looks that whole columns have."""
        found: dict[int, int] = {}
        for low, high, _, style in self._columns:
            if style:
                found |= dict.fromkeys(range(max(low, first), min(high, last) + 1), style)
        return found

    def span(self, first: int, end: int) -> int:
        """Return how wide the columns from one up to another are, that one left out."""
        wide = self.usual_width * (end - first)
        for low, high, width, _ in self._columns:
            shared = min(high, end - 1) - max(low, first) + 1
            if width is not None and shared > 0:
                wide += (width - self.usual_width) * shared
        return wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """The edges of the columns and rows of a window; one more than there are lines."""

    area: Area
    xs: tuple[float, ...]
    ys: tuple[float, ...]

    def rect(self, cells: Area) -> tuple[float, float, float, float]:
        """Return x, y, width and height of cells, as far as they are in the window."""
        part = cells.clip(self.area)
        if part is None:
            return self.xs[0], self.ys[0], 0.0, 0.0
        left, top = self.xs[part.col1 - self.area.col1], self.ys[part.row1 - self.area.row1]
        right = self.xs[part.col2 - self.area.col1 + 1]
        return left, top, right - left, self.ys[part.row2 - self.area.row1 + 1] - top


def lattice(
    area: Area,
    widths: list[int],
    heights: Mapping[int, float],
    usual: float,
    corner: tuple[float, float],
) -> Lattice:
    """Return the edges of a window whose first cell stands at a corner."""
    xs, ys = [corner[0]], [corner[1]]
    for width in widths:
        xs.append(xs[-1] + width)
    for row in range(area.row1, area.row2 + 1):
        ys.append(ys[-1] + heights.get(row, usual))
    return Lattice(area=area, xs=tuple(xs), ys=tuple(ys))


def row_pixels(points: float) -> float:
    """Return a height in points as pixels."""
    return float(min(round(points * _PX_PER_POINT), _ROW_MAX_PX))


def number(text: str | None) -> float | None:
    """Return a measure that somebody can have, None for anything else."""
    try:
        found = float(text) if text else None
    except ValueError:
        return None
    return found if found is not None and 0 <= found < 1e6 else None
