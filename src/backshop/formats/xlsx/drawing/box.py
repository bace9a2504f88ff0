"""Where on a sheet a drawing stands: the cells of its corners, or one corner and a size."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.formats.package.guard import Element

from ..book.workbook import child, local
from ..syntax.address import MAX_COL, MAX_ROW, Area, cell_name
from .cell_size import EMU, CellSizes

ANCHORS = ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor")
_XDR = "xdr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A corner in a cell, and either the cell of the other corner or a size in pixels.

    Without a corner it stands at a fixed place, as the chart of a chart sheet does.
    """

    row: int | None = None
    col: int | None = None
    last: tuple[int, int] | None = None
    size: tuple[float, float] | None = None

    def area(self, sizes: CellSizes | None) -> Area | None:
        """Return the cells it lies on; only its first one where sizes of cells are not known."""
        if self.row is None or self.col is None:
            return None
        if self.last is not None:
            return Area(self.row, self.col, *self.last)
        if self.size is None or sizes is None:
            return Area(self.row, self.col, self.row, self.col)
        return sizes.covered(self.row, self.col, *self.size)

    @property
    def corner(self) -> str | None:
        """The cell of its corner."""
        return None if self.row is None or self.col is None else cell_name(self.row, self.col)


def read_box(anchor: Element) -> Box:
    """Read where an anchor stands; numbers nobody can have are as good as none."""
    start, end = _corner(child(anchor, "from")), _corner(child(anchor, "to"))
    size = child(anchor, "ext")
    measures = None
    if local(anchor) == "oneCellAnchor" and size is not None:
        measures = (_number(size.get("cx")) / EMU, _number(size.get("cy")) / EMU)
    if start is None:
        return Box(size=measures)
    row, col = start[0] + 1, start[1] + 1
    last = None
    if local(anchor) == "twoCellAnchor" and end is not None:
        # a corner at the very beginning of a cell lies on the one before
        last = (
            max(row, end[0] + (1 if end[2] else 0)),
            max(col, end[1] + (1 if end[3] else 0)),
        )
        last = (min(last[0], MAX_ROW), min(last[1], MAX_COL))
    return Box(row=row, col=col, last=last, size=measures)


def _corner(element: Element | None) -> tuple[int, int, int, int] | None:
    """Return row, column and the offsets in them, all from 0."""
    if element is None:
        return None
    held = [_text(element, name) for name in ("row", "col", "rowOff", "colOff")]
    if held[0] is None or held[1] is None or held[0] >= MAX_ROW or held[1] >= MAX_COL:
        return None
    return held[0], held[1], held[2] or 0, held[3] or 0


def _text(element: Element, name: str) -> int | None:
    held = child(element, name)
    text = ((held.text if held is not None else None) or "").strip()
    return int(text) if text.isdigit() and len(text) < 16 else None


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 16 else 0


def written_box(box: Box, inside: str) -> str:
    """Return the anchor of a new drawing, in the prefix `xdr`, around what is to stand there."""
    assert box.row is not None, "what is added has a corner"
    assert box.col is not None, "what is added has a corner"
    start = _written_corner("from", box.row - 1, box.col - 1)
    if box.last is not None:
        end = _written_corner("to", *box.last)
        name = "twoCellAnchor"
    else:
        assert box.size is not None, "one corner goes with a size"
        cx, cy = (round(side * EMU) for side in box.size)
        end = f'<{_XDR}:ext cx="{cx}" cy="{cy}"/>'
        name = "oneCellAnchor"
    return f"<{_XDR}:{name}>{start}{end}{inside}<{_XDR}:clientData/></{_XDR}:{name}>"


def _written_corner(name: str, row: int, col: int) -> str:
    held = (("col", col), ("colOff", 0), ("row", row), ("rowOff", 0))
    inner = "".join(f"<{_XDR}:{key}>{number}</{_XDR}:{key}>" for key, number in held)
    return f"<{_XDR}:{name}>{inner}</{_XDR}:{name}>"
