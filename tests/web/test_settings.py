"""The settings page: what is kept against what runs (R10.7)."""

from __future__ import annotations

from contextlib import closing

import pytest

from backshop.app import running


@pytest.mark.rule("R10.7", "U5.4")
def test_a_changed_setting_shows_what_has_to_be_restarted(served):
    with (
        closing(served.client()) as client,
        running(served.shop.config, "mcp"),
    ):
        before = client.get("/settings").text
        served.call("SettingsSet", key="rails.notes", value="required")
        changed = client.get("/settings").text
        served.call("SettingsSet", key="rails.notes", value=None)
        after = client.get("/settings").text

    assert "restart required" not in before.lower()
    assert "Restart required." in changed
    assert changed.count("<code>rails.notes</code>") >= 2
    assert "now: <code>encouraged</code>" in changed
    assert "restart required" not in after.lower()
