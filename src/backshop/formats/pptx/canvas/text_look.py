"""What a paragraph and a run look like, with all they inherit (F43.33)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from backshop.formats.canvas.face import face
from backshop.formats.canvas.text_block import Run
from backshop.formats.package.guard import Element

from .. import names as n
from ..level_style import at_level
from ..shape import level_of, whole
from .colour import BLACK, Colour
from .ink import EMU, Ink

PIXELS_PER_POINT = 96 / 72
_USUAL_PT = 18.0
_LARGEST_PT = 4000.0
_TRUE = frozenset({"1", "true"})


@dataclass(frozen=True, kw_only=True)
class TextLook:
    """From what a text inherits: lists of styles, properties of the body, a colour of its shape."""

    lists: list[Element]
    bodies: list[Element] = field(default_factory=list)  # nearest first
    colour: Colour | None = None  # below the shape's own styles, above the presentation's
    own_lists: int = 0  # how many of the lists stand before that colour
    is_bold: bool | None = None
    fonts: dict[str, str] = field(default_factory=dict)
    scale: float = 1.0  # of sizes, when text is made to fit
    tighter: float = 0.0  # taken off line spacing

    def body(self, name: str) -> str | None:
        """Return an attribute of the text body."""
        found = (body.get(name) for body in self.bodies)
        return next((value for value in found if value is not None), None)


@dataclass(frozen=True, kw_only=True)
class ParagraphLook:
    """What a paragraph looks like, in pixels."""

    align: str
    is_rtl: bool
    left: float
    indent: float
    level: int
    line_part: float | None
    line_px: float | None
    before: tuple[float, bool]  # pixels, or a part of the size
    after: tuple[float, bool]
    bullet: Element | None
    styles: list[Element]  # nearest first


def paragraph_look(paragraph: Element, look: TextLook) -> ParagraphLook:
    """Return the look of a paragraph."""
    own = paragraph.find(n.PPR)
    level = level_of(paragraph)
    styles = [*([own] if own is not None else []), *at_level(look.lists, level)]

    def said(name: str) -> str | None:
        return next((value for one in styles if (value := one.get(name)) is not None), None)

    line = _first(styles, "lnSpc")
    part, fixed = _spacing(line) if line is not None else (1.0, None)
    return ParagraphLook(
        align=said("algn") or "l",
        is_rtl=said("rtl") in _TRUE,
        left=_pixels(said("marL")),
        indent=_pixels(said("indent")),
        level=level,
        line_part=None if part is None else max(part - look.tighter, 0.1),
        line_px=fixed,
        before=_gap(_first(styles, "spcBef")),
        after=_gap(_first(styles, "spcAft")),
        bullet=_first(styles, "buNone", "buChar", "buAutoNum", "buBlip"),
        styles=styles,
    )


def bullet_part(look: ParagraphLook, *names: str) -> Element | None:
    """Return what is said about a bullet: its colour, font or size."""
    return _first(look.styles, *names)


def run_of(
    text: str, properties: Element | None, look: TextLook, styles: list[Element], ink: Ink
) -> Run:
    """Return a piece of text in the look it has."""
    inherited = [s for one in styles if (s := one.find(n.a("defRPr"))) is not None]
    found = [*([properties] if properties is not None else []), *inherited]

    def said(name: str) -> str | None:
        return next((value for one in found if (value := one.get(name)) is not None), None)

    points = (whole(said("sz")) or _USUAL_PT * 100) / 100 * look.scale
    size = min(max(points, 1.0), _LARGEST_PT) * PIXELS_PER_POINT
    link = properties.find(n.a("hlinkClick")) if properties is not None else None
    own_bold = properties.get("b") if properties is not None else None
    bold = said("b") if look.is_bold is None else own_bold
    is_bold = bold in _TRUE if bold is not None else bool(look.is_bold)
    cut = face(_font(found, look), bold=is_bold, italic=said("i") in _TRUE)
    caps, shift = said("cap"), (whole(said("baseline")) or 0) / 100_000
    if caps in ("all", "small"):
        text = text.upper()
        size *= 0.8 if caps == "small" else 1.0
    marker = _first(found, "highlight")
    marked = ink.colour(marker)
    return Run(
        text=text,
        face=cut,
        size=size * (0.66 if shift else 1.0),
        color=_colour(found, properties, look, ink, link is not None).code,
        underline=said("u") not in (None, "none") or link is not None,
        strike=said("strike") not in (None, "noStrike"),
        rise=shift * size,
        highlight=marked.code if marked else None,
    )


def _font(found: Iterable[Element], look: TextLook) -> str | None:
    for one in found:
        latin = one.find(n.a("latin"))
        name = latin.get("typeface") if latin is not None else None
        if name:
            return look.fonts.get(name, name).lstrip("+")
    return look.fonts.get("+mn-lt")


def _colour(
    found: list[Element], own: Element | None, look: TextLook, ink: Ink, is_link: bool
) -> Colour:
    if is_link:
        return Colour(f"#{(ink.scheme.get('hlink') or '0563C1').lower()}")
    for one in found:
        if look.colour is not None and one is not own and not _is_near(one, look):
            return look.colour
        colour = ink.colour(one.find(n.a("solidFill")))
        gradient = one.find(f"{n.a('gradFill')}/{n.a('gsLst')}/{n.a('gs')}")
        colour = colour or ink.colour(gradient)
        if colour is not None:
            return colour
    text = ink.scheme.get("tx1")
    return look.colour or (Colour(f"#{text.lower()}") if text else BLACK)


def _is_near(style: Element, look: TextLook) -> bool:
    """Whether a style stands in the shape's own list."""
    level = style.getparent()
    holder = level.getparent() if level is not None else None
    return any(holder is one for one in look.lists[: look.own_lists])


def _first(styles: Iterable[Element], *names: str) -> Element | None:
    tags = {n.a(name) for name in names}
    for one in styles:
        found = next((child for child in one.iterchildren("*") if child.tag in tags), None)
        if found is not None:
            return found
    return None


def _spacing(element: Element) -> tuple[float | None, float | None]:
    """Return a line spacing: a part of the usual one, or pixels."""
    part, points = element.find(n.a("spcPct")), element.find(n.a("spcPts"))
    if points is not None:
        return None, min((whole(points.get("val")) or 0) / 100, 1584.0) * PIXELS_PER_POINT
    value = (part.get("val") or "") if part is not None else ""
    number = whole(value.rstrip("%"))
    if number is None:
        return 1.0, None
    return min(number / (100 if "%" in value else 100_000), 20.0), None


def _gap(element: Element | None) -> tuple[float, bool]:
    if element is None:
        return 0.0, False
    part, pixels = _spacing(element)
    return (pixels, False) if pixels is not None else (part or 0.0, True)


def _pixels(value: str | None) -> float:
    return min(max((whole(value) or 0) / EMU, -5_000.0), 5_000.0)
