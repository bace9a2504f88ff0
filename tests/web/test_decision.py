"""One decision about a Draft: its head, its three acts, and the way back after them (U4.40)."""

from __future__ import annotations

import pytest
from playwright.sync_api import APIResponse, Route
from tests.web.accessible import violations
from tests.web.drafts import Drafting
from tests.web.hearing import wait_for_focus
from tests.workshop.conftest import calls, story, write

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]

TURN_MS = 60_000
ASKED = "Write down what was sold, " + "and say where it was sold " * 8
LINES = "".join(f"line {number}\n" for number in range(80))
WORK = "The agent is at work on this Draft. It can be published when the turn is over."


def made(served, name, *files, asked=ASKED, answer="Both **files** are written.\n\nThat is all."):
    """Let a turn make a Draft with these files; return the bench."""
    bench = served.bench(name, {"a.txt": "a\n"})
    served.shop.models.play(name, story(*files, answer=answer))
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id=f"scripted:{name}")
    sent = served.call("WorkshopSendUserMessage", workbench_id=bench, text=asked)
    served.call("WorkshopRunAgent", workbench_id=bench, message_id=sent["message_id"])
    return bench


def count(page, role, name):
    return page.get_by_role(role, name=name).count()


@pytest.mark.rule("U4.40", "U4.41", "U4.42", "U2.3", "U7.2", "B27.6")
def test_the_review_has_one_head_and_each_act_once(served, new_page):
    bench = made(served, "head", ("a.txt", LINES), ("b.txt", "b\n"))
    draft = Drafting(served, bench)
    draft.call("ReviewAddComment", path="a.txt", text="Why so many?")  # which has a badge
    page = new_page(f"/bench/{bench}/review?file=a.txt", viewport={"width": 1440, "height": 900})
    page.wait_for_selector("body[data-ready=yes]")

    head = page.locator(".decision")
    box = head.bounding_box()
    first = page.locator("#file-view [data-change]").first.bounding_box()
    acts = page.locator("#gate").get_by_role("button").all_inner_texts()
    opened = page.locator(".decision-words > section").all_inner_texts()
    said = page.locator(".clip", has_text="The agent says")
    assert said.locator(".clip-more").is_hidden()  # all of it is in sight
    page.get_by_text("The whole request").click()
    whole = page.locator(".asked-whole p").inner_text()
    numbers = [count(page, "button", "Publish"), count(page, "button", "Discard")]
    grave = violations(page)
    page.set_viewport_size({"width": 390, "height": 844})
    bar = page.locator("#gate").bounding_box()
    ends = [page.locator(one).bounding_box() for one in ("#publish", ".act-discard")]
    page.locator("#main").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    end = page.locator("#file-view").bounding_box()
    grave += violations(page)

    assert [one.strip() for one in acts] == ["Discard", "Publish 2 files"]
    assert page.locator("#gate summary").inner_text().split()[:3] == ["Ask", "for", "changes"]
    assert numbers == [1, 1]
    heading = page.locator("#review-heading").inner_text()
    assert heading.startswith("Write down what was sold,")
    assert (len(heading) <= 140, whole) == (True, ASKED.strip())
    assert [one.split("\n")[0] for one in opened] == ["The agent says", "Backshop found"]
    assert "Both files are written." in opened[0]
    assert page.locator(".draft-mark").inner_text().strip().startswith("Draft in progress since")
    assert page.locator(".draft-bar:visible").count() == 0
    assert box["height"] <= 180
    assert first["y"] + first["height"] < 900
    assert (bar["y"] + bar["height"], bar["width"]) == (844, 390)
    assert ends[0]["x"] >= 0
    assert ends[0]["width"] > 110  # all of its words
    assert ends[1]["x"] + ends[1]["width"] <= 390
    assert end["y"] + end["height"] <= bar["y"]
    assert grave == []


@pytest.mark.rule("U4.43")
def test_nothing_is_published_while_a_turn_runs_and_pages_say_so(served, new_page):
    bench = served.bench("At work", {"a.txt": "a\n"})
    slow = calls("implement", 1, write("c.txt", "c"), item=2)
    slow["respond"]["delay_ms"] = 120_000
    steps = [one for one in story(("b.txt", "b"), ("c.txt", "c")) if one["when"].get("item") != 2]
    served.shop.models.play("at-work", [slow, *steps])
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:at-work")
    talk = new_page(f"/bench/{bench}")
    talk.get_by_label("Message", exact=True).fill("Write two files")
    talk.keyboard.press("Enter")
    talk.locator("#draft-bar .primary:disabled").wait_for(timeout=TURN_MS)
    talk.keyboard.press("Alt+Shift+P")
    review, context = new_page(f"/bench/{bench}/review"), new_page(f"/bench/{bench}/context")
    review.wait_for_selector("body[data-ready=yes]")
    reason = review.locator("#why-not").inner_text().strip()
    closed = [one.locator("[data-opens=ask-publish]").first for one in (review, context)]
    running = [one.is_disabled() for one in closed]
    described = [one.get_attribute("aria-describedby") for one in closed]

    served.call("WorkshopCancelRun", workbench_id=bench)
    for page in (talk, context):
        page.locator("#draft-bar .primary:enabled").wait_for(timeout=TURN_MS)
    review.locator("#publish:enabled").wait_for(timeout=TURN_MS)

    assert (reason, running, described) == (WORK, [True, True], ["why-not", "at-work"])
    assert talk.get_by_role("dialog").count() == 0
    assert review.locator("#why-not").is_hidden()
    assert context.locator("#at-work").is_hidden()


@pytest.mark.rule("U4.44", "U3.31", "B9.9", "U1.4")
@pytest.mark.parametrize("scripts", [True, False])
def test_after_publishing_one_is_in_the_talk_and_undo_brings_back_what_was(
    served, new_page, scripts
):
    files = [(f"{number}.txt", "x\n") for number in range(8)]
    bench = made(served, f"undo-{scripts}", *files, asked="Write eight files")
    page = new_page(f"/bench/{bench}/review", java_script_enabled=scripts)
    page.get_by_role("button", name="Publish 8 files").click()
    asked = page.get_by_role("dialog") if scripts else page.locator("#publishing")
    asked.get_by_role("button", name="Publish").click()
    card = page.locator(".publish-card")
    card.wait_for()
    page.reload()
    told = " ".join(card.inner_text().split())
    chips = card.locator(".chip").all_inner_texts()
    card.get_by_role("button", name="Undo").click()
    if not scripts:
        page.locator("#restoring").get_by_role("button", name="Restore").click()
    page.get_by_text("Publish of 0.txt, 1.txt, 2.txt and 5 more undone").wait_for()
    restored = served.paths(bench)

    assert told.startswith("Published 8 files")
    assert ("and 2 more" in told, len(chips)) == (True, 6)
    assert chips[0].split() == ["T", "0.txt", "new"]
    assert restored == {"a.txt"}
    if scripts:
        page.get_by_role("button", name="Undo restore").first.click()
        card.wait_for()
        assert len(served.paths(bench)) == 9


@pytest.mark.rule("U4.44", "U1.4")
def test_undo_of_a_publish_before_all_scripts_are_here_is_done_when_they_are(served, new_page):
    bench = made(served, "early", ("b.txt", "b\n"), asked="Write a file")
    Drafting(served, bench).call("DraftPublish")
    page = new_page("/")
    held = []
    page.route("**/transcript*.js*", lambda route: held.append(route))
    page.goto(f"{served.address}/bench/{bench}", wait_until="commit")
    page.wait_for_function("() => !document.querySelector('[data-keys][hidden]')")
    page.locator(".publish-card").get_by_role("button", name="Undo").click()
    before = (len(held), served.paths(bench))
    held[0].continue_()
    page.locator(".card-line", has_text="Publish of b.txt undone").wait_for()

    assert before == (1, {"a.txt", "b.txt"})
    assert page.url.split("?")[0] == f"{served.address}/bench/{bench}"
    assert served.paths(bench) == {"a.txt"}


@pytest.mark.rule("U1.3")
def test_a_talk_that_comes_late_does_not_take_back_what_came_after_it(served, new_page):
    bench = made(served, "late", ("b.txt", "b\n"), asked="Write a file")
    draft = Drafting(served, bench)
    page = new_page(f"/bench/{bench}?stay=1")
    page.locator("html[data-live]").wait_for()
    held: list[tuple[Route, APIResponse]] = []

    def hold(route):
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    page.route(f"**/bench/{bench}/transcript", hold)
    checkpoint = draft.call("DraftPublish")["checkpoint_id"]
    while not held:
        page.wait_for_function("() => true")
    draft.call("CheckpointRestore", checkpoint_id=checkpoint)
    line = page.locator(".card-line", has_text="Publish of b.txt undone")
    line.wait_for()
    route, old = held[0]
    with page.expect_event("requestfinished", lambda one: one == route.request):
        route.fulfill(response=old)
    page.evaluate(
        "async () => { for (let n = 0; n < 3; n += 1) await (await fetch('/icon')).text(); }"
    )

    assert line.count() == 1
    assert "undone" not in old.text()


@pytest.mark.rule("U4.44", "U5.2")
def test_undo_asks_where_something_changed_since_and_older_cards_are_called_otherwise(
    served, new_page
):
    bench = made(served, "asks", ("b.txt", "b\n"), asked="Write a file")
    draft = Drafting(served, bench)
    draft.call("DraftPublish")
    page = new_page(f"/bench/{bench}")
    undo = page.locator(".publish-card").get_by_role("button", name="Undo")
    undo.wait_for()
    draft.call("WorkbenchFilesRemove", workbench_paths=["a.txt"])
    undo.click()
    asked = page.get_by_role("dialog", name="Restore what was Published before?")
    asked.locator(".preview li").first.wait_for()
    listed = asked.locator(".preview li").all_inner_texts()
    asked.get_by_role("button", name="Cancel").click()
    draft.put({"b.txt": "again\n"})
    draft.call("DraftPublish")
    page.locator(".publish-card").nth(1).wait_for()

    labels = page.locator(".publish-card button").all_text_contents()
    assert {one.split()[1] for one in listed} == {"a.txt", "b.txt"}
    assert [one.strip() for one in labels] == ["Restore what was before", "Undo"]
    assert served.paths(bench) == {"b.txt"}


@pytest.mark.rule("U4.40", "U4.51", "U7.2")
def test_long_words_are_folded_and_publishing_says_which_comments_are_open(served, new_page):
    long = "\n\n".join(f"Paragraph {number}." for number in range(12))
    bench = made(served, "long", ("b.txt", "b\n"), answer=long)
    draft = Drafting(served, bench)
    for text in ("Why?", "And how?"):
        draft.call("ReviewAddComment", path="b.txt", text=text)
    page = new_page(f"/bench/{bench}/review?file=b.txt")
    page.wait_for_selector("body[data-ready=yes]")
    end = page.get_by_text("Paragraph 11.")
    box = page.locator(".clip", has_text="The agent says")

    before = box.bounding_box()["height"]
    grave = violations(page)
    box.get_by_role("button", name="Show all of The agent says").click()
    open_box, last = box.bounding_box(), end.bounding_box()
    box.get_by_role("button", name="Show less of The agent says").click()
    after = box.bounding_box()["height"]
    page.locator("#publish").click()
    said = page.locator("#ask-publish .still-open")
    said.wait_for()
    words = said.inner_text().strip()
    said.get_by_role("link").click()
    page.locator("#ask-publish").wait_for(state="hidden")

    assert before == after <= 116
    assert last["y"] + last["height"] <= open_box["y"] + open_box["height"]
    assert words == "2 comments are still open; publishing ends them."
    assert page.url.endswith(f"/bench/{bench}/review?file=b.txt#comments")
    assert grave == []


@pytest.mark.rule("U4.43")
def test_a_draft_without_changes_is_not_published(served, new_page):
    bench = served.bench("Nothing", {"a.txt": "a\n"})
    draft = Drafting(served, bench)
    draft.put({"a.txt": "b\n"})
    page = new_page(f"/bench/{bench}/review")
    page.wait_for_selector("body[data-ready=yes]")
    first = page.locator("#publish").is_disabled()

    draft.put({"a.txt": "a\n"})
    page.get_by_text("Nothing is left to publish").wait_for()

    assert (first, page.locator("#publish").is_disabled()) == (False, True)
    with served.client() as client:
        plain = client.get(f"/bench/{bench}/review").text
    assert "Nothing is left to publish" in plain


@pytest.mark.rule("U4.46", "U4.51", "U1.4")
def test_without_scripts_publishing_asks_in_the_head_of_the_review(served, new_page):
    bench = served.bench("Plain publishing", {"a.txt": "a\n"})
    draft = Drafting(served, bench)
    draft.put({"a.txt": "b\n"})
    draft.call("ReviewAddComment", path="a.txt", text="Why?")
    page = new_page(f"/bench/{bench}/review", java_script_enabled=False)

    page.locator("#publish").click()
    question = page.locator("#publishing").inner_text()
    before = draft.call("DraftGetState")["has_draft"]
    page.locator("#publishing").get_by_role("button", name="Publish 1 file").click()
    page.locator(".publish-card").wait_for()

    assert "~ a.txt" in question
    assert "1 comment is still open; publishing ends it." in question
    assert (before, draft.call("DraftGetState")["has_draft"]) == (True, False)


@pytest.mark.rule("U4.46", "U4.45", "U1.4")
def test_without_scripts_discarding_asks_in_the_head_of_the_review(served, new_page):
    bench = served.bench("Plain", {"a.txt": "a\n"})
    Drafting(served, bench).put({"a.txt": "b\n"})
    page = new_page(f"/bench/{bench}/context", java_script_enabled=False)

    page.locator(".draft-bar").get_by_role("button", name="Discard").click()
    question = page.locator("#discarding").inner_text()
    before = served.call("DraftGetState", workbench_id=bench)["has_draft"]
    page.locator("#discarding").get_by_role("button", name="Discard Draft").click()
    page.get_by_text("The Draft was discarded").wait_for()

    assert "Undo brings the Draft back until the files change" in question
    assert (before, served.call("DraftGetState", workbench_id=bench)["has_draft"]) == (True, False)


@pytest.mark.rule("U4.45", "U9.4", "B9.17", "U1.4")
@pytest.mark.parametrize("scripts", [True, False])
def test_a_discarded_draft_comes_back_from_its_line_in_the_talk(served, new_page, scripts):
    bench = made(served, f"back-{scripts}", ("b.txt", "b\n"), asked="Write a file")
    page = new_page(f"/bench/{bench}/review", java_script_enabled=scripts)
    page.get_by_role("button", name="Discard").click()
    asked = page.get_by_role("dialog") if scripts else page.locator("#discarding")
    asked.get_by_role("button", name="Discard Draft").click()
    line = page.locator(".card-line", has_text="Draft discarded; Published is as it was")
    line.wait_for()
    page.reload()
    line.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Publish 1 file").wait_for()

    assert served.call("DraftGetState", workbench_id=bench)["has_draft"]
    page.goto(f"{served.address}/bench/{bench}?stay=1")
    page.get_by_text("The discarded Draft is back").wait_for()
    assert line.count() == 0  # what came back is not offered again
    served.call("DraftDiscard", workbench_id=bench)
    page.goto(f"{served.address}/bench/{bench}?stay=1")
    told = page.get_by_text("Draft discarded; Published is as it was")
    assert (told.count(), line.get_by_role("button", name="Undo").count()) == (2, 1)


@pytest.mark.rule("U4.45")
def test_a_discarded_draft_is_not_offered_once_another_began(served, new_page):
    bench = made(served, "other", ("b.txt", "b\n"), asked="Write a file")
    draft = Drafting(served, bench)
    draft.call("DraftDiscard")
    page = new_page(f"/bench/{bench}")
    undo = page.locator(".card-line", has_text="Draft discarded").get_by_role("button")
    undo.wait_for()
    draft.call("DraftCreate")

    undo.wait_for(state="detached")
    page.get_by_text("Draft discarded; Published is as it was").wait_for()


@pytest.mark.rule("U4.47", "W20.5")
def test_the_focus_stays_where_it_was_put_when_the_page_reads_its_files_again(served, new_page):
    bench = served.bench("Focus", {"a.txt": "a\n", "b.txt": "b\n"})
    draft = Drafting(served, bench)
    draft.put({"a.txt": "b\n"})
    page = new_page(f"/bench/{bench}?stay=1")
    page.locator("html[data-live]").wait_for()
    page.locator("#draft-actions").get_by_role("button", name="Discard").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard Draft").click()
    wait_for_focus(page, ".card-line")
    page.locator("html[data-live]").wait_for()

    draft.call("WorkbenchFilesRemove", workbench_paths=["b.txt"])
    page.locator("#files .file-name", has_text="b.txt").wait_for(state="detached")
    page.get_by_role("button", name="Undo").wait_for(state="detached")  # the files went on

    page.locator(".message:focus", has_text="Draft discarded").wait_for()


@pytest.mark.rule("U4.40", "U4.41")
def test_the_picture_of_a_changed_workbook_is_on_the_first_screen(served, new_page):
    bench = served.bench("First screen")
    draft = Drafting(served, bench)
    made = {"op": "ensure_sheet", "sheet": "Ledger"}

    def change(value: int) -> dict[str, object]:
        cell = {"cell": "B2", "value": value}
        return {"op": "set_cells", "sheet": "Ledger", "cells": [cell]}

    draft.use("xlsx_operations", path="book.xlsx", operations=[made, change(1)])
    draft.call("DraftPublish")
    for value in range(2, 8):
        note = f"The revenue is {value}."
        draft.use("xlsx_operations", path="book.xlsx", operations=[change(value)], change_note=note)
    starts = {}
    for width, height in ((1440, 900), (390, 844)):
        page = new_page(
            f"/bench/{bench}/review", viewport={"width": width, "height": height}, own=True
        )
        page.wait_for_selector("body[data-ready=yes]")
        leaf = page.locator(".desk .leaf:visible").last
        page.locator(".desk .drawing:visible").last.wait_for()
        starts[width] = leaf.bounding_box()["y"]
        notes = page.locator(".clip", has=page.locator(".file-summary"))
        cut = notes.bounding_box()["height"]
        notes.get_by_role("button", name="Show all").click()
        assert page.get_by_text("The revenue is 7.").is_visible()
        assert notes.bounding_box()["height"] > cut + 40

    assert starts[1440] <= 500
    assert starts[390] <= 680
