"""The body of an OpenDocument text as blocks in order: paragraphs, list items, tables, pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lxml import etree

from .errors import fail
from .guard import Archive, parse_xml, scan
from .odtlook import SEEN, Look, Looks
from .protocol import Source

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_CREATOR = "{http://purl.org/dc/elements/1.1/}creator"
_MANIFEST = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}"
_NOTE, _COMMENT = _TEXT + "note", _OFFICE + "annotation"
_ASIDE = frozenset({_NOTE, _COMMENT, _TEXT + "ruby-text"})
_PARAGRAPHS = (_TEXT + "p", _TEXT + "h")
_BOX = f"{_DRAW}text-box"
_HIDDEN = frozenset({_TEXT + "tracked-changes", _OFFICE + "forms", _TEXT + "sequence-decls"})
_MARGINS = {"header": "header", "header-left": "header", "header-first": "header"}
_MARGINS |= {"footer": "footer", "footer-left": "footer", "footer-first": "footer"}
_WHITE_SPACE = re.compile("[ \t\r\n]+")
_MAX_REPEAT = 256  # blank columns and rows are often repeated to the end of the sheet
_MAX_SPACES = 1_000
_MAX_DEPTH = 10

Element = etree._Element


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph (`level` when it is a heading, `prefix` when it is a list item) or a table."""

    text: str = ""
    level: int | None = None
    prefix: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    number: int = 0  # of a table

    @property
    def char_count(self) -> int:
        """The number of characters shown."""
        return sum(len(c) for row in self.rows for c in row) if self.rows else len(self.text)

    def lines(self) -> list[str]:
        """Return the block as it is read (F9.7)."""
        if self.rows:
            columns = max(map(len, self.rows))
            head = f"[table {self.number}: {len(self.rows)}x{columns}]"
            return [head, *(_row_line(row) for row in self.rows)]
        mark = "#" * min(self.level, 6) + " " if self.level else self.prefix
        return [mark + self.text]


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
    has_tracked_changes: bool
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
        root.find(f".//{_TEXT}tracked-changes/{_TEXT}changed-region") is not None,
        macros,
    )


def _refuse_encrypted(archive: Archive) -> None:
    if "META-INF/manifest.xml" not in archive.by_name:
        return
    manifest = parse_xml(archive.read("META-INF/manifest.xml"))
    if manifest.find(f".//{_MANIFEST}encryption-data") is not None:
        raise fail("encrypted_file", "the file is protected by a password")


class _Reader:
    """Walks the body once and collects blocks and pictures."""

    def __init__(self, ordered: frozenset[tuple[str, int]], looks: Looks) -> None:
        self.blocks: list[Block] = []
        self.images: list[Image] = []
        self.notes: list[tuple[str, str]] = []
        self.comments: list[tuple[str, str]] = []
        self._ordered = ordered
        self._looks = looks
        self._tables = 0

    def walk(self, parent: Element, depth: int = 0, style: str = "", look: Look = SEEN) -> None:
        """Take in what stands under an element; `look` is what it inherits."""
        for child in parent:
            tag = child.tag
            if tag in _HIDDEN or not isinstance(tag, str):
                continue
            if tag in _PARAGRAPHS:
                self._paragraph(child, look)
            elif tag == _TEXT + "list":
                self._list(child, depth, child.get(_TEXT + "style-name") or style, look)
            elif tag == _TABLE + "table":
                self._table(child, look)
            elif depth < 200:  # sections, indexes, frames: what they hold stands in their place
                self.walk(child, depth, style, self._looks.inside(look, child))

    def _paragraph(self, element: Element, look: Look, prefix: str = "") -> None:
        """Take in a paragraph; one that is a heading is that in a list too, and no item of it."""
        text = self._text(element, look)
        if element.tag == _TEXT + "h" and text.strip():
            level = _whole(element.get(_TEXT + "outline-level"), 1)
            self.blocks.append(Block(text, level=min(max(level, 1), 9)))
        else:
            self.blocks.append(Block(text, prefix=prefix))

    def _text(self, element: Element, look: Look = SEEN) -> str:
        """Return the text of a paragraph with its pictures marked, its text boxes below it."""
        pieces: list[str] = []
        boxes: list[str] = []
        for piece in _pieces(element, look, self._looks):
            if isinstance(piece, str):
                pieces.append(piece)
            elif piece.tag == _NOTE:
                kind = piece.get(_TEXT + "note-class") or "footnote"
                body = piece.find(_TEXT + "note-body")
                self.notes.append((kind, self._lines(piece if body is None else body, look)))
            elif piece.tag == _COMMENT:
                who = piece.findtext(_CREATOR) or ""
                self.comments.append((who, self._lines(piece, SEEN)))
            elif piece.tag == _BOX:
                lines = self._lines(piece, self._looks.inside(look, piece)).split("\n")
                boxes.extend(f"\n[text box] {line}" for line in lines)
            else:
                pieces.append(self._picture(piece))
        return "".join((*pieces, *boxes))

    def _lines(self, element: Element, look: Look) -> str:
        """Return the paragraphs of a note, a comment or a text box."""
        return "\n".join(self._text(p, look) for p in _paragraphs(element))

    def _picture(self, frame: Element) -> str:
        alt = _alt_text(frame)
        picture = frame.find(_DRAW + "image")
        href = picture.get(_XLINK + "href") if picture is not None else None
        label = f"image {len(self.images)}"
        file = href.rpartition("/")[2] if href else None
        self.images.append(Image(len(self.blocks), alt, file))
        return f"[{label}: {alt}]" if alt else f"[{label}]"

    def _list(self, element: Element, depth: int, style: str, look: Look) -> None:
        if depth > _MAX_DEPTH:
            return
        mark = "1. " if (style, depth + 1) in self._ordered else "- "
        for item in element:
            if item.tag not in (_TEXT + "list-item", _TEXT + "list-header"):
                continue
            first = True
            for child in item:
                if child.tag == _TEXT + "list":
                    own = child.get(_TEXT + "style-name") or style
                    self._list(child, depth + 1, own, look)
                elif child.tag in _PARAGRAPHS:
                    self._paragraph(child, look, "  " * depth + (mark if first else "  "))
                    first = False
                elif child.tag == _TABLE + "table":
                    self._table(child, look)

    def _table(self, table: Element, look: Look) -> None:
        rows: list[tuple[str, ...]] = []
        for row in _table_rows(table):
            cells = _trimmed(self._cells(row, self._looks.inside(look, row)))
            repeat = _whole(row.get(_TABLE + "number-rows-repeated"), 1)
            rows.extend([cells] * (min(repeat, _MAX_REPEAT) if cells else 1))
        while rows and not rows[-1]:
            rows.pop()
        if rows:
            width = max(map(len, rows))
            padded = tuple(row + ("",) * (width - len(row)) for row in rows)
            self.blocks.append(Block(rows=padded, number=self._tables))
            self._tables += 1

    def _cells(self, row: Element, look: Look) -> list[str]:
        cells: list[str] = []
        for cell in row:
            repeat = min(_whole(cell.get(_TABLE + "number-columns-repeated"), 1), _MAX_REPEAT)
            if cell.tag == _TABLE + "covered-table-cell":
                cells.extend([""] * repeat)
            elif cell.tag == _TABLE + "table-cell":
                text = self._lines(cell, self._looks.inside(look, cell))
                cells.extend([text.strip("\n")] * repeat)
        return cells


def _pieces(element: Element, look: Look, looks: Looks) -> Iterator[str | Element]:
    """Yield text, and what is no text, of a paragraph in order; unseen text is labelled."""
    look = looks.inside(look, element)
    if element.text:
        yield look.labelled(_collapsed(element.text))
    for child in element:
        tag = child.tag
        if not isinstance(tag, str) or tag == _TEXT + "ruby-text":
            pass
        elif tag == _TEXT + "s":
            yield " " * min(_whole(child.get(_TEXT + "c"), 1), _MAX_SPACES)
        elif tag == _TEXT + "tab":
            yield "\t"
        elif tag == _TEXT + "line-break":
            yield "\n"
        elif tag in (_NOTE, _COMMENT, _BOX) or (
            tag == _DRAW + "frame" and child.find(_DRAW + "image") is not None
        ):
            yield child
        else:
            yield from _pieces(child, look, looks)
        if child.tail:
            yield look.labelled(_collapsed(child.tail))


def _collapsed(text: str) -> str:
    """Return text as OpenDocument means it: any white space is one space."""
    return _WHITE_SPACE.sub(" ", text)


def _paragraphs(element: Element) -> Iterator[Element]:
    """Yield the paragraphs of a cell, a note or a box; those inside others belong to them."""
    for child in element:
        if child.tag in _PARAGRAPHS:
            yield child
        elif isinstance(child.tag, str) and child.tag not in _ASIDE:
            yield from _paragraphs(child)


def _table_rows(table: Element) -> Iterator[Element]:
    for child in table:
        if child.tag == _TABLE + "table-row":
            yield child
        elif child.tag in (
            _TABLE + "table-rows",
            _TABLE + "table-header-rows",
            _TABLE + "table-row-group",
        ):
            yield from _table_rows(child)


def _trimmed(cells: list[str]) -> tuple[str, ...]:
    while cells and not cells[-1]:
        cells.pop()
    return tuple(cells)


def _row_line(row: tuple[str, ...]) -> str:
    shown = (cell.replace("|", "\\|").replace("\n", "<br>") for cell in row)
    return "| " + " | ".join(shown) + " |"


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
        (style.get(_STYLE + "name") or "", _whole(level.get(_TEXT + "level"), 1))
        for style in root.iter(_TEXT + "list-style")
        for level in style.iter(_TEXT + "list-level-style-number")
    )


def _margins(styles: Element | None, looks: Looks) -> Iterator[tuple[str, str]]:
    if styles is None:
        return
    for page in styles.iter(_STYLE + "master-page"):
        for part in page:
            name = str(part.tag).rpartition("}")[2]
            if name in _MARGINS:
                for paragraph in part.iter(*_PARAGRAPHS):
                    shown = _pieces(paragraph, SEEN, looks)
                    text = "".join(piece for piece in shown if isinstance(piece, str))
                    if text.strip():
                        yield _MARGINS[name], text


def _whole(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 9 else default
