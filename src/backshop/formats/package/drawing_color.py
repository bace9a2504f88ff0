"""Colours of drawings and charts, as `#rrggbb`: plain ones, those of a theme, and their shades."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Mapping

from lxml import etree

from .guard import Element

Theme = Mapping[str, str]
"""The colours of a theme by name (`accent1`, `dk1`, `tx1`, …), as `#rrggbb`."""

OFFICE: Theme = {
    "dk1": "#000000",
    "lt1": "#ffffff",
    "dk2": "#44546a",
    "lt2": "#e7e6e6",
    "accent1": "#4472c4",
    "accent2": "#ed7d31",
    "accent3": "#a5a5a5",
    "accent4": "#ffc000",
    "accent5": "#5b9bd5",
    "accent6": "#70ad47",
    "hlink": "#0563c1",
    "folHlink": "#954f72",
}
RECOLOURED = "recoloured pictures are drawn in their own colours"
_RECOLOURS = frozenset(
    {"biLevel", "clrChange", "clrRepl", "duotone", "grayscl", "hsl", "lum", "tint"}
)
_SAME = {"tx1": "dk1", "bg1": "lt1", "tx2": "dk2", "bg2": "lt2"}
_HEX = re.compile(r"[0-9a-fA-F]{6}")
_PRESETS = {
    "black": "#000000",
    "white": "#ffffff",
    "red": "#ff0000",
    "green": "#008000",
    "blue": "#0000ff",
    "yellow": "#ffff00",
    "orange": "#ffa500",
    "gray": "#808080",
    "grey": "#808080",
    "purple": "#800080",
}


def theme_colors(root: Element | None) -> Theme:
    """Return the colours of a theme part; those of Office where it says none."""
    scheme = next(root.iter("{*}clrScheme"), None) if root is not None else None
    found = dict(OFFICE)
    for slot in scheme if scheme is not None else ():
        inner = next((item for item in slot if isinstance(item.tag, str)), None)
        text = (inner.get("lastClr") or inner.get("val") or "") if inner is not None else ""
        if isinstance(slot.tag, str) and _HEX.fullmatch(text):
            found[etree.QName(slot).localname] = f"#{text.lower()}"
    return found


def color_of(holder: Element | None, theme: Theme) -> str | None:
    """Return the colour inside an element such as `solidFill`; None where it names none."""
    for item in holder if holder is not None else ():
        if isinstance(item.tag, str):
            base = _base(item, theme)
            return None if base is None else _shaded(base, item)
    return None


def opacity_of(holder: Element | None) -> float:
    """Return how much a colour covers, from 0 to 1."""
    alpha = next(holder.iter("{*}alpha"), None) if holder is not None else None
    return 1.0 if alpha is None else min(max(_part(alpha.get("val")), 0.0), 1.0)


def solid_fill(properties: Element | None, theme: Theme) -> str | None:
    """Return the colour of a plain fill of shape properties; of a gradient its first one."""
    for item in properties if properties is not None else ():
        name = etree.QName(item).localname if isinstance(item.tag, str) else ""
        if name == "solidFill":
            return color_of(item, theme)
        if name == "gradFill":
            return color_of(next(item.iter("{*}gs"), None), theme)
        if name == "pattFill":
            return color_of(next(item.iter("{*}fgClr"), None), theme)
    return None


def is_unfilled(properties: Element | None) -> bool:
    """Whether shape properties say that nothing is filled."""
    items = properties if properties is not None else ()
    return any(isinstance(i.tag, str) and etree.QName(i).localname == "noFill" for i in items)


def is_recoloured(blip: Element | None) -> bool:
    """Whether a picture is shown in other colours than its own: grey, two colours, brighter."""
    for item in blip if blip is not None else ():
        name = etree.QName(item).localname if isinstance(item.tag, str) else ""
        if name in _RECOLOURS and (name != "lum" or item.attrib):
            return True
    return False


def _base(item: Element, theme: Theme) -> str | None:
    name, said = etree.QName(item).localname, item.get("val") or ""
    if name == "srgbClr":
        return f"#{said.lower()}" if _HEX.fullmatch(said) else None
    if name == "sysClr":
        last = item.get("lastClr") or ("ffffff" if said == "window" else "000000")
        return f"#{last.lower()}" if _HEX.fullmatch(last) else None
    if name == "schemeClr":
        return theme.get(said) or theme.get(_SAME.get(said, ""))
    if name == "prstClr":
        return _PRESETS.get(said)
    if name == "scrgbClr":
        parts = [min(max(_part(item.get(key)), 0.0), 1.0) for key in ("r", "g", "b")]
        return "#" + "".join(f"{round(255 * part ** (1 / 2.2)):02x}" for part in parts)
    return None


def _shaded(base: str, item: Element) -> str:
    red, green, blue = (int(base[at : at + 2], 16) / 255 for at in (1, 3, 5))
    for change in item.iterchildren("{*}*"):
        name, part = etree.QName(change).localname, _part(change.get("val"))
        if name == "tint":
            red, green, blue = (one * part + 1 - part for one in (red, green, blue))
        elif name == "shade":
            red, green, blue = (one * part for one in (red, green, blue))
        elif name in ("lumMod", "lumOff", "satMod"):
            hue, light, full = colorsys.rgb_to_hls(red, green, blue)
            light = light * part if name == "lumMod" else light + part * (name == "lumOff")
            full = full * part if name == "satMod" else full
            red, green, blue = colorsys.hls_to_rgb(hue, _within(light), _within(full))
    return "#" + "".join(f"{round(255 * _within(one)):02x}" for one in (red, green, blue))


def _within(part: float) -> float:
    return min(max(part, 0.0), 1.0)


def _part(text: str | None) -> float:
    """Return a share, told in thousandths of a percent or in percent."""
    try:
        raw = text or "0"
        value = float(raw[:-1]) / 100 if raw.endswith("%") else float(raw) / 100_000
    except ValueError:
        return 0.0
    return value if -1e6 < value < 1e6 else 0.0
