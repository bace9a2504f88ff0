"""The axes of a chart: grid lines, ticks, the numbers and categories beside them, titles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..figure import Figure, Path, Stroke
from .data import Axis, Rect
from .lettering import Lettering
from .plane import Plane
from .scale import Scale

_LINE = Stroke(color="#868686", width=1.0)
_TICK, _ROOM = 4.0, 6.0
_STEEP = 45.0
_MEASURED = 200  # of many texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a chart with what is written there: numbers or categories."""

    axis: Axis
    texts: tuple[str, ...]
    lettering: Lettering
    titled: Lettering  # of its title
    turn: float = 0.0  # of the texts, counterclockwise, in degrees
    every: int = 1  # of how many texts one is shown

    @property
    def wide(self) -> float:
        """The width of its widest text."""
        shown = self.texts[:: self.every]
        some = shown[:: max(1, len(shown) // _MEASURED)]
        return max((self.lettering.width(text) for text in some), default=0.0)

    def room(self, *, is_beside: bool) -> float:
        """Return how much room it takes beside the plot, or below it."""
        title = self.titled.height + _ROOM if self.axis.title else 0.0
        if not self.axis.is_shown or not self.axis.has_labels or not self.texts:
            return title + 2.0
        if is_beside:
            return title + self.wide + _ROOM + _TICK
        if self.turn:
            steep = 0.71 if self.turn == _STEEP else 1.0
            return title + self.wide * steep + self.lettering.height * 0.7 + _ROOM
        return title + self.lettering.height + _ROOM


def fitted(side: Side, length: float, count: int) -> Side:
    """Return the categories below a plot, turned and thinned so that they do not meet."""
    band = length / max(1, count)
    height = side.lettering.height
    turn = 0.0
    longest = max(40.0, length * 0.35)
    wide = side.wide
    if wide > band and count > 1:
        turn = _STEEP
    every = max(1, -(-int(height * 1.05 * 100) // max(1, int(band * 100)))) if turn else 1
    if turn and every > 1 and wide <= band * every - 4:
        turn = 0.0
    texts = tuple(
        side.lettering.cut(text, longest) if turn and at % every == 0 else text
        for at, text in enumerate(side.texts)
    )
    return replace(side, texts=texts, turn=turn, every=every)


def grid(plane: Plane, axis: Axis) -> Iterator[Figure]:
    """Yield the lines across the plot at the ticks of the values."""
    if not axis.has_grid:
        return
    steps: list[tuple[str | float, ...]] = []
    for tick in plane.scale.ticks:
        steps += _across(plane.rect, plane.scale.part(tick), plane.is_lying)
    if steps:
        yield Path(steps=tuple(steps), stroke=axis.grid)


def cross_grid(plane: Plane, axis: Axis, scale: Scale | None) -> Iterator[Figure]:
    """Yield the lines across the plot between the categories, or at the numbers of a scatter."""
    if not axis.has_grid:
        return
    marks = scale.ticks if scale is not None else tuple(float(at) for at in range(plane.count + 1))
    steps: list[tuple[str | float, ...]] = []
    for at in marks[:200]:
        share = scale.part(at) if scale is not None else at / max(1, plane.count)
        steps += _across(plane.rect, share, not plane.is_lying)
    yield Path(steps=tuple(steps), stroke=axis.grid)


def _across(rect: Rect, share: float, is_upright: bool) -> list[tuple[str | float, ...]]:
    if is_upright:
        x = rect.x + share * rect.width
        return [("M", x, rect.y), ("L", x, rect.bottom)]
    y = rect.bottom - share * rect.height
    return [("M", rect.x, y), ("L", rect.right, y)]


def beside(
    rect: Rect, side: Side, shares: Sequence[float], *, is_right: bool = False
) -> Iterator[Figure]:
    """Yield an axis at the left or right of the plot, its texts at their shares of the height."""
    x = rect.right if is_right else rect.x
    out = 1 if is_right else -1
    if side.axis.is_shown:
        yield Path(steps=(("M", x, rect.y), ("L", x, rect.bottom)), stroke=_LINE)
        for text, share in list(zip(side.texts, shares, strict=False))[:: side.every]:
            if side.axis.has_labels:
                y = rect.bottom - share * rect.height
                anchor = "start" if is_right else "end"
                yield side.lettering.line(text, x + out * (_TICK + 3), y, anchor)
    if side.axis.title:
        far = side.room(is_beside=True) - side.titled.height / 2
        title = " ".join(side.axis.title.split())
        middle = rect.y + rect.height / 2
        yield side.titled.turned(title, x + out * far, middle, -90)


def above(rect: Rect, side: Side, shares: Sequence[float]) -> Iterator[Figure]:
    """Yield an axis over the plot, its texts at their shares of the width."""
    if side.axis.is_shown:
        yield Path(steps=(("M", rect.x, rect.y), ("L", rect.right, rect.y)), stroke=_LINE)
        for text, share in list(zip(side.texts, shares, strict=False))[:: side.every]:
            if side.axis.has_labels:
                middle = rect.y - _ROOM - side.lettering.height / 2 + 2
                yield side.lettering.centered(text, rect.x + share * rect.width, middle)
    if side.axis.title:
        y = rect.y - side.room(is_beside=False) + side.titled.height / 2
        title = " ".join(side.axis.title.split())
        yield side.titled.centered(title, rect.x + rect.width / 2, y)


def below(rect: Rect, side: Side, shares: Sequence[float], base: float) -> Iterator[Figure]:
    """Yield an axis under the plot; its line stands at `base`, its texts at the bottom."""
    if side.axis.is_shown:
        yield Path(steps=(("M", rect.x, base), ("L", rect.right, base)), stroke=_LINE)
        for text, share in list(zip(side.texts, shares, strict=False))[:: side.every]:
            if not side.axis.has_labels:
                continue
            x = rect.x + share * rect.width
            if side.turn:
                yield side.lettering.turned(text, x, rect.bottom + _ROOM + 4, -side.turn, "end")
            else:
                middle = rect.bottom + _ROOM + side.lettering.height / 2 - 2
                yield side.lettering.centered(text, x, middle)
    if side.axis.title:
        y = rect.bottom + side.room(is_beside=False) - side.titled.height / 2
        title = " ".join(side.axis.title.split())
        yield side.titled.centered(title, rect.x + rect.width / 2, y)
