"""A script for the offline model: what it answers to what it is asked (M15)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from backshop.base.codec import decode
from backshop.base.errors import ValidationFailed

from ..messages import FinishReason, ModelRequest, Purpose, Role, Usage
from .template import last, prompt_text

_COUNT = "original_count:"
_PHASES = {Purpose.RESEARCH, Purpose.PLAN, Purpose.IMPLEMENT, Purpose.SUMMARY}
_PENDING = re.compile(r"^[ \t]*- \[ \] (\d+)\. ", re.MULTILINE)
_STEP_TEXT = re.compile(
    r"^## [\d.]+ This phase\n(.*?^(?:This is part (\d+) of \d+ of this request|"
    r"The request it comes from):\n> .*?)^Required output:",
    re.MULTILINE | re.DOTALL,
)  # a step of a workflow that was saved from a turn (W25.2)


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
    UNABLE = "unable"


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
    item: int | None = None
    failed: bool | None = None
    prompt: str | None = None

    def __post_init__(self) -> None:
        _check_regex(self.regex)
        _check_regex(self.prompt)

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
                self.item is None or self.item == item_of(request),
                self.failed is None or self.failed == last(request, Role.TOOL).is_error,
                self.prompt is None or re.search(self.prompt, prompt_text(request)) is not None,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond:
    """What the model answers; with `literal` nothing in it is a template."""

    text: str | None = None
    deltas: tuple[str, ...] = ()
    tool_calls: tuple[ScriptCall, ...] = ()
    finish: FinishReason | None = None
    usage: Usage | None = None
    delay_ms: int = 0
    error: ScriptError | Failure | None = None
    literal: bool = False

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
class Task:
    """Something a script can do: what a person may say to get it, and the steps it takes.

    `match` is compared with the person's newest message, without case; a task's steps are taken
    as often as they fit. A workflow that was saved from it is known by the titles of its `items`;
    `files` says for each file of the task where the text of such a step names the one in its place
    (a regex whose first group is the path), `needs` which of them must be there.
    """

    id: str
    title: str
    prompt: str
    match: str
    steps: tuple[Step, ...]
    follows: str | None = None
    """The task whose Draft it changes; it is offered where changes are asked for (M15.9)."""
    items: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_regex(self.match)
        for place in self.files.values():
            _check_regex(place)

    def is_named_in(self, prompt: str) -> bool:
        """Return whether one of its items stands alone in a line: as a step, or as one done."""
        titles = "|".join(map(re.escape, self.items))
        line = rf"^(?:- \[.\] \d+\. )?(?:{titles})(?: \[Failed: .*)?$"
        return bool(titles) and re.search(line, prompt, re.MULTILINE) is not None

    def is_possible(self, prompt: str) -> bool:
        """Return whether the files it needs are among those the prompt lists."""
        return all(f"\n- {path} (" in prompt for path in self.needs)

    def names_in(self, prompt: str) -> Mapping[str, str]:
        """Return which files stand in the place of its own in a step of a workflow."""
        step = _STEP_TEXT.search(prompt)
        if step is None:
            return {}
        found = (
            (path, re.search(place, step[1], re.MULTILINE)) for path, place in self.files.items()
        )
        return {path: named[1] for path, named in found if named is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What the model plays: `first`, the task the person asked for, then `steps` for the rest.

    `otherwise` is for a task none of whose steps fits, or can be filled.
    """

    name: str
    steps: tuple[Step, ...]
    tasks: tuple[Task, ...] = ()
    first: tuple[Step, ...] = ()
    otherwise: tuple[Step, ...] = ()

    @property
    def flow(self) -> str | None:
        """The flow of turns it is written for: one that knows phases plays in phases (M15.10)."""
        played = (step for task in self.tasks for step in task.steps)
        steps = (*self.first, *played, *self.otherwise, *self.steps)
        asked = {step.when.purpose for step in steps}
        return "rpi" if asked & _PHASES and Purpose.WORK not in asked else None

    def task_of(self, request: ModelRequest) -> Task | None:
        """Return the task a request belongs to, or None."""
        asked = last(request, Role.USER).text
        prompt = prompt_text(request)
        found = (one for one in self.tasks if re.search(one.match, asked, re.IGNORECASE))
        again = (one for one in self.tasks if one.is_named_in(prompt))
        return next(found, None) or next(again, None)

    def possible(self, request: ModelRequest) -> tuple[Task, ...]:
        """Return what can be asked for with the files that are there."""
        prompt = prompt_text(request)
        return tuple(one for one in self.tasks if not one.follows and one.is_possible(prompt))

    def answers(self, request: ModelRequest) -> Iterator[tuple[int | None, Respond]]:
        """Yield what fits a request, best first; with the place of a step that may wear out."""
        task = self.task_of(request)
        names = task.names_in(prompt_text(request)) if task else {}
        played = (*task.steps, *self.otherwise) if task else ()
        for step in (*self.first, *played):
            if step.when.matches(request):
                yield None, _renamed(step.respond, names)
        for place, step in enumerate(self.steps):
            if step.when.matches(request):
                yield place, step.respond


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


def last_input(request: ModelRequest) -> str:
    """Return the text of the last user or tool message."""
    return last(request, Role.USER, Role.TOOL).text


def last_tool_name(request: ModelRequest) -> str:
    """Return the name of the tool answered last, or nothing."""
    call_id = last(request, Role.TOOL).tool_call_id
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    return names.get(call_id or "", "")


def turn_of(request: ModelRequest) -> int:
    """Return which turn of its chain a request is: the first has no tool result yet."""
    turns = [message for message in request.messages if message.tool_calls]
    return 1 + len(turns)


def item_of(request: ModelRequest) -> int:
    """Return the item a request is about: the first one its plan has pending, 0 without a plan.

    A step of a workflow that was saved from a turn says itself which part of it it is.
    """
    prompt = prompt_text(request)
    if step := _STEP_TEXT.search(prompt):
        return int(step[2] or 1)
    _, _, plan = prompt.rpartition(_COUNT)
    found = _PENDING.search(plan)
    return int(found[1]) if found else 0


def _renamed(respond: Respond, names: Mapping[str, str]) -> Respond:
    """Return an answer about other files: their paths in its texts and arguments."""
    if all(path == other for path, other in names.items()):
        return respond
    return replace(
        respond,
        text=_exchanged(respond.text, names),
        deltas=_exchanged(respond.deltas, names),
        tool_calls=tuple(
            replace(call, arguments=_exchanged(call.arguments, names))
            for call in respond.tool_calls
        ),
    )


def _exchanged(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        whole = re.compile("|".join(map(re.escape, names)))
        return whole.sub(lambda found: names[found[0]], value)
    if isinstance(value, Mapping):
        return {key: _exchanged(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_exchanged(item, names) for item in value)
    return value


def _check_regex(text: str | None) -> None:
    try:
        re.compile(text or "")
    except re.error as error:
        raise ValidationFailed(f"not a regex: {error}", reason="bad_script") from error
