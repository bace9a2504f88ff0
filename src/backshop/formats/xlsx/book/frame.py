"""What a sheet says around its cells: merges, panes, protection (F8.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lxml import etree

from backshop.formats.protocol import Json

from ..syntax.address import Area, parse_area
from .sheet_xml import SheetXml
from .workbook import child, children, local, truth

MERGES_LISTED = 20
SECRETS = ("password", "hashValue", "algorithmName")
"""What a protection with a password has."""


@dataclass(frozen=True)
class OpenRange:
    """A range whose cells may be changed although they are locked, maybe with its own password."""

    name: str
    areas: tuple[Area, ...]
    has_password: bool

    @property
    def where(self) -> str:
        """Its cells."""
        return ", ".join(map(str, self.areas))


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

    @cached_property
    def open_ranges(self) -> list[OpenRange]:
        """The ranges that may be changed although their cells are locked."""
        found = []
        for item in children(child(self.root, "protectedRanges"), "protectedRange"):
            areas = [parse_area(ref) for ref in (item.get("sqref") or "").split()]
            kept = tuple(area for area in areas if area is not None)
            keys = (*SECRETS, "securityDescriptor")
            has_password = any(item.get(key) for key in keys)
            has_password = has_password or child(item, "securityDescriptor") is not None
            found.append(OpenRange(item.get("name") or "", kept, has_password))
        return found

    def has(self, name: str) -> bool:
        """Whether an element of this name stands anywhere in the frame, extensions included."""
        return any(local(element) == name for element in self.root.iter(etree.Element))


def _count(text: str | None) -> int:
    try:
        return int(float(text)) if text else 0
    except (ValueError, OverflowError):
        return 0
