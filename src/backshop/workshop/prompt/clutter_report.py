"""`WorkbenchGetClutter`: weighs what every call of a bench would carry (B16)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from backshop.base.command import Command, method_command
from backshop.base.errors import BackshopError
from backshop.bench import (
    HEAVY_TEXT,
    UNKNOWN_WINDOW_TOKENS,
    Weights,
    clutter,
    files_weight,
    text_weight,
)
from backshop.models import ModelRequestById, Models

from .. import requests
from ..conversation.repository import Conversations
from ..conversation.state import WorkshopState
from .excerpt import Excerpt, excerpt
from .gathering import Call, Gatherer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClutterBar:
    """How crowded a workbench is for its model; `Unavailable` when that cannot be said."""

    level: str
    score: float = 0.0
    model_id: str | None = None
    context_items_weight: float = 0.0
    context_share: float = 0.0
    context_warning: bool = False
    approximate: bool = False
    warning: str | None = None


class Cluttering:
    """Weighs benches. Blocks nothing: what goes wrong is answered as `Unavailable` (B16.7)."""

    def __init__(self, book: Conversations, models: Models, gatherer: Gatherer) -> None:
        self._book = book
        self._models = models
        self._gatherer = gatherer

    def get_clutter(self, request: requests.WorkbenchOnly) -> ClutterBar:
        """Return the clutter bar of a workbench.

        Raises:
            NotFound: there is no such workbench.
        """
        known = self._book.state(request.workbench_id)
        try:
            return self._bar(request.workbench_id, known)
        except BackshopError as error:
            _log.warning("clutter of %s: %s", request.workbench_id, error.code)
            return ClutterBar(level="Unavailable")

    def _bar(self, bench_id: str, known: WorkshopState) -> ClutterBar:
        chosen = known.model_id or known.default_model_id
        model_id = chosen or self._models.default_model().model_id
        window, approximate = self._window(model_id)
        said = active_excerpt(known)
        call = Call(key="research", bench_id=bench_id, window_tokens=window, excerpt=said)
        weights = weights_of(self._gatherer, call, _pending_chars(known))
        bar = clutter(weights, window)
        return ClutterBar(
            level=bar.level,
            score=bar.score,
            model_id=model_id,
            context_items_weight=bar.context_items_weight,
            context_share=bar.context_share,
            context_warning=bar.context_warning,
            approximate=approximate,
            warning=HEAVY_TEXT if bar.level == "Heavy" else None,
        )

    def _window(self, model_id: str | None) -> tuple[int, bool]:
        if model_id is None:
            return UNKNOWN_WINDOW_TOKENS, True
        try:
            window = self._models.capabilities(ModelRequestById(model_id=model_id)).context_tokens
        except BackshopError:
            window = 0
        listed = {one.model_id: one for one in self._models.models().models}
        known = listed.get(model_id)
        if window <= 0:
            return UNKNOWN_WINDOW_TOKENS, True
        return window, bool(known and known.approximate)


def weights_of(gatherer: Gatherer, call: Call, pending_chars: int = 0) -> Weights:
    """Return what a call would carry before it says anything new."""
    listing, injected = gatherer.weigh(call)
    return Weights(
        files=files_weight(
            ((one.kind, one.size_bytes) for one in listing.files),
            (one.line for one in listing.folders),
        ),
        conversation=text_weight(call.excerpt.chars),
        context_items=text_weight(injected.chars),
        pending=text_weight(pending_chars),
    )


def active_excerpt(known: WorkshopState) -> Excerpt:
    """Return the active line from its latest summary on (B16.4)."""
    summaries = [one for one in known.records.values() if one.type == "summary_message"]
    summaries.sort(key=lambda one: one.seq)
    return excerpt(known.active_line(), summaries)


def _pending_chars(known: WorkshopState) -> int:
    """Return how much streamed text is not part of the line yet."""
    return sum(
        len(record.text)
        for record in known.records.values()
        if record.status == "streaming" and record.message_id != known.head_id
    )


CLUTTER_COMMANDS: tuple[Command[Cluttering, Any, Any], ...] = (
    method_command(
        "WorkbenchGetClutter",
        "Say how crowded a workbench is for its model.",
        Cluttering.get_clutter,
        role="read",
    ),
)
