"""Operations on links of cells: one comes, changes or goes (F41.14)."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

from backshop.formats.protocol import Op
from backshop.formats.write.operation import Arg, problem, strip_controls
from backshop.formats.write.style import LINK_SCHEMES

from ...annotation.link import LINKS_MAX, Link, LinkEdit
from ...book.protection import refusal
from ...book.sheet_edit import SheetEdit
from ...book.stylesheet import read_look
from ...book.workbook import Book, child, truth
from ...syntax.address import Area, parse_area
from ...syntax.formula import Token, quote_sheet, tokens
from ..cell_operation import area_of, write_cell
from ..cell_value import content
from ..session import Session

SET_ARGS = (
    Arg("sheet", str, required=True),
    Arg("range", str, required=True, aliases=("cell",)),
    Arg("target", str, required=True, aliases=("url", "address")),
    Arg("text", str),
    Arg("tooltip", str),
    Arg("style", object),
)
DELETE_ARGS = (
    Arg("sheet", str, required=True),
    Arg("range", str, required=True, aliases=("cell",)),
)
ADDRESS_MAX, TOOLTIP_MAX = 2083, 255  # characters, as in Excel
_SCHEME = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:")
_UNFIT = re.compile(r"[\s<>\"{}|\\^`]")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})  # signs that nobody sees
_WAYS = ("https://…", "mailto:name@host", "Sheet1!A1", "the name of a range")


def set_link(session: Session, op: Op) -> str:
    """Let a cell or a range lead somewhere; what links it had are replaced."""
    edit = session.edit_or_name(str(op.args["sheet"]), op.where)
    area = _area(session, op, edit)
    where = f"{op.where}.target"
    link = _link(session, edit, area, str(op.args["target"]), where, _tooltip(session, op))
    text = op.args["text"]
    single = area.count == 1 or edit.frame.merge_at(area.row1, area.col1) == area
    if text is None and single and edit.is_empty(area.row1, area.col1):
        text = link.target.removeprefix("#")  # as Excel shows a link in an empty cell
    _write(session, edit, area, None if text is None else str(text), op)
    links = LinkEdit(session.book, edit, session.made, session.addresses)
    gone = links.remove(area)
    if links.count() >= LINKS_MAX:
        raise problem("too_large", op.where, f"a sheet has at most {LINKS_MAX} links")
    links.add(link)
    for one in (area, *gone):
        session.aim(edit, one, "link")
    verb = "now leads" if gone else "leads"
    return f"{edit.sheet.name}!{area} {verb} to {link.target.removeprefix('#')}"


def delete_link(session: Session, op: Op) -> str:
    """Take the links off cells; what the cells show stays."""
    edit = session.edit(str(op.args["sheet"]), op.where)
    area = _area(session, op, edit)
    gone = LinkEdit(session.book, edit, session.made, session.addresses).remove(area)
    if not gone:
        raise problem("no_match", f"{op.where}.range", f"{area} has no link")
    for one in (area, *gone):
        session.aim(edit, one, "link")
    count = f"{len(gone)} links" if len(gone) > 1 else "link"
    return f"{edit.sheet.name}!{area}: {count} deleted"


def _area(session: Session, op: Op, edit: SheetEdit) -> Area:
    """Return the cells that are meant; one inside merged cells means all of them."""
    where = f"{op.where}.range"
    area = area_of(op.args["range"], where, edit)
    if area.count == 1 and (merged := edit.frame.merge_at(area.row1, area.col1)) is not None:
        area = merged
    _refuse_locked(session, edit, area, where)
    return area


def _refuse_locked(session: Session, edit: SheetEdit, area: Area, where: str) -> None:
    """Refuse links on a protected sheet, but where it allows them on cells that are open."""
    if not edit.frame.protected:
        return
    protection = child(edit.frame.root, "sheetProtection")
    if protection is None or truth(protection.get("insertHyperlinks"), True):
        raise refusal(edit.frame, where, "the links of the sheet are protected")
    session.count(area.count, where)
    for place in area.cells():
        session.check_writable(edit, *place, where)


def _tooltip(session: Session, op: Op) -> str:
    where = f"{op.where}.tooltip"
    said = strip_controls(str(op.args["tooltip"] or ""), session.warnings, where)
    if len(said) > TOOLTIP_MAX:
        raise problem("bad_value", where, f"at most {TOOLTIP_MAX} characters")
    return said


def _write(session: Session, edit: SheetEdit, area: Area, text: str | None, op: Op) -> None:
    """Write what the first cell is to show, and how the cells are to look."""
    look = read_look(op.args["style"], f"{op.where}.style", session.warnings)
    first, new = (area.row1, area.col1), None
    if text is not None:
        where = f"{op.where}.text"
        new = content(text, "string", where, session.book.date_1904, session.warnings)
        write_cell(session, edit, first, new, "string", look, where, {first})
        session.aim(edit, Area(*first, *first))
    if not look.empty:
        session.count(area.count, f"{op.where}.range")
        for place in area.cells():
            if new is None or place != first:
                write_cell(session, edit, place, None, "auto", look, op.where, {place})
        session.aim(edit, area, "style")


def _link(
    session: Session, edit: SheetEdit, area: Area, given: str, where: str, tooltip: str
) -> Link:
    target = given.strip()
    if target.lower().startswith(LINK_SCHEMES):
        address, _, location = target.partition("#")
        _check_address(address, location, where)
        return Link(area, address, location, tooltip)
    is_place = _is_place(target.removeprefix("#"))
    if target.startswith(("\\\\", "//")) or (_SCHEME.match(target) and not is_place):
        what = "a link may lead to http, https, mailto, or a place of this workbook"
        raise problem("unsafe_link", where, what, _WAYS)
    place = location_of(session.book, target.removeprefix("#"), edit.sheet.name, where)
    return Link(area, "", place, tooltip)


def _is_place(text: str) -> bool:
    """Whether a text can be a place of a workbook: `A1:B2` is no scheme."""
    pieces = tokens(text)
    if len(pieces) != 1 or pieces[0].external:
        return False
    return pieces[0].kind == "name" or pieces[0].area is not None


def _check_address(address: str, location: str, where: str) -> None:
    """Refuse an address that programs would read in different ways, or would not open."""
    whole = f"{address}#{location}" if location else address
    if len(whole) > ADDRESS_MAX:
        raise problem("bad_value", where, f"an address has at most {ADDRESS_MAX} characters")
    if _UNFIT.search(whole) or any(unicodedata.category(one) in _HIDDEN for one in whole):
        what = "an address has no spaces, quotes, brackets, backslashes or invisible signs in it"
        raise problem("bad_value", where, what, ["a space is written %20"])
    try:
        parts = urlsplit(address)
        host = parts.hostname if parts.netloc else parts.path.rpartition("@")[2]
    except ValueError:
        host = None
    if not host:
        raise problem("bad_value", where, "the address names no host", _WAYS[:2])


def location_of(book: Book, text: str, home: str, where: str) -> str:
    """Return a place of the workbook as links write it: with its sheet, or a name."""
    if not _is_place(text):
        what = f"{text[:60]!r} is neither an address nor a place of this workbook"
        raise problem("bad_value", where, what, _WAYS)
    token = tokens(text)[0]
    if token.kind == "name":
        return _named(book, token, where)
    sheet = book.sheet(home if token.sheet is None else token.sheet, where)
    area = parse_area(token.body)
    assert area is not None, "the token is a reference"
    return f"{quote_sheet(sheet.name)}!{area.lines or area}"


def _named(book: Book, token: Token, where: str) -> str:
    names = {item.name.lower(): item.name for item in book.names if not item.hidden}
    tables = {name: table.name for name, (_, table) in book.named_tables().items()}
    found = names.get(token.body.lower()) or tables.get(token.body.lower())
    if found is None:
        what = f"the workbook has no name {token.body[:60]}, nor is it a cell or an address"
        raise problem("bad_value", where, what, _WAYS)
    if token.sheet is not None:
        return f"{quote_sheet(book.sheet(token.sheet, where).name)}!{found}"
    return found
