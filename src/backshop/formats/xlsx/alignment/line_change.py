"""Which lines came or went between two versions of a workbook, found from the two alone (F42).

Rows are known again by what they hold, columns by what pairs of rows hold in them. That lines came
or went is believed only where it explains more than cells that were written anew, and where the
references of the workbook went along.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

from backshop.formats.diff import alignment

from ..book.sheet_xml import RowSpan, row_pairs
from ..book.workbook import Book
from ..edit.effect import differing_rows
from .counterpart import same_meaning, sheet_pairs
from .line_content import Cell, Columns, Content, Rows
from .line_run import Lines, SheetLines
from .line_search import Evidence, Match, Trace, agreement, search
from .reference_trace import Traces, Version

_PARSED_ROWS = 20_000  # rows that are read cell by cell to be known again
_PAIRS = 300  # of rows that columns are known again by
_VOTES = 400  # pairs of columns that are held against one another
_LOOKED_AT = 1_000  # rows of which cells are counted
_KEY_COLUMNS = 40  # looked at for one whose values tell rows apart
_MOVED_BYTES = 120 << 20  # of sheets, once for every run: what follows them must not take long
_KEY_ROWS = 5_000  # looked at for them
_BLANK_WEIGHT = 0.6  # of an empty line that a reference knows again: worth a run, not two
_SAVED_CELLS = 3  # that lines must explain where no reference tells of them
_Item = TypeVar("_Item")
_REFERENCE = re.compile(r"\$?[A-Za-z]{1,3}\$?\d+")
_NUMBER = re.compile(r"(?:n )?(-?\d{1,15}(?:\.\d{1,15})?)")
_SAME_ROWS, _SAME_COLUMNS = Lines("row"), Lines("column")


def line_changes(old: Book, new: Book) -> dict[str, SheetLines]:
    """Return the sheets of which lines came or went, by the names they have now."""
    comparable = same_meaning(old, new)
    versions = list(_versions(old, new, comparable))
    guesses = [_Guess(version, comparable) for version in versions]
    suspects = [guess for guess in guesses if guess.is_suspect]
    if not suspects:
        return {}
    for guess in suspects:
        guess.find()
    traces = Traces(old, new, versions, {guess.name: guess.lines for guess in suspects})
    for guess in suspects:
        guess.refine(traces)
    found = {guess.name: guess.lines for guess in suspects if guess.lines}
    steps = sum(len(lines.shifts) for lines in found.values())
    size = sum(len(version.old.xml.data) for version in versions)
    return found if steps * size <= _MOVED_BYTES else {}


def _versions(old: Book, new: Book, comparable: bool) -> Iterator[Version]:
    for sheet, twin in sheet_pairs(old, new):
        one = old.xml(sheet) if sheet else None
        two = new.xml(twin) if twin else None
        if sheet is None or twin is None or one is None or two is None:
            continue
        if one.words.prefix == two.words.prefix:
            before = Content(old, one, comparable=comparable)
            yield Version(sheet, twin, before, Content(new, two, comparable=comparable))


class _Guess:
    """What may have come or gone between two versions of one sheet."""

    def __init__(self, version: Version, comparable: bool) -> None:
        self.name = version.twin.name
        self._old, self._new = version.old, version.new
        self._comparable = comparable
        self._rows, self._columns = _SAME_ROWS, _SAME_COLUMNS
        self._row_matches: list[Match] = []
        self._differing = self._differences()
        self.is_suspect = bool(self._differing) and self._has_moved()

    @property
    def lines(self) -> SheetLines:
        """What was found so far."""
        return SheetLines(self._rows, self._columns)

    def _differences(self) -> list[tuple[RowSpan | None, RowSpan | None]]:
        one, two = self._old.xml, self._new.xml
        if self._comparable:
            return list(differing_rows(one, two))
        if max(len(one.rows()), len(two.rows())) > _PARSED_ROWS:
            return []
        return [
            (left, right)
            for _, left, right in row_pairs(iter(one.rows()), iter(two.rows()))
            if not (
                left and right and self._old.cells(left.number) == self._new.cells(right.number)
            )
        ]

    def _has_moved(self) -> bool:
        """Whether lines may have come or gone; a few changed cells are known for that quickly."""
        olds = [left for left, _ in self._differing if left]
        news = [right for _, right in self._differing if right]
        self._old.know(olds)
        self._new.know(news)
        signs = {self._new.sign(row.number): row.number for row in reversed(news)}
        if any(
            signs.get(sign, row.number) != row.number
            for row in olds
            if (sign := self._old.sign(row.number))
        ):
            return True
        if any(
            right is None and self._old.cells(left.number)
            for left, right in self._differing
            if left
        ):
            return True
        both = [(one.number, two.number) for one, two in self._differing if one and two]
        return any(
            there != here
            for pair in _some(both, _PAIRS)
            for here, there in _columns_of(*self._cells(pair))
        ) or any(len(self._old.cells(a)) > len(self._new.cells(b)) for a, b in _some(both, _PAIRS))

    def _cells(self, pair: tuple[int, int]) -> tuple[dict[int, Cell], dict[int, Cell]]:
        return self._old.cells(pair[0]), self._new.cells(pair[1])

    # --- what they hold ------------------------------------------------------------------------

    def find(self) -> None:
        """Find the lines by what they hold."""
        if not (self._old.is_rising and self._new.is_rising):
            self.is_suspect = False
            return
        self._find_rows(self._matched())
        self._find_columns()
        if self._columns and self._is_small:
            self._find_rows(self._matched())
        elif self._is_torn and (matches := self._matched_by_key()):
            kept = self._rows, self._row_matches
            self._find_rows(matches)
            self._find_columns()
            if self._columns and self._is_small:
                self._find_rows(self._matched())
            else:
                (self._rows, self._row_matches), self._columns = kept, _SAME_COLUMNS

    @property
    def _is_small(self) -> bool:
        return max(len(self._old.numbers), len(self._new.numbers)) <= _PARSED_ROWS

    @property
    def _is_torn(self) -> bool:
        """Whether hardly any of the rows that differ was found again."""
        matched = sum(match.weight == 1 for match in self._row_matches)
        return matched * 3 < len(self._differing) and len(self._differing) > 2

    def _find_rows(self, matches: list[Match]) -> None:
        self._row_matches = matches
        self._rows = search("row", matches, Rows(self._old, self._new, self._columns))

    def _find_columns(self) -> None:
        evidence = Columns(self._old, self._new, self._row_pairs())
        self._columns = search("column", self._voted(), evidence)

    def _matched(self) -> list[Match]:
        """Pair rows that hold the same; around the first and last that differ they all do."""
        lines = self._columns or None
        olds, news, around = self._around()
        signs = (
            [self._old.sign(row, lines) for row in olds],
            [self._new.sign(row, lines, is_new=True) for row in news],
        )
        return [*around, *_aligned(olds, news, *signs)]

    def _around(self) -> tuple[list[int], list[int], list[Match]]:
        """Return the rows from the first to the last that differ, and that others are the same."""
        numbers = [row.number for pair in self._differing for row in pair if row]
        first, last = min(numbers), max(numbers)
        sides = [
            [row for row in one.numbers if first <= row <= last] for one in (self._old, self._new)
        ]
        above = [row for row in self._old.numbers if row < first]
        behind = [row for row in self._old.numbers if row > last]
        found = [
            Match(rows[at], rows[at], len(rows)) for rows, at in ((above, -1), (behind, 0)) if rows
        ]
        return sides[0], sides[1], found

    def _matched_by_key(self) -> list[Match]:
        """Pair rows by the column whose values tell them apart, where other columns came."""
        olds, news, around = self._around()
        sides = [
            _values(content, rows[:_KEY_ROWS])
            for content, rows in ((self._old, olds), (self._new, news))
        ]
        best: tuple[int, int, int] = (1, 0, 0)
        for col, values in sides[0].items():
            for other, there in sides[1].items():
                common = len(set(values.values()) & set(there.values()))
                best = max(best, (common, -col, -other))
        if best[0] < 2:
            return []
        one, two = sides[0][-best[1]], sides[1][-best[2]]
        rows, others = sorted(one), sorted(two)
        aligned = _aligned(rows, others, [one[r] for r in rows], [two[r] for r in others])
        return [*around, *aligned]

    def _row_pairs(self) -> list[tuple[int, int]]:
        """Return rows that are versions of one another, some of all of them."""
        stored = set(self._new.numbers)
        pairs = ((row, self._rows.now(row)) for row in self._old.numbers)
        return _some(
            [(row, now) for row, now in pairs if now is not None and now in stored], _PAIRS
        )

    def _voted(self) -> list[Match]:
        """Pair columns as the cells of rows say."""
        votes: Counter[tuple[int, int]] = Counter()
        held: tuple[Counter[int], Counter[int]] = Counter(), Counter()
        for pair in self._row_pairs():
            cells = self._cells(pair)
            votes.update(_columns_of(*cells))
            for counter, one in zip(held, cells, strict=True):
                counter.update(one.keys())
        found = [
            Match(old, new, count / max(held[0][old], held[1][new]))
            for (old, new), count in votes.most_common(_VOTES)
        ]
        return [match for match in found if match.weight > 0.3]

    # --- whether it is so ----------------------------------------------------------------------

    def refine(self, traces: Traces) -> None:
        """Let references say where lines came or went, and whether they did."""
        if not self.is_suspect:
            return
        rows = _kept(traces.of(self.name, "row"), self._columns)
        columns = _kept(traces.of(self.name, "column"), self._rows)
        evidence = Rows(self._old, self._new, self._columns, rows)
        blank = _blank_lines(self._row_matches, rows, evidence)
        self._rows = search("row", [*self._row_matches, *blank], evidence)
        pairs = self._row_pairs()
        self._columns = search(
            "column", self._voted(), Columns(self._old, self._new, pairs, columns)
        )
        told = agreement(self._rows, rows), agreement(self._columns, columns)
        self._rows = _SAME_ROWS if _is_denied(*told[0]) else self._rows
        self._columns = _SAME_COLUMNS if _is_denied(*told[1]) else self._columns
        whole = self._cost(self.lines) if self.lines else 0
        if self._rows and not self._is_better(whole, SheetLines(columns=self._columns), told[0][0]):
            self._rows = _SAME_ROWS
            whole = self._cost(self.lines) if self.lines else 0
        if self._columns and not self._is_better(whole, SheetLines(self._rows), told[1][0]):
            self._columns = _SAME_COLUMNS

    def _is_better(self, cost: int, without: SheetLines, agreeing: int) -> bool:
        """Whether lines explain more than cells that were written anew, and more than they hold."""
        saved = self._cost(without) - cost
        if agreeing:
            return saved >= 0
        if saved < max(_SAVED_CELLS, self._held(without)):
            return False
        return not self._has_grown(by_column=not without.rows and bool(self._rows))

    def _has_grown(self, *, by_column: bool) -> bool:
        """Whether the same number was added to all cells: years that go on look like lines."""
        added: dict[int, set[float | None]] = {}
        for one, two in _some(self._differing, _LOOKED_AT):
            olds = self._old.cells(one.number) if one else {}
            news = self._new.cells(two.number) if two else {}
            if olds.keys() != news.keys():
                return False
            for col, cell in olds.items():
                if cell.key != news[col].key:
                    line = col if by_column else one.number if one else 0
                    added.setdefault(line, set()).add(_added(cell, news[col]))
        return bool(added) and all(len(one) == 1 and None not in one for one in added.values())

    def _held(self, without: SheetLines) -> int:
        """Return how much the lines hold that came or went, but for some of them."""
        total = 0
        for run in self._rows.runs if not without.rows else ():
            content, first = (
                (self._old, run.at) if run.is_gone else (self._new, self._rows.place(run))
            )
            numbers = range(first, first + min(run.count, _LOOKED_AT))
            total += sum(len(content.cells(row)) for row in numbers)
        for run in self._columns.runs if not without.columns else ():
            first = run.at if run.is_gone else self._columns.place(run)
            sides = (self._cells(pair)[not run.is_gone] for pair in self._row_pairs())
            total += sum(first <= col < first + run.count for cells in sides for col in cells)
        return total

    def _cost(self, lines: SheetLines) -> int:
        """Return how many cells differ if these lines came and went, in some of the rows."""
        known = {match.old for match in self._row_matches}
        found = {match.new for match in self._row_matches}
        olds, news, _ = self._around()
        loose = [row for row in olds if row not in known], [row for row in news if row not in found]
        looked = {*_some(loose[0], _LOOKED_AT), *_some(olds, _LOOKED_AT)}
        others = {*_some(loose[1], _LOOKED_AT), *_some(news, _LOOKED_AT)}
        total = 0
        for row in sorted(looked):
            now = lines.rows.now(row)
            cells = self._old.cells(row)
            total += (
                len(cells)
                if now is None
                else _differing(cells, self._new.cells(now), lines.columns)
            )
            others.discard(now or 0)
        for row in sorted(others):
            was = lines.rows.was(row)
            cells = self._new.cells(row)
            total += (
                len(cells)
                if was is None
                else _differing(self._old.cells(was), cells, lines.columns)
            )
        return total


def _kept(traces: Sequence[Trace], others: Lines) -> list[Trace]:
    """Return the references that tell of one axis; what was lost may have gone with the other."""
    is_sure = not any(run.is_gone for run in others.runs)
    return [trace for trace in traces if is_sure or trace.new is not None]


def _blank_lines(
    matches: Sequence[Match], traces: Sequence[Trace], evidence: Evidence
) -> Iterator[Match]:
    """Go through the empty lines between matched ones that references know again."""
    last = (
        max((match.old for match in matches), default=0),
        max((match.new for match in matches), default=0),
    )
    stored = set(evidence.olds), set(evidence.news)
    pairs = {
        (one, two)
        for trace in traces
        if trace.new is not None
        for one, two in zip(trace.old, trace.new, strict=True)
    }
    for one, two in sorted(pairs):
        is_blank = one not in stored[0] and two not in stored[1]
        if is_blank and one < last[0] and two < last[1]:
            yield Match(one, two, _BLANK_WEIGHT)


def _is_denied(agree: int, against: int) -> bool:
    """Whether references stayed behind that would have gone along."""
    return against > 0 and against >= agree


def _differing(olds: dict[int, Cell], news: dict[int, Cell], columns: Lines) -> int:
    """Return how many cells of two rows differ, in columns that came or went all of them."""
    moved = ((columns.now(col), cell.key) for col, cell in olds.items())
    here = {col: key for col, key in moved if col is not None}
    there = {col: cell.key for col, cell in news.items()}
    gone = len(olds) - len(here)
    return gone + sum(here.get(col) != there.get(col) for col in here.keys() | there.keys())


def _aligned(
    olds: Sequence[int],
    news: Sequence[int],
    signs: Sequence[Hashable],
    others: Sequence[Hashable],
) -> Iterator[Match]:
    """Go through the lines that hold the same; those that hold nothing are no sign."""
    i = j = 0
    end = alignment.Change(len(olds), len(olds), len(news), len(news))
    for change in [*alignment.changes(signs, others), end]:
        for old, new in zip(range(i, change.old_start), range(j, change.new_start), strict=True):
            if signs[old]:
                yield Match(olds[old], news[new])
        i, j = change.old_end, change.new_end


def _columns_of(one: dict[int, Cell], two: dict[int, Cell]) -> list[tuple[int, int]]:
    """Return which columns of two rows hold the same."""
    olds, news = sorted(one), sorted(two)
    if olds == news and all(_worded(one[col]) == _worded(two[col]) for col in olds):
        return [(col, col) for col in olds]
    signs = [_worded(one[col]) for col in olds], [_worded(two[col]) for col in news]
    return [(match.old, match.new) for match in _aligned(olds, news, *signs)]


def _worded(cell: Cell) -> str:
    """Return what a cell holds, of a formula the words."""
    return cell.key if cell.formula is None else "=" + _REFERENCE.sub("@", cell.formula)


def _added(one: Cell, two: Cell) -> float | None:
    """Return by how much a number grew; None for anything else."""
    sides = [_NUMBER.fullmatch(cell.key) for cell in (one, two)]
    if any(side is None for side in sides):
        return None
    old, new = (float(side[1]) for side in sides if side)
    return round(new - old, 9)


def _values(content: Content, rows: Sequence[int]) -> dict[int, dict[int, str]]:
    """Return the values of the first columns, by column and row."""
    found: dict[int, dict[int, str]] = {}
    for row in rows:
        for col, cell in content.cells(row).items():
            if cell.formula is None and (col in found or len(found) < _KEY_COLUMNS):
                found.setdefault(col, {})[row] = cell.key
    return found


def _some(items: Sequence[_Item], most: int) -> list[_Item]:
    """Return so many items at most, from all over them."""
    return list(items[:: -(-len(items) // most)]) if len(items) > most else list(items)
