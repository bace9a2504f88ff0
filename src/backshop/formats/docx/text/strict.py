"""The words of the strict dialect that ours has others for: its sides are a start and an end."""

from __future__ import annotations

from backshop.formats.package.guard import Element

from . import name as n

_SIDES = {"left": "start", "right": "end"}
_INDENTS = {
    n.w(loose + of): n.w(strict + of) for loose, strict in _SIDES.items() for of in ("", "Chars")
}
_EDGES = {n.w(loose): n.w(strict) for loose, strict in _SIDES.items()}
_ALIGNED = frozenset(map(n.w, ("jc", "lvlJc", "tab")))
_EDGED = frozenset(map(n.w, ("tblBorders", "tblCellMar", "tcBorders", "tcMar")))


def tighten(root: Element) -> None:
    """Put what is new in a document of the strict dialect in words that its schema has."""
    for element in root.iter("*"):
        value = element.get(n.VAL)
        if element.tag == n.w("ind"):
            for loose in set(_INDENTS).intersection(element.attrib):
                element.set(_INDENTS[loose], element.attrib.pop(loose))
        elif element.tag in _ALIGNED and value in _SIDES:
            element.set(n.VAL, _SIDES[value])
        elif element.tag in _EDGED:
            for edge in element.iterchildren(*_EDGES):
                edge.tag = _EDGES[str(edge.tag)]
        elif element.tag == n.w("tblLook") and value is not None:
            del element.attrib[n.VAL]  # the same in bits
