"""A slide as a canvas: its ground, what master and layout show, its shapes in order (F43.30)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace

from backshop.base import limits
from backshop.base.place import Place
from backshop.formats.canvas.figure import Box as Rectangle
from backshop.formats.canvas.figure import Canvas, Figure, Frame
from backshop.formats.canvas.raster import png
from backshop.formats.canvas.svg import svg
from backshop.formats.canvas.viewed import require_page, shown
from backshop.formats.place import spelled
from backshop.formats.protocol import Json, JsonObject, Source

from .. import names as n
from ..deck import DEFAULT_SIZE, Deck, Slide
from ..shape import Box, Shape, body_text, in_groups, own_box, shapes_in
from ..theme import Sheet, Theme
from .diagram import diagram_shapes
from .ink import EMU, NOTHING, Ink
from .shape_painter import ShapePainter

_LONGEST = 10_000.0  # pixels of a side
_HIDDEN = frozenset({"0", "false"})
_KINDS = {"picture": "picture", "table": "table", "chart": "chart"}


def draw_slide(source: Source, slide_index: int) -> dict[str, Json]:
    """Return a slide drawn as SVG, with the frames of its shapes (F43.30)."""
    deck = Deck.open(source)
    canvas = painted(deck, deck.slide(slide_index))
    return {
        "slide_index": slide_index,
        "slide_count": len(deck.slides),
        "width": canvas.width,
        "height": canvas.height,
        "label": canvas.label,
        "svg": svg(canvas),
        "frames": [asdict(frame) for frame in canvas.frames],
        "missing": list(canvas.missing),
    }


def draw_slide_png(source: Source, slide_index: int, scale: float) -> tuple[bytes, int, bool]:
    """Return a slide drawn as PNG, how many there are, and whether it had to be made smaller."""
    deck = Deck.open(source)
    canvas = painted(deck, deck.slide(slide_index))
    longest = max(canvas.width, canvas.height)
    fitting = min(scale, limits.PREVIEW_MAX_SIDE_PX / longest)
    return png(canvas, fitting), len(deck.slides), fitting < scale


def view_page(source: Source, page: int) -> tuple[bytes, JsonObject]:
    """Return a slide as a picture for who takes pictures, counted from 1 (F43.71)."""
    deck = Deck.open(source)
    total = len(deck.slides)
    require_page(page, total, "slide")
    image, facts = shown(painted(deck, deck.slide(page - 1)))
    about: JsonObject = {"shown": f"slide {page} of {total}", "page": page, "page_count": total}
    told = facts["places"]
    assert isinstance(told, list)
    places = [{**one, "shape": _shape(one)} for one in told if isinstance(one, dict)]
    return image, {**about, "slide_index": page - 1, **facts, "places": places}


def _shape(place: Mapping[str, Json]) -> int:
    """Return the field `shape` of a place whose words count from 1 (F44.2)."""
    return int(str(place["place"]).rpartition(" ")[2]) - 1


def painted(deck: Deck, slide: Slide) -> Canvas:
    """Return a slide as figures and frames."""
    return _SlidePainter(deck, slide).canvas()


class _SlidePainter:
    def __init__(self, deck: Deck, slide: Slide) -> None:
        self._deck, self._slide = deck, slide
        self._theme = Theme(deck, slide)
        self._ink = Ink(deck, self._theme, limits.DRAWN_PICTURES_MAX_BYTES)
        self._painter = ShapePainter(deck, slide, self._theme, self._ink)
        self._drawn = 0

    def canvas(self) -> Canvas:
        width, height = self._size()
        figures = self._ground(width, height)
        for sheet in self._shown_sheets():
            for shape in shapes_in(sheet.root):
                if shape.placeholder is None:
                    figures += self._shape(shape, sheet.part, own_box_in_groups(shape))[0]
        frames: list[Frame] = []
        for shape in self._slide.shapes:
            made, frame = self._shape(
                shape, self._slide.part, self._deck.box(self._slide, shape), is_own=True
            )
            figures += made
            frames += [frame] if frame is not None else []
        return Canvas(
            width=width,
            height=height,
            figures=tuple(figures),
            frames=tuple(frames),
            missing=(*self._shares(), *self._ink.missing),
            label=f"Slide {self._slide.index + 1}"
            + (f": {self._slide.title[:200]}" if self._slide.title else ""),
        )

    def _shares(self) -> Iterable[str]:
        """Say how much of the slide is drawn, where that is not all (F43.76)."""
        shown = min(self._drawn, limits.DRAWN_SHAPES_MAX)
        if shown < self._drawn:
            yield f"{shown:,} of {self._drawn:,} shapes are drawn"
        yield from self._painter.shares()
        yield from self._ink.shares()

    def _size(self) -> tuple[float, float]:
        width, height = (side / EMU for side in self._deck.size)
        if not (1 <= width <= _LONGEST and 1 <= height <= _LONGEST):
            width, height = (side / EMU for side in DEFAULT_SIZE)
            self._ink.note("the size of the slides is none: drawn as 4:3")
        return round(width, 2), round(height, 2)

    def _shown_sheets(self) -> Iterable[Sheet]:
        """Return master and layout, as far as the slide shows their shapes."""
        above = self._theme.sheets[1:]
        if self._slide.root.get("showMasterSp") in _HIDDEN:
            return []
        if len(above) == 2 and above[0].root.get("showMasterSp") in _HIDDEN:
            above = above[:1]
        return reversed(above)

    def _ground(self, width: float, height: float) -> list[Figure]:
        for part, root in self._theme.sheets:
            found = root.find(f"{n.C_SLD}/{n.p('bg')}")
            if found is None:
                continue
            paint = self._ink.fill(found.find(n.p("bgPr")), part)
            paint = paint or self._ink.reference(found.find(n.p("bgRef")), is_ground=True)
            paint = paint or NOTHING
            spot = (0.0, 0.0, width, height)
            if paint.picture is not None:
                return self._ink.picture(paint.picture, paint.part, spot)
            if paint.fill is None:
                return []
            whole_page = Rectangle(x=0, y=0, width=width, height=height, fill=paint.fill)
            return [replace(whole_page, opacity=paint.alpha)]
        return []

    def _shape(
        self, shape: Shape, part: str, box: Box | None, *, is_own: bool = False
    ) -> tuple[list[Figure], Frame | None]:
        if shape.is_hidden:
            return [], None
        if box is None:
            if body_text(shape.text_body).strip():
                self._ink.note("a shape without a place is not drawn")
            return [], None
        box = _sane(box)
        frame = self._frame(shape, box) if is_own else None
        self._drawn += 1
        if self._drawn > limits.DRAWN_SHAPES_MAX:
            return [], frame
        figures, size = self._painter.figures(shape, part, box)
        if size is not None and frame is not None:  # a table that grew
            frame = replace(frame, width=size[0], height=size[1])
        inner = self._diagram(shape, box) if shape.kind == "diagram" else []
        return [*figures, *inner], frame

    def _diagram(self, shape: Shape, box: Box) -> list[Figure]:
        """Return a diagram as the drawing that programs keep of it, else its words in a frame."""
        found = diagram_shapes(self._deck, self._slide, shape)
        if found is None:
            self._ink.note("a diagram without its drawing: its words in a frame")
            return self._painter.said(self._deck.drawn_lines(self._slide, shape), box)
        part, shapes = found
        made: list[Figure] = []
        for one in shapes:
            own = own_box_in_groups(one)
            if own is not None:
                placed = replace(own, left=own.left + box.left, top=own.top + box.top)
                made += self._shape(one, part, placed)[0]
        return made

    def _frame(self, shape: Shape, box: Box) -> Frame:
        x, y, width, height = _around(box)
        return Frame(
            kind=_KINDS.get(shape.kind, "shape"),
            place=spelled(Place(slide_index=self._slide.index, shape=shape.index)),
            x=round(x, 2),
            y=round(y, 2),
            width=round(width, 2),
            height=round(height, 2),
            label=shape.name[:200],
        )


def own_box_in_groups(shape: Shape) -> Box | None:
    """Return where a shape of a layout, master or diagram stands."""
    box = own_box(shape.element)
    return in_groups(box, shape.groups) if box is not None else None


def _sane(box: Box) -> Box:
    """Return a box with sizes that can be drawn."""
    most = _LONGEST * EMU
    return replace(
        box,
        left=min(max(box.left, -most), most),
        top=min(max(box.top, -most), most),
        width=min(max(box.width, 0.0), most),
        height=min(max(box.height, 0.0), most),
    )


def _around(box: Box) -> tuple[float, float, float, float]:
    """Return the rectangle around a box that may be turned, in pixels."""
    angle = math.radians(box.rotation)
    cos, sin = abs(math.cos(angle)), abs(math.sin(angle))
    width, height = box.width * cos + box.height * sin, box.width * sin + box.height * cos
    x, y = box.left + box.width / 2 - width / 2, box.top + box.height / 2 - height / 2
    return x / EMU, y / EMU, width / EMU, height / EMU
