"""A document as its body blocks in order, grouped into the sections its headings make (F9)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from backshop.formats.package.guard import Element

from . import name as n
from .inline import plain_text, special_paragraphs, text_of
from .stylesheet import Numberings, StyleSheet, child_value, whole

_MAX_COLUMNS = 256  # of what merges may claim; Word itself stops at 63
UNTITLED = "(untitled)"
WRAPPERS = (n.SDT, n.SDT_CONTENT, n.CUSTOM_XML, n.INS, n.MOVE_TO, n.ALTERNATE, n.CHOICE)


def block_elements(container: Element) -> Iterator[Element]:
    """Yield the paragraphs and tables of a container, also those inside content controls."""
    for child in container:
        tag = child.tag
        if tag == n.P or tag == n.TBL:
            yield child
        elif tag in WRAPPERS:
            yield from block_elements(child)


def parent_of(element: Element) -> Element:
    """Return the parent of an element that is inside a tree."""
    parent = element.getparent()
    assert parent is not None
    return parent


@dataclass(slots=True)
class Block:
    """A paragraph or a table of the body; `index` counts both, from 0."""

    element: Element
    index: int
    text: str = ""
    level: int | None = None  # 1-9 for a heading
    table: int | None = None  # which table of the body this is
    rows: list[list[str]] = field(default_factory=list)

    @property
    def char_count(self) -> int:
        """The number of characters shown."""
        return sum(len(cell) for row in self.rows for cell in row) if self.rows else len(self.text)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what follows it up to the next heading."""

    index: int  # 0 only for what stands before the first heading
    heading: str
    level: int
    blocks: list[Block]

    @property
    def start(self) -> int:
        """The body index of the section's first block."""
        return self.blocks[0].index


class Texts:
    """Gives the text of paragraphs, the quick way where that is the same."""

    def __init__(self, root: Element) -> None:
        self._special = special_paragraphs(root)

    def of(self, paragraph: Element) -> str:
        """Return the text of a paragraph of this tree."""
        return text_of(paragraph) if paragraph in self._special else plain_text(paragraph)

    def cell(self, cell: Element) -> str:
        """Return the text of a table cell: its paragraphs, one per line, nested tables inline."""
        lines = []
        for block in block_elements(cell):
            if block.tag == n.P:
                lines.append(self.of(block))
            else:
                lines.extend(" ".join(filter(None, row)) for row in self.grid(block))
        return "\n".join(lines).strip("\n")

    def grid(self, table: Element) -> list[list[str]]:
        """Return the rows of a table; cells covered by a merge are empty (F9.8)."""
        return [
            ["" if cell is None else self.cell(cell) for cell in grid_cells(row)]
            for row in table_rows(table)
        ]


def grid_cells(row: Element) -> list[Element | None]:
    """Return the cells of a row by their place in the grid, None where none shows (F9.8)."""
    properties = row.find(n.TR_PR)
    if properties is not None and properties.find(n.DEL) is not None:
        return [None for _ in row_cells(row)]  # deleted, the change not accepted yet
    before = whole(child_value(properties, n.GRID_BEFORE)) or 0
    cells: list[Element | None] = [None] * min(before, _MAX_COLUMNS)
    for cell in row_cells(row):
        cell_properties = cell.find(n.TC_PR)
        cells.append(None if vertical_merge(cell) == "continue" else cell)
        span = whole(child_value(cell_properties, n.GRID_SPAN)) or 1
        cells.extend([None] * min(span - 1, max(_MAX_COLUMNS - len(cells), 0)))
    return cells


def table_rows(table: Element) -> list[Element]:
    """Return the rows of a table, also those inside content controls."""
    return list(_inside(table, n.TR))


def row_cells(row: Element) -> list[Element]:
    """Return the cells of a row, also those inside content controls."""
    return list(_inside(row, n.TC))


def vertical_merge(cell: Element) -> str | None:
    """Return `restart` for a cell that begins a merge, `continue` for one covered by it."""
    properties = cell.find(n.TC_PR)
    merge = properties.find(n.V_MERGE) if properties is not None else None
    if merge is None:
        return None
    return "restart" if merge.get(n.VAL) == "restart" else "continue"


def _inside(container: Element, wanted: str) -> Iterator[Element]:
    for child in container:
        tag = child.tag
        if tag == wanted:
            yield child
        elif tag in WRAPPERS:
            yield from _inside(child, wanted)


class Body:
    """The blocks and sections of one tree; made anew after every structural change."""

    def __init__(
        self,
        body: Element,
        styles: StyleSheet,
        numberings: Numberings,
        known: Mapping[Element, Block],
    ) -> None:
        self.element = body
        self.styles = styles
        self.numberings = numberings
        self.texts = Texts(body)
        self.blocks = list(self._blocks(known))
        self.sections = _sections(self.blocks)

    def _blocks(self, known: Mapping[Element, Block]) -> Iterator[Block]:
        tables = 0
        for index, element in enumerate(block_elements(self.element)):
            same = known.get(element)
            if element.tag == n.TBL:
                rows = same.rows if same else self.texts.grid(element)
                yield Block(element, index, table=tables, rows=rows)
                tables += 1
            elif same:
                yield Block(element, index, same.text, same.level)
            else:
                text = self.texts.of(element)
                level = self.heading_level(element) if text and not text.isspace() else None
                yield Block(element, index, text, level)

    def heading_level(self, paragraph: Element) -> int | None:
        """Return 1-9 when the paragraph or its style says it is a heading (F9.2)."""
        properties = paragraph.find(n.PPR)
        if properties is None:
            return self.styles.heading_level(self.styles.default_paragraph)
        own = whole(child_value(properties, n.OUTLINE))
        if own is not None:
            return own + 1 if 0 <= own < 9 else None
        style = child_value(properties, n.PSTYLE)
        return self.styles.heading_level(style or self.styles.default_paragraph)

    @property
    def tables(self) -> list[Block]:
        """The tables of the body in order."""
        return [block for block in self.blocks if block.table is not None]

    @cached_property
    def by_element(self) -> dict[Element, Block]:
        """The blocks by what they are made of."""
        return {block.element: block for block in self.blocks}

    def around(self, element: Element) -> Block | None:
        """Return the block that an element is, or stands in."""
        found = (self.by_element.get(one) for one in (element, *element.iterancestors()))
        return next((block for block in found if block is not None), None)

    def section_of(self, block_index: int) -> Section | None:
        """Return the section that holds a block; none for blank lines before the first heading."""
        after = bisect_right(self.sections, block_index, key=lambda section: section.start)
        return self.sections[after - 1] if after else None


def _sections(blocks: list[Block]) -> list[Section]:
    starts = [at for at, block in enumerate(blocks) if block.level is not None]
    lead = blocks[: starts[0]] if starts else blocks
    sections = []
    if any(_has_content(block) for block in lead) or (blocks and not starts):
        sections.append(Section(0, UNTITLED, 0, lead))
    for number, (start, end) in enumerate(pairwise([*starts, len(blocks)]), start=1):
        first = blocks[start]
        heading = " ".join(first.text.split())
        sections.append(Section(number, heading, first.level or 0, blocks[start:end]))
    return sections


def _has_content(block: Block) -> bool:
    if block.table is not None or block.text.strip():
        return True
    return next(block.element.iter(n.DRAWING, n.PICT, n.OBJECT), None) is not None
