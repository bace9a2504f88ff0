"""The looks that tables give to their cells: a head, stripes, a line of totals (F43.19)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from ..book.workbook import Book, Sheet, Table, child, truth
from ..style.look import Looks
from ..syntax.address import Area
from .cell_look import CellLook, Edge, mixed

_NAME = re.compile(r"TableStyle(Light|Medium|Dark)([0-9]{1,2})")
_MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """Colours of one of the built-in styles, nearly."""

    head: str | None
    head_text: str
    stripe: str | None
    ground: str | None
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dressed:
    table: Table
    style: _Style
    has_stripes: bool


@dataclass
class TableLooks:
    """The tables of a sheet that meet a window."""

    found: list[_Dressed] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    area: Area | None = None

    @classmethod
    def of(cls, book: Book, sheet: Sheet, looks: Looks, area: Area) -> TableLooks:
        """Read the tables of a sheet."""
        made = cls(area=area)
        for table in book.tables(sheet):
            info = child(book.package.xml(table.part), "tableStyleInfo")
            name = (info.get("name") or "") if info is not None else ""
            if not table.area.meets(area) or info is None or not name:
                continue
            style = _style(name, looks.theme)
            if style is None:
                made.missing.add("tables in a style of the workbook's own are drawn without it")
                continue
            striped = truth(info.get("showRowStripes"))
            made.found.append(_Dressed(table=table, style=style, has_stripes=striped))
        return made

    def dressed(self, row: int, col: int, look: CellLook) -> CellLook:
        """Return a cell's look with what its table adds where it says nothing itself."""
        for one in self.found:
            if one.table.area.has(row, col):
                return _with(one, row, look)
        return look

    def bare(self, known: Collection[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Go through the cells of tables that the sheet does not list."""
        for one in self.found:
            part = one.table.area.clip(self.area) if self.area is not None else None
            if part is not None and part.count <= _MOST_CELLS:
                yield from (place for place in part.cells() if place not in known)


def _with(one: _Dressed, row: int, look: CellLook) -> CellLook:
    table, style = one.table, one.style
    line = Edge(style="thin", color=style.line)
    if row < table.area.row1 + table.header_rows:
        look = replace(look, face=replace(look.face, bold=True))
        if look.fill is None and style.head is not None:
            color = style.head_text if look.color == "#000000" else look.color
            look = replace(look, fill=style.head, color=color)
        return _lined(look, {"bottom": line, "top": line})
    if row > table.data.row2 and table.totals_rows:
        return _lined(replace(look, face=replace(look.face, bold=True)), {"top": line})
    is_striped = one.has_stripes and (row - table.data.row1) % 2 == 0
    fill = style.stripe if is_striped else style.ground
    if look.fill is None and fill is not None:
        look = replace(look, fill=fill)
    return _lined(look, {"bottom": line})


def _lined(look: CellLook, edges: dict[str, Edge]) -> CellLook:
    return replace(look, edges=tuple({**edges, **look.edge}.items()))


def _style(name: str, theme: list[str]) -> _Style | None:
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    number = int(found[2]) - 1
    slot = number % 7  # the first of each seven is without colour
    base = (
        "#000000" if slot == 0 else f"#{theme[3 + slot].lower()}" if len(theme) > 9 else "#4472c4"
    )
    pale, paler = mixed(base, "#ffffff", 0.4), mixed(base, "#ffffff", 0.2)
    if found[1] == "Dark":
        return _Style(head="#000000", head_text="#ffffff", stripe=pale, ground=paler, line=pale)
    if found[1] == "Medium":
        if number < 7:
            return _Style(head=base, head_text="#ffffff", stripe=paler, ground=None, line=pale)
        return _Style(head=base, head_text="#ffffff", stripe=pale, ground=paler, line="#ffffff")
    if 7 <= number < 14:
        return _Style(head=base, head_text="#ffffff", stripe=None, ground=None, line=base)
    return _Style(head=None, head_text="#000000", stripe=paler, ground=None, line=pale)
