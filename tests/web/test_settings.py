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


@pytest.mark.rule("U5.4", "U1.4")
def test_settings_are_chosen_from_what_is_allowed_and_written_as_people_read_them(served):
    with closing(served.client()) as client:
        page = client.get("/settings").text
        form = {"key": "consent.for_local", "value": "true", "next": "/settings#limits"}
        done = client.post("/do/SettingsSet", data=form)
        changed = client.get("/settings").text
    found = {one["name"]: one.get("value") for one in served.call("SettingsGet")["settings"]}
    served.call("SettingsSet", key="consent.for_local", value=None)

    choice = '<select name="value" aria-label="consent.for_local"><option {}>true</option>'
    assert choice.format("") in page
    assert choice.format("selected") in changed
    assert "<option selected>warning</option>" in page
    assert [odd for odd in ("[]", ">False<", '"False"', ">None<") if odd in page] == []
    assert (done.status_code, found["consent.for_local"]) == (303, True)


@pytest.mark.rule("W1.4", "U5.4", "U1.4")
def test_how_turns_are_executed_is_chosen_for_one_workbench(served):
    bench, other = served.bench("One"), served.bench("Other")
    address = f"/bench/{bench}/settings"

    def chosen(page):
        return [one for one in ("rpi", "compat") if f'value="{one}" checked' in page]

    with closing(served.client()) as client:
        before = chosen(client.get(address).text)
        form = {"workbench_id": bench, "flow": "compat", "next": address}
        done = client.post("/do/WorkshopSetFlow", data=form)
        after = chosen(client.get(address).text)
        strange = client.post("/do/WorkshopSetFlow", data={**form, "flow": "other"})

    flows = [served.call("WorkshopGetState", workbench_id=one)["flow"] for one in (bench, other)]
    assert (before, after, flows) == (["rpi"], ["compat"], ["compat", "rpi"])
    assert (done.headers["location"], strange.status_code) == (address, 422)
