"""Changes around the cells: merges, widths, heights, panes, filters (F17)."""

from __future__ import annotations

from lxml import etree

from backshop.formats.figure.plain import exact_text
from backshop.formats.write.operation import problem

from ..book.element_order import SHEET_ORDER, insert_in_order
from ..book.sheet_edit import SheetEdit
from ..book.workbook import child, children, like, local
from ..syntax.address import Area, cell_name

ORDER = SHEET_ORDER


def ensure(edit: SheetEdit, name: str) -> etree._Element:
    """Return a child of the sheet, made at its place when it is missing."""
    root = edit.frame.root
    found = child(root, name)
    if found is None:
        found = etree.Element(like(root, name))
        insert_in_order(root, found, ORDER)
    return found


def merge(edit: SheetEdit, area: Area, where: str) -> bool:
    """Merge a range; False when it is merged already."""
    if area in edit.frame.merges:
        return False
    clash = next((other for other in edit.frame.merges if other.meets(area)), None)
    if clash is not None:
        raise problem("op_conflict", where, f"the range overlaps the merged cells {clash}")
    table = next((t for t in edit.tables if t.area.meets(area)), None)
    if table is not None:
        raise problem("op_conflict", where, f"cells of the table {table.name} cannot be merged")
    full = [place for place in edit.cells_in(area) if not edit.is_empty(*place)]
    if len(full) > 1:
        names = [cell_name(*place) for place in full[:5]]
        raise problem("op_conflict", where, f"{len(full)} cells of the range hold content", names)
    if full and full[0] != (area.row1, area.col1):
        raise problem(
            "op_conflict", where, f"only the first cell may hold content, not {cell_name(*full[0])}"
        )
    add_merge(edit, area)
    return True


def add_merge(edit: SheetEdit, area: Area) -> None:
    """Merge a range of which nothing is merged."""
    parent = ensure(edit, "mergeCells")
    etree.SubElement(parent, like(parent, "mergeCell"), ref=area.span)
    parent.set("count", str(len(children(parent, "mergeCell"))))
    edit.refresh_frame()


def unmerge(edit: SheetEdit, area: Area) -> list[Area]:
    """Take apart every merge that meets a range, and return them."""
    gone = [other for other in edit.frame.merges if other.meets(area)]
    if not gone:
        return []
    parent = ensure(edit, "mergeCells")
    wanted = {str(other) for other in gone} | {other.span for other in gone}
    for item in children(parent, "mergeCell"):
        if (item.get("ref") or "").replace("$", "").upper() in wanted:
            parent.remove(item)
    left = children(parent, "mergeCell")
    if left:
        parent.set("count", str(len(left)))
    else:
        edit.frame.root.remove(parent)
    edit.refresh_frame()
    return gone


def set_width(edit: SheetEdit, col: int, width: float) -> bool:
    """Give a column a width in characters; False when it has it. 0 hides it."""
    columns = child(edit.frame.root, "cols")
    found = next(
        (
            c
            for c in children(columns, "col")
            if int(c.get("min") or 0) <= col <= int(c.get("max") or 0)
        ),
        None,
    )
    hidden = width == 0
    if found is not None and found.get("width") is not None:
        same = float(found.get("width") or 0) == width
        if same and (found.get("hidden") in {"1", "true"}) == hidden and found.get("customWidth"):
            return False
    parent = ensure(edit, "cols")
    if found is None:
        found = etree.Element(like(parent, "col"))
        at = sum(1 for c in children(parent, "col") if int(c.get("min") or 0) < col)
        parent.insert(at, found)
    else:
        found = _split(parent, found, col)
    found.set("min", str(col))
    found.set("max", str(col))
    found.set("width", exact_text(width))
    found.set("customWidth", "1")
    found.attrib.pop("bestFit", "")
    if hidden:
        found.set("hidden", "1")
    else:
        found.attrib.pop("hidden", "")
    edit.refresh_frame()
    return True


def _split(parent: etree._Element, found: etree._Element, col: int) -> etree._Element:
    """Cut one column out of a run of equal ones."""
    first, last = int(found.get("min") or 0), int(found.get("max") or 0)
    at = parent.index(found)
    tag, shared = found.tag, {str(key): str(value) for key, value in found.attrib.items()}
    middle = etree.Element(tag, shared)
    pieces = [middle]
    if first < col:
        pieces.insert(0, etree.Element(tag, {**shared, "max": str(col - 1)}))
    if col < last:
        pieces.append(etree.Element(tag, {**shared, "min": str(col + 1)}))
    parent[at : at + 1] = pieces
    return middle


def set_height(edit: SheetEdit, row: int, height: float) -> bool:
    """Give a row a height in points; False when it has it. 0 hides it."""
    edit.load([row])
    tag = edit.row_attributes(row)
    hidden = height == 0
    now_hidden = tag.get(b"hidden") in {b"1", b"true"}
    try:
        same = float(tag[b"ht"]) == height if b"ht" in tag else False
    except ValueError:
        same = False
    if same and now_hidden == hidden and tag.get(b"customHeight") in {b"1", b"true"}:
        return False
    changes = edit.row_changes.setdefault(row, {})
    changes.update({"ht": exact_text(height), "customHeight": "1"})
    if hidden or now_hidden:
        changes["hidden"] = "1" if hidden else None
    return True


def freeze(edit: SheetEdit, row: int, col: int) -> bool:
    """Freeze everything above `row` and left of `col` (0-based first free ones); 0, 0 clears."""
    now = edit.frame.frozen
    if now == ({"row": row, "column": col} if row or col else None):
        return False
    views = ensure(edit, "sheetViews")
    view = child(views, "sheetView")
    if view is None:
        view = etree.SubElement(views, like(views, "sheetView"), workbookViewId="0")
    for item in list(view):
        if local(item) == "pane" or (local(item) == "selection" and item.get("pane")):
            view.remove(item)
    if row or col:
        pane = etree.Element(like(view, "pane"))
        if col:
            pane.set("xSplit", str(col))
        if row:
            pane.set("ySplit", str(row))
        pane.set("topLeftCell", cell_name(row + 1, col + 1))
        active = {(True, True): "bottomRight", (True, False): "bottomLeft"}
        pane.set("activePane", active.get((bool(row), bool(col)), "topRight"))
        pane.set("state", "frozen")
        view.insert(0, pane)
        for item in children(view, "selection"):
            view.remove(item)
        selection = etree.Element(like(view, "selection"), pane=pane.get("activePane") or "")
        view.insert(1, selection)
    edit.refresh_frame()
    return True


def set_filter(edit: SheetEdit, area: Area | None, where: str) -> bool:
    """Put the sheet's filter on a range, or take it away."""
    root = edit.frame.root
    found = child(root, "autoFilter")
    if area is None:
        if found is None:
            return False
        root.remove(found)
        edit.refresh_frame()
        return True
    table = next((t for t in edit.tables if t.area.meets(area)), None)
    if table is not None:
        raise problem("op_conflict", where, f"the table {table.name} has a filter of its own")
    if found is not None and (found.get("ref") or "").replace("$", "").upper() == area.span:
        return False
    if found is not None:
        root.remove(found)
    found = etree.Element(like(root, "autoFilter"), ref=area.span)
    insert_in_order(root, found, ORDER)
    edit.refresh_frame()
    return True
