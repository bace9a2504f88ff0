"""Formulas that spill over neighbouring cells: marked so that Excel lets them (F24.1).

Excel takes a formula that gives many values for one of the old days, and shows its first value
only, unless the cell points at an entry of the workbook's metadata part. The part is made when it
is missing; an entry that is there already is used again.
"""

from __future__ import annotations

from lxml import etree

from backshop.formats.package.guard import parse_xml

from ..book.element_order import insert_in_order
from ..book.workbook import Book, child, children, like
from ..syntax.formula import tokens
from ..syntax.function import MANY

_OLDER = frozenset(
    (
        *("FREQUENCY", "GROWTH", "LINEST", "LOGEST", "MINVERSE", "MMULT", "MODE.MULT", "MUNIT"),
        *("TRANSPOSE", "TREND"),
    )
)
_SPILLING = MANY | _OLDER
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheetMetadata+xml"
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sheetMetadata"
_NAME = "XLDAPR"
_DYNAMIC = "http://schemas.microsoft.com/office/spreadsheetml/2017/dynamicarray"
_URI = "{bdbb8cdc-fa1e-496e-a857-3c3f30c029c3}"
_ORDER = (
    *("metadataTypes", "metadataStrings", "mdxMetadata", "futureMetadata", "cellMetadata"),
    *("valueMetadata", "extLst"),
)
_TRAITS = (
    *("copy", "pasteAll", "pasteValues", "merge", "splitFirst", "rowColShift", "clearFormats"),
    *("clearComments", "assign", "coerce", "cellMeta"),
)


def spills(formula: str) -> bool:
    """Whether a formula calls a function that gives many values."""
    return any(t.kind == "function" and t.body in _SPILLING for t in tokens(formula))


def mark(book: Book) -> int:
    """Return the number with which a cell says that its formula spills; its entry is then there."""
    part = book.related("sheetMetadata")
    package = book.package
    if part is None:
        folder, slash, _ = book.part.rpartition("/")
        part = package.unused(f"{folder}{slash}metadata.xml")
        package.add_rel(book.part, book.in_dialect(_REL), part.removeprefix(folder + slash))
        namespace = str(etree.QName(book.root).namespace or "")
        root = parse_xml(b'<metadata xmlns="%s"/>' % namespace.encode())
    else:
        root = package.xml(part)
    number = _found(root)
    if number is None:
        number = _added(root)
        package.put(part, etree.tostring(root, xml_declaration=True, encoding="UTF-8"))
        package.set_content_type(part, _TYPE)
        book.forget()
    return number


def _found(root: etree._Element) -> int | None:
    """Return the entry for cells whose formula spills, if there is one."""
    types = children(child(root, "metadataTypes"), "metadataType")
    kind = next((i for i, item in enumerate(types, 1) if item.get("name") == _NAME), None)
    future = next((f for f in children(root, "futureMetadata") if f.get("name") == _NAME), None)
    dynamic = {
        str(index)
        for index, entry in enumerate(children(future, "bk"))
        if any(item.get("fDynamic") in {"1", "true"} for item in entry.iter())
    }
    for number, entry in enumerate(children(child(root, "cellMetadata"), "bk"), 1):
        records = children(entry, "rc")
        ours = [item for item in records if item.get("t") == str(kind)]
        if len(records) == 1 and ours and ours[0].get("v") in dynamic:
            return number
    return None


def _added(root: etree._Element) -> int:
    types = _list(root, "metadataTypes")
    names = [item.get("name") for item in types]
    if _NAME not in names:
        traits = dict.fromkeys(_TRAITS, "1")
        _append(types, "metadataType", {"name": _NAME, "minSupportedVersion": "120000", **traits})
        names.append(_NAME)
    future = next((f for f in children(root, "futureMetadata") if f.get("name") == _NAME), None)
    if future is None:
        future = etree.Element(like(root, "futureMetadata"), {"name": _NAME, "count": "0"})
        insert_in_order(root, future, _ORDER)
    entry = _append(future, "bk", {})
    extension = _append(_append(entry, "extLst", {}), "ext", {"uri": _URI})
    etree.SubElement(
        extension,
        f"{{{_DYNAMIC}}}dynamicArrayProperties",
        {"fDynamic": "1", "fCollapsed": "0"},
        nsmap={"xda": _DYNAMIC},
    )
    cells = _list(root, "cellMetadata")
    record = {"t": str(names.index(_NAME) + 1), "v": str(len(children(future, "bk")) - 1)}
    _append(_append(cells, "bk", {}), "rc", record)
    return len(children(cells, "bk"))


def _list(root: etree._Element, name: str) -> etree._Element:
    found = child(root, name)
    if found is None:
        found = etree.Element(like(root, name), {"count": "0"})
        insert_in_order(root, found, _ORDER)
    return found


def _append(parent: etree._Element, name: str, attributes: dict[str, str]) -> etree._Element:
    made = etree.SubElement(parent, like(parent, name), attributes)
    if parent.get("count") is not None:
        parent.set("count", str(len(children(parent, name))))
    return made
