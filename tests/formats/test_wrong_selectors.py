"""A selector that names nothing is answered with the nearest ones that do, for every kind."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest
from docx import Document as WordDocument
from PIL import Image
from pptx import Presentation

from backshop.formats import FormatError, Formats, Selector, Source

from .archives import file_source
from .test_conformance import odt
from .xlsx.books import book

SHEETS = [f"Region {n}" for n in range(30)]
SLIDES = ("slide_index 0 to 1",)
S = Selector
DOCUMENT = (
    (S(section="Costs"), "unknown_section", ("2: Cost", "1: Plan")),
    (S(section="7"), "unknown_section", ("2: Cost", "1: Plan")),
    (S(section="9" * 6000), "unknown_section", None),
    (S(section="@header"), "unknown_section", ("@headers", "@comments", "@changes", "@footnotes")),
    (S(section="1", paragraphs="9-12"), "bad_range", ("0-1",)),
    (S(section="1", paragraphs="2-1"), "bad_range", ("0-1",)),
    (S(section="1", paragraphs="all"), "bad_range", ("0-1",)),
    (S(chunk_index=5), "bad_index", ("0 to 0",)),
    (S(sheet="Plan"), "bad_selector", ("chunk_index", "paragraphs", "section")),
)
LINES = (
    (S(line_start=9), "bad_index", ("1 to 3",)),
    (S(line_start=0), "bad_index", ("1 to 3",)),
    (S(line_start=1, line_count=0), "bad_index", ("1 to 3",)),
    (S(chunk_index=1), "bad_index", ("0 to 0",)),
    (S(pages="1"), "bad_selector", ("chunk_index", "line_count", "line_start")),
)
WRONG = {
    "a.txt": LINES,
    "empty.txt": ((S(line_start=2), "bad_index", ("the file is empty",)),),
    "a.csv": LINES,
    "a.xlsx": (
        (S(sheet="region27"), "unknown_sheet", ("Region 27", "Region 2", "Region 7")),
        (S(sheet="Region 0", range="A0"), "bad_range", ("A1:B1",)),
        (S(sheet="Region 0", range="Region 0!A1"), "bad_range", ("A1:B1",)),
        (S(sheet="Region 0", range="XFE1"), "bad_range", ("A1:B1",)),
        (S(sheet="Region 0", chunk_index=1), "bad_index", ("0 to 0",)),
        (S(cells="value"), "bad_selector", ("values", "formulas", "both")),
        (S(slide_index=0), "bad_selector", ("cells", "chunk_index", "range", "sheet")),
    ),
    "a.docx": DOCUMENT,
    "a.odt": DOCUMENT,
    "a.pptx": (
        (S(slide_index=2), "unknown_slide", SLIDES),
        (S(slide_index=-1), "unknown_slide", SLIDES),
        (S(chunk_index=2), "bad_index", ("0 to 1",)),
        (S(section="1"), "bad_selector", ("chunk_index", "slide_index")),
    ),
    "a.pdf": (
        *((S(pages=text), "bad_range", ("1-25",)) for text in ("26", "0", "5-1", "x", "1,,2", "")),
        (S(pages="4-25"), "bad_range", ("4-23",)),
        (S(pages="25,1-24"), "bad_range", ("1-19,25",)),
        (S(chunk_index=5), "bad_index", ("0 to 4",)),
        (S(line_start=1), "bad_selector", ("chunk_index", "pages")),
    ),
    "a.png": (
        (S(chunk_index=1), "bad_index", ("0 to 0",)),
        (S(pages="1"), "bad_selector", ("chunk_index",)),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made: Path = tmp_path_factory.mktemp("files")
    (made / "a.txt").write_text("one\ntwo\nthree\n")
    (made / "empty.txt").write_text("")
    (made / "a.csv").write_text("a,b\n1,2\n3,4\n")
    book(made / "a.xlsx", *((name, [[1, 2]]) for name in SHEETS))
    document = WordDocument()
    for heading in ("Plan", "Cost"):
        document.add_heading(heading, 1)
        document.add_paragraph("words")
    document.save(str(made / "a.docx"))
    blocks = "".join(
        f'<text:h text:outline-level="1">{heading}</text:h><text:p>words</text:p>'
        for heading in ("Plan", "Cost")
    )
    (made / "a.odt").write_bytes(odt(blocks))
    deck = Presentation()
    for _ in range(2):
        deck.slides.add_slide(deck.slide_layouts[1])
    deck.save(str(made / "a.pptx"))
    pages = pypdfium2.PdfDocument.new()
    for _ in range(25):
        pages.new_page(200, 200)
    pages.save(made / "a.pdf")
    picture = io.BytesIO()
    Image.new("RGB", (3, 2)).save(picture, "PNG")
    (made / "a.png").write_bytes(picture.getvalue())
    return made


@pytest.fixture(scope="module")
def formats(tmp_path_factory) -> Iterator[Formats]:
    with Formats(cache=tmp_path_factory.mktemp("cache"), plugins={}, workers=1) as made:
        yield made


@pytest.mark.rule("F3.1", "F5.6", "F5.7", "F6.5", "F8.8", "F9.6", "F10.3", "F11.1")
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_selector_is_answered_with_the_nearest_valid_ones(formats, folder, name):
    file = file_source(folder / name)
    for selector, reason, hints in WRONG[name]:
        with pytest.raises(FormatError) as caught:
            formats.read(file, selector)

        assert caught.value.reason == reason, selector
        if hints is not None:
            assert caught.value.hints[: len(hints)] == hints, selector
        assert len(caught.value.hints) <= 20


@pytest.mark.rule("F3.1", "F25.1")
def test_a_wrong_region_or_column_of_a_table_is_answered_likewise(formats, folder):
    def refused(call) -> tuple[str | None, tuple[str, ...]]:
        with pytest.raises(FormatError) as caught:
            call()
        return caught.value.reason, caught.value.hints[:1]

    workbook: Source = file_source(folder / "a.xlsx")
    rows = formats.open_table(file_source(folder / "a.csv"))

    assert refused(lambda: formats.open_table(workbook, "Region_12").describe()) == (
        "unknown_sheet",
        ("Region 12",),
    )
    assert refused(lambda: formats.open_table(workbook, "Region 1", "B").describe()) == (
        "bad_range",
        ("A1:B1",),
    )
    assert refused(lambda: rows.read_rows(1, 1, ["bb"])) == ("unknown_column", ("b",))
    assert refused(lambda: rows.read_rows(9, 1)) == ("bad_index", ("1 to 2",))
