"""A bench's stream as a conversation: which of its events count, and how they are folded."""

from __future__ import annotations

from dataclasses import replace

from backshop.bench import CALLS
from backshop.bench.events import BenchEvent
from backshop.store import Event, Fold

from .events import WorkshopEvent
from .fold import apply
from .state import WorkshopState


def _apply(state: WorkshopState, event: Event) -> WorkshopState:
    if event.kind.startswith(CALLS):
        return state  # not even read: who looks at what was said needs no models for it (B11.8)
    fact = event.fact
    if not isinstance(fact, BenchEvent | WorkshopEvent):
        return state
    if state.bench.by != event.by:
        state = replace(state, bench=replace(state.bench, by=event.by))
    return apply(state, fact, event.at_ms, event.seq)


FOLD: Fold[WorkshopState] = Fold("workshop", 11, WorkshopState(), _apply)
