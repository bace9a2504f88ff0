"""Lines of a shape while they are made: straight ones, arcs, whole turns (F43.31)."""

from __future__ import annotations

import math
from dataclasses import dataclass

Step = tuple[str | float, ...]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """One path of a shape; some are only drawn as lines, some only as areas."""

    steps: tuple[Step, ...]
    is_filled: bool = True
    is_stroked: bool = True


class Pen:
    """Draws steps; arcs become curves."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.at: Point = (0.0, 0.0)

    def move(self, x: float, y: float) -> Pen:
        """Begin anew at a point."""
        return self._to(("M", x, y), x, y)

    def line(self, x: float, y: float) -> Pen:
        """Draw to a point."""
        if not self.steps:
            return self.move(x, y)
        return self._to(("L", x, y), x, y)

    def lines(self, *points: Point) -> Pen:
        """Draw through points."""
        for x, y in points:
            self.line(x, y)
        return self

    def curve(self, one: Point, two: Point, end: Point) -> Pen:
        """Draw a curve with two handles."""
        if not self.steps:
            self.move(*one)
        return self._to(("C", *one, *two, *end), *end)

    def quad(self, handle: Point, end: Point) -> Pen:
        """Draw a curve with one handle."""
        (x0, y0), (x1, y1), (x2, y2) = self.at, handle, end
        one = (x0 + (x1 - x0) * 2 / 3, y0 + (y1 - y0) * 2 / 3)
        two = (x2 + (x1 - x2) * 2 / 3, y2 + (y1 - y2) * 2 / 3)
        return self.curve(one, two, end)

    def arc(self, rx: float, ry: float, start: float, sweep: float) -> Pen:
        """Draw a piece of an ellipse from where the pen is; degrees, clockwise."""
        if not self.steps:
            self.move(*self.at)
        sweep = min(max(sweep, -360.0), 360.0)
        begin = _angle(rx, ry, start)
        whole_ = _angle(rx, ry, start + sweep) - begin
        turn = math.radians(sweep)
        while whole_ - turn > math.pi:
            whole_ -= 2 * math.pi
        while turn - whole_ > math.pi:
            whole_ += 2 * math.pi
        x, y = self.at
        cx, cy = x - rx * math.cos(begin), y - ry * math.sin(begin)
        count = max(1, math.ceil(abs(whole_) / (math.pi / 2)))
        part = whole_ / count
        handle = 4 / 3 * math.tan(part / 4)
        for number in range(count):
            a, b = begin + part * number, begin + part * (number + 1)
            one = (math.cos(a) - handle * math.sin(a), math.sin(a) + handle * math.cos(a))
            two = (math.cos(b) + handle * math.sin(b), math.sin(b) - handle * math.cos(b))
            self.curve(
                (cx + rx * one[0], cy + ry * one[1]),
                (cx + rx * two[0], cy + ry * two[1]),
                (cx + rx * math.cos(b), cy + ry * math.sin(b)),
            )
        return self

    def close(self) -> Pen:
        """Draw back to where the path began."""
        if self.steps and self.steps[-1] != ("Z",):
            self.steps.append(("Z",))
        return self

    def oval(self, x: float, y: float, width: float, height: float) -> Pen:
        """Draw a whole ellipse in a box."""
        self.move(x, y + height / 2)
        return self.arc(width / 2, height / 2, 180, 360).close()

    def done(self, *, is_filled: bool = True, is_stroked: bool = True) -> Outline:
        """Return what was drawn."""
        return Outline(steps=tuple(self.steps), is_filled=is_filled, is_stroked=is_stroked)

    def _to(self, step: Step, x: float, y: float) -> Pen:
        self.steps.append(step)
        self.at = (x, y)
        return self


def _angle(rx: float, ry: float, degrees: float) -> float:
    """Return the parameter of an ellipse where a ray of an angle meets it."""
    angle = math.radians(degrees)
    if rx == ry or not rx or not ry:
        return angle
    turns = math.floor((angle + math.pi) / (2 * math.pi))
    found = math.atan2(rx * math.sin(angle), ry * math.cos(angle))
    return found + turns * 2 * math.pi


def moved(outline: Outline, x: float, y: float) -> Outline:
    """Return an outline at another place."""
    steps = tuple(
        (step[0], *(float(v) + (y if at % 2 else x) for at, v in enumerate(step[1:])))
        for step in outline.steps
    )
    return Outline(steps=steps, is_filled=outline.is_filled, is_stroked=outline.is_stroked)
