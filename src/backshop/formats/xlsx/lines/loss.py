"""What goes with deleted lines, and what does not follow lines at all: to be told."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backshop.formats.package.guard import Element

from ..book.sheet_xml import unescape
from ..book.workbook import Book, Sheet, child
from ..syntax.address import parse_area
from ..syntax.formula import MAX_CHARS, tokens
from ..syntax.line_shift import LineShift

_LONGEST = 5 * MAX_CHARS  # bytes of a formula, its signs written out
_FORMULA = re.compile(rb"<(?:[\w.\-]+:)?(?:f|definedName)(?:\s[^>]*)?(?<!/)>([^<]+)<")


def removed_things(book: Book, sheet: Sheet, shift: LineShift) -> Iterator[tuple[int, str]]:
    """Go through what goes with deleted lines and is no cell: how many, and what."""
    if shift.by > 0:
        return
    names = [table.name for table in book.tables(sheet) if shift.area(table.area) is None]
    if names:
        yield len(names), f"{sheet.name}: the table {', '.join(names)}"
    notes = {
        item.get("ref")
        for kind in ("comments", "threadedComment")
        for part in book.sheet_rels(sheet, kind)
        for item in book.package.xml(part).iter("{*}comment", "{*}threadedComment")
        if (area := parse_area(item.get("ref") or "")) and shift.area(area) is None
    }
    if notes:
        yield len(notes), f"{sheet.name}: notes or comments"
    objects = sum(
        _is_swallowed(anchor, shift)
        for part in book.sheet_rels(sheet, "drawing")
        for anchor in book.package.xml(part).iter("{*}twoCellAnchor")
    )
    if objects:
        yield objects, f"{sheet.name}: charts, pictures or shapes, which have no size any more"


def _is_swallowed(anchor: Element, shift: LineShift) -> bool:
    """Whether an object that is sized with its cells loses all of them."""
    if anchor.get("editAs") not in (None, "twoCell"):
        return False
    key = "row" if shift.axis == "row" else "col"
    lines = []
    for name in ("from", "to"):
        item = child(child(anchor, name), key)
        text = (item.text or "").strip() if item is not None else ""
        if not text.isdigit():
            return False
        lines.append(int(text) + 1)
    return shift.at <= lines[0] and lines[1] <= shift.last


def kept_ranges(book: Book, sheet: Sheet) -> list[str]:
    """Return formulas over a range of sheets with this one in it: these do not follow lines."""
    order = [other.name.lower() for other in book.sheets]
    here = sheet.name.lower()
    parts = [other.part for other in book.sheets if other.kind == "worksheet" and other.part]
    found = []
    for part in (*parts, book.part):
        data = book.package.read(part)
        if b"!" not in data:
            continue
        for match in _FORMULA.finditer(data):
            if b":" in match[1] and b"!" in match[1] and len(match[1]) <= _LONGEST:
                text = unescape(match[1])
                if any(_spans(token.sheet, here, order) for token in tokens(text)):
                    found.append(text[:80])
    return found


def _spans(sheets: str | None, here: str, order: list[str]) -> bool:
    """Whether a range of sheets has this one in it."""
    first, colon, last = (sheets or "").lower().partition(":")
    if not colon or first not in order or last not in order:
        return False
    ends = sorted((order.index(first), order.index(last)))
    return ends[0] <= order.index(here) <= ends[1]
