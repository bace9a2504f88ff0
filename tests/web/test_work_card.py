"""The card of a turn at work: its steps, their files and what was used, in the talk (U3.2)."""

from __future__ import annotations

import pytest
from tests.web.test_hearing import TURN_MS, play, send
from tests.workshop.conftest import calls, story, write

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]


@pytest.mark.rule("U3.2")
def test_the_card_of_a_turn_ticks_its_plan_and_names_the_files_that_changed(served, new_page):
    bench = served.bench("At work", {"a.txt": "a"})
    slow = calls("implement", 1, write("c.txt", "c"), item=2)
    slow["respond"]["delay_ms"] = 120_000
    steps = [one for one in story(("b.txt", "b"), ("c.txt", "c")) if one["when"].get("item") != 2]
    play(served, bench, "working", [slow, *steps])
    page = new_page(f"/bench/{bench}")
    send(page, "Write two files")
    page.locator("#work li.now").wait_for(timeout=TURN_MS)
    page.locator("#work li.done .chip").wait_for()
    marks = page.locator("#work li").evaluate_all("all => all.map((one) => one.className)")
    done = page.locator("#work li.done").inner_text()
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
    assert "b.txt" in done
    assert "changed" in done
    assert total.startswith("1 file changed so far · ")
    assert "tokens in" in total
    assert "b.txt" in files
    assert stands_in_talk
    assert page.locator("#work li").count() == 0
