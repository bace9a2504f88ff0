"""Changes to one worksheet, collected cell by cell before any byte moves (F23.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from ..syntax.address import Area, cell_name
from .array import spread_formulas
from .cell_xml import EMPTY, Content
from .frame import Frame
from .sheet_xml import RawCell, SheetXml, attributes, integer
from .survey import Survey, survey
from .workbook import Book, Sheet, Table, Value, child, children, truth


@dataclass(slots=True)
class Patch:
    """What changes in one cell; None keeps it."""

    style: int | None = None
    content: Content | None = None
    cache: tuple[Content | None] | None = None  # a one-tuple, because None is a value
    formula: bytes | None = None


@dataclass(frozen=True, slots=True)
class ArrayFormula:
    """A formula over several cells; `dynamic` ones spill and may be replaced at their anchor."""

    area: Area
    anchor: tuple[int, int]
    dynamic: bool


@dataclass
class SheetEdit:
    """One worksheet while operations are applied to it."""

    book: Book
    sheet: Sheet
    xml: SheetXml
    patches: dict[tuple[int, int], Patch] = field(default_factory=dict)
    row_changes: dict[int, dict[str, str | None]] = field(default_factory=dict)
    frame_changed: bool = False

    def __post_init__(self) -> None:
        self._rows: dict[int, dict[int, RawCell]] = {}
        self._tags: dict[int, dict[bytes, bytes]] = {}

    # --- looking -------------------------------------------------------------------------------

    @cached_property
    def frame(self) -> Frame:
        """The tree around the cells; set `frame_changed` after changing it."""
        return Frame.of(self.xml)

    def refresh_frame(self) -> None:
        """Read the frame's lists again after a change of its tree."""
        self.frame_changed = True
        self.frame = Frame(self.frame.root)

    def load(self, rows: Iterable[int]) -> None:
        """Make the cells of these rows known in one pass."""
        wanted = {row for row in rows if row not in self._rows}
        if not wanted:
            return
        for row in self.xml.pick(wanted):
            cells = self._rows.setdefault(row.number, {})
            cells.update({cell.col: cell for cell in self.xml.cells(row)})
            self._tags[row.number] = attributes(self.xml.data[row.start : row.inner])
        for number in wanted:
            self._rows.setdefault(number, {})

    def cells_in(self, area: Area) -> list[tuple[int, int]]:
        """Return the existing and newly written cells of an area."""
        found = {place for place in self.patches if area.has(*place)}
        for row in self.xml.iter_rows():
            if row.number > area.row2:
                break
            if row.number >= area.row1:
                cells = self.xml.cells(row, area.col1, area.col2)
                found.update((row.number, cell.col) for cell in cells)
        return sorted(found)

    def raw(self, row: int, col: int) -> RawCell | None:
        """Return a cell as the file has it."""
        self.load([row])
        return self._rows[row].get(col)

    def style(self, row: int, col: int) -> int:
        """Return a cell's present style; an absent cell has its row's or column's."""
        patch = self.patches.get((row, col))
        if patch and patch.style is not None:
            return patch.style
        cell = self.raw(row, col)
        if cell is not None:
            return cell.style
        tag = self._tags.get(row, {})
        if truth(tag.get(b"customFormat", b"0").decode("ascii", "replace")):
            return integer(tag.get(b"s"))
        for item in children(child(self.frame.root, "cols"), "col"):
            first, last = int(item.get("min") or 0), int(item.get("max") or 0)
            if first <= col <= last:
                return int(item.get("style") or 0)
        return 0

    def row_attributes(self, row: int) -> dict[bytes, bytes]:
        """Return the attributes of a row's tag with the changes made so far."""
        self.load([row])
        found = dict(self._tags.get(row, {}))
        for name, value in self.row_changes.get(row, {}).items():
            found.pop(name.encode(), None)
            if value is not None:
                found[name.encode()] = value.encode()
        return found

    def formula(self, row: int, col: int) -> str | None:
        """Return a cell's present formula, without `=`."""
        patch = self.patches.get((row, col))
        if patch and patch.content is not None:
            return patch.content.text if patch.content.kind == "formula" else None
        cell = self.raw(row, col)
        return self.book.formula(cell, self.xml) if cell else None

    def value(self, row: int, col: int) -> Value:
        """Return what a cell holds now; a formula just written has no value yet."""
        patch = self.patches.get((row, col))
        if patch and patch.content is not None:
            content = patch.content
            if content.kind in {"blank", "formula"}:
                return Value("blank", "")
            number = float(content.text) if content.kind in {"number", "boolean"} else None
            return Value(content.kind, content.text, number)
        cell = self.raw(row, col)
        return self.book.value(cell) if cell else Value("blank", "")

    def is_empty(self, row: int, col: int) -> bool:
        """Whether a cell holds neither value nor formula."""
        return self.value(row, col).kind == "blank" and self.formula(row, col) is None

    @cached_property
    def tables(self) -> list[Table]:
        """The named tables of the sheet."""
        return self.book.tables(self.sheet)

    @cached_property
    def survey(self) -> Survey:
        """The filled cells of the file's sheet, before any change."""
        return survey(self.book, self.xml)

    def used(self) -> Area | None:
        """Return the present used range."""
        area = self.survey.used
        for (row, col), patch in self.patches.items():
            if patch.content is not None and patch.content.kind != "blank":
                place = Area(row, col, row, col)
                area = area.join(place) if area else place
        cleared = any(p.content and p.content.kind == "blank" for p in self.patches.values())
        while cleared and area and self._row_empty(area.row2, area):
            if area.row2 == area.row1:
                return None
            area = Area(area.row1, area.col1, area.row2 - 1, area.col2)
        return area

    def _row_empty(self, row: int, area: Area) -> bool:
        return all(self.is_empty(row, col) for col in range(area.col1, area.col2 + 1))

    @cached_property
    def arrays(self) -> list[ArrayFormula]:
        """The formulas that fill several cells."""
        return [
            ArrayFormula(area, (cell.row, cell.col), cell.meta)
            for area, cell in spread_formulas(self.xml)
        ]

    def clear_spill(self, row: int, col: int) -> list[tuple[int, int]]:
        """Empty the cells over which the formula of a cell has spilled; return them."""
        cleared = []
        for array in self.arrays:
            if not array.dynamic or array.anchor != (row, col):
                continue
            for cell in array.area.cells():
                if cell != array.anchor and self.formula(*cell) is None:
                    self.set_content(*cell, EMPTY)
                    cleared.append(cell)
        return cleared

    # --- changing ------------------------------------------------------------------------------

    def patch(self, row: int, col: int) -> Patch:
        """Return the patch of a cell to add to."""
        return self.patches.setdefault((row, col), Patch())

    def set_content(self, row: int, col: int, content: Content) -> bool:
        """Let a cell hold something; False when it holds just that already (F23.7)."""
        if self.holds(row, col, content):
            return False
        style = self.style(row, col)
        patch = self.patch(row, col)
        patch.content = content
        patch.cache = patch.formula = None
        if patch.style is None and self.raw(row, col) is None and style:
            patch.style = style
        return True

    def set_style(self, row: int, col: int, style: int) -> bool:
        """Give a cell a style; False when it has it already."""
        if self.style(row, col) == style and (style == 0 or self.raw(row, col) is not None):
            return False
        self.patch(row, col).style = style
        return True

    def _array(self, row: int, col: int) -> tuple[str, str]:
        """Return how a cell's present formula is computed over which cells, as `Content` does."""
        patch = self.patches.get((row, col))
        if patch and patch.content is not None:
            content = patch.content
            return content.array, content.ref or (cell_name(row, col) if content.array else "")
        cell = self.raw(row, col)
        raw = cell.formula if cell else None
        if cell is None or raw is None or raw.kind != "array":
            return "", ""
        return ("dynamic" if cell.meta else "fixed"), raw.ref or ""

    def holds(self, row: int, col: int, content: Content) -> bool:
        """Whether a cell holds just that already."""
        formula = self.formula(row, col)
        if content.kind == "formula":
            array, ref = self._array(row, col)
            own = content.ref or (cell_name(row, col) if content.array else "")
            spreads = array == "dynamic" and content.array == "dynamic"  # as far as it needs to
            is_there = array == content.array and (spreads or ref == own)
            return formula == content.text and is_there
        if formula is not None:
            return False
        return shows(self.value(row, col), content)

    @property
    def changed(self) -> bool:
        """Whether anything is to be written."""
        return bool(self.patches or self.row_changes or self.frame_changed)


def shows(value: Value, content: Content) -> bool:
    """Whether a cell's value is just what is to be written; a date is a number."""
    if content.kind not in {"number", "boolean"}:
        return value.kind == content.kind and value.text == content.text
    kind = "number" if value.kind == "date" else value.kind
    return kind == content.kind and value.number == float(content.text)
