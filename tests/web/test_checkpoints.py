"""The timeline of a workbench in a real browser (U5.2)."""

from __future__ import annotations

import pytest
from tests.web.accessible import violations
from tests.web.drafts import Drafting

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


@pytest.mark.rule("U5.2", "B10.2", "U7.2")
def test_the_timeline_shows_reasons_and_what_changed_since(told, new_page):
    page = new_page(f"/bench/{told.id}/checkpoints")

    entries = page.locator(".timeline > li").all_inner_texts()
    grave = violations(page)
    page.emulate_media(color_scheme="dark")
    grave += violations(page)

    assert "Published now" in entries[0]
    assert "automatic" in entries[1]
    assert "− 1 deleted" in entries[1]
    assert "before a publish" in entries[2]
    assert "+ 1 added" in entries[2]
    assert "<b>before</b> the audit" in entries[3]
    assert "made by hand" in entries[3]
    assert "no file differs" in entries[3]
    assert grave == []


@pytest.mark.rule("U5.2", "B10.15")
def test_any_two_states_are_compared_down_to_the_lines(told, new_page):
    page = new_page(f"/bench/{told.id}/checkpoints")

    page.locator(".timeline > li").nth(3).get_by_role("radio").first.check()
    page.locator(".timeline > li").nth(1).get_by_role("radio").nth(1).check()
    page.get_by_role("button", name="Compare").click()
    page.locator("#compared").wait_for()
    listed = page.locator("#compared tbody tr").all_inner_texts()
    page.get_by_role("link", name="a.txt").click()
    page.wait_for_selector("table.lines")

    assert len(listed) == 2
    assert page.locator("tr.added").inner_text().endswith("two")
    assert page.locator("tr.removed").inner_text().endswith("one")


@pytest.mark.rule("U5.2", "B10.9", "B9.15", "U1.4")
@pytest.mark.parametrize("scripts", [True, False])
def test_a_checkpoint_is_made_and_restored_after_a_preview(told, new_page, scripts):
    page = new_page(f"/bench/{told.id}/checkpoints", java_script_enabled=scripts)
    page.get_by_label("Description").fill("good state")
    page.get_by_role("button", name="Create checkpoint").click()
    page.get_by_role("heading", name="good state").wait_for()

    page.locator(".timeline > li", has_text="the audit").get_by_role("link").click()
    page.locator("#restoring").wait_for()
    preview = page.locator("#restoring tbody tr").all_inner_texts()
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_text("Restored.").wait_for()
    page.get_by_text("3 files read back, each as it should be").wait_for()

    files = told.call("WorkbenchFilesList")["files"]
    assert len(preview) == 3
    assert {one["path"] for one in files} == {"a.txt", "b.txt"}
    assert "before a restore" in page.locator(".timeline > li").nth(1).inner_text()


@pytest.mark.rule("U5.2", "B7.6")
def test_restoring_waits_while_a_draft_exists(told, new_page):
    told.put({"c.txt": "c\n"})
    page = new_page(f"/bench/{told.id}/checkpoints")

    buttons = page.get_by_role("button", name="Restore…")

    assert buttons.count() == 3
    assert all(one.is_disabled() for one in buttons.all())
    assert page.get_by_text("Restoring waits until the Draft is published").is_visible()
    assert page.get_by_role("button", name="Create checkpoint").count() == 0
    page.goto(
        f"{page.url}?restore={told.call('CheckpointsList')['checkpoints'][0]['checkpoint_id']}"
    )
    assert "A Draft is in the way." in page.locator("#restoring").inner_text()


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

    page.locator(".timeline > li", has_text="the audit").get_by_role("link").click()
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
