"""The offline model: answers from a script, through the same path as every provider (M15)."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from backshop.base.errors import NotFound, Retry, RetryKind
from backshop.models import errors, messages
from backshop.models.catalog.catalog import ModelRecord
from backshop.models.catalog.profile import profile
from backshop.models.egress.gate import Channel
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
_BEFORE = frozenset(
    (
        ScriptError.AUTH,
        ScriptError.RATE_LIMIT,
        ScriptError.UNAVAILABLE,
        ScriptError.NETWORK,
        ScriptError.CONTEXT_LENGTH,
        ScriptError.UNABLE,
    )
)  # nothing of these answers is ever said
_BROKEN = '{"broken": '


class ScriptedWire:
    """Plays one script. Keeps requests, so that a test can look at them: all, or the newest."""

    def __init__(self, script: Script, *, keep: int | None = None) -> None:
        self.script = script
        self._used = [0] * len(script.steps)
        self._lock = threading.Lock()
        self._count = 0
        self.requests: deque[messages.ModelRequest] = deque(maxlen=keep)

    @property
    def leftover(self) -> tuple[Step, ...]:
        """The steps that were not played as often as they were to be."""
        pairs = zip(self.script.steps, self._used, strict=True)
        return tuple(step for step, used in pairs if used < step.times)

    def complete(
        self, request: messages.ModelRequest, model: ModelRecord, channel: Channel
    ) -> Iterator[messages.StreamEvent]:
        """Play the first unused step that matches the request."""
        profile(request, model)  # the same refusals as everywhere
        number, respond = self._take(request)
        if respond.delay_ms and channel.cancel.wait(respond.delay_ms / 1000):
            raise errors.Canceled("the call was cancelled")
        yield from _play(respond, number)

    def models(self, channel: Channel) -> tuple[str, ...]:
        """Return the name of the script."""
        return (self.script.name,)

    def _take(self, request: messages.ModelRequest) -> tuple[int, Respond]:
        """Return the answer, filled; what cannot be is passed over where another step fits.

        Steps that are used up are not passed over: such a script says what comes after what.
        """
        with self._lock:
            self.requests.append(request)
            self._count += 1
            scene = self._scene(request)
            unfilled: errors.BadResponse | None = None
            for place, respond in self.script.answers(request):
                if place is None:
                    try:
                        return self._count, _filled(respond, scene)
                    except errors.BadResponse as error:
                        unfilled = unfilled or error
                        continue
                times = self.script.steps[place].times
                if times == 0 or self._used[place] < times:
                    self._used[place] += 1
                    return self._count, _filled(respond, scene)
        raise unfilled or errors.BadResponse(
            f"the script {self.script.name[:64]!r} has no answer to this",
            reason="script_unmatched",
            detail=f"purpose: {request.purpose} turn: {turn_of(request)}",
        )

    def _scene(self, request: messages.ModelRequest) -> Scene:
        offered = tuple(one for one in self.script.tasks if not one.follows)
        possible = self.script.possible(request)
        return Scene(
            request,
            self._count,
            tasks=tuple((one.title, one.prompt) for one in offered),
            possible=tuple((one.title, one.prompt) for one in possible),
        )


def bundled_names() -> tuple[str, ...]:
    """Return the names of the package's scripts."""
    listed = files("backshop.models.script").joinpath("scripts").iterdir()
    return tuple(one.name.removesuffix(".json") for one in listed if one.name.endswith(".json"))


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


def _filled(respond: Respond, scene: Scene) -> Respond:
    """Return an answer with its templates filled in, unless it is an error or literal."""
    if respond.literal or (respond.failure and respond.failure.kind in _BEFORE):
        return respond
    return replace(
        respond,
        text=fill_text(respond.text, scene) if respond.text else respond.text,
        deltas=tuple(fill_text(piece, scene) for piece in respond.deltas),
        tool_calls=tuple(
            replace(call, arguments=fill(call.arguments, scene)) for call in respond.tool_calls
        ),
    )


def _play(respond: Respond, number: int) -> Iterator[messages.StreamEvent]:
    failure = respond.failure
    if failure is not None:
        _raise_before(failure)
    deltas = respond.deltas or ((respond.text,) if respond.text else ())
    yield messages.Started()
    if failure is not None and failure.kind is ScriptError.STREAM_CUT:
        yield from _texts("".join(deltas)[: failure.after_chars])
        return
    if failure is None or failure.kind is not ScriptError.EMPTY:
        for piece in deltas:
            yield from _texts(piece)
        calls = [(call.name, call.arguments) for call in respond.tool_calls]
        broken = failure is not None and failure.kind is ScriptError.BAD_JSON_ARGUMENTS
        yield from _calls(calls, number, broken=broken)
    if respond.usage is not None:
        yield messages.UsageReported(respond.usage)
    yield messages.Done(_finish(respond, failure))


def _texts(text: str) -> Iterator[messages.StreamEvent]:
    if text:
        yield messages.TextDelta(text)


def _calls(
    calls: Sequence[tuple[str, Any]], number: int, *, broken: bool
) -> Iterator[messages.StreamEvent]:
    for index, (name, arguments) in enumerate(calls):
        call_id = f"call_{number}_{index + 1}"
        text = _BROKEN if broken else json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        yield messages.ToolCallStarted(index, call_id, name)
        yield messages.ToolCallDelta(index, len(text))
        yield messages.ToolCallDone(index, call_id, name, text)


def _finish(respond: Respond, failure: Failure | None) -> messages.FinishReason:
    if failure is not None and failure.kind is ScriptError.LENGTH:
        return messages.FinishReason.LENGTH
    if failure is not None and failure.kind is ScriptError.REFUSAL:
        return messages.FinishReason.REFUSAL
    if respond.tool_calls:
        return messages.FinishReason.TOOL_CALLS
    return respond.finish or messages.FinishReason.STOP


def _raise_before(failure: Failure) -> None:
    match failure.kind:
        case ScriptError.AUTH:
            raise errors.AuthFailed("the script refuses the key")
        case ScriptError.RATE_LIMIT:
            raise _rate_limit(failure.retry_after_s)
        case ScriptError.UNAVAILABLE:
            raise errors.ProviderUnavailable("the script cannot answer now")
        case ScriptError.NETWORK:
            raise errors.NetworkUnavailable("the script cannot be reached", reason="connect")
        case ScriptError.UNABLE:
            raise errors.RequestRejected(
                "the offline demo is a script and cannot do this",
                reason="script_unable",
                hints=("give a provider its key, or add a server of your own, in Settings",),
            )
        case ScriptError.CONTEXT_LENGTH:
            raise errors.ContextExhausted("the request is longer than the model's window")
        case _:
            return


def _rate_limit(seconds: float | None) -> errors.RateLimited:
    if seconds is None:
        return errors.RateLimited("the script asks to wait", reason="rate_limit")
    return errors.RateLimited(
        "the script asks to wait",
        reason="retry_after",
        retry=Retry(RetryKind.LATER, int(seconds * 1000)),
    )
