"""Changes of a table one by one: which rows differ, and the table with some of them (F7, B12.4).

Rows are compared as they are written, their quotes and line ends included, and a line break inside
quotes does not part a row. Columns hold all rows together: where they change, nothing is parted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from backshop.base.place import Place

from ..diff.line_diff import MAX_ROWS
from ..errors import fail
from ..output import write_file
from ..place import require_fields
from ..protocol import Source
from ..selection.change_unit import ChangeUnit, Relocated, shortened, unit_id
from ..selection.relocation import Relocation
from ..selection.segment import Gap, Segment, gaps
from ..selection.whole_file import whole_file
from . import selection
from .dialect import Dialect, sniff
from .record import read_records
from .rows import Rows
from .selection import Side, composed

ABOVE = -1_000
_MAX_PAIRS = 40_000  # rows compared with rows in one gap
_COLUMNS = "the columns changed, so the header and all rows belong together"
_REPEATED = "equal rows, or a row without a line end, do not tell the changes apart"


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it is written, without fields where the line is blank."""

    raw: bytes
    fields: tuple[str, ...]
    line: int
    is_above: bool = False
    """It is a line above the table."""
    is_open: bool = False
    """What follows would be joined to it: its line has no end, or its quotes are not closed."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file; `numbers` are those of the data rows up to each place, 0 the header's.

    Lines above the table have the number `ABOVE`.
    """

    rows: list[Row]
    has_header: bool
    numbers: list[int]

    def raw(self, places: range) -> list[bytes]:
        """Return rows as they are written."""
        return [self.rows[at].raw for at in places]

    def shown(self, places: range) -> str | None:
        """Return rows as a list of changes shows them, None where there are none."""
        said = "\n".join(" | ".join(self.rows[at].fields) for at in places[:50])
        return shortened(said) if len(places) else None


def separate(before: Source, after: Source) -> list[ChangeUnit]:
    """Return the rows that differ, each of which can be taken or left by itself."""
    if before.sha256 == after.sha256:
        return []
    tables = _tables(before, after)
    if isinstance(tables, str):
        return [whole_file(before, after, tables)]
    pieces = _pieces(*tables)
    if pieces is None:
        return [whole_file(before, after, _COLUMNS, group="structure", label="columns")]
    return [_unit(*tables, piece) for piece in pieces]


def compose(before: Source, after: Source, left_out: frozenset[str], out: Path) -> None:
    """Write the table before with all changes but those left out."""
    tables = _tables(before, after)
    pieces = None if isinstance(tables, str) else _pieces(*tables)
    if isinstance(tables, str) or pieces is None:
        kept = before if whole_file(before, after, "").id in left_out else after
        write_file(out, kept.path.read_bytes())
        return
    old, new = tables
    taken = [piece for piece in pieces if _unit(old, new, piece).id not in left_out]
    raw = composed(old.raw(range(len(old.rows))), new.raw(range(len(new.rows))), taken)
    sides = selection.two_sides(before, after)
    mark = b"" if isinstance(sides, str) else sides[0].encoding.mark
    write_file(out, mark + b"".join(raw))


def _tables(before: Source, after: Source) -> tuple[Table, Table] | str:
    sides = selection.two_sides(before, after)
    if isinstance(sides, str):
        return sides
    dialects = [
        sniff(source, side.encoding) for source, side in zip((before, after), sides, strict=True)
    ]
    shared = dialects[0 if sides[0].lines else 1]  # rows of both end where its rows do
    rows = [list(_rows(side, shared)) for side in sides]
    if sum(map(len, rows)) > MAX_ROWS:
        return "the file has too many rows to tell its changes apart"
    old, new = (_table(one, dialect) for one, dialect in zip(rows, dialects, strict=True))
    return old, new


def _table(rows: list[Row], dialect: Dialect) -> Table:
    """Number the rows: data rows from 1, rows of names 0, lines above them less."""
    counted = accumulate(bool(row.fields) and row.line > dialect.skip for row in rows)
    numbers = [
        count - dialect.header if row.line > dialect.skip else ABOVE
        for row, count in zip(rows, counted, strict=True)
    ]
    return Table(rows, dialect.has_header, numbers)


def _rows(side: Side, dialect: Dialect) -> Iterator[Row]:
    """Yield rows with the bytes of all their lines; of lines above the table, each by itself."""
    texts = [line.decode(side.encoding.name, "replace") for line in side.lines]
    above = min(dialect.skip, len(texts))
    for at, text in enumerate(texts[:above]):
        yield Row(side.lines[at], (text.rstrip("\r\n"),), at + 1, is_above=True)
    at = above
    for record in read_records(texts[above:], dialect.grammar, dialect.width, above + 1):
        size = len(record.text)
        start = at
        while size > 0:
            size -= len(texts[at])
            at += 1
        is_open = record.is_open or not record.text.endswith(("\n", "\r"))
        raw = b"".join(side.lines[start:at])
        yield Row(raw, tuple(record.fields), record.line, is_open=is_open)


# --- what differs -------------------------------------------------------------------------------


def _pieces(old: Table, new: Table) -> list[Segment] | None:
    """Return the changes in order, or None where the columns changed."""
    keys = [[row.raw for row in table.rows] for table in (old, new)]
    found: list[Segment] = []
    for gap in gaps(*keys):
        pieces = list(_parted(old, new, gap))
        if any(_joins(old, new, piece) for piece in pieces[:-1]):
            pieces = [gap.segment]
        found += pieces
    return None if _is_of_columns(old, new, found) else found


def _parted(old: Table, new: Table, gap: Gap) -> Iterator[Segment]:
    piece = gap.segment
    if not gap.is_fresh:
        yield piece
        return
    pairs = list(zip(piece.old, piece.new, strict=True)) if piece.is_even else []
    if pairs and all(_alike(old, new, i, j) for i, j in pairs):
        yield from (
            Segment(i, i + 1, j, j + 1) for i, j in pairs if old.rows[i].raw != new.rows[j].raw
        )
        return
    twins = _twins(old, new, gap)
    if twins is None:
        yield piece
        return
    i, j = piece.old_start, piece.new_start
    for x, y in [*twins, (piece.old_end, piece.new_end)]:
        yield from (Segment(at, at + 1, j, j) for at in range(i, x))
        yield from (Segment(x, x, at, at + 1) for at in range(j, y))
        if x < piece.old_end and y < piece.new_end:
            yield Segment(x, x + 1, y, y + 1)
        i, j = x + 1, y + 1


def _twins(old: Table, new: Table, gap: Gap) -> list[tuple[int, int]] | None:
    """Return which rows of a gap are versions of one another; None where that is not certain.

    It is certain where every row is unlike any other in the gap and has one counterpart at most,
    in the same order: then it is the same for any part of the rows.
    """
    piece = gap.segment
    come = new.raw(piece.new)
    is_certain = gap.is_single and len(set(come)) == len(come)
    if not is_certain or len(piece.old) * len(come) > _MAX_PAIRS:
        return None
    alike = [(i, j) for i in piece.old for j in piece.new if _alike(old, new, i, j)]
    for side in ([i for i, _ in alike], [j for _, j in alike]):
        if side != sorted(set(side)):
            return None
    return alike


def _alike(old: Table, new: Table, i: int, j: int) -> bool:
    """Whether at least half of the fields are the same, or half of the words above the table."""
    one, two = old.rows[i], new.rows[j]
    if one.is_above and two.is_above:
        return _is_version(tuple(one.fields[0].split()), tuple(two.fields[0].split()))
    return _is_version(one.fields, two.fields)


def _joins(old: Table, new: Table, piece: Segment) -> bool:
    return any(old.rows[at].is_open for at in piece.old) or any(
        new.rows[at].is_open for at in piece.new
    )


def _is_of_columns(old: Table, new: Table, pieces: list[Segment]) -> bool:
    """Whether rows and header must go together: a header that went or has other columns.

    Without a header, several rows that became wider or narrower.
    """
    widths = [
        len(old.rows[p.old_start].fields) != len(new.rows[p.new_start].fields)
        for p in pieces
        if len(p.old) == len(p.new) == 1
    ]
    if not old.has_header:
        return sum(widths) > 1
    head = next(
        (at for at, row in enumerate(old.rows) if row.fields and old.numbers[at] > ABOVE), 0
    )
    piece = next((p for p in pieces if head in p.old), None)
    if piece is None:
        return False
    if not len(piece.old) == len(piece.new) == 1:
        return True
    names, others = old.rows[head].fields, new.rows[piece.new_start].fields
    return len(names) != len(others) or sorted(names) == sorted(others)


def _unit(old: Table, new: Table, piece: Segment) -> ChangeUnit:
    is_gone = not len(piece.new)
    table, places = (old, piece.old) if is_gone else (new, piece.new)
    label, place = _named_place(table, places)
    is_tied = max(len(piece.old), len(piece.new)) > 1
    return ChangeUnit(
        id=unit_id("row", piece.old_start, old.raw(piece.old), new.raw(piece.new)),
        kind="row",
        group="values",
        label=f"{label} (removed)" if is_gone else label,
        place=None if is_gone else place,
        before=old.shown(piece.old),
        after=new.shown(piece.new),
        tied=_REPEATED if is_tied else None,
    )


def _named_place(table: Table, places: range) -> tuple[str, Place]:
    """Return what rows are called, and where they are: by row, above the first of these by line."""
    first, last = max(table.numbers[places[0]], 0), max(table.numbers[places[-1]], 0)
    if last:
        label = f"row {last}" if first == last else f"rows {first}–{last}"
        return label, Place(row_start=max(first, 1), row_end=last)
    lines = table.rows[places[0]].line, table.rows[places[-1]].line
    place = Place(line_start=lines[0], line_end=lines[1])
    if table.numbers[places[-1]] > ABOVE:
        return "header", place
    return f"line {lines[0]}" if len(places) == 1 else f"lines {lines[0]}–{lines[1]}", place


# --- places --------------------------------------------------------------------------------------


def require_place(source: Source, place: Place) -> Place:
    """Return a place of a table as it is counted: data rows, or lines like those of a text.

    Raises:
        FormatError: `bad_selector`, `bad_index`, `no_match` or `ambiguous_match`.
    """
    if not _is_by_rows(place):
        return selection.require_place(source, place)
    return _placed(_data(source), place)


def relocate(before: Source, after: Source, places: Sequence[Place]) -> list[Relocated]:
    """Return where rows and lines of one version of a table are in another."""
    by_lines = [place for place in places if not _is_by_rows(place)]
    of_lines = iter(selection.relocate(before, after, by_lines) if by_lines else [])
    has_rows = len(by_lines) < len(places)
    old, new = (_data(one) if has_rows else [] for one in (before, after))
    rows = Relocation(old, new, lambda i, j: _is_version(old[i], new[j]), MAX_ROWS)
    return [
        _relocated(rows, new, _placed(old, place)) if _is_by_rows(place) else next(of_lines)
        for place in places
    ]


def _is_by_rows(place: Place) -> bool:
    """Whether rows are meant; refuses what means neither rows nor lines, and what means both."""
    require_fields(place, "csv", ("row_start", "row_end", "line_start", "line_end", "words"))
    by_rows = place.row_start is not None or place.row_end is not None
    if by_rows and (place.line_start is not None or place.line_end is not None):
        raise fail("op_conflict", "rows and lines exclude each other")
    return by_rows


def _relocated(rows: Relocation, new: Sequence[tuple[str, ...]], place: Place) -> Relocated:
    assert place.row_start is not None
    assert place.row_end is not None
    span, is_touched = rows.span(place.row_start - 1, place.row_end)
    if span is None:
        return Relocated(place=None, is_touched=True)
    now = replace(place, row_start=span[0] + 1, row_end=span[1])
    if place.words is not None and not _has(new[slice(*span)], place.words):
        return Relocated(place=replace(now, words=None), is_touched=True)
    return Relocated(place=now, is_touched=is_touched)


def _placed(rows: Sequence[tuple[str, ...]], place: Place) -> Place:
    first = place.row_start
    last = first if place.row_end is None else place.row_end
    if first is None:
        raise fail("bad_selector", "row_end asks for row_start")
    if last is None or not 1 <= first <= last <= len(rows):
        valid = f"1 to {len(rows)}" if rows else "there are no rows"
        raise fail("bad_index", f"there are {len(rows)} rows, counted from 1", hints=(valid,))
    if place.words is not None and not _has(rows[first - 1 : last], place.words):
        raise fail("no_match", "these words are not in the rows")
    return replace(place, row_end=last)


def _has(rows: Sequence[tuple[str, ...]], words: str) -> bool:
    return any(words in field for row in rows for field in row)


def _is_version(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    same = sum(x == y for x, y in zip(old, new, strict=False))
    return 2 * same >= max(len(old), len(new))


def _data(source: Source) -> list[tuple[str, ...]]:
    """Return the data rows of a file."""
    return [tuple(record.fields) for record in Rows(source, sniff(source))]
