"""What errors offer in front of people (U1.6)."""

from __future__ import annotations

import pytest

from backshop.web.pages.words import ACTIONS, action_links


@pytest.mark.rule("U1.6")
def test_every_action_of_an_error_but_trying_again_has_a_page_that_can_do_it():
    links = dict(action_links(list(ACTIONS), "wb_1", "/here"))

    assert {name for name, _ in ACTIONS.values()} - links.keys() == {"Try again"}
    assert not any("{" in page for page in links.values())
    assert action_links(list(ACTIONS), None, "/here") == [
        ("Open Settings", "/settings/models?back=%2Fhere")
    ]
