"""Tells UTF-16 text that has no mark at its start from other bytes."""

from __future__ import annotations

import codecs
import unicodedata

from backshop.base import limits as numbers

_NUL_SHARE = 0.1  # of the characters: delimiters and line ends alone make up more of a table
_NO_TEXT = frozenset({"Cc", "Cn", "Co"})


def unmarked_utf16(head: bytes) -> str | None:
    """Return the codec of UTF-16 text that has no mark at its start, None for anything else.

    Half of each plain character is NUL, on one side; nothing but text decodes to text then.
    """
    pairs = len(head) // 2
    nuls = {"utf-16-be": head[::2].count(0), "utf-16-le": head[1::2].count(0)}
    codec = max(nuls, key=lambda name: nuls[name])
    if nuls[codec] < _NUL_SHARE * pairs or 4 * min(nuls.values()) > nuls[codec]:
        return None
    whole = len(head) < numbers.CLASSIFY_HEAD_BYTES
    try:
        text = codecs.getincrementaldecoder(codec)().decode(head, final=whole)
    except UnicodeDecodeError:
        return None
    odd = (char not in "\t\n\r\f" and unicodedata.category(char) in _NO_TEXT for char in text)
    return None if any(odd) else codec
