"""Makes tables and changes their rows and cells (F19)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.write.operation import RunSpec

from ..text import name as n
from ..text.document import Texts, block_elements, parent_of, row_cells, table_rows, vertical_merge
from ..text.inline import pieces, text_of
from ..text.stylesheet import Style, child_value, whole
from .builder import Builder, drop, one_line_end, unrevised
from .removal import detach, splits_field, starts_range, torn

# Controls whose content is no text that was typed.
_NO_TEXT = frozenset({"picture", "checkbox", "equation", "citation", "bibliography"})
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
    look.set(n.VAL, "0420" if header else "0400")
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
    return builder.stock.at_home(table)


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
        if at == 0 or vertical_merge(cell) != "continue":
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


def says(cell: Element, runs: Sequence[RunSpec]) -> bool:
    """Whether a cell has this text already, and no other look is asked for."""
    if any(run.style for run in runs):
        return False
    text = one_line_end("".join(run.text for run in runs))
    blocks = list(block_elements(cell))
    alone = blocks[0] if len(blocks) == 1 and blocks[0].tag == n.P else None
    return Texts(cell).cell(cell) == text or (alone is not None and text_of(alone) == text)


def set_cell(builder: Builder, cell: Element, runs: Sequence[RunSpec]) -> None:
    """Give a cell new text in the look of its old one."""
    blocks = list(block_elements(cell))
    first = next((block for block in blocks if block.tag == n.P), None)
    if first is None:
        first = etree.SubElement(cell, n.P)
    home = _home(first)
    base = next((rpr for rpr in home.iterfind(f".//{n.R}/{n.RPR}")), None)
    if home is not first:
        base = _fill_in(parent_of(home), base)
    new = [builder.run(run, base) for run in runs if run.text]
    old = [child for child in home if child.tag != n.PPR]
    others = [block for block in blocks if block is not first]
    kept = [marker for _, marker in torn([*old, *others])]
    for block in others:
        detach(block)
    for child in old:
        home.remove(child)
    home.extend(marker for marker in kept if starts_range(marker))
    home.extend(new)
    home.extend(marker for marker in kept if not starts_range(marker))


def _home(paragraph: Element) -> Element:
    """Return where the text of a cell goes: its paragraph, or the form field that is all of it."""
    shown = [piece.element for piece in pieces(paragraph)]
    fields = [
        content
        for content in paragraph.iterfind(f".//{n.SDT}/{n.SDT_CONTENT}")
        if all(any(a is content for a in element.iterancestors()) for element in shown)
    ]
    if not fields or (not shown and len(fields) > 1):
        return paragraph
    look = parent_of(fields[-1]).find(n.SDT_PR)
    kinds = [etree.QName(e).localname for e in look.iterchildren("*")] if look is not None else []
    written = not _NO_TEXT.intersection(kinds) and not splits_field([fields[-1]])
    return fields[-1] if written else paragraph


def _fill_in(control: Element, base: Element | None) -> Element | None:
    """Note in a form field that it has a text of its own; return the look of that text."""
    look = control.find(n.SDT_PR)
    if look is None:
        return base
    for date in look.iterchildren(n.w("date")):
        drop(date, "fullDate")
    hint = look.find(n.w("showingPlcHdr"))
    if hint is None:
        return base
    look.remove(hint)
    return look.find(n.RPR)


def copy_row(
    builder: Builder, row: Element, texts: Sequence[str], below: Element | None
) -> tuple[Element, list[int]]:
    """Return a new row in the format of `row`: its widths, shading and fonts, other texts.

    Where the row `below` continues a merge, so does the new one. Returns too which of the texts
    have no place because of that.
    """
    new = etree.Element(n.TR)
    for tag in (n.w("tblPrEx"), n.TR_PR):
        properties = row.find(tag)
        if properties is not None:
            copied = unrevised(properties, n.w("tblHeader"), n.w("cnfStyle"))
            if len(copied):
                new.append(copied)
    covered = []
    for at, cell in enumerate(row_cells(row)):
        inside = below is not None and _merge_goes_on(row, cell, below)
        text = texts[at] if at < len(texts) else ""
        if inside and text:
            covered.append(at)
        new.append(_copy_cell(builder, cell, "" if inside else text, inside))
    return new, covered


def _merge_goes_on(row: Element, cell: Element, below: Element) -> bool:
    """Whether a cell of a row is merged with the one under it."""
    found = _cell_at(below, _column_of(row, cell))
    if found is None or vertical_merge(cell) is None:
        return False
    under, begins = found
    return begins and vertical_merge(under) == "continue"


def _copy_cell(builder: Builder, cell: Element, text: str, inside_merge: bool) -> Element:
    new = etree.Element(n.TC)
    properties = cell.find(n.TC_PR)
    if properties is not None:
        look = unrevised(properties, *(() if inside_merge else (n.V_MERGE,)))
        for merge in look.findall(n.V_MERGE):
            merge.set(n.VAL, "continue")
        new.append(look)
    paragraph = etree.SubElement(new, n.P)
    first = next((block for block in block_elements(cell) if block.tag == n.P), None)
    base = None
    if first is not None:
        form = first.find(n.PPR)
        if form is not None:
            paragraph.append(unrevised(form, n.SECT_PR))
        base = next((rpr for rpr in first.iterfind(f".//{n.R}/{n.RPR}")), None)
    if text:
        paragraph.append(builder.run(RunSpec(text, {}, ""), base))
    return new


def delete_rows(table: Element, first: int, last: int) -> tuple[list[Element], list[Element]]:
    """Remove rows; a merge that began in one of them begins in the row that follows.

    Ends of ranges whose other end stays go to the rows beside. Returns the rows, and the cells of
    other rows that changed.
    """
    rows = table_rows(table)
    gone = rows[first : last + 1]
    above = rows[first - 1] if first else None
    below = rows[last + 1] if last + 1 < len(rows) else None
    changed = _restart_merges(gone, below) if below is not None else []
    for _, marker in torn(gone):
        changed.extend(_carry(marker, above, below))
    for row in gone:
        detach(row)
    return gone, changed


def _carry(marker: Element, above: Element | None, below: Element | None) -> Iterator[Element]:
    """Move the end of a range to the nearest text that stays; yield the cell of that."""
    downwards = below is not None and (starts_range(marker) or above is None)
    row = below if downwards else above
    inside = [p for cell in row_cells(row) for p in block_elements(cell)] if row is not None else []
    paragraphs = [block for block in inside if block.tag == n.P]
    if not paragraphs:
        return
    if downwards:
        home = paragraphs[0]
        form = home.find(n.PPR)
        home.insert(home.index(form) + 1 if form is not None else 0, marker)
    else:
        home = paragraphs[-1]
        home.append(marker)
    yield next(home.iterancestors(n.TC))


def _restart_merges(gone: Sequence[Element], following: Element) -> list[Element]:
    changed = []
    for cell in row_cells(following):
        if vertical_merge(cell) != "continue":
            continue
        column = _column_of(following, cell)
        begins = [_cell_at(row, column) for row in gone]
        if any(found is not None and vertical_merge(found[0]) == "restart" for found in begins):
            for merge in cell.iterfind(f"{n.TC_PR}/{n.V_MERGE}"):
                merge.set(n.VAL, "restart")
            changed.append(cell)
    return changed


def _column_of(row: Element, wanted: Element) -> int:
    at = whole(child_value(row.find(n.TR_PR), n.GRID_BEFORE)) or 0
    for cell in row_cells(row):
        if cell is wanted:
            break
        at += max(whole(child_value(cell.find(n.TC_PR), n.GRID_SPAN)) or 1, 1)
    return at
