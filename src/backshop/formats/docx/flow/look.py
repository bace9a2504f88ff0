"""What paragraphs and runs look like, with all they inherit from styles, lists and defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from backshop.formats.canvas.face import family
from backshop.formats.canvas.flow import FlowRun
from backshop.formats.errors import FormatError
from backshop.formats.package.guard import Element

from ..text import name as n
from ..text.source import Document
from ..text.stylesheet import child_value, whole
from ..text.table_condition import Conditions, parts_of

_PX = 96 / 1440  # of a twip
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_OFF = frozenset({"0", "false", "off", "none"})
_FAR = 2_000.0  # pixels
_MARKERS = {
    "yellow": "#ffff00", "green": "#00ff00", "cyan": "#00ffff", "magenta": "#ff00ff",
    "blue": "#0000ff", "red": "#ff0000", "darkBlue": "#000080", "darkCyan": "#008080",
    "darkGreen": "#008000", "darkMagenta": "#800080", "darkRed": "#800000",
    "darkYellow": "#808000", "darkGray": "#808080", "lightGray": "#c0c0c0", "black": "#000000",
    "white": "#ffffff",
}  # fmt: skip
_ALIGN = {"both": "justify", "distribute": "justify", "center": "center", "right": "right",
          "end": "right"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Inherited:
    """Properties of paragraphs and runs that a text inherits, nearest first."""

    paragraph: tuple[Element, ...]
    run: tuple[Element, ...]


class Looks:
    """Reads the looks of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._styles = document.styles
        self.conditions = Conditions(document.styles)
        self._of_style: dict[str | None, Inherited] = {}

    @cached_property
    def _defaults(self) -> Inherited:
        root = self._styles.root
        found = root.find(n.w("docDefaults")) if root is not None else None
        run = found.find(f"{n.w('rPrDefault')}/{n.RPR}") if found is not None else None
        paragraph = found.find(f"{n.w('pPrDefault')}/{n.PPR}") if found is not None else None
        return Inherited(_some(paragraph), _some(run))

    @cached_property
    def _fonts(self) -> dict[str, str]:
        """The fonts of the theme, by the first letters of what names them."""
        part = self._document.trees.first_related(self._document.part, "theme")
        try:
            root = self._document.trees.root(part) if part else None
        except FormatError:  # a broken theme must not keep the text from being drawn
            root = None
        found = {}
        for word in ("major", "minor") if root is not None else ():
            fonts = root.iter(f"{{{n.A_NS}}}{word}Font") if root is not None else iter(())
            latin = next((one.find(f"{{{n.A_NS}}}latin") for one in fonts), None)
            if latin is not None:
                found[word] = latin.get("typeface") or ""
        return found

    def inherited(
        self, style: str | None, in_table: Sequence[Element] = (), level: Element | None = None
    ) -> Inherited:
        """Return what a paragraph of a style inherits, with its list level and table style."""
        style = style or self._styles.default_paragraph
        if style not in self._of_style:
            chain = [one.element for one in self._styles.chain(style)]
            self._of_style[style] = Inherited(_children(chain, n.PPR), _children(chain, n.RPR))
        own = self._of_style[style]
        listed = _some(level.find(n.PPR)) if level is not None else ()
        return Inherited(
            (*listed, *own.paragraph, *_children(in_table, n.PPR), *self._defaults.paragraph),
            (*own.run, *_children(in_table, n.RPR), *self._defaults.run),
        )

    def character(self, style: str | None) -> tuple[Element, ...]:
        """Return the run properties of a character style."""
        return _children([one.element for one in self._styles.chain(style)], n.RPR)

    def table_parts(self, table: Element, cell: Element) -> list[Element]:
        """Return what the style of a table says for a cell, nearest first."""
        properties = table.find(n.TBL_PR)
        style = child_value(properties, n.TBL_STYLE) or self._styles.default_table
        chain = list(self._styles.chain(style))
        found = [
            part
            for condition in self.conditions.of(table, cell, style)
            for one in chain
            for part in parts_of(one, condition)
        ]
        return [*found, *(one.element for one in chain)]

    def run(self, text: str, own: Element | None, inherited: Inherited) -> FlowRun:
        """Return a text as it looks."""
        style = self.character(child_value(own, n.RSTYLE)) if own is not None else ()
        found = (*_some(own), *style, *inherited.run)
        if _switch(found, "caps"):
            text = text.upper()
        half_points = whole(_value(found, "sz"))
        shift = _value(found, "vertAlign")
        line = _value(found, "u")
        return FlowRun(
            text=text,
            bold=_switch(found, "b"),
            italic=_switch(found, "i"),
            underline=line is not None and line != "none",
            strike=_switch(found, "strike") or _switch(found, "dstrike"),
            script={"superscript": "sup", "subscript": "sub"}.get(shift or ""),
            color=_colour(_value(found, "color")),
            highlight=_MARKERS.get(_value(found, "highlight") or "") or _shade(found),
            size=min(max(half_points, 2), 800) / 2 * 96 / 72 if half_points else None,
            family=self._family(found),
        )

    def is_hidden(self, own: Element | None, inherited: Inherited) -> bool:
        """Whether a run is marked as not to be seen."""
        style = self.character(child_value(own, n.RSTYLE)) if own is not None else ()
        return _switch((*_some(own), *style, *inherited.run), "vanish")

    def _family(self, found: Iterable[Element]) -> str | None:
        for one in found:
            fonts = one.find(n.w("rFonts"))
            if fonts is None:
                continue
            themed = fonts.get(n.w("asciiTheme")) or fonts.get(n.w("hAnsiTheme")) or ""
            name = self._fonts.get(themed[:5]) if themed else None
            name = name or fonts.get(n.w("ascii")) or fonts.get(n.w("hAnsi"))
            if name:
                return family(name)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where a paragraph stands, in pixels."""

    align: str | None
    is_rtl: bool
    left: float
    right: float
    first: float
    before: float
    after: float
    line: float | None
    fill: str | None
    has_rule: bool
    breaks_page: bool
    is_close: bool  # to neighbours of the same style


def layout(own: Element | None, inherited: Inherited) -> Layout:
    """Return where a paragraph stands."""
    found = (*_some(own), *inherited.paragraph)
    hanging, first = _length(found, "ind", "hanging"), _length(found, "ind", "firstLine")
    line, rule = _attribute(found, "spacing", "line"), _attribute(found, "spacing", "lineRule")
    parts = whole(line) if rule in (None, "auto") else None
    borders = _first(found, "pBdr")
    bottom = borders.find(n.w("bottom")) if borders is not None else None
    return Layout(
        align=_ALIGN.get(_value(found, "jc") or ""),
        is_rtl=_switch(found, "bidi"),
        left=_length(found, "ind", "left", "start"),
        right=_length(found, "ind", "right", "end"),
        first=-hanging if hanging else first,
        before=max(_length(found, "spacing", "before"), 0.0),
        after=max(_length(found, "spacing", "after"), 0.0),
        line=min(max(parts / 240, 0.5), 5.0) if parts else None,
        fill=_shade(found),
        has_rule=bottom is not None and bottom.get(n.VAL) not in (None, "nil", "none"),
        breaks_page=_switch(found, "pageBreakBefore"),
        is_close=_switch(found, "contextualSpacing"),
    )


def shade_of(holders: Iterable[Element]) -> str | None:
    """Return the fill of properties, the nearest that says one."""
    return _shade(tuple(holders))


def _some(element: Element | None) -> tuple[Element, ...]:
    return (element,) if element is not None else ()


def _children(elements: Iterable[Element], tag: str) -> tuple[Element, ...]:
    found = (one.find(tag) for one in elements)
    return tuple(one for one in found if one is not None)


def _first(found: Iterable[Element], name: str) -> Element | None:
    tag = n.w(name)
    return next((child for one in found if (child := one.find(tag)) is not None), None)


def _value(found: Iterable[Element], name: str) -> str | None:
    child = _first(found, name)
    return child.get(n.VAL) if child is not None else None


def _switch(found: Iterable[Element], name: str) -> bool:
    child = _first(found, name)
    return child is not None and child.get(n.VAL) not in _OFF


def _attribute(found: Iterable[Element], name: str, *attributes: str) -> str | None:
    tag = n.w(name)
    for one in found:
        child = one.find(tag)
        for attribute in attributes if child is not None else ():
            value = child.get(n.w(attribute)) if child is not None else None
            if value is not None:
                return value
    return None


def _length(found: Iterable[Element], name: str, *attributes: str) -> float:
    value = whole(_attribute(found, name, *attributes)) or 0
    return min(max(value * _PX, -_FAR), _FAR)


def _colour(value: str | None) -> str | None:
    return f"#{value.lower()}" if value and _HEX.fullmatch(value) else None


def _shade(found: Iterable[Element]) -> str | None:
    child = _first(found, "shd")
    return _colour(child.get(n.w("fill"))) if child is not None else None
