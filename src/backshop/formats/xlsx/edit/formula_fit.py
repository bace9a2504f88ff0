"""A formula fitted into the workbook it is written into (F24.12, F24.13).

Its sheets, names, tables and functions must be there; what people write one way and files store
another (`[@Amount]`, `@A1:A5`) is stored the way Excel stores it; what has to be computed cell by
cell becomes an array formula.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from backshop.formats.errors import FormatError
from backshop.formats.write.operation import nearest, problem

from ..book.cell_xml import Content
from ..book.sheet_edit import SheetEdit
from ..book.workbook import Table
from ..calculation.precedent import table_area
from ..calculation.spill import spills
from ..calculation.vocabulary import Vocabulary
from ..syntax.address import MAX_COL, MAX_ROW, Area, cell_name
from ..syntax.expression import Reading, Shape, parse
from ..syntax.foreign import ENGLISH
from ..syntax.formula import Token, as_written, join, tokens
from ..syntax.function import DYNAMIC
from ..syntax.signature import SIGNATURES
from .session import Session
from .structure import uses_function

_MARKED = ("_xlfn.", "_xlws.", "_xludf.", "_xll.", "_xlpm.", "_xlop.")
_WORDS = frozenset({"TRUE", "FALSE"})
_HOLD_ARRAYS = frozenset({"LET", "LAMBDA"})  # a name of theirs may stand for a range
_NEAR = 3
_PART = re.compile(r"\[((?:[^\[\]']|'.)*)\]")


def fitted(
    session: Session, edit: SheetEdit, place: tuple[int, int], new: Content, where: str
) -> Content:
    """Return a formula as the workbook stores it; `new` is one whose grammar was checked.

    Raises:
        FormatError: `unknown_sheet`, `bad_value`, with the right form in the hints.
    """
    fit = _Fit(session, session.vocabulary, edit, place, where)
    pieces = fit.checked(tokens(new.text))
    text = join(pieces)
    many = spills(text) or fit.holds_arrays(pieces)
    reading = Reading(fit.width, fit.area)
    shape = reading.shape(parse(text))
    if shape >= Shape.RANGE and not (many or new.array):
        raise fit.ambiguous(pieces)
    several = many or reading.needs_array or shape > Shape.ONE
    array = new.array or ("dynamic" if several else "")
    if array == "dynamic" and not many:
        session.warnings.add("array_formula", where=f"{edit.sheet.name}!{cell_name(*place)}")
    return replace(new, text=join(_without_at(pieces, wrapped=bool(array))), array=array)


def fitted_rule(
    session: Session, edit: SheetEdit, place: tuple[int, int], text: str, where: str
) -> str:
    """Return the formula of a rule as the workbook stores it; Excel takes no tables in these.

    Raises:
        FormatError: `unknown_sheet`, `bad_value`.
    """
    pieces = tokens(text)
    table = next((token for token in pieces if token.kind == "table"), None)
    if table is not None:
        what = f"a rule names cells, not the columns of a table: {table.text}"
        raise problem("bad_value", where, what, ["$B$2:$B$9, or a name of the workbook"])
    if any(token.text == "{" for token in pieces):
        raise problem("bad_value", where, "a rule takes no list in braces; name cells that hold it")
    fit = _Fit(session, session.vocabulary, edit, place, where)
    return join(_without_at(fit.checked(pieces), wrapped=False))


def fitted_name(session: Session, edit: SheetEdit, text: str, where: str) -> str:
    """Return the formula of a name as the workbook stores it; it stands in no cell.

    Raises:
        FormatError: `unknown_sheet`, `bad_value`, with the right form in the hints.
    """
    fit = _Fit(session, session.vocabulary, edit, (MAX_ROW, MAX_COL), where)
    return join(_without_at(fit.checked(tokens(text)), wrapped=False))


@dataclass(frozen=True, slots=True)
class _Fit:
    """One formula, the workbook around it, and its place there."""

    session: Session
    words: Vocabulary
    edit: SheetEdit
    place: tuple[int, int]
    where: str

    def checked(self, pieces: Iterable[Token]) -> list[Token]:
        """Return the tokens with tables spelled out; refuse what the workbook does not have."""
        found = []
        for token in pieces:
            if token.sheet:
                self._check_sheet(token)
            if token.kind == "function":
                self._check_function(token)
            elif token.kind == "name" and not token.sheet:
                self._check_name(token)
            found.append(self._table(token) if token.kind == "table" else token)
        return found

    def _check_sheet(self, token: Token) -> None:
        for name in (token.sheet or "").split(":"):
            if name.lower() not in self.words.sheets:
                self.session.missing.append((name, self.where))

    def _check_function(self, token: Token) -> None:
        name = token.text[:-1]
        known = token.body in SIGNATURES or name.lower().startswith(_MARKED)
        if known or name.lower() in self.words.names:
            return
        if uses_function(self.session.book, name):
            return  # macros define it
        what = f"there is no function {name}: functions are written in English"
        english = ENGLISH.get(token.body)
        hints = [english] if english else nearest(token.body, SIGNATURES, _NEAR)
        raise self._refused(what, hints)

    def _check_name(self, token: Token) -> None:
        word = token.body.lower()
        if token.sheet is None and (token.body.upper() in _WORDS or word in self.words.tables):
            return
        if word in self.words.names or word.startswith(_MARKED):
            return
        known = [*self.words.names.values(), *(t.name for _, t in self.words.tables.values())]
        what = f"the workbook has no name {token.body}; text stands in quotes"
        raise self._refused(what, nearest(token.body, known, _NEAR))

    def _refused(self, what: str, hints: Iterable[str] = ()) -> FormatError:
        return problem("bad_value", self.where, what, hints)

    # --- tables --------------------------------------------------------------------------------

    def _table(self, token: Token) -> Token:
        """Return a structured reference as files hold it: its table named, no `@` (F24.12)."""
        inside = token.text[len(token.body) :]
        table = self._table_of(token.body)
        inner = inside[1:-1].strip()
        if inner.startswith("@"):
            inner = inner[1:].strip()
            columns = inner if inner.startswith("[") or not inner else f"[{inner}]"
            inside = f"[[#This Row],{columns}]" if columns else "[#This Row]"
        self._check_columns(table, inside)
        return replace(token, text=table.name + inside, body=table.name)

    def _table_of(self, name: str) -> Table:
        if name:
            found = self.words.tables.get(name.lower())
            if found is None:
                names = [table.name for _, table in self.words.tables.values()]
                raise self._refused(f"the workbook has no table {name}", nearest(name, names))
            return found[1]
        for sheet, table in self.words.tables.values():
            if sheet == self.edit.sheet.name and self._is_in(table):
                return table
        what = f"{cell_name(*self.place)} is in no table, so a column needs its table's name"
        raise self._refused(what, ["Table1[Column]"])

    def _is_in(self, table: Table) -> bool:
        row, col = self.place
        is_below = row > table.area.row2 and table.area.col1 <= col <= table.area.col2
        return table.area.has(row, col) or (is_below and table.name in self.session.joined)

    def _check_columns(self, table: Table, inside: str) -> None:
        named = [part for part in _PART.findall(inside) if not part.startswith("#")]
        renamed = [h.name for h in self.session.headers if h.table.name == table.name]
        known = [*table.columns, *renamed]
        lower = {name.strip().lower() for name in known}
        for part in named:
            column = re.sub(r"'(.)", r"\1", part).strip()
            if column and column.lower() not in lower:
                what = f"the table {table.name} has no column {column}"
                raise self._refused(what, nearest(column, known))

    # --- several values ------------------------------------------------------------------------

    def width(self, token: Token) -> Shape:
        """Say whether a token stands for one cell or several."""
        area = self.area(token)
        if area is not None:
            return Shape.RANGE if area.count > 1 else Shape.ONE
        refers = self.words.refers.get(token.body.lower()) if token.kind == "name" else None
        if refers is None:
            return Shape.ONE
        leads = Reading(lambda t: Shape.ONE if t.kind == "name" else self.width(t), self.area)
        return min(leads.shape(parse(refers)), Shape.PERHAPS)

    def area(self, token: Token) -> Area | None:
        """Return the cells that a token names, also by a name or a table."""
        word = token.body.lower()
        match token.kind:
            case "ref":
                return token.area
            case "name" if word in self.words.refers:
                inner = tokens(self.words.refers[word])
                is_plain = len(inner) == 1 and inner[0].kind in {"ref", "table"}
                return self.area(inner[0]) if is_plain else None
            case "name" if word in self.words.tables:
                return self.words.tables[word][1].data
            case "table" if word in self.words.tables:
                inside = token.text[len(token.body) :]
                return table_area(self.words.tables[word][1], inside, self.place[0])
        return None

    def holds_arrays(self, pieces: Iterable[Token]) -> bool:
        """Whether a formula gives names to ranges: such formulas are array formulas in Excel."""
        pieces = list(pieces)
        names = any(t.kind == "function" and t.body in _HOLD_ARRAYS for t in pieces)
        return names and any(self._is_wide(t) for t in pieces)

    def _is_wide(self, token: Token) -> bool:
        leads = token.kind == "function" and token.body in DYNAMIC
        return leads or token.text == "{" or self.width(token) > Shape.ONE

    def ambiguous(self, pieces: list[Token]) -> FormatError:
        """Return the refusal of a formula that gives one cell several values."""
        text = as_written(join(_without_at(pieces, wrapped=False)))
        wide = next((t.text for t in pieces if self.width(t) > Shape.ONE), "A1:A9")
        cell = cell_name(*self.place)
        call = {"cell": cell, "value": f"={text}", "type": "array_formula"}
        return self._refused(
            "the formula gives several values, and a cell shows one",
            [
                f"@{wide} means the cell of the same row or column",
                f"{json.dumps(call, ensure_ascii=False)} computes it "
                f'for all; a cell such as "{cell}:{cell_name(self.place[0] + 1, self.place[1])}" '
                "shows several",
            ],
        )


def _without_at(pieces: list[Token], *, wrapped: bool) -> list[Token]:
    """Take `@` out where a plain formula means it anyway; it is a function in all other places.

    These are array formulas, and arguments that take ranges: `SUM(@A1:A5)`.
    """
    out: list[Token] = []
    closing: dict[int, int] = {}
    calls: list[tuple[str, int]] = []  # the function around, and its present argument
    for index, token in enumerate(pieces):
        if token.kind == "function":
            calls.append((token.body, 0))
        elif token.kind == "open" or token.text == "{":
            calls.append(calls[-1] if calls else ("", 0))
        elif (token.kind == "close" or token.text == "}") and calls:
            calls.pop()
        elif token.kind == "separator" and calls:
            calls[-1] = (calls[-1][0], calls[-1][1] + 1)
        if token.kind == "operator" and token.text == "@":
            if wrapped or (calls and calls[-1][0] and _takes_range(*calls[-1])):
                out.append(replace(token, text="_xlfn.SINGLE("))
                end = _operand_end(pieces, index + 1)
                closing[end] = closing.get(end, 0) + 1
            continue
        more = ")" * closing.pop(index, 0)
        out.append(replace(token, text=token.text + more) if more else token)
    return out


def _takes_range(function: str, place: int) -> bool:
    signature = SIGNATURES.get(function)
    return signature is None or signature.takes(place) != "V"


def _operand_end(pieces: list[Token], at: int) -> int:
    """Return the place of the last token of the operand that begins here."""
    depth = 0
    for index in range(at, len(pieces)):
        kind = pieces[index].kind
        depth += {"function": 1, "open": 1, "close": -1}.get(kind, 0)
        if depth == 0 and kind not in {"space", "operator"}:
            return index
    return len(pieces) - 1
