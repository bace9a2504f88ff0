"""Which formulas name a table, through names too; and what any formula names."""

from __future__ import annotations

from collections.abc import Collection

from ..book.workbook import Book
from ..syntax.formula import tokens

Places = dict[str, set[tuple[int, int]]]
"""Cells by the names of their sheets."""


def named_in(formula: str) -> tuple[set[str], set[str]]:
    """Return the sheets a formula names and its other names, of tables too, in small letters.

    A table that is meant without being named (`[@Net]`) has the empty name.
    """
    sheets: set[str] = set()
    names: set[str] = set()
    for token in tokens(formula):
        if token.sheet:
            sheets.update(one.lower() for one in token.sheet.split(":"))
        if token.kind in ("name", "table"):
            names.add(token.body.lower())
    return sheets, names


def users(book: Book, names: Collection[str]) -> Places:
    """Return the cells whose formulas use some of these names, in small letters."""
    wanted = _naming(book, set(names))
    found: Places = {}
    for sheet in book.sheets if wanted else ():
        xml = book.xml(sheet)
        for cell in xml.formula_cells() if xml else ():
            text = book.formula(cell, xml) if xml else None
            if text and named_in(text)[1] & wanted:
                found.setdefault(sheet.name, set()).add((cell.row, cell.col))
    return found


def _naming(book: Book, wanted: set[str]) -> set[str]:
    """Return these names and those whose formulas use some of them."""
    uses = {one.name.lower(): named_in(one.refers_to)[1] for one in book.names} if wanted else {}
    found = set(wanted)
    while more := {name for name, used in uses.items() if used & found} - found:
        found |= more
    return found
