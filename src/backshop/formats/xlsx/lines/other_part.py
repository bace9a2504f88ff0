"""Parts with a few places or formulas: names, comments, pivot tables, controls, connections."""

from __future__ import annotations

from collections.abc import Sequence

from backshop.formats.package.guard import Element

from ..book.workbook import child, children, local, rel_id
from ..syntax.formula import tokens
from ..syntax.reference import GONE
from .follow import Follow

BUILT_IN = "_xlnm."
_PRINTED = ("_xlnm.Print_Area", "_xlnm.Print_Titles", "_xlnm._FilterDatabase")
_CONTROL = ("fmlaLink", "fmlaRange", "fmlaGroup", "fmlaTxbx", "fmlaPict")
_OCX = frozenset({"LinkedCell", "ListFillRange"})


def move_names(root: Element, follow: Follow, sheets: Sequence[str]) -> None:
    """Let the names of a workbook follow; those of one sheet may leave its name out."""
    names = child(root, "definedNames")
    for item in children(names, "definedName"):
        before = "".join(str(piece) for piece in item.itertext())
        name, scope = item.get("name") or "", item.get("localSheetId") or ""
        is_scoped = scope.isdigit() and int(scope) < len(sheets)
        here = follow.at(sheets[int(scope)]) if is_scoped else follow
        now = here.name(before, is_built_in=name.startswith(BUILT_IN))
        if now == before:
            continue
        if name in _PRINTED and GONE in now:
            now = ",".join(one for one in _listed(now) if GONE not in one)
        if not now and names is not None:
            names.remove(item)
            continue
        for piece in list(item):
            item.remove(piece)
        item.text = now
    if names is not None and not len(names):
        root.remove(names)


def _listed(text: str) -> list[str]:
    """Return the ranges of a name that lists several."""
    found = [""]
    for token in tokens(text):
        if token.kind == "separator":
            found.append("")
        else:
            found[-1] += token.text
    return found


def move_comments(root: Element, follow: Follow) -> None:
    """Let comments, threads and cells bound to XML stay with their cells, or go with them."""
    if not follow.is_own:
        return
    keys = {"comment": "ref", "threadedComment": "ref", "singleXmlCell": "r"}
    for item in list(root.iter(*(f"{{*}}{name}" for name in keys))):
        key = keys[local(item)]
        before = item.get(key)
        now = follow.place(before) if before else before
        parent = item.getparent()
        if now is None and before and parent is not None:
            parent.remove(item)
        elif now and now != before:
            item.set(key, now)


def move_pivot(root: Element, follow: Follow) -> None:
    """Let a pivot table stay where its cells are."""
    place = child(root, "location")
    ref = place.get("ref") if place is not None else None
    if follow.is_own and place is not None and ref:
        place.set("ref", follow.place(ref) or ref)


def move_sources(root: Element, follow: Follow) -> None:
    """Let the ranges that pivot tables are made from follow."""
    for item in root.iter("{*}worksheetSource", "{*}rangeSet"):
        ref, sheet = item.get("ref"), item.get("sheet") or ""
        if ref and sheet.lower() == follow.sheet.lower() and rel_id(item) is None:
            item.set("ref", follow.place(ref) or ref)


def move_control(root: Element, follow: Follow) -> None:
    """Let a form control or an embedded one follow the cells it is linked to."""
    for key in _CONTROL:
        if root.get(key):
            root.set(key, follow.formula(root.get(key) or ""))
    for item in root.iter("{*}ocxPr"):
        value = next((key for key in item.attrib if str(key).endswith("value")), None)
        named = next((v for k, v in item.attrib.items() if str(k).endswith("name")), "")
        if value is not None and named in _OCX:
            item.set(value, follow.formula(item.get(value) or ""))


def move_parameters(root: Element, follow: Follow) -> None:
    """Let the cells follow that queries of a connection ask with."""
    for item in root.iter("{*}parameter"):
        if item.get("cell"):
            item.set("cell", follow.formula(item.get("cell") or ""))


def move_topics(root: Element, follow: Follow, sheet_id: str) -> None:
    """Let the cells follow that show what a real-time source says."""
    for item in list(root.iter("{*}tr")):
        if item.get("s") == sheet_id and item.get("r"):
            now = follow.place(item.get("r") or "")
            parent = item.getparent()
            if now is not None:
                item.set("r", now)
            elif parent is not None:
                parent.remove(item)


def move_links(root: Element, follow: Follow) -> None:
    """Let the texts of shapes and the pictures of ranges follow the cells they show."""
    for item in root.iter("{*}*"):
        for key in ("textlink", "cellRange"):
            if item.get(key):
                now = follow.formula((item.get(key) or "").removeprefix("="))
                mark = "=" if (item.get(key) or "").startswith("=") else ""
                item.set(key, mark + now)
