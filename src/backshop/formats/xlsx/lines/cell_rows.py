"""The rows and cells of a sheet after lines of it, or of another one, came or went.

Everything is done on the bytes, row by row: rows in front of the change without formulas are not
looked at, others get new numbers and letters without being read cell by cell where that can be.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from html import escape

from ..book.cell_xml import row_tag
from ..book.sheet_xml import RowSpan, SheetXml, attributes, reference, unescape
from ..syntax.address import cell_name, column_name, column_number
from .follow import Follow
from .shared_formula import Group, groups

_REF = re.compile(rb"(\s(?:ref|r1|r2)\s*=\s*[\"'])([^\"']*)([\"'])")
_SPECIAL = (b"shared", b"array", b"dataTable")
_STYLE = re.compile(rb"[^>]*?\ss\s*=\s*[\"']([0-9]{1,9})[\"']")
_LOOKS = (b"s", b"customFormat", b"ht", b"customHeight")


class CellRows:
    """The sheet data of one sheet; `pattern` is the line whose looks inserted lines get."""

    def __init__(self, xml: SheetXml, follow: Follow, pattern: int | None) -> None:
        self.xml, self.follow, self.pattern = xml, follow, pattern
        self.shift = follow.shift
        p = re.escape(xml.words.prefix)
        self._tag = b"<%sf" % xml.words.prefix
        self._address = re.compile(
            rb"(<%sc\s(?:[^<>]*?\s)?r\s*=\s*[\"'])\$?([A-Za-z]{1,3})\$?([0-9]{1,7})(?=[\"'])" % p
        )
        cell = b"<%sc" % xml.words.prefix
        openings = sum(
            xml.data.count(cell + end, xml.inner, xml.close) for end in (b" ", b"/", b">")
        )
        placed = xml.data.count(cell + b' r="', xml.inner, xml.close)
        self._is_placed = openings == placed  # every cell says where it is
        self._groups: dict[bytes, Group] = groups(xml, follow)
        self._letters: dict[bytes, tuple[int, bytes]] = {}

    def render(self) -> bytes:
        """Return what stands between the tags of the sheet data."""
        if not self.follow.is_own:
            return b"".join(self._formulas_only())
        return b"".join(self._rows() if self.shift.axis == "row" else self._columns())

    def _has_formula(self, row: RowSpan) -> bool:
        return self.xml.data.find(self._tag, row.inner, row.close) >= 0

    def _formulas_only(self) -> Iterator[bytes]:
        """Go through the sheet data with other formulas and nothing else changed."""
        data, at = self.xml.data, self.xml.inner
        for row in self.xml.iter_rows():
            if self._has_formula(row):
                yield data[at : row.inner]
                yield self._cells(row)
                at = row.close
        yield data[at : self.xml.close]

    # --- rows ----------------------------------------------------------------------------------

    def _rows(self) -> Iterator[bytes]:
        data, at = self.xml.data, self.xml.inner
        waits = self.shift.by > 0  # for the place of the inserted rows
        for row in self.xml.iter_rows():
            now = self.shift.line(row.number)
            if now == row.number:
                if self._has_formula(row):
                    yield data[at : row.inner]
                    yield self._cells(row)
                    at = row.close
                continue
            yield data[at : row.start]
            at = row.end
            if waits:
                waits = False
                yield from self._new_rows()
            if now is not None:
                yield self._numbered(data[row.start : row.inner], now)
                yield self._renumbered(row, now)
                yield data[row.close : row.end]
        yield data[at : self.xml.close]
        if waits:
            yield from self._new_rows()

    def _numbered(self, tag: bytes, number: int) -> bytes:
        """Return a row's tag with another number, in front, where quick readers look for it."""
        quick = b'<%srow r="' % self.xml.words.prefix
        if tag.startswith(quick):
            return quick + b"%d" % number + tag[tag.index(b'"', len(quick)) :]
        rest = row_tag(tag, {"r": None})
        size = len(quick) - len(b' r="')
        return quick + b'%d"' % number + rest[size:]

    def _renumbered(self, row: RowSpan, now: int) -> bytes:
        cells = self._cells(row) if self._has_formula(row) else self._raw(row)
        number = b"%d" % now
        return self._address.sub(lambda match: match[1] + match[2] + number, cells)

    def _raw(self, row: RowSpan) -> bytes:
        return self.xml.data[row.inner : row.close]

    def _new_rows(self) -> Iterator[bytes]:
        """Go through inserted rows that look like another one; plain ones need no row."""
        p, model = self.xml.words.prefix, self._model()
        if model is None:
            return
        tag, cells = model
        for number in range(self.shift.at, self.shift.last + 1):
            yield b'<%srow r="%d"%s>' % (p, number, tag)
            for letters, style in cells:
                yield b'<%sc r="%s%d" s="%d"/>' % (p, letters, number, style)
            yield b"</%srow>" % p

    def _model(self) -> tuple[bytes, list[tuple[bytes, int]]] | None:
        """Return the attributes and the styled cells of the row that inserted ones look like."""
        wanted = {self.shift.at - 1, self.shift.at, *([self.pattern] if self.pattern else [])}
        rows = {row.number: row for row in self.xml.pick(wanted)}
        levels = [self._level(rows.get(line)) for line in (self.shift.at - 1, self.shift.at)]
        said = b' outlineLevel="%d"' % min(levels) if min(levels) else b""
        row = rows.get(self.pattern) if self.pattern else None
        if row is None:
            return (said, []) if said else None
        tag = attributes(self.xml.data[row.start : row.inner])
        looks = b"".join(b' %s="%s"' % (key, tag[key]) for key in _LOOKS if key in tag)
        cells = [(column_name(c.col).encode(), c.style) for c in self.xml.cells(row) if c.style]
        return (looks + said, cells) if looks or said or cells else None

    def _level(self, row: RowSpan | None) -> int:
        tag = attributes(self.xml.data[row.start : row.inner]) if row else {}
        level = tag.get(b"outlineLevel", b"0")
        return int(level) if level.isdigit() and len(level) == 1 else 0

    # --- columns -------------------------------------------------------------------------------

    def _columns(self) -> Iterator[bytes]:
        data, at = self.xml.data, self.xml.inner
        for row in self.xml.iter_rows():
            yield data[at : row.start]
            at = row.end
            yield self._tag_of(row)
            cells = self._cells(row) if self._has_formula(row) else self._raw(row)
            if self._is_placed and self.shift.by > 0:
                yield self._widened(row.number, cells)
            else:
                yield from self._moved_cells(row.number, cells)
            yield data[row.close : row.end]
        yield data[at : self.xml.close]

    def _tag_of(self, row: RowSpan) -> bytes:
        """Return a row's tag with its hint about columns where it may still be true."""
        tag = self.xml.data[row.start : row.inner]
        first, colon, last = attributes(tag).get(b"spans", b"").partition(b":")
        if not (colon and first.isdigit() and last.isdigit()):
            return tag
        span = self.shift.span(int(first), int(last)) if int(first) <= int(last) else None
        now = f"{span[0]}:{span[1]}" if span else None
        return tag if now == f"{int(first)}:{int(last)}" else row_tag(tag, {"spans": now})

    def _widened(self, row: int, cells: bytes) -> bytes:
        """Return the cells of a row in which all say where they are, with others inserted."""
        style = 0
        waits = self.pattern is not None
        pattern, at = self.pattern, self.shift.at

        def place(match: re.Match[bytes]) -> bytes:
            nonlocal style, waits
            col, letters = self._column(match[2])
            new = b""
            if col == pattern:
                style = _style(match.string, match.end())
            if col >= at and waits:
                waits, new = False, self._new_cells(row, style)
            return new + match[1] + letters + match[3]

        out = self._address.sub(place, cells)
        return out + self._new_cells(row, style) if waits else out

    def _column(self, letters: bytes) -> tuple[int, bytes]:
        """Return the number of a column, and its letters after the shift."""
        if letters not in self._letters:
            col = column_number(letters.decode())
            now = self.shift.line(col)
            assert now is not None, "content that would leave the sheet was refused"
            self._letters[letters] = (col, column_name(now).encode())
        return self._letters[letters]

    def _moved_cells(self, row: int, cells: bytes) -> Iterator[bytes]:
        """Go through the cells of a row one by one: some go, some come, some get their place."""
        at = col = style = 0
        waits = self.shift.by > 0 and self.pattern is not None
        for match in self.xml.words.cell.finditer(cells):
            place = reference(attributes(match[1]).get(b"r"))
            col = place[1] if place else col + 1
            now = self.shift.line(col)
            yield cells[at : match.start()]
            at = match.end()
            if col == self.pattern:
                style = _style(cells, match.start())
            if waits and now != col:
                waits = False
                yield self._new_cells(row, style)
            if now is not None:
                yield match[0] if now == col and place else self._placed(match[0], row, now)
        yield cells[at:]
        if waits:
            yield self._new_cells(row, style)

    def _new_cells(self, row: int, style: int) -> bytes:
        if not style:
            return b""
        p, cols = self.xml.words.prefix, range(self.shift.at, self.shift.last + 1)
        return b"".join(
            b'<%sc r="%s" s="%d"/>' % (p, cell_name(row, col).encode(), style) for col in cols
        )

    def _placed(self, cell: bytes, row: int, col: int) -> bytes:
        name = cell_name(row, col).encode()
        moved, count = self._address.subn(lambda match: match[1] + name, cell, count=1)
        if count:
            return moved
        size = len(self.xml.words.prefix) + 2
        return cell[:size] + b' r="%s"' % name + cell[size:]

    # --- formulas ------------------------------------------------------------------------------

    def _cells(self, row: RowSpan) -> bytes:
        """Return the cells of a row with other formulas, where they were."""
        raw = self._raw(row)
        loses_cells = self.follow.is_own and self.shift.axis == "column" and self.shift.by < 0
        if loses_cells or any(mark in raw for mark in _SPECIAL):
            return b"".join(self._special(row))
        return self.xml.words.formula.sub(self._plain, raw)

    def _plain(self, match: re.Match[bytes]) -> bytes:
        text = match[2]
        if not text:
            return match[0]
        now = self._text(text)
        if now is text:
            return match[0]
        start, end = match.span(2)
        base = match.start()
        return match[0][: start - base] + now + match[0][end - base :]

    def _text(self, raw: bytes) -> bytes:
        before = unescape(raw)
        after = self.follow.formula(before)
        return raw if after == before else escape(after, quote=False).encode()

    def _special(self, row: RowSpan) -> Iterator[bytes]:
        """Go through the cells of a row that has formulas over several cells."""
        data, at = self.xml.data, row.inner
        places = self._places(row)
        for found in self.xml.words.formula.finditer(data, row.inner, row.close):
            col = places(found.start())
            if self.follow.is_own and self._is_gone(row.number, col):
                continue
            yield data[at : found.start()]
            yield self._formula(found, (row.number, col))
            at = found.end()
        yield data[at : row.close]

    def _places(self, row: RowSpan) -> Callable[[int], int]:
        """Return a function that tells the column of the cell around a place in the bytes."""
        data, tag = self.xml.data, b"<%sc" % self.xml.words.prefix

        def quick(at: int) -> int:
            start = data.rfind(tag, row.inner, at)
            place = reference(attributes(data[start : data.index(b">", start)]).get(b"r"))
            assert place is not None, "every cell says where it is"
            return place[1]

        if self._is_placed:
            return quick
        cells = list(self.xml.cells(row))
        ends = [cell.end for cell in cells]
        return lambda at: cells[bisect_right(ends, at)].col

    def _is_gone(self, row: int, col: int) -> bool:
        return self.shift.line(row if self.shift.axis == "row" else col) is None

    def _formula(self, match: re.Match[bytes], place: tuple[int, int]) -> bytes:
        attrs = attributes(match[1])
        kind = attrs.get(b"t", b"normal")
        if kind == b"shared":
            group = self._groups.get(attrs.get(b"si", b""))
            if group is None:
                return match[0]  # it has no text anywhere
            own = match[2] if group.is_spelled_out else None
            text = unescape(own) if own else None
            return group.element(place, match[1], self.xml.words.prefix, text)
        now = self._plain(match)
        if kind in {b"array", b"dataTable"} and self.follow.is_own:
            end = now.index(b">")
            now = _REF.sub(self._reference, now[:end]) + now[end:]
        return now

    def _reference(self, match: re.Match[bytes]) -> bytes:
        now = self.follow.place(match[2].decode("ascii", "replace"))
        return match[0] if now is None else match[1] + now.encode() + match[3]


def _style(data: bytes, at: int) -> int:
    """Return the number of the style that the tag around a place names."""
    match = _STYLE.match(data, data.rfind(b"<", 0, at + 1))
    return int(match[1]) if match else 0
