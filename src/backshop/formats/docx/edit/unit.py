"""A document as comparable units: paragraphs, table cells, and the frame they stand in (F16.13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lxml import etree

from backshop.formats.diff.effect import Unit, fingerprint
from backshop.formats.package.guard import Element

from ..text import name as n
from ..text.document import WRAPPERS, block_elements, row_cells, table_rows
from .removal import splits_field, torn

Take = Callable[[Element | None], bytes]


def nothing(_: Element | None) -> bytes:
    """Take no bytes of an element: only where the units stand is wanted."""
    return b""


class Placed(NamedTuple):
    """A unit and the element it is made of."""

    element: Element
    unit: Unit


def body_units(body: Element, part: str, take: Take = fingerprint) -> list[Placed]:
    """Return the units of the main part; `take` reads an element, or nothing of it."""
    return [*_units(body, "paragraph", take), _frame(body, part, take)]


def part_units(root: Element, part: str, take: Take = fingerprint) -> list[Placed]:
    """Return the units of a header, footer or notes part."""
    found: list[Placed] = []
    containers = [child for child in root if child.tag in _NOTES] or [root]
    for number, container in enumerate(containers):
        label = part if container is root else f"{part} note {number}"
        found.extend(_units(container, label, take))
        if container is not root:
            found.append(_frame(container, label, take))
    found.append(_frame(root, part, take))
    return found


_NOTES = (n.w("footnote"), n.w("endnote"))


def _units(container: Element, label: str, take: Take) -> Iterator[Placed]:
    for index, element in enumerate(block_elements(container)):
        where = f"{label} {index}"
        if element.tag == n.P:
            yield Placed(element, Unit("paragraph", where, take(element)))
            continue
        yield Placed(element, Unit("table", where, b"".join(_around(element, (n.TR,), take))))
        for number, row in enumerate(table_rows(element)):
            row_where = f"{where} row {number}"
            yield Placed(row, Unit("row", row_where, b"".join(_around(row, (n.TC,), take))))
            for column, cell in enumerate(row_cells(row)):
                yield Placed(cell, Unit("cell", f"{row_where} column {column}", take(cell)))


def _frame(container: Element, part: str, take: Take) -> Placed:
    """Return what stands around the blocks: section properties, content controls, bookmarks."""
    around = b"".join(_around(container, (n.P, n.TBL, *_NOTES), take))
    return Placed(container, Unit("part", f"{part} frame", around))


def _around(element: Element, inside: tuple[str, ...], take: Take) -> Iterator[bytes]:
    """Yield an element without the content that has units of its own."""
    yield f"{element.tag}{sorted(element.attrib.items())}".encode()
    for child in element:
        if child.tag in inside:
            continue
        if child.tag in WRAPPERS:
            yield from _around(child, inside, take)
        else:
            yield take(child)


class Seams(NamedTuple):
    """What reaches across the units of a tree: ends without their others, and section breaks."""

    loose: Counter[str]
    section_breaks: int

    def torn_in(self, after: Seams) -> list[str]:
        """Name what is no longer whole, though no operation may leave it so (F19.10)."""
        fewer = self.section_breaks > after.section_breaks
        return [*(after.loose - self.loose), *(["section break"] if fewer else [])]


def seams(root: Element) -> Seams:
    """Return the seams of a part."""
    ends = (marker for _, marker in torn([root]))
    loose = Counter(f"{etree.QName(end).localname} {end.get(n.ID)}" for end in ends)
    loose["field"] = int(splits_field([root]))
    loose["content control"] = sum(
        len(content) == 0
        for content in root.iter(n.SDT_CONTENT)
        if next(content.iterancestors(n.P), None) is None
    )
    return Seams(loose, sum(1 for _ in root.iterfind(f".//{n.P}/{n.PPR}/{n.SECT_PR}")))
