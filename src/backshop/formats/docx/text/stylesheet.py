"""The styles and numberings of a document, as far as reading and writing text needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backshop.formats.package.guard import Element

from . import name as n

_BODY_TEXT_LEVEL = 9  # the outline level that means "no heading"
_MOST = 2**31
_HEADING = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
_SHOWN_NAMES = {"header": "Header", "footer": "Footer", "caption": "Caption"}


def shown_name(name: str) -> str:
    """Return a style's name as people know it: Word stores some built-in ones in lower case."""
    if match := _HEADING.fullmatch(name):
        return f"Heading {match[1]}"
    return _SHOWN_NAMES.get(name, name)


def key(name: str) -> str:
    """Return what style names are compared by: no case, no spaces (F19.2)."""
    return "".join(name.split()).casefold()


def child_value(element: Element | None, tag: str) -> str | None:
    """Return the `w:val` of a direct child."""
    child = element.find(tag) if element is not None else None
    return child.get(n.VAL) if child is not None else None


def whole(value: str | None) -> int | None:
    """Return a whole number of the file, or None when it is none or takes more than 32 bits."""
    try:
        number = int(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and -_MOST <= number < _MOST else None


@dataclass(frozen=True, slots=True)
class Style:
    """One style of the file."""

    id: str
    name: str
    type: str
    based_on: str | None
    is_default: bool
    element: Element


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Where a list item stands: its kind and its level from 0."""

    kind: str  # bullet, number
    level: int


class StyleSheet:
    """The styles of a document by id and by name."""

    def __init__(self, root: Element | None) -> None:
        self.root = root
        self.by_id: dict[str, Style] = {}
        self.default_paragraph: str | None = None
        self.default_table: str | None = None
        for element in root.iterchildren(n.STYLE) if root is not None else ():
            self.register(element)
        self._levels: dict[str | None, int | None] = {}
        self._lists: dict[str, tuple[str | None, str | None]] = {}

    def register(self, element: Element) -> Style | None:
        """Take a style element into the tables; the first of equal ids counts."""
        style_id = element.get(n.STYLE_ID)
        if style_id is None or style_id in self.by_id:
            return None
        style = Style(
            style_id,
            shown_name(child_value(element, n.NAME) or style_id),
            element.get(n.TYPE) or "paragraph",
            child_value(element, n.BASED_ON),
            element.get(n.DEFAULT) in {"1", "true", "on"},
            element,
        )
        self.by_id[style_id] = style
        if style.is_default and style.type == "paragraph" and self.default_paragraph is None:
            self.default_paragraph = style_id
        if style.is_default and style.type == "table" and self.default_table is None:
            self.default_table = style_id
        return style

    def find(self, name: str, type_: str) -> Style | None:
        """Return the style by name, then by identifier, without regard to case and spaces."""
        wanted = key(name)
        same_type = [style for style in self.by_id.values() if style.type == type_]
        for style in same_type:
            if key(style.name) == wanted:
                return style
        return next((style for style in same_type if key(style.id) == wanted), None)

    def name_of(self, style_id: str | None) -> str:
        """Return the name people know a paragraph style by."""
        style = self.by_id.get(style_id or self.default_paragraph or "")
        return style.name if style else (style_id or "Normal")

    def chain(self, style_id: str | None) -> Iterator[Style]:
        """Yield the style and those it is based on; a circle ends where it closes."""
        seen: set[str] = set()
        while style_id is not None and style_id not in seen:
            style = self.by_id.get(style_id)
            if style is None:
                return
            seen.add(style_id)
            yield style
            style_id = style.based_on

    def heading_level(self, style_id: str | None) -> int | None:
        """Return 1-9 for a heading style (F9.2)."""
        if style_id not in self._levels:
            self._levels[style_id] = self._heading_level(style_id)
        return self._levels[style_id]

    def _heading_level(self, style_id: str | None) -> int | None:
        if style_id is None:
            return None
        for style in self.chain(style_id):
            level = whole(child_value(style.element.find(n.PPR), n.OUTLINE))
            if level is not None:
                return level + 1 if 0 <= level < _BODY_TEXT_LEVEL else None
        for style in self.chain(style_id):
            for name in (style.name, style.id):
                if match := _HEADING.fullmatch(name.strip()):
                    return int(match[1])
        match = _HEADING.fullmatch(style_id) if style_id not in self.by_id else None
        return int(match[1]) if match else None

    def list_of(self, style_id: str | None) -> tuple[str | None, str | None]:
        """Return numId and ilvl that a style gives its paragraphs; each is inherited on its own."""
        if style_id is None:
            return None, None
        if style_id not in self._lists:
            found = [style.element.find(f"{n.PPR}/{n.NUM_PR}") for style in self.chain(style_id)]
            num_ids, levels = (
                [child_value(one, tag) for one in found] for tag in (n.NUM_ID, n.ILVL)
            )
            self._lists[style_id] = (
                next(filter(None, num_ids), None),
                next(filter(None, levels), None),
            )
        return self._lists[style_id]


@dataclass(frozen=True, slots=True)
class ListDefinition:
    """What a list looks like: the levels, and what the one list has different from them."""

    abstract: Element
    overrides: tuple[Element, ...]


class Numberings:
    """The list definitions of a document."""

    def __init__(self, root: Element | None, styles: StyleSheet) -> None:
        self._styles = styles
        self._abstract: dict[str, Element] = {}
        self._formats: dict[str, dict[str, str]] = {}  # of the levels of abstract lists
        self._links: dict[str, str] = {}  # abstract list -> the list style that defines it
        self._defined: dict[str, str] = {}  # list style -> the abstract list with its levels
        self._num: dict[str, str] = {}
        self._overrides: dict[str, list[Element]] = {}  # what one list has for itself
        self._own: dict[str, dict[str, str]] = {}  # the formats of levels among that
        self.free_abstract, self.free_num = 0, 1  # numbers above all that are taken
        self.last_abstract: Element | None = None
        self.last_num: Element | None = None
        for abstract in root.iterchildren(n.w("abstractNum")) if root is not None else ():
            self.define(abstract)
        for num in root.iterchildren(n.w("num")) if root is not None else ():
            self.add(num)

    def define(self, abstract: Element) -> None:
        """Take a list definition into the tables."""
        abstract_id = abstract.get(_ABSTRACT_ID) or ""
        self.free_abstract = max(self.free_abstract, (whole(abstract_id) or 0) + 1)
        self.last_abstract = abstract
        self._abstract[abstract_id] = abstract
        self._formats[abstract_id] = _formats(abstract)
        if link := child_value(abstract, n.w("numStyleLink")):
            self._links[abstract_id] = link
        if style := child_value(abstract, n.w("styleLink")):
            self._defined.setdefault(style, abstract_id)

    def add(self, num: Element) -> None:
        """Take a list into the tables."""
        num_id = num.get(n.NUM_ID) or ""
        self.free_num = max(self.free_num, (whole(num_id) or 0) + 1)
        self.last_num = num
        self._num[num_id] = child_value(num, _ABSTRACT_ID) or ""
        self._overrides[num_id] = list(num.iterchildren(n.w("lvlOverride")))
        self._own[num_id] = {
            level: shown
            for override in self._overrides[num_id]
            for level, shown in _formats(override).items()
        }

    def kind(self, num_id: str, level: str) -> str | None:
        """Return bullet or number, or None when the level shows nothing."""
        if self._num.get(num_id, "") not in self._abstract:
            return None
        shown = self._format(num_id, level)
        return "bullet" if shown == "bullet" else None if shown == "none" else "number"

    def definition(self, num_id: str) -> ListDefinition | None:
        """Return what a list looks like, found through its list style where that has the levels."""
        overrides: dict[str | None, Element] = {}
        found: Element | None = None
        for number, abstract in self._chain(num_id):
            for override in self._overrides.get(number, ()):
                overrides.setdefault(override.get(n.ILVL), override)
            found = self._abstract.get(abstract, found)
            if self._formats.get(abstract):
                break
        return ListDefinition(found, tuple(overrides.values())) if found is not None else None

    def _format(self, num_id: str, level: str) -> str:
        """Return the format of a level: the list's own, else of its definition or its style."""
        for number, abstract in self._chain(num_id):
            own, given = self._own.get(number, {}), self._formats.get(abstract, {})
            if found := own.get(level) or given.get(level):
                return found
        return "decimal"

    def _chain(self, num_id: str) -> Iterator[tuple[str, str]]:
        """Yield a list with its abstract one, then those of the list styles it is linked to."""
        seen: set[str] = set()
        while num_id not in seen:  # styles and lists may name one another in a circle
            seen.add(num_id)
            abstract = self._num.get(num_id, "")
            yield num_id, abstract
            link = self._links.get(abstract)
            if link is None:
                return
            by_style, _ = self._styles.list_of(link)
            if by_style is None:
                yield "", self._defined.get(link, "")
                return
            num_id = by_style


_ABSTRACT_ID = n.w("abstractNumId")


def _formats(holder: Element) -> dict[str, str]:
    """Return the number format of every level that `holder` describes."""
    return {
        level.get(n.ILVL) or "0": child_value(level, n.w("numFmt")) or "decimal"
        for level in holder.iterchildren(n.w("lvl"))
    }


def list_place(paragraph: Element, styles: StyleSheet, numberings: Numberings) -> ListPlace | None:
    """Return the place of a list item, None for other paragraphs."""
    properties = paragraph.find(n.PPR)
    own = properties.find(n.NUM_PR) if properties is not None else None
    style_num, style_level = styles.list_of(child_value(properties, n.PSTYLE))
    num_id = child_value(own, n.NUM_ID) or style_num
    if num_id is None or num_id == "0":  # 0 takes a paragraph out of its style's list
        return None
    level = child_value(own, n.ILVL) or style_level or "0"
    kind = numberings.kind(num_id, level)
    return ListPlace(kind, min(max(whole(level) or 0, 0), 8)) if kind else None
