"""What a review says of a named table: that it came or went, and what changed of it (F37.11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy

from backshop.formats.package.guard import Element
from backshop.formats.package.package import canonical_element

from ..book.table_text import header_text
from ..book.workbook import child, children, local

_SHOWN = 6
_NAMES = ("name", "displayName")
_TOLD = frozenset({*_NAMES, "ref", "totalsRowCount", "totalsRowShown", "headerRowCount", "id"})
_TOTALS = ("totalsRowFunction", "totalsRowLabel")
_SWITCHES = {
    "showFirstColumn": "first column",
    "showLastColumn": "last column",
    "showRowStripes": "banded rows",
    "showColumnStripes": "banded columns",
}


def whole_words(root: Element) -> str:
    """Return what a table is that came or went."""
    columns = [_name(one) for one in _columns(root).values()]
    more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    totals = ", with a totals row" if _has_totals(root) else ""
    return f"{root.get('ref')}, columns {', '.join(columns[:_SHOWN])}{more}{totals}"


def changed_words(old: Element, new: Element) -> list[str]:
    """Return what changed of a table, every difference in some words."""
    return [
        *_name_words(old, new),
        *_column_words(_columns(old), _columns(new)),
        *_total_words(old, new),
        *_style_words(old, new),
        *_other_words(old, new),
    ]


def _name_words(old: Element, new: Element) -> Iterator[str]:
    names = [root.get("displayName") or root.get("name") or "" for root in (old, new)]
    if names[0] != names[1]:
        yield f"called {names[1]} (was {names[0]})"
    elif old.get("name") != new.get("name"):
        yield "its inner name"
    if old.get("ref") != new.get("ref"):
        yield f"{old.get('ref')} → {new.get('ref')}"
    heads = [root.get("headerRowCount", "1") for root in (old, new)]
    if heads[0] != heads[1]:
        yield "header row off" if heads[1] == "0" else "header row on"
    if old.get("id") != new.get("id"):
        yield "its number"


def _column_words(old: Mapping[str, Element], new: Mapping[str, Element]) -> Iterator[str]:
    for key, one in old.items():
        if key in new and _name(one) != _name(new[key]):
            yield f"column {_name(one)} → {_name(new[key])}"
    came = [_name(one) for key, one in new.items() if key not in old]
    went = [_name(one) for key, one in old.items() if key not in new]
    if came:
        yield f"columns that came: {', '.join(came[:_SHOWN])}"
    if went:
        yield f"columns that went: {', '.join(went[:_SHOWN])}"
    both = [key for key in old if key in new]
    if both != [key for key in new if key in old]:
        yield "order of columns"
    for key in both:
        if _formula(old[key]) != _formula(new[key]):
            yield f"formula of column {_name(new[key])}"
        if _rest_of_column(old[key]) != _rest_of_column(new[key]):
            yield f"other settings of column {_name(new[key])}"


def _total_words(old: Element, new: Element) -> Iterator[str]:
    has = [_has_totals(root) for root in (old, new)]
    if has[0] != has[1]:
        yield "totals row on" if has[1] else "totals row off"
    sides = _columns(old), _columns(new)
    for key, one in sides[0].items():
        two = sides[1].get(key)
        if two is not None and _total(one) != _total(two):
            yield f"total of column {_name(two)}: {_total(one) or 'none'} → {_total(two) or 'none'}"
    if not has[1] and old.get("totalsRowShown") != new.get("totalsRowShown") and has[0] == has[1]:
        yield "whether it ever had a totals row"


def _style_words(old: Element, new: Element) -> Iterator[str]:
    infos = [child(root, "tableStyleInfo") for root in (old, new)]
    said = [dict(_plain(info)) if info is not None else {} for info in infos]
    names = [one.get("name", "none") for one in said]
    if names[0] != names[1]:
        yield f"style {names[0]} → {names[1]}"
    for key, words in _SWITCHES.items():
        values = [one.get(key, "0") in ("1", "true") for one in said]
        if values[0] != values[1]:
            yield f"{words} {'on' if values[1] else 'off'}"


def _other_words(old: Element, new: Element) -> Iterator[str]:
    sides = [_others(root) for root in (old, new)]
    for name in sorted({*sides[0], *sides[1]}):
        if sides[0].get(name) != sides[1].get(name):
            yield {"autoFilter": "filter", "sortState": "order", "": "other settings"}.get(
                name, name
            )


def _others(root: Element) -> dict[str, tuple[bytes, ...]]:
    """Return what is neither name, range, columns, totals nor style; a filter without its range."""
    found: dict[str, tuple[bytes, ...]] = {}
    for item in root:
        if local(item) in ("tableColumns", "tableStyleInfo", ""):
            continue
        copy = deepcopy(item)
        copy.tail = None
        if local(item) == "autoFilter":
            copy.attrib.pop("ref", "")
        found[local(item)] = (*found.get(local(item), ()), canonical_element(copy))
    own = sorted((key, value) for key, value in _plain(root) if key not in _TOLD)
    return {**found, "": (repr(own).encode(),)}


def _plain(element: Element) -> list[tuple[str, str]]:
    return [(str(key), str(value)) for key, value in element.attrib.items()]


def _columns(root: Element) -> dict[str, Element]:
    items = children(child(root, "tableColumns"), "tableColumn")
    return {item.get("id") or str(-at): item for at, item in enumerate(items)}


def _name(column: Element) -> str:
    return header_text(column.get("name") or "").replace("\n", " ")


def _formula(column: Element) -> str:
    item = child(column, "calculatedColumnFormula")
    return (item.text or "") if item is not None else ""


def _total(column: Element) -> str:
    formula = child(column, "totalsRowFormula")
    if formula is not None and formula.text:
        return f"={formula.text}"
    word = column.get("totalsRowFunction") or "none"
    label = header_text(column.get("totalsRowLabel") or "")
    return f"“{label}”" if word == "none" and label else "" if word == "none" else word


def _rest_of_column(column: Element) -> bytes:
    copy = deepcopy(column)
    copy.tail = None
    for key in ("name", "id", *_TOTALS):
        copy.attrib.pop(key, "")
    for item in list(copy):
        if local(item) in ("calculatedColumnFormula", "totalsRowFormula"):
            copy.remove(item)
    return canonical_element(copy)


def _has_totals(root: Element) -> bool:
    return (root.get("totalsRowCount") or "0") != "0"
