"""Tool calls as models write them, made fit to run or answered with what is wrong (M9.5–M9.8)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backshop.base.canon import canonical
from backshop.base.errors import ValidationFailed
from backshop.base.limits import CALLS_PER_TURN_MAX
from backshop.base.tool_argument import argument_problems, find_tool, forgiven, near, told

from ..catalog.strict_schema import drop_nulls
from ..egress.assembly import whole
from ..messages import Json, ToolCall, ToolCallDone, ToolSpec

OVER_CAP = "too_many_calls"
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a character, written as an escape


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a call is not run; what the model is told, so that it can do better."""

    reason: str
    detail: str
    hints: tuple[str, ...] = ()
    unparsable: bool = False  # not even JSON (W8.3)

    def payload(self) -> str:
        """Return the error answer of W8.3."""
        error = {
            "error_code": "VALIDATION_FAILED",
            "reason": self.reason,
            "detail": self.detail,
            "hints": list(self.hints),
        }
        return json.dumps({"error": error}, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Checked:
    """A call after normalisation: run it when `problem` is None, else answer with the problem."""

    call: ToolCall
    problem: Problem | None = None


def normalise(
    calls: Sequence[ToolCallDone],
    tools: Iterable[ToolSpec],
    *,
    turn: int,
    limit: int = CALLS_PER_TURN_MAX,
) -> tuple[Checked, ...]:
    """Return every call of one turn in order, each with one id of its own."""
    known = tuple(tools)
    ids = _unique_ids(calls, turn)
    checked = []
    for position, (call, call_id) in enumerate(zip(calls, ids, strict=True)):
        tool = find_tool(call.name, known)
        arguments, problem = parse_arguments(call.arguments)
        written = call.arguments if problem is None and _is_object(call.arguments) else None
        if position >= limit:
            if problem is None and tool is not None:  # as it is when it is made again
                arguments, _ = fit(tool, arguments)
            problem = Problem(
                OVER_CAP,
                f"not run: an answer may hold {limit} calls, and this was one more; "
                "those before it ran",
                ("Make this call again in your next answer.",),
            )
        elif tool is None:
            problem = _unknown(call.name, known)
        elif problem is None:
            arguments, problem = fit(tool, arguments)
        name = call.name if tool is None else tool.name
        checked.append(Checked(ToolCall(call_id, name, arguments, written), problem))
    return tuple(checked)


def _unknown(name: str, known: Sequence[ToolSpec]) -> Problem:
    """Return the answer to a call of a tool that is not there, the likeliest names first."""
    names = [tool.name for tool in known]
    close = near(name, names, 3)
    meant = f"; did you mean {close[0]}?" if close else ""
    hints = tuple(dict.fromkeys((*close, *names)))
    return Problem("tool_not_available", f"there is no tool {name[:64]!r} here{meant}", hints)


def parse_arguments(raw: Any) -> tuple[dict[str, Any], Problem | None]:
    """Return the object a model meant: as is, blank as empty, JSON text parsed once more."""
    value = raw
    for _ in range(2):
        if value is None or (isinstance(value, str) and not value.strip()):
            return {}, None
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            return {}, Problem(
                "bad_arguments", f"the arguments are not JSON: {error}", unparsable=True
            )
    if isinstance(value, Mapping):
        return _stored(dict(value))
    if value is None:
        return {}, None
    return {}, Problem("bad_arguments", "the arguments are not a JSON object", unparsable=True)


def _is_object(raw: Any) -> bool:
    """Say whether arguments that were read are the text of an object that can be sent again."""
    return isinstance(raw, str) and raw.lstrip().startswith("{") and not _HALF.search(raw)


def _stored(arguments: dict[str, Any]) -> tuple[dict[str, Any], Problem | None]:
    """Return the arguments without halves of characters, or why nothing can store or send them."""
    try:
        text = json.dumps(arguments, ensure_ascii=False)
        fixed = whole(text)
        found = arguments if fixed is text else dict(json.loads(fixed))
        canonical(found)
    except (ValidationFailed, ValueError, TypeError, RecursionError) as error:
        return {}, Problem("bad_arguments", f"the arguments cannot be used: {error}")
    return found, None


def fit(tool: ToolSpec, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], Problem | None]:
    """Return the arguments a tool gets, or what does not fit its original schema."""
    schema: Json = tool.parameters
    fitted: dict[str, Any] = drop_nulls(forgiven(dict(arguments), schema), schema)
    found = argument_problems(fitted, schema)
    if not found:
        return fitted, None
    return fitted, Problem("bad_arguments", told(tool.name, schema, found), found)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _unique_ids(calls: Sequence[ToolCallDone], turn: int) -> list[str]:
    seen: set[str] = set()
    ids = []
    for number, call in enumerate(calls, 1):
        wanted = call.id or f"call_{turn}_{number}"
        ids.append(_free(wanted, seen.__contains__))
        seen.add(ids[-1])
    return ids


def _free(wanted: str, taken: Callable[[str], bool]) -> str:
    candidate, count = wanted, 1
    while taken(candidate):
        count += 1
        candidate = f"{wanted}_{count}"
    return candidate
