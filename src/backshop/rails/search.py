"""Search in every script: the words of a question, and whether a text says them (R5.16).

A word is a run of letters, marks and digits; hyphens, underscores and the border between letters
and digits divide it, so `9876` finds `AUTH-9876`. An English plural finds its singular and the
other way round. Scripts that write without spaces are searched by parts of words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u1100-\u11ff\uac00-\ud7ff"  # Hangul: particles are written with the word
    "\u3040-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "]"
)
_PLURAL_LEAST_CHARS = 4
_ID_LEAST_CHARS = 4


class Text:
    """A text that can be asked for words."""

    def __init__(self, text: str) -> None:
        self._plain = plain(text)
        self._words = frozenset(map(_singular, _split(self._plain)))

    def says(self, word: str) -> bool:
        """Say whether a word of `words` stands in it."""
        if _UNSPACED.search(word):
            return word in self._plain
        return word in self._words


def words(text: str) -> frozenset[str]:
    """Return the words of a question."""
    return frozenset(map(_singular, _split(plain(text))))


def is_meant(question: str, ids: Sequence[str], text: Text) -> bool:
    """Say whether everything in a question begins an id or stands in the text.

    Ids are no words: made of chance, they would say every short one.
    """
    return all(
        (len(one) >= _ID_LEAST_CHARS and any(known.startswith(one) for known in ids))
        or all(map(text.says, words(one)))
        for one in plain(question).split()
    )


def plain(text: str) -> str:
    """Return a text so that what looks alike is equal."""
    return unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")


def _split(text: str) -> list[str]:
    return _word().findall(text)


def _singular(word: str) -> str:
    if len(word) < _PLURAL_LEAST_CHARS or not word.isascii():
        return word
    if word.endswith(("ies", "ie")):  # cookie and cookies, query and queries
        return word.removesuffix("s")[:-2] + "y"
    if not word.endswith("s"):
        return word
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    """Return what a word looks like; accents and vowel signs belong to their letters."""
    marks = [one for one in range(0x300, 0x10000) if unicodedata.category(chr(one))[0] == "M"]
    spans: list[tuple[int, int]] = []
    for one in marks:
        if spans and spans[-1][1] == one - 1:
            spans[-1] = (spans[-1][0], one)
        else:
            spans.append((one, one))
    joined = "".join(f"\\u{low:04x}-\\u{high:04x}" for low, high in spans)
    return re.compile(rf"\d+|(?:[^\W\d_]|[{joined}])+")
