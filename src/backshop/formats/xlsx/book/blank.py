"""The workbook new files start from: one empty sheet named Sheet1 (F16.3)."""

from __future__ import annotations

import zipfile
from io import BytesIO

from .stylesheet import EMPTY_STYLES, MAIN_NS

REL_NS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
SHEET_REL = f"{REL_NS}/worksheet"
FIRST_SHEET = "Sheet1"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
EMPTY_SHEET = (
    f'{_HEAD}<worksheet xmlns="{MAIN_NS}" xmlns:r="{REL_NS}"><sheetViews><sheetView '
    'workbookViewId="0"/></sheetViews><sheetFormatPr defaultRowHeight="15"/><sheetData/>'
    '<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>'
    "</worksheet>"
)
_PARTS = {
    "[Content_Types].xml": (
        f'{_HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{SHEET_TYPE}"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'{_HEAD}<Relationships xmlns="{PACKAGE_RELS}"><Relationship Id="rId1" '
        f'Type="{REL_NS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'{_HEAD}<workbook xmlns="{MAIN_NS}" xmlns:r="{REL_NS}"><bookViews><workbookView '
        'xWindow="0" yWindow="0" windowWidth="22260" windowHeight="12645"/></bookViews><sheets>'
        f'<sheet name="{FIRST_SHEET}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'{_HEAD}<Relationships xmlns="{PACKAGE_RELS}"><Relationship Id="rId1" Type="{SHEET_REL}" '
        f'Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{REL_NS}/styles" '
        'Target="styles.xml"/></Relationships>'
    ),
    "xl/worksheets/sheet1.xml": EMPTY_SHEET,
    "xl/styles.xml": _HEAD + EMPTY_STYLES,
}


def blank_workbook() -> bytes:
    """Return the package of an empty workbook, the same bytes every time."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, text in _PARTS.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 0
            archive.writestr(info, text)
    return out.getvalue()
