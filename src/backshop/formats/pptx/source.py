"""Opens a presentation, guarded, and says what in it could act on its own (F4)."""

from __future__ import annotations

from backshop.formats.package.package import Package
from backshop.formats.protocol import Json, Source

from .deck import Deck


def open_deck(source: Source) -> Deck:
    """Scan and open a presentation.

    Raises:
        FormatError: whatever the guard finds, `corrupt_file` when it is no presentation.
    """
    return Deck(Package.open(source))


def security(package: Package) -> dict[str, Json]:
    """Return what the map says of macros, links and embedded objects; only what is true (F4.4)."""
    names = [name.lower() for name in package.names]
    found: dict[str, Json] = {}
    if package.has_macros:
        found["macros"] = True
    if any(_leads_outside(package, name) for name in package.names if name.endswith(".rels")):
        found["external_links"] = True
    if any("/embeddings/" in name or "/activex/" in name for name in names):
        found["embedded_objects"] = True
    return found


def _leads_outside(package: Package, rels: str) -> bool:
    """Whether a relationship fetches from outside; a hyperlink only leads there when followed."""
    data = package.read(rels)
    if b"External" not in data:
        return False
    return any(
        line.get("TargetMode") == "External" and not (line.get("Type") or "").endswith("/hyperlink")
        for line in package.xml(rels)
    )
