from __future__ import annotations

import io
import struct
import zipfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backshop.base.limits import KIB, MIB
from backshop.formats.errors import FormatError
from backshop.formats.package import guard
from backshop.formats.package.guard import parse_xml, scan, scan_bytes
from backshop.formats.protocol import Limits

from .archives import archive, file_source


def reason(data: bytes) -> str | None:
    with pytest.raises(FormatError) as caught:
        scan_bytes(data)
    return caught.value.reason


@pytest.mark.rule("F4.1")
def test_a_scan_returns_members_with_their_content():
    found = scan_bytes(archive({"a.xml": b"<a/>", "b.bin": b"\0" * 300}))

    assert {m.name: found.read(m.name) for m in found.members} == {
        "a.xml": b"<a/>",
        "b.bin": b"\0" * 300,
    }


@pytest.mark.rule("F4.1", "F32.52")
def test_a_bomb_is_refused_long_before_it_is_unpacked():
    data = archive({"xl/sheet.bin": b"\0" * (300 << 20)})
    unpacked = 0
    real = guard._inflate

    def counted(*given):
        nonlocal unpacked
        for piece in real(*given):
            unpacked += len(piece)
            yield piece

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "_inflate", counted)
        assert reason(data) == "archive_bomb"
    assert 0 < unpacked < 100 << 20


@pytest.mark.rule("F4.1")
def test_the_limit_of_an_archive_counts_its_parts_together():
    parts = {f"part{n}.bin": bytes([n]) * 1000 for n in range(10)}
    small = Limits(archive_bytes=10_000)

    assert len(scan_bytes(archive(parts), small).members) == 10
    with pytest.raises(FormatError) as caught:
        scan_bytes(archive({**parts, "one.bin": b"x"}), small)
    assert caught.value.reason == "archive_bomb"


@pytest.mark.rule("F4.1", "F32.53")
def test_header_sizes_that_lie_low_do_not_help_a_bomb():
    data = bytearray(archive({"a.bin": b"\0" * (8 << 20)}))
    at = data.rfind(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)
    struct.pack_into("<I", data, 22, 10)

    assert reason(bytes(data)) == "archive_bomb"


@pytest.mark.rule("F4.1", "F3")
def test_a_size_that_lies_is_damage():
    data = bytearray(archive({"a.bin": b"hello world"}))
    struct.pack_into("<I", data, data.rfind(b"PK\x01\x02") + 24, 10)

    assert reason(bytes(data)) == "corrupt_file"


@pytest.mark.rule("F4.1", "F3")
def test_a_byte_that_changed_is_damage():
    data = archive({"a.bin": b"hello world"}, method=zipfile.ZIP_STORED)

    assert reason(data.replace(b"hello", b"jello")) == "corrupt_file"


@pytest.mark.rule("F3", "F32.54")
@pytest.mark.parametrize("name", ["../../etc/x", "/abs.xml", "C:/x.xml", "a\\b.xml", "x/../y", ""])
def test_names_that_leave_the_package_are_refused(name):
    data = archive({"aaaaaaaaaaaaaaa"[: len(name)] or "a": b"x"})
    if name:
        data = data.replace(b"aaaaaaaaaaaaaaa"[: len(name)], name.encode())
        assert reason(data) == "archive_path_escape"


@pytest.mark.rule("F3")
def test_two_entries_of_one_name_are_refused():
    data = archive({"a.xml": b"<a/>", "b.xml": b"<b/>"}).replace(b"b.xml", b"a.xml")

    assert reason(data) == "archive_path_escape"


@pytest.mark.rule("F4.1")
def test_entries_that_share_their_bytes_are_damage():
    """One entry, listed again: the same bytes of its name read as another name."""
    data = archive({"é.bin": b"x"})
    at, end = data.rfind(b"PK\x01\x02"), data.rfind(b"PK\x05\x06")
    again = bytearray(data[at:end])
    struct.pack_into("<H", again, 8, 0)
    tail = bytearray(data[end:])
    struct.pack_into("<3H", tail, 8, 2, 2, 2 * len(again))

    assert scan_bytes(data).members[0].name == "é.bin"
    assert reason(data[:end] + bytes(again + tail)) == "corrupt_file"


@pytest.mark.rule("F4.1")
def test_an_entry_that_reaches_into_the_next_is_damage():
    data = bytearray(archive({"a.bin": b"x" * 100, "b.bin": b"y"}))
    at = data.find(b"PK\x01\x02") + 20
    struct.pack_into("<I", data, at, struct.unpack_from("<I", data, at)[0] + 4)

    assert reason(bytes(data)) == "corrupt_file"


@pytest.mark.rule("F4.1")
@pytest.mark.parametrize("cut", [1, 10, 30, 100])
def test_a_truncated_archive_is_damage(cut):
    data = archive({"a.xml": b"<a/>" * 50, "b.xml": b"<b/>"})

    assert reason(data[:-cut]) == "corrupt_file"


@pytest.mark.rule("F4.1")
def test_other_methods_and_encryption_are_refused():
    assert reason(archive({"a": b"x" * 100}, method=zipfile.ZIP_BZIP2)) == "corrupt_file"
    data = bytearray(archive({"a": b"x"}))
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    assert reason(bytes(data)) == "encrypted_file"
    assert reason(b"\xd0\xcf\x11\xe0" + b"\0" * 600) == "encrypted_file"
    inside = bytearray(archive({"a": b"x"}))
    inside[6] |= 1  # the entry says so, its directory does not
    assert reason(bytes(inside)) == "encrypted_file"


@pytest.mark.rule("F4.2", "F32.55")
@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        '<!-- c --><?pi x?>\n <!DOCTYPE a SYSTEM "http://example.invalid/a.dtd"><a/>',
        "<!-- " + "x" * 400_000 + ' --><!DOCTYPE a [<!ENTITY x "y">]><a/>',
    ],
)
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_document_types_are_refused_in_every_encoding(text, codec):
    assert reason(archive({"xl/a.rels": text.encode(codec)})) == "xml_dtd_forbidden"


@pytest.mark.rule("F4.2")
@pytest.mark.parametrize("before", range(1, 24))
def test_a_document_type_is_refused_wherever_a_block_ends(before):
    text = b" " * (256 * KIB - before) + b'<!-- c --><!DOCTYPE a [<!ENTITY x "y">]><a/>'

    assert reason(archive({"a.xml": text}, method=zipfile.ZIP_STORED)) == "xml_dtd_forbidden"


@pytest.mark.rule("F4.2")
def test_the_parser_resolves_nothing():
    with pytest.raises(FormatError) as caught:
        parse_xml(b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>')
    assert caught.value.reason == "xml_dtd_forbidden"
    with pytest.raises(FormatError) as caught:
        parse_xml(b"<a>" * 300 + b"</a>" * 300)
    assert caught.value.reason == "corrupt_file"


@pytest.mark.needs("corpora")
@pytest.mark.rule("F4.1")
def test_real_workbooks_pass_and_odd_ones_get_a_clean_answer(corpora):
    for path in sorted((corpora / "xlsx-features").rglob("*.xlsx")):
        scan(file_source(path))
    for path in sorted((corpora / "ooxml-odd").rglob("*.*")):
        try:
            scan(file_source(path))
        except FormatError as error:
            assert error.reason in {
                "corrupt_file",
                "encrypted_file",
                "archive_bomb",
                "archive_path_escape",
                "xml_dtd_forbidden",
            }, path.name


@pytest.mark.rule("F4.1")
def test_a_document_type_behind_a_megabyte_of_nothing_is_found():
    late = b"<?xml version='1.0'?>" + b" " * MIB + b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as made:
        made.writestr("a.xml", late)

    with pytest.raises(FormatError) as caught:
        scan_bytes(packed.getvalue())

    assert caught.value.reason in {"corrupt_file", "xml_dtd_forbidden"}


SAMPLE = archive({"a.xml": b"<a/>" * 20, "b/c.bin": bytes(range(256)), "d": b""})


@pytest.mark.rule("F4.1", "F3.2")
@example(changes=[(SAMPLE.index(b"PK\x01\x02") + 6, 64)])  # the version of ZIP it needs
@example(changes=[(SAMPLE.index(b"PK\x01\x02") + 8, 0x20)])  # patched data
@example(changes=[(SAMPLE.index(b"PK\x01\x02") + 8, 0x40)])  # strongly encrypted
@given(
    changes=st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), max_size=6)
)
def test_a_changed_archive_is_what_others_read_or_refused(changes):
    data = bytearray(SAMPLE)
    for at, value in changes:
        data[at] = value
    try:
        found = scan_bytes(bytes(data))
    except FormatError as error:
        assert error.reason in {
            "corrupt_file",
            "encrypted_file",
            "archive_path_escape",
            "archive_bomb",
        }
        return

    with zipfile.ZipFile(io.BytesIO(bytes(data))) as other:
        assert [m.name for m in found.members] == other.namelist()
        assert [found.read(m.name) for m in found.members] == [
            other.read(n) for n in other.infolist()
        ]
