"""The offline model: answers from a script, through the same path as every provider (M15)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from backshop.base.errors import NotFound, Retry, RetryKind
from backshop.models.catalog import ModelRecord
from backshop.models.egress import Channel
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
from backshop.models.profile import profile
from backshop.models.script import (
    Failure,
    Respond,
    Script,
    ScriptError,
    Step,
    fill,
    read_script,
    turn_of,
)

_BROKEN = '{"broken": '


class ScriptedWire:
    """Plays one script. Keeps every request, so that a test can look at them."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._used = [0] * len(script.steps)
        self._lock = threading.Lock()
        self.requests: list[ModelRequest] = []

    @property
    def leftover(self) -> tuple[Step, ...]:
        """The steps that were not played as often as they were to be."""
        pairs = zip(self._script.steps, self._used, strict=True)
        return tuple(step for step, used in pairs if used < step.times)

    def complete(
        self, request: ModelRequest, model: ModelRecord, channel: Channel
    ) -> Iterator[StreamEvent]:
        """Play the first unused step that matches the request."""
        profile(request, model)  # the same refusals as everywhere
        number, respond = self._take(request)
        if respond.delay_ms and channel.cancel.wait(respond.delay_ms / 1000):
            raise Canceled("the call was cancelled")
        yield from _play(respond, request, number)

    def models(self, channel: Channel) -> tuple[str, ...]:
        """Return the name of the script."""
        return (self._script.name,)

    def _take(self, request: ModelRequest) -> tuple[int, Respond]:
        with self._lock:
            self.requests.append(request)
            for place, step in enumerate(self._script.steps):
                free = step.times == 0 or self._used[place] < step.times
                if free and step.when.matches(request):
                    self._used[place] += 1
                    return len(self.requests), step.respond
        raise BadResponse(
            f"the script {self._script.name[:64]!r} has no answer to this",
            reason="script_unmatched",
            detail=f"purpose: {request.purpose} turn: {turn_of(request)}",
        )


def bundled(name: str) -> ScriptedWire:
    """Return a wire that plays a script of the package.

    Raises:
        NotFound: there is no such script.
    """
    source = files("backshop.models").joinpath("scripts", f"{name}.json")
    if not name.isidentifier() or not source.is_file():
        raise NotFound(f"there is no script {name[:64]!r}", reason="unknown_script")
    return ScriptedWire(read_script(source.read_text(encoding="utf-8")))


def from_file(path: Path) -> ScriptedWire:
    """Return a wire that plays the script in a file."""
    return ScriptedWire(read_script(path.read_text(encoding="utf-8")))


def _play(respond: Respond, request: ModelRequest, number: int) -> Iterator[StreamEvent]:
    failure = respond.failure
    if failure is not None:
        _raise_before(failure)
    yield Started()
    deltas = respond.deltas or ((respond.text,) if respond.text else ())
    filled = [str(fill(piece, request, number)) for piece in deltas]
    if failure is not None and failure.kind is ScriptError.STREAM_CUT:
        yield from _texts("".join(filled)[: failure.after_chars])
        return
    if failure is None or failure.kind is not ScriptError.EMPTY:
        for piece in filled:
            yield from _texts(piece)
        broken = failure is not None and failure.kind is ScriptError.BAD_JSON_ARGUMENTS
        yield from _calls(respond, request, number, broken=broken)
    if respond.usage is not None:
        yield UsageReported(respond.usage)
    yield Done(_finish(respond, failure))


def _texts(text: str) -> Iterator[StreamEvent]:
    if text:
        yield TextDelta(text)


def _calls(
    respond: Respond, request: ModelRequest, number: int, *, broken: bool
) -> Iterator[StreamEvent]:
    for index, call in enumerate(respond.tool_calls):
        call_id = f"call_{number}_{index + 1}"
        arguments = fill(call.arguments, request, number)
        text = _BROKEN if broken else json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        yield ToolCallStarted(index, call_id, call.name)
        yield ToolCallDelta(index, len(text))
        yield ToolCallDone(index, call_id, call.name, text)


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
