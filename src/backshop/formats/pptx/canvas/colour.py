"""Colours of DrawingML: theme colours and what is done to them (F43.32)."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from backshop.formats.package.guard import Element

from .. import names as n
from ..shape import whole

_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_PART = 100_000.0
_TURN = 21_600_000.0  # of hues
_KINDS = frozenset(map(n.a, ("srgbClr", "schemeClr", "sysClr", "prstClr", "scrgbClr", "hslClr")))
_NAMED = {
    "black": "000000", "white": "FFFFFF", "red": "FF0000", "green": "008000", "blue": "0000FF",
    "yellow": "FFFF00", "cyan": "00FFFF", "magenta": "FF00FF", "gray": "808080", "grey": "808080",
    "silver": "C0C0C0", "maroon": "800000", "olive": "808000", "purple": "800080", "teal": "008080",
    "navy": "000080", "orange": "FFA500", "lime": "00FF00", "pink": "FFC0CB", "brown": "A52A2A",
    "gold": "FFD700", "indigo": "4B0082", "violet": "EE82EE", "darkGray": "A9A9A9",
    "dkGray": "A9A9A9", "lightGray": "D3D3D3", "ltGray": "D3D3D3", "darkBlue": "00008B",
    "dkBlue": "00008B", "darkRed": "8B0000", "dkRed": "8B0000", "darkGreen": "006400",
    "dkGreen": "006400", "crimson": "DC143C", "coral": "FF7F50", "salmon": "FA8072",
    "tomato": "FF6347", "khaki": "F0E68C", "beige": "F5F5DC", "ivory": "FFFFF0",
    "whiteSmoke": "F5F5F5", "steelBlue": "4682B4", "skyBlue": "87CEEB", "royalBlue": "4169E1",
    "slateGray": "708090", "forestGreen": "228B22", "seaGreen": "2E8B57", "chocolate": "D2691E",
}  # fmt: skip

Rgb = tuple[float, float, float]  # from 0 to 1


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour as `#rrggbb`, and how much it covers."""

    code: str
    alpha: float = 1.0


BLACK = Colour("#000000")


def colour_in(
    holder: Element | None, scheme: Mapping[str, str], stands_for: Colour | None = None
) -> Colour | None:
    """Return the colour an element holds; `stands_for` is what `phClr` means there."""
    if holder is None:
        return None
    found = next((child for child in holder.iterchildren("*") if child.tag in _KINDS), None)
    return colour(found, scheme, stands_for) if found is not None else None


def colour(element: Element, scheme: Mapping[str, str], stands_for: Colour | None) -> Colour | None:
    """Return a colour with everything done to it; None where it is not known."""
    start = _base(element, scheme, stands_for)
    if start is None:
        return None
    rgb, alpha = _rgb(start.code), start.alpha
    for change in element.iterchildren("*"):
        name = str(change.tag).rpartition("}")[2]
        value = (whole(change.get("val")) or 0) / _PART
        if name == "alpha":
            alpha = value
        elif name in ("alphaMod", "alphaOff"):
            alpha = alpha * value if name == "alphaMod" else alpha + value
        elif name in _CHANGES:
            rgb = _CHANGES[name](rgb, value)
    return Colour(_code(rgb), min(max(alpha, 0.0), 1.0))


def mixed(one: Colour, other: Colour, part: float = 0.5) -> Colour:
    """Return a colour between two."""
    a, b = _rgb(one.code), _rgb(other.code)
    red, green, blue = (x + (y - x) * part for x, y in zip(a, b, strict=True))
    return Colour(_code((red, green, blue)))


def _base(element: Element, scheme: Mapping[str, str], stands_for: Colour | None) -> Colour | None:
    value = element.get("val") or ""
    match str(element.tag).rpartition("}")[2]:
        case "srgbClr":
            return _known(value)
        case "schemeClr":
            return stands_for if value == "phClr" else _known(scheme.get(value, ""))
        case "sysClr":
            usual = "FFFFFF" if value == "window" else "000000"
            return _known(element.get("lastClr") or usual)
        case "prstClr":
            return _known(_NAMED.get(value, ""))
        case "scrgbClr":
            linear = [(whole(element.get(one)) or 0) / _PART for one in "rgb"]
            red, green, blue = map(_from_linear, linear)
            return Colour(_code((red, green, blue)))
    hue = (whole(element.get("hue")) or 0) / _TURN
    saturation, light = ((whole(element.get(one)) or 0) / _PART for one in ("sat", "lum"))
    return Colour(_code(colorsys.hls_to_rgb(hue % 1, light, saturation)))


def _known(value: str) -> Colour | None:
    return Colour(f"#{value.lower()}") if _HEX.fullmatch(value) else None


def _rgb(code: str) -> Rgb:
    red, green, blue = (int(code[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _code(rgb: Rgb) -> str:
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in rgb)


def _to_linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _from_linear(part: float) -> float:
    part = min(max(part, 0.0), 1.0)
    return part * 12.92 if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055


def _linear(change: Callable[[float, float], float]) -> Callable[[Rgb, float], Rgb]:
    def changed(rgb: Rgb, value: float) -> Rgb:
        red, green, blue = (_from_linear(change(_to_linear(part), value)) for part in rgb)
        return red, green, blue

    return changed


def _in_hls(at: int, change: Callable[[float, float], float]) -> Callable[[Rgb, float], Rgb]:
    def changed(rgb: Rgb, value: float) -> Rgb:
        hls = list(colorsys.rgb_to_hls(*rgb))
        hls[at] = min(max(change(hls[at], value), 0.0), 1.0)
        return colorsys.hls_to_rgb(*hls)

    return changed


def _grey(rgb: Rgb, _: float) -> Rgb:
    level = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]
    return level, level, level


_CHANGES: dict[str, Callable[[Rgb, float], Rgb]] = {
    "lumMod": _in_hls(1, lambda old, value: old * value),
    "lumOff": _in_hls(1, lambda old, value: old + value),
    "lum": _in_hls(1, lambda _, value: value),
    "satMod": _in_hls(2, lambda old, value: old * value),
    "satOff": _in_hls(2, lambda old, value: old + value),
    "sat": _in_hls(2, lambda _, value: value),
    "hueOff": _in_hls(0, lambda old, value: (old + value * _PART / _TURN) % 1),
    "shade": _linear(lambda old, value: old * value),
    "tint": _linear(lambda old, value: old * value + 1 - value),
    "inv": lambda rgb, _: (1 - rgb[0], 1 - rgb[1], 1 - rgb[2]),
    "gray": _grey,
}
