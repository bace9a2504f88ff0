"""Errors as people read them: a sentence, a next step, and codes behind "Details" (U9.1)."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from tests.web.accessible import violations

from backshop.base.errors import CODES
from backshop.web.sentences import CALM, SENTENCES, SERVERS, TESTED, explained, provider_line

SHOUTED = re.compile(r"[A-Z]+_[A-Z_]+")


@pytest.mark.rule("U9.1")
def test_every_code_of_the_product_has_a_sentence_and_a_next_step():
    told = {code: explained({"error_code": code, "message": "the facts"}) for code in CODES}

    assert [code for code, one in told.items() if not one["sentence"] or not one["then"]] == []
    assert {key.partition(":")[0] for key in SENTENCES} == set(CODES) >= CALM
    words = [text for pair in SENTENCES.values() for text in pair if text]
    assert [one for one in words if not one.endswith(".") or SHOUTED.search(one)] == []


@pytest.mark.rule("U9.1")
def test_a_reason_with_a_sentence_of_its_own_is_told_by_it_and_the_own_words_stay():
    told = explained(
        {"error_code": "NETWORK_UNAVAILABLE", "reason": "dns", "message": "the name is not known"}
    )
    own = explained({"error_code": "VALIDATION_FAILED", "reason": "x", "message": "a is no b"})

    assert told["sentence"] != explained({"error_code": "NETWORK_UNAVAILABLE"})["sentence"]
    assert told["original"] == "the name is not known"
    assert (own["sentence"], own["original"]) == ("A is no b.", "")


@pytest.mark.rule("U9.1", "U9.5")
def test_what_a_test_of_a_provider_found_blames_no_key_that_there_is_not():
    tables = (SERVERS, TESTED)
    words = [text for table in tables for pair in table.values() for text in pair]
    own = {line: provider_line(line, is_own=True) for line in (*CODES, *SERVERS)}
    lines = ("PROVIDER_REQUEST_REJECTED", "EGRESS_BLOCKED_BY_POLICY: redirect")

    assert {key.partition(":")[0] for table in tables for key in table} <= set(CODES)
    assert [one for one in words if not one.endswith(".") or SHOUTED.search(one)] == []
    assert {one for one in own if "key" in own[one]} == {
        *("PROVIDER_AUTH_FAILED", "PROVIDER_NOT_CONFIGURED")
    }
    assert [provider_line(one, is_own=True) for one in lines] == [
        " ".join(SERVERS[one.replace(": ", ":")]) for one in lines
    ]
    assert [one for one in lines if "accepted" in provider_line(one)] == []


@pytest.mark.rule("U9.1", "U1.6")
def test_a_page_says_it_in_a_sentence_and_keeps_the_code_behind_details(served):
    made = served.call("UserAdd", name="Somebody else")
    bench = served.bench("Closed")
    with closing(served.client(logged_in=False)) as client:
        client.post("/login", data={"token": made["token"]})
        page = client.get(f"/bench/{bench}", headers={"accept": "text/html"}).text
    box = page[page.index('class="error"') : page.index("Back</a>")]
    before, _, behind = box.partition("<summary>Details</summary>")

    assert "Your role does not allow that." in before
    assert "ACCESS_DENIED" not in re.sub(r'data-error="[A-Z_]+"', "", before)
    assert "ACCESS_DENIED: role" in behind


@pytest.mark.needs("browser")
@pytest.mark.rule("U9.1", "U1.6")
def test_a_refusal_in_place_reads_the_same_and_its_details_open_by_keyboard(served, new_page):
    page = new_page("/workflows/wr.auto")
    page.get_by_role("button", name="Copy…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("New id").fill("wr.mine")
    dialog.get_by_role("button", name="Copy", exact=True).click()
    box = page.locator(".error[role=alert]")
    box.wait_for()
    closed = box.inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    opened = box.inner_text()

    assert SHOUTED.search(closed) is None
    assert "Not saved: `wr.mine`: the namespace `wr` belongs to bundled workflows" in closed
    assert "Write user.mine instead." in closed
    assert "WORKFLOW_INVALID" in opened
    assert violations(page) == []
