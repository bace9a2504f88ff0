"""Every function that is computed, by its English name; the others are not (F24.9)."""

from __future__ import annotations

from ..definition import Definition
from . import (
    array,
    criteria,
    date,
    engine,
    information,
    logic,
    lookup,
    money,
    number,
    rank,
    reference,
    statistics,
    sum,
    text,
)

FUNCTIONS: dict[str, Definition] = {
    **engine.FUNCTIONS,
    **array.FUNCTIONS,
    **criteria.FUNCTIONS,
    **date.FUNCTIONS,
    **information.FUNCTIONS,
    **logic.FUNCTIONS,
    **lookup.FUNCTIONS,
    **money.FUNCTIONS,
    **number.FUNCTIONS,
    **rank.FUNCTIONS,
    **reference.FUNCTIONS,
    **statistics.FUNCTIONS,
    **sum.FUNCTIONS,
    **text.FUNCTIONS,
}
