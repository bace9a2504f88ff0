"""What changed beyond a difference that is shown, in the terminal (B12.22)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .door import clean


def also_lines(entries: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for every place."""
    for one in entries:
        part = one["part"] if one["part"] and one["part"] not in one["text"] else ""
        yield f"also changed: {clean(one['text'])}" + (f"  ({clean(part)})" if part else "")
