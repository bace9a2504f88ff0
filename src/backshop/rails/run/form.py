"""An output as a form to fill in: what is still blank, and what was only copied (R8.33, R8.34).

A form has the shape of an output with a placeholder wherever the agent has to say something. No
placeholder ever counts as an answer, so a form that is sent as it is records nothing untrue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

Json = Mapping[str, object]

NOTES = "<what you did in this step>"
KEEP = "<what to keep>"
ANSWER = "<the person's answer>"
_WHOLE = re.compile(r"<[^<>]+>")
_NOT_BLANK = re.compile(r"<(?:[/!?]|[^<>]*(?:=|://|@))")  # a tag or an address, not a placeholder
_DOTS = ("…", "...")  # how people shorten a form; alone they say nothing
_FIELD = re.compile(r"…|<(?:…|\.\.\.|text|uuid|number|[^<>]*[ |][^<>]*)>")
"""A field may name something in brackets, `<lambda>`; our forms have several words or a choice."""
_FORMATS = {
    "date-time": "<date and time, such as 2026-01-31T12:00:00Z>",
    "uuid": "<uuid>",
}
_MARK = "example"
"""A word in every text of our examples: nobody writes such a text by chance."""


def one_of(options: Sequence[object]) -> str:
    """Return the placeholder of a closed set: `<a|b>`."""
    words = ("true" if one is True else "false" if one is False else str(one) for one in options)
    return f"<{'|'.join(re.sub('[<>]', '', word) for word in words)}>"


def is_blank(value: object) -> bool:
    """Say whether a text is a placeholder and nothing else."""
    if not isinstance(value, str):
        return False
    text = value.strip()
    if text in _DOTS:
        return True
    return _WHOLE.fullmatch(text) is not None and _NOT_BLANK.match(text) is None


def blanks(value: object, path: str = "") -> Iterator[str]:
    """Yield where a value still holds a placeholder, as `path: problem`."""
    for where, text in _texts(value, path):
        if is_blank(text) and _FIELD.fullmatch(text.strip()) is not None:
            yield f"{where or '(whole)'}: still the placeholder {text.strip()[:80]}"


def required(schema: Json, known: Json | None = None) -> dict[str, object]:
    """Return an object of a schema with a placeholder in each required field.

    `known` are fields whose value is not the agent's to say.
    """
    return _fields(schema, known or {}, is_whole=False)


def shape(schema: Json, known: Json | None = None) -> dict[str, object]:
    """Return an object of a schema with all its fields; `name?` may be left out."""
    return _fields(schema, known or {}, is_whole=True)


def copies(schema: Json, example: Json, value: Json) -> list[str]:
    """Return which free texts of a value are those of its example, as `path: problem`.

    Values of closed sets are never copies: there is no other way to say them. A text of an example
    that says that it is one counts by itself; others only where nothing was written anew.
    """
    own = [(path, text) for path, text in _free(schema, value) if text.strip()]
    shown = {_place(path): set[str]() for path, _ in _free(schema, example)}
    for path, text in _free(schema, example):
        shown[_place(path)].add(_plain(text))
    same = [(path, text) for path, text in own if _plain(text) in shown.get(_place(path), ())]
    if len(same) < len(own):
        same = [(path, text) for path, text in same if _MARK in text.lower()]
    return [f"{path}: the text of the example, not yours" for path, _ in same]


def _fields(schema: Json, known: Json, *, is_whole: bool) -> dict[str, object]:
    properties, needed = schema.get("properties"), schema.get("required")
    assert isinstance(properties, Mapping)
    names = needed if isinstance(needed, Sequence) else ()
    found = {}
    for name, one in properties.items():
        if name in names or is_whole:
            value = known[name] if name in known else _blank(one, is_whole)
            found[name if name in names else f"{name}?"] = value
    return found


def _blank(schema: Json, is_whole: bool) -> object:
    """Return what stands for one value of a schema until it is filled in."""
    match schema:
        case {"const": value}:
            return value
        case {"enum": [only]} | {"enum": (only,)}:
            return only
        case {"enum": list() | tuple() as values}:
            return one_of(values)
        case {"type": "boolean"}:
            return one_of((True, False))
        case {"type": "object", "properties": Mapping()}:
            return _fields(schema, {}, is_whole=is_whole)
        case {"type": "object"}:
            return "<an object>"
        case {"type": "array", "items": Mapping() as items}:
            return [_blank(items, is_whole)]
        case {"type": "integer" | "number"}:
            return _number(schema)
        case _:
            return _FORMATS.get(str(schema.get("format"))) or _text(schema)


def _number(schema: Json) -> str:
    word = "whole number" if schema["type"] == "integer" else "number"
    return f"<{word}{_range(schema.get('minimum'), schema.get('maximum'))}>"


def _text(schema: Json) -> str:
    least = schema.get("minLength")
    limits = _range(None if least == 1 else least, schema.get("maxLength"))
    return f"<text{limits} characters>" if limits else "<text>"


def _range(low: object, high: object) -> str:
    if high is not None:
        return f", {low} to {high}" if low is not None else f", at most {high}"
    return f", at least {low}" if low else ""


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _texts(one, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for index, one in enumerate(value):
            yield from _texts(one, f"{path}.{index}" if path else str(index))


def _free(schema: Json, value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts that a schema leaves free; an id names something and says nothing."""
    if isinstance(value, str):
        if schema.get("type") == "string" and "enum" not in schema and "format" not in schema:
            yield path, value
        return
    properties, items = schema.get("properties"), schema.get("items")
    if isinstance(value, Mapping) and isinstance(properties, Mapping):
        for name, one in value.items():
            inner = properties.get(name)
            if isinstance(inner, Mapping) and not str(name).endswith("Id"):
                yield from _free(inner, one, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple) and isinstance(items, Mapping):
        for index, one in enumerate(value):
            yield from _free(items, one, f"{path}.{index}")


def _place(path: str) -> str:
    """Return a path without the numbers of list items."""
    return ".".join(part for part in path.split(".") if not part.isdecimal())


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
