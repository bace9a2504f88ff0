"""The history of a workbench in a real browser (U5.2)."""

from __future__ import annotations

import re

import pytest
from tests.web.accessible import violations
from tests.web.drafts import Drafting
from tests.workshop.conftest import story

pytestmark = pytest.mark.needs("browser")


@pytest.fixture
def told(served):
    """A bench with a manual checkpoint, one of a publish, and one of a removal."""
    bench = served.bench("History", {"a.txt": "one\n", "b.txt": "b\n"})
    served.call("CheckpointCreate", workbench_id=bench, description="<b>before</b> the audit")
    draft = Drafting(served, bench)
    draft.put({"a.txt": "two\n", "new.txt": "new\n"})
    draft.call("DraftPublish")
    draft.call("WorkbenchFilesRemove", workbench_paths=["b.txt"])
    return draft


@pytest.mark.rule("U5.20", "U5.21", "U5.2", "B10.2", "U7.2")
def test_the_history_says_what_led_to_each_version_and_shows_none_twice(told, new_page):
    page = new_page(f"/bench/{told.id}/checkpoints")

    entries = page.locator(".versions > li")
    titles = entries.get_by_role("heading").all_inner_texts()
    chips = [one.locator(".chip").all_inner_texts() for one in entries.all()]
    grave = violations(page)
    page.emulate_media(color_scheme="dark")
    grave += violations(page)

    assert titles == ["Removed 1 file by hand", "Published 2 files", "<b>before</b> the audit"]
    assert [[one.split()[1:] for one in some] for some in chips] == [
        [["b.txt", "deleted"]],
        [["new.txt", "new"], ["a.txt"]],
        [],
    ]
    assert "Published now" in entries.first.inner_text()
    assert "kept by hand" in entries.last.inner_text()
    assert "Before publish" not in page.locator("#main").inner_text()
    assert grave == []


@pytest.fixture
def asked_for(served):
    """A bench with two publishes of turns, a restore and a file that was added by hand."""
    bench = served.bench("Asked", {"a.txt": "one\n"})
    draft = Drafting(served, bench)
    for number, words in enumerate(("Say two", "Say three")):
        name = f"history-{number}"
        text = f"{words.split()[1]}\n"
        more = [(f"{at}.txt", text) for at in range(7)]
        served.shop.models.play(name, story(("a.txt", text), *more))
        draft.call("WorkshopSwitchModel", model_id=f"scripted:{name}")
        sent = draft.call("WorkshopSendUserMessage", text=words)
        draft.call("WorkshopRunAgent", message_id=sent["message_id"])
        draft.call("DraftPublish")
    draft.call(
        "CheckpointRestore",
        checkpoint_id=draft.call("CheckpointsList")["checkpoints"][0]["checkpoint_id"],
    )
    draft.call("CheckpointCreate", description="two again")
    return draft


@pytest.mark.rule("U5.25")
def test_what_changed_in_one_file_says_between_which_versions_and_leads_back(told):
    oldest = told.call("CheckpointsList")["checkpoints"][-1]["checkpoint_id"]
    with told.served.client() as client:
        history = client.get(f"/bench/{told.id}/checkpoints?a={oldest}&b=now").text
        page = client.get(f"/bench/{told.id}/checkpoints/file?a={oldest}&b=now&file=a.txt").text
    named = re.search(r"What changed from (.*?) to now", history)

    assert named
    assert f"{named[0]}. " in page
    main = page[page.index("<main") :]
    assert f'/checkpoints?a={oldest}&amp;b=now">All files' in main.replace("&b=", "&amp;b=")


@pytest.mark.rule("U5.20", "U5.21", "U5.25", "B27.5")
def test_versions_are_called_by_the_requests_that_led_to_them(asked_for, new_page):
    page = new_page(f"/bench/{asked_for.id}/checkpoints")

    entries = page.locator(".versions > li")
    titles = entries.get_by_role("heading").all_inner_texts()

    assert titles == ["two again", "Say three", "Say two", "As it was before: Say two"]
    assert "What led to it: Went back to: Say two" in entries.first.inner_text()
    assert entries.nth(2).locator(".chip").count() == 6
    entries.nth(2).get_by_role("link", name="and 2 more").click()
    page.locator("#compared").wait_for()
    assert page.locator(".compared-files > li").count() == 8
    compared = page.locator("#compared h1").inner_text()
    page.go_back()
    page.locator("[data-checkpoint]").nth(2).get_by_role("link", name="Restore…").click()
    restored = page.locator("#restoring h1").inner_text()
    assert compared == "What changed from “As it was before: Say two” to “Say two”"
    assert restored == "Restore “Say two”?"


@pytest.mark.rule("U5.2", "U5.22", "B10.15")
def test_any_two_versions_are_compared_down_to_the_lines(told, new_page):
    page = new_page(f"/bench/{told.id}/checkpoints")

    page.get_by_label("Later").select_option(label="Published 2 files")
    page.get_by_role("button", name="Compare").click()
    page.locator("#compared").wait_for()
    listed = page.locator(".compared-files > li").all_inner_texts()
    page.get_by_role("link", name="a.txt").click()
    page.wait_for_selector("table.lines")

    assert len(listed) == 2
    assert "1 line added" in listed[1]
    assert "1 line removed" in listed[1]
    assert page.locator("tr.added").inner_text().endswith("two")
    assert page.locator("tr.removed").inner_text().endswith("one")


@pytest.mark.rule("U5.22")
def test_a_workbook_is_compared_sheet_by_sheet(served, new_page):
    draft = Drafting(served, served.bench("Sheets", {}))
    for value in (1, 2):
        steps: list[dict[str, object]] = []
        for sheet in ("One", "Plan"):
            cells = {"start": "A1", "values": [[value], [value]]}
            steps += [{"op": "ensure_sheet", "sheet": sheet}]
            steps += [{"op": "set_range", "sheet": sheet, **cells}]
        draft.use("xlsx_operations", path="book.xlsx", operations=steps)
        draft.call("DraftPublish")
    page = new_page(f"/bench/{draft.id}/checkpoints")

    page.locator(".versions > li").first.locator(".chip").click()
    page.locator(".by-sheet").first.wait_for()
    sheets = page.locator(".by-sheet > summary").all_inner_texts()
    page.goto(f"{served.address}/bench/{draft.id}/checkpoints")
    page.get_by_role("link", name="Compare with now").first.click()
    told = page.locator(".compared-files .told").inner_text()  # which waits for it

    assert sheets == ["One: 2 cells", "Plan: 2 cells"]
    assert " ".join(told.split()) == "One: 2 cells Plan: 2 cells"


@pytest.mark.rule("U5.2", "B10.9", "B9.15", "U1.4")
@pytest.mark.parametrize("scripts", [True, False])
def test_a_version_is_kept_and_another_restored_after_a_preview(told, new_page, scripts):
    page = new_page(f"/bench/{told.id}/checkpoints", java_script_enabled=scripts)
    page.get_by_label("Name").fill("good state")
    page.get_by_role("button", name="Keep version").click()
    page.get_by_role("heading", name="good state").wait_for()

    restore(page, "the audit")
    page.locator("#restoring").wait_for()
    preview = page.locator("#restoring tbody tr").all_inner_texts()
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_text("Restored; what was Published before is kept in the history").wait_for()
    said = "2 files read back, each as it should be; 1 file gone, as it should be"
    page.get_by_text(said if scripts else "3 files checked, each as it should be").wait_for()

    files = told.call("WorkbenchFilesList")["files"]
    assert len(preview) == 3
    assert {one["path"] for one in files} == {"a.txt", "b.txt"}
    newest = page.locator(".versions > li").first.inner_text()
    assert "Went back to: <b>before</b> the audit" in newest


@pytest.mark.rule("U5.23", "B27.1", "U1.4")
@pytest.mark.parametrize("scripts", [True, False])
def test_one_file_is_restored_and_all_else_stays(told, new_page, scripts):
    page = new_page(f"/bench/{told.id}/checkpoints", java_script_enabled=scripts)

    entry = page.locator(".versions > li", has_text="the audit")
    entry.get_by_role("link", name="Compare with now").click()
    row = page.locator(".compared-files > li", has_text="a.txt")
    row.wait_for()
    offered = page.get_by_role("link", name="Restore this file…").count()
    row.get_by_role("link", name="Restore this file…").click()
    page.locator("#restoring tbody").wait_for()
    said = page.locator("#restoring").inner_text()
    preview = page.locator("#restoring tbody tr").all_inner_texts()
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_role("heading", name="Restored a.txt from an earlier version").wait_for()

    assert offered == 2  # not of what is new since
    assert "All other files, the conversation and the context stay as they are" in said
    assert len(preview) == 1
    assert told.call("WorkbenchFileRead", path="a.txt")["text"].strip() == "one"
    assert told.served.paths(told.id) == {"a.txt", "new.txt"}
    page.locator(".versions > li").first.locator(".chip").click()
    page.get_by_role("link", name="Restore this file as it was before…").wait_for()
    page.goto(f"{told.served.address}/bench/{told.id}?stay=1")
    assert "Restored from the history: a.txt" in page.locator(".message.slim").last.inner_text()


@pytest.mark.rule("U5.2", "B7.6")
def test_restoring_waits_while_a_draft_exists(told, new_page):
    told.put({"c.txt": "c\n"})
    page = new_page(f"/bench/{told.id}/checkpoints")

    buttons = page.get_by_role("button", name="Restore…")

    assert buttons.count() == 2
    assert all(one.is_disabled() for one in buttons.all())
    assert page.get_by_text("Restoring waits until the Draft is published").is_visible()
    assert page.get_by_role("button", name="Keep version").count() == 0
    page.goto(
        f"{page.url}?restore={told.call('CheckpointsList')['checkpoints'][0]['checkpoint_id']}"
    )
    assert "A Draft is in the way." in page.locator("#restoring").inner_text()


def restore(page, text):
    """Ask for the restore of the version with this text."""
    entry = page.locator(".versions > li", has_text=text).last
    entry.get_by_role("link", name="Restore…").click()


def edited_by_another_program(told, view, name, text="theirs\n"):
    """Write over a file of a folder, as an editor outside does; return where edits are kept."""
    home = told.served.shop.config.home / "benches" / told.id
    file = home / view / name
    file.chmod(0o644)
    file.write_text(text, encoding="utf-8")
    return home / "meta" / "salvage"


@pytest.mark.rule("B3.12", "U1.4")
@pytest.mark.parametrize("scripts", [True, False])
def test_a_page_says_that_an_outside_edit_was_kept_until_it_is_closed(told, new_page, scripts):
    kept = edited_by_another_program(told, "published", "a.txt")
    words = "Files that another program wrote were in the way; they were kept in meta/salvage"
    page = new_page(f"/bench/{told.id}/checkpoints", java_script_enabled=scripts)

    restore(page, "the audit")
    page.get_by_role("button", name="Restore", exact=True).click()
    page.locator(".toast, .notice", has_text=words).wait_for()

    assert [one.read_text() for one in kept.rglob("a.txt")] == ["theirs\n"]
    if scripts:
        page.goto(f"{told.served.address}/bench/{told.id}")  # not lost with the page
        said = page.locator(".toast", has_text=words)
        said.get_by_role("button", name="Close").click()
    page.goto(f"{told.served.address}/bench/{told.id}/checkpoints")
    page.locator(".timeline").wait_for()
    assert page.get_by_text(words).count() == 0


@pytest.mark.rule("B3.12")
def test_a_page_says_that_put_back_files_were_kept(told, new_page):
    edited_by_another_program(told, "published", "a.txt")
    page = new_page(f"/bench/{told.id}/checkpoints")

    page.get_by_role("button", name="Put back").click()

    page.locator(".toast", has_text="they were kept in meta/salvage").wait_for()


@pytest.mark.rule("B3.6", "B3.4")
def test_a_page_says_in_words_what_opening_had_to_do(told, new_page):
    left = told.served.shop.config.home / "benches" / told.id / "meta" / "tmp" / "tx"
    left.mkdir(parents=True)

    page = new_page(f"/bench/{told.id}/checkpoints")

    (said,) = page.locator(".notice").all_inner_texts()
    assert said.strip() == "What an interrupted write had left was removed"


DRAWN = "one => one.decode().then(() => one.naturalWidth > 0)"


@pytest.mark.rule("U5.24")
def test_a_version_has_a_picture_of_what_changed_with_it(served, new_page):
    bench = served.bench("Pictured", {"a.txt": "a"})
    draft = Drafting(served, bench)
    for sheet, value in (("S", 7), ("T", 8)):
        cells = {"start": "A40", "values": [["Total", value]]}
        change: list[dict[str, object]] = [{"op": "ensure_sheet", "sheet": sheet}]
        change += [{"op": "set_range", "sheet": sheet, **cells}]
        draft.use("xlsx_operations", path="book.xlsx", operations=change)
        draft.call("DraftPublish")
    page = new_page(f"/bench/{bench}/checkpoints")

    shown = page.locator(".version-picture")
    shown.last.scroll_into_view_if_needed()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.version-picture')].every((one) => one.naturalWidth)"
    )
    addresses = shown.evaluate_all("all => all.map((one) => one.getAttribute('src'))")

    assert len(addresses) == 2
    with served.client() as client:
        contents = [client.get(one) for one in addresses]
        beginning = client.get(addresses[0].partition("&since=")[0])  # of the first sheet
        foreign = client.get(addresses[0].replace(bench, "wb_01M7PW2HXC70Q7XEGGZZ0A6B6N"))
    first = draft.call("CheckpointsList")["checkpoints"][0]["checkpoint_id"]
    draft.call("CheckpointRestore", checkpoint_id=first)  # and the sheet that came is gone
    page.reload()
    assert page.locator(".versions > .now .version-picture").evaluate(DRAWN, timeout=5000)
    page.route("**/glance/**", lambda asked: asked.fulfill(status=404))
    page.reload()
    page.locator(".version-icon").first.wait_for()
    assert page.locator("img.version-picture").count() == 0

    assert {one.headers["content-type"] for one in contents} == {"image/png"}
    assert contents[0].content != contents[1].content
    assert contents[0].content != beginning.content
    assert foreign.status_code == 404
