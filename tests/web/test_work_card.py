"""The card of a turn at work: its steps, their files and what was used, in the talk (U3.2)."""

from __future__ import annotations

import re

import pytest
from tests.web.accessible import violations
from tests.web.test_hearing import TURN_MS, play, send
from tests.workshop.conftest import calls, says, story, write

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]


@pytest.mark.rule("U3.2")
def test_the_card_of_a_turn_ticks_its_plan_and_names_the_files_that_changed(served, new_page):
    bench = served.bench("At work", {"a.txt": "aa", "data.csv": "x\n1\n"})
    export = {"path": "data.csv", "target_path": "out.csv", "format": "csv"}
    replacing = {"search": "aa", "replace": "bb", "paths": ["a.txt"]}
    several = (write("b.txt", "b"), ("table_export", export), ("replace_in_files", replacing))
    slow = calls("implement", 1, write("c.txt", "c"), item=2)
    slow["respond"]["delay_ms"] = 120_000
    steps = [one for one in story(("b.txt", "b"), ("c.txt", "c")) if "item" not in one["when"]]
    play(served, bench, "working", [calls("implement", 1, *several, item=1), slow, *steps])
    page = new_page(f"/bench/{bench}")
    send(page, "Write two files")
    page.locator("#work li.now").wait_for(timeout=TURN_MS)
    page.locator("#work li.done .chip").first.wait_for()
    marks = page.locator("#work li").evaluate_all("all => all.map((one) => one.className)")
    chips = page.locator("#work li.done :is(.chip-name, .chip-note)")
    done = " ".join(chips.all_inner_texts())
    total = page.locator("#work .work-sum").inner_text()
    files = page.locator("#files").inner_text()
    page.reload()  # and so it is for whoever comes now
    page.locator("#work li.now").wait_for()
    again = page.locator("#work li").evaluate_all("all => all.map((one) => one.className)")
    stands_in_talk = page.evaluate(
        "document.querySelector('#scroll').contains(document.querySelector('#stop'))"
    )
    page.locator("#stop").click()
    page.locator("#turn-line").wait_for(state="hidden", timeout=TURN_MS)

    assert marks == again == ["done", "now"]
    assert done == "b.txt changed data.csv out.csv changed a.txt changed"
    assert total.startswith("3 files changed so far · ")
    assert "tokens in" in total
    assert "b.txt" in files
    assert stands_in_talk
    assert page.locator("#work li").count() == 0


def at_work(served, new_page, name: str, steps, text: str = "Write b.txt"):
    """Return a page on which a turn waits for its model, after its first call."""
    bench = served.bench(name, {"a.txt": "a"})
    play(served, bench, name.replace(" ", "-").lower(), steps)
    page = new_page(f"/bench/{bench}")
    send(page, text)
    page.locator("#note").wait_for(timeout=TURN_MS)
    return bench, page


@pytest.mark.rule("U3.21", "W27.1")
def test_a_note_is_typed_while_the_agent_works_and_one_that_is_late_can_be_sent(served, new_page):
    slow = says("summary", "All done.")
    slow["respond"]["delay_ms"] = 1_500
    steps = [*story(("b.txt", "b"))[:-1], slow]
    steps[0]["respond"]["delay_ms"] = 4_000  # a busy machine has to show the note before it is read
    bench, page = at_work(served, new_page, "Noted", steps)
    note = page.locator("#note-text")
    note.fill("Keep it <short>")
    note.press("Enter")
    first = page.locator(".message.note").first
    first.get_by_text("not read yet").wait_for(timeout=TURN_MS)
    found = violations(page)
    first.get_by_text("read", exact=True).wait_for(timeout=TURN_MS)
    page.locator("#phase", has_text="Summarizing").wait_for(timeout=TURN_MS)
    note.fill("And a title")
    page.get_by_role("button", name="Add note").click()
    late = page.locator(".message.note").last
    late.get_by_text("came too late to be read").wait_for(timeout=TURN_MS)  # and nobody is led away
    used = page.locator(".turn-used", has_text="details")
    used.wait_for()
    line = used.inner_text()
    page.reload()
    served.shop.models.play(
        "noted", [says("work", "There it is."), *steps[:-1], says("summary", "x")]
    )
    late.get_by_role("button", name="Send it now").click()
    page.wait_for_url("**/review**", timeout=TURN_MS)  # the turn it began is over
    page.goto(f"{served.address}/bench/{bench}?stay=1")
    page.locator(".message.user .badge", has_text="asks for changes").wait_for(timeout=TURN_MS)
    late.get_by_text("sent as a message").wait_for(timeout=TURN_MS)
    said = [
        one["text"]
        for one in served.call("WorkshopGetConversation", workbench_id=bench)["messages"]
        if one["type"] == "user_message"
    ]

    assert found == []
    assert first.locator(".message-text").inner_text() == "Keep it <short>"
    assert re.match(r"Changed 1 file in [\d.]+ s · \d+ calls · .* · details$", line)
    assert said == ["Write b.txt", "And a title"]


@pytest.mark.rule("U3.21", "W27.4")
def test_a_note_nobody_reads_any_more_becomes_the_next_message(served, new_page):
    bench, page = at_work(served, new_page, "Overtaken", [slow_answer()], "What is in a.txt?")
    page.locator("#note-text").fill("And in which language?")
    page.locator("#composer").wait_for(timeout=TURN_MS)
    page.wait_for_function("() => document.querySelector('#message').value")
    written = page.locator("#message").input_value()
    served.call("WorkshopSetFlow", workbench_id=bench, flow="compat")
    served.shop.models.play("overtaken", [slow_answer("reply", delay_ms=10_000)])  # is stopped
    page.locator("#message").fill("Again")
    page.locator("#send").click()
    page.locator("#no-notes").wait_for(timeout=TURN_MS)

    assert written == "And in which language?"
    assert page.locator("#note").is_hidden()
    page.locator("#stop").click()


def slow_answer(purpose: str = "work", *, delay_ms: int = 1_500):
    made = says(purpose, "An a.")
    made["respond"]["delay_ms"] = delay_ms
    return made


@pytest.mark.rule("U3.32", "U3.2")
def test_plan_md_is_a_checklist_in_the_details(served, new_page):
    bench = served.bench("Planned", {"a.txt": "a"})
    play(served, bench, "planned", story(("b.txt", "b")))
    named = {"workbench_id": bench}
    said = served.call("WorkshopSendUserMessage", text="Write b.txt", **named)["message_id"]
    turn = served.call("WorkshopRunAgent", message_id=said, flow="rpi", **named)["turn_id"]
    page = new_page(f"/bench/{bench}/turn/{turn}")
    plan = page.locator("#panel-plan")
    plan.locator("summary").click()

    assert "original_count" not in plan.inner_text()
    assert " ".join(plan.locator(".prose li").inner_text().split()) == "✓done: 1. Write b.txt"


TOLD = """window.told = [];
const line = document.querySelector("#tool");
new MutationObserver(() => told.push(line.textContent)).observe(line, { childList: true });"""


@pytest.mark.rule("U3.33", "W5.16")
def test_the_card_says_which_file_is_read_before_the_model_is_asked(served, new_page):
    bench = served.bench("Read", {"a.csv": "x\n1\n", "b.csv": "y\n2\n"})
    play(served, bench, "read", [says("work", "Done.")])
    page = new_page(f"/bench/{bench}")
    page.locator("html[data-live]").wait_for()
    page.evaluate(TOLD)
    send(page, "What is in them?")
    page.locator(".message.assistant .turn-used").wait_for(timeout=TURN_MS)
    first = [one for one in page.evaluate("window.told") if one.startswith("reading")]
    send(page, "And now?")
    page.locator(".message.assistant .turn-used").nth(1).wait_for(timeout=TURN_MS)

    assert first[:2] == ["reading a.csv (file 1 of 2)", "reading b.csv (file 2 of 2)"]
    again = page.evaluate("window.told").count("reading a.csv (file 1 of 2)")
    assert again == first.count("reading a.csv (file 1 of 2)")


FROM_END = """(() => {
  const talk = document.querySelector('#scroll');
  return talk.scrollHeight - talk.scrollTop - talk.clientHeight;
})()"""


@pytest.mark.rule("U1.4")
def test_without_scripts_no_button_of_a_turn_is_there_that_does_nothing(served, new_page):
    bench, page = at_work(served, new_page, "Unscripted", [slow_answer(delay_ms=120_000)])
    plain = new_page(f"/bench/{bench}?stay=1", java_script_enabled=False)
    at_the_card = plain.locator("#turn-line button >> visible=true").count()
    page.locator("#stop").click()
    page.locator("#paused").wait_for(timeout=TURN_MS)
    plain.reload()
    at_the_pause = plain.locator("#paused button >> visible=true").count()

    assert (at_the_card, at_the_pause) == (0, 0)


@pytest.mark.rule("U3.1", "U3.8")
def test_the_talk_stays_at_its_end_when_what_stands_below_it_grows(served, new_page):
    bench = served.bench("Kept in sight", {"a.txt": "a"})
    slow = calls("work", 1, write("c.txt", "c"))
    slow["respond"]["delay_ms"] = 120_000
    play(served, bench, "sight", [slow])
    page = new_page(f"/bench/{bench}", viewport={"width": 1280, "height": 640})
    send(page, "Write some files.\n" * 30)
    page.locator("#note").wait_for(timeout=TURN_MS)
    page.locator("#note-text").fill("A note.\n" * 8)
    page.wait_for_timeout(400)
    while_written = page.evaluate(FROM_END)
    page.locator("#stop").click()
    page.locator("#paused").wait_for(timeout=TURN_MS)
    page.get_by_text("Stopped.").first.wait_for(timeout=TURN_MS)
    page.wait_for_timeout(400)

    assert (while_written < 60, page.evaluate(FROM_END) < 60) == (True, True)
