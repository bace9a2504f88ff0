"""What the wires share: reading JSON nobody vouches for, and giving back what a model wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from backshop.models.messages import ProviderState

Json = dict[str, Any]

_TEXT, _CALL = "text", "call"
_COUNT_MAX = 10**12  # no answer has more tokens; a larger number is no count


def mapping(value: Any) -> Json:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def is_count(value: Any) -> bool:
    """Say whether a value can be a number of tokens."""
    return type(value) is int and 0 <= value <= _COUNT_MAX


def count(value: Any) -> int:
    """Return a number of tokens, or 0 for what cannot be one."""
    return int(value) if is_count(value) else 0


class Outline:
    """In which order text, calls and what only the provider reads stood in its answer."""

    def __init__(self) -> None:
        self._places: dict[Any, Any] = {}

    def text(self, place: Any) -> None:
        """Note that text stands at a place."""
        self._places[place] = _TEXT

    def call(self, place: Any) -> None:
        """Note that a call stands at a place."""
        self._places[place] = _CALL

    def keep(self, place: Any, block: Json) -> None:
        """Keep a block the provider wants back unchanged."""
        self._places[place] = block

    def block(self, place: Any) -> Json | None:
        """Return what is kept at a place, to be added to."""
        found = self._places.get(place)
        return found if isinstance(found, dict) else None

    def state(self, provider_id: str) -> ProviderState | None:
        """Return what goes back to the provider with the next request; None: nothing is kept."""
        parts = [self._places[place] for place in sorted(self._places, key=_position)]
        has_kept = any(isinstance(part, dict) for part in parts)
        return ProviderState(provider_id, parts) if has_kept else None


def replayed(state: Any, text: Iterable[Json], calls: Iterable[Json]) -> Iterator[Json]:
    """Give an answer's parts in the order an `Outline` noted; what it left out comes last."""
    said, called = list(text), list(calls)
    for part in state if isinstance(state, list) else ():
        if part == _TEXT:
            yield from said
            said = []
        elif part == _CALL:
            yield from called[:1]
            called = called[1:]
        elif isinstance(part, dict):
            yield part
    yield from said
    yield from called


def _position(place: Any) -> int:
    return place if isinstance(place, int) else 0
