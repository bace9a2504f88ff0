"""Parts that nothing leads to any more go, and with them what only they led to."""

from __future__ import annotations

from .package import Package
from .relationship import rels_name


def remove_unused(package: Package, part: str) -> list[str]:
    """Remove a part that nothing leads to, with what only it leads to; return their names."""
    return [] if part in _led_to(package) else remove_tree(package, part)


def remove_tree(package: Package, part: str) -> list[str]:
    """Remove a part and what only it leads to; return their names."""
    targets = [package.find(rel.part) for rel in package.rels(part) if rel.part]
    rels = package.find(rels_name(part))
    gone = [part, *([rels] if rels else [])]
    for name in gone:
        package.remove(name)
    used = _led_to(package)
    for target in dict.fromkeys(targets):
        if target and target not in used and target in package:
            gone += remove_tree(package, target)
    return gone


def _led_to(package: Package) -> set[str | None]:
    return {
        package.find(rel.part)
        for name in ("", *package.names)
        if not name.endswith(".rels")
        for rel in package.rels(name)
        if rel.part
    }
