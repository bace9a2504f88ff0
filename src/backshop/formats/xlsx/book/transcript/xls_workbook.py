"""Workbooks of Excel 5 to 2003 (.xls): a stream of records, sheet after sheet (F40.12)."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from backshop.formats.errors import FormatError, fail
from backshop.formats.package.compound import SIGNATURE, CompoundFile
from backshop.formats.protocol import Source

from ...syntax.address import Area
from . import biff_value
from .biff_stream import Record, Strings, records
from .biff_value import STATES, Held, rk_number
from .ledger import Ledger, Page, Room
from .parsed_formula import EXPANDED, Place, Scope, formula_text, sheet_span

_BOF, _EOF = 0x0809, 0x000A
_FILEPASS, _CODEPAGE, _DATEMODE = 0x002F, 0x0042, 0x0022
_BOUNDSHEET, _FORMAT, _XF, _SST = 0x0085, 0x041E, 0x00E0, 0x00FC
_FORMULA, _STRING, _LABEL, _RSTRING, _LABELSST = 0x0006, 0x0207, 0x0204, 0x00D6, 0x00FD
_NUMBER, _RK, _MULRK, _BOOLERR = 0x0203, 0x027E, 0x00BD, 0x0205
_MERGEDCELLS, _PROTECT = 0x00E5, 0x0012
_SUPBOOK, _EXTERNSHEET, _EXTERNNAME, _NAME = 0x01AE, 0x0017, 0x0023, 0x0018
_SHARED, _SPREAD = 0x04BC, 0x0221
_OWN_BOOK, _FUNCTIONS_BOOK = 0x0401, 0x3A01
_BUILT_IN_NAMES = {
    0: "Consolidate_Area",
    3: "Database",
    4: "Criteria",
    6: "Print_Area",
    7: "Print_Titles",
    12: "Data_Form",
    13: "_FilterDatabase",
}
_BIFF8, _BIFF5 = 0x0600, 0x0500
_BEFORE_5 = {0x0009, 0x0209, 0x0409}  # how sheets of Excel 2 to 4 begin
_CELL = struct.Struct("<HHH")
_NO_NUMBER = b"\xff\xff"  # in the last bytes of a result: the first says what it is
_KINDS = {0: "worksheet", 1: "macrosheet", 2: "chartsheet"}
_PAGES = {1200: "utf-16-le", 10000: "mac_roman", 32768: "mac_roman", 32769: "cp1252"}
_VBA = "_VBA_PROJECT_CUR"


def read_xls(source: Source) -> Ledger:
    """Read a workbook.

    Raises:
        FormatError: `corrupt_file`, `encrypted_file`, `unsupported_format` before Excel 5.
    """
    data = source.path.read_bytes()
    ledger = Ledger("xls", has_formulas=True)
    stream: bytes | None = data
    if data.startswith(SIGNATURE):
        file = CompoundFile(data)
        stream = file.read("Workbook") or file.read("Book")
        ledger.security["macros"] = _VBA in file.names
        if stream is None and "EncryptedPackage" in file.names:
            raise fail("encrypted_file", "the file is protected by a password")
    if stream is None:
        raise fail("content_mismatch", "the file holds no workbook")
    _Reader(ledger, stream).run()
    return ledger


@dataclass
class _Sheet:
    page: Page
    at: int


@dataclass
class _Reader:
    ledger: Ledger
    stream: bytes
    sheets: list[_Sheet] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    codec: str = "cp1252"
    is_wide: bool = True  # the texts of Excel 97 and later say how wide their letters are
    scope: Scope = field(default_factory=Scope)
    names: list[str] = field(default_factory=list)  # of all sheets, those without cells too
    books: list[list[str] | None] = field(default_factory=list)  # sheets of others, None: our own
    links: bytes = b""  # which sheets references outside mean
    outside: list[tuple[int, str]] = field(default_factory=list)
    room: Room = field(default_factory=Room)

    def run(self) -> None:
        self._globals()
        if not self.sheets:
            raise _damaged("it lists no sheets")
        self._link()
        for sheet in self.sheets:
            self.ledger.pages.append(sheet.page)
            if sheet.page.kind == "worksheet":
                _SheetReader(self, sheet.page).run(sheet.at)
            elif sheet.page.kind == "macrosheet":
                self.ledger.security["macros"] = True

    def _globals(self) -> None:
        found = records(self.stream, 0)
        first = next(found, None)
        if first is None or first.kind != _BOF or len(first.data) < 4:
            if first is not None and first.kind in _BEFORE_5:
                raise fail("unsupported_format", "workbooks of Excel before version 5 are not read")
            raise _damaged("it does not begin with a workbook")
        version = struct.unpack_from("<H", first.data)[0]
        if version not in (_BIFF8, _BIFF5):
            raise fail("unsupported_format", "workbooks of this version of Excel are not read")
        self.is_wide = self.ledger.has_formulas = version == _BIFF8
        for record in found:
            if record.kind == _EOF:
                return
            self._global(record)

    def _global(self, record: Record) -> None:
        data = record.data
        if record.kind == _FILEPASS:
            raise fail("encrypted_file", "the file is protected by a password")
        if record.kind == _CODEPAGE:
            self.codec = _codec(struct.unpack_from("<H", data)[0])
        elif record.kind == _DATEMODE:
            self.ledger.date_1904 = struct.unpack_from("<H", data)[0] == 1
        elif record.kind == _BOUNDSHEET:
            self._note_sheet(record)
        elif record.kind == _FORMAT:
            number = struct.unpack_from("<H", data)[0]
            code = self.text(record, 2) if self.is_wide else self.short(data, 2)
            self.ledger.codes[number] = code
        elif record.kind == _XF:
            self.ledger.looks.append(struct.unpack_from("<H", data, 2)[0])
        elif record.kind == _SST:
            self._read_strings(record)
        elif self.is_wide:
            self._note_named(record)

    def _note_named(self, record: Record) -> None:
        """Note what formulas name by numbers: names, other workbooks and their sheets."""
        data = record.data
        if record.kind == _SUPBOOK:
            count, mark = struct.unpack_from("<HH", data)
            if mark in (_OWN_BOOK, _FUNCTIONS_BOOK):
                self.books.append(None if mark == _OWN_BOOK else [])
            else:
                reader = Strings(record, 2)
                reader.string()
                self.books.append([reader.string() for _ in range(min(count, len(data)))])
        elif record.kind == _EXTERNSHEET:
            self.links = b"".join((data, *record.more))
        elif record.kind == _EXTERNNAME:
            self.outside.append((len(self.books) - 1, Strings(record, 6).string(1)))
        elif record.kind == _NAME:
            flags, _, length = struct.unpack_from("<HBB", data)
            name = Strings(record, 14).characters(length)
            is_built_in = flags & 0x20
            self.scope.names.append(
                _BUILT_IN_NAMES.get(ord(name[:1] or "\0"), name) if is_built_in else name
            )

    def _link(self) -> None:
        """Find out what the numbers of references outside mean."""
        if len(self.links) < 2:
            return
        for at in range(2, len(self.links) - 5, 6):
            book, first, last = struct.unpack_from("<Hhh", self.links, at)
            number = len(self.scope.sheets)
            own = book < len(self.books) and self.books[book] is None
            names = self.names if own else (self.books[book] if book < len(self.books) else None)
            said = sheet_span(names or [], first, last)
            if said is not None and not own:
                said = f"[{sum(one is not None for one in self.books[: book + 1])}]{said}"
            self.scope.sheets.append(said)
            mine = [name for owner, name in self.outside if owner == book]
            self.scope.outside.update({(number, n): name for n, name in enumerate(mine, 1)})

    def _note_sheet(self, record: Record) -> None:
        at, state, kind = struct.unpack_from("<IBB", record.data)
        name = Strings(record, 6).string(1) if self.is_wide else self.short(record.data, 6)
        self.names.append(name)
        if kind not in _KINDS:  # a module of Visual Basic, shown as a sheet by Excel 5
            self.ledger.security["macros"] = True
            return
        page = Page(name, STATES.get(state & 3, "visible"), _KINDS[kind])
        self.sheets.append(_Sheet(page, at))

    def _read_strings(self, record: Record) -> None:
        count = struct.unpack_from("<I", record.data, 4)[0]
        reader = Strings(record, 8)
        room = sum(map(len, (record.data, *record.more))) // 3  # the smallest has three bytes
        self.strings = [reader.string() for _ in range(min(count, room))]

    def text(self, record: Record, at: int) -> str:
        """Return a text with a length of two bytes."""
        if self.is_wide:
            return Strings(record, at).string()
        length = struct.unpack_from("<H", record.data, at)[0]
        raw = b"".join((record.data, *record.more))[at + 2 : at + 2 + length]
        return raw.decode(self.codec, "replace")

    def short(self, data: bytes, at: int) -> str:
        """Return a text of Excel 5 with a length of one byte."""
        return data[at + 1 : at + 1 + data[at]].decode(self.codec, "replace")


class _SheetReader:
    """Reads the cells of one sheet."""

    def __init__(self, book: _Reader, page: Page) -> None:
        self._book = book
        self._page = page
        self._awaited: tuple[int, ...] | None = None  # a formula whose text comes
        self._formula: tuple[bytes, bytes] | None = None  # that of the cell being read
        self._last: tuple[int, ...] = (0, 0)  # the cell with the last formula
        self._groups: dict[tuple[int, ...], tuple[bytes, bytes]] = {}
        self._members: list[tuple[tuple[int, ...], Held, tuple[int, int]]] = []

    def run(self, at: int) -> None:
        """Go through the records of the sheet, past the charts inside."""
        depth = 0
        for record in records(self._book.stream, at):
            if record.kind == _BOF:
                depth += 1
            elif record.kind == _EOF:
                depth -= 1
                if depth <= 0:
                    self._spell_out()
                    return
            elif depth == 0:
                raise _damaged("a sheet is not where the workbook says")
            elif depth == 1:
                self._record(record)
        raise _damaged("a sheet breaks off")

    def _record(self, record: Record) -> None:
        read = _READERS.get(record.kind)
        if read is not None:
            read(self, record)

    def put(self, place: tuple[int, ...], held: Held, formula: str | None = None) -> None:
        """Note a cell by row, column (from 0) and look; an empty text is none."""
        if held == ("str", "") and formula is None:
            return
        row, col, look = place
        self._book.room.take(1)
        self._page.put(row + 1, col + 1, *held, style=look, formula=formula)

    def shared(self, record: Record) -> None:
        """Read a cell that shows one of the texts of the workbook."""
        row, col, look, number = struct.unpack_from("<HHHI", record.data)
        strings = self._book.strings
        if number >= len(strings):
            raise _damaged("a cell shows a text that is not there")
        self.put((row, col, look), ("str", strings[number]))

    def label(self, record: Record) -> None:
        """Read a cell with a text of its own."""
        self.put(_CELL.unpack_from(record.data), ("str", self._book.text(record, 6)))

    def packed(self, record: Record) -> None:
        """Read a number of four bytes."""
        row, col, look, raw = struct.unpack_from("<HHHI", record.data)
        self.put((row, col, look), biff_value.number(rk_number(raw)))

    def many(self, record: Record) -> None:
        """Read such numbers side by side."""
        row, col = struct.unpack_from("<HH", record.data)
        for at in range(4, len(record.data) - 7, 6):
            look, raw = struct.unpack_from("<HI", record.data, at)
            self.put((row, col, look), biff_value.number(rk_number(raw)))
            col += 1

    def number(self, record: Record) -> None:
        """Read a number."""
        row, col, look, value = struct.unpack_from("<HHHd", record.data)
        self.put((row, col, look), biff_value.number(value))

    def truth_or_error(self, record: Record) -> None:
        """Read a truth value or an error."""
        value, is_error = struct.unpack_from("<BB", record.data, 6)
        held = biff_value.error(value) if is_error else biff_value.truth(value)
        self.put(_CELL.unpack_from(record.data), held)

    def formula(self, record: Record) -> None:
        """Read a formula and its result; a text comes in a record of its own."""
        data, place = record.data, _CELL.unpack_from(record.data)
        self._page.formulas += 1
        self._awaited = None
        self._last = place[:2]
        self._formula = _parsed(b"".join((data, *record.more)), 20) if self._is_told else None
        if data[12:14] != _NO_NUMBER:
            self._computed(place, biff_value.number(struct.unpack_from("<d", data, 6)[0]))
        elif data[6] == 0:
            self._awaited = place
        elif data[6] == 1:
            self._computed(place, biff_value.truth(data[8]))
        elif data[6] == 2:
            self._computed(place, biff_value.error(data[8]))
        else:
            self._computed(place, ("str", ""))

    def result(self, record: Record) -> None:
        """Read the text that a formula gave."""
        if self._awaited is not None:
            self._computed(self._awaited, ("str", self._book.text(record, 0)))
            self._awaited = None

    def group(self, record: Record) -> None:
        """Read a formula that several cells share or show; the first of them is before it."""
        start = 8 if record.kind == _SHARED else 12
        self._groups[self._last] = _parsed(b"".join((record.data, *record.more)), start)

    @property
    def _is_told(self) -> bool:
        return self._book.ledger.has_formulas

    def _computed(self, place: tuple[int, ...], held: Held) -> None:
        if self._formula is None:
            self.put(place, held)
            return
        tokens, extra = self._formula
        if tokens[:1] == bytes([EXPANDED]) and len(tokens) >= 5:
            row, col = struct.unpack_from("<HH", tokens, 1)
            self._members.append((place, held, (row, col)))
            return
        where = Place(place[0], place[1])
        self.put(place, held, formula_text(tokens, extra, self._book.scope, where))

    def _spell_out(self) -> None:
        """Give the cells whose formula stands elsewhere their own."""
        for place, held, first in self._members:
            tokens, extra = self._groups.get(first, (b"", b""))
            where = Place(place[0], place[1])
            self.put(place, held, formula_text(tokens, extra, self._book.scope, where))

    def protection(self, record: Record) -> None:
        """Read whether locked cells may not be changed."""
        self._page.is_protected = struct.unpack_from("<H", record.data)[0] != 0

    def merges(self, record: Record) -> None:
        """Read the merged ranges."""
        data = record.data
        count = struct.unpack_from("<H", data)[0]
        for at in range(2, min(2 + 8 * count, len(data) - 7), 8):
            top, bottom, left, right = struct.unpack_from("<HHHH", data, at)
            if top <= bottom and left <= right:
                self._page.merges.append(Area(top + 1, left + 1, bottom + 1, right + 1))


_READERS: dict[int, Callable[[_SheetReader, Record], None]] = {
    _LABELSST: _SheetReader.shared,
    _LABEL: _SheetReader.label,
    _RSTRING: _SheetReader.label,
    _RK: _SheetReader.packed,
    _MULRK: _SheetReader.many,
    _NUMBER: _SheetReader.number,
    _BOOLERR: _SheetReader.truth_or_error,
    _FORMULA: _SheetReader.formula,
    _STRING: _SheetReader.result,
    _SHARED: _SheetReader.group,
    _SPREAD: _SheetReader.group,
    _MERGEDCELLS: _SheetReader.merges,
    _PROTECT: _SheetReader.protection,
}


def _parsed(data: bytes, at: int) -> tuple[bytes, bytes]:
    """Return the tokens of a formula, whose length stands before them, and what is behind."""
    size = struct.unpack_from("<H", data, at)[0]
    return data[at + 2 : at + 2 + size], data[at + 2 + size :]


def _codec(page: int) -> str:
    name = _PAGES.get(page, f"cp{page}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


def _damaged(what: str) -> FormatError:
    return fail("corrupt_file", f"the workbook is damaged: {what}")
