"""What the places of a document are called by which it is found again on its pages (F29.13).

LibreOffice spells out other signs than letters and digits.
"""

from __future__ import annotations


def begins(block: int) -> str:
    """Return the name of the place where a block begins."""
    return f"BackshopAt{block}"


def ends(block: int) -> str:
    """Return the name of the place where the last line of a block stands."""
    return f"BackshopEnd{block}"
