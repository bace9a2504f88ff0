"""Files that answers name become links; nothing else of a model's text does (U3.24)."""

from __future__ import annotations

import re

import pytest
from tests.web.accessible import violations
from tests.web.test_hearing import TURN_MS, play, send
from tests.workshop.conftest import says

from backshop.web.answer_link import file_links
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


@pytest.mark.rule("U3.24", "U1.2")
def test_a_text_without_files_is_left_as_the_sanitiser_made_it():
    text = "# Hi\n\n[x](https://a.b) `code` <script>alert(1)</script> | a | b |"
    assert LINKS.linked(rendered(text)) == rendered(text)


@pytest.mark.needs("browser")
@pytest.mark.timeout(180)
@pytest.mark.rule("U3.24")
def test_a_file_of_an_answer_opens_beside_the_talk(served, new_page):
    bench = served.bench("Linked", {"sales.csv": "region,amount\nnorth,1\n", "a.md": "# About\n"})
    play(served, bench, "linked", [says("work", "Look at sales.csv and a.md.")])
    page = new_page(f"/bench/{bench}")
    send(page, "Where is it?")
    link = page.locator(".message.assistant a", has_text="sales.csv")
    link.wait_for(timeout=TURN_MS)
    link.click()
    page.locator("#file-pane .grid", has_text="north").wait_for()
    beside = (page.locator("#transcript").is_visible(), page.url.endswith(f"/bench/{bench}"))
    found = violations(page)
    page.locator(".message.assistant a", has_text="a.md").click()
    page.locator("#file-pane-body h1", has_text="About").wait_for()
    page.keyboard.press("Escape")
    page.locator("#file-pane").wait_for(state="hidden")
    focused = page.evaluate("document.activeElement.textContent")
    page.set_viewport_size({"width": 390, "height": 844})
    link.click()
    page.wait_for_url("**/file/sales.csv")

    assert beside == (True, True)
    assert found == []
    assert focused == "a.md"
