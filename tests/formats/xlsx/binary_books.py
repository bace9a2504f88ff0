"""Writes small binary workbooks, record by record, so that what is read of them is known."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"

# --- .xlsb ---------------------------------------------------------------------------------------


def record(kind: int, data: bytes = b"") -> bytes:
    """A record of an .xlsb: its number and its length take as many bytes as they need."""
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size, length = len(data), b""
    while True:
        length += bytes([size & 0x7F | (0x80 if size > 127 else 0)])
        size >>= 7
        if not size:
            return head + length + data


def wide(text: str) -> bytes:
    raw = text.encode("utf-16-le", "surrogatepass")
    return struct.pack("<I", len(raw) // 2) + raw


def cell(col: int, look: int = 0) -> bytes:
    return struct.pack("<II", col, look)


def row(number: int, *cells: bytes) -> bytes:
    return record(0, struct.pack("<IIHBBBI", number, 0, 300, 0, 0, 0, 0)) + b"".join(cells)


def tokens(parsed: bytes, extra: bytes = b"") -> bytes:
    """A formula behind the result of a cell."""
    return struct.pack("<HI", 0, len(parsed)) + parsed + struct.pack("<I", len(extra)) + extra


def sheet(*rows: bytes, behind: bytes = b"") -> bytes:
    size = record(148, struct.pack("<IIII", 0, 99, 0, 9))
    return record(129) + size + record(145) + b"".join(rows) + record(146) + behind + record(130)


def xlsb(
    path: Path,
    *sheets: tuple[str, bytes],
    strings: tuple[str, ...] = (),
    formats: tuple[tuple[int, str], ...] = (),
    looks: tuple[int, ...] = (0,),
    names: bytes = b"",
    date_1904: bool = False,
) -> Path:
    """Write a workbook of these sheets, each of which is its records."""
    listed = b"".join(
        record(156, struct.pack("<II", at == 3, at) + wide(f"rId{at}") + wide(name))
        for at, (name, _) in enumerate(sheets, 1)
    )
    book = record(131) + record(153, struct.pack("<II", date_1904, 0) + wide(""))
    book += record(143) + listed + record(144) + names + record(132)
    xf = b"".join(
        record(47, struct.pack("<HHHHHBBHH", 0, one, 0, 0, 0, 0, 0, 0, 0)) for one in looks
    )
    codes = b"".join(record(44, struct.pack("<H", n) + wide(code)) for n, code in formats)
    font = record(43, struct.pack("<HHHHBBBBQB", 220, 0, 400, 0, 0, 2, 0, 0, 7, 2) + wide("Arial"))
    fill = record(45, bytes(68))
    styles = b"".join(
        (
            record(278),
            record(615, struct.pack("<I", len(formats))) + codes + record(616),
            record(611, struct.pack("<I", 1)) + font + record(612),
            record(603, struct.pack("<I", 1)) + fill + record(604),
            record(613, struct.pack("<I", 1)) + record(46, bytes(51)) + record(614),
            record(617, struct.pack("<I", len(looks))) + xf + record(618),
            record(279),
        )
    )
    texts = b"".join(record(19, b"\0" + wide(text)) for text in strings)
    head = struct.pack("<II", len(strings), len(strings))
    parts = {
        "xl/workbook.bin": book,
        "xl/styles.bin": styles,
        "xl/sharedStrings.bin": record(159, head) + texts + record(160),
        **{f"xl/worksheets/sheet{at}.bin": data for at, (_, data) in enumerate(sheets, 1)},
    }
    _pack(path, parts, len(sheets))
    return path


_TYPES = {
    "xl/workbook.bin": "application/vnd.ms-excel.sheet.binary.macroEnabled.main",
    "xl/styles.bin": "application/vnd.ms-excel.styles",
    "xl/sharedStrings.bin": "application/vnd.ms-excel.sharedStrings",
}


def _pack(path: Path, parts: dict[str, bytes], count: int) -> None:
    sheet_type = "application/vnd.ms-excel.worksheet"
    types = "".join(
        f'<Override PartName="/{name}" ContentType="{_TYPES.get(name, sheet_type)}"/>'
        for name in parts
    )
    rels = [
        *(("worksheet", f"worksheets/sheet{at}.bin") for at in range(1, count + 1)),
        ("styles", "styles.bin"),
        ("sharedStrings", "sharedStrings.bin"),
    ]
    lines = "".join(
        f'<Relationship Id="rId{at}" Type="{REL}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(rels, 1)
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        default = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        default += 'relationships+xml"/>'
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types">{default}{types}</Types>',
        )
        root = f'<Relationship Id="rId1" Type="{REL}/officeDocument" Target="xl/workbook.bin"/>'
        for name, inside in (("_rels/.rels", root), ("xl/_rels/workbook.bin.rels", lines)):
            file.writestr(
                name, f'<Relationships xmlns="{PACKAGE}/relationships">{inside}</Relationships>'
            )
        for name, data in parts.items():
            file.writestr(name, data)


# --- .xls ----------------------------------------------------------------------------------------


def biff(kind: int, data: bytes = b"") -> bytes:
    """A record of an .xls."""
    return struct.pack("<HH", kind, len(data)) + data


def narrow(text: str, length: str = "H") -> bytes:
    """A text of letters of one byte, its length before it."""
    return struct.pack(f"<{length}B", len(text), 0) + text.encode("latin-1")


def place(row_: int, col: int, look: int = 0) -> bytes:
    return struct.pack("<HHH", row_, col, look)


def formula(where: bytes, result: bytes, parsed: bytes) -> bytes:
    return biff(0x06, where + result + struct.pack("<HIH", 0, 0, len(parsed)) + parsed)


def special(kind: int, value: int = 0) -> bytes:
    """The result of a formula that is no number: 0 a text, 1 a truth value, 2 an error."""
    return bytes([kind, 0, value, 0, 0, 0, 0xFF, 0xFF])


def stream(*sheets: tuple[str, bytes], before: bytes = b"", version: int = 0x0600) -> bytes:
    """The stream of a workbook: what holds for all, then its sheets."""
    begin = biff(0x0809, struct.pack("<HHHH", version, 5, 0, 0) + bytes(8))
    names = [
        narrow(name, "B") if version == 0x0600 else bytes([len(name)]) + name.encode("cp1252")
        for name, _ in sheets
    ]
    size = len(begin) + len(before) + sum(10 + len(name) for name in names) + 4
    bodies = [
        biff(0x0809, struct.pack("<HHHH", version, 0x10, 0, 0) + bytes(8)) + data + biff(0x0A)
        for _, data in sheets
    ]
    listed = b""
    for number, (name, body) in enumerate(zip(names, bodies, strict=True)):
        listed += biff(0x85, struct.pack("<IBB", size, number == 2, 0) + name)
        size += len(body)
    return begin + before + listed + biff(0x0A) + b"".join(bodies)


def compound(path: Path, data: bytes, name: str = "Workbook") -> Path:
    """Write a compound file with one stream, which is made long enough for sectors of its own."""
    data = data.ljust(4096, b"\0")
    sectors = -(-len(data) // 512)
    tables = -(-(sectors + 2) // 127)
    numbers = [0xFFFFFFFD] * tables + [0xFFFFFFFE]
    numbers += [tables + 2 + at for at in range(sectors - 1)] + [0xFFFFFFFE]
    table = struct.pack(f"<{len(numbers)}I", *numbers).ljust(512 * tables, b"\xff")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack(
        "<HHHHH6xIII4xIIIII", 62, 3, 0xFFFE, 9, 6, 0, tables, tables, 4096, *_NO_MINI
    )
    head += struct.pack("<109I", *range(tables), *[0xFFFFFFFF] * (109 - tables))
    listing = _entry("Root Entry", 5, 0xFFFFFFFE, 0) + _entry(name, 2, tables + 1, len(data))
    path.write_bytes(head + table + listing.ljust(512, b"\0") + data.ljust(512 * sectors, b"\0"))
    return path


_NO_MINI = (0xFFFFFFFE, 0, 0xFFFFFFFE, 0)


def _entry(name: str, kind: int, start: int, size: int) -> bytes:
    raw = name.encode("utf-16-le") + b"\0\0"
    made = raw.ljust(64, b"\0") + struct.pack("<HBBIII", len(raw), kind, 1, *_FREE)
    return made.ljust(116, b"\0") + struct.pack("<IQ", start, size)


_FREE = (0xFFFFFFFF, 1, 0xFFFFFFFF)
