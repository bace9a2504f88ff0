"""Tool calls as models write them, made fit to run or answered with what is wrong (M9.5–M9.8)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from backshop.base.canon import canonical
from backshop.base.errors import ValidationFailed
from backshop.base.limits import CALLS_PER_TURN_MAX

from ..catalog.strict_schema import drop_nulls
from ..egress.assembly import whole
from ..messages import Json, ToolCall, ToolCallDone, ToolSpec
from .argument import forgiven

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

OVER_CAP = "too_many_calls"
_PROBLEMS_MAX = 10  # M9.6
_SCHEMAS_MAX = 256  # of the tools a process knows
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a character, written as an escape
_ALIASES = {  # tool, what models write in an operation, what it means (M9.5, F16.5)
    ("docx_operations", "find"): "search",
    ("docx_operations", "text_to_find"): "search",
    ("pptx_operations", "slide_index"): "index",
    ("xlsx_operations", "data"): "values",
}


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
    known = {tool.name: tool for tool in tools}
    ids = _unique_ids(calls, turn)
    checked = []
    for position, (call, call_id) in enumerate(zip(calls, ids, strict=True)):
        arguments, problem = parse_arguments(call.arguments)
        written = call.arguments if problem is None and _is_object(call.arguments) else None
        if position >= limit:
            if problem is None and call.name in known:  # as it is when it is made again
                arguments, _ = fit(call.name, arguments, known[call.name].parameters)
            problem = Problem(
                OVER_CAP,
                f"not run: an answer may hold {limit} calls, and this was one more; "
                "those before it ran",
                ("Make this call again in your next answer.",),
            )
        elif call.name not in known:
            problem = Problem(
                "tool_not_available", f"there is no tool {call.name[:64]!r} here", tuple(known)
            )
        elif problem is None:
            arguments, problem = fit(call.name, arguments, known[call.name].parameters)
        checked.append(Checked(ToolCall(call_id, call.name, arguments, written), problem))
    return tuple(checked)


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


def fit(
    name: str, arguments: Mapping[str, Any], schema: Json
) -> tuple[dict[str, Any], Problem | None]:
    """Return the arguments a tool gets, or what does not fit its original schema."""
    fitted: dict[str, Any] = drop_nulls(lenient(name, arguments, schema), schema)
    found = problems(fitted, schema)
    if not found:
        return fitted, None
    expected = ", ".join(sorted(schema.get("properties") or ())) or "none"
    return fitted, Problem("bad_arguments", f"{found[0]}; fields: {expected}", found)


def lenient(name: str, arguments: Mapping[str, Any], schema: Json) -> dict[str, Any]:
    """Return a call's arguments as its tool names them; older names and texted numbers are read.

    Every door that takes calls of agents reads them so (M9.5, W7.5).
    """
    found: dict[str, Any] = forgiven(_without_aliases(name, arguments), schema)
    return found


def problems(value: Any, schema: Json) -> tuple[str, ...]:
    """Return up to ten `where: what` lines, none of them quoting a long value."""
    validator = _validator(json.dumps(dict(schema)))
    found = sorted(validator.iter_errors(value), key=lambda one: one.path)
    return tuple(
        f"{'.'.join(map(str, one.absolute_path)) or '(arguments)'}: {one.message[:200]}"
        for one in found[:_PROBLEMS_MAX]
    )


@lru_cache(maxsize=_SCHEMAS_MAX)
def _validator(text: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # 0.1 s: on first use

    return Draft202012Validator(json.loads(text))


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _without_aliases(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    changed = dict(arguments)
    operations = changed.get("operations")
    if isinstance(operations, list):
        changed["operations"] = [_without_alias(name, one) for one in operations]
    return changed


def _without_alias(name: str, operation: Any) -> Any:
    if not isinstance(operation, Mapping):
        return operation
    changed = dict(operation)
    for (tool, old), new in _ALIASES.items():
        if tool == name and old in changed and changed.get(new) is None:
            changed[new] = changed.pop(old)
    return changed


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
