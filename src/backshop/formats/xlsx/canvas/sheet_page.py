"""A window of a sheet as a drawn page (F43.15 to F43.24)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from backshop.base import limits
from backshop.base.place import Place
from backshop.formats.canvas.chart.data import Rect
from backshop.formats.canvas.face import Face
from backshop.formats.canvas.figure import (
    Box,
    Canvas,
    Figure,
    Frame,
    Gradient,
    Group,
    Oval,
    Path,
    Stroke,
    Text,
)
from backshop.formats.chart.shown import Look
from backshop.formats.errors import fail
from backshop.formats.figure.display import display
from backshop.formats.package.drawing_color import theme_colors
from backshop.formats.place import spelled
from backshop.formats.protocol import Source
from backshop.formats.warning import Warnings

from ..book import frame as sheet_frame
from ..book.extent import Extent, opened
from ..book.sheet_xml import RawCell, SheetXml, attributes
from ..book.shown_text import shown_text
from ..book.workbook import Book, Sheet, Value, child, children, truth
from ..drawing.drawing_part import drawing_parts
from ..read import choose_sheet
from ..style.look import Looks
from ..syntax.address import MAX_COL, MAX_ROW, Area, column_name, parse_cell
from . import cell_text
from .cell_look import CellLook, CellLooks
from .condition import Conditions, Outcome
from .content import Content, Contents
from .edge_line import EdgeLines
from .lattice import Lattice, Measures, lattice, number, row_pixels
from .placed import OBJECTS, Placed, Places, reaches, whole_page
from .table_look import TableLooks

_GRID = Stroke(color="#dadcdd", width=1.0)
_HEAD, _HEAD_LINE, _HEAD_TEXT = "#f3f3f3", Stroke(color="#c6c6c6", width=1.0), "#444444"
_FROZEN = Stroke(color="#8a8a8a", width=1.5)
_HEAD_HEIGHT = 20.0
_LEAST_ROWS, _LEAST_COLUMNS = 12, 6  # a small sheet is shown with some empty cells around it
_RUN_OVER = 12  # columns that are added for text beyond the last one
_NOTE = "#d13438"
_OBJECT = re.compile(rb"ObjectType\s*=\s*[\"'](\w+)")
_ROWS_ABOVE = 4_096  # that a drawing may begin above the window


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetPage:
    """A drawn window of a sheet, and how the sheet is cut into rows and columns there."""

    canvas: Canvas
    sheet: str
    sheets: tuple[str, ...]
    area: Area | None  # None: a chart sheet
    columns: tuple[float, ...] = ()
    rows: tuple[float, ...] = ()
    used: tuple[int, int] = (0, 0)
    frozen: tuple[int, int] = (0, 0)
    """Rows and columns that stay when somebody scrolls."""
    hidden: tuple[str, ...] = ()
    """The sheets that the file does not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The rows and columns asked for, counted from 0."""

    row_start: int = 0
    col_start: int = 0
    row_count: int = limits.GRID_MAX_ROWS
    col_count: int = limits.GRID_MAX_COLUMNS

    def area(self) -> Area:
        """Return it as cells, cut at the end of all sheets."""
        if not 1 <= self.row_count <= limits.GRID_MAX_ROWS:
            raise fail("bad_range", "a drawing has at most 200 rows and 50 columns")
        if not 1 <= self.col_count <= limits.GRID_MAX_COLUMNS:
            raise fail("bad_range", "a drawing has at most 200 rows and 50 columns")
        if not (0 <= self.row_start < MAX_ROW and 0 <= self.col_start < MAX_COL):
            raise fail("bad_range", "the drawing begins outside the sheet")
        last = (self.row_start + self.row_count, self.col_start + self.col_count)
        return Area(
            self.row_start + 1, self.col_start + 1, min(last[0], MAX_ROW), min(last[1], MAX_COL)
        )


def sheet_page(source: Source, sheet: str | None, window: Window) -> SheetPage:
    """Draw a window of a sheet; it ends with the sheet's contents where those end earlier."""
    looked_at = opened(source)
    book = looked_at.book
    area = window.area()
    chosen = choose_sheet(book, sheet, Warnings())
    xml = book.xml(chosen)
    if xml is None:
        return _chart_page(book, chosen)
    painter = _Painter(book, chosen, xml, looked_at.extent(chosen), area)
    canvas = painter.canvas()
    used = painter.size.used
    return SheetPage(
        canvas=canvas,
        sheet=chosen.name,
        sheets=_names(book.sheets),
        hidden=_hidden(book),
        area=painter.lattice.area,
        columns=painter.lattice.xs,
        rows=painter.lattice.ys,
        used=(used.row2, used.col2) if used else (0, 0),
        frozen=painter.frozen,
    )


def _names(sheets: Iterable[Sheet]) -> tuple[str, ...]:
    return tuple(one.name for one in sheets)


def _hidden(book: Book) -> tuple[str, ...]:
    return _names(one for one in book.sheets if one.state != "visible")


def _chart_page(book: Book, sheet: Sheet) -> SheetPage:
    missing: list[str] = []
    placed = Placed(book, sheet, _look(book), Rect(x=0, y=0, width=1e6, height=1e6), missing)
    figures, rect = whole_page(placed)
    if not figures:
        is_lost = sheet.kind == "worksheet"
        kind = f"a sheet of the kind {sheet.kind} is not drawn"
        missing.append("the part of the file that holds this sheet is missing" if is_lost else kind)
    canvas = Canvas(
        width=rect.width,
        height=rect.height,
        figures=tuple(figures),
        frames=tuple(placed.frames),
        missing=tuple(dict.fromkeys(missing)),
        label=f"Sheet {sheet.name}",
    )
    names = _names(book.sheets)
    return SheetPage(canvas=canvas, sheet=sheet.name, sheets=names, hidden=_hidden(book), area=None)


def _look(book: Book) -> Look:
    part = book.related("theme")
    root = book.package.xml(part) if part else None
    minor = next(root.iter("{*}minorFont"), None) if root is not None else None
    latin = next(minor.iter("{*}latin"), None) if minor is not None else None
    name = (latin.get("typeface") or "Calibri") if latin is not None else "Calibri"

    def show(value: float, code: str) -> str:
        return display(value, code, book.date_1904)

    return Look(theme=theme_colors(root), face_name=name, show=show)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    row: int
    col: int
    look: CellLook
    content: Content
    outcome: Outcome | None = None


@dataclass
class _Painter:
    book: Book
    sheet: Sheet
    xml: SheetXml
    size: Extent
    asked: Area
    missing: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.frame = sheet_frame.Frame.of(self.xml)
        self.table = Looks(self.book)
        self.looks = CellLooks(self.table)
        usual = self.looks.of(0)
        name = str(self.table.whole(0).get("font_name") or "")
        self.measures = Measures.of(self.frame, usual.face, usual.size, name)
        self.has_picture_values = self.has_words = False
        self.row_styles: dict[int, int] = {}
        self.said_heights: dict[int, float] = {}
        self.cells = self._read()
        self.merges = [merge for merge in self.frame.merges if merge.meets(self.asked)]
        self.area = self._end()
        self.covered = self.frame.covered(self.area)
        self.lattice = self._lattice()

    # --- reading -------------------------------------------------------------------------------

    def _read(self) -> dict[tuple[int, int], _Cell]:
        contents = Contents(self.book, self.xml, self.size.unshown, self.table)
        tables = TableLooks.of(self.book, self.sheet, self.table, self.asked)
        rules = Conditions(self.book, self.sheet, self.frame, self.asked, self.looks, self.table)
        area = self.asked
        found: dict[tuple[int, int], _Cell] = {}
        waiting = 0
        for row in self.size.rows(self.xml, area.row1, area.row2):
            self._row(row.number, attributes(self.xml.data[row.start : row.inner]))
            for raw in self.xml.cells(row, area.col1, area.col2):
                self.has_words |= raw.kind == "s"
                self.has_picture_values |= raw.kind == "e" and self._is_picture(raw)
                look = tables.dressed(raw.row, raw.col, self.looks.of(raw.style))
                content = contents.of(raw, look)
                waiting += content.is_waiting
                found[raw.row, raw.col] = self._met(rules, raw, look, content)
        for place in tables.bare(found):
            look = tables.dressed(*place, self._blank_look(*place))
            found[place] = _Cell(
                row=place[0], col=place[1], look=look, content=Content(value=Value("blank", ""))
            )
        for place in list(rules.bare(found)):
            look, blank = self._blank_look(*place), Value("blank", "")
            outcome = rules.outcome(*place, blank, look)
            if outcome is not None:
                empty = Content(value=blank)
                found[place] = _Cell(
                    row=place[0], col=place[1], look=outcome.look, content=empty, outcome=outcome
                )
        if rules.formulas.unknown:
            words = "conditional formats by formula that cannot be computed here are not drawn"
            self.missing.append(words)
        if waiting:
            self.missing.append(
                f"{waiting:,} formulas without a stored result are shown as formulas"
            )
        self.missing += [*sorted(rules.missing), *sorted(tables.missing)]
        return found

    def _is_picture(self, raw: RawCell) -> bool:
        """Whether an error stands for a picture in its cell, as programs store it."""
        tag = self.xml.data[raw.start : self.xml.data.index(b">", raw.start)]
        return b"vm" in attributes(tag) and self._has_pictures

    @cached_property
    def _has_pictures(self) -> bool:
        return self.book.package.find("xl/richData/richValueRel.xml") is not None

    def _met(self, rules: Conditions, raw: RawCell, look: CellLook, content: Content) -> _Cell:
        outcome = rules.outcome(raw.row, raw.col, content.value, look) if rules.rules else None
        if outcome is not None:
            changed = outcome.look
            if (changed.face, changed.color, changed.underline) != (
                look.face,
                look.color,
                look.underline,
            ):
                runs = tuple(
                    replace(run, face=changed.face, color=changed.color) for run in content.runs
                )
                content = replace(content, runs=runs)
            if changed.code != look.code and len(content.runs) == 1 and not content.is_waiting:
                text = shown_text(self.book, content.value, changed.code)
                content = replace(content, runs=(replace(content.runs[0], text=text),))
            look = changed
            if not outcome.is_value_shown:
                content = replace(content, runs=())
        return _Cell(row=raw.row, col=raw.col, look=look, content=content, outcome=outcome)

    def _row(self, row: int, tag: dict[bytes, bytes]) -> None:
        height = number(tag.get(b"ht", b"").decode("ascii", "replace"))
        if truth(tag.get(b"hidden", b"0").decode("ascii", "replace")):
            self.said_heights[row] = 0.0
        elif height is not None:
            self.said_heights[row] = row_pixels(height)
        style = tag.get(b"s", b"")
        if tag.get(b"customFormat") in (b"1", b"true") and style.isdigit() and len(style) < 7:
            self.row_styles[row] = int(style)

    def _blank_look(self, row: int, col: int) -> CellLook:
        return self.looks.of(self.row_styles.get(row) or self._column_styles.get(col, 0))

    @cached_property
    def _column_styles(self) -> dict[int, int]:
        return self.measures.styles(self.asked.col1, self.asked.col2)

    # --- where things stand --------------------------------------------------------------------

    def _end(self) -> Area:
        """Return the window up to where the sheet has something."""
        asked = self.asked
        row, col = asked.row1 + _LEAST_ROWS - 1, asked.col1 + _LEAST_COLUMNS - 1
        for cell in self.cells.values():
            if cell.content.runs or cell.look.fill is not None or cell.look.edges:
                row, col = max(row, cell.row + 1), max(col, cell.col + 1)
        for merge in self.merges:
            row, col = max(row, min(merge.row2, asked.row2)), max(col, min(merge.col2, asked.col2))
        for first in reaches(self.book, self.sheet):
            if first[0] <= asked.row2 and first[1] <= asked.col2:
                last = self._reach(*first)
                row, col = max(row, last[0] + 1), max(col, last[1] + 1)
        col = max(col, self._run_over(min(col, asked.col2)))
        return Area(asked.row1, asked.col1, min(row, asked.row2), min(col, asked.col2))

    def _reach(
        self, row: int, col: int, row2: int | None, col2: int | None, wide: float, tall: float
    ) -> tuple[int, int]:
        """Return the last cell below a drawing; of one with a size by the usual height of rows."""
        if row2 is not None and col2 is not None:
            return row2, col2
        end = col
        while wide > 0 and end < min(MAX_COL, col + 100):
            wide -= self.measures.widths(end, end)[0]
            end += 1
        return row + int(min(tall, 20_000) // max(self.measures.usual_height, 4.0)), end

    def _run_over(self, last: int) -> int:
        """Return the column at which the longest text beyond the last one ends."""
        reach = 0.0
        edge = self.measures.span(self.asked.col1, last + 1)
        for cell in self.cells.values():
            if cell.col + 3 >= last and cell_text.fits_over(cell.look, cell.content):
                start = self.measures.span(self.asked.col1, cell.col)
                reach = max(reach, start + cell_text.text_width(cell.content) + 6)
        most = min(last + _RUN_OVER, self.asked.col2)
        while reach > edge and last < most:
            last += 1
            edge = self.measures.span(self.asked.col1, last + 1)
        return last

    def _lattice(self) -> Lattice:
        area = self.area
        widths = self.measures.widths(area.col1, area.col2)
        heights = dict(self.said_heights)
        merged = {place: merge for merge in self.merges for place in self._cells_of(merge)}
        for (row, col), cell in self.cells.items():
            merge = merged.get((row, col))
            is_high = merge is not None and merge.row1 < merge.row2
            if row in self.said_heights or is_high or not area.has(row, col):
                continue
            look = cell.look
            if merge is not None:  # it asks for one line of its letters, however it is wrapped
                look = replace(look, wrap=False, rotation=0, h_align="general")
            needed = cell_text.needed_height(look, cell.content, widths[col - area.col1])
            if needed > heights.get(row, self.measures.usual_height) + 1:
                heights[row] = min(float(round(needed)), 546.0)
        wide = max(26.0, 8.0 * len(str(area.row2)) + 12.0)
        corner = (wide, _HEAD_HEIGHT)
        return lattice(area, widths, heights, self.measures.usual_height, corner)

    def _cells_of(self, merge: Area) -> Iterator[tuple[int, int]]:
        part = merge.clip(self.area)
        return part.cells() if part is not None else iter(())

    def _x_of(self, col: int, offset: float) -> float:
        """Return the pixel of a column counted from 0, in the window or out of it."""
        area, xs = self.lattice.area, self.lattice.xs
        at = col + 1
        if at < area.col1:
            return xs[0] - self.measures.span(at, area.col1) + offset
        if at > area.col2:
            return xs[-1] + self.measures.span(area.col2 + 1, at) + offset
        here = at - area.col1
        return min(xs[here] + offset, xs[here + 1])

    def _y_of(self, row: int, offset: float) -> float:
        area, ys, usual = self.lattice.area, self.lattice.ys, self.measures.usual_height
        at = row + 1
        if at < area.row1:
            return ys[0] - self._above(at) + offset
        if at > area.row2:
            return ys[-1] + (at - area.row2 - 1) * usual + offset
        here = at - area.row1
        return min(ys[here] + offset, ys[here + 1])

    def _above(self, first: int) -> float:
        """Return how tall the rows from one up to the window are."""
        last, usual = self.area.row1 - 1, self.measures.usual_height
        tall = usual * (self.area.row1 - first)
        near = max(first, last - _ROWS_ABOVE)
        for row in self.size.rows(self.xml, near, last):
            tag = attributes(self.xml.data[row.start : row.inner])
            height = number(tag.get(b"ht", b"").decode("ascii", "replace"))
            if truth(tag.get(b"hidden", b"0").decode("ascii", "replace")):
                tall -= usual
            elif height is not None:
                tall += row_pixels(height) - usual
        return tall

    # --- drawing -------------------------------------------------------------------------------

    def canvas(self) -> Canvas:
        """Return the window drawn."""
        width, height = self.lattice.xs[-1] + 1, self.lattice.ys[-1] + 1
        window = Rect(
            x=self.lattice.xs[0],
            y=self.lattice.ys[0],
            width=width - self.lattice.xs[0],
            height=height - self.lattice.ys[0],
        )
        placed = Placed(self.book, self.sheet, _look(self.book), window, self.missing)
        figures: list[Figure] = [*self._grid_lines(), *self._fills()]
        texts, erased = self._texts()
        figures += [*erased, *self._bars(), *texts, *self._edges(), *self._notes()]
        figures += self._cut(list(placed.figures(Places(self._x_of, self._y_of))), window)
        figures += [*self._frozen(), *self._heads()]
        self._named()
        return Canvas(
            width=width,
            height=height,
            figures=tuple(figures),
            frames=(*self._merge_frames(), *placed.frames),
            missing=tuple(dict.fromkeys(self.missing)),
            label=f"Sheet {self.sheet.name}, {self.area}",
        )

    def _cut(self, figures: list[Figure], window: Rect) -> list[Figure]:
        clip = (window.x, window.y, window.width, window.height)
        return [Group(figures=tuple(figures), clip=clip)] if figures else []

    def _grid_lines(self) -> Iterator[Figure]:
        view = child(child(self.frame.root, "sheetViews"), "sheetView")
        if view is not None and not truth(view.get("showGridLines"), True):
            return
        xs, ys = self.lattice.xs, self.lattice.ys
        steps: list[tuple[str | float, ...]] = []
        for x in dict.fromkeys(xs[1:]):
            steps += [("M", x - 0.5, ys[0]), ("L", x - 0.5, ys[-1])]
        for y in dict.fromkeys(ys[1:]):
            steps += [("M", xs[0], y - 0.5), ("L", xs[-1], y - 0.5)]
        yield Path(steps=tuple(steps), stroke=_GRID)

    def _look_at(self, row: int, col: int) -> CellLook:
        cell = self.cells.get((row, col))
        return cell.look if cell is not None else self._blank_look(row, col)

    def _fills(self) -> Iterator[Figure]:
        """Yield the grounds of cells, neighbours of one colour in a row as one box."""
        area = self.area
        has_styled = bool(self._column_styles)
        for row in range(area.row1, area.row2 + 1):
            held: tuple[int, int, object] | None = None
            for col in range(area.col1, area.col2 + 2):
                fill: object = None
                known = (row, col) in self.cells or row in self.row_styles or has_styled
                if col <= area.col2 and known and (row, col) not in self.covered:
                    fill = self._look_at(row, col).fill
                if held is not None and held[2] == fill and isinstance(fill, str):
                    held = (held[0], col, fill)
                    continue
                if held is not None:
                    yield from self._ground(row, held[0], held[1], held[2])
                held = (col, col, fill) if fill is not None else None
        for merge in self.merges:
            fill = self._look_at(merge.row1, merge.col1).fill
            x, y, width, height = self.lattice.rect(merge)
            ground = fill or "#ffffff"
            yield Box(x=x, y=y, width=width - 1, height=height - 1, fill=ground)

    def _ground(self, row: int, first: int, last: int, fill: object) -> Iterator[Figure]:
        x, y, width, height = self.lattice.rect(Area(row, first, row, last))
        if width > 0 and height > 0 and isinstance(fill, str | Gradient):
            yield Box(x=x - 1, y=y - 1, width=width + 1, height=height + 1, fill=fill)

    def _bars(self) -> Iterator[Figure]:
        for cell in self.cells.values():
            if cell.outcome is None or not self.area.has(cell.row, cell.col):
                continue
            x, y, width, height = self.lattice.rect(Area(cell.row, cell.col, cell.row, cell.col))
            bar, icon = cell.outcome.bar, cell.outcome.icon
            if bar is not None:
                wide = max(width - 4, 0.0)
                yield Box(
                    x=x + 2 + wide * bar.start,
                    y=y + 2,
                    width=wide * (bar.end - bar.start),
                    height=max(height - 5, 0.0),
                    fill=bar.color,
                    opacity=0.7,
                )
            if icon is not None:
                side = min(12.0, height - 4)
                middle = y + (height - side) / 2
                yield Oval(x=x + 3, y=middle, width=side, height=side, fill=icon[0])

    def _texts(self) -> tuple[list[Figure], list[Figure]]:
        """Return the texts, those of one look together, and what covers grid lines below them."""
        plain: list[Text] = []
        other: list[Figure] = []
        erased: list[Figure] = []
        heads = {(merge.row1, merge.col1): merge for merge in self.merges}
        for (row, col), cell in self.cells.items():
            merge = heads.get((row, col))
            if not cell.content.runs or (row, col) in self.covered:
                continue
            if not self.area.has(row, col):
                continue
            room = self._room(cell, merge)
            if room.cell.width <= 0 or room.cell.height <= 0:
                continue
            made = list(cell_text.cell_text(cell.look, cell.content, room))
            if len(made) == 1 and isinstance(made[0], Text):
                plain.append(made[0])
            else:
                other += made  # the runs of one text stay together
            erased += self._erased(cell, room)
        plain.sort(key=lambda one: (str(one.face), one.size, one.color, one.underline, one.strike))
        return [*plain, *other], erased

    def _room(self, cell: _Cell, merge: Area | None) -> cell_text.Room:
        area = merge or Area(cell.row, cell.col, cell.row, cell.col)
        if cell.look.h_align == "centerContinuous" and merge is None:
            area = replace(area, col2=self._continued(cell))
        x, y, width, height = self.lattice.rect(area)
        rect = Rect(x=x, y=y, width=width, height=height)
        if merge is not None or not cell_text.fits_over(cell.look, cell.content):
            return cell_text.Room(cell=rect, is_merged=merge is not None)
        wide = cell_text.text_width(cell.content) + 2 * cell_text.PAD
        if wide <= width:
            return cell_text.Room(cell=rect)
        align = cell_text.h_align(cell.look, cell.content)
        more = wide - width + cell.look.indent * 9
        right = self._free(cell, 1, more) if align != "right" else 0.0
        left = self._free(cell, -1, more) if align != "left" else 0.0
        return cell_text.Room(cell=rect, left=left, right=right)

    def _continued(self, cell: _Cell) -> int:
        col = cell.col
        while col < self.area.col2:
            after = self.cells.get((cell.row, col + 1))
            if after is None or after.content.runs or after.look.h_align != "centerContinuous":
                break
            col += 1
        return col

    def _free(self, cell: _Cell, step: int, wanted: float) -> float:
        """Return how much room the empty cells beside a cell give."""
        found, col = 0.0, cell.col + step
        while self.area.col1 <= col <= self.area.col2 and found < wanted:
            beside = self.cells.get((cell.row, col))
            if (beside is not None and beside.content.runs) or (cell.row, col) in self._taken:
                break
            found += self.lattice.rect(Area(cell.row, col, cell.row, col))[2]
            col += step
        return found

    @cached_property
    def _taken(self) -> set[tuple[int, int]]:
        return {place for merge in self.merges for place in self._cells_of(merge)}

    def _erased(self, cell: _Cell, room: cell_text.Room) -> Iterator[Figure]:
        """Cover the grid lines between cells that a text runs over."""
        over = cell_text.text_width(cell.content) + 2 * cell_text.PAD - room.cell.width
        if not (room.left or room.right) or cell.look.fill is not None:
            return
        low = room.cell.x - min(room.left, over)
        high = room.cell.right + min(room.right, over)
        for x in self.lattice.xs:
            is_over = low < x <= room.cell.x if room.left else False
            if is_over or (room.right and room.cell.right - 0.1 <= x < high):
                height = max(room.cell.height - 1, 0.0)
                yield Box(x=x - 1, y=room.cell.y, width=1, height=height, fill="#ffffff")

    def _edges(self) -> Iterator[Figure]:
        held = EdgeLines()
        for (row, col), cell in self.cells.items():
            if not self.area.has(row, col):
                continue
            for side, edge in cell.look.edges:
                if (row, col) not in self._taken or self._is_outer(row, col, side):
                    held.add(row, col, side, edge)
        yield from held.figures(self.lattice)

    def _is_outer(self, row: int, col: int, side: str) -> bool:
        """Whether a side of a merged cell is one of the whole merge."""
        merge = next(one for one in self.merges if one.has(row, col))
        ends = {"left": merge.col1 == col, "right": merge.col2 == col}
        ends |= {"top": merge.row1 == row, "bottom": merge.row2 == row}
        return ends[side]

    def _notes(self) -> Iterator[Figure]:
        """Yield a mark at the corner of every cell that has a note."""
        for part in self.book.sheet_rels(self.sheet, "comments"):
            for item in self.book.package.xml(part).iter("{*}comment"):
                place = parse_cell(item.get("ref") or "")
                if place is not None and self.area.has(*place):
                    x, y, width, _ = self.lattice.rect(Area(*place, *place))
                    right = x + width
                    corners = (("M", right - 7, y), ("L", right, y), ("L", right, y + 7), ("Z",))
                    yield Path(steps=corners, fill=_NOTE)

    @property
    def frozen(self) -> tuple[int, int]:
        """How many rows and columns stay when somebody scrolls."""
        said = self.frame.frozen or {}
        row, col = int(str(said.get("row") or 0)), int(str(said.get("column") or 0))
        return min(max(row, 0), MAX_ROW), min(max(col, 0), MAX_COL)

    def _frozen(self) -> Iterator[Figure]:
        """Yield a line below and beside what stays when somebody scrolls."""
        xs, ys, area = self.lattice.xs, self.lattice.ys, self.area
        row, col = self.frozen
        if area.row1 <= row <= area.row2:
            y = ys[row - area.row1 + 1] - 0.5
            yield Path(steps=(("M", xs[0], y), ("L", xs[-1], y)), stroke=_FROZEN)
        if area.col1 <= col <= area.col2:
            x = xs[col - area.col1 + 1] - 0.5
            yield Path(steps=(("M", x, ys[0]), ("L", x, ys[-1])), stroke=_FROZEN)

    def _heads(self) -> Iterator[Figure]:
        xs, ys, area = self.lattice.xs, self.lattice.ys, self.area
        yield Box(x=0, y=0, width=xs[-1], height=ys[0], fill=_HEAD)
        yield Box(x=0, y=0, width=xs[0], height=ys[-1], fill=_HEAD)
        steps: list[tuple[str | float, ...]] = [("M", 0.0, ys[0] - 0.5), ("L", xs[-1], ys[0] - 0.5)]
        steps += [("M", xs[0] - 0.5, 0.0), ("L", xs[0] - 0.5, ys[-1])]
        for x in dict.fromkeys(xs[1:]):
            steps += [("M", x - 0.5, 0.0), ("L", x - 0.5, ys[0])]
        for y in dict.fromkeys(ys[1:]):
            steps += [("M", 0.0, y - 0.5), ("L", xs[0], y - 0.5)]
        yield Path(steps=tuple(steps), stroke=_HEAD_LINE)
        look = Face()
        for at, col in enumerate(range(area.col1, area.col2 + 1)):
            if xs[at + 1] - xs[at] >= 8:
                yield _head(column_name(col), (xs[at] + xs[at + 1]) / 2, ys[0] / 2, look)
        for at, row in enumerate(range(area.row1, area.row2 + 1)):
            if ys[at + 1] - ys[at] >= 8:
                yield _head(str(row), xs[0] / 2, (ys[at] + ys[at + 1]) / 2, look)

    def _merge_frames(self) -> Iterator[Frame]:
        for merge in self.merges:
            x, y, width, height = self.lattice.rect(merge)
            if width > 0 and height > 0:
                place = spelled(Place(sheet=self.sheet.name, range=str(merge)))
                yield Frame(kind="cell", place=place, x=x, y=y, width=width, height=height)

    def _named(self) -> None:
        """Say what of the sheet is not drawn."""
        self.missing += sorted(self.looks.unlike)
        root = self.frame.root
        view = child(child(root, "sheetViews"), "sheetView")
        if view is not None and truth(view.get("rightToLeft")):
            self.missing.append("the sheet runs from right to left and is drawn from left to right")
        if child(root, "drawing") is not None and not drawing_parts(self.book, self.sheet):
            self.missing.append("what stands on the sheet (charts, pictures) is lost in the file")
        if self.has_words and self.book.related("sharedStrings") is None:
            self.missing.append("the texts of the cells are lost in the file")
        if self.frame.has("sparklineGroup"):
            self.missing.append("sparklines are not drawn")
        if child(root, "picture") is not None:
            self.missing.append("the picture behind the cells is not drawn")
        has_objects = child(root, "oleObjects") is not None or self._has_controls()
        if children(child(root, "controls"), "control") or has_objects:
            self.missing.append(OBJECTS)
        if self.has_picture_values:
            self.missing.append("pictures in cells are not drawn, their cells show an error")

    def _has_controls(self) -> bool:
        """Whether older drawings of the sheet hold anything but notes."""
        parts = self.book.sheet_rels(self.sheet, "vmlDrawing")
        kinds = {kind for part in parts for kind in _OBJECT.findall(self.book.package.read(part))}
        return bool(kinds - {b"Note"})


def _head(text: str, x: float, middle: float, look: Face) -> Figure:
    size = 13.33
    drop = (look.ascent - look.descent) / 2 * size
    return Text(
        x=x, y=middle + drop, text=text, face=look, size=size, color=_HEAD_TEXT, anchor="middle"
    )
