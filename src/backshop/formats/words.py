"""Word by word: what of a text stayed, went and came."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
_MAX_WORDS = 4_000  # of one text; a longer one counts as replaced whole
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
    a, b = _WORD.findall(old), _WORD.findall(new)
    if max(len(a), len(b)) > _MAX_WORDS and old != new:
        return [Piece("removed", old), Piece("added", new)]
    pieces: list[Piece] = []
    at_old = at_new = 0
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        gone, come = "".join(a[i1:i2]), "".join(b[j1:j2])
        if tag == "equal":
            pieces.append(Piece("same", come, at_old, at_new))
        else:
            pieces += [Piece("removed", gone, at_old, at_new)] if gone else []
            pieces += [Piece("added", come, at_old, at_new)] if come else []
        at_old, at_new = at_old + len(gone), at_new + len(come)
    return pieces


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text and how often each occurs, counted once to be compared with many."""

    counts: Counter[str]
    total: int

    @classmethod
    def of(cls, text: str) -> Words:
        """Count the words of a text; white space is none."""
        counts = Counter(word for word in _WORD.findall(text) if not word.isspace())
        return cls(counts, counts.total())

    def is_like(self, other: Words) -> bool:
        """Whether two texts are versions of one another; the order of words does not count."""
        needed = _ALIKE * (self.total + other.total) / 2
        if min(self.total, other.total) < needed:
            return False
        return (self.counts & other.counts).total() >= needed
