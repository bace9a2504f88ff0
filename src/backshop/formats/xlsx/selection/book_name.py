"""The names of a workbook, each by where it counts: compared, and put back one by one."""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from backshop.formats.package.guard import Element

from ..book.element_order import insert_in_order
from ..book.workbook import Book, child, children, like
from ..calculation.recalculation import WORKBOOK_ORDER

FILTER = "_xlnm._filterdatabase"
NameKey = tuple[str, str]
"""The sheet a name counts on, empty for all of them, and its small letters."""


def names(book: Book) -> dict[NameKey, list[Element]]:
    """Return the names of a workbook; sheets go by the names they have in it."""
    found: dict[NameKey, list[Element]] = {}
    for item in children(child(book.root, "definedNames"), "definedName"):
        scope = item.get("localSheetId") or ""
        at = int(scope) if scope.isdigit() else -1
        sheet = book.sheets[at].name if 0 <= at < len(book.sheets) else ""
        found.setdefault((sheet, (item.get("name") or "").lower()), []).append(item)
    return found


def said(item: Element) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what a name says: its text, and all but the sheet it counts on."""
    own = [(str(k), str(v)) for k, v in item.attrib.items() if k != "localSheetId"]
    return "".join(str(piece) for piece in item.itertext()), tuple(sorted(own))


def put(book: Book, key: NameKey, other: list[Element]) -> None:
    """Let a name be as another version of the workbook has it."""
    have = names(book).get(key, [])
    table = child(book.root, "definedNames")
    if table is None:
        table = etree.Element(like(book.root, "definedNames"))
        insert_in_order(book.root, table, WORKBOOK_ORDER)
    at = table.index(have[0]) if have else _place(table, key)
    for item in have:
        table.remove(item)
    sheet = book.find(key[0]) if key[0] else None
    for offset, item in enumerate(other):
        copy = deepcopy(item)
        copy.tail = None
        if sheet is not None:
            copy.set("localSheetId", str(sheet.index))
        table.insert(at + offset, copy)
    if not len(table):
        book.root.remove(table)
    book.package.put_xml(book.part, book.root)
    book.forget()


def _place(table: Element, key: NameKey) -> int:
    """Return where a name belongs: they stand in the order of the alphabet."""
    for at, item in enumerate(table):
        if isinstance(item.tag, str) and (item.get("name") or "").lower() > key[1]:
            return at
    return len(table)
