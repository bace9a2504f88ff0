"""References that follow a table: its name, its columns, its totals row, its going (F37.8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from ...book.sheet_xml import RawCell, SheetXml, unescape
from ...book.workbook import Book, Table
from ...calculation.moved_reference import followed_texts, mentions, quoted_column
from ...calculation.precedent import table_area
from ...lines.follow import LostColumns
from ...syntax.address import Area, column_name
from ...syntax.formula import Token, quote_sheet, rewrite

GONE = "#REF!"
_SOURCE = re.compile(rb"(<(?:[\w.\-]+:)?worksheetSource\b[^>]*?)\sname=\"([^\"]*)\"([^>]*>)")
_BRACKET = re.compile(r"\[((?:[^\[\]'#]|'.)+)\]")
_THIS_ROW = re.compile(r"(?i)@|#this row")
_TOTALS = re.compile(r"(?i)\[\s*#totals\s*\]|^\[\s*#totals")
_FORMULA_TEXT = re.compile(rb"(<(?:[\w.\-]+:)?f(?:\s[^>]*)?>)([^<]*)(</)")
Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TableNames:
    """A table got another name, or its columns did (`columns`: by the small letters of the old)."""

    name: str
    new: str
    columns: Names = field(default_factory=dict)

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part whose structured references follow, and how many did."""
        if not mentions(data, self.name):
            return data, 0
        result, count = followed_texts(data, self.followed)

        def source(match: re.Match[bytes]) -> bytes:
            nonlocal count
            if unescape(match[2]).lower() != self.name.lower() or self.new == self.name:
                return match[0]
            count += 1
            return match[1] + b' name="%s"' % escape(self.new).encode() + match[3]

        return _SOURCE.sub(source, result), count

    def followed(self, formula: str, home: str = "", row: int = 0) -> str:
        """Return a formula whose structured references follow."""
        return rewrite(formula, self._token)

    def _token(self, token: Token) -> str:
        is_own = token.body.lower() == self.name.lower() and token.sheet is None
        if token.kind not in ("table", "name") or not is_own:
            return token.text
        return self.new + self._columns(token.text[len(token.body) :])

    def _columns(self, inside: str) -> str:
        if not self.columns or not inside:
            return inside
        whole = _plain(inside[1:-1]).strip().lower()
        if "[" not in inside[1:-1].replace("'[", "") and whole in self.columns:
            return f"[{quoted_column(self.columns[whole])}]"

        def bracket(match: re.Match[str]) -> str:
            new = self.columns.get(_plain(match[1]).strip().lower())
            return match[0] if new is None else f"[{quoted_column(new)}]"

        return _BRACKET.sub(bracket, inside)


def _plain(name: str) -> str:
    return re.sub(r"'(.)", r"\1", name)


@dataclass(frozen=True)
class TableLoss:
    """A table lost columns, or its totals row: references to these are errors."""

    name: str
    lost: LostColumns
    has_totals: bool = True

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part in which references to what is gone are errors, and how many are."""
        if not mentions(data, self.name):
            return data, 0
        return followed_texts(data, self.followed)

    def followed(self, formula: str, home: str = "", row: int = 0) -> str:
        """Return a formula in which references to what is gone are errors."""
        now = self.lost.moved(formula)
        return now if self.has_totals else rewrite(now, self._token)

    def _token(self, token: Token) -> str:
        is_own = token.kind == "table" and token.body.lower() == self.name.lower()
        inside = token.text[len(token.body) :]
        return GONE if is_own and _TOTALS.search(inside) else token.text


@dataclass(frozen=True)
class TablePlain:
    """A table is a plain range now: what named it names its cells (F37.8).

    With `only` just formulas of these cells that mean their own row, which leave the table.
    """

    table: Table
    sheet: str
    homes: Names  # the names of sheets by their parts
    only: Area | None = None

    @classmethod
    def of(cls, book: Book, sheet: str, table: Table, only: Area | None = None) -> TablePlain:
        """Say so of a table of a workbook."""
        homes = {one.part: one.name for one in book.sheets if one.part}
        return cls(table, sheet, homes, only)

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part whose structured references are ordinary ones, and how many became so."""
        home = self.homes.get(part)
        if part == self.table.part:
            return data, 0  # it goes
        if not mentions(data, self.table.name) and home != self.sheet:
            return data, 0
        count = 0
        if home is not None:
            data, count = self._cells(part, data, home)
        if self.only is not None:
            return data, count
        data, more = followed_texts(data, lambda text: self.followed(text, home or ""))
        result = _SOURCE.sub(self._source, data)
        return result, count + more + (result != data)

    def followed(self, formula: str, home: str = "", row: int = 0, col: int = 0) -> str:
        """Return a formula that stands on a sheet, in a cell or (without one) elsewhere."""
        if self.only is not None and not (home == self.sheet and self.only.has(row, col)):
            return formula
        is_inside = home == self.sheet and self.table.area.has(row, col)
        return rewrite(formula, lambda token: self._token(token, home, row, is_inside))

    def _token(self, token: Token, home: str, row: int, is_inside: bool) -> str:
        is_named = token.body.lower() == self.table.name.lower() and token.sheet is None
        is_own = is_named or (token.kind == "table" and not token.body and is_inside)
        if token.kind not in ("table", "name") or not is_own:
            return token.text
        inside = "[#Data]" if token.kind == "name" else token.text[len(token.body) :]
        is_row = token.kind == "table" and _THIS_ROW.search(inside) is not None
        if self.only is not None and not is_row:
            return token.text
        area = table_area(self.table, inside, row)
        if area is None:
            return GONE
        return self._address(area, home, is_row=is_row)

    def _address(self, area: Area, home: str, *, is_row: bool) -> str:
        mark = "" if is_row else "$"
        ends = [
            f"${column_name(col)}{mark}{row}"
            for row, col in ((area.row1, area.col1), (area.row2, area.col2))
        ]
        place = ":".join(dict.fromkeys(ends))
        return place if home == self.sheet else f"{quote_sheet(self.sheet)}!{place}"

    def _cells(self, part: str, data: bytes, home: str) -> tuple[bytes, int]:
        """Rewrite the formulas of a sheet's cells, each by the row it stands in."""
        xml = SheetXml(data, part)
        pieces, at, count = [], 0, 0
        for cell in xml.formula_cells():
            new = self._cell(xml, cell, home)
            if new is not None:
                pieces += [xml.data[at : cell.start], new]
                at, count = cell.end, count + 1
        if not count:
            return data, 0
        return b"".join([*pieces, xml.data[at:]]), count

    def _cell(self, xml: SheetXml, cell: RawCell, home: str) -> bytes | None:
        text = cell.formula.text if cell.formula else ""
        now = self.followed(text, home, cell.row, cell.col) if text else text
        if now == text:
            return None
        raw = bytes(xml.data[cell.start : cell.end])

        def formula(match: re.Match[bytes]) -> bytes:
            return match[1] + escape(now, quote=False).encode() + match[3]

        return _FORMULA_TEXT.sub(formula, raw, count=1)

    def _source(self, match: re.Match[bytes]) -> bytes:
        """Let a pivot table be made from the cells."""
        if unescape(match[2]).lower() != self.table.name.lower():
            return match[0]
        area = self.table.area
        ends = Area(area.row1, area.col1, area.row2 - self.table.totals_rows, area.col2)
        place = f' ref="{ends.span}" sheet="{escape(self.sheet)}"'
        return match[1] + place.encode() + match[3]
