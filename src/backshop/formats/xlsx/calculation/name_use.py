"""Where a name of a workbook is used, and formulas that follow it to another one (F41.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape

from backshop.formats.diff.part_diff import child_words, part_words
from backshop.formats.package.guard import Element

from ..book.sheet_xml import unescape
from ..book.workbook import Book, DefinedName, Sheet, local
from ..syntax.address import cell_name
from ..syntax.formula import Token, quote_sheet, rewrite, tokens
from ..syntax.signature import SIGNATURES
from .moved_reference import followed_texts, follows

_DEFINED = re.compile(rb"(<(?:[\w.\-]+:)?definedName(?:\s[^>]*)?(?<!/)>)([^<]+)(</)")
_SCOPE = re.compile(rb"\slocalSheetId\s*=\s*[\"'](\d{1,6})[\"']")
_SOURCE = re.compile(
    rb"(<(?:[\w.\-]+:)?(?:worksheetSource|dataRef|rangeSet)\b[^>]*?\sname=\")([^\"]*)(\")"
)
_FORMULAS = frozenset({"formula", "formula1", "formula2", "f"})


@dataclass(frozen=True, slots=True)
class NameMeaning:
    """Which words mean a name: `scope` is the sheet it counts on, None for the whole workbook.

    `hidden_by` are sheets with a name of their own that is written the same, in small letters.
    """

    name: str
    scope: str | None
    hidden_by: frozenset[str] = frozenset()

    @classmethod
    def of(cls, book: Book, name: str, scope: str | None) -> NameMeaning:
        """Return what a name means in a workbook."""
        own = (scope_of(book, one) for one in book.names if one.name.lower() == name.lower())
        return cls(name, scope, frozenset(one.lower() for one in own if one is not None))

    def is_meant(self, token: Token, home: str) -> bool:
        """Whether a word of a formula on a sheet means the name."""
        if token.kind == "function" and token.body not in SIGNATURES:
            said = token.text[:-1]  # a name of a function: it is called
        elif token.kind == "name" and not token.external:
            said = token.body
        else:
            return False
        if said.lower() != self.name.lower():
            return False
        sheet = (token.sheet or home).lower()
        if self.scope is None:
            return sheet not in self.hidden_by
        return sheet == self.scope.lower()

    def is_in(self, formula: str, home: str) -> bool:
        """Whether a formula on a sheet uses the name."""
        if self.name.lower() not in formula.lower():
            return False
        return any(self.is_meant(token, home) for token in tokens(formula))


def scope_of(book: Book, item: DefinedName) -> str | None:
    """Return the sheet that a name counts on, None for the whole workbook."""
    is_local = item.scope is not None and item.scope < len(book.sheets)
    return book.sheets[item.scope].name if is_local and item.scope is not None else None


@dataclass(frozen=True, slots=True)
class NameMove:
    """A name got another one, and formulas follow; `homes` are the sheets that parts belong to."""

    meaning: NameMeaning
    new: str
    part: str  # of the workbook, which lists the names
    sheets: tuple[str, ...]  # in their order
    homes: dict[str, str]

    @classmethod
    def of(cls, book: Book, meaning: NameMeaning, new: str) -> NameMove:
        """Return the move of a name of a workbook."""
        homes = {sheet.part: sheet.name for sheet in book.sheets if sheet.part}
        for sheet in book.sheets:
            homes |= {table.part: sheet.name for table in book.tables(sheet)}
        names = tuple(sheet.name for sheet in book.sheets)
        return cls(meaning, new, book.part, names, homes)

    def followed(self, formula: str, home: str = "") -> str:
        """Return a formula on a sheet that follows."""
        if self.meaning.name.lower() not in formula.lower():
            return formula
        return rewrite(formula, lambda token: self._token(token, home))

    def _token(self, token: Token, home: str) -> str:
        if not self.meaning.is_meant(token, home):
            return token.text
        if token.kind == "function":
            return f"{self.new}("
        return token.text[: len(token.text) - len(token.body)] + self.new

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part whose formulas follow, and how many did."""
        if self.meaning.name.lower().encode() not in data.lower() or not follows(part):
            return data, 0
        home = self.homes.get(part, "")
        if part == self.part:
            return self._names(data)
        made, count = followed_texts(data, lambda text: self.followed(text, home))
        sources = 0

        def source(match: re.Match[bytes]) -> bytes:
            nonlocal sources
            said = unescape(match[2])
            if not self.meaning.is_meant(Token("name", said, None, said), home):
                return match[0]
            sources += 1
            return match[1] + escape(self.new).encode() + match[3]

        made = _SOURCE.sub(source, made)
        return made, count + sources

    def _names(self, data: bytes) -> tuple[bytes, int]:
        count = 0

        def name(match: re.Match[bytes]) -> bytes:
            nonlocal count
            before = unescape(match[2])
            after = self.followed(before, _home(match[1], self.sheets))
            count += after != before
            said = escape(after, quote=False).encode() if after != before else match[2]
            return match[1] + said + match[3]

        return _DEFINED.sub(name, data), count


def _home(tag: bytes, sheets: tuple[str, ...]) -> str:
    scope = _SCOPE.search(tag)
    at = int(scope[1]) if scope else -1
    return sheets[at] if 0 <= at < len(sheets) else ""


def used_cells(book: Book, meaning: NameMeaning) -> Iterator[tuple[Sheet, int, int]]:
    """Go through the cells whose formulas use a name."""
    for sheet in book.sheets:
        xml = book.xml(sheet)
        for cell in xml.formula_cells() if xml is not None else ():
            text = book.formula(cell, xml) if xml is not None else None
            if text and meaning.is_in(text, sheet.name):
                yield sheet, cell.row, cell.col


def used_names(book: Book, meaning: NameMeaning) -> Iterator[NameMeaning]:
    """Go through the other names whose formulas use a name."""
    for item in book.names:
        home = scope_of(book, item) or ""
        if meaning.is_in(item.refers_to, home):
            yield NameMeaning.of(book, item.name, home or None)


def places_of_use(book: Book, meaning: NameMeaning) -> Iterator[str]:
    """Go through everything that uses a name, in words."""
    for sheet, row, col in used_cells(book, meaning):
        yield f"{quote_sheet(sheet.name)}!{cell_name(row, col)}"
    for one in used_names(book, meaning):
        yield f"name {one.name}"
    for sheet in book.sheets:
        xml = book.xml(sheet)
        if xml is not None:
            yield from (
                f"{words} of {sheet.name}" for words in _around(xml.frame(), meaning, sheet)
            )
    yield from _in_parts(book, meaning)


def _around(root: Element, meaning: NameMeaning, sheet: Sheet) -> list[str]:
    found: dict[str, None] = {}
    for element in root.iterchildren("{*}*"):
        for item in element.iter("{*}*"):
            is_formula = local(item) in _FORMULAS and item.text
            said = item.text if is_formula else item.get("location")
            if said and meaning.is_in(said, sheet.name):
                found[child_words(local(element))] = None
    return list(found)


def _in_parts(book: Book, meaning: NameMeaning) -> Iterator[str]:
    """Go through parts beside sheets: charts, shapes, tables, sources of pivot tables."""
    seen = {book.part, *(sheet.part for sheet in book.sheets)}
    move = replace(NameMove.of(book, meaning, ""), new=f"{meaning.name}_")
    for part in book.package.names:
        if part not in seen and follows(part) and move.rewrite(part, book.package.read(part))[1]:
            yield part_words(part)


def users(book: Book, meaning: NameMeaning) -> dict[str, set[tuple[int, int]]]:
    """Return the cells whose results depend on a name, through other names too, by sheet."""
    known, waiting = {meaning}, [meaning]
    while waiting:
        for one in used_names(book, waiting.pop()):
            if one not in known:
                known.add(one)
                waiting.append(one)
    found: dict[str, set[tuple[int, int]]] = {}
    for one in known:
        for sheet, row, col in used_cells(book, one):
            found.setdefault(sheet.name, set()).add((row, col))
    return found
