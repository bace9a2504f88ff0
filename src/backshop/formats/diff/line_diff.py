"""What differs between two versions of a file: lines, and rows of tables (B12.1-B12.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backshop.base import limits as numbers

from ..protocol import JsonObject
from .alignment import Change, Effort, changes
from .word_diff import WORD

CONTEXT_LINES = 3
PAGE_LINES = 5_000  # B12.2: lines in one answer
MAX_LINES = 200_000  # both sides together
MAX_BYTES = 32 * numbers.MIB
LINE_MAX_CHARS = 4_000
MAX_ROWS = 200_000  # B12.4
PAGE_ROWS = 200
_SPAN_MAX_CHARS = 1_000  # longer lines are marked whole, as are those left when effort is spent
_SPANS_MAX_STEPS = 10_000_000  # for all lines of a diff, about a second
_SPAN_STEPS = 5  # a character costs before its line is compared


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of a hunk; `spans` are the changed characters of a line that has a counterpart."""

    type: str  # context, added or removed
    text: str
    old_line: int | None = None
    new_line: int | None = None
    spans: tuple[tuple[int, int], ...] = ()
    truncated: bool = False

    def to_json(self) -> JsonObject:
        """Return the line of B12.1; absent keys mean nothing to say."""
        optional = {
            "old_line": self.old_line,
            "new_line": self.new_line,
            "spans": self.spans or None,
            "truncated": self.truncated or None,
        }
        given = {key: value for key, value in optional.items() if value is not None}
        return {"type": self.type, "text": self.text, **given}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Changed lines with their surroundings; starts count from 1."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[DiffLine, ...]

    def to_json(self) -> JsonObject:
        """Return the hunk of B12.1."""
        return {
            "old_start": self.old_start,
            "old_count": self.old_count,
            "new_start": self.new_start,
            "new_count": self.new_count,
            "lines": [line.to_json() for line in self.lines],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDiff:
    """The whole difference of two texts; `page` gives an answer's worth of it."""

    hunks: tuple[Hunk, ...] = ()
    added: int = 0
    removed: int = 0
    too_large: bool = False
    flags: tuple[str, ...] = ()
    cursor: int | None = None  # of a page: the hunk that the next one begins with
    pages: Sequence[JsonObject] | None = None  # of a PDF: those of both versions, paired

    def page(self, cursor: int = 0) -> TextDiff:
        """Return the hunks from `cursor` (a hunk index) on, up to 5,000 lines (B12.2)."""
        taken: list[Hunk] = []
        lines = 0
        for hunk in self.hunks[cursor:]:
            if taken and lines + len(hunk.lines) > PAGE_LINES:
                break
            taken.append(hunk)
            lines += len(hunk.lines)
        after = cursor + len(taken)
        following = after if after < len(self.hunks) else None
        return replace(self, hunks=tuple(taken), cursor=following)

    def to_json(self) -> JsonObject:
        """Return the difference of B12.1."""
        return {
            "hunks": [hunk.to_json() for hunk in self.hunks],
            "stats": {"added": self.added, "removed": self.removed},
            "too_large": self.too_large,
            "flags": self.flags,
            "cursor": self.cursor,
            **({} if self.pages is None else {"pages": self.pages}),
        }


def diff_lines(old: Sequence[str], new: Sequence[str], *, context: int = CONTEXT_LINES) -> TextDiff:
    """Return the difference of two lists of lines; identical ones give no hunks."""
    size = sum(map(len, old)) + sum(map(len, new))
    if len(old) + len(new) > MAX_LINES or size > MAX_BYTES:
        start, end_old, end_new = _trim(old, new)
        return TextDiff(added=end_new - start, removed=end_old - start, too_large=True)
    found = changes(old, new)
    effort = Effort(_SPANS_MAX_STEPS)
    hunks = (_hunk(old, new, group, context, effort) for group in _group(found, context))
    return TextDiff(
        hunks=tuple(piece for hunk in hunks for piece in _split(hunk)),
        added=sum(change.new_end - change.new_start for change in found),
        removed=sum(change.old_end - change.old_start for change in found),
    )


def changed_ranges(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the changed line ranges of `new`, first and last counted from 1.

    A removal is the place it happened: (n + 1, n) after line n. Beyond the limits of B12.2 the one
    range from the first to the last difference is given.
    """
    if len(old) + len(new) <= MAX_LINES:
        return [(change.new_start + 1, change.new_end) for change in changes(old, new)]
    start, end_old, end_new = _trim(old, new)
    return [] if start == end_old == end_new else [(start + 1, end_new)]


def _trim(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """Return where the sides begin to differ and where, from each side's end, they are done."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end_old, end_new = len(old), len(new)
    while end_old > start and end_new > start and old[end_old - 1] == new[end_new - 1]:
        end_old, end_new = end_old - 1, end_new - 1
    return start, end_old, end_new


def _group(found: list[Change], context: int) -> list[list[Change]]:
    groups: list[list[Change]] = []
    for change in found:
        if groups and change.old_start - groups[-1][-1].old_end <= 2 * context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(
    old: Sequence[str], new: Sequence[str], group: list[Change], context: int, effort: Effort
) -> Hunk:
    first, last = group[0], group[-1]
    lead = min(context, first.old_start, first.new_start)
    tail = min(context, len(old) - last.old_end)
    i, j = first.old_start - lead, first.new_start - lead
    start_old, start_new = i, j
    lines: list[DiffLine] = []
    for change in group:
        lines += _same(old, i, change.old_start, j)
        lines += _changed(old, new, change, effort)
        i, j = change.old_end, change.new_end
    lines += _same(old, i, last.old_end + tail, j)
    end_old, end_new = last.old_end + tail, last.new_end + tail
    return Hunk(
        old_start=start_old + 1 if end_old > start_old else start_old,
        old_count=end_old - start_old,
        new_start=start_new + 1 if end_new > start_new else start_new,
        new_count=end_new - start_new,
        lines=tuple(lines),
    )


def _split(hunk: Hunk) -> list[Hunk]:
    """Cut a hunk that would fill more than one answer."""
    if len(hunk.lines) <= PAGE_LINES:
        return [hunk]
    pieces = []
    before_old = hunk.old_start - 1 if hunk.old_count else hunk.old_start  # lines passed so far
    before_new = hunk.new_start - 1 if hunk.new_count else hunk.new_start
    for at in range(0, len(hunk.lines), PAGE_LINES):
        lines = hunk.lines[at : at + PAGE_LINES]
        old = sum(line.old_line is not None for line in lines)
        new = sum(line.new_line is not None for line in lines)
        pieces.append(
            Hunk(
                old_start=before_old + 1 if old else before_old,
                old_count=old,
                new_start=before_new + 1 if new else before_new,
                new_count=new,
                lines=lines,
            )
        )
        before_old, before_new = before_old + old, before_new + new
    return pieces


def _same(old: Sequence[str], start: int, end: int, new_start: int) -> list[DiffLine]:
    return [
        _line("context", old[at], old_line=at + 1, new_line=new_start + at - start + 1)
        for at in range(start, end)
    ]


def _changed(
    old: Sequence[str], new: Sequence[str], change: Change, effort: Effort
) -> list[DiffLine]:
    removed = range(change.old_start, change.old_end)
    added = range(change.new_start, change.new_end)
    spans_old: dict[int, tuple[tuple[int, int], ...]] = {}
    spans_new: dict[int, tuple[tuple[int, int], ...]] = {}
    if len(removed) == len(added):
        for i, j in zip(removed, added, strict=True):
            spans_old[i], spans_new[j] = _spans(old[i], new[j], effort)
    return [
        *(_line("removed", old[i], old_line=i + 1, spans=spans_old.get(i, ())) for i in removed),
        *(_line("added", new[j], new_line=j + 1, spans=spans_new.get(j, ())) for j in added),
    ]


def _line(
    type_: str,
    text: str,
    *,
    old_line: int | None = None,
    new_line: int | None = None,
    spans: tuple[tuple[int, int], ...] = (),
) -> DiffLine:
    return DiffLine(
        type=type_,
        text=text[:LINE_MAX_CHARS],
        old_line=old_line,
        new_line=new_line,
        spans=tuple(span for span in spans if span[1] <= LINE_MAX_CHARS),
        truncated=len(text) > LINE_MAX_CHARS,
    )


def _spans(
    old: str, new: str, effort: Effort
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Return the changed character ranges of two lines that stand for each other."""
    is_long = max(len(old), len(new)) > _SPAN_MAX_CHARS
    if is_long or not effort.spend(_SPAN_STEPS * (len(old) + len(new))):
        return ((0, len(old)),), ((0, len(new)),)
    a, b = WORD.findall(old), WORD.findall(new)
    at_a, at_b = _offsets(a), _offsets(b)
    found = changes(a, b, effort=effort)
    left = ((at_a[change.old_start], at_a[change.old_end]) for change in found)
    right = ((at_b[change.new_start], at_b[change.new_end]) for change in found)
    return (
        tuple(span for span in left if span[0] < span[1]),
        tuple(span for span in right if span[0] < span[1]),
    )


def _offsets(words: list[str]) -> list[int]:
    at = [0]
    for word in words:
        at.append(at[-1] + len(word))
    return at


# --- tables (B12.4) ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """A row that was added, removed or changed; numbers count data rows from 1."""

    kind: str
    before_row: int | None = None
    after_row: int | None = None
    cells: tuple[tuple[str, str | None, str | None], ...] = ()  # (column, before, after)
    values: tuple[str, ...] = ()  # of a changed row as it is now, in the order of the columns

    def to_json(self) -> JsonObject:
        """Return the row of B12.4."""
        cells = [{"column": c, "before": b, "after": a} for c, b, a in self.cells]
        return {
            "kind": self.kind,
            "before_row": self.before_row,
            "after_row": self.after_row,
            "cells": cells,
            "values": self.values,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDiff:
    """The difference of two tables with their columns named."""

    columns: tuple[str, ...] = ()
    columns_added: tuple[str, ...] = ()
    columns_removed: tuple[str, ...] = ()
    columns_reordered: bool = False
    rows: tuple[RowChange, ...] = ()
    too_large: bool = False
    row_count: int = 0  # of a page: how many rows there are in all
    cursor: int | None = None  # of a page: the row that the next one begins with

    def page(self, cursor: int = 0) -> TableDiff:
        """Return the rows from `cursor` on, up to 200."""
        rows = self.rows[cursor : cursor + PAGE_ROWS]
        after, count = cursor + len(rows), len(self.rows)
        return replace(self, rows=rows, row_count=count, cursor=after if after < count else None)

    def to_json(self) -> JsonObject:
        """Return the difference of B12.4."""
        return {
            "columns": {
                "names": self.columns,
                "added": self.columns_added,
                "removed": self.columns_removed,
                "reordered": self.columns_reordered,
            },
            "rows": [row.to_json() for row in self.rows],
            "row_count": self.row_count,
            "too_large": self.too_large,
            "cursor": self.cursor,
        }


def diff_tables(
    old_columns: Sequence[str],
    old: Sequence[Sequence[str]],
    new_columns: Sequence[str],
    new: Sequence[Sequence[str]],
) -> TableDiff:
    """Align the rows of two tables; a removed and an added row half equal are one change."""
    if len(old) + len(new) > MAX_ROWS:
        return TableDiff(too_large=True)
    olds, news = set(old_columns), set(new_columns)
    shared = [column for column in old_columns if column in news]
    before = [_row(old_columns, row) for row in old]
    after = [_row(new_columns, row) for row in new]
    keys_old = [tuple(row.get(c) or "" for c in shared) for row in before]
    keys_new = [tuple(row.get(c) or "" for c in shared) for row in after]
    rows: list[RowChange] = []
    for change in changes(keys_old, keys_new):
        rows += _row_changes(before, after, change, shared)
    return TableDiff(
        columns=tuple(new_columns),
        columns_added=tuple(c for c in new_columns if c not in olds),
        columns_removed=tuple(c for c in old_columns if c not in news),
        columns_reordered=shared != [c for c in new_columns if c in olds],
        rows=tuple(rows),
    )


def _row(columns: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    return dict(zip(columns, row, strict=False))


def _row_changes(
    before: list[dict[str, str]],
    after: list[dict[str, str]],
    change: Change,
    shared: list[str],
) -> list[RowChange]:
    i, j = change.old_start, change.new_start
    rows: list[RowChange] = []
    while i < change.old_end or j < change.new_end:
        if i < change.old_end and j < change.new_end:
            cells = tuple(
                (c, before[i].get(c), after[j].get(c))
                for c in shared
                if before[i].get(c) != after[j].get(c)
            )
            if 2 * len(cells) <= len(shared):
                values = tuple(after[j].values())
                rows.append(
                    RowChange(
                        kind="changed",
                        before_row=i + 1,
                        after_row=j + 1,
                        cells=cells,
                        values=values,
                    )
                )
                i, j = i + 1, j + 1
                continue
        if i < change.old_end:
            cells = tuple((c, v, None) for c, v in before[i].items())
            rows.append(RowChange(kind="removed", before_row=i + 1, cells=cells))
            i += 1
        else:
            cells = tuple((c, None, v) for c, v in after[j].items())
            rows.append(RowChange(kind="added", after_row=j + 1, cells=cells))
            j += 1
    return rows
