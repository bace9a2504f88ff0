"""The settings page: what is kept against what runs (R10.7)."""

from __future__ import annotations

import os
import re
from contextlib import closing

import pytest
from tests.models.provider import Reply, chat
from tests.models.provider import serving as answering
from tests.web.browsing import WAIT_MS, serving

from backshop.app import running
from backshop.app.settings.resolution import in_force
from backshop.app.settings.table import SETTINGS

KEY = "sk-of-nobody-0123456789"


@pytest.mark.rule("R10.7", "U5.4")
def test_a_changed_setting_shows_what_has_to_be_restarted(served):
    with (
        closing(served.client()) as client,
        running(served.shop.config, "mcp"),
    ):
        before = client.get("/settings/advanced").text
        served.call("SettingsSet", key="rails.notes", value="required")
        changed = client.get("/settings/advanced").text
        served.call("SettingsSet", key="rails.notes", value=None)
        after = client.get("/settings/advanced").text

    assert "restart required" not in before.lower()
    assert "Restart required." in changed
    assert changed.count("<code>rails.notes</code>") == 2  # its row, and in the line on top
    assert "now: <code>encouraged</code>" in changed
    assert "restart required" not in after.lower()


@pytest.mark.rule("U5.4", "U1.4")
def test_settings_are_chosen_from_what_is_allowed_and_written_as_people_read_them(served):
    with closing(served.client()) as client:
        page = client.get("/settings/advanced").text
        done = client.post("/settings/advanced", data={"consent.for_local": "true"})
        changed = client.get("/settings/advanced").text
    found = {one["name"]: one.get("value") for one in served.call("SettingsGet")["settings"]}
    served.call("SettingsSet", key="consent.for_local", value=None)

    choice = (
        '<select name="consent.for_local" aria-label="consent.for_local"><option {}>true</option>'
    )
    assert choice.format("") in page
    assert choice.format("selected") in changed
    assert "<option selected>warning</option>" in page
    assert [odd for odd in ("[]", ">False<", '"False"', ">None<") if odd in page] == []
    assert (done.status_code, found["consent.for_local"]) == (200, True)


LIVE = {  # what somebody types, and what that means
    "onboarding": ('{"completed": true, "version": 1}', {"completed": True, "version": 1}),
    "providers": ('{"openai": {"enabled": false}}', {"openai": {"enabled": False}}),
    "model.default": ("scripted:demo", "scripted:demo"),
    "consent.mode": ("allow_all", "allow_all"),
    "consent.for_local": ("false", False),
    "budget.tokens": ("100000", 100_000),
    "budget.usd": ("2.5", 2.5),
    "models": ("[]", ()),
}


@pytest.mark.rule("S3.4", "U5.4", "U1.4")
@pytest.mark.parametrize("name", [one.name for one in SETTINGS if one.live])
@pytest.mark.parametrize("field", ["value:json", "value"])
def test_a_setting_that_counts_at_once_is_set_and_taken_out_by_the_form(served, name, field):
    text, meant = LIVE[name]
    is_text_refused = field == "value" and text[0] in "[{"  # JSON has to be said to be JSON
    form = {"key": name, "next": "/settings/advanced#limits"}

    with closing(served.client()) as client:
        done = client.post("/do/SettingsSet", data={**form, field: text})
        now = in_force(served.shop.config, name)
        out = client.post("/do/SettingsSet", data={**form, "value:json": ""})
        after = in_force(served.shop.config, name)

    default = served.shop.config.values[name].setting.default
    assert done.status_code == (422 if is_text_refused else 303)
    if not is_text_refused:
        assert (now, type(now)) == (meant, type(meant))
    assert (out.status_code, after) == (303, default)


@pytest.mark.rule("S3.4", "M13.3")
def test_a_budget_from_the_page_stops_a_turn_and_taken_out_stops_none(served):
    bench = served.bench("Thrifty", {"a.md": "a\n"})
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:demo")
    about = {"workbench_id": bench}
    said = served.call("WorkshopSendUserMessage", **about, text="Hello", mode="ask")
    turn = {**about, "message_id": said["message_id"]}
    form = {"key": "budget.tokens", "next": "/settings/advanced#limits"}

    with closing(served.client()) as client:
        client.post("/do/SettingsSet", data={**form, "value:json": "10"})
        stopped = served.call("WorkshopRunAgent", **turn)["status"]
        client.post("/do/SettingsSet", data={**form, "value:json": ""})
        resumed = served.call("WorkshopRunAgent", **turn)["status"]

    assert (stopped, resumed) == ("paused", "complete")


@pytest.mark.needs("browser")
@pytest.mark.rule("S3.4", "U5.4")
def test_a_number_and_an_object_are_typed_on_the_page_and_taken_out_again(served, new_page):
    page = new_page("/settings/advanced")
    words = '{"xlsx": ["ledger"]}'

    def typed(tokens, keywords):
        for name, text in (("budget.tokens", tokens), ("bench.style_keywords", keywords)):
            page.get_by_label(name, exact=True).fill(text)
        page.get_by_role("button", name="Save").click()
        page.get_by_text("2 settings saved.").wait_for()
        found = {one["name"]: one.get("value") for one in served.call("SettingsGet")["settings"]}
        return found["budget.tokens"], found["bench.style_keywords"]

    kept = typed("100000", words)
    shown = page.get_by_label("bench.style_keywords", exact=True).input_value()
    page.goto(f"{served.address}/settings/advanced")  # another page says what it saved
    gone = typed("", "")

    assert (kept, shown) == ((100_000, {"xlsx": ["ledger"]}), words)
    assert gone == (None, None)


@pytest.mark.rule("U5.52")
def test_settings_are_saved_together_or_not_at_all_and_what_cannot_be_used_is_named(served):
    with closing(served.client()) as client:
        typed = {"budget.tokens": "100", "workshop.max_turn_minutes": "soon"}
        refused = client.post("/settings/advanced", data=typed)
    found = {one["name"]: one.get("value") for one in served.call("SettingsGet")["settings"]}

    assert refused.status_code == 422
    assert found["budget.tokens"] is None
    assert "1 value cannot be used, so nothing was saved" in refused.text
    assert "<code>workshop.max_turn_minutes</code>" in refused.text
    assert 'value="soon"' in refused.text
    assert 'value="100"' in refused.text


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.52")
def test_a_setting_is_found_by_words_of_its_sentence(served, new_page):
    page = new_page("/settings/advanced")
    page.get_by_label("Find a setting").fill("turn take")
    names = page.locator(".raw tbody tr:visible code").all_inner_texts()
    page.get_by_label("Find a setting").fill("no such words")

    assert names == ["workshop.max_turn_minutes"]
    assert page.get_by_text("No setting has these words.").is_visible()


@pytest.mark.rule("U5.50")
def test_who_does_not_own_the_home_is_offered_only_the_tabs_that_open(served):
    made = served.call("UserAdd", name="Reader of settings")
    with closing(served.client(logged_in=False)) as client:
        client.post("/login", data={"token": made["token"]})
        page = client.get("/settings", headers={"accept": "text/html"}).text
        offered = re.findall(r'href="(/settings[^"]*)"', page)
        opened = [client.get(one).status_code for one in offered]
        models = client.get("/settings/models").text
        refused = [client.get(f"/settings/{one}").status_code for one in ("people", "advanced")]

    assert set(offered) == {"/settings", "/settings/models", "/settings/usage"}
    assert opened == [200] * len(offered)
    assert refused == [403, 403]
    assert "data-command" not in models


@pytest.mark.rule("W1.4", "U5.4", "U1.4")
def test_how_turns_are_executed_is_chosen_for_one_workbench(served):
    bench, other = served.bench("One"), served.bench("Other")
    address = f"/bench/{bench}/settings"

    def chosen(page):
        return [one for one in ("auto", "rpi", "compat") if f'value="{one}" checked' in page]

    with closing(served.client()) as client:
        before = chosen(client.get(address).text)
        form = {"workbench_id": bench, "flow": "compat", "next": address}
        done = client.post("/do/WorkshopSetFlow", data=form)
        after = chosen(client.get(address).text)
        strange = client.post("/do/WorkshopSetFlow", data={**form, "flow": "other"})

    flows = [served.call("WorkshopGetState", workbench_id=one)["flow"] for one in (bench, other)]
    assert (before, after, flows) == (["auto"], ["compat"], ["compat", "auto"])
    assert (done.headers["location"], strange.status_code) == (address, 422)


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.4", "M3.2", "M3.12", "M7.2")
def test_a_key_is_tested_when_it_is_saved_shown_by_its_end_and_removed(served, new_page):
    page = new_page("/settings/models")
    provider = page.locator("details.provider", has_text="OpenAI").first

    def told(state):
        provider.locator("summary .badge", has_text=state).wait_for()

    told("no key")
    provider.locator("> summary").click()
    provider.get_by_label("API key").fill(KEY)
    provider.get_by_role("button", name="Test and save").click()
    told("needs attention")  # there is no network to test it with
    hint = provider.locator("> summary").inner_text()
    provider.get_by_label("Plan").select_option("high")
    with page.expect_event("load"):  # the address alone changes first
        provider.get_by_role("group", name="Effort per phase").get_by_role("button").click()
    shown = provider.get_by_label("Plan").input_value()
    is_told = KEY in page.content()
    [status] = [
        one
        for one in served.call("ProvidersGetStatus")["providers"]
        if one["provider_id"] == "openai"
    ]
    provider.locator("summary", has_text="Remove key").click()  # asks first (U9.4)
    provider.get_by_role("button", name="Remove for good").click()
    told("no key")

    assert "…6789" in hint
    assert not is_told
    assert shown == "high"
    assert "high" in status["rpi_reasoning"].values()


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.4", "U2.1")
def test_the_look_that_was_chosen_stays(served, new_page):
    page = new_page("/settings", color_scheme="light")
    look = page.get_by_role("region", name="Appearance")
    look.get_by_text("Dark", exact=True).click()
    look.get_by_role("button", name="Save").click()
    page.locator("html[data-theme=dark]").wait_for()
    page.goto(served.address)

    assert page.locator("html[data-theme=dark]").count() == 1


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.4", "T4.5")
def test_what_takes_space_is_shown_and_what_nothing_needs_removed_or_the_reason_said(
    tmp_path, browser
):
    with serving(tmp_path / "home") as served:
        served.bench("Kept", {"a.txt": "a" * 100_000})
        lost = served.shop.store.blobs.put(b"b" * 100_000)
        old = served.shop.store.blobs.path(lost)
        os.utime(old, (0, 0))
        context = browser.new_context()
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        page.goto(served.link())
        page.goto(f"{served.address}/settings/advanced")
        data = page.get_by_role("region", name="Data")
        data.locator("#disk").get_by_text("Together").wait_for()
        data.get_by_role("button", name="Look for what nothing needs").click()
        data.get_by_text("1 stored content that nothing needs, 0.1 MB").wait_for()
        stays = old.exists()
        data.get_by_role("button", name="Remove them").click()
        data.get_by_text("Removed: 1 stored content").wait_for()
        data.get_by_role("button", name="Look for what nothing needs").click()
        data.get_by_text("There is nothing to remove.").wait_for()
        with served.shop.store.database.transaction() as cursor:
            cursor.text("UPDATE event SET body = '{}' WHERE idx = 0")
        data.get_by_role("button", name="Look for what nothing needs").click()
        data.get_by_text("Nothing was removed: ").wait_for()
        context.close()

    assert stays
    assert not old.exists()


@pytest.mark.rule("U9.5", "U1.4")
def test_a_server_that_is_added_is_asked_at_once_and_one_that_is_not_there_says_so(served):
    listed = b'{"object": "list", "data": [{"id": "qwen"}]}'
    told = Reply([listed], content_type="application/json")
    server = {"provider_id": "local-gone", "preset": "custom", "base_url": "http://127.0.0.1:9/v1"}
    own = {"origin": served.address, "accept": "text/html"}
    with closing(served.client()) as client, answering(told, Reply(chat("yes"))) as here:
        gone = client.post("/settings/servers", data=server, headers=own)
        away = client.get(gone.headers["location"]).text
        there = {**server, "provider_id": "local-here", "base_url": here.url}
        added = client.post("/settings/servers", data=there, headers=own, follow_redirects=True)
        wrong = client.post(
            "/settings/servers", data={**server, "base_url": "http://example.com/v1"}, headers=own
        )
    states = {
        one["provider_id"]: one["status"] for one in served.call("ProvidersGetStatus")["providers"]
    }
    for name in ("local-gone", "local-here"):
        served.call("ProvidersRemove", provider_id=name)

    assert "Nothing answers at its address" in away
    assert (states["local-gone"], states["local-here"]) == ("needs_attention", "configured")
    assert "It is added and answers; its models can be chosen" in added.text
    assert (wrong.status_code, 'value="http://example.com/v1"' in wrong.text) == (422, True)


def add_without_model(page, name, address):
    """Add a server that lists no model, in Settings, as a person does."""
    page.get_by_text("Add a model server of your own").click()
    page.get_by_label("Kind").select_option("custom")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Address", exact=True).fill(address)
    page.get_by_role("button", name="Add and ask what it can do").click()
    page.get_by_text("but it has no model").wait_for()


@pytest.mark.needs("browser")
@pytest.mark.rule("U9.5", "U1.3", "U1.4")
def test_a_page_that_answers_a_form_stays_and_is_not_sent_again(served, new_page):
    listed = Reply([b'{"object": "list", "data": []}'], content_type="application/json")
    page = new_page("/settings/models", own=True)
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
    with answering(listed) as here:
        add_without_model(page, "local-empty", here.url)
        page.wait_for_function("() => location.pathname === '/settings/models'")
        served.call("UserSetConsentMode", mode="ask")  # news, after what the form itself changed
        warned = page.get_by_text("The server offers no model.").count()
        page.reload()
        page.locator("html[data-live=yes]").wait_for()
    served.call("ProvidersRemove", provider_id="local-empty")

    assert warned == 1
    assert sent == [f"{served.address}/settings/servers"]
    assert len(here.seen) == 1


@pytest.mark.needs("browser")
@pytest.mark.rule("U9.5")
def test_what_a_server_lacked_when_it_was_added_is_not_said_after_another_look(served, new_page):
    lists = [b'{"object": "list", "data": []}', b'{"object": "list", "data": [{"id": "qwen"}]}']
    replies = [Reply([one], content_type="application/json") for one in lists]
    page = new_page("/settings/models")
    with answering(*replies, Reply(chat("yes"))) as here:
        add_without_model(page, "local-late", here.url)
        page.get_by_role("button", name="Look what it can do").click()
        page.get_by_text("1 model, which reads").first.wait_for()
        left = page.get_by_text("but it has no model").count()
    served.call("ProvidersRemove", provider_id="local-late")

    assert left == 0


@pytest.mark.needs("browser")
@pytest.mark.rule("U9.4")
def test_the_page_asks_before_a_server_goes_away(served, new_page):
    served.call(
        "ProvidersUpsertLocal",
        provider_id="local-going",
        preset="custom",
        base_url="http://127.0.0.1:9/v1",
    )
    page = new_page("/settings/models")
    server = page.locator("details.provider:has([value=local-going])")
    server.locator("summary").first.click()
    asked = server.get_by_role("button", name="Remove for good")
    at_first = asked.is_visible()
    server.locator("summary", has_text="Remove…").click()
    asked.click()
    server.wait_for(state="detached")

    assert not at_first


@pytest.mark.rule("U9.5", "U5.4")
def test_a_server_that_asks_for_a_key_is_added_as_one_and_has_a_field_for_it(served):
    server = {"provider_id": "local-keyed", "preset": "custom"}
    server |= {"base_url": "http://127.0.0.1:9/v1", "needs_key": "true"}
    with closing(served.client()) as client:
        added = client.post("/settings/servers", data=server, follow_redirects=True).text
    served.call("ProvidersRemove", provider_id="local-keyed")

    assert "It is added. Enter its key" in added
    assert 'id="key-local-keyed"' in added


@pytest.mark.rule("U5.52")
def test_saving_an_old_page_leaves_what_was_changed_elsewhere_meanwhile(served):
    with closing(served.client()) as client:
        page = client.get("/settings/advanced").text
        form = dict(re.findall(r'<input type="hidden" name="(was:[^"]+)" value="([^"]*)"', page))
        typed = {name.removeprefix("was:"): text for name, text in form.items()}
        served.call("SettingsSet", key="rails.notes", value="required")
        saved = client.post(
            "/settings/advanced", data={**form, **typed, "consent.for_local": "true"}
        )
    found = {one["name"]: one.get("value") for one in served.call("SettingsGet")["settings"]}
    for key in ("rails.notes", "consent.for_local"):
        served.call("SettingsSet", key=key, value=None)

    assert "1 setting saved." in saved.text
    assert (found["rails.notes"], found["consent.for_local"]) == ("required", True)


@pytest.mark.rule("U1.6")
def test_an_address_that_only_takes_forms_says_so_to_who_looks_at_it(served):
    with closing(served.client()) as client:
        page = client.get("/settings/servers", headers={"accept": "text/html"})

    assert (page.status_code, "There is no page here" in page.text) == (405, True)
