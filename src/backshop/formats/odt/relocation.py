"""Where places in an OpenDocument text are in another version of it; looks are not read (F12)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from backshop.base.place import Place

from ..protocol import Source
from ..selection import block_place
from ..selection.block_place import Cell, Row, Spot
from ..selection.change_unit import Relocated
from .body import Block, load


def require_place(source: Source, place: Place) -> Place:
    """Return a place as the document has it, or the error a read would give."""
    return block_place.require(_spots(source), place)


def relocate(before: Source, after: Source, places: Sequence[Place]) -> list[Relocated]:
    """Return where each place of one version is in the other, and whether it is another there."""
    return block_place.relocate(
        _spots(before),
        _spots(after),
        places,
        (_no_look, _no_look),
        is_same_file=before.sha256 == after.sha256,
    )


def _no_look(_: int, __: str) -> object:
    return None


def _spots(source: Source) -> list[Spot]:
    return [_spot(block) for block in load(source).blocks]


def _spot(block: Block) -> Spot:
    if not block.rows:
        shown = _hash(block.text, block.level, block.prefix, block.below)
        return Spot("p", shown, block.text, is_blank=not block.text.strip() and not block.below)
    rows = tuple(
        Row(
            _hash(cells),
            "\t".join(cells),
            tuple(Cell(text, _hash(text), number, at) for at, text in enumerate(cells)),
        )
        for number, cells in enumerate(block.rows)
    )
    text = "\n".join(row.text for row in rows)
    return Spot("t", _hash(block.rows), text, rows, shape=str(max(map(len, block.rows))))


def _hash(*said: object) -> str:
    return hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()[:24]
