"""What in an office package could act on its own or fetch something; only what is true (F4.4)."""

from __future__ import annotations

from ..protocol import Json
from .package import Package


def security(package: Package) -> dict[str, Json]:
    """Return what a map says of macros, links and embedded objects."""
    names = [name.lower() for name in package.names]
    found = {
        "macros": package.has_macros,
        "external_links": any(kind != "hyperlink" for kind in outside_kinds(package)),
        "embedded_objects": any("/embeddings/" in n or "/activex/" in n for n in names),
    }
    return {key: True for key, value in found.items() if value}


def outside_kinds(package: Package) -> list[str]:
    """Return the kinds of relationship that lead outside; a hyperlink only does when followed."""
    return [
        (line.get("Type") or "").rpartition("/")[2]
        for name in package.names
        if name.endswith(".rels") and b"External" in package.read(name)
        for line in package.xml(name)
        if line.get("TargetMode") == "External"
    ]
