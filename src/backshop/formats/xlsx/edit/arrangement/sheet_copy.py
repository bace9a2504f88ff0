"""A second sheet like one that is there, with everything on it (F39.14)."""

from __future__ import annotations

from collections import Counter

from backshop.formats.errors import fail
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Op
from backshop.formats.write.operation import problem

from ...book.workbook import Book, Sheet, child, children, like
from ...calculation import recalculation
from ...drawing.drawing_part import drawn_on
from ...syntax.formula import tokens
from ...syntax.reference import references
from .. import structure
from ..session import Session, SheetTwin, Target
from ..settlement import settle
from .copied_part import PartCopies
from .copied_text import CopyNames


def copy_sheet(session: Session, op: Op) -> str:
    """Copy a sheet; formulas elsewhere stay as they are."""
    structure.refuse_locked(session.book, op.where)
    name, position = str(op.args["new_name"]), op.args["position"]
    if position is not None and (not isinstance(position, int) or position < 0):
        raise problem("bad_value", f"{op.where}.position", "counts from 0")
    sheet = session.book.sheet(str(op.args["sheet"]), f"{op.where}.sheet")
    structure.check_name(name, f"{op.where}.new_name")
    if session.book.find(name) is not None:
        raise problem("name_conflict", f"{op.where}.new_name", "another sheet has this name")
    if sheet.kind != "worksheet" or sheet.part is None:
        what = "only sheets with cells are copied"
        raise problem("unsupported_format", f"{op.where}.sheet", what)
    settle(session, [sheet.name])
    sheet = session.book.sheet(sheet.name)
    session.structural = True
    made, left = _copy(session, sheet, name, position)
    for what, count in sorted(left.items()):
        session.warnings.add("not_copied", count, f"{what} of {sheet.name}")
    session.targets.append(Target(made.name, None, frozenset({"added"})))
    for one in drawn_on(session.book, made):
        session.targets.append(Target(made.name, None, frozenset({"added"}), one.called))
    return f"sheet {sheet.name} copied to {made.name}, place {made.index} from 0"


def _copy(
    session: Session, sheet: Sheet, name: str, position: int | None
) -> tuple[Sheet, Counter[str]]:
    book = session.book
    assert sheet.part is not None, "it was asked for"
    names = CopyNames.of(book, sheet, name)
    index, source = sheet.index, book.package.read(sheet.part)
    copies = PartCopies(book, names)
    part = copies.sheet(sheet.part)
    at = index + 1 if position is None else position
    made = structure.list_sheet(book, name, part, at)
    _copy_names(book, book.sheet(sheet.name), made, names)
    recalculation.drop_chain(book)
    book.forget()
    made = book.sheet(name)
    if book.xml(made) is None:
        raise fail("verify_failed", "the copy of a sheet cannot be read back", detail=name)
    session.twins[part] = SheetTwin(source, copies.worksheet)
    session.forget_vocabulary()
    return made, copies.left


# --- names --------------------------------------------------------------------------------------


def _copy_names(book: Book, sheet: Sheet, made: Sheet, names: CopyNames) -> None:
    """Give the copy the names of its model, and names of its own for those that mean its cells."""
    root = book.root
    parent = child(root, "definedNames")
    listed = children(parent, "definedName")
    used = _used_names(book, made)
    for item in listed:
        scope = item.get("localSheetId")
        text = "".join(str(piece) for piece in item.itertext())
        is_own = scope == str(sheet.index)
        is_meant = scope is None and _means(text, sheet.name)
        wanted = is_own or (is_meant and (item.get("name") or "").lower() in used)
        if not wanted or parent is None:
            continue
        new = item.makeelement(like(parent, "definedName"))
        for key, value in item.attrib.items():
            new.set(key, value)
        new.set("localSheetId", str(made.index))
        new.text = names.formula(text)
        _add(parent, new)
    book.package.put_xml(book.part, root)
    book.forget()


def _add(parent: Element, new: Element) -> None:
    key = (new.get("name"), new.get("localSheetId"))
    known = {(one.get("name"), one.get("localSheetId")) for one in children(parent, "definedName")}
    if key not in known:
        parent.append(new)


def _means(text: str, sheet: str) -> bool:
    found = references(text, "")
    return bool(found) and all(one.sheet.lower() == sheet.lower() for one in found)


def _used_names(book: Book, sheet: Sheet) -> set[str]:
    """Return the names that formulas of a sheet use, through others too, in small letters."""
    xml = book.xml(sheet)
    texts = {book.formula(cell, xml) or "" for cell in xml.formula_cells()} if xml else set()
    frame = xml.frame() if xml else None
    words = ("{*}f", "{*}formula", "{*}formula1", "{*}formula2")
    texts |= {item.text or "" for item in frame.iter(*words)} if frame is not None else set()
    means = {one.name.lower(): one.refers_to for one in book.names if one.scope is None}
    found: set[str] = set()
    waiting = list(texts)
    while waiting:
        for token in tokens(waiting.pop()):
            word = token.body.lower()
            if token.kind == "name" and token.sheet is None and word not in found:
                found.add(word)
                waiting.append(means.get(word, ""))
    return found
