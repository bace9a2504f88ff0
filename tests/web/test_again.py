"""Do it again, on the page: a turn gets a name, and runs on other files that are chosen."""

from __future__ import annotations

import pytest
from tests.web.test_hearing import play, send
from tests.workshop.conftest import calls, says, write

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]
TURN_MS = 60_000


@pytest.mark.rule("U3.11", "W25.1", "W25.4")
def test_a_turn_is_saved_from_its_details_and_run_on_another_file(served, new_page):
    bench = served.bench("Again", {"one.md": "red", "two.md": "green"})
    steps = [
        calls("work", 1, ("read_file", {"path": "one.md"})),
        says("work", "one.md is red."),
        calls("implement", 1, write("two.md", "GREEN")),
        says("implement", "Done."),
        says("summary", "two.md is loud now."),
    ]
    play(served, bench, "again", steps)
    page = new_page(f"/bench/{bench}")
    send(page, "Look at one.md")
    page.get_by_text("one.md is red.").first.wait_for(timeout=TURN_MS)
    page.locator("[data-message] .turn-facts").wait_for(timeout=TURN_MS)
    turn = served.call("WorkshopGetConversation", workbench_id=bench)["messages"][-1]["turn_id"]

    page.goto(f"{page.url.partition('/bench')[0]}/bench/{bench}/turn/{turn}")
    page.get_by_role("link", name="Do it again with other files").click()
    page.get_by_label("Name", exact=True).fill("Look at it")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved as user.look_at_it").first.wait_for()
    page.get_by_label("one").select_option("two.md")
    before = len(served.call("WorkshopGetConversation", workbench_id=bench)["messages"])
    page.evaluate("document.querySelector('[data-run] option:checked').value = 'gone.md'")
    page.get_by_role("button", name="Run").click()
    page.locator("form[data-run] .error", has_text="no such file").wait_for()
    after = len(served.call("WorkshopGetConversation", workbench_id=bench)["messages"])
    page.reload()
    page.get_by_label("one").select_option("two.md")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("two.md is loud now.").first.wait_for(timeout=TURN_MS)

    assert before == after
    (changed,) = served.call("ReviewGetChangeSet", workbench_id=bench)["entries"]
    assert changed["path"] == "two.md"


@pytest.mark.rule("U3.11", "U1.4")
def test_without_scripts_a_workflow_runs_by_a_plain_form(served):
    bench = served.bench("Plain", {"one.md": "red", "two.md": "green"})
    play(
        served, bench, "plain", [says("work", "Red."), says("implement", "x"), says("summary", "y")]
    )
    message = served.call("WorkshopSendUserMessage", workbench_id=bench, text="Look at one.md")
    served.call("WorkshopRunAgent", workbench_id=bench, message_id=message["message_id"])
    saved = {"workbench_id": bench, "name": "Plainly", "next": f"/bench/{bench}/again"}
    with served.client() as client:
        kept = client.post("/do/WorkshopSaveWorkflow", data=saved)
        wish = {"text": "Again", "workflow_id": "user.plainly", "input.one": "two.md"}
        run = client.post(f"/bench/{bench}/turn", data=wish)
        bad = client.post(f"/bench/{bench}/turn", data={**wish, "input.one": ""})

    assert (kept.status_code, run.status_code, bad.status_code) == (303, 303, 422)
    assert "input_missing" in bad.text
