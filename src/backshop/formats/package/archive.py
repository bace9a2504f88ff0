"""Puts an archive together from a scanned one; what did not change stays to the bit (F23.1)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

from ..errors import FormatError, fail
from .guard import DEFLATED, Archive, Member, scan_bytes, zip64_at

_UTF8_NAME = 0x800
_DOS_DATE = 0x21  # 1980-01-01 (F23.6)
_LEVEL = 5  # half the time of 6 for two hundredths more bytes, on sheets and documents


def assemble(archive: Archive, new: Mapping[str, bytes], removed: set[str]) -> bytes:
    """Return the archive with members replaced, added (last) and removed."""
    pieces: list[bytes] = []
    central: dict[str, bytes] = {}
    at = 0
    for member in sorted(archive.members, key=lambda m: m.local_offset):
        if member.name in removed:
            continue
        if member.name in new:
            piece, record = _fresh(member.name, new[member.name], at)
        else:
            piece = archive.data[member.local_offset : member.end]
            record = _moved(member, at)
        pieces.append(piece)
        central[member.name] = record
        at += len(piece)
    directory = [central[m.name] for m in archive.members if m.name in central]
    for name in [name for name in new if name not in archive.by_name]:
        piece, record = _fresh(name, new[name], at)
        pieces.append(piece)
        directory.append(record)
        at += len(piece)
    listing = b"".join(directory)
    end = struct.pack(
        "<4s4H2IH", b"PK\x05\x06", 0, 0, len(directory), len(directory), len(listing), at,
        len(archive.comment),
    )  # fmt: skip
    return b"".join([*pieces, listing, end, archive.comment])


def _fresh(name: str, data: bytes, offset: int) -> tuple[bytes, bytes]:
    """Return the local entry and the directory record of new content (F23.6)."""
    raw = name.encode()
    deflater = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflater.compress(data) + deflater.flush()
    common = struct.pack(
        "<5H3I2H", 20, _UTF8_NAME, DEFLATED, 0, _DOS_DATE, zlib.crc32(data), len(packed), len(data),
        len(raw), 0,
    )  # fmt: skip
    tail = struct.pack("<3H2I", 0, 0, 0, 0, offset)
    return (
        b"PK\x03\x04" + common + raw + packed,
        b"PK\x01\x02" + struct.pack("<H", 20) + common + tail + raw,
    )


def _offset_at(member: Member) -> tuple[int, str]:
    """Return where in a directory record the offset stands, and its size."""
    record = member.central
    compressed, size = struct.unpack_from("<2I", record, 20)
    name_length, extra_length = struct.unpack_from("<2H", record, 28)
    if struct.unpack_from("<I", record, 42)[0] != 0xFFFFFFFF:
        return 42, "<I"
    extra_at = 46 + name_length
    values = zip64_at(record[extra_at : extra_at + extra_length])
    before = (compressed, size).count(0xFFFFFFFF)
    return extra_at + (values or 0) + 8 * before, "<Q"


def _moved(member: Member, offset: int) -> bytes:
    at, form = _offset_at(member)
    record = bytearray(member.central)
    struct.pack_into(form, record, at, offset)
    return bytes(record)


def compare_untouched(before: Archive, after: Archive, touched: set[str]) -> None:
    """Prove that every member outside `touched` is the same to the bit, header included.

    Raises:
        FormatError: `verify_failed`.
    """
    kept = [m.name for m in before.members if m.name not in touched]
    if kept != [m.name for m in after.members if m.name not in touched]:
        raise unverified("the members or their order differ")
    for name in kept:
        old, new = before.by_name[name], after.by_name[name]
        if before.data[old.local_offset : old.end] != after.data[new.local_offset : new.end]:
            raise unverified(f"{name} was not to change")
        if _moved(old, 0) != _moved(new, 0):
            raise unverified(f"the directory record of {name} was not to change")


def unverified(what: str) -> FormatError:
    """Return the error for a written file that failed F23.8."""
    return fail("verify_failed", "the written package is not what was meant", detail=what)


def members(path: Path) -> dict[str, bytes]:
    """Return every member of a package as its bytes on disk, local header included.

    Two packages whose values are equal for a name hold that part untouched.
    """
    archive = scan_bytes(path.read_bytes())
    return {m.name: archive.data[m.local_offset : m.end] for m in archive.members}
