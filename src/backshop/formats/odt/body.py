"""The body of an OpenDocument text as blocks in order: paragraphs, list items, tables, pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..errors import fail
from ..package.guard import Archive, Element, parse_xml, scan
from ..protocol import Source
from ..row import table_row
from ..write.tracked import Tracked
from .look import DRAW, SEEN, SHAPES, STYLE, TABLE, TEXT, Look, Looks

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_CREATOR = "{http://purl.org/dc/elements/1.1/}creator"
_DATE = "{http://purl.org/dc/elements/1.1/}date"
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_CHANGES = (TEXT + "change", TEXT + "change-start")
_CHANGE_KINDS = {
    TEXT + "insertion": "inserted",
    TEXT + "deletion": "deleted",
    TEXT + "format-change": "format",
}
_MANIFEST = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}"
_NOTE, _COMMENT = TEXT + "note", _OFFICE + "annotation"
_HIDDEN = frozenset({TEXT + "tracked-changes", _OFFICE + "forms", TEXT + "sequence-decls"})
_ASIDE = frozenset({_NOTE, _COMMENT, TEXT + "ruby-text"}) | _HIDDEN
_PARAGRAPHS = (TEXT + "p", TEXT + "h")
_IMAGE = DRAW + "image"
_BOX = "[text box] "  # once, also for boxes in boxes
_DRAWN = frozenset({DRAW + "frame", DRAW + "g", DRAW + "a"}) | SHAPES
_UNREAD = frozenset({TEXT + "ruby-text", _SVG + "title", _SVG + "desc"})
_MARGINS = {"header": "header", "header-left": "header", "header-first": "header"}
_MARGINS |= {"footer": "footer", "footer-left": "footer", "footer-first": "footer"}
_WHITE_SPACE = re.compile("[ \t\r\n]+")
_MAX_REPEAT = 256  # blank columns and rows are often repeated to the end of the sheet
_MAX_ADDED = 4_000_000  # characters and cells that repeating and filling up may add to the file's
_MAX_SPACES = 1_000
_MAX_DEPTH = 10  # of lists; deeper ones are shown as deep as that


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph (`level` when it is a heading, `prefix` when it is a list item) or a table."""

    text: str = ""
    level: int | None = None
    prefix: str = ""
    below: tuple[str, ...] = ()  # the lines of its text boxes
    rows: tuple[tuple[str, ...], ...] = ()
    number: int = 0  # of a table

    @property
    def char_count(self) -> int:
        """The number of characters shown."""
        if self.rows:
            return sum(len(cell) for row in self.rows for cell in row)
        return len("\n".join(self._with_boxes(self.text)))

    def lines(self) -> list[str]:
        """Return the block as it is read (F9.7)."""
        if self.rows:
            columns = max(map(len, self.rows))
            head = f"[table {self.number}: {len(self.rows)}x{columns}]"
            return [head, *map(table_row, self.rows)]
        mark = "#" * min(self.level, 6) + " " if self.level else self.prefix
        return self._with_boxes(mark + self.text if self.text else self.prefix)

    def _with_boxes(self, line: str) -> list[str]:
        """Return a line above those of the boxes; what only holds boxes has none of its own."""
        return [*([line] if self.text or not self.below else []), *self.below]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in the text; `place` is the block it stands in."""

    place: int
    alt_text: str
    name: str | None


@dataclass(frozen=True)
class Document:
    """A text as its blocks."""

    blocks: tuple[Block, ...]
    images: tuple[Image, ...]
    margins: tuple[tuple[str, str], ...]  # (header or footer, line)
    notes: tuple[tuple[str, str], ...]  # (footnote or endnote, text)
    comments: tuple[tuple[str, str], ...]  # (who wrote it, text)
    changes: tuple[Tracked, ...]
    has_macros: bool

    @cached_property
    def tables(self) -> list[tuple[int, Block]]:
        """The tables with the places they stand at."""
        return [(place, block) for place, block in enumerate(self.blocks) if block.rows]


def load(source: Source) -> Document:
    """Read a document under the rules of F4.

    Raises:
        FormatError: `corrupt_file`, `encrypted_file`, and those of the guard.
    """
    archive = scan(source)
    _refuse_encrypted(archive)
    if "content.xml" not in archive.by_name:
        raise fail("corrupt_file", "the document has no content")
    root = parse_xml(archive.read("content.xml"))
    body = root.find(f"{_OFFICE}body/{_OFFICE}text")
    if body is None:
        raise fail("corrupt_file", "the document has no text")
    styles = None
    if "styles.xml" in archive.by_name:
        styles = parse_xml(archive.read("styles.xml"))
    looks = Looks((root, styles))
    reader = _Reader(_ordered_lists(root) | _ordered_lists(styles), looks)
    reader.walk(body)
    macros = any(name.startswith(("Basic/", "Scripts/")) for name in archive.by_name)
    return Document(
        tuple(reader.blocks),
        tuple(reader.images),
        tuple(_margins(styles, looks)),
        tuple(reader.notes),
        tuple(reader.comments),
        tuple(_tracked(root, reader.marks)),
        macros,
    )


def _tracked(root: Element, marks: dict[str, tuple[int, Element]]) -> Iterator[Tracked]:
    """Yield the tracked changes in the order the file lists them."""
    for region in root.iterfind(f".//{TEXT}tracked-changes/{TEXT}changed-region"):
        name = region.get(_XML_ID) or region.get(TEXT + "id") or ""
        place, mark = marks.get(name, (None, None))
        for change in region.iterchildren(*_CHANGE_KINDS):
            info = change.find(_OFFICE + "change-info")
            is_gone = change.tag == TEXT + "deletion"
            yield Tracked(
                kind=_CHANGE_KINDS[str(change.tag)],
                author=(info.findtext(_CREATOR) if info is not None else None) or "unknown",
                date=info.findtext(_DATE) if info is not None else None,
                text=_gone(change) if is_gone else _come(mark),
                where="document" if place is None else f"paragraph {place}",
                place=place,
            )


def _gone(deletion: Element) -> str:
    """Return what a change took out, a line for each paragraph."""
    return "\n".join("".join(map(str, one.itertext())) for one in deletion.iter(*_PARAGRAPHS))


def _come(mark: Element | None) -> str:
    """Return what follows the mark of a change inside its paragraph, up to where it ends."""
    found = [mark.tail or ""] if mark is not None else []
    for after in mark.itersiblings() if mark is not None else ():
        if after.tag == TEXT + "change-end":
            break
        found += [*map(str, after.itertext()), after.tail or ""]
    return "".join(found)


def _refuse_encrypted(archive: Archive) -> None:
    if "META-INF/manifest.xml" not in archive.by_name:
        return
    manifest = parse_xml(archive.read("META-INF/manifest.xml"))
    if manifest.find(f".//{_MANIFEST}encryption-data") is not None:
        raise fail("encrypted_file", "the file is protected by a password")


class _Reader:
    """Walks the body once and collects blocks and pictures."""

    def __init__(
        self, ordered: frozenset[tuple[str, int]], looks: Looks, *, in_margin: bool = False
    ) -> None:
        self.blocks: list[Block] = []
        self.images: list[Image] = []
        self.notes: list[tuple[str, str]] = []
        self.comments: list[tuple[str, str]] = []
        self.marks: dict[str, tuple[int, Element]] = {}  # tracked changes: where they begin
        self._ordered = ordered
        self._looks = looks
        self._in_margin = in_margin
        self._tables = 0
        self._added = 0

    def walk(self, parent: Element, look: Look = SEEN) -> None:
        """Take in what stands under an element; `look` is what it inherits."""
        for child in parent:
            tag = child.tag
            if tag in _HIDDEN or not isinstance(tag, str):
                continue
            if tag in _PARAGRAPHS:
                self._paragraph(child, look)
            elif tag == TEXT + "list":
                self._list(child, 0, child.get(TEXT + "style-name") or "", look)
            elif tag == TABLE + "table":
                self._table(child, look)
            elif tag in _CHANGES:
                self._mark(child)
            elif tag in _DRAWN:  # anchored to a page
                text, below = self._text(child, look)
                if text or below:
                    self.blocks.append(Block(text, below=below))
            else:  # sections, indexes: what they hold stands in their place
                self.walk(child, self._looks.inside(look, child))

    def lines(self, element: Element, look: Look = SEEN) -> list[str]:
        """Return the lines of a note, a comment, a text box, a cell or a margin."""
        found = []
        for paragraph, inherited in _paragraphs(element, look, self._looks):
            text, below = self._text(paragraph, inherited)
            found += "\n".join(Block(text, below=below).lines()).split("\n")
        return found

    def _paragraph(self, element: Element, look: Look, prefix: str = "") -> None:
        """Take in a paragraph; one that is a heading is that in a list too, and no item of it."""
        text, below = self._text(element, look)
        if element.tag == TEXT + "h" and text.strip():
            level = _whole(element.get(TEXT + "outline-level"), 1)
            self.blocks.append(Block(text, level=min(max(level, 1), 9), below=below))
        else:
            self.blocks.append(Block(text, prefix=prefix, below=below))

    def _text(self, element: Element, look: Look) -> tuple[str, tuple[str, ...]]:
        """Return the text of a paragraph or drawing, pictures marked, and lines of text boxes."""
        pieces: list[str] = []
        boxes: list[str] = []
        for mark in element.iter(*_CHANGES):
            self._mark(mark)
        for piece in _piece(element, look, self._looks):
            if isinstance(piece, str):
                pieces.append(piece)
            elif piece.tag == _NOTE:
                kind = piece.get(TEXT + "note-class") or "footnote"
                body = piece.find(TEXT + "note-body")
                lines = self.lines(piece if body is None else body, look)
                self.notes.append((kind, "\n".join(lines)))
            elif piece.tag == _COMMENT:
                who = piece.findtext(_CREATOR) or ""
                self.comments.append((who, "\n".join(self.lines(piece))))
            elif piece.tag == _IMAGE:
                pieces.append(self._picture(piece))
            else:
                lines = self.lines(piece, self._looks.inside(look, piece))
                boxes.extend(f"{_BOX}{line.removeprefix(_BOX)}" for line in lines)
        return "".join(pieces), tuple(boxes)

    def _mark(self, mark: Element) -> None:
        """Note in which block a tracked change begins; the first place counts."""
        self.marks.setdefault(mark.get(TEXT + "change-id") or "", (len(self.blocks), mark))

    def _picture(self, picture: Element) -> str:
        frame = picture.getparent()
        alt = _alt_text(frame) if frame is not None else ""
        href = picture.get(_XLINK + "href")
        label = "image" if self._in_margin else f"image {len(self.images)}"
        file = href.rpartition("/")[2] if href else None
        self.images.append(Image(len(self.blocks), alt, file))
        return f"[{label}: {alt}]" if alt else f"[{label}]"

    def _list(self, element: Element, depth: int, style: str, look: Look) -> None:
        mark = "1. " if (style, depth + 1) in self._ordered else "- "
        for item in element:
            if item.tag not in (TEXT + "list-item", TEXT + "list-header"):
                continue
            first = True
            for child in item:
                if child.tag == TEXT + "list":
                    own = child.get(TEXT + "style-name") or style
                    self._list(child, min(depth + 1, _MAX_DEPTH), own, look)
                elif child.tag in _PARAGRAPHS:
                    self._paragraph(child, look, "  " * depth + (mark if first else "  "))
                    first = False
                elif child.tag == TABLE + "table":
                    self._table(child, look)

    def _table(self, table: Element, look: Look) -> None:
        rows: list[tuple[str, ...]] = []
        for row in _table_rows(table):
            cells = self._cells(row, self._looks.inside(look, row))
            repeat = _repeat(row, "rows") if cells else 1
            self._add((repeat - 1) * sum(len(cell) + 1 for cell in cells))
            rows.extend([cells] * repeat)
        while rows and not rows[-1]:
            rows.pop()
        if rows:
            width = max(map(len, rows))
            self._add(sum(width - len(row) for row in rows))
            padded = tuple(row + ("",) * (width - len(row)) for row in rows)
            self.blocks.append(Block(rows=padded, number=self._tables))
            self._tables += 1

    def _cells(self, row: Element, look: Look) -> tuple[str, ...]:
        """Return the cells of a row without blank ones at its end."""
        cells: list[str] = []
        blank = 0
        for cell in row:
            repeat = _repeat(cell, "columns")
            text = ""
            if cell.tag == TABLE + "table-cell":
                text = "\n".join(self.lines(cell, self._looks.inside(look, cell))).strip("\n")
            elif cell.tag != TABLE + "covered-table-cell":
                continue
            if not text:
                blank += repeat
                continue
            self._add(blank + (repeat - 1) * (len(text) + 1))
            cells += [""] * blank + [text] * repeat
            blank = 0
        return tuple(cells)

    def _add(self, count: int) -> None:
        """Count what a table says more often than the file does; a few bytes can say it for ever.

        Raises:
            FormatError: `too_large`.
        """
        self._added += count
        if self._added > _MAX_ADDED:
            raise fail("too_large", f"tables repeat more than {_MAX_ADDED} characters")


def _pieces(element: Element, look: Look, looks: Looks) -> Iterator[str | Element]:
    """Yield text, and what is no text, of an element in order; unseen text is labelled."""
    look = looks.inside(look, element)
    is_text = not str(element.tag).startswith(DRAW)  # what lies between drawings is no text
    if element.text and is_text:
        yield look.labelled(_collapsed(element.text))
    for child in element:
        yield from _piece(child, look, looks)
        if child.tail and is_text:
            yield look.labelled(_collapsed(child.tail))


def _piece(child: Element, look: Look, looks: Looks) -> Iterator[str | Element]:
    tag = child.tag
    if not isinstance(tag, str) or tag in _UNREAD:
        pass
    elif tag == TEXT + "s":
        yield " " * min(_whole(child.get(TEXT + "c"), 1), _MAX_SPACES)
    elif tag == TEXT + "tab":
        yield "\t"
    elif tag == TEXT + "line-break":
        yield "\n"
    elif tag in (_NOTE, _COMMENT) or tag in SHAPES:
        yield child
    elif tag == _IMAGE:
        if next(child.itersiblings(_IMAGE, preceding=True), None) is None:
            yield child  # those after it are the same picture in other forms
    else:
        yield from _pieces(child, look, looks)


def _collapsed(text: str) -> str:
    """Return text as OpenDocument means it: any white space is one space."""
    return _WHITE_SPACE.sub(" ", text)


def _paragraphs(element: Element, look: Look, looks: Looks) -> Iterator[tuple[Element, Look]]:
    """Yield paragraphs and drawings of a cell, a note or a box; those inside others are theirs."""
    for child in element:
        if child.tag in _PARAGRAPHS or child.tag in _DRAWN:
            yield child, look
        elif isinstance(child.tag, str) and child.tag not in _ASIDE:
            yield from _paragraphs(child, looks.inside(look, child), looks)


def _repeat(element: Element, what: str) -> int:
    return min(max(_whole(element.get(f"{TABLE}number-{what}-repeated"), 1), 1), _MAX_REPEAT)


def _table_rows(table: Element) -> Iterator[Element]:
    for child in table:
        if child.tag == TABLE + "table-row":
            yield child
        elif child.tag in (
            TABLE + "table-rows",
            TABLE + "table-header-rows",
            TABLE + "table-row-group",
        ):
            yield from _table_rows(child)


def _alt_text(frame: Element) -> str:
    for name in ("desc", "title"):
        found = frame.find(_SVG + name)
        if found is not None and found.text:
            return " ".join(found.text.split())
    return ""


def _ordered_lists(root: Element | None) -> frozenset[tuple[str, int]]:
    """Return (style, level) of lists that are numbered."""
    if root is None:
        return frozenset()
    return frozenset(
        (style.get(STYLE + "name") or "", _whole(level.get(TEXT + "level"), 1))
        for style in root.iter(TEXT + "list-style")
        for level in style.iter(TEXT + "list-level-style-number")
    )


def _margins(styles: Element | None, looks: Looks) -> Iterator[tuple[str, str]]:
    if styles is None:
        return
    for page in styles.iter(STYLE + "master-page"):
        for part in page:
            name = str(part.tag).rpartition("}")[2]
            if name in _MARGINS:
                lines = _Reader(frozenset(), looks, in_margin=True).lines(part)
                yield from ((_MARGINS[name], line) for line in lines if line.strip())


def _whole(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 9 else default
