"""U7.5: pages stay small and answer at once, however much there is to show.

A real Chromium in front of a real server: 500 workbenches, a talk of 2,000 messages, 200 files, a
workbook of 3,000 rows and a deck of 60 slides, both changed in a Draft. What a page weighs is its
HTML; what a person waits for is the browser's own figure, from a click or a key to the next paint.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

import openpyxl
from playwright.sync_api import sync_playwright
from pptx import Presentation
from tests.conftest import browser_path
from tests.web.browsing import ARGUMENTS, Served, serving
from tests.web.drafts import Drafting
from tests.web.elsewhere import committed_ms, terminal
from tests.web.walk import TASK
from tests.web.watching import Watched

from .report import fact, head, row

BENCHES = int(os.environ.get("PAGES_BENCHES", "500"))
MESSAGES = int(os.environ.get("PAGES_MESSAGES", "2000"))
FILES, ROWS, SLIDES = 200, 3_000, 60
PAGE_KB, PAINT_MS, PROGRESS_MS, TOLD_MS = 200, 200, 100, 1000
ASKS = 5
SHORTEST_MS = 16.0  # the browser tells no shorter waits
_WATCH = """() => {
  const keep = (name, ms) => sessionStorage.setItem(name, JSON.stringify([...kept(name), ms]));
  const kept = (name) => JSON.parse(sessionStorage.getItem(name) ?? "[]");
  new PerformanceObserver((list) => list.getEntries().forEach((e) => keep("waited", e.duration)))
    .observe({ type: "event", durationThreshold: 16, buffered: true });
  addEventListener("click", (event) =>
    sessionStorage.setItem("clicked", performance.timeOrigin + event.timeStamp), { capture: true });
  new PerformanceObserver((list) => list.getEntries().forEach((e) => {
    const clicked = sessionStorage.getItem("clicked");
    if (clicked) keep("turned", performance.timeOrigin + e.startTime - Number(clicked));
  })).observe({ type: "paint", buffered: true }); }"""
_SETTLE = "() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 300))"

# When the page first painted that work began, and what is done, counted from the key that sent it.
_BEGUN = """() => { window.begun = {};
  let sent = null;
  addEventListener("keydown", (event) => { if (event.key === "Enter") sent ??= event.timeStamp; },
    { capture: true });
  const look = () => {
    const line = document.querySelector("#turn-line");
    if (sent !== null && line && !line.hidden) {
      const words = document.querySelector("#phase").textContent;
      const note = (name) => requestAnimationFrame((at) => { window.begun[name] ??= at - sent; });
      note("card");
      if (words && words !== "Starting…") note("words");
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look); }"""


def main() -> None:
    """Print the table of pages."""
    head()
    with tempfile.TemporaryDirectory(prefix="bench-pages-") as folder:
        os.environ["HOME"] = folder
        with serving(Path(folder) / "home") as served:
            _measure(served)


def _measure(served: Served) -> None:
    for number in range(BENCHES):
        served.bench(f"Bench {number}")
    talk = _talk(served)
    work = _work(served)
    with served.client() as client:
        plain = _weight(client, "/settings")
        for name, path in (
            (f"the list of {BENCHES} workbenches", "/"),
            (f"a talk of {MESSAGES} messages with {FILES} files", f"/bench/{talk}?stay=1"),
            (f"the review of a deck of {SLIDES} slides", f"/bench/{work}/review?file=deck.pptx"),
            (f"the review of {ROWS} rows", f"/bench/{work}/review?file=book.xlsx"),
        ):
            weight = _weight(client, path)
            row(name, weight / 1024, PAGE_KB, unit="KiB")
            fact(f"{name} / the settings, which show nobody's files", weight / plain)
    with _browser() as browser:
        for name, path in (
            (f"viewer of {ROWS} rows", f"/bench/{work}/file/book.xlsx"),
            (f"review of {ROWS} rows", f"/bench/{work}/review?file=book.xlsx"),
            (f"viewer of {SLIDES} slides", f"/bench/{work}/file/deck.pptx"),
            (f"review of {SLIDES} slides", f"/bench/{work}/review?file=deck.pptx"),
            (f"talk of {MESSAGES} messages", f"/bench/{talk}?stay=1"),
        ):
            waited, turned = _interact(browser, served, path)
            row(f"{name}: slowest answer to a click or key", waited, PAINT_MS, unit="ms")
            if turned:
                fact(f"{name}: from a click to the page of another tab", turned, unit="ms")
        card, words = _begun(browser, served)
        row("from Enter to the card of the work", card, PROGRESS_MS, unit="ms")
        fact("from Enter to the words for what the agent does", words, unit="ms")
        told = _told(browser, served)
        row("from another process to four open pages", told, TOLD_MS, unit="ms")


def _weight(client: Any, path: str) -> int:
    return len(client.get(path, headers={"accept": "text/html"}).content)


def _talk(served: Served) -> str:
    files: dict[str, str | bytes] = {f"notes/{number:03}.md": "x" for number in range(FILES)}
    bench = served.bench("Talk", files)
    for number in range(MESSAGES):
        text = f"Message {number} with a few words, as people write them."
        served.call("WorkshopSendUserMessage", workbench_id=bench, text=text)
    return bench


def _work(served: Served) -> str:
    bench = served.bench("Work", {"book.xlsx": _book(), "deck.pptx": _deck()})
    cells = [{"cell": f"B{row}", "value": 7} for row in (2, 900, ROWS)]
    titles = [{"op": "set_slide_text", "index": at, "title": f"New {at}"} for at in (0, 30, 59)]
    draft = Drafting(served, bench)
    change = [{"op": "set_cells", "sheet": "Data", "cells": cells}]
    draft.use("xlsx_operations", path="book.xlsx", operations=change)
    draft.use("pptx_operations", path="deck.pptx", operations=titles)
    return bench


def _book() -> bytes:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "Data"
    sheet.append(["Item", *(f"Month {month}" for month in range(1, 13))])
    for number in range(2, ROWS + 1):
        sheet.append([f"Item {number}", *(number * month for month in range(1, 13))])
    made = BytesIO()
    book.save(made)
    return made.getvalue()


def _deck() -> bytes:
    deck: Any = Presentation()
    for number in range(SLIDES):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = "One\nTwo\nThree"
    made = BytesIO()
    deck.save(made)
    return made.getvalue()


@contextmanager
def _browser() -> Iterator[Any]:
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
        yield made
        made.close()


def _interact(browser: Any, served: Served, path: str) -> tuple[float, float | None]:
    """Click every way to look and walk by keys.

    Return the longest wait in milliseconds, and the longest until a tab that is a page of its own
    was painted.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(served.link())
    page.add_init_script(f"({_WATCH})()")
    page.goto(served.address + path)
    page.evaluate(_SETTLE)
    tabs = page.locator("nav.tabs a, [role=tab]")
    for at in range(tabs.count()):
        if at < tabs.count() and tabs.nth(at).is_visible():
            tabs.nth(at).click()
            page.evaluate(_SETTLE)
    for key in "jjkknp":
        page.keyboard.press(key)
        page.evaluate(_SETTLE)
    goal = page.get_by_label("Go to cell")
    if goal.count():
        goal.first.fill("E1200")
        goal.first.press("Enter")
        page.evaluate(_SETTLE)
    waited = page.evaluate("() => JSON.parse(sessionStorage.getItem('waited') ?? '[]')")
    turned = page.evaluate("() => JSON.parse(sessionStorage.getItem('turned') ?? '[]')")
    context.close()
    return max(waited, default=SHORTEST_MS), max(turned, default=None)


def _begun(browser: Any, served: Served) -> tuple[float, float]:
    """Ask the offline model on fresh samples; return the medians until a sign and until words."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(served.link())
    found = []
    for _ in range(ASKS):
        bench = served.call("WorkbenchCreateSample")["workbench_id"]
        served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:demo")
        page.goto(f"{served.address}/bench/{bench}?stay=1")
        page.locator("html[data-live]").wait_for()
        page.evaluate(_BEGUN)
        page.get_by_label("Message", exact=True).fill(TASK)
        page.get_by_label("Message", exact=True).press("Enter")
        page.wait_for_function("() => window.begun.words !== undefined")
        found.append(page.evaluate("() => window.begun"))
        page.locator("#publish").wait_for()
    context.close()
    return median(one["card"] for one in found), median(one["words"] for one in found)


def _told(browser: Any, served: Served) -> float:
    """Rename a bench from a terminal; return the median until all its open pages say so (S5.2)."""
    bench = served.bench("Told", {"notes.txt": "words\n"})
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(served.link())
    pages = [page, *(context.new_page() for _ in range(3))]
    for one, path in zip(
        pages, ("?stay=1", "/checkpoints", "/file/notes.txt", "/sharing"), strict=True
    ):
        one.goto(f"{served.address}/bench/{bench}{path}")
    found = []
    for number in range(ASKS):
        watched = Watched(*pages)
        watched.expect(f"Called {number}")
        terminal(served, "bench", "rename", bench, f"Called {number}")
        found.append(watched.took_ms(f"Called {number}", committed_ms(served)))
    context.close()
    return median(found)
