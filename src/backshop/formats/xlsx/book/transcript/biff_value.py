"""Values of cells as binary workbooks write them."""

from __future__ import annotations

import struct

from backshop.formats.figure.plain import exact_text

ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}
STATES = {0: "visible", 1: "hidden", 2: "veryHidden"}
_FRONT = 0xFFFFFFFC
_SIGN = 1 << 31

Held = tuple[str, str]
"""What a cell holds: its kind (n, str, b, e) and its text."""


def rk_number(raw: int) -> float:
    """Return the number that four bytes stand for: the front of a float, or a whole number."""
    if raw & 2:
        number = float((raw - (1 << 32) if raw & _SIGN else raw) >> 2)
    else:
        number = struct.unpack("<d", struct.pack("<Q", (raw & _FRONT) << 32))[0]
    return number / 100 if raw & 1 else number


def number(value: float) -> Held:
    """Return a number; what is none is an error, as Excel shows it."""
    if value != value or abs(value) == float("inf"):
        return "e", "#NUM!"
    return "n", exact_text(value)


def truth(value: int) -> Held:
    """Return a truth value."""
    return "b", "1" if value else "0"


def error(value: int) -> Held:
    """Return an error by its number."""
    return "e", ERRORS.get(value, "#VALUE!")
