"""Which series a range of cells makes: where its names, its categories and its numbers are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from backshop.formats.chart.plan import Reference, SeriesPlan
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import Arg, as_list, item_fields, problem, strip_controls

from ...book.survey import survey
from ...book.workbook import Sheet
from ...drawing.cell_block import Block, Held, SheetRange
from ...drawing.chart_cache import MAX_CELLS, Caches
from ...syntax.address import Area, parse_area
from ..session import Session

COLUMNS, ROWS = "columns", "rows"
MAX_SERIES = 255  # as in Excel
SERIES_ARGS = (
    Arg("values", str, required=True),
    Arg("name", str),
    Arg("categories", str, aliases=("x_values",)),
)
_NAME_MAX_CHARS = 255
_TEXT = frozenset({"text"})
_LABELS = frozenset({"text", "date", "boolean"})
_OTHER_BOOK = "["


@dataclass(frozen=True, slots=True)
class ChartData:
    """The series of a chart; `words` says where they come from."""

    series: tuple[SeriesPlan, ...]
    has_dates: bool
    words: str


class DataReader:
    """Reads the fields of an operation that say what a chart shows."""

    def __init__(self, session: Session, op: Op, kind: str, by: str | None = None) -> None:
        """`by` is how series stand where the operation does not say it."""
        self._session, self._op, self._book = session, op, session.book
        self._by = by
        self._is_scatter, self._is_pie = kind == "scatter", kind == "pie"
        self._caches = Caches(session.book)
        self._left = MAX_CELLS

    def read(self) -> ChartData | None:
        """Return what the operation gives, None where it gives nothing."""
        args = self._op.args
        if args["data"] is not None and args["series"] is not None:
            raise self._problem("op_conflict", "series", "give data or series, not both")
        if args["series"] is not None:
            return self._listed(as_list(args["series"]))
        for name in ("categories", "data_sheet"):
            if args["data"] is None and args[name] is not None:
                raise self._problem("op_conflict", name, "goes with data or with series")
        if args["data"] is None:
            return None
        if args["categories"] is not None:
            raise self._problem(
                "op_conflict", "categories", "goes with series; data has its categories in it"
            )
        return self._found(self._range(args["data"], "data"))

    # --- ranges --------------------------------------------------------------------------------

    def _problem(
        self, reason: str, field: str, what: str, hints: Iterable[str] = ()
    ) -> FormatError:
        return problem(reason, f"{self._op.where}.{field}", what, hints)

    def _worksheet(self, name: str, field: str) -> Sheet:
        sheet = self._book.sheet(name, f"{self._op.where}.{field}")
        if sheet.kind != "worksheet":
            raise self._problem("unsupported_format", field, "this sheet has no cells")
        return sheet

    @cached_property
    def _home(self) -> Sheet:
        """The sheet of ranges that name none."""
        args = self._op.args
        field = "data_sheet" if args["data_sheet"] else "sheet"
        return self._worksheet(str(args[field]), field)

    def _range(self, text: Json, field: str) -> SheetRange:
        """Return the cells a field names: a range, with its sheet or without, or a table."""
        said = str(text).strip().removeprefix("=")
        if _OTHER_BOOK in said:
            raise self._problem("unsafe_formula", field, "cells of another workbook are not shown")
        table = self._book.named_tables().get(said.lower())
        if table is not None:
            name, found = table
            whole = found.area
            area = Area(whole.row1, whole.col1, whole.row2 - found.totals_rows, whole.col2)
            return self._counted(SheetRange(self._book.sheet(name), area), field)
        name, mark, cells = said.rpartition("!")
        named = name[1:-1].replace("''", "'") if name[:1] == "'" == name[-1:] else name
        sheet = self._worksheet(named, field) if mark else self._home
        area_given = parse_area(cells)
        if area_given is None:
            what = "this is no range of cells, such as A1:C9 or Sales!A1:C9, and no table"
            raise self._problem("bad_range", field, what, self._used(sheet))
        if area_given.count > MAX_CELLS:
            used = self._used_area(sheet)
            area_given = area_given.in_use(used) if used else area_given
        return self._counted(SheetRange(sheet, area_given), field)

    def _counted(self, cells: SheetRange, field: str) -> SheetRange:
        self._left -= cells.area.count
        if self._left < 0:
            raise self._problem("too_large", field, f"a chart shows at most {MAX_CELLS} cells")
        return cells

    def _used_area(self, sheet: Sheet) -> Area | None:
        xml = self._book.xml(sheet)
        return survey(self._book, xml).used if xml is not None else None

    def _used(self, sheet: Sheet) -> list[str]:
        used = self._used_area(sheet)
        return [f"{sheet.name}!{used}"] if used else [f"{sheet.name} is empty"]

    # --- a range with everything in it ---------------------------------------------------------

    def _found(self, cells: SheetRange) -> ChartData:
        """Take a range apart: names above or beside the numbers, categories in front of them."""
        block = self._caches.block(cells)
        if not block.cells:
            raise self._problem("bad_range", "data", f"{cells} is empty", self._used(cells.sheet))
        longer = ROWS if cells.area.width > cells.area.height else COLUMNS
        by = self._op.args["series_by"] or self._by or longer
        if by not in (COLUMNS, ROWS):
            raise self._problem("bad_value", "series_by", f"one of: {COLUMNS}, {ROWS}")
        is_turned = by == ROWS
        turned = block.turned() if is_turned else block
        layout = _Layout.of(turned, is_scatter=self._is_scatter)
        found, skipped = [], []
        for col in range(layout.first_col, turned.area.col2 + 1):
            values = turned.column(col, layout.first_row)
            if any(one.is_number or one.kind == "waiting" for one in values):
                found.append(col)
            elif any(one.kind != "blank" for one in values):
                skipped.append(col)
        if not found:
            what = f"{cells} has no numbers to show"
            raise self._problem("bad_range", "data", what, self._used(cells.sheet))

        def part(row1: int, col1: int, row2: int, col2: int) -> SheetRange:
            area = Area(col1, row1, col2, row2) if is_turned else Area(row1, col1, row2, col2)
            return cells.part(area)

        area = turned.area
        for col in skipped:
            left_out = part(layout.first_row, col, area.row2, col)
            self._session.warnings.add("non_numeric_amounts", where=f"{left_out} is left out")
        categories = None
        if layout.first_col > area.col1:
            categories = part(layout.first_row, area.col1, area.row2, layout.first_col - 1)
        names = [
            part(area.row1, col, layout.first_row - 1, col)
            if layout.first_row > area.row1
            else None
            for col in found
        ]
        shown = [part(layout.first_row, col, area.row2, col) for col in found]
        return self._made(
            [(name, categories, one) for name, one in zip(names, shown, strict=True)],
            "data",
        )

    # --- series one by one ---------------------------------------------------------------------

    def _listed(self, items: Sequence[Json]) -> ChartData:
        if not items:
            raise self._problem("missing_field", "series", "at least one series is needed")
        shared = self._op.args["categories"]
        made: list[tuple[SheetRange | str | None, SheetRange | None, SheetRange]] = []
        for at, item in enumerate(items):
            field = f"series[{at}]"
            where = f"{self._op.where}.{field}"
            given = item_fields(item, SERIES_ARGS, where, self._session.warnings)
            values = self._line(given["values"], f"{field}.values")
            own = given["categories"]
            categories = None
            if own is not None:
                categories = self._range(own, f"{field}.categories")
            elif shared is not None:
                categories = self._range(shared, "categories")
            if not _has_numbers(self._caches.block(values).filled):
                what = f"{values} has no numbers to show"
                raise self._problem("bad_range", f"{field}.values", what, self._used(values.sheet))
            made.append((self._name(given, field), categories, values))
        return self._made(made, "series")

    def _line(self, text: Json, field: str) -> SheetRange:
        cells = self._range(text, field)
        if cells.area.height > 1 and cells.area.width > 1:
            what = "the values of a series stand in one row or one column"
            raise self._problem("bad_range", field, what)
        return cells

    def _name(self, given: Mapping[str, Json], field: str) -> SheetRange | str | None:
        text = given["name"]
        if text is None:
            return None
        said = str(text)
        if said.startswith("=") and len(said) > 1:
            return self._range(said, f"{field}.name")
        where = f"{self._op.where}.{field}.name"
        clean = strip_controls(said, self._session.warnings, where)
        if len(clean) > _NAME_MAX_CHARS:
            raise problem("bad_value", where, f"at most {_NAME_MAX_CHARS} characters")
        return clean

    # --- both ----------------------------------------------------------------------------------

    def _made(
        self,
        found: Sequence[tuple[SheetRange | str | None, SheetRange | None, SheetRange]],
        field: str,
    ) -> ChartData:
        if len(found) > MAX_SERIES:
            raise self._problem("too_large", field, f"a chart has at most {MAX_SERIES} series")
        if self._is_pie and len(found) > 1:
            what = f"a pie shows one series, and these are {len(found)}"
            raise self._problem("op_conflict", field, what, _singled(found))
        series = []
        for name, categories, values in found:
            series.append(
                SeriesPlan(
                    name=_named(name),
                    categories=self._categories(categories, field),
                    values=Reference(formula=values.formula),
                )
            )
        held = self._filled(found[0][1])
        return ChartData(
            series=tuple(series),
            has_dates=_are_days(held),
            words=_words(found),
        )

    def _categories(self, cells: SheetRange | None, field: str) -> Reference | None:
        """Return categories; what their cells hold is filled in at the end of the call."""
        if cells is None:
            return None
        kind = self._caches.kind(cells)
        if self._is_scatter and kind != "number":
            held = self._filled(cells)
            if not all(one.is_number or one.kind == "waiting" for one in held):
                what = f"a scatter needs numbers for x, and {cells} has others; line shows these"
                raise self._problem("bad_value", field, what)
        return Reference(formula=cells.formula, kind=kind)

    def _filled(self, cells: SheetRange | None) -> list[Held]:
        return [] if cells is None else self._caches.block(cells).filled


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where in a block the numbers begin; series stand in columns."""

    first_row: int
    first_col: int

    @classmethod
    def of(cls, block: Block, *, is_scatter: bool) -> _Layout:
        area = block.area
        corner = block.at(area.row1, area.col1)
        rows = cls._heads(block, corner)
        cols = cls._categories(block, corner, rows, is_scatter=is_scatter)
        return cls(area.row1 + rows, area.col1 + cols)

    @staticmethod
    def _heads(block: Block, corner: Held) -> int:
        """Return how many rows hold names: those of text, one of years, one beside nothing."""
        area = block.area
        beside = area.col1 + 1 if area.width > 1 else area.col1
        rows = 0
        for row in range(area.row1, area.row2):
            words = _LABELS if rows == 0 else _TEXT  # days below names are values
            kinds = {one.kind for one in block.row(row, beside)} - {"blank"}
            if not kinds & words or kinds - words - {"waiting"}:
                break
            rows += 1
        if rows == area.height - 1 and rows and not _has_numbers(block.row(area.row2, beside)):
            rows = 1  # nothing but words: the first row are names
        if rows or area.height < 2 or area.width < 2:
            return rows
        if corner.kind == "blank":
            return 1
        return int(corner.kind == "text" and _rises(block.row(area.row1, beside)))

    @staticmethod
    def _categories(block: Block, corner: Held, rows: int, *, is_scatter: bool) -> int:
        """Return how many columns hold categories: those of words, one of days or years."""
        area = block.area
        if area.width < 2:
            return 0
        first = block.column(area.col1, area.row1 + rows)
        if is_scatter:
            return 1
        cols = 0
        for col in range(area.col1, area.col2):
            kinds = {one.kind for one in block.column(col, area.row1 + rows)} - {"blank"}
            words = _LABELS if cols else _LABELS | {"waiting"}
            if not kinds & words or kinds - _LABELS - {"waiting"}:
                break
            cols += 1
        if cols:
            return cols
        return int((rows > 0 and corner.kind == "blank") or _rises(first))


def _named(name: SheetRange | str | None) -> Reference | str | None:
    """Return the name of a series: cells, or a text of its own."""
    return Reference(formula=name.formula, kind="text") if isinstance(name, SheetRange) else name


def _has_numbers(cells: Iterable[Held]) -> bool:
    return any(one.is_number or one.kind == "waiting" for one in cells)


def _rises(cells: Sequence[Held]) -> bool:
    """Whether cells count up by one, as years do."""
    if len(cells) < 2 or not all(one.is_whole for one in cells):
        return False
    numbers = [one.number or 0 for one in cells]
    return all(two - one == 1 for one, two in pairwise(numbers))


def _are_days(held: Sequence[Held]) -> bool:
    """Whether categories are different days, so that an axis of time fits."""
    days = [one.number for one in held]
    is_dated = bool(held) and all(one.kind == "date" and one.is_whole for one in held)
    return is_dated and len(set(days)) == len(days)


def _singled(
    found: Sequence[tuple[SheetRange | str | None, SheetRange | None, SheetRange]],
) -> list[str]:
    """Return how one series of several is asked for."""
    name, categories, values = found[0]
    said = f'"values": "{values}"'
    if categories is not None:
        said += f', "categories": "{categories}"'
    if name is not None:
        said += f', "name": "{f"={name}" if isinstance(name, SheetRange) else name}"'
    return [f'"series": [{{{said}}}]']


def _words(
    found: Sequence[tuple[SheetRange | str | None, SheetRange | None, SheetRange]],
) -> str:
    """Say which cells are shown."""
    count = len(found)
    first, last = found[0][2], found[-1][2]
    near = all(one[2].sheet == first.sheet for one in found)
    shown = str(first.part(first.area.join(last.area))) if near and count > 1 else str(first)
    if not near:
        shown = f"{first}, … {last}"
    categories = found[0][1]
    along = f" by {categories}" if categories is not None else ""
    return f"{count} series of {shown}{along}"
