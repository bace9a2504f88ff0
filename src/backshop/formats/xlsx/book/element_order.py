"""Puts elements where the schema wants them."""

from __future__ import annotations

from lxml import etree

SHEET_ORDER = (
    *("sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "sheetCalcPr"),
    *("sheetProtection", "protectedRanges", "scenarios", "autoFilter", "sortState"),
    *("dataConsolidate", "customSheetViews", "mergeCells", "phoneticPr", "conditionalFormatting"),
    *("dataValidations", "hyperlinks", "printOptions", "pageMargins", "pageSetup", "headerFooter"),
    *("rowBreaks", "colBreaks", "customProperties", "cellWatches", "ignoredErrors", "smartTags"),
    *("drawing", "legacyDrawing", "legacyDrawingHF", "drawingHF", "picture", "oleObjects"),
    *("controls", "webPublishItems", "tableParts", "extLst"),
)


def insert_in_order(root: etree._Element, element: etree._Element, order: tuple[str, ...]) -> None:
    """Put a child where the schema wants it."""
    name = etree.QName(element).localname
    before = set(order[: order.index(name) + 1])
    at = 0
    for index, item in enumerate(root):
        if isinstance(item.tag, str) and etree.QName(item).localname in before:
            at = index + 1
    root.insert(at, element)
