"""A canvas as PNG, for who takes pictures and no pages (F43.5)."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from PIL import Image, ImageColor, ImageDraw

from .face import Face, has_letter, opened, script_of
from .figure import Box, Canvas, Figure, Fill, Gradient, Group, Oval, Path, Picture, Stroke, Text
from .reach import before_moved, moved, pixels, reach_of

_FINER = 2  # shapes are drawn larger and made smaller: Pillow's edges are steps
_CURVE_STEPS = 12


def png(canvas: Canvas, scale: float = 1.0) -> bytes:
    """Return the picture; `scale` 1 is 96 pixels to the inch."""
    out = io.BytesIO()
    painted(canvas, scale).save(out, "PNG")
    return out.getvalue()


def painted(canvas: Canvas, scale: float = 1.0) -> Image.Image:
    """Return the picture as Pillow has it."""
    factor = scale * _FINER
    size = (max(1, round(canvas.width * factor)), max(1, round(canvas.height * factor)))
    image = Image.new("RGBA", size, canvas.background)
    _Painter(image, factor).figures(canvas.figures)
    return image.convert("RGB").reduce(_FINER)


class _Painter:
    def __init__(self, image: Image.Image, factor: float, origin: tuple[int, int] = (0, 0)) -> None:
        self._image = image
        self._factor = factor
        self._origin = origin  # the pixel of the page that is the first one here

    def figures(self, figures: Iterable[Figure]) -> None:
        for figure in figures:
            self._figure(figure)

    def _figure(self, figure: Figure) -> None:
        match figure:
            case Box():
                self._area(_corners(figure), figure.fill, figure.stroke, figure.opacity, figure)
            case Oval():
                self._area(_around(figure), figure.fill, figure.stroke, figure.opacity)
            case Path():
                for points, is_closed in _outlines(figure):
                    fill = figure.fill if is_closed or figure.fill else None
                    self._area(points, fill, figure.stroke, figure.opacity, is_closed=is_closed)
            case Text():
                self._text(figure)
            case Picture():
                self._picture(figure)
            case Group():
                self._group(figure)

    def _area(
        self,
        points: list[tuple[float, float]],
        fill: Fill,
        stroke: Stroke | None,
        opacity: float,
        box: Box | None = None,
        *,
        is_closed: bool = True,
    ) -> None:
        if len(points) < 2:
            return
        at = [self._at(x, y) for x, y in points]
        if fill is not None and len(at) > 2:
            self._fill(at, fill, opacity, box)
        if stroke is not None:
            self._line([*at, at[0]] if is_closed else at, stroke)

    def _fill(
        self, at: list[tuple[float, float]], fill: Fill, opacity: float, box: Box | None
    ) -> None:
        if isinstance(fill, str) and opacity >= 1:
            draw = ImageDraw.Draw(self._image)
            if box is not None and box.radius:
                low, high = (at[0][0], at[0][1]), (at[2][0], at[2][1])
                draw.rounded_rectangle((*low, *high), box.radius * self._factor, fill=fill)
            else:
                draw.polygon(at, fill=fill)
            return
        left, top = (math.floor(min(value)) for value in zip(*at, strict=True))
        right, bottom = (math.ceil(max(value)) for value in zip(*at, strict=True))
        size = (max(1, right - left), max(1, bottom - top))
        if size[0] * size[1] > 4 * self._image.width * self._image.height:
            return
        mask = Image.new("L", size, 0)
        inside = [(x - left, y - top) for x, y in at]
        ImageDraw.Draw(mask).polygon(inside, fill=round(255 * min(max(opacity, 0.0), 1.0)))
        paint = _blend(fill, size) if isinstance(fill, Gradient) else Image.new("RGB", size, fill)
        self._image.paste(paint, (left, top), mask)

    def _line(self, at: list[tuple[float, float]], stroke: Stroke) -> None:
        draw = ImageDraw.Draw(self._image)
        width = max(1, round(stroke.width * self._factor))
        if not stroke.dash:
            draw.line(at, fill=stroke.color, width=width, joint="curve")
            return
        for part in _dashes(at, [length * self._factor for length in stroke.dash]):
            draw.line(part, fill=stroke.color, width=width)

    def _text(self, text: Text) -> None:
        size = text.size * self._factor
        if not 1 <= size <= 4000 or not text.text.strip():
            return
        width = text.face.width(text.text, text.size)
        x = text.x - {"middle": width / 2, "end": width}.get(text.anchor, 0.0)
        draw = ImageDraw.Draw(self._image)
        at = x
        for piece, script in _pieces(text.text, text.face):
            font = opened(text.face, script, round(size * 2) / 2) or opened(
                text.face, "latin", size
            )
            if font is not None:
                draw.text(self._at(at, text.y), piece, font=font, fill=text.color, anchor="ls")
            at += text.face.width(piece, text.size)
        pen = Stroke(color=text.color, width=max(0.6, text.size / 16))
        for wanted, up in ((text.underline, -0.12), (text.strike, 0.28)):
            if wanted:
                y = text.y - up * text.size
                self._line([self._at(x, y), self._at(x + width, y)], pen)

    def _picture(self, picture: Picture) -> None:
        size = (round(picture.width * self._factor), round(picture.height * self._factor))
        if min(size) < 1 or size[0] * size[1] > 4 * self._image.width * self._image.height:
            return
        with Image.open(io.BytesIO(picture.data)) as image:
            shown = image.convert("RGBA").resize(size, Image.Resampling.LANCZOS)
        if picture.opacity < 1:
            faint = shown.getchannel("A").point([round(v * picture.opacity) for v in range(256)])
            shown.putalpha(faint)
        x, y = self._at(picture.x, picture.y)
        self._layer(shown, (round(x), round(y)))

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return x * self._factor - self._origin[0], y * self._factor - self._origin[1]

    def _group(self, group: Group) -> None:
        is_moved = bool(group.turn or group.mirror_x or group.mirror_y)
        if not (is_moved or group.clip or group.outline):
            self.figures(group.figures)
            return
        x, y = self._origin
        page = (x, y, x + self._image.width, y + self._image.height)
        before = before_moved(group, self._factor, page) if is_moved else page
        spot = pixels(reach_of(group), self._factor, before)
        if spot is None:
            return
        left, top, right, bottom = spot
        layer = Image.new("RGBA", (right - left, bottom - top), (0, 0, 0, 0))
        inner = _Painter(layer, self._factor, (left, top))
        inner.figures(group.figures)
        if group.clip is not None and is_moved:
            at = inner._at(group.clip[0], group.clip[1])
            size = (value * self._factor for value in group.clip[2:])
            layer = _cut(layer, (*at, *size))
        if group.outline is not None:
            layer = inner._inside(layer, Path(steps=group.outline))
        if is_moved:
            turned = pixels(moved(group, reach_of(group)), self._factor, page)
            if turned is None:
                return
            layer, (left, top) = inner._turned(layer, group, turned), turned[:2]
        self._layer(layer, (left - x, top - y))

    def _inside(self, layer: Image.Image, outline: Path) -> Image.Image:
        mask = Image.new("L", layer.size, 0)
        for points, _ in _outlines(outline):
            if len(points) > 2:
                at = [self._at(x, y) for x, y in points]
                ImageDraw.Draw(mask).polygon(at, fill=255)
        empty = Image.new("RGBA", layer.size, (0, 0, 0, 0))
        return Image.composite(layer, empty, mask)

    def _turned(
        self, layer: Image.Image, group: Group, spot: tuple[int, int, int, int]
    ) -> Image.Image:
        """Return a layer mirrored, then turned; Pillow asks where each pixel of it came from."""
        x, y = self._at(*group.around)
        left, top = spot[0] - self._origin[0] - x, spot[1] - self._origin[1] - y
        angle = math.radians(group.turn)
        cos, sin = math.cos(angle), math.sin(angle)
        sx, sy = (-1 if group.mirror_x else 1), (-1 if group.mirror_y else 1)
        a, b = cos * sx, sin * sx
        d, e = -sin * sy, cos * sy
        data = (a, b, x + a * left + b * top, d, e, y + d * left + e * top)
        size = (spot[2] - spot[0], spot[3] - spot[1])
        return layer.transform(size, Image.Transform.AFFINE, data, Image.Resampling.BICUBIC)

    def _layer(self, layer: Image.Image, at: tuple[int, int]) -> None:
        self._image.paste(layer, at, layer)


def _cut(layer: Image.Image, clip: tuple[float, ...]) -> Image.Image:
    left, top, width, height = (round(value) for value in clip)
    box = (
        max(left, 0),
        max(top, 0),
        min(left + width, layer.width),
        min(top + height, layer.height),
    )
    out = Image.new("RGBA", layer.size, (0, 0, 0, 0))
    if box[2] > box[0] and box[3] > box[1]:
        out.paste(layer.crop(box), box[:2])
    return out


def _pieces(text: str, cut: Face) -> list[tuple[str, str]]:
    """Return runs of letters that one file shows."""
    pieces: list[tuple[str, str]] = []
    for letter in text:
        script = script_of(letter) if has_letter(cut, letter) else "latin"
        if pieces and pieces[-1][1] == script:
            pieces[-1] = (pieces[-1][0] + letter, script)
        else:
            pieces.append((letter, script))
    return pieces


def _corners(box: Box) -> list[tuple[float, float]]:
    right, bottom = box.x + max(0.0, box.width), box.y + max(0.0, box.height)
    return [(box.x, box.y), (right, box.y), (right, bottom), (box.x, bottom)]


def _around(oval: Oval) -> list[tuple[float, float]]:
    rx, ry = oval.width / 2, oval.height / 2
    turns = [2 * math.pi * step / 72 for step in range(72)]
    return [(oval.x + rx + rx * math.cos(t), oval.y + ry + ry * math.sin(t)) for t in turns]


def _outlines(path: Path) -> list[tuple[list[tuple[float, float]], bool]]:
    found: list[tuple[list[tuple[float, float]], bool]] = []
    points: list[tuple[float, float]] = []
    for name, *numbers in path.steps:
        at = [float(number) for number in numbers]
        if name == "M":
            if points:
                found.append((points, False))
            points = [(at[0], at[1])]
        elif name == "L":
            points.append((at[0], at[1]))
        elif name == "C":
            points.extend(_curve(points[-1], at))
        elif name == "Z" and points:
            found.append((points, True))
            points = []
    return [*found, (points, False)] if points else found


def _curve(start: tuple[float, float], at: list[float]) -> list[tuple[float, float]]:
    (x0, y0), (x1, y1, x2, y2, x3, y3) = start, at
    out = []
    for step in range(1, _CURVE_STEPS + 1):
        t = step / _CURVE_STEPS
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
        out.append((a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3))
    return out


def _dashes(
    at: list[tuple[float, float]], lengths: list[float]
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Return the strokes of a broken line, each piece beginning anew."""
    period = sum(lengths)
    out: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for (x1, y1), (x2, y2) in pairwise(at):
        whole = math.hypot(x2 - x1, y2 - y1)
        if whole == 0 or period < 1 or whole / period > 5_000:
            continue
        place, index = 0.0, 0
        while place < whole:
            end = min(place + lengths[index % len(lengths)], whole)
            if index % 2 == 0:
                a, b = place / whole, end / whole
                from_ = (x1 + (x2 - x1) * a, y1 + (y2 - y1) * a)
                out.append((from_, (x1 + (x2 - x1) * b, y1 + (y2 - y1) * b)))
            place, index = max(end, place + 0.5), index + 1
    return out


def _blend(gradient: Gradient, size: tuple[int, int]) -> Image.Image:
    """Return colours along the line of a gradient, a strip made as large as the area."""
    angle = math.radians(gradient.angle)
    cos, sin = math.cos(angle), math.sin(angle)
    width, height = size
    a, b = 255 * cos / width, 255 * sin / height
    c = 256 + 127.5 - a * width / 2 - b * height / 2
    return _strip(gradient.stops).transform(size, Image.Transform.AFFINE, (a, b, c, 0, 0, 0.5))


@lru_cache(maxsize=64)
def _strip(stops: tuple[tuple[float, str], ...]) -> Image.Image:
    """Return the colours of a gradient side by side; a page has many things of one."""
    inner = [_between(sorted(stops), step / 255) for step in range(256)]
    strip = Image.new("RGB", (768, 1))  # what lies beyond either end has its colour
    strip.putdata([*inner[:1] * 256, *inner, *inner[-1:] * 256])
    return strip.resize((768, 2))


def _between(stops: list[tuple[float, str]], place: float) -> tuple[int, int, int]:
    before = [stop for stop in stops if stop[0] <= place] or stops[:1]
    after = [stop for stop in stops if stop[0] >= place] or stops[-1:]
    (low, first), (high, last) = before[-1], after[0]
    part = (place - low) / (high - low) if high > low else 0.0
    one, two = ImageColor.getrgb(first)[:3], ImageColor.getrgb(last)[:3]
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(one, two, strict=True))
    return red, green, blue
