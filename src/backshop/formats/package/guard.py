"""Looks at a file before any library does: archives are walked and counted, XML is checked (F4).

`scan` reads the ZIP directory itself, inflates every part while counting real bytes, and returns
an `Archive` whose members are known to be what the directory says. Libraries that open the file
afterwards see the same names, sizes and contents. `parse_xml` is how this room turns bytes of a
file into a tree: no entities, no DTD, no network, no huge trees.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from tempfile import TemporaryFile
from typing import IO

from lxml import etree

from backshop.base import limits as numbers
from backshop.base.system.mapped_bytes import Content, MappedBytes, release

from ..errors import fail
from ..kind import UNPACKED
from ..protocol import Kind, Limits, Source

Element = etree._Element
STORED, DEFLATED = 0, 8
_XML_ENDINGS = (".xml", ".rels", ".vml")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64 = struct.Struct("<4sIQI")
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF
_ENCRYPTED, _PATCHED, _UTF8_NAME = 0x1 | 0x40 | 0x2000, 0x20, 0x800
_NEWEST = 63  # of the versions of ZIP; what asks for a later one, other programs refuse
_STEP = 256 * numbers.KIB
_PROLOG_MAX_BYTES = numbers.MIB
_DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of an archive, at its true place and size."""

    name: str
    raw_name: bytes
    central: bytes  # its record in the directory, as found
    method: int
    crc: int
    compressed_size: int
    size: int
    local_offset: int
    data_offset: int = 0  # this and `end` are known once its entry was found
    end: int = 0  # where the next entry or the directory begins: header, data and descriptor before


@dataclass(frozen=True)
class Archive:
    """A scanned ZIP file; members stand in directory order.

    It is in memory, or on the disk where it is large and only looked at; then large members are
    `unpacked` to files that nobody else sees.
    """

    data: Content
    members: tuple[Member, ...]
    comment: bytes
    unpacked: Mapping[str, MappedBytes] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, Member]:
        """The members by their names."""
        return {member.name: member for member in self.members}

    def read(self, name: str) -> bytes:
        """Return the content of a member; `KeyError` when there is none of that name."""
        return b"".join(_inflate(self.data, self.by_name[name]))

    def view(self, name: str) -> Content:
        """Return the content of a member to look at, on the disk where it was unpacked there."""
        found = self.unpacked.get(name)
        return self.read(name) if found is None else found


def check_size(source: Source, kind: Kind, limits: Limits) -> None:
    """Refuse a file beyond the limit of its kind (F2.5), and one that is not there."""
    try:
        size = source.size_bytes
    except FileNotFoundError as error:
        raise fail("not_found", f"there is no file {source.name!r}") from error
    tabular = kind in {Kind.TEXT, Kind.CSV}
    most = limits.max_text_bytes if tabular else limits.max_file_bytes
    if kind is not Kind.BINARY and size > most:
        raise fail("too_large", f"{source.name!r} has {size} bytes, the limit is {most}")


def scan(source: Source) -> Archive:
    """Walk a ZIP package and prove it harmless.

    Raises:
        FormatError: `corrupt_file`, `encrypted_file`, `archive_bomb`, `archive_path_escape` or
            `xml_dtd_forbidden`.
    """
    _refuse_unpacked(source)
    return scan_bytes(source.path.read_bytes(), source.limits)


def scan_to_look(source: Source) -> Archive:
    """Do the same for somebody who only looks: what is large stays on the disk (F40.21).

    Raises:
        FormatError: as `scan`.
    """
    _refuse_unpacked(source)
    if source.size_bytes < numbers.LARGE_CONTENT_BYTES:
        return _scanned(source.path.read_bytes(), source.limits, unpacks=True)
    with source.path.open("rb") as file:
        return _scanned(MappedBytes(file.fileno()), source.limits, unpacks=True)


def _refuse_unpacked(source: Source) -> None:
    if source.extension in UNPACKED:
        raise fail("unsupported_format", f"{source.name!r} is no package of parts")


def scan_bytes(data: bytes, limits: Limits | None = None) -> Archive:
    """Scan a package that is in memory already."""
    return _scanned(data, limits or Limits(), unpacks=False)


def _scanned(data: Content, limits: Limits, *, unpacks: bool) -> Archive:
    if data[:4] == b"\xd0\xcf\x11\xe0":  # OLE2 around an encrypted package (F2.4)
        raise fail("encrypted_file", "the file is protected by a password")
    members, comment = _directory(data)
    _check_names(members)
    total = 0
    unpacked: dict[str, MappedBytes] = {}
    for member in members:
        if unpacks and member.size >= numbers.LARGE_CONTENT_BYTES:
            with TemporaryFile() as file:  # it has no name, and is gone with whoever looks at it
                total = _count(data, member, total, limits, file)
                file.flush()
                unpacked[member.name] = MappedBytes(file.fileno())
        else:
            total = _count(data, member, total, limits)
    return Archive(data, members, comment, unpacked)


def parse_xml(data: bytes) -> Element:
    """Return the root of an XML part; comments, instructions and CDATA are kept."""
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        no_network=True,
        huge_tree=False,
        strip_cdata=False,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        where = f"{type(error).__name__}: line {getattr(error, 'lineno', None)}"
        raise fail("corrupt_file", "an XML part cannot be parsed", detail=where) from error
    docinfo = root.getroottree().docinfo
    if docinfo.internalDTD is not None or docinfo.doctype:
        raise fail("xml_dtd_forbidden", "an XML part declares a document type")
    return root


# --- the directory -----------------------------------------------------------------------------


def _corrupt(what: str) -> Exception:
    return fail("corrupt_file", f"the archive is damaged: {what}")


def _directory(data: Content) -> tuple[tuple[Member, ...], bytes]:
    at = data.rfind(b"PK\x05\x06", max(0, len(data) - _END.size - _FULL16))
    if at < 0 or at + _END.size > len(data):
        raise _corrupt("it has no directory")
    _, disk, start_disk, here, count, size, offset, comment_length = _END.unpack_from(data, at)
    comment = data[at + _END.size : at + _END.size + comment_length]
    end = at
    locator = at - _LOCATOR64.size
    if locator >= 0 and data[locator : locator + 4] == b"PK\x06\x07":
        end = locator - _END64.size
        if end < 0 or data[end : end + 4] != b"PK\x06\x06":
            end = _LOCATOR64.unpack_from(data, locator)[2]
        if end + _END64.size > len(data) or data[end : end + 4] != b"PK\x06\x06":
            raise _corrupt("its 64-bit directory end is missing")
        _, _, _, _, disk, start_disk, here, count, size, offset = _END64.unpack_from(data, end)
    if disk or start_disk or here != count:
        raise _corrupt("it spans several disks")
    if count > numbers.ARCHIVE_MAX_ENTRIES:
        raise fail("archive_bomb", f"the archive has {count} entries")
    shift = end - size - offset  # bytes glued in front of the archive
    if shift < 0 or size > end:
        raise _corrupt("its directory lies outside the file")
    raw = _records(data, end - size, end, count, shift)
    return _place(data, raw, end - size), comment


def _records(data: Content, at: int, end: int, count: int, shift: int) -> list[Member]:
    records = []
    for _ in range(count):
        if at + _CENTRAL.size > end or data[at : at + 4] != b"PK\x01\x02":
            raise _corrupt("its directory breaks off")
        head = _CENTRAL.unpack_from(data, at)
        needed, flags, method = head[2] & 0xFF, head[3], head[4]
        crc, compressed, size = head[7], head[8], head[9]
        name_length, extra_length, comment_length, disk, offset = *head[10:14], head[16]
        name_at = at + _CENTRAL.size
        extra_at = name_at + name_length
        stop = extra_at + extra_length + comment_length
        if stop > end:
            raise _corrupt("its directory breaks off")
        size, compressed, offset = _wide(
            data[extra_at : extra_at + extra_length], size, compressed, offset
        )
        if disk not in (0, _FULL16):
            raise _corrupt("it spans several disks")
        if flags & _ENCRYPTED:
            raise fail("encrypted_file", "the file is protected by a password")
        if needed > _NEWEST or flags & _PATCHED:
            raise _corrupt("it asks for more of ZIP than office files use")
        if method not in (STORED, DEFLATED):
            raise _corrupt(f"compression method {method} is not used in office files")
        raw = data[name_at:extra_at]
        name, place = _decode_name(raw, flags), offset + shift
        found = Member(name, raw, data[at:stop], method, crc, compressed, size, place)
        records.append(found)
        at = stop
    return records


def _wide(extra: bytes, size: int, compressed: int, offset: int) -> tuple[int, int, int]:
    """Take the sizes the 64-bit extra field holds instead of the record's full ones."""
    values = [size, compressed, offset]
    at = zip64_at(extra)
    for index, value in enumerate(values):
        if value != _FULL32:
            continue
        if at is None or at + 8 > len(extra):
            raise _corrupt("a 64-bit size is missing")
        values[index] = struct.unpack_from("<Q", extra, at)[0]
        at += 8
    return values[0], values[1], values[2]


def zip64_at(extra: bytes) -> int | None:
    """Return where the values of the 64-bit extra field begin, if there is one."""
    at = 0
    while at + 4 <= len(extra):
        tag, length = struct.unpack_from("<2H", extra, at)
        if tag == 1:
            return at + 4
        at += 4 + length
    return None


def _decode_name(raw: bytes, flags: int) -> str:
    try:
        return raw.decode("utf-8" if flags & _UTF8_NAME else "cp437")
    except UnicodeDecodeError as error:
        raise _corrupt("a name is not UTF-8") from error


def _place(data: Content, records: list[Member], directory_at: int) -> tuple[Member, ...]:
    """Find each record's data, and refuse entries that share bytes or contradict the directory."""
    ends = {}
    following = directory_at
    for record in sorted(records, key=lambda r: r.local_offset, reverse=True):
        ends[record.local_offset] = following
        following = record.local_offset
    if len(ends) != len(records):
        raise _corrupt("two entries share their bytes")
    members = []
    for record in records:
        at, end = record.local_offset, ends[record.local_offset]
        if at + _LOCAL.size > end or data[at : at + 4] != b"PK\x03\x04":
            raise _corrupt("an entry is not where the directory says")
        head = _LOCAL.unpack_from(data, at)
        name_at = at + _LOCAL.size
        data_at = name_at + head[9] + head[10]
        if data[name_at : name_at + head[9]] != record.raw_name:
            raise _corrupt("an entry and the directory disagree about a name")
        if head[2] & _ENCRYPTED:
            raise fail("encrypted_file", "the file is protected by a password")
        if head[3] != record.method or data_at + record.compressed_size > end:
            raise _corrupt("an entry and the directory disagree about its data")
        members.append(replace(record, data_offset=data_at, end=end))
    return tuple(members)


def _check_names(members: tuple[Member, ...]) -> None:
    seen = set()
    for member in members:
        name = member.name
        bad = (
            name in seen
            or not name
            or name.startswith("/")
            or "\\" in name
            or "\0" in name
            or ".." in name.split("/")
            or _DRIVE.match(name) is not None
        )
        if bad:
            raise fail("archive_path_escape", "the archive has an unsafe or double entry name")
        seen.add(name)


# --- the contents ------------------------------------------------------------------------------


def _packed(data: Content, member: Member) -> Iterator[bytes]:
    """Yield the compressed bytes of a member, step by step."""
    end = member.data_offset + member.compressed_size
    for at in range(member.data_offset, end, _STEP):
        stop = min(at + _STEP, end)
        yield data[at:stop]
        release(data, at, stop)


def _inflate(data: Content, member: Member) -> Iterator[bytes]:
    if member.method == STORED:
        yield from _packed(data, member)
        return
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        for packed in _packed(data, member):
            yield inflater.decompress(packed, _STEP)
            while inflater.unconsumed_tail:
                yield inflater.decompress(inflater.unconsumed_tail, _STEP)
        while not inflater.eof:
            piece = inflater.decompress(b"", _STEP)
            if not piece:
                raise _corrupt("the data of an entry breaks off")
            yield piece
    except zlib.error as error:
        raise _corrupt("the data of an entry cannot be inflated") from error


def _count(
    data: Content, member: Member, total: int, limits: Limits, out: IO[bytes] | None = None
) -> int:
    """Return the total with this member's real size; refuse bombs, lies and DTDs."""
    size = crc = 0
    prolog = b"" if member.name.lower().endswith(_XML_ENDINGS) else None
    ratio_bytes = max(
        numbers.PART_RATIO_FROM_BYTES, numbers.PART_MAX_RATIO * member.compressed_size
    )
    for piece in _inflate(data, member):
        size += len(piece)
        crc = zlib.crc32(piece, crc)
        if size > min(ratio_bytes, limits.part_bytes) or total + size > limits.archive_bytes:
            raise fail("archive_bomb", "the archive unpacks to more than is allowed")
        if prolog is not None:
            prolog = _check_prolog(prolog + piece)
        if out is not None:
            out.write(piece)
    if size != member.size or crc != member.crc:
        raise _corrupt("the checksum or size of an entry is wrong")
    return total + size


_PROLOG = re.compile(r"(?:\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)


def _check_prolog(start: bytes) -> bytes | None:
    """Return None once the root element was reached without a DTD, else what to look at again."""
    text = _as_text(start)
    rest = text[_PROLOG.match(text).end() :]  # type: ignore[union-attr]  # it matches the empty text
    if rest.startswith(("<!DOCTYPE", "<!ENTITY")):
        raise fail("xml_dtd_forbidden", "an XML part declares a document type or an entity")
    begins = "<!DOCTYPE".startswith(rest[:9]) or "<!--".startswith(rest[:4])
    undecided = begins or rest.startswith("<?")
    if undecided and len(start) < _PROLOG_MAX_BYTES:
        return start
    if undecided:
        raise _corrupt("an XML part does not begin")
    return None


def _as_text(start: bytes) -> str:
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return start.decode("utf-16", "ignore")
    if start[:2] in (b"<\0", b"\0<"):
        return start.decode("utf-16-le" if start[:1] == b"<" else "utf-16-be", "ignore")
    return start.decode("latin-1").removeprefix("\xef\xbb\xbf")
