"""Whole stories: by keyboard alone, with a hostile model, before a consent (U7.2, U7.3, U3.6)."""

from __future__ import annotations

import pytest
from tests.web.accessible import violations
from tests.web.hearing import heard, listening
from tests.workshop.conftest import says, story

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> [go](javascript:alert(3)) "
    "![p](http://evil.example/p.png) <a href='http://evil.example'>x</a>\n\n"
    "```html\n<script>alert(4)</script>\n```\n"
)


def wait_for_answer(page):
    page.locator(".message.assistant.complete").wait_for(timeout=30_000)


@pytest.mark.rule("U7.3", "W20.6", "S7.4")
def test_nothing_a_model_says_runs_loads_or_leads_anywhere(served, new_page):
    bench = served.bench("Hostile", {"a.txt": "a"})
    served.shop.models.play("hostile", [says("research", HOSTILE), says("summary", HOSTILE)])
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:hostile")
    page = new_page(f"/bench/{bench}", own=True)
    asked: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    def close(dialog):
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", close)
    page.get_by_label("Message", exact=True).fill(HOSTILE)
    page.get_by_text("Ask", exact=True).click()
    page.get_by_role("button", name="Send").click()
    wait_for_answer(page)
    page.locator(".message.assistant").get_by_label("Message menu").click()
    page.get_by_role("button", name="Show details").last.click()
    page.get_by_role("tab", name="Research").click()

    assert dialogs == []
    assert [url for url in asked if not url.startswith(served.address)] == []
    assert page.locator(".transcript a, .transcript img, .transcript script").count() == 0
    assert "javascript:alert(3)" in page.locator(".message.assistant").inner_text()


@pytest.mark.timeout(240)
@pytest.mark.rule("U7.2", "S7.3", "W20.2", "W20.3", "B13.5")
def test_a_whole_story_by_keyboard_alone(served, new_page, files):
    bench = served.bench("Keys", {"old.txt": "old"})
    served.shop.models.play("keys", story(("new.txt", "new"), answer="Wrote **new.txt**."))
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:keys")
    page = new_page(f"/bench/{bench}", own=True)
    press = page.keyboard.press

    # add a file and ask
    page.on(
        "filechooser", lambda dialog: None
    )  # the browser hands its dialogs over from here on, which takes a moment
    _tab_to(page, "#pick-files")
    with page.expect_file_chooser() as dialog:
        press("Enter")
    dialog.value.set_files(files / "notes.md")
    page.locator(".file-name", has_text="notes.md").wait_for()
    press("Alt+Shift+C")
    page.keyboard.type("Write a file")
    press("Enter")
    page.wait_for_url("**/review", timeout=60_000)

    # look at the Draft, let a file go in it, agree, publish
    page.locator("body[data-ready]").wait_for()
    press("v")
    page.get_by_text("1 of 1 viewed").wait_for()
    _tab_to(page, "nav a[href$='stay=1']")
    press("Enter")
    page.wait_for_url("**stay=1")
    wait_for_answer(page)
    _tab_to(page, "#files a[title='old.txt']")
    press("Enter")
    page.locator(".viewer").wait_for()
    _tab_to(page, "[data-opens=ask-remove]")
    press("Enter")
    _tab_to(page, "#ask-remove .danger")
    press("Enter")
    page.wait_for_url("**/review")
    page.locator("body[data-ready]").wait_for()
    waits = page.locator("#publish").is_disabled()
    _tab_to(page, ".confirm-all button")
    press("Enter")
    page.locator("#publish:enabled").wait_for()
    _tab_to(page, "#publish")
    press("Enter")
    page.get_by_role("dialog", name="Publish the Draft?").wait_for()
    _tab_to(page, "#ask-publish .primary")
    press("Enter")
    page.wait_for_url(lambda address: "/review" not in address)  # loaded, so that keys are heard
    page.locator(".publish-card").wait_for()
    published = served.paths(bench)

    # go back in the conversation, forward again, and back to the files of before
    press("Alt+Shift+Z")
    page.get_by_role("dialog", name="Rewind to here?").wait_for()
    offered = page.get_by_role("dialog").get_by_role("button").all_inner_texts()
    ways = page.locator("dialog[open] .way").all_inner_texts()
    foretold = next(text for text in ways if text.startswith("Conversation and Published files"))
    _tab_to(page, "dialog[open] .buttons .primary")
    press("Enter")
    page.get_by_text("Rewound to here").wait_for()
    _tab_to(page, "[data-redo]")
    press("Enter")
    page.locator(".publish-card").wait_for()
    _tab_to(page, "[data-restore]")
    press("Enter")
    page.get_by_role("dialog", name="Restore what was Published before?").wait_for()
    _tab_to(page, "dialog[open] .buttons .primary")
    press("Enter")
    page.get_by_text("Publish of").wait_for()
    page.get_by_text("1 file read back, each as it should be; 1 file gone").wait_for()

    assert waits
    assert published == {"notes.md", "new.txt"}
    assert "Conversation and Published files" in offered
    assert not any("old.txt" in text for text in ways if text != foretold)
    assert "+ old.txt" in foretold
    assert "− new.txt" in foretold
    assert served.paths(bench) == {"old.txt", "notes.md"}
    assert violations(page) == []


def _tab_to(page, selector):
    """Go on with Tab until an element of this kind has the focus."""
    for _ in range(80):
        if page.evaluate("wanted => document.activeElement?.matches(wanted)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector!r}")


@pytest.mark.rule("U3.6", "M4.10", "W20.4")
def test_consent_is_asked_before_anything_leaves(served, new_page):
    bench = served.bench("Private", {"salaries.csv": "name,amount\nA,1\n"})
    served.call("SettingsSet", key="consent.for_local", value=True)
    served.call(
        "ProvidersUpsertLocal",
        provider_id="local-x",
        preset="custom",
        base_url="http://127.0.0.1:9/v1",
        models=["m"],
    )
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="local-x:m")
    page = listening(new_page, f"{served.address}/bench/{bench}")
    page.get_by_label("Message", exact=True).fill("What is in it?")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Send to a model outside this machine?")
    dialog.wait_for()
    told = dialog.inner_text()
    [said] = [one for one in heard(page) if one.startswith("!")]
    accessible = violations(page)
    dialog.get_by_role("button", name="Do not send").click()
    sent = served.call("EgressListEvents", workbench_id=bench)["events"]
    page.get_by_role("button", name="Allow sending").click()
    dialog.get_by_role("button", name="Allow for this workbench").click()
    page.locator(".message.assistant").wait_for(timeout=60_000)

    assert "Nothing was sent yet" in said
    assert "salaries.csv" in told
    assert "local-x:m" in told
    assert accessible == []
    assert [one for one in sent if one["kind"] == "call"] == []
    assert served.call("EgressGetConsentStatus", workbench_id=bench, model_id="local-x:m")[
        "consented"
    ]
