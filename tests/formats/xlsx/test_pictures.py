"""Pictures of workbooks: taken from files, checked, stored once, deleted with nothing left over."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from PIL import Image

from backshop.base import limits
from backshop.formats import Formats, OpsRequest
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Limits, Source
from backshop.formats.write.operation import FILE_FIELDS, named_files
from backshop.formats.xlsx.edit.operation import SPECS

from .books import book, differing, edit, mapped, opened, source
from .drawn import chart, orphans, parts, picture, rewrite

GONE = {"op": "delete_drawing", "sheet": "Sales"}


def image(path: str = "logo.png", **fields: Any) -> dict[str, Any]:
    return {"op": "add_image", "sheet": "Sales", "cell": "E2", "image": path, **fields}


@pytest.fixture
def sales(tmp_path):
    return book(tmp_path / "a.xlsx", ("Sales", [["a", 1], ["b", 2]]), ("Other", [[1]]))


def images(path: Path, sheet: int = 0) -> list[dict[str, Any]]:
    return list(mapped(source(path))["sheets"][sheet]["images"])


def refused(base: Source, out: Path, op: dict[str, Any], **files: Source) -> FormatError:
    given = {name.replace("_", "."): file for name, file in files.items()}
    with pytest.raises(FormatError) as caught:
        edit(base, out, op, files=given)
    assert not out.exists()
    assert str(caught.value.detail).startswith("operations[0].image")
    return caught.value


@pytest.mark.rule("F36.12", "F23.1", "F16.14")
@pytest.mark.parametrize(
    ("name", "ending", "kind"),
    [("l.png", "png", "png"), ("l.jpg", "jpeg", "jpeg"), ("l.gif", "gif", "gif")],
)
def test_a_picture_comes_as_it_is_and_a_second_reader_shows_it(sales, tmp_path, name, ending, kind):
    logo, out = picture(tmp_path / name), tmp_path / "out.xlsx"

    done = edit(sales, out, image(name, name="Logo", description="Our “logo”\nin {blue}"),
                files={name: logo})  # fmt: skip

    part = f"xl/media/image1.{ending}"
    assert parts(out)[part] == logo.path.read_bytes()
    assert (
        f'Extension="{ending}" ContentType="image/{kind}"'.encode()
        in parts(out)["[Content_Types].xml"]
    )
    assert differing(sales.path, out) == set(done.changed_parts)
    assert (done.effects.collateral, done.warnings) == ((), ())
    assert images(out) == [
        {
            "number": 1,
            "name": "Logo",
            "at": "E2",
            "description": "Our “logo”\nin {blue}",
            "pixels": "40 x 20",
        }
    ]
    sheet: Any = opened(out)["Sales"]
    (shown,) = sheet._images
    assert (shown.width, shown.height) == (40, 20)
    assert done.changes[0][1] == f"Sales: picture Logo added at E2 ({name}, 40 x 20 pixels)"


@pytest.mark.rule("F36.12")
@pytest.mark.parametrize(
    ("fields", "size"),
    [
        ({}, (40, 20)),
        ({"width": 100}, (100, 50)),
        ({"height": 10}, (20, 10)),
        ({"width": 30, "height": 30}, (30, 30)),
    ],
)
def test_one_side_of_a_picture_gives_the_other(sales, tmp_path, fields, size):
    logo, out = picture(tmp_path / "logo.png"), tmp_path / "out.xlsx"

    edit(sales, out, image(**fields), files={"logo.png": logo})

    data = parts(out)["xl/drawings/drawing1.xml"]
    assert f'<xdr:ext cx="{size[0] * 9525}" cy="{size[1] * 9525}"/>'.encode() in data


@pytest.mark.rule("F36.12")
def test_a_picture_that_says_its_resolution_is_as_large_as_it_says(sales, tmp_path):
    logo, out = picture(tmp_path / "logo.png", dpi=(192, 192)), tmp_path / "out.xlsx"

    done = edit(sales, out, image(), files={"logo.png": logo})

    assert "20 x 10 pixels" in done.changes[0][1]


@pytest.mark.rule("F36.12", "F22.4")
def test_the_same_picture_is_stored_once_and_goes_with_the_last_place_it_shows(sales, tmp_path):
    logo, other = picture(tmp_path / "logo.png"), picture(tmp_path / "red.png", colour="red")
    two, one, out = (tmp_path / f"{name}.xlsx" for name in ("two", "one", "out"))
    files = {"logo.png": logo, "copy/logo.png": logo, "red.png": other}

    edit(sales, two, image(), image("copy/logo.png", sheet="Other"), image("red.png", cell="E9"),
         files=files)  # fmt: skip
    edit(source(two), one, {**GONE, "name": "Picture 1"})
    edit(source(one), out, {**GONE, "name": 1}, {**GONE, "sheet": "Other", "name": "picture 1"})

    media = [sorted(name for name in parts(path) if "/media/" in name) for path in (two, one, out)]
    assert media == [["xl/media/image1.png", "xl/media/image2.png"]] * 2 + [[]]
    assert orphans(out) == orphans(sales.path)
    assert set(parts(out)) == set(parts(sales.path))


@pytest.mark.rule("F36.12", "F4.6")
def test_what_is_no_picture_or_no_good_one_is_refused(sales, tmp_path):
    good, out = picture(tmp_path / "logo.png"), tmp_path / "out.xlsx"
    data = good.path.read_bytes()

    def file(name: str, content: bytes) -> Source:
        (tmp_path / name).write_bytes(content)
        return source(tmp_path / name)

    Image.new("RGB", (4, 4)).save(tmp_path / "w.webp")
    jpeg = picture(tmp_path / "x.jpg").path.read_bytes()
    cases = {
        "none.png": (replace(good, path=tmp_path / "none.png", name="none.png"), "not_found"),
        "t.txt": (file("t.txt", b"words"), "unsupported_format"),
        "w.webp": (source(tmp_path / "w.webp"), "unsupported_format"),
        "s.svg": (
            file("s.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            "unsupported_format",
        ),
        "fake.png": (file("fake.png", jpeg), "content_mismatch"),
        "cut.png": (file("cut.png", data[: len(data) // 2]), "corrupt_file"),
        "bomb.png": (file("bomb.png", _bomb()), "too_large"),
        "big.png": (replace(good, name="big.png", limits=Limits(max_file_bytes=10)), "too_large"),
    }
    found = {}
    for name, (one, _) in cases.items():
        with pytest.raises(FormatError) as caught:
            edit(sales, out, image(name), files={name: one})
        assert str(caught.value.detail).startswith("operations[0].image")
        assert not out.exists()
        found[name] = caught.value.reason

    assert found == {name: why for name, (_, why) in cases.items()}


def _bomb() -> bytes:
    """A picture of few bytes that says it has more pixels than anybody opens."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    side = int(limits.IMAGE_MAX_PIXELS**0.5) + 2
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(64))) + chunk(b"IEND", b"")
    )


@pytest.mark.rule("F36.11")
def test_a_file_that_is_not_given_is_not_found(sales, tmp_path):
    error = refused(sales, tmp_path / "out.xlsx", image("lego.png"),
                    logo_png=picture(tmp_path / "logo.png"))  # fmt: skip

    assert (error.reason, error.hints) == ("not_found", ("logo.png",))


@pytest.mark.rule("F36.11", "F2.8")
def test_a_worker_opens_the_pictures_of_a_request_and_no_others(sales, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    logo, out = picture(folder / "logo.png"), tmp_path / "made" / "out.xlsx"
    out.parent.mkdir()
    with Formats(cache=tmp_path / "cache", plugins={}) as formats:
        request = OpsRequest(name="a.xlsx", operations=[image()], files={"logo.png": logo})
        done = formats.apply_ops(sales, request, out)
        bare = replace(request, files={})
        with pytest.raises(FormatError) as caught:
            formats.apply_ops(sales, bare, out.with_name("no.xlsx"))

    assert done.ops_applied == 1
    assert caught.value.reason == "not_found"
    assert images(out)[0]["pixels"] == "40 x 20"


@pytest.mark.rule("F36.11")
def test_the_files_operations_name_are_known_before_they_are_read():
    operations: list[Any] = [
        {"op": "add_image", "image": "a.png"},
        {"operation": "add_image", "picture": "b.png"},
        {"op": "set_cells", "image": "c.png"},
        {"op": "add_image", "image": 7},
        "add_image",
    ]

    assert named_files(operations) == {
        "a.png": "operations[0].image",
        "b.png": "operations[1].picture",
    }
    assert named_files("[[") == named_files(None) == named_files([]) == {}
    args = {spec.name: spec.args for spec in SPECS}
    for op, (name, *aliases) in FILE_FIELDS.items():
        (field,) = (arg for arg in args[op] if arg.name == name)
        assert list(field.aliases) == aliases


@pytest.mark.rule("F36.13")
def test_a_thing_in_a_group_is_not_deleted_and_a_name_twice_needs_its_number(sales, tmp_path):
    logo, two = picture(tmp_path / "logo.png"), tmp_path / "two.xlsx"
    edit(sales, two, image(), image(cell="E9"), chart(data="A1:B2", cell="H2"),
         files={"logo.png": logo})  # fmt: skip
    held = parts(two)
    name = "xl/drawings/drawing1.xml"
    twice = held[name].replace(b'name="Picture 2"', b'name="Picture 1"')
    start, end = twice.index(b"<xdr:graphicFrame"), twice.index(b"</xdr:graphicFrame>") + 19
    group = (
        b'<xdr:grpSp><xdr:nvGrpSpPr><xdr:cNvPr id="90" name="Group"/><xdr:cNvGrpSpPr/>'
        b"</xdr:nvGrpSpPr><xdr:grpSpPr/>" + twice[start:end] + b"</xdr:grpSp>"
    )
    rewrite(two, {**held, name: twice[:start] + group + twice[end:]})

    def why(asked: object) -> tuple[str, tuple[str, ...]]:
        with pytest.raises(FormatError) as caught:
            edit(source(two), tmp_path / "no.xlsx", {**GONE, "name": asked})
        return caught.value.reason, caught.value.hints

    assert why("Picture 1") == ("ambiguous_match", ("1: Picture 1", "2: Picture 1"))
    assert why("Chart 1")[0] == "op_conflict"
    assert why("Logo")[0] == "no_match"
    titled = {"op": "change_chart", "sheet": "Sales", "chart": "Chart 1", "title": "T"}
    done = edit(source(two), tmp_path / "out.xlsx", {**GONE, "name": 2}, titled)
    assert done.effects.collateral == ()
    assert [one["number"] for one in images(tmp_path / "out.xlsx")] == [1]


@pytest.mark.rule("F36.13", "F16.14")
def test_a_picture_that_leads_somewhere_goes_with_its_address_and_nothing_else(tmp_path):
    dot, path, out = tmp_path / "dot.png", tmp_path / "b.xlsx", tmp_path / "out.xlsx"
    Image.new("RGB", (4, 4)).save(dot)
    made = xlsxwriter.Workbook(path)
    sheet = made.add_worksheet("Sales")
    for cell, address in (("B2", "https://example.org/a"), ("B9", "https://example.org/b")):
        sheet.insert_image(cell, str(dot), {"url": address})
    made.close()

    done = edit(source(path), out, {**GONE, "name": 1})

    assert done.effects.collateral == ()
    rels = parts(out)["xl/drawings/_rels/drawing1.xml.rels"]
    assert (b"example.org/a" in rels, b"example.org/b" in rels) == (False, True)
