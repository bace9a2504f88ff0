"""How cells look: fonts, fills, borders and colours of the style table, in the words of F18."""

from __future__ import annotations

import colorsys
import math
from functools import cached_property

from lxml import etree

from backshop.formats.protocol import Json

from ..book import number_format
from ..book.stylesheet import SIDES
from ..book.workbook import Book, child, local, truth

# Excel's palette for `indexed` colours; 64 and 65 are the system's text and window
_PALETTE = """
000000 FFFFFF FF0000 00FF00 0000FF FFFF00 FF00FF 00FFFF 000000 FFFFFF FF0000 00FF00 0000FF
FFFF00 FF00FF 00FFFF 800000 008000 000080 808000 800080 008080 C0C0C0 808080 9999FF 993366
FFFFCC CCFFFF 660066 FF8080 0066CC CCCCFF 000080 FF00FF FFFF00 00FFFF 800080 800000 008080
0000FF 00CCFF CCFFFF CCFFCC FFFF99 99CCFF FF99CC CC99FF FFCC99 3366FF 33CCCC 99CC00 FFCC00
FF9900 FF6600 666699 969696 003366 339966 003300 333300 993300 993366 333399 333333 000000
FFFFFF
"""
_INDEXED = _PALETTE.split()
# a theme lists dark 1, light 1, dark 2, light 2; cells count light 1 first
_THEME_ORDER = (1, 0, 3, 2, 4, 5, 6, 7, 8, 9, 10, 11)
_DEFAULT_THEME = (
    *("000000", "FFFFFF", "1F497D", "EEECE1", "4F81BD", "C0504D", "9BBB59", "8064A2"),
    *("4BACC6", "F79646", "0000FF", "800080"),
)


class Looks:
    """The style table of a workbook, read."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self.root = book.styles_root

    def table(self, name: str) -> list[etree._Element]:
        """Return the entries of a list of the styles part."""
        found = child(self.root, name)
        return [] if found is None else [item for item in found if isinstance(item.tag, str)]

    @cached_property
    def xfs(self) -> list[etree._Element]:
        """The cell formats."""
        return self.table("cellXfs")

    @cached_property
    def theme(self) -> list[str]:
        """The theme's colours in the order of its file."""
        part = self._book.related("theme")
        if part is None:
            return list(_DEFAULT_THEME)
        scheme = next(self._book.package.xml(part).iter("{*}clrScheme"), None)
        found = []
        for slot in scheme if scheme is not None else ():
            inner = next((e for e in slot if isinstance(e.tag, str)), None)
            value = inner.get("lastClr") or inner.get("val") if inner is not None else None
            found.append((value or "000000").upper())
        return found or list(_DEFAULT_THEME)

    def color(self, element: etree._Element | None) -> str | None:
        """Return a colour as `#RRGGBB`, None when there is none or it is automatic."""
        if element is None or truth(element.get("auto")):
            return None
        rgb = element.get("rgb")
        base: str | None = None
        if rgb and len(rgb) >= 6:
            base = rgb[-6:].upper()
        elif (index := element.get("indexed") or "").isdigit() and int(index) < len(_INDEXED):
            base = _INDEXED[int(index)]
        elif (index := element.get("theme") or "").isdigit() and int(index) < len(_THEME_ORDER):
            place = _THEME_ORDER[int(index)]
            base = self.theme[place] if place < len(self.theme) else None
        if base is None or any(c not in "0123456789ABCDEF" for c in base):
            return None
        return "#" + _tinted(base, element.get("tint"))

    def font(self, element: etree._Element) -> dict[str, Json]:
        """Return a font's fields."""
        size = child(element, "sz")
        name = child(element, "name")
        return {
            "name": name.get("val") if name is not None else None,
            "size": _float(size.get("val")) if size is not None else None,
            "bold": _switch(element, "b"),
            "italic": _switch(element, "i"),
            "underline": _switch(element, "u"),
            "color": self.color(child(element, "color")),
        }

    def fill(self, element: etree._Element) -> dict[str, Json]:
        """Return a fill's fields; a gradient has the pattern `gradient`."""
        pattern = child(element, "patternFill")
        if pattern is None:
            return {"pattern": "gradient", "fg_color": None, "bg_color": None}
        return {
            "pattern": pattern.get("patternType") or "none",
            "fg_color": self.color(child(pattern, "fgColor")),
            "bg_color": self.color(child(pattern, "bgColor")),
        }

    def border(self, element: etree._Element) -> dict[str, Json]:
        """Return a border's edges, None where there is no line."""
        edges: dict[str, Json] = {}
        names = {"start": "left", "end": "right"}
        found = {names.get(local(item), local(item)): item for item in element}
        for side in SIDES:
            edge = found.get(side)
            line = edge.get("style") if edge is not None else None
            if edge is None or not line or line == "none":
                edges[side] = None
            else:
                edges[side] = {"style": line, "color": self.color(child(edge, "color"))}
        return edges

    def describe(self, index: int) -> dict[str, Json]:
        """Return the fields of F18 that a cell format really sets."""
        if index >= len(self.xfs):
            return {}
        xf = self.xfs[index]
        look: dict[str, Json] = {}
        font = self._entry("fonts", xf.get("fontId"))
        if font is not None and (index == 0 or xf.get("fontId") not in {None, "0"}):
            for key, value in self.font(font).items():
                if value:
                    look[f"font_{key}"] = value
        fill = self._entry("fills", xf.get("fillId"))
        if fill is not None:
            fields = self.fill(fill)
            if fields["pattern"] not in {"none", None}:
                look["fill_pattern"] = fields["pattern"]
                if fields["fg_color"]:
                    look["fill_color"] = fields["fg_color"]
        code, _ = self._book.formats.of(index)
        if code != number_format.GENERAL:
            look["number_format"] = code
        look |= _placing(child(xf, "alignment"), _ALIGNED, "wrapText", "wrap_text")
        border = self._entry("borders", xf.get("borderId"))
        if border is not None:
            for side, edge in self.border(border).items():
                if edge:
                    look[f"border_{side}"] = edge
        return look

    def whole(self, index: int) -> dict[str, Json]:
        """Return all a cell format amounts to, what it takes from the workbook's own included.

        Two cells look the same if these are equal, whichever of it their formats set (F29.5).
        """
        if index >= len(self.xfs):
            return {}
        xf = self.xfs[index]
        look = self.describe(index)
        font = self._entry("fonts", xf.get("fontId"))
        if font is not None:
            look |= {f"font_{key}": value for key, value in self.font(font).items() if value}
            look |= {"font_strike": True} if _switch(font, "strike") else {}
            script = child(font, "vertAlign")
            if script is not None and script.get("val") not in {None, "baseline"}:
                look["font_script"] = script.get("val")
        fill = self._entry("fills", xf.get("fillId"))
        if fill is not None and child(fill, "gradientFill") is not None:
            look["fill_detail"] = etree.tostring(fill, method="c14n").decode()
        look |= _placing(child(xf, "alignment"), _PLACED, "shrinkToFit", "shrink")
        look |= _protection(child(xf, "protection"))
        border = self._entry("borders", xf.get("borderId"))
        diagonal = child(border, "diagonal") if border is not None else None
        if diagonal is not None and diagonal.get("style") not in {None, "none"}:
            color = self.color(child(diagonal, "color"))
            look["border_diagonal"] = {"style": diagonal.get("style"), "color": color}
        return look

    def _entry(self, table: str, index: str | None) -> etree._Element | None:
        items = self.table(table)
        number = int(index) if index and index.isdigit() else 0
        return items[number] if number < len(items) else None


_ALIGNED = {"horizontal": ("h_align", "general"), "vertical": ("v_align", "bottom")}
_PLACED = {"indent": ("indent", "0"), "textRotation": ("rotation", "0")}


def _placing(
    element: etree._Element | None,
    values: dict[str, tuple[str, str]],
    switch: str,
    word: str,
) -> dict[str, Json]:
    """Return how text stands in a cell: values that are not the usual ones, and a switch."""
    if element is None:
        return {}
    said = {our: (element.get(name), usual) for name, (our, usual) in values.items()}
    found: dict[str, Json] = {k: v for k, (v, usual) in said.items() if v not in {None, usual}}
    return found | ({word: True} if truth(element.get(switch)) else {})


def _protection(element: etree._Element | None) -> dict[str, Json]:
    """Return what a protected sheet does with a cell, where that is not as usual."""
    if element is None:
        return {}
    found: dict[str, Json] = {}
    if element.get("locked") in {"0", "false"}:
        found["unlocked"] = True
    if truth(element.get("hidden")):
        found["hidden_formula"] = True
    return found


def _switch(font: etree._Element, name: str) -> bool:
    element = child(font, name)
    return element is not None and element.get("val") not in {"0", "false", "none"}


def _float(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value


def _tinted(rgb: str, tint: str | None) -> str:
    amount = _float(tint) or 0.0
    if not amount:
        return rgb
    red, green, blue = (int(rgb[i : i + 2], 16) / 255 for i in (0, 2, 4))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    light = light * (1 + amount) if amount < 0 else light * (1 - amount) + amount
    mixed = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), saturation)
    return "".join(f"{round(part * 255):02X}" for part in mixed)
