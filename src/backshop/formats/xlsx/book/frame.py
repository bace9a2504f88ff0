"""What a sheet says around its cells: merges, panes, protection, drawings (F8.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lxml import etree

from backshop.formats.protocol import Json

from ..syntax.address import Area, parse_area
from .sheet_xml import SheetXml
from .workbook import Book, Sheet, child, children, local, truth

MERGES_LISTED = 20
_CHART_REFS = 20


@dataclass(frozen=True)
class Frame:
    """The tree of a sheet without its cells, read field by field."""

    root: etree._Element

    @classmethod
    def of(cls, xml: SheetXml) -> Frame:
        """Read the frame of a sheet."""
        return cls(xml.frame())

    @cached_property
    def merges(self) -> list[Area]:
        """The merged ranges in file order."""
        cells = children(child(self.root, "mergeCells"), "mergeCell")
        areas = [parse_area(cell.get("ref") or "") for cell in cells]
        return [area for area in areas if area is not None]

    def merge_at(self, row: int, col: int) -> Area | None:
        """Return the merged range that covers a cell."""
        return next((area for area in self.merges if area.has(row, col)), None)

    def covered(self, area: Area) -> set[tuple[int, int]]:
        """Return the cells of an area in whose place the first cell of a merge is shown."""
        pairs = [(merge, part) for merge in self.merges if (part := merge.clip(area))]
        cells = ((merge, place) for merge, part in pairs for place in part.cells())
        return {place for merge, place in cells if place != (merge.row1, merge.col1)}

    @property
    def frozen(self) -> dict[str, Json] | None:
        """The first unfrozen row and column, 0-based, or None."""
        view = child(child(self.root, "sheetViews"), "sheetView")
        pane = child(view, "pane")
        if pane is None or pane.get("state") not in {"frozen", "frozenSplit"}:
            return None
        return {"row": _count(pane.get("ySplit")), "column": _count(pane.get("xSplit"))}

    @property
    def protected(self) -> bool:
        """Whether locked cells may not be changed."""
        protection = child(self.root, "sheetProtection")
        return protection is not None and truth(protection.get("sheet"))

    def has(self, name: str) -> bool:
        """Whether an element of this name stands anywhere in the frame, extensions included."""
        return any(local(element) == name for element in self.root.iter(etree.Element))


def _count(text: str | None) -> int:
    try:
        return int(float(text)) if text else 0
    except (ValueError, OverflowError):
        return 0


def drawings(book: Book, sheet: Sheet) -> tuple[list[dict[str, Json]], bool]:
    """Return the charts of a sheet and whether it shows pictures."""
    charts: list[dict[str, Json]] = []
    images = False
    for part in book.sheet_rels(sheet, "drawing"):
        names = _names_by_rel(book.package.xml(part))
        for rel in book.package.rels(part):
            kind = rel.type.rpartition("/")[2]
            images = images or kind == "image"
            target = book.package.find(rel.part) if rel.part else None
            if kind in {"chart", "chartEx"} and target:
                charts.append(_chart(book.package.xml(target), names.get(rel.id)))
    return charts, images


def _names_by_rel(root: etree._Element) -> dict[str, str]:
    """Return the name of each graphic frame by the id of the chart it shows."""
    names = {}
    for frame in root.iter("{*}graphicFrame"):
        name = next((e.get("name") for e in frame.iter("{*}cNvPr")), None)
        for element in frame.iter("{*}chart"):
            for key, value in element.attrib.items():
                if str(key).endswith("}id"):
                    names[str(value)] = name or ""
    return names


def _chart(root: etree._Element, name: str | None) -> dict[str, Json]:
    kind = None
    refs: list[str] = []
    for element in root.iter(etree.Element):
        word = local(element)
        if kind is None and word.endswith("Chart") and word != "Chart":
            kind = word.removesuffix("Chart").removesuffix("3D")
        elif kind is None and word == "series" and element.get("layoutId"):
            kind = element.get("layoutId")
        if word == "f" and element.text and element.text not in refs:
            refs.append(element.text)
    return {"name": name, "type": kind, "refs": refs[:_CHART_REFS]}
