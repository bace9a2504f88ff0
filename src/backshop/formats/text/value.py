"""Tells values from words: what could be a number, a date or a truth value in any country."""

from __future__ import annotations

import re

_MOST_CHARS = 100  # of a value
_NUMBER = re.compile(r"[+-]?(\d[\d.,' ]*|\.\d+)([eE][+-]?\d+)?( ?%)?")
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]\d{1,2}:\d{2}(:\d{2})?.*)?|\d{1,2}:\d{2}.*"
)
_BOOLEANS = frozenset({"true", "false"})


def is_value(field: str) -> bool:
    """Whether a field, without spaces around it, is no word."""
    if len(field) > _MOST_CHARS:
        return False
    return bool(_NUMBER.fullmatch(field) or _DATE.fullmatch(field) or field.lower() in _BOOLEANS)
