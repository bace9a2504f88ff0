"""Where places in a document are in another version of it, for comments that stay with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from backshop.base.place import Place
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Source
from backshop.formats.selection import block_place
from backshop.formats.selection.block_place import Cell, Row, Spot
from backshop.formats.selection.change_unit import Relocated

from ..text import name as n
from ..text.document import block_elements, grid_cells, table_rows
from ..text.source import Document
from .imprint import digest
from .side import PARA_ID, Side, is_blank
from .wording import Token, line_of


def require_place(source: Source, place: Place) -> Place:
    """Return a place as the document has it, or the error a read would give."""
    return block_place.require(_spots(_side(source)), place)


def relocate(before: Source, after: Source, places: Sequence[Place]) -> list[Relocated]:
    """Return where each place of one version is in the other, and whether it is another there."""
    old, new = _side(before), _side(after)
    return block_place.relocate(
        _spots(old),
        _spots(new),
        places,
        (_look_of(old), _look_of(new)),
        is_same_file=before.sha256 == after.sha256,
    )


def _side(source: Source) -> Side:
    document = Document.open(source)
    rels = document.package.rels(document.part)
    return Side(document, {rel.id: rel.part or rel.target for rel in reversed(rels)})


def _spots(side: Side) -> list[Spot]:
    found = []
    for element in block_elements(side.document.body_element):
        shown = digest(side.imprint.of(element))
        text = side.text(element)
        if element.tag == n.P:
            blank = is_blank(element, text)
            ident = element.get(PARA_ID)
            found.append(Spot("p", shown, text, ident=ident, is_blank=blank))
        else:
            shape = digest(side.imprint.of(element.find(n.TBL_GRID)))
            rows = tuple(_rows(side, element))
            found.append(Spot("t", shown, text, rows, shape=shape))
    return found


def _rows(side: Side, table: Element) -> Iterator[Row]:
    """Yield the rows; a place that a merge covers is the cell that shows there (F19.11)."""
    above: list[Cell] = []
    for number, row in enumerate(table_rows(table)):
        cells: list[Cell] = []
        for column, cell in enumerate(grid_cells(row)):
            if cell is not None:
                shown = digest(side.imprint.of(cell))
                cells.append(Cell(side.texts.cell(cell), shown, number, column))
            elif column < len(above) and above[column].row < number and not _spans(row, column):
                cells.append(above[column])
            else:
                cells.append(cells[-1] if cells else Cell("", "", number, column))
        above = cells
        text = "\t".join(cell.text if cell.row == number else "" for cell in cells)
        ident = row.get(PARA_ID)
        yield Row(digest(side.imprint.of(row)), text, tuple(cells), ident=ident)


def _spans(row: Element, column: int) -> bool:
    """Whether a cell to the left reaches over a place of the grid."""
    grid = grid_cells(row)
    left = next((cell for cell in reversed(grid[:column]) if cell is not None), None)
    if left is None:
        return False
    span = left.find(f"{n.TC_PR}/{n.GRID_SPAN}")
    reach = (
        int(span.get(n.VAL) or 1) if span is not None and (span.get(n.VAL) or "").isdecimal() else 1
    )
    return grid.index(left) + reach > column


def _looks(token: Token) -> list[str]:
    """Return the look of every character of a token."""
    looks = [look for count, look in token.looks for _ in range(count)]
    return looks if len(looks) == len(token.text) else [token.key] * len(token.text)


def _look_of(side: Side) -> Callable[[int, str], object]:
    """Return what tells how words of a block look; what cannot be told counts as another look."""

    blocks = list(block_elements(side.document.body_element))

    def look(at: int, words: str) -> object:
        block = blocks[at]
        line = line_of(block, side.imprint) if block.tag == n.P else None
        text = "".join(token.text for token in line.tokens) if line is not None else ""
        start = text.find(words)
        if line is None or start < 0:
            return object()
        looks = [look for token in line.tokens for look in _looks(token)]
        return line.head, tuple(looks[start : start + len(words)])

    return look
