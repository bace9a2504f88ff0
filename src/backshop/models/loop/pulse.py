"""Says of a call that runs that it does, every few seconds, whatever its wire is (M8.10)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from backshop.base.limits import PULSE_FIRST_S, PULSE_S

from ..messages import ReasoningProgress, StreamEvent, TextDelta, ToolCallDelta, ToolCallStarted


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRunning:
    """A call is waited for; published, never stored (M8.10)."""

    provider_id: str
    model_id: str
    state: str
    """`waiting` for a first sign of the model, then `thinking`, then `answering`."""
    waited_ms: int


class Pulse:
    """The beats of one call while it runs; `tell` gets its state and how long it has taken."""

    def __init__(
        self,
        tell: Callable[[str, float], None],
        *,
        first_s: float = PULSE_FIRST_S,
        every_s: float = PULSE_S,
    ) -> None:
        self._tell = tell
        self._first_s = first_s
        self._every_s = every_s
        self._state = "waiting"
        self._ended = threading.Event()

    def __enter__(self) -> Pulse:
        threading.Thread(target=self._beat, name="backshop-pulse", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()

    def saw(self, event: StreamEvent) -> None:
        """Take in what came."""
        match event:
            case ReasoningProgress():
                self._state = "thinking"
            case TextDelta() | ToolCallStarted() | ToolCallDelta():
                self._state = "answering"
            case _:
                pass

    def _beat(self) -> None:
        waited, pause = 0.0, self._first_s
        while not self._ended.wait(pause):
            waited, pause = waited + pause, self._every_s
            self._tell(self._state, waited)
