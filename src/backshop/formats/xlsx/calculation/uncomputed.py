"""Formulas without a result, named: where they stand, and which function or what else it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backshop.formats.protocol import Json

from ..evaluation.schedule import Refusal
from ..syntax.address import compact
from .precedent import Place

UNCOMPUTED_LISTED = 40
_WORDS = {
    "array_context": "{} is not stored as the array formula it has to be",
    "circular": "it reads itself, directly or through others",
    "data_table": "it is a data table",
    "depends_on_not_computed": "it reads cells that have no result",
    "doubtful": "Excel may show another value",
    "engine_failure": "computing it failed",
    "external_reference": "it reads another workbook",
    "recalculation_off": "computing is switched off",
    "relative_name": "it uses a name that means other cells in every place",
    "rounded_as_shown": "the workbook computes with numbers as they are shown",
    "table_reference": "it names parts of a table that are not read here",
    "timeout": "there was no time left to compute it",
    "too_deep": "it goes too deep",
    "too_many_cells": "it reads too many cells",
    "too_many_formulas": "there are too many formulas to compute at once",
    "unknown_function": "{} is not computed here",
    "unknown_name": "the name {} is not there",
    "unknown_sheet": "it names a sheet that is not there",
    "unsupported_syntax": "it is written in a way that is not computed here",
    "volatile": "{} gives another value every time",
    "whole_column": "it goes through whole columns, empty rows included",
}


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


def said(where: str, reason: str, function: str) -> str:
    """Return why cells have no result, for people."""
    words = _WORDS.get(reason, "it is not computed here")
    if "{}" in words:
        words = words.format(function or "what it reads")
    elif function and reason == "doubtful":
        words = f"{words} for {function}"
    return f"{where}: {words}"


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
