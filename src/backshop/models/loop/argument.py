"""Arguments that say the right thing in the wrong form: numbers as text, a text for its object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_INTEGER = re.compile(r"[+-]?\d{1,15}")
_BOOLEAN = {"true": True, "false": False}


def forgiven(value: Any, schema: object) -> Any:
    """Return the value its schema asks for where there is no doubt what is meant (W7.5).

    A cell may be a text or a number, so a text there stays one.
    """
    if not isinstance(schema, Mapping):  # `true` and `false` are schemas too
        return value
    if isinstance(value, str):
        return _read(value, schema)
    parts, items = schema.get("properties"), schema.get("items")
    if isinstance(value, Mapping) and isinstance(parts, Mapping):
        return {name: forgiven(one, parts.get(name)) for name, one in value.items()}
    if isinstance(value, list):
        return [forgiven(one, items) for one in value]
    return value


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
    return text


def _is_a_text(schema: Mapping[str, Any]) -> bool:
    """Whether nothing but a text has to be said about an object."""
    has_text = "text" in (schema.get("properties") or {})
    return has_text and set(schema.get("required") or ()) <= {"text"}
