"""A document as blocks in order, with what stands at its start, its end and in its margin."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.base import limits
from backshop.base.place import Place
from backshop.formats.canvas.flow import (
    Flow,
    FlowAside,
    FlowBlock,
    FlowBreak,
    FlowCell,
    FlowComment,
    FlowParagraph,
    FlowSection,
    FlowTable,
    flow_json,
)
from backshop.formats.canvas.flow_page import view_flow
from backshop.formats.package.guard import Element
from backshop.formats.place import spelled
from backshop.formats.protocol import Json, JsonObject, Source, as_object

from ..text import name as n
from ..text.comment import comments
from ..text.document import (
    Block,
    Body,
    block_elements,
    grid_cells,
    row_cells,
    table_rows,
    vertical_merge,
)
from ..text.line import Renderer
from ..text.source import Document
from ..text.stylesheet import child_value, whole
from .list_number import ListNumbers
from .look import Looks, layout, shade_of
from .paragraph_run import Runs

_PX = 96 / 1440
_DEEPEST = 4  # tables in tables
_CELLS_MAX = 6_000  # of one table
_COMMENT_CHARS = 4_000
_USUAL_WIDTH = 624.0  # of the text on a page of A4 or Letter with an inch around it


def draw_document(
    source: Source, first_block: int = 0, block_count: int = limits.DRAWN_BLOCKS_MAX
) -> dict[str, Json]:
    """Return a window of a document as blocks (F43.50)."""
    document = Document.open(source)
    drawn = _Painter(document).flow(first_block, block_count)
    return dict(as_object(flow_json(drawn)))


def view_page(source: Source, page: int) -> tuple[bytes, JsonObject]:
    """Return a part of a document as a picture for who takes pictures, from 1 (F43.75)."""
    document = Document.open(source)
    return view_flow(lambda first: _Painter(document).flow(first, limits.DRAWN_BLOCKS_MAX), page)


class _Painter:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._body = document.body()
        self._looks = Looks(document)
        self._missing: dict[str, None] = {}
        self._runs = Runs(document, self._looks, self._missing)
        self._lists = ListNumbers(document.styles, document.numberings)
        self._renderer = Renderer(document, self._body)
        self._comments: dict[int, list[FlowComment]] = {}
        for one in comments(document, self._body):
            at = one.block.index if one.block is not None else -1
            made = FlowComment(author=one.author, text=one.text[:_COMMENT_CHARS], date=one.date)
            self._comments.setdefault(at, []).append(made)

    def flow(self, first: int, count: int) -> Flow:
        blocks = self._body.blocks
        first = min(max(first, 0), len(blocks))
        last = min(first + min(max(count, 1), limits.DRAWN_BLOCKS_MAX), len(blocks))
        made: list[FlowBlock] = []
        for block in blocks[:last]:
            if block.index >= first:
                made.extend(self._block(block))
            else:
                self._count(block.element)
        self._missing |= dict.fromkeys(self._runs.shares())
        return Flow(
            blocks=tuple(made),
            first_block=first,
            block_count=len(blocks),
            next_block=last if last < len(blocks) else None,
            width=self._width(),
            sections=tuple(_sections(self._body)),
            asides=tuple(self._asides()),
            missing=tuple(self._missing),
        )

    def _count(self, element: Element) -> None:
        """Count the items of lists that stand before the window."""
        for paragraph in [element] if element.tag == n.P else element.iter(n.P):
            self._lists.marker(paragraph)

    def _width(self) -> float:
        section = self._document.last_section()
        size = section.find(n.w("pgSz")) if section is not None else None
        margin = section.find(n.w("pgMar")) if section is not None else None
        if size is None or margin is None:
            return _USUAL_WIDTH
        sides = [whole(margin.get(n.w(side))) or 0 for side in ("left", "right")]
        width = ((whole(size.get(n.w("w"))) or 0) - sum(sides)) * _PX
        return round(width, 1) if 100 <= width <= 2_000 else _USUAL_WIDTH

    # --- blocks --------------------------------------------------------------------------------

    def _block(self, block: Block) -> Iterator[FlowBlock]:
        place = spelled(Place(paragraph=block.index))
        noted = tuple(self._comments.get(block.index, ()))
        if block.table is not None:
            yield self._table(block.element, block.index, noted, 0)
            return
        yield from self._paragraph(block.element, place, block.level, noted, ())

    def _paragraph(
        self,
        element: Element,
        place: str | None,
        level: int | None,
        noted: tuple[FlowComment, ...],
        in_table: tuple[Element, ...],
    ) -> Iterator[FlowBlock]:
        own = element.find(n.PPR)
        item = self._lists.marker(element)
        style = child_value(own, n.PSTYLE)
        inherited = self._looks.inherited(style, in_table, item[1] if item else None)
        where = layout(own, inherited)
        if where.breaks_page:
            yield FlowBreak()
        change = _mark_change(own)
        yield FlowParagraph(
            kind="heading" if level is not None else "paragraph",
            place=place,
            level=level,
            style=self._document.styles.name_of(style),
            runs=self._runs.of(element, inherited),
            marker=item[0] if item and item[0] else None,
            align=where.align,
            is_rtl=where.is_rtl,
            left=where.left,
            right=where.right,
            first=where.first,
            before=0.0
            if where.is_close and _has_style(element.getprevious(), style)
            else where.before,
            after=0.0 if where.is_close and _has_style(element.getnext(), style) else where.after,
            line=where.line,
            fill=where.fill,
            has_rule=where.has_rule,
            boxes=tuple(self._renderer.drawn(element)),
            comments=noted,
            change=change[0] if change else None,
            author=change[1] if change else None,
        )
        section = own.find(n.SECT_PR) if own is not None else None
        if section is not None and child_value(section, n.TYPE) != "continuous":
            yield FlowBreak()

    def _table(
        self, table: Element, index: int | None, noted: tuple[FlowComment, ...], depth: int
    ) -> FlowTable:
        rows = table_rows(table)
        grid = table.find(n.TBL_GRID)
        widths = [
            min(max((whole(column.get(n.w("w"))) or 0) * _PX, 0.0), 2_000.0)
            for column in (grid.iterchildren(n.GRID_COL) if grid is not None else ())
        ]
        spans = _row_spans(rows)
        made: list[tuple[FlowCell, ...]] = []
        count = 0
        for at, row in enumerate(rows):
            cells = grid_cells(row)
            count += len(cells)
            if count > _CELLS_MAX:
                there = sum(len(grid_cells(one)) for one in rows)
                words = f"{count - len(cells):,} of {there:,} cells of a table are drawn"
                self._missing[words] = None
                break
            made.append(
                tuple(
                    self._cell(table, cell, (index, at, column), spans.get(cell, 1), depth)
                    for column, cell in enumerate(cells)
                    if cell is not None
                )
            )
        return FlowTable(
            place=spelled(Place(paragraph=index)) if index is not None else None,
            widths=tuple(round(width, 1) for width in widths),
            rows=tuple(made),
            has_lines=self._has_lines(table),
            comments=noted,
        )

    def _cell(
        self,
        table: Element,
        cell: Element,
        at: tuple[int | None, int, int],
        row_span: int,
        depth: int,
    ) -> FlowCell:
        index, row, column = at
        properties = cell.find(n.TC_PR)
        parts = self._looks.table_parts(table, cell)
        holders = [*([properties] if properties is not None else [])]
        holders += [found for part in parts if (found := part.find(n.TC_PR)) is not None]
        blocks: list[FlowBlock] = []
        for inner in block_elements(cell):
            if inner.tag == n.P:
                blocks.extend(self._paragraph(inner, None, None, (), tuple(parts)))
            elif depth < _DEEPEST:
                blocks.append(self._table(inner, None, (), depth + 1))
            else:
                self._missing["tables inside tables are drawn to a depth of four"] = None
        place = Place(paragraph=index, table_row=row, table_column=column)
        return FlowCell(
            place=spelled(place) if index is not None else None,
            row_span=row_span,
            column_span=min(max(whole(child_value(properties, n.GRID_SPAN)) or 1, 1), 256),
            fill=shade_of(holders),
            blocks=tuple(one for one in blocks if not isinstance(one, FlowBreak)),
        )

    def _has_lines(self, table: Element) -> bool:
        properties = table.find(n.TBL_PR)
        style = child_value(properties, n.TBL_STYLE) or self._document.styles.default_table
        chain = (one.element.find(n.TBL_PR) for one in self._document.styles.chain(style))
        for holder in (properties, *chain):
            borders = holder.find(n.w("tblBorders")) if holder is not None else None
            if borders is not None:
                return any(
                    edge.get(n.VAL) not in (None, "nil", "none")
                    for edge in borders.iterchildren("*")
                )
        return False

    # --- beside the text -----------------------------------------------------------------------

    def _asides(self) -> Iterator[FlowAside]:
        for margin in self._document.margins():
            yield self._aside(margin.kind, f"{margin.kind} {margin.type}", margin.root)
        for note in self._document.notes():
            yield self._aside(note.kind, f"{note.kind} {note.id}", note.element)
        for one in self._comments.get(-1, ()):
            self._missing[f"a comment of {one.author[:80]} that stands at no text"] = None

    def _aside(self, kind: str, label: str, element: Element) -> FlowAside:
        blocks: list[FlowBlock] = []
        for inner in block_elements(element):
            if inner.tag == n.P:
                blocks.extend(self._paragraph(inner, None, None, (), ()))
            else:
                blocks.append(self._table(inner, None, (), 0))
        return FlowAside(kind=kind, label=label, blocks=tuple(blocks))


def _sections(body: Body) -> Iterator[FlowSection]:
    for section in body.sections:
        yield FlowSection(
            heading=section.heading[:300], level=section.level, first_block=section.start
        )


def _has_style(element: Element | None, style: str | None) -> bool:
    """Whether a neighbour is a paragraph of a style."""
    if element is None or element.tag != n.P:
        return False
    return child_value(element.find(n.PPR), n.PSTYLE) == style


def _mark_change(properties: Element | None) -> tuple[str, str] | None:
    """Return whether the end of a paragraph is a tracked change, and whose."""
    mark = properties.find(n.RPR) if properties is not None else None
    for tag, word in ((n.INS, "inserted"), (n.DEL, "deleted")):
        found = mark.find(tag) if mark is not None else None
        if found is not None:
            return word, found.get(n.w("author")) or "unknown"
    return None


def _row_spans(rows: list[Element]) -> dict[Element, int]:
    """Return over how many rows cells reach that begin a merge."""
    spans: dict[Element, int] = {}
    open_: dict[int, Element] = {}  # by column
    for row in rows:
        column = 0
        following: dict[int, Element] = {}
        for cell in row_cells(row):
            merge = vertical_merge(cell)
            if merge == "continue" and column in open_:
                spans[open_[column]] = spans.get(open_[column], 1) + 1
                following[column] = open_[column]
            elif merge == "restart":
                following[column] = cell
            column += min(max(whole(child_value(cell.find(n.TC_PR), n.GRID_SPAN)) or 1, 1), 256)
        open_ = following
    return spans
