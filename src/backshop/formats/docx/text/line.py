"""A document's blocks as lines of text for a model or a review (F9.7)."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.formats.package.drawing import Drawing, drawn_lines
from backshop.formats.package.guard import Element
from backshop.formats.row import table_row

from . import name as n
from .document import Block, Body, Texts, block_elements
from .inline import Piece, Shows, is_own, pictures, pieces
from .source import Document
from .stylesheet import list_place
from .visible import Sight

BREAK = "---"


def image_numbers(body: Element) -> dict[Element, int]:
    """Number the pictures of the body in document order; fallback copies and deleted ones not."""
    shown = (
        drawing
        for drawing in body.iter(n.DRAWING, n.PICT)
        if next(pictures(drawing), None) is not None and not _is_hidden(drawing)
    )
    return {drawing: index for index, drawing in enumerate(shown)}


def _is_hidden(drawing: Element) -> bool:
    return any(
        ancestor.tag in (n.FALLBACK, n.DEL, n.MOVE_FROM) for ancestor in drawing.iterancestors()
    )


class Renderer:
    """Renders the blocks of one body; holds the numbers of its images."""

    def __init__(self, document: Document, body: Body) -> None:
        self._trees = document.trees
        self._body = body
        self._texts = {body.element.getroottree().getroot(): body.texts}
        self.styles, self.numberings = body.styles, body.numberings
        self._images = image_numbers(body.element)
        self._sight = Sight(body.element, body.styles)
        self._labelled = _Labelled(body.element, self._sight)

    def units(self, block: Block, rows: tuple[int, int] | None = None) -> list[str]:
        """Return a block as pieces that are not cut: a paragraph, or the rows of a table."""
        if block.table is None:
            return ["\n".join(self.paragraph(block.element, block.level))]
        first, last = rows or (0, len(block.rows))
        lines = [table_row(row) for row in self._grid(block.element, block.rows)[first:last]]
        if first == 0:
            columns = max((len(row) for row in block.rows), default=0)
            lines.insert(0, f"[table {block.table}: {len(block.rows)}x{columns}]")
        if last == len(block.rows):
            lines.extend(self._objects_of_table(block.element))
        return lines

    def paragraph(self, element: Element, level: int | None = None) -> list[str]:
        """Return the lines of one paragraph."""
        shown: list[str] = []
        after: list[str] = []
        for piece in pieces(element):
            if piece.shows in (Shows.TEXT, Shows.MARK):
                shown.append(_labelled(piece, self._sight))
            elif piece.shows is Shows.PAGE:
                shown.append(f"\n{BREAK}\n")
            elif piece.shows is Shows.BOX:
                after.extend(self._box(piece))
            elif piece.shows is Shows.DRAWN:
                label, *words = self._drawn(piece)
                shown.append(label)
                after.extend(words)
            else:
                shown.append(self._object(piece))
        text = "".join(shown)
        if text.startswith(f"\n{BREAK}"):  # a break before the first word stands above the line
            before, text = [BREAK], text[len(BREAK) + 2 :]
        else:
            before = []
        body = [self._prefix(element, level) + text] if text or not (before or after) else []
        if element.find(f"{n.PPR}/{n.SECT_PR}") is not None:
            after.append(BREAK)
        return [line.removesuffix("\n") for line in (*before, *body, *after)]

    def lines_inside(self, container: Element) -> Iterator[str]:
        """Yield the lines of a text box, header, note or comment."""
        for element in block_elements(container):
            if element.tag == n.P:
                yield from "\n".join(self.paragraph(element)).split("\n")
            else:
                yield from map(table_row, self._grid(element, None))
                yield from self._objects_of_table(element)

    def _grid(self, table: Element, plain: list[list[str]] | None) -> list[list[str]]:
        """Return the rows of a table with unseen text labelled (F4.8)."""
        if self._sight.hides_in(table):
            return self._labelled.grid(table)
        return self._texts_around(table).grid(table) if plain is None else plain

    def _texts_around(self, element: Element) -> Texts:
        """Return the texts of the part an element stands in: body, header, notes or comments."""
        root = element.getroottree().getroot()
        if root not in self._texts:
            self._texts[root] = Texts(root)
        return self._texts[root]

    def _prefix(self, paragraph: Element, level: int | None) -> str:
        if level is not None:
            return "#" * min(level, 6) + " "
        place = list_place(paragraph, self._body.styles, self._body.numberings)
        if place is None:
            return ""
        return "  " * place.level + ("- " if place.kind == "bullet" else "1. ")

    def _object(self, piece: Piece) -> str:
        if piece.shows is Shows.IMAGE and piece.element in self._images:
            label = f"image {self._images[piece.element]}"
            return f"[{label}: {piece.text}]" if piece.text else f"[{label}]"
        return "[image]" if piece.shows is Shows.IMAGE else f"[{piece.text}]"

    def _box(self, piece: Piece) -> list[str]:
        return [f"[text box] {line}" for line in self.lines_inside(piece.element)]

    def _drawn(self, piece: Piece) -> list[str]:
        """Return the line that names a chart or diagram, then one for each of its texts."""
        drawing = Drawing(self._trees.part_of(piece.element) or "", piece.element)
        label, *texts = drawn_lines(self._trees, drawing)
        words = (f"[{drawing.kind}] {line}" for text in texts for line in text.split("\n"))
        return [label, *words]

    def drawn(self, block: Element) -> list[str]:
        """Return what text boxes, charts and diagrams of a block say, which its text leaves out."""
        if next(block.iter(n.DRAWING, n.PICT), None) is None:
            return []
        paragraphs = [block] if block.tag == n.P else _paragraphs(block)
        found = []
        for piece in (piece for paragraph in paragraphs for piece in pieces(paragraph)):
            if piece.shows is Shows.BOX:
                found.extend(self._box(piece))
            elif piece.shows is Shows.DRAWN:
                found.extend(self._drawn(piece))
        return found

    def _objects_of_table(self, table: Element) -> Iterator[str]:
        """Yield what stands in the cells and is no text, which rows do not show."""
        if next(table.iter(n.DRAWING, n.PICT, n.OBJECT), None) is None:
            return
        for paragraph in _paragraphs(table):
            for piece in pieces(paragraph):
                if piece.shows is Shows.BOX:
                    yield from self._box(piece)
                elif piece.shows is Shows.DRAWN:
                    yield from self._drawn(piece)
                elif piece.shows in (Shows.IMAGE, Shows.OBJECT):
                    yield self._object(piece)


def _paragraphs(table: Element) -> Iterator[Element]:
    """Yield the paragraphs of a table and of those inside it; what is in text boxes is theirs."""
    return (paragraph for paragraph in table.iter(n.P) if is_own(paragraph, table))


class _Labelled(Texts):
    """Gives the text of paragraphs with what nobody sees labelled."""

    def __init__(self, root: Element, sight: Sight) -> None:
        super().__init__(root)
        self._sight = sight

    def of(self, paragraph: Element) -> str:
        """Return the text of a paragraph of this tree."""
        shown = (piece for piece in pieces(paragraph) if piece.shows in (Shows.TEXT, Shows.MARK))
        return "".join(_labelled(piece, self._sight) for piece in shown)


def _labelled(piece: Piece, sight: Sight) -> str:
    label = sight.label(piece.element) if piece.text.strip() else None
    return f"[{label}: {piece.text}]" if label else piece.text
