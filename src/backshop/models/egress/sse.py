"""Server-sent events as bytes: whole frames only, bounded, and readable (M8.7)."""

from __future__ import annotations

import json
import re
from typing import Any

from backshop.base.limits import STREAM_EVENT_MAX_BYTES, UNPARSABLE_EVENTS_MAX

from ..errors import BadResponse

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r|\r\n\n|\n\r\n")
_LINE = re.compile(rb"\r\n|\n|\r")
_LONGEST_END = 4
_LAST = frozenset(  # what the event that ends an answer is called, where it is not [DONE]
    ("done", "message_stop", "response.completed", "response.incomplete", "response.failed")
)


_DONE = {"type": "done"}


class Frames:
    """Takes bytes as they come, gives back whole events, and leaves out what is not JSON.

    An event that never ends, or too many that cannot be read, end the stream.
    """

    def __init__(
        self, *, max_bytes: int = STREAM_EVENT_MAX_BYTES, max_bad: int = UNPARSABLE_EVENTS_MAX
    ) -> None:
        self._rest = bytearray()
        self._searched = 0
        self._bad = 0
        self._max_bytes = max_bytes
        self._max_bad = max_bad
        self.events = 0
        self.has_ended = False
        """Whether the event that ends an answer was seen."""

    def feed(self, chunk: bytes) -> bytes:
        """Return the bytes of the events this chunk completes."""
        self._rest += chunk
        whole = bytearray()
        start = 0
        # a frame's end may straddle two chunks
        while found := _END.search(self._rest, max(start, self._searched - _LONGEST_END)):
            frame = bytes(self._rest[start : found.end()])
            if self._is_good(frame):
                whole += frame
            start = found.end()
            self._searched = start
        del self._rest[:start]
        self._searched = len(self._rest)
        if len(self._rest) > self._max_bytes:
            raise BadResponse("an event of the answer is too large", reason="event_too_large")
        return bytes(whole)

    def flush(self) -> bytes:
        """Return a last event that lacks only its blank line; a cut one is no event."""
        frame = bytes(self._rest)
        self._rest.clear()
        return frame + b"\n\n" if frame.strip() and _read(frame) is not None else b""

    def _is_good(self, frame: bytes) -> bool:
        if len(frame) > self._max_bytes:
            raise BadResponse("an event of the answer is too large", reason="event_too_large")
        read = _read(frame)
        if read is not None:
            self.events += 1
            self.has_ended = self.has_ended or read.get("type") in _LAST
            return True
        self._bad += 1
        if self._bad > self._max_bad:
            raise BadResponse("too much of the answer cannot be read", reason="unparsable_events")
        return False


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _read(frame: bytes) -> dict[str, Any] | None:
    """Return what an event says, None where it cannot be read."""
    lines = _LINE.split(frame)
    data = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
    text = b"\n".join(data).strip()
    if not text:
        return {}
    if text.startswith(b"[DONE]"):
        return _DONE
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
