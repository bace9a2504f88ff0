"""A worksheet part as bytes: where its rows and cells stand, without building a tree.

A sheet of a million cells is 40 MB of XML, a tree of it half a gigabyte. Rows and cells are flat
and text holds no `<`, so regular expressions over the bytes find them exactly, fast, and leave
every byte that is not asked for where it is. Parts that need more (comments or CDATA between the
rows, other encodings) are first brought into that shape by a real parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from backshop.base.system.mapped_bytes import Content, MappedBytes, release
from backshop.formats.errors import fail
from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.wellformed import check_xml

from ..syntax.address import MAX_COL, MAX_ROW, column_name, column_number
from .plain import plain_xml, reserialised, with_data

_ROOT = re.compile(rb"<(?![?!])(?:([A-Za-z_][\w.\-]*):)?(\w+)")
_ATTRIBUTE = re.compile(rb"([\w:.\-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_REFERENCE = re.compile(rb"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
_CELL_NAME = re.compile(rb' r="([A-Z]{1,3})[1-9]\d{0,6}"')
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_NUMBERED = re.compile(r"&#(?:([0-9]{1,8})|x([0-9A-Fa-f]{1,8}));")
_NAMED = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))
_FEW_ROWS = 32  # found one by one faster than by passing all
_FEW_GROUPS = 16  # of shared formulas, likewise
_CHECKED_BYTES = 4 << 20
_CHECKED_BY_MAP_BYTES = 16 << 20
_KEPT_BYTES = 8 << 20  # of rows that were gone through


@dataclass(frozen=True, slots=True)
class Grammar:
    """The patterns of a sheet whose main namespace has this prefix."""

    prefix: bytes
    data: re.Pattern[bytes]
    data_end: re.Pattern[bytes]
    row_end: re.Pattern[bytes]
    cell: re.Pattern[bytes]
    formula: re.Pattern[bytes]
    value: re.Pattern[bytes]
    inline: re.Pattern[bytes]
    text: re.Pattern[bytes]
    phonetic: re.Pattern[bytes]


@lru_cache(maxsize=32)
def grammar(prefix: bytes) -> Grammar:
    """Return the patterns for `prefix` (`b""` or `b"x:"`)."""
    p = re.escape(prefix)
    opening = rb"(?=[\s/>])([^>]*?)"

    def leaf(name: bytes) -> re.Pattern[bytes]:
        return re.compile(rb"<%s%s%s(?:/>|>(.*?)</%s%s\s*>)" % (p, name, opening, p, name), re.S)

    return Grammar(
        prefix=prefix,
        data=re.compile(rb"<%ssheetData%s(/?)>" % (p, opening)),
        data_end=re.compile(rb"</%ssheetData\s*>" % p),
        row_end=re.compile(rb"</%srow\s*>" % p),
        cell=leaf(b"c"),
        formula=leaf(b"f"),
        value=leaf(b"v"),
        inline=leaf(b"is"),
        text=leaf(b"t"),
        phonetic=leaf(b"rPh"),
    )


class RowSpan(NamedTuple):
    """Where a row stands: its tag at `start`, its cells from `inner` to `close`, its `end`."""

    number: int
    start: int
    inner: int
    close: int
    end: int


class RawFormula(NamedTuple):
    """A formula as stored: text may be empty for members of a shared group."""

    text: str
    kind: str  # normal, shared, array, dataTable
    ref: str | None
    group: str | None


class RawCell(NamedTuple):
    """A cell as stored. `value` is the text of `<v>` or of the inline string, None without one."""

    row: int
    col: int
    start: int
    end: int
    style: int
    kind: str  # n, s, str, b, e, inlineStr, d
    value: str | None
    formula: RawFormula | None
    meta: bool  # has cell metadata: a dynamic array


def attributes(raw: bytes) -> dict[bytes, bytes]:
    """Return the attributes of a start tag as they are written."""
    return {name: a or b for name, a, b in _ATTRIBUTE.findall(raw)}


def unescape(raw: bytes) -> str:
    """Return the text of an element without children."""
    text = raw.decode("utf-8", "replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _dereferenced(text) if "&" in text else text


def _dereferenced(text: str) -> str:
    """Return a text with what its character references stand for; `&amp;` last, as it makes `&`."""
    if "&#" in text:
        text = _NUMBERED.sub(_numbered, text)
    for name, character in _NAMED:
        text = text.replace(name, character)
    return text


def _numbered(found: re.Match[str]) -> str:
    code = int(found[1]) if found[1] else int(found[2], 16)
    is_character = 0 < code < 0xD800 or 0xDFFF < code < 0x110000
    if code == 38:  # it is not the beginning of another one
        return "&amp;"
    return chr(code) if is_character else "\ufffd"


def unescape_string(raw: bytes) -> str:
    """Return the text of a string element, whose `_x000D_` stand for characters."""
    text = unescape(raw)
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def rich_text(raw: bytes, words: Grammar) -> str:
    """Return the plain text of `<si>` or `<is>` content: every run, no phonetic hints."""
    if words.prefix + b"rPh" in raw:
        raw = words.phonetic.sub(b"", raw)
    pieces = [match[2] for match in words.text.finditer(raw) if match[2]]
    if len(pieces) == 1:
        return unescape_string(pieces[0])
    return "".join(unescape_string(piece) for piece in pieces)


def reference(raw: bytes | None) -> tuple[int, int] | None:
    """Return (row, column) of an `r` attribute, or None when it is missing or absurd."""
    match = _REFERENCE.fullmatch(raw) if raw else None
    if not match:
        return None
    row, col = int(match[2]), column_number(match[1].decode())
    return (row, col) if 1 <= row <= MAX_ROW and 1 <= col <= MAX_COL else None


def integer(raw: bytes | None, default: int = 0) -> int:
    """Return a non-negative number of an attribute, or `default`."""
    return int(raw) if raw is not None and raw.isdigit() and len(raw) < 10 else default


class SheetXml:
    """One worksheet part, read by place."""

    def __init__(self, data: Content, part: str) -> None:
        self.part = part
        if len(data) <= _CHECKED_BYTES:
            check_xml(data[:])  # a larger part is checked by its map and by every write
        self.data = plain_xml(data)
        root = _ROOT.search(self.data)
        if not root or root[2] != b"worksheet":
            raise fail("corrupt_file", "a worksheet part has another root element", detail=part)
        self.words = grammar(root[1] + b":" if root[1] else b"")
        self._find_data()
        if self._holds(b"!", b"<!") or self._holds(b"?", b"<?"):
            self.data = reserialised(self.data[:])
            self._find_data()
        self._rows: list[RowSpan] | None = None
        self._masters: dict[str, RawCell] | None = None
        self._asked: dict[str, RawCell | None] = {}

    def check(self) -> None:
        """Refuse a part that is not XML all through; small ones were checked before.

        The largest are left to writes: parsing them would cost more than reading them.
        """
        if _CHECKED_BYTES < len(self.data) <= _CHECKED_BY_MAP_BYTES:
            check_xml(self.data[:])

    def _find_data(self) -> None:
        opening = self.words.data.search(self.data)
        if opening is None:
            self.data = with_data(self.data[:])
            opening = self.words.data.search(self.data)
        assert opening is not None, "a sheet without sheetData was given one"
        self.start, self.inner = opening.span()
        if opening[2]:
            self.close = self.end = self.inner
            return
        # the last one: end tags cannot stand in text
        ending = None
        at = self.data.rfind(b"</" + self.words.prefix + b"sheetData")
        if at >= self.inner:
            ending = self.words.data_end.match(self.data, at)
        if ending is None:
            raise fail("corrupt_file", "a worksheet part breaks off", detail=self.part)
        self.close, self.end = ending.span()

    def _holds(self, rare: bytes, mark: bytes) -> bool:
        """Look for `mark` between the rows; `rare` is in it and much quicker to miss."""
        at = self.data.find(rare, self.inner, self.close)
        return at >= 0 and self.data.find(mark, max(at - len(mark), self.inner), self.close) >= 0

    def rows(self) -> list[RowSpan]:
        """Return every row in the order of the file."""
        if self._rows is None:
            self._rows = list(self.iter_rows())
        return self._rows

    def iter_rows(self, at: int | None = None) -> Iterator[RowSpan]:
        """Go through the rows without keeping them, from a place where one begins."""
        data, close = self.data, self.close
        find = data.find_near if isinstance(data, MappedBytes) else data.find
        opening = b"<" + self.words.prefix + b"row"
        quick = opening + b' r="'
        ending = b"</" + self.words.prefix + b"row>"
        size, skip = len(opening), len(quick)
        at, last = self.inner if at is None else at, 0
        kept = at if isinstance(data, MappedBytes) else close
        while (start := find(opening, at, close)) >= 0:
            if start - kept > _KEPT_BYTES:
                release(data, kept, start)
                kept = start
            inner = find(b">", start, close) + 1
            if inner == 0:
                raise fail("corrupt_file", "a row breaks off", detail=self.part)
            if data.startswith(quick, start):
                raw = data[start + skip : find(b'"', start + skip, close)]
                last = int(raw) if raw.isdigit() and 0 < int(raw[:9]) <= MAX_ROW else last + 1
            elif data[start + size] in b" \t\r\n/>":
                last = _row_number(data[start + size : inner], last)
            else:  # another element whose name begins alike
                at = inner
                continue
            if data[inner - 2] == 47:  # a slash: the row is empty
                at = inner
                yield RowSpan(last, start, inner, inner, inner)
                continue
            stop = find(ending, inner, close)
            at = stop + len(ending)
            if stop < 0:
                match = self.words.row_end.search(data, inner, close)
                if match is None:
                    raise fail("corrupt_file", "a row breaks off", detail=self.part)
                stop, at = match.span()
            yield RowSpan(last, start, inner, stop, at)

    @cached_property
    def plain_rows(self) -> bool:
        """Whether every row begins `<row r="`, so that rows can be found without passing others."""
        opening = b"<" + self.words.prefix + b"row"
        rows = self.data.count(opening, self.inner, self.close)
        return rows == self.data.count(opening + b' r="', self.inner, self.close)

    def locate(self, number: int) -> RowSpan | None:
        """Find a row; None when there is none of this number. Only for plain rows."""
        mark = b'<%srow r="%d"' % (self.words.prefix, number)
        start = self.data.find(mark, self.inner, self.close)
        return next(self.iter_rows(start), None) if start >= 0 else None

    def place_of(self, number: int) -> int:
        """Return where a new row belongs. Only for plain rows."""
        mark = b'<%srow r="' % self.words.prefix
        low, high = self.inner, self.close
        while low < high:
            middle = (low + high) // 2
            start = self.data.find(mark, middle, min(high + len(mark) - 1, self.close))
            found = next(self.iter_rows(start)) if start >= 0 else None
            if found is not None and found.number < number:
                low = found.end
            else:
                high = middle
        start = self.data.find(mark, low, self.close)
        return start if start >= 0 else self.close

    def pick(self, wanted: set[int]) -> Iterator[RowSpan]:
        """Go through the wanted rows that exist, in order of their numbers."""
        if len(wanted) <= _FEW_ROWS and self.plain_rows:
            yield from filter(None, (self.locate(number) for number in sorted(wanted)))
            return
        last = max(wanted, default=0)
        for row in self.iter_rows():
            if row.number in wanted:
                yield row
            if row.number >= last:
                return

    def cells(self, row: RowSpan, first: int = 1, last: int = MAX_COL) -> Iterator[RawCell]:
        """Go through the cells of a row that lie between two columns."""
        col = 0
        for match in self.words.cell.finditer(self.data, row.inner, row.close):
            attrs = attributes(match[1])
            place = reference(attrs.get(b"r"))
            col = place[1] if place else col + 1
            if first <= col <= last:
                yield self._cell(row.number, col, match, attrs)

    @cached_property
    def plain_cells(self) -> bool:
        """Whether every cell begins `<c r="A1"`, so that one can be found by its name."""
        opening = b"<" + self.words.prefix + b"c"
        ends = (b" ", b">", b"/", b"\n", b"\t", b"\r")
        count = sum(self.data.count(opening + end, self.inner, self.close) for end in ends)
        return count == len(_named(opening).findall(self.data, self.inner, self.close))

    def cell_at(self, row: RowSpan, col: int) -> RawCell | None:
        """Return a cell of a row."""
        if not self.plain_cells:
            return next(iter(self.cells(row, col, col)), None)
        name = f'c r="{column_name(col)}{row.number}"'.encode()
        at = self.data.find(b"<" + self.words.prefix + name, row.inner, row.close)
        match = self.words.cell.match(self.data, at, row.close) if at >= 0 else None
        return self._cell(row.number, col, match, attributes(match[1])) if match else None

    def formulas_of(self, row: RowSpan, first: int = 1, last: int = MAX_COL) -> Iterator[RawCell]:
        """Go through the formulas of a row that lie between two columns."""
        if self.data.find(b"<" + self.words.prefix + b"f", row.inner, row.close) < 0:
            return
        if not self.plain_cells:
            yield from (c for c in self.cells(row, first, last) if c.formula is not None)
            return
        for start in _of_formulas(self.words.prefix).finditer(self.data, row.inner, row.close):
            col = column_number(start[1].decode())
            match = self.words.cell.match(self.data, start.start(), row.close)
            if match is not None and first <= col <= last:
                yield self._cell(row.number, col, match, attributes(match[1]))

    def ends(self, row: RowSpan) -> tuple[int, int] | None:
        """Return the first and last column of a row; None where its cells do not begin `<c r="`."""
        data, opening = self.data, b"<" + self.words.prefix + b"c"
        named = data.count(opening + b' r="', row.inner, row.close)
        if not named or named != data.count(opening, row.inner, row.close):
            return None
        places = data.find(opening, row.inner), data.rfind(opening, row.inner, row.close)
        found = [_CELL_NAME.match(data, at + len(opening)) for at in places]
        columns = [column_number(one[1].decode()) for one in found if one]
        return (columns[0], columns[1]) if len(columns) == 2 else None

    def _cell(
        self, row: int, col: int, match: re.Match[bytes], attrs: dict[bytes, bytes]
    ) -> RawCell:
        kind = attrs.get(b"t", b"n").decode("ascii", "replace")
        content = match[2] or b""
        value, formula = None, None
        if content:
            if b"f" in content:
                formula = self._formula(content)
            if kind == "inlineStr":
                inline = self.words.inline.search(content)
                value = rich_text(inline[2] or b"", self.words) if inline else None
            elif found := self.words.value.search(content):
                value = (unescape_string if kind == "str" else unescape)(found[2] or b"")
        return RawCell(
            row,
            col,
            match.start(),
            match.end(),
            integer(attrs.get(b"s")),
            kind,
            value,
            formula,
            b"cm" in attrs,
        )

    def _formula(self, content: bytes) -> RawFormula | None:
        match = self.words.formula.search(content)
        if match is None:
            return None
        attrs = attributes(match[1])
        ref, group = attrs.get(b"ref"), attrs.get(b"si")
        return RawFormula(
            unescape(match[2] or b""),
            attrs.get(b"t", b"normal").decode("ascii", "replace"),
            ref.decode("ascii", "replace") if ref else None,
            group.decode("ascii", "replace") if group else None,
        )

    def frame(self) -> Element:
        """Return the part as a tree with its sheet data left empty."""
        hole = b"<" + self.words.prefix + b"sheetData/>"
        return parse_xml(self.data[: self.start] + hole + self.data[self.end :])

    @cached_property
    def has_formulas(self) -> bool:
        """Whether any cell holds a formula."""
        mark = b"<" + self.words.prefix + b"f"
        return any(self._holds(b"f", mark + after) for after in (b">", b" ", b"/"))

    def formula_cells(self) -> Iterator[RawCell]:
        """Go through the cells that hold a formula, skipping rows without one."""
        if not self.has_formulas:
            return
        mark = b"<" + self.words.prefix + b"f"
        for row in self.iter_rows() if isinstance(self.data, MappedBytes) else self.rows():
            if self.data.find(mark, row.inner, row.close) >= 0:
                for cell in self.cells(row):
                    if cell.formula is not None:
                        yield cell

    def master(self, group: str) -> RawCell | None:
        """Return the cell that holds the text of one shared formula.

        Whoever asks for a few does not go through the whole sheet for them.
        """
        if self._masters is None and self.plain_rows and len(self._asked) <= _FEW_GROUPS:
            if group not in self._asked:
                self._asked[group] = self._find_master(group)
            if (found := self._asked[group]) is not None:
                return found
        return self.masters().get(group)

    def _find_master(self, group: str) -> RawCell | None:
        prefix, name = re.escape(self.words.prefix), re.escape(group.encode())
        text = re.compile(rb'<%sf\s[^>]*?\bsi="%s"[^>/]*>[^<]' % (prefix, name))
        found = text.search(self.data, self.inner, self.close)
        if found is None:
            return None
        start = self.data.rfind(b'<%srow r="' % self.words.prefix, self.inner, found.start())
        cells = self.cells(next(self.iter_rows(start)))
        holder = next((cell for cell in cells if cell.end > found.start()), None)
        formula = holder.formula if holder else None
        return holder if formula and formula.kind == "shared" and formula.group == group else None

    def masters(self) -> dict[str, RawCell]:
        """Return the cell that holds the text of each shared formula."""
        if self._masters is None:
            self._masters = {}
            if self.data.find(b"shared", self.inner, self.close) >= 0:
                for cell in self.formula_cells():
                    formula = cell.formula
                    if formula and formula.kind == "shared" and formula.group and formula.text:
                        self._masters.setdefault(formula.group, cell)
        return self._masters


@lru_cache(maxsize=32)
def _named(opening: bytes) -> re.Pattern[bytes]:
    return re.compile(re.escape(opening) + rb' r="[A-Z]{1,3}[1-9]\d{0,6}"')


@lru_cache(maxsize=32)
def _of_formulas(prefix: bytes) -> re.Pattern[bytes]:
    p = re.escape(prefix)
    opening = rb'<%sc r="([A-Z]{1,3})\d+"[^>]*?(?<!/)>' % p
    return re.compile(opening + rb"\s*<%sf(?=[\s/>])" % p)


def row_pairs(
    lefts: Iterator[RowSpan], rights: Iterator[RowSpan]
) -> Iterator[tuple[int, RowSpan | None, RowSpan | None]]:
    """Go through the rows of two sheets by number; one that a side does not have is None there."""
    left, right = next(lefts, None), next(rights, None)
    while left or right:
        row = min(one.number for one in (left, right) if one)
        here = left if left and left.number == row else None
        there = right if right and right.number == row else None
        yield row, here, there
        left = next(lefts, None) if here else left
        right = next(rights, None) if there else right


def _row_number(tag: bytes, last: int) -> int:
    raw = attributes(tag).get(b"r")
    number = integer(raw, 0)
    return number if 1 <= number <= MAX_ROW else min(last + 1, MAX_ROW)
