"""Writes text into shapes: paragraphs, runs and their look (F20.1, F20.4, F20.6)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence

from lxml import etree

from backshop.formats.package.drawing_text import is_blank, paragraph_text
from backshop.formats.package.guard import Element
from backshop.formats.package.xml_tree import first_child
from backshop.formats.protocol import JsonObject
from backshop.formats.warning import Warnings
from backshop.formats.write import style as looks
from backshop.formats.write.operation import RunSpec
from backshop.formats.write.style import HIGHLIGHTS, StyleReader

from . import names as n
from .schema import FONT_SIZE, PARAGRAPH_STYLE, RUN_STYLE, Line
from .shape import level_of

_ALIGN = {"left": "l", "center": "ctr", "right": "r", "justify": "just"}
_PPR_ORDER = """
lnSpc spcBef spcAft buClrTx buClr buSzTx buSzPct buSzPts buFontTx buFont buNone buAutoNum buChar
buBlip tabLst defRPr extLst
"""
_RPR_ORDER = """
ln noFill solidFill gradFill blipFill pattFill grpFill effectLst effectDag highlight uLnTx uLn
uFillTx uFill latin ea cs sym hlinkClick hlinkMouseOver rtl extLst
"""
_ORDERS = {
    n.PPR: {n.a(name): at for at, name in enumerate(_PPR_ORDER.split())},
    n.RPR: {n.a(name): at for at, name in enumerate(_RPR_ORDER.split())},
}
_BULLETS = ("- ", "* ", "• ")
_FILLS = ("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill")


def put(properties: Element, name: str) -> Element:
    """Return an empty child of `a:pPr` or `a:rPr` at the place the schema wants."""
    child = etree.Element(n.a(name))
    place(properties, child)
    return child


def place(properties: Element, child: Element) -> None:
    """Put a child of `a:pPr` or `a:rPr` at its place, instead of one of the same name."""
    for old in properties.findall(str(child.tag)):
        properties.remove(old)
    order = _ORDERS[properties.tag]
    rank = order[str(child.tag)]
    after = next(
        (e for e in properties.iterchildren("*") if order.get(str(e.tag), 99) > rank), None
    )
    properties.insert(len(properties) if after is None else properties.index(after), child)


class Writer:
    """Writes lines into text bodies in the look of what stood there."""

    def __init__(self, warnings: Warnings) -> None:
        self.warnings = warnings

    def set_lines(
        self,
        body: Element,
        lines: Sequence[Line],
        style: JsonObject,
        where: str,
        *,
        styled: bool = False,
        bulleted: bool = False,
    ) -> bool:
        """Replace the paragraphs of a text body; say whether that changed anything.

        The first paragraph lends its format, and without runs of their own the lines take the font
        of its first run.
        """
        old = list(body.iterchildren(n.P_T))
        lines = [_unbulleted(line) for line in lines] if bulleted and not styled else lines
        if not style and not styled and _says(old, lines):
            return False
        model = old[0] if old else None
        new = [self._paragraph(line, model, styled) for line in lines]
        at = body.index(old[0]) if old else len(body)
        for paragraph in old:
            body.remove(paragraph)
        body[at:at] = new or [etree.Element(n.P_T)]
        self.format(new, style, where)
        return True

    def append_lines(
        self, body: Element, lines: Sequence[Line], style: JsonObject, where: str, bulleted: bool
    ) -> None:
        """Add paragraphs after the last one that says something, in its look."""
        old = list(body.iterchildren(n.P_T))
        model = old[0] if old else None  # an empty place may have a look of its own
        while old and is_blank(old[-1]):
            body.remove(old.pop())
        model = old[-1] if old else model
        lines = [_unbulleted(line) for line in lines] if bulleted else lines
        new = [self._paragraph(line, model, False, keep_level=False) for line in lines]
        body.extend(new)
        self.format(new, style, where)

    def _paragraph(
        self, line: Line, model: Element | None, styled: bool, *, keep_level: bool = True
    ) -> Element:
        paragraph = etree.Element(n.P_T)
        look = model.find(n.PPR) if model is not None else None
        if look is not None:
            paragraph.append(copy.deepcopy(look))
        properties = paragraph.find(n.PPR)
        if line.level or (not keep_level and properties is not None):
            if properties is None:
                properties = etree.SubElement(paragraph, n.PPR)
            if line.level:
                properties.set("lvl", str(line.level))
            elif "lvl" in properties.attrib:
                del properties.attrib["lvl"]
        base = next(model.iterfind(f"{n.R_T}/{n.RPR}"), None) if model is not None else None
        if base is None and model is not None:
            base = model.find(n.END_RPR)
        for run in line.runs:
            paragraph.extend(self.runs(run, None if styled else base))
        end = model.find(n.END_RPR) if model is not None else None
        if end is not None:
            paragraph.append(copy.deepcopy(end))
        return paragraph

    def runs(self, spec: RunSpec, base: Element | None = None) -> list[Element]:
        """Return the runs of a text; a newline inside it is a line break."""
        made = []
        for number, text in enumerate(spec.text.split("\n")):
            properties = etree.Element(n.RPR)
            if base is not None:
                properties = copy.deepcopy(base)
                properties.tag = n.RPR
                for child in properties.findall(n.a("hlinkClick")):
                    properties.remove(child)
            self.format_run(properties, spec)
            if number:
                line_break = etree.Element(n.BR)
                line_break.append(copy.deepcopy(properties))
                made.append(line_break)
            if text or not number:
                run = etree.Element(n.R_T)
                run.append(properties)
                etree.SubElement(run, n.T).text = text or None
                made.append(run)
        return made

    def format_run(self, properties: Element, spec: RunSpec) -> None:
        """Apply the fields of a run; a value that cannot be used is left out."""
        reader = StyleReader(spec.style, spec.where, self.warnings)
        reader.refuse_others(RUN_STYLE)
        for change in _run_changes(reader):
            change(properties)

    def format(self, paragraphs: Iterable[Element], style: JsonObject, where: str) -> None:
        """Apply the paragraph fields of an operation."""
        reader = StyleReader(style, where, self.warnings)
        reader.refuse_others(PARAGRAPH_STYLE)
        changes = list(_paragraph_changes(reader))
        for paragraph in paragraphs if changes else ():
            properties = first_child(paragraph, n.PPR)
            for change in changes:
                change(properties)


def _says(paragraphs: Sequence[Element], lines: Sequence[Line]) -> bool:
    """Whether the paragraphs say exactly this already, at these levels."""
    if len(paragraphs) != len(lines):
        return False
    return all(
        paragraph_text(paragraph) == line.text
        and (not line.level or level_of(paragraph) == line.level)
        for paragraph, line in zip(paragraphs, lines, strict=True)
    )


def _unbulleted(line: Line) -> Line:
    """Take a typed bullet off a line whose placeholder draws one (F20.4)."""
    if not line.runs:
        return line
    first, *rest = line.runs
    for bullet in _BULLETS:
        if first.text.startswith(bullet):
            text = first.text[len(bullet) :].lstrip()
            return Line(line.level, (RunSpec(text, first.style, first.where), *rest))
    return line


def _paragraph_changes(reader: StyleReader) -> Iterable[Callable[[Element], object]]:
    if (align := reader.get("alignment", looks.one_of(_ALIGN))) is not None:
        yield lambda p: p.set("algn", _ALIGN[align])
    if (lines := reader.get("line_spacing", looks.number(0, 132, above=True))) is not None:
        percent = str(round(lines * 100_000))
        yield lambda p: etree.SubElement(put(p, "lnSpc"), n.a("spcPct")).set("val", percent)
    for field, name in (("space_before", "spcBef"), ("space_after", "spcAft")):
        points = reader.get(field, looks.number(0, 1584))
        if points is not None:
            yield _spacing(name, str(round(points * 100)))


def _spacing(name: str, value: str) -> Callable[[Element], object]:
    return lambda p: etree.SubElement(put(p, name), n.a("spcPts")).set("val", value)


def _run_changes(reader: StyleReader) -> Iterable[Callable[[Element], object]]:
    if (size := reader.get("font_size", FONT_SIZE)) is not None:
        yield lambda p: p.set("sz", str(round(size * 100)))
    for field, attribute in (("bold", "b"), ("italic", "i")):
        value = reader.get(field, looks.boolean)
        if value is not None:
            yield _switch(attribute, "1" if value else "0")
    if (line := reader.get("underline", looks.boolean)) is not None:
        yield _switch("u", "sng" if line else "none")
    if (colour := reader.get("font_color", looks.colour)) is not None:
        yield lambda p: _fill(p, colour)
    if (marker := reader.get("highlight_color", looks.highlight)) is not None:
        yield lambda p: _highlight(p, HIGHLIGHTS[marker])
    if (font := reader.get("font_name", looks.text())) is not None:
        yield lambda p: put(p, "latin").set("typeface", font)


def _switch(attribute: str, value: str) -> Callable[[Element], object]:
    return lambda p: p.set(attribute, value)


def _fill(properties: Element, colour: str) -> None:
    for name in _FILLS:
        for old in properties.findall(n.a(name)):
            properties.remove(old)
    etree.SubElement(put(properties, "solidFill"), n.a("srgbClr")).set("val", colour)


def _highlight(properties: Element, colour: str) -> None:
    child = put(properties, "highlight")
    if colour:
        etree.SubElement(child, n.a("srgbClr")).set("val", colour)
    else:
        properties.remove(child)
