"""The Context page: what goes with every call, written, changed and taken away (U5.3)."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]
TEXT = "---\nname: company\ndescription: Who we are\n---\n\nWe sell bicycles in Bremen.\n"


@pytest.mark.rule("U5.3", "B14", "U1.4")
def test_a_card_is_written_shown_as_it_is_sent_changed_and_deleted(served, new_page):
    bench = served.bench("Context", {"a.txt": "a"})
    page = new_page(f"/bench/{bench}/context")
    card = page.get_by_role("region", name="Company")
    card.get_by_text("Write by hand").click()
    card.locator("textarea").first.fill(TEXT)
    card.get_by_role("button", name="Save").click()
    card.locator(".badge.ok").first.wait_for()
    card.get_by_text("The exact text that is sent").click()
    sent = card.locator("pre").first.text_content()
    card.get_by_text("Edit by hand").click()
    card.locator("textarea").first.fill(TEXT.replace("Bremen", "Bonn"))
    card.get_by_role("button", name="Save").click()
    card.get_by_text("edited by hand").first.wait_for()
    card.get_by_role("button", name="Delete").click()
    card.get_by_text("empty").wait_for()

    assert "We sell bicycles in Bremen." in sent


@pytest.mark.rule("U5.3", "P7.11", "S5.2")
def test_the_digest_is_made_edited_pinned_and_goes_stale_on_the_open_page(served, new_page):
    bench = served.bench("Digest", {"a.txt": "a", "b.csv": "x,y\n1,2\n"})
    page = new_page(f"/bench/{bench}/context")
    digest = page.locator("#digest")
    digest.get_by_role("button", name="Refresh").click()
    digest.get_by_text("fresh").wait_for()
    digest.get_by_text("Edit", exact=True).click()
    digest.get_by_label("Text").fill("Two small files.")
    digest.get_by_role("button", name="Save").click()
    page.locator("#digest").get_by_text("The exact text that is sent").click()
    page.locator("#digest pre").get_by_text("Two small files.").wait_for()
    page.locator("html[data-live]").wait_for()
    served.call("DigestSet", workbench_id=bench, body="From elsewhere.", pin=True)
    page.locator("#digest pre").get_by_text("From elsewhere.").wait_for()
    page.locator("#digest").get_by_role("button", name="Clear").click()

    page.get_by_text("No digest yet").wait_for()
