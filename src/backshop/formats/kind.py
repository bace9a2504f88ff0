"""Says what a file is from its name and its first bytes (F2.1, F2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from backshop.base import limits as numbers

from .errors import fail
from .protocol import Kind
from .utf16 import unmarked_utf16

_TEXT = """.txt .md .json .xml .yaml .yml .html .js .ts .py .java .go .rb .rs .c .cpp .h .css .sql
.log .ini .toml .rst"""
_MIMES = {
    ".txt": "text/plain", ".md": "text/markdown", ".json": "application/json",
    ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
    ".html": "text/html", ".js": "text/javascript", ".css": "text/css",
    ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".psv": "text/plain",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
    ".xltm": "application/vnd.ms-excel.template.macroEnabled.12",
    ".xltx": "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
    ".xls": "application/vnd.ms-excel", ".xlt": "application/vnd.ms-excel",
    ".xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".ots": "application/vnd.oasis.opendocument.spreadsheet-template",
    ".docm": "application/vnd.ms-word.document.macroEnabled.12",
    ".dotm": "application/vnd.ms-word.template.macroEnabled.12",
    ".pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
    ".potm": "application/vnd.ms-powerpoint.template.macroEnabled.12",
    ".pdf": "application/pdf", ".odt": "application/vnd.oasis.opendocument.text",
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp", ".svg": "image/svg+xml",
}  # fmt: skip
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(_TEXT.split(), Kind.TEXT),
    **dict.fromkeys((".csv", ".tsv", ".psv"), Kind.CSV),
    **dict.fromkeys((".xlsx", ".xltx", ".xlsm", ".xltm"), Kind.XLSX),
    **dict.fromkeys((".ods", ".ots", ".xls", ".xlt", ".xlsb"), Kind.XLSX),
    **dict.fromkeys((".docx", ".docm", ".dotm"), Kind.DOCX),
    **dict.fromkeys((".pptx", ".pptm", ".potm"), Kind.PPTX),
    ".pdf": Kind.PDF,
    ".odt": Kind.ODT,
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"), Kind.IMAGE),
}
MACROS_KEPT = frozenset({".xlsm", ".xltm"})
"""Endings of files that are edited with the macros in them left as they are (F40.1)."""
_MACRO_READ = frozenset({".docm", ".dotm", ".pptm", ".potm"})
OTHER_WORKBOOKS = frozenset({".ods", ".ots", ".xls", ".xlt", ".xlsb"})
"""Endings of workbooks that are no xlsx packages: read like one, never written (F40.10)."""
UNPACKED = frozenset({".xls", ".xlt"})
"""Endings of workbooks that are no archives at all."""
_TEMPLATES = frozenset({".xltx", ".xlsm", ".xltm"})
_OLE = b"\xd0\xcf\x11\xe0"
_OLDER_XLS = (b"\x09\x00", b"\x09\x02", b"\x09\x04", b"\x09\x08")  # before there were storages
_SIGNATURES = {
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".jpeg": (b"\xff\xd8\xff",),
    ".gif": (b"GIF87a", b"GIF89a"),
}
_WRITABLE = frozenset({Kind.TEXT, Kind.CSV, Kind.XLSX, Kind.DOCX, Kind.PPTX})
_PACKAGES = frozenset({Kind.XLSX, Kind.DOCX, Kind.PPTX, Kind.ODT})
_OPEN_DOCUMENTS = frozenset({".odt", ".ods", ".ots"})  # they lock their parts one by one
_TO_XLSX = (
    "its values can be written to a new .xlsx: table_export with format xlsx, or "
    "table_update_from_export for a sheet at a time"
)
_BOMS = (b"\xff\xfe", b"\xfe\xff")


TAIL_BYTES = 22 + 65_535  # the end record of an archive with the longest comment
_END = b"PK\x05\x06"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """What a file is: `opaque` cannot be read, `macro` may hold macros by its name."""

    kind: Kind
    mime: str
    writable: bool
    opaque: bool
    macro: bool


def classify(name: str, head: bytes) -> FileKind:
    """Return the kind of a file; `head` is its first 64 KiB (fewer when it is smaller).

    Raises:
        FormatError: `encrypted_file`, `content_mismatch`.
    """
    head = head[: numbers.CLASSIFY_HEAD_BYTES]
    ending = _ending(name)
    kind = _KINDS.get(ending)
    if ending in UNPACKED and head and _looks_textual(head):
        kind = None  # many a report of a web page is called so
    if kind is None:
        kind = Kind.TEXT if _looks_textual(head) else Kind.BINARY
    elif kind in {Kind.TEXT, Kind.CSV}:
        if b"\0" in head and not head.startswith(_BOMS) and unmarked_utf16(head) is None:
            kind = Kind.BINARY
    else:
        _check_content(ending, kind, head)
    writable = kind in _WRITABLE and ending not in _MACRO_READ | OTHER_WORKBOOKS
    mime = _MIMES.get(ending, "text/plain" if kind is Kind.TEXT else "application/octet-stream")
    if kind is Kind.BINARY:
        mime = "application/octet-stream"
    elif ending in UNPACKED and kind is Kind.TEXT:
        mime = "text/plain"
    return FileKind(
        kind=kind,
        mime=mime,
        writable=writable,
        opaque=kind is Kind.BINARY,
        macro=ending in _MACRO_READ | MACROS_KEPT,
    )


def kind_of_name(name: str) -> Kind | None:
    """Return the kind a name promises, or None when it says nothing (F6.7)."""
    return _KINDS.get(_ending(name))


def kind_has_notes(name: str) -> bool:
    """Whether a reviewer is told more of a file of this name than its changes (F40.5)."""
    return _ending(name) in MACROS_KEPT | OTHER_WORKBOOKS


def _ending(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def require_text_name(name: str) -> None:
    """Refuse a name that promises something other than text (F6.7).

    Raises:
        FormatError: `read_only_format` for what nothing writes, else `unsupported_format`.
    """
    promised = kind_of_name(name)
    if promised in (None, Kind.TEXT, Kind.CSV):
        return
    refuse_read_only_name(name)
    raise fail("unsupported_format", f"{name!r} is not the name of a text file")


def refuse_read_only_name(name: str) -> None:
    """Refuse to write a file whose name promises what nothing writes (F2.1, F23.9).

    Raises:
        FormatError: `macro_enabled_read_only`, `read_only_format`.
    """
    promised, ending = kind_of_name(name), _ending(name)
    if ending in _MACRO_READ:
        raise fail("macro_enabled_read_only", f"{name!r} may hold macros and is only read")
    if ending in OTHER_WORKBOOKS:
        raise fail("read_only_format", f"{name!r} is only read", hints=(_TO_XLSX,))
    if promised is not None and promised not in _WRITABLE:
        hints = ("create a .docx instead",) if promised is Kind.ODT else ()
        raise fail("read_only_format", f"{name!r} is only read", hints=hints)


def require_new_workbook_name(name: str) -> None:
    """Refuse to make a workbook from nothing under a name that promises a template or macros.

    Programs do not open a file whose content is not what its name says.

    Raises:
        FormatError: `unsupported_format`, `read_only_format`.
    """
    refuse_read_only_name(name)
    if _ending(name) in _TEMPLATES:
        way = "a new workbook is a .xlsx; copy_from makes this one from another of its ending"
        raise fail("unsupported_format", f"{name!r} cannot be made from nothing", hints=(way,))


def _check_content(ending: str, kind: Kind, head: bytes) -> None:
    if ending in UNPACKED:
        fits = head.startswith((_OLE, *_OLDER_XLS))
    elif kind in _PACKAGES:
        if head.startswith(_OLE) and ending not in _OPEN_DOCUMENTS:
            raise fail("encrypted_file", "the file is protected by a password")
        fits = head.startswith(b"PK")
    elif kind is Kind.PDF:
        fits = b"%PDF-" in head[:1024]
    elif ending == ".webp":
        fits = head[:4] == b"RIFF" and head[8:12] == b"WEBP"
    elif ending == ".svg":
        fits = b"\0" not in head or head.startswith(_BOMS)
    else:
        fits = head.startswith(_SIGNATURES[ending])
    if not fits:
        words = (
            f"the content is not what the ending {ending!r} says" if head else "the file is empty"
        )
        raise fail("content_mismatch", words)


def _looks_textual(head: bytes) -> bool:
    """Tell UTF-8 or UTF-16 with a mark from anything else; a cut last character does not count."""
    if head.startswith(_BOMS):
        codec = "utf-16-le" if head.startswith(b"\xff\xfe") else "utf-16-be"
        try:
            text = head[: len(head) // 2 * 2].decode(codec)
        except UnicodeDecodeError as error:
            return error.end >= len(head) // 2 * 2 and len(head) == numbers.CLASSIFY_HEAD_BYTES
        return "\0" not in text
    if b"\0" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        whole = len(head) == numbers.CLASSIFY_HEAD_BYTES
        return whole and error.reason == "unexpected end of data"
    return True


def check_end(found: FileKind, tail: bytes) -> None:
    """Look at the last `TAIL_BYTES` of a file: a package that was cut off has no directory.

    Raises:
        FormatError: `corrupt_file`.
    """
    is_package = found.kind in _PACKAGES and found.mime != _MIMES[".xls"]
    if is_package and _END not in tail:
        raise fail("corrupt_file", "the archive is damaged: it has no directory")
