"""Charts, pictures and text boxes of a sheet at their anchors (F43.21)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from lxml import etree

from backshop.base import limits
from backshop.base.place import Place
from backshop.formats.canvas.bitmap import bitmap
from backshop.formats.canvas.chart.data import Rect
from backshop.formats.canvas.chart.picture import broken_picture, chart_picture
from backshop.formats.canvas.figure import Box, Figure, Frame, Group, Picture, Stroke
from backshop.formats.chart.facts import facts
from backshop.formats.chart.shown import Look, chart_data
from backshop.formats.errors import FormatError
from backshop.formats.package.drawing_color import RECOLOURED, is_recoloured
from backshop.formats.package.guard import Element
from backshop.formats.package.xml_tree import loosened
from backshop.formats.place import spelled

from ..book.workbook import Book, Sheet, child, local
from ..drawing.box import ANCHORS
from ..drawing.cell_size import EMU
from ..drawing.chart_cache import Caches, range_of
from ..drawing.drawing_part import PICTURE, DrawingPart, Drawn, drawing_parts, drawn_on
from ..syntax.address import MAX_COL, MAX_ROW, Area, cell_name
from .sheet_shape import shape_figures

_MOST_DRAWN = 60  # of charts and of pictures in one window
_EDGE = 1.0  # pixels: what only touches a window is not in it
_CELLS_READ = 4 * limits.CHART_MAX_CELLS  # for all charts of a window
_MOST_PX = 8_000.0
_WHOLE_PAGE = (960.0, 640.0)
_THIN = Stroke(color="#bfbfbf", width=1.0)

OBJECTS = "controls and other objects on the sheet are not drawn"

Corner = tuple[int, float, int, float]  # row, pixels in it, column, pixels in it, from 0


@dataclass(frozen=True)
class Places:
    """Turns corners in cells into pixels of the page, also those out of the window."""

    x_of: Callable[[int, float], float]
    y_of: Callable[[int, float], float]

    def rect(self, anchor: Element) -> Rect | None:
        """Return where an anchor stands."""
        start, size = _corner(child(anchor, "from")), _size(child(anchor, "ext"))
        if local(anchor) == "absoluteAnchor" or start is None:
            at = child(anchor, "pos")
            if at is None or size is None:
                return None
            left, top = self.x_of(0, 0.0), self.y_of(0, 0.0)
            return _rect(left + _px(at.get("x")), top + _px(at.get("y")), *size)
        x, y = self.x_of(start[2], start[3]), self.y_of(start[0], start[1])
        end = _corner(child(anchor, "to"))
        if local(anchor) == "twoCellAnchor" and end is not None:
            right, bottom = self.x_of(end[2], end[3]), self.y_of(end[0], end[1])
            return _rect(x, y, right - x, bottom - y)
        return None if size is None else _rect(x, y, *size)


def _rect(x: float, y: float, width: float, height: float) -> Rect:
    wide, tall = (min(max(side, 0.0), _MOST_PX) for side in (width, height))
    return Rect(x=x, y=y, width=wide, height=tall)


def _corner(element: Element | None) -> Corner | None:
    if element is None:
        return None
    held = {local(item): (item.text or "").strip() for item in element}
    row, col = held.get("row", ""), held.get("col", "")
    if not (row.isdigit() and col.isdigit() and len(row) < 9 and len(col) < 9):
        return None
    at = min(int(row), MAX_ROW - 1), min(int(col), MAX_COL - 1)
    return at[0], _px(held.get("rowOff")), at[1], _px(held.get("colOff"))


def _size(element: Element | None) -> tuple[float, float] | None:
    return None if element is None else (_px(element.get("cx")), _px(element.get("cy")))


def _px(text: str | None) -> float:
    digits = (text or "").lstrip("-")
    return int(text or 0) / EMU if digits.isdigit() and len(digits) < 14 else 0.0


@dataclass
class Placed:
    """Draws what stands on a sheet."""

    book: Book
    sheet: Sheet
    look: Look
    window: Rect
    missing: list[str]
    frames: list[Frame] = field(default_factory=list)
    _left: int = _CELLS_READ

    def figures(self, places: Places) -> Iterator[Figure]:
        """Yield charts, pictures and boxes in the order in which they are drawn."""
        by_anchor: dict[tuple[str, int], list[Drawn]] = {}
        for drawn in drawn_on(self.book, self.sheet):
            by_anchor.setdefault((drawn.drawing, drawn.at), []).append(drawn)
        counts = {"chart": 0, PICTURE: 0, "shape": 0}
        for name in drawing_parts(self.book, self.sheet):
            for at, outer in enumerate(DrawingPart.of(self.book, name).children):
                anchor = _anchor(outer)
                rect = places.rect(anchor) if anchor is not None else None
                if anchor is None or rect is None or not _meets(rect, self.window):
                    continue
                for item in by_anchor.get((name, at), [])[:1]:
                    counts[item.sort] += 1
                    if counts[item.sort] > _MOST_DRAWN:
                        yield _empty(rect)
                    else:
                        yield from self.drawn(item, anchor, rect)
                if (name, at) not in by_anchor:
                    counts["shape"] += 1
                    if counts["shape"] <= _MOST_DRAWN:
                        yield from self._shape(anchor, rect)
                    else:
                        yield _empty(rect)
        for sort, count in counts.items():
            if count > _MOST_DRAWN:
                drawn_of = f"{_MOST_DRAWN} of {count:,} {sort}s"
                self.missing.insert(0, f"{drawn_of} are drawn, the others are empty frames")

    def drawn(self, drawn: Drawn, anchor: Element, rect: Rect) -> Iterator[Figure]:
        """Yield one chart or picture, and keep where it stands."""
        area = drawn.box.area(None)
        if drawn.box.last is not None and area is not None:
            area = Area(area.row1, area.col1, *drawn.box.last)
        place = Place(sheet=self.sheet.name, range=_range(area))
        self._frame(drawn.sort, place, rect, drawn.words)
        if drawn.sort == PICTURE:
            yield from self._picture(drawn, anchor, rect)
        else:
            yield from self.chart(drawn, rect)

    def _frame(self, kind: str, place: Place, rect: Rect, label: str) -> None:
        self.frames.append(
            Frame(
                kind=kind,
                place=spelled(place),
                x=rect.x,
                y=rect.y,
                width=rect.width,
                height=rect.height,
                label=label,
            )
        )

    def chart(self, drawn: Drawn, rect: Rect) -> tuple[Figure, ...]:
        """Return the figures of the chart whose frame came last; an unreadable one says so."""
        try:
            if drawn.part is None:
                picture = broken_picture(rect, f"{drawn.words}: its contents are missing")
            else:
                root = loosened(self.book.package.read(drawn.part))
                self._refresh(root)
                data = chart_data(root, self.look)
                self.frames[-1] = replace(self.frames[-1], title=data.title or "", shows=data.shows)
                picture = chart_picture(data, rect, self.look.show)
        except (FormatError, etree.LxmlError, ValueError, ArithmeticError, LookupError):
            picture = broken_picture(rect, f"{drawn.words} cannot be read")
        self.missing.extend(picture.missing)
        return picture.figures

    def _refresh(self, root: Element) -> None:
        """Let a chart show what its cells hold now, unless those are too many."""
        ranges = [range_of(self.book, formula) for formula in facts(root).formulas]
        count = sum(one.area.count for one in ranges if one is not None)
        if count <= self._left:
            self._left -= count
            Caches(self.book).refresh(root)

    def _picture(self, drawn: Drawn, anchor: Element, rect: Rect) -> Iterator[Figure]:
        pic = next(anchor.iter("{*}pic"), None)
        data = None
        if drawn.part is not None and pic is not None:
            cut = next(pic.iter("{*}srcRect"), None)
            sides = tuple(_part(cut.get(key)) if cut is not None else 0.0 for key in "ltrb")
            raw = self.book.package.read(drawn.part)
            data = bitmap(raw, rect.width, rect.height, (sides[0], sides[1], sides[2], sides[3]))
        if data is None:
            self.missing.append(f"{drawn.words} is not drawn")
            yield _empty(rect)
            return
        if is_recoloured(next(pic.iter("{*}blip"), None) if pic is not None else None):
            self.missing.append(RECOLOURED)
        shown = Picture(
            x=rect.x,
            y=rect.y,
            width=rect.width,
            height=rect.height,
            data=data,
            alt=drawn.description or drawn.name,
        )
        yield from _turned(pic, rect, (shown,))

    def _shape(self, anchor: Element, rect: Rect) -> Iterator[Figure]:
        """Yield a shape with its text, and keep where it stands."""
        shape = next((one for one in anchor.iter("{*}sp", "{*}cxnSp", "{*}grpSp")), None)
        if shape is None:
            self.missing.append(OBJECTS)
            return
        corner = _corner(child(anchor, "from"))
        where = None if corner is None else cell_name(corner[0] + 1, corner[2] + 1)
        named = next(shape.iter("{*}cNvPr"), None)
        label = (named.get("name") or "") if named is not None else ""
        self._frame("shape", Place(sheet=self.sheet.name, range=where), rect, label)
        yield from shape_figures(shape, rect, self.look, self.missing)


def reaches(
    book: Book, sheet: Sheet
) -> Iterator[tuple[int, int, int | None, int | None, float, float]]:
    """Yield of each anchor its first row and column, its last ones or its size in pixels."""
    for name in drawing_parts(book, sheet):
        for outer in DrawingPart.of(book, name).children:
            anchor = _anchor(outer)
            start = _corner(child(anchor, "from")) if anchor is not None else None
            if start is None or anchor is None:
                continue
            end = _corner(child(anchor, "to"))
            wide, tall = _size(child(anchor, "ext")) or (0.0, 0.0)
            last = (None, None) if end is None else (end[0] + 1, end[2] + 1)
            yield start[0] + 1, start[2] + 1, *last, wide, tall


def whole_page(placed: Placed) -> tuple[list[Figure], Rect]:
    """Return the chart of a chart sheet, as large as a page."""
    rect = Rect(x=0.0, y=0.0, width=_WHOLE_PAGE[0], height=_WHOLE_PAGE[1])
    figures: list[Figure] = []
    for drawn in drawn_on(placed.book, placed.sheet)[:1]:
        placed._frame(drawn.sort, Place(sheet=placed.sheet.name), rect, drawn.words)
        figures += placed.chart(drawn, rect)
    return figures, rect


def _anchor(element: Element) -> Element | None:
    inner = (item for item in element.iter("{*}*") if local(item) in ANCHORS)
    return next(inner, None)


def _meets(rect: Rect, window: Rect) -> bool:
    across = rect.x + _EDGE < window.right and rect.right - _EDGE > window.x
    return across and rect.y + _EDGE < window.bottom and rect.bottom - _EDGE > window.y


def _range(area: Area | None) -> str | None:
    return None if area is None else str(area)


def _empty(rect: Rect) -> Figure:
    return Box(
        x=rect.x, y=rect.y, width=rect.width, height=rect.height, fill="#f7f7f7", stroke=_THIN
    )


def _turned(pic: Element | None, rect: Rect, figures: tuple[Figure, ...]) -> Iterator[Figure]:
    form = next(pic.iter("{*}xfrm"), None) if pic is not None else None
    turn = (form.get("rot") or "0") if form is not None else "0"
    degrees = int(turn) / 60_000 if turn.lstrip("-").isdigit() and len(turn) < 11 else 0.0
    flips = [form is not None and form.get(key) in ("1", "true") for key in ("flipH", "flipV")]
    if not degrees and not any(flips):
        yield from figures
        return
    around = (rect.x + rect.width / 2, rect.y + rect.height / 2)
    yield Group(figures=figures, turn=degrees, around=around, mirror_x=flips[0], mirror_y=flips[1])


def _part(text: str | None) -> float:
    digits = (text or "").lstrip("-")
    return int(text or 0) / 100_000 if digits.isdigit() and len(digits) < 9 else 0.0
