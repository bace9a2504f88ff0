"""What one formula reads, and what keeps it from being computed at all (F24.2, F24.9)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ..book.sheet_xml import RawCell, RowSpan
from ..book.workbook import Book, DefinedName, Table, Value
from ..syntax.address import Area, parse_area
from ..syntax.formula import Token, tokens
from ..syntax.function import DYNAMIC, POSITIONAL, VOLATILE
from ..syntax.signature import SIGNATURES
from .distant_reference import Distance, distance

_PLAIN = re.compile(r"'(.)")
_SINGLE = re.compile(r"(?:[^\[\]',:]|'.)*")
_WORDS = frozenset({"true", "false"})
_LOCAL = ("_xlpm.", "_xlop.")  # names that LET and LAMBDA give
_OF_PLACES = frozenset({"AREAS", "COLUMN", "COLUMNS", "ISREF", "ROW", "ROWS", "SHEET"})
_LONGEST = 200_000  # characters of a formula with its names spelled out
_DEEPEST = 8  # names that stand for names
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
    formula: str  # as it stands in the file
    text: str  # as it is computed: names and table references spelled out
    areas: list[tuple[str, Area]]
    reads: list[tuple[str, Area]]  # of these, the ones whose values count: ROW(A1) reads nothing
    reason: str | None  # why it is not computed
    about: str  # the function or name the reason is about
    cached: bool
    raw: RawCell
    kind: str  # plain, fixed, dynamic (array formulas), shown (another's value), table
    area: Area | None = None  # the cells an array formula fills
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
        kind = _kind(cell)
        if reason is not None:
            found.note(reason, dynamic=True)
        elif kind == "table":
            found.note("data_table")
        out = self._spell(text, found, 0) if reason is None else ""
        distance_ = distance(out, sheet, self._value, self._known) if found.distant else None
        node = Node(
            found.place,
            text,
            out,
            found.areas,
            [area for area in found.areas if area not in found.placed],
            found.reason,
            found.about,
            not self.book.is_uncached(cell),
            cell,
            kind,
            parse_area(cell.formula.ref or "") if cell.formula else None,
            distance_,
        )
        if distance_ is not None and distance_.exact and distance_.areas is not None:
            node.areas = [*found.areas, *distance_.areas]
            node.reads = [*node.reads, *distance_.areas]
        return node

    def cell(self, sheet: str, row: int, col: int) -> RawCell | None:
        """Return a cell as the file has it; the rows of its sheet are gone through once."""
        xml = self.book.xml(self.book.sheet(sheet))
        if sheet not in self._spans:
            self._spans[sheet] = {span.number: span for span in xml.iter_rows()} if xml else {}
        span = self._spans[sheet].get(row)
        return next(iter(xml.cells(span, col, col)), None) if xml and span else None

    def _value(self, sheet: str, row: int, col: int) -> Value:
        """Return what a cell holds; a formula without stored result holds nothing to go by."""
        cell = self.cell(sheet, row, col)
        if cell is None:
            return Value("blank", "")
        return Value("error", "") if self.book.is_uncached(cell) else self.book.value(cell)

    def _known(self, name: str) -> str | None:
        return self.sheets.get(name.lower())

    def _spell(self, text: str, found: Found, depth: int) -> str:
        """Collect what a formula reads; return it with names and tables spelled as ranges."""
        out = []
        pieces = tokens(text)
        calls: list[str] = []
        for index, token in enumerate(pieces):
            before = len(found.areas)
            out.append(self.token(token, pieces, index, found, depth))
            if token.kind in {"function", "open"}:
                calls.append(token.body)
            elif token.kind == "close" and calls:
                calls.pop()
            elif calls and calls[-1] in _OF_PLACES:
                found.placed += found.areas[before:]
        spelled = "".join(out)
        if len(spelled) > _LONGEST:
            found.note("unsupported_syntax", dynamic=True)
            return ""
        return spelled

    def token(
        self, token: Token, pieces: tuple[Token, ...], index: int, found: Found, depth: int = 0
    ) -> str:
        """Note what one piece of a formula reads; return it spelled out."""
        match token.kind:
            case "ref":
                return self._ref(token, found)
            case "function":
                return self._call(token, found, depth)
            case "name":
                return self._name(token, found, depth)
            case "table":
                return self._table(token, found)
            case "bad" | "trim":
                found.note("unsupported_syntax", dynamic=True)
            case "operator" if token.text == "#":
                found.note("unsupported_syntax", dynamic=True)
            case "operator" if token.text == ":":  # what lies between is known by computing only
                found.dynamic = True
        return token.text

    def _call(self, token: Token, found: Found, depth: int) -> str:
        """Note a function; one that the workbook itself defines is spelled out."""
        item = None if token.body in SIGNATURES else self._item(token, found)
        if item is None or depth > _DEEPEST:
            _function(token, found)
            return f"{token.body}("
        return f"({self._spell(item.refers_to, found, depth + 1)})("

    def _item(self, token: Token, found: Found) -> DefinedName | None:
        word = token.text[:-1].lower()
        scope = self.index.get(found.place.sheet)
        return self.names.get((word, scope)) or self.names.get((word, None))

    def _ref(self, token: Token, found: Found) -> str:
        area = token.area
        if token.external or area is None:
            found.note("external_reference" if token.external else "unsupported_syntax")
            return token.text
        name = token.sheet or found.place.sheet
        known = self.sheets.get(name.lower())
        if known is not None:
            found.areas.append((known, area))
        elif between := self._between(name):
            found.areas.extend((one, area) for one in between)
            found.dynamic = True  # a sheet may come between them, or go
        else:
            found.note("unknown_sheet", dynamic=":" in name)
        return token.text

    def _between(self, name: str) -> list[str]:
        """Return the sheets of a range of sheets; none when one of its ends is not there."""
        ends = [self.index.get(self.sheets.get(end.lower(), "")) for end in name.split(":")]
        if len(ends) != 2 or None in ends:
            return []
        first, last = sorted(end for end in ends if end is not None)
        return [sheet.name for sheet in self.book.sheets[first : last + 1]]

    def _name(self, token: Token, found: Found, depth: int) -> str:
        if token.external:
            found.note("external_reference")
            return token.text
        word = token.body.lower()
        if token.sheet is None and (word in _WORDS or word.startswith(_LOCAL)):
            return token.text
        own = token.sheet == ""  # `[0]!Name`: a name of the workbook, whatever the sheet has
        scope = None if own else self.index.get(token.sheet or found.place.sheet)
        item = self.names.get((word, scope)) or self.names.get((word, None))
        if item is None and word in self.tables and token.sheet is None:
            sheet, table = self.tables[word]
            return self._area(sheet, table.data, found)
        if item is None or depth > _DEEPEST:
            found.note("unknown_name", about=token.body, dynamic=True)
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
    names = [name.strip().lower() for name in table.columns]
    is_whole = _PLAIN.sub(r"\1", inner).strip().lower() in names and not inner.startswith("#")
    single = (is_whole or _SINGLE.fullmatch(inner)) and not inner.startswith(("#", "["))
    parts = [(inner, "", "")] if single and inner else _PART.findall(inner)
    for bracketed, bare, colon in parts:
        word = _PLAIN.sub(r"\1", bracketed or bare).strip().lower()
        if colon:
            continue
        if bracketed.strip().startswith("#") or bare.startswith("#"):
            items.append(word)
        elif word in names:
            places.append(names.index(word))
        else:
            return None
    if len(items) > 2 or len(places) > 2:
        return None
    spans = [_table_rows(table, item, row) for item in items or ["#data"]]
    known = [span for span in spans if span is not None]
    is_odd = len(items) == 2 and ("#data" not in items or "#this row" in items)
    if len(known) < len(spans) or is_odd:
        return None
    rows = min(first for first, _ in known), max(last for _, last in known)
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
    about: str = ""  # the function or name the reason is about
    placed: list[tuple[str, Area]] = field(default_factory=list)  # only where they are counts
    dynamic: bool = False  # what it reads is not known before computing
    volatile: bool = False
    by_row: bool = False  # the same words mean other cells in another row
    distant: bool = False  # OFFSET or INDIRECT leads elsewhere
    positional: frozenset[str] = frozenset()  # row, column: its value tells where something is

    def note(
        self, reason: str, *, about: str = "", dynamic: bool = False, volatile: bool = False
    ) -> None:
        """Note why the value cannot be computed here."""
        if self.reason is None:
            self.reason, self.about = reason, about
        self.dynamic = self.dynamic or dynamic
        self.volatile = self.volatile or volatile


def _function(token: Token, found: Found) -> None:
    name = token.body
    if name in POSITIONAL:
        found.positional |= POSITIONAL[name]
    if name in VOLATILE:
        found.note("volatile", about=name, volatile=True)
    elif name in DYNAMIC:
        found.distant = True


def _kind(cell: RawCell) -> str:
    """Say how a cell comes to its value."""
    raw = cell.formula
    if raw is None:
        return "shown"
    if raw.kind == "array":
        return "dynamic" if cell.meta else "fixed"
    return "table" if raw.kind == "dataTable" else "plain"
