"""Formulas of a copied sheet: what named the sheet or its tables names the copy's own (F39.15)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from ...book.sheet_xml import unescape
from ...book.workbook import Book, Sheet
from ...calculation.moved_reference import followed_texts
from ...syntax.formula import Token, quote_sheet, rewrite

_MORE = re.compile(
    rb"(<(?:[\w.\-]+:)?Fmla(?:Link|Range|Group|Txbx|Pict)\s*>|"
    rb"\s(?:cellRange|fmla(?:Link|Range|Group|Txbx|Pict)|linkedCell|listFillRange)=\")"
    rb"([^<\"]+)"
)


@dataclass(frozen=True)
class CopyNames:
    """What a sheet and its tables are called in its copy."""

    sheet: str
    copy: str
    tables: Mapping[str, str]  # by the small letters of the old names

    @classmethod
    def of(cls, book: Book, sheet: Sheet, copy: str) -> CopyNames:
        """Find free names for the tables of a sheet."""
        taken = {*book.named_tables(), *(one.name.lower() for one in book.names)}
        tables = {}
        for table in book.tables(sheet):
            number = 2
            while f"{table.name}_{number}".lower() in taken:
                number += 1
            tables[table.name.lower()] = f"{table.name}_{number}"
            taken.add(f"{table.name}_{number}".lower())
        return cls(sheet.name, copy, tables)

    def formula(self, text: str) -> str:
        """Return a formula for the copy; ranges of sheets (`Jan:Mar!A1`) stay."""
        return rewrite(text, self._token)

    def _token(self, token: Token) -> str:
        if token.sheet is not None and not token.external:
            if token.sheet.lower() == self.sheet.lower():
                body = token.text[token.text.rindex("!") + 1 :]
                return f"{quote_sheet(self.copy)}!{body}"
            return token.text
        if token.kind in ("table", "name") and token.sheet is None:
            new = self.tables.get(token.body.lower())
            return token.text if new is None else new + token.text[len(token.body) :]
        return token.text

    def texts(self, data: bytes) -> bytes:
        """Return a part whose formulas mean the copy."""

        def text(match: re.Match[bytes]) -> bytes:
            return match[1] + escape(self.formula(unescape(match[2])), quote=True).encode()

        return _MORE.sub(text, followed_texts(data, self.formula)[0])
