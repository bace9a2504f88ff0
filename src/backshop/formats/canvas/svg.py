"""A canvas as SVG that runs nothing and loads nothing (F43.3).

Text is escaped, numbers are numbers, colours were checked where the figures are made; looks are
attributes, because the pages allow no style in a document.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from itertools import count, groupby
from xml.sax.saxutils import escape, quoteattr

from .figure import Box, Canvas, Figure, Fill, Gradient, Group, Oval, Path, Picture, Stroke, Text

_COLOR = re.compile(r"#[0-9a-fA-F]{6}\Z")
_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def svg(canvas: Canvas) -> str:
    """Return the picture of a canvas; frames are drawn by whoever shows it."""
    writer = _Writer()
    width, height = _n(canvas.width), _n(canvas.height)
    writer.put(f'<rect width="{width}" height="{height}" fill="{_color(canvas.background)}"/>')
    writer.figures(canvas.figures)
    label = f' role="img" aria-label={quoteattr(clean(canvas.label))}' if canvas.label else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"{label}>{writer.text}</svg>'
    )


def clean(text: str) -> str:
    """Return text without what XML cannot hold."""
    return _UNSHOWN.sub("\ufffd", text)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value == value and abs(value) < 1e9 else "0"


def _color(color: str) -> str:
    return color if _COLOR.match(color) else "#000000"


class _Writer:
    def __init__(self) -> None:
        self._out: list[str] = []
        self._ids = count(1)

    @property
    def text(self) -> str:
        return "".join(self._out)

    def put(self, markup: str) -> None:
        self._out.append(markup)

    def figures(self, figures: Iterable[Figure]) -> None:
        """Write figures; texts of one look that follow one another name it once."""
        for look, run in groupby(figures, _letters):
            alike = list(run)
            is_shared = look is not None and len(alike) > 1
            if is_shared:
                self.put(f"<g {look}>")
            for figure in alike:
                if isinstance(figure, Text):
                    self._text(figure, "" if is_shared else f" {look}")
                else:
                    self._figure(figure)
            if is_shared:
                self.put("</g>")

    def _name(self, value: object) -> str:
        """Return an id that no other drawing of the same page has for something else."""
        return f"d{next(self._ids)}-{hashlib.sha256(repr(value).encode()).hexdigest()[:12]}"

    def _figure(self, figure: Figure) -> None:
        match figure:
            case Box():
                round_ = f' rx="{_n(figure.radius)}"' if figure.radius else ""
                self.put(f"<rect{_frame(figure)}{round_}{self._look(figure)}/>")
            case Oval():
                rx, ry = figure.width / 2, figure.height / 2
                self.put(
                    f'<ellipse cx="{_n(figure.x + rx)}" cy="{_n(figure.y + ry)}" '
                    f'rx="{_n(rx)}" ry="{_n(ry)}"{self._look(figure)}/>'
                )
            case Path():
                self.put(f'<path d="{_steps(figure)}"{self._look(figure)}/>')
            case Text():
                self._text(figure, f" {_letters(figure)}")
            case Picture():
                self._picture(figure)
            case Group():
                self._group(figure)

    def _look(self, figure: Box | Oval | Path) -> str:
        opacity = f' opacity="{_n(figure.opacity)}"' if figure.opacity < 1 else ""
        return f' fill="{self._fill(figure.fill)}"{_stroke(figure.stroke)}{opacity}'

    def _fill(self, fill: Fill) -> str:
        if fill is None:
            return "none"
        if isinstance(fill, str):
            return _color(fill)
        return self._gradient(fill)

    def _gradient(self, gradient: Gradient) -> str:
        name = self._name(gradient)
        stops = "".join(
            f'<stop offset="{_n(place)}" stop-color="{_color(color)}"/>'
            for place, color in gradient.stops
        )
        turn = f' gradientTransform="rotate({_n(gradient.angle)} .5 .5)"' if gradient.angle else ""
        self.put(f'<linearGradient id="{name}"{turn}>{stops}</linearGradient>')
        return f"url(#{name})"

    def _text(self, text: Text, look: str) -> None:
        self.put(f'<text x="{_n(text.x)}" y="{_n(text.y)}"{look}>{escape(clean(text.text))}</text>')

    def _picture(self, picture: Picture) -> None:
        kind = "png" if picture.data.startswith(b"\x89PNG") else "jpeg"
        data = base64.b64encode(picture.data).decode()
        opacity = f' opacity="{_n(picture.opacity)}"' if picture.opacity < 1 else ""
        self.put(
            f'<image{_frame(picture)} preserveAspectRatio="none"{opacity} '
            f'href="data:image/{kind};base64,{data}"><title>{escape(clean(picture.alt))}</title></image>'
        )

    def _group(self, group: Group) -> None:
        moves = []
        x, y = (_n(value) for value in group.around)
        if group.turn:
            moves.append(f"rotate({_n(group.turn)} {x} {y})")
        if group.mirror_x or group.mirror_y:
            sx, sy = -1 if group.mirror_x else 1, -1 if group.mirror_y else 1
            moves.append(
                f"translate({x} {y}) scale({sx} {sy}) translate(-{x} -{y})".replace("--", "")
            )
        clip = ""
        if group.clip is not None or group.outline is not None:
            name = self._name((group.clip, group.outline))
            self.put(f'<clipPath id="{name}">{_clip(group)}</clipPath>')
            clip = f' clip-path="url(#{name})"'
        turned = f' transform="{" ".join(moves)}"' if moves else ""
        self.put(f"<g{turned}{clip}>")
        self.figures(group.figures)
        self.put("</g>")


def _clip(group: Group) -> str:
    if group.outline is not None:
        return f'<path d="{_steps(Path(steps=group.outline))}"/>'
    x, y, width, height = (_n(value) for value in group.clip or (0.0, 0.0, 0.0, 0.0))
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}"/>'


def _letters(figure: Figure) -> str | None:
    """Return how the letters of a text look; None for other figures."""
    if not isinstance(figure, Text):
        return None
    cut = figure.face
    look = f'font-family="{cut.family}" font-size="{_n(figure.size)}" fill="{_color(figure.color)}"'
    look += ' font-weight="700"' if cut.bold else ""
    look += ' font-style="italic"' if cut.italic else ""
    lines = [*["underline"][: figure.underline], *["line-through"][: figure.strike]]
    look += f' text-decoration="{" ".join(lines)}"' if lines else ""
    look += f' text-anchor="{figure.anchor}"' if figure.anchor != "start" else ""
    return f'{look} xml:space="preserve"'


def _frame(figure: Box | Picture) -> str:
    return (
        f' x="{_n(figure.x)}" y="{_n(figure.y)}" '
        f'width="{_n(max(0.0, figure.width))}" height="{_n(max(0.0, figure.height))}"'
    )


def _stroke(stroke: Stroke | None) -> str:
    if stroke is None:
        return ""
    dash = f' stroke-dasharray="{" ".join(map(_n, stroke.dash))}"' if stroke.dash else ""
    return f' stroke="{_color(stroke.color)}" stroke-width="{_n(stroke.width)}"{dash}'


def _steps(path: Path) -> str:
    return " ".join(
        " ".join(word if isinstance(word, str) else _n(word) for word in step)
        for step in path.steps
    )
