"""Files made of streams in sectors, as Office wrote them before packages (OLE2), read under limits.

Every number in such a file may lie: chains are followed only as far as the file has sectors, and a
stream is never longer than the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..errors import FormatError, fail

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER = struct.Struct("<HHHHH6xIII4xIIIII")  # from byte 24 on
_HEADER_AT = 24
_LIST_AT, _LISTED = 76, 109  # numbers of sectors of the table, in the header
_ENTRY_BYTES = 128
_NO_SECTOR = 0xFFFFFFFA  # this and above are no sectors
_STREAM, _ROOT = 2, 5


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    kind: int
    start: int
    size: int


class CompoundFile:
    """The streams of such a file by their names; storages are not told apart."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(SIGNATURE) or len(data) < 512:
            raise _damaged("it has no header")
        head = _HEADER.unpack_from(data, _HEADER_AT)
        _, version, _, shift, mini_shift, _, _, directory, cutoff, minis, _, lists, _ = head
        if shift not in (9, 12) or mini_shift != 6 or version not in (3, 4):
            raise _damaged("its sectors have no size")
        self._data = data
        self._size = 1 << shift
        self._cutoff = cutoff
        self._table = self._read_table(lists)
        self._entries = self._read_directory(directory)
        root = next((one for one in self._entries if one.kind == _ROOT), None)
        self._small_table = _numbers(self._chain(minis))
        self._small = self._chain(root.start)[: root.size] if root else b""

    @property
    def names(self) -> list[str]:
        """The names of all streams and storages, in the order of the directory."""
        return [one.name for one in self._entries]

    def read(self, name: str) -> bytes | None:
        """Return the first stream of this name, None when there is none."""
        wanted = name.lower()
        for one in self._entries:
            if one.kind == _STREAM and one.name.lower() == wanted:
                return self._stream(one)
        return None

    def _stream(self, entry: _Entry) -> bytes:
        if entry.size >= self._cutoff:
            return self._chain(entry.start)[: entry.size]
        pieces, at, left = [], entry.start, len(self._small_table)
        while at < len(self._small_table) and left:
            pieces.append(self._small[at * 64 : at * 64 + 64])
            at, left = self._small_table[at], left - 1
        return b"".join(pieces)[: entry.size]

    def _sector(self, number: int) -> bytes:
        at = (number + 1) * self._size
        return self._data[at : at + self._size]

    def _chain(self, start: int) -> bytes:
        pieces, at, left = [], start, len(self._table)
        while at < len(self._table):
            if not left:
                raise _damaged("its sectors go round in a circle")
            pieces.append(self._sector(at))
            at, left = self._table[at], left - 1
        return b"".join(pieces)

    def _read_table(self, lists: int) -> tuple[int, ...]:
        """Return the sector that follows each sector."""
        numbers = list(struct.unpack_from(f"<{_LISTED}I", self._data, _LIST_AT))
        most = len(self._data) // self._size + 1
        at, left = lists, most
        while at < _NO_SECTOR and left:
            more = _numbers(self._sector(at))
            if len(more) < 2:
                break
            numbers.extend(more[:-1])
            at, left = more[-1], left - 1
        used = [number for number in numbers if number < most]
        if len(used) > most:
            raise _damaged("its table of sectors is too long")
        return _numbers(b"".join(map(self._sector, used)))[:most]

    def _read_directory(self, start: int) -> list[_Entry]:
        data = self._chain(start)
        found = []
        for at in range(0, len(data) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
            length, kind = struct.unpack_from("<HB", data, at + 64)
            if kind == 0 or not 2 <= length <= 64:
                continue
            name = data[at : at + length - 2].decode("utf-16-le", "replace")
            begin, size = struct.unpack_from("<II", data, at + 116)
            found.append(_Entry(name, kind, begin, size))
        return found


def _numbers(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])


def _damaged(what: str) -> FormatError:
    return fail("corrupt_file", f"the file is damaged: {what}")
