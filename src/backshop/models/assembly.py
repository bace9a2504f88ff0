"""Puts a streamed answer together: pieces of tool calls joined by the provider's own key (M8.5)."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from .messages import (
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStarted,
)

_LOG = logging.getLogger(__name__)
_CUT = "{"  # arguments that were never begun must not read as "no arguments"


@dataclass(slots=True)
class _Call:
    index: int
    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    final: str | None = None

    def arguments(self, *, cut: bool) -> str:
        text = self.final if self.final is not None else "".join(self.pieces)
        return _CUT if cut and not text.strip() else text


class Answer:
    """The parts of one answer as they arrive."""

    def __init__(self) -> None:
        self._calls: dict[Hashable, _Call] = {}
        self._texts: list[str] = []

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._texts)

    @property
    def has_calls(self) -> bool:
        """Whether a tool was called."""
        return bool(self._calls)

    def add_text(self, text: object) -> Iterator[StreamEvent]:
        """Take a piece of text."""
        if isinstance(text, str) and text:
            self._texts.append(text)
            yield TextDelta(text)

    def complete_text(self, whole: str) -> Iterator[StreamEvent]:
        """Take the final text; what the pieces lacked of it is passed on."""
        seen = self.text
        if whole.startswith(seen):
            yield from self.add_text(whole[len(seen) :])
        elif whole != seen:
            _LOG.warning("the final text differs from its pieces; the pieces are kept")

    def start_call(self, key: Hashable, call_id: object, name: object) -> Iterator[StreamEvent]:
        """Begin a call; a repeated beginning fills in what was missing."""
        known = self._calls.get(key)
        if known is None:
            known = _Call(len(self._calls), _text(call_id), _text(name))
            self._calls[key] = known
            yield ToolCallStarted(known.index, known.id, known.name)
            return
        known.id = known.id or _text(call_id)
        known.name = known.name or _text(name)

    def add_arguments(self, key: Hashable, piece: object) -> Iterator[StreamEvent]:
        """Take a piece of a call's arguments; one for an unknown call is left out and logged."""
        call = self._calls.get(key)
        if call is None:
            _LOG.warning("arguments for a call that never began")
        elif isinstance(piece, str) and piece:
            call.pieces.append(piece)
            yield ToolCallDelta(call.index, len(piece))

    def finish_call(self, key: Hashable, arguments: object) -> None:
        """Take a call's final arguments, which win over the pieces."""
        call = self._calls.get(key)
        if call is None or not isinstance(arguments, str):
            return
        if call.pieces and "".join(call.pieces) != arguments:
            _LOG.warning("final arguments of %s differ from their pieces", call.name[:64])
        call.final = arguments

    def finished_calls(self, *, cut: bool = False) -> Iterator[ToolCallDone]:
        """Give every call, complete; `cut` says that the answer ended before its time."""
        for call in self._calls.values():
            yield ToolCallDone(call.index, call.id, call.name, call.arguments(cut=cut))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
