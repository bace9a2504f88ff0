"""How the look of a cell changed, in words a person reads (B13.9)."""

from __future__ import annotations

from collections.abc import Mapping

from backshop.formats.protocol import Json

from ..book.color_name import named_color
from ..book.stylesheet import SIDES

_SWITCHES = {
    "font_bold": "bold",
    "font_italic": "italic",
    "font_underline": "underline",
    "font_strike": "strikethrough",
    "wrap_text": "text wrap",
    "shrink": "shrink to fit",
    "hidden_formula": "formula hidden under protection",
}
_VALUES = {
    "font_script": "script",
    "number_format": "number format",
    "h_align": "alignment",
    "v_align": "vertical alignment",
    "indent": "indent",
    "rotation": "text rotation",
}
_DEFAULTS = {"number_format": "General", "font_script": "normal"}

Look = Mapping[str, Json]


def differing(before: Look, after: Look) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return of each look what the other has otherwise; absent on both sides is the same."""
    names = [n for n in sorted({*before, *after}) if before.get(n) != after.get(n)]
    return {n: before.get(n) for n in names}, {n: after.get(n) for n in names}


def changes(before: Look, after: Look) -> list[str]:
    """Return what differs between two looks: `bold on`, `fill: none → yellow #FFFF00`."""
    said = [f"font {_font(before)} → {_font(after)}"] if _font(before) != _font(after) else []
    for name, word in _SWITCHES.items():
        if bool(before.get(name)) != bool(after.get(name)):
            said.append(f"{word} {'on' if after.get(name) else 'off'}")
    said += _pair("font color", _color(before, "font_color"), _color(after, "font_color"))
    said += _pair("fill", _fill(before), _fill(after))
    for name, word in _VALUES.items():
        said += _pair(word, _value(before, name), _value(after, name))
    said += _borders(before, after)
    if bool(before.get("unlocked")) != bool(after.get("unlocked")):
        said.append("unlocked" if after.get("unlocked") else "locked")
    if not said and dict(before) != dict(after):
        said.append("other formatting")
    return said


def _pair(word: str, before: str, after: str) -> list[str]:
    return [f"{word}: {before} → {after}"] if before != after else []


def _font(look: Look) -> str:
    size = look.get("font_size")
    name = look.get("font_name") or "default"
    return f"{name} {size}" if size else str(name)


def _value(look: Look, name: str) -> str:
    value = look.get(name)
    return _DEFAULTS.get(name, "none") if value in (None, "") else str(value)


def _color(look: Look, name: str) -> str:
    value = look.get(name)
    return "automatic" if not value else named_color(str(value))


def _fill(look: Look) -> str:
    pattern, color = look.get("fill_pattern"), look.get("fill_color")
    if not pattern:
        return "none"
    if pattern == "solid":
        return named_color(str(color)) if color else "automatic"
    shown = f"{pattern} pattern" if pattern != "gradient" else "gradient"
    detail = color or look.get("fill_detail")
    return f"{shown} {named_color(str(detail))}" if color else shown


def _edge(look: Look, side: str) -> str:
    edge = look.get(f"border_{side}")
    if not isinstance(edge, Mapping):
        return "none"
    color = edge.get("color")
    return f"{edge.get('style')} {named_color(str(color))}" if color else str(edge.get("style"))


def _borders(before: Look, after: Look) -> list[str]:
    """Return the edges that differ; all four alike are one thing to say."""
    pairs = {
        side: (_edge(before, side), _edge(after, side))
        for side in (*SIDES, "diagonal")
        if _edge(before, side) != _edge(after, side)
    }
    if set(pairs) >= set(SIDES) and len({pairs[side] for side in SIDES}) == 1:
        one = pairs[SIDES[0]]
        rest = {side: pair for side, pair in pairs.items() if side not in SIDES}
        pairs = {"": one, **rest}
    return [
        f"{f'{side} border' if side else 'border'}: {a} → {b}" for side, (a, b) in pairs.items()
    ]
