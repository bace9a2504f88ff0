"""How the formats of two workbooks compare: what a cell looks like, whatever its number is."""

from __future__ import annotations

from functools import cached_property

from backshop.formats.protocol import JsonObject

from ..book.workbook import Book
from ..edit.effect import only_appended
from ..review.other_change import whole_formats
from ..style import look_words
from ..style.look import Looks


class LookKeys:
    """The cell formats of a workbook before and after.

    Colours of a theme are compared by their place in it: another theme is a change of its own.
    """

    def __init__(self, old: Book, new: Book) -> None:
        self._looks = (Looks(old), Looks(new))
        self._looks[1].__dict__["theme"] = self._looks[0].theme
        self._wholes: tuple[dict[int, JsonObject], dict[int, JsonObject]] = ({}, {})
        self._pairs: dict[tuple[int, int], tuple[str, str] | None] = {}
        self.is_appended = _is_appended(old, new)
        self.has_hidden = False  # formats differ in what nobody sees, so it is told by no cell

    @cached_property
    def _formats(self) -> tuple[list[str], list[str]]:
        return whole_formats(self._looks[0]), whole_formats(self._looks[1])

    def whole(self, side: int, style: int) -> JsonObject:
        """Return all a format amounts to."""
        known = self._wholes[side]
        if style not in known:
            known[style] = self._looks[side].whole(style)
        return known[style]

    def raw(self, side: int, style: int) -> str:
        """Return a format with all that it says."""
        formats = self._formats[side]
        return formats[style] if style < len(formats) else ""

    def differing(self, one: int, two: int) -> tuple[str, str] | None:
        """Return both looks where they differ; None for cells that look the same."""
        if one == two and self.is_appended:
            return None
        if (one, two) not in self._pairs:
            self._pairs[one, two] = self._compared(one, two)
        return self._pairs[one, two]

    def _compared(self, one: int, two: int) -> tuple[str, str] | None:
        before, after = self.whole(0, one), self.whole(1, two)
        if before != after:
            pair = look_words.differing(before, after)
            return repr(sorted(pair[0].items())), repr(sorted(pair[1].items()))
        if self.raw(0, one) == self.raw(1, two):
            return None
        if self.is_appended:  # written here: somebody asked for it
            return self.raw(0, one), self.raw(1, two)
        self.has_hidden = True
        return None

    def words(self, one: int, two: int) -> str:
        """Return how the look of a cell changed, in words."""
        said = look_words.changes(self.whole(0, one), self.whole(1, two))
        return "; ".join(said) or "other formatting"


def _is_appended(old: Book, new: Book) -> bool:
    """Whether a number of a format means the same after, and maybe new ones came."""
    one, two = old.styles_root, new.styles_root
    if one is None:
        return True  # every cell has the one format there is without a table
    return two is not None and only_appended(one, two)
