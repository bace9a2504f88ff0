"""What a paragraph shows: its pieces in reading order, each with the element that holds it.

Deleted tracked text, field codes, comments and the fallback copies of newer drawings are not shown;
inserted text, hyperlinks, content controls, formulas and field results are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from backshop.formats.package.drawing import graphics
from backshop.formats.package.guard import Element

from . import name as n


class Shows(Enum):
    """What a piece is."""

    TEXT = "text"  # characters of a w:t, which can be edited in place
    MARK = "mark"  # a tab, a line break, a hyphen: one element, one character
    PAGE = "page"  # a page or column break
    IMAGE = "image"
    BOX = "box"  # a text box; the element is its w:txbxContent
    DRAWN = "drawn"  # a chart or a diagram; the element is the graphic that leads to its words
    OBJECT = "object"  # an embedded object: named, never opened


class Piece(NamedTuple):
    """One piece of a paragraph."""

    element: Element
    text: str
    shows: Shows


_SYM_EX = (
    "{http://schemas.microsoft.com/office/word/2015/wordml/symex}symEx"  # how Word keeps emoji
)
_MARKS = {n.TAB: "\t", n.PTAB: "\t", n.CR: "\n", n.NO_BREAK_HYPHEN: "\u2011"}
_WRAPPERS = frozenset(
    {
        n.HYPERLINK,
        n.INS,
        n.MOVE_TO,
        n.SMART_TAG,
        n.CUSTOM_XML,
        n.SDT,
        n.SDT_CONTENT,
        n.FLD_SIMPLE,
        n.BDO,
        n.DIR,
        n.RUBY,
        n.RUBY_BASE,
        n.R,
        n.MATH,
        n.MATH_PARA,
    }
)
SPECIAL = (  # a paragraph with none of these shows exactly its w:t elements
    n.DEL,
    n.MOVE_FROM,
    n.ALTERNATE,
    n.FLD_CHAR,
    n.RUBY,
    n.DRAWING,
    n.PICT,
    n.OBJECT,
    n.MATH,
    n.SYM,
    n.BR,
    n.CR,
    n.PTAB,
    n.NO_BREAK_HYPHEN,
)


def pieces(paragraph: Element) -> list[Piece]:
    """Return what `paragraph` shows, in reading order."""
    found: list[Piece] = []
    _walk(paragraph, found, [])
    return found


def text_of(paragraph: Element) -> str:
    """Return the text of `paragraph`; line breaks as newlines, images and text boxes left out."""
    return "".join(piece.text for piece in pieces(paragraph) if piece.shows in _TEXTUAL)


_TEXTUAL = (Shows.TEXT, Shows.MARK)


def plain_text(paragraph: Element) -> str:
    """Return `text_of` a paragraph that holds nothing of `SPECIAL` and no tab, much faster."""
    return "".join([text.text or "" for text in paragraph.iter(n.T)])


def special_paragraphs(root: Element) -> set[Element]:
    """Return the paragraphs under `root` that need the slow way."""
    found: set[Element] = set()
    for element in root.iter(n.TAB, *SPECIAL):
        if element.tag == n.TAB:
            parent = element.getparent()
            if parent is None or parent.tag != n.R:  # a tab stop, not a tab
                continue
        found.update(element.iterancestors(n.P))
    return found


def _walk(element: Element, found: list[Piece], fields: list[bool]) -> None:
    """Collect the pieces under `element`; `fields` says for each open field if its result began."""
    for child in element:
        tag = child.tag
        if tag == n.T:
            if all(fields):
                found.append(Piece(child, child.text or "", Shows.TEXT))
        elif tag in _WRAPPERS:
            _walk(child, found, fields)
        elif tag == n.ALTERNATE:
            _walk_alternate(child, found, fields)
        elif tag == n.FLD_CHAR:
            _follow_field(child, fields)
        elif isinstance(tag, str) and all(fields):
            found.extend(_single(child, tag))


def _walk_alternate(element: Element, found: list[Piece], fields: list[bool]) -> None:
    chosen = next(element.iterchildren(n.CHOICE), None)
    if chosen is None:
        chosen = next(element.iterchildren(n.FALLBACK), None)
    if chosen is not None:
        _walk(chosen, found, fields)


def _follow_field(char: Element, fields: list[bool]) -> None:
    kind = char.get(n.w("fldCharType"))
    if kind == "begin":
        fields.append(False)
    elif kind == "separate" and fields:
        fields[-1] = True
    elif kind == "end" and fields:
        fields.pop()


def _single(element: Element, tag: str) -> Iterable[Piece]:
    if tag in _MARKS:
        return [Piece(element, _MARKS[tag], Shows.MARK)]
    if tag == n.BR:
        breaks_page = element.get(n.TYPE) in {"page", "column"}
        return [Piece(element, "\n", Shows.PAGE if breaks_page else Shows.MARK)]
    if tag in (n.SYM, _SYM_EX):
        code = element.get(n.w("char") if tag == n.SYM else _SYM_EX.replace("symEx", "char"))
        return [Piece(element, _symbol(code), Shows.MARK)]
    if tag == n.MATH_T:
        return [Piece(element, element.text or "", Shows.MARK)]
    if tag in (n.DRAWING, n.PICT, n.OBJECT):
        return _drawing(element)
    if tag.startswith("{" + n.M_NS):  # fractions, radicals …: their text in order
        return [Piece(t, t.text or "", Shows.MARK) for t in element.iter(n.MATH_T)]
    return []


def _symbol(code: str | None) -> str:
    """Return the character of a symbol; those of the private area have no meaning as text."""
    try:
        value = int(code or "", 16)
    except ValueError:
        return ""
    meant = 0x20 <= value < 0xD800 or 0xF900 <= value < 0xFFFE or 0x10000 <= value < 0xF0000
    return chr(value) if meant else ""


def _drawing(element: Element) -> Iterator[Piece]:
    if element.tag == n.OBJECT:
        yield Piece(element, "object", Shows.OBJECT)
        return
    if next(pictures(element), None) is not None:
        yield Piece(element, alt_text(element), Shows.IMAGE)
    for graphic in graphics(element):
        if is_own(graphic, element):
            yield Piece(graphic, "", Shows.DRAWN)
    for box in element.iter(n.TXBX):
        if is_own(box, element):
            yield Piece(box, "", Shows.BOX)


def pictures(drawing: Element) -> Iterator[Element]:
    """Yield the pictures of a drawing itself; those in its text boxes are drawings of their own."""
    return (one for one in drawing.iter(n.BLIP, n.IMAGE_DATA) if is_own(one, drawing))


def is_own(element: Element, top: Element) -> bool:
    """Whether no text box, and no copy for old readers, stands between `top` and `element`."""
    for ancestor in element.iterancestors():
        if ancestor is top:
            return True
        if ancestor.tag in (n.TXBX, n.FALLBACK):
            return False
    return True


def run_of(piece: Element) -> Element | None:
    """Return the run an element with text stands in, also when it is one of alternatives."""
    above = piece.getparent()
    while above is not None and above.tag in (n.CHOICE, n.FALLBACK, n.ALTERNATE):
        above = above.getparent()
    return above


def alt_text(drawing: Element) -> str:
    """Return the description a person gave an image, or nothing."""
    for properties in drawing.iter(n.DOC_PR):
        return properties.get("descr") or properties.get("title") or ""
    for shape in drawing.iter(f"{{{n.V_NS}}}shape"):
        return shape.get("alt") or ""
    return ""


def image_relation(drawing: Element) -> str | None:
    """Return the relationship id of the first picture of a drawing."""
    for picture in pictures(drawing):
        relation = picture.get(n.R_EMBED) or picture.get(n.R_LINK) or picture.get(n.R_ID)
        if relation:
            return relation
    return None
