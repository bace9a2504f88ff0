"""The workbook new files start from: one empty sheet named Sheet1 (F16.3)."""

from __future__ import annotations

from backshop.formats.package.blank import HEAD, packed, relationships

from .stylesheet import EMPTY_STYLES, MAIN_NS

REL_NS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
SHEET_REL = f"{REL_NS}/worksheet"
FIRST_SHEET = "Sheet1"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
EMPTY_SHEET = (
    f'{HEAD}<worksheet xmlns="{MAIN_NS}" xmlns:r="{REL_NS}"><sheetViews><sheetView '
    'workbookViewId="0"/></sheetViews><sheetFormatPr defaultRowHeight="15"/><sheetData/>'
    '<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>'
    "</worksheet>"
)
_TYPES = {
    "xl/workbook.xml": f"{_TYPE}.sheet.main+xml",
    "xl/worksheets/sheet1.xml": SHEET_TYPE,
    "xl/styles.xml": f"{_TYPE}.styles+xml",
}
_PARTS = {
    "_rels/.rels": relationships(("officeDocument", "xl/workbook.xml")),
    "xl/workbook.xml": (
        f'{HEAD}<workbook xmlns="{MAIN_NS}" xmlns:r="{REL_NS}"><bookViews><workbookView '
        'xWindow="0" yWindow="0" windowWidth="22260" windowHeight="12645"/></bookViews><sheets>'
        f'<sheet name="{FIRST_SHEET}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": relationships(
        ("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml")
    ),
    "xl/worksheets/sheet1.xml": EMPTY_SHEET,
    "xl/styles.xml": HEAD + EMPTY_STYLES,
}


def blank_workbook() -> bytes:
    """Return the package of an empty workbook, the same bytes every time."""
    return packed(_TYPES, _PARTS, made_by_system=0)
