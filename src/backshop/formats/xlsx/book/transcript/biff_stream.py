"""The records of an .xls stream: numbered, with a length, and what goes on in a further one."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from backshop.formats.errors import fail

CONTINUE = 0x003C
_HEAD = struct.Struct("<HH")
_WIDE, _FAR_EAST, _RICH = 0x01, 0x04, 0x08
_STRING_MAX = 1 << 16


@dataclass(slots=True)
class Record:
    """One record; `pieces` are its own data and that of the records that continue it."""

    kind: int
    data: bytes
    more: list[bytes]


def records(stream: bytes, at: int) -> Iterator[Record]:
    """Go through the records of a stream from a place on, each with what continues it."""
    size = len(stream)
    while at + 4 <= size:
        kind, length = _HEAD.unpack_from(stream, at)
        at += 4
        data = stream[at : at + length]
        at += length
        more: list[bytes] = []
        while at + 4 <= size and stream[at] == CONTINUE and stream[at + 1] == 0:
            length = _HEAD.unpack_from(stream, at)[1]
            more.append(stream[at + 4 : at + 4 + length])
            at += 4 + length
        yield Record(kind, data, more)


class Strings:
    """Reads the strings of a record, which may be cut anywhere between characters.

    Where the characters of a string go on in a further record, that begins with a byte which says
    anew how wide they are; where it is cut in between, it does not.
    """

    def __init__(self, record: Record, at: int = 0) -> None:
        self._pieces = [record.data, *record.more]
        self._piece, self._at = 0, at

    def string(self, length_bytes: int = 2) -> str:
        """Return the next string; its length is a number of so many bytes."""
        count = int.from_bytes(self._take(length_bytes), "little")
        flags = self._take(1)[0]
        runs = int.from_bytes(self._take(2), "little") if flags & _RICH else 0
        extra = int.from_bytes(self._take(4), "little") if flags & _FAR_EAST else 0
        text = self._characters(count, flags & _WIDE)
        self._skip(4 * runs + extra)
        return text

    def characters(self, count: int) -> str:
        """Return so many characters; a byte before them says how wide they are."""
        return self._characters(count, self._take(1)[0] & _WIDE)

    def _characters(self, count: int, wide: int) -> str:
        found = []
        while count:
            piece = self._pieces[self._piece]
            here = (len(piece) - self._at) >> 1 if wide else len(piece) - self._at
            taken = min(count, here)
            if taken:
                end = self._at + (taken << 1 if wide else taken)
                codec = "utf-16-le" if wide else "latin-1"
                found.append(piece[self._at : end].decode(codec, "surrogatepass"))
                self._at, count = end, count - taken
            if count:
                self._next()
                wide = self._take(1)[0] & _WIDE
        return "".join(found)

    def _take(self, count: int) -> bytes:
        while self._at >= len(self._pieces[self._piece]):
            self._next()
        piece = self._pieces[self._piece]
        data = piece[self._at : self._at + count]
        self._at += len(data)
        if len(data) < count:
            self._next()
            return data + self._take(count - len(data))
        return data

    def _skip(self, count: int) -> None:
        while count > 0:
            here = len(self._pieces[self._piece]) - self._at
            if count <= here:
                self._at += count
                return
            count -= here
            self._next()

    def _next(self) -> None:
        self._piece, self._at = self._piece + 1, 0
        if self._piece >= len(self._pieces):
            raise fail("corrupt_file", "a text of the workbook breaks off")
