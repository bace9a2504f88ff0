"""`{{path}}` in authored text: which value of the context it means, and how it prints (R1.14)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from backshop.base.canon import canonical
from backshop.base.template import Found, Obstacle, Token, fill, follow, tokens, type_name

__all__ = ["cut", "expressions", "lookup", "paths", "render", "resolve", "show", "type_name"]

VALUE_MAX_BYTES = 2048
TRUNCATED = "\n\n[TRUNCATED]"

_IDENT = r"[A-Za-z_][A-Za-z0-9_]*"
_PATH = re.compile(rf"{_IDENT}(?:\.{_IDENT})*")


def resolve(path: str, context: Mapping[str, object]) -> Found | Obstacle:
    """Follow a path: the exact flat key first, then segment by segment (R1.14, R1.19)."""
    return Found(context[path]) if path in context else follow(path.split("."), context)


def lookup(path: str, context: Mapping[str, object]) -> object:
    """Return the value a path leads to, None for every kind of nothing."""
    match resolve(path, context):
        case Found(value):
            return value
        case Obstacle():
            return None


def render(text: str, context: Mapping[str, object]) -> str:
    """Replace every token by its value, once; what is no token stays as written."""

    def printed(token: Token) -> str:
        if not _is_path(token):
            return token.written
        match resolve(token.path, context):
            case Found(None):
                return f"[unset: {token.path}]"
            case Found(value):
                return show(value)
            case Obstacle(segment, name):
                return f"[unset: {token.path} -- '{segment}' is {name}, not object]"

    return fill(text, printed)


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
    return (token.path for token in tokens(text) if _is_path(token))


def expressions(text: str) -> Iterator[str]:
    """Yield what stands between double braces without being a path."""
    return (token.written for token in tokens(text) if not _is_path(token))


def _is_path(token: Token) -> bool:
    """Say whether a workflow may say this: names and dots, no spaces, no filters."""
    return not token.filters and _PATH.fullmatch(token.path) is not None
