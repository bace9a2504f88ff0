"""Names of colours, for words a person reads."""

from __future__ import annotations

_COLORS = {
    "000000": "black",
    "FFFFFF": "white",
    "FF0000": "red",
    "00FF00": "bright green",
    "008000": "green",
    "00B050": "green",
    "0000FF": "blue",
    "0070C0": "blue",
    "FFFF00": "yellow",
    "FFC000": "orange",
    "FFA500": "orange",
    "7030A0": "purple",
    "800080": "purple",
    "808080": "grey",
    "C0C0C0": "light grey",
    "D9D9D9": "light grey",
    "C00000": "dark red",
    "92D050": "light green",
    "00B0F0": "light blue",
}


def named_color(color: str) -> str:
    """Return a colour with its name where it has one: `red #FF0000`."""
    name = _COLORS.get(color.lstrip("#").upper())
    return f"{name} {color}" if name else color
