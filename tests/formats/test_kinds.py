from __future__ import annotations

import pytest

from backshop.formats import FormatError, classify


@pytest.mark.rule("F2.1", "F32.91")
@pytest.mark.parametrize(
    ("name", "head", "kind", "writable"),
    [
        ("Makefile", b"all:\n", "text", True),
        ("paper.tex", b"\\documentclass{a}", "text", True),
        (".env.example", b"A=1", "text", True),
        ("empty", b"", "text", True),
        ("cut.bin", ("x" * 65535 + "é").encode()[:65536], "text", True),
        ("short.bin", "é".encode()[:1], "binary", False),
        ("nul", b"a" * 60_000 + b"\0", "binary", False),
        ("wide", "hé".encode("utf-16"), "text", True),
        ("a.txt", b"\0\1", "binary", False),
        ("a.txt", "x".encode("utf-16"), "text", True),
        ("a.csv", b"\xff\xfeA\0", "csv", True),
        ("a.csv", "a,ü\n1,2\n".encode("utf-16-be"), "csv", True),
        ("a.csv", "a,ü\n1,2\n".encode("utf-16-le") + b"\0", "binary", False),
        ("a.txt", "a\0b".encode("utf-16-le"), "binary", False),
        ("a.txt", bytes(range(256)) * 9, "binary", False),
        ("a.txt", b"\1\0\2\0" * 90, "binary", False),
        ("A.XLSX", b"PK\3\4", "xlsx", True),
        ("a.xlsm", b"PK\3\4", "xlsx", True),
        ("a.xltm", b"PK\3\4", "xlsx", True),
        ("a.xltx", b"PK\3\4", "xlsx", True),
        ("a.docm", b"PK\3\4", "docx", False),
        ("a.ods", b"PK\3\4", "xlsx", False),
        ("a.ots", b"PK\3\4", "xlsx", False),
        ("a.xlsb", b"PK\3\4", "xlsx", False),
        ("a.xls", b"\xd0\xcf\x11\xe0", "xlsx", False),
        ("a.XLT", b"\xd0\xcf\x11\xe0", "xlsx", False),
        ("a.xls", b"\x09\x08\x10\0\0\6", "xlsx", False),
        ("a.xls", b"<html><table>", "text", False),
        ("a.dotm", b"PK\3\4", "docx", False),
        ("a.odt", b"PK\3\4", "odt", False),
        ("a.pdf", b"junk %PDF-1.7", "pdf", False),
        ("a.png", b"\x89PNG\r\n\x1a\n", "image", False),
        ("a.webp", b"RIFF\0\0\0\0WEBP", "image", False),
        ("a.svg", b"<svg/>", "image", False),
        ("a.exe", b"MZ\0", "binary", False),
    ],
)
def test_kinds_come_from_name_and_content(name, head, kind, writable):
    found = classify(name, head)

    assert (found.kind, found.writable) == (kind, writable)
    assert found.opaque is (kind == "binary")


@pytest.mark.rule("F2.4", "F32.50", "F32.51")
@pytest.mark.parametrize(
    ("name", "head", "reason"),
    [
        ("a.xlsx", b"plain text", "content_mismatch"),
        ("a.docx", b"\xd0\xcf\x11\xe0", "encrypted_file"),
        ("a.pdf", b"x" * 2000 + b"%PDF-", "content_mismatch"),
        ("a.png", b"GIF89a", "content_mismatch"),
        ("a.odt", b"\xd0\xcf\x11\xe0", "content_mismatch"),
    ],
)
def test_content_that_contradicts_its_name_is_refused(name, head, reason):
    with pytest.raises(FormatError) as caught:
        classify(name, head)

    assert caught.value.reason == reason
