"""Puts a streamed answer together: pieces of tool calls joined by the provider's own key (M8.5)."""

from __future__ import annotations

import logging
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from ..errors import BadResponse
from ..messages import (
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStarted,
)

_LOG = logging.getLogger(__name__)
_CALLS_MAX = 256  # M9.8 runs 50 and answers the rest; a flood is no answer
_NAME_MAX_CHARS = 256
_ID_MAX_CHARS = 512
_CUT = "{"  # arguments that were never begun must not read as "no arguments"


_HALF = re.compile("[\ud800-\udfff]")
_FIRST_HALF = re.compile("[\ud800-\udbff]")


@dataclass(slots=True)
class _Call:
    index: int
    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    final: str | None = None

    def arguments(self, *, cut: bool) -> str:
        text = whole(self.final if self.final is not None else "".join(self.pieces))
        return _CUT if cut and not text.strip() else text


class AnswerParts:
    """The parts of one answer as they arrive."""

    def __init__(self) -> None:
        self._calls: dict[Hashable, _Call] = {}
        self._texts: list[str] = []
        self._half = ""

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
        if not isinstance(text, str) or not text:
            return
        text = self._half + text
        self._half = text[-1] if _FIRST_HALF.match(text[-1]) else ""  # its other half follows
        text = whole(text.removesuffix(self._half))
        if text:
            self._texts.append(text)
            yield TextDelta(text)

    def complete_text(self, final: str) -> Iterator[StreamEvent]:
        """Take the final text; what the pieces lacked of it is passed on."""
        seen, text = self.text, whole(final)
        if text.startswith(seen):
            yield from self.add_text(text[len(seen) :])
        elif text != seen:
            _LOG.warning("the final text differs from its pieces; the pieces are kept")

    def start_call(self, key: Hashable, call_id: object, name: object) -> Iterator[StreamEvent]:
        """Begin a call; a repeated beginning fills in what was missing."""
        known = self._calls.get(key)
        if known is None:
            if len(self._calls) >= _CALLS_MAX:
                raise BadResponse("the answer holds too many calls", reason="too_many_calls")
            known = _Call(len(self._calls), _id(call_id), _name(name))
            self._calls[key] = known
            yield ToolCallStarted(known.index, known.id, known.name)
            return
        known.id = known.id or _id(call_id)
        known.name = known.name or _name(name)

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


def _id(value: object) -> str:
    """Return a call's id; one no provider gives is as good as none (M9.7)."""
    return whole(value) if isinstance(value, str) and len(value) <= _ID_MAX_CHARS else ""


def _name(value: object) -> str:
    return whole(value[:_NAME_MAX_CHARS]) if isinstance(value, str) else ""


def whole(text: str) -> str:
    """Return a text that can be stored: halves of characters are joined, lone ones replaced."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
