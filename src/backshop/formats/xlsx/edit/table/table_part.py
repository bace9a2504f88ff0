"""The part of a table: made, and named on its sheet or taken off it (F37.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from lxml import etree

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.media import relative
from backshop.formats.package.package import canonical_element
from backshop.formats.package.relationship import rels_name
from backshop.formats.package.unused import remove_tree

from ...book.element_order import SHEET_ORDER, insert_in_order
from ...book.sheet_edit import SheetEdit
from ...book.table_text import header_attribute
from ...book.workbook import Book, child, children, like, local, rel_id
from ...syntax.address import Area

TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.table+xml"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_CHANGING = ("ref", "name", "displayName", "totalsRowCount", "totalsRowShown")
_COLUMN_CHANGING = ("name", "totalsRowFunction", "totalsRowLabel")
_PARTS_CHANGING = ("autoFilter", "sortState", "tableStyleInfo")


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """What a new table is to be; `formulas` are those of calculated columns, by place."""

    name: str
    area: Area
    has_header: bool
    columns: Sequence[str]
    formulas: Mapping[int, str] = field(default_factory=dict)


def made(book: Book, plan: TablePlan) -> bytes:
    """Return the part of a new table, in the dialect of the workbook; looks come later."""
    header = "" if plan.has_header else ' headerRowCount="0"'
    name = escape(plan.name)
    lines = [
        f'<table xmlns="{_MAIN}" id="{free_id(book)}" name="{name}" displayName="{name}" '
        f'ref="{plan.area.span}"{header} totalsRowShown="0">'
    ]
    if plan.has_header:
        lines.append(f'<autoFilter ref="{plan.area.span}"/>')
    lines.append(f'<tableColumns count="{len(plan.columns)}">')
    for at, column in enumerate(plan.columns):
        formula = plan.formulas.get(at)
        inner = (
            f"<calculatedColumnFormula>{escape(formula, quote=False)}</calculatedColumnFormula>"
            if formula
            else ""
        )
        lines.append(
            f'<tableColumn id="{at + 1}" name="{escape(header_attribute(column))}">'
            f"{inner}</tableColumn>"
        )
    lines.append("</tableColumns></table>")
    return book.in_dialect(_HEAD + "".join(lines)).encode()


def free_id(book: Book) -> int:
    """Return a number that no table of the workbook has, nor a cell bound to XML."""
    numbers = [0]
    for sheet in book.sheets:
        for part in book.sheet_rels(sheet, "table"):
            numbers.append(_whole(book.package.xml(part).get("id")))
        for part in book.sheet_rels(sheet, "tableSingleCells"):
            cells = book.package.xml(part).iter("{*}singleXmlCell")
            numbers.extend(_whole(one.get("id")) for one in cells)
    return max(numbers) + 1


def _whole(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else 0


def attach(book: Book, edit: SheetEdit, data: bytes, name: str | None = None) -> list[str]:
    """Add a part for a table to a sheet, under a name if that is free; return the parts made."""
    package, owner = book.package, edit.sheet.part
    assert owner is not None, "a sheet that is edited has a part"
    if name is None or package.find(name) is not None:
        folder = book.part.rpartition("/")[0]
        name = package.numbered(f"{folder}/tables/table" if folder else "tables/table", ".xml")
    package.put(name, data)
    package.set_content_type(name, TYPE)
    new = [name] if package.find(rels_name(owner)) else [name, rels_name(owner)]
    space = book.in_dialect(_RELATIONS)
    link = package.add_rel(owner, f"{space}/table", relative(owner, name))
    root = edit.frame.root
    holder = child(root, "tableParts")
    if holder is None:
        holder = etree.Element(like(root, "tableParts"))
        insert_in_order(root, holder, SHEET_ORDER)
    item = etree.SubElement(holder, like(holder, "tablePart"), nsmap={"r": space})
    item.set(f"{{{space}}}id", link)
    holder.set("count", str(len(children(holder, "tablePart"))))
    _refresh(edit)
    return new


def detach(book: Book, edit: SheetEdit, part: str) -> list[str]:
    """Take the part of a table off its sheet, with what only it leads to; return their names."""
    package, owner = book.package, edit.sheet.part
    assert owner is not None, "a sheet that is edited has a part"
    links = [rel.id for rel in package.rels(owner) if rel.part and package.find(rel.part) == part]
    root = edit.frame.root
    holder = child(root, "tableParts")
    for item in children(holder, "tablePart"):
        if holder is not None and rel_id(item) in links:
            holder.remove(item)
    left = children(holder, "tablePart")
    if holder is not None and not left:
        root.remove(holder)
    elif holder is not None:
        holder.set("count", str(len(left)))
    for link in links:
        package.remove_rel(owner, link)
    gone = remove_tree(package, part)
    own = package.find(rels_name(owner))
    if own is not None and not package.rels(owner):
        package.remove(own)
        gone.append(own)
    _refresh(edit)
    return gone


def _refresh(edit: SheetEdit) -> None:
    edit.refresh_frame()
    edit.__dict__.pop("tables", None)


def columns_of(root: Element) -> list[Element]:
    """Return the columns of a table's tree."""
    return children(child(root, "tableColumns"), "tableColumn")


def only_as_asked(before: bytes, after: bytes) -> bool:
    """Whether a table differs in nothing but what operations on tables change (F23.8)."""
    one, two = parse_xml(before), parse_xml(after)
    columns = [{item.get("id"): _kept(item) for item in columns_of(root)} for root in (one, two)]
    both = columns[0].keys() & columns[1].keys()
    if any(columns[0][key] != columns[1][key] for key in both):
        return False
    return _rest(one) == _rest(two)


def _kept(column: Element) -> bytes:
    for key in _COLUMN_CHANGING:
        column.attrib.pop(key, "")
    for item in children(column, "totalsRowFormula"):
        column.remove(item)
    return canonical_element(column)


def _rest(root: Element) -> bytes:
    for key in _CHANGING:
        root.attrib.pop(key, "")
    for item in list(root):
        if local(item) in (*_PARTS_CHANGING, "tableColumns"):
            root.remove(item)
    return canonical_element(root)
