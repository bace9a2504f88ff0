"""The Context page: what goes with every call, written, changed and taken away (U5.3)."""

from __future__ import annotations

import json

import pytest
from tests.models.provider import Reply, chat, serving
from tests.web.drafts import Drafting

MADE = ("- Boats by Friday.", "- Boats by Monday.")
pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]


@pytest.mark.rule("U5.3", "U9.2", "U9.3", "U9.4", "B14", "U1.4")
def test_a_card_is_written_shown_as_it_is_sent_changed_and_deleted(served, new_page):
    bench = served.bench("Context", {"a.txt": "a"})
    page = new_page(f"/bench/{bench}/context")
    card = page.get_by_role("region", name="Company")
    card.get_by_text("Write by hand").click()
    card.get_by_label("What it is, in one line").fill('Who we are: "bikes"')
    card.get_by_label("Text").fill("We sell bicycles in Bremen.")
    card.get_by_role("button", name="Save").click()
    card.locator(".badge.ok").first.wait_for()
    card.get_by_text("The exact text that is sent").click()
    sent = card.locator("pre").first.text_content()
    card.get_by_text("Edit by hand").click()
    line = card.get_by_label("What it is, in one line").input_value()
    card.get_by_label("Text").fill("We sell bicycles in Bonn.")
    card.get_by_role("button", name="Save").click()
    card.get_by_text("edited by hand").first.wait_for()
    card.get_by_role("button", name="Delete").click()
    card.get_by_text("empty").wait_for()
    page.locator("#company-context-title:focus").wait_for()  # the button that had it is gone
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    card.get_by_text("The exact text that is sent").click()
    back = card.locator("pre").first.text_content()

    assert line == 'Who we are: "bikes"'
    assert "We sell bicycles in Bonn." in back
    assert "We sell bicycles in Bremen." in sent


@pytest.mark.rule("U5.3")
def test_a_blank_item_is_refused_in_its_form(served, new_page):
    bench = served.bench("Context", {"a.txt": "a"})
    page = new_page(f"/bench/{bench}/context")
    card = page.get_by_role("region", name="Situation")
    card.get_by_text("Write by hand").click()
    card.get_by_label("context.md").fill(" ")
    card.get_by_role("button", name="Save").click()
    card.get_by_role("alert").get_by_text("is missing or blank").wait_for()
    card.get_by_label("context.md").fill("Boats by Friday.")
    card.get_by_role("button", name="Save").click()

    card.locator(".badge.ok").first.wait_for()


@pytest.mark.rule("U5.3", "P7.11", "S5.2")
def test_the_digest_is_made_edited_pinned_and_goes_stale_on_the_open_page(served, new_page):
    bench = served.bench("Digest", {"a.txt": "a", "b.csv": "x,y\n1,2\n"})
    page = new_page(f"/bench/{bench}/context")
    digest = page.locator("#digest")
    digest.get_by_role("button", name="Refresh").click()
    digest.get_by_text("fresh", exact=True).wait_for()
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


def allowed(page, card, server):
    """Process a text, let it be sent when asked, and return what had been sent before that."""
    card.get_by_role("button", name="Process").click()
    card.locator("[data-error=EGRESS_CONSENT_REQUIRED]").wait_for()
    before = len(server.seen)
    card.get_by_role("button", name="Allow sending").click()
    page.get_by_role("button", name="Allow for this workbench").click()
    return before


@pytest.mark.rule("U5.3", "U3.6", "U1.6", "B14.8", "M4.10")
def test_a_text_becomes_an_item_again_and_again_once_sending_was_allowed(served, new_page):
    bench = served.bench("Made", {"a.txt": "a"})
    answers = [json.dumps({"files": [{"path": "context.md", "content": text}]}) for text in MADE]
    with serving(*(Reply(chat(one)) for one in answers)) as server:
        about = {"provider_id": "local-c", "preset": "custom", "base_url": server.url}
        served.call("ProvidersUpsertLocal", **about, models=["m"])
        served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:echo")
        served.call("UserSetDefaultModel", model_id="local-c:m")  # which makes context items
        served.call("SettingsSet", key="consent.for_local", value=True)
        page = new_page(f"/bench/{bench}/context")
        card = page.get_by_role("region", name="Situation")
        card.get_by_text("Make it from a text").click()
        card.locator("[name=text]").fill("We build boats, the first is due on Friday.")
        asked = [allowed(page, card, server)]
        card.get_by_text(MADE[0]).first.wait_for()
        served.call(
            "ContextUpdateDirect",
            workbench_id=bench,
            category="situation",
            files=[{"path": "context.md", "content": "- By hand."}],
        )
        card.get_by_text("edited by hand", exact=True).wait_for()
        card.get_by_text("Make it again from a text").click()
        card.locator("[name=text]").fill("It is Monday now.")
        card.get_by_label("Replace what was edited by hand").check()
        asked.append(allowed(page, card, server))  # what was written by hand is new to the model
        card.get_by_text(MADE[1]).first.wait_for()
        served.call("SettingsSet", key="consent.for_local", value=None)

    assert asked == [0, 1]
    assert "edited by hand" not in card.inner_text()


@pytest.mark.rule("U1.6", "U1.4")
def test_the_page_of_a_refusal_leads_to_what_can_be_done(served):
    bench = served.bench("Refused", {"a.txt": "a", "b.txt": "b"})
    draft = Drafting(served, bench)
    draft.put({"c.txt": "c"})
    served.call("DraftDeletePath", workbench_id=bench, path="a.txt")
    with served.client() as client:
        form = {"workbench_id": bench, "back": f"/bench/{bench}", "next": "/"}
        refused = client.post("/do/DraftPublish", data=form, headers={"accept": "text/html"})

    assert refused.status_code == 409
    assert (
        f'<a class="button small" href="/bench/{bench}/review">Confirm deletions</a>'
        in refused.text
    )
