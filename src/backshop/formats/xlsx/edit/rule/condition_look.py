"""The look that a conditional format gives cells: what programs keep of a cell style for it."""

from __future__ import annotations

from dataclasses import fields, replace

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json
from backshop.formats.write.operation import problem

from ...book.stylesheet import SIDES, Look, StyleSheet, read_look
from ...book.workbook import like
from ..session import Session

_NOT_KEPT = ("font_name", "font_size", "h_align", "v_align", "wrap_text")
_DEFAULT = Look(font_color="9C0006", fill_color="FFC7CE")
_THICK = frozenset({"medium", "thick", "double", "mediumDashed"})  # Excel takes thin lines only


def look_of_condition(session: Session, style: Json, where: str) -> int:
    """Return the number of the look among those of conditional formats."""
    if style is None:
        return session.styles.append("dxfs", _element(session.styles, _DEFAULT))
    look = read_look(style, where, session.warnings)
    for name in _NOT_KEPT:
        if getattr(look, name) is not None:
            session.warnings.add("style_value_ignored", where=f"{where}.{name}")
    look = replace(look, **dict.fromkeys(_NOT_KEPT))
    for side in SIDES:
        edge = getattr(look, f"border_{side}")
        if edge is not None and edge.style in _THICK:
            session.warnings.add("style_value_ignored", where=f"{where}.border_{side}.style")
            look = replace(look, **{f"border_{side}": replace(edge, style="thin")})
    if look.empty:
        kept = [one.name for one in fields(Look) if one.name not in _NOT_KEPT]
        raise problem("bad_value", where, "a conditional format changes one of these", kept)
    return session.styles.append("dxfs", _element(session.styles, look))


def _element(styles: StyleSheet, look: Look) -> Element:
    root = styles.root
    made = etree.Element(like(root, "dxf"))
    _font(made, look)
    if look.number_format is not None:
        number = str(styles.number_format(look.number_format))
        said = {"numFmtId": number, "formatCode": look.number_format}
        etree.SubElement(made, like(root, "numFmt"), said)
    _fill(made, look)
    edges = {side: edge for side in SIDES if (edge := getattr(look, f"border_{side}"))}
    if edges:
        border = etree.SubElement(made, like(root, "border"))
        for side, edge in edges.items():
            line = etree.SubElement(border, like(root, side))
            if edge.style != "none":
                line.set("style", edge.style or "thin")
                color = {"rgb": f"FF{edge.color}"} if edge.color else {"auto": "1"}
                etree.SubElement(line, like(root, "color"), color)
    return made


def _font(made: Element, look: Look) -> None:
    switches = (("b", look.font_bold), ("i", look.font_italic))
    said = [(name, {} if wish else {"val": "0"}) for name, wish in switches if wish is not None]
    if look.font_underline is not None:
        said.append(("u", {} if look.font_underline else {"val": "none"}))
    if look.font_color is not None:
        said.append(("color", {"rgb": f"FF{look.font_color}"}))
    if said:
        font = etree.SubElement(made, like(made, "font"))
        for name, attributes in said:
            etree.SubElement(font, like(made, name), attributes)


def _fill(made: Element, look: Look) -> None:
    """Add a fill; of a solid one these looks keep the colour as that of the background."""
    if look.fill_color is None and look.fill_pattern is None:
        return
    pattern = look.fill_pattern or "solid"
    fill = etree.SubElement(made, like(made, "fill"))
    inner = etree.SubElement(fill, like(made, "patternFill"), patternType=pattern)
    if look.fill_color is not None and pattern != "none":
        names = ("fgColor", "bgColor") if pattern == "solid" else ("fgColor",)
        for name in names:
            etree.SubElement(inner, like(made, name), rgb=f"FF{look.fill_color}")
