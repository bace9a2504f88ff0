"""The cells a chart names, and what it keeps of them: text and numbers, point by point."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from ..package.guard import Element
from .plan import GENERAL, Points, Reference
from .vocabulary import c, child, local

HOLDERS = ("tx", "cat", "val", "xVal", "yVal", "bubbleSize")
REFERENCES = {"numRef": "number", "strRef": "text", "multiLvlStrRef": "levels"}
_LITERALS = ("numLit", "strLit", "v", "rich")
_ELEMENTS = {kind: name for name, kind in REFERENCES.items()}
_CACHES = {"number": "numCache", "text": "strCache", "levels": "multiLvlStrCache"}
CACHES = frozenset(_CACHES.values())


def write(holder: Element, reference: Reference) -> None:
    """Let `tx`, `cat`, `val` and the like show these cells, and keep what they hold."""
    for item in [item for item in holder if local(item) in (*REFERENCES, *_LITERALS)]:
        holder.remove(item)
    element = etree.Element(c(_ELEMENTS[reference.kind]))
    holder.insert(0, element)
    etree.SubElement(element, c("f")).text = reference.formula
    if reference.points is not None:
        element.append(_cache(reference))


def _cache(reference: Reference) -> Element:
    points = reference.points or ()
    cache = etree.Element(c(_CACHES[reference.kind]))
    if reference.kind == "number":
        etree.SubElement(cache, c("formatCode")).text = reference.format_code
    count = max(map(len, points), default=0)
    etree.SubElement(cache, c("ptCount"), val=str(count))
    for level in points:
        into = etree.SubElement(cache, c("lvl")) if reference.kind == "levels" else cache
        for at, text in enumerate(level):
            if text is not None:
                point = etree.SubElement(into, c("pt"), idx=str(at))
                etree.SubElement(point, c("v")).text = text
    return cache


def write_text(holder: Element, text: str) -> None:
    """Let the name of a series be a text of its own."""
    for item in [item for item in holder if local(item) in (*REFERENCES, *_LITERALS)]:
        holder.remove(item)
    element = etree.Element(c("v"))
    element.text = text
    holder.insert(0, element)


def formula_of(holder: Element | None) -> str | None:
    """Return where the cells are that `tx`, `cat`, `val` and the like show."""
    for item in holder if holder is not None else ():
        formula = child(item, "f") if local(item) in REFERENCES else None
        if formula is not None:
            return "".join(str(text) for text in formula.itertext()).strip()
    return None


def read(holder: Element | None) -> Reference | None:
    """Return the cells that `tx`, `cat`, `val` and the like show, None where there are none."""
    for item in holder if holder is not None else ():
        kind = REFERENCES.get(local(item))
        formula = child(item, "f") if kind else None
        if kind and formula is not None:
            return _read(item, kind, "".join(str(text) for text in formula.itertext()))
    return None


def _read(element: Element, kind: str, formula: str) -> Reference:
    cache = child(element, _CACHES[kind])
    if cache is None:
        return Reference(formula=formula.strip(), kind=kind)
    levels = cache.findall(c("lvl")) if kind == "levels" else [cache]
    code = child(cache, "formatCode")
    return Reference(
        formula=formula.strip(),
        kind=kind,
        points=tuple(_points(level, cache) for level in levels),
        format_code=(code.text or GENERAL) if code is not None else GENERAL,
    )


def _points(level: Element, cache: Element) -> Points:
    """Return the points that are kept; how many there are is not trusted (F4.7)."""
    kept: dict[int, str] = {}
    for point in level.findall(c("pt")):
        at, held = point.get("idx") or "", child(point, "v")
        if at.isdigit() and len(at) < 10 and held is not None:
            kept[int(at)] = held.text or ""
    counted = child(cache, "ptCount")
    said = counted.get("val") or "" if counted is not None else ""
    most = int(said) if said.isdigit() and len(said) < 10 else 0
    size = min(max(most, max(kept, default=-1) + 1), len(kept) * 64 + 64)
    return tuple(kept.get(at) for at in range(size))


def literal(holder: Element | None) -> str | None:
    """Return the text of a name that is a text of its own."""
    held = child(holder, "v")
    return None if held is None else held.text or ""


def shown_text(holder: Element | None) -> str | None:
    """Return the name of a series as it reads: its own text, or what is kept of its cells."""
    own = literal(holder)
    found = read(holder) if own is None else None
    if found is None or not found.points:
        return own
    words = [text for level in reversed(found.points) for text in level if text]
    return " ".join(words) if words else None


def holders(ser: Element) -> Iterator[Element]:
    """Go through the elements of a series that name cells."""
    return (item for item in ser if local(item) in HOLDERS)


def formulas(root: Element) -> list[str]:
    """Return every reference of a chart, each once, in the order of the file."""
    texts = ((item.text or "").strip() for item in root.iter(c("f")))
    return list(dict.fromkeys(text for text in texts if text))
