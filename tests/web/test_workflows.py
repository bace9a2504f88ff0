"""The catalogue of workflows and its editor in a real browser (U6.5)."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from tests.rails.workflows import flow, step

from backshop.web.place import line_of

BROKEN = """\
id: user.broken
name: Broken
description: A workflow with faults.
version: 1.0.0
steps:
  - id: one
    title: One
  - id: Two Words
    title: Two
    prompt: Do it.
"""
HTML = {"accept": "text/html"}
GOOD = (
    BROKEN.replace("user.broken", "user.mended")
    .replace("Two Words", "two")
    .replace("title: One\n", "title: One\n    prompt: Begin.\n")
)


@pytest.fixture(scope="module")
def folder(served):
    made = served.shop.config.home / "workflows"
    made.mkdir(parents=True, exist_ok=True)
    (made / "flow.json").write_text(json.dumps(flow(step("one"), step("two"))), encoding="utf-8")
    return made


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.5", "R3.9", "C98", "S6.3")
def test_the_catalogue_shows_what_runs_and_what_cannot(served, folder, new_page):
    (folder / "broken.yaml").write_text(BROKEN, encoding="utf-8")
    page = new_page("/workflows")
    broken = page.get_by_role("region", name="Files that cannot run")
    broken.get_by_text("user:broken.yaml").click()

    assert broken.get_by_text("WF_PROMPT_SOURCE").is_visible()
    page.get_by_label("Search").fill("test flow")
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("link", name="Flow", exact=True).click()
    page.wait_for_url("**/workflows/user.flow")
    start = page.get_by_role("region", name="Start here")
    for client in ("Claude Code", "Codex", "Cursor", "VS Code", "Any other client"):
        assert start.get_by_text(client, exact=False).first.is_visible()
    assert start.get_by_text("claude mcp add backshop -- backshop mcp").is_visible()
    page.get_by_text("Compiled form").click()
    assert '"workflowId": "user.flow"' in page.locator("details[open] pre").inner_text()
    (folder / "broken.yaml").unlink()


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.5", "R3.10", "R10.7")
def test_the_editor_finds_faults_while_typing_and_saves_what_can_run(served, folder, new_page):
    page = new_page("/workflows/new")
    source = page.get_by_label("Definition, YAML or JSON")
    page.locator("#verdict").get_by_text("can run", exact=True).wait_for()
    source.fill(BROKEN)
    page.get_by_text("cannot run yet").wait_for()
    finding = page.locator("#findings li").filter(has_text="WF_STEP_ID_INVALID")
    finding.get_by_role("button").click()
    chosen = page.evaluate(
        "(() => { const s = document.querySelector('#source');"
        " return s.value.slice(s.selectionStart, s.selectionEnd); })()"
    )
    page.get_by_role("button", name="Save").click()
    page.get_by_role("alert").filter(has_text="WORKFLOW_INVALID").wait_for()
    typed = source.input_value()
    source.fill(GOOD)
    page.locator("#verdict").get_by_text("can run", exact=True).wait_for()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/workflows/user.mended")

    assert chosen.strip() == "- id: Two Words"
    assert typed == BROKEN
    assert served.call("inspect_workflow", workflowId="user.mended")["sourceKind"] == "user"


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.5", "U1.6")
def test_a_definition_that_nobody_could_check_is_said_to_be_that_and_stays(
    served, folder, new_page
):
    page = new_page("/workflows/new", own=True)
    page.on("dialog", lambda dialog: dialog.accept())
    source, verdict = page.get_by_label("Definition, YAML or JSON"), page.locator("#verdict")
    verdict.get_by_text("can run", exact=True).wait_for()
    page.route("**/workflows/check", lambda route: route.abort())
    source.fill(BROKEN)
    verdict.get_by_text("Not checked. Backshop does not answer").wait_for()
    page.unroute_all()
    page.context.clear_cookies()
    source.fill(f"{BROKEN} ")
    verdict.get_by_text("Not checked: you are logged out").wait_for()

    assert source.input_value() == f"{BROKEN} "


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.5", "R11.5")
def test_building_blocks_go_in_at_the_caret_and_copies_get_their_own_id(served, folder, new_page):
    page = new_page("/workflows/new", own=True)
    page.get_by_role("region", name="Building blocks").get_by_text("Features 6").click()
    page.get_by_role("button", name="Insert wr.features.capabilities").click()
    text = page.get_by_label("Definition, YAML or JSON").input_value()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{served.address}/workflows/wr.change_review")
    page.get_by_role("button", name="Copy…").click()
    page.get_by_label("New id").fill("user.my_review")
    page.get_by_role("dialog").get_by_role("button", name="Copy", exact=True).click()
    page.wait_for_url("**/workflows")

    assert "wr.features.capabilities" in text
    assert served.call("inspect_workflow", workflowId="user.my_review")["sourceKind"] == "user"


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.21")
def test_the_editor_numbers_lines_marks_findings_and_lets_the_keyboard_out(
    served, folder, new_page
):
    page = new_page("/workflows/new", own=True)
    page.on("dialog", lambda dialog: dialog.accept())
    source = page.get_by_label("Definition, YAML or JSON")
    source.fill(BROKEN)
    marked = page.locator("#gutter .error")
    marked.first.wait_for()
    lines = marked.all_text_contents()
    source.press("Control+End")
    source.press("Tab")
    source.press("Shift+Tab")
    source.press("Tab")
    indented = source.input_value()
    page.get_by_label("Insert", exact=True).select_option(label="a step you approve")
    inserted = source.input_value()
    source.press("Escape")
    source.press("Tab")

    assert "8" in lines
    assert page.locator("#gutter div").count() == len(inserted.split("\n"))
    assert indented == BROKEN + "  "
    assert "kind: human_approval" in inserted
    assert page.evaluate("document.activeElement.id") != "source"


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.5", "R3.10")
def test_a_workflow_of_ones_own_is_deleted_after_a_question(served, folder, new_page):
    served.call("RailsWorkflowNew", workflowId="user.passing", target="user")
    page = new_page("/workflows/wr.rpi")
    assert page.get_by_role("button", name="Delete…").count() == 0
    page.goto(f"{served.address}/workflows/user.passing")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete workflow").click()
    page.wait_for_url("**/workflows")

    assert not (folder / "user.passing.yaml").exists()


@pytest.mark.needs("browser")
@pytest.mark.rule("R10.7", "R3.8", "R2.7")
def test_a_run_leads_to_the_text_it_keeps_and_says_when_its_source_has_changed(
    served, folder, new_page
):
    first = served.call("start_workflow", workflowId="user.flow", goal="Keep it")
    changed = flow(step("one", prompt="Another text."), step("two"))
    (folder / "flow.json").write_text(json.dumps(changed), encoding="utf-8")
    page = new_page(f"/studio/run/{first['session']['runId']}")
    page.get_by_role("link", name="as it was at the start").click()
    page.get_by_text("its source differs by now").wait_for()
    page.get_by_text("Compiled form").click()
    kept = page.locator("details[open] pre").inner_text()
    page.get_by_role("link", name="user.flow").click()
    page.get_by_text("an earlier version").first.wait_for()

    assert "Do one." in kept


@pytest.mark.rule("U1.4", "S7.5")
def test_saving_works_as_a_plain_post_and_says_what_is_wrong(served, folder):
    with closing(served.client()) as client:
        origin = {"origin": served.address}
        bad = client.post(
            "/workflows/save", data={"source": BROKEN, "target": "user"}, headers=origin
        )
        huge = client.post("/workflows/check", data={"source": "a" * 2_000_000}, headers=origin)
        unreadable = client.post(
            "/workflows/save", data={f"f{n}": "" for n in range(5001)}, headers={**origin, **HTML}
        )
        missing = client.get("/workflows/user.nothing")
        crossed = client.post(
            "/workflows/save",
            data={"source": GOOD, "target": "user"},
            headers={"origin": "https://evil.example"},
        )

    assert bad.status_code == 422
    assert "WF_PROMPT_SOURCE" in bad.text
    assert (huge.status_code, "1048576" in huge.text) == (
        200,
        True,
    )  # a finding that names the limit
    assert (unreadable.status_code, "too large" in unreadable.text) == (400, True)
    assert missing.status_code == 404
    assert crossed.status_code == 403


@pytest.mark.parametrize(
    ("pointer", "line"),
    [("", 1), ("/name", 2), ("/steps", 5), ("/steps/1", 8), ("/steps/1/prompt", 10), ("/x", 1)],
)
def test_a_pointer_is_a_line_of_yaml(pointer, line):
    assert line_of(BROKEN, pointer) == line


@pytest.mark.parametrize(
    ("pointer", "line"),
    [("", 1), ("/a", 2), ("/steps/0", 4), ("/steps/1", 5), ("/steps/1/when/var", 7), ("/b~1c", 9)],
)
def test_a_pointer_is_a_line_of_json(pointer, line):
    text = (
        '{\n "a": "x{[",\n "steps": [\n  {"id": "one"},\n  {"id": "two",\n   "when": {\n'
        '    "var": 1}}\n ],\n "b/c": 2\n}'
    )

    assert line_of(text, pointer) == line


@pytest.mark.rule("U6.5")
def test_saving_over_a_workflow_that_is_another_by_now_is_asked_about(served, folder):
    def post(text, **more):
        form = {"source": text, "target": "user", **more}
        return client.post("/workflows/save", data=form, headers={"origin": served.address})

    first, second = (GOOD.replace("user.mended", "user.kept") + tail for tail in ("", "\n"))
    with closing(served.client()) as client:
        made = post(first).status_code
        page = client.get("/workflows/user.kept/edit").text
        was = page.partition('name="was" value="')[2].partition('"')[0]
        again = post(first).status_code  # a second click
        as_new = post(second)
        edited = post(second, was=was).status_code
        late = post(first, was=was)
        kept = served.call("RailsWorkflowSource", workflowId="user.kept")["source"]
        agreed = post(first, was=was, replace="true").status_code

    assert (made, again, edited, agreed) == (303, 303, 303, 303)
    assert (as_new.status_code, late.status_code) == (422, 422)
    assert "is there already" in as_new.text
    assert 'name="replace"' in late.text
    assert kept == second
