"""Which charts and pictures of two versions of a sheet are the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from .drawing_part import Drawn

Pairs: TypeAlias = "list[tuple[Drawn | None, Drawn | None]]"


def paired(before: Sequence[Drawn], after: Sequence[Drawn]) -> Pairs:
    """Pair what is of one sort by its number in the drawing, else by its name.

    Those that stayed and came stand in the order of `after`, those that went last.
    """
    ways: tuple[Callable[[Drawn], str], ...] = (lambda one: one.id, lambda one: one.name)
    found: dict[int, Drawn] = {}  # by the number in `after`
    left = {one.number: one for one in before}
    for way in ways:
        olds = _unique(list(left.values()), way)
        news = _unique([one for one in after if one.number not in found], way)
        for key, new in news.items():
            if key in olds:
                found[new.number] = left.pop(olds[key].number)
    pairs: Pairs = [(found.get(one.number), one) for one in after]
    return [*pairs, *((one, None) for one in left.values())]


def _unique(drawn: Sequence[Drawn], way: Callable[[Drawn], str]) -> dict[tuple[str, str], Drawn]:
    keys = [(one.sort, way(one)) for one in drawn]
    counts = Counter(keys)
    return {key: one for key, one in zip(keys, drawn, strict=True) if key[1] and counts[key] == 1}
