"""Tells which text of a slide is white on a white slide, so that it is labelled (F4.8).

Only what is certain is said: a run that is white by itself, in a shape or a table cell without a
fill, on a white background, with nothing drawn below it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from backshop.formats.errors import FormatError
from backshop.formats.package.guard import Element

from . import names as n
from .deck import Deck, Slide, layout_shape
from .shape import Box, IsUnseen, Shape, own_box, shapes_in, whole
from .theme import Theme

_FILLS = tuple(map(n.a, ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill")))
_WHITE = "FFFFFF"
_BACKGROUND = f"{n.C_SLD}/{n.p('bg')}"
_PLAIN_STYLES = frozenset(  # of tables, known to every program: without fill, without or with lines
    {"{2D5ABB26-0587-4C30-8999-92F81FD0307C}", "{5940675A-B579-460E-94D1-54222C63F5DA}"}
)
_FAR = 1e12  # EMU
_GROUNDS = 2_000  # drawn shapes of a slide; among more, nothing is certain in reasonable time


class Sight:
    """What can be seen on one slide; all but the shape in question is found out once."""

    def __init__(self, deck: Deck, slide: Slide) -> None:
        self._deck = deck
        self._slide = slide
        self._theme = Theme(deck, slide)

    def unseen(self, shape: Shape) -> IsUnseen:
        """Return what tells whether a run of the shape cannot be seen."""
        text = shape.text_body if shape.table is None else shape.table
        fills = f".//{n.RPR}/{_FILLS[0]}"
        pale = text is not None and any(self._colour(f) == _WHITE for f in text.iterfind(fills))
        if not pale or not self._is_white or self._has_ground(shape):
            return lambda _: False
        return self._is_unseen

    def _is_unseen(self, run: Element) -> bool:
        """Whether a run is white and neither its own look nor its cell gives it a ground."""
        look = run.find(n.RPR)
        if look is None or self._colour(look.find(_FILLS[0])) != _WHITE or _stands_out(look):
            return False
        cell = next(run.iterancestors(n.TC), None)
        return cell is None or not _has_fill(cell.find(n.a("tcPr")))

    @cached_property
    def _is_white(self) -> bool:
        for _, root in self._theme.sheets:
            found = root.find(_BACKGROUND)
            if found is None:
                continue
            fill = found.find(f"{n.p('bgPr')}/{_FILLS[0]}")
            if fill is None:
                fill = found.find(n.p("bgRef"))
            return self._colour(fill) == _WHITE
        return False

    def _colour(self, fill: Element | None) -> str | None:
        """Return the colour of a fill as six digits; None where it is changed or not known."""
        colour = next(fill.iterchildren("*"), None) if fill is not None else None
        if colour is None or next(colour.iterchildren("*"), None) is not None:
            return None
        value = colour.get("val") or ""
        if colour.tag == n.a("srgbClr"):
            return value.upper()
        return self._theme.colours.get(value) if colour.tag == n.a("schemeClr") else None

    @cached_property
    def _drawn(self) -> list[tuple[int, Box | None]]:
        """What is drawn, with its place in the order; what layout and master draw comes first."""
        found: list[tuple[int, Box | None]] = []
        for _, root in self._theme.sheets[1:]:
            others = (one for one in shapes_in(root) if one.placeholder is None)
            found += [(-1, own_box(one.element)) for one in others if _is_drawn(one)]
        shapes = filter(_is_drawn, self._slide.shapes)
        return found + [(one.index, self._deck.box(self._slide, one)) for one in shapes]

    def _has_ground(self, shape: Shape) -> bool:
        """Whether the shape is filled, or lies on something that is drawn."""
        placeholder = shape.placeholder
        layout = self._deck.layout_of(self._slide)
        above = layout_shape(layout, placeholder) if placeholder and layout else None
        if _is_filled(shape) or (above is not None and _is_filled(above)):
            return True
        box = self._deck.box(self._slide, shape)
        if box is None or len(self._drawn) > _GROUNDS:
            return True
        if shape.table is not None:
            if shape.groups or self._is_styled(shape.table):
                return True
            box = _grown(box, shape.table)
        below = (other for index, other in self._drawn if index < shape.index)
        return any(other is None or _overlap(box, other) for other in below)

    def _is_styled(self, table: Element) -> bool:
        """Whether a table, or its style, may fill cells."""
        look = table.find(n.a("tblPr"))
        if look is None:
            return False
        if _has_fill(look) or look.find(n.a("tableStyle")) is not None:
            return True
        style = (look.findtext(n.a("tableStyleId")) or "").strip().upper()
        return self._styles.get(style, bool(style) and style not in _PLAIN_STYLES)

    @cached_property
    def _styles(self) -> dict[str, bool]:
        """The table styles the file defines, and whether each fills anything."""
        part = self._deck.trees.first_related(self._deck.part, "tableStyles")
        try:
            root = self._deck.trees.root(part) if part else None
        except FormatError:  # damaged styles must not keep the slide from being read
            root = None
        found: dict[str, bool] = {}
        for style in root.iter(n.a("tblStyle")) if root is not None else ():
            name = (style.get("styleId") or "").upper()
            fills = any(_has_fill(fill) for fill in style.iter(n.a("fill")))
            refers = next(style.iter(n.a("fillRef")), None) is not None
            found[name] = found.get(name, False) or fills or refers
        return found


def _is_drawn(shape: Shape) -> bool:
    return shape.element.tag not in (n.SP, n.CXN_SP) or _is_filled(shape)


def _is_filled(shape: Shape) -> bool:
    look = shape.element.find(n.SP_PR)
    if _has_fill(look):
        return True
    if look is not None and look.find(n.a("noFill")) is not None:
        return False
    reference = shape.element.find(f"{n.p('style')}/{n.a('fillRef')}")
    return reference is not None and reference.get("idx") not in (None, "0")


def _has_fill(look: Element | None) -> bool:
    return look is not None and any(look.find(fill) is not None for fill in _FILLS)


def _stands_out(look: Element) -> bool:
    """Whether a run has a ground, an outline or a shadow of its own."""
    grounds = (f"{n.a(name)}/*" for name in ("highlight", "effectLst", "effectDag"))
    return _has_fill(look.find(n.a("ln"))) or any(look.find(one) is not None for one in grounds)


def _grown(box: Box, table: Element) -> Box:
    """Return the place a table may take: columns count, and rows grow with their text."""
    columns = (whole(column.get("w")) or 0 for column in table.iter(n.a("gridCol")))
    return replace(box, width=max(box.width, sum(columns)), height=_FAR)


def _overlap(one: Box, other: Box) -> bool:
    """Whether two boxes meet; turned ones count with the circle around them."""
    (left, top, right, bottom), (x1, y1, x2, y2) = _around(one), _around(other)
    return left < x2 and x1 < right and top < y2 and y1 < bottom


def _around(box: Box) -> tuple[float, float, float, float]:
    width, height = box.width / 2, box.height / 2
    if box.rotation % 180:
        width = height = (width**2 + height**2) ** 0.5
    x, y = box.left + box.width / 2, box.top + box.height / 2
    return x - width, y - height, x + width, y + height
