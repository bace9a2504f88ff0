"""The offline model: answers from a script, through the same path as every provider (M15)."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from backshop.base.errors import NotFound, Retry, RetryKind
from backshop.models.catalog.catalog import ModelRecord
from backshop.models.catalog.profile import profile
from backshop.models.egress.gate import Channel
from backshop.models.errors import (
    AuthFailed,
    BadResponse,
    Canceled,
    ContextExhausted,
    NetworkUnavailable,
    ProviderUnavailable,
    RateLimited,
)
from backshop.models.messages import (
    Done,
    FinishReason,
    ModelRequest,
    Started,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStarted,
    UsageReported,
)
from backshop.models.script.script import (
    Failure,
    Respond,
    Script,
    ScriptError,
    Step,
    read_script,
    turn_of,
)
from backshop.models.script.template import Scene, fill, fill_text

_KEPT = 20  # requests of a bundled script, which may play for days
_BROKEN = '{"broken": '


class ScriptedWire:
    """Plays one script. Keeps requests, so that a test can look at them: all, or the newest."""

    def __init__(self, script: Script, *, keep: int | None = None) -> None:
        self.script = script
        self._used = [0] * len(script.steps)
        self._lock = threading.Lock()
        self._count = 0
        self.requests: deque[ModelRequest] = deque(maxlen=keep)

    @property
    def leftover(self) -> tuple[Step, ...]:
        """The steps that were not played as often as they were to be."""
        pairs = zip(self.script.steps, self._used, strict=True)
        return tuple(step for step, used in pairs if used < step.times)

    def complete(
        self, request: ModelRequest, model: ModelRecord, channel: Channel
    ) -> Iterator[StreamEvent]:
        """Play the first unused step that matches the request."""
        profile(request, model)  # the same refusals as everywhere
        number, respond = self._take(request)
        if respond.delay_ms and channel.cancel.wait(respond.delay_ms / 1000):
            raise Canceled("the call was cancelled")
        offered = tuple((one.title, one.prompt) for one in self.script.tasks)
        yield from _play(respond, Scene(request, number, offered))

    def models(self, channel: Channel) -> tuple[str, ...]:
        """Return the name of the script."""
        return (self.script.name,)

    def _take(self, request: ModelRequest) -> tuple[int, Respond]:
        with self._lock:
            self.requests.append(request)
            self._count += 1
            for place, respond in self.script.answers(request):
                if place is None:
                    return self._count, respond
                times = self.script.steps[place].times
                if times == 0 or self._used[place] < times:
                    self._used[place] += 1
                    return self._count, respond
        raise BadResponse(
            f"the script {self.script.name[:64]!r} has no answer to this",
            reason="script_unmatched",
            detail=f"purpose: {request.purpose} turn: {turn_of(request)}",
        )


def bundled(name: str) -> ScriptedWire:
    """Return a wire that plays a script of the package.

    Raises:
        NotFound: there is no such script.
    """
    source = files("backshop.models.script").joinpath("scripts", f"{name}.json")
    if not name.isidentifier() or not source.is_file():
        raise NotFound(f"there is no script {name[:64]!r}", reason="unknown_script")
    script = read_script(source.read_text(encoding="utf-8"))
    return ScriptedWire(script, keep=_KEPT)


def from_file(path: Path) -> ScriptedWire:
    """Return a wire that plays the script in a file."""
    return ScriptedWire(read_script(path.read_text(encoding="utf-8")))


def _play(respond: Respond, scene: Scene) -> Iterator[StreamEvent]:
    failure = respond.failure
    if failure is not None:
        _raise_before(failure)
    deltas = respond.deltas or ((respond.text,) if respond.text else ())
    filled = list(deltas) if respond.literal else [fill_text(piece, scene) for piece in deltas]
    calls = [
        (call.name, call.arguments if respond.literal else fill(call.arguments, scene))
        for call in respond.tool_calls
    ]
    yield Started()
    if failure is not None and failure.kind is ScriptError.STREAM_CUT:
        yield from _texts("".join(filled)[: failure.after_chars])
        return
    if failure is None or failure.kind is not ScriptError.EMPTY:
        for piece in filled:
            yield from _texts(piece)
        broken = failure is not None and failure.kind is ScriptError.BAD_JSON_ARGUMENTS
        yield from _calls(calls, scene.number, broken=broken)
    if respond.usage is not None:
        yield UsageReported(respond.usage)
    yield Done(_finish(respond, failure))


def _texts(text: str) -> Iterator[StreamEvent]:
    if text:
        yield TextDelta(text)


def _calls(calls: Sequence[tuple[str, Any]], number: int, *, broken: bool) -> Iterator[StreamEvent]:
    for index, (name, arguments) in enumerate(calls):
        call_id = f"call_{number}_{index + 1}"
        text = _BROKEN if broken else json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        yield ToolCallStarted(index, call_id, name)
        yield ToolCallDelta(index, len(text))
        yield ToolCallDone(index, call_id, name, text)


def _finish(respond: Respond, failure: Failure | None) -> FinishReason:
    if failure is not None and failure.kind is ScriptError.LENGTH:
        return FinishReason.LENGTH
    if failure is not None and failure.kind is ScriptError.REFUSAL:
        return FinishReason.REFUSAL
    if respond.tool_calls:
        return FinishReason.TOOL_CALLS
    return respond.finish or FinishReason.STOP


def _raise_before(failure: Failure) -> None:
    match failure.kind:
        case ScriptError.AUTH:
            raise AuthFailed("the script refuses the key")
        case ScriptError.RATE_LIMIT:
            raise _rate_limit(failure.retry_after_s)
        case ScriptError.UNAVAILABLE:
            raise ProviderUnavailable("the script cannot answer now")
        case ScriptError.NETWORK:
            raise NetworkUnavailable("the script cannot be reached", reason="connect")
        case ScriptError.CONTEXT_LENGTH:
            raise ContextExhausted("the request is longer than the model's window")
        case _:
            return


def _rate_limit(seconds: float | None) -> RateLimited:
    if seconds is None:
        return RateLimited("the script asks to wait", reason="rate_limit")
    return RateLimited(
        "the script asks to wait",
        reason="retry_after",
        retry=Retry(RetryKind.LATER, int(seconds * 1000)),
    )
