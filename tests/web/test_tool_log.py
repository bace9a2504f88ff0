"""The log of a turn's tools on its page: what the model was shown is shown to the person."""

from __future__ import annotations

import pytest
from tests.workshop.conftest import calls, says
from tests.workshop.test_seeing import LOOK, deck


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.23", "U7.3")
def test_a_picture_the_model_was_shown_stands_in_the_log_and_nobody_else_gets_it(served, new_page):
    bench = served.bench("Deck", {"deck.pptx": deck()})
    served.shop.models.play("looks", [calls("work", 1, LOOK), says("work", "A red square.")])
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:looks")
    sent = served.call("WorkshopSendUserMessage", workbench_id=bench, text="Look at it")
    served.call("WorkshopRunAgent", workbench_id=bench, message_id=sent["message_id"])
    token = served.call("UserAdd", name="Somebody else")["token"]

    page = new_page(f"/bench/{bench}?stay=1")
    page.locator("[data-details]").last.click()
    page.get_by_role("tab", name="Tools").click()
    page.locator("[data-entry] summary").first.click()
    picture = page.locator(".tool-picture img")
    picture.wait_for()
    page.wait_for_function("() => document.querySelector('.tool-picture img').naturalWidth > 0")
    address = page.locator(".tool-picture").get_attribute("href")
    with served.client() as owner, served.client(logged_in=False) as other:
        got = owner.get(address)
        unnamed = owner.get(address.partition("?")[0])
        other.post("/login", data={"token": token}, headers={"origin": served.address})
        refused = other.get(address)
        none = owner.get(f"/bench/{bench}/tool/99/picture")

    assert "deck.pptx, as the model was shown it" in picture.get_attribute("alt")
    assert (got.headers["content-type"], got.content[:4]) == ("image/png", b"\x89PNG")
    assert "sandbox" in got.headers["content-security-policy"]
    assert "immutable" in got.headers["cache-control"]
    assert unnamed.headers["cache-control"] == "no-store"
    assert (refused.status_code in (403, 404), none.status_code) == (True, 404)
