"""Names of tables: which Excel takes, and one that is free (F37.3)."""

from __future__ import annotations

import re

from backshop.formats.write.operation import problem

from ...book.workbook import Book
from ...syntax.address import parse_cell

MAX_CHARS = 255
_FORM = re.compile(r"[^\W\d][\w.]*|\\[\w.]*")
_R1C1 = re.compile(r"(?:r\d*)?(?:c\d*)?")
_RESERVED = ("_xl", "true", "false")
_BEFORE = "Table_"
_UNFIT = re.compile(r"[^\w.]+")


def check_name(book: Book, name: str, where: str, own: str = "") -> None:
    """Refuse a name that Excel would not take, or that is given away; `own` may stay."""
    lower = name.lower()
    is_fit = _FORM.fullmatch(name) is not None and len(name) <= MAX_CHARS
    if not is_fit or _means_else(name):
        what = (
            "a name of a table has up to 255 letters, digits, underscores and dots, begins with a "
            "letter or an underscore, and does not look like a cell (A1, R1C1)"
        )
        raise problem("bad_value", where, what, _fitting(name))
    if lower == own.lower():
        return
    table = book.named_tables().get(lower)
    if table is not None:
        what = f"there is a table {table[1].name} on {table[0]} ({table[1].area})"
        raise problem("name_conflict", where, what, [free_name(book, name)])
    if lower in _defined(book):
        what = f"the workbook has a defined name {name}"
        raise problem("name_conflict", where, what, [free_name(book, name)])


def free_name(book: Book, stem: str = "Table") -> str:
    """Return a name that neither a table nor a name of the workbook has: `Table3`."""
    taken = {*book.named_tables(), *_defined(book)}
    number = 1
    while f"{stem}{number}".lower() in taken:
        number += 1
    return f"{stem}{number}"


def _defined(book: Book) -> set[str]:
    return {one.name.lower() for one in book.names}


def _means_else(name: str) -> bool:
    """Whether a name is a cell, or one that Excel keeps for itself."""
    lower = name.lower()
    is_reserved = lower.startswith(_RESERVED[0]) or lower in _RESERVED[1:]
    return is_reserved or parse_cell(name) is not None or _R1C1.fullmatch(lower) is not None


def _fitting(name: str) -> list[str]:
    """Return a name made of what was asked for that would do."""
    words = _UNFIT.sub("_", name).strip("_.")[: MAX_CHARS - len(_BEFORE)]
    if not words:
        return []
    return [words if words[0].isalpha() and not _means_else(words) else f"{_BEFORE}{words}"]
