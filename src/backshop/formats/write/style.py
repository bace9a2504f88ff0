"""The style vocabulary the office formats share: colours, switches and words from a closed list.

A value that cannot be used never fails an operation (F16.7): it is left out with
`style_value_ignored`. A key nobody knows is refused. A format reads its style object through a
`StyleReader`, which gives back only what can be applied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from backshop.base import limits

from ..package.wellformed import xml_allows
from ..protocol import Json
from ..warning import Warnings
from .operation import problem, read_as, refuse_others

T = TypeVar("T")

_COLOUR = re.compile(r"#?(?:[0-9A-Fa-f]{2})?([0-9A-Fa-f]{6})")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})

FILL_PATTERNS = (
    *("none", "solid", "darkDown", "darkGray", "darkGrid", "darkHorizontal", "darkTrellis"),
    *("darkUp", "darkVertical", "gray0625", "gray125", "lightDown", "lightGray", "lightGrid"),
    *("lightHorizontal", "lightTrellis", "lightUp", "lightVertical", "mediumGray"),
)
CELL_H_ALIGN = (
    *("left", "center", "right", "justify", "general", "fill", "distributed", "centerContinuous"),
)
CELL_V_ALIGN = ("top", "center", "bottom", "justify", "distributed")
BORDER_STYLES = (
    *("none", "thin", "medium", "thick", "dashed", "dotted", "double", "hair", "mediumDashed"),
    "dashDot",
)
PARAGRAPH_ALIGN = ("left", "center", "right", "justify")
HIGHLIGHTS: Mapping[str, str] = {  # our word -> the RGB it means; `none` takes a highlight away
    "yellow": "FFFF00",
    "bright_green": "00FF00",
    "turquoise": "00FFFF",
    "pink": "FF00FF",
    "blue": "0000FF",
    "red": "FF0000",
    "dark_blue": "000080",
    "teal": "008080",
    "green": "008000",
    "violet": "800080",
    "dark_red": "800000",
    "dark_yellow": "808000",
    "gray_50": "808080",
    "gray_25": "C0C0C0",
    "black": "000000",
    "white": "FFFFFF",
    "none": "",
}
_HIGHLIGHT_ALIASES = {
    "cyan": "turquoise",
    "magenta": "pink",
    "lightgray": "gray_25",
    "darkgray": "gray_50",
}
LINK_SCHEMES = ("http://", "https://", "mailto:")


def colour(value: Json) -> str | None:
    """Return `RRGGBB` in capitals for `#RRGGBB`, `RRGGBB` or `AARRGGBB`, else None."""
    match = _COLOUR.fullmatch(value) if isinstance(value, str) else None
    return match.group(1).upper() if match else None


def boolean(value: Json) -> bool | None:
    """Return what a switch means, also as 0/1 and as a word (F18.1), else None."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    return True if word in _TRUE else False if word in _FALSE else None


def number(least: float, most: float, *, above: bool = False) -> Callable[[Json], float | None]:
    """Return a reader of numbers from `least` (not itself when `above`) to `most`."""

    def read(value: Json) -> float | None:
        value = read_as(value, float)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        inside = least < value <= most if above else least <= value <= most
        return value if inside else None

    return read


def one_of(words: Iterable[str]) -> Callable[[Json], str | None]:
    """Return a reader that gives the listed spelling of a word, whatever its case."""
    table = {word.lower(): word for word in words}
    return lambda value: table.get(value.strip().lower()) if isinstance(value, str) else None


def highlight(value: Json) -> str | None:
    """Return the listed name of a highlight colour; case, spaces and hyphens do not count."""
    if not isinstance(value, str):
        return None
    word = re.sub(r"[\s_-]", "", value).lower()
    table = {name.replace("_", ""): name for name in HIGHLIGHTS} | _HIGHLIGHT_ALIASES
    return table.get(word)


def text(most: int = 255) -> Callable[[Json], str | None]:
    """Return a reader of non-empty text of at most `most` characters that XML can hold."""

    def read(value: Json) -> str | None:
        usable = isinstance(value, str) and 0 < len(value) <= most and all(map(xml_allows, value))
        return value if usable and isinstance(value, str) else None

    return read


def link(value: Json) -> str | None:
    """Return a web or mail address, else None (F19.1)."""
    found = text(limits.WRITE_TEXT_MAX_BYTES)(value)
    return found if found is not None and found.lower().startswith(LINK_SCHEMES) else None


class StyleReader:
    """Reads the fields of one style object and notes what could not be used.

    `where` is the op path (`operations[2].style`). Fields that are null count as absent.
    """

    def __init__(self, style: Mapping[str, Json], where: str, warnings: Warnings) -> None:
        self._style = style
        self._where = where
        self._warnings = warnings

    def get(self, key: str, read: Callable[[Json], T | None]) -> T | None:
        """Return the value of `key`, or None when it is absent or cannot be used."""
        value = self._style.get(key)
        if value is None:
            return None
        found = read(value)
        if found is None:
            self._warnings.add("style_value_ignored", where=f"{self._where}.{key}")
        return found

    def refuse_others(self, known: Iterable[str]) -> None:
        """Refuse a key that is not of this vocabulary (F16.7)."""
        refuse_others(self._style, known, self._where)


def style_object(value: Json, where: str) -> Mapping[str, Json]:
    """Return a style as the object it has to be."""
    if not isinstance(value, Mapping):
        raise problem("bad_type", where, "a style is an object of style fields")
    return value
