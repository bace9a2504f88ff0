"""Where things stand, what a screen reader hears and where the focus goes (W20, W18.6)."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.web.drafts import Drafting
from tests.web.hearing import heard, listening, wait_for_focus, wait_to_hear
from tests.workshop.conftest import calls, says, story, write

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]

TURN_MS = 60_000
BLOCKED = (
    "The composer is blocked: ask for changes in the review, or publish or discard the Draft to go "
    "on talking"
)


def play(served, bench, name, steps):
    served.shop.models.play(name, steps)
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id=f"scripted:{name}")


def send(page, text):
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


@pytest.mark.rule("W20.1", "U2.2")
def test_files_left_conversation_in_the_middle_composer_below(served, new_page):
    bench = served.bench("Layout", {"a.txt": "a"})
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:demo")
    page = new_page(f"/bench/{bench}")

    def box(selector):
        found = page.locator(selector).first.bounding_box()
        assert found, selector
        return found

    left, middle, below = box("#side"), box("#scroll"), box("#composer")
    for selector in ("#files", ".clutter", ".side-foot a[href$='/settings'] svg"):
        part = box(selector)
        assert left["x"] <= part["x"]
        assert part["x"] + part["width"] <= middle["x"]
    assert box(".side-foot")["y"] > box(".clutter")["y"]
    assert box(".side-foot")["y"] + box(".side-foot")["height"] > 780  # of 800
    for selector in (".bench-name", "#model", "nav a[href$='/checkpoints']"):
        assert box(selector)["y"] + box(selector)["height"] <= middle["y"]
    assert middle["y"] + middle["height"] <= below["y"]
    modes = page.locator("#composer .segments label").all_inner_texts()
    assert sorted(modes) == ["Agent", "Ask", "Plan first"]
    page.set_viewport_size({"width": 900, "height": 700})
    assert page.locator("#model").is_visible()
    Drafting(served, bench).put({"a.txt": "b"})
    page.locator("#draft-actions").wait_for()
    assert box("#draft-actions")["y"] >= box("#scroll")["y"] + box("#scroll")["height"]
    assert page.locator("#composer").is_hidden()


STEPS = {
    "Analyzing files…",
    "Planning approach…",
    "Working through the plan…",
    "Working on item 1 of 2: Write b.txt",
    "Working on item 2 of 2: Write c.txt",
    "Summarizing results…",
}


@pytest.mark.rule("W23.78", "W20.4", "W20.5", "W11.19")
def test_a_turn_is_announced_step_by_step_and_never_word_by_word(served, new_page):
    bench = served.bench("Heard", {"a.txt": "a"})
    answer = "Both files are there now, and nothing else was touched at all."
    play(served, bench, "heard", story(("b.txt", "b"), ("c.txt", "c"), answer=answer))
    page = listening(new_page, f"{served.address}/bench/{bench}")
    page.clock.set_fixed_time("2026-01-01T12:00:00Z")  # the three tools come within 5 s
    send(page, "Write two files")
    page.wait_for_url("**/review", timeout=TURN_MS)
    wait_for_focus(page, "#review-heading")

    said = Counter(heard(page))
    phases = STEPS & said.keys()
    tools = said - Counter(
        {
            "A Draft was begun": 1,
            "The answer begins": 1,
            "The answer is complete": 1,
            "Draft changes are ready for review": 1,
            f"! {BLOCKED}": 1,
            **dict.fromkeys(phases, 1),
        }
    )
    assert sum(tools.values()) == 1, said
    assert len(phases) >= 3
    assert not any(word in one for one in said for word in ("Both", "touched"))


@pytest.mark.rule("W20.4", "W20.5", "W20.7", "B7.6")
def test_stop_stands_there_until_the_turn_ends_and_the_draft_takes_its_place(served, new_page):
    bench = served.bench("Stopped", {"a.txt": "a"})
    slow = calls("implement", 1, write("c.txt", "c"), item=2)
    slow["respond"]["delay_ms"] = 120_000
    steps = [one for one in story(("b.txt", "b"), ("c.txt", "c")) if one["when"].get("item") != 2]
    play(served, bench, "slow", [slow, *steps])
    page = listening(new_page, f"{served.address}/bench/{bench}")
    send(page, "Write two files")
    page.locator(".draft-bar").wait_for(timeout=TURN_MS)
    page.get_by_text("Working on item 2 of 2").first.wait_for(timeout=TURN_MS)
    places = ("#stop", "#composer", "#draft-actions", "#paused")
    running = [page.locator(one).is_visible() for one in places]
    page.reload()  # and so it is for whoever comes now
    page.locator("#stop:enabled").wait_for()
    again = [page.locator(one).is_visible() for one in places]
    page.locator("#stop").click()
    page.locator("#draft-actions").wait_for(timeout=TURN_MS)
    ended = [page.locator(one).is_visible() for one in places]
    wait_to_hear(page, "! The turn was stopped")
    offered = page.locator("#draft-actions .buttons > *").all_inner_texts()
    page.locator(".skip[href='#message']").focus()
    page.keyboard.press("Enter")
    skipped = page.evaluate("document.activeElement.closest('section')?.id")
    page.locator("#draft-actions").get_by_role("button", name="Discard").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard Draft").click()
    wait_to_hear(page, "The Draft was discarded")

    assert (running, again) == ([True, False, False, False],) * 2
    assert ended == [False, False, True, True]  # the turn can go on
    assert [one.strip() for one in offered] == ["Review", "Publish", "Discard"]
    assert skipped == "paused"
    wait_for_focus(page, ".card-line")  # the line with the way back
    said = Counter(heard(page))
    once = ("! The turn was stopped", f"! {BLOCKED}", "The Draft was discarded")
    assert [said[one] for one in once] == [1, 1, 1], said
    assert page.locator("#composer").is_visible()


@pytest.mark.rule("W20.4", "W20.5")
def test_what_happens_elsewhere_is_said_once(served, new_page):
    bench = served.bench("Elsewhere", {"a.txt": "a"})
    here = {"workbench_id": bench}
    steps = [
        says("research", "# R"),
        says("summary", "y" * 9_000),
        says("compression", "In short."),
    ]
    play(served, bench, "long", steps)

    def ask(text):
        sent = served.call("WorkshopSendUserMessage", **here, text=text, mode="ask")["message_id"]
        served.call("WorkshopRunAgent", **here, message_id=sent)
        return sent

    for number in range(6):
        ask(f"Question {number}")
    page = listening(new_page, f"{served.address}/bench/{bench}")
    page.locator("html[data-live]").wait_for()
    last = ask("Question 6")
    wait_to_hear(page, "Older messages were summed up")
    wait_to_hear(page, "The answer is complete")
    wait_for_focus(page, "#message")
    served.call("WorkshopUndoToMessage", **here, message_id=last)
    wait_to_hear(page, "Rewound")
    Drafting(served, bench).put({"a.txt": "b"})
    wait_to_hear(page, f"! {BLOCKED}")
    served.call("DraftPublish", **here)
    wait_to_hear(page, "The Draft was published")
    page.locator("#composer").wait_for()
    Drafting(served, bench).put({"a.txt": "c"})
    wait_to_hear(page, f"! {BLOCKED}", 2)
    served.call("DraftDiscard", **here)
    wait_to_hear(page, "The Draft was discarded")
    play(served, bench, "fails", [{"when": {}, "times": 0, "respond": {"error": "empty"}}])
    wait_to_hear(page, "Model changed to scripted:fails")
    send(page, "Once more")
    wait_to_hear(page, "! The turn failed")
    page.locator("#composer").wait_for()

    said = Counter(heard(page))
    assert (said["A Draft was begun"], said[f"! {BLOCKED}"]) == (2, 2)
    for text in (
        "Older messages were summed up",
        "The answer begins",
        "The answer is complete",
        "Rewound",
        "The Draft was published",
        "The Draft was discarded",
        "Model changed to scripted:fails",
        "! The turn failed",
    ):
        assert said[text] == 1, (text, said)
    assert [one for one in said if one.startswith("!")] == [f"! {BLOCKED}", "! The turn failed"]


@pytest.mark.rule("W18.6", "B7.10", "W20.5")
def test_a_draft_in_the_way_is_published_or_discarded_first_or_nothing_happens(served, new_page):
    bench = served.bench("In the way", {"a.txt": "a"})
    draft = Drafting(served, bench)
    draft.put({"a.txt": "b"})
    page = listening(new_page, f"{served.address}/bench/{bench}?stay=1")
    dialog = page.get_by_role("dialog", name="A Draft is in the way")

    def begin(name):
        picked = {"name": name, "mimeType": "text/plain", "buffer": b"x"}
        page.locator("#pick-files").set_input_files([picked])
        dialog.wait_for()

    begin("one.txt")
    offered = dialog.locator(".buttons button").all_inner_texts()
    dialog.get_by_role("button", name="Cancel").click()
    page.locator("#errors [data-error=DRAFT_EXISTS]").wait_for()
    focus = page.evaluate("document.activeElement.dataset.error")
    kept = (served.paths(bench), draft_of(served, bench))
    begin("two.txt")
    dialog.get_by_role("button", name="Publish").click()
    page.locator(".file-name", has_text="two.txt").wait_for()
    published = served.call("WorkbenchFileRead", workbench_id=bench, path="a.txt")["text"]
    draft.put({"a.txt": "c"})
    page.locator("#draft-actions").wait_for()
    begin("three.txt")
    dialog.get_by_role("button", name="Discard").click()
    page.locator(".file-name", has_text="three.txt").wait_for()

    assert offered == ["Publish", "Discard", "Cancel"]
    assert focus == "DRAFT_EXISTS"
    assert kept == ({"a.txt"}, True)
    assert published == "b"
    assert served.paths(bench) == {"a.txt", "two.txt", "three.txt"}
    assert served.call("WorkbenchFileRead", workbench_id=bench, path="a.txt")["text"] == "b"
    refusals = [one for one in heard(page) if one.startswith("!") and one != f"! {BLOCKED}"]
    assert len(refusals) == 1, refusals


def draft_of(served, bench) -> bool:
    return bool(served.call("DraftGetState", workbench_id=bench)["has_draft"])
