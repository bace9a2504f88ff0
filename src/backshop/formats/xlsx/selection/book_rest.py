"""What differs between two workbooks and can only be taken as a whole (B12.22)."""

from __future__ import annotations

from copy import deepcopy
from typing import get_args

from backshop.formats.diff import part_diff
from backshop.formats.package.guard import Element
from backshop.formats.package.package import canonical_element
from backshop.formats.protocol import JsonObject

from ..book.sheet_xml import SheetXml
from ..book.workbook import Book, child, children, local
from ..drawing.drawing_edit import links_in
from ..drawing.drawn_key import parts_counted
from ..review.other_change import Knowledge
from ..rule.difference import strip
from ..rule.entry import RuleKind
from .rule_change import ELEMENTS, told_rules

_OPEN_TAB = ("activeTab", "firstSheet")
_NOT_HERE = frozenset({"sheets", "definedNames", "bookViews"})


class Rest(Knowledge):
    """What the slots of sheets, names and tables do not tell, by the parts of the package."""

    def __init__(
        self,
        old: Book,
        new: Book,
        told: dict[str, frozenset[str]],
        drawn: dict[str, set[tuple[str, ...]]],
    ) -> None:
        super().__init__(old, new)
        self._elements = told  # by the part of a sheet: elements that slots tell
        self._changed = drawn  # by the part of a sheet: charts and pictures that slots tell
        self._shown = self._parts_shown()
        self.metadata_grew = _grew(old, new)

    def _parts_shown(self) -> tuple[set[str], set[str]]:
        """Return the parts of both sides that the keys of changed charts and pictures count."""
        found: tuple[set[str], set[str]] = (set(), set())
        for sheet in self._drawn.sheets:
            known = self._changed.get(sheet.sheets[1].part or "", set())
            for parts, book, drawn in zip(found, self._books, sheet.drawn, strict=True):
                for one in drawn:
                    if (one.sort, one.id) in known:
                        parts.update(parts_counted(book, one))
        return found

    @property
    def has_same_metadata(self) -> bool:
        """Whether the metadata part is the same on both sides."""
        parts = [book.related("sheetMetadata") for book in self._books]
        one, two = (
            book.package.read(part) if part else b""
            for book, part in zip(self._books, parts, strict=True)
        )
        return one == two

    def found(self) -> list[JsonObject]:
        """Return every such difference, each with its part and its words."""
        old, new = self._books
        compared = part_diff.Comparison(old.package, new.package, self.rules()).run()
        listed = compared["rest"]
        assert isinstance(listed, list), "a comparison lists what is left"
        return [one for one in listed if isinstance(one, dict)]

    def _is_told(self, part: str, is_new: bool) -> bool:
        book = self._books[is_new]
        if is_new and part == book.related("styles"):
            return self._books[0].related("styles") is None
        if part == book.related("sheetMetadata"):
            return self.metadata_grew
        sheet = self._drawn.sheet_of(part, is_new)
        if sheet is not None and sheet.sheets[1].part in self._changed:
            return True
        return self._is_attached(part, is_new) or super()._is_told(part, is_new)

    def _is_attached(self, part: str, is_new: bool) -> bool:
        """Whether a part holds notes that slots tell one by one."""
        return part in self._noted[is_new]

    def _links(self, part: str, is_new: bool) -> frozenset[str]:
        """Return the links of a drawing told by slots: what stands on it brings or keeps them."""
        sheet = self._drawn.sheet_of(part, is_new)
        if sheet is None or sheet.sheets[1].part not in self._changed:
            return frozenset()
        return frozenset(links_in(self._books[is_new].package.xml(part)))

    def _of_drawing(self, pair: part_diff.Pair) -> part_diff.Found:
        sheet = self._drawn.sheet_of(pair.new_name, True)
        if sheet is not None and sheet.sheets[1].part in self._changed:
            return self._drawn.leftover(pair)
        return super()._of_drawing(pair)

    def _of_chart(self, pair: part_diff.Pair) -> part_diff.Found:
        found = self._drawn.chart_pair(pair.new_name)
        known = self._changed.get(found[0].sheets[1].part or "", set()) if found else set()
        if found and (found[1].sort, found[1].id) in known:
            return []
        return super()._of_chart(pair)

    def _told(self, pair: part_diff.Pair) -> part_diff.Found | None:
        new = self._books[1]
        if pair.new_name == new.related("sharedStrings"):
            return []
        if self._is_attached(pair.new_name, True) and self._is_attached(pair.old_name, False):
            return []
        if pair.new_name in self._shown[1] and pair.old_name in self._shown[0]:
            return []
        if pair.new_name == new.related("sheetMetadata") and self.metadata_grew:
            return []
        return super()._told(pair)

    def _differs(self, pair: part_diff.Pair) -> bool:
        return False  # told by slots, wherever they differ

    def _of_sheet(self, pair: part_diff.Pair, old: SheetXml, new: SheetXml) -> part_diff.Found:
        told = self._elements.get(pair.new_name, frozenset())
        for kind in get_args(RuleKind):
            if told_rules(kind) in told:
                told -= {ELEMENTS[kind]}
                strip((pair.old, pair.new), kind)
        return part_diff.groups(pair, told | {"sheetData"})

    def _of_workbook(self, pair: part_diff.Pair) -> part_diff.Found:
        windows = [self._windows(at, root) for at, root in enumerate((pair.old, pair.new))]
        for root in (pair.old, pair.new):
            for item in [item for item in root if local(item) in _NOT_HERE]:
                if local(item) != "sheets":
                    root.remove(item)
        found = super()._of_workbook(pair)
        if windows[0] != windows[1]:
            found.append(("window", 1))
        return found

    def _windows(self, side: int, root: Element) -> list[bytes]:
        """Return the windows, which tab is open by its sheet; one that came or went is nobody."""
        open_tabs = {
            book_side.index: first.name
            for first, second in self._pairs
            for book_side in ((first, second)[side],)
        }
        found = []
        for view in children(child(root, "bookViews"), "workbookView"):
            copy = deepcopy(view)
            for key in [key for key in copy.attrib if "}" in str(key)]:
                del copy.attrib[key]
            for key in _OPEN_TAB:
                at = copy.attrib.pop(key, "0")
                name = open_tabs.get(int(at)) if str(at).isdigit() else None
                if name is not None and not self._has_other_sheets:
                    copy.set(key, name)
            found.append(canonical_element(copy))
        return found

    @property
    def _has_other_sheets(self) -> bool:
        return any(len(sheets) != len(self._pairs) for sheets in self._sheets)


def _grew(old: Book, new: Book) -> bool:
    """Whether numbers of the metadata part mean the same after, and maybe new ones came."""
    first, second = old.related("sheetMetadata"), new.related("sheetMetadata")
    if first is None:
        return True
    if second is None:
        return False
    one, two = old.package.read(first), new.package.read(second)
    return one == two or _starts_alike(old.package.xml(first), new.package.xml(second))


def _starts_alike(old: Element, new: Element) -> bool:
    lists = {(local(item), item.get("name")): item for item in new}
    for item in old:
        later = lists.get((local(item), item.get("name")))
        if later is None:
            return False
        entries = [canonical_element(one) for one in item]
        if [canonical_element(one) for one in later][: len(entries)] != entries:
            return False
    return True
