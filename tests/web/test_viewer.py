"""Files looked at in a real browser, each kind in its own way (U3.5)."""

from __future__ import annotations

import html
import io
import re
import zipfile
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.formats.test_render import PRINTS_PDF, TALL, program
from tests.formats.xlsx.books import sheet_of
from tests.web.accessible import violations
from tests.web.browsing import serving
from tests.web.drafts import SCRIPT, Drafting, full_draft, picture
from tests.web.scrolling import FRAME_MS, worst_frame_ms

pytestmark = pytest.mark.needs("browser")
SHOWN = {
    "notes.md": ".prose",
    "sales.csv": "#table .grid-cell",
    "ledger.xlsx": ".desk .drawing",
    "ledger.xlsx?as=cells": "#sheet .grid-cell",
    "report.docx": ".desk .paper h1",
    "report.docx?as=text": ".doc-section .is-heading",
    "deck.pptx": ".desk .drawing",
    "deck.pptx?as=text": "svg.slide",
    "contract.pdf": ".page-picture img",
    "chart.png": ".page-picture img",
    "blob.bin": "dl.facts",
    "plan.txt": "table.lines",
}


@pytest.fixture(scope="module")
def draft(served):
    return full_draft(served)


@pytest.fixture
def opened(draft, new_page):
    def make(path: str, query: str = "", **options):
        return new_page(f"/bench/{draft.id}/file/{quote(path)}{query}", **options)

    return make


@pytest.mark.rule("U3.5", "U7.2")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_kind_of_file_opens_in_its_viewer(served, draft, opened, scheme):
    page = opened("notes.md", color_scheme=scheme)
    for path, selector in SHOWN.items():
        page.goto(f"{served.address}/bench/{draft.id}/file/{quote(path, safe='?=')}")
        page.wait_for_selector(selector)
        assert violations(page) == [], path
    assert page.evaluate("window.ran") is None


@pytest.mark.rule("U3.5", "F26.1")
def test_a_table_is_paged_and_asked_with_sql(opened):
    page = opened("sales.csv")
    page.wait_for_selector("#table .grid-cell")

    page.get_by_text("Ask this table with SQL").click()
    page.get_by_label("Ask this table").fill("SELECT region, count(*) AS n FROM data GROUP BY 1")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("columnheader", name="n", exact=True).wait_for()
    count = page.locator("#table-count").inner_text()
    page.get_by_label("Ask this table").fill("DROP TABLE data")
    page.get_by_role("button", name="Run").click()
    page.locator("#sql-error .error").wait_for()

    assert count == "3 rows"
    assert "sql_not_select" in page.locator("#sql-error").text_content()


@pytest.mark.rule("U3.5", "U7.3")
def test_versions_can_be_told_apart_and_markdown_is_inert(opened):
    page = opened("notes.md", "?view=draft&as=source")
    now = page.locator("table.lines").inner_text()
    page.get_by_role("link", name="Published", exact=True).click()
    page.wait_for_url("**view=published**")

    assert SCRIPT in now
    assert "Line 30 of" in page.locator(".prose").inner_text()
    assert page.evaluate("window.ran") is None


@pytest.mark.rule("U3.5", "B12.13")
def test_a_sheet_shows_formulas_and_other_sheets(opened):
    page = opened("ledger.xlsx", "?as=cells")
    page.wait_for_selector("#sheet .grid-cell")
    page.locator("[data-at='1:3']").click()
    page.locator(".cell-bar", has_text="D2").wait_for()
    bar = page.locator(".cell-bar").inner_text()
    page.keyboard.press("ArrowDown")
    page.locator(".cell-bar", has_text="D3").wait_for()
    page.get_by_role("tab", name="Summary").click()
    page.locator(".grid-cell", has_text="All").wait_for()

    assert "=B2+C2" in bar
    assert "==" not in bar
    assert "22" in bar


@pytest.mark.rule("U3.5", "U4.2")
def test_a_number_is_never_cut_short_whatever_its_column(served, new_page, tmp_path):
    import xlsxwriter

    with xlsxwriter.Workbook(str(tmp_path / "wide.xlsx")) as book:
        sheet, money = book.add_worksheet(), book.add_format({"num_format": "#,##0.00"})
        sheet.write_number("A1", 1)
        sheet.write_number("B1", 19_065_670_123_456.5, money)
        sheet.write_string("C1", "long " * 100)
        sheet.write_string("D1", "after it")
        sheet.write_number("A900", 98_765_432_109_876.25, money)
    bench = served.bench("Wide", {"wide.xlsx": (tmp_path / "wide.xlsx").read_bytes()})
    page = new_page(f"/bench/{bench}/file/wide.xlsx?as=cells")
    page.wait_for_selector("[data-at='0:3']")
    cut = "one => one.scrollWidth > one.clientWidth"

    first = [page.eval_on_selector(f"[data-at='0:{col}']", cut) for col in range(4)]
    page.locator("#sheet .grid-scroll").evaluate("one => { one.scrollTop = one.scrollHeight }")
    page.get_by_text("98,765,432,109,876.20").wait_for()  # 15 digits, as Excel shows them
    last = page.eval_on_selector("[data-at='899:0']", cut)
    heads = page.locator(".grid-colhead").evaluate_all("all => all.map((one) => one.offsetLeft)")
    row = page.locator(".grid-row:has([data-at='899:0']) .grid-cell")
    cells = row.evaluate_all("all => all.map((one) => one.offsetLeft)")

    assert (first, last) == ([False, False, True, False], False)  # a long text has the bar above
    assert heads == cells


@pytest.mark.rule("F24.3", "U3.5")
def test_a_formula_without_result_is_not_shown_as_an_empty_cell(served, new_page, tmp_path):
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f>A1+1</f></c></row>'
        '<row r="2"><c r="A2"><f t="array" ref="A2:B2">A1*{1,2}</f></c><c r="B2"/></row>'
    )
    sheet_of(tmp_path / "a.xlsx", rows)
    bench = served.bench("Waiting", {"a.xlsx": (tmp_path / "a.xlsx").read_bytes()})
    page = new_page(f"/bench/{bench}/file/a.xlsx?as=cells")
    page.locator("[data-at='1:1']", has_text="{=A1*{1,2}}").click()
    page.locator(".cell-bar", has_text="not computed").wait_for()

    assert page.locator(".cell-bar").inner_text() == "B2 =A1*{1,2}: not computed"
    assert page.locator("[data-at='0:1']").inner_text() == "{=A1+1}"


def _large(kind: str, folder: Path) -> bytes:
    """Return a hundred thousand rows below their heads."""
    if kind == "csv":
        rows = "".join(f"{n},name {n},{n * 3}\n" for n in range(100_000))
        return f"id,name,amount\n{rows}".encode()
    row = '<row r="{0}"><c r="A{0}"><v>{1}</v></c><c r="B{0}" t="inlineStr"><is><t>name {1}</t>'
    row += '</is></c><c r="C{0}"><f>A{0}*3</f><v>{2}</v></c></row>'
    made = sheet_of(folder / "a.xlsx", "".join(row.format(n + 1, n, n * 3) for n in range(100_000)))
    return made.path.read_bytes()


@pytest.mark.rule("U1.5")
@pytest.mark.parametrize(("kind", "place"), [("csv", "#table"), ("xlsx", "#sheet")])
def test_a_hundred_thousand_rows_scroll_smoothly(served, new_page, tmp_path, kind, place):
    bench = served.bench("Large", {f"large.{kind}": _large(kind, tmp_path)})
    page = new_page(f"/bench/{bench}/file/large.{kind}?as=cells")
    page.wait_for_selector(f"{place} .grid-cell")

    worst_ms = worst_frame_ms(page, f"{place} .grid-scroll")
    page.get_by_text("name 99999").wait_for()

    assert page.locator(".grid-row").count() < 80
    assert worst_ms < FRAME_MS


@pytest.mark.rule("U7.3", "B4.2")
def test_paths_that_lead_elsewhere_are_not_found(served, draft):
    with served.client() as client:
        for path in (
            "../../secrets.enc",
            "..%2f..%2fsecrets.enc",
            "%2e%2e/x",
            "a//b",
            "no-such.txt",
        ):
            for place in ("file", "preview/DRAFT/0/1.00"):
                answer = client.get(f"/bench/{draft.id}/{place}/{path}")
                assert answer.status_code in (404, 422), path
        picture = client.get(f"/bench/{draft.id}/preview/DRAFT/0/1.00/chart.png")
        assert picture.headers["content-type"] == "image/png"
        assert "sandbox" in picture.headers["content-security-policy"]
        assert picture.headers["cache-control"] == "no-store"
        for odd in ("x/1.00", "0/x", "99/1.00", "0/nan"):
            assert client.get(f"/bench/{draft.id}/preview/DRAFT/{odd}/chart.png").status_code in (
                404,
                422,
            )


@pytest.mark.needs("libreoffice")
@pytest.mark.rule("U4.3", "F29.7")
@pytest.mark.parametrize(
    ("path", "count"), [("report.docx", 1), ("deck.pptx", 3), ("ledger.xlsx", 1)]
)
def test_pages_of_office_files_are_shown_as_pictures(opened, path, count):
    page = opened(path)

    page.get_by_role("link", name="Pages", exact=True).click()
    page.wait_for_selector(".page-picture img", timeout=120_000)
    pictures = page.locator(".page-picture img")
    for number in range(pictures.count()):
        pictures.nth(number).scroll_into_view_if_needed()
        page.wait_for_function(
            "n => document.querySelectorAll('.page-picture img')[n].naturalWidth > 40",
            arg=number,
            timeout=120_000,
        )

    assert pictures.count() == count
    assert violations(page) == []


@pytest.mark.rule("B6.3", "U3.5")
def test_a_damaged_document_is_marked_in_the_list_and_explained(served, new_page):
    bench = served.bench("Broken", {"cut.docx": b"PK\x03\x04 and no more", "fine.txt": "fine"})

    page = new_page(f"/bench/{bench}/file/cut.docx")
    marks = page.locator(".file", has_text="cut.docx").inner_text()
    head = page.locator(".file-head").inner_text()

    assert "damaged" in marks
    assert "damaged" in head
    assert "corrupt_file" not in head


@pytest.mark.rule("U4.2", "U3.5", "S7.4")
def test_pictures_inside_documents_and_slides_are_drawn(served, new_page, tmp_path):
    from docx import Document
    from pptx import Presentation
    from pptx.util import Inches

    (tmp_path / "chart.png").write_bytes(picture("teal", "Inside"))
    report, deck = Document(), Presentation()
    report.add_heading("Results", 1)
    report.add_picture(str(tmp_path / "chart.png"), width=Inches(2))
    report.save(str(tmp_path / "report.docx"))
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.add_picture(str(tmp_path / "chart.png"), Inches(1), Inches(2), Inches(3))
    deck.save(str(tmp_path / "deck.pptx"))
    files = {name: (tmp_path / name).read_bytes() for name in ("report.docx", "deck.pptx")}
    bench = served.bench("Inside", files)
    draft = Drafting(served, bench)
    more = [{"op": "append_paragraph", "text": "One more line."}]
    draft.use("docx_operations", path="report.docx", operations=more)
    titled = [{"op": "set_slide_text", "index": 0, "title": "Results"}]
    draft.use("pptx_operations", path="deck.pptx", operations=titled)

    page = new_page("/")
    drawn = {}
    for name, selector in (("report.docx", ".inside img"), ("deck.pptx", "svg.slide image")):
        text = f"file/{name}?as=text"
        for place in (f"{text}&view=published", text, f"review?file={name}&as=changes"):
            page.goto(f"{served.address}/bench/{bench}/{place}")
            found = page.locator(selector)
            found.first.scroll_into_view_if_needed()
            address = found.first.get_attribute("href") or found.first.get_attribute("src")
            answer = page.request.get(f"{served.address}{address}")
            drawn[place] = (answer.status, answer.headers["content-type"], found.count() > 0)
    absent = page.request.get(
        f"{served.address}/bench/{bench}/preview/DRAFT/0/1.00/report.docx?part=word/document.xml"
    )

    assert set(drawn.values()) == {(200, "image/png", True)}
    assert absent.status in (404, 422)


def _odt(name: str) -> bytes:
    names = {"office": "office", "text": "text", "draw": "drawing", "svg": "svg-compatible"}
    spaces = "".join(
        f' xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
        for short, long in names.items()
    )
    body = (
        '<text:h text:outline-level="1">Results</text:h><text:p><draw:frame><draw:image '
        f'xlink:href="Pictures/{name}"/><svg:title>The chart</svg:title></draw:frame></text:p>'
    )
    content = (
        f'<office:document-content{spaces} xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    kind = b"application/vnd.oasis.opendocument.text"
    parts = {"mimetype": kind, "content.xml": content.encode()}
    parts[f"Pictures/{name}"] = picture("teal", "Inside")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for part, data in parts.items():
            made.writestr(part, data)
    return buffer.getvalue()


@pytest.mark.rule("U4.2", "U3.5", "U7.3")
def test_pictures_inside_an_opendocument_text_are_drawn_and_nothing_else_of_it(served, new_page):
    bench = served.bench("Open", {"report.odt": _odt("1000.png")})
    page = new_page(f"/bench/{bench}/file/report.odt?as=text")
    drawn = page.get_by_role("img", name="The chart")
    page.wait_for_function("one => one.naturalWidth > 0", arg=drawn.element_handle())
    address = f"{served.address}/bench/{bench}/preview/PUBLISHED/0/1.00/report.odt?part="
    refused = [page.request.get(address + part).status for part in ("content.xml", "mimetype")]

    assert "Results" in page.locator(".doc-section").inner_text()
    assert {*refused} <= {404, 422}


@pytest.mark.rule("U4.2", "U4.1")
def test_review_says_which_pictures_of_a_document_are_new_others_or_gone():
    from backshop.web.pages.pictures import marked_pictures

    before = {"word/media/a.png": "1", "word/media/b.png": "2", "word/media/c.png": "3"}
    after = {"word/media/a.png": "1", "word/media/b.png": "9", "word/media/d.png": "4"}
    shown = [{"picture": f"/now/{name}", "name": name, "alt": name} for name in PICTURES]

    gone = [{"name": "c.png", "alt": "The old chart", "section": 1}]
    marked = marked_pictures(shown, before, after, gone, lambda name: f"/then/{name}")

    assert [(one["picture"], one["change"], one.get("was")) for one in marked] == [
        ("/now/a.png", "", ""),
        ("/now/b.png", "changed", "/then/b.png"),
        ("/now/d.png", "added", ""),
        ("/then/c.png", "removed", None),
    ]
    numbered_anew = marked_pictures(
        shown[:1], before, {"word/media/a.png": "2"}, gone, lambda name: name
    )
    assert [(one["picture"], one["change"], one["alt"]) for one in numbered_anew] == [
        ("/now/a.png", "", "a.png"),
        ("a.png", "removed", "Picture that goes"),
        ("c.png", "removed", "The old chart"),
    ]


PICTURES = ("a.png", "b.png", "d.png")


def _report(tmp_path, pictures, outlook="It stays so."):
    from docx import Document

    made = Document()
    for heading, text in (("Results", "Much came."), ("Costs", "Little went."), ("Next", outlook)):
        made.add_heading(heading, 1)
        made.add_paragraph(text)
        if heading in pictures:
            (tmp_path / "one.png").write_bytes(picture(pictures[heading], heading))
            made.add_picture(str(tmp_path / "one.png"))
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


@pytest.mark.rule("U4.2")
def test_review_shows_pictures_in_their_section_and_sections_for_their_pictures(
    served, new_page, tmp_path
):
    old = _report(tmp_path, {"Results": "teal", "Costs": "navy", "Next": "green"})
    bench = served.bench("Pictures", {"report.docx": old})
    new = _report(tmp_path, {"Results": "teal", "Costs": "gold"}, "It grows.")
    Drafting(served, bench).put({"report.docx": new})
    page = new_page(f"/bench/{bench}/review?file=report.docx&as=changes")
    page.locator(".inside img").first.wait_for()
    shown = {
        name: page.get_by_role("region", name=name).locator(".inside figcaption").all_inner_texts()
        for name in ("Costs", "Next")
    }
    others = page.get_by_role("region", name="Other pictures").locator("figcaption")
    viewer = f"{served.address}/bench/{bench}/file/report.docx?as=text&view=published&section="
    read = [page.request.get(f"{viewer}{at}").text().count("<figure>") for at in range(3)]

    assert [len(texts) for texts in shown.values()] == [2, 1]
    assert ("before" in shown["Costs"][0], "changed" in shown["Costs"][1]) == (True, True)
    assert "removed" in shown["Next"][0]
    assert (others.count(), read) == (1, [1, 1, 1])
    changed = page.locator(".outline li", has=page.get_by_text("~ ")).all_inner_texts()
    assert [text.split()[0] for text in changed] == ["Costs", "Next"]


@pytest.mark.rule("U4.3", "F29.11", "B12.11")
def test_a_long_sheet_is_shown_by_its_name_in_parts_and_what_is_left_out_is_said(tmp_path):
    soffice = program(tmp_path, PRINTS_PDF, pdf=str(tmp_path / "tall"), log=str(tmp_path / "log"))
    (tmp_path / "tall").write_bytes(TALL.replace(b"%d", b"1050"))
    with serving(tmp_path / "home", settings={"formats.renderer_path": soffice}) as own:
        bench = own.bench("Long")
        fill = {"op": "set_cells", "sheet": "Ledger", "cells": [{"cell": "A1", "value": 1}]}
        made = {"op": "ensure_sheet", "sheet": "Ledger"}
        Drafting(own, bench).use("xlsx_operations", path="l.xlsx", operations=[made, fill])
        own.call("DraftPublish", workbench_id=bench)
        fill["cells"] = [{"cell": "A1", "value": 2}]
        Drafting(own, bench).use("xlsx_operations", path="l.xlsx", operations=[fill])
        with own.client() as client:
            viewed = client.get(f"/bench/{bench}/file/l.xlsx?as=pages").text
            address = html.unescape(re.findall(r'<img src="([^"]*piece=1)"', viewed)[0])
            piece = client.get(address)
            reviewed = client.get(f"/bench/{bench}/review?file=l.xlsx&as=pages&piece=1").text

    assert re.findall('<figcaption class="small muted">(.*?)<', viewed) == [
        "Ledger, part 1 of 2",
        "Ledger, part 2 of 2",
    ]
    assert piece.headers["content-type"] == "image/png"
    assert piece.headers["cache-control"].endswith("immutable")
    assert "Sheet “Ledger”, changed" in reviewed
    assert "Part 2 of 2" in reviewed
    for page in (viewed, reviewed):
        assert "LibreOffice draws the beginning of a sheet this long" in page


@pytest.mark.rule("U4.3")
def test_no_page_has_the_name_of_a_sheet_where_they_are_not_as_many(tmp_path):
    soffice = program(tmp_path, PRINTS_PDF, pdf=str(tmp_path / "one"), log=str(tmp_path / "log"))
    (tmp_path / "one").write_bytes(TALL.replace(b"%d", b"1050"))
    with serving(tmp_path / "home", settings={"formats.renderer_path": soffice}) as own:
        bench = own.bench("Two")
        sheets = [{"op": "ensure_sheet", "sheet": name} for name in ("Ledger", "Rates")]
        Drafting(own, bench).use("xlsx_operations", path="l.xlsx", operations=sheets)
        own.call("DraftPublish", workbench_id=bench)
        fill = {"op": "set_cells", "sheet": "Ledger", "cells": [{"cell": "A1", "value": 2}]}
        Drafting(own, bench).use("xlsx_operations", path="l.xlsx", operations=[fill])
        with own.client() as client:
            reviewed = client.get(f"/bench/{bench}/review?file=l.xlsx&as=pages").text

    assert "/preview/DRAFT/0/" in reviewed
    assert "Sheet “" not in reviewed


@pytest.mark.rule("F43.55", "U6.22", "U7.2")
def test_a_table_of_a_document_breaks_long_words_and_scrolls_where_it_is_wider(served, new_page):
    from docx import Document

    made, buffer = Document(), io.BytesIO()
    for cell in made.add_table(1, 3).rows[0].cells:
        cell.text = "abcdefghij" * 4
    made.save(buffer)
    bench = served.bench("Table", {"words.docx": buffer.getvalue()})
    page = new_page(f"/bench/{bench}/file/words.docx", viewport={"width": 1440, "height": 900})
    box = page.locator(".paper-wide")
    box.wait_for()

    is_wider = [box.evaluate("one => one.scrollWidth > one.clientWidth")]
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".paper-wide[tabindex='0'][role=group]").wait_for()
    is_wider.append(box.evaluate("one => one.scrollWidth > one.clientWidth"))

    assert is_wider == [False, True]
    assert violations(page) == []


@pytest.mark.rule("U8.9", "U4.2")
def test_a_damaged_picture_file_says_what_is_the_case_and_what_to_do(served):
    whole = picture("navy", "x")
    broken = whole[:40] + bytes(200)
    bench = served.bench("Pictures", {"broken.png": broken, "later.png": whole})
    Drafting(served, bench).put({"later.png": broken})
    with served.client() as client:
        viewed = client.get(f"/bench/{bench}/file/broken.png").text
        reviewed = client.get(f"/bench/{bench}/review?file=later.png").text

    for page in (viewed, reviewed):
        fault = page.split('<div class="drawn-fault"')[1].split("</div>")[0]
        assert "This file is damaged, or part of it is missing." in fault
        assert "save it once more, and add that copy" in fault
    assert reviewed.count("drawn-fault") == 1
