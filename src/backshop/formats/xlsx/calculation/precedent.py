"""What one formula reads, and whether its value can be trusted to the engine (F24.2, F24.9)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..book.sheet_xml import RawCell, RowSpan
from ..book.workbook import Book, DefinedName, Table, Value
from ..syntax.address import Area
from ..syntax.expression import Call, Part, Reading, Shape, parse
from ..syntax.formula import Token, join, tokens
from ..syntax.function import COMPUTED, DYNAMIC, RANGE_ARGUMENTS, TEXT_FORMATS, VOLATILE
from ..syntax.signature import SIGNATURES
from .distant_reference import Distance, distance

_SINGLE = re.compile(r"(?:[^\[\]',:]|'.)*")
_PART = re.compile(r"\[((?:[^\[\]']|'.)*)\]|([^\[\],:\s][^\[\],:]*)|(:)")


class Place(NamedTuple):
    """A cell of the workbook."""

    sheet: str
    row: int
    col: int


@dataclass(slots=True)
class Node:
    """A formula: what it reads, and why it cannot be computed, if so."""

    place: Place
    text: str  # as the engine gets it: names and table references spelled out
    areas: list[tuple[str, Area]]
    reason: str | None  # why its value cannot be trusted to the engine
    cached: bool
    raw: RawCell
    distance: Distance | None = None  # of a formula with OFFSET or INDIRECT


class Reader:
    """Reads the formulas of one workbook."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.sheets = {sheet.name.lower(): sheet.name for sheet in book.sheets}
        self.names: dict[tuple[str, int | None], DefinedName] = {
            (item.name.lower(), item.scope): item for item in book.names
        }
        self.index = {sheet.name: sheet.index for sheet in book.sheets}
        self._spans: dict[str, dict[int, RowSpan]] = {}  # of sheets whose cells were looked at
        self.tables = book.named_tables()

    def node(self, sheet: str, cell: RawCell, text: str, reason: str | None = None) -> Node:
        """Read one formula whole; with a `reason` not even that."""
        found = Found(Place(sheet, cell.row, cell.col))
        raw = cell.formula
        if reason is not None:
            found.note(reason, dynamic=True)
        elif raw is None or raw.kind not in {"normal", "shared"}:  # none: it shows another's value
            found.note("array_formula")
        out = self._spell(text, found, 0) if reason is None else ""
        cached = not self.book.is_uncached(cell)
        distance_ = distance(out, sheet, self._value, self._known) if found.distant else None
        node = Node(found.place, out, found.areas, found.reason, cached, cell, distance_)
        if distance_ is not None and distance_.exact and distance_.areas is not None:
            node.text = distance_.text
            node.areas = [*found.areas, *distance_.areas]
        return node

    def _value(self, sheet: str, row: int, col: int) -> Value:
        """Return what a cell holds; a formula without stored result holds nothing to go by."""
        xml = self.book.xml(self.book.sheet(sheet))
        if sheet not in self._spans:
            self._spans[sheet] = {span.number: span for span in xml.iter_rows()} if xml else {}
        span = self._spans[sheet].get(row)
        cell = next(iter(xml.cells(span, col, col)), None) if xml and span else None
        if cell is None:
            return Value("blank", "")
        return Value("error", "") if self.book.is_uncached(cell) else self.book.value(cell)

    def _known(self, name: str) -> str | None:
        return self.sheets.get(name.lower())

    def _spell(self, text: str, found: Found, depth: int) -> str:
        """Collect what a formula reads; return it with names and tables spelled as ranges."""
        out = []
        pieces = tokens(text)
        for index, token in enumerate(pieces):
            out.append(self.token(token, pieces, index, found, depth))
        return "".join(out)

    def token(
        self, token: Token, pieces: tuple[Token, ...], index: int, found: Found, depth: int = 0
    ) -> str:
        """Note what one piece of a formula reads; return it spelled out."""
        match token.kind:
            case "ref":
                return self._ref(token, found)
            case "function":
                _function(token, pieces, index, found)
                return f"{token.body}("
            case "name":
                return self._name(token, found, depth)
            case "table":
                return self._table(token, found)
            case "bad" | "trim" | "brace":
                found.note("unsupported_syntax", dynamic=token.kind != "brace")
            case "operator" if token.text in "#@:":
                found.note("unsupported_syntax", dynamic=token.text != "@")
            case "space" if 0 < index < len(pieces) - 1 and _is_operand(pieces, index):
                found.note("unsupported_syntax")
        return token.text

    def _ref(self, token: Token, found: Found) -> str:
        area = token.area
        if token.external or area is None:
            found.note("external_reference" if token.external else "unsupported_syntax")
            return token.text
        name = token.sheet or found.place.sheet
        known = self.sheets.get(name.lower())
        if known is None:
            dynamic = ":" in name  # a range of sheets
            found.note("unsupported_syntax" if dynamic else "unknown_sheet", dynamic=dynamic)
            return token.text
        found.areas.append((known, area))
        return token.text

    def _name(self, token: Token, found: Found, depth: int) -> str:
        if token.external:
            found.note("external_reference")
            return token.text
        if token.body.upper() in {"TRUE", "FALSE"} and token.sheet is None:
            return token.text
        word = token.body.lower()
        own = token.sheet == ""  # `[0]!Name`: a name of the workbook, whatever the sheet has
        scope = None if own else self.index.get(token.sheet or found.place.sheet)
        item = self.names.get((word, scope)) or self.names.get((word, None))
        if item is None and word in self.tables and token.sheet is None:
            sheet, table = self.tables[word]
            return self._area(sheet, table.data, found)
        if item is None or depth > 8:
            found.note("unknown_name", dynamic=True)
            return token.text
        pieces = tokens(item.refers_to)
        if any(t.kind == "ref" and "$" not in t.body for t in pieces):
            found.note("relative_name", dynamic=True)
        if any(t.kind == "error" for t in pieces):  # what it led to may be gone since just now
            found.dynamic = True
        return f"({self._spell(item.refers_to, found, depth + 1)})"

    def _table(self, token: Token, found: Found) -> str:
        """Spell a structured reference as a range; depend on the whole table when it is odd."""
        inside = token.text[len(token.body) :].lower()
        found.by_row |= not token.body or "@" in inside or "#this row" in inside
        word = token.body.lower() or self._table_at(found.place)
        if word not in self.tables:
            found.note("unknown_name", dynamic=True)
            return token.text
        sheet, table = self.tables[word]
        area = table_area(table, token.text[len(token.body) :], found.place.row)
        if area is None:
            found.areas.append((sheet, table.area))
            found.note("table_reference")
            return token.text
        return self._area(sheet, area, found)

    def _table_at(self, place: Place) -> str:
        for word, (sheet, table) in self.tables.items():
            if sheet == place.sheet and table.area.has(place.row, place.col):
                return word
        return ""

    def _area(self, sheet: str, area: Area, found: Found) -> str:
        found.areas.append((sheet, area))
        quoted = sheet.replace("'", "''")
        return f"'{quoted}'!{area}"


def table_area(table: Table, inside: str, row: int) -> Area | None:
    """Return the range that `[…]` of a structured reference means in a given row."""
    inner = inside[1:-1].strip()
    items = []
    if inner.startswith("@"):
        items, inner = ["#this row"], inner[1:]
    places: list[int] = []
    names = [name.lower() for name in table.columns]
    single = _SINGLE.fullmatch(inner) and not inner.startswith("#")
    parts = [(inner, "", "")] if single and inner else _PART.findall(inner)
    for bracketed, bare, colon in parts:
        word = re.sub(r"'(.)", r"\1", bracketed or bare).strip().lower()
        if colon:
            continue
        if word.startswith("#"):
            items.append(word)
        elif word in names:
            places.append(names.index(word))
        else:
            return None
    if len(items) > 1 or len(places) > 2:
        return None
    rows = _table_rows(table, items[0] if items else "#data", row)
    if rows is None:
        return None
    first, last = (min(places), max(places)) if places else (0, table.area.width - 1)
    return Area(rows[0], table.area.col1 + first, rows[1], table.area.col1 + last)


def _table_rows(table: Table, item: str, row: int) -> tuple[int, int] | None:
    area, data = table.area, table.data
    match item:
        case "#data":
            return data.row1, data.row2
        case "#all":
            return area.row1, area.row2
        case "#headers" if table.header_rows:
            return area.row1, area.row1 + table.header_rows - 1
        case "#totals" if table.totals_rows:
            return area.row2 - table.totals_rows + 1, area.row2
        case "#this row" if data.row1 <= row <= data.row2:
            return row, row
    return None


@dataclass(slots=True)
class Found:
    """What was found in a formula so far."""

    place: Place
    areas: list[tuple[str, Area]] = field(default_factory=list)
    reason: str | None = None
    dynamic: bool = False  # what it reads is not known before computing
    volatile: bool = False
    by_row: bool = False  # the same words mean other cells in another row
    distant: bool = False  # OFFSET or INDIRECT leads elsewhere

    def note(self, reason: str, *, dynamic: bool = False, volatile: bool = False) -> None:
        """Note why the value cannot be computed here."""
        self.reason = self.reason or reason
        self.dynamic = self.dynamic or dynamic
        self.volatile = self.volatile or volatile


def _function(token: Token, pieces: tuple[Token, ...], index: int, found: Found) -> None:
    name = token.body
    if name in VOLATILE:
        found.note("volatile", volatile=True)
    elif name in DYNAMIC:
        found.distant = True
        found.note("dynamic_reference")
    elif name == "TEXT":
        last = next((t for t in pieces[index:] if t.kind == "close"), None)
        before = pieces[pieces.index(last) - 1] if last else None
        if before is None or before.kind != "string" or before.text[1:-1] not in TEXT_FORMATS:
            found.note("unknown_function")
    elif name not in COMPUTED:
        found.note("unknown_function")


def _is_operand(pieces: tuple[Token, ...], index: int) -> bool:
    """Whether a space stands between two references: their intersection."""
    solid = {"ref", "name", "table"}
    return pieces[index - 1].kind in solid and pieces[index + 1].kind in solid


def misused(text: str) -> str | None:
    """Say why the engine is not asked: a range where one value belongs, a wrong number of values.

    The engine does not take ranges value by value as Excel does and answers wrongly without a
    word, and old and new Excel differ there. A range may only stand as an argument that is meant
    for one, of a function that was compared with spreadsheets.
    """
    reading = Reading(_width)
    parts = parse(text)
    if reading.shape(parts) >= Shape.PERHAPS or reading.needs_array:
        return "array_context"
    return _misplaced(parts, None, 0)


def _width(token: Token) -> Shape:
    area = token.area
    return Shape.RANGE if area and area.count > 1 else Shape.ONE


def _misplaced(parts: Sequence[Part], call: Call | None, place: int) -> str | None:
    """Look for ranges outside the arguments that take them, through groups and operators."""
    for part in parts:
        if isinstance(part, Token):
            takes = SIGNATURES[call.name].takes(place) if call and call.name in SIGNATURES else "V"
            taken = call is not None and call.name in RANGE_ARGUMENTS and takes != "V"
            if not taken and _width(part) > Shape.ONE:
                return "array_context"
            continue
        is_group = part.name == "("
        counted = SIGNATURES.get(part.name)
        count = 0 if part.arguments == [[]] else len(part.arguments)
        if counted is not None and not counted.least <= count <= counted.most:
            return "unknown_function"
        for index, argument in enumerate(part.arguments):
            inner = (call, place) if is_group else (part, index)
            reason = _misplaced(argument, *inner)
            if reason:
                return reason
    return None


def spelled(node: Node) -> str:
    """Return the formula the engine computes."""
    return "=" + join(tokens(node.text))
