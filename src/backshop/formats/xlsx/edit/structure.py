"""Adding, renaming and deleting sheets, and everything that names them (F17, F23.2)."""

from __future__ import annotations

from lxml import etree

from backshop.formats.package.unused import remove_tree
from backshop.formats.package.wellformed import xml_allows
from backshop.formats.write.operation import problem

from ..book.blank import EMPTY_SHEET, SHEET_REL, SHEET_TYPE
from ..book.protection import structure_protection, way
from ..book.workbook import HISTORY, Book, Sheet, child, children, like
from ..calculation.moved_reference import Move, SheetMove, follows
from ..syntax.address import Area, column_name
from ..syntax.formula import quote_sheet, tokens

MAX_NAME = 31
_FORBIDDEN = set("[]:*?/\\")


def check_name(name: str, where: str) -> None:
    """Refuse names Excel would not take (F17.7)."""
    bad = (
        not 1 <= len(name) <= MAX_NAME
        or _FORBIDDEN & set(name)
        or name[0] == "'"
        or name[-1] == "'"
        or name.lower() == HISTORY
        or not name.strip()
        or any(ord(char) < 32 or not xml_allows(char) for char in name)
    )
    if bad:
        raise problem(
            "bad_sheet_name",
            where,
            "a sheet name has 1 to 31 characters, none of [ ] : * ? / \\",
        )


def refuse_locked(book: Book, where: str) -> None:
    """Refuse to change the list of sheets of a workbook whose structure is protected."""
    locked = structure_protection(book)
    if locked is not None:
        what = "the structure of the workbook is protected: no sheet comes, goes or is renamed"
        hints = [way(has_password=bool(locked["password"]))]
        raise problem("sheet_protected", where, what, hints=hints)


def refuse_macro_sheet(sheet: Sheet, where: str) -> None:
    """Refuse to change a sheet of macros (F40.3)."""
    if sheet.kind == "macrosheet":
        raise problem("macro_enabled_read_only", where, "a sheet of macros is never changed")


def has_macros(book: Book) -> bool:
    """Whether a VBA project or a sheet of macros is inside."""
    return book.package.has_macros or any(sheet.kind == "macrosheet" for sheet in book.sheets)


def uses_function(book: Book, name: str) -> bool:
    """Whether a workbook with macros, which may define functions, calls one of this name."""
    if not book.package.has_macros:
        return False
    texts = (
        cell.formula.text
        for sheet in book.sheets
        if (xml := book.xml(sheet)) is not None
        for cell in xml.formula_cells()
        if cell.formula and name.lower() in cell.formula.text.lower()
    )
    return any(
        token.kind == "function" and token.text[:-1].lower() == name.lower()
        for text in texts
        for token in tokens(text)
    )


def _list(book: Book) -> etree._Element:
    found = child(book.root, "sheets")
    assert found is not None, "a workbook without sheets was refused before"
    return found


def _save(book: Book) -> None:
    book.package.put_xml(book.part, book.root)
    book.forget()


def add_sheet(book: Book, name: str, position: int | None) -> Sheet:
    """Add an empty sheet at a 0-based place, by default the last."""
    package = book.package
    folder = book.part.rpartition("/")[0]
    base = f"{folder}/" if folder else ""
    part = package.numbered(f"{base}worksheets/sheet", ".xml")
    package.put(part, book.in_dialect(EMPTY_SHEET).encode())
    package.set_content_type(part, SHEET_TYPE)
    return list_sheet(book, name, part, position)


def list_sheet(book: Book, name: str, part: str, position: int | None) -> Sheet:
    """Name a part in the workbook's list of sheets, at a 0-based place, by default the last."""
    package = book.package
    folder = book.part.rpartition("/")[0]
    base = f"{folder}/" if folder else ""
    kind = book.in_dialect(SHEET_REL)
    link = package.add_rel(book.part, kind, part.removeprefix(base))
    book.__dict__.pop("rels", None)
    parent = _list(book)
    items = children(parent, "sheet")
    ids = [int(item.get("sheetId") or 0) for item in items]
    element = etree.Element(like(parent, "sheet"))
    element.set("name", name)
    element.set("sheetId", str(max(ids, default=0) + 1))
    element.set(f"{{{kind.rpartition('/')[0]}}}id", link)
    at = len(items) if position is None else min(position, len(items))
    if at < len(items):
        items[at].addprevious(element)
        _shift_indexes(book, at, 1)
    else:
        parent.append(element)
    _save(book)
    return book.sheet(name)


def _shift_indexes(book: Book, at: int, by: int) -> None:
    """Let names and views that count sheets follow an insertion or deletion at `at`."""
    for item in children(child(book.root, "definedNames"), "definedName"):
        scope = item.get("localSheetId")
        if scope and scope.isdigit() and int(scope) >= at:
            item.set("localSheetId", str(int(scope) + by))
    count = len(children(_list(book), "sheet"))
    for view in children(child(book.root, "bookViews"), "workbookView"):
        for key in ("activeTab", "firstSheet"):
            value = view.get(key)
            if value and value.isdigit():
                new = int(value) + by if int(value) >= at else int(value)
                view.set(key, str(max(0, min(new, count - 1))))


def rename(book: Book, sheet: Sheet, new: str) -> None:
    """Give a sheet another name and let everything that names it follow."""
    old = sheet.name
    children(_list(book), "sheet")[sheet.index].set("name", new)
    _save(book)
    follow(book, SheetMove(old, new))


def delete(book: Book, sheet: Sheet, where: str) -> tuple[SheetMove, int]:
    """Take a sheet out with its private parts; return what references followed and how many."""
    visible = [other for other in book.sheets if other.state == "visible"]
    if sheet.state == "visible" and len(visible) < 2:
        raise problem("last_sheet", where, "a workbook keeps at least one visible sheet")
    order = (other.name for other in book.sheets if other.kind == "worksheet" or other == sheet)
    move = SheetMove(sheet.name, None, tuple(order))
    take_out(book, sheet)
    return move, follow(book, move)


def take_out(book: Book, sheet: Sheet) -> None:
    """Take a sheet out with its private parts and names; what refers to it stays as it is."""
    items = children(_list(book), "sheet")
    _list(book).remove(items[sheet.index])
    names = child(book.root, "definedNames")
    for item in children(names, "definedName"):
        if item.get("localSheetId") == str(sheet.index) and names is not None:
            names.remove(item)
    if names is not None and not len(names):
        book.root.remove(names)
    _shift_indexes(book, sheet.index + 1, -1)
    package = book.package
    if sheet.rel_id:
        package.remove_rel(book.part, sheet.rel_id)
    _save(book)
    if sheet.part:
        remove_tree(package, sheet.part)


def follow(book: Book, move: Move) -> int:
    """Let every formula of the package follow a move; count what changed."""
    package = book.package
    total = 0
    for part in package.names:
        if follows(part):
            result, count = move.rewrite(part, package.read(part))
            total += count
            if count:
                package.put(part, result)
    book.forget()
    return total


def set_filter_name(book: Book, sheet: Sheet, area: Area | None) -> None:
    """Keep the hidden name of a sheet's filter, where there is one, in step with the filter."""
    for item in children(child(book.root, "definedNames"), "definedName"):
        if item.get("name") != "_xlnm._FilterDatabase":
            continue
        if item.get("localSheetId") != str(sheet.index):
            continue
        parent = item.getparent()
        if area is None and parent is not None:
            parent.remove(item)
            if not len(parent):
                book.root.remove(parent)
        elif area is not None:
            ends = [
                f"${column_name(c)}${r}"
                for r, c in ((area.row1, area.col1), (area.row2, area.col2))
            ]
            item.text = f"{quote_sheet(sheet.name)}!{':'.join(ends)}"
    book.package.put_xml(book.part, book.root)
