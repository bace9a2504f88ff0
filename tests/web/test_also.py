"""Pages of a review and of a file show what stands beside the words (B12.22, F9.11)."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import xlsxwriter
from docx import Document
from openpyxl import Workbook
from tests.bench.test_also import TRANSITION, deck, with_part
from tests.web.drafts import Drafting, pages

ANN = b'w:id="1" w:author="Ann" w:date="2026-01-02T03:04:05Z"'
TRACKED = b"<w:ins " + ANN + b"><w:r><w:t>new </w:t></w:r></w:ins>"


def document() -> bytes:
    made = Document()
    made.add_paragraph("words")
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


@pytest.mark.rule("B12.22", "U4.2", "U4.53")
def test_the_page_of_a_deck_names_what_changed_beside_its_shapes(served):
    bench = served.bench("Decks", {"p.pptx": deck()})
    end = b"</p:clrMapOvr>"
    changed = with_part(deck(), "ppt/slides/slide2.xml", end, end + TRANSITION)
    master = with_part(changed, "ppt/theme/theme1.xml", b'name="Office', b'name="Other')
    Drafting(served, bench).put({"p.pptx": master})

    with served.client() as client:
        page = client.get(f"/bench/{bench}/review?file=p.pptx&as=changes").text

    assert "Also changed" in page
    assert "theme theme1.xml: " in page
    words, _, details = page.partition('<details class="small"><summary>Details</summary>')
    assert "ppt/theme/theme1.xml" in details
    assert "ppt/theme/theme1.xml" not in words
    assert "transition" in page


@pytest.mark.rule("F9.11", "U3.5")
def test_a_tracked_change_is_shown_with_author_and_time_in_viewer_and_review(served):
    tracked = with_part(
        document(), "word/document.xml", b"<w:r><w:t>words", TRACKED + b"<w:r><w:t>words"
    )
    bench = served.bench("Words", {"a.docx": tracked, "b.docx": document()})
    Drafting(served, bench).put({"b.docx": tracked})

    with served.client() as client:
        viewed = client.get(f"/bench/{bench}/file/a.docx?as=text").text
        reviewed = client.get(f"/bench/{bench}/review?file=b.docx&as=changes").text

    said = "inserted “new ” by Ann, 2026-01-02T03:04:05Z"
    assert f"Tracked change: {said}" in viewed
    assert f"new tracked change: {said}" in reviewed


@pytest.mark.rule("U4.50")
def test_the_picture_says_whose_tracked_changes_are_shown_and_which_are_new(served):
    words = b"<w:r><w:t>words"
    old = with_part(document(), "word/document.xml", words, TRACKED + words)
    ben = TRACKED.replace(b"Ann", b"Ben").replace(b"new ", b"newer ")
    new = with_part(old, "word/document.xml", words, ben + words)
    bench = served.bench("Authors", {"a.docx": old, "b.docx": document()})
    Drafting(served, bench).put({"a.docx": new, "b.docx": old})

    with served.client() as client:
        some, all_new = (
            client.get(f"/bench/{bench}/review/picture?file={name}").text
            for name in ("a.docx", "b.docx")
        )

    whose = "2 tracked changes of the document&#39;s own authors, 1 by Ann, 1 by Ben."
    assert f"{whose} 1 of them is new; the others were there before." in some
    assert "1 tracked change of the document&#39;s own authors, 1 by Ann. It is new." in all_new


@pytest.mark.rule("B12.10", "U4.2")
def test_a_page_put_in_front_stands_beside_nothing_and_the_others_beside_their_own(served):
    bench = served.bench("Papers", {"a.pdf": pages("one", "two")})
    Drafting(served, bench).put({"a.pdf": pages("zero", "one", "two")})

    with served.client() as client:
        first = client.get(f"/bench/{bench}/review?file=a.pdf").text
        second = client.get(f"/bench/{bench}/review?file=a.pdf&as=pages&page=1").text

    assert "Page 1, added" in first
    assert "not there" in first
    assert "Page 2, was 1" in second
    assert "/preview/REFERENCE/0/" in second
    assert "/preview/DRAFT/1/" in second


@pytest.mark.rule("F24.15", "U4.2")
def test_the_page_of_a_workbook_names_formulas_without_a_result_and_why(served):
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "S"
    sheet.append([1, "=A1+TODAY()"])
    buffer = io.BytesIO()
    book.save(buffer)
    bench = served.bench("Books", {"w.xlsx": buffer.getvalue()})
    change = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 2}]}
    Drafting(served, bench).use("xlsx_operations", path="w.xlsx", operations=[change])

    with served.client() as client:
        page = client.get(f"/bench/{bench}/review?file=w.xlsx&as=changes").text

    assert "1 formula cell without a result" in page
    assert "S!B1: TODAY gives another value every time" in page


@pytest.mark.rule("F40.5", "F40.10", "U4.2")
def test_pages_say_that_a_workbook_has_macros_and_show_one_of_another_format(served, tmp_path):
    path, code = tmp_path / "a.xlsm", tmp_path / "code.bin"
    code.write_bytes(b"macros")
    with xlsxwriter.Workbook(str(path)) as made:
        made.add_vba_project(str(code))
        made.add_worksheet("S").write(0, 0, 1)
    data = Path(__file__).parents[1] / "data"
    others = {f"b.{one}": (data / f"sheets.{one}").read_bytes() for one in ("ods", "xls")}
    bench = served.bench("Books", {"a.xlsm": path.read_bytes(), **others})
    wish = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 2}]}
    Drafting(served, bench).use("xlsx_operations", path="a.xlsm", operations=[wish])

    with served.client() as client:
        reviewed = client.get(f"/bench/{bench}/review/picture?file=a.xlsm").text
        viewed = [client.get(f"/bench/{bench}/file/{name}?as=cells").text for name in others]

    assert "The workbook has macros. They were not run, and they are as they were." in reviewed
    for page in viewed:
        assert "read-only" in page
        assert "Item 7 \u00e9\u4e2d" in page
