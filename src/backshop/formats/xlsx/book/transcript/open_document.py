"""Spreadsheets of OpenDocument (.ods), read row by row from their one large part (F40.11)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from io import BytesIO

from lxml import etree

from backshop.formats.errors import fail
from backshop.formats.figure.plain import exact_text
from backshop.formats.package.guard import Archive, Element, parse_xml, scan
from backshop.formats.protocol import Source

from ...syntax.address import MAX_COL, MAX_ROW, Area
from . import open_number_format
from .ledger import Ledger, Page, Room
from .open_formula import plain_formula, plain_reference
from .open_look import Looks

_NS = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TABLE, _TEXT = (f"{{{_NS}{name}:1.0}}" for name in ("office", "table", "text"))
_STYLE = f"{{{_NS}style:1.0}}"
_CALC = "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}"
_ENCRYPTION = f"{{{_NS}manifest:1.0}}encryption-data"
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_ERROR = re.compile(r"#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A|SPILL!)|Err:\d{3}")
_DATE = re.compile(r"(-?\d{4,}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?Z?")
_DURATION = re.compile(
    r"(-?)P(?:(\d{1,6})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:[.,](\d+))?S)?)?"
)


_Held = tuple[str, str | None, str | None]  # kind, text and formula of a cell


def read_open_document(source: Source) -> Ledger:
    """Read a spreadsheet under the rules of F4.

    Raises:
        FormatError: `corrupt_file`, `encrypted_file`, `too_large`, and those of the guard.
    """
    archive = scan(source)
    _refuse_encrypted(archive)
    if "content.xml" not in archive.by_name:
        raise fail("corrupt_file", "the spreadsheet has no content")
    ledger = Ledger("ods", has_formulas=True)
    names = archive.by_name
    ledger.security = {
        "macros": any(name.startswith(("Basic/", "Scripts/")) for name in names),
        "embedded_objects": any(name.startswith("Object ") for name in names),
    }
    looks = Looks()
    if "styles.xml" in archive.by_name:
        looks.take(parse_xml(archive.read("styles.xml")))
    _Reader(ledger, looks).run(archive.read("content.xml"))
    ledger.codes, ledger.looks = looks.codes, looks.formats
    return ledger


def _refuse_encrypted(archive: Archive) -> None:
    manifest = archive.by_name.get("META-INF/manifest.xml")
    if manifest is None:
        return
    root = parse_xml(archive.read(manifest.name))
    if next(root.iter(_ENCRYPTION), None) is not None:
        raise fail("encrypted_file", "the file is protected by a password")


class _Reader:
    def __init__(self, ledger: Ledger, looks: Looks) -> None:
        self._ledger, self._looks = ledger, looks
        self._columns: list[tuple[int, str]] = []  # the last column of each run, and its look
        self._room = Room()
        self._hidden: set[str] = set()  # styles of sheets that are not shown
        self._page = Page("")
        self._row = 1
        self._formulas = 0

    def run(self, data: bytes) -> None:
        """Go through the part; of each row nothing is kept but its cells."""
        tags = [
            *(f"{_TABLE}{name}" for name in ("table", "table-row", "table-column", "named-range")),
            *(f"{_STYLE}style", *open_number_format.TAGS),
        ]
        events = etree.iterparse(
            BytesIO(data),
            events=("start", "end"),
            tag=tags,
            resolve_entities=False,
            load_dtd=False,
            no_network=True,
            huge_tree=False,
        )
        is_sheet = False
        try:
            for event, element in events:
                if event == "start":
                    if element.tag == f"{_TABLE}table" and _is_sheet(element):
                        is_sheet = True
                        self._begin(element)
                elif element.tag == f"{_TABLE}table" and _is_sheet(element):
                    is_sheet = False
                    element.clear()
                elif element.tag == f"{_TABLE}table-row" and is_sheet:
                    if _sheet_of(element):
                        self._take_row(element)
                        _forget(element)
                elif element.tag == f"{_TABLE}table-column" and is_sheet:
                    if _sheet_of(element):
                        self._note_columns(element)
                elif element.tag == f"{_STYLE}style":
                    self._note_style(element)
                    self._looks.note(element)
                elif element.tag in open_number_format.TAGS:
                    self._looks.note(element)
                elif element.tag == f"{_TABLE}named-range":
                    self._name(element)
        except etree.XMLSyntaxError as error:
            detail = f"{type(error).__name__}: line {getattr(error, 'lineno', None)}"
            raise fail("corrupt_file", "an XML part cannot be parsed", detail=detail) from error
        if not self._ledger.pages:
            raise fail("content_mismatch", "the document is no spreadsheet")

    def _note_style(self, element: Element) -> None:
        properties = element.find(f"{_STYLE}table-properties")
        if properties is not None and properties.get(f"{_TABLE}display") == "false":
            self._hidden.add(str(element.get(f"{_STYLE}name")))

    def _note_columns(self, element: Element) -> None:
        first = self._columns[-1][0] if self._columns else 0
        look = str(element.get(f"{_TABLE}default-cell-style-name") or "")
        self._columns.append((first + _count(element, "number-columns-repeated"), look))

    def _name(self, element: Element) -> None:
        name, refers = (element.get(f"{_TABLE}{key}") for key in ("name", "cell-range-address"))
        if name and refers:
            self._ledger.names.append((str(name), plain_reference(str(refers))))

    def _begin(self, element: Element) -> None:
        is_hidden = element.get(f"{_TABLE}style-name") in self._hidden
        self._page = Page(
            str(element.get(f"{_TABLE}name") or f"Sheet{len(self._ledger.pages) + 1}"),
            state="hidden" if is_hidden else "visible",
            is_protected=element.get(f"{_TABLE}protected") == "true",
        )
        self._ledger.pages.append(self._page)
        self._row = 1
        self._columns = []

    def _take_row(self, element: Element) -> None:
        repeated = _count(element, "number-rows-repeated")
        cells = list(self._cells(element))
        last = min(self._row + repeated - 1, MAX_ROW)
        if cells and last >= self._row:
            times = last - self._row + 1
            self._room.take(times * sum(min(cell[1], MAX_COL - cell[0] + 1) for cell in cells))
            for row in range(self._row, last + 1):
                for col, wide, style, (kind, text, formula) in cells:
                    for at in range(col, min(col + wide - 1, MAX_COL) + 1):
                        self._page.put(row, at, kind, text, style=style, formula=formula)
                        self._page.formulas += formula is not None
        self._row += repeated

    def _cells(self, row: Element) -> Iterator[tuple[int, int, int, _Held]]:
        """Yield the filled cells of a row: column, how many alike, look, and what they hold."""
        col, own = 1, row.get(f"{_TABLE}default-cell-style-name")
        for cell in row:
            if cell.tag not in _CELLS:
                continue
            wide = _count(cell, "number-columns-repeated")
            held = _held(cell)
            if held is not None and col <= MAX_COL:
                look = cell.get(f"{_TABLE}style-name") or own or self._column_look(col)
                yield col, wide, self._looks.number(str(look)), held
            self._note_merge(cell, col)
            col += wide

    def _column_look(self, col: int) -> str:
        at = bisect_left(self._columns, col, key=lambda run: run[0])
        return self._columns[at][1] if at < len(self._columns) else ""

    def _note_merge(self, cell: Element, col: int) -> None:
        high = _count(cell, "number-rows-spanned")
        wide = _count(cell, "number-columns-spanned")
        if high * wide > 1 and self._row <= MAX_ROW and col <= MAX_COL:
            bottom, right = min(self._row + high - 1, MAX_ROW), min(col + wide - 1, MAX_COL)
            self._page.merges.append(Area(self._row, col, bottom, right))


def _is_sheet(element: Element) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag == f"{_OFFICE}spreadsheet"


def _sheet_of(row: Element) -> bool:
    """Whether a row is one of the sheet, not of a table inside a cell."""
    table = next(row.iterancestors(f"{_TABLE}table"), None)
    return table is not None and _is_sheet(table)


def _forget(row: Element) -> None:
    """Let go of a row that was read and of what stands before it."""
    row.clear()
    parent = row.getparent()
    while parent is not None and row.getprevious() is not None:
        del parent[0]


def _count(element: Element, name: str) -> int:
    raw = element.get(f"{_TABLE}{name}")
    return max(int(raw), 1) if raw and raw.isdecimal() and len(raw) < 10 else 1


def _held(cell: Element) -> _Held | None:
    """Return kind, text and formula of a cell, None when it holds nothing."""
    written = cell.get(f"{_TABLE}formula")
    formula = None if written is None else plain_formula(str(written))
    kind = str(cell.get(f"{_OFFICE}value-type") or cell.get(f"{_CALC}value-type") or "")
    value = _value(cell, kind, is_formula=formula is not None)
    if value is None:
        return None if formula is None else ("n", None, formula)
    return (*value, formula)


def _value(cell: Element, kind: str, *, is_formula: bool) -> tuple[str, str] | None:
    if cell.get(f"{_CALC}value-type") == "error":
        return "e", _text(cell) or "#VALUE!"
    match kind:
        case "float" | "percentage" | "currency":
            return _number(cell)
        case "boolean":
            return "b", "1" if cell.get(f"{_OFFICE}boolean-value") == "true" else "0"
        case "date":
            return "d", _moment(str(cell.get(f"{_OFFICE}date-value") or ""))
        case "time":
            return "d", _elapsed(str(cell.get(f"{_OFFICE}time-value") or ""))
    given = cell.get(f"{_OFFICE}string-value")
    text = _text(cell) if given is None else str(given)
    if is_formula and _ERROR.fullmatch(text):
        return "e", text
    is_blank = is_formula and cell.find(f"{_TEXT}p") is not None
    if not text and not (is_blank or (is_formula and kind)):
        return None
    return "str", text


def _number(cell: Element) -> tuple[str, str] | None:
    raw = str(cell.get(f"{_OFFICE}value") or "")
    try:
        return "n", exact_text(float(raw))
    except ValueError:
        return ("str", raw) if raw else None


def _text(cell: Element) -> str:
    """Return what a cell shows: its paragraphs, not its note and drawings."""
    return "\n".join(_words(one) for one in cell if one.tag in _PARAGRAPHS)


def _words(paragraph: Element) -> str:
    pieces = [paragraph.text or ""]  # blanks stay, as LibreOffice shows them
    for element in paragraph:
        name = etree.QName(element).localname if isinstance(element.tag, str) else ""
        if name == "s":
            pieces.append(" " * min(_spaces(element), 32_767))
        elif name == "tab":
            pieces.append("\t")
        elif name == "line-break":
            pieces.append("\n")
        elif name not in {"", "annotation", "annotation-end", "frame", "ruby-text"}:
            pieces.append(_words(element))
        pieces.append(element.tail or "")
    return "".join(pieces)


def _spaces(element: Element) -> int:
    raw = str(element.get(f"{_TEXT}c") or "1")
    return int(raw) if raw.isdecimal() and len(raw) < 6 else 1


def _moment(raw: str) -> str:
    """Return a date as F8.10 writes it: without a time at midnight, to the millisecond."""
    found = _DATE.fullmatch(raw.strip())
    if found is None:
        return raw
    day, clock, seconds, fraction = found.groups()
    rest = _fraction(fraction)
    if clock is None or (clock == "00:00" and int(seconds or 0) == 0 and not rest):
        return str(day)
    return f"{day}T{clock}:{seconds or '00'}{rest}"


def _elapsed(raw: str) -> str:
    found = _DURATION.fullmatch(raw.strip())
    if found is None:
        return raw
    sign, days, hours, minutes, seconds, fraction = found.groups()
    total = (int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)
    total = total * 60 + int(seconds or 0)
    hour, rest = divmod(total, 3600)
    return f"{sign}{hour:02d}:{rest // 60:02d}:{rest % 60:02d}{_fraction(fraction)}"


def _fraction(digits: str | None) -> str:
    """Return the part of a second that F8.10 writes; a rounded whole one is left at .999."""
    ms = min(round(int((digits or "0")[:6].ljust(6, "0")) / 1000), 999)
    return f".{ms:03d}" if ms else ""
