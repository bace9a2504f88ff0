"""What XML is, and what it can hold, without a tree, which for a sheet would be gigabytes."""

from __future__ import annotations

from xml.parsers import expat

from ..errors import fail


def check_xml(data: bytes) -> None:
    """Refuse a part that is not well-formed or declares a document type."""
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two: odd encodings
        where = f"{type(error).__name__}: line {parser.CurrentLineNumber}"
        raise fail("corrupt_file", "an XML part cannot be parsed", detail=where) from error


def _refuse_doctype(*_: object) -> None:
    raise fail("xml_dtd_forbidden", "an XML part declares a document type")


def xml_allows(char: str) -> bool:
    """Whether XML 1.0 can hold a character."""
    code = ord(char)
    return (
        code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
    )
