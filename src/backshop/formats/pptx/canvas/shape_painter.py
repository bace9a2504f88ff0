"""One shape as figures: what it inherits from layout and master filled in (F43.31)."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.base import limits
from backshop.formats.canvas.figure import Figure, Group
from backshop.formats.package.guard import Element

from .. import names as n
from ..deck import Deck, Slide
from ..level_style import list_styles, shapes_above
from ..shape import Box, Shape, whole
from ..theme import Theme
from .chart import Spot, chart_figures, said_in_frame
from .form import Form
from .ink import EMU, NOTHING, Ink, Paint
from .table import TablePainter
from .text_body import TEXT_LETTERS_MAX, in_box
from .text_look import TextLook

_BLIP_FILL = n.p("blipFill")
_TX_XFRM = n.p("txXfrm")
_LEAST_SIDE = 960.0  # of a slide whose size is none


class ShapePainter:
    """Draws shapes of a slide, and of its layout and master."""

    def __init__(self, deck: Deck, slide: Slide, theme: Theme, ink: Ink) -> None:
        self._deck, self._slide, self._theme, self._ink = deck, slide, theme, ink
        first = whole(deck.root.get("firstSlideNum"))
        self._number = slide.index + (1 if first is None else first)
        self._letters = limits.DRAWN_LETTERS_MAX
        self._letters_set = self._letters_there = 0

    def figures(
        self, shape: Shape, part: str, box: Box
    ) -> tuple[list[Figure], tuple[float, float] | None]:
        """Return a shape drawn in its box, and its size where that is another."""
        spot = (box.left / EMU, box.top / EMU, box.width / EMU, box.height / EMU)
        match shape.kind:
            case "table":
                return self._table(shape, part, spot)
            case "chart":
                made = chart_figures(self._deck, self._slide, shape, spot, self._theme, self._ink)
                return made, None
            case "diagram":
                return [], None
            case "picture":
                return self._picture(shape.element, shape, part, box, spot), None
            case "object" | "graphic":
                inner = next(shape.element.iter(n.PIC), None)
                if inner is not None:
                    return self._picture(inner, shape, part, box, spot), None
                self._ink.note("an object without a picture of it is a frame")
                return said_in_frame(spot, [shape.name]), None
            case "ink":
                self._ink.note("lines drawn by hand are not drawn")
                return [], None
        return self._form(shape, part, box, spot), None

    def said(self, texts: list[str], box: Box) -> list[Figure]:
        """Return words in a frame at a box."""
        spot = (box.left / EMU, box.top / EMU, box.width / EMU, box.height / EMU)
        return said_in_frame(spot, texts)

    def shares(self) -> Iterator[str]:
        """Say how much text is drawn, where that is not all."""
        if self._letters_set < self._letters_there:
            yield f"{self._letters_set:,} of {self._letters_there:,} letters are drawn"

    # --- kinds ---------------------------------------------------------------------------------

    def _form(self, shape: Shape, part: str, box: Box, spot: Spot) -> list[Figure]:
        above = self._above(shape)
        looks = [look for one in (shape, *above) if (look := one.element.find(n.SP_PR)) is not None]
        style = shape.element.find(n.p("style"))
        usual = "line" if shape.element.tag == n.CXN_SP else "rect"
        form = Form(looks, usual, spot, self._ink)
        paint = self._paint(shape, looks, part, style)
        reference = style.find(n.a("lnRef")) if style is not None else None
        line = self._ink.line((look.find(n.a("ln")) for look in looks), reference)
        self._note_effects(looks)
        turned = _turned(form.figures(paint, line, shape.alt_text), box)
        return [*turned, *self._text(shape, above, style, box, form)]

    def _picture(
        self, element: Element, shape: Shape, part: str, box: Box, spot: Spot
    ) -> list[Figure]:
        look = element.find(n.SP_PR)
        fill = element.find(_BLIP_FILL)
        looks = [look] if look is not None else []
        form = Form(looks, "rect", spot, self._ink)
        paint = Paint(picture=fill, part=part) if fill is not None else NOTHING
        ground = self._ink.fill(look, part)
        line = self._ink.line([look.find(n.a("ln"))]) if look is not None else None
        under = form.figures(ground, None) if ground is not None else []
        figures = [*under, *form.figures(paint, line, shape.alt_text)]
        return _turned(figures, box)

    def _table(
        self, shape: Shape, part: str, spot: Spot
    ) -> tuple[list[Figure], tuple[float, float]]:
        table = shape.table
        if table is None:
            return [], (spot[2], spot[3])
        default = self._deck.root.find(n.p("defaultTextStyle"))
        look = TextLook(lists=[default] if default is not None else [], fonts=self._theme.fonts)
        painter = TablePainter(self._deck, self._ink, table, part, look, self._number)
        sides = tuple(max(side / EMU, _LEAST_SIDE) for side in self._deck.size)
        figures, width, height = painter.figures(spot[0], spot[1], (sides[0], sides[1]))
        return figures, (width, height)

    # --- what a shape has ------------------------------------------------------------------------

    def _above(self, shape: Shape) -> list[Shape]:
        placeholder = shape.placeholder
        layout = self._deck.layout_of(self._slide)
        if placeholder is None or layout is None:
            return []
        return list(shapes_above(self._deck, layout, placeholder))

    def _paint(self, shape: Shape, looks: list[Element], part: str, style: Element | None) -> Paint:
        for look in looks:
            found = self._ink.fill(look, part, None, shape.groups)
            if found is not None:
                return found
        reference = style.find(n.a("fillRef")) if style is not None else None
        return self._ink.reference(reference) or NOTHING

    def _note_effects(self, looks: list[Element]) -> None:
        for name in ("effectLst", "effectDag", "scene3d", "sp3d"):
            if any(look.find(f"{n.a(name)}/*") is not None for look in looks[:1]):
                self._ink.note("shadows, glows and depth are not drawn")

    def _text(
        self, shape: Shape, above: list[Shape], style: Element | None, box: Box, form: Form
    ) -> list[Figure]:
        body = shape.text_body
        if body is None:
            return []
        letters = min(sum(len(text.text or "") for text in body.iter(n.T)), TEXT_LETTERS_MAX)
        self._letters -= letters
        self._letters_there += letters
        has_text = letters or next(body.iter(n.FLD), None) is not None
        if self._letters < 0:
            return []
        self._letters_set += letters
        if not has_text and not _has_other(body):
            return []
        look = self._look(shape, above, style, body)
        spot = self._text_spot(shape, form, box)
        figures = in_box(body, look, self._ink, self._number, spot)
        own = (whole(look.body("rot")) or 0) / 60_000
        turn = box.rotation + own + (180.0 if box.flip_v else 0.0)
        middle = (spot[0] + spot[2] / 2, spot[1] + spot[3] / 2)
        if box.rotation or box.flip_v:  # a box that is turned takes its text along
            middle = ((box.left + box.width / 2) / EMU, (box.top + box.height / 2) / EMU)
        if not figures or not turn % 360:
            return figures
        return [Group(figures=tuple(figures), turn=turn, around=middle)]

    def _text_spot(self, shape: Shape, form: Form, box: Box) -> Spot:
        """Return where a text stands; shapes of a diagram say so themselves."""
        frame = shape.element.find(_TX_XFRM)
        off = frame.find(n.OFF) if frame is not None else None
        ext = frame.find(n.EXT) if frame is not None else None
        own = shape.element.find(f"{n.SP_PR}/{n.XFRM}/{n.OFF}")
        if off is None or ext is None or own is None or box.rotation:
            return form.text_spot()
        x, y = (
            form.spot[at] + ((whole(off.get(name)) or 0) - (whole(own.get(name)) or 0)) / EMU
            for at, name in enumerate("xy")
        )
        return x, y, (whole(ext.get("cx")) or 0) / EMU, (whole(ext.get("cy")) or 0) / EMU

    def _look(
        self, shape: Shape, above: list[Shape], style: Element | None, body: Element
    ) -> TextLook:
        bodies = [
            found
            for one in (body, *(s.text_body for s in above))
            if one is not None and (found := one.find(n.BODY_PR)) is not None
        ]
        reference = style.find(n.a("fontRef")) if style is not None else None
        fit = next(_fits(bodies), None)
        is_fit = fit is not None and fit.tag == n.a("normAutofit")
        scale = _share(fit, "fontScale", 1.0) if is_fit else 1.0
        return TextLook(
            lists=list_styles(self._deck, self._slide, shape),
            bodies=bodies,
            colour=self._ink.colour(reference),
            own_lists=1 if body.find(n.LST_STYLE) is not None else 0,
            fonts=self._theme.fonts,
            scale=min(max(scale, 0.1), 1.0),
            tighter=min(_share(fit, "lnSpcReduction", 0.0), 0.8) if is_fit else 0.0,
        )


def _fits(bodies: list[Element]) -> Iterator[Element]:
    for body in bodies:
        yield from body.iterchildren(n.a("normAutofit"), n.a("noAutofit"), n.a("spAutoFit"))


def _share(element: Element | None, name: str, usual: float) -> float:
    value = element.get(name) if element is not None else None
    number = whole((value or "").rstrip("%"))
    if number is None:
        return usual
    return number / (100 if "%" in (value or "") else 100_000)


def _has_other(body: Element) -> bool:
    """Whether a text holds an equation or the like."""
    known = {n.R_T, n.BR, n.FLD, n.PPR, n.END_RPR}
    return any(
        child.tag not in known for p in body.iterchildren(n.P_T) for child in p.iterchildren("*")
    )


def _turned(figures: list[Figure], box: Box) -> list[Figure]:
    if not figures or not (box.rotation % 360 or box.flip_h or box.flip_v):
        return figures
    middle = ((box.left + box.width / 2) / EMU, (box.top + box.height / 2) / EMU)
    return [
        Group(
            figures=tuple(figures),
            turn=box.rotation,
            around=middle,
            mirror_x=box.flip_h,
            mirror_y=box.flip_v,
        )
    ]
