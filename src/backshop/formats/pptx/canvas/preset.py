"""The outlines that programs know by name, the common ones (F43.31).

Every shape is a function of its width, its height and its adjustments, in the order the standard
names them, as parts of 1. Others are drawn as their box, and said to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .outline import Outline, Pen, Point

Adjust = Sequence[float | None]
Shape = Callable[[float, float, Adjust], list[Outline]]


def preset(name: str, width: float, height: float, adjust: Adjust) -> list[Outline] | None:
    """Return the outlines of a shape of a name; None where the name is not known here."""
    make = _SHAPES.get(name)
    return make(width, height, adjust) if make is not None else None


def inside(name: str, width: float, height: float, adjust: Adjust) -> tuple[float, ...]:
    """Return where text of a shape stands: what is left free at left, top, right, bottom."""
    if name in _OVALS:
        return (width * 0.1464, height * 0.1464) * 2
    if name in ("roundRect", "wedgeRoundRectCallout", "flowChartAlternateProcess"):
        part = 0.16667 if name != "roundRect" else _a(adjust, 0, 0.16667, 0.5)
        return (min(width, height) * part * 0.2929,) * 4
    if name in ("diamond", "flowChartDecision"):
        return (width / 4, height / 4) * 2
    if name in ("triangle", "flowChartExtract"):
        return width / 4, height / 2, width / 4, 0.0
    if name == "rtTriangle":
        return width / 12, height * 7 / 12, width * 5 / 12, height / 12
    if name in ("rightArrow", "leftArrow", "leftRightArrow"):
        part = (1 - _a(adjust, 0, 0.5, 1)) / 2
        return 0.0, height * part, 0.0, height * part
    if name in ("upArrow", "downArrow", "upDownArrow"):
        part = (1 - _a(adjust, 0, 0.5, 1)) / 2
        return width * part, 0.0, width * part, 0.0
    if name == "chevron":
        point = min(width, height) * _a(adjust, 0, 0.5, 9)
        return min(point, width / 2), 0.0, min(point, width / 2), 0.0
    if name == "homePlate":
        return 0.0, 0.0, min(min(width, height) * _a(adjust, 0, 0.5, 9) / 2, width / 2), 0.0
    if name in ("hexagon", "octagon", "flowChartPreparation"):
        return (width * 0.15, height * 0.1) * 2
    if name == "can":
        return 0.0, min(width, height) * _a(adjust, 0, 0.25, 0.5), 0.0, 0.0
    if name == "cube":
        depth = min(width, height) * _a(adjust, 0, 0.25, 1)
        return 0.0, depth, depth, 0.0
    if name in ("parallelogram", "flowChartInputOutput", "trapezoid"):
        return (width * 0.12, height * 0.08) * 2
    return 0.0, 0.0, 0.0, 0.0


_OVALS = frozenset(
    {"ellipse", "flowChartConnector", "donut", "wedgeEllipseCallout", "cloud", "smileyFace"}
)


def _a(adjust: Adjust, at: int, usual: float, most: float = 1.0, least: float = 0.0) -> float:
    value = adjust[at] if at < len(adjust) else None
    return min(max(usual if value is None else value, least), most)


def _poly(*points: Point) -> list[Outline]:
    return [Pen().lines(*points).close().done()]


def _unit(*points: Point) -> Shape:
    """Return a shape given by points in a box of 1 by 1."""
    return lambda w, h, _: _poly(*((x * w, y * h) for x, y in points))


def _regular(count: int, turned: float = 0.0) -> Shape:
    """Return a polygon of equal sides that fills its box."""
    raw = [
        (
            math.sin(2 * math.pi * (at + turned) / count),
            -math.cos(2 * math.pi * (at + turned) / count),
        )
        for at in range(count)
    ]
    return _filling(raw)


def _filling(raw: list[Point]) -> Shape:
    left, right = min(x for x, _ in raw), max(x for x, _ in raw)
    top, bottom = min(y for _, y in raw), max(y for _, y in raw)
    return _unit(*(((x - left) / (right - left), (y - top) / (bottom - top)) for x, y in raw))


def _star(count: int, inner: float) -> Shape:
    def make(w: float, h: float, adjust: Adjust) -> list[Outline]:
        deep = _a(adjust, 0, inner, 0.5) * 2
        points = []
        for at in range(2 * count):
            radius = deep if at % 2 else 1.0
            angle = math.pi * at / count
            points.append((radius * math.sin(angle), -radius * math.cos(angle)))
        if count == 5:
            return _filling(points)(w, h, ())
        return _poly(*((w / 2 * (1 + x), h / 2 * (1 + y)) for x, y in points))

    return make


def _round_rect(w: float, h: float, adjust: Adjust) -> list[Outline]:
    return _rounded(w, h, *((min(w, h) * _a(adjust, 0, 0.16667, 0.5),) * 4))


def _rounded(w: float, h: float, *radii: float) -> list[Outline]:
    """Return a box with round corners: top left, top right, bottom right, bottom left."""
    a, b, c, d = radii
    pen = Pen().move(0, a).arc(a, a, 180, 90) if a else Pen().move(0, 0)
    pen.line(w - b, 0)
    if b:
        pen.arc(b, b, 270, 90)
    pen.line(w, h - c)
    if c:
        pen.arc(c, c, 0, 90)
    pen.line(d, h)
    if d:
        pen.arc(d, d, 90, 90)
    return [pen.close().done()]


def _cut(w: float, h: float, *sizes: float) -> list[Outline]:
    """Return a box with cut corners: top left, top right, bottom right, bottom left."""
    a, b, c, d = sizes
    return _poly(
        (0, a), (a, 0), (w - b, 0), (w, b), (w, h - c), (w - c, h), (d, h), (0, h - d)
    )  # fmt: skip


def _corners(kind: Callable[..., list[Outline]], first: str, second: str) -> Shape:
    """Return a box whose corners take an adjustment each: `1`, `2` or `-` for a square one."""

    def make(w: float, h: float, adjust: Adjust) -> list[Outline]:
        side = min(w, h)
        usual = {"1": _a(adjust, 0, 0.16667, 0.5), "2": _a(adjust, 1, 0.0, 0.5), "-": 0.0}
        return kind(w, h, *(side * usual[one] for one in first + second))

    return make


def _ellipse(w: float, h: float, _: Adjust) -> list[Outline]:
    return [Pen().oval(0, 0, w, h).done()]


def _triangle(w: float, h: float, adjust: Adjust) -> list[Outline]:
    return _poly((0, h), (w * _a(adjust, 0, 0.5), 0), (w, h))


def _parallelogram(w: float, h: float, adjust: Adjust) -> list[Outline]:
    lean = min(min(w, h) * _a(adjust, 0, 0.25, 99), w)
    return _poly((0, h), (lean, 0), (w, 0), (w - lean, h))


def _trapezoid(w: float, h: float, adjust: Adjust) -> list[Outline]:
    lean = min(min(w, h) * _a(adjust, 0, 0.25, 99), w / 2)
    return _poly((0, h), (lean, 0), (w - lean, 0), (w, h))


def _hexagon(w: float, h: float, adjust: Adjust) -> list[Outline]:
    lean = min(min(w, h) * _a(adjust, 0, 0.25, 99), w / 2)
    return _poly((0, h / 2), (lean, 0), (w - lean, 0), (w, h / 2), (w - lean, h), (lean, h))


def _octagon(w: float, h: float, adjust: Adjust) -> list[Outline]:
    return _cut(w, h, *((min(w, h) * _a(adjust, 0, 0.29289, 0.5),) * 4))


def _plus(w: float, h: float, adjust: Adjust) -> list[Outline]:
    d = min(w, h) * _a(adjust, 0, 0.25, 0.5)
    return _poly(
        (0, d), (d, d), (d, 0), (w - d, 0), (w - d, d), (w, d),
        (w, h - d), (w - d, h - d), (w - d, h), (d, h), (d, h - d), (0, h - d),
    )  # fmt: skip


def _arrow(w: float, h: float, adjust: Adjust, *, notch: bool = False) -> list[Outline]:
    half = h * _a(adjust, 0, 0.5) / 2
    head = min(min(w, h) * _a(adjust, 1, 0.5, 99), w)
    back = head * half * 2 / h if notch and h else 0.0
    top, bottom, x = h / 2 - half, h / 2 + half, w - head
    points: list[Point] = [
        (0, top), (x, top), (x, 0), (w, h / 2), (x, h), (x, bottom), (0, bottom),
    ]  # fmt: skip
    return _poly(*points, *([(back, h / 2)] if notch else []))


def _notched(w: float, h: float, adjust: Adjust) -> list[Outline]:
    return _arrow(w, h, adjust, notch=True)


def _both_ways(w: float, h: float, adjust: Adjust) -> list[Outline]:
    half = h * _a(adjust, 0, 0.5) / 2
    head = min(min(w, h) * _a(adjust, 1, 0.5, 99), w / 2)
    top, bottom = h / 2 - half, h / 2 + half
    return _poly(
        (0, h / 2), (head, 0), (head, top), (w - head, top), (w - head, 0),
        (w, h / 2), (w - head, h), (w - head, bottom), (head, bottom), (head, h),
    )  # fmt: skip


def _mirrored(make: Shape) -> Shape:
    """Return a shape as a mirror beside it shows it."""
    return lambda w, h, adjust: [_mapped(o, lambda x, y: (w - x, y)) for o in make(w, h, adjust)]


def _upside_down(make: Shape) -> Shape:
    return lambda w, h, adjust: [_mapped(o, lambda x, y: (x, h - y)) for o in make(w, h, adjust)]


def _upright(make: Shape) -> Shape:
    """Return a shape that points to the right as one that points down."""
    return lambda w, h, adjust: [_mapped(o, lambda x, y: (w - y, x)) for o in make(h, w, adjust)]


def _mapped(outline: Outline, by: Callable[[float, float], Point]) -> Outline:
    steps = []
    for name, *numbers in outline.steps:
        at = [float(number) for number in numbers]
        pairs = [by(at[i], at[i + 1]) for i in range(0, len(at), 2)]
        steps.append((name, *(value for pair in pairs for value in pair)))
    return Outline(steps=tuple(steps), is_filled=outline.is_filled, is_stroked=outline.is_stroked)


def _home_plate(w: float, h: float, adjust: Adjust) -> list[Outline]:
    head = min(min(w, h) * _a(adjust, 0, 0.5, 99), w)
    return _poly((0, 0), (w - head, 0), (w, h / 2), (w - head, h), (0, h))


def _chevron(w: float, h: float, adjust: Adjust) -> list[Outline]:
    head = min(min(w, h) * _a(adjust, 0, 0.5, 99), w)
    return _poly((0, 0), (w - head, 0), (w, h / 2), (w - head, h), (0, h), (head, h / 2))


def _frame(w: float, h: float, adjust: Adjust) -> list[Outline]:
    d = min(w, h) * _a(adjust, 0, 0.125, 0.5)
    pen = Pen().lines((0, 0), (w, 0), (w, h), (0, h)).close()
    pen.move(d, d)
    return [pen.lines((d, h - d), (w - d, h - d), (w - d, d)).close().done()]


def _half_frame(w: float, h: float, adjust: Adjust) -> list[Outline]:
    side = min(w, h)
    x, y = side * _a(adjust, 1, 0.33333), side * _a(adjust, 0, 0.33333)
    slope = w / h if h else 1.0
    return _poly((0, 0), (w, 0), (w - y * slope, y), (x, y), (x, h - x / (slope or 1)), (0, h))


def _corner(w: float, h: float, adjust: Adjust) -> list[Outline]:
    side = min(w, h)
    y, x = side * _a(adjust, 0, 0.5, 99), side * _a(adjust, 1, 0.5, 99)
    return _poly((0, 0), (x, 0), (x, h - y), (w, h - y), (w, h), (0, h))


def _stripe(w: float, h: float, adjust: Adjust) -> list[Outline]:
    part = _a(adjust, 0, 0.5)
    return _poly((0, h * part), (w * part, 0), (w, 0), (0, h))


def _donut(w: float, h: float, adjust: Adjust) -> list[Outline]:
    d = min(w, h) * _a(adjust, 0, 0.25, 0.5)
    pen = Pen().oval(0, 0, w, h)
    pen.move(d, h / 2).arc(w / 2 - d, h / 2 - d, 180, -360)
    return [pen.close().done()]


def _degrees(adjust: Adjust, at: int, usual: float) -> float:
    value = adjust[at] if at < len(adjust) else None
    return usual if value is None else (value * 100_000 / 60_000) % 360


def _on(w: float, h: float, degrees: float) -> Point:
    """Return where a ray from the middle meets the ellipse of a box."""
    angle = math.radians(degrees)
    t = math.atan2(w * math.sin(angle), h * math.cos(angle)) if w and h else angle
    return w / 2 * (1 + math.cos(t)), h / 2 * (1 + math.sin(t))


def _sector(w: float, h: float, adjust: Adjust) -> list[Outline]:
    start, end = _degrees(adjust, 0, 0), _degrees(adjust, 1, 270)
    pen = Pen().move(*_on(w, h, start)).arc(w / 2, h / 2, start, (end - start) % 360 or 360)
    return [pen.line(w / 2, h / 2).close().done()]


def _chord(w: float, h: float, adjust: Adjust) -> list[Outline]:
    start, end = _degrees(adjust, 0, 45), _degrees(adjust, 1, 270)
    pen = Pen().move(*_on(w, h, start)).arc(w / 2, h / 2, start, (end - start) % 360 or 360)
    return [pen.close().done()]


def _arc(w: float, h: float, adjust: Adjust) -> list[Outline]:
    start, end = _degrees(adjust, 0, 270), _degrees(adjust, 1, 0)
    sweep = (end - start) % 360 or 360
    begin = _on(w, h, start)
    area = Pen().move(*begin).arc(w / 2, h / 2, start, sweep).line(w / 2, h / 2).close()
    line = Pen().move(*begin).arc(w / 2, h / 2, start, sweep)
    return [area.done(is_stroked=False), line.done(is_filled=False)]


def _block_arc(w: float, h: float, adjust: Adjust) -> list[Outline]:
    start, end = _degrees(adjust, 0, 180), _degrees(adjust, 1, 0)
    d = min(w, h) * _a(adjust, 2, 0.25, 0.5)
    sweep = (end - start) % 360 or 360
    pen = Pen().move(*_on(w, h, start)).arc(w / 2, h / 2, start, sweep)
    x, y = _on(w - 2 * d, h - 2 * d, end)
    pen.line(x + d, y + d).arc(w / 2 - d, h / 2 - d, end, -sweep)
    return [pen.close().done()]


def _teardrop(w: float, h: float, _: Adjust) -> list[Outline]:
    pen = Pen().move(0, h / 2).arc(w / 2, h / 2, 180, 90).line(w, 0).line(w, h / 2)
    return [pen.arc(w / 2, h / 2, 0, 180).close().done()]


def _heart(w: float, h: float, _: Adjust) -> list[Outline]:
    pen = Pen().move(w / 2, h / 4)
    pen.curve((w * 0.604, -h / 12), (w * 1.0104, h / 4), (w / 2, h))
    pen.curve((-w * 0.0104, h / 4), (w * 0.396, -h / 12), (w / 2, h / 4))
    return [pen.close().done()]


def _cloud(w: float, h: float, _: Adjust) -> list[Outline]:
    puffs = (
        (0.09, 0.35), (0.2, 0.06), (0.45, 0.06), (0.68, 0.02), (0.9, 0.18),
        (0.97, 0.45), (0.88, 0.78), (0.66, 0.9), (0.4, 0.95), (0.14, 0.86), (0.03, 0.6),
    )  # fmt: skip
    pen = Pen().move(puffs[0][0] * w, puffs[0][1] * h)
    for at in range(len(puffs)):
        (x0, y0), (x1, y1) = puffs[at], puffs[(at + 1) % len(puffs)]
        dx, dy = x1 - x0, y1 - y0
        out = (dy * 0.55, -dx * 0.55)
        one = ((x0 + out[0]) * w, (y0 + out[1]) * h)
        two = ((x1 + out[0]) * w, (y1 + out[1]) * h)
        pen.curve(one, two, (x1 * w, y1 * h))
    return [pen.close().done()]


def _sun(w: float, h: float, adjust: Adjust) -> list[Outline]:
    rim = _a(adjust, 0, 0.25, 0.46875)
    rays = []
    for at in range(8):
        for turn, radius in ((-0.2, 0.5 - rim * 0.75), (0.0, 0.5), (0.2, 0.5 - rim * 0.75)):
            angle = math.pi / 4 * at + turn
            rays.append(
                (w * (0.5 + radius * math.cos(angle)), h * (0.5 + radius * math.sin(angle)))
            )
    outlines = [Pen().lines(*rays[3 * at : 3 * at + 3]).close().done() for at in range(8)]
    disc = Pen().oval(w * rim, h * rim, w * (1 - 2 * rim), h * (1 - 2 * rim)).done()
    return [disc, *outlines]


def _moon(w: float, h: float, adjust: Adjust) -> list[Outline]:
    part = _a(adjust, 0, 0.5, 0.875)
    pen = Pen().move(w, h).curve((-w / 3, h), (-w / 3, 0), (w, 0))
    x = w * part
    return [pen.curve((x, h * 0.25), (x, h * 0.75), (w, h)).close().done()]


def _smiley(w: float, h: float, _: Adjust) -> list[Outline]:
    face = Pen().oval(0, 0, w, h).done()
    eyes = [Pen().oval(w * x, h * 0.3, w * 0.1, h * 0.1).done() for x in (0.29, 0.61)]
    mouth = Pen().move(w * 0.23, h * 0.7).quad((w / 2, h * 0.9), (w * 0.77, h * 0.7))
    return [face, *eyes, mouth.done(is_filled=False)]


def _folded(w: float, h: float, adjust: Adjust) -> list[Outline]:
    d = min(w, h) * _a(adjust, 0, 0.16667, 0.5)
    page = Pen().lines((0, 0), (w, 0), (w, h - d), (w - d, h), (0, h)).close().done()
    fold = Pen().lines((w - d, h), (w - d * 0.8, h - d * 0.8), (w, h - d))
    return [page, fold.done(is_filled=False)]


def _plaque(w: float, h: float, adjust: Adjust) -> list[Outline]:
    d = min(w, h) * _a(adjust, 0, 0.16667, 0.5)
    pen = Pen().move(0, d).arc(d, d, 90, -90).line(w - d, 0).arc(d, d, 180, -90)
    pen.line(w, h - d).arc(d, d, 270, -90).line(d, h).arc(d, d, 0, -90)
    return [pen.close().done()]


def _cube(w: float, h: float, adjust: Adjust) -> list[Outline]:
    d = min(w, h) * _a(adjust, 0, 0.25)
    body = Pen().lines((0, d), (d, 0), (w, 0), (w, h - d), (w - d, h), (0, h)).close().done()
    edges = Pen().lines((0, d), (w - d, d), (w, 0)).move(w - d, d).line(w - d, h)
    return [body, edges.done(is_filled=False)]


def _can(w: float, h: float, adjust: Adjust) -> list[Outline]:
    d = min(w, h) * _a(adjust, 0, 0.25, 1) / 2
    pen = Pen().move(0, d).arc(w / 2, d, 180, 180).line(w, h - d).arc(w / 2, d, 0, 180).close()
    rim = Pen().move(w, d).arc(w / 2, d, 0, 180)
    return [pen.done(), rim.done(is_filled=False)]


def _bevel(w: float, h: float, adjust: Adjust) -> list[Outline]:
    d = min(w, h) * _a(adjust, 0, 0.125, 0.5)
    edges = Pen()
    for (x, y), (u, v) in (
        ((0, 0), (d, d)), ((w, 0), (w - d, d)), ((w, h), (w - d, h - d)), ((0, h), (d, h - d)),
    ):  # fmt: skip
        edges.move(x, y).line(u, v)
    edges.move(d, d).lines((w - d, d), (w - d, h - d), (d, h - d)).close()
    return [*_unit((0, 0), (1, 0), (1, 1), (0, 1))(w, h, ()), edges.done(is_filled=False)]


def _wave(w: float, h: float, _: Adjust) -> list[Outline]:
    d = h * 0.125
    pen = Pen().move(0, d).curve((w / 3, -d), (w * 2 / 3, 3 * d), (w, d)).line(w, h - d)
    return [pen.curve((w * 2 / 3, h + d), (w / 3, h - 3 * d), (0, h - d)).close().done()]


def _callout(base: Shape) -> Shape:
    """Return a shape with a tip that the adjustments place, as a second area behind the edge."""

    def make(w: float, h: float, adjust: Adjust) -> list[Outline]:
        dx, dy = _a(adjust, 0, -0.20833, 99, -99), _a(adjust, 1, 0.625, 99, -99)
        tip = (w * (0.5 + dx), h * (0.5 + dy))
        if abs(dx) * w > abs(dy) * h:
            x = w * 0.98 if dx > 0 else w * 0.02
            foot = ((x, h * (0.4 if dy < 0 else 0.45)), (x, h * (0.58 if dy < 0 else 0.65)))
        else:
            y = h * 0.98 if dy > 0 else h * 0.02
            left = 0.17 if dx < 0 else 0.58
            foot = ((w * left, y), (w * (left + 0.25), y))
        tail = Pen().lines(foot[0], tip, foot[1])
        return [
            tail.done(),
            *base(w, h, ()),
            Pen().lines(foot[0], tip, foot[1]).done(is_stroked=False),
        ]

    return make


def _line(w: float, h: float, _: Adjust) -> list[Outline]:
    return [Pen().move(0, 0).line(w, h).done(is_filled=False)]


def _bent2(w: float, h: float, _: Adjust) -> list[Outline]:
    return [Pen().move(0, 0).lines((w, 0), (w, h)).done(is_filled=False)]


def _bent3(w: float, h: float, adjust: Adjust) -> list[Outline]:
    x = w * _a(adjust, 0, 0.5, 99, -99)
    return [Pen().move(0, 0).lines((x, 0), (x, h), (w, h)).done(is_filled=False)]


def _bent4(w: float, h: float, adjust: Adjust) -> list[Outline]:
    x, y = w * _a(adjust, 0, 0.5, 99, -99), h * _a(adjust, 1, 0.5, 99, -99)
    return [Pen().move(0, 0).lines((x, 0), (x, y), (w, y), (w, h)).done(is_filled=False)]


def _bent5(w: float, h: float, adjust: Adjust) -> list[Outline]:
    x, y = w * _a(adjust, 0, 0.5, 99, -99), h * _a(adjust, 1, 0.5, 99, -99)
    z = w * _a(adjust, 2, 0.5, 99, -99)
    points = ((x, 0), (x, y), (z, y), (z, h), (w, h))
    return [Pen().move(0, 0).lines(*points).done(is_filled=False)]


def _curved2(w: float, h: float, _: Adjust) -> list[Outline]:
    return [Pen().move(0, 0).curve((w / 2, 0), (w, h / 2), (w, h)).done(is_filled=False)]


def _curved3(w: float, h: float, adjust: Adjust) -> list[Outline]:
    x = w * _a(adjust, 0, 0.5, 99, -99)
    pen = Pen().move(0, 0).curve((x / 2, 0), (x, h / 4), (x, h / 2))
    return [pen.curve((x, h * 3 / 4), ((w + x) / 2, h), (w, h)).done(is_filled=False)]


def _bracket(w: float, h: float, adjust: Adjust) -> list[Outline]:
    r = min(min(w, h) * _a(adjust, 0, 0.08333, 99), h / 2)
    pen = Pen().move(w, 0).arc(w, r, 270, -90).line(0, h - r).arc(w, r, 180, -90)
    return [pen.done(is_filled=False)]


def _brace(w: float, h: float, adjust: Adjust) -> list[Outline]:
    r = min(min(w, h) * _a(adjust, 0, 0.08333, 99), h / 4)
    y = h * _a(adjust, 1, 0.5)
    y = min(max(y, 2 * r), h - 2 * r)
    pen = Pen().move(w, 0).arc(w / 2, r, 270, -90).line(w / 2, y - r).arc(w / 2, r, 0, 90)
    pen.arc(w / 2, r, 270, 90).line(w / 2, h - r).arc(w / 2, r, 180, -90)
    return [pen.done(is_filled=False)]


def _pair(one: Shape, share: float) -> Shape:
    def make(w: float, h: float, adjust: Adjust) -> list[Outline]:
        side = min(w, h) * _a(adjust, 0, 0.16667, 0.5) * share
        left = one(side, h, (0.5,))
        return [*left, *(_mapped(o, lambda x, y: (w - x, y)) for o in left)]

    return make


def _math(kind: str) -> Shape:
    def make(w: float, h: float, _: Adjust) -> list[Outline]:
        t = min(w, h) * 0.2352 / 2
        x, y = w * 0.1325, h * 0.1325
        if kind == "plus":
            cx, cy = w / 2, h / 2
            return _poly(
                (x, cy - t), (cx - t, cy - t), (cx - t, y), (cx + t, y), (cx + t, cy - t),
                (w - x, cy - t), (w - x, cy + t), (cx + t, cy + t), (cx + t, h - y),
                (cx - t, h - y), (cx - t, cy + t), (x, cy + t),
            )  # fmt: skip
        rows = (h / 2,) if kind == "minus" else (h * 0.324, h * 0.676)
        return [
            Pen().lines((x, m - t), (w - x, m - t), (w - x, m + t), (x, m + t)).close().done()
            for m in rows
        ]

    return make


def _times(w: float, h: float, _: Adjust) -> list[Outline]:
    t = min(w, h) * 0.2352 / 2 * 1.41
    x, y, u, v = w * 0.235, h * 0.235, w / 2, h / 2
    return _poly(
        (x, y + t / 2), (x + t / 2, y), (u, v - t / 1.41), (w - x - t / 2, y), (w - x, y + t / 2),
        (u + t / 1.41, v), (w - x, h - y - t / 2), (w - x - t / 2, h - y), (u, v + t / 1.41),
        (x + t / 2, h - y), (x, h - y - t / 2), (u - t / 1.41, v),
    )  # fmt: skip


def _document(w: float, h: float, _: Adjust) -> list[Outline]:
    pen = Pen().lines((0, 0), (w, 0), (w, h * 0.8))
    return [pen.curve((w / 2, h * 0.8), (w / 2, h * 1.1), (0, h * 0.932)).close().done()]


def _predefined(w: float, h: float, _: Adjust) -> list[Outline]:
    bars = Pen().move(w / 8, 0).line(w / 8, h).move(w * 7 / 8, 0).line(w * 7 / 8, h)
    return [*_unit((0, 0), (1, 0), (1, 1), (0, 1))(w, h, ()), bars.done(is_filled=False)]


def _terminator(w: float, h: float, _: Adjust) -> list[Outline]:
    r = min(w * 0.161, w / 2)
    pen = Pen().move(r, 0).line(w - r, 0).arc(r, h / 2, 270, 180).line(r, h)
    return [pen.arc(r, h / 2, 90, 180).close().done()]


def _delay(w: float, h: float, _: Adjust) -> list[Outline]:
    pen = Pen().move(0, 0).line(w / 2, 0).arc(w / 2, h / 2, 270, 180).line(0, h)
    return [pen.close().done()]


_RECT = _unit((0, 0), (1, 0), (1, 1), (0, 1))
_SHAPES: dict[str, Shape] = {
    "rect": _RECT, "textBox": _RECT, "flowChartProcess": _RECT, "roundRect": _round_rect,
    "flowChartAlternateProcess": _round_rect, "ellipse": _ellipse, "flowChartConnector": _ellipse,
    "triangle": _triangle, "flowChartExtract": _triangle,
    "flowChartMerge": _unit((0, 0), (1, 0), (0.5, 1)),
    "rtTriangle": _unit((0, 0), (1, 1), (0, 1)),
    "diamond": _unit((0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5)),
    "flowChartDecision": _unit((0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5)),
    "parallelogram": _parallelogram, "trapezoid": _trapezoid,
    "flowChartInputOutput": _unit((0.2, 0), (1, 0), (0.8, 1), (0, 1)),
    "flowChartManualOperation": _unit((0, 0), (1, 0), (0.8, 1), (0.2, 1)),
    "flowChartManualInput": _unit((0, 0.2), (1, 0), (1, 1), (0, 1)),
    "flowChartPreparation": _unit((0, 0.5), (0.2, 0), (0.8, 0), (1, 0.5), (0.8, 1), (0.2, 1)),
    "flowChartOffpageConnector": _unit((0, 0), (1, 0), (1, 0.8), (0.5, 1), (0, 0.8)),
    "flowChartPunchedCard": _unit((0.2, 0), (1, 0), (1, 1), (0, 1), (0, 0.2)),
    "flowChartDocument": _document, "flowChartPredefinedProcess": _predefined,
    "flowChartTerminator": _terminator, "flowChartDelay": _delay,
    "flowChartMagneticDisk": lambda w, h, _: _can(w, h, (h / 3 / min(w, h) if w and h else 0.3,)),
    "pentagon": _regular(5), "heptagon": _regular(7), "decagon": _regular(10, 0.5),
    "dodecagon": _regular(12, 0.5), "hexagon": _hexagon, "octagon": _octagon, "plus": _plus,
    "star4": _star(4, 0.125), "star5": _star(5, 0.19098), "star6": _star(6, 0.28868),
    "star7": _star(7, 0.34601), "star8": _star(8, 0.375), "star10": _star(10, 0.42533),
    "star12": _star(12, 0.375), "star16": _star(16, 0.375), "star24": _star(24, 0.375),
    "star32": _star(32, 0.375), "irregularSeal1": _star(10, 0.3), "irregularSeal2": _star(12, 0.3),
    "rightArrow": _arrow, "leftArrow": _mirrored(_arrow), "downArrow": _upright(_arrow),
    "upArrow": _upside_down(_upright(_arrow)), "leftRightArrow": _both_ways,
    "upDownArrow": _upright(_both_ways), "notchedRightArrow": _notched, "homePlate": _home_plate,
    "chevron": _chevron, "frame": _frame, "halfFrame": _half_frame, "corner": _corner,
    "diagStripe": _stripe, "donut": _donut, "pie": _sector, "chord": _chord, "arc": _arc,
    "blockArc": _block_arc, "teardrop": _teardrop, "heart": _heart, "cloud": _cloud, "sun": _sun,
    "moon": _moon, "smileyFace": _smiley, "foldedCorner": _folded, "plaque": _plaque,
    "cube": _cube, "can": _can, "bevel": _bevel, "wave": _wave, "doubleWave": _wave,
    "round1Rect": _corners(_rounded, "-1", "--"), "round2SameRect": _corners(_rounded, "11", "22"),
    "round2DiagRect": _corners(_rounded, "12", "12"), "snip1Rect": _corners(_cut, "-1", "--"),
    "snip2SameRect": _corners(_cut, "11", "22"), "snip2DiagRect": _corners(_cut, "21", "21"),
    "snipRoundRect": _corners(_rounded, "1-", "--"),
    "wedgeRectCallout": _callout(_RECT), "wedgeRoundRectCallout": _callout(_round_rect),
    "wedgeEllipseCallout": _callout(_ellipse), "cloudCallout": _callout(_cloud),
    "line": _line, "straightConnector1": _line, "bentConnector2": _bent2,
    "bentConnector3": _bent3, "bentConnector4": _bent4, "bentConnector5": _bent5,
    "curvedConnector2": _curved2, "curvedConnector3": _curved3, "curvedConnector4": _curved3,
    "leftBracket": _bracket, "rightBracket": _mirrored(_bracket), "leftBrace": _brace,
    "rightBrace": _mirrored(_brace), "bracketPair": _pair(_bracket, 1.0),
    "bracePair": _pair(_brace, 2.0), "mathPlus": _math("plus"), "mathMinus": _math("minus"),
    "mathEqual": _math("equal"), "mathMultiply": _times,
    "lightningBolt": _unit(
        (0.392, 0), (0.595, 0.281), (0.511, 0.313), (0.768, 0.551), (0.684, 0.588), (1, 1),
        (0.464, 0.686), (0.552, 0.649), (0.23, 0.46), (0.346, 0.393), (0, 0.182),
    ),
    "actionButtonBlank": _RECT,
}  # fmt: skip
NAMES = frozenset(_SHAPES)
