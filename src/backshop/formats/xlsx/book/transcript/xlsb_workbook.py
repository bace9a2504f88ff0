"""Binary workbooks of Excel 2007 and later (.xlsb): a package whose parts are records (F40.12)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from backshop.formats.errors import FormatError, fail
from backshop.formats.package.package import Package
from backshop.formats.protocol import Source

from ...syntax.address import Area
from ..workbook import SHEET_KINDS
from . import biff_value
from .biff_value import STATES, Held, rk_number
from .ledger import Ledger, Page, Room
from .parsed_formula import EXPANDED, Place, Scope, formula_text, sheet_span

_ROW = 0
_RK, _ERROR, _TRUTH, _REAL, _TEXT, _SHARED = 2, 3, 4, 5, 6, 7
_F_TEXT, _F_NUMBER, _F_TRUTH, _F_ERROR, _RICH = 8, 9, 10, 11, 62
_STRING, _FORMAT, _XF, _XFS, _XFS_END = 19, 44, 47, 617, 618
_WORKBOOK, _SHEET, _MERGE, _PROTECTION = 153, 156, 176, 535
_NAME, _EXTERNSHEET, _OWN_BOOK, _SAME_BOOK, _OTHER_BOOK, _FUNCTIONS_BOOK = (
    39,
    362,
    357,
    358,
    355,
    667,
)
_SPREAD, _SHARED_FORMULA = 426, 427
_CELL = struct.Struct("<II")
_LOOK = 0xFFFFFF  # the look of a cell has three bytes


def read_xlsb(source: Source) -> Ledger:
    """Read a workbook under the rules of F4.

    Raises:
        FormatError: `corrupt_file`, and those of the guard.
    """
    package = Package.open(source)
    part = next(
        (r.part for r in package.rels("") if r.type.endswith("/officeDocument") and r.part), None
    )
    found = package.find(part) if part else package.find("xl/workbook.bin")
    if found is None:
        raise fail("content_mismatch", "the package holds no workbook")
    ledger = Ledger("xlsb", has_formulas=True)
    names = [name.lower() for name in package.names]
    ledger.security = {
        "macros": package.has_macros or any("macrosheets/" in name for name in names),
        "external_links": any("externallinks/" in name for name in names),
        "embedded_objects": any("embeddings/" in name or "activex/" in name for name in names),
    }
    _Reader(ledger, package, found).run()
    return ledger


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Go through the records of a part: their numbers and their data."""
    at, size = 0, len(data)
    while at < size:
        kind = data[at]
        at += 1
        if kind & 0x80:
            kind = kind & 0x7F | (data[at] & 0x7F) << 7
            at += 1
        length = shift = 0
        while shift < 28:
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        if at + length > size:
            raise _damaged("a record breaks off")
        yield kind, data[at : at + length]
        at += length


def wide_string(data: bytes, at: int) -> tuple[str, int]:
    """Return a text and where it ends; a missing one is empty."""
    count = struct.unpack_from("<I", data, at)[0]
    at += 4
    if count == 0xFFFFFFFF:
        return "", at
    end = at + 2 * count
    if end > len(data):
        raise _damaged("a text breaks off")
    return data[at:end].decode("utf-16-le", "surrogatepass"), end


class _Reader:
    def __init__(self, ledger: Ledger, package: Package, part: str) -> None:
        self._ledger = ledger
        self._package = package
        self._part = part
        self._strings: list[str] = []
        self._room = Room()
        self._scope = Scope(is_wide=True)
        self._books: list[bool] = []  # whether each that formulas name is this one
        self._links = b""

    def run(self) -> None:
        """Read the workbook, then what its sheets share, then its sheets."""
        sheets = list(self._sheets())
        if not sheets:
            raise _damaged("it lists no sheets")
        self._link([page.name for page, _ in sheets])
        self._read_styles()
        if data := self._related("sharedStrings"):
            self._strings = [
                wide_string(record, 1)[0] for kind, record in records(data) if kind == _STRING
            ]
        for page, part in sheets:
            self._ledger.pages.append(page)
            if page.kind == "worksheet" and part is not None:
                reader = _SheetReader(page, self._strings, self._room, self._scope)
                reader.run(self._package.read(part))

    def _sheets(self) -> Iterator[tuple[Page, str | None]]:
        rels = {rel.id: rel for rel in self._package.rels(self._part)}
        for kind, data in records(self._package.read(self._part)):
            if kind == _WORKBOOK:
                self._ledger.date_1904 = bool(data[0] & 1)
            elif kind == _NAME:
                self._scope.names.append(wide_string(data, 9)[0])
            elif kind in (_OWN_BOOK, _SAME_BOOK, _OTHER_BOOK, _FUNCTIONS_BOOK):
                self._books.append(kind in (_OWN_BOOK, _SAME_BOOK))
            elif kind == _EXTERNSHEET:
                self._links = data
            elif kind == _SHEET:
                state = struct.unpack_from("<I", data)[0]
                rel_id, at = wide_string(data, 8)
                name = wide_string(data, at)[0]
                rel = rels.get(rel_id)
                word = rel.type.rpartition("/")[2] if rel else "worksheet"
                part = self._package.find(rel.part) if rel and rel.part else None
                sheet_kind = SHEET_KINDS.get(word, "worksheet")
                shown = STATES.get(state, "visible")
                yield Page(name, shown, sheet_kind), part

    def _link(self, names: list[str]) -> None:
        """Find out which sheets the numbers of references outside mean."""
        for at in range(4, len(self._links) - 11, 12):
            book, first, last = struct.unpack_from("<Iii", self._links, at)
            own = book < len(self._books) and self._books[book]
            self._scope.sheets.append(sheet_span(names, first, last) if own else None)

    def _related(self, kind: str) -> bytes:
        for rel in self._package.rels(self._part):
            part = self._package.find(rel.part) if rel.part else None
            if part is not None and rel.type.rpartition("/")[2] == kind:
                return self._package.read(part)
        return b""

    def _read_styles(self) -> None:
        of_cells = False
        for kind, data in records(self._related("styles")):
            if kind == _FORMAT:
                self._ledger.codes[struct.unpack_from("<H", data)[0]] = wide_string(data, 2)[0]
            elif kind in (_XFS, _XFS_END):
                of_cells = kind == _XFS
            elif kind == _XF and of_cells:
                self._ledger.looks.append(struct.unpack_from("<H", data, 2)[0])


class _SheetReader:
    """Reads the cells of one sheet."""

    def __init__(self, page: Page, strings: list[str], room: Room, scope: Scope) -> None:
        self._page = page
        self._strings = strings
        self._room = room
        self._scope = scope
        self._last = (0, 0)  # the cell with the last formula
        self._groups: dict[tuple[int, int], tuple[bytes, bytes]] = {}
        self._members: list[tuple[Place, int, Held, tuple[int, int]]] = []

    def run(self, data: bytes) -> None:
        """Go through the records of the sheet."""
        row = 0
        for kind, record in records(data):
            if kind == _ROW:
                row = struct.unpack_from("<I", record)[0] + 1
            elif kind in _HELD:
                self._put(row, kind, record)
            elif kind == _MERGE:
                self._merge(record)
            elif kind == _PROTECTION:
                self._page.is_protected = struct.unpack_from("<H", record, 2)[0] != 0
            elif kind in (_SPREAD, _SHARED_FORMULA):
                self._groups[self._last] = _parsed(record, 17 if kind == _SPREAD else 16)
        for place, look, held, first in self._members:
            tokens, extra = self._groups.get(first, (b"", b""))
            self._note(place, look, held, formula_text(tokens, extra, self._scope, place))

    def _put(self, row: int, kind: int, record: bytes) -> None:
        col, look = _CELL.unpack_from(record)
        held = _HELD[kind](record)
        place = Place(row - 1, col)
        if kind in _FORMULAS:
            self._formula(place, look, held, record, kind)
            return
        if kind == _SHARED:
            held = ("str", self._shared(held[1]))
        if held != ("str", ""):
            self._note(place, look, held, None)

    def _note(self, place: Place, look: int, held: Held, formula: str | None) -> None:
        self._room.take(1)
        style = look & _LOOK
        self._page.put(place.row + 1, place.col + 1, *held, style=style, formula=formula)

    def _formula(self, place: Place, look: int, held: Held, record: bytes, kind: int) -> None:
        self._page.formulas += 1
        self._last = (place.row, place.col)
        at = wide_string(record, 8)[1] if kind == _F_TEXT else 16 if kind == _F_NUMBER else 9
        tokens, extra = _parsed(record, at + 2)
        if tokens[:1] == bytes([EXPANDED]) and len(tokens) >= 5 and len(extra) >= 8:
            first = (*struct.unpack_from("<I", tokens, 1), *struct.unpack_from("<I", extra, 4))
            self._members.append((place, look, held, (first[0], first[1])))
            return
        behind = extra[4:]
        self._note(place, look, held, formula_text(tokens, behind, self._scope, place))

    def _shared(self, number: str) -> str:
        if int(number) >= len(self._strings):
            raise _damaged("a cell shows a text that is not there")
        return self._strings[int(number)]

    def _merge(self, record: bytes) -> None:
        top, bottom, left, right = struct.unpack_from("<IIII", record)
        if top <= bottom and left <= right:
            self._page.merges.append(Area(top + 1, left + 1, bottom + 1, right + 1))


def _real(record: bytes) -> Held:
    return biff_value.number(struct.unpack_from("<d", record, 8)[0])


def _packed(record: bytes) -> Held:
    return biff_value.number(rk_number(struct.unpack_from("<I", record, 8)[0]))


_HELD: dict[int, Callable[[bytes], Held]] = {
    _RK: _packed,
    _ERROR: lambda record: biff_value.error(record[8]),
    _TRUTH: lambda record: biff_value.truth(record[8]),
    _REAL: _real,
    _TEXT: lambda record: ("str", wide_string(record, 8)[0]),
    _SHARED: lambda record: ("str", str(struct.unpack_from("<I", record, 8)[0])),
    _F_TEXT: lambda record: ("str", wide_string(record, 8)[0]),
    _F_NUMBER: _real,
    _F_TRUTH: lambda record: biff_value.truth(record[8]),
    _F_ERROR: lambda record: biff_value.error(record[8]),
    _RICH: lambda record: ("str", wide_string(record, 9)[0]),
}
_FORMULAS = frozenset((_F_TEXT, _F_NUMBER, _F_TRUTH, _F_ERROR))


def _parsed(data: bytes, at: int) -> tuple[bytes, bytes]:
    """Return the tokens of a formula, whose length stands before them, and what is behind."""
    size = struct.unpack_from("<I", data, at)[0]
    return data[at + 4 : at + 4 + size], data[at + 4 + size :]


def _damaged(what: str) -> FormatError:
    return fail("corrupt_file", f"the workbook is damaged: {what}")
