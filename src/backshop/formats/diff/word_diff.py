"""Word by word: what of a text stayed, went and came."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from .alignment import Change, Effort, changes

WORD = re.compile(r"\w+|\s+|.", re.DOTALL)  # joined, all that is found is the text again
_MAX_WORDS = 4_000  # of one text; a longer one counts as replaced whole
_MAX_STEPS = 2_000_000  # of one comparison, about a tenth of a second
_ALIKE = 0.5  # of the words are the same: from here on two texts are versions of one another


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text; `mark` is same, added or removed. Offsets are those of the side it is from."""

    mark: str
    text: str
    old_at: int = 0
    new_at: int = 0


def marked(old: str, new: str) -> list[Piece]:
    """Return both texts as one run of pieces, removed before added."""
    a, b = WORD.findall(old), WORD.findall(new)
    if max(len(a), len(b)) > _MAX_WORDS and old != new:
        return [Piece("removed", old), Piece("added", new)]
    pieces: list[Piece] = []
    at_old = at_new = i = 0
    found = changes(a, b, effort=Effort(_MAX_STEPS))
    for change in [*found, Change(len(a), len(a), len(b), len(b))]:
        same = "".join(a[i : change.old_start])
        gone = "".join(a[change.old_start : change.old_end])
        come = "".join(b[change.new_start : change.new_end])
        pieces += [Piece("same", same, at_old, at_new)] if same else []
        at_old, at_new = at_old + len(same), at_new + len(same)
        pieces += [Piece("removed", gone, at_old, at_new)] if gone else []
        pieces += [Piece("added", come, at_old, at_new)] if come else []
        at_old, at_new, i = at_old + len(gone), at_new + len(come), change.old_end
    return pieces


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text and how often each occurs, counted once to be compared with many."""

    counts: Counter[str]
    total: int

    @classmethod
    def of(cls, text: str) -> Words:
        """Count the words of a text; white space is none."""
        counts = Counter(word for word in WORD.findall(text) if not word.isspace())
        return cls(counts, counts.total())

    def is_like(self, other: Words) -> bool:
        """Whether two texts are versions of one another; the order of words does not count."""
        needed = _ALIKE * (self.total + other.total) / 2
        if min(self.total, other.total) < needed:
            return False
        return (self.counts & other.counts).total() >= needed
