"""Texts with `*`, `?` and `~` in them, as criteria and searches read them."""

from __future__ import annotations

import re
from functools import lru_cache

from .coercion import folded
from .value import Doubt


def is_wild(text: str) -> bool:
    """Whether a text is a pattern rather than itself."""
    return any(sign in text for sign in "*?~")


@lru_cache(maxsize=1024)
def pattern(text: str) -> re.Pattern[str]:
    """Return what finds a pattern, whatever its case, in texts that were folded."""
    out, at = [], 0
    text = folded(text)
    while at < len(text):
        sign = text[at]
        if sign == "~" and at + 1 < len(text) and text[at + 1] in "*?~":
            at += 1
            out.append(re.escape(text[at]))
        elif sign == "~":
            raise Doubt
        elif sign == "*":
            if not out or out[-1] != ".*":
                out.append(".*")
        else:
            out.append("." if sign == "?" else re.escape(sign))
        at += 1
    if out.count(".*") > 8:
        raise Doubt  # a pattern that would be tried for ever
    return re.compile("".join(out), re.S)


def matches(wanted: str, text: str) -> bool:
    """Whether a text is what a pattern describes."""
    return pattern(wanted).fullmatch(folded(text)) is not None
