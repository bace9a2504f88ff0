"""The links of cells: where each leads, and how one comes or goes (F41.14)."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.package.package import Package
from backshop.formats.package.relationship import rels_name

from ..book.element_order import SHEET_ORDER, insert_in_order
from ..book.sheet_edit import SheetEdit
from ..book.workbook import Book, child, children, like, rel_id
from ..drawing.drawing_edit import RELATIONS, in_dialect
from ..syntax.address import Area, parse_area

LINKS = "hyperlinks"
LINKS_MAX = 65_530  # of one sheet, as in Excel


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a cell or a range: an address, a place behind `#`, or both."""

    area: Area
    address: str = ""  # empty: it leads into the workbook
    location: str = ""
    tooltip: str = ""
    display: str = ""

    @property
    def target(self) -> str:
        """Where it leads, as people write it; a place of the workbook begins with `#`."""
        return f"{self.address}#{self.location}" if self.location else self.address


def links_of(package: Package, part: str | None, root: Element | None) -> list[Link]:
    """Return the links of a sheet; `root` is what stands around its cells."""
    items = children(child(root, LINKS), "hyperlink")
    if not items or part is None:
        return []
    targets = {rel.id: rel.target for rel in reversed(package.rels(part))}
    found = []
    for item in items:
        area = parse_area(item.get("ref") or "")
        if area is not None:
            found.append(
                Link(
                    area,
                    targets.get(rel_id(item) or "", ""),
                    item.get("location") or "",
                    item.get("tooltip") or "",
                    item.get("display") or "",
                )
            )
    return found


@dataclass
class LinkEdit:
    """Changes the links of one sheet; `made` are parts that came or went, `addresses` targets."""

    book: Book
    edit: SheetEdit
    made: set[str] = field(default_factory=set)
    addresses: set[str] = field(default_factory=set)

    @property
    def _part(self) -> str:
        assert self.edit.sheet.part is not None, "a sheet that is edited has a part"
        return self.edit.sheet.part

    def remove(self, hole: Area) -> list[Area]:
        """Take the links off these cells; what they cover beside stays linked. Return where."""
        parent = child(self.edit.frame.root, LINKS)
        gone: list[Area] = []
        if parent is None:
            return gone
        for item in children(parent, "hyperlink"):
            area = parse_area(item.get("ref") or "")
            if area is None or not area.meets(hole):
                continue
            gone.append(area)
            for piece in area.without(hole):
                copy = deepcopy(item)
                copy.set("ref", str(piece))
                for key in [key for key in copy.attrib if str(key).endswith("}uid")]:
                    del copy.attrib[key]
                item.addprevious(copy)
            parent.remove(item)
        if gone:
            self._drop_unused()
            if not len(parent):
                self.edit.frame.root.remove(parent)
            self.edit.refresh_frame()
        return gone

    def take(self, area: Area) -> None:
        """Take off the link of just these cells."""
        parent = child(self.edit.frame.root, LINKS)
        for item in children(parent, "hyperlink"):
            if parent is not None and parse_area(item.get("ref") or "") == area:
                parent.remove(item)
        self._drop_unused()
        if parent is not None and not len(parent):
            self.edit.frame.root.remove(parent)
        self.edit.refresh_frame()

    def _drop_unused(self) -> None:
        package = self.book.package
        used = {rel_id(item) for item in self.edit.frame.root.iter("{*}*")}
        for rel in package.rels(self._part):
            if rel.type.endswith("/hyperlink") and rel.id not in used:
                self.addresses.add(rel.target)
                package.remove_rel(self._part, rel.id)
        name = package.find(rels_name(self._part))
        if name is not None and not package.rels(self._part):
            package.remove(name)
            self.made.add(name)

    def add(self, link: Link) -> None:
        """Add a link to cells that have none."""
        root = self.edit.frame.root
        parent = child(root, LINKS)
        if parent is None:
            parent = etree.Element(like(root, LINKS))
            insert_in_order(root, parent, SHEET_ORDER)
        item = etree.SubElement(parent, like(root, "hyperlink"), ref=str(link.area))
        if link.address:
            space = in_dialect(self.book, RELATIONS)
            if self.book.package.find(rels_name(self._part)) is None:
                self.made.add(rels_name(self._part))
            self.addresses.add(link.address)
            number = self.book.package.add_rel(
                self._part, f"{space}/hyperlink", link.address, external=True
            )
            item.set(f"{{{space}}}id", number)
        for key in ("location", "tooltip", "display"):
            if said := getattr(link, key):
                item.set(key, said)
        self.edit.refresh_frame()

    def count(self) -> int:
        """Return how many links the sheet has."""
        return len(children(child(self.edit.frame.root, LINKS), "hyperlink"))


def by_place(links: Iterable[Link]) -> dict[str, Link] | None:
    """Return links by their cells; None where two stand at one place."""
    listed = list(links)
    found = {str(link.area): link for link in listed}
    return found if len(found) == len(listed) else None
