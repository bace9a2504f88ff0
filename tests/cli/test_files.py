"""`backshop file`: readable for people, one JSON document for programs, nothing created."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import docx
import pptx
import pytest
import xlsxwriter
from PIL import Image

from backshop.cli import main


@pytest.mark.rule("S4.2")
def test_a_map_reads_well_and_is_json_on_request(tmp_path, capsys):
    path = tmp_path / "notes.md"
    path.write_text("# One\n\ntext\n\n## Two\n", encoding="utf-8")

    assert main(["file", "map", str(path), "--home", str(tmp_path / "none")]) == 0
    people = capsys.readouterr().out
    assert main(["file", "map", str(path), "--json", "--home", str(tmp_path / "none")]) == 0
    program = json.loads(capsys.readouterr().out)

    assert "line_count           5" in people
    assert program["structure"]["headings"][1] == {"level": 2, "text": "Two", "line": 5}
    assert not (tmp_path / "none").exists()


@pytest.mark.rule("S4.2", "F5.3")
def test_reading_tells_how_to_go_on(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{n}\x1b[31m\n" for n in range(1, 9)), encoding="utf-8")

    assert main(["file", "read", str(path), "--line", "2", "--lines", "2"]) == 0

    shown = capsys.readouterr()
    assert shown.out == "2\ufffd[31m\n3\ufffd[31m\n"
    assert "go on with: --line 4 --lines 2" in shown.err


@pytest.mark.rule("S4.1", "F3")
def test_a_refusal_has_its_reason_and_hints(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("a\n", encoding="utf-8")

    assert main(["file", "read", str(path), "--sheet", "Q1", "--json"]) == 1
    envelope = json.loads(capsys.readouterr().out)
    assert main(["file", "map", str(tmp_path / "absent.txt")]) == 1

    assert envelope["reason"] == "bad_selector"
    assert "not_found" in capsys.readouterr().err


@pytest.mark.rule("S4.15")
@pytest.mark.parametrize(
    ("words", "then"),
    [
        (["read", "book.xlsx", "--sheet", "Plam"], "did you mean: Plan"),
        (["read", "book.xlsx", "--sheet", "Plan", "--range", "ZZZ"], "there is: A1:B2"),
        (["query", "book.xlsx", "SELECT * FROM 'x.csv'"], "the table is called: data"),
    ],
)
def test_what_a_refusal_offers_is_said_to_be_what_it_is(tmp_path, capsys, monkeypatch, words, then):
    monkeypatch.chdir(tmp_path)
    with xlsxwriter.Workbook("book.xlsx") as book:
        plan = book.add_worksheet("Plan")
        for row, values in enumerate([("Region", "Sum"), ("North", 7)]):
            plan.write_row(row, 0, values)

    assert main(["file", *words, "--home", str(tmp_path / "home")]) == 1
    assert f"  {then}\n" in capsys.readouterr().err


@pytest.mark.rule("F2.5", "S3.1")
def test_the_size_of_files_is_what_the_home_allows(tmp_path, capsys):
    home, path = tmp_path / "home", tmp_path / "a.txt"
    home.mkdir()
    path.write_text("four words stand here\n", encoding="utf-8")
    arguments = ["file", "map", str(path), "--json", "--home", str(home)]

    answers = []
    for limit in (10, 1000):
        (home / "settings.json").write_text(json.dumps({"formats.max_text_bytes": limit}))
        answers.append((main(arguments), json.loads(capsys.readouterr().out)))

    (refused, why), (read, found) = answers
    assert (refused, why["reason"]) == (1, "too_large")
    assert (read, found["line_count"]) == (0, 1)


@pytest.mark.rule("S4.2", "B12.1")
def test_two_files_are_compared_by_lines(tmp_path, capsys):
    old, new = tmp_path / "a.txt", tmp_path / "b.txt"
    old.write_text("one\ntwo\n", encoding="utf-8")
    new.write_text("one\nzwei", encoding="utf-8")

    assert main(["file", "diff", str(old), str(new)]) == 0
    people = capsys.readouterr().out
    assert main(["file", "diff", str(old), str(new), "--json"]) == 0
    program = json.loads(capsys.readouterr().out)

    assert people == "--- a.txt\n+++ b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"
    assert program["stats"] == {"added": 1, "removed": 1}
    assert program["flags"] == ["no_newline_new"]


@pytest.mark.rule("S4.2", "F29.5")
def test_two_workbooks_are_compared_by_cells(tmp_path, capsys):
    old, new = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    for path, names, value in ((old, ("Q1", "Gone"), 1), (new, ("First",), 2)):
        with xlsxwriter.Workbook(str(path)) as file:
            for name in names:
                file.add_worksheet(name).write(0, 0, value)

    assert main(["file", "diff", str(old), str(new)]) == 0

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:2] == ["First (was Q1) 1 changed cell(s)", "A1 value changed: 1 → 2"]
    assert "Gone removed 1 changed cell(s)" in lines


@pytest.mark.rule("S4.2", "F42.5")
def test_rows_that_came_or_went_are_a_line_each(tmp_path, capsys):
    old, new = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    rows = [[f"item {n}", n * 7 % 11] for n in range(1, 13)]
    after = [*rows[:3], ["new", 4], ["newer", 5], *rows[3:8], *rows[9:]]
    after[7] = [after[7][0], 99]
    for path, values in ((old, rows), (new, after)):
        with xlsxwriter.Workbook(str(path)) as file:
            sheet = file.add_worksheet("S")
            for at, row in enumerate(values):
                sheet.write_row(at, 0, row)

    assert main(["file", "diff", str(old), str(new)]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["+ S: rows 4-5 inserted", "- S: row 9 removed: item 9, 8"]
    assert "  B8 (was B6)  value changed: 9 → 99" in lines


@pytest.mark.rule("S4.9")
def test_numbers_of_a_table_are_those_that_people_read(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("code,price\n007,0.1\n008,0.2\n009,0.4\n", encoding="utf-8")
    sums = (
        "SELECT sum(price)::DOUBLE AS a, 201.0 AS b, 4151980.09999995::DOUBLE AS c,"
        " 2.14823070493174 AS d, 12345678901.25 AS e, 1e20::DOUBLE AS f FROM data"
    )

    assert main(["file", "query", str(path), sums]) == 0
    shown = capsys.readouterr().out.splitlines()[1]
    assert main(["file", "query", str(path), "SUMMARIZE data"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]

    assert shown.split() == ["0.7", "201", "4151980.1", "2.148230705", "12345678901.25", "1e+20"]
    assert rows[1][2:4] == ["007", "009"]  # texts stay
    assert dict(zip(rows[0], rows[2], strict=True))["avg"] == "0.2333333333"


@pytest.mark.rule("S4.2", "F27.5")
def test_a_table_is_asked_with_sql(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("town,people\nOslo,7\nRome,3\nOslo,1\n", encoding="utf-8")
    sql = "SELECT town, sum(people) AS n FROM data GROUP BY town ORDER BY town"

    assert main(["file", "query", str(path), sql]) == 0
    people = capsys.readouterr().out
    assert main(["file", "query", str(path), "SELECT\npeopel FROM data"]) == 1
    refused = capsys.readouterr().err.splitlines()
    assert main(["file", "query", str(path), "DROP TABLE data", "--json"]) == 1

    assert people == "town  n\nOslo  8\nRome  3\n(2 of 2 rows)\n"
    assert refused[-3:-1] == ["    LINE 2: peopel FROM data", "            ^^^^^^"]
    assert json.loads(capsys.readouterr().out)["reason"] == "sql_not_select"


@pytest.mark.rule("S4.2", "F25.10")
def test_a_table_is_asked_in_the_dialect_its_owner_knows(tmp_path, capsys):
    path = tmp_path / "towns.csv"
    path.write_text("a;b|c\n1;2|3\n", encoding="utf-8")
    options = ["--delimiter", "|", "--header", "0", "--json"]

    assert main(["file", "query", str(path), "SELECT * FROM data", *options]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == [["a;b", "c"], ["1;2", "3"]]
    assert main(["file", "map", str(path), *options]) == 0
    dialect = json.loads(capsys.readouterr().out)["dialect"]
    assert (dialect["delimiter"], dialect["given"]) == ("|", ["delimiter", "header"])
    assert main(["file", "map", str(path), "--quote", "ab", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["reason"] == "bad_value"


@pytest.fixture
def every_kind(tmp_path) -> dict[str, Path]:
    """A small file of every kind that can be looked into, and one with one word changed."""
    for number, word in enumerate(("paint", "paper")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "a.txt").write_text(f"buy {word}\n")
        (folder / "a.csv").write_text(f"what,n\n{word},1\n")
        with xlsxwriter.Workbook(str(folder / "a.xlsx")) as book:
            book.add_worksheet("S").write_row(0, 0, [word, 1])
        document = docx.Document()
        document.add_heading("Plan", 1)
        document.add_paragraph(f"buy {word}")
        document.save(str(folder / "a.docx"))
        deck = pptx.Presentation()
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = f"buy {word}"
        deck.save(str(folder / "a.pptx"))
        with zipfile.ZipFile(folder / "a.odt", "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
            archive.writestr("content.xml", ODT.format(word=word))
        (folder / "a.pdf").write_bytes(pdf_of(f"buy {word} today"))
        Image.new("RGB", (30 + number, 20)).save(folder / "a.png")
        (folder / "a.bin").write_bytes(b"\0\1" + word.encode())
    return {path.suffix[1:]: path for path in (tmp_path / "0").iterdir()}


ODT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>'
    '<text:h text:outline-level="1">Plan</text:h><text:p>buy {word}</text:p>'
    "</office:text></office:body></office:document-content>"
)


def pdf_of(text: str) -> bytes:
    """A PDF of one page with one line."""
    stream = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode()
    head = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>endobj\n"
    )
    content = b"4 0 obj<</Length %d>>stream\n%b\nendstream endobj\n" % (len(stream), stream)
    font = b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
    return head + content + font + b"trailer<</Root 1 0 R/Size 6>>\n%%EOF\n"


SHOWN = {  # what a person looks for in the map, in the text, and in the difference
    "txt": ("line_count", "buy paint", "-buy paint"),
    "csv": ("column_count", "paint", "-paint,1"),
    "xlsx": ("max_col=2", "paint", "paint → paper"),
    "docx": ("Plan", "buy paint", "-buy paint"),
    "pptx": ("Title Only", "buy paint", "-# slide 1: buy paint"),
    "odt": ("Plan", "buy paint", "-buy paint"),
    "pdf": ("page_count", "buy paint today", "-buy paint today"),
    "png": ("30", "30", "-png, 30x20"),
}


@pytest.mark.rule("S4.2")
@pytest.mark.parametrize("kind", SHOWN)
def test_map_read_and_diff_of_every_kind_read_well(every_kind, tmp_path, capsys, kind):
    path = every_kind[kind]
    other = tmp_path / "1" / path.name
    told, text, change = SHOWN[kind]

    for asked, wanted in (("map", told), ("read", text), ("diff", change)):
        paths = [str(path), *([str(other)] if asked == "diff" else [])]
        assert main(["file", asked, *paths]) == 0
        people = capsys.readouterr().out
        assert wanted in people, asked
        assert not set(people) & {"\x1b", "\0", "\r"}
        assert main(["file", asked, *paths, "--json"]) == 0
        json.loads(capsys.readouterr().out)


@pytest.mark.rule("S4.2", "F14.1")
def test_a_file_nobody_can_look_into_is_said_to_be_one(every_kind, tmp_path, capsys):
    path = str(every_kind["bin"])

    for arguments in (["map", path], ["read", path], ["diff", path, str(tmp_path / "1" / "a.bin")]):
        assert main(["file", *arguments]) == 1
        assert "unsupported_format" in capsys.readouterr().err
    assert main(["file", "query", path, "SELECT 1"]) == 1
    assert "unsupported_format" in capsys.readouterr().err


@pytest.mark.rule("S4.2", "F3", "F3.2")
def test_what_is_no_plain_file_is_refused_at_once(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    paths = [tmp_path / "pipe.csv", Path("/dev/zero"), tmp_path / "loop.txt"]

    reasons = []
    for path in paths:
        assert main(["file", "map", str(path), "--json"]) == 1
        reasons.append(json.loads(capsys.readouterr().out)["reason"])

    assert reasons == ["unsupported_format", "unsupported_format", "corrupt_file"]


@pytest.mark.rule("S4.2", "F43.71")
def test_a_slide_is_written_as_a_picture_to_a_new_file_only(tmp_path, capsys):
    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[6])
    deck.save(str(tmp_path / "a.pptx"))
    out = tmp_path / "out.png"
    arguments = ["file", "picture", str(tmp_path / "a.pptx"), "--page", "1", "-o", str(out)]

    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert main([*arguments, "--json"]) == 1

    with Image.open(out) as image:
        assert image.size == (960, 720)
    assert said == f"wrote {out}: slide 1 of 1, 960 x 720 pixels, drawn by Backshop\n"
    assert json.loads(capsys.readouterr().out)["reason"] == "target_exists"


@pytest.mark.rule("F44.5")
def test_slides_are_counted_as_powerpoint_does_unless_the_field_is_meant(tmp_path, capsys):
    deck = pptx.Presentation()
    for _ in range(3):
        deck.slides.add_slide(deck.slide_layouts[6])
    deck.save(str(tmp_path / "a.pptx"))
    read = ["file", "read", str(tmp_path / "a.pptx")]

    for asked in (["--slide", "2"], ["--slide-index", "1"]):
        assert main([*read, *asked]) == 0
        said = capsys.readouterr()
        assert said.out == "# slide 2 (slide_index 1)\n"
        assert said.err.endswith("go on with: --slide 3\n")
    assert main([*read, "--slide", "0"]) == 2
    assert main([*read, "--slide", "1", "--slide-index", "1"]) == 2
