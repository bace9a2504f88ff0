"""Which formulas a change reaches: static precedents, through the whole workbook (F24.2).

The index is made anew at every write, so it has to be cheap: formulas filled down are one entry
(`run`), and a formula is only read whole when its value is wanted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ..book.workbook import Book
from ..syntax.address import Area
from ..syntax.line_shift import LineShift
from .fill_down import Range, Ref, Run
from .fill_down_scan import scan
from .precedent import Node, Place, Reader

MAX_FORMULAS = 1_000_000
_BLOCK = 8  # bits; rows are looked up in blocks of 256
_MANY_BLOCKS = 64  # an area that takes more of them is kept beside the blocks
_WIDE = 64  # columns, likewise

Entry = tuple[Run, Ref | None, Area]  # a run, by what it reads, and all that it reads by it


@dataclass
class Graph:
    """Every formula of a workbook and who reads whom."""

    book: Book
    reader: Reader
    nodes: dict[Place, Node] = field(default_factory=dict)  # those that were asked for
    dynamic: set[Place] = field(default_factory=set)  # what they read is known by computing only
    distant: set[Place] = field(default_factory=set)  # OFFSET or INDIRECT leads them elsewhere
    volatile: set[Place] = field(default_factory=set)
    uncached: set[Place] = field(default_factory=set)
    left_out: set[Place] = field(default_factory=set)  # formulas beyond the limit
    positional: list[Run] = field(default_factory=list)  # ROW and the like tell where a cell is
    count: int = 0
    _runs: dict[tuple[str, int], list[Run]] = field(default_factory=dict)
    _cells: dict[tuple[str, int, int], list[Entry]] = field(default_factory=dict)
    _blocks: dict[tuple[str, int, int], list[Entry]] = field(default_factory=dict)
    _tall: dict[tuple[str, int], list[Entry]] = field(default_factory=dict)
    _wide: dict[str, list[Entry]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        """Index the formulas of a run by what they read."""
        self._runs.setdefault((run.sheet, run.col), []).append(run)
        self.count += run.last - run.first + 1
        if run.form.dynamic:
            self.dynamic.update(run.places())
        if run.form.distant:
            self.distant.update(run.places())
        if run.form.positional:
            self.positional.append(run)
        if run.form.volatile:
            self.volatile.update(run.places())
        for ref in run.form.refs:
            top, bottom = run.span(ref)
            self._index(ref.sheet, (run, ref, Area(top, ref.col1, bottom, ref.col2)))
        for sheet, area in run.form.fixed:
            self._index(sheet, (run, None, area))

    def _index(self, sheet: str, entry: Entry) -> None:
        area = entry[2]
        if area.count == 1:
            self._cells.setdefault((sheet, area.col1, area.row1), []).append(entry)
            return
        if area.width > _WIDE:
            self._wide.setdefault(sheet, []).append(entry)
            return
        first, last = area.row1 >> _BLOCK, area.row2 >> _BLOCK
        for col in range(area.col1, area.col2 + 1):
            if last - first > _MANY_BLOCKS:
                self._tall.setdefault((sheet, col), []).append(entry)
                continue
            for block in range(first, last + 1):
                self._blocks.setdefault((sheet, col, block), []).append(entry)

    def _reading(self, place: Place) -> Iterator[tuple[Run, Range]]:
        """Go through the runs that read a cell, with the rows of each that do."""
        sheet, row, col = place
        for found in (
            self._cells.get((sheet, col, row), ()),
            self._blocks.get((sheet, col, row >> _BLOCK), ()),
            self._tall.get((sheet, col), ()),
            self._wide.get(sheet, ()),
        ):
            for run, ref, area in found:
                if not area.has(row, col):
                    continue
                if ref is None:
                    yield run, (run.first, run.last)
                else:
                    yield from ((run, rows) for rows in run.reading(ref, row))

    def readers(self, place: Place) -> Iterator[Place]:
        """Go through the formulas that read a cell."""
        for run, (first, last) in self._reading(place):
            for row in range(first, last + 1):
                yield Place(run.sheet, row, run.col)

    def reached(
        self, changed: Iterable[Place], kept: Collection[Place] = frozenset()
    ) -> set[Place]:
        """Return the formulas that read these cells, directly or through others.

        `kept` are formulas that went along with all they read; other formulas alone reach them.
        """
        found: set[Place] = set()
        taken: dict[Run, _Taken] = {}
        waiting: list[Place] = []
        left: dict[Run, bool] = {}  # whether all of a run went along
        for place in changed if kept else ():
            for run, rows in self._reading(place):
                if run not in left:
                    left[run] = all(one in kept for one in run.places())
                for row in taken.setdefault(run, _Taken()).take(rows) if not left[run] else ():
                    if Place(run.sheet, row, run.col) not in kept:
                        found.add(Place(run.sheet, row, run.col))
        taken.clear()
        waiting.extend(found if kept else changed)
        while waiting:
            for run, rows in self._reading(waiting.pop()):
                for row in taken.setdefault(run, _Taken()).take(rows):
                    reader = Place(run.sheet, row, run.col)
                    found.add(reader)
                    waiting.append(reader)
        return found

    def partly_reading(self, sheet: str, area: Area) -> Iterator[Place]:
        """Go through the formulas outside an area that read some of its rows, but not all.

        A formula that reads its own row there is none of them: it speaks of the place.
        """
        for run in (run for runs in self._runs.values() for run in runs):
            is_beside = run.sheet == sheet and not area.col1 <= run.col <= area.col2
            for row in range(run.first, run.last + 1) if _names(run, sheet, area) else ():
                is_inside = run.sheet == sheet and area.has(row, run.col)
                if not is_inside and any(
                    area.meets(one)
                    and not (one.row1 <= area.row1 and area.row2 <= one.row2)
                    and not (is_beside and one.row1 == one.row2 == row)
                    for one in run.areas(row, sheet)
                ):
                    yield Place(run.sheet, row, run.col)

    def shaken(self, sheet: str, shift: LineShift) -> set[Place]:
        """Return the formulas whose own ranges change when lines of a sheet come or go.

        Their ranges become larger or smaller, or they tell where something is that moves.
        """
        found = {
            Place(run.sheet, row, run.col)
            for runs in self._runs.values()
            for run in runs
            for first, last in _resized(run, sheet, shift)
            for row in range(first, last + 1)
        }
        for run in self.positional:
            if shift.axis in run.form.positional:
                found.update(_told_by(run, sheet, shift))
        return found

    def holds(self, place: Place) -> bool:
        """Whether a cell is a formula."""
        if place in self.left_out:
            return True
        runs = self._runs.get((place.sheet, place.col), [])
        at = bisect_right(runs, place.row, key=lambda run: run.first) - 1
        return at >= 0 and place.row <= runs[at].last

    def places(self) -> Iterator[Place]:
        """Go through all formulas."""
        yield from (place for runs in self._runs.values() for run in runs for place in run.places())
        yield from self.left_out

    def load(self, places: Iterable[Place], reason: str | None = None) -> None:
        """Read formulas whole, or only find them for a `reason`; `nodes` has them then."""
        wanted: dict[str, dict[int, set[int]]] = {}
        for place in places:
            if place not in self.nodes:
                wanted.setdefault(place.sheet, {}).setdefault(place.row, set()).add(place.col)
        for name, rows in wanted.items():
            xml = self.book.xml(self.book.sheet(name))
            assert xml is not None, "a formula stands on a worksheet"
            for row in xml.pick(set(rows)):
                for cell in xml.cells(row):
                    place = Place(name, cell.row, cell.col)
                    if cell.col not in rows[cell.row] or place in self.nodes:
                        continue
                    why = "too_many_formulas" if place in self.left_out else reason
                    text = "" if why else self.book.formula(cell, xml) or ""
                    self.nodes[place] = self.reader.node(name, cell, text, why)

    def node(self, place: Place) -> Node | None:
        """Read one formula whole; None when there is none."""
        if place not in self.nodes:
            xml = self.book.xml(self.book.sheet(place.sheet))
            cell = self.reader.cell(*place)
            if xml is None or cell is None or cell.formula is None:
                return None
            text = self.book.formula(cell, xml) or ""
            self.nodes[place] = self.reader.node(place.sheet, cell, text)
        return self.nodes[place]


def _names(run: Run, sheet: str, area: Area) -> bool:
    """Whether the formulas of a run read columns of an area at all."""
    return any(
        ref.sheet == sheet and ref.col1 <= area.col2 and area.col1 <= ref.col2
        for ref in run.form.refs
    ) or any(name == sheet and area.meets(one) for name, one in run.form.fixed)


def _resized(run: Run, sheet: str, shift: LineShift) -> Iterator[Range]:
    """Yield the rows of a run in which a shift changes the size of a range."""
    whole = (run.first, run.last)
    if any(name == sheet and shift.resizes(area) for name, area in run.form.fixed):
        yield whole
        return
    for ref in run.form.refs:
        if ref.sheet != sheet:
            continue
        if shift.axis == "row":
            yield from run.reaching(ref, shift.at, shift.at - 1 if shift.by > 0 else shift.last)
        elif shift.resizes(Area(1, ref.col1, 1, ref.col2)):
            yield whole


def _told_by(run: Run, sheet: str, shift: LineShift) -> Iterator[Place]:
    """Go through the formulas of a run that tell the place of something that moves."""
    spans = ((ref, run.span(ref)) for ref in run.form.refs)
    read = [(ref.sheet, Area(top, ref.col1, end, ref.col2)) for ref, (top, end) in spans]
    reads = any(name == sheet and shift.moves(area) for name, area in (*run.form.fixed, *read))
    for place in run.places():
        if reads or (
            place.sheet == sheet and shift.moves(Area(place.row, place.col, place.row, place.col))
        ):
            yield place


class _Taken:
    """Rows of a run that were reached; each is given out once, however often it is asked for."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}

    def take(self, rows: Range) -> Iterator[int]:
        """Go through those that are left of a range."""
        row = self._free(rows[0])
        while row <= rows[1]:
            self._next[row] = row + 1
            yield row
            row = self._free(row + 1)

    def _free(self, row: int) -> int:
        path = []
        while row in self._next:
            path.append(row)
            row = self._next[row]
        for passed in path:  # the next one who asks does not walk the same way
            self._next[passed] = row
        return row


def build(book: Book) -> Graph:
    """Index every formula of a workbook."""
    reader = Reader(book)
    graph = Graph(book, reader)
    for sheet in book.sheets:
        xml = book.xml(sheet)
        if xml is not None and xml.has_formulas:
            room = MAX_FORMULAS - graph.count
            found = scan(book, xml, sheet.name, reader, room)
            graph.uncached |= found.uncached
            graph.left_out |= found.left_out
            for run in found.runs:
                graph.add(run)
    graph.dynamic |= graph.left_out
    return graph
