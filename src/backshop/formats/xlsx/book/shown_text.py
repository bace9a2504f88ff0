"""What a cell shows of its value: as its number format has it (F24.19)."""

from __future__ import annotations

from backshop.formats.figure.display import display, text_display

from . import number_format
from .workbook import Book, Value


def shown_text(book: Book, value: Value, code: str) -> str:
    """Return a value as a format shows it; a date that is stored as text needs one for dates."""
    if value.kind == "string":
        return text_display(value.text, code)
    if value.kind not in {"number", "date"}:
        return value.text
    if value.number is not None:
        return display(value.number, code, book.date_1904)
    serial = number_format.serial_of_text(value.text, book.date_1904)
    is_shown = serial is not None and number_format.is_date(-1, code)
    return display(serial, code, book.date_1904) if is_shown and serial is not None else value.text
