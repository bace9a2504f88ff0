"""Charts: the ranges their series show, and the values they keep of them, after lines moved."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.formats.package.guard import Element

from ..book.workbook import child, children, local
from ..syntax.address import Area
from ..syntax.reference import GONE, references
from .follow import Follow

_CACHES = frozenset({"numCache", "strCache", "multiLvlStrCache", "lvl", "dlblRangeCache"})
_FORMULAS = frozenset({"f", "sqref"})  # both hold formulas in a chart


def move_chart(root: Element, follow: Follow) -> None:
    """Let the formulas of a chart follow, and the values that are kept with each."""
    for element in list(root.iter("{*}*")):
        text = element.text or ""
        if local(element) == "f" and text.strip():
            now = follow.formula(text)
            parent = element.getparent()
            if now != text:
                element.text = now
            if parent is not None:
                _move_caches(parent, text, now, follow)
        elif local(element) in _FORMULAS and text.strip():
            now = " ".join(follow.formula(one) for one in text.split(" "))
            if now != text and GONE not in now:
                element.text = now


def _move_caches(parent: Element, before: str, after: str, follow: Follow) -> None:
    """Let the kept values stand at their new places; unknown ones go."""
    held = [item for item in parent if local(item) in _CACHES]
    if not held or not _is_resized(before, follow):
        return
    places = None if GONE in after else _places(before, follow)
    for cache in held:
        if places is None or local(cache) == "multiLvlStrCache" or not _replace(cache, places):
            parent.remove(cache)


def _is_resized(formula: str, follow: Follow) -> bool:
    return any(
        one.sheet.lower() == follow.sheet.lower() and follow.shift.resizes(one.area)
        for one in references(formula, follow.home)
    )


Places = tuple[dict[int, int], int, int]  # new numbers by old ones, how many there were and are


def _places(formula: str, follow: Follow) -> Places | None:
    """Return which value of a range is which after the shift; None for what is no line of cells."""
    found: dict[int, int] = {}
    old = new = 0
    for one in references(formula, follow.home):
        is_meant = one.sheet.lower() == follow.sheet.lower()
        now = follow.shift.area(one.area) if is_meant else one.area
        if one.area.count > 100_000 or min(one.area.height, one.area.width) > 1:
            return None
        if now is not None:
            for number, place in enumerate(_images(one.area, follow, is_meant)):
                if place is not None:
                    at = (place[0] - now.row1) * now.width + place[1] - now.col1
                    found[old + number] = new + at
        old += one.area.count
        new += now.count if now is not None else 0
    return found, old, new


def _images(area: Area, follow: Follow, is_meant: bool) -> Iterator[tuple[int, int] | None]:
    """Go through the cells of a range as they are after the shift."""
    for row, col in area.cells():
        line = follow.shift.line(row if follow.shift.axis == "row" else col) if is_meant else 0
        if not is_meant:
            yield row, col
        elif line is None:
            yield None
        else:
            yield (line, col) if follow.shift.axis == "row" else (row, line)


def _replace(cache: Element, places: Places) -> bool:
    """Give the kept values their new numbers; False when they are not those of all cells."""
    found, old, new = places
    holder = child(cache, "ptCount")
    said = holder.get("val") if holder is not None else cache.get("ptCount")
    if said != str(old):
        return False  # hidden rows are left out, for one
    for item in children(cache, "pt"):
        number = item.get("idx") or ""
        now = found.get(int(number)) if number.isdigit() else None
        if now is None:
            cache.remove(item)
        else:
            item.set("idx", str(now))
    if holder is not None:
        holder.set("val", str(new))
    else:
        cache.set("ptCount", str(new))
    return True
