"""Formulas without a result, named: where they stand, and which function or what else it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backshop.formats.protocol import Json

from ..evaluation.schedule import Refusal
from ..syntax.address import compact
from .precedent import Place

UNCOMPUTED_LISTED = 40


@dataclass(frozen=True, slots=True)
class Uncomputed:
    """Cells side by side that have no result for one reason."""

    where: str
    reason: str
    function: str  # the function or name it is about; empty when it is about none
    count: int

    def to_json(self) -> dict[str, Json]:
        """Return the entry of F24.15."""
        about: dict[str, Json] = {"function": self.function} if self.function else {}
        return {"where": self.where, **about, "reason": self.reason, "count": self.count}


def named(refused: Mapping[Place, Refusal]) -> list[Uncomputed]:
    """Return the cells without a result as ranges; causes come before what only follows."""
    groups: dict[tuple[str, str, str], set[tuple[int, int]]] = {}
    for place, refusal in refused.items():
        key = (refusal.reason, refusal.about, place.sheet)
        groups.setdefault(key, set()).add((place.row, place.col))
    found = [
        Uncomputed(f"{sheet}!{area}", reason, about, area.count)
        for (reason, about, sheet), cells in sorted(groups.items())
        for area in compact(cells)
    ]
    return sorted(found, key=lambda one: one.reason == "depends_on_not_computed")
