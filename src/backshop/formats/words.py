"""Word by word: what of a text stayed, went and came."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
_MAX_WORDS = 4_000  # of one text; a longer one counts as replaced whole
ALIKE = 0.5  # from here on two texts are versions of one another


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


def likeness(old: str, new: str) -> float:
    """Return how much of two texts is the same words, 0 to 1; the order does not count."""
    if old == new:
        return 1.0
    a = Counter(word for word in _WORD.findall(old) if not word.isspace())
    b = Counter(word for word in _WORD.findall(new) if not word.isspace())
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0
