"""Pairs the blocks of two bodies, or the rows of two tables, so that every change stands alone.

What is asked of it is more than of a difference that is only read: between the old side and any
mixture of both, the changes found must be those of the mixture. Runs of equal blocks are where that
fails, so changes are put at the end of such a run, and whether they hold apart is tried out.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from backshop.formats.diff.alignment import Change, Effort, changes
from backshop.formats.diff.word_diff import Words
from backshop.formats.package.guard import Element

_NEAR = 20  # blocks looked through for another version of one
_MAX_STEPS = 4_000_000  # of one comparison, about half a second
EVERY_MAX = 6  # changes of which all mixtures are tried; of more, some are
_TRIED_MAX = 60
_TRIED_ITEMS = 200_000  # blocks looked at while trying, about a second
_SEED = 7

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A block of the body or a row of a table, as it is compared."""

    type: str  # p, t, row, control (around blocks), mark (between them)
    element: Element
    print: str
    text: str
    ident: str | None = None  # what programs know it by
    first: int = 0  # the number of its first block (F9.9)
    count: int = 1  # of its blocks


@dataclass(frozen=True, slots=True)
class Step:
    """A pair, or an item of one side; a new one stands before the item `gap` of the old side."""

    old: int | None
    new: int | None
    gap: int


def apart(
    old: Sequence[Hashable], new: Sequence[Hashable], *, effort: Effort | None = None
) -> list[Change]:
    """Return what differs, each change as far down as equal neighbours let it slide."""
    found = changes(old, new, effort=effort or Effort(_MAX_STEPS))
    slid: list[Change] = []
    for at in range(len(found) - 1, -1, -1):
        one = found[at]
        limit = slid[-1].old_start if slid else len(old)
        i, i2, j, j2 = one.old_start, one.old_end, one.new_start, one.new_end
        if i == i2:
            while i < limit and old[i] == new[j]:
                i, i2, j, j2 = i + 1, i2 + 1, j + 1, j2 + 1
        elif j == j2:
            while i2 < limit and old[i] == old[i2]:
                i, i2, j, j2 = i + 1, i2 + 1, j + 1, j2 + 1
        if slid and i2 == slid[-1].old_start and j2 == slid[-1].new_start:
            below = slid.pop()
            i2, j2 = below.old_end, below.new_end
        slid.append(Change(i, i2, j, j2))
    return slid[::-1]


def align(old: Sequence[Item], new: Sequence[Item]) -> list[Step]:
    """Return both sides as one row of steps, in the order in which a mixture has them."""
    idents = _shared(old) & _shared(new)
    keys = [[_key(one, idents) for one in side] for side in (old, new)]
    steps: list[Step] = []
    i = j = 0
    for change in [*apart(*keys), Change(len(old), len(old), len(new), len(new))]:
        for a, b in zip(range(i, change.old_start), range(j, change.new_start), strict=True):
            steps.append(Step(a, b, a))
        i, j = change.old_end, change.new_end
        steps.extend(_replaced(old, new, range(change.old_start, i), range(change.new_start, j)))
    return steps


def _shared(side: Sequence[Item]) -> set[str]:
    counts = Counter(one.ident for one in side if one.ident is not None)
    return {ident for ident, count in counts.items() if count == 1}


def _key(item: Item, idents: set[str]) -> tuple[str, str]:
    if item.ident is not None and item.ident in idents:
        return item.type, f"id {item.ident}"
    return item.type, item.print


def _replaced(old: Sequence[Item], new: Sequence[Item], gone: range, come: range) -> Iterator[Step]:
    """Yield versions of one another as pairs, the rest as gone and come."""
    words = {at: Words.of(new[at].text) for at in come} if gone and come else {}
    j = come.start
    for i in gone:
        own = Words.of(old[i].text) if words else None
        twin = None
        for at in range(j, min(j + _NEAR, come.stop)):
            if own is not None and _may_pair(old[i], new[at]) and own.is_like(words[at]):
                twin = at
                break
        if twin is None:
            yield Step(i, None, i)
            continue
        yield from (Step(None, at, i) for at in range(j, twin))
        yield Step(i, twin, i)
        j = twin + 1
    yield from (Step(None, at, gone.stop) for at in range(j, come.stop))


def _may_pair(old: Item, new: Item) -> bool:
    return old.type == new.type and old.type != "mark"


# --- whether changes hold apart ------------------------------------------------------------------


def mixtures(groups: Sequence[_T]) -> Iterator[tuple[_T, ...]]:
    """Yield sets of changes to be tried: every one of few, of more each alone and all the others."""
    if len(groups) <= EVERY_MAX:
        for size in range(1, len(groups) + 1):
            yield from combinations(groups, size)
        return
    yield tuple(groups)
    chosen = random.Random(_SEED)
    for one in chosen.sample(range(len(groups)), min(len(groups), _TRIED_MAX // 3)):
        yield (groups[one],)
        yield (*groups[:one], *groups[one + 1 :])
    for _ in range(_TRIED_MAX // 3):
        yield tuple(one for one in groups if chosen.random() < 0.5)


def holds_apart(
    old: Sequence[Item],
    new: Sequence[Item],
    steps: Sequence[Step],
    groups: Sequence[frozenset[int]],
) -> bool:
    """Whether groups of steps are found again, and no others, in mixtures of both sides."""
    left = _TRIED_ITEMS
    for taken in mixtures(groups):
        chosen = frozenset().union(*taken)
        mixed = list(_mixed(old, new, steps, chosen))
        expected = sorted(_said(old, new, step) for at, step in enumerate(steps) if at in chosen)
        found = (_said(old, mixed, one) for one in align(old, mixed) if _differs(old, mixed, one))
        if sorted(found) != expected:
            return False
        left -= len(mixed)
        if left < 0 and len(groups) > EVERY_MAX:
            break
    return True


def _mixed(
    old: Sequence[Item], new: Sequence[Item], steps: Sequence[Step], taken: frozenset[int]
) -> Iterator[Item]:
    for at, step in enumerate(steps):
        if step.new is not None and at in taken:
            yield new[step.new]
        elif step.old is not None and at not in taken:
            yield old[step.old]


def _differs(old: Sequence[Item], new: Sequence[Item], step: Step) -> bool:
    if step.old is None or step.new is None:
        return True
    return old[step.old].print != new[step.new].print


def _said(old: Sequence[Item], new: Sequence[Item], step: Step) -> tuple[str, int, str]:
    """Return a step as it counts in the old side."""
    if step.old is None:
        assert step.new is not None
        return "added", step.gap, new[step.new].print
    if step.new is None:
        return "removed", step.old, old[step.old].print
    return "changed", step.old, new[step.new].print


def are_words_apart(old: Sequence[str], new: Sequence[str], found: Sequence[Change]) -> bool:
    """Whether every mixture of word changes shows exactly its own.

    Of more than a few they do where a word that stands nowhere else parts each from the next, and
    no change brings a word that stands once elsewhere.
    """
    if len(found) <= EVERY_MAX:
        return all(_is_found(old, new, list(taken)) for taken in mixtures(found))
    counts = Counter(old)
    come = Counter(word for one in found for word in new[one.new_start : one.new_end])
    for one in found:
        own = set(old[one.old_start : one.old_end])
        if any(counts[w] == 1 and w not in own for w in new[one.new_start : one.new_end]):
            return False
    for above, below in zip(found, found[1:], strict=False):
        between = old[above.old_end : below.old_start]
        if not any(counts[word] == 1 and word not in come for word in between):
            return False
    return True


def _is_found(old: Sequence[str], new: Sequence[str], taken: list[Change]) -> bool:
    mixed: list[str] = []
    at = 0
    for one in taken:
        mixed += [*old[at : one.old_start], *new[one.new_start : one.new_end]]
        at = one.old_end
    mixed += old[at:]
    again = merged(old, apart(old, mixed))
    said: Callable[[Change, Sequence[str]], object] = lambda one, side: (
        one.old_start,
        one.old_end,
        tuple(side[one.new_start : one.new_end]),
    )
    return [said(one, mixed) for one in again] == [said(one, new) for one in taken]


def merged(old: Sequence[str], found: Sequence[Change]) -> list[Change]:
    """Return changes with those as one that only white space parts."""
    joined: list[Change] = []
    for one in found:
        above = joined[-1] if joined else None
        if above is not None and "".join(old[above.old_end : one.old_start]).isspace():
            joined[-1] = Change(above.old_start, one.old_end, above.new_start, one.new_end)
        else:
            joined.append(one)
    return joined
