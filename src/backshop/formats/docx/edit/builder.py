"""Builds the elements of paragraphs and runs, and sets their look (F19.1)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.package.xml_tree import first_child
from backshop.formats.protocol import Json
from backshop.formats.warning import Warnings
from backshop.formats.write import style as looks
from backshop.formats.write.operation import RunSpec
from backshop.formats.write.style import StyleReader

from ..text import name as n
from ..text.document import parent_of
from .schema import PARAGRAPH_STYLE, RUN_STYLE, ParagraphSpec
from .stock import Stock

_MAX_POINTS = 1638  # what Word accepts as a font size
_MAX_SPACE = 1584  # points; 22 inches
_MAX_INDENT = 22.0  # inches
_TWIPS_PER_POINT, _TWIPS_PER_INCH = 20, 1440
_LINE = 240  # a single line

_PPR_ORDER = """
pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers pBdr shd
tabs suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct autoSpaceDE autoSpaceDN bidi
adjustRightInd snapToGrid spacing ind contextualSpacing mirrorIndents suppressOverlap jc
textDirection textAlignment textboxTightWrap outlineLvl divId cnfStyle rPr sectPr pPrChange
"""
_RPR_ORDER = """
rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint noProof
snapToGrid vanish webHidden color spacing w kern position sz szCs highlight u effect bdr shd fitText
vertAlign rtl cs em lang eastAsianLayout specVanish oMath rPrChange
"""
_ORDERS = {
    n.PPR: {n.w(name): at for at, name in enumerate(_PPR_ORDER.split())},
    n.RPR: {n.w(name): at for at, name in enumerate(_RPR_ORDER.split())},
}
_ALIGN = {"left": "left", "center": "center", "right": "right", "justify": "both"}
HIGHLIGHT = {
    "yellow": "yellow",
    "bright_green": "green",
    "turquoise": "cyan",
    "pink": "magenta",
    "blue": "blue",
    "red": "red",
    "dark_blue": "darkBlue",
    "teal": "darkCyan",
    "green": "darkGreen",
    "violet": "darkMagenta",
    "dark_red": "darkRed",
    "dark_yellow": "darkYellow",
    "gray_50": "darkGray",
    "gray_25": "lightGray",
    "black": "black",
    "white": "white",
    "none": "none",
}


def put(properties: Element, name: str, **values: str) -> Element:
    """Set a child of `w:pPr` or `w:rPr` where the schema wants it, and its attributes."""
    tag = n.w(name)
    child = properties.find(tag)
    if child is None:
        order = _ORDERS[properties.tag]
        child = etree.Element(tag)
        rank = order[tag]
        after = next(
            (e for e in properties.iterchildren("*") if order.get(str(e.tag), 99) > rank), None
        )
        properties.insert(len(properties) if after is None else properties.index(after), child)
    for key, value in values.items():
        child.set(n.w(key), value)
    return child


def drop(element: Element, *names: str) -> None:
    """Take attributes away, where they are there."""
    for name in set(map(n.w, names)).intersection(element.attrib):
        del element.attrib[name]


def unrevised(properties: Element, *without: str) -> Element:
    """Return a copy of properties for something new: no marks of tracked changes (F19.7)."""
    copied = copy.deepcopy(properties)
    dropped = [child for child in copied if child.tag in without]
    for element in [*copied.iter(*n.REVISIONS), *dropped]:
        parent_of(element).remove(element)
    return copied


def text_elements(text: str) -> list[Element]:
    """Return the contents of a run: `\\n` is a line break, `\\t` a tab."""
    elements = []
    for piece in _split(text):
        if piece == "\n":
            elements.append(etree.Element(n.BR))
        elif piece == "\t":
            elements.append(etree.Element(n.TAB))
        else:
            element = etree.Element(n.T)
            set_text(element, piece)
            elements.append(element)
    return elements


def one_line_end(text: str) -> str:
    """Return a text with the line ends of other systems as newlines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def set_text(element: Element, text: str) -> None:
    """Set the text of a `w:t`, keeping its outer spaces visible."""
    element.text = text or None
    if text != text.strip() or "  " in text:
        element.set(n.XML_SPACE, "preserve")


def _split(text: str) -> Iterable[str]:
    text = one_line_end(text)
    start = 0
    for at, character in enumerate(text):
        if character in "\n\t":
            if at > start:
                yield text[start:at]
            yield character
            start = at + 1
    if start < len(text):
        yield text[start:]


@dataclass(frozen=True)
class Builder:
    """Makes elements for one document."""

    stock: Stock
    warnings: Warnings

    # --- paragraphs ----------------------------------------------------------------------------

    def paragraph(
        self, spec: ParagraphSpec, *, like: Element | None = None, before: Element | None = None
    ) -> Element:
        """Return a new paragraph.

        `like` lends its style and format when the request gives no style; `before` is the paragraph
        it will follow, whose numbered list it may continue.
        """
        paragraph = etree.Element(n.P)
        if like is not None and "style" not in spec.style:
            self._copy_format(like, paragraph)
        self.format_paragraph(paragraph, spec, before)
        for run in spec.runs:
            paragraph.append(self.run(run))
        return self.stock.at_home(paragraph)

    def _copy_format(self, like: Element, paragraph: Element) -> None:
        properties = like.find(n.PPR)
        if properties is not None:
            paragraph.insert(0, unrevised(properties, n.SECT_PR, n.RPR, n.w("framePr")))

    def format_paragraph(
        self, paragraph: Element, spec: ParagraphSpec, before: Element | None
    ) -> None:
        """Apply the paragraph fields of a request; a value that cannot be used is left out."""
        reader = StyleReader(spec.style, spec.where, self.warnings)
        reader.refuse_others(PARAGRAPH_STYLE)
        style = reader.get("style", lambda value: self.stock.style(value, "paragraph"))
        if style is not None and _is_alias(spec.style["style"], style.name):
            self.warnings.add("alias_used", where=f"{spec.where}.style")
        kind = reader.get("list", looks.one_of(("bullet", "number")))
        level = reader.get("level", _whole_level)
        if kind is not None and "style" not in spec.style:
            style = self.stock.style(
                "List Bullet" if kind == "bullet" else "List Number", "paragraph"
            )
        changes: list[Callable[[Element], object]] = []
        if style is not None:
            name = style.id
            changes.append(lambda p: put(p, "pStyle", val=name))
        if kind is not None:
            changes.append(lambda p: self._number(p, kind, int(level or 0), before))
        elif level is not None:
            changes.append(lambda p: _relevel(p, int(level)))
        changes.extend(_spacing(reader))
        changes.extend(_indents(reader))
        if (align := reader.get("alignment", looks.one_of(_ALIGN))) is not None:
            changes.append(lambda p: put(p, "jc", val=_ALIGN[align]))
        if (breaks := reader.get("page_break_before", looks.boolean)) is not None:
            changes.append(lambda p: put(p, "pageBreakBefore", val="1" if breaks else "0"))
        if changes:
            properties = first_child(paragraph, n.PPR)
            for change in changes:
                change(properties)

    def _number(self, properties: Element, kind: str, level: int, before: Element | None) -> None:
        current = self.stock.list_of(before, kind)
        numbering = put(properties, "numPr")
        for child in list(numbering):
            numbering.remove(child)
        etree.SubElement(numbering, n.ILVL).set(n.VAL, str(level))
        etree.SubElement(numbering, n.NUM_ID).set(n.VAL, current or self.stock.new_list(kind))

    # --- runs ----------------------------------------------------------------------------------

    def run(self, spec: RunSpec, base: Element | None = None) -> Element:
        """Return a new run, or the link around it; `base` is a `w:rPr` to start from."""
        run = etree.Element(n.R)
        if base is not None:
            run.append(unrevised(base))
        reader = StyleReader(spec.style, spec.where, self.warnings)
        reader.refuse_others(RUN_STYLE)
        link = reader.get("hyperlink", looks.link)
        changes = list(_run_changes(reader))
        if link is not None and (style := self.stock.style("Hyperlink", "character")) is not None:
            changes.insert(0, lambda p: put(p, "rStyle", val=style.id))
        if changes:
            properties = first_child(run, n.RPR)
            for change in changes:
                change(properties)
        run.extend(text_elements(spec.text))
        if link is None:
            return run
        wrapper = etree.Element(n.HYPERLINK)
        wrapper.set(n.R_ID, self.stock.link(link))
        wrapper.append(run)
        return wrapper


def _is_alias(given: Json, name: str) -> bool:
    """Whether a style was named in another way than people see it (`Heading1`, F16.5)."""
    return " ".join(str(given).split()).casefold() != name.casefold()


def _whole_level(value: Json) -> int | None:
    ok = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 8
    return value if ok and isinstance(value, int) else None


def _relevel(properties: Element, level: int) -> None:
    """Move an item of the list its paragraph is in already."""
    numbering = properties.find(n.NUM_PR)
    if numbering is not None:
        child = numbering.find(n.ILVL)
        if child is None:
            child = etree.Element(n.ILVL)
            numbering.insert(0, child)
        child.set(n.VAL, str(level))


def _spacing(reader: StyleReader) -> Iterable[Callable[[Element], object]]:
    values = {}
    others = []  # the same in lines, which would win
    for field, attribute in (("space_before", "before"), ("space_after", "after")):
        points = reader.get(field, looks.number(0, _MAX_SPACE))
        if points is not None:
            values[attribute] = str(round(points * _TWIPS_PER_POINT))
            values[f"{attribute}Autospacing"] = "0"
            others.append(f"{attribute}Lines")
    lines = reader.get("line_spacing", looks.number(0, 132, above=True))
    if lines is not None:
        values["line"] = str(max(round(lines * _LINE), 1))
        values["lineRule"] = "auto"
    if values:
        yield lambda p: drop(put(p, "spacing", **values), *others)


def _indents(reader: StyleReader) -> Iterable[Callable[[Element], object]]:
    found = {
        name: round(inches * _TWIPS_PER_INCH)
        for name in ("left", "right", "first_line")
        if (inches := reader.get(f"indent_{name}", looks.number(-_MAX_INDENT, _MAX_INDENT)))
        is not None
    }
    if not found:
        return

    def apply(properties: Element) -> None:
        indent = put(properties, "ind")
        for name, alias in (("left", "start"), ("right", "end")):
            if name in found:
                drop(indent, alias, f"{name}Chars", f"{alias}Chars")
                indent.set(n.w(name), str(found[name]))
        if "first_line" in found:
            first = found["first_line"]
            drop(indent, "firstLine", "hanging", "firstLineChars", "hangingChars")
            indent.set(n.w("hanging" if first < 0 else "firstLine"), str(abs(first)))

    yield apply


def _run_changes(reader: StyleReader) -> Iterable[Callable[[Element], object]]:
    if (font := reader.get("font_name", looks.text())) is not None:
        fonts = dict.fromkeys(("ascii", "hAnsi", "cs"), font)
        themed = ("asciiTheme", "hAnsiTheme", "cstheme")
        yield lambda p: drop(put(p, "rFonts", **fonts), *themed)
    if (size := reader.get("font_size", looks.number(0, _MAX_POINTS, above=True))) is not None:
        half = str(max(round(size * 2), 1))
        yield lambda p: (put(p, "sz", val=half), put(p, "szCs", val=half))
    for field, names in (("bold", ("b", "bCs")), ("italic", ("i", "iCs"))):
        yield from _switches(reader, field, names)
    if (line := reader.get("underline", looks.boolean)) is not None:
        shown = "single" if line else "none"
        yield lambda p: put(p, "u", val=shown)
    if (colour := reader.get("font_color", looks.colour)) is not None:
        yield lambda p: _recolour(p, colour)
    if (marker := reader.get("highlight_color", looks.highlight)) is not None:
        yield lambda p: put(p, "highlight", val=HIGHLIGHT[marker])


def _switches(
    reader: StyleReader, field: str, names: tuple[str, ...]
) -> Iterable[Callable[[Element], object]]:
    value = reader.get(field, looks.boolean)
    if value is None:
        return

    def apply(properties: Element) -> None:
        for name in names:
            child = put(properties, name)
            drop(child, "val")
            if not value:
                child.set(n.VAL, "0")

    yield apply


def _recolour(properties: Element, colour: str) -> None:
    drop(put(properties, "color", val=colour), "themeColor", "themeTint", "themeShade")
