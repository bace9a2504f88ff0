"""Pairs the blocks of two bodies, or the rows of two tables, so that every change stands alone.

What is asked of it is more than of a difference that is only read: between the old side and any
mixture of both, the changes found must be those of the mixture. Runs of equal blocks are where that
fails, so changes are put at the end of such a run, and whether they hold apart is tried out.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Protocol, TypeVar

from ..diff.alignment import Change, Effort, changes
from ..diff.word_diff import Words

_NEAR = 20  # blocks looked through for another version of one
_MAX_STEPS = 4_000_000  # of one comparison, about half a second
EVERY_MAX = 6  # changes of which all mixtures are tried; of more, some are
_TRIED_MAX = 60
_TRIED_ITEMS = 200_000  # blocks looked at while trying, about a second
_SEED = 7
_NO_WORD = re.compile(r"[^\w\s]+")

_T = TypeVar("_T")


class Known(Protocol):
    """A block of a document or a row of a table, as it is compared."""

    @property
    def type(self) -> str:
        """What it is: p, t, row, control (around blocks), mark (between them)."""

    @property
    def print(self) -> str:
        """All of it, hashed."""

    @property
    def text(self) -> str:
        """The words that show."""

    @property
    def ident(self) -> str | None:
        """What programs know it by."""

    @property
    def is_blank(self) -> bool:
        """Whether nothing shows in it."""

    @property
    def shape(self) -> str | None:
        """Of a table: its columns."""


_Known = TypeVar("_Known", bound=Known)


@dataclass(frozen=True, slots=True)
class Step:
    """A pair, or an item of one side; a new one stands before the item `gap` of the old side."""

    old: int | None
    new: int | None
    gap: int


def apart(
    old: Sequence[Hashable], new: Sequence[Hashable], *, effort: Effort | None = None
) -> list[Change]:
    """Return what differs, what went and what came each as far down as equal neighbours let it."""
    found = changes(old, new, effort=effort or Effort(_MAX_STEPS))
    slid: list[Change] = []  # from the last to the first
    for one in reversed(found):
        limit = slid[-1].old_start if slid else len(old)
        i, i2, j, j2 = one.old_start, one.old_end, one.new_start, one.new_end
        if i < i2 and j < j2 and i2 < limit:
            if old[i] == old[i2]:
                _push(slid, _slid(old, new, Change(i, i2, j2, j2), limit))
                i2 = i
            elif old[i2] == new[j]:
                _push(slid, _slid(old, new, Change(i2, i2, j, j2), limit))
                j2 = j
            limit = slid[-1].old_start if slid else len(old)
        _push(slid, _slid(old, new, Change(i, i2, j, j2), limit))
    return slid[::-1]


def _slid(old: Sequence[Hashable], new: Sequence[Hashable], one: Change, limit: int) -> Change:
    """Return a change of one side as far down as it goes."""
    i, i2, j, j2 = one.old_start, one.old_end, one.new_start, one.new_end
    if i == i2:
        while i2 < limit and old[i] == new[j]:
            i, i2, j, j2 = i + 1, i2 + 1, j + 1, j2 + 1
    elif j == j2:
        while i2 < limit and old[i] == old[i2]:
            i, i2, j, j2 = i + 1, i2 + 1, j + 1, j2 + 1
    return Change(i, i2, j, j2)


def _push(slid: list[Change], one: Change) -> None:
    """Add a change above the others, joined with the next where nothing is between them."""
    if slid and one.old_end == slid[-1].old_start and one.new_end == slid[-1].new_start:
        below = slid.pop()
        one = Change(one.old_start, below.old_end, one.new_start, below.new_end)
    slid.append(one)


def align(old: Sequence[_Known], new: Sequence[_Known]) -> list[Step]:
    """Return both sides as one row of steps, in the order in which a mixture has them.

    Blank items are the same everywhere, so they are paired last, between others that are.
    """
    idents = _shared(old) & _shared(new)
    keys = [[_key(one, idents) for one in side] for side in (old, new)]
    steps: list[Step] = []
    i = j = 0
    for a, b in [*_pairs(old, new, *keys), (len(old), len(new))]:
        steps += _between(keys, range(i, a), range(j, b))
        if a < len(old):
            steps.append(Step(a, b, a))
        i, j = a + 1, b + 1
    return steps


def _pairs(
    old: Sequence[_Known], new: Sequence[_Known], *keys: Sequence[tuple[str, str]]
) -> Iterator[tuple[int, int]]:
    """Yield the places of items that can be known again: the same ones, and other versions."""
    places = [
        [at for at, one in enumerate(side) if not one.is_blank or own[at][1].startswith("id ")]
        for side, own in zip((old, new), keys, strict=True)
    ]
    strong = [[own[at] for at in side] for own, side in zip(keys, places, strict=True)]
    ends = [len(side) for side in strong]
    i = j = 0
    for change in [*apart(*strong), Change(ends[0], ends[0], ends[1], ends[1])]:
        same = zip(range(i, change.old_start), range(j, change.new_start), strict=True)
        yield from ((places[0][a], places[1][b]) for a, b in same)
        i, j = change.old_end, change.new_end
        gone, come = places[0][change.old_start : i], places[1][change.new_start : j]
        yield from _versions(old, new, gone, come)


def _versions(
    old: Sequence[_Known], new: Sequence[_Known], gone: Sequence[int], come: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield versions of one another."""
    words = [_words(new[at].text) for at in come] if gone else []
    j = 0
    for i in gone:
        own = _words(old[i].text)
        for k in range(j, min(j + _NEAR, len(come))):
            if _is_version(old[i], new[come[k]], own, words[k]):
                yield i, come[k]
                j = k + 1
                break


def _words(text: str) -> Words:
    """Return the words of a text; brackets and colons do not make two texts alike."""
    return Words.of(_NO_WORD.sub(" ", text))


def _is_version(old: Known, new: Known, own: Words, other: Words) -> bool:
    if old.type != new.type or old.type == "mark":
        return False
    if old.type == "row":
        return _is_row_version(old.text.split("\t"), new.text.split("\t")) or own.is_like(other)
    return (old.shape is not None and old.shape == new.shape) or own.is_like(other)


def _is_row_version(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether a cell of a row stayed as it was, or the row was blank before."""
    if len(old) != len(new):
        return False
    is_blank = not any(cell.strip() for cell in old)
    return is_blank or any(a == b and a.strip() for a, b in zip(old, new, strict=True))


def _between(keys: Sequence[Sequence[tuple[str, str]]], gone: range, come: range) -> Iterator[Step]:
    """Yield the steps between two items that were known again."""
    if not gone and not come:
        return
    own = keys[0][gone.start : gone.stop], keys[1][come.start : come.stop]
    i, j = gone.start, come.start
    for change in [*apart(*own), Change(len(gone), len(gone), len(come), len(come))]:
        start, start_new = gone.start + change.old_start, come.start + change.new_start
        for a, b in zip(range(i, start), range(j, start_new), strict=True):
            yield Step(a, b, a)
        i, j = gone.start + change.old_end, come.start + change.new_end
        yield from (Step(a, None, a) for a in range(start, i))
        yield from (Step(None, b, i) for b in range(start_new, j))


def _shared(side: Sequence[Known]) -> set[str]:
    counts = Counter(one.ident for one in side if one.ident is not None)
    return {ident for ident, count in counts.items() if count == 1}


def _key(item: Known, idents: set[str]) -> tuple[str, str]:
    if item.ident is not None and item.ident in idents:
        return item.type, f"id {item.ident}"
    return item.type, item.print


# --- whether changes hold apart ------------------------------------------------------------------


def mixtures(groups: Sequence[_T]) -> Iterator[tuple[_T, ...]]:
    """Yield sets of changes to be tried: every one of few; of more, alone and all the others."""
    if len(groups) <= EVERY_MAX:
        for size in range(1, len(groups) + 1):
            yield from combinations(groups, size)
        return
    yield tuple(groups)
    chosen = random.Random(_SEED)  # noqa: S311  # the same ones every time
    for one in chosen.sample(range(len(groups)), min(len(groups), _TRIED_MAX // 3)):
        yield (groups[one],)
        yield (*groups[:one], *groups[one + 1 :])
    for _ in range(_TRIED_MAX // 3):
        yield tuple(one for one in groups if chosen.random() < 0.5)


def holds_apart(
    old: Sequence[_Known],
    new: Sequence[_Known],
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
    old: Sequence[_Known], new: Sequence[_Known], steps: Sequence[Step], taken: frozenset[int]
) -> Iterator[_Known]:
    for at, step in enumerate(steps):
        if step.new is not None and at in taken:
            yield new[step.new]
        elif step.old is not None and at not in taken:
            yield old[step.old]


def _differs(old: Sequence[_Known], new: Sequence[_Known], step: Step) -> bool:
    if step.old is None or step.new is None:
        return True
    return old[step.old].print != new[step.new].print


def _said(old: Sequence[_Known], new: Sequence[_Known], step: Step) -> tuple[str, int, str]:
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
    for above, below in pairwise(found):
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
    return [_change(one, mixed) for one in again] == [_change(one, new) for one in taken]


def _change(one: Change, new: Sequence[str]) -> tuple[int, int, tuple[str, ...]]:
    return one.old_start, one.old_end, tuple(new[one.new_start : one.new_end])


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
