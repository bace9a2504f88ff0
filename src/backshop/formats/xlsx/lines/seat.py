"""Which part of a workbook is what, and to which sheet it belongs: how it follows lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from backshop.formats.package.package import Package

from ..book.plain import plain_xml
from ..book.workbook import Book, Sheet

_ROOT = re.compile(rb"<(?![?!])(?:[\w.\-]+:)?([\w.\-]+)")
_HEAD = 4096  # bytes in which a root element begins, unless somebody hides it
_OUTSIDE = ("docProps/", "customXml/", "_rels/")
_SHARED = frozenset(  # what several sheets may lead to
    (
        *("theme", "styles", "sharedStrings", "image", "worksheet", "chartsheet"),
        *("pivotCacheDefinition", "hyperlink", "printerSettings", "slicerCache"),
    )
)


@dataclass(frozen=True, slots=True)
class Seat:
    """What a part is, by its root element, and the name of the sheet it belongs to, if any."""

    kind: str
    home: str


def seats(book: Book) -> dict[str, Seat]:
    """Return what every part of a workbook is, but for those that are no XML."""
    package, homes = book.package, owners(book)
    found = {}
    for part in package.names:
        kind = kind_of(package, part)
        if kind is not None:
            sheet = homes.get(part)
            found[part] = Seat(kind, sheet[0].name if sheet else "")
    return found


def owners(book: Book) -> dict[str, list[Sheet]]:
    """Return the sheets that lead to a part, by the parts they lead to."""
    found: dict[str, list[Sheet]] = {}
    for sheet in book.sheets:
        waiting = [sheet.part] if sheet.part else []
        seen: set[str] = set()
        while waiting:
            part = waiting.pop()
            if part in seen:
                continue
            seen.add(part)
            found.setdefault(part, []).append(sheet)
            for rel in book.package.rels(part):
                target = book.package.find(rel.part) if rel.part else None
                if target is not None and rel.type.rpartition("/")[2] not in _SHARED:
                    waiting.append(target)
    return found


def kind_of(package: Package, part: str) -> str | None:
    """Return the name of a part's root element, `vml` for the old drawings, None for no XML."""
    name = part.lower()
    if name.startswith(_OUTSIDE) or "/_rels/" in name:
        return None
    if name.endswith(".vml"):
        return "vml"
    if not name.endswith(".xml"):
        return None
    data = package.read(part)
    head = data[:_HEAD]
    match = _ROOT.search(head if b"\0" not in head[:4] else plain_xml(data))
    if match is None:
        match = _ROOT.search(plain_xml(data))
    return match[1].decode("utf-8", "replace") if match else None
