"""A workbook being looked at: its sheets, strings, formats and names, loaded when asked for."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, overload

from lxml import etree

from backshop.base.system.mapped_bytes import Content, MappedBytes
from backshop.formats.errors import MAX_HINTS, fail
from backshop.formats.figure.plain import exact_text, plain_text
from backshop.formats.package.package import Package
from backshop.formats.write.operation import nearest

from ..syntax.address import Area, parse_area
from ..syntax.formula import shift
from . import number_format
from .origin import Origin
from .piece import pieces
from .plain import plain_xml
from .sheet_xml import Grammar, RawCell, SheetXml, grammar, rich_text
from .table_text import header_text

_SI = re.compile(rb"<((?:[A-Za-z_][\w.\-]*:)?)sst\b")
_BLANK = re.compile(
    rb">\s*</(?:[\w.\-]+:)?t\s*>|<(?:[\w.\-]+:)?(?:t|si)(?:\s[^>]*)?/>|<(?:[\w.\-]+:)?si>\s*</"
)
_STRICT = "http://purl.oclc.org/ooxml/"
_LOOSE = re.compile(r"http://schemas\.openxmlformats\.org/(spreadsheetml|officeDocument)/2006/")
SHEET_KINDS = {
    "worksheet": "worksheet",
    "chartsheet": "chartsheet",
    "dialogsheet": "dialogsheet",
    "xlMacrosheet": "macrosheet",
    "xlIntlMacrosheet": "macrosheet",
}
_STRINGS_KEPT = 200_000  # of those that were asked for
HISTORY = "history"  # a name Excel keeps for itself


@dataclass(frozen=True, slots=True)
class Sheet:
    """One line of the workbook's list of sheets. `part` is None when it leads nowhere."""

    name: str
    index: int
    state: str  # visible, hidden, veryHidden
    kind: str  # worksheet, chartsheet, dialogsheet, macrosheet
    part: str | None
    rel_id: str


@dataclass(frozen=True, slots=True)
class Table:
    """A named table of a sheet."""

    name: str
    area: Area
    columns: tuple[str, ...]
    header_rows: int
    totals_rows: int
    part: str

    @property
    def data(self) -> Area:
        """The rows between header and totals."""
        last = self.area.row2 - self.totals_rows
        first = min(self.area.row1 + self.header_rows, last)
        return Area(first, self.area.col1, last, self.area.col2)


@dataclass(frozen=True, slots=True)
class DefinedName:
    """A name of the workbook, or of one sheet (`scope` is its index)."""

    name: str
    refers_to: str
    scope: int | None
    hidden: bool
    comment: str = ""


class Value(NamedTuple):
    """What a cell holds: `kind` blank, number, string, boolean, date or error.

    `text` has every digit of a number: what is compared and carried on.
    """

    kind: str
    text: str
    number: float | None = None

    @property
    def seen(self) -> str:
        """What people and models read of it (F8.10)."""
        if self.kind == "number" and self.number is not None:
            return plain_text(self.number)
        return self.text


BLANK = Value("blank", "")


def local(element: etree._Element) -> str:
    """Return an element's name without namespace, empty for comments."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def children(element: etree._Element | None, name: str) -> list[etree._Element]:
    """Return the children with this local name, in any namespace."""
    return [] if element is None else [child for child in element if local(child) == name]


def child(element: etree._Element | None, name: str) -> etree._Element | None:
    """Return the first child with this local name, or None."""
    return next(iter(children(element, name)), None)


def like(parent: etree._Element, name: str) -> str:
    """Return a tag in the namespace of `parent`."""
    namespace = etree.QName(parent).namespace
    return f"{{{namespace}}}{name}" if namespace else name


def rel_id(element: etree._Element) -> str | None:
    """Return the relationship id of an element, whichever edition of the namespace it uses."""
    for key, value in element.attrib.items():
        name = etree.QName(str(key))
        if name.localname == "id" and name.namespace and name.namespace.endswith("relationships"):
            return str(value)
    return None


def truth(value: str | None, default: bool = False) -> bool:
    """Read a boolean attribute."""
    return default if value is None else value.strip().lower() in {"1", "true", "on"}


class Strings:
    """The shared strings, kept as bytes until one is asked for."""

    def __init__(self, data: Content) -> None:
        data = plain_xml(data) if data else b""
        root = _SI.search(data)
        self._words = grammar(root[1] if root else b"")
        self._raw = _elements(data, self._words.prefix)
        self._done: dict[int, str] = {}
        ending = b"</" + self._words.prefix + b"t"
        hints = [before + ending for before in (b">", b" ", b"\n", b"\t", b"\r")]
        hints.append(b"/>")  # cheap to look for, and usually absent
        self._has_blank = any(hint in data for hint in hints) and _has_blank(data, self.prefix)

    def __len__(self) -> int:
        return len(self._raw)

    def get(self, index: str | None) -> str | None:
        """Return the string of a cell's `<v>`, None when there is none."""
        if index is None or not index.strip().isdigit():
            return None
        number = int(index)
        if number >= len(self._raw):
            return None
        found = self._done.get(number)
        if found is None:
            found = rich_text(self._raw[number], self._words)
            if len(self._done) < _STRINGS_KEPT:
                self._done[number] = found
        return found

    def raw(self, index: str) -> bytes:
        """Return what stands in the element of a string, nothing when there is none."""
        number = int(index) if index.strip().isdigit() else len(self._raw)
        return self._raw[number] if number < len(self._raw) else b""

    @property
    def prefix(self) -> bytes:
        """The prefix of the elements in it (`x:`), nothing without one."""
        return self._words.prefix

    def has_runs(self, index: str) -> bool:
        """Whether a string has pieces of different looks, or phonetic hints."""
        number = int(index) if index.strip().isdigit() else len(self._raw)
        return number < len(self._raw) and _has_runs(self._raw[number], self._words)

    @cached_property
    def blank(self) -> frozenset[int]:
        """The indexes of strings that are empty or only white space."""
        if not self._has_blank:
            return frozenset()
        return frozenset(
            number
            for number, raw in enumerate(self._raw)
            if not rich_text(raw, self._words).strip()
        )


class _Spans(Sequence[bytes]):
    """Elements of a part on the disk, by their places."""

    def __init__(self, data: MappedBytes, prefix: bytes, pattern: re.Pattern[bytes]) -> None:
        self._data = data
        self._starts, self._ends = array("Q"), array("Q")
        for at, piece in pieces(data, b"<" + prefix + b"si", 0, len(data)):
            for found in pattern.finditer(piece):
                start, end = found.span(1) if found[1] is not None else (0, 0)
                self._starts.append(at + start)
                self._ends.append(at + end)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        return self._data[self._starts[index] : self._ends[index]]


def _elements(data: Content, prefix: bytes) -> Sequence[bytes]:
    """Return what stands in each element of the list."""
    p = re.escape(prefix)
    pattern = re.compile(rb"<%ssi(?:\s[^>]*)?(?:/>|>(.*?)</%ssi\s*>)" % (p, p), re.S)
    if isinstance(data, MappedBytes):
        return _Spans(data, prefix, pattern)
    opening, closing = b"<%ssi>" % prefix, b"</%ssi>" % prefix
    first, last = data.find(opening), data.rfind(closing)
    if 0 <= first < last:  # usually one stands right behind another: found at the speed of bytes
        found = data[first + len(opening) : last].split(closing + opening)
        if len(found) == data.count(opening[:-1]):
            return found
    return pattern.findall(data)


def _has_blank(data: Content, prefix: bytes) -> bool:
    whole = pieces(data, b"<" + prefix + b"si", 0, len(data))
    return any(_BLANK.search(piece) for _, piece in whole)


def _has_runs(raw: bytes, words: Grammar) -> bool:
    marks = (b"<" + words.prefix + name for name in (b"r>", b"r ", b"rPh"))
    return any(mark in raw for mark in marks)


class Formats:
    """The number format of every cell style."""

    def __init__(self, root: etree._Element | None) -> None:
        self.codes = dict(number_format.IMPLIED)
        for item in children(child(root, "numFmts"), "numFmt"):
            number = item.get("numFmtId") or ""
            if number.isdigit():
                self.codes[int(number)] = item.get("formatCode") or number_format.GENERAL
        self._ids = [_number(xf.get("numFmtId")) for xf in children(child(root, "cellXfs"), "xf")]
        self._known: dict[int, tuple[str, bool]] = {}

    def of(self, style: int) -> tuple[str, bool]:
        """Return the format code of a cell style and whether it shows dates."""
        if style not in self._known:
            number = self._ids[style] if style < len(self._ids) else 0
            code = self.codes.get(number, number_format.GENERAL)
            self._known[style] = (code, number_format.is_date(number, code))
        return self._known[style]


class Book:
    """An open workbook. It sees the package as it is now; call `forget` after changing parts."""

    def __init__(
        self, package: Package, *, strings_of: Book | None = None, origin: Origin | None = None
    ) -> None:
        self.package = package
        self.origin = origin  # of a workbook that is read from another format
        self._strings_of = strings_of  # another state of this package; its strings are the same
        part = next(
            (r.part for r in package.rels("") if r.type.endswith("/officeDocument") and r.part),
            None,
        )
        found = package.find(part) if part else package.find("xl/workbook.xml")
        if found is None:
            raise fail("corrupt_file", "the package has no workbook part")
        self.part = found
        self._sheets: dict[str, SheetXml] = {}
        self.root = package.xml(found)
        if local(self.root) != "workbook":
            raise fail("content_mismatch", "the package is not a workbook", detail=found)

    def forget(self) -> None:
        """Drop everything derived from parts that may have changed."""
        self._sheets.clear()
        self.root = self.package.xml(self.part)
        for name in ("sheets", "formats", "names", "rels", "styles_root"):  # strings never change
            self.__dict__.pop(name, None)

    def in_dialect(self, ours: str) -> str:
        """Return XML or a relationship type of our own in the dialect of the workbook (F23.11)."""
        is_strict = str(etree.QName(self.root).namespace).startswith(_STRICT)
        return _LOOSE.sub(rf"{_STRICT}\1/", ours) if is_strict else ours

    @cached_property
    def rels(self) -> dict[str, tuple[str, str | None]]:
        """The workbook's relationships: id to (last word of the type, existing part)."""
        return {
            rel.id: (rel.type.rpartition("/")[2], self.package.find(rel.part) if rel.part else None)
            for rel in self.package.rels(self.part)
        }

    def related(self, kind: str) -> str | None:
        """Return the workbook's part of this kind: `styles`, `sharedStrings`, `calcChain` …"""
        return next((part for word, part in self.rels.values() if word == kind and part), None)

    @cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        """The sheets in the order of their tabs."""
        found = []
        for index, item in enumerate(children(child(self.root, "sheets"), "sheet")):
            link = rel_id(item) or ""
            word, part = self.rels.get(link, ("worksheet", None))
            state = item.get("state") or "visible"
            kind = SHEET_KINDS.get(word, "worksheet")
            found.append(Sheet(item.get("name") or "", index, state, kind, part, link))
        return tuple(found)

    def find(self, name: str) -> Sheet | None:
        """Return the sheet of this name, exactly, else without case."""
        exact = [sheet for sheet in self.sheets if sheet.name == name]
        loose = [sheet for sheet in self.sheets if sheet.name.lower() == name.lower()]
        return next(iter(exact + loose), None)

    def sheet(self, name: str, where: str | None = None, way: str | None = None) -> Sheet:
        """Return the sheet of this name or say which there are, and the `way` to make one."""
        found = self.find(name)
        if found is None:
            more = [] if way is None else [way]
            names = [sheet.name for sheet in self.sheets]
            hints = [*nearest(name, names, MAX_HINTS - len(more)), *more]
            raise fail("unknown_sheet", "there is no sheet of this name", detail=where, hints=hints)
        return found

    def xml(self, sheet: Sheet) -> SheetXml | None:
        """Return the cells of a worksheet, None for sheets that have none."""
        if sheet.kind != "worksheet" or sheet.part is None:
            return None
        if sheet.part not in self._sheets:
            self._sheets[sheet.part] = SheetXml(self.package.view(sheet.part), sheet.part)
        return self._sheets[sheet.part]

    @cached_property
    def date_1904(self) -> bool:
        """Whether serial numbers count from 1904."""
        properties = child(self.root, "workbookPr")
        return properties is not None and truth(properties.get("date1904"))

    @cached_property
    def strings(self) -> Strings:
        """The shared strings."""
        if self._strings_of is not None:
            return self._strings_of.strings
        part = self.related("sharedStrings")
        return Strings(self.package.view(part) if part else b"")

    @cached_property
    def styles_root(self) -> etree._Element | None:
        """The tree of the styles part."""
        part = self.related("styles")
        return self.package.xml(part) if part else None

    @cached_property
    def formats(self) -> Formats:
        """The number formats of the cell styles."""
        return Formats(self.styles_root)

    @cached_property
    def names(self) -> tuple[DefinedName, ...]:
        """The defined names."""
        found = []
        for item in children(child(self.root, "definedNames"), "definedName"):
            scope = item.get("localSheetId")
            number = int(scope) if scope and scope.isdigit() else None
            text = "".join(str(piece) for piece in item.itertext())
            name, comment = item.get("name") or "", item.get("comment") or ""
            hidden = truth(item.get("hidden"))
            found.append(DefinedName(name, text, number, hidden, comment))
        return tuple(found)

    def sheet_rels(self, sheet: Sheet, kind: str) -> list[str]:
        """Return the existing parts of this kind a sheet leads to."""
        if sheet.part is None:
            return []
        parts = [
            self.package.find(rel.part)
            for rel in self.package.rels(sheet.part)
            if rel.part and rel.type.rpartition("/")[2] == kind
        ]
        return [part for part in parts if part]

    def tables(self, sheet: Sheet) -> list[Table]:
        """Return the named tables of a sheet."""
        found = []
        for part in self.sheet_rels(sheet, "table"):
            root = self.package.xml(part)
            area = parse_area(root.get("ref") or "")
            if area is None:
                continue
            columns = children(child(root, "tableColumns"), "tableColumn")
            name = root.get("displayName") or root.get("name") or ""
            headers = _number(root.get("headerRowCount"), 1)
            totals = _number(root.get("totalsRowCount"))
            names = tuple(header_text(column.get("name") or "") for column in columns)
            found.append(Table(name, area, names, headers, totals, part))
        return found

    def named_tables(self) -> dict[str, tuple[str, Table]]:
        """Return all tables by the small letters of their names, each with its sheet's name."""
        return {
            table.name.lower(): (sheet.name, table)
            for sheet in self.sheets
            for table in self.tables(sheet)
        }

    def value(self, cell: RawCell) -> Value:
        """Return what a cell holds; a formula without stored result is blank."""
        raw = cell.value
        if raw is None:
            return BLANK
        match cell.kind:
            case "s":
                text = self.strings.get(raw)
                return Value("string", text) if text else BLANK
            case "str" | "inlineStr":
                return Value("string", raw) if raw or cell.formula else BLANK
            case "b":
                is_true = raw.strip().lower() in {"1", "true"}
                return Value("boolean", "TRUE" if is_true else "FALSE", float(is_true))
            case "e":
                return Value("error", raw)
            case "d":
                return Value("date", raw)
        return self._number(cell, raw.strip())

    def has_runs(self, cell: RawCell, xml: SheetXml) -> bool:
        """Whether the text of a cell has pieces of different looks, or phonetic hints."""
        if cell.kind == "s" and cell.value is not None:
            return self.strings.has_runs(cell.value)
        return cell.kind == "inlineStr" and _has_runs(xml.data[cell.start : cell.end], xml.words)

    def _number(self, cell: RawCell, raw: str) -> Value:
        if not raw:
            return BLANK
        try:
            number = float(raw)
        except ValueError:
            return Value("string", raw)
        if number != number or abs(number) == float("inf"):
            return Value("error", "#NUM!")
        code, dated = self.formats.of(cell.style)
        if dated:
            text = number_format.moment_text(number, code, self.date_1904)
            if text is not None:
                return Value("date", text, number)
        return Value("number", exact_text(number), number)

    def formula(self, cell: RawCell, xml: SheetXml) -> str | None:
        """Return a cell's formula without `=`, members of a shared group spelled out."""
        raw = cell.formula
        if raw is None:
            return None
        if raw.text or raw.kind != "shared" or raw.group is None:
            return raw.text
        master = xml.master(raw.group)
        if master is None or master.formula is None:
            return raw.text
        return shift(master.formula.text, cell.row - master.row, cell.col - master.col)

    def is_uncached(self, cell: RawCell) -> bool:
        """Whether a formula's result is not stored in the file."""
        if cell.formula is None:
            return False
        return cell.value is None or (cell.value == "" and cell.kind not in {"str", "inlineStr"})


def _number(text: str | None, default: int = 0) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else default
