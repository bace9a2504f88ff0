"""By what rows are sorted: columns, directions, and the order of values as in Excel (F39.4)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from backshop.formats.protocol import Json, Op
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import Arg, as_list, item_fields, problem

from ...book import number_format
from ...book.array import Unshown
from ...book.sheet_xml import RawCell
from ...book.workbook import Book, Value
from ...syntax.address import cell_name
from .block import Block

KEY_ARGS = (
    Arg("column", object, required=True),
    Arg("order", str, default="ascending"),
    Arg("values", list),
)
_ORDERS = {"ascending": False, "asc": False, "descending": True, "desc": True}
_MAX_KEYS = 64
_MAX_LISTED = 1000  # values of a list that says its own order
_IGNORED = "-'\u2010\u2011\u2019"  # unless nothing else differs
_NOT_IGNORED = str.maketrans("", "", _IGNORED)
_MARKS = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"  # as most dictionaries have them, after the space
_NUMBERS, _TEXTS, _TRUTHS, _ERRORS = range(4)

TextKey = tuple[str, str, int, str, str]
Comparable = tuple[int, float, TextKey]
_NO_TEXT: TextKey = ("", "", 0, "", "")


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column to sort by; `listed` has the values that come first, in this order."""

    column: int
    descending: bool
    listed: tuple[Comparable, ...] = ()
    words: tuple[str, ...] = ()  # the list as it was given


def keys(rows: Block, op: Op, warnings: Warnings) -> list[SortKey]:
    """Return what an operation sorts by, the most important first."""
    items = as_list(op.args["by"])
    if not 1 <= len(items) <= _MAX_KEYS:
        raise problem("bad_value", f"{op.where}.by", f"from 1 to {_MAX_KEYS} columns")
    found: list[SortKey] = []
    for index, item in enumerate(items):
        at = f"{op.where}.by[{index}]"
        given = item_fields(item, KEY_ARGS, at, warnings)
        order = str(given["order"]).strip().lower()
        if order not in _ORDERS:
            raise problem("bad_value", f"{at}.order", "not known", ("ascending", "descending"))
        column = rows.column(given["column"], f"{at}.column")
        if column in {key.column for key in found}:
            raise problem("op_conflict", f"{at}.column", "the rows are sorted by it already")
        listed = _listed(given["values"], f"{at}.values", match_case=bool(op.args["match_case"]))
        words = tuple(str(one) for one in as_list(given["values"])) if listed else ()
        found.append(SortKey(column, _ORDERS[order], listed, words))
    return found


def _listed(given: Json, where: str, *, match_case: bool) -> tuple[Comparable, ...]:
    """Return the values that a list puts first, as they are compared."""
    if given is None:
        return ()
    items = as_list(given)
    if len(items) > _MAX_LISTED:
        raise problem("too_large", where, f"at most {_MAX_LISTED} values")
    found: list[Comparable] = []
    for index, item in enumerate(items):
        if isinstance(item, bool) or not isinstance(item, str | int | float):
            raise problem("bad_type", f"{where}[{index}]", "must be text or a number")
        if isinstance(item, str):
            found.append((_TEXTS, 0.0, text_key(item, match_case)))
        else:
            found.append((_NUMBERS, float(item), _NO_TEXT))
    return tuple(found)


class Ordering:
    """Compares the cells of a column as a sort in Excel does.

    Numbers, dates among them, come before texts, texts before FALSE and TRUE, errors after these;
    empty cells are last whichever the direction. Errors are equal, and so are texts that differ in
    nothing but capitals unless these count.
    """

    def __init__(self, book: Book, match_case: bool) -> None:
        self._book, self._match_case = book, match_case
        self._texts: dict[str, Comparable] = {}

    def of(self, cell: RawCell | None) -> Comparable | None:
        """Return what a cell is compared by; None for an empty one."""
        if cell is None:
            return None
        value = self._book.value(cell)
        match value.kind:
            case "blank":
                return None
            case "string":
                if value.text not in self._texts:
                    key = text_key(value.text, self._match_case)
                    self._texts[value.text] = (_TEXTS, 0.0, key)
                return self._texts[value.text]
            case "boolean":
                return _TRUTHS, value.number or 0.0, _NO_TEXT
            case "error":
                return _ERRORS, 0.0, _NO_TEXT
        number = value.number if value.number is not None else self._serial(value)
        return _NUMBERS, number, _NO_TEXT

    def _serial(self, value: Value) -> float:
        """Return the number of a date that is stored as text."""
        for kind in ("datetime", "date", "time"):
            found = number_format.serial_of(kind, value.text, self._book.date_1904)
            if found is not None:
                return found
        return 0.0


def text_key(text: str, match_case: bool) -> TextKey:
    """Return what a text is compared by.

    Marks come before digits, digits before letters; accents count only between words that are
    otherwise equal, hyphens and apostrophes only after these, and capitals last.
    """
    whole = unicodedata.normalize("NFKD", text).lower()
    base = "".join(char for char in whole if not unicodedata.combining(char)).casefold()
    words = base.translate(_NOT_IGNORED)
    return (
        "".join(map(_ranked, words)),
        whole.translate(_NOT_IGNORED) if whole != base else words,
        len(base) - len(words),
        base,
        text.swapcase() if match_case else "",
    )


@lru_cache(maxsize=4096)
def _ranked(char: str) -> str:
    """Return a character after what it is: white space, mark, digit or letter."""
    if char.isspace():
        return "\x01 "
    if char in _MARKS:
        return f"\x02{chr(_MARKS.index(char) + 1)}"
    rank = "\x04" if char.isdigit() else "\x05" if char.isalpha() else "\x03"
    return rank + char


def arranged(
    rows: Block,
    numbers: Sequence[int],
    sort_keys: Sequence[SortKey],
    ordering: Ordering,
    where: str,
) -> list[int]:
    """Return the numbers of the rows in their new order; equal ones stay as they stand."""
    held = _held(rows, sort_keys, ordering, where)
    order = list(numbers)
    for key in reversed(sort_keys):
        own = held[key.column]
        filled = [(own[number], number) for number in order if number in own]
        blank = [number for number in order if number not in own]
        filled.sort(key=lambda pair: pair[0], reverse=key.descending)
        order = [number for _, number in _listed_first(filled, key)] + blank
    return order


def _listed_first(
    filled: list[tuple[Comparable, int]], key: SortKey
) -> list[tuple[Comparable, int]]:
    """Return the rows with those whose values a list names in the order of the list."""
    if not key.listed:
        return filled
    places = {value: at for at, value in enumerate(key.listed)}
    first = [pair for pair in filled if pair[0] in places]
    rest = [pair for pair in filled if pair[0] not in places]
    first.sort(key=lambda pair: places[pair[0]], reverse=key.descending)
    return rest + first if key.descending else first + rest


def _held(
    rows: Block, sort_keys: Sequence[SortKey], ordering: Ordering, where: str
) -> dict[int, dict[int, Comparable]]:
    """Return what the cells of the columns are compared by: by column, then by row."""
    book, xml = rows.edit.book, rows.edit.xml
    columns = {key.column for key in sort_keys}
    found: dict[int, dict[int, Comparable]] = {column: {} for column in columns}
    unshown, uncached = Unshown(book, xml), []
    for number, row in rows.rows.items():
        for cell in filter(None, (xml.cell_at(row, column) for column in columns)):
            if book.is_uncached(cell) or unshown.formula(cell) is not None:
                uncached.append(cell_name(number, cell.col))
                continue
            value = ordering.of(cell)
            if value is not None:
                found[cell.col][number] = value
    if uncached:
        what = "rows cannot be compared by formulas whose results are not stored in the file"
        raise problem("uncached_formula", where, what, uncached[:20])
    return found
