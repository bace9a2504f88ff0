"""Operations on names: one comes, means something else, is called otherwise, or goes (F41.1)."""

from __future__ import annotations

import re
from dataclasses import replace

from lxml import etree

from backshop.formats.errors import FormatError
from backshop.formats.figure.plain import exact_text
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Op
from backshop.formats.write.operation import Arg, nearest, problem, strip_controls

from ...book.element_order import insert_in_order
from ...book.sheet_edit import SheetEdit
from ...book.workbook import Book, child, children, like, truth
from ...calculation.name_use import NameMeaning, NameMove, places_of_use, scope_of, users
from ...calculation.recalculation import WORKBOOK_ORDER
from ...syntax.address import parse_area, parse_cell
from ...syntax.formula import Token, bare_name, quote_sheet, rewrite, tokens
from ...syntax.signature import SIGNATURES
from .. import structure
from ..cell_value import content, looks_numeric
from ..formula_fit import fitted_name
from ..session import Session, Target

SET_ARGS = (
    Arg("name", str, required=True),
    Arg("refers_to", object, aliases=("value", "formula", "range")),
    Arg("scope", str, aliases=("sheet",)),
    Arg("new_name", str),
    Arg("comment", str),
)
DELETE_ARGS = (
    Arg("name", str, required=True),
    Arg("scope", str, aliases=("sheet",)),
    Arg("break_formulas", bool, default=False),
)
NAME_MAX, COMMENT_MAX, _PLACES_SAID = 255, 255, 10
_NUMBERED = re.compile(r"(?i)r\d*(?:c\d*)?|c\d*")  # cells by numbers of rows and columns
_FIRST = re.compile(r"[^\W\d]|[_\\]")
_REST = re.compile(r"[\w.\\?]*")
_WORDS = frozenset({"true", "false"})
_OURS = ("_xl",)  # names that Excel keeps for itself


def set_name(session: Session, op: Op) -> str:
    """Give a range, a constant or a formula a name, or change what a name means or is called."""
    scope = _scope(session, op)
    name, new = str(op.args["name"]).strip(), op.args["new_name"]
    refuse_name(name, f"{op.where}.name")
    found = _find(session.book, name, scope)
    if found is None:
        return _add(session, op, name, scope)
    said = _only_known(found, f"{op.where}.name")
    wanted = None
    if op.args["refers_to"] is not None:
        wanted = _refers_to(session, op, scope, said)
    if all(op.args[key] is None for key in ("refers_to", "new_name", "comment")):
        what = "refers_to, new_name or comment says what is to change"
        raise problem("missing_field", f"{op.where}.refers_to", what)
    target = said
    if new is not None and str(new).strip() != said:
        target = _new_name(session, op, said, scope)
    session.flush()
    changes = []
    if wanted is not None and wanted != _text(_require(session.book, said, scope)):
        _redefine(session, said, scope, wanted)
        changes.append(f"refers to {wanted} now")
    if target != said:
        _rename(session, said, target, scope)
        changes.append(f"is called {target} now")
    if op.args["comment"] is not None and _comment(session, op, target, scope):
        changes.append("has another comment")
    for one in {said, target}:
        _aim(session, one, scope)
    return f"name {_shown(said, scope)} {' and '.join(changes) or 'is so already'}"


def delete_name(session: Session, op: Op) -> str:
    """Take a name away; formulas that use it are in the way, unless they may break."""
    scope = _scope(session, op)
    name, where = str(op.args["name"]).strip(), f"{op.where}.name"
    _refuse_ours(name, where)
    found = _find(session.book, name, scope)
    if found is None:
        raise _unknown(session.book, name, scope, where)
    said = _only_known(found, where)
    session.flush()
    meaning = NameMeaning.of(session.book, said, scope)
    places = list(dict.fromkeys(places_of_use(session.book, meaning)))
    if places and not op.args["break_formulas"]:
        more = [f"and {len(places) - _PLACES_SAID} more"] if len(places) > _PLACES_SAID else []
        what = (
            f"{len(places)} things use the name and would show #NAME?; break_formulas says that "
            "they may"
        )
        raise problem("op_conflict", where, what, [*places[:_PLACES_SAID], *more])
    _note_users(session, meaning)
    _remove(session.book, said, scope)
    session.forget_vocabulary()
    _note_users(session, meaning)
    if places:
        session.warnings.add("broken_references", len(places), where=said)
    _aim(session, said, scope)
    return f"name {_shown(said, scope)} deleted"


# --- what may be a name -------------------------------------------------------------------------


def refuse_name(name: str, where: str) -> None:
    """Refuse what Excel would not take for a name (F41.2)."""
    _refuse_ours(name, where)
    is_cell = parse_cell(name) is not None or _is_far_cell(name) or _NUMBERED.fullmatch(name)
    if is_cell:
        raise problem("bad_value", where, f"{name[:60]} would be read as a cell")
    is_word = name and _FIRST.match(name) and _REST.fullmatch(name, 1) and ord(name[0]) < 0x10000
    if not is_word or len(name) > NAME_MAX or name.lower() in _WORDS or name == "\\":
        what = (
            "a name begins with a letter or _, goes on with letters, digits, . or _, and has at "
            f"most {NAME_MAX} characters"
        )
        raise problem("bad_value", where, what)


def _is_far_cell(name: str) -> bool:
    """Whether a name looks like a cell, or a column, beyond the edge: some program has one."""
    found = re.fullmatch(r"([A-Za-z]{1,3})[0-9]+", name)
    return found is not None and parse_area(f"{found[1]}:{found[1]}") is not None


def _refuse_ours(name: str, where: str) -> None:
    if name.lower().startswith(_OURS):
        what = "names that begin with _xl belong to Excel: print areas, titles, filters"
        raise problem("bad_value", where, what)


def _new_name(session: Session, op: Op, name: str, scope: str | None) -> str:
    where, new = f"{op.where}.new_name", str(op.args["new_name"]).strip()
    refuse_name(new, where)
    if new.lower() != name.lower():
        _refuse_taken(session.book, new, scope, where)
    return new


def _refuse_taken(book: Book, name: str, scope: str | None, where: str) -> None:
    if _find(book, name, scope) is not None:
        raise problem("name_conflict", where, f"there is a name {name} already")
    if name.lower() in book.named_tables():
        raise problem("name_conflict", where, f"there is a table {name} already")


def _unknown(book: Book, name: str, scope: str | None, where: str) -> FormatError:
    known = [item.name for item in book.names if not item.hidden and not _is_ours(item.name)]
    others = [scope_of(book, one) for one in book.names if one.name.lower() == name.lower()]
    what = f"there is no name {name[:60]}"
    if others:
        homes = ", ".join(f"scope {one!r}" if one else "no scope" for one in others)
        what = f"the name {name[:60]} counts elsewhere: it is meant with {homes}"
    return problem("no_match", where, what, nearest(name, known))


def _is_ours(name: str) -> bool:
    return name.lower().startswith(_OURS)


def _only_known(item: Element, where: str) -> str:
    """Return how a name is spelled; refuse those that are none of people's."""
    marks = ("function", "vbProcedure", "xlm")
    if any(truth(item.get(mark)) for mark in marks):
        raise problem("op_conflict", where, "the name stands for a macro, and is not changed")
    if truth(item.get("hidden")):
        what = "the name is hidden: a program keeps it for itself, and it is not changed"
        raise problem("op_conflict", where, what)
    return item.get("name") or ""


# --- what it means ------------------------------------------------------------------------------


def _scope(session: Session, op: Op) -> str | None:
    given = op.args["scope"]
    if given is None or str(given).strip().lower() in ("", "workbook"):
        sheet = session.book.find(str(given)) if given else None
        return sheet.name if sheet else None
    return session.book.sheet(str(given), f"{op.where}.scope").name


def _refers_to(session: Session, op: Op, scope: str | None, name: str) -> str:
    """Return the formula of a name: checked, with all references to fixed cells of a sheet."""
    where, given = f"{op.where}.refers_to", op.args["refers_to"]
    if isinstance(given, bool):
        return "TRUE" if given else "FALSE"
    if isinstance(given, int | float):
        return content(given, "number", where, False, session.warnings).text
    if not isinstance(given, str):
        raise problem("bad_type", where, "a range, a number, or a formula beginning with =")
    text = given.strip()
    if not text.startswith("="):
        if looks_numeric(text):
            return exact_text(float(text))
        if not _is_reference(text):
            hints = [
                "Sheet1!$A$1:$A$9",
                "=0.19",
                f'="{text[:40]}" for a text',
                "=SUM(Sheet1!A1:A9)",
            ]
            raise problem("bad_value", where, "this is no range, number or formula", hints)
    formula = content(
        f"={text.removeprefix('=')}", "formula", where, False, session.warnings, session.names
    ).text
    fixed = _fixed(session, formula, scope, where)
    fixed = fitted_name(session, _any_sheet(session, scope, where), fixed, where)
    _refuse_lambda(name, fixed, f"{op.where}.name")
    _refuse_circle(session.book, name, scope, fixed, where)
    return fixed


def _is_reference(text: str) -> bool:
    kinds = {token.kind for token in tokens(text)}
    return bool(kinds) and kinds <= {"ref", "separator", "table", "space"}


def _fixed(session: Session, formula: str, scope: str | None, where: str) -> str:
    """Return a formula whose references mean the same from every cell."""

    def change(token: Token) -> str:
        if token.kind == "table" and not token.body:
            raise problem("bad_value", where, "a column needs its table's name", ["Table1[Column]"])
        if token.kind != "ref":
            return token.text
        if token.area is None:
            raise problem("bad_value", where, f"{token.body} is no place of a sheet")
        if token.sheet is None:
            if scope is None:
                what = f"{token.body} needs its sheet: a name counts on all of them"
                hints = [f"{quote_sheet(one.name)}!{token.body}" for one in session.book.sheets[:3]]
                raise problem("bad_value", where, what, hints)
            return f"{quote_sheet(scope)}!{_absolute(token.body)}"
        return token.text[: len(token.text) - len(token.body)] + _absolute(token.body)

    return rewrite(formula, change)


def _absolute(body: str) -> str:
    """Return a reference with `$` before every letter and number of it."""
    return ":".join(
        re.sub(r"\$?([A-Za-z]+)?\$?([0-9]+)?", _dollars, end, count=1) for end in body.split(":")
    )


def _dollars(match: re.Match[str]) -> str:
    return "".join(f"${part.upper()}" for part in match.groups() if part)


def _any_sheet(session: Session, scope: str | None, where: str) -> SheetEdit:
    """Return a sheet beside whose cells the formula is checked."""
    named = scope or next((s.name for s in session.book.sheets if s.kind == "worksheet"), "")
    return session.edit(named, where)


def _refuse_lambda(name: str, formula: str, where: str) -> None:
    first = next((token for token in tokens(formula) if token.kind != "space"), None)
    is_called = first is not None and first.kind == "function" and first.body == "LAMBDA"
    if is_called and bare_name(name) in SIGNATURES:
        raise problem("bad_value", where, f"{name} would hide the function {bare_name(name)}")


def _refuse_circle(book: Book, name: str, scope: str | None, formula: str, where: str) -> None:
    """Refuse a name that would mean itself, through others too."""
    texts = {
        (item.name.lower(), (scope_of(book, item) or "").lower()): item.refers_to
        for item in book.names
    }
    key = (name.lower(), (scope or "").lower())
    texts[key] = formula
    seen: set[tuple[str, str]] = set()
    waiting = [key]
    while waiting:
        own = waiting.pop()
        for token in tokens(texts[own]):
            if token.kind != "name" or token.external:
                continue
            word, home = token.body.lower(), (token.sheet or own[1]).lower()
            used = next((one for one in ((word, home), (word, "")) if one in texts), None)
            if used == key:
                raise problem("bad_value", where, f"{name} would mean itself")
            if used is not None and used not in seen:
                seen.add(used)
                waiting.append(used)


# --- the list of names --------------------------------------------------------------------------


def _find(book: Book, name: str, scope: str | None) -> Element | None:
    for item in children(child(book.root, "definedNames"), "definedName"):
        if (item.get("name") or "").lower() == name.lower() and _home(book, item) == scope:
            return item
    return None


def _home(book: Book, item: Element) -> str | None:
    number = item.get("localSheetId") or ""
    at = int(number) if number.isdigit() else -1
    return book.sheets[at].name if 0 <= at < len(book.sheets) else None


def _require(book: Book, name: str, scope: str | None) -> Element:
    found = _find(book, name, scope)
    assert found is not None, "it was found before"
    return found


def _text(item: Element) -> str:
    return "".join(str(piece) for piece in item.itertext())


def _save(session: Session) -> None:
    session.book.package.put_xml(session.book.part, session.book.root)
    session.book.forget()
    session.forget_vocabulary()


def _add(session: Session, op: Op, name: str, scope: str | None) -> str:
    if op.args["new_name"] is not None:
        raise _unknown(session.book, name, scope, f"{op.where}.name")
    if op.args["refers_to"] is None:
        raise problem("missing_field", f"{op.where}.refers_to", "this field is needed")
    _refuse_taken(session.book, name, scope, f"{op.where}.name")
    wanted = _refers_to(session, op, scope, name)
    session.flush()
    book = session.book
    table = child(book.root, "definedNames")
    if table is None:
        table = etree.Element(like(book.root, "definedNames"))
        insert_in_order(book.root, table, WORKBOOK_ORDER)
    item = etree.Element(like(book.root, "definedName"), name=name)
    if scope is not None:
        item.set("localSheetId", str(book.sheet(scope).index))
    item.text = wanted
    later = (one for one in table if (one.get("name") or "").lower() > name.lower())
    after = next(later, None)
    if after is None:
        table.append(item)
    else:
        after.addprevious(item)
    _save(session)
    _comment(session, op, name, scope)
    _note_users(session, NameMeaning.of(session.book, name, scope))
    _aim(session, name, scope)
    return f"name {_shown(name, scope)} refers to {wanted}"


def _redefine(session: Session, name: str, scope: str | None, wanted: str) -> None:
    item = _require(session.book, name, scope)
    for piece in list(item):
        item.remove(piece)
    item.text = wanted
    _save(session)
    _note_users(session, NameMeaning.of(session.book, name, scope))


def _rename(session: Session, name: str, new: str, scope: str | None) -> None:
    """Give a name another one; everything that uses it follows."""
    book = session.book
    move = NameMove.of(book, NameMeaning.of(book, name, scope), new)
    structure.follow(book, move)
    _require(book, name, scope).set("name", new)
    _save(session)
    session.moves.append(move)
    for sheet, places in session.expected.items():
        for place, held in places.items():
            if held.kind == "formula":
                places[place] = replace(held, text=move.followed(held.text, sheet))


def _remove(book: Book, name: str, scope: str | None) -> None:
    item = _require(book, name, scope)
    parent = item.getparent()
    assert parent is not None, "names stand in a list"
    parent.remove(item)
    if not len(parent):
        book.root.remove(parent)
    book.package.put_xml(book.part, book.root)
    book.forget()


def _comment(session: Session, op: Op, name: str, scope: str | None) -> bool:
    """Let a name have a comment, or none where that is empty; return whether it differs."""
    if op.args["comment"] is None:
        return False
    where = f"{op.where}.comment"
    said = strip_controls(str(op.args["comment"]), session.warnings, where)
    if len(said) > COMMENT_MAX:
        raise problem("bad_value", where, f"at most {COMMENT_MAX} characters")
    item = _require(session.book, name, scope)
    if (item.get("comment") or "") == said:
        return False
    if said:
        item.set("comment", said)
    else:
        item.attrib.pop("comment", "")
    _save(session)
    return True


# --- what follows -------------------------------------------------------------------------------


def _note_users(session: Session, meaning: NameMeaning) -> None:
    """Let the formulas that use a name be computed anew."""
    for sheet, places in users(session.book, meaning).items():
        session.stale.setdefault(sheet, set()).update(places)


def _aim(session: Session, name: str, scope: str | None) -> None:
    session.targets.append(Target(scope or "", None, frozenset({"name"}), name))


def _shown(name: str, scope: str | None) -> str:
    return f"{quote_sheet(scope)}!{name}" if scope else name
