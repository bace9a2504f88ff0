"""A document as comparable units: paragraphs, table cells, and the frame they stand in (F16.13)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from backshop.formats.effect import Unit, fingerprint

from . import names as n
from .document import WRAPPERS, block_elements, row_cells, table_rows

Element = etree._Element


class Placed(NamedTuple):
    """A unit and the element it is made of."""

    element: Element
    unit: Unit


def body_units(body: Element, part: str) -> list[Placed]:
    """Return the units of the main part."""
    return [*_units(body, "body"), _frame(body, part)]


def part_units(root: Element, part: str) -> list[Placed]:
    """Return the units of a header, footer or notes part."""
    found: list[Placed] = []
    containers = [child for child in root if child.tag in _NOTES] or [root]
    for number, container in enumerate(containers):
        label = part if container is root else f"{part} note {number}"
        found.extend(_units(container, label))
        if container is not root:
            found.append(_frame(container, label))
    found.append(_frame(root, part))
    return found


_NOTES = (n.w("footnote"), n.w("endnote"))


def _units(container: Element, label: str) -> Iterator[Placed]:
    for index, element in enumerate(block_elements(container)):
        where = f"{label} {index}"
        if element.tag == n.P:
            yield Placed(element, Unit("paragraph", where, fingerprint(element)))
            continue
        yield Placed(element, Unit("table", where, b"".join(_around(element, (n.TR,)))))
        for number, row in enumerate(table_rows(element)):
            row_where = f"{where} row {number}"
            yield Placed(row, Unit("row", row_where, b"".join(_around(row, (n.TC,)))))
            for column, cell in enumerate(row_cells(row)):
                yield Placed(cell, Unit("cell", f"{row_where} cell {column}", fingerprint(cell)))


def _frame(container: Element, part: str) -> Placed:
    """Return what stands around the blocks: section properties, content controls, bookmarks."""
    around = b"".join(_around(container, (n.P, n.TBL, *_NOTES)))
    return Placed(container, Unit("part", f"{part} frame", around))


def _around(element: Element, inside: tuple[str, ...]) -> Iterator[bytes]:
    """Yield an element without the content that has units of its own."""
    yield f"{element.tag}{sorted(element.attrib.items())}".encode()
    for child in element:
        if child.tag in inside:
            continue
        if child.tag in WRAPPERS:
            yield from _around(child, inside)
        else:
            yield fingerprint(child)
