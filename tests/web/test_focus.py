"""The focus is never lost when the element that has it goes away (U9.3)."""

from __future__ import annotations

import pytest
from tests.web.drafts import Drafting
from tests.web.test_hearing import TURN_MS, play
from tests.workshop.conftest import story

pytestmark = pytest.mark.needs("browser")


@pytest.mark.rule("U9.3")
def test_beside_a_card_that_is_deleted_the_next_one_has_the_focus(served, new_page):
    for name in ("Third", "Second", "First"):
        served.bench(name)
    page = new_page("/")
    page.get_by_label("Actions for Second").click()
    page.get_by_role("button", name="Delete").locator("visible=true").click()
    page.locator(".toast", has_text="“Second” is in the trash").wait_for()
    page.wait_for_function("() => document.activeElement !== document.body")
    held = page.evaluate("document.activeElement.closest('[data-bench-card]')?.innerText ?? ''")

    assert "First" in held or "Third" in held

    page.route("**/rpc", lambda route: route.abort())
    page.locator(".toast").get_by_role("button", name="Undo").click()
    page.get_by_role("alert").filter(has_text="Backshop does not answer").wait_for()


@pytest.mark.rule("U9.3", "U9.4", "U5.1")
def test_a_card_that_comes_back_or_is_a_copy_has_the_focus_and_a_copy_is_told(served, new_page):
    served.bench("Alone")
    page = new_page("/")
    page.get_by_label("Actions for Alone").click()
    page.get_by_role("button", name="Delete").locator("visible=true").click()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    page.locator("[data-bench-card] h2 a:focus").get_by_text("Alone").wait_for()
    page.get_by_label("Actions for Alone").click()
    page.get_by_role("button", name="Fork (files only)").locator("visible=true").click()
    page.locator("[data-bench-card] h2 a:focus").get_by_text("(fork)").wait_for()
    page.locator(".toast", has_text="A copy of “Alone” is made").get_by_role(
        "button", name="Open"
    ).click()
    page.wait_for_url("**/bench/wb_*")

    assert page.locator(".bench-name").inner_text() == "Alone (fork)"


@pytest.mark.rule("U9.3")
def test_a_button_that_works_has_the_focus_again_and_one_that_is_renewed_keeps_it(served, new_page):
    bench = served.bench("Held", {"a.txt": "a"})
    page = new_page("/settings/models")
    provider = page.locator("details.provider", has_text="Offline demo")
    provider.locator("summary").click()
    provider.get_by_role("button", name="Test", exact=True).focus()
    page.keyboard.press("Enter")
    page.locator(".toast").wait_for()
    page.locator("#providers :focus").wait_for()
    page.goto(f"{served.address}/bench/{bench}?stay=1")
    page.locator("html[data-live=yes]").wait_for()
    page.locator("#files-heading").focus()
    served.call("WorkbenchFilesRemove", workbench_id=bench, workbench_paths=["a.txt"])
    page.get_by_text("No files yet").wait_for()

    page.locator("#files-heading:focus").wait_for()


@pytest.mark.rule("U9.3", "U4.8")
def test_a_change_that_is_left_out_by_key_can_be_taken_again_by_key(served, new_page):
    draft = Drafting(served, served.bench("Chosen", {"a.txt": "one\n\n\n\ntwo\n\n\n\nthree\n"}))
    draft.put({"a.txt": "ONE\n\n\n\nTWO\n\n\n\nTHREE\n"})
    page = new_page(f"/bench/{draft.id}/review?file=a.txt&choose=1")
    page.wait_for_selector("body[data-ready=yes]")
    second = page.locator("[data-unit]").nth(1)
    second.get_by_role("button", name="Leave out").focus()
    page.keyboard.press("Enter")
    second.locator("button:focus", has_text="Take").wait_for()
    page.keyboard.press("Enter")
    second.locator("button:focus", has_text="Leave out").wait_for()

    assert page.locator("[data-unit].left").count() == 0


@pytest.mark.rule("U9.3", "W20.5")
@pytest.mark.timeout(180)
def test_who_sent_a_message_can_write_a_note_at_once_and_the_next_message_after(served, new_page):
    bench = served.bench("Sent", {"a.txt": "a"})
    slow = story(("b.txt", "b"))
    slow[0]["respond"]["delay_ms"] = 120_000
    play(served, bench, "sent", slow)
    page = new_page(f"/bench/{bench}?stay=1")
    page.locator("html[data-live=yes]").wait_for()
    page.locator("#message").click()
    page.keyboard.type("Write b.txt")
    page.keyboard.press("Enter")
    page.locator("#note-text:focus").wait_for(timeout=TURN_MS)
    page.keyboard.type("Short, please")
    page.keyboard.press("Enter")
    page.locator(".message.note", has_text="Short, please").wait_for(timeout=TURN_MS)
    page.evaluate("document.activeElement.blur()")
    served.call("WorkshopAddNote", workbench_id=bench, text="Another one")
    page.locator(".message.note", has_text="Another one").wait_for(timeout=TURN_MS)
    held = page.evaluate("document.activeElement.tagName")
    page.keyboard.press("Escape")
    page.locator("#message:focus").wait_for(timeout=TURN_MS)

    assert held == "BODY"  # who let go of the field is left alone
