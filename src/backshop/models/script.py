"""A script for the offline model: what it answers to what it is asked (M15)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from backshop.base.codec import decode
from backshop.base.errors import ValidationFailed

from .messages import FinishReason, Message, ModelRequest, Purpose, Role, Usage

_TEMPLATE = re.compile(r"\{\{\s*([a-z_]+(?:\.[a-z0-9_]+)*)\s*\}\}")


class ScriptError(StrEnum):
    """What can be made to go wrong (M15.3)."""

    AUTH = "auth"
    RATE_LIMIT = "rate_limit"
    UNAVAILABLE = "unavailable"
    NETWORK = "network"
    STREAM_CUT = "stream_cut"
    BAD_JSON_ARGUMENTS = "bad_json_arguments"
    EMPTY = "empty"
    LENGTH = "length"
    CONTEXT_LENGTH = "context_length"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error with its particulars."""

    kind: ScriptError
    retry_after_s: float | None = None
    after_chars: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCall:
    """A tool call of a script."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """When a step applies: every key that is given must match."""

    purpose: Purpose | None = None
    contains: str | None = None
    regex: str | None = None
    last_tool: str | None = None
    turn: int | None = None

    def __post_init__(self) -> None:
        try:
            re.compile(self.regex or "")
        except re.error as error:
            raise ValidationFailed(f"not a regex: {error}", reason="bad_script") from error

    def matches(self, request: ModelRequest) -> bool:
        """Return whether a request is the one meant."""
        asked = last_input(request)
        return all(
            (
                self.purpose is None or self.purpose is request.purpose,
                self.contains is None or self.contains in asked,
                self.regex is None or re.search(self.regex, asked) is not None,
                self.last_tool is None or self.last_tool == last_tool_name(request),
                self.turn is None or self.turn == turn_of(request),
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond:
    """What the model answers."""

    text: str | None = None
    deltas: tuple[str, ...] = ()
    tool_calls: tuple[ScriptCall, ...] = ()
    finish: FinishReason | None = None
    usage: Usage | None = None
    delay_ms: int = 0
    error: ScriptError | Failure | None = None

    @property
    def failure(self) -> Failure | None:
        """The error with its particulars, however it was written."""
        return Failure(kind=self.error) if isinstance(self.error, ScriptError) else self.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One answer, given `times` times; 0 is as often as it is asked for."""

    respond: Respond
    when: When = field(default_factory=When)
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Steps in order: each request takes the first unused one that matches."""

    name: str
    steps: tuple[Step, ...]


def read_script(text: str) -> Script:
    """Return the script that JSON text describes.

    Raises:
        ValidationFailed: `bad_script`.
    """
    try:
        return decode(Script, json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ValidationFailed(f"not a script: {error}", reason="bad_script") from error
    except ValidationFailed as error:
        raise ValidationFailed(
            f"not a script: {error.message}", reason="bad_script", hints=error.hints
        ) from error


def fill(value: Any, request: ModelRequest, number: int) -> Any:
    """Return text or arguments with their templates filled in; nothing else is evaluated."""
    if isinstance(value, str):
        return _TEMPLATE.sub(lambda found: _look_up(found[1], request, number), value)
    if isinstance(value, Mapping):
        return {key: fill(item, request, number) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, request, number) for item in value]
    return value


def last_input(request: ModelRequest) -> str:
    """Return the text of the last user or tool message."""
    return _last(request, Role.USER, Role.TOOL).text


def last_tool_name(request: ModelRequest) -> str:
    """Return the name of the tool answered last, or nothing."""
    call_id = _last(request, Role.TOOL).tool_call_id
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    return names.get(call_id or "", "")


def turn_of(request: ModelRequest) -> int:
    """Return which turn of its chain a request is: the first has no tool result yet."""
    turns = [message for message in request.messages if message.tool_calls]
    return 1 + len(turns)


def _last(request: ModelRequest, *roles: Role) -> Message:
    found = (message for message in reversed(request.messages) if message.role in roles)
    return next(found, Message(role=Role.USER))


def _look_up(name: str, request: ModelRequest, number: int) -> str:
    match name.split("."):
        case ["last_user"]:
            return _last(request, Role.USER).text
        case ["last_tool", "content"]:
            return _last(request, Role.TOOL).text
        case ["n"]:
            return str(number)
        case ["files"]:
            return "\n".join(str(one.get("path", "")) for one in _files(request))
        case ["files", index, key] if index.isdigit():
            files = _files(request)
            return str(files[int(index)].get(key, "")) if int(index) < len(files) else ""
    return "{{" + name + "}}"


def _files(request: ModelRequest) -> list[Mapping[str, Any]]:
    """Return the files the model has been shown: the newest listing among the tool results."""
    for message in reversed(request.messages):
        if message.role is not Role.TOOL:
            continue
        start = message.text.find("{")
        try:
            found = json.loads(message.text[start:]) if start >= 0 else None
        except (ValueError, RecursionError):
            continue
        for key in ("files", "entries"):
            listed = found.get(key) if isinstance(found, dict) else None
            if isinstance(listed, list):
                return [one for one in listed if isinstance(one, Mapping)]
    return []
