"""References that follow what they name: a renamed or deleted sheet, a renamed table column."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Protocol

from ..book.sheet_xml import unescape
from ..syntax.formula import Token, drop_sheet, rename_sheet, rewrite

# elements whose text is a formula or a reference, in every kind of part that has them
_FORMULA = re.compile(
    rb"(<(?:[\w.\-]+:)?(?:f|formula|formula1|formula2|definedName|calculatedColumnFormula|"
    rb"totalsRowFormula|oldFormula)(?:\s[^>]*)?(?<!/)>)([^<]+)(</)"
)
_ATTRIBUTE = re.compile(rb"(\s(?:location|textlink)=\")([^\"]*)(\")")
_SOURCE = re.compile(
    rb"(<(?:[\w.\-]+:)?(?:worksheetSource|dataRef|rangeSet)\b[^>]*?\ssheet=\")([^\"]*)(\")"
)


@dataclass(frozen=True, slots=True)
class SheetMove:
    """A sheet got another name, or was deleted (`new` is None); `order` is how sheets stood."""

    name: str
    new: str | None
    order: tuple[str, ...] = ()

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part whose references follow, and how many did."""
        if not mentions(data, self.name):
            return data, 0
        result, count = followed_texts(data, self.followed)
        if self.new is None:
            return result, count
        name, new = self.name.lower(), escape(self.new).encode()

        def source(match: re.Match[bytes]) -> bytes:
            nonlocal count
            if unescape(match[2]).lower() != name:
                return match[0]
            count += 1
            return match[1] + new + match[3]

        result = _SOURCE.sub(source, result)
        return result, count

    def followed(self, formula: str, home: str = "") -> str:
        """Return a formula whose references follow, whichever sheet it is on."""
        if self.new is None:
            return drop_sheet(formula, self.name, self.order)
        return rename_sheet(formula, self.name, self.new)


@dataclass(frozen=True, slots=True)
class ColumnMove:
    """A column of a table got another header."""

    table: str
    name: str
    new: str

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part whose structured references follow, and how many did."""
        if not mentions(data, self.table):
            return data, 0
        return followed_texts(data, lambda formula: rewrite(formula, self._token))

    def _token(self, token: Token) -> str:
        if token.kind != "table" or token.body.lower() != self.table.lower():
            return token.text
        inside = token.text[len(token.body) :]

        def bracket(match: re.Match[str]) -> str:
            same = _plain(match[1]).lower() == self.name.lower()
            return f"[{quoted_column(self.new)}]" if same else match[0]

        return token.text[: len(token.body)] + re.sub(r"\[((?:[^\[\]'#]|'.)+)\]", bracket, inside)


class Move(Protocol):
    """Something that references in every part of a workbook follow."""

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part whose references follow, and how many did."""


def follows(part: str) -> bool:
    """Whether a part can hold references that are rewritten; macros stay as they are (F40.1)."""
    name = part.lower()
    is_apart = name.startswith(("docprops/", "customxml/")) or "macrosheets/" in name
    return name.endswith((".xml", ".vml")) and not is_apart


def _plain(name: str) -> str:
    return re.sub(r"'(.)", r"\1", name)


def quoted_column(name: str) -> str:
    """Return the name of a column as structured references write it."""
    return re.sub(r"([\[\]#'@])", r"'\1", name)


def mentions(data: bytes, name: str) -> bool:
    """Whether a part may speak of something of this name."""
    needle = escape(name, quote=False).encode().lower()
    folded = data.lower()
    return needle in folded or needle.replace(b"'", b"''") in folded


def followed_texts(data: bytes, change: Callable[[str], str]) -> tuple[bytes, int]:
    """Return a part whose formulas are what `change` makes of them, and how many differ."""
    count = 0

    def text(match: re.Match[bytes]) -> bytes:
        nonlocal count
        before = unescape(match[2])
        after = change(before)
        if after == before:
            return match[0]
        count += 1
        return match[1] + escape(after, quote=match[3] == b'"').encode() + match[3]

    return _ATTRIBUTE.sub(text, _FORMULA.sub(text, data)), count
