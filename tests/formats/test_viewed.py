"""Parts of files as pictures for who takes pictures: bounded, of the right pixels, with facts."""

from __future__ import annotations

import random
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pypdfium2 as pdfium
import pytest
import xlsxwriter
from PIL import Image

from backshop.base.limits import MIB
from backshop.formats import FormatError, Formats, PageView

from .archives import file_source


@pytest.fixture(scope="module")
def formats():
    with Formats() as made:
        yield made


def opened(view: PageView) -> Image.Image:
    """Return a picture, which is one, and as large as its facts say."""
    image = Image.open(BytesIO(view.image))
    assert image.format == "PNG"
    assert image.size == (view.facts["width"], view.facts["height"])
    assert max(image.size) <= 1_200
    assert len(view.image) <= MIB
    return image.convert("RGB")


def reds(image: Image.Image) -> int:
    """Return how many pixels are red."""
    data = image.tobytes()
    return sum(data[at : at + 3] == b"\xff\0\0" for at in range(0, len(data), 3))


def book(path: Path, rows: int = 5) -> Path:
    """Write a workbook with a column chart of one red column, and rows of numbers."""
    with xlsxwriter.Workbook(str(path)) as made:
        sheet = made.add_worksheet("Plan")
        for row in range(rows):
            sheet.write_row(row, 0, [f"r{row}", row])
        chart = made.add_chart({"type": "column"})
        fill = {"color": "#ff0000"}
        chart.add_series({"values": "=Plan!$B$5:$B$5", "fill": fill, "name": "Red"})
        sheet.insert_chart("D2", chart)
        made.add_worksheet("Other").write("A1", "x")
    return path


def pages(path: Path, count: int, *, size: tuple[float, float] = (595, 842)) -> Path:
    document = pdfium.PdfDocument.new()
    for _ in range(count):
        document.new_page(*size)
    document.save(str(path))
    return path


@pytest.mark.rule("F43.70", "F43.72")
def test_a_sheet_is_shown_with_its_chart_and_says_where_it_stands(formats, tmp_path):
    view = formats.view_page(file_source(book(tmp_path / "a.xlsx")), sheet="Plan")

    image = opened(view)
    assert view.facts["shown"] == f"Plan!{view.facts['range']}"
    assert (view.facts["kind"], view.facts["drawn_by"]) == ("xlsx", "Backshop")
    assert view.facts["sheets"] == ["Plan", "Other"]
    (place,) = view.facts["places"]
    left, top, width, height = place["box"]
    assert (place["kind"], place["place"]) == ("chart", "Plan!D2:K16")
    assert reds(image.crop((left, top, left + width, top + height))) > 1_000
    assert reds(image.crop((0, 0, left, image.height))) == 0


@pytest.mark.rule("F43.5", "F43.70")
@pytest.mark.parametrize(
    ("text", "is_told"),
    [("שלום", True), ("日本", True), ("Grüße → Ωж €", True), ("Grüße Ωж €", False)],
)
def test_letters_that_are_boxes_are_said_not_to_be_so_in_the_file(formats, tmp_path, text, is_told):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        made.add_worksheet("S").write("A1", text)
    view = formats.view_page(file_source(path))
    assert any("empty boxes" in words for words in view.facts["missing"]) is is_told


@pytest.mark.rule("F43.72")
def test_a_long_sheet_is_shown_as_far_as_it_can_be_read(formats, tmp_path):
    source = file_source(book(tmp_path / "a.xlsx", 400))

    first = formats.view_page(source)
    later = formats.view_page(source, range="A301:B400")

    opened(first)
    opened(later)
    assert first.facts["range"].startswith("A1:")
    assert first.facts["used_range"] == "A1:B400"
    assert later.facts["range"] == "A301:B389"  # 1,800 pixels of rows, made smaller by a third
    ask = "only A301:B389 of A301:B400 is shown: ask for the rest by its own range"
    assert later.facts["missing"] == [ask]


@pytest.mark.rule("S6.24")
def test_nobody_is_sent_to_look_at_cells_that_are_empty(formats, tmp_path):
    source = file_source(book(tmp_path / "a.xlsx"))

    around = formats.view_page(source, sheet="Other", range="A1:N25").facts
    beside = formats.view_page(source, sheet="Other", range="P1:Z90").facts
    endless = formats.view_page(source, sheet="Other", range="A1:ZZ99999").facts

    assert around["missing"] == [f"only {around['range']} of A1:N25 is shown: the rest is empty"]
    assert beside["missing"] == [f"only {beside['range']} of P1:Z90 is shown: the rest is empty"]
    assert endless["missing"][-1].endswith("ask for the rest by its own range")


@pytest.mark.rule("F43.73")
def test_pages_count_from_one_and_are_as_large_as_can_be_sent(formats, tmp_path):
    paper = formats.view_page(file_source(pages(tmp_path / "a.pdf", 3)), 2)
    poster = formats.view_page(file_source(pages(tmp_path / "b.pdf", 1, size=(9_000, 9_000))))

    assert opened(paper).height == 1_200
    assert (paper.facts["shown"], paper.facts["page_count"]) == ("page 2 of 3", 3)
    assert opened(poster).size == (1_200, 1_200)


@pytest.mark.rule("F43.70", "F43.73")
def test_photographs_have_few_bytes_and_no_transparency(formats, tmp_path):
    noise = Image.frombytes("RGB", (700, 700), random.Random(1).randbytes(700 * 700 * 3))
    noise.save(tmp_path / "noise.png")
    Image.new("RGBA", (40, 20), (0, 0, 0, 0)).save(tmp_path / "clear.png")

    opened(formats.view_page(file_source(tmp_path / "noise.png")))
    clear = formats.view_page(file_source(tmp_path / "clear.png"))

    assert opened(clear).getcolors() == [(800, (255, 255, 255))]
    assert (clear.facts["shown"], clear.facts["page_count"]) == ("the picture", 1)


@pytest.mark.rule("F43.75")
def test_a_document_that_nobody_else_draws_is_shown_as_it_flows(tmp_path):
    made = docx.Document()
    made.add_heading("Report", 1)
    made.add_paragraph("One thing", style="List Bullet")
    table = made.add_table(2, 2, style="Table Grid")
    table.cell(0, 0).merge(table.cell(1, 0)).text = "Both"
    Image.new("RGB", (60, 60), "#ff0000").save(tmp_path / "red.png")
    made.add_picture(str(tmp_path / "red.png"))
    for number in range(60):
        made.add_paragraph(f"Paragraph {number}. " + "Words that go on. " * 12)
    made.add_page_break()
    made.add_paragraph("The end.")
    made.save(str(tmp_path / "a.docx"))
    source = file_source(tmp_path / "a.docx")

    with Formats(renderer=str(tmp_path / "no-office"), workers=1) as formats:
        first: Any = formats.view_page(source)
        count = first.facts["page_count"]
        last: Any = formats.view_page(source, count)
        with pytest.raises(FormatError) as caught:
            formats.view_page(source, count + 1)

    assert reds(opened(first)) > 1_000
    assert (first.facts["shown"], first.facts["drawn_by"]) == (f"part 1 of {count}", "Backshop")
    kinds = {one["place"]: one["kind"] for one in first.facts["places"]}
    assert [kinds[f"paragraph {n}"] for n in range(3)] == ["heading", "paragraph", "table"]
    assert first.facts["missing"] == [
        "cells over several rows stand in the first of them",
        "pages end where the picture does, not where they do in print",
    ]
    ends = [one["label"] for one in last.facts["places"]]
    assert ends == ["", "The end."]  # the paragraph that breaks the page ends behind the break
    assert caught.value.hints == (f"part 1 to {count}",)


@pytest.mark.rule("F43.74", "F4.6", "W26.7")
def test_what_cannot_be_shown_is_refused_in_words(formats, tmp_path):
    plain = pages(tmp_path / "plain.pdf", 2)
    key = f"/Encrypt <</Filter/Standard/V 1/R 2/O<{'41' * 32}>/U<{'42' * 32}>/P -4>> /ID[<43><43>]"
    locked = plain.read_bytes().replace(b"/Root", f"{key} /Root".encode())
    (tmp_path / "locked.pdf").write_bytes(locked)
    (tmp_path / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 40)
    bomb = BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")
    (tmp_path / "bomb.png").write_bytes(bomb.getvalue())
    (tmp_path / "a.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    book(tmp_path / "a.xlsx")

    def refused(name: str, **part: object) -> tuple[str, str | None, tuple[str, ...]]:
        with pytest.raises(FormatError) as caught:
            formats.view_page(file_source(tmp_path / name), **part)
        return caught.value.code, caught.value.reason, caught.value.hints

    assert refused("plain.pdf", page=3) == ("VALIDATION_FAILED", "bad_range", ("page 1 to 2",))
    assert refused("plain.pdf", page=0) == ("VALIDATION_FAILED", "bad_range", ("page 1 to 2",))
    assert refused("plain.pdf", sheet="x")[1:] == ("bad_selector", ("page",))
    assert refused("locked.pdf")[:2] == ("FILE_READ_FAILED", "encrypted_file")
    assert refused("torn.png")[:2] == ("FILE_READ_FAILED", "corrupt_file")
    assert refused("bomb.png")[:2] == ("LIMIT_EXCEEDED", "too_large")
    assert refused("a.svg")[1] == "unsupported_format"
    assert refused("a.csv")[1:] == ("unsupported_format", ("read_file",))
    assert refused("a.xlsx", page=1)[1:] == ("bad_selector", ("sheet", "range"))
    assert refused("a.xlsx", sheet="Nope")[1] == "unknown_sheet"
    assert refused("a.xlsx", range="zzz")[1] == "bad_range"
