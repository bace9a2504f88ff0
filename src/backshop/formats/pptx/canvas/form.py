"""A shape's outline with its fill and line, turned and mirrored as the file says (F43.31)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from backshop.formats.canvas.figure import Box as Rectangle
from backshop.formats.canvas.figure import Figure, Group, Path
from backshop.formats.package.guard import Element

from .. import names as n
from ..shape import whole
from .custom import custom
from .ink import Ink, Line, Paint
from .outline import Outline, Step, moved
from .preset import inside, preset

Spot = tuple[float, float, float, float]  # x, y, width, height
_ORDER = re.compile(r"[0-9]+")
_PART = 100_000.0


class Form:
    """The outline of a shape in a box."""

    def __init__(self, looks: Sequence[Element], usual: str, spot: Spot, ink: Ink) -> None:
        self.spot = spot
        self._ink = ink
        tags = (n.a("prstGeom"), n.a("custGeom"))
        found = next((c for look in looks for c in look.iterchildren(*tags)), None)
        self.name = usual
        self._adjust: list[float | None] = []
        self._custom = found if found is not None and found.tag == tags[1] else None
        if found is not None and self._custom is None:
            self.name = found.get("prst") or usual
            self._adjust = _adjustments(found)

    def text_spot(self) -> Spot:
        """Return where the text of the shape stands."""
        x, y, width, height = self.spot
        if self._custom is not None:
            return self.spot
        left, top, right, bottom = inside(self.name, width, height, self._adjust)
        return x + left, y + top, width - left - right, height - top - bottom

    def figures(self, paint: Paint, line: Line | None, alt: str = "") -> list[Figure]:
        """Return the shape as it is filled and drawn around."""
        if paint.fill is None and paint.picture is None and line is None:
            return []
        x, y, width, height = self.spot
        outlines = [moved(one, x, y) for one in self._outlines(width, height)]
        made: list[Figure] = []
        if paint.picture is not None:
            picture = self._ink.picture(paint.picture, paint.part, self.spot, alt)
            is_plain = self._custom is None and self.name in ("rect", "textBox", "flowChartProcess")
            cut = tuple(step for one in outlines if one.is_filled for step in one.steps)
            if picture and cut and not is_plain:
                picture = [Group(figures=tuple(picture), outline=cut)]
            made += picture
        stroke = line.stroke if line is not None else None
        for one in outlines:
            fill = paint.fill if one.is_filled else None
            around = stroke if one.is_stroked else None
            if fill is None and around is None:
                continue
            if self.name == "rect" and self._custom is None:
                made.append(
                    Rectangle(
                        x=x,
                        y=y,
                        width=width,
                        height=height,
                        fill=fill,
                        stroke=around,
                        opacity=paint.alpha,
                    )
                )
            else:
                opacity = paint.alpha if fill is not None else 1.0
                made.append(Path(steps=one.steps, fill=fill, stroke=around, opacity=opacity))
        return [*made, *(_arrows(outlines, line) if line is not None else ())]

    def _outlines(self, width: float, height: float) -> list[Outline]:
        if self._custom is not None:
            found = custom(self._custom, width, height)
            if found is not None:
                return found
            self._ink.note("a shape of its own form is drawn as its box")
        found = preset(self.name, width, height, self._adjust)
        if found is None:
            self._ink.note(f"a shape of the form {self.name[:40]} is drawn as its box")
            found = preset("rect", width, height, ())
        return found or []


def _adjustments(geometry: Element) -> list[float | None]:
    """Return the adjustments by the order their names have: adj, or adj1, adj2 …"""
    found: dict[int, float] = {}
    for guide in geometry.iterfind(f"{n.a('avLst')}/{n.a('gd')}"):
        name = guide.get("name") or ""
        if not name.startswith("adj"):
            continue
        number = _ORDER.search(name)
        words = (guide.get("fmla") or "").split()
        value = whole(words[1]) if len(words) == 2 and words[0] == "val" else None
        at = int(number[0]) - 1 if number else 0
        if value is not None and 0 <= at < 16:
            found[at] = value / _PART
    return [found.get(at) for at in range(max(found, default=-1) + 1)]


def _arrows(outlines: Sequence[Outline], line: Line) -> list[Figure]:
    """Return simple heads at the open ends of the lines."""
    made: list[Figure] = []
    for one in outlines:
        points = _points(one.steps)
        if len(points) < 2 or one.steps[-1] == ("Z",):
            continue
        size = max(line.stroke.width, 1.5) * 3
        if line.has_head:
            made.append(_head(points[0], points[1], size, line))
        if line.has_tail:
            made.append(_head(points[-1], points[-2], size, line))
    return made


def _points(steps: Sequence[Step]) -> list[tuple[float, float]]:
    found = []
    for _, *numbers in steps:
        at = [float(number) for number in numbers]
        found += [(at[i], at[i + 1]) for i in range(0, len(at), 2)]
    return [p for at, p in enumerate(found) if at == 0 or p != found[at - 1]]


def _head(tip: tuple[float, float], back: tuple[float, float], size: float, line: Line) -> Path:
    angle = math.atan2(tip[1] - back[1], tip[0] - back[0])
    cos, sin = math.cos(angle), math.sin(angle)
    middle = (tip[0] - size * cos, tip[1] - size * sin)
    side = (-sin * size / 2, cos * size / 2)
    return Path(
        steps=(
            ("M", *tip),
            ("L", middle[0] + side[0], middle[1] + side[1]),
            ("L", middle[0] - side[0], middle[1] - side[1]),
            ("Z",),
        ),
        fill=line.stroke.color,
    )
