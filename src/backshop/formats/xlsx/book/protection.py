"""What a protected sheet lets people do, and which of its cells they may change (F40.16)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from backshop.formats.cell_range import rectangles
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Json
from backshop.formats.write.operation import problem

from ..syntax.address import Area, column_name, column_number
from .frame import SECRETS, Frame, OpenRange
from .piece import pieces
from .sheet_xml import SheetXml
from .stylesheet import StyleSheet
from .workbook import Book, child, children, truth

RANGES_LISTED = 20
_CELLS_LOOKED_AT = 200_000
_ACTS = {
    "formatCells": "format cells",
    "formatColumns": "format columns",
    "formatRows": "format rows",
    "insertColumns": "insert columns",
    "insertRows": "insert rows",
    "insertHyperlinks": "insert links",
    "deleteColumns": "delete columns",
    "deleteRows": "delete rows",
    "sort": "sort",
    "autoFilter": "filter",
    "pivotTables": "use pivot tables",
}
_DRAWN = {"objects": "change drawings", "scenarios": "change scenarios"}


class Protection:
    """The protection of a sheet that is protected."""

    def __init__(self, book: Book, xml: SheetXml, frame: Frame) -> None:
        self._xml = xml
        self._frame = frame
        self._styles = StyleSheet(book)
        found = child(frame.root, "sheetProtection")
        assert found is not None, "the sheet is protected"
        self._element = found

    @property
    def has_password(self) -> bool:
        """Whether lifting it needs a password."""
        return any(self._element.get(key) for key in SECRETS)

    @property
    def allowed(self) -> list[str]:
        """What may be done all the same, in words."""
        acts = [word for key, word in _ACTS.items() if not truth(self._element.get(key), True)]
        drawn = [word for key, word in _DRAWN.items() if not truth(self._element.get(key))]
        return [*acts, *drawn]

    @property
    def ranges(self) -> list[OpenRange]:
        """The ranges that may be changed although their cells are locked."""
        return self._frame.open_ranges

    @cached_property
    def unlocked(self) -> list[str]:
        """The cells that are not locked: ranges, then columns whose empty cells are not."""
        numbers = self._styles.unlocked()
        if not numbers:
            return []
        covered = rectangles(self._cells(numbers))
        ranges = [str(Area(*one)) for one in covered]
        return [*ranges, *self._columns(set(numbers))]

    def _cells(self, looks: list[int]) -> Iterator[tuple[int, int]]:
        prefix = re.escape(self._xml.words.prefix)
        wanted = b"|".join(b"%d" % look for look in looks)
        pattern = re.compile(
            rb"<%sc\s(?=[^>]*?\bs=[\"'](?:%s)[\"'])[^>]*?\br=[\"']([A-Za-z]{1,3})(\d{1,7})[\"']"
            % (prefix, wanted)
        )
        row = b"<" + self._xml.words.prefix + b"row"
        cells = (
            found
            for _, piece in pieces(self._xml.data, row, self._xml.inner, self._xml.close)
            for found in pattern.finditer(piece)
        )
        for _, found in zip(range(_CELLS_LOOKED_AT), cells, strict=False):
            yield int(found[2]), column_number(found[1].decode())

    def _columns(self, looks: set[int]) -> Iterator[str]:
        for item in children(child(self._frame.root, "cols"), "col"):
            style, first, last = (_whole(item.get(key)) for key in ("style", "min", "max"))
            if style in looks and 1 <= first <= last:
                yield f"{column_name(first)}:{column_name(last)} (where cells have no own look)"

    def to_json(self) -> dict[str, Json]:
        """Return what a map says of it; never what a password is made of."""
        found: dict[str, Json] = {
            "password": self.has_password,
            "allowed": self.allowed,
            "unlocked": self.unlocked[:RANGES_LISTED],
        }
        if len(self.unlocked) > RANGES_LISTED:
            found["unlocked_more"] = len(self.unlocked) - RANGES_LISTED
        if self.ranges:
            found["ranges"] = [
                {"name": one.name, "range": one.where, "password": one.has_password}
                for one in self.ranges[:RANGES_LISTED]
            ]
        return found

    def hints(self) -> list[str]:
        """Return which cells may be changed, and who can lift the protection."""
        more = len(self.unlocked) - RANGES_LISTED
        listed = ", ".join(self.unlocked[:RANGES_LISTED])
        rest = f" and {more} more" if more > 0 else ""
        said = [f"unlocked: {listed}{rest}" if listed else "no cell of the sheet is unlocked"]
        for one in self.ranges[:3]:
            if one.has_password:
                said.append(f"{one.where} ({one.name}) needs a password of its own")
        return [*said, way(has_password=self.has_password)]


def is_open(frame: Frame, row: int, col: int) -> bool:
    """Whether a locked cell lies in a range that everybody may change."""
    return any(
        area.has(row, col)
        for one in frame.open_ranges
        if not one.has_password
        for area in one.areas
    )


def way(*, has_password: bool) -> str:
    """Return who can lift a protection."""
    secret = "its password" if has_password else "no password"
    return (
        f"the person can lift the protection in their own program ({secret} is needed); "
        "it is never lifted here"
    )


def refusal(frame: Frame, where: str, what: str) -> FormatError:
    """Return the error for something that a protected sheet does not allow (F40.16)."""
    element = child(frame.root, "sheetProtection")
    has_password = element is not None and any(element.get(key) for key in SECRETS)
    return problem("sheet_protected", where, what, hints=[way(has_password=has_password)])


def structure_protection(book: Book) -> dict[str, Json] | None:
    """Return the protection of the list of sheets, None when it is free."""
    found = child(book.root, "workbookProtection")
    if found is None or not truth(found.get("lockStructure")):
        return None
    keys = ("workbookPassword", "workbookHashValue", "workbookAlgorithmName")
    return {"password": any(found.get(key) for key in keys)}


def _whole(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else 0
