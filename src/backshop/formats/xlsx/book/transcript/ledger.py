"""What is found in a workbook of another format, put down as the parts of an xlsx package (F40.10).

Nothing of it is ever written to a file. Whoever reads a workbook needs one way to read cells then,
and shows the cells of an .ods or .xls in the words it has for those of an .xlsx.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape

from backshop.base import limits
from backshop.formats.errors import fail
from backshop.formats.package.blank import HEAD
from backshop.formats.package.guard import Archive
from backshop.formats.package.package import CONTENT_TYPES, Package
from backshop.formats.package.relationship import rels_name

from ...syntax.address import MAX_COL, MAX_ROW, Area, column_name
from ..blank import REL_NS
from ..origin import Origin
from ..stylesheet import MAIN_NS

_TYPES_NS = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELS_NS = "http://schemas.openxmlformats.org/package/2006/relationships"
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_REL_KINDS = {
    "worksheet": f"{REL_NS}/worksheet",
    "chartsheet": f"{REL_NS}/chartsheet",
    "dialogsheet": f"{REL_NS}/dialogsheet",
    "macrosheet": "http://schemas.microsoft.com/office/2006/relationships/xlMacrosheet",
}


class Room:
    """How many cells a workbook may still have; all of them stand in memory (F40.14)."""

    def __init__(self) -> None:
        self._left = limits.TRANSCRIPT_MAX_CELLS

    def take(self, cells: int) -> None:
        """Note that so many cells are put down.

        Raises:
            FormatError: `too_large`.
        """
        self._left -= cells
        if self._left < 0:
            most = limits.TRANSCRIPT_MAX_CELLS
            raise fail("too_large", f"a workbook of this kind is read up to {most} cells")


@dataclass
class Page:
    """One sheet of a workbook of another format; `cells` by row and column, counted from 1."""

    name: str
    state: str = "visible"
    kind: str = "worksheet"
    is_protected: bool = False
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merges: list[Area] = field(default_factory=list)
    formulas: int = 0

    def put(
        self,
        row: int,
        col: int,
        kind: str,
        text: str | None,
        *,
        style: int = 0,
        formula: str | None = None,
    ) -> None:
        """Put a cell down; `kind` is n, str, b, e or d, `text` None of a formula without result."""
        if not (1 <= row <= MAX_ROW and 1 <= col <= MAX_COL):
            raise fail("corrupt_file", "a cell lies outside of every sheet", detail=self.name)
        marks = f' s="{style}"' if style else ""
        if kind != "n":
            marks += f' t="{kind}"'
        inside = "" if formula is None else f"<f>{_of_formula(formula)}</f>"
        if text is not None:
            inside += f"<v>{_of_text(text) if kind == 'str' else escape(text)}</v>"
        cells = self.rows.get(row)
        if cells is None:
            cells = self.rows[row] = {}
        cells[col] = f"{marks}>{inside}</c>"

    def xml(self) -> bytes:
        """Return the part of the sheet; what was put down is forgotten."""
        pieces = [f'{HEAD}<worksheet xmlns="{MAIN_NS}"><sheetData>']
        for row in sorted(self.rows):
            cells = self.rows.pop(row)
            inside = "".join(f'<c r="{column_name(col)}{row}"{cells[col]}' for col in sorted(cells))
            pieces.append(f'<row r="{row}">{inside}</row>')
        pieces.append("</sheetData>")
        if self.is_protected:
            pieces.append('<sheetProtection sheet="1"/>')
        if self.merges:
            refs = "".join(f'<mergeCell ref="{area}"/>' for area in self.merges)
            pieces.append(f"<mergeCells>{refs}</mergeCells>")
        pieces.append("</worksheet>")
        return "".join(pieces).encode("utf-8", "replace")


@dataclass
class Ledger:
    """A workbook of another format as it is read."""

    format: str
    has_formulas: bool
    pages: list[Page] = field(default_factory=list)
    codes: dict[int, str] = field(default_factory=dict)  # of number formats
    looks: list[int] = field(default_factory=list)  # the number format of each look of cells
    date_1904: bool = False
    names: list[tuple[str, str]] = field(default_factory=list)  # and what they refer to
    security: dict[str, bool] = field(default_factory=dict)

    def origin(self) -> Origin:
        """Return what is known beside the cells."""
        return Origin(
            self.format,
            self.has_formulas,
            tuple(page.formulas for page in self.pages),
            {key: True for key, value in self.security.items() if value},
        )

    def package(self) -> Package:
        """Return the workbook as a package of parts that are in memory only."""
        package = Package(Archive(b"", (), b""))
        package.put(CONTENT_TYPES, f'{HEAD}<Types xmlns="{_TYPES_NS}"/>'.encode())
        package.put(rels_name(""), _rels([("officeDocument", "xl/workbook.xml")]))
        package.put("xl/workbook.xml", self._workbook())
        rels = [("styles", "styles.xml")]
        for at, page in enumerate(self.pages, 1):
            rels.append((page.kind, f"worksheets/sheet{at}.xml"))
            if page.kind == "worksheet":
                package.put(f"xl/worksheets/sheet{at}.xml", page.xml())
        package.put(rels_name("xl/workbook.xml"), _rels(rels))
        package.put("xl/styles.xml", self._styles())
        return package

    def _workbook(self) -> bytes:
        sheets = "".join(
            f'<sheet name={_attribute(page.name)} sheetId="{at}" state={_attribute(page.state)}'
            f' r:id="rId{at + 1}"/>'
            for at, page in enumerate(self.pages, 1)
        )
        names = "".join(
            f"<definedName name={_attribute(name)}>{_of_formula(refers)}</definedName>"
            for name, refers in self.names
        )
        listed = f"<definedNames>{names}</definedNames>" if names else ""
        dates = '<workbookPr date1904="1"/>' if self.date_1904 else ""
        return (
            f'{HEAD}<workbook xmlns="{MAIN_NS}" xmlns:r="{REL_NS}">{dates}'
            f"<sheets>{sheets}</sheets>{listed}</workbook>"
        ).encode("utf-8", "replace")

    def _styles(self) -> bytes:
        codes = "".join(
            f'<numFmt numFmtId="{number}" formatCode={_attribute(code)}/>'
            for number, code in self.codes.items()
        )
        looks = "".join(f'<xf numFmtId="{number}"/>' for number in self.looks or [0])
        return (
            f'{HEAD}<styleSheet xmlns="{MAIN_NS}"><numFmts>{codes}</numFmts>'
            f"<cellXfs>{looks}</cellXfs></styleSheet>"
        ).encode("utf-8", "replace")


def _rels(lines: list[tuple[str, str]]) -> bytes:
    made = "".join(
        f'<Relationship Id="rId{at}" Type="{_REL_KINDS.get(kind, f"{REL_NS}/{kind}")}" '
        f'Target="{target}"/>'
        for at, (kind, target) in enumerate(lines, 1)
    )
    return f'{HEAD}<Relationships xmlns="{_RELS_NS}">{made}</Relationships>'.encode()


def _attribute(text: str) -> str:
    safe = escape(_UNFIT.sub("\ufffd", text))
    for blank in "\t\n\r":  # they would be read as spaces
        safe = safe.replace(blank, f"&#{ord(blank)};")
    return f'"{safe}"'


def _of_formula(text: str) -> str:
    return escape(_UNFIT.sub("\ufffd", text), quote=False)


def _of_text(text: str) -> str:
    """Return a text as cells hold it, characters that XML cannot hold spelled out."""
    if not text.isprintable():
        text = _UNSAFE.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    elif "_x" in text:
        text = _UNSAFE.sub("_x005F_", text)
    return escape(text, quote=False)
