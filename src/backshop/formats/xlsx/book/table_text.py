"""Texts that a table keeps in attributes, where a line break is written as `_x000a_`."""

from __future__ import annotations

import re

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_CONTROL = re.compile(r"[\x00-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")


def header_text(attribute: str) -> str:
    """Return the text that an attribute of a table stands for: that of a header or a label."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), attribute)


def header_attribute(text: str) -> str:
    """Return a text as tables write it down, equal to what the cell shows."""
    return _CONTROL.sub(lambda match: f"_x{ord(match[0]):04x}_", text)
