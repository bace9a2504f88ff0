"""The tabs of a workbook: their order, which are shown, their colours (F39.16)."""

from __future__ import annotations

from lxml import etree

from backshop.formats.protocol import Op
from backshop.formats.write import style as words
from backshop.formats.write.operation import problem

from ...book.workbook import Book, Sheet, child, children, like
from ...syntax.formula import tokens
from .. import structure
from ..layout import ensure
from ..session import Session, Target

STATES = ("visible", "hidden")


def move_sheet(session: Session, op: Op) -> str:
    """Put a tab at another place; what counts sheets follows."""
    structure.refuse_locked(session.book, op.where)
    sheet = session.book.sheet(str(op.args["sheet"]), f"{op.where}.sheet")
    count = len(session.book.sheets)
    position = op.args["position"]
    if not isinstance(position, int) or not 0 <= position < count:
        raise problem("bad_value", f"{op.where}.position", f"from 0 to {count - 1}")
    if position == sheet.index:
        return f"sheet {sheet.name} stands there already"
    session.flush()
    session.structural = True
    before = [one.name for one in session.book.sheets]
    after = [name for name in before if name != sheet.name]
    after.insert(position, sheet.name)
    _reorder(session.book, before, after)
    session.targets.append(Target(sheet.name, None, frozenset({"order"})))
    changed = _ranges(session.book, before, after)
    if changed:
        said = f"formulas over a range of sheets read others now, {changed[0]} the first"
        session.warnings.add("references_by_place", len(changed), said)
    return f"sheet {sheet.name} moved to place {position} from 0"


def _reorder(book: Book, before: list[str], after: list[str]) -> None:
    """Write the list of sheets in another order, and all numbers that count in it."""
    listed = child(book.root, "sheets")
    assert listed is not None, "a workbook has sheets"
    items = children(listed, "sheet")
    by_name = dict(zip(before, items, strict=True))
    tails = [item.tail for item in items]
    for item in items:
        listed.remove(item)
    for name, tail in zip(after, tails, strict=True):
        by_name[name].tail = tail
        listed.append(by_name[name])
    now = [after.index(name) for name in before]
    for item in children(child(book.root, "definedNames"), "definedName"):
        _renumber(item, "localSheetId", now)
    for view in children(child(book.root, "bookViews"), "workbookView"):
        _renumber(view, "activeTab", now)
        _renumber(view, "firstSheet", now)
        if view.get("activeTab") is None and now[0]:
            view.set("activeTab", str(now[0]))
    book.package.put_xml(book.part, book.root)
    book.forget()


def _renumber(element: etree._Element, key: str, now: list[int]) -> None:
    value = element.get(key) or ""
    if value.isdigit() and int(value) < len(now):
        element.set(key, str(now[int(value)]))


def _ranges(book: Book, before: list[str], after: list[str]) -> list[str]:
    """Return the formulas over a range of sheets that has other members now."""
    sides = [[name.lower() for name in names] for names in (before, after)]
    found = []
    for sheet in book.sheets:
        xml = book.xml(sheet)
        for cell in xml.formula_cells() if xml and b"!" in xml.data else ():
            text = (book.formula(cell, xml) if xml else None) or ""
            for token in tokens(text) if ":" in text and "!" in text else ():
                ends = (token.sheet or "").lower().split(":")
                if len(ends) == 2 and not token.external and _other(ends, sides):
                    found.append(f"{sheet.name}!{token.text}")
                    break
    return found


def _other(ends: list[str], sides: list[list[str]]) -> bool:
    between = []
    for names in sides:
        if any(end not in names for end in ends):
            return False
        first, last = sorted(names.index(end) for end in ends)
        between.append(set(names[first : last + 1]))
    return between[0] != between[1]


# --- shown, hidden, coloured --------------------------------------------------------------------


def set_sheet_state(session: Session, op: Op) -> str:
    """Show or hide a sheet, or give its tab a colour."""
    state, colour = op.args["state"], op.args["tab_color"]
    if state is None and colour is None:
        what = "state or tab_color says what is to change"
        raise problem("missing_field", f"{op.where}.state", what)
    if state is not None and state not in STATES:
        raise problem("bad_value", f"{op.where}.state", "not known", STATES)
    sheet = session.book.sheet(str(op.args["sheet"]), f"{op.where}.sheet")
    said = []
    if state is not None:
        said.append(_show(session, sheet, str(state), op.where))
    if colour is not None:
        said.append(_colour(session, sheet, str(colour), op.where))
    return f"sheet {sheet.name} {' and '.join(said)}"


def _show(session: Session, sheet: Sheet, state: str, where: str) -> str:
    structure.refuse_locked(session.book, where)
    if sheet.state == state:
        return f"is {'shown' if state == 'visible' else 'hidden'} already"
    others = [one for one in session.book.sheets if one.state == "visible" and one != sheet]
    if state == "hidden" and not others:
        raise problem("last_sheet", f"{where}.state", "a workbook keeps at least one visible sheet")
    session.flush()
    session.structural = True
    book = session.book
    item = children(child(book.root, "sheets"), "sheet")[sheet.index]
    if state == "visible":
        item.attrib.pop("state", "")
    else:
        item.set("state", "hidden")
    new = _activate(book, sheet, others) if state == "hidden" else None
    book.package.put_xml(book.part, book.root)
    book.forget()
    session.targets.append(Target(sheet.name, None, frozenset({"state", "view"})))
    if new is not None:
        _select(session, book.sheet(sheet.name), book.sheet(new.name), where)
    return "shown" if state == "visible" else "hidden"


def _activate(book: Book, sheet: Sheet, others: list[Sheet]) -> Sheet | None:
    """Let windows open with another sheet than the one that is hidden; return which."""
    later = [one for one in others if one.index > sheet.index]
    new = later[0] if later else others[-1]
    changed = False
    for view in children(child(book.root, "bookViews"), "workbookView"):
        if (view.get("activeTab") or "0") == str(sheet.index):
            view.set("activeTab", str(new.index))
            changed = True
    return new if changed else None


def _select(session: Session, old: Sheet, new: Sheet, where: str) -> None:
    """Let the new sheet be the one that is selected."""
    for sheet, is_selected in ((old, False), (new, True)):
        if sheet.kind != "worksheet" or sheet.part is None:
            continue
        edit = session.edit(sheet.name, where)
        view = child(child(edit.frame.root, "sheetViews"), "sheetView")
        if view is None:
            continue
        if is_selected:
            view.set("tabSelected", "1")
        else:
            view.attrib.pop("tabSelected", "")
        edit.refresh_frame()
        session.targets.append(Target(sheet.name, None, frozenset({"view"})))


def _colour(session: Session, sheet: Sheet, given: str, where: str) -> str:
    colour = None if given.strip().lower() == "none" else words.colour(given)
    if colour is None and given.strip().lower() != "none":
        raise problem("bad_value", f"{where}.tab_color", "a colour such as #FFC000, or none")
    edit = session.edit(sheet.name, where)
    properties = ensure(edit, "sheetPr")
    for old in children(properties, "tabColor"):
        properties.remove(old)
    if colour is not None:
        new = etree.Element(like(properties, "tabColor"), rgb=f"FF{colour}")
        properties.insert(0, new)
    elif not len(properties) and not properties.attrib:
        edit.frame.root.remove(properties)
    edit.refresh_frame()
    session.targets.append(Target(sheet.name, None, frozenset({"sheetPr"})))
    return f"tab coloured {given}" if colour else "tab without a colour"
