"""Studio for operators: what waits, who is at work, filters, branches, time (U6)."""

from __future__ import annotations

import html
import json
import re
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.rails.agent import Agent
from tests.rails.workflows import flow, step

from backshop.app import Server
from backshop.base.acting import agent_acting
from backshop.web.drawing import Call, Work, model_took, work_before
from backshop.web.pages import studio
from backshop.web.timeline import lasted, timeline

EVIL = "<img src=x onerror='window.taken = 1'>"
COLOUR = {
    "id": "colour",
    "reason": "needs_user_choice",
    "choiceKind": "preference_tradeoff",
    "prompt": f"Which colour? {EVIL}",
    "options": ["red", "green", "\u200fאדום"],
}
NO_SERVER = {"status": 503, "content_type": "text/html", "body": "<h1>No server</h1>"}
SLOW_PARTS = """() => {
  const [fetched, waits] = [window.fetch, [600, 500]];
  let parts = 0;
  window.fetch = async (path, request) => {
    const answer = await fetched(path, request);
    if (!String(path).includes("/studio/parts")) return answer;
    await new Promise((done) => setTimeout(done, waits.shift() ?? 0));
    setTimeout(() => { document.body.dataset.parts = parts += 1; }, 100); // once it is shown
    return answer;
  };
}"""
LEASE = flow(
    step("draft", title="Draft"),
    step("sign", title="Sign", requireConfirmation={"kind": "human_approval"}),
    step("paint", title="Paint", userInputs=[COLOUR]),
    step("end", title="End"),
    name="user.lease",
)


@pytest.fixture(scope="module")
def ann(served):
    folder = served.shop.config.home / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lease.json").write_text(json.dumps(LEASE), encoding="utf-8")
    return Agent(served.shop.rails)


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.13", "U6.16", "U6.17", "R10.11")
def test_what_waits_comes_first_is_answered_there_and_is_true_at_once(served, ann, new_page):
    with agent_acting("mcp:claude-code"):
        signing = ann.go(ann.start("user.lease", goal="Rent the shop"), "Drafted.")
        blocked = ann.go(signing, f"Page 2 changed. {EVIL}")
    page = new_page("/studio")
    waits = page.locator("#waits")
    item = waits.locator(".wait").filter(has_text="Rent the shop")
    handed = item.get_by_text("Page 2 changed.").inner_text()
    at_work = page.locator("#at-work").inner_text()
    item.get_by_label("Say why (optional)").fill("Fine with me.")
    ann.go(ann.go(ann.start("user.lease", goal="Rent a barn"), "Drafted."), "Ready.")
    waits.locator(".wait").filter(has_text="Rent a barn").wait_for()
    typed = item.get_by_label("Say why (optional)").input_value()
    item.get_by_role("button", name="Approve").click()
    item.wait_for(state="detached")
    expect(page.locator("#runs").get_by_role("row", name="Rent the shop")).to_contain_text(
        "in progress"
    )
    focused = page.evaluate("document.activeElement.id")
    with agent_acting("mcp:claude-code"):
        ann.go(blocked, f"Page 2 changed. {EVIL}")  # which makes the next question wait
    expect(page.locator("#at-work")).to_contain_text("claude-code in Rent the shop, at “Paint”")
    asked = waits.locator(".wait").filter(has_text="Which colour?")
    asked.get_by_label("Your answer").select_option("green")
    page.locator("#waits-heading").focus()
    ann.go(ann.go(ann.start("user.lease", goal="Rent a field"), "Drafted."), "Ready.")
    waits.locator(".wait").filter(has_text="Rent a field").wait_for()
    asked.get_by_role("button", name="Answer").click()
    asked.wait_for(state="detached")
    tip = served.call("RailsRunGet", runId=blocked["session"]["runId"])["preferredTip"]
    said = served.call("RailsNodeGet", nodeId=tip)["inputs"][0]

    assert EVIL in handed
    assert "claude-code in Rent the shop, at “Sign”" in at_work
    assert typed == "Fine with me."
    assert focused == "waits-heading"
    assert (said["decision"], said["summary"]) == ("provided", "green")
    assert page.evaluate("window.taken") is None


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.13", "U1.6")
def test_an_answer_that_was_not_recorded_says_so_in_its_place_and_can_be_given_again(
    served, ann, new_page
):
    ann.go(ann.go(ann.start("user.lease", goal="Rent a boat"), "Drafted."), "Ready.")
    page = new_page("/studio")
    item = page.locator(".wait").filter(has_text="Rent a boat")
    item.get_by_label("Say why (optional)").fill("Fine with me.")
    told = []
    for instead in (lambda route: route.abort(), lambda route: route.fulfill(**NO_SERVER)):
        page.route("**/input", instead)
        item.get_by_role("button", name="Approve").click()
        told.append(item.get_by_role("alert").inner_text())
        page.unroute_all()
        page.locator(".wait .error:focus").wait_for()
    address = item.locator("form").get_attribute("action")
    item.locator("form").evaluate("(form) => { form.action = '/studio/node/node_none/input'; }")
    item.get_by_role("button", name="Approve").click()
    refused = item.get_by_role("alert").filter(has_text="not in this store").inner_text()
    item.locator("form").evaluate("(form, address) => { form.action = address; }", address)
    typed = item.get_by_label("Say why (optional)").input_value()
    item.get_by_role("button", name="Approve").click()
    item.wait_for(state="detached")

    assert all("Backshop does not answer" in one for one in told)
    assert "Details" in refused
    assert typed == "Fine with me."


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.13", "U9.3")
def test_who_writes_an_answer_writes_on_while_the_list_is_made_anew(served, ann, new_page):
    ann.go(ann.go(ann.start("user.lease", goal="Rent a cellar"), "Drafted."), "Read.")
    page = new_page("/studio")
    page.locator("html[data-live]").wait_for()
    item = page.locator("#waits .wait").filter(has_text="Rent a cellar")
    field = item.get_by_label("Say why (optional)")
    field.click()
    page.keyboard.type("Fine  me.")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    ann.go(ann.go(ann.start("user.lease", goal="Rent a loft"), "Drafted."), "Ready.")
    page.locator("#waits .wait").filter(has_text="Rent a loft").wait_for()
    page.keyboard.type("with")

    assert field.input_value() == "Fine with me."


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.13", "U9.3")
def test_news_that_comes_late_does_not_take_the_focus_from_what_was_answered(served, ann, new_page):
    for goal in ("Rent a cart", "Rent a van"):
        ann.go(ann.go(ann.start("user.lease", goal=goal), "Drafted."), "Ready.")
    page = new_page("/studio")
    page.locator("html[data-live]").wait_for()
    page.evaluate(SLOW_PARTS)
    van = page.locator(".wait").filter(has_text="Rent a van")
    van.get_by_role("button", name="Approve").click()
    van.wait_for(state="detached")
    page.locator("body[data-parts='2']").wait_for()

    assert page.evaluate("document.activeElement.id") == "waits-heading"


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.19", "U1.3")
def test_what_can_be_filtered_by_grows_while_the_page_is_open_and_a_choice_stays(
    served, ann, new_page
):
    ann.start("user.lease", goal="Before")
    page = new_page("/studio")
    page.locator("html[data-live]").wait_for()
    page.get_by_label("Workflow").select_option("user.lease")
    page.get_by_label("Search").fill("cellars")
    with agent_acting("mcp:newcomer"):
        ann.start("user.lease", goal="Count the cellars")
    offered = page.get_by_label("Agent").locator("option", has_text="newcomer (1)")
    offered.wait_for(state="attached")
    kept = page.get_by_label("Workflow").input_value(), page.get_by_label("Search").input_value()
    page.get_by_label("Agent").select_option("mcp:newcomer")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**agent=mcp%3Anewcomer**")

    assert kept == ("user.lease", "cellars")
    assert page.locator("#runs").get_by_role("row").count() == 2  # the head, and what fits


@pytest.mark.rule("U6.13", "U4.9")
def test_what_waits_reads_as_what_it_is_and_all_of_it_can_be_reached(served, ann):
    for number in range(22):
        goal = f"Sell \u202eshed {number}"
        ann.go(ann.go(ann.start("user.lease", goal=goal), "Drafted."), "Read\u2066 it.")
    run = served.call("RailsRunsList", query="Sell")["runs"][0]
    session = f"/studio/session/{run['sessionId']}"
    places = ("/studio", "/studio/sessions", session, f"{session}?view=timeline")
    with closing(served.client()) as client:
        front = client.get("/studio").text
        more = re.search(r'href="(/studio[?]waits=40)#more-waits"', front)
        assert more is not None
        whole = client.get(html.unescape(more[1])).text
        texts = [client.get(one).text for one in (*places, f"/studio/run/{run['runId']}")]

    assert (front.count('<li class="wait '), "Handed in:</span> Read⟦U+2066⟧ it." in front) == (
        20,
        True,
    )
    assert all(f"shed {number}<" in whole for number in range(22))
    for text in texts:
        assert "⟦U+202E⟧" in text
        assert re.search("[\u202e\u2066]", text) is None


@pytest.mark.rule("U6.13")
def test_more_that_waits_than_is_ever_shown_is_said(served, ann, monkeypatch):
    monkeypatch.setattr(studio, "WAITS_SHOWN", 1)
    monkeypatch.setattr(studio, "WAITS_MOST", 2)
    for number in range(3):
        ann.go(ann.go(ann.start("user.lease", goal=f"Let room {number}"), "Drafted."), "Ready.")
    total = served.call("RailsWaitingList")["total"]
    with closing(served.client()) as client:
        front, whole = (client.get(f"/studio{more}").text for more in ("", "?waits=2"))

    assert f"{total - 1} more; the newest are shown. <a" in front
    assert f"{total - 2} more; the newest are shown.</p>" in whole


@pytest.mark.rule("U6.13", "U4.9")
def test_what_a_form_sends_back_is_what_the_workflow_or_the_person_wrote(served, ann):
    signed = ann.go(ann.go(ann.start("user.lease", goal="Paint it"), "Drafted."), "Read it.")
    run = signed["session"]["runId"]
    waits = served.call("RailsWaitingList")["waiting"]
    node = next(one["nodeId"] for one in waits if one["runId"] == run)
    answer = {"inputId": "approval", "decision": "approved", "summary": "", "next": "/studio"}
    with closing(served.client()) as client:
        client.post(f"/studio/node/{node}/input", data=answer)
        ann.go(signed, "Read it.")
        pages = [client.get(one).text for one in ("/studio", f"/studio?q=%E2%80%8F{run}")]
    offered = [html.unescape(one) for one in re.findall('<option value="([^"]*)">', pages[0])]
    typed = re.search('name="q" type="search" value="([^"]*)"', pages[1])

    assert "\u200fאדום" in offered
    assert "⟦U+200F⟧אדום</option>" in pages[0]
    assert typed is not None
    assert html.unescape(typed[1]) == f"\u200f{run}"


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.18", "R10.12")
def test_a_branch_is_made_on_the_page_and_says_how_to_go_on(served, ann, new_page):
    first = ann.start("user.lease", goal="Two ways")
    ann.go(first, "Drafted.")
    run = first["session"]["runId"]
    root = served.call("RailsRunGet", runId=run)["nodes"][0]["nodeId"]
    page = new_page(f"/studio/run/{run}?node={root}")
    page.get_by_role("link", name="Branch from here").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What should be different?").fill("Shorter.")
    dialog.get_by_role("button", name="Make the branch").click()
    page.get_by_role("heading", name="A branch begins here").wait_for()
    call = json.loads(page.locator("#node pre").first.inner_text())
    there = ann.call("continue_workflow", call["arguments"])
    notice = page.locator(".studio-main .notice").inner_text()

    assert page.locator("a.box.current.checkpoint").count() == 1
    assert "The branch is made" in notice
    assert there["pending"]["stepId"] == "draft"
    assert there["recap"]["entries"][-1]["notesMarkdown"].endswith("Shorter.")


@pytest.mark.rule("U6.13", "U6.15", "U6.18", "U1.4")
def test_answers_branches_and_imports_work_as_plain_posts_and_are_confirmed(served, ann):
    first = ann.start("user.lease", goal="No scripts", preferences={"autonomy": "guided"})
    blocked = ann.go(ann.go(first, "Drafted."), "Ready.")
    session, run = first["session"]["sessionId"], first["session"]["runId"]
    shown = served.call("RailsRunGet", runId=run)
    bundle = served.call("RailsSessionExport", sessionId=session)["text"]
    node, origin = f"/studio/node/{shown['preferredTip']}", {"origin": served.address}
    answer = {"inputId": "approval", "decision": "approved", "next": "/studio"}
    with closing(served.client()) as client:
        client.headers["accept"] = "text/html"
        answered = client.post(f"{node}/input", data=answer, headers=origin)
        front = client.get(answered.headers["location"]).text
        again = client.get("/studio").text
        branch = client.post(f"/studio/node/{shown['nodes'][0]['nodeId']}/fork", headers=origin)
        brought = client.post("/studio/import", data={"bundle": bundle}, headers=origin)
        arrived = client.get(brought.headers["location"]).text
        damaged = client.post("/studio/import", data={"bundle": "{}"}, headers=origin)

    assert answered.headers["location"] == "/studio"
    assert "Recorded; the agent goes on with its next call" in front
    assert "Recorded; the agent" not in again  # said once
    assert re.search(rf"^/studio/run/{run}.node=node_", branch.headers["location"])
    assert "Imported: this is the session that was in the bundle" in arrived
    assert damaged.status_code >= 400
    assert ann.go(blocked, "Ready.")["pending"]["stepId"] == "paint"


@pytest.mark.rule("U6.19", "U6.20", "U1.4", "R10.13")
def test_filters_stand_in_the_address_with_their_counts(served, ann, tmp_path):
    project = tmp_path / "cellar"
    project.mkdir()
    with agent_acting("mcp:zed"):
        ann.start("user.lease", goal="Tidy the wine", workspacePath=str(project))
    ann.start("user.lease", goal="Count the bottles")
    with closing(served.client()) as client:

        def listed(**query: str) -> str:
            text = str(client.get("/studio", params=query).text)
            return text[text.index('id="runs"') :]

        agent = listed(agent="mcp:zed", when="24")
        place = listed(workspace="cellar", q="wine")
        status = listed(agent="mcp:zed", status="complete")
        whole = client.get("/studio", params={"agent": "mcp:zed"}).text

    for found in (agent, place):
        assert "Tidy the wine" in found
        assert "Count the bottles" not in found
    assert "Nothing fits" in status
    assert '<option value="mcp:zed" selected>zed (1)</option>' in whole
    assert 'href="/studio?agent=mcp%3Azed&amp;status=in_progress">In progress' in whole
    assert re.search(r'In progress <span class="place-count">1</span>', whole)


@pytest.mark.rule("U6.10", "U6.11", "U6.18", "M13.7")
def test_a_run_of_the_built_in_agent_shows_tokens_and_leads_to_its_workshop(served):
    bench = served.bench("Notes", {"notes.md": "# Notes\n"})
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:demo")
    sent = served.call("WorkshopSendUserMessage", workbench_id=bench, text="Say hello.")
    served.call("WorkshopRunAgent", workbench_id=bench, message_id=sent["message_id"])
    run = next(one for one in served.call("RailsRunsList")["runs"] if one["driver"] == "builtin")
    graph = served.call("RailsRunGet", runId=run["runId"])
    total = served.call("WorkshopGetRunUsage", run_id=run["runId"])
    with closing(served.client()) as client:
        text = client.get(f"/studio/run/{run['runId']}").text
        fork = client.get(f"/studio/node/{graph['nodes'][0]['nodeId']}/fork").text
        posted = client.post(
            f"/studio/node/{graph['nodes'][0]['nodeId']}/fork", headers={"origin": served.address}
        )
    used = sum(total["usage"][key] for key in ("input_tokens", "output_tokens"))
    each = re.findall(r'aria-label="[^"]*?([0-9,]+) tokens"', text)

    assert sum(int(one.replace(",", "")) for one in each) == used
    assert f'href="/bench/{bench}"' in text
    assert "Go on in the Workshop" in fork
    assert posted.status_code >= 400


@pytest.mark.rule("U6.11")
def test_a_step_says_how_long_models_took_on_the_way_to_it():
    def call(at: str, tokens: int, took_ms: int | None) -> Call:
        return Call(f"2026-01-01T{at}.000Z", tokens, took_ms)

    step: Any = SimpleNamespace(created_at="2026-01-01T10:00:10.000Z", took_ms=10_000)
    calls = [call("10:00:00", 9, 9), call("10:00:05", 100, 1500), call("10:00:07", 50, None)]
    work = work_before(step, calls)

    assert work == Work(calls=2, tokens=150, timed=1, took_ms=1500)
    assert model_took(work) == "the model answered 1 call in 1.5 s"
    assert model_took(work_before(step, calls[2:])) == ""


@pytest.mark.rule("U6.25")
def test_who_is_connected_and_has_written_nothing_is_counted_for_the_owner(served, monkeypatch):
    one = Server(
        door="mcp",
        pid=7,
        since="2026-01-01T10:00:00.000Z",
        version="",
        applied="",
        differs=(),
        is_this=False,
    )
    own, web = replace(one, is_this=True), replace(one, door="web")
    monkeypatch.setattr(studio, "servers", lambda _: (one, own, web))
    token = served.call("UserAdd", name="Somebody")["token"]
    with closing(served.client()) as owner, closing(served.client(logged_in=False)) as other:
        other.post("/login", data={"token": token}, headers={"origin": served.address})
        assert "1 program is connected over MCP" in owner.get("/studio").text
        assert "connected over MCP" not in other.get("/studio").text


@pytest.mark.rule("U6.12")
def test_idle_time_is_drawn_short_and_said_and_branches_stand_apart():
    def moment(at: str, began: str | None, name: str) -> SimpleNamespace:
        return SimpleNamespace(
            at=f"2026-01-01T{at}.000Z",
            began_at=f"2026-01-01T{began}.000Z" if began else None,
            run_id="run_1",
            node_id=name,
            node_kind="step",
            title=name,
            completed=name,
        )

    run = SimpleNamespace(run_id="run_1", title="Work", workflow_id="w")
    session: Any = SimpleNamespace(
        run_list=(run,),
        timeline=(
            moment("10:00:00", None, "a"),
            moment("10:00:10", "10:00:00", "b"),
            moment("10:00:30", "10:00:10", "c"),
            moment("16:00:30", "10:00:30", "d"),
            moment("16:00:40", "10:00:10", "branch"),
        ),
    )
    drawn = timeline(session)
    near = timeline(session, zoom=4)
    places = [one.x for one in drawn.marks]

    assert [one.text for one in drawn.pauses] == ["6 h"]
    assert places[2] - places[1] == pytest.approx(2 * (places[1] - places[0]), abs=2)
    assert places[3] - places[2] == drawn.pauses[0].width
    assert len({one.y for one in drawn.marks}) == 2
    assert near.marks[1].x - near.marks[0].x > 3 * (places[1] - places[0])
    assert [lasted(ms) for ms in (40, 1400, 12_000, 125_000, 11_520_000, 187_200_000)] == [
        "40 ms",
        "1.4 s",
        "12 s",
        "2 min 5 s",
        "3 h 12 min",
        "2 d 4 h",
    ]
