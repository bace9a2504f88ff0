"""Templates of a script: what it says is filled from what it was really given (M15.4).

`{{path}}` or `{{path | filter}}`. A path leads through the results of tools, the lines earlier
phases left in the prompt, or the request itself; nothing is computed beyond the few filters below.
A text that is one template and nothing else becomes the value itself, so that rows of a result can
be an argument. What cannot be found is an error: a script never makes up what it did not get.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from backshop.base import template
from backshop.base.template import Found, Token

from ..errors import BadResponse
from ..messages import Message, ModelRequest, Role

_ROOT = re.compile(r"\s*([a-z_]+)(.*?)\s*", re.DOTALL)
_STEPS = re.compile(r"(?:\.\w+|\[\d+\])*", re.ASCII)
_STEP = re.compile(r"\w+", re.ASCII)
_ROOTS = (
    "last_user",
    "last_tool",
    "files",
    "n",
    "result",
    "results",
    "note",
    "tasks",
    "possible",
    "reports",
)
_REPORTS = re.compile(r'<data name="reports" id="(\w+)">\n(.*?)\n</data id="\1">', re.DOTALL)
_TRIES = 50  # places where the JSON of a framed result may begin


@dataclass(frozen=True, slots=True)
class Scene:
    """What a step can refer to: the request, how many there were, what the script offers."""

    request: ModelRequest
    number: int
    tasks: tuple[tuple[str, str], ...] = ()  # title and prompt
    possible: tuple[tuple[str, str], ...] = ()  # of those, what the files here allow


def fill(value: Any, scene: Scene) -> Any:
    """Return text or arguments with their templates filled in; nothing else is evaluated.

    Raises:
        BadResponse: `script_unfilled`, something is not there.
    """
    if isinstance(value, str):
        whole = template.whole(value)
        if whole is not None:
            return _filled(whole, scene)
        return template.fill(value, lambda token: _text(_filled(token, scene)))
    if isinstance(value, Mapping):
        return {key: fill(item, scene) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, scene) for item in value]
    return value


def fill_text(text: str, scene: Scene) -> str:
    """Return text with its templates filled in, whatever they give."""
    return _text(fill(text, scene))


def last(request: ModelRequest, *roles: Role) -> Message:
    """Return the newest message of these roles, or an empty one; context was said by nobody."""
    found = (
        message
        for message in reversed(request.messages)
        if message.role in roles and not message.is_context
    )
    return next(found, Message(role=Role.USER))


def prompt_text(request: ModelRequest) -> str:
    """Return everything a request says besides tool results and answers."""
    spoken = (Role.SYSTEM, Role.USER)
    return "\n\n".join(message.text for message in request.messages if message.role in spoken)


def results(request: ModelRequest) -> list[Any]:
    """Return the JSON of every tool result so far, oldest first; None where there is none."""
    return [_json(message.text) for message in request.messages if message.role is Role.TOOL]


def _filled(token: Token, scene: Scene) -> Any:
    path = _ROOT.fullmatch(token.path)
    if path is None or path[1] not in _ROOTS:
        return token.written  # a template of somebody else's
    value = _look_up(path[1], path[2], scene)
    for name, word in token.filters:
        apply = _FILTERS.get(name)
        if apply is None:
            raise _unfilled(f"there is no filter {name!r}")
        value = apply(value, word)
    return value


def _look_up(root: str, rest: str, scene: Scene) -> Any:
    request = scene.request
    match root:
        case "last_user":
            return last(request, Role.USER).text
        case "last_tool":
            return last(request, Role.TOOL).text
        case "n":
            return str(scene.number)
        case "tasks":
            return _offered(scene.tasks)
        case "possible":
            return _offered(scene.possible) or "(None of my tasks: their files are not here.)"
        case "reports":
            return _reports(prompt_text(request))
        case "note":
            return _note(rest.removeprefix("."), prompt_text(request))
        case "files":
            files = _files(request)
            if not rest:
                return "\n".join(str(one.get("path", "")) for one in files)
            return _walk(files, rest, f"files{rest}")
        case "result":
            given = results(request)
            return _walk(given[-1] if given else None, rest, f"result{rest}")
        case _:
            return _walk(results(request), rest, f"results{rest}")


def _walk(value: Any, rest: str, name: str) -> Any:
    if _STEPS.fullmatch(rest):
        steps = [int(step) if step.isdecimal() else step for step in _STEP.findall(rest)]
        match template.follow(steps, value):
            case Found(found) if found is not None:
                return found
    raise _unfilled(f"{name} is not there")


def _note(name: str, prompt: str) -> str:
    """Return what the newest line `- Name: …` of the prompt says."""
    lines = re.findall(rf"^[ \t]*- {re.escape(name)}: (.+)$", prompt, re.MULTILINE)
    if not name or not lines:
        raise _unfilled(f"no line of the prompt is called {name!r}")
    return str(lines[-1]).strip()


def _offered(tasks: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- **{title}**: {prompt}" for title, prompt in tasks)


def _reports(prompt: str) -> str:
    """Return what the items of the turn report, as the prompt of a summary has it."""
    found = _REPORTS.search(prompt)
    if found is None:
        raise _unfilled("there are no reports")
    return found[2]


def _files(request: ModelRequest) -> list[Mapping[str, Any]]:
    """Return the files the model has been shown: the newest listing among the tool results."""
    for given in reversed(results(request)):
        for key in ("files", "entries"):
            listed = given.get(key) if isinstance(given, Mapping) else None
            if isinstance(listed, list):
                return [one for one in listed if isinstance(one, Mapping)]
    return []


def _json(text: str) -> Any:
    """Return the JSON object inside a result; a message or a frame may stand around it."""
    decoder = json.JSONDecoder()
    start = -1
    for _ in range(_TRIES):
        start = text.find("{", start + 1)
        if start < 0:
            return None
        try:
            return decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _unfilled(message: str) -> BadResponse:
    return BadResponse(f"the script cannot go on: {message[:200]}", reason="script_unfilled")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


# ---------------------------------------------------------------- filters


def _rounded(value: Any, digits: str) -> Decimal:
    try:
        return Decimal(str(value)).quantize(Decimal(1).scaleb(-int(digits or 0)), ROUND_HALF_UP)
    except (InvalidOperation, ValueError) as error:
        raise _unfilled("a result is not a number") from error


def _number(value: Any, digits: str) -> str:
    return f"{_rounded(value, digits):,}"


def _signed(value: Any, digits: str) -> str:
    return f"{_rounded(value, digits):+,}"


def _percent(value: Any, digits: str) -> str:
    share = _rounded(value, "9")
    return f"{_rounded(share * 100, digits)} %"


def _length(value: Any, _: str) -> int:
    if not isinstance(value, Sequence | Mapping):
        raise _unfilled("a result has no length")
    return len(value)


def _sentence(value: Any, word: str) -> str:
    """Return the first sentence of a text that has the word in it."""
    for sentence in re.split(r"(?<=[.!?])\s+", " ".join(_text(value).split())):
        if word.casefold() in sentence.casefold():
            return sentence
    raise _unfilled(f"no sentence has {word!r} in it")


def _grid(value: Any, digits: str) -> list[list[str]]:
    """Return a table's header and rows as text; `digits` says how numbers look."""
    if not isinstance(value, Mapping) or not isinstance(value.get("rows"), list):
        raise _unfilled("a result is not a table")
    return [
        [str(name) for name in value.get("columns", ())],
        *([_cell(cell, digits) for cell in row] for row in value["rows"]),
    ]


def _cell(value: Any, digits: str) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and digits:
        return _number(value, digits)
    if isinstance(value, int) and not isinstance(value, bool) and digits:
        return _number(value, "0")
    return str(value)


def _table(value: Any, digits: str) -> str:
    head, *rows = _grid(value, digits)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


_FILTERS: Mapping[str, Callable[[Any, str], Any]] = {
    "grid": _grid,
    "length": _length,
    "number": _number,
    "percent": _percent,
    "sentence": _sentence,
    "signed": _signed,
    "table": _table,
}
