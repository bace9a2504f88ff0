"""Which sheets of two workbooks are versions of one another, and when equal bytes mean the same."""

from __future__ import annotations

from ..book.workbook import Book, Sheet
from ..edit.effect import only_appended


def sheet_pairs(old: Book, new: Book) -> list[tuple[Sheet | None, Sheet | None]]:
    """Match sheets by name, then a single rest on both sides by its part."""
    names = {sheet.name.lower(): sheet for sheet in old.sheets}
    pairs: list[tuple[Sheet | None, Sheet | None]] = []
    fresh = []
    for sheet in new.sheets:
        match = names.pop(sheet.name.lower(), None)
        if match is None:
            fresh.append(sheet)
        else:
            pairs.append((match, sheet))
    parts = {sheet.part: sheet for sheet in names.values() if sheet.part}
    for sheet in fresh:
        twin = parts.pop(sheet.part, None) if sheet.part else None
        if twin is not None:
            names.pop(twin.name.lower(), None)
        pairs.append((twin, sheet))
    return [*pairs, *((sheet, None) for sheet in names.values())]


def same_meaning(old: Book, new: Book) -> bool:
    """Whether the same bytes of a row mean the same in both workbooks."""
    for kind in ("sharedStrings", "styles"):
        first, second = old.related(kind), new.related(kind)
        one = old.package.read(first) if first else b""
        two = new.package.read(second) if second else b""
        if one == two:
            continue
        if kind != "styles" or not one or not two:
            return False
        if not only_appended(old.package.xml(first or ""), new.package.xml(second or "")):
            return False
    return True
