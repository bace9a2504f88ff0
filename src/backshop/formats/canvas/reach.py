"""How far figures reach, before and after they are mirrored and turned."""

from __future__ import annotations

import math
from dataclasses import replace

from .figure import Figure, Group, Path, Picture, Text

Reach = tuple[float, float, float, float]  # left, top, right, bottom


def pixels(
    reach: Reach | None, factor: float, within: tuple[int, int, int, int]
) -> tuple[int, int, int, int] | None:
    """Return the pixels that a reach covers of others: a small layer is a quick one."""
    if reach is None:
        return None
    low = [math.floor(value * factor) for value in reach[:2]]
    high = [math.ceil(value * factor) for value in reach[2:]]
    left, top = max(within[0], low[0]), max(within[1], low[1])
    right, bottom = min(within[2], high[0]), min(within[3], high[1])
    return (left, top, right, bottom) if right > left and bottom > top else None


def before_moved(
    group: Group, factor: float, page: tuple[int, int, int, int]
) -> tuple[int, int, int, int]:
    """Return the pixels that are seen on a page once a group is mirrored and turned."""
    seen = (page[0] / factor, page[1] / factor, page[2] / factor, page[3] / factor)
    back = Group(figures=(), turn=-group.turn, around=group.around)
    mirrored = replace(group, turn=0.0)
    low = moved(mirrored, moved(back, seen)) or seen
    left, top = math.floor(low[0] * factor), math.floor(low[1] * factor)
    return left, top, math.ceil(low[2] * factor), math.ceil(low[3] * factor)


def reach_of(group: Group) -> Reach | None:
    """Return how far the figures of a group reach before they are moved; None: nowhere."""
    reaches = [found for one in group.figures if (found := _reach(one)) is not None]
    found = _around_all(reaches)
    if found is None or group.clip is None:
        return found
    x, y, width, height = group.clip
    return (
        max(found[0], x),
        max(found[1], y),
        min(found[2], x + width),
        min(found[3], y + height),
    )


def _reach(figure: Figure) -> Reach | None:
    """Return the rectangle that a figure stays in, its line with it."""
    match figure:
        case Group():
            return moved(figure, reach_of(figure))
        case Text():
            wide, tall = figure.face.width(figure.text, figure.size), 2 * figure.size
            low = figure.x - wide - tall
            return low, figure.y - tall, figure.x + wide + tall, figure.y + tall
        case Path():
            numbers = [[float(n) for n in step[1:]] for step in figure.steps]
            points = [(n[at], n[at + 1]) for n in numbers for at in range(0, len(n) - 1, 2)]
            if not points:
                return None
            xs, ys = zip(*points, strict=True)
            pen = 1.0 + (figure.stroke.width if figure.stroke is not None else 0.0)
            return min(xs) - pen, min(ys) - pen, max(xs) + pen, max(ys) + pen
        case _:
            stroke = None if isinstance(figure, Picture) else figure.stroke
            pen = 1.0 + (stroke.width if stroke is not None else 0.0)
            right, bottom = figure.x + figure.width, figure.y + figure.height
            return figure.x - pen, figure.y - pen, right + pen, bottom + pen


def moved(group: Group, reach: Reach | None) -> Reach | None:
    """Return where a rectangle lies once it is mirrored and turned as a group is."""
    if reach is None or not (group.turn or group.mirror_x or group.mirror_y):
        return reach
    x, y = group.around
    sx, sy = (-1 if group.mirror_x else 1), (-1 if group.mirror_y else 1)
    angle = math.radians(group.turn)
    cos, sin = math.cos(angle), math.sin(angle)
    corners = []
    for left, top in ((0, 1), (2, 1), (2, 3), (0, 3)):
        across, down = (reach[left] - x) * sx, (reach[top] - y) * sy
        corners.append((x + across * cos - down * sin, y + across * sin + down * cos))
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _around_all(reaches: list[Reach]) -> Reach | None:
    if not reaches:
        return None
    lefts, tops, rights, bottoms = zip(*reaches, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
