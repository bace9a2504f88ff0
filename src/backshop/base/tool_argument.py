"""A tool call as an agent writes it: which tool is meant, its arguments, what is wrong (W7.5).

Every door that takes calls of agents reads them so. A part of the arguments whose schema is open
(an operation on an office file) is the tool's own to check: it knows what fits where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

PROBLEMS_MAX = 10  # M9.6
_SCHEMAS_MAX = 256  # of the tools a process knows
_SHOWN_CHARS = 60
_NEAR = 0.5  # of 1: how like a name must be to be named
_INTEGER = re.compile(r"[+-]?\d{1,15}")
_BOOLEAN = {"true": True, "false": False}
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


class Named(Protocol):
    """Something that is called by a name, and by names it had before."""

    @property
    def name(self) -> str:
        """The name it is listed under."""
        ...

    @property
    def aliases(self) -> tuple[str, ...]:
        """The names it answers to as well."""
        ...


N = TypeVar("N", bound=Named)


def find_tool(name: str, tools: Iterable[N]) -> N | None:
    """Return the tool a call means, by its name or by one it had before; None if there is none."""
    listed = tuple(tools)
    found = [one for one in listed if one.name == name]
    found += [one for one in listed if name in one.aliases]
    return found[0] if found else None


def forgiven(value: Any, schema: object) -> Any:
    """Return the value its schema asks for where there is no doubt what is meant.

    A cell may be a text or a number, so a text there stays one.
    """
    if not isinstance(schema, Mapping):  # `true` and `false` are schemas too
        return value
    if isinstance(value, str):
        value = _read(value, schema)
    parts, items = schema.get("properties"), schema.get("items")
    if isinstance(value, Mapping) and isinstance(parts, Mapping):
        return {name: forgiven(one, parts.get(name)) for name, one in value.items()}
    if isinstance(value, list):
        return [forgiven(one, items) for one in value]
    return value


def argument_problems(value: Any, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return up to ten sentences about what does not fit, none of them quoting a long value."""
    checked = _validator(json.dumps(dict(schema)))
    errors = sorted(checked.iter_errors(value), key=_rank)
    said = dict.fromkeys(line for error in errors for line in _said(error))
    return tuple(said)[:PROBLEMS_MAX]


@lru_cache(maxsize=_SCHEMAS_MAX)
def _validator(text: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # 0.1 s: on first use

    return Draft202012Validator(_checked(json.loads(text)))


def told(name: str, schema: Mapping[str, Any], found: tuple[str, ...]) -> str:
    """Return the first problem of a call, and how the tool is called: `look(path, line?)`."""
    return f"{found[0]} (called as {name}({', '.join(_fields(schema))}))"


def near(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return the names that a misspelt one may mean, the likeliest first."""
    return get_close_matches(name[:_SHOWN_CHARS], list(known), n=most, cutoff=_NEAR)


def _read(text: str, schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    kinds = {kind} if isinstance(kind, str) else set(kind or ())
    match sorted(kinds - {"null"}):
        case ["integer"] if _INTEGER.fullmatch(text.strip()):
            return int(text)
        case ["boolean"]:
            return _BOOLEAN.get(text.strip().lower(), text)
        case ["object"] if _is_a_text(schema):
            return {"text": text}
        case ["array"]:
            return _listed(text)
    return text


def _listed(text: str) -> Any:
    """Return the list that a text writes down as JSON, else the text."""
    if not text.lstrip().startswith("["):
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, list) else text


def _is_a_text(schema: Mapping[str, Any]) -> bool:
    """Whether nothing but a text has to be said about an object."""
    has_text = "text" in (schema.get("properties") or {})
    return has_text and set(schema.get("required") or ()) <= {"text"}


def _checked(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that takes anything where only the tool itself can say what fits."""
    found = dict(schema)
    if isinstance(schema.get("properties"), Mapping):
        found["properties"] = {
            name: {} if _is_open(part) else part for name, part in schema["properties"].items()
        }
    return found


def _is_open(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_is_open, schema))
    if not isinstance(schema, Mapping):
        return False
    return schema.get("additionalProperties") is True or any(map(_is_open, schema.values()))


def _rank(error: Any) -> tuple[bool, bool, str]:
    """Names that do not fit come first: they say what else is missing or wrong."""
    unknown, missing = error.validator == "additionalProperties", error.validator == "required"
    return (not unknown, not missing, _where(error.absolute_path))


def _said(error: Any) -> Iterator[str]:
    """Yield what a validation error means, in words."""
    where, wanted, value = _where(error.absolute_path), error.validator_value, error.instance
    match error.validator:
        case "additionalProperties" if isinstance(value, Mapping):
            known = error.schema.get("properties") or {}
            for name in (name for name in value if name not in known):
                shown = _where([*error.absolute_path, str(name)[:_SHOWN_CHARS]])
                yield f"{shown}: there is no such argument{_meant(str(name), known)}"
        case "required" if isinstance(value, Mapping):
            for name in (name for name in wanted if name not in value):
                yield f"{_where([*error.absolute_path, name])}: this is needed"
        case "type":
            yield f"{where}: must be {_kinds(wanted)}, not {_kind(value)}"
        case "anyOf" | "oneOf":
            kinds = [one.get("type") for one in wanted if isinstance(one, Mapping)]
            named = [one for one in kinds if isinstance(one, str)]
            known = _kinds(named) if len(named) == len(wanted) else "one of the forms it can have"
            yield f"{where}: must be {known}"
        case "enum" | "const":
            words = wanted if error.validator == "enum" else [wanted]
            close = _meant(value, map(str, words)) if isinstance(value, str) else ""
            yield f"{where}: must be {' or '.join(json.dumps(one) for one in words)}{close}"
        case "minimum" | "minLength" | "minItems":
            yield f"{where}: must be at least {wanted}{_measured(error.validator)}"
        case "maximum" | "maxLength" | "maxItems":
            yield f"{where}: must be at most {wanted}{_measured(error.validator)}"
        case _:
            yield f"{where}: does not fit ({error.validator} {str(wanted)[:_SHOWN_CHARS]})"


def _measured(keyword: str) -> str:
    return {"Length": " characters", "Items": " items"}.get(keyword[3:], "")


def _meant(name: str, known: Iterable[str]) -> str:
    return "".join(f"; did you mean {one}?" for one in near(name, known))


def _where(path: Iterable[Any]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the arguments"


def _kinds(wanted: Any) -> str:
    kinds = [wanted] if isinstance(wanted, str) else list(wanted)
    named = [_KINDS.get(one, one) for one in kinds if one != "null" or len(kinds) == 1]
    return " or ".join(named)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    for kind, name in ((str, "string"), ((int, float), "number"), (list, "array")):
        if isinstance(value, kind):
            return _KINDS[name]
    return "an object"


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    needed = schema.get("required") or ()
    for name, part in (schema.get("properties") or {}).items():
        mark = name if name in needed else f"{name}?"
        items = part.get("items") if isinstance(part, Mapping) else None
        inner = ", ".join(_fields(items)) if isinstance(items, Mapping) else ""
        more = ", …" if isinstance(items, Mapping) and _is_open(items) else ""
        yield f"{mark}: [{{{inner}{more}}}]" if inner else mark
