"""Lines that come and go so that two versions of a workbook can be compared, or put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from backshop.formats.errors import fail
from backshop.formats.package.unused import remove_tree

from ..book.workbook import Book, Sheet
from ..calculation.graph import build
from ..edit import structure
from ..lines.anchor import Grid, Ground
from ..lines.line_move import LineMove
from ..lines.obstacle import Obstacle, obstacle
from ..lines.seat import Seat, seats
from ..syntax.address import WHOLE, Area
from ..syntax.line_shift import LineShift
from .line_run import Axis, SheetLines

Sizes = Mapping[tuple[Axis, int], Mapping[int, int]]
"""How large lines are that came, in EMU, by the line before which they came and from it on.

Objects that stand beside them, or do not grow with cells, are placed by that.
"""
Cells = set[tuple[int, int]]


@dataclass
class Reshaping:
    """A workbook whose lines come and go; with `is_kept` it is going to be somebody's file."""

    book: Book
    is_kept: bool = False
    stale: dict[str, Cells] = field(default_factory=dict)  # formulas whose results may be others
    shifted: dict[str, list[Area]] = field(default_factory=dict)  # cells that stand elsewhere

    def apply(self, sheet: str, shifts: Iterable[LineShift], sizes: Sizes | None = None) -> None:
        """Let lines of a sheet come or go, and everything follow.

        Raises:
            FormatError: something would be torn, or would not follow.
        """
        for shift in shifts:
            kinds = seats(self.book)
            found = obstacle(self.book, self.book.sheet(sheet), shift, kinds)
            if found is not None:
                raise fail(found.reason, found.said)
            if self.is_kept:
                self._note(sheet, shift)
            self._move(sheet, shift, sizes or {}, kinds)

    def _move(self, name: str, shift: LineShift, sizes: Sizes, kinds: Mapping[str, Seat]) -> None:
        book, sheet = self.book, self.book.sheet(name)
        move = _sized(book, LineMove.of(book, sheet, shift, None, kinds), sizes)
        structure.follow(book, move)
        for link, part in move.gone.items():
            book.package.remove_rel(move.part, link)
            remove_tree(book.package, part)
        book.forget()

    def _note(self, name: str, shift: LineShift) -> None:
        """Note what has to be computed anew, at the places where it is going to be."""
        known = self.stale.pop(name, set())
        self.stale[name] = {now for one in known if (now := shift.cell(*one)) is not None}
        for place in build(self.book).shaken(name, shift):
            here = (place.row, place.col)
            there = shift.cell(*here) if place.sheet == name else here
            if there is not None:
                self.stale.setdefault(place.sheet, set()).add(there)
        behind = shift.across(WHOLE, (shift.at, shift.most))
        self.shifted.setdefault(name, []).append(behind)


def sizes_of(book: Book, sheet: Sheet, lines: SheetLines) -> Sizes:
    """Return how large the lines of a sheet are that came."""
    found: dict[tuple[Axis, int], Mapping[int, int]] = {}
    xml = book.xml(sheet)
    if xml is None or not book.sheet_rels(sheet, "drawing"):
        return found
    for one, run in lines.runs():
        if not run.is_gone:
            known, first = Grid.of(xml, LineShift(one.axis, 1, 1)).others, one.place(run)
            own = {at: known.get(first + at) for at in range(run.count)}
            found[one.axis, run.at] = {at: size for at, size in own.items() if size is not None}
    return found


def _sized(book: Book, move: LineMove, sizes: Sizes) -> LineMove:
    """Return a move whose inserted lines are as large as they turned out to be."""
    shift, xml = move.shift, book.xml(book.sheet(move.sheet))
    known = sizes.get((shift.axis, shift.at))
    if shift.by < 0 or not known or xml is None:
        return move
    before = Grid.of(xml, shift)
    after = before.shifted(shift, None)
    grid = Grid(after.default, {**after.others, **{shift.at + at: known[at] for at in known}})
    return replace(move, ground=Ground(shift, before, grid))


def undoing(book: Book, sheet: Sheet, lines: SheetLines) -> Obstacle | None:
    """Return what keeps some of the lines from being taken back, None where nothing does."""
    shifts = (shift for one in lines.axes for shift in one.undone(one.runs))
    kinds = seats(book)
    found = (obstacle(book, sheet, shift, kinds) for shift in shifts)
    return next(filter(None, found), None)
