"""Filters and orders of ranges, of sheets and of named tables, after lines came or went."""

from __future__ import annotations

from backshop.formats.package.guard import Element

from ..book.workbook import child, children
from ..syntax.address import Area, parse_area
from .follow import Follow


def moved_filter(element: Element, follow: Follow) -> bool:
    """Let a filter follow, with what its columns show; False when it is gone."""
    before = parse_area(element.get("ref") or "")
    if before is None:
        return True
    if not _move_ref(element, follow):
        return False
    after = parse_area(element.get("ref") or "")
    assert after is not None, "it was just moved"
    if follow.shift.axis == "column":
        for item in children(element, "filterColumn"):
            number = item.get("colId") or ""
            now = follow.shift.line(before.col1 + int(number)) if number.isdigit() else None
            if now is None:
                element.remove(item)
            elif now - after.col1 != int(number):
                item.set("colId", str(now - after.col1))
    for item in children(element, "sortState"):
        if not moved_sort(item, follow):
            element.remove(item)
    return True


def moved_sort(element: Element, follow: Follow) -> bool:
    """Let an order follow; False when the range, or all that it goes by, is gone."""
    if not _move_ref(element, follow):
        return False
    items = children(element, "sortCondition")
    for item in items:
        if not _move_ref(item, follow):
            element.remove(item)
    return not items or child(element, "sortCondition") is not None


def hides(element: Element | None, col: int) -> bool:
    """Whether a filter shows only some of the rows by what a column holds."""
    area = parse_area(element.get("ref") or "") if element is not None else None
    if area is None:
        return False
    return any(
        len(item) > 0 and item.get("colId") == str(col - area.col1)
        for item in children(element, "filterColumn")
    )


def is_active(element: Element | None) -> bool:
    """Whether a filter shows only some of the rows."""
    return any(len(item) > 0 for item in children(element, "filterColumn"))


def filtered(element: Element | None) -> Area | None:
    """Return the range of a filter."""
    return parse_area(element.get("ref") or "") if element is not None else None


def _move_ref(element: Element, follow: Follow) -> bool:
    ref = element.get("ref")
    now = follow.place(ref) if ref else ref
    if now is None:
        return ref is None
    if now != ref:
        element.set("ref", now)
    return True
