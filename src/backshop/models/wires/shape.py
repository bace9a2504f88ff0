"""What the wires share: reading JSON nobody vouches for, and giving back what a model wrote."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

from backshop.base.limits import OUTPUT_FLOOR_TOKENS
from backshop.base.media.image import Image
from backshop.models.catalog.catalog import LOCAL, ModelRecord
from backshop.models.errors import ContextExhausted
from backshop.models.ledger.usage import request_tokens
from backshop.models.messages import ModelRequest, ProviderState

Json = dict[str, Any]

_TEXT, _CALL = "text", "call"
_EXTRA = "with text"  # no block of a provider's has a field of this name
_LOCAL_OUTPUT_MIN = 256
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


def encoded(image: Image) -> str:
    """Return the bytes of a picture as every API takes them."""
    return base64.b64encode(image.data).decode()


def data_url(image: Image) -> str:
    """Return a picture as an address that holds it."""
    return f"data:{image.media_type};base64,{encoded(image)}"


def output_room(request: ModelRequest, model: ModelRecord) -> int:
    """Return how long an answer may be, reduced to what the window leaves (M6.2).

    Raises:
        ContextExhausted: the request leaves no room.
    """
    wanted = request.max_output_tokens or model.max_output_tokens
    room = model.context_tokens_estimate - request_tokens(request)
    if room < min(wanted, OUTPUT_FLOOR_TOKENS):
        raise ContextExhausted(
            "the request leaves no room for an answer",
            detail=f"prompt_tokens: {request_tokens(request)}",
            model_id=model.model_id,
            provider_id=model.provider_id,
        )
    return min(wanted, room)


def local_output(request: ModelRequest, model: ModelRecord) -> int | None:
    """Return how long an answer of the person's own server may be, so that it cannot run on (M6.2).

    Half of what the window leaves at most: prompts are measured roughly, and a server may refuse
    what could exceed its window.
    """
    if not model.provider_id.startswith(LOCAL):
        return None
    room = model.context_tokens_estimate - request_tokens(request)
    return min(model.max_output_tokens, max(_LOCAL_OUTPUT_MIN, room // 2))


class Outline:
    """In which order text, calls and what only the provider reads stood in its answer."""

    def __init__(self) -> None:
        self._places: dict[Any, Any] = {}

    def text(self, place: Any, extra: Json | None = None) -> None:
        """Note that text stands at a place, and what the provider wants back with it."""
        self._places[place] = {_EXTRA: extra} if extra else _TEXT

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
        extra = part.get(_EXTRA) if isinstance(part, dict) else None
        if part == _TEXT or extra is not None:
            yield from ({**one, **(extra or {})} for one in said)
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
