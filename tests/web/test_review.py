"""The review in a real browser: every kind of file, keys, gates, and nothing that runs (U4)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from tests.web.accessible import violations
from tests.web.drafts import SCRIPT, Drafting, full_draft
from tests.web.scrolling import FRAME_MS, worst_frame_ms

pytestmark = pytest.mark.needs("browser")
KINDS = {
    "notes.md": "table.lines",
    "sales.csv": "table.grid",
    "ledger.xlsx": ".desk[data-kind=sheet] .drawing",
    "report.docx": ".desk .paper-mark",
    "deck.pptx": ".desk[data-kind=slides] .drawing",
    "chart.png": ".pictures img",
    "contract.pdf": ".pictures img",
    "blob.bin": ".facts-beside",
    "obsolete.txt": ".deletion",
    "plan.txt": "table.lines",
}


@pytest.fixture(scope="module")
def draft(served):
    return full_draft(served)


@pytest.fixture
def opened(draft, new_page):
    """Open the review on a file and wait until its scripts are there."""

    def make(path: str | None = None, way: str = "", **options):
        query = f"?file={quote(path)}{'&as=' if way else ''}{way}" if path else ""
        page = new_page(f"/bench/{draft.id}/review{query}", **options)
        page.wait_for_selector("body[data-ready=yes]")
        return page

    return make


def options(page) -> list[str]:
    return [one.get_attribute("data-path") for one in page.locator("#changes [role=option]").all()]


@pytest.mark.rule("U4.1", "B12.17")
def test_changed_files_are_grouped_filtered_and_searched(opened):
    page = opened()
    groups = page.locator(".change-group").all_inner_texts()

    page.get_by_label("Kind of change").select_option("DELETED")
    deleted = options(page)
    page.get_by_label("Kind of change").select_option("")
    page.get_by_label("Kind of file").select_option("xlsx")
    sheets = options(page)
    page.get_by_label("Kind of file").select_option("")
    page.get_by_label("Search changed files").fill("REPORT")

    assert [text.split("\n")[0] for text in groups] == [
        *("+ Added", "~ Changed", "→ Renamed", "− Deleted")
    ]
    assert deleted == ["obsolete.txt"]
    assert sheets == ["ledger.xlsx"]
    assert options(page) == ["report.docx"]
    assert page.get_by_text("compared with the files when the Draft began").is_visible()


@pytest.mark.rule("U4.2", "U4.5", "B1.2", "U7.3")
def test_every_kind_has_its_view_and_nothing_leaves_or_runs(draft, opened, served):
    asked: list[str] = []
    calls: list[str] = []
    page = opened("notes.md", own=True)
    page.on("request", lambda request: asked.append(request.url))
    page.on(
        "request",
        lambda request: calls.append(request.post_data or "") if "/rpc" in request.url else None,
    )
    before = served.call("AuditList", workbench_id=draft.id, limit=1000)["entries"]

    for path, shown in KINDS.items():
        page.locator(f'#changes [data-path="{path}"]').click()
        page.wait_for_selector(f'.reviewed[data-path="{path}"]')
        page.wait_for_selector(shown)
    page.locator("#changes .change.added").first.click()
    page.get_by_text("onerror").first.wait_for()

    assert {urlsplit(url).netloc for url in asked} == {urlsplit(served.address).netloc}
    assert not [text for text in calls if "Workshop" in text or "Models" in text]
    assert page.evaluate("window.ran") is None
    assert served.call("AuditList", workbench_id=draft.id, limit=1000)["entries"] == before


@pytest.mark.rule("U4.2", "B12.1")
def test_text_is_unified_or_side_by_side_with_words_marked_and_context_folded(opened):
    page = opened("notes.md")
    words = page.locator("tr.added mark.word").all_inner_texts()
    folded = page.locator("[data-expand]").first
    before = page.locator("table.lines tr").count()

    folded.click()
    page.get_by_text("# Notes").wait_for()
    more = page.locator("table.lines tr").count()
    page.get_by_role("link", name="Side by side").click()
    page.wait_for_selector("table.lines.split")
    page.reload()
    page.wait_for_selector("table.lines.split")  # it is remembered
    page.get_by_role("link", name="Unified").click()
    page.wait_for_selector("table.lines:not(.split)")

    assert words[0] == "five"
    assert more == before + 2  # three lines in place of the fold


@pytest.mark.rule("U4.2", "U4.49")
def test_what_follows_is_offered_where_something_follows_and_one_line_is_a_line(served):
    long = "".join(f"line {number}\n" for number in range(30))
    draft = Drafting(served, served.bench("Ends", {"end.txt": "one\n", "long.txt": long}))
    draft.use("write_text_file", path="end.txt", content="two\nthree\n")
    draft.use("write_text_file", path="long.txt", content=long.replace("line 5\n", "line five\n"))

    with served.client() as client:
        end, goes_on = (
            client.get(f"/bench/{draft.id}/review?file={path}").text
            for path in ("end.txt", "long.txt")
        )

    assert ("Show what follows" in end, "Show what follows" in goes_on) == (False, True)
    assert "+ 2 lines<" in end
    assert "− 1 line<" in end


@pytest.mark.rule("U4.2", "B12.9")
def test_changed_cells_are_marked_in_the_sheet_and_listed(opened):
    page = opened("ledger.xlsx", "changes")
    page.wait_for_selector(".grid-cell.marked")
    marked = page.locator(".grid-cell.marked").first.get_attribute("title")

    page.locator(".cell-list tr[data-cell=C7]").click()
    page.locator(".cell-bar", has_text="C7").wait_for()
    bar = page.locator(".cell-bar").inner_text()
    page.get_by_role("tab", name="Summary").click()
    page.locator(".grid-cell.marked", has_text="All").wait_for()
    page.keyboard.press("Tab")

    assert marked == "value changed, before: 40"
    assert "70" in bar
    assert "before: 72" in bar
    assert page.locator(".cell-list del", has_text="40").count() == 1


@pytest.mark.rule("U4.2", "U4.3", "B12.14")
def test_documents_and_slides_show_what_went_and_came(opened):
    page = opened("report.docx", "changes")
    gone = page.locator(".doc-section del").all_inner_texts()
    come = page.locator(".doc-section ins").all_inner_texts()
    page.get_by_role("link", name="Pages").click()
    page.wait_for_selector("#file-view .notice, #file-view .pictures")
    pictures = page.locator("#file-view .notice").all_inner_texts() or ["drawn"]
    page.locator('#changes [data-path="deck.pptx"]').click()
    page.get_by_role("link", name="Changes", exact=True).click()
    page.wait_for_selector("svg.slide")
    changed = page.locator("svg.slide .shape.changed").count()
    page.locator(".slide-strip a", has_text="Risks").click()
    page.get_by_text("not there").wait_for()

    assert "100" in gone
    assert "120" in come
    assert "LibreOffice" in pictures[0] or pictures == ["drawn"]
    assert changed == 2
    assert page.locator("svg.slide").count() == 1


@pytest.mark.rule("U4.2", "B12.5")
def test_a_link_put_under_the_same_words_is_shown_with_its_address(served, new_page):
    draft = Drafting(served, served.bench("Links", {"a.txt": "a"}))
    table = {"op": "append_table", "rows": [["pay here", "beside"]], "header": False}
    draft.use("docx_operations", path="d.docx", operations=[table])
    draft.call("DraftPublish")
    link = {"text": "pay here", "hyperlink": "https://evil.example/pay"}
    cell = {"row": 0, "column": 0, "runs": [link]}
    change = {"op": "set_table_cells", "table": 0, "cells": [cell]}
    draft.use("docx_operations", path="d.docx", operations=[change])

    page = new_page(f"/bench/{draft.id}/review?file=d.docx&as=changes")
    page.wait_for_selector("body[data-ready=yes]")

    shown = page.locator(".doc-block.format td .formats").all_inner_texts()
    assert len(shown) == 1
    assert "link: none → https://evil.example/pay: “pay here”" in shown[0]


@pytest.mark.rule("U4.2", "B12.10")
def test_pictures_are_swiped_laid_over_and_enlarged(opened):
    page = opened("chart.png")
    page.get_by_role("button", name="Swipe").click()
    page.locator("[data-picture-blend]").fill("30")
    clip = page.locator(".pictures img").nth(1).evaluate("one => one.style.clipPath")
    page.get_by_role("button", name="Overlay").click()
    opacity = page.locator(".pictures img").nth(1).evaluate("one => one.style.opacity")
    page.locator("[data-picture-zoom]").fill("200")
    width = page.locator(".pictures img").first.evaluate("one => one.getBoundingClientRect().width")
    loaded = page.locator(".pictures img").evaluate_all("all => all.map(one => one.naturalWidth)")
    page.locator('#changes [data-path="contract.pdf"]').click()
    page.get_by_role("link", name="Next page").click()
    page.get_by_text("(2 of 3)").wait_for()

    assert "30%" in clip
    assert opacity == "0.3"
    assert width > 1200
    assert all(loaded)


@pytest.mark.rule("U4.4")
def test_keys_walk_through_changes_and_files_and_viewed_survives_a_reload(opened):
    page = opened("notes.md")
    files = options(page)
    page.locator("#changes").focus()

    page.keyboard.press("j")
    first = page.locator(".at-change").inner_text()
    page.keyboard.press("j")
    second = page.locator(".at-change").inner_text()
    page.keyboard.press("k")
    back = page.locator(".at-change").inner_text()
    page.keyboard.press("v")
    page.keyboard.press("n")
    page.wait_for_selector(f'.reviewed[data-path="{files[files.index("notes.md") + 1]}"]')
    page.keyboard.press("p")
    page.wait_for_selector('.reviewed[data-path="notes.md"]')
    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
    progress = page.locator("#progress").inner_text()
    page.get_by_label("Search changed files").fill("v")  # a letter in a field is a letter

    assert "Line 5" in first
    assert first != second
    assert back == first
    assert progress == f"1 of {len(files)} viewed"
    assert page.get_by_label("Viewed").is_checked()
    assert page.locator("#progress").inner_text() == progress


@pytest.mark.rule("U7.2", "S7.3")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_serious_accessibility_fault(opened, scheme):
    page = opened("notes.md", color_scheme=scheme)
    for path, shown in KINDS.items():
        page.locator(f'#changes [data-path="{path}"]').click()
        page.wait_for_selector(f'.reviewed[data-path="{path}"]')
        page.wait_for_selector(shown)
        assert violations(page) == [], path
        if (way := page.get_by_role("link", name="Changes", exact=True)).is_visible():
            way.click()
            page.locator("#file-view:not([aria-busy])").wait_for()
            assert violations(page) == [], path


@pytest.mark.rule("U4.1", "B13.5", "B9.15", "U1.4")
def test_publishing_waits_for_agreed_deletions_and_for_what_was_seen(served, new_page):
    draft = full_draft(served, "Gate")
    page = new_page(f"/bench/{draft.id}/review")
    page.wait_for_selector("body[data-ready=yes]")
    publish = page.locator("#publish")
    assert publish.is_disabled()
    assert page.locator("#why-not").inner_text().startswith("1 deletion waits")

    page.get_by_role("button", name="Agree to 1 deletion").click()
    page.locator("#publish:not([disabled])").wait_for()
    draft.put({"late.txt": "written while somebody was looking\n"})
    page.locator("#draft-moved").wait_for()
    assert publish.is_disabled()
    page.get_by_role("link", name="Show it as it is now").click()
    page.wait_for_selector("body[data-ready=yes]")
    page.locator('#changes [data-path="late.txt"]').click()
    page.wait_for_selector('.reviewed[data-path="late.txt"]')
    page.get_by_role("button", name="Revert this file").click()
    page.locator('[data-path="late.txt"]').first.wait_for(state="detached")
    page.locator('#changes [data-path="plan.txt"]').click()
    page.wait_for_selector('.reviewed[data-path="plan.txt"]')
    page.get_by_role("button", name="Revert this file").click()
    page.locator('#changes [data-path="plan.txt"]').wait_for(state="detached")
    page.locator("#publish:not([disabled])").click()
    page.locator("#ask-publish").get_by_role("button", name="Publish", exact=True).click()
    page.locator(".publish-card").last.wait_for()
    page.get_by_text("files read back, each as it should be").wait_for()

    files = served.call("WorkbenchFilesList", workbench_id=draft.id)["files"]
    assert not served.call("DraftGetState", workbench_id=draft.id)["has_draft"]
    assert {"old-plan.txt", "notes.md"} <= {one["path"] for one in files}
    assert "late.txt" not in {one["path"] for one in files}


@pytest.mark.rule("U1.4", "U4.1")
def test_the_review_works_without_scripts(served, new_page):
    draft = full_draft(served, "Plain")
    page = new_page(f"/bench/{draft.id}/review", java_script_enabled=False)

    page.get_by_role("link", name="obsolete.txt").click()
    page.get_by_role("button", name="Agree to the deletion").click()
    page.get_by_role("link", name="ledger.xlsx").click()
    page.get_by_role("link", name="Changes", exact=True).click()
    page.locator(".cell-list tr").first.wait_for()
    cells = page.locator(".cell-list tr").count()
    page.get_by_role("navigation", name="Changed sheets").get_by_role("link", name="Ledger").click()
    sheet = page.get_by_role("region", name="Sheet Ledger")
    marked = sheet.locator("td.changed, td.added").all_inner_texts()
    rows = page.get_by_role("navigation", name="Rows").last
    first = []
    for name in ("Earlier rows", "Later rows"):
        rows.get_by_role("link", name=name).click()
        first.append(sheet.locator("tbody th").first.inner_text())
    page.locator("#publish").click()
    page.locator("#publishing").get_by_role("button", name="Publish").click()
    page.locator(".publish-card").last.wait_for()
    said = page.get_by_text("files checked, each as it should be")
    is_said = said.is_visible()
    page.reload()

    assert is_said
    assert not said.is_visible()  # once, and by no address that somebody made up
    assert cells > 3
    assert any(text.startswith("~") and text.endswith(" 44") for text in marked)
    assert any(SCRIPT in text for text in marked)
    assert first == ["1", "41"]
    assert not served.call("DraftGetState", workbench_id=draft.id)["has_draft"]


@pytest.mark.rule("B13.8")
def test_a_summary_is_shown_as_text_whatever_it_says(served):
    bench = served.bench()
    note = "**Done** [go](https://example.com/x) ![p](https://example.com/p.png) <img src=x>"
    draft = Drafting(served, bench)
    draft.use("write_text_file", path="a.md", content="x\n", change_note=note)
    with served.client() as client:
        html = client.get(f"/bench/{bench}/review/file", params={"file": "a.md"}).text

    shown = html[html.index("file-summary") :].split("</div>")[0]
    assert "<strong>Done</strong>" in shown
    assert "&lt;img src=x&gt;" in shown
    assert not re.search(r"<(a|img|script)[ >]", shown)


@pytest.mark.rule("B12.9", "F42.5", "U4.2")
def test_inserted_rows_are_told_and_their_heads_marked(served, new_page):
    bench = served.bench()
    draft = Drafting(served, bench)
    rows = [[f"item {n}", n * 7 % 11, f"=B{n}*2"] for n in range(1, 13)]
    first: list[dict[str, Any]] = [{"op": "ensure_sheet", "sheet": "S"}]
    first += [{"op": "set_range", "sheet": "S", "start": "A1", "values": rows}]
    draft.use("xlsx_operations", path="b.xlsx", operations=first)
    draft.call("DraftPublish")
    lines = [
        {"op": "insert_rows", "sheet": "S", "row": 4, "values": [["<b>new</b>", 1]]},
        {"op": "delete_rows", "sheet": "S", "from": 9},
    ]
    draft.use("xlsx_operations", path="b.xlsx", operations=lines)
    page = new_page()
    page.goto(f"{served.address}/bench/{bench}/review?file=b.xlsx&as=changes")
    page.locator(".grid-rowhead.marked").first.wait_for()

    told = page.locator(".lines-moved li").all_inner_texts()
    heads = page.locator(".grid-rowhead.marked").all_inner_texts()
    with served.client() as client:
        plain = client.get(
            f"/bench/{bench}/review", params={"file": "b.xlsx", "as": "changes"}
        ).text

    assert told == ["+ S: row 4 inserted", "− S: row 8 removed item 8, 1, 2"]
    assert [text.split() for text in heads] == [
        ["+4", "inserted"],
        ["−9", "1", "row", "removed", "before", "this"],
    ]
    assert 'class="num added"' in plain
    assert page.locator(".cell-list").inner_text().count("<b>new</b>") == 1


@pytest.mark.rule("U1.5", "B11.8")
def test_two_thousand_changed_files_scroll_smoothly(served, new_page, scaled):
    files = scaled(600, 2000)
    bench = served.bench("Many")
    served.call("WorkbenchSetLimits", workbench_id=bench, profile="large")
    draft = Drafting(served, bench)
    for start in range(0, files, 200):
        draft.put({f"folder/file-{n:04}.txt": f"text {n}\n" for n in range(start, start + 200)})
    page = new_page(f"/bench/{bench}/review")
    page.wait_for_selector("body[data-ready=yes]")

    rows = page.locator("#changes [role=option]").count()
    worst_ms = worst_frame_ms(page, "#changes")

    assert rows < 80
    assert page.locator(".change-group").count() == 0  # scrolled past
    assert page.get_by_text(f"file-{files - 1:04}.txt").first.is_visible()
    assert worst_ms < FRAME_MS


@pytest.mark.rule("U2.4", "S7.3")
def test_nothing_is_told_by_colour_alone(opened):
    page = opened("ledger.xlsx", "changes")
    signs = set(page.locator("#changes .change-sign").all_inner_texts())
    words = {text.strip(" :") for text in page.locator("#changes .unseen").all_text_contents()}
    cells = page.locator(".grid-cell.marked")
    cells.first.wait_for()
    marked = cells.evaluate_all(
        "all => all.map((one) => one.querySelector('.mark-sign')?.textContent ?? '')"
    )
    page = opened("notes.md")
    lines = page.locator("table.lines tr.added, table.lines tr.removed").evaluate_all(
        "all => all.map((one) => one.querySelector('.sign')?.textContent.trim() ?? '')"
    )

    assert signs == {"+", "~", "→", "−"}
    assert {"Added", "Changed", "Renamed", "Deleted"} <= words
    assert marked
    assert set(marked) <= {"+", "~", "−"}
    assert lines
    assert "" not in lines


@pytest.mark.rule("B9.16")
@pytest.mark.parametrize("adopted", [True, False])
def test_published_that_moved_is_settled_on_the_page(served, new_page, adopted):
    bench = served.bench("Moved", {"a.txt": "base\n", "b.txt": "b\n"})
    draft = Drafting(served, bench)
    draft.put({"a.txt": "ours\n"})
    folder = served.shop.config.home / "benches" / bench / "published"
    (folder / "a.txt").unlink()
    (folder / "a.txt").write_text("theirs\n")
    if adopted:  # the list knows; otherwise publishing finds out
        served.call("PublishedRepair", workbench_id=bench, mode="adopt")
    page = new_page(f"/bench/{bench}/review")
    page.wait_for_selector("body[data-ready=yes]")
    if not adopted:
        page.locator("#publish").click()  # and its dialog says at once what stands in the way

    page.get_by_role("button", name="Keep both").click()
    page.get_by_text("a (draft).txt").first.wait_for()

    assert page.get_by_text("Published changed since the Draft began").count() == 0
    page.locator("#publish").click()
    page.locator("#ask-publish").get_by_role("button", name="Publish", exact=True).click()
    page.locator(".publish-card").last.wait_for()


@pytest.mark.rule("U4.8")
def test_what_was_typed_and_the_place_stay_while_changes_are_left_out(served, new_page):
    lines = "".join(f"line {number}\n" for number in range(200))
    made = Drafting(served, served.bench("Typed", {"a.txt": lines}))
    made.put({"a.txt": lines.replace("line 5\n", "five\n").replace("line 190\n", "ninety\n")})
    page = new_page(f"/bench/{made.id}/review?file=a.txt&choose=1")
    page.wait_for_selector("body[data-ready=yes]")
    page.locator("#remark").fill("Say it shorter")
    page.locator("#choices").get_by_role("button", name="Leave out").first.click()
    page.locator("#choices .badge", has_text="1 left out").wait_for()

    assert page.locator("#remark").input_value() == "Say it shorter"
    assert page.locator("#choices").evaluate("one => one.getBoundingClientRect().top") < 800
