"""A review is never silent about a file that changed, whatever changed in it (B12.22)."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from pptx import Presentation
from tests.bench.test_review import pdf, put

TRANSITION = b'<p:transition spd="slow"><p:fade/></p:transition>'


def deck() -> bytes:
    made = Presentation()
    for title in ("One", "Two"):
        made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = title
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def book() -> bytes:
    made = Workbook()
    sheet: Any = made.active
    sheet.append(["a", 1])
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def with_part(package: bytes, part: str, old: bytes, by: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as before, zipfile.ZipFile(buffer, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            assert name != part or old in data
            after.writestr(name, data.replace(old, by, 1) if name == part else data)
    return buffer.getvalue()


def texts(found) -> list[str]:
    return [one["text"] for one in found["also"]]


@pytest.mark.rule("B12.22", "B12.8")
def test_a_transition_that_changed_is_in_every_view_of_a_decks_review(room):
    room.add({"p.pptx": deck()})
    end = b"</p:clrMapOvr>"
    put(room, "p.pptx", with_part(deck(), "ppt/slides/slide2.xml", end, end + TRANSITION))

    slides = room.call("ReviewGetPptxContentDiff", path="p.pptx")
    lines = room.call("ReviewGetDiff", path="p.pptx")

    listed = [(one["kind"], one["facts"]) for one in slides["body"]["slides"]]
    assert listed == [("same", []), ("changed", ["transition"])]
    assert slides["focus_hint"] == {"slide_index": 1}
    assert texts(slides) == []  # it stands at its slide
    assert (lines["body"]["hunks"], texts(lines)) == ([], ["slide 2: transition"])


@pytest.mark.rule("B12.22", "B12.9")
def test_what_changed_around_the_cells_of_a_workbook_stands_beside_them(room):
    before = book()
    room.add({"b.xlsx": before})
    margins = b'<pageMargins left="'
    part = "xl/worksheets/sheet1.xml"
    put(room, "b.xlsx", with_part(before, part, margins, margins + b"1"))

    found = room.call("ReviewGetDiff", path="b.xlsx")

    assert (found["strategy"], found["body"]["sheets"]) == ("cells", [])
    assert texts(found) == ["sheet Sheet: print set-up"]


@pytest.mark.rule("B12.22", "B12.10")
def test_a_pdf_whose_pages_read_the_same_says_which_looks_otherwise(room):
    drawn = pdf("words").replace(b"20 100 Td", b"90 150 Td")
    room.add({"p.pdf": pdf("words"), "q.pdf": pdf("words")})
    put(room, "p.pdf", drawn)
    put(room, "q.pdf", pdf("words") + b"\n% kept\n")

    moved = room.call("ReviewGetTextDiff", path="p.pdf")
    same = room.call("ReviewGetTextDiff", path="q.pdf")

    assert (moved["body"]["hunks"], texts(moved)) == ([], ["page 1: look"])
    assert [one["kind"] for one in moved["body"]["pages"]] == ["look"]
    assert texts(same) == ["something else in the file"]


@pytest.mark.rule("B12.22", "B12.4")
def test_a_table_with_the_same_rows_in_other_bytes_is_compared_by_lines(room):
    room.add({"t.csv": "a,b\n1,2\n"})
    put(room, "t.csv", b'"a","b"\n1,2\n')

    found = room.call("ReviewGetDiff", path="t.csv")

    assert found["strategy"] == "text"
    assert found["body"]["hunks"]


@pytest.mark.rule("B12.22", "S4.2")
def test_the_terminal_says_what_changed_beside_a_difference(room, tmp_path, capsys):
    from backshop.cli import main

    part, margins = "xl/worksheets/sheet1.xml", b'<pageMargins left="'
    before = book()
    sides = (before, with_part(before, part, margins, margins + b"1"))
    paths = []
    for name, data in zip(("a.xlsx", "b.xlsx"), sides, strict=True):
        Path(tmp_path / name).write_bytes(data)
        paths.append(str(tmp_path / name))

    assert main(["file", "diff", *paths, "--home", str(tmp_path / "none")]) == 0

    said = f"also changed: sheet Sheet: print set-up  ({part})"
    assert said in capsys.readouterr().out
