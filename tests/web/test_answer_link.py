"""Files that answers name become links; nothing else of a model's text does (U3.24)."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from openpyxl import Workbook
from tests.web.accessible import violations
from tests.web.test_hearing import TURN_MS, play, send
from tests.workshop.conftest import calls, says

from backshop.web.answer_link import file_links
from backshop.web.answer_place import AnswerPlaces, Parts
from backshop.web.markdown import rendered

FILES = ("budget.xlsx", "a b.csv", "x/y & z.md", "deck.pptx", "LICENSE", "<b>.txt", "a.md.bak")
LINKS = file_links("/bench/wb_1", FILES)


def links(text: str) -> list[tuple[str, str]]:
    """Return the links of a text: where they lead, and what they show."""
    made = str(LINKS.linked(rendered(text)))
    return re.findall(r'<a class="file-link" href="([^"]*)">(.*?)</a>', made)


@pytest.mark.rule("U3.24")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See budget.xlsx.", [("/bench/wb_1/file/budget.xlsx", "budget.xlsx")]),
        ("**budget.xlsx**, `a b.csv`", [("budget.xlsx", "budget.xlsx"), ("a%20b.csv", "a b.csv")]),
        ("In x/y & z.md it is", [("x/y%20%26%20z.md", "x/y &amp; z.md")]),
        ("`LICENSE` and LICENSE", [("LICENSE", "LICENSE")]),
        ("Slide 3 of deck.pptx", [("deck.pptx?slide=2", "Slide 3 of deck.pptx")]),
        ("page 3 of deck.pptx", [("deck.pptx", "deck.pptx")]),
        ("`<b>.txt`", [("%3Cb%3E.txt", "&lt;b&gt;.txt")]),
        ("old/budget.xlsx mybudget.xlsx budget.xlsx.bak a.md a@budget.xlsx", []),
        ("budget.xlsx, budget.xlsx.bak, budget.xlsx/x", [("budget.xlsx", "budget.xlsx")]),
        ("Budget.XLSX", []),
        ("```\nbudget.xlsx\n```", []),
        ("[budget.xlsx](https://evil.example/budget.xlsx)", []),
        ("[click](javascript:alert(1)) <a href='/x'>budget</a>", []),
        ('<img src=x onerror=alert(1)> "budget.xlsx"', [("budget.xlsx", "budget.xlsx")]),
    ],
)
def test_whole_paths_of_files_that_are_there_become_links(text, found):
    assert links(text) == [
        (href if href.startswith("/") else f"/bench/wb_1/file/{href}", shown)
        for href, shown in found
    ]


INSIDE = {
    "budget.xlsx": Parts(sheets=frozenset({"Sheet1", "Q3", "It's <b>", "Plan 2"})),
    "old.xlsx": Parts(sheets=frozenset({"Sheet1", "Last"})),
    "used.xlsx": Parts(sheets=frozenset({"Last"})),
    "lost.xlsx": None,
    "deck.pptx": Parts(count=5),
    "other.pptx": Parts(count=5),
    "paper.pdf": Parts(count=9),
}
KINDS = {path: path.rpartition(".")[2] for path in INSIDE}


def placed(text: str, *, files: str = "budget old used deck paper") -> list[tuple[str, str]]:
    """Return the links into files; the turn used `used.xlsx` and `deck.pptx`."""
    kinds = {path: kind for path, kind in KINDS.items() if path.partition(".")[0] in files.split()}
    places = AnswerPlaces(kinds, INSIDE.__getitem__, lambda _: {"used.xlsx", "deck.pptx"})
    made = str(file_links("/b", kinds, places).linked(rendered(text), "turn_1"))
    assert made.count("<a ") == made.count("</a>")
    found = re.findall(r'<a class="file-link" href="/b/file/([^"]*)">(.*?)</a>', made)
    return [one for one in found if "?" in one[0]]


@pytest.mark.rule("U3.25")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See Q3!B4.", [("budget.xlsx?sheet=Q3&amp;cell=B4", "Q3!B4")]),
        (
            "`Q3!$AA$100:AB120`",
            [("budget.xlsx?sheet=Q3&amp;cell=AA100%3AAB120", "Q3!$AA$100:AB120")],
        ),
        ("'Plan 2'!A1", [("budget.xlsx?sheet=Plan+2&amp;cell=A1", "'Plan 2'!A1")]),
        (
            "`'It''s <b>'!A1`",
            [
                (
                    "budget.xlsx?sheet=It%27s+%3Cb%3E&amp;cell=A1",
                    "'It''s &lt;b&gt;'!A1",
                )
            ],
        ),
        ("Last!A1", [("used.xlsx?sheet=Last&amp;cell=A1", "Last!A1")]),  # what it used
        ("Sheet1!B4", []),  # of two workbooks, and the turn used neither
        ("Sheet1!B4 in old.xlsx", [("old.xlsx?sheet=Sheet1&amp;cell=B4", "Sheet1!B4")]),
        ("`old.xlsx` `Sheet1!B4`", [("old.xlsx?sheet=Sheet1&amp;cell=B4", "Sheet1!B4")]),
        (
            "`budget.xlsx` sheet `Q3` cell B4",
            [("budget.xlsx?sheet=Q3&amp;cell=B4", "sheet <code>Q3</code> cell B4")],
        ),
        (
            "cell `B4` of sheet Q3.",
            [("budget.xlsx?sheet=Q3&amp;cell=B4", "cell <code>B4</code> of sheet Q3")],
        ),
        ("Sheet **Q3** is new", [("budget.xlsx?sheet=Q3", "Sheet <strong>Q3</strong>")]),
        ("sheet Q3 plans, sheet “Q9”, Q3", []),
        ("Q3!B4 of mine.xlsx, mine.xlsx Q3!B4, [mine.xlsx]Q3!B4", []),
        ("Q3!B4 in old.xlsx; old.xlsx, Sheet1!A1 of budget.xlsx", []),
        ("Q3!XFE1 Q3!A1048577 Q3!B4( xQ3!B4 q3!B4 Q3!B4x", []),
        ("```\nQ3!B4\n``` [Q3!B4](https://evil.example)", []),
        ("Slide 3 is new", [("deck.pptx?slide=2", "Slide 3")]),
        ("slide 6, slide 3 of mine.pptx, page 2, Slides 3", []),
        ("In paper.pdf it is on page 2.", [("paper.pdf?page=1", "page 2")]),
    ],
)
def test_cells_sheets_slides_and_pages_become_links_where_it_is_certain_whose_they_are(text, found):
    assert placed(text) == found


@pytest.mark.rule("U3.25")
def test_of_a_file_that_cannot_be_looked_into_nothing_is_certain():
    assert placed("Q3!B4", files="budget lost") == []
    assert placed("Q3!B4 in budget.xlsx", files="budget lost") != []
    assert placed("Slide 3 of it, other.pptx", files="deck other") == []


@pytest.mark.rule("U3.24", "U1.2")
def test_a_text_without_files_is_left_as_the_sanitiser_made_it():
    text = "# Hi\n\n[x](https://a.b) `code` <script>alert(1)</script> | a | b |"
    assert LINKS.linked(rendered(text)) == rendered(text)


def workbook() -> bytes:
    book, made = Workbook(), BytesIO()
    book.create_sheet("Q3")["B900"] = "there"
    book.save(made)
    return made.getvalue()


@pytest.mark.needs("browser")
@pytest.mark.timeout(180)
@pytest.mark.rule("U3.24", "U3.25")
def test_a_file_of_an_answer_opens_beside_the_talk(served, new_page):
    files = {"sales.csv": "region,amount\nnorth,1\n", "a.md": "# About\n", "b.xlsx": workbook()}
    bench = served.bench("Linked", files)
    play(served, bench, "linked", [says("work", "Look at sales.csv, a.md and Q3!B900.")])
    page = new_page(f"/bench/{bench}")
    send(page, "Where is it?")
    link = page.locator(".message.assistant a", has_text="sales.csv")
    page.locator(".message.assistant .turn-used").wait_for(timeout=TURN_MS)  # it is over
    link.click()
    page.locator("#file-pane .grid", has_text="north").wait_for()
    beside = (page.locator("#transcript").is_visible(), page.url.endswith(f"/bench/{bench}"))
    found = violations(page)
    page.locator(".message.assistant a", has_text="a.md").click()
    page.locator("#file-pane-body h1", has_text="About").wait_for()
    page.locator(".message.assistant a", has_text="Q3!B900").click()
    page.locator("#file-pane svg text", has_text="there").wait_for()
    page.locator("#file-pane .outlines .here").wait_for()  # the cell itself is shown
    page.locator(".message.assistant a", has_text="a.md").click()
    page.keyboard.press("Escape")
    page.locator("#file-pane").wait_for(state="hidden")
    focused = page.evaluate("document.activeElement.textContent")
    page.set_viewport_size({"width": 390, "height": 844})
    link.click()
    page.wait_for_url("**/file/sales.csv")

    assert beside == (True, True)
    assert found == []
    assert focused == "a.md"


SHEETS = "[...document.querySelectorAll('link[rel=stylesheet]')]"
REACHED = f"""{SHEETS}.slice(1).flatMap(function rules(one) {{
  return [...(one.sheet ?? one).cssRules].flatMap((rule) => rule.selectorText ?? rules(rule));
}}).filter((css) => [...document.querySelectorAll(css)].some((e) => !e.closest("#file-pane")))"""
BOXES = (
    "[...document.querySelectorAll('#drawer *')].map((one) => one.getBoundingClientRect().toJSON())"
)


@pytest.mark.needs("browser")
@pytest.mark.timeout(180)
@pytest.mark.rule("U3.30")
def test_details_of_a_turn_look_the_same_after_a_file_was_opened_beside_the_talk(served, new_page):
    bench = served.bench("Beside", {"a.md": "# About\n"})
    steps = [calls("work", 1, ("list_files", {})), says("work", "It is in a.md.")]
    play(served, bench, "beside", steps)
    page = new_page(f"/bench/{bench}", viewport={"width": 1440, "height": 900})
    send(page, "Where is it?")
    details = page.locator(".turn-used [data-details]")
    details.click(timeout=TURN_MS)
    page.locator("#drawer [role=tablist]").wait_for()
    before = page.evaluate(BOXES)
    page.locator(".message.assistant a", has_text="a.md").click()
    page.locator("#file-pane-body h1", has_text="About").wait_for()
    details.click()
    page.locator("#drawer [role=tablist]").wait_for()
    page.wait_for_function(f"{SHEETS}.every((one) => one.sheet)")

    assert page.evaluate(REACHED) == []
    assert page.evaluate(BOXES) == before
