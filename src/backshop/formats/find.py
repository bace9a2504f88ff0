"""Finds text without regard to case, and replaces it in text kept in pieces (F19.4, F19.5)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Needle:
    """What to look for."""

    search: str
    match_case: bool = False
    whole_word: bool = False

    def spans(self, text: str) -> list[Span]:
        """Return where the needle stands in `text`, first to last, never overlapping."""
        find = _exact if self.match_case else _folded
        found = find(text, self.search)
        return [span for span in found if self._stands_alone(text, span)]

    def _stands_alone(self, text: str, span: Span) -> bool:
        if not self.whole_word:
            return True
        start, end = span
        before = _is_word(text[start - 1 : start]) and _is_word(text[start : start + 1])
        after = _is_word(text[end : end + 1]) and _is_word(text[end - 1 : end])
        return not (before or after)


def replace_spans(pieces: Sequence[str], spans: Sequence[Span], by: str) -> list[str]:
    """Return `pieces` with every span of their joined text replaced.

    The replacement goes where the first replaced character was; pieces that lose all their
    characters come back empty, and no character outside a span moves to another piece.
    """
    result = []
    offset = 0
    for piece in pieces:
        result.append(_one_piece(piece, offset, spans, by))
        offset += len(piece)
    return result


def _one_piece(piece: str, offset: int, spans: Sequence[Span], by: str) -> str:
    end = offset + len(piece)
    kept = []
    at = offset
    for index in range(bisect_right(spans, offset, key=lambda span: span[1]), len(spans)):
        start, stop = spans[index]
        if start >= end:
            break
        kept.append(piece[at - offset : max(start, offset) - offset])
        if start >= offset:
            kept.append(by)
        at = min(stop, end)
    kept.append(piece[at - offset :])
    return "".join(kept)


def _exact(text: str, search: str) -> list[Span]:
    spans = []
    at = text.find(search)
    while at >= 0:
        spans.append((at, at + len(search)))
        at = text.find(search, at + len(search))
    return spans


def _folded(text: str, search: str) -> list[Span]:
    """Find by case folding; folding may lengthen a character, so positions are mapped back."""
    wanted = search.casefold()
    folded = text.casefold()
    if wanted not in folded:
        return []
    if len(folded) == len(text) and all(len(c.casefold()) == 1 for c in set(text)):
        return _exact(folded, wanted)
    starts = []  # for each folded character, the index of its original one
    for index, character in enumerate(text):
        starts.extend([index] * len(character.casefold()))
    starts.append(len(text))
    spans = []
    at = folded.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        opens = at == 0 or starts[at - 1] != starts[at]
        closes = starts[end] != starts[end - 1]
        if opens and closes:  # half a character is no match
            spans.append((starts[at], starts[end]))
        at = folded.find(wanted, end if opens and closes else at + 1)
    return spans


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
