"""The bullets and numbers of list items as they are shown, counted through (F43.52)."""

from __future__ import annotations

import re

from backshop.formats.canvas.marker import alphabetic, bullet_letter, roman
from backshop.formats.package.guard import Element

from ..text import name as n
from ..text.stylesheet import Numberings, StyleSheet, child_value, whole

_FIELD = re.compile(r"%([1-9])")
_FONT = f"{n.RPR}/{n.w('rFonts')}"


class ListNumbers:
    """Counts the items of all lists; paragraphs are asked for in their order."""

    def __init__(self, styles: StyleSheet, numberings: Numberings) -> None:
        self._styles = styles
        self._numberings = numberings
        self._counts: dict[Element, dict[int, int]] = {}  # by abstract list and level
        self._levels: dict[str, dict[int, Element]] = {}
        self._begun: set[tuple[str, int]] = set()  # lists that started a level anew

    def marker(self, paragraph: Element) -> tuple[str, Element] | None:
        """Return the bullet or number of a paragraph and its level; None where it is no item."""
        properties = paragraph.find(n.PPR)
        own = properties.find(n.NUM_PR) if properties is not None else None
        by_style, style_level = self._styles.list_of(child_value(properties, n.PSTYLE))
        num_id = child_value(own, n.NUM_ID) or by_style
        definition = self._numberings.definition(num_id) if num_id and num_id != "0" else None
        if num_id is None or definition is None:
            return None
        at = min(max(whole(child_value(own, n.ILVL) or style_level) or 0, 0), 8)
        levels = self._of(num_id)
        level = levels.get(at)
        if level is None:
            return None
        counts = self._counts.setdefault(definition.abstract, {})
        started = self._started(num_id, at)
        if started is not None:
            counts[at] = started - 1
        counts[at] = counts.get(at, _start(level) - 1) + 1
        for deeper in [one for one in counts if one > at]:
            del counts[deeper]
        return self._text(level, levels, counts), level

    def _of(self, num_id: str) -> dict[int, Element]:
        if num_id not in self._levels:
            definition = self._numberings.definition(num_id)
            found: dict[int, Element] = {}
            if definition is not None:
                for level in definition.abstract.iterchildren(n.w("lvl")):
                    found.setdefault(whole(level.get(n.ILVL)) or 0, level)
                for override in definition.overrides:
                    for level in override.iterchildren(n.w("lvl")):
                        found[whole(override.get(n.ILVL)) or 0] = level
            self._levels[num_id] = found
        return self._levels[num_id]

    def _started(self, num_id: str, at: int) -> int | None:
        """Return the number a list begins a level with, the first time it is asked for."""
        if (num_id, at) in self._begun:
            return None
        self._begun.add((num_id, at))
        definition = self._numberings.definition(num_id)
        for override in definition.overrides if definition is not None else ():
            if (whole(override.get(n.ILVL)) or 0) == at:
                return whole(child_value(override, n.w("startOverride")))
        return None

    def _text(self, level: Element, levels: dict[int, Element], counts: dict[int, int]) -> str:
        kind = child_value(level, n.w("numFmt")) or "decimal"
        text = child_value(level, n.w("lvlText")) or ""
        if kind == "bullet":
            fonts = level.find(_FONT)
            font = (fonts.get(n.w("ascii")) or "") if fonts is not None else ""
            return bullet_letter(text or "•", font)
        if kind == "none":
            return ""
        is_legal = level.find(n.w("isLgl")) is not None

        def number(found: re.Match[str]) -> str:
            other = int(found[1]) - 1
            own = levels.get(other)
            how = (child_value(own, n.w("numFmt")) if own is not None else None) or "decimal"
            start = _start(own) if own is not None else 1
            return counted(counts.get(other, start), "decimal" if is_legal else how)

        return _FIELD.sub(number, text)[:40]


def _start(level: Element) -> int:
    found = whole(child_value(level, n.w("start")))
    return 1 if found is None else found


def counted(number: int, kind: str) -> str:
    """Return a number in a format of the standard; formats of other scripts as plain numbers."""
    match kind:
        case "lowerLetter":
            return alphabetic(number)
        case "upperLetter":
            return alphabetic(number).upper()
        case "lowerRoman":
            return roman(number)
        case "upperRoman":
            return roman(number).upper()
        case "decimalZero":
            return f"{number:02d}"
        case "bullet" | "none":
            return ""
    return str(number)
