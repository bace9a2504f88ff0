"""Two contents of a file for tests, and what must hold for every choice of changes."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

from backshop.formats import ChangeUnit, Formats, Source


def source(path: Path, data: bytes) -> Source:
    """Write a file and return it as a source."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return Source(path, hashlib.sha256(data).hexdigest(), path.name)


def pair(folder: Path, name: str, before: bytes, after: bytes) -> tuple[Source, Source]:
    """Return two contents of a file of one name."""
    return source(folder / "before" / name, before), source(folder / "after" / name, after)


def subsets(units: list[ChangeUnit], seed: int, count: int) -> list[frozenset[str]]:
    """Return all, none, and some choices of changes."""
    rng = random.Random(seed)
    ids = [unit.id for unit in units]
    some = [frozenset(one for one in ids if rng.random() < 0.5) for _ in range(count)]
    return list(dict.fromkeys([frozenset(ids), frozenset(), *some]))


def composed(formats: Formats, sides: tuple[Source, Source], left_out: frozenset[str]) -> Source:
    """Return the file with some changes left out."""
    out = sides[1].path.parent.parent / "made" / sides[1].name
    out.parent.mkdir(exist_ok=True)
    formats.compose(*sides, left_out, out)
    return source(out, out.read_bytes())
