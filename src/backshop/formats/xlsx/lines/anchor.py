"""Objects on a sheet: the cells they are anchored to after lines came or went.

An object that moves and sizes with cells keeps its corners in their cells. One that only moves
keeps its size, one that does neither its place on the sheet: both are measured by the heights of
rows and the widths of columns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from backshop.formats.package.guard import Element

from ..book.frame import Frame
from ..book.sheet_xml import SheetXml, attributes
from ..book.workbook import child, children, local
from ..syntax.address import MAX_COL
from ..syntax.line_shift import LineShift

_POINT, _PIXEL = 12_700, 9_525  # EMU
_DIGIT = 7  # pixels of a digit in the standard font; the width of a column counts digits
_ROW, _COLUMN = 15 * _POINT, 64 * _PIXEL  # where a sheet says nothing
_HEIGHT = re.compile(rb"\s(?:ht|hidden)\s*=")


@dataclass(frozen=True)
class Grid:
    """How high the rows of a sheet are, or how wide its columns, in EMU."""

    default: int
    others: Mapping[int, int]

    @classmethod
    def of(cls, xml: SheetXml, shift: LineShift) -> Grid:
        """Measure the lines that a shift counts."""
        root = Frame.of(xml).root
        form = child(root, "sheetFormatPr")
        if shift.axis == "row":
            said = _number(form.get("defaultRowHeight")) if form is not None else None
            return cls(round(said * _POINT) if said else _ROW, _heights(xml))
        said = _number(form.get("defaultColWidth")) if form is not None else None
        return cls(_width(said) if said else _COLUMN, _widths(root))

    def shifted(self, shift: LineShift, pattern: int | None) -> Grid:
        """Return the lines after a shift, inserted ones as large as the one they look like."""
        others = {
            now: size for line, size in self.others.items() if (now := shift.line(line)) is not None
        }
        model = self.others.get(pattern) if pattern is not None else None
        if shift.by > 0 and model:
            others |= dict.fromkeys(range(shift.at, shift.last + 1), model)
        return Grid(self.default, others)

    @cached_property
    def _sums(self) -> tuple[list[int], list[int]]:
        """The lines of another size, and how much they and those before add to the default."""
        lines, sums, total = sorted(self.others), [], 0
        for line in lines:
            total += self.others[line] - self.default
            sums.append(total)
        return lines, sums

    def start(self, line: int) -> int:
        """Return where a line, counted from 1, begins."""
        lines, sums = self._sums
        at = bisect_right(lines, line - 1)
        return (line - 1) * self.default + (sums[at - 1] if at else 0)

    def size(self, line: int) -> int:
        """Return how large a line is."""
        return self.others.get(line, self.default)

    def locate(self, place: int, most: int) -> tuple[int, int]:
        """Return the line at a place, and how far in it the place is."""
        low, high = 1, most
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.start(middle) <= place else (low, middle - 1)
        return low, max(0, min(place - self.start(low), self.size(low)))


def _heights(xml: SheetXml) -> dict[int, int]:
    found: dict[int, int] = {}
    if not _HEIGHT.search(xml.data, xml.inner, xml.close):
        return found
    for row in xml.iter_rows():
        tag = xml.data[row.start : row.inner]
        if not _HEIGHT.search(tag):
            continue
        said = attributes(tag)
        height = _number(said.get(b"ht", b"").decode("ascii", "replace"))
        if said.get(b"hidden") in {b"1", b"true"}:
            found[row.number] = 0
        elif height is not None:
            found[row.number] = round(height * _POINT)
    return found


def _widths(root: Element) -> dict[int, int]:
    found: dict[int, int] = {}
    seen = 0
    for item in children(child(root, "cols"), "col"):
        first, last = _number(item.get("min")), _number(item.get("max"))
        width = 0.0 if item.get("hidden") in {"1", "true"} else _number(item.get("width"))
        if first is not None and last is not None and width is not None:
            run = range(int(first), min(int(last), MAX_COL) + 1)
            seen += len(run)
            found.update(dict.fromkeys(run, _width(width)))
        if seen > MAX_COL:  # runs that overlap: the file is odd, and there may be very many
            break
    return found


def _width(digits: float) -> int:
    return int((256 * digits + 128 // _DIGIT) / 256 * _DIGIT) * _PIXEL


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < 1e7 else None


@dataclass(frozen=True)
class Ground:
    """The lines under the objects of a sheet, before and after a shift."""

    shift: LineShift
    before: Grid
    after: Grid

    @classmethod
    def of(cls, xml: SheetXml, shift: LineShift, pattern: int | None) -> Ground:
        """Measure a sheet whose lines are about to come or go."""
        before = Grid.of(xml, shift)
        return cls(shift, before, before.shifted(shift, pattern))

    def move_all(self, root: Element) -> None:
        """Let everything that is anchored in a drawing follow."""
        for element in root.iter("{*}twoCellAnchor", "{*}oneCellAnchor"):
            is_one = local(element) == "oneCellAnchor"
            self.move(element, "oneCell" if is_one else element.get("editAs") or "twoCell")

    def move(self, anchor: Element, how: str) -> None:
        """Let one anchor follow: `how` is twoCell, oneCell or absolute, as drawings say it."""
        start, end = (_Corner.of(child(anchor, name), self.shift) for name in ("from", "to"))
        if start is None:
            return
        if how == "absolute":
            for corner in (start, end):
                if corner is not None:
                    place = self.before.start(corner.line) + corner.offset
                    corner.put(*self.after.locate(place, self.shift.most))
            return
        line, offset = _moved(start, self.shift)
        if end is not None:
            self._move_end(start, end, line, offset, is_sized=how != "oneCell")
        start.put(line, offset)

    def _move_end(
        self, start: _Corner, end: _Corner, line: int, offset: int, *, is_sized: bool
    ) -> None:
        """Move the second corner of an object whose first one is going to be in a line."""
        shift, before, after = self.shift, self.before, self.after
        if is_sized:
            touches = end.line == shift.at and not end.offset and start.line < shift.at
            if not (touches and shift.by > 0):  # it ends just where lines come
                end.put(*_moved(end, shift))
        elif end.line >= shift.at:
            far = before.start(end.line) + end.offset - before.start(start.line) - start.offset
            place = after.start(line) + offset + max(0, far)
            end.put(*after.locate(place, shift.most))


@dataclass(frozen=True)
class _Corner:
    """One corner of an anchor, in the direction that a shift counts."""

    element: Element
    axis: str
    line: int
    offset: int

    @classmethod
    def of(cls, element: Element | None, shift: LineShift) -> _Corner | None:
        axis = "row" if shift.axis == "row" else "col"
        line, offset = (_text(child(element, f"{axis}{more}")) for more in ("", "Off"))
        if element is None or line is None or not 0 <= line < shift.most:
            return None
        return cls(element, axis, line + 1, offset or 0)

    def put(self, line: int, offset: int) -> None:
        """Be elsewhere."""
        for more, old, new in (("", self.line - 1, line - 1), ("Off", self.offset, offset)):
            item = child(self.element, f"{self.axis}{more}")
            if item is not None and old != new:
                item.text = str(new)


def _moved(corner: _Corner, shift: LineShift) -> tuple[int, int]:
    """Return where a corner is now; in a line that went, where that line was."""
    now = shift.line(corner.line)
    if now is not None:
        return now, corner.offset
    return (min(shift.at, shift.most), 0) if shift.by < 0 else (shift.most, corner.offset)


def _text(element: Element | None) -> int | None:
    text = (element.text or "").strip() if element is not None else ""
    return int(text) if re.fullmatch(r"-?[0-9]{1,12}", text) else None
