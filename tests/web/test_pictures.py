"""Documents as they look, before and after, with what changed outlined (U8)."""

from __future__ import annotations

import html
import io
import threading
import zipfile
from typing import Any

import pytest
import xlsxwriter
from docx import Document as WordDocument
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet
from tests.web.accessible import violations
from tests.web.browsing import Served
from tests.web.drafts import Drafting, full_draft

from backshop.base.errors import ValidationFailed
from backshop.bench import Bench, views
from backshop.web.pages.kit import Visit
from backshop.web.pages.picture.outline import Region, regions
from backshop.web.pages.picture.sheet_pair import sheet_pairs
from backshop.web.pages.picture.target import Target
from backshop.web.preparation import prepare
from backshop.web.site import Site
from backshop.web.svg import is_inert
from backshop.web.turns import begin

IN_SIGHT = """() => {
  const at = (selector) => document.querySelector(`[data-side=after] ${selector}`);
  const [one, box] = [at('.paper-mark'), at('.leaf')].map((part) => part.getBoundingClientRect());
  return one.top >= box.top && one.bottom <= box.bottom;
}"""


@pytest.fixture(scope="module")
def draft(served):
    return full_draft(served)


@pytest.fixture
def opened(draft, new_page):
    """Open the picture of a changed file and wait until it is drawn."""

    def make(path: str, query: str = "", **options):
        page = new_page(f"/bench/{draft.id}/review?file={path}{query}", **options)
        page.wait_for_selector("body[data-ready=yes]")
        page.locator(".desk .drawing, .desk .paper").first.wait_for()
        return page

    return make


def names(page: Any, side: str) -> list[str]:
    """Return what the outlines of a side are called."""
    found = page.locator(f"[data-side={side}] a.ring, [data-side={side}] a.paper-sign")
    return [one.get_attribute("aria-label") for one in found.all()]


@pytest.mark.needs("browser")
@pytest.mark.rule("U4.48", "U4.49", "U8.3")
def test_entries_show_what_the_sheet_shows_and_counts_say_what_they_count(served):
    bench = served.bench("Read", {})
    draft = Drafting(served, bench)
    sheet = {"sheet": "S"}
    first = [
        {"op": "ensure_sheet", **sheet},
        {"op": "set_range", **sheet, "start": "A1", "values": [[45292, 0.1234567, "=B1*2"]]},
        {"op": "set_style", **sheet, "range": "A1", "style": {"number_format": "d mmm yyyy"}},
        {"op": "set_style", **sheet, "range": "B1:C1", "style": {"number_format": "0.0%"}},
    ]
    draft.use("xlsx_operations", path="b.xlsx", operations=first)
    draft.call("DraftPublish")
    cells = [{"cell": "A1", "value": 45323}, {"cell": "C1", "value": "=B1*3"}]
    draft.use(
        "xlsx_operations", path="b.xlsx", operations=[{"op": "set_cells", **sheet, "cells": cells}]
    )

    with served.client() as client:
        picture = client.get(f"/bench/{bench}/review/picture?file=b.xlsx").text
        changes = client.get(f"/bench/{bench}/review?file=b.xlsx&as=changes").text
        choices = client.get(f"/bench/{bench}/review/choices?file=b.xlsx").text

    assert "<del>1 Jan 2024</del> → <ins>1 Feb 2024</ins>" in picture
    assert "<del>24.7%</del> → <ins>37.0%</ins>" in picture
    assert "<code>=B1*2</code> → <code>=B1*3</code>" in picture
    plain = picture.partition("Without number format")[2]
    assert "<code>2024-01-01</code> → <code>2024-02-01</code>" in plain
    assert "<del>1 Jan 2024</del>" in changes
    assert "without number format 2024-01-01 → 2024-02-01" in changes
    assert "<ins>1 Feb 2024</ins>" in choices
    assert "2 changed places on this sheet" in picture
    assert "~ 2 cells" in picture
    assert "Its writes made 2 cell changes" in changes
    assert "2 cells differ" in changes
    assert "2 changes to take or leave" in choices


@pytest.mark.rule("U4.48", "B12.9")
def test_a_value_in_place_of_a_formula_is_called_that(served, tmp_path):
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.append([1, 2, "=A1+B1"])  # by a program that stores no results
    book.save(tmp_path / "a.xlsx")
    bench = served.bench("Put down", {"a.xlsx": (tmp_path / "a.xlsx").read_bytes()})
    put = {"op": "set_cells", "sheet": "Sheet", "cells": [{"cell": "C1", "value": 4}]}
    Drafting(served, bench).use("xlsx_operations", path="a.xlsx", operations=[put])

    with served.client() as client:
        picture = client.get(f"/bench/{bench}/review/picture?file=a.xlsx").text

    assert "1 formula replaced by a value" in picture
    assert "<del>(not stored)</del> → <ins>4</ins>" in picture
    assert "<code>=A1+B1</code> → <code>4</code>" in picture


@pytest.mark.rule("U8.1", "U8.2", "U8.3", "U8.5")
def test_changed_cells_are_outlined_on_both_sides_and_lead_to_their_entries(opened):
    page = opened("ledger.xlsx", "&sheet=Ledger")
    tab = page.get_by_role("link", name="Picture", exact=True).get_attribute("aria-current")
    before, after = names(page, "before"), names(page, "after")
    signs = page.locator("[data-side=after] .ring .sign").all_text_contents()
    page.locator("[data-side=after] a.ring[aria-label*='B5']").click()
    entry = page.locator(".entry.at-place")

    assert tab == "true"
    assert "Region 4" in page.locator("[data-side=after] .drawing").text_content()
    assert [one for one in after if one.endswith("changed: B5")]
    assert [one for one in before if one.endswith("changed: B5")]
    assert {one[0] for one in signs} <= {"~", "+", "−"}
    assert entry.locator("del").first.inner_text() == "40"
    assert entry.locator("ins").first.inner_text() == "44"
    assert page.locator(".ring.at-place").count() == 2
    assert page.evaluate("document.activeElement.id") == entry.get_attribute("id")


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.3", "U4.4", "U4.7")
def test_picture_list_and_comment_lead_to_one_another(opened):
    page = opened("ledger.xlsx", "&sheet=Ledger&row=3")
    page.locator(".ring[aria-label*='C7']").first.wait_for()
    page.locator("#file-view").focus()
    page.keyboard.press("j")
    walked = page.locator(".ring.at-place").count()
    entry = page.locator(".entry", has_text="C7")
    entry.click()
    entry.get_by_role("button", name="Comment").click()
    place = page.locator("#remark-at").input_value()
    page.locator("#remark").fill("Are you sure?")
    page.get_by_role("button", name="Comment", exact=True).click()
    page.locator("[data-side=after] .ring.remark").wait_for()
    stayed = page.url
    page.get_by_role("link", name="Summary").click()
    page.locator(".stage-tabs [aria-current]", has_text="Summary").wait_for()
    page.locator(".ring.remark").wait_for(state="detached")
    page.locator(".comment-place").click()
    page.locator(".ring.remark.at-place").wait_for()

    assert "row=3" in stayed
    assert walked == 2
    assert place == "Ledger!C7"
    assert page.locator(".stage-tabs [aria-current]").inner_text().startswith("Ledger")
    page.locator(".ring.remark.at-place").evaluate("one => one.focus()")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "comment-1"


def _frozen() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in range(1, 121):
        sheet.append([f"R{row}", *(f"{col}/{row}" for col in range(2, 41))])
    sheet.freeze_panes = "B2"
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


FROZEN = """() => {
  const side = document.querySelector('[data-side=after]') ?? document;
  const leaf = side.querySelector('.leaf');
  leaf.scrollTo(400, 700);
  const at = (name) => side.querySelector(`.frozen.${name}`).getBoundingClientRect();
  const [box, corner] = [leaf.getBoundingClientRect(), at('is-corner')];
  const ways = [at('is-top').top - box.top, at('is-left').left - box.left];
  return [...ways, corner.top - box.top, corner.left - box.left].map(Math.round);
}"""
COVERED = """() => {
  const box = (one) => one.getBoundingClientRect();
  const isLine = (a, b, from, to) => a[from] < b[to] && b[from] < a[to];
  const isCut = (a, b) => isLine(a, b, 'left', 'right') && isLine(a, b, 'top', 'bottom');
  return [...document.querySelectorAll('.desk .drawn')].flatMap((drawn) => {
    const texts = [...drawn.querySelectorAll('.drawing text')].map(box);
    const signs = [...drawn.querySelectorAll('.sign-box')].map(box);
    return signs.filter((one) => texts.some((text) => isCut(one, text)));
  }).length;
}"""


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.10", "U8.12", "U8.3")
def test_frozen_cells_and_heads_stay_while_a_picture_scrolls(served, new_page):
    draft = Drafting(served, served.bench("Frozen", {"f.xlsx": _frozen()}))
    cells = [{"cell": one, "value": "new"} for one in ("C1", "C9", "E60")]
    change = {"op": "set_cells", "sheet": "Sheet", "cells": cells}
    draft.use("xlsx_operations", path="f.xlsx", operations=[change])
    page = new_page(f"/bench/{draft.id}/review?file=f.xlsx")
    page.locator("[data-side=after] .frozen.is-corner").wait_for()
    covered = page.evaluate(COVERED)
    offsets = page.evaluate(FROZEN)
    page.locator("[data-side=after] .leaf").evaluate("one => one.scrollTo(0, 900)")
    ring = page.locator("[data-side=after] a.ring[aria-label$='C1'] .around").bounding_box()
    top = page.locator("[data-side=after] .frozen.is-top")
    away = page.locator("[data-side=after] .frozen.is-corner").bounding_box()
    spot = {"x": ring["x"] + 10 - top.bounding_box()["x"], "y": away["height"] - 6}
    top.click(position=spot)
    entry = page.locator(".entry.at-place strong").inner_text()
    page.locator("[data-side=after] a.ring").first.focus()
    stops = []
    for _ in range(8):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.tagName.toLowerCase()"))
    page.goto(f"{served.address}/bench/{draft.id}/file/f.xlsx?view=draft&cell=AK100")
    page.locator(".outlines .here").wait_for()
    page.locator(".frozen.is-corner").wait_for()

    assert covered == 0
    assert offsets == [1, 1, 1, 1]  # beside the line around the picture
    assert entry == "C1"
    assert "use" not in stops  # an outline is one stop, whatever shows it once more
    assert "R1" in page.locator(".frozen-store").text_content()  # drawn beside a later window
    assert page.locator(".frozen-store svg").count() == 3


def _merged() -> bytes:
    """Return a workbook with a title over four columns, and a cell below it."""
    made = io.BytesIO()
    with xlsxwriter.Workbook(made, {"in_memory": True}) as book:
        sheet = book.add_worksheet("S")
        sheet.merge_range("A1:D2", "The title", book.add_format({"align": "center"}))
        sheet.write("A4", 1)
    return made.getvalue()


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.5", "F43.15", "F29.4")
def test_a_hidden_sheet_says_so_at_its_tab(served, new_page):
    made = io.BytesIO()
    with xlsxwriter.Workbook(made, {"in_memory": True}) as book:
        book.add_worksheet("Seen").write("A1", 1)
        book.add_worksheet("Unseen").hide()
        book.add_worksheet("Deep").very_hidden()
    draft = Drafting(served, served.bench("Hiding", {"f.xlsx": made.getvalue()}))
    cells = [{"cell": "B2", "value": "changed"}]
    change = {"op": "set_cells", "sheet": "Unseen", "cells": cells}
    draft.use("xlsx_operations", path="f.xlsx", operations=[change])
    found = {}
    for way in ("review?file=f.xlsx", "file/f.xlsx", "file/f.xlsx?as=cells"):
        page = new_page(f"/bench/{draft.id}/{way}")
        tabs = page.locator(".stage-tabs a, [role=tab][data-sheet]")
        tabs.nth(2).wait_for()
        found[way] = [" ".join(one.inner_text().split()) for one in tabs.all()]

    hidden = ["Seen", "Unseen hidden", "Deep hidden"]
    assert found.pop("review?file=f.xlsx") == ["Seen", "Unseen hidden ~ 1 cell", "Deep hidden"]
    assert list(found.values()) == [hidden, hidden]


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.3", "U8.5", "U8.11")
def test_merged_cells_are_outlined_whole(served, new_page):
    draft = Drafting(served, served.bench("Merged", {"f.xlsx": _merged()}))
    cells = [{"cell": "A1", "value": "Another title"}, {"cell": "A4", "value": 2}]
    change = {"op": "set_cells", "sheet": "S", "cells": cells}
    draft.use("xlsx_operations", path="f.xlsx", operations=[change])
    draft.call("ReviewAddComment", path="f.xlsx", text="Shorter", at="S!A1")
    page = new_page(f"/bench/{draft.id}/review?file=f.xlsx")
    rings = page.locator("[data-side=after] .ring")
    rings.first.wait_for()
    sizes = {
        one.get_attribute("aria-label"): one.locator(".around").bounding_box()
        for one in rings.all()
    }
    title, below, remark = (
        next(box for name, box in sizes.items() if words in name)
        for words in ("A1", "A4", "Comment")
    )
    page.goto(f"{served.address}/bench/{draft.id}/file/f.xlsx?view=draft&cell=C2")
    here = page.locator(".outlines .here").bounding_box()

    assert title["width"] > 3.5 * below["width"]
    assert title["height"] > 1.7 * below["height"]
    assert abs(remark["width"] - title["width"]) < 2
    assert here["width"] > 3.5 * below["width"]


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.12", "U8.3")
def test_the_sign_of_a_row_that_came_stands_where_the_box_shows_it(served, new_page):
    draft = Drafting(served, served.bench("Row", {"a.txt": "a"}))
    rows = [[f"name {n}", *range(30)] for n in range(9)]
    fill = {"op": "set_range", "sheet": "S", "start": "A1", "values": rows}
    made = [{"op": "ensure_sheet", "sheet": "S"}, fill]
    draft.use("xlsx_operations", path="f.xlsx", operations=made)
    draft.call("DraftPublish")
    insert = {"op": "insert_rows", "sheet": "S", "row": 5, "values": [["new", 1, 2]]}
    draft.use("xlsx_operations", path="f.xlsx", operations=[insert])
    page = new_page(
        f"/bench/{draft.id}/review?file=f.xlsx", viewport={"width": 1440, "height": 900}
    )
    sign = page.locator("[data-side=after] .ring.added g[transform] .sign-box").first
    sign.wait_for()
    found, leaf = sign.bounding_box(), page.locator("[data-side=after] .leaf").bounding_box()

    assert leaf["x"] < found["x"] < leaf["x"] + leaf["width"] - found["width"]
    assert page.evaluate(COVERED) == 0


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.11")
def test_a_field_goes_to_a_cell_in_the_picture_and_among_the_cells(served, new_page):
    bench = served.bench("Wide", {"f.xlsx": _frozen()})
    page = new_page(f"/bench/{bench}/file/f.xlsx")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_label("Go to cell").fill("what?")
    page.keyboard.press("Enter")
    fault = page.locator("#go-to-fault")
    fault.wait_for()
    said = fault.inner_text()
    wide = page.evaluate("document.querySelector('main').scrollWidth")
    page.get_by_label("Go to cell").fill("ak100")
    page.keyboard.press("Enter")
    page.locator(".outlines .here").wait_for()
    is_told = "cell=ak100" in page.url
    bad = violations(page)
    page.goto(f"{served.address}/bench/{bench}/file/f.xlsx?as=cells")
    page.locator(".grid-cell").first.wait_for()
    page.get_by_label("Go to cell").fill("ZZ900")
    page.keyboard.press("Enter")
    page.get_by_text("There is nothing there: the sheet ends at AN120.").wait_for()
    page.get_by_label("Go to cell").fill("AK100")
    page.keyboard.press("Enter")
    page.locator(".cell-bar strong", has_text="AK100").wait_for()

    assert said == "“what?” is no cell. Type a column and a row, such as B12."
    assert wide <= 390
    assert is_told
    assert bad == []


@pytest.mark.rule("U8.11")
@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("B12", (None, 11, 1, 11, 1)),
        (" $b$12 ", (None, 11, 1, 11, 1)),
        ("D9:B2", (None, 1, 1, 8, 3)),
        ("AB", (None, 0, 27, 0, 27)),
        ("120", (None, 119, 0, 119, 0)),
        ("'It''s'!XFD1048576", ("It's", 1_048_575, 16_383, 1_048_575, 16_383)),
    ],
)
def test_a_cell_is_known_however_it_is_typed(typed, place):
    found = Target.of(typed)

    assert found is not None
    assert found.area is not None
    area = found.area
    assert (found.sheet, area.row, area.col, area.last_row, area.last_col) == place


@pytest.mark.rule("U8.11")
@pytest.mark.parametrize("typed", ["B0", "XFE1", "A1048577", "1B", "=A1", "A1:", "<b>", "Sheet!"])
def test_what_is_no_cell_is_told_in_a_sentence(typed):
    found = Target.of(typed)

    assert found is not None
    assert (found.area is None) == (typed != "A1:")
    assert (found.fault or "A1.").endswith(("B12.", "XFD1048576.", "A1."))


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.6", "U8.2", "U2.4", "U4.6")
def test_changed_slides_stand_before_and_after_with_their_shapes_outlined(opened):
    page = opened("deck.pptx")
    titles = page.locator(".scene-title").all_inner_texts()
    before, after = names(page, "before"), names(page, "after")
    page.locator(".stage-tabs a", has_text="Risks").click()
    page.get_by_text("This slide is new.").wait_for()
    page.locator("[data-side=after] .drawing").wait_for()
    room, wide = (page.locator(one).bounding_box()["width"] for one in (".desk", ".leaf"))
    page.locator("#ask-changes-box summary").click()
    page.locator("#changes-text").press("Escape")

    assert wide > room * 0.8  # the other side has nothing to show
    assert not page.locator("#changes-text").is_visible()
    assert len(titles) == len(page.locator(".stage-tabs .badge").all())
    assert [sum("changed: " in one for one in side) for side in (before, after)] == [1, 1]
    assert [one for one in after if "added: Slide" in one]
    assert names(page, "after") == [f"Change 1, added: Slide {_number(page)}"]


def _number(page: Any) -> str:
    return str(page.locator(".stage-tabs [aria-current]").inner_text().split()[0])


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.7", "U8.2", "U8.9", "B12.5")
def test_a_document_flows_with_its_first_change_in_sight(served, new_page):
    text = [{"text": f"Paragraph {n} of a long text."} for n in range(120)]
    draft = Drafting(served, served.bench("Long", {"a.txt": "a"}))
    fill = {"op": "set_paragraphs", "paragraphs": text}
    draft.use("docx_operations", path="long.docx", operations=[fill])
    draft.call("DraftPublish")
    change = {"op": "replace_text", "search": "Paragraph 90 of a", "replace": "Section 90 of one"}
    draft.use("docx_operations", path="long.docx", operations=[change])
    page = new_page(
        f"/bench/{draft.id}/review?file=long.docx", viewport={"width": 390, "height": 844}
    )
    mark = page.locator("[data-side=after] .paper-mark")
    mark.wait_for()
    page.wait_for_function(IN_SIGHT)

    assert page.locator("[data-side=before]").first.is_hidden()  # a narrow window shows one side
    page.get_by_role("button", name="Before").click()
    page.locator("[data-side=before] .paper-mark").wait_for()
    assert "Section 90 of one" in mark.text_content()
    assert page.locator(".entry del").first.text_content() == "Paragraph"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page) == []


# Comments of a document that cover one another or words of it, or stand outside of what is shown.
COVERING = """() => [...document.querySelectorAll('.leaf')].flatMap((leaf) => {
  const box = (one) => one.getBoundingClientRect();
  const isLine = (a, b, from, to) => a[from] < b[to] && b[from] < a[to];
  const meets = (a, b) => isLine(a, b, 'left', 'right') && isLine(a, b, 'top', 'bottom');
  const notes = [...leaf.querySelectorAll('.paper-comment')];
  const texts = [...leaf.querySelectorAll('.paper-block')].map((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect();
  });
  const isCovering = (one) => {
    const others = notes.filter((other) => other !== one).map(box);
    const isOut = box(one).left < box(leaf).left || box(one).right > box(leaf).right;
    return isOut || [...others, ...texts].some((other) => meets(box(one), other));
  };
  return notes.filter(isCovering).map((one) => one.textContent);
})"""


@pytest.mark.needs("browser")
@pytest.mark.rule("F43.54", "U8.7")
@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_comments_of_a_document_cover_nothing(served, new_page, tmp_path, width):
    word = WordDocument()
    spoken = word.add_paragraph("What three people spoke about. " * 6)
    for name in ("Ann", "Ben", "Cleo"):
        word.add_comment(spoken.runs, f"{name} has a lot to say about this. " * 4, author=name)
    cells = word.add_table(2, 4)
    for number in range(8):
        cells.cell(number // 4, number % 4).text = f"cell {number}"
    word.add_comment(word.add_paragraph("The end.").runs, "Really?", author="Dora")
    word.save(str(tmp_path / "d.docx"))
    bench = served.bench("Spoken", {"d.docx": (tmp_path / "d.docx").read_bytes()})
    draft = Drafting(served, bench)
    change = {"op": "replace_text", "search": "The end", "replace": "An end"}
    draft.use("docx_operations", path="d.docx", operations=[change])
    found = {}
    for path in ("file/d.docx", "review?file=d.docx"):
        size = {"width": width, "height": 900}
        page = new_page(f"/bench/{bench}/{path}", viewport=size)
        page.locator(".leaf .paper-comment >> visible=true").last.wait_for()
        found[path] = page.evaluate(COVERING)

    assert found == {"file/d.docx": [], "review?file=d.docx": []}


APART = """(words) => {
  const tops = [...document.querySelectorAll('.leaf')].map((leaf) => {
    const blocks = [...leaf.querySelectorAll('.paper-block')];
    const block = blocks.find((one) => one.textContent === words);
    return block.getBoundingClientRect().top - leaf.getBoundingClientRect().top;
  });
  return Math.abs(tops[0] - tops[1]) < 2 && tops[0] > 0 && tops[0] < 600;
}"""


@pytest.mark.needs("browser")
@pytest.mark.needs("browser")
@pytest.mark.rule("U8.1")
def test_without_scripts_a_picture_is_a_link_and_no_shape_of_what_never_comes(draft, new_page):
    page = new_page(f"/bench/{draft.id}/review?file=report.docx", java_script_enabled=False)

    assert page.get_by_role("link", name="Show the picture").is_visible()
    assert page.locator(".skeleton >> visible=true").count() == 0


@pytest.mark.needs("browser")
@pytest.mark.rule("B12.5", "U8.3")
def test_a_heading_that_is_put_in_is_one_change_and_no_paragraph_below_it_another(
    served, new_page, tmp_path
):
    word = WordDocument()
    word.add_heading("Results", 1)
    for number in range(6):
        word.add_paragraph(f"Paragraph number {number} stays as it is.")
    word.save(str(tmp_path / "d.docx"))
    bench = served.bench("Headed", {"d.docx": (tmp_path / "d.docx").read_bytes()})
    draft = Drafting(served, bench)
    heading = {"text": "In detail", "style": "Heading 2"}
    change = {"op": "insert_paragraphs", "anchor": {"paragraph": 3}, "paragraphs": [heading]}
    draft.use("docx_operations", path="d.docx", operations=[change])

    page = new_page(f"/bench/{draft.id}/review?file=d.docx")
    page.locator(".desk .paper").first.wait_for()

    assert names(page, "before") == []
    assert [name.partition(":")[0] for name in names(page, "after")] == ["Change 1, added"]


@pytest.mark.rule("U8.7", "U8.5")
def test_two_versions_of_a_document_scroll_by_the_blocks_that_both_have(served, new_page):
    text = [{"text": f"Paragraph {n} of a long text."} for n in range(80)]
    draft = Drafting(served, served.bench("In step", {"a.txt": "a"}))
    fill = {"op": "set_paragraphs", "paragraphs": text}
    draft.use("docx_operations", path="long.docx", operations=[fill])
    draft.call("DraftPublish")
    new = [{"text": f"New {n}."} for n in range(9)]
    fill["paragraphs"] = [*text[:40], *new, *text[40:]]
    draft.use("docx_operations", path="long.docx", operations=[fill])
    page = new_page(
        f"/bench/{draft.id}/review?file=long.docx", viewport={"width": 1440, "height": 900}
    )
    page.locator("[data-side=after] .paper-mark").first.wait_for()

    page.wait_for_function(APART, arg="Paragraph 39 of a long text.")
    page.locator("[data-side=after] .leaf").evaluate("one => one.scrollTo(0, 1e6)")
    page.wait_for_function(APART, arg="Paragraph 77 of a long text.")
    page.get_by_role("button", name="After", exact=True).click()
    page.get_by_role("button", name="Both", exact=True).click()
    page.wait_for_function(APART, arg="Paragraph 77 of a long text.")


@pytest.mark.needs("browser")
@pytest.mark.rule("U4.41", "U8.7")
def test_a_change_at_the_end_of_a_document_is_in_sight_in_the_window(served, new_page):
    text = [{"text": f"Paragraph {n} of a long text."} for n in range(60)]
    draft = Drafting(served, served.bench("At the end", {"a.txt": "a"}))
    fill = {"op": "set_paragraphs", "paragraphs": text}
    draft.use("docx_operations", path="long.docx", operations=[fill])
    draft.call("DraftPublish")
    change = {"op": "replace_text", "search": "Paragraph 58 of a", "replace": "Section 58 of one"}
    draft.use("docx_operations", path="long.docx", operations=[change])
    seen = {}
    for width, height in ((1440, 700), (1024, 768)):
        page = new_page(
            f"/bench/{draft.id}/review?file=long.docx", viewport={"width": width, "height": height}
        )
        page.locator(".paper-mark").first.wait_for()
        page.wait_for_function(IN_SIGHT)
        marks = page.locator(".paper-mark").all()
        at_first = [_bottom(one) < _top(page.locator(".keys")) for one in marks]
        page.keyboard.press("j")
        page.locator(".entry.at-place").wait_for()
        seen[width] = [*at_first, *(_bottom(one) < _top(page.locator(".keys")) for one in marks)]

    assert seen == {1440: [True] * 4, 1024: [True] * 4}


def _top(one: Any) -> float:
    return float(one.bounding_box()["y"])


def _bottom(one: Any) -> float:
    box = one.bounding_box()
    return float(box["y"] + box["height"])


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.9", "U4.3", "U1.6")
def test_the_shape_of_what_comes_shows_at_once_and_what_fails_says_so(served, draft, new_page):
    page = new_page("/")
    page.route("**/drawn/**", lambda route: route.abort())
    page.goto(f"{served.address}/bench/{draft.id}/review?file=deck.pptx")
    page.get_by_text("This picture could not be fetched").first.wait_for()
    held: list[Any] = []
    page.route("**/review/file?*as=pages*", lambda route: held.append(route))
    page.get_by_role("link", name="Pages", exact=True).click()
    page.locator("#file-view .skeleton").wait_for()
    chosen = page.locator("nav.tabs a[aria-current]").inner_text()
    held[0].fulfill(body="<p>the pages</p>", content_type="text/html")
    page.get_by_text("the pages").wait_for()

    assert chosen == "Pages"


@pytest.mark.rule("U8.1", "U1.4", "U8.3")
def test_a_picture_stands_in_a_page_without_scripts(served, draft):
    with served.client() as client:
        begun = client.get(f"/bench/{draft.id}/review?file=ledger.xlsx&sheet=Ledger").text
        still = client.get(f"/bench/{draft.id}/review?file=ledger.xlsx&sheet=Ledger&still=1").text
        viewed = client.get(f"/bench/{draft.id}/file/deck.pptx?still=1").text

    assert "still=1" in begun.split('class="stage"')[1].split("</noscript>")[0]
    assert 'class="desk"' not in begun
    assert still.count('<noscript><img src="/bench/') == 2
    assert 'href="#entry-1"' in still
    assert 'id="entry-1"' in still
    assert viewed.count('<noscript><img src="/bench/') == 1


def _address(part: str) -> str:
    return html.unescape(part.split('data-svg="')[-1].split('"')[0])


@pytest.mark.rule("U8.4", "F43.3", "U7.3")
def test_drawings_are_named_by_their_content_and_hold_nothing_that_runs(served, draft):
    with served.client() as client:
        part = client.get(f"/bench/{draft.id}/review/picture?file=ledger.xlsx&sheet=Ledger").text
        address = _address(part)
        named = client.get(address)
        other = client.get(address.replace("content=", "content=0"))
        odd = client.get(address.replace("/sheet/", "/chart/"))

    assert named.headers["content-type"] == "image/svg+xml"
    assert "immutable" in named.headers["cache-control"]
    assert named.headers["content-security-policy"].startswith("default-src 'none'")
    assert other.headers["cache-control"] == "no-store"
    assert odd.status_code == 404
    assert "&lt;script&gt;" in named.text  # a cell says so
    assert is_inert(named.text)


@pytest.mark.rule("U8.4")
@pytest.mark.parametrize(
    "svg",
    [
        "<svg><script>1</script></svg>",
        '<svg><rect onclick="x()"/></svg>',
        '<svg><image href="https://example.org/a.png"/></svg>',
        '<svg><a href="#x"></a></svg>',
        '<svg><rect fill="url(https://example.org)"/></svg>',
        "<svg><style>a{}</style></svg>",
        "<svg><rect/><!-- x --></svg>",
        "no drawing",
    ],
)
def test_what_runs_or_leads_elsewhere_is_no_drawing(svg):
    assert not is_inert(svg)


@pytest.mark.rule("U8.4")
def test_figures_with_any_words_are_a_drawing():
    assert is_inert('<svg width="1"><text x="1">on = 1 &lt;b onclick=1&gt; href=x</text><g/></svg>')


@pytest.mark.rule("U8.5")
def test_cells_beside_one_another_to_which_the_same_happened_are_one_outline():
    new, old = ("added", "value"), ("changed", "value")
    cells = {(row, col): new for row in range(3) for col in (1, 2)} | {(0, 3): old, (5, 1): new}

    found = regions(cells)

    assert found == [Region(0, 1, 2, 2, new), Region(0, 3, 0, 3, old), Region(5, 1, 5, 1, new)]


def _hostile() -> dict[str, bytes]:
    import openpyxl
    from pptx import Presentation
    from pptx.util import Emu

    wide = openpyxl.Workbook()
    assert wide.active is not None
    wide.active["XFD1"] = "last"
    wide.active["A1"] = "שלום \u202eabc"
    wide.active.sheet_view.rightToLeft = True
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(Emu(1000), Emu(1000), Emu(9000), Emu(9000)).text = "x"
    saved = io.BytesIO(), io.BytesIO(), io.BytesIO()
    wide.save(saved[0])
    deck.save(saved[1])
    Presentation().save(saved[2])
    return {
        "wide.xlsx": saved[0].getvalue(),
        "crowd.pptx": _crowded(saved[1]),
        "bare.pptx": saved[2].getvalue(),
        "broken.docx": saved[0].getvalue()[:3000],
        "broken.xlsx": b"PK\x03\x04" + b"x" * 99,
    }


def _crowded(deck: io.BytesIO) -> bytes:
    """Return a deck whose shape stands there 2,000 times."""
    made = io.BytesIO()
    with zipfile.ZipFile(deck) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "ppt/slides/slide1.xml":
                shape = text[text.index(b"<p:sp>") : text.index(b"</p:sp>") + 7]
                text = text.replace(shape, shape * 2000)
            new.writestr(name, text)
    return made.getvalue()


@pytest.mark.rule("U8.9", "U8.13", "U4.9", "F43.22", "F43.37", "F43.76")
def test_odd_and_broken_files_have_a_picture_that_says_so(served):
    bench = served.bench("Odd", _hostile())
    with served.client() as client:
        pages = {
            name: client.get(f"/bench/{bench}/picture/{name}?view=published")
            for name in ("wide.xlsx", "crowd.pptx", "bare.pptx", "broken.docx", "broken.xlsx")
        }
        viewed = client.get(f"/bench/{bench}/file/broken.xlsx").status_code
        drawing = client.get(_address(pages["wide.xlsx"].text)).text

    assert "Drawn by Backshop;" in pages["wide.xlsx"].text
    assert "⟦U+202E⟧" in drawing
    assert "right to left" in pages["wide.xlsx"].text
    assert "Columns to the right" in pages["wide.xlsx"].text
    assert "Drawn by Backshop;" in pages["crowd.pptx"].text
    assert [pages[name].status_code for name in ("broken.docx", "broken.xlsx")] == [200, 200]
    assert "1,500 of 2,000 shapes are drawn" in pages["crowd.pptx"].text
    assert "of 16,384" in pages["wide.xlsx"].text.split("stage-part")[1].split("</p>")[0]
    assert "This file is damaged, or part of it is missing." in pages["broken.xlsx"].text
    assert "save it once more, and add that copy" in pages["broken.xlsx"].text
    assert "Drawn by Backshop" not in pages["broken.xlsx"].text
    assert "This presentation has no slides." in pages["bare.pptx"].text
    assert viewed == 200


@pytest.mark.rule("U4.3")
def test_pages_of_a_workbook_are_its_sheets_paired_by_name(served: Served, draft):
    site = Site(served.shop, served.door, served.login)
    visit = Visit(site=site, params={"bench_id": draft.id}, query={}, cookies={}, path="")
    about = views.ReviewPath(workbench_id=draft.id, path="ledger.xlsx")
    entry = visit.ask(Bench.review_get_entry, about)

    _, pairs = sheet_pairs(visit, entry)

    assert [tuple(one.values()) for one in pairs] == [
        (0, 0, 0, "changed", "Ledger", None),
        (1, None, 1, "added", "Summary", None),
    ]


@pytest.mark.rule("U8.8", "F43.6")
def test_what_the_review_shows_first_is_drawn_when_a_turn_is_over(served: Served, draft):
    site = Site(served.shop, served.door, served.login)
    folder = served.shop.config.home / "cache"
    made = prepare(site, draft.id, None)
    kept = sorted(one.name for one in folder.rglob("*drawn-*"))
    with served.client() as client:
        client.get(f"/bench/{draft.id}/review/picture?file=ledger.xlsx")
        client.get(f"/bench/{draft.id}/review/picture?file=deck.pptx")

    assert made == 3
    assert kept
    assert sorted(one.name for one in folder.rglob("*drawn-*")) == kept
    assert prepare(site, served.bench("Nothing"), None) == 0


@pytest.mark.rule("U8.8")
def test_pictures_are_made_ready_after_a_turn_and_not_after_a_refused_one():
    prepared = threading.Event()

    def call(command: str, _: object) -> Any:
        return {"message_id": "m", "command": command}

    def refuse(command: str, _: object) -> Any:
        raise ValidationFailed(f"{command} is refused", reason="bad_params")

    done = begin(call, "b", {"text": "go"}, prepared.set)
    assert prepared.wait(10)
    prepared.clear()
    refused = begin(refuse, "b", {"message_id": "m"}, prepared.set)

    assert done["result"]["command"] == "WorkshopRunAgent"
    assert "error" in refused
    assert not prepared.is_set()


@pytest.mark.rule("U8.5")
def test_a_workbook_of_which_only_a_chart_changed_opens_on_its_sheet(served):
    made = Drafting(served, served.bench("Chart alone", {}))
    rows = [["Month", "Sum"], ["Jan", 1], ["Feb", 2]]
    sheets = [{"op": "ensure_sheet", "sheet": one} for one in ("First", "Plan")]
    filled = {"op": "set_range", "sheet": "Plan", "start": "A1", "values": rows}
    made.use("xlsx_operations", path="c.xlsx", operations=[*sheets, filled])
    made.call("DraftPublish")
    chart = {"op": "add_chart", "sheet": "Plan", "cell": "D2", "kind": "line", "data": "A1:B3"}
    made.use("xlsx_operations", path="c.xlsx", operations=[chart])

    with served.client() as client:
        page = client.get(f"/bench/{made.id}/review/picture?file=c.xlsx").text

    tabs = page[page.index("stage-tabs") : page.index("</nav>")]
    assert tabs.count("aria-current") == 1
    assert "Plan" in tabs[tabs.index("aria-current") :]
    assert "1 changed place on this sheet" in page

    chart["title"] = "Sums"
    made.use("xlsx_operations", path="c.xlsx", operations=[{**chart, "cell": "D20"}])
    made.call("DraftPublish")
    cell = {"op": "set_cells", "sheet": "Plan", "cells": [{"cell": "B3", "value": 9}]}
    made.use("xlsx_operations", path="c.xlsx", operations=[cell])
    with served.client() as client:
        page = client.get(f"/bench/{made.id}/review/picture?file=c.xlsx").text
    assert page.count("Chart 2: Sums</strong>") == 1
    assert page.count("shows other values") == 2
    assert page.count('aria-label="Change 3, changed: Chart 2: Sums"') == 2
