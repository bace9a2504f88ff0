"""Outlines that a file describes itself, with the small formulas of the standard (F43.31)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from backshop.formats.package.guard import Element

from .. import names as n
from .outline import Outline, Pen

_STEPS_MAX = 20_000  # of all paths of a shape
_FAR = 1e12
_EMU = 9525  # of a pixel
_MINUTES = 60_000.0  # of an angle, in a degree


def custom(geometry: Element, width: float, height: float) -> list[Outline] | None:
    """Return the paths of a shape; None where they cannot be followed."""
    found: list[Outline] = []
    left = _STEPS_MAX
    for path in geometry.iterfind(f"{n.a('pathLst')}/{n.a('path')}"):
        left -= len(path)
        if left < 0:
            return None
        own = _number(path.get("w")) or width * _EMU, _number(path.get("h")) or height * _EMU
        guides = _guides(geometry, *own)
        scale = width / own[0] if own[0] else 1.0, height / own[1] if own[1] else 1.0
        pen = _drawn(path, guides, scale)
        found.append(
            pen.done(is_filled=path.get("fill") != "none", is_stroked=path.get("stroke") not in _NO)
        )
    return found or None


_NO = frozenset({"0", "false"})


def _drawn(path: Element, guides: dict[str, float], scale: tuple[float, float]) -> Pen:
    pen = Pen()

    def points(step: Element) -> Iterator[tuple[float, float]]:
        for point in step.iterchildren(n.a("pt")):
            x, y = _value(point.get("x"), guides), _value(point.get("y"), guides)
            yield x * scale[0], y * scale[1]

    for step in path.iterchildren("*"):
        at = list(points(step))
        match str(step.tag).rpartition("}")[2]:
            case "moveTo" if at:
                pen.move(*at[0])
            case "lnTo" if at:
                pen.line(*at[0])
            case "cubicBezTo" if len(at) == 3:
                pen.curve(*at)
            case "quadBezTo" if len(at) == 2:
                pen.quad(*at)
            case "arcTo":
                radii = (_value(step.get(name), guides) for name in ("wR", "hR"))
                rx, ry = (abs(r) * s for r, s in zip(radii, scale, strict=True))
                start, sweep = (_value(step.get(a), guides) / _MINUTES for a in ("stAng", "swAng"))
                pen.arc(rx, ry, start, sweep)
            case "close":
                pen.close()
    return pen


def _guides(geometry: Element, width: float, height: float) -> dict[str, float]:
    """Return the values of the names a geometry uses, each made of those before it."""
    side = min(width, height)
    known = {
        "w": width, "h": height, "l": 0.0, "t": 0.0, "r": width, "b": height,
        "hc": width / 2, "vc": height / 2, "ss": side, "ls": max(width, height),
        "cd2": 10_800_000.0, "cd4": 5_400_000.0, "cd8": 2_700_000.0, "3cd4": 16_200_000.0,
        "3cd8": 8_100_000.0, "5cd8": 13_500_000.0, "7cd8": 18_900_000.0,
    }  # fmt: skip
    for part in (2, 3, 4, 5, 6, 8, 10, 12, 16, 32):
        known[f"wd{part}"], known[f"hd{part}"] = width / part, height / part
        known[f"ssd{part}"] = side / part
    for name in ("avLst", "gdLst"):
        for guide in geometry.iterfind(f"{n.a(name)}/{n.a('gd')}"):
            known[guide.get("name") or ""] = _formula(guide.get("fmla") or "", known)
    return known


def _formula(text: str, known: dict[str, float]) -> float:
    name, *words = text.split()[:4] or [""]
    values = [_value(word, known) for word in words]
    make = _FORMULAS.get(name)
    try:
        found = make(*values) if make is not None else 0.0
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return 0.0
    return found if abs(found) < _FAR else 0.0


def _value(word: str | None, known: dict[str, float]) -> float:
    return known[word] if word in known else _number(word)


def _number(word: str | None) -> float:
    try:
        found = float(word or 0)
    except ValueError:
        return 0.0
    return found if abs(found) < _FAR else 0.0


def _turn(value: float) -> float:
    return math.radians(value / _MINUTES)


_FORMULAS: dict[str, Callable[..., float]] = {
    "val": lambda x: x,
    "*/": lambda x, y, z: x * y / z,
    "+-": lambda x, y, z: x + y - z,
    "+/": lambda x, y, z: (x + y) / z,
    "?:": lambda x, y, z: y if x > 0 else z,
    "abs": abs,
    "at2": lambda x, y: math.degrees(math.atan2(y, x)) * _MINUTES,
    "cat2": lambda x, y, z: x * math.cos(math.atan2(z, y)),
    "sat2": lambda x, y, z: x * math.sin(math.atan2(z, y)),
    "cos": lambda x, y: x * math.cos(_turn(y)),
    "sin": lambda x, y: x * math.sin(_turn(y)),
    "tan": lambda x, y: x * math.tan(_turn(y)),
    "max": max,
    "min": min,
    "mod": lambda x, y, z: math.sqrt(x * x + y * y + z * z),
    "pin": lambda x, y, z: min(max(y, x), z),
    "sqrt": math.sqrt,
}
