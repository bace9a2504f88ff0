"""Content controls filled from data: an edit of what they show reaches the data too (F19.4).

Word fills a bound control from its data whenever it opens a file, so text changed in the document
alone would come back. Data lives in custom XML parts and, for the fields of a cover page, in the
document's properties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from backshop.formats.errors import FormatError
from backshop.formats.package.guard import Element
from backshop.formats.write.operation import problem

from ..text import name as n
from ..text.inline import Shows, pieces, run_of, text_of
from ..text.source import Document
from .builder import text_elements

_PROPERTIES = {  # the stores Word knows by a fixed name, and the kinds of part behind each
    "{6C3C8BC8-F283-45AE-878A-BAB7291924A1}": ("core-properties",),
    "{6668398D-A668-4E3E-A5EB-62B293D839F1}": ("extended-properties", "extendedProperties"),
}
_W15 = "http://schemas.microsoft.com/office/word/2012/wordml"
_ITEM_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/customXml}itemID"
_BINDING, _RICH_BINDING = n.w("dataBinding"), f"{{{_W15}}}dataBinding"
_REPEATS = f"{{{_W15}}}repeatingSection"
_PLACEHOLDER = n.w("showingPlcHdr")
_CHOICES = (n.w("dropDownList"), n.w("comboBox"))
_PREFIX = re.compile(r"xmlns:([\w.\-]+)\s*=\s*(['\"])(.*?)\2")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the data of a control is: an element of a part, or one of its attributes."""

    part: str
    element: Element
    attribute: str | None

    @property
    def key(self) -> tuple[Element, str | None]:
        """What tells one place from another."""
        return self.element, self.attribute

    def put(self, text: str) -> None:
        """Set the data."""
        if self.attribute is None:
            self.element.text = text or None
        else:
            self.element.set(self.attribute, text)


@dataclass(slots=True)
class _Control:
    """A control in a part of the document, and what it shows; `binding` None without data."""

    part: str
    element: Element
    binding: Element | None
    shown: str


@dataclass(slots=True)
class Settled:
    """What followed an edit: parts with data, other controls, and marks around paragraphs."""

    parts: list[str] = field(default_factory=list)
    followers: list[Element] = field(default_factory=list)
    frame: bool = False


class Bindings:
    """The bound controls of a document, and those with a placeholder, while it is edited."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._controls = list(self._find())

    def settle(self, where: str) -> Settled:
        """Carry changed texts into the data and to the other controls that show it.

        Raises:
            FormatError: `op_conflict` where the data of a changed control cannot follow.
        """
        done = Settled()
        written: dict[tuple[Element, str | None], str] = {}
        for control in self._controls:
            shown = _shown(control.element)
            if shown == control.shown or control.element.getparent() is None:
                continue
            control.shown = shown
            done.frame |= _unplaceholder(control.element)
            place = self._place(control, where)
            if place is None:
                continue
            if written.setdefault(place.key, shown) != shown:
                raise problem("op_conflict", where, "controls with the same data differ")
            self._document.trees.touch(place.part)
            place.put(_value(control, where))
            done.parts.append(place.part)
        for key, text in written.items():
            self._follow(key, text, where, done)
        return done

    def _follow(
        self, key: tuple[Element, str | None], text: str, where: str, done: Settled
    ) -> None:
        """Have the other controls with the same data show the same text."""
        for control in self._controls:
            if control.shown == text or control.element.getparent() is None:
                continue
            place = self._place(control, where)
            if place is None or place.key != key:
                continue
            self._document.trees.touch(control.part)
            if _show(control.element, text):
                control.shown = text
                done.frame |= _unplaceholder(control.element)
                done.followers.append(control.element)

    def _find(self) -> Iterator[_Control]:
        document = self._document
        roots = [(document.part, document.body_element)]
        roots += [(margin.part, margin.root) for margin in document.margins()]
        roots += [(part, document.trees.root(part)) for part in document.note_parts()]
        for part, root in roots:
            for element in root.iter(n.SDT):
                look = element.find(n.SDT_PR)
                if look is None or look.find(_REPEATS) is not None:
                    continue
                binding = next(look.iterchildren(_BINDING, _RICH_BINDING), None)
                if binding is not None or look.find(_PLACEHOLDER) is not None:
                    yield _Control(part, element, binding, _shown(element))

    def _place(self, control: _Control, where: str) -> _Place | None:
        """Return the data of a control; None where Word would not find any either."""
        binding = control.binding
        if binding is None:
            return None
        for part in self._stores(binding.get(n.w("storeItemID"))):
            node = self._node(part, binding)
            if node is None:
                continue
            if isinstance(node, etree._Element):
                if binding.tag == _RICH_BINDING or len(node):
                    what = "a content control is filled from a structure"
                    raise problem("op_conflict", where, what)
                return _Place(part, node, None)
            holder = node.getparent()
            if holder is not None:
                return _Place(part, holder, str(node.attrname) if node.is_attribute else None)
        return None

    def _node(self, part: str, binding: Element) -> Element | etree._ElementUnicodeResult | None:
        """Return what the path of a binding leads to in a part, None for nothing."""
        trees = self._document.trees
        mappings = _PREFIX.findall(binding.get(n.w("prefixMappings")) or "")
        try:
            names = {prefix: trees.ours(part, uri) for prefix, _, uri in mappings}
            path = etree.XPath(binding.get(n.w("xpath")) or "", namespaces=names, regexp=False)
            found = path(trees.root(part))
        except (etree.XPathError, FormatError, TypeError, ValueError):  # the last two: odd prefixes
            return None
        node = found[0] if isinstance(found, list) and found else None
        return node if isinstance(node, etree._Element | etree._ElementUnicodeResult) else None

    def _stores(self, item_id: str | None) -> Iterator[str]:
        """Yield the parts a store's name means: without a name all custom ones (as Word does)."""
        trees = self._document.trees
        kinds = _PROPERTIES.get((item_id or "").upper())
        if kinds is not None:
            known = (trees.first_related("", kind) for kind in kinds)
            yield from islice(filter(None, known), 1)
            return
        for _, part in trees.related(self._document.part, "customXml"):
            if not item_id or item_id.upper() in self._names(part):
                yield part

    def _names(self, part: str) -> list[str]:
        """Return the names a custom part goes by."""
        trees = self._document.trees
        abouts = trees.related(part, "customXmlProps")
        return [(trees.root(about).get(_ITEM_ID) or "").upper() for _, about in abouts]


def _shown(element: Element) -> str:
    """Return the text in a control: of its paragraphs, or of its place in one."""
    content = element.find(n.SDT_CONTENT)
    if content is None:
        return ""
    paragraphs = list(content.iter(n.P))
    return "\n".join(map(text_of, paragraphs)) if paragraphs else text_of(content)


def _value(control: _Control, where: str) -> str:
    """Return what the data has to say so that the control shows its text."""
    look = control.element.find(n.SDT_PR)
    assert look is not None
    if look.find(n.w("date")) is not None:
        raise problem("op_conflict", where, "a content control shows a date kept as data")
    for choices in look.iterchildren(*_CHOICES):
        for item in choices:
            value = item.get(n.w("value")) or ""
            if (item.get(n.w("displayText")) or value) == control.shown:
                return value
        if choices.tag == n.w("dropDownList"):
            raise problem("op_conflict", where, "a list of choices does not have this text")
    return control.shown


def _show(element: Element, text: str) -> bool:
    """Give a control other text in the look of its first; say whether it had a place for it."""
    content = element.find(n.SDT_CONTENT)
    if content is None:
        return False
    holders = list(content.iter(n.P)) or [content]
    shown = [p for h in holders for p in pieces(h) if p.shows in (Shows.TEXT, Shows.MARK)]
    if not shown:
        return False
    for number, piece in enumerate(shown):
        run = run_of(piece.element)
        if run is None:  # gone with the alternatives it was one of
            continue
        child = next(e for e in (piece.element, *piece.element.iterancestors()) if e in run)
        at = run.index(child)
        run.remove(child)
        run[at:at] = text_elements(text) if number == 0 else []
    return True


def _unplaceholder(element: Element) -> bool:
    """What was written is no placeholder any more; say whether that was noted around it."""
    look = element.find(n.SDT_PR)
    mark = look.find(_PLACEHOLDER) if look is not None else None
    if look is None or mark is None:
        return False
    look.remove(mark)
    return next(element.iterancestors(n.P), None) is None
