"""Makes tables and changes their rows and cells (F19)."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from lxml import etree

from . import names as n
from .build import Builder
from .document import block_elements, row_cells, table_rows
from .inline import text_of
from .schema import RunSpec
from .stylesheet import Style, child_value, whole

Element = etree._Element

_PAGE_TWIPS = 9026  # the text width of an A4 page with one-inch margins


def make_table(
    builder: Builder,
    rows: Sequence[Sequence[str]],
    *,
    header: bool,
    style: Style | None,
    widths: Sequence[float] | None,
) -> Element:
    """Return a new table; short rows are filled with empty cells."""
    columns = max(len(row) for row in rows)
    twips = [round(width * 1440) for width in widths or ()]
    rest = (_PAGE_TWIPS - sum(twips)) // max(columns - len(twips), 1)
    twips = [*twips, *[max(rest, 360)] * (columns - len(twips))][:columns]
    table = etree.Element(n.TBL)
    properties = etree.SubElement(table, n.TBL_PR)
    if style is not None:
        etree.SubElement(properties, n.TBL_STYLE).set(n.VAL, style.id)
    width = etree.SubElement(properties, n.w("tblW"))
    width.set(n.w("w"), str(sum(twips)) if widths else "0")
    width.set(n.TYPE, "dxa" if widths else "auto")
    look = etree.SubElement(properties, n.w("tblLook"))
    look.set(n.VAL, "04A0" if header else "0480")
    look.set(n.w("firstRow"), "1" if header else "0")
    for name in ("lastRow", "firstColumn", "lastColumn", "noVBand"):
        look.set(n.w(name), "1" if name == "noVBand" else "0")
    look.set(n.w("noHBand"), "0")
    grid = etree.SubElement(table, n.TBL_GRID)
    for size in twips:
        etree.SubElement(grid, n.GRID_COL).set(n.w("w"), str(size))
    for number, row in enumerate(rows):
        is_header = header and number == 0
        table.append(_row(builder, [*row, *[""] * (columns - len(row))], twips, is_header))
    return table


def _row(builder: Builder, cells: Sequence[str], twips: Sequence[int], header: bool) -> Element:
    row = etree.Element(n.TR)
    if header:
        etree.SubElement(etree.SubElement(row, n.TR_PR), n.w("tblHeader"))
    for text, size in zip(cells, twips, strict=True):
        cell = etree.SubElement(row, n.TC)
        width = etree.SubElement(etree.SubElement(cell, n.TC_PR), n.w("tcW"))
        width.set(n.w("w"), str(size))
        width.set(n.TYPE, "dxa")
        paragraph = etree.SubElement(cell, n.P)
        if text:
            look = {"bold": True} if header else {}
            paragraph.append(builder.run(RunSpec(text, look, "")))
    return row


def find_cell(table: Element, row: int, column: int) -> tuple[Element, bool] | None:
    """Return the cell at a place of the grid, and whether a merge led to another one."""
    rows = table_rows(table)
    if not 0 <= row < len(rows):
        return None
    for at in range(row, -1, -1):
        found = _cell_at(rows[at], column)
        if found is None:
            return None
        cell, is_first = found
        properties = cell.find(n.TC_PR)
        merge = properties.find(n.V_MERGE) if properties is not None else None
        if merge is None or merge.get(n.VAL) == "restart" or at == 0:
            return cell, at != row or not is_first
    return None


def _cell_at(row: Element, column: int) -> tuple[Element, bool] | None:
    """Return the cell of a row that covers a grid column, and whether it begins there."""
    at = whole(child_value(row.find(n.TR_PR), n.GRID_BEFORE)) or 0
    for cell in row_cells(row):
        span = max(whole(child_value(cell.find(n.TC_PR), n.GRID_SPAN)) or 1, 1)
        if at <= column < at + span:
            return cell, column == at
        at += span
    return None


def set_cell(builder: Builder, cell: Element, runs: Sequence[RunSpec]) -> bool:
    """Give a cell new text in the look of its old one; say whether that changed anything."""
    blocks = list(block_elements(cell))
    text = "".join(run.text for run in runs)
    plain = all(not run.style for run in runs)
    first = next((block for block in blocks if block.tag == n.P), None)
    if plain and len(blocks) == 1 and first is not None and text_of(first) == text:
        return False
    if first is None:
        first = etree.SubElement(cell, n.P)
    base = next((rpr for rpr in first.iterfind(f".//{n.R}/{n.RPR}")), None)
    base = copy.deepcopy(base) if base is not None else None
    for block in blocks:
        if block is not first:
            _detach(block)
    for child in list(first):
        if child.tag != n.PPR:
            first.remove(child)
    for run in runs:
        if run.text:
            first.append(builder.run(run, base))
    return True


def _detach(block: Element) -> None:
    parent = block.getparent()
    if parent is not None:
        parent.remove(block)


def copy_row(builder: Builder, row: Element, texts: Sequence[str]) -> Element:
    """Return a new row in the format of `row`: its widths, shading and fonts, other texts."""
    new = etree.Element(n.TR)
    properties = row.find(n.TR_PR)
    if properties is not None:
        copied = copy.deepcopy(properties)
        for tag in (n.w("tblHeader"), n.INS, n.DEL, n.w("trPrChange"), n.w("cnfStyle")):
            for child in copied.findall(tag):
                copied.remove(child)
        if len(copied):
            new.append(copied)
    for at, cell in enumerate(row_cells(row)):
        new.append(_copy_cell(builder, cell, texts[at] if at < len(texts) else ""))
    return new


def _copy_cell(builder: Builder, cell: Element, text: str) -> Element:
    new = etree.Element(n.TC)
    properties = cell.find(n.TC_PR)
    if properties is not None:
        copied = copy.deepcopy(properties)
        for tag in (n.V_MERGE, n.w("tcPrChange"), n.w("cellIns"), n.w("cellDel")):
            for child in copied.findall(tag):
                copied.remove(child)
        new.append(copied)
    paragraph = etree.SubElement(new, n.P)
    first = next((block for block in block_elements(cell) if block.tag == n.P), None)
    base = None
    if first is not None:
        look = first.find(n.PPR)
        if look is not None:
            copied = copy.deepcopy(look)
            for tag in (n.SECT_PR, n.w("pPrChange")):
                for child in copied.findall(tag):
                    copied.remove(child)
            paragraph.append(copied)
        base = next((rpr for rpr in first.iterfind(f".//{n.R}/{n.RPR}")), None)
    if text:
        paragraph.append(builder.run(RunSpec(text, {}, ""), base))
    return new


def delete_rows(table: Element, first: int, last: int) -> list[Element]:
    """Remove rows; a merge that began in one of them begins in the row that follows."""
    rows = table_rows(table)
    gone = rows[first : last + 1]
    following = rows[last + 1] if last + 1 < len(rows) else None
    if following is not None:
        _restart_merges(gone, following)
    for row in gone:
        _detach(row)
    return gone


def _restart_merges(gone: Sequence[Element], following: Element) -> None:
    for cell in row_cells(following):
        properties = cell.find(n.TC_PR)
        merge = properties.find(n.V_MERGE) if properties is not None else None
        if merge is None or merge.get(n.VAL) == "restart":
            continue
        column = _column_of(following, cell)
        begins = [_cell_at(row, column) for row in gone]
        if any(found is not None and _starts_merge(found[0]) for found in begins):
            merge.set(n.VAL, "restart")


def _starts_merge(cell: Element) -> bool:
    properties = cell.find(n.TC_PR)
    merge = properties.find(n.V_MERGE) if properties is not None else None
    return merge is not None and merge.get(n.VAL) == "restart"


def _column_of(row: Element, wanted: Element) -> int:
    at = whole(child_value(row.find(n.TR_PR), n.GRID_BEFORE)) or 0
    for cell in row_cells(row):
        if cell is wanted:
            break
        at += max(whole(child_value(cell.find(n.TC_PR), n.GRID_SPAN)) or 1, 1)
    return at
