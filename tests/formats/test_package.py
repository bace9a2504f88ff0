from __future__ import annotations

import hashlib
import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats.errors import FormatError
from backshop.formats.package.archive import assemble
from backshop.formats.package.guard import scan, scan_bytes
from backshop.formats.package.package import Package
from backshop.formats.package.relationship import rels_name, rels_owner

from .archives import TYPES, archive, file_source

REL = (
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    b'<Relationship Id="rId1" Type="t" Target="../media/p.xml"/>'
    b'<Relationship Id="rId2" Type="t" Target="https://example.org" TargetMode="External"/>'
    b"</Relationships>"
)


def sample() -> bytes:
    return archive(
        {
            "[Content_Types].xml": TYPES,
            "xl/a.xml": b"<a><b/></a>",
            "xl/_rels/a.xml.rels": REL,
            "media/p.xml": b"<p/>",
            "x.bin": bytes(range(256)) * 9,
        }
    )


def raw(data: bytes) -> dict[str, bytes]:
    found = scan_bytes(data)
    return {m.name: data[m.local_offset : m.end] for m in found.members}


@pytest.mark.rule("F23.1", "F23.6")
def test_only_the_changed_member_differs_and_new_ones_go_last(tmp_path):
    before = sample()
    package = Package.from_bytes(before)
    package.put("xl/a.xml", b"<a><c/></a>")
    package.put("xl/new.xml", b"<n/>")

    written = package.save(tmp_path / "out")

    after = (tmp_path / "out").read_bytes()
    assert list(raw(after)) == [*raw(before), "xl/new.xml"]
    assert {n for n in raw(before) if raw(before)[n] != raw(after)[n]} == {"xl/a.xml"}
    assert written.changed_parts == ("xl/a.xml", "xl/new.xml")
    assert (written.size_bytes, written.sha256) == (len(after), hashlib.sha256(after).hexdigest())
    with zipfile.ZipFile(BytesIO(after)) as file:
        assert file.testzip() is None
        assert file.read("xl/new.xml") == b"<n/>"
        info = file.getinfo("xl/new.xml")
        assert (info.date_time, info.flag_bits, info.extra) == ((1980, 1, 1, 0, 0, 0), 0x800, b"")


@pytest.mark.rule("F23.7")
def test_an_empty_change_gives_back_the_same_bytes():
    package = Package.from_bytes(sample())
    package.put("xl/a.xml", b"<a><b/></a>")
    package.put_xml("media/p.xml", package.xml("media/p.xml"))

    assert package.to_bytes() == sample()
    assert package.changed_parts == ()


@pytest.mark.rule("F23.1")
def test_removing_and_relating_parts():
    package = Package.from_bytes(sample())
    assert [rel.part for rel in package.rels("xl/a.xml")] == ["media/p.xml", None]
    assert package.add_rel("xl/a.xml", "t", "/x.bin") == "rId3"
    assert package.rel_part("xl/a.xml", "rId3") == "x.bin"
    package.remove_rel("xl/a.xml", "rId1")
    package.set_content_type("x.bin", "application/x")
    assert package.content_type("x.bin") == "application/x"
    package.remove("x.bin")

    assert package.content_type("x.bin") is None
    assert "x.bin" not in package.names


class Counting(Package):
    """Counts how often a part is parsed."""

    parsed = 0

    def xml(self, name):
        self.parsed += 1
        return super().xml(name)


def test_content_types_are_parsed_once_for_any_number_of_parts():
    parts = {f"media/{number}.xml": b"<p/>" for number in range(50)}
    package = Counting(
        Package.from_bytes(archive({"[Content_Types].xml": TYPES, **parts}))._archive
    )

    assert {package.content_type(name) for name in parts} == {"application/xml"}
    for name in parts:
        package.remove(name)

    assert package.parsed == 1
    assert package.names == ("[Content_Types].xml",)
    package.ensure_default_type("png", "image/png")
    assert package.content_type("a.png") == "image/png"


@pytest.mark.rule("F23.1")
def test_names_are_found_in_any_case_as_the_package_is_now():
    package = Package.from_bytes(sample())
    assert package.find("/XL/A.XML") == "xl/a.xml"
    assert package.find("xl/NEW.xml") is None
    package.put("xl/new.XML", b"<n/>")
    package.remove("xl/a.xml")

    assert package.find("xl/NEW.xml") == "xl/new.XML"
    assert package.find("XL/a.xml") is None


class Slipping(Package):
    """Puts another archive together than it was asked to."""

    slip = staticmethod(bytes)

    def to_bytes(self):
        return self.slip(super().to_bytes())


def with_other_bytes(data: bytes) -> bytes:
    return assemble(scan_bytes(data), {"x.bin": b"slipped"}, set())


def with_other_record(data: bytes) -> bytes:
    changed = bytearray(data)
    changed[data.rfind(b"PK\x01\x02", 0, data.rfind(b"x.bin")) + 38] ^= 1  # its attributes
    return bytes(changed)


def with_one_more(data: bytes) -> bytes:
    return assemble(scan_bytes(data), {"stray.xml": b"<s/>"}, set())


@pytest.mark.rule("F23.8", "F23.1")
@pytest.mark.parametrize("slip", [with_other_bytes, with_other_record, with_one_more])
def test_a_result_in_which_an_untouched_part_differs_is_not_written(tmp_path, slip):
    package = Slipping(scan_bytes(sample()))
    package.put("xl/a.xml", b"<a/>")
    package.save(tmp_path / "out")
    package.slip = slip

    with pytest.raises(FormatError) as caught:
        package.save(tmp_path / "slipped")

    assert caught.value.reason == "verify_failed"
    assert not (tmp_path / "slipped").exists()


@pytest.mark.rule("F23.8")
@pytest.mark.parametrize(
    "change",
    [
        lambda package: package.remove("media/p.xml"),
        lambda package: package.add_rel("xl/a.xml", "t", "nowhere.xml"),
    ],
)
def test_a_result_that_breaks_a_relationship_is_not_written(tmp_path, change):
    package = Package.from_bytes(sample())
    change(package)

    with pytest.raises(FormatError) as caught:
        package.save(tmp_path / "out")

    assert caught.value.reason == "verify_failed"
    assert not (tmp_path / "out").exists()


@pytest.mark.rule("F23.8")
def test_broken_xml_is_not_written(tmp_path):
    package = Package.from_bytes(sample())
    package.put("xl/a.xml", b"<a>")

    with pytest.raises(FormatError) as caught:
        package.save(tmp_path / "out")

    assert caught.value.reason == "verify_failed"


@pytest.mark.rule("F23.9")
@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ("xl/vbaProject.bin", "macro_enabled_read_only"),
        ("_xmlsignatures/sig1.xml", "signed_document"),
    ],
)
def test_macros_and_signatures_are_never_written(part, reason):
    package = Package.from_bytes(archive({"[Content_Types].xml": TYPES, part: b"<x/>"}))

    with pytest.raises(FormatError) as caught:
        package.refuse_unwritable()

    assert caught.value.reason == reason


@pytest.mark.parametrize("part", ["", "xl/workbook.xml", "a.xml", "x/y/z.bin"])
def test_relationship_parts_are_named_after_their_owner(part):
    assert rels_owner(rels_name(part)) == part


names = st.text("abcxyz/", min_size=1, max_size=6).filter(lambda n: not n.startswith("/"))


@pytest.mark.rule("F23.1")
@given(
    members=st.dictionaries(names, st.binary(max_size=200), max_size=6),
    new=st.dictionaries(names, st.binary(max_size=200), max_size=4),
    removed=st.sets(names, max_size=3),
)
def test_an_assembled_archive_holds_exactly_what_was_asked(members, new, removed):
    before = scan_bytes(archive(members))
    removed = removed - new.keys()

    after = scan_bytes(assemble(before, new, removed))

    wanted = {name: data for name, data in (members | new).items() if name not in removed}
    assert {m.name: after.read(m.name) for m in after.members} == wanted
    for member in before.members:
        if member.name in after.by_name and member.name not in new:
            kept = after.by_name[member.name]
            old = before.data[member.local_offset : member.end]
            assert after.data[kept.local_offset : kept.end] == old


@pytest.mark.needs("corpora")
@pytest.mark.rule("F23.1", "F23.8")
def test_real_packages_keep_every_other_member(corpora, tmp_path, scaled):
    paths = sorted((corpora / "xlsx-features").rglob("*.xlsx"))[:: scaled(8, 1)]
    paths += sorted((corpora / "office-fixtures").rglob("*.*x"))
    for path in paths:
        package = Package.open(file_source(path))
        name = next(n for n in package.names if n.startswith("docProps/") or n.endswith(".xml"))
        package.put(name, package.read(name) + b"\n")
        package.save(tmp_path / "out")

        before, after = scan(file_source(path)), scan(file_source(tmp_path / "out"))
        for member in before.members:
            kept = after.by_name[member.name]
            same = (
                before.data[member.local_offset : member.end]
                == after.data[kept.local_offset : kept.end]
            )
            assert same is (member.name != name)


@pytest.mark.rule("F23.1")
def test_relationships_are_written_once_asked_for_and_outside_ones_are_there_once(tmp_path):
    package = Package.from_bytes(sample())

    again = package.add_rel("xl/a.xml", "t", "https://example.org", external=True)
    new = package.add_rel("xl/a.xml", "t", "https://example.org/2", external=True)
    inside = [package.add_rel("media/p.xml", "t", "../x.bin") for _ in range(2)]

    assert (again, new, inside) == ("rId2", "rId3", ["rId1", "rId2"])
    assert [rel.id for rel in package.rels("xl/a.xml")] == ["rId1", "rId2", "rId3"]
    assert "media/_rels/p.xml.rels" in package.names
    assert b"https://example.org/2" in package.read("xl/_rels/a.xml.rels")
    package.remove_rel("xl/a.xml", new)
    assert package.changed_parts == ("media/_rels/p.xml.rels",)
    assert package.rel_part("media/p.xml", "rId2") == "x.bin"
    package.remove("media/_rels/p.xml.rels")
    assert package.add_rel("media/p.xml", "t", "../xl/a.xml") == "rId1"
    package.remove("media/_rels/p.xml.rels")
    assert package.to_bytes() == sample()
