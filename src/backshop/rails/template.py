"""`{{path}}` in authored text: which value of the context it means, and how it prints (R1.14)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from backshop.base.canon import canonical

VALUE_MAX_BYTES = 2048
TRUNCATED = "\n\n[TRUNCATED]"

_IDENT = r"[A-Za-z_][A-Za-z0-9_]*"
_PATH = re.compile(rf"{_IDENT}(?:\.{_IDENT})*")
_BRACES = re.compile(r"\{\{([^{}]*)\}\}")


@dataclass(frozen=True, slots=True)
class Found:
    """The value a path leads to; None when it is missing or null."""

    value: object


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A segment on the way that is no object."""

    segment: str
    type_name: str


def resolve(path: str, context: Mapping[str, object]) -> Found | Obstacle:
    """Follow a path: the exact flat key first, then segment by segment (R1.14, R1.19)."""
    if path in context:
        return Found(context[path])
    here: object = context
    behind = ""
    for segment in path.split("."):
        if isinstance(here, Mapping):
            here = here.get(segment)
        elif segment == "length" and isinstance(here, str | list | tuple):
            here = len(here)
        elif here is None:
            return Found(None)
        else:
            return Obstacle(behind, type_name(here))
        behind = segment
    return Found(here)


def lookup(path: str, context: Mapping[str, object]) -> object:
    """Return the value a path leads to, None for every kind of nothing."""
    match resolve(path, context):
        case Found(value):
            return value
        case Obstacle():
            return None


def render(text: str, context: Mapping[str, object]) -> str:
    """Replace every token by its value, once; what is no token stays as written."""

    def printed(match: re.Match[str]) -> str:
        path = match[1]
        if _PATH.fullmatch(path) is None:
            return match[0]
        match resolve(path, context):
            case Found(None):
                return f"[unset: {path}]"
            case Found(value):
                return show(value)
            case Obstacle(segment, name):
                return f"[unset: {path} -- '{segment}' is {name}, not object]"

    return _BRACES.sub(printed, text)


def show(value: object) -> str:
    """Print a value the way prompts show it."""
    if isinstance(value, str):
        return value
    text = canonical(value).decode()
    return cut(text, VALUE_MAX_BYTES) if isinstance(value, list | tuple | dict) else text


def cut(text: str, max_bytes: int) -> str:
    """Return `text` within a byte budget, ending in the marker when something was left out."""
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    room = max(max_bytes - len(TRUNCATED), 0)
    return data[:room].decode(errors="ignore") + TRUNCATED


def paths(text: str) -> Iterator[str]:
    """Yield the path of every token in `text`."""
    for match in _BRACES.finditer(text):
        if _PATH.fullmatch(match[1]) is not None:
            yield match[1]


def expressions(text: str) -> Iterator[str]:
    """Yield what stands between double braces without being a path."""
    for match in _BRACES.finditer(text):
        if _PATH.fullmatch(match[1]) is None:
            yield match[0]


def type_name(value: object) -> str:
    """Name a JSON type the way messages do."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "list"
        case _:
            return "object"
