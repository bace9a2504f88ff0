"""Tables of slides: cells with their fills, lines and texts; rows grow with text (F43.35)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from lxml import etree

from backshop.formats.canvas.figure import Box, Figure, Path
from backshop.formats.errors import FormatError
from backshop.formats.package.guard import Element

from .. import names as n
from ..deck import Deck
from ..shape import whole
from .colour import Colour
from .ink import EMU, NOTHING, Ink, Line
from .text_body import TextBody, in_box, insets
from .text_look import TextLook

_CELLS_MAX = 4_000
_TRUE = frozenset({"1", "true"})
_SIDES = (("lnL", "left"), ("lnT", "top"), ("lnR", "right"), ("lnB", "bottom"))
_MARGINS = (("marL", "lIns"), ("marT", "tIns"), ("marR", "rIns"), ("marB", "bIns"))
_USUAL_STYLE = "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}"  # Medium Style 2 - Accent 1
_PLAIN = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"
_GRID = "{5940675A-B579-460E-94D1-54222C63F5DA}"
_EDGES = ("left", "right", "top", "bottom", "insideH", "insideV")


def _style(every_cell: str, *others: str) -> str:
    parts = f"<a:wholeTbl>{every_cell}</a:wholeTbl>{''.join(others)}"
    return f'<a:tblStyle xmlns:a="{n.A_NS}">{parts}</a:tblStyle>'


def _solid(name: str, tint: str = "") -> str:
    made = f'<a:tint val="{tint}"/>' if tint else ""
    return f'<a:solidFill><a:schemeClr val="{name}">{made}</a:schemeClr></a:solidFill>'


def _borders(name: str) -> str:
    line = f'<a:ln w="12700">{_solid(name)}</a:ln>'
    return f"<a:tcBdr>{''.join(f'<a:{side}>{line}</a:{side}>' for side in _EDGES)}</a:tcBdr>"


def _strong(name: str) -> str:
    text = '<a:tcTxStyle b="on"><a:schemeClr val="lt1"/></a:tcTxStyle>'
    return f"<a:{name}>{text}<a:tcStyle><a:fill>{_solid('accent1')}</a:fill></a:tcStyle></a:{name}>"


_USUAL = _style(
    '<a:tcTxStyle><a:schemeClr val="dk1"/></a:tcTxStyle>'
    f"<a:tcStyle>{_borders('lt1')}<a:fill>{_solid('accent1', '20000')}</a:fill></a:tcStyle>",
    f"<a:band1H><a:tcStyle><a:fill>{_solid('accent1', '40000')}</a:fill></a:tcStyle></a:band1H>",
    *map(_strong, ("lastCol", "firstCol", "lastRow", "firstRow")),
)
_LINES = _style(f"<a:tcStyle>{_borders('tx1')}</a:tcStyle>")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    element: Element
    row: int
    column: int
    rows: int
    columns: int


class TablePainter:
    """Draws one table."""

    def __init__(
        self, deck: Deck, ink: Ink, table: Element, part: str, look: TextLook, number: int
    ) -> None:
        self._deck, self._ink, self._table, self._part = deck, ink, table, part
        self._look, self._number = look, number
        self._options = table.find(n.a("tblPr"))
        self._row_count = sum(1 for _ in table.iterchildren(n.TR))
        self.widths = [
            min(max((whole(column.get("w")) or 0) / EMU, 0.0), 20_000.0)
            for column in table.iter(n.a("gridCol"))
        ]

    def figures(
        self, x: float, y: float, slide: tuple[float, float]
    ) -> tuple[list[Figure], float, float]:
        """Return what is drawn from a corner on, and how wide and high the table is.

        Cells beyond the size of the slide are not drawn: nobody sees them.
        """
        cells = list(self._cells())
        heights = self._heights(cells)
        lefts = [x + sum(self.widths[:at]) for at in range(len(self.widths) + 1)]
        tops = [y]
        for height in heights:
            tops.append(tops[-1] + height)
        areas: list[Figure] = []
        texts: list[Figure] = []
        lines: list[Figure] = []
        for cell in cells:
            left, top = lefts[cell.column], tops[cell.row]
            if left > slide[0] or top > slide[1]:
                continue
            right = lefts[min(cell.column + cell.columns, len(lefts) - 1)]
            bottom = tops[min(cell.row + cell.rows, len(tops) - 1)]
            box = (left, top, right - left, bottom - top)
            areas += self._area(cell, box)
            texts += self._text(cell, box)
            lines += self._edges(cell, box)
        return [*areas, *lines, *texts], lefts[-1] - x, tops[-1] - y

    def _cells(self) -> Iterator[_Cell]:
        count = 0
        for at, row in enumerate(self._table.iterchildren(n.TR)):
            for column, cell in enumerate(row.iterchildren(n.TC)):
                count += 1
                if count > _CELLS_MAX:
                    whole_table = sum(1 for _ in self._table.iter(n.TC))
                    self._ink.note(f"{_CELLS_MAX:,} of {whole_table:,} cells of a table are drawn")
                    return
                covered = cell.get("hMerge") in _TRUE or cell.get("vMerge") in _TRUE
                if not covered and column < len(self.widths):
                    yield _Cell(
                        element=cell,
                        row=at,
                        column=column,
                        rows=max(whole(cell.get("rowSpan")) or 1, 1),
                        columns=max(whole(cell.get("gridSpan")) or 1, 1),
                    )

    def _heights(self, cells: list[_Cell]) -> list[float]:
        heights = [
            min(max((whole(row.get("h")) or 0) / EMU, 0.0), 20_000.0)
            for row in self._table.iterchildren(n.TR)
        ]
        for cell in cells:
            body = cell.element.find(n.A_TX_BODY)
            look = self._cell_look(cell)
            if body is None or (look.body("vert") or "horz") != "horz":
                continue
            left, top, right, bottom = insets(look)
            width = sum(self.widths[cell.column : cell.column + cell.columns]) - left - right
            text = TextBody(body, look, self._ink, self._number, max(width, 1.0))
            last = min(cell.row + cell.rows, len(heights)) - 1
            others = sum(heights[cell.row : last])
            heights[last] = max(heights[last], text.height + top + bottom - others)
        return heights

    # --- looks ---------------------------------------------------------------------------------

    @cached_property
    def _style(self) -> Element | None:
        options = self._options
        own = options.find(n.a("tableStyle")) if options is not None else None
        if own is not None:
            return own
        name = (options.findtext(n.a("tableStyleId")) or "") if options is not None else ""
        name = name.strip().upper()
        for style in self._styles:
            if (style.get("styleId") or "").upper() == name:
                return style
        if name == _USUAL_STYLE:
            return _parsed(_USUAL)
        if name == _GRID:
            return _parsed(_LINES)
        if name and name != _PLAIN:
            self._ink.note("the style of a table is not in the file: plain lines instead")
            return _parsed(_LINES)
        return None

    @cached_property
    def _styles(self) -> list[Element]:
        part = self._deck.trees.first_related(self._deck.part, "tableStyles")
        try:
            root = self._deck.trees.root(part) if part else None
        except FormatError:  # damaged styles must not keep the slide from being drawn
            return []
        return list(root.iter(n.a("tblStyle"))) if root is not None else []

    def _has(self, option: str) -> bool:
        return self._options is not None and self._options.get(option) in _TRUE

    def _conditions(self, cell: _Cell) -> list[Element]:
        """Return the parts of the style that a cell follows, the strongest first."""
        if self._style is None:
            return []
        is_first, is_last = cell.row == 0, cell.row + cell.rows >= self._row_count
        names = []
        if is_first and self._has("firstRow"):
            names.append("firstRow")
        if is_last and self._has("lastRow"):
            names.append("lastRow")
        if cell.column == 0 and self._has("firstCol"):
            names.append("firstCol")
        if cell.column + cell.columns >= len(self.widths) and self._has("lastCol"):
            names.append("lastCol")
        if self._has("bandRow"):
            at = cell.row - self._has("firstRow")
            names.append("band2H" if at % 2 else "band1H")
        if self._has("bandCol"):
            at = cell.column - self._has("firstCol")
            names.append("band2V" if at % 2 else "band1V")
        parts = (self._style.find(n.a(name)) for name in (*names, "wholeTbl"))
        return [part for part in parts if part is not None]

    def _cell_look(self, cell: _Cell) -> TextLook:
        properties = cell.element.find(n.a("tcPr"))
        body = cell.element.makeelement(n.BODY_PR)
        for own, name in _MARGINS:
            if properties is not None and (value := properties.get(own)) is not None:
                body.set(name, value)
        for name in ("anchor", "vert"):
            if properties is not None and (value := properties.get(name)) is not None:
                body.set(name, value)
        colour: Colour | None = None
        is_bold: bool | None = None
        for part in self._conditions(cell):
            text = part.find(n.a("tcTxStyle"))
            if text is None:
                continue
            reference = text.find(n.a("fontRef"))
            colour = colour or self._ink.colour(text) or self._ink.colour(reference)
            if is_bold is None and text.get("b") in ("on", "off"):
                is_bold = text.get("b") == "on"
        return replace(self._look, bodies=[body], colour=colour, is_bold=is_bold)

    def _area(self, cell: _Cell, box: tuple[float, float, float, float]) -> list[Figure]:
        paint = self._ink.fill(cell.element.find(n.a("tcPr")), self._part)
        for part in self._conditions(cell) if paint is None else ():
            style = part.find(n.a("tcStyle"))
            fill = style.find(n.a("fill")) if style is not None else None
            reference = style.find(n.a("fillRef")) if style is not None else None
            paint = self._ink.fill(fill, self._part) or self._ink.reference(reference)
            if paint is not None:
                break
        paint = paint or NOTHING
        x, y, width, height = box
        if paint.picture is not None:
            return self._ink.picture(paint.picture, paint.part, box)
        if paint.fill is None:
            return []
        return [Box(x=x, y=y, width=width, height=height, fill=paint.fill, opacity=paint.alpha)]

    def _text(self, cell: _Cell, box: tuple[float, float, float, float]) -> list[Figure]:
        body = cell.element.find(n.A_TX_BODY)
        if body is None:
            return []
        return in_box(body, self._cell_look(cell), self._ink, self._number, box)

    def _edges(self, cell: _Cell, box: tuple[float, float, float, float]) -> Iterator[Figure]:
        x, y, width, height = box
        ends = {
            "left": ((x, y), (x, y + height)),
            "top": ((x, y), (x + width, y)),
            "right": ((x + width, y), (x + width, y + height)),
            "bottom": ((x, y + height), (x + width, y + height)),
        }
        properties = cell.element.find(n.a("tcPr"))
        for own, side in _SIDES:
            edge = properties.find(n.a(own)) if properties is not None else None
            line = self._ink.line([edge]) if edge is not None else self._styled(cell, side)
            if line is not None:
                start, end = ends[side]
                yield Path(steps=(("M", *start), ("L", *end)), stroke=line.stroke)

    def _styled(self, cell: _Cell, side: str) -> Line | None:
        inner = {
            "left": cell.column > 0,
            "top": cell.row > 0,
            "right": cell.column + cell.columns < len(self.widths),
            "bottom": cell.row + cell.rows < self._row_count,
        }
        names = [side]
        if inner[side]:
            names = ["insideV" if side in ("left", "right") else "insideH"]
        for part in self._conditions(cell):
            whole_table = part.tag == n.a("wholeTbl")
            for name in names if whole_table else [side]:
                edge = part.find(f"{n.a('tcStyle')}/{n.a('tcBdr')}/{n.a(name)}")
                if edge is not None:
                    reference = edge.find(n.a("lnRef"))
                    return self._ink.line([edge.find(n.a("ln"))], reference)
        return None


def _parsed(text: str) -> Element:
    return etree.fromstring(text)
