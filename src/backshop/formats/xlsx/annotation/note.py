"""The notes of cells: who wrote what, and the threads of people who answer (F41.8).

A note is stored in two places: its text in a list of comments, and its box in a drawing of the old
sort. The list is changed letter by letter, so that every other note keeps its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from lxml import etree

from backshop.formats.errors import fail
from backshop.formats.package.child_span import ChildSpans
from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.package import canonical_element

from ..book.workbook import Book, Sheet, child, children, local
from ..syntax.address import cell_name, parse_cell

Place = tuple[int, int]
THREAD = "tc="  # how the author of a thread's stand-in begins
_ATTRIBUTE = rb"(\s%s\s*=\s*)(\"[^\"]*\"|'[^']*')"
_PREFIX = re.compile(rb"[<\s/]([\w.\-]+):[\w.\-]+(?==|[\s/>])")
_LOOK = (
    '<{p}rPr><{p}sz val="9"/><{p}color indexed="81"/><{p}rFont val="Tahoma"/>'
    '<{p}family val="2"/></{p}rPr>'
)


@dataclass(frozen=True, slots=True)
class Note:
    """A note: its cell, its author, its text, and all of it in one spelling."""

    place: Place
    author: str
    text: str
    said: bytes  # the text with its looks, canonical


def notes_of(book: Book, sheet: Sheet) -> dict[Place, Note]:
    """Return the notes of a sheet by their cells, stand-ins of threads too."""
    found: dict[Place, Note] = {}
    for part in book.sheet_rels(sheet, "comments"):
        for note in notes_in(book.package.xml(part)):
            found.setdefault(note.place, note)
    return found


def notes_in(root: Element) -> Iterator[Note]:
    """Go through the notes of a list of comments."""
    authors = [_text(one) for one in children(child(root, "authors"), "author")]
    for item in children(child(root, "commentList"), "comment"):
        place = parse_cell(item.get("ref") or "")
        number = item.get("authorId") or ""
        known = number.isdigit() and int(number) < len(authors)
        said = child(item, "text")
        if place is not None:
            yield Note(
                place,
                authors[int(number)] if known else "",
                "" if said is None else _text(said),
                b"" if said is None else canonical_element(_alone(said)),
            )


def _text(element: Element) -> str:
    if local(element) == "author":
        return element.text or ""
    pieces = (
        one.text or ""
        for one in element.iter("{*}t")
        if not any(local(above) == "rPh" for above in one.iterancestors())
    )
    return "".join(pieces)


def _alone(said: Element) -> Element:
    """Return the text of a note without prefixes and namespaces of the list it stands in."""
    space = etree.QName(said).namespace
    holder = etree.fromstring(f'<comment xmlns="{space}"/>' if space else "<comment/>")
    _copy(said, holder)
    return holder[0]


def _copy(element: Element, parent: Element) -> None:
    attributes = {str(key): str(value) for key, value in element.attrib.items()}
    copy = etree.SubElement(parent, element.tag, attributes)
    copy.text, copy.tail = element.text, element.tail
    for one in element.iterchildren("*"):
        _copy(one, copy)


def threads_of(book: Book, sheet: Sheet) -> dict[Place, list[str]]:
    """Return the texts of threads of comments by their cells, the first one first."""
    found: dict[Place, list[str]] = {}
    for part in book.sheet_rels(sheet, "threadedComment"):
        for item in book.package.xml(part).iter("{*}threadedComment"):
            place = parse_cell(item.get("ref") or "")
            if place is not None:
                said = child(item, "text")
                found.setdefault(place, []).append("" if said is None else said.text or "")
    for place, note in notes_of(book, sheet).items():
        if note.author.startswith(THREAD):
            found.setdefault(place, [note.text])
    return found


# --- the list as bytes --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CommentList:
    """The bytes of a part that lists comments, and what stands where in it."""

    data: bytes

    @property
    def _prefix(self) -> bytes:
        name = ChildSpans.of(self.data).name
        return name[: name.index(b":") + 1] if b":" in name else b""

    def _child(self, name: str) -> tuple[ChildSpans, int]:
        """Return where the authors, or the comments, stand."""
        spans = ChildSpans.of(self.data)
        elements = [one for one in parse_xml(self.data) if isinstance(one.tag, str)]
        for at, one in enumerate(elements):
            if local(one) == name:
                return spans, at
        raise fail("corrupt_file", f"a list of comments has no {name}")

    @property
    def authors(self) -> list[str]:
        """Who wrote comments."""
        root = parse_xml(self.data)
        return [one.text or "" for one in children(child(root, "authors"), "author")]

    def with_author(self, name: str) -> tuple[CommentList, int]:
        """Return the list with an author, and the number of that author."""
        authors = self.authors
        if name in authors:
            return self, authors.index(name)
        p = self._prefix
        said = escape(name, quote=False).encode()
        spans, at = self._child("authors")
        inner = ChildSpans.of(spans.child(at)).with_child(b"<%sauthor>%s</%sauthor>" % (p, said, p))
        return CommentList(spans.replaced(at, inner)), len(authors)

    def find(self, place: Place) -> bytes | None:
        """Return the bytes of the comment of a cell."""
        spans, at = self._child("commentList")
        inner = ChildSpans.of(spans.child(at))
        number = self._number(place)
        return None if number is None else inner.child(number)

    def _number(self, place: Place) -> int | None:
        listed = child(parse_xml(self.data), "commentList")
        items = [] if listed is None else [one for one in listed if isinstance(one.tag, str)]
        for number, item in enumerate(items):
            if local(item) == "comment" and parse_cell(item.get("ref") or "") == place:
                return number
        return None

    def with_comment(self, place: Place, comment: bytes) -> CommentList:
        """Return the list with a comment in the place of that of its cell, else the last."""
        spans, at = self._child("commentList")
        inner = ChildSpans.of(spans.child(at))
        number = self._number(place)
        made = inner.with_child(comment) if number is None else inner.replaced(number, comment)
        return CommentList(spans.replaced(at, made))

    def without(self, place: Place) -> CommentList:
        """Return the list without the comment of a cell."""
        spans, at = self._child("commentList")
        number = self._number(place)
        if number is None:
            return self
        made = ChildSpans.of(spans.child(at)).without(number)
        return CommentList(spans.replaced(at, made))

    @property
    def is_empty(self) -> bool:
        """Whether no comment is left."""
        return child(child(parse_xml(self.data), "commentList"), "comment") is None

    def written(self, place: Place, author: int, text: str) -> bytes:
        """Return a new comment with a plain text."""
        p = self._prefix.decode()
        run = self._run(text, _LOOK.format(p=p))
        name = cell_name(*place)
        tag = f'<{p}comment ref="{name}" authorId="{author}" shapeId="0">'
        return f"{tag}<{p}text>{run}</{p}text></{p}comment>".encode()

    def rewritten(self, comment: bytes, author: int | None, text: str) -> bytes:
        """Return a comment with another text, in the look of its last words."""
        p = self._prefix
        spans = ChildSpans.of(comment)
        tags = [_name(spans.child(at)) for at in range(len(spans.spans))]
        at = tags.index(b"text") if b"text" in tags else None
        look = _last_look(spans.child(at)) if at is not None else b""
        run = self._run(text, look.decode()).encode()
        said = b"<%stext>%s</%stext>" % (p, run, p)
        made = spans.with_child(said, 0) if at is None else spans.replaced(at, said)
        return made if author is None else with_attribute(made, b"authorId", b"%d" % author)

    def adopted(self, place: Place, theirs: CommentList, author: int) -> bytes:
        """Return the comment of a cell in another list so that it means the same here.

        What only newer programs say of it goes where this list does not know their words.
        """
        comment = theirs.find(place)
        assert comment is not None, "the note was read from there"
        if not _declared(self.data, comment):
            said, p = theirs._said_alone(place), self._prefix
            tag = b'<%scomment ref="%s" authorId="0">' % (p, cell_name(*place).encode())
            comment = tag + said + b"</%scomment>" % p
        return with_attribute(comment, b"authorId", b"%d" % author)

    def _said_alone(self, place: Place) -> bytes:
        """Return the text of a cell's comment with the namespaces it needs."""
        listed = children(child(parse_xml(self.data), "commentList"), "comment")
        found = next(one for one in listed if parse_cell(one.get("ref") or "") == place)
        said = child(found, "text")
        if said is None:
            return b""
        return etree.tostring(_alone(said), encoding="UTF-8", xml_declaration=False)

    def text_of(self, comment: bytes) -> str:
        """Return the words of a comment of this list."""
        start, end = ChildSpans.of(self.data).root
        tag = self.data[start:end].rstrip(b"/>")
        name = ChildSpans.of(self.data).name
        root = parse_xml(tag + b">" + comment + b"</" + name + b">")
        return _text(root)

    def _run(self, text: str, look: str) -> str:
        p = self._prefix.decode()
        said = escape(text, quote=False)
        return f'<{p}r>{look}<{p}t xml:space="preserve">{said}</{p}t></{p}r>'


def _name(element: bytes) -> bytes:
    return ChildSpans.of(element).name.rpartition(b":")[2]


def _declared(data: bytes, element: bytes) -> bool:
    """Whether a part declares the prefixes of an element of another one in the same way."""
    root = data[slice(*ChildSpans.of(data).root)]
    own = ChildSpans.of(element).name
    prefixes = {one for one in _PREFIX.findall(element) if one not in (b"xml", b"xmlns")}
    is_same = (b":" in own) == (b":" in ChildSpans.of(data).name)
    return is_same and all(b"xmlns:" + one + b"=" in root for one in prefixes)


def _last_look(text: bytes) -> bytes:
    """Return the look of the last piece of a text; nothing where it has none."""
    spans = ChildSpans.of(text)
    runs = [piece for at in range(len(spans.spans)) if _name(piece := spans.child(at)) == b"r"]
    if not runs:
        return b""
    pieces = ChildSpans.of(runs[-1])
    looks = (pieces.child(at) for at in range(len(pieces.spans)))
    return next((one for one in looks if _name(one) == b"rPr"), b"")


def with_attribute(element: bytes, name: bytes, value: bytes) -> bytes:
    """Return an element whose tag says something else."""
    end = element.index(b">")
    pattern = re.compile(_ATTRIBUTE % name)
    tag, count = pattern.subn(lambda m: m[1] + b'"' + value + b'"', element[:end], count=1)
    if not count:
        tag = element[: end - (element[end - 1 : end] == b"/")] + b' %s="%s"' % (name, value)
        return tag + element[end - (element[end - 1 : end] == b"/") :]
    return tag + element[end:]
