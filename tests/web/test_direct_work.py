"""Direct work on the page: what is said on the way, the answer as it comes, a plan when wanted."""

from __future__ import annotations

import pytest
from tests.web.test_hearing import play, send
from tests.workshop.conftest import calls, plan, says, write

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]

TURN_MS = 60_000


@pytest.mark.rule("W5.8", "W11.26", "U3.2")
def test_direct_work_shows_what_is_said_on_the_way_and_then_the_answer(served, new_page):
    bench = served.bench("Direct", {"a.md": "red"})
    first = calls("work", 1, ("read_file", {"path": "a.md"}))
    first["respond"]["text"] = "Let me look at **a.md** first."
    gone = ("read_file", {"path": "gone.md"})
    first["respond"]["tool_calls"] += calls("work", 1, gone)["respond"]["tool_calls"]
    slow = calls("work", 2, ("list_files", {}))
    slow["respond"] |= {"text": "Now the others.", "delay_ms": 120_000}
    play(served, bench, "direct", [first, slow])
    page = new_page(f"/bench/{bench}")

    send(page, "Which colour is a.md?")
    page.locator("#phase", has_text="Working on it…").wait_for(timeout=TURN_MS)
    page.locator("#underway", has_text="Let me look at").wait_for(timeout=TURN_MS)

    assert page.locator("#provisional").is_hidden()  # it came with a call, so it was no answer
    assert page.locator("#progress").is_hidden()  # nothing to count where there is no plan
    refused = page.locator("#work li.failed")
    assert refused.locator(".work-label").inner_text() == "reading gone.md"
    assert refused.locator(".chip").count() == 0  # it leads nowhere
    page.locator("#stop").click()
    page.get_by_text("Stopped.").first.wait_for(timeout=TURN_MS)
    line = page.get_by_text("The turn was stopped.").first
    line.wait_for(timeout=TURN_MS)
    assert "items" not in line.inner_text()  # nobody made a plan


@pytest.mark.rule("W5.8", "W11.26")
def test_an_answer_of_direct_work_is_shown_while_it_comes(served, new_page):
    bench = served.bench("Coming", {"a.md": "red"})
    play(served, bench, "coming", [says("work", "It is **red**, as the file says.")])
    page = new_page(f"/bench/{bench}")
    send(page, "Which colour?")
    page.locator(".message.assistant", has_text="It is red, as the file says.").first.wait_for(
        timeout=TURN_MS
    )
    page.locator("[data-message] .turn-facts").wait_for(timeout=TURN_MS)

    assert page.locator("#provisional").is_hidden()
    assert page.get_by_text("It is red, as the file says.").count() == 1


SIDES = """(selector) => {
  const part = document.querySelector(selector);
  part.hidden = false;
  const { left, right } = part.getBoundingClientRect();
  return [left, right];
}"""


@pytest.mark.rule("U3.1")
@pytest.mark.parametrize("width", [1440, 390])
def test_an_answer_stands_where_the_talk_stands_while_it_comes(served, new_page, width):
    bench = served.bench("In line", {"a.md": "red"})
    page = new_page(f"/bench/{bench}", viewport={"width": width, "height": 800})

    assert page.evaluate(SIDES, "#provisional") == page.evaluate(SIDES, "#transcript")


@pytest.mark.rule("W1.4", "W20.1")
def test_one_message_is_planned_first_where_the_person_wants_that(served, new_page):
    bench = served.bench("Planned", {"a.md": "red"})
    steps = [
        says("research", "# Research"),
        says("plan", plan("Paint it", "Frame it")),
        calls("implement", 1, write("a.md", "blue"), item=1),
        says("implement", '```json\n{"no_change": true, "reason": "framed"}\n```'),
        says("summary", "Painted."),
        says("work", "Directly."),
    ]
    play(served, bench, "planned", steps)
    page = new_page(f"/bench/{bench}")
    assert page.locator("#composer .segments label").all_inner_texts() == [
        *("Agent", "Plan first"),
        "Ask",
    ]

    page.get_by_text("Plan first", exact=True).click()
    send(page, "Paint it")
    page.wait_for_url("**/review*", timeout=TURN_MS)

    told = served.call("WorkshopGetConversation", workbench_id=bench)["messages"]
    answer = [one for one in told if one["type"] == "assistant_message"][-1]
    assert (answer["text"], answer["metadata"]["flow"]) == ("Painted.", "rpi")
