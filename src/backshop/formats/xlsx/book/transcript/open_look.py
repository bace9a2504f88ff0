"""Which number format a cell of OpenDocument has: that of its style, or of those above it."""

from __future__ import annotations

from backshop.formats.package.guard import Element

from ..number_format import CUSTOM_FROM, GENERAL
from .open_number_format import TAGS, OpenNumberFormats

_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_MOST_PARENTS = 50


class Looks:
    """The styles of cells by name, as the numbers of looks that have a number format."""

    def __init__(self) -> None:
        self.codes: dict[int, str] = {}
        self.formats = [0]  # the number format of each look
        self._formats = OpenNumberFormats()
        self._own: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._known: dict[str, int] = {}
        self._by_code: dict[str, int] = {}

    def take(self, root: Element) -> None:
        """Take in all styles of a part."""
        for element in root.iter(f"{_STYLE}style", *TAGS):
            self.note(element)

    def note(self, element: Element) -> None:
        """Take in a style of cells, or a number format."""
        if element.tag in TAGS:
            self._formats.note(element)
        elif element.get(f"{_STYLE}family") == "table-cell":
            name = str(element.get(f"{_STYLE}name"))
            self._own[name] = str(element.get(f"{_STYLE}data-style-name") or "")
            self._parents[name] = str(element.get(f"{_STYLE}parent-style-name") or "")

    def number(self, style: str) -> int:
        """Return the number of the look that a style gives; 0 is one without a format."""
        if style not in self._known:
            self._known[style] = self._found(style)
        return self._known[style]

    def _found(self, style: str) -> int:
        for _ in range(_MOST_PARENTS):
            if self._own.get(style):
                break
            style = self._parents.get(style, "")
        code = self._formats.code(self._own.get(style, ""))
        if code is None or code in {"", GENERAL}:
            return 0
        if code not in self._by_code:
            self.codes[CUSTOM_FROM + len(self.codes)] = code
            self._by_code[code] = len(self.formats)
            self.formats.append(CUSTOM_FROM + len(self.codes) - 1)
        return self._by_code[code]
