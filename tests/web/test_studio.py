"""Studio in a real browser: sessions, runs as graphs, what people do beside the agent (U6)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.rails.agent import Agent
from tests.rails.workflows import GO_ON, LOOP_CONTROL, STOP, flow, loop, step
from tests.tamper import tamper
from tests.web.accessible import violations
from tests.web.watching import late_ms

pytestmark = pytest.mark.needs("browser")
ROOT = Path(__file__).resolve().parents[2]
EVIL = "<script>window.taken = 1</script><img src=x onerror='window.taken = 1'>"
REVIEW = flow(
    step(
        "triage", title="Triage", prompt=f"Read **{{{{ticket}}}}**. {EVIL} [x](javascript:alert(1))"
    ),
    step("maybe", title="Deep look", runCondition={"var": "risk", "equals": "high"}),
    loop(
        "deep",
        step("probe", title="Pass {{currentIteration}}"),
        step("again", title="Again?", **LOOP_CONTROL),
        type="while",
        conditionSource={
            "kind": "artifact_contract",
            "contractRef": "wr.contracts.loop_control",
        },
    ),
    step("verdict", title="Verdict", requireConfirmation={"kind": "human_approval"}),
    step("report", title="Report"),
    name="user.review",
    capabilities={"web_browsing": "preferred"},
)
CHANGED = {
    "kind": "mr_review.changed_files",
    "changedFiles": [{"path": f"a{EVIL}.py", "summary": "new", "risk": "H"}],
}
UNAVAILABLE = {
    "kind": "wr.capability_observation",
    "capability": "web_browsing",
    "status": "unavailable",
}


@pytest.fixture(scope="module")
def ann(served):
    """An agent on the same home as the pages."""
    folder = served.shop.config.home / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "review.json").write_text(json.dumps(REVIEW), encoding="utf-8")
    return Agent(served.shop.rails)


@pytest.fixture
def told(ann):
    """A run with a checkpoint, a blocked attempt, a branch, a skipped step, an open question."""
    first = ann.start("user.review", goal=f"Look at {EVIL}", context={"ticket": f"T-1 {EVIL}"})
    second = ann.go(first, f"Risk is **low**. {EVIL}", artifacts=[CHANGED])
    ann.answer(
        "checkpoint_workflow",
        stateToken=second["stateToken"],
        checkpointToken=second["checkpointToken"],
        output={"notesMarkdown": "half way"},
    )
    third = ann.go(second, "looked", artifacts=[UNAVAILABLE])
    blocked = ann.go(third, "no decision")
    fourth = ann.go(blocked, None, artifacts=[STOP])
    ann.go(ann.look(second), "another way")
    waiting = ann.go(fourth, "ready")
    return first, waiting


def run_of(answer: dict[str, Any]) -> str:
    return f"/studio/run/{answer['session']['runId']}"


def box(page: Any, label: str) -> Any:
    return page.locator("a.box").filter(has_text=label)


@pytest.mark.rule("U6.1", "R10.2", "S7.1", "R7.26")
def test_sessions_are_found_filtered_and_grouped_by_workspace(served, ann, new_page, tmp_path):
    project = tmp_path / "cellar"
    project.mkdir()
    ann.start("user.review", goal="Tidy the cellar", workspacePath=str(project))
    ann.start("user.review", goal="Paint the door")
    page = new_page("/studio/sessions")

    assert page.get_by_role("region", name="cellar").get_by_text("Tidy the cellar").is_visible()
    page.get_by_label("Search").fill("paint door")
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("link", name="Paint the door").wait_for()
    assert page.get_by_text("Tidy the cellar").count() == 0
    page.get_by_label("Status").select_option("complete")
    page.get_by_role("button", name="Filter").click()
    page.get_by_text("Nothing fits").wait_for()
    page.get_by_role("link", name="Clear").click()
    page.get_by_role("link", name="Tidy the cellar").wait_for()
    paint = next(
        one["sessionId"]
        for one in served.call("RailsSessionsList")["sessions"]
        if one["title"] == "Paint the door"
    )
    served.call("RailsSessionDelete", sessionId=paint, confirm=paint)
    page.get_by_role("link", name="Paint the door").wait_for(state="detached")
    ann.start("user.review", goal="Appear by itself")
    page.get_by_role("link", name="Appear by itself").wait_for()
    page.get_by_role("link", name="Tidy the cellar").click()
    page.wait_for_url("**/studio/session/sess_*")
    assert page.get_by_role("navigation", name="Runs of this session").is_visible()


@pytest.mark.rule("U6.2", "R10.4")
def test_a_run_is_drawn_with_its_branches_blocks_and_checkpoints(served, told, new_page):
    first, _ = told
    page = new_page(run_of(first))

    assert page.locator("a.box.checkpoint").count() == 1
    assert page.locator("a.box.blocked_attempt").count() == 2
    expect(page.locator("a.box.current")).to_have_attribute(
        "aria-label",
        re.compile(
            "^blocked attempt: Verdict, blocked, where the run stands, .* after the one before"
        ),
    )
    assert "branch" in (box(page, "Again?").last.get_attribute("aria-label") or "")
    assert page.locator("a.box.ghost").count() == 0
    page.get_by_role("link", name="Show skipped steps").click()
    ghost = page.locator("a.box.ghost").first
    assert ghost.locator("text").first.text_content() == "Deep look"
    assert "skipped: Deep look. maybe: " in (ghost.get_attribute("aria-label") or "")
    width = float(page.locator("svg.graph").get_attribute("width"))
    page.get_by_role("button", name="Larger").click()
    assert float(page.locator("svg.graph").get_attribute("width")) == pytest.approx(width * 1.25, 1)


@pytest.mark.rule("U6.2", "U6.10", "U6.26", "R10.5", "R10.6")
def test_a_node_shows_all_that_is_known_of_it(served, told, new_page):
    first, _ = told
    page = new_page(run_of(first))
    box(page, "Pass 1").first.click()
    node = page.locator("#node")
    node.get_by_role("heading", name="Pass 1").wait_for()

    assert node.get_by_text("Risk is low.").is_visible()
    assert node.get_by_role("cell", name="H", exact=True).is_visible()
    assert node.get_by_text("Do probe.").is_visible()
    node.get_by_text("Why it went this way").click()
    assert node.get_by_text("skipped step").first.is_visible()
    node.get_by_text("Attempts (").click()
    assert node.get_by_text("advanced").count() == 2
    way = page.locator(".studio-side").get_by_role("link", name="Timeline")
    assert "/studio/session/" in (way.get_attribute("href") or "")
    assert (way.get_attribute("href") or "").endswith("?view=timeline")
    call = json.loads(node.locator("pre").first.inner_text())
    assert call["tool"] == "continue_workflow"
    assert call["arguments"]["stateToken"].startswith("st.v1.")
    assert node.get_by_text("after the one before it").is_visible()


@pytest.mark.rule("U6.2", "S7.3", "U7.2")
def test_the_graph_is_walked_by_keys_alone(served, told, new_page):
    first, _ = told
    page = new_page(run_of(first))
    page.locator("a.box[tabindex='0']").focus()

    def focused() -> str:
        return str(page.evaluate("document.activeElement.getAttribute('aria-label')"))

    assert "where the run stands" in focused()
    page.keyboard.press("Home")
    assert "Triage" in focused()
    page.keyboard.press("ArrowDown")
    assert "Pass 1" in focused()
    page.keyboard.press("ArrowDown")
    main = focused()
    page.keyboard.press("ArrowRight")
    assert focused() != main
    page.keyboard.press("ArrowUp")
    assert "Pass 1" in focused()
    page.keyboard.press("Enter")
    page.locator("#node").get_by_role("heading", name="Pass 1").wait_for()
    assert page.evaluate("document.activeElement.id") == "node"
    page.locator("a.box[tabindex='0']").focus()
    page.keyboard.press("End")
    assert "where the run stands" in focused()


@pytest.mark.rule("U6.3", "R7.26")
def test_an_advance_by_another_program_appears_within_a_second(served, ann, new_page):
    first = ann.start("user.review", goal="Live", context={"ticket": "T"})
    page = new_page(run_of(first))
    page.locator("a.box.current").filter(has_text="Triage").wait_for()
    page.evaluate(
        """() => {
            new MutationObserver(() => {
                const tip = document.querySelector("a.box.current");
                if (tip?.textContent.includes("Pass 1")) window.seenAt ??= Date.now();
            }).observe(document.querySelector("#graph"), { childList: true, subtree: true });
        }"""
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    home = str(served.shop.config.home)
    arguments = ["run", "continue", first["session"]["resumeRef"], "--notes", "by hand", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "backshop.cli", *arguments, "--home", home],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    page.locator("a.box.current").filter(has_text="Pass 1").wait_for()
    graph = served.call("RailsRunGet", runId=first["session"]["runId"])
    made = graph["nodes"][-1]["createdAt"]

    seen_ms = page.evaluate("window.seenAt")
    made_ms = page.evaluate("at => Date.parse(at)", made)
    assert late_ms(page, seen_ms - made_ms) == 0
    page.locator("#node").get_by_role("heading", name="Pass 1").wait_for()  # it followed the tip


@pytest.mark.rule("U6.4", "U6.14", "R10.6", "C64")
def test_the_person_approves_and_the_agent_goes_on(served, ann, told, new_page):
    first, waiting = told
    page = new_page(run_of(first))
    node = page.locator("#node")
    node.get_by_label("Say why (optional)").fill("Looks fine.")
    node.get_by_role("button", name="Approve").click()
    node.get_by_text("approved", exact=True).wait_for()
    page.locator("a.box.current.answered").wait_for()
    expect(node).to_be_focused()

    assert node.get_by_text("Looks fine.").count() == 1
    assert node.get_by_role("button", name="Approve").count() == 0
    assert page.locator("#run-status").inner_text() == "in progress"
    assert ann.go(waiting, "ready")["pending"]["stepId"] == "report"  # what was approved
    page.locator("a.box.current").filter(has_text="Report").wait_for()


@pytest.mark.rule("U6.4", "U6.15", "U1.4")
def test_mode_keep_export_delete_and_import_work_from_the_pages(served, ann, new_page, tmp_path):
    first = ann.start("user.review", goal="Move house", context={"ticket": "T"})
    session = first["session"]["sessionId"]
    page = new_page(run_of(first))
    page.get_by_role("button", name="Mode…").click()
    page.get_by_label("Full auto (never stops)").check()
    page.get_by_role("button", name="Change mode").click()
    page.get_by_text("Mode: full auto never stop").wait_for()

    page.goto(f"{served.address}/studio/session/{session}")
    page.get_by_role("button", name="Keep for good").click()
    page.get_by_text("kept for good").wait_for()
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as caught:
        page.get_by_role("link", name="Bundle, to import elsewhere").click()
    bundle = tmp_path / "bundle.json"
    caught.value.save_as(bundle)
    page.goto(f"{served.address}/studio/session/{session}/read")
    page.get_by_role("heading", name="Move house").first.wait_for()

    page.goto(f"{served.address}/studio/session/{session}")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete session").click()
    page.wait_for_url("**/studio")
    assert session not in served.shop.rails.sessions.ids()

    page.get_by_role("button", name="Import").click()
    page.get_by_label("Bundle file").set_input_files(bundle)
    expect(page.locator("#bundle")).to_have_value(re.compile("bundleSchemaVersion"))
    page.get_by_role("dialog").get_by_role("button", name="Import").click()
    page.get_by_role("link", name="Open the session").click()
    page.get_by_role("heading", name="Move house").first.wait_for()
    row = served.call("RailsSessionGet", sessionId=session)
    assert row["origin"]["sessionId"] == session


@pytest.mark.rule("U6.2", "U1.5")
def test_a_long_run_opens_at_its_tip_and_leads_to_its_other_parts(served, new_page):
    work = flow(
        loop("pass", step("look"), step("note"), type="for", count=200, maxIterations=200),
        step("end"),
        name="user.long",
    )
    folder = served.shop.config.home / "workflows"
    (folder / "user.long.json").write_text(json.dumps(work), encoding="utf-8")
    agent = Agent(served.shop.rails)
    answer = first = agent.start("user.long", goal="A long way")
    for _ in range(260):
        answer = agent.go(answer)
    run, page = first["session"]["runId"], new_page()
    page.goto(f"{served.address}/studio/run/{run}")
    drawn = page.locator("a.box").count()
    tips = page.locator("a.box.current").count()
    said = page.locator("#ways").inner_text()
    agent.go(answer)  # it goes on while the page is open
    page.get_by_text("of 262").wait_for()
    page.get_by_role("link", name="Earlier (62)").click()
    page.get_by_text("Steps 1 to 200 of 262").wait_for()
    begun = page.locator("a.box").first.get_attribute("data-id")

    assert (drawn, tips) == (200, 1)
    assert "Steps 62 to 261 of 261" in said
    assert begun == served.call("RailsRunGet", runId=run)["nodes"][0]["nodeId"]
    assert page.get_by_role("link", name="Later (62)").count() == 1


@pytest.mark.rule("U1.4")
def test_actions_work_as_plain_posts(served, ann):
    first = ann.start("user.review", goal="No scripts", context={"ticket": "T"})
    session, run = first["session"]["sessionId"], first["session"]["runId"]
    with closing(served.client()) as client:
        origin = {"origin": served.address}
        kept = client.post(
            "/do/RailsSessionSetKeep",
            data={"sessionId": session, "keep:boolean": "true", "next": "/studio"},
            headers=origin,
        )
        mode = client.post(
            f"/studio/run/{run}/preferences", data={"preset": "full_auto"}, headers=origin
        )
        wrong = client.post(f"/studio/run/{run}/preferences", data={"preset": "x"}, headers=origin)
        missing = client.get("/studio/run/run_nothing")

    assert (kept.status_code, mode.status_code) == (303, 303)
    assert served.call("RailsSessionGet", sessionId=session)["keep"] is True
    assert (wrong.status_code, missing.status_code) == (422, 404)


@pytest.mark.rule("R8.4", "R8.21", "R8.43", "R10.5", "R10.17")
def test_a_wish_is_allowed_and_an_agents_word_is_shown_as_such(served):
    asking = flow(step("one", requireConfirmation={"kind": "human_approval"}), name="user.ask")
    folder = served.shop.config.home / "workflows"
    (folder / "user.ask.json").write_text(json.dumps(asking), encoding="utf-8")
    agent, wish = Agent(served.shop.rails), {"autonomy": "full_auto_stop_on_user_deps"}
    word = {"kind": "wr.user_input", "inputId": "approval", "decision": "approved"}
    begun = agent.start("user.ask", preferences=wish)
    run = begun["session"]["runId"]
    root = served.call("RailsRunGet", runId=run)["preferredTip"]
    with closing(served.client()) as client:
        early = client.get(f"/studio/node/{root}").text
    rules = {"rules": [{"rule": "delete <all>"}], "n": "x"}
    agent.go(begun, artifacts=[word], context=rules)
    node = served.call("RailsRunGet", runId=run)["preferredTip"]
    with closing(served.client()) as client:
        before = client.get(f"/studio/node/{node}").text
        waits = client.get("/studio").text
        client.post(
            f"/studio/run/{run}/preferences",
            data={"allow": node},
            headers={"origin": served.address},
        )
        after = client.get(f"/studio/node/{node}").text
        again = client.post(
            f"/studio/run/{run}/preferences",
            data={"allow": node},
            headers={"origin": served.address},
        )

    assert "Nothing is handed in yet." in early
    assert 'value="approved"' not in early
    for page in (before, waits):
        assert "[{&#34;rule&#34;:&#34;delete &lt;all&gt;&#34;}]" in page
        assert 'value="approved"' in page
    assert "Allow it from here on" in before
    assert "It does not count until you answer here." in before
    assert "Allow it from here on" not in after
    assert "Set by a person." in after
    assert again.status_code == 422


@pytest.mark.rule("U6.3", "U6.12", "R10.3", "R10.10")
def test_the_timeline_has_a_lane_for_each_run_and_one_for_notes(served, ann, new_page):
    made = ann.answer("start_session", title="Two things at once").structured
    one = ann.start("user.review", goal="First", sessionToken=made["sessionToken"])
    ann.start("user.review", goal="Second", sessionToken=made["sessionToken"])
    ann.answer(
        "checkpoint_workflow",
        sessionToken=made["sessionToken"],
        checkpointToken=made["checkpointToken"],
        output={"notesMarkdown": "Remember the *keys*."},
    )
    ann.go(one, artifacts=[GO_ON])
    page = new_page(f"/studio/session/{made['session']['sessionId']}?view=timeline")

    assert page.locator(".lane-name").all_text_contents() == ["First", "Second", "Session notes"]
    assert page.locator(".mark").count() == 4
    assert page.locator(".moments li").count() == 4
    page.locator("a.moment[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    label = str(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert re.fullmatch(r"Triage, .*s, then at Pass 1, [-0-9]+ [:0-9]+ UTC", label)
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.lane") == "1"
    page.set_viewport_size({"width": 390, "height": 800})
    assert not page.locator("svg.timeline").is_visible()
    assert page.locator(".moments li").nth(3).is_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("svg.timeline a").first.click()
    page.wait_for_url("**/studio/run/run_*")
    page.go_back()
    page.get_by_role("link", name="Overview").click()
    assert page.get_by_text("Remember the keys.").is_visible()


@pytest.mark.rule("R10.9", "U7.3", "S7.4")
def test_nothing_that_workflows_or_agents_wrote_runs(served, told, new_page):
    first, _ = told
    session = first["session"]["sessionId"]
    page = new_page(run_of(first))
    for one in page.locator("a.box").all():
        one.click()
        node = one.get_attribute("data-node")
        page.locator(f"#node .node[data-node='{node}']").wait_for()
    assert page.evaluate("window.taken") is None
    for path in (
        f"/studio/session/{session}",
        f"/studio/session/{session}?view=timeline",
        f"/studio/session/{session}/read",
        "/studio",
        "/workflows/user.review",
        "/workflows/user.review/edit",
    ):
        page.goto(f"{served.address}{path}")
        assert page.evaluate("window.taken") is None
        assert page.locator("main a[href^='javascript']").count() == 0
        assert page.locator("main img, main script").count() == 0


@pytest.mark.rule("R10.8", "R4.18")
def test_a_damaged_session_shows_its_proved_part_under_a_banner(served, ann, new_page):
    first = ann.start("user.review", goal="Cracked", context={"ticket": "T"})
    ann.go(ann.go(first, "one"), "two")
    session = first["session"]["sessionId"]
    tamper(
        served.shop.config.home,
        "UPDATE event SET at_ms = at_ms + 1 WHERE seq ="
        " (SELECT max(seq) FROM event WHERE stream = ? AND kind = 'advance_recorded')",
        f"session:{session}",
    )
    served.shop.rails.sessions.forget(session)
    served.shop.store._cache.forget(f"session:{session}")
    page = new_page(run_of(first))

    assert page.get_by_text("Salvaged.").is_visible()
    assert page.locator("a.box").count() == 2
    assert page.get_by_role("link", name="Branch from here").count() == 0
    assert page.get_by_role("button", name="Mode…").count() == 0


@pytest.fixture(scope="module")
def pages(ann):
    """The address of every page, with something on it."""
    first = ann.start("user.review", goal="All pages", context={"ticket": "T"})
    second = ann.go(first, "Risk is low.", artifacts=[CHANGED])
    ann.go(second, "looked", artifacts=[UNAVAILABLE])
    ann.go(ann.look(second), "another way")
    ann.go(ann.look(second), "a third way")
    session = f"/studio/session/{first['session']['sessionId']}"
    return [
        "/studio",
        "/studio/sessions",
        session,
        f"{session}?view=timeline",
        f"{session}/read",
        f"{run_of(first)}?ghosts=1",
        "/workflows",
        "/workflows/user.review",
        "/workflows/user.review/edit",
        "/workflows/new",
    ]


@pytest.mark.rule("U7.2", "S7.3", "U1.1")
def test_the_pages_have_no_serious_accessibility_fault_fit_their_window_and_are_light(
    served, pages, new_page
):
    page = new_page("/studio")
    for path in pages:
        page.goto(f"{served.address}{path}")
        sizes = page.evaluate(
            """["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
               .map((one) => one.decodedBodySize)"""
        )
        assert sum(sizes) < 226_000, path
        for width in (900, 3840, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wider <= 0, (path, width)
        for look in ("light", "dark"):
            page.emulate_media(color_scheme=look)
            assert violations(page) == [], (path, look)
