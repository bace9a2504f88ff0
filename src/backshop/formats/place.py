"""Places in files as people type and read them: `Sheet1!B4`, `lines 3-5`, `slide 2` (F34)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace

from backshop.base.place import FILE, Place

from .errors import fail
from .protocol import Kind

_RANGE = re.compile(r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}(?::\$?[A-Za-z]{1,3}\$?[0-9]{1,7})?")
_WORDS = re.compile(r'(.*?)"((?:[^"]|"")+)"', re.DOTALL)
_SHEET = re.compile(r"(?:'((?:[^']|'')+)'|([^'!]+))(?:!(.*))?", re.DOTALL)
_PLAIN_SHEET = re.compile(r"\w[\w.-]*")
_NUMBER = r" ([0-9]{1,9})"
_SPAN = _NUMBER + r"(?: ?[-–] ?([0-9]{1,9}))?"
_FORMS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), names)
    for pattern, names in (
        ("lines?" + _SPAN, ("line_start", "line_end")),
        ("rows?" + _SPAN, ("row_start", "row_end")),
        ("paragraphs?" + _SPAN, ("paragraph", "paragraph_end")),
        (
            f"paragraph{_NUMBER} row{_NUMBER}(?: column{_NUMBER})?",
            ("paragraph", "table_row", "table_column"),
        ),
        (
            rf"slide{_NUMBER}(?: \(slide_index{_NUMBER}\))?(?: shape{_NUMBER})?",
            ("slide_index", "field", "shape"),
        ),
        ("page" + _NUMBER, ("page",)),
    )
)
_SEVERAL = re.compile(r"slides [0-9]{1,9} ?[-–] ?[0-9]{1,9}|slide .* shapes .*", re.IGNORECASE)
_FIELD = re.compile(r" \(slide_index [0-9]{1,9}\)")


def for_people(text: str) -> str:
    """Return a text that names slides by words and field, for people: by words alone (F44.2)."""
    return _FIELD.sub("", text)


_TEXT = ("line 12",)
_EXAMPLES = {
    Kind.XLSX: ("Sheet1!B4", "Sheet1!A1:F20"),
    Kind.CSV: ("row 3", "line 12"),
    Kind.DOCX: ("paragraph 7 (from 0)", "page 2"),
    Kind.ODT: ("paragraph 7 (from 0)", "page 2"),
    Kind.PPTX: ("slide 1", "slide 3 shape 2 (from 1)"),
    Kind.PDF: ("page 2",),
    Kind.IMAGE: ("page 1",),
}
"""How places are spelled in files of a kind, for who spelled one wrongly."""


def spelled(place: Place) -> str:
    """Return a place in the words people type and read; the whole file is the empty text.

    Slides and shapes count from 1 here; paragraphs, rows and columns of tables as reads show them.
    """
    words = None if place.words is None else '"' + place.words.replace('"', '""') + '"'
    where = _where(place)
    return " ".join(one for one in (where, words) if one)


def parse_place(text: str, kind: Kind) -> Place:
    """Return the place that a text means in a file of a kind; one line is its first and last.

    Raises:
        FormatError: `bad_selector`.
    """
    rest, words = text.strip(), None
    quoted = _WORDS.fullmatch(rest)
    if quoted:
        rest, words = quoted[1].rstrip(), quoted[2].replace('""', '"')
    place = FILE if not rest else _sheet(rest) if kind is Kind.XLSX else _numbered(rest)
    if place is None:
        raise fail(
            "bad_selector", f"{rest!r} is {_not_one(rest)}", hints=_EXAMPLES.get(kind, _TEXT)
        )
    return replace(place, words=words)


def require_fields(place: Place, format_: str, allowed: Iterable[str]) -> None:
    """Refuse what has no meaning in files of a format (F5.6).

    Raises:
        FormatError: `bad_selector`.
    """
    given = {one.name for one in fields(place) if getattr(place, one.name) is not None}
    wrong = sorted(given - set(allowed))
    if wrong:
        message = f"{', '.join(wrong)} has no meaning for {format_}"
        raise fail("bad_selector", message, hints=sorted(allowed))


def _not_one(text: str) -> str:
    if _SEVERAL.fullmatch(text):
        return "several places: name one slide or one shape"
    return "no place: slides and shapes count from 1" if text[:5].lower() == "slide" else "no place"


def _where(place: Place) -> str:
    if place.sheet is not None:
        is_plain = _PLAIN_SHEET.fullmatch(place.sheet)
        sheet = place.sheet if is_plain else "'" + place.sheet.replace("'", "''") + "'"
        return f"{sheet}!{place.range or ''}"
    if place.range is not None:
        return place.range
    if place.line_start is not None:
        return _span("line", place.line_start, place.line_end)
    if place.row_start is not None:
        return _span("row", place.row_start, place.row_end)
    if place.paragraph is not None and place.table_row is None:
        return _span("paragraph", place.paragraph, place.paragraph_end)
    named = {
        "paragraph": place.paragraph,
        "row": place.table_row,
        "column": place.table_column,
        "slide": None if place.slide_index is None else place.slide_index + 1,
        "shape": None if place.shape is None else place.shape + 1,
        "page": place.page,
    }
    return " ".join(f"{name} {number}" for name, number in named.items() if number is not None)


def _span(name: str, first: int, last: int | None) -> str:
    return f"{name} {first}" if last in (None, first) else f"{name}s {first}-{last}"


def _sheet(text: str) -> Place | None:
    if _RANGE.fullmatch(text):
        return Place(range=text)
    found = _SHEET.fullmatch(text)
    if found is None or (found[3] and not _RANGE.fullmatch(found[3])):
        return None
    sheet = found[2] if found[1] is None else found[1].replace("''", "'")
    return Place(sheet=sheet, range=found[3] or None)


def _numbered(text: str) -> Place | None:
    for pattern, names in _FORMS:
        found = pattern.fullmatch(text)
        if found is None:
            continue
        told = {name: int(one) for name, one in zip(names, found.groups(), strict=True) if one}
        if any(told.get(name, 1) < 1 for name in ("slide_index", "shape")):
            return None
        if told.get("field", told.get("slide_index", 0) - 1) != told.get("slide_index", 0) - 1:
            return None  # the two numbers of one slide name different ones
        return _counted(told)
    return None


def _counted(told: dict[str, int]) -> Place:
    line, row = told.get("line_start"), told.get("row_start")
    slide, shape = told.get("slide_index"), told.get("shape")
    return Place(
        line_start=line,
        line_end=told.get("line_end", line),
        row_start=row,
        row_end=told.get("row_end", row),
        paragraph=told.get("paragraph"),
        paragraph_end=told.get("paragraph_end"),
        table_row=told.get("table_row"),
        table_column=told.get("table_column"),
        slide_index=None if slide is None else slide - 1,
        shape=None if shape is None else shape - 1,
        page=told.get("page"),
    )
