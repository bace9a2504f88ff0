"""Fills and lines of shapes as a file gives them: by themselves, or by the theme (F43.32)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from backshop.formats.canvas.bitmap import bitmap, tiled
from backshop.formats.canvas.figure import Box, Figure, Fill, Gradient, Picture, Stroke
from backshop.formats.errors import FormatError
from backshop.formats.package.drawing_color import RECOLOURED, is_recoloured
from backshop.formats.package.guard import Element

from .. import names as n
from ..deck import Deck
from ..shape import whole
from ..theme import Theme
from .colour import BLACK, Colour, colour_in, mixed

EMU = 9525.0  # of a pixel
_PART = 100_000.0
_FILLS = ("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
_DASHES = {
    "dash": (4, 3), "lgDash": (8, 3), "dashDot": (4, 3, 1, 3), "lgDashDot": (8, 3, 1, 3),
    "lgDashDotDot": (8, 3, 1, 3, 1, 3), "dot": (1, 3), "sysDot": (1, 1), "sysDash": (3, 1),
    "sysDashDot": (3, 1, 1, 1), "sysDashDotDot": (3, 1, 1, 1, 1, 1),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """What an area is filled with; nothing, a colour, a gradient or a picture of a part."""

    fill: Fill = None
    alpha: float = 1.0
    picture: Element | None = None
    part: str = ""


NOTHING = Paint()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A stroke, and whether it has an arrow at its first and last end."""

    stroke: Stroke
    has_head: bool = False
    has_tail: bool = False


class Ink:
    """Reads fills and lines in the colours of one slide; collects what is not drawn as it is."""

    def __init__(self, deck: Deck, theme: Theme, pictures_max_bytes: int) -> None:
        self._deck = deck
        self._theme = theme
        self._left = pictures_max_bytes
        self._pictures = self._left_out = 0
        self.scheme = theme.colours
        self.missing: dict[str, None] = {}

    def shares(self) -> Iterator[str]:
        """Say how many pictures are drawn, where some are too large together."""
        if self._left_out:
            there = self._pictures + self._left_out
            yield f"{self._pictures:,} of {there:,} pictures are drawn, the others are empty frames"

    def note(self, words: str) -> None:
        """Say what is not drawn as the file has it."""
        self.missing[words] = None

    def colour(self, holder: Element | None, stands_for: Colour | None = None) -> Colour | None:
        """Return the colour an element holds."""
        return colour_in(holder, self.scheme, stands_for)

    # --- areas ---------------------------------------------------------------------------------

    def fill(
        self,
        look: Element | None,
        part: str,
        stands_for: Colour | None = None,
        groups: tuple[Element, ...] = (),
    ) -> Paint | None:
        """Return what the properties of a shape say about its fill; None where they do not."""
        found = next(
            (c for name in _FILLS if look is not None and (c := look.find(n.a(name))) is not None),
            None,
        )
        if found is not None and found.tag == n.a("grpFill"):
            for at in range(len(groups) - 1, -1, -1):
                own = self.fill(groups[at].find(n.GRP_SP_PR), part, None, groups[:at])
                if own is not None:
                    return own
            return NOTHING
        if found is None or (found.tag == n.a("gradFill") and found.find(n.a("gsLst")) is None):
            return None  # a gradient without colours has those of the theme
        return self.filled(found, part, stands_for)

    def filled(self, fill: Element, part: str, stands_for: Colour | None = None) -> Paint:
        """Return what one element of a fill means."""
        match str(fill.tag).rpartition("}")[2]:
            case "solidFill":
                colour = self.colour(fill, stands_for)
                return Paint(fill=colour.code, alpha=colour.alpha) if colour else NOTHING
            case "gradFill":
                return self._gradient(fill, stands_for)
            case "blipFill":
                return Paint(picture=fill, part=part)
            case "pattFill":
                front = self.colour(fill.find(n.a("fgClr")), stands_for) or BLACK
                back = self.colour(fill.find(n.a("bgClr")), stands_for) or Colour("#ffffff")
                self.note("a pattern is drawn as one colour")
                return Paint(fill=mixed(back, front, 0.4).code)
        return NOTHING

    def reference(self, reference: Element | None, *, is_ground: bool = False) -> Paint | None:
        """Return a fill of the theme that a shape or a background refers to."""
        number = whole(reference.get("idx")) or 0 if reference is not None else 0
        if reference is None or (number <= 0 and not is_ground):
            return None
        own = self.colour(reference)
        names = ("bgFillStyleLst", 1000) if number > 1000 else ("fillStyleLst", 0)
        fill = self._theme.stock(names[0], number - names[1])
        if fill is None:
            return Paint(fill=own.code, alpha=own.alpha) if own else None
        return self.filled(fill, self._theme.part or "", own)

    def _gradient(self, fill: Element, stands_for: Colour | None) -> Paint:
        stops: list[tuple[float, str]] = []
        alphas = []
        for stop in fill.iterfind(f"{n.a('gsLst')}/{n.a('gs')}"):
            colour = self.colour(stop, stands_for)
            if colour is not None:
                place = (whole(stop.get("pos")) or 0) / _PART
                stops.append((min(max(place, 0.0), 1.0), colour.code))
                alphas.append(colour.alpha)
        if not stops:
            return NOTHING
        alpha = sum(alphas) / len(alphas)
        if len(stops) == 1:
            return Paint(fill=stops[0][1], alpha=alpha)
        line = fill.find(n.a("lin"))
        if line is None and fill.find(n.a("path")) is not None:
            self.note("a gradient from the middle is drawn from top to bottom")
        angle = (whole(line.get("ang")) or 0) / 60_000 if line is not None else 90.0
        return Paint(fill=Gradient(stops=tuple(sorted(stops)), angle=angle), alpha=alpha)

    # --- lines ---------------------------------------------------------------------------------

    def line(
        self, lines: Iterable[Element | None], reference: Element | None = None
    ) -> Line | None:
        """Return the line of a shape: what it says itself, what it inherits, what the theme has."""
        given = [line for line in lines if line is not None]
        own: Colour | None = None
        number = whole(reference.get("idx")) or 0 if reference is not None else 0
        if reference is not None and number:
            own = self.colour(reference)
            stock = self._theme.stock("lnStyleLst", number)
            given += [stock] if stock is not None else []
        paint = next(
            (p for line in given if (p := self.fill(line, "", own)) is not None),
            Paint(fill=own.code, alpha=own.alpha) if own else None,
        )
        if paint is None or paint.fill is None or paint.alpha == 0:
            return None
        code = paint.fill if isinstance(paint.fill, str) else paint.fill.stops[0][1]
        if paint.alpha < 1:
            code = mixed(Colour("#ffffff"), Colour(code), paint.alpha).code
        width = next((w for line in given if (w := whole(line.get("w"))) is not None), 9525) / EMU
        width = min(max(width, 0.25), 400.0)
        dash = next(
            (d.get("val") or "" for g in given if (d := g.find(n.a("prstDash"))) is not None), ""
        )
        lengths = tuple(part * max(width, 1.0) for part in _DASHES.get(dash, ()))
        return Line(
            stroke=Stroke(color=code, width=width, dash=lengths),
            has_head=_has_arrow(given, "headEnd"),
            has_tail=_has_arrow(given, "tailEnd"),
        )

    # --- pictures ------------------------------------------------------------------------------

    def picture(
        self, fill: Element, part: str, frame: tuple[float, float, float, float], alt: str = ""
    ) -> list[Figure]:
        """Return a picture in a frame of x, y, width, height; an empty frame where it is none."""
        x, y, width, height = frame
        blip = next(fill.iter(n.BLIP), None)
        data = self._bytes(part, blip) if blip is not None else None
        x, y, width, height, crop = _placed(fill, x, y, width, height)
        if width <= 0 or height <= 0:
            return []
        made = None
        if data and (tile := fill.find(n.a("tile"))) is not None:
            share = (_tile_share(tile, name) for name in ("sx", "sy"))
            made = tiled(data, min(width, 2_000), min(height, 2_000), next(share), next(share))
        elif data:
            made = bitmap(data, min(width, 2_000), min(height, 2_000), crop)
        if made is not None and len(made) > self._left:
            self._left_out += 1
            made = None
        elif made is None:
            self.note("a picture that cannot be drawn" + (f": {alt[:80]}" if alt else ""))
        if made is None:
            return [_empty(*frame)]
        if is_recoloured(blip):
            self.note(RECOLOURED)
        self._left -= len(made)
        self._pictures += 1
        faint = next(blip.iter(n.a("alphaModFix")), None) if blip is not None else None
        amount = whole(faint.get("amt")) if faint is not None else None
        opacity = 1.0 if amount is None else min(max(amount / _PART, 0.0), 1.0)
        return [Picture(x=x, y=y, width=width, height=height, data=made, alt=alt, opacity=opacity)]

    def _bytes(self, part: str, blip: Element) -> bytes | None:
        relation = blip.get(n.R_EMBED)
        try:
            found = self._deck.package.rel_part(part, relation) if relation else None
            return self._deck.package.read(found) if found else None
        except FormatError:
            return None  # a broken picture is a frame, and said to be


def _placed(
    fill: Element, x: float, y: float, width: float, height: float
) -> tuple[float, float, float, float, tuple[float, float, float, float]]:
    """Return where a picture stands and what is cut off; negative cuts leave an edge free."""
    cut = _sides(fill.find(n.a("srcRect")))
    free = _sides(fill.find(f"{n.a('stretch')}/{n.a('fillRect')}"))
    crop = [max(side, 0.0) for side in cut]
    free = [f + max(-c, 0.0) for f, c in zip(free, cut, strict=True)]
    for a, b in ((0, 2), (1, 3)):  # a picture larger than its shape is cut at the edges
        size = 1 - free[a] - free[b]
        for side in (a, b):
            if free[side] < 0 and size > 0:
                crop[side] += -free[side] / size * (1 - crop[a] - crop[b])
                free[side] = 0.0
    left, top, right, bottom = free
    placed = (
        x + left * width,
        y + top * height,
        width * (1 - left - right),
        height * (1 - top - bottom),
    )
    return (*placed, (crop[0], crop[1], crop[2], crop[3]))


def _tile_share(tile: Element, name: str) -> float:
    value = whole(tile.get(name))
    return 1.0 if value is None else min(max(value / _PART, 0.01), 10.0)


def _sides(element: Element | None) -> list[float]:
    if element is None:
        return [0.0] * 4
    return [(whole(element.get(side)) or 0) / _PART for side in ("l", "t", "r", "b")]


def _empty(x: float, y: float, width: float, height: float) -> Box:
    pen = Stroke(color="#9aa0a6", width=1, dash=(4.0, 3.0))
    return Box(x=x, y=y, width=width, height=height, fill="#f1f3f4", stroke=pen)


def _has_arrow(lines: list[Element], name: str) -> bool:
    ends = (line.find(n.a(name)) for line in lines)
    found = next((end for end in ends if end is not None), None)
    return found is not None and found.get("type", "none") != "none"
