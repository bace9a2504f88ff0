"""The Workshop in a real browser, with the offline model (U3, W20)."""

from __future__ import annotations

import base64
import json
import re

import pytest
from tests.web.accessible import violations
from tests.web.browsing import serving
from tests.web.drafts import Drafting
from tests.web.hearing import heard, listening, wait_for_focus
from tests.web.test_mistakes import drop
from tests.workshop.conftest import says, story

from backshop.store import StoreUnavailable
from backshop.testing.ambient import FixedClock

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(180)]

TOTALS = (
    "Add up the sales by region and month and put the totals on a new sheet of the budget, "
    "beside the plan."
)
QUESTION = (
    "Which category earned most in the second half of the year, and what do the supplier's terms "
    "say about late delivery?"
)
TURN_MS = 60_000
PICTURE = base64.b64decode(  # one black point
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
NEW = {"path": "a.md", "content": "new\n", "summary": "new text"}
TOO_LONG = 100 * 1024 + 1  # bytes of a message, one more than are taken


@pytest.fixture
def bench(served):
    made = served.call("WorkbenchCreateSample")["workbench_id"]
    served.call("WorkshopSwitchModel", workbench_id=made, model_id="scripted:demo")
    return made


def send(page, text):
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def said(served, bench):
    return [
        (one["type"], one["text"])
        for one in served.call("WorkshopGetConversation", workbench_id=bench)["messages"]
        if one["type"] != "system_event"
    ]


@pytest.mark.rule("U3.1", "U3.2", "U3.3", "U3.26", "U3.29", "W5.6", "W18.4", "W20.5", "B9.15")
def test_a_turn_from_suggestion_to_publish_card(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    page.get_by_role("button", name=TOTALS).click()
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Turn in progress").wait_for()
    running = page.locator("#composer").is_hidden()
    page.wait_for_url("**/review", timeout=TURN_MS)
    page.goto(f"{served.address}/bench/{bench}")
    opened = page.url
    page.goto(f"{served.address}/bench/{bench}?stay=1")
    page.locator(".message.assistant.complete").wait_for()
    blocked = page.locator("#composer").is_hidden()
    page.locator("#draft-actions").get_by_role("button", name="Publish").click()
    foretold = page.locator("#ask-publish .preview li")
    foretold.first.wait_for()
    changing = foretold.all_inner_texts()
    page.get_by_role("dialog", name="Publish the Draft?").get_by_role(
        "button", name="Publish"
    ).click()
    page.locator(".publish-card").wait_for()
    page.locator("#composer").wait_for()
    page.locator(".publish-card", has_text="1 file read back, each as it should be").wait_for()
    wait_for_focus(page, ".publish-card")
    toasts = page.locator(".toast").count()
    page.get_by_text("Tasks to try").click()
    offered = page.locator("#tasks [data-suggest]:visible").count()
    page.locator("#send").click()
    page.get_by_role("alert").get_by_text("There is nothing to send yet").wait_for()
    wait_for_focus(page, "#message")
    page.keyboard.type("x")
    page.locator("#nothing-written").wait_for(state="hidden")
    page.locator("#tasks").wait_for(state="hidden")  # something is written

    assert offered == 8
    assert toasts == 0  # nothing covers the card, which says it
    assert running
    assert [one.partition(" (")[0] for one in changing] == ["~ budget-2025.xlsx"]
    assert blocked
    assert opened.endswith("/review")
    assert "Sales 2025" in page.locator(".message.assistant").inner_text()
    assert violations(page) == []


@pytest.mark.rule("U3.1", "W5.8", "W20.6")
def test_an_answer_streams_into_the_page_and_ends_as_the_record(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    send(page, QUESTION)
    page.locator(".message.assistant.complete").wait_for(timeout=TURN_MS)

    (_, record) = said(served, bench)[-1]
    shown = page.locator(".message.assistant [data-rendered]").inner_text()
    words = re.sub(r"\W+", "", record)
    assert re.sub(r"\W+", "", shown) == words
    page.locator("#composer").wait_for()
    page.wait_for_function("() => document.activeElement?.id === 'message'")


@pytest.mark.rule("U3.26", "U3.28", "U7.5")
def test_a_long_talk_comes_in_parts(served, new_page):
    bench = served.bench("Long")
    for number in range(60):
        text = f"Message {number}."
        served.call("WorkshopSendUserMessage", workbench_id=bench, text=text)
    plain = new_page(f"/bench/{bench}?stay=1", java_script_enabled=False)
    parts = [plain.locator("#transcript .message-text").all_text_contents()]
    plain.get_by_role("link", name="Older messages").click()
    parts.append(plain.locator("#transcript .message-text").all_text_contents())
    has_more = plain.get_by_role("link", name="Older messages").count()
    plain.get_by_role("link", name="Newest messages").click()
    plain.get_by_role("button", name="Send").click()
    plain.get_by_text("The message is empty.").wait_for()
    plain.get_by_role("link", name="Back", exact=True).click()
    plain.get_by_text("Message 59.", exact=True).wait_for()
    page = new_page(f"/bench/{bench}?stay=1")
    sent = page.locator("[data-rewind]").count()
    page.locator("#scroll").evaluate("one => one.scrollTo(0, 0)")
    page.get_by_text("Message 0.", exact=True).wait_for()
    page.locator(".message").first.get_by_label("Message menu").click()
    items = page.locator(".menu-items:visible button").all_inner_texts()

    assert parts == [[f"Message {n}." for n in part] for part in (range(10, 60), range(10))]
    assert (has_more, sent) == (0, 0)
    assert [one.strip() for one in items] == ["Rewind to here", "Regenerate from here"]


@pytest.mark.rule("U3.26", "U3.27")
def test_what_is_dropped_and_what_is_written_stay(served, new_page, tmp_path):
    bench = served.bench("Dropped", {"a.txt": "a\n"})
    (tmp_path / "b.txt").write_text("b\n")
    page = new_page(f"/bench/{bench}")
    page.locator("html[data-live]").wait_for()
    drop(page, "header.top .grow", tmp_path / "b.txt")  # beside everything
    page.locator("#files .file-name", has_text="b.txt").wait_for()
    page.locator("#message").fill("Half of it")
    page.evaluate("localStorage.clear()")  # as another page does that sends its own
    page.goto(f"{served.address}/bench/{bench}/context")
    page.goto(f"{served.address}/bench/{bench}")
    kept = page.locator("#message").input_value()
    page.locator("html[data-live]").wait_for()
    Drafting(served, bench).put({"a.txt": "c\n"})
    page.locator("#draft-actions").wait_for()

    assert kept == "Half of it"
    assert "Review it and ask for changes there" in page.locator("#draft-actions").inner_text()
    assert not page.get_by_text("What you write is about it").is_visible()


@pytest.mark.rule("U3.2", "U3.27", "U5.5")
def test_the_details_of_a_turn(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    send(page, QUESTION)
    page.locator(".message.assistant.complete .turn-used").wait_for(timeout=TURN_MS)  # it is over
    wait_for_focus(page, "#message")
    page.locator(".message.assistant").get_by_label("Message menu").click()
    page.get_by_role("button", name="Show details").last.click()
    wait_for_focus(page, "#drawer-name")
    page.keyboard.press("Escape")
    wait_for_focus(page, ".message.assistant [data-menu] > summary")
    page.get_by_role("button", name="details", exact=True).click()
    page.get_by_role("tab", name="Tools").click()
    page.locator(".tool-log summary").first.click()
    page.get_by_text("Arguments").first.wait_for()

    assert violations(page) == []
    page.get_by_role("tab", name="Research").click()
    assert page.locator("#panel-research").is_visible()
    page.get_by_role("tab", name="Tokens").click()
    assert "Model calls" in page.locator("#panel-usage").inner_text()
    page.get_by_role("link", name="What the model was sent").click()
    page.get_by_role("link", name="Research").click()
    page.get_by_text("1. Rules", exact=True).wait_for()
    sent = "".join(page.locator(".prompt-part pre").all_text_contents())
    turn = served.call("WorkshopGetConversation", workbench_id=bench)["messages"][-1]["turn_id"]
    request = {"workbench_id": bench, "turn_id": turn, "phase": "research"}
    assert sent == served.call("PromptShow", **request)["text"]
    assert violations(page) == []


@pytest.mark.rule("U3.4", "W15.2", "W15.12")
def test_a_rewind_says_what_goes_and_can_be_undone(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    send(page, QUESTION)
    page.locator(".message.assistant.complete").wait_for(timeout=TURN_MS)
    page.locator(".message.user").get_by_label("Message menu").click()
    page.get_by_role("button", name="Rewind to here").first.click()
    asked = page.get_by_role("dialog", name="Rewind to here?").inner_text()
    page.get_by_role("dialog").get_by_role("button", name="Rewind to here").click()
    page.get_by_text("Rewound to here").wait_for()
    gone = page.locator(".message.assistant").count()
    page.locator("[data-redo]").click()
    page.locator(".message.assistant.complete").wait_for()

    assert "1 later message is set aside" in asked
    assert gone == 0
    assert [kind for kind, _ in said(served, bench)] == ["user_message", "assistant_message"]


@pytest.mark.rule("W5.11", "U3.2")
def test_a_turn_is_stopped_and_says_so(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    send(page, QUESTION)
    page.get_by_role("region", name="Turn in progress").wait_for()
    page.keyboard.press("Escape")
    page.locator("#turn-line").wait_for(state="hidden", timeout=TURN_MS)

    state = served.call("WorkshopGetState", workbench_id=bench)
    assert state["active_turn"] is None if "active_turn" in state else True
    assert said(served, bench)[-1][0] == "assistant_message"


@pytest.mark.rule("U1.6", "U3.3")
def test_a_message_that_cannot_be_sent_stays_in_the_composer(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    page.context.set_offline(True)
    send(page, QUESTION)
    page.get_by_text("Backshop does not answer").first.wait_for()
    kept = page.locator("#message").input_value()
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    page.locator(".message.assistant.complete").wait_for(timeout=TURN_MS)
    sent = page.locator("#message").input_value()
    before = said(served, bench)
    page.locator("#message").fill("x" * TOO_LONG)
    page.locator("#message").press("Enter")
    page.locator("#errors .error").wait_for()

    assert (kept, sent) == (QUESTION, "")
    assert [text for kind, text in before if kind == "user_message"] == [QUESTION]
    assert len(page.locator("#message").input_value()) == TOO_LONG
    assert said(served, bench) == before


@pytest.mark.rule("U3.3", "W23.79")
def test_the_composer_keeps_its_text_completes_names_and_waits_for_input_methods(
    served, bench, new_page
):
    page = new_page(f"/bench/{bench}")
    field = page.get_by_label("Message", exact=True)
    field.type("Look at @budg")
    page.get_by_role("option", name="budget-2025.xlsx").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Enter")
    field.type("and more")
    page.reload()
    kept = field.input_value()
    field.dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "isComposing": True})

    assert kept == "Look at @budget-2025.xlsx \nand more"
    assert said(served, bench) == []


@pytest.mark.rule("U3.1")
def test_a_message_is_copied_as_it_was_written(served, bench, new_page):
    served.shop.models.play("bold", [says("research", "# R"), says("summary", "It is **bold**.")])
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:bold")
    page = new_page(f"/bench/{bench}", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_text("Ask", exact=True).click()
    send(page, "How *is* it?")
    page.locator(".message.assistant.complete").wait_for(timeout=TURN_MS)
    copied = []
    for who in ("user", "assistant"):
        page.evaluate("() => navigator.clipboard.writeText('')")
        page.locator(f".message.{who}").hover()
        page.locator(f".message.{who} [data-copy-message]").click()
        page.get_by_text("Copied").first.wait_for()
        page.wait_for_function("async () => (await navigator.clipboard.readText()) !== ''")
        copied.append(page.evaluate("() => navigator.clipboard.readText()"))

    assert [text.strip() for text in copied] == ["How *is* it?", "It is **bold**."]


@pytest.mark.rule("U2.2", "U3.5")
def test_the_left_column_collapses_below_1100_px_and_files_carry_their_marks(served, new_page):
    files: dict[str, str | bytes] = {"a.txt": "a", "b.bin": b"\0\1", "c.png": PICTURE}
    bench = served.bench("Narrow", files)
    page = new_page(f"/bench/{bench}", viewport={"width": 1100, "height": 800})
    wide = page.locator("#side").is_visible()
    marks = {
        one.locator(".file-name").inner_text(): one.locator(".badge").all_inner_texts()
        for one in page.locator("#files .file").all()
    }
    page.set_viewport_size({"width": 1099, "height": 800})
    page.locator("#side").wait_for(state="hidden")
    page.get_by_role("button", name="Files", exact=True).click()
    page.locator("#files").get_by_text("a.txt").wait_for()

    assert wide
    assert marks == {"a.txt": [], "b.bin": ["cannot be read"], "c.png": ["read-only"]}


@pytest.mark.rule("U1.6", "S5.3")
def test_a_defect_is_shown_where_it_happened_with_the_reference_in_the_log(
    served, bench, new_page, monkeypatch, caplog
):
    def broken(*_: object) -> None:
        raise KeyError("something of ours")

    monkeypatch.setattr(type(served.shop.benches.desk), "new_checkpoint", broken)
    page = new_page(f"/bench/{bench}/checkpoints")
    page.get_by_label("Name").fill("Before")
    with caplog.at_level("ERROR", "backshop"):
        page.get_by_role("button", name="Keep version").click()
        box = page.locator("form [data-error=INTERNAL_ERROR]")
        box.wait_for()
    shown = box.inner_text()
    reference = box.locator(".error-foot code").last.inner_text()

    assert "something of ours" not in shown
    assert reference in caplog.text
    assert page.get_by_label("Name").input_value() == "Before"


@pytest.mark.rule("U1.6")
def test_what_was_refused_for_a_moment_is_tried_again_where_it_happened(
    served, bench, new_page, monkeypatch
):
    def away(*_: object) -> None:
        raise StoreUnavailable("the database is away")

    page = new_page(f"/bench/{bench}/checkpoints")
    with monkeypatch.context() as patched:
        patched.setattr(type(served.shop.benches.desk), "new_checkpoint", away)
        page.get_by_label("Name").fill("After all")
        page.get_by_role("button", name="Keep version").click()
        box = page.locator("form [data-error=STORE_UNAVAILABLE]")
        box.wait_for()
    box.get_by_role("button", name="Try again").click()

    page.get_by_role("heading", name="After all").wait_for()
    assert len(served.call("CheckpointsList", workbench_id=bench)["checkpoints"]) == 1


@pytest.mark.rule("U3.6", "U3.22")
def test_without_a_key_the_way_leads_to_settings(served, new_page):
    bench = served.bench("Keyless", {"a.txt": "a"})
    served.call("WorkbenchSetDefaultModel", workbench_id=bench, model_id="openai:gpt-5.2")
    page = new_page(f"/bench/{bench}")
    send(page, "hello")
    page.get_by_role("heading", name="cannot answer").wait_for()
    page.wait_for_function("() => document.activeElement?.id === 'model-ways'")
    unsent = said(served, bench)
    page.get_by_role("link", name="All providers").click()
    page.wait_for_url("**/settings/models?back=**")
    page.get_by_role("link", name="Back to the workbench").click()
    page.wait_for_function("() => document.querySelector('#message')?.value")

    assert (page.locator("#message").input_value(), unsent) == ("hello", [])


@pytest.mark.rule("U3.5")
def test_files_are_added_by_the_picker_and_marked_in_the_list(served, new_page, files):
    bench = served.bench("Adding")
    page = new_page(f"/bench/{bench}")
    page.locator("#pick-files").set_input_files([files / "notes.md", files / "sales.csv"])
    page.get_by_text("2 files added").first.wait_for()
    page.locator(".file-name", has_text="sales.csv").wait_for()
    served.call("DraftCreate", workbench_id=bench)
    served.call("DraftDeletePath", workbench_id=bench, path="notes.md")

    page.get_by_text("− deleted").wait_for()


@pytest.mark.rule("U2.3", "U1.3")
def test_the_draft_bar_is_true_on_a_page_that_did_not_make_the_draft(served, new_page):
    bench = served.bench("Barred", {"a.txt": "a"})
    page = new_page(f"/bench/{bench}/context")
    served.call("DraftCreate", workbench_id=bench)
    page.get_by_role("region", name="Draft in progress").wait_for()
    served.call("DraftDiscard", workbench_id=bench)

    page.get_by_role("region", name="Draft in progress").wait_for(state="detached")


@pytest.mark.rule("U3.7", "W20.2")
def test_question_mark_lists_the_keys_outside_text_fields_only(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    field = page.get_by_label("Message", exact=True)
    field.type("why?")
    inside = page.get_by_role("dialog", name="Keyboard").count()
    field.evaluate("one => one.blur()")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard").wait_for()

    assert inside == 0
    assert field.input_value() == "why?"


@pytest.mark.rule("U1.4")
def test_publishing_and_discarding_work_without_scripts(served, browser, new_page):
    bench = served.bench("Scriptless", {"a.txt": "a", "b.txt": "b"})
    served.call("DraftCreate", workbench_id=bench)
    served.call("DraftDeletePath", workbench_id=bench, path="a.txt")
    with served.client() as client:
        answer = client.post(
            "/do/DraftDiscard", data={"workbench_id": bench, "next": f"/bench/{bench}"}
        )
        again = client.post("/do/DraftDiscard", data={"workbench_id": bench, "next": "//evil"})

    assert (answer.status_code, answer.headers["location"]) == (303, f"/bench/{bench}")
    assert again.status_code == 404
    assert not served.call("DraftGetState", workbench_id=bench)["has_draft"]


@pytest.mark.rule("U3.8", "W18.5", "W18.7", "B7.8")
def test_an_old_draft_is_reminded_of_on_every_page_until_it_is_put_off(tmp_path):
    clock = FixedClock()
    with serving(tmp_path / "home", clock=clock) as served, served.client() as client:
        bench = served.bench("Old", {"a.txt": "a"})
        Drafting(served, bench).put({"a.txt": "b"})
        pages = [f"/bench/{bench}{path}" for path in ("?stay=1", "/review", "/checkpoints")]

        def reminded():
            return ["data-reminder" in client.get(path).text for path in pages]

        fresh = reminded()
        clock.move(25 * 3_600_000)
        old = reminded()
        draft_id = served.call("DraftGetState", workbench_id=bench)["draft_id"]
        form = {"workbench_id": bench, "draft_id": draft_id, "next": pages[1]}
        answer = client.post("/do/WorkshopDismissReminder", data=form)

        assert (fresh, old, reminded()) == ([False] * 3, [True] * 3, [False] * 3)
        assert answer.headers["location"] == pages[1]


@pytest.mark.rule("U3.8", "W5.12", "W15.10")
def test_a_paused_turn_is_resumed_on_the_page_while_its_draft_exists(served, new_page):
    bench = served.bench("Paused", {"a.txt": "a"})
    good = story(("b.txt", "b"), ("c.txt", "c"), answer="Wrote both.")
    failing = {
        "when": {"purpose": "implement", "item": 2},
        "times": 1,
        "respond": {"error": "auth"},
    }
    served.shop.models.play("fails", [failing, *good])
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:fails")
    page = new_page(f"/bench/{bench}")
    send(page, "Write two files")
    page.locator("#paused").get_by_text("1 of 2 items are done").wait_for(timeout=TURN_MS)
    offered = page.locator("#paused").get_by_role("button").all_inner_texts()
    told = page.locator("#paused-text").inner_text().split("are done. ")[1]
    page.goto(f"{served.address}/bench/{bench}")  # and it still stands there later
    page.get_by_role("button", name="Resume").click()
    page.wait_for_url("**/review", timeout=TURN_MS)

    assert [text.strip() for text in offered] == ["Resume", "Regenerate"]
    assert (told[0], told[-1]) == (told[0].upper(), ".")
    assert served.paths(bench) == {"a.txt", "b.txt", "c.txt"}


@pytest.mark.rule("W11.29", "B13.10", "U3.1")
def test_new_hosts_and_what_is_gone_stand_first_and_apart_in_answer_and_review(served, new_page):
    bench = served.bench("Hosts", {"a.txt": "line\n" * 30, "b.txt": "b"})
    steps = story(("a.txt", "see https://evil.example\n"), ("b.txt", "c\n"), answer="Done.")
    served.shop.models.play("hosts", steps)
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:hosts")
    page = new_page(f"/bench/{bench}")
    send(page, "Shorten a.txt")
    page.wait_for_url("**/review", timeout=TURN_MS)
    first = [
        "New host evil.example: 1 mention in a.txt.",
        "Not named in the request: b.txt.",
        "Gone from a.txt: 29 of 30 lines.",
    ]

    for address in (f"/bench/{bench}/review", f"/bench/{bench}?stay=1"):
        page.goto(served.address + address)
        page.locator(".turn-facts.first").wait_for()
        assert page.locator(".turn-facts.first li").all_inner_texts() == first
        assert page.locator(".turn-facts li").all_inner_texts()[:4] == [
            *first,
            "2 files were changed:",
        ]


@pytest.mark.rule("W11.20", "U3.1", "W11.23")
def test_what_is_true_of_a_turn_stands_under_its_answer_and_in_the_review(served, new_page):
    bench = served.bench("Lies", {"a.txt": "a"})
    empty = {"when": {"purpose": "implement", "item": 2}, "times": 0, "respond": {"error": "empty"}}
    lie = "Write b.txt and Write c.txt are done, and I made the report in report.docx."
    steps = story(("b.txt", "b"), ("c.txt", "c"), answer=lie)
    served.shop.models.play("lies", [empty, *steps])
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:lies")
    page = new_page(f"/bench/{bench}")
    send(page, "Write two files")
    page.wait_for_url("**/review", timeout=TURN_MS)
    page.get_by_text("1 of 2 items done.").wait_for()  # seen without a click
    reviewed = page.locator(".turn-facts li").all_inner_texts()
    page.goto(f"{served.address}/bench/{bench}?stay=1")

    facts = page.get_by_role("list", name="Facts of this turn, from the log")
    facts.wait_for()
    assert facts.locator("li").all_inner_texts() == reviewed
    assert reviewed == [
        "1 file was changed: b.txt (added, 1 line change)",
        "1 of 2 items done.",
        "The answer names item 2, Write c.txt: it failed (the model answered nothing, twice); it "
        "wrote nothing.",
        "The answer names files this workbench does not have: c.txt, report.docx",
    ]
    assert page.locator(".message.assistant [data-rendered]").inner_text() == lie
    assert violations(page) == []


PACE = {"delay_ms": 700}  # a model that takes its time, so that each step is seen


@pytest.mark.rule("W14.1", "W1.4", "W4.2", "U3.2")
def test_the_other_flow_is_chosen_on_its_page_and_says_what_it_does(served, new_page):
    bench = served.bench("Compat", {"a.md": "old\n"})
    changes = {"schema_version": 2, "summary": "s", "writes": [NEW]}
    steps = [
        {"when": {"purpose": "proposal"}, "respond": {"text": "no JSON", **PACE}},
        {"when": {"purpose": "proposal"}, "respond": {"text": json.dumps(changes), **PACE}},
    ]
    served.shop.models.play("compat", [says("reply", "I will change a.md."), *steps])
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:compat")
    page = listening(new_page, f"{served.address}/bench/{bench}")
    page.get_by_role("link", name="This workbench").click()
    page.get_by_role("radio", name="All changes in one proposal").check()
    page.get_by_role("button", name="Save").click()
    page.wait_for_function("() => document.querySelector('[value=compat]')?.defaultChecked")
    page.get_by_role("link", name="Workshop").click()
    send(page, "Change it")
    page.wait_for_url("**/review", timeout=TURN_MS)
    page.get_by_text("new").first.wait_for()

    said = [one for one in heard(page) if one.endswith("the changes…") or "Applying" in one]
    assert said == [
        "Working out the changes…",
        "Correcting the changes…",
        "Applying draft changes…",
    ]
    assert heard(page).count("The answer begins") == 1
    read = served.call("WorkbenchFileRead", workbench_id=bench, path="a.md")
    assert read["text"] == "new"


@pytest.mark.rule("W15.12", "W15.9", "W18.2", "W23.67", "W2.4")
def test_cards_and_lines_offer_the_way_back_while_there_is_one(served, new_page):
    bench = served.bench("Ways", {"a.txt": "a"})
    served.shop.models.play("ways", story(("b.txt", "b"), answer="First b.txt."))
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:ways")
    with served.client() as client:
        sent = client.post(f"/bench/{bench}/turn", json={"text": "Write"}).json()
    page = new_page(f"/bench/{bench}/review")
    page.goto(f"{served.address}/bench/{bench}?stay=1")
    page.locator(".message.assistant.complete").wait_for(timeout=TURN_MS)
    served.call("DraftPublish", workbench_id=bench)
    card = page.locator(".publish-card [data-restore]")
    card.wait_for()
    free = card.is_disabled()
    served.call("DraftCreate", workbench_id=bench)
    page.locator(".publish-card [data-restore][disabled]").wait_for()
    advice = card.get_attribute("title")
    served.call("DraftDiscard", workbench_id=bench)
    record = served.call("WorkshopGetConversation", workbench_id=bench)["messages"]
    [user] = [one for one in record if one["type"] == "user_message"]

    assert (free, "discard" in (advice or "")) == (False, True)
    assert (user["message_id"], user["metadata"]["origin"]) == (sent["message_id"], "web")
    kept = served.call("CheckpointsList", workbench_id=bench)["checkpoints"][-1]["checkpoint_id"]
    served.call("CheckpointRestore", workbench_id=bench, checkpoint_id=kept)
    page.get_by_role("button", name="Undo restore").click()
    page.get_by_role("button", name="Undo restore").wait_for(state="detached")
    assert served.paths(bench) == {"a.txt", "b.txt"}


@pytest.mark.rule("U1.2", "W20.6", "S7.4")
def test_markdown_is_cleaned_coloured_and_its_links_are_inert(served):
    text = (
        "**Bold** and `code`\n\n```python\ndef add(a, b):\n    return a + b\n```\n\n"
        "[click](https://example.com/x) <img src=x onerror=alert(1)> <script>alert(1)</script>\n"
    )
    with served.client() as client:
        html = client.post("/markdown", json={"text": text}).json()["html"]

    assert "<strong>Bold</strong>" in html
    assert re.search(r'<span class="[a-z0-9]+">def</span>', html)
    assert "https://example.com/x" in html
    assert not re.search(r"<(a|img|script)[ >]", html)


@pytest.mark.needs("browser")
@pytest.mark.rule("M8.10")
def test_a_model_that_is_waited_for_is_told_in_the_page(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    page.locator("html[data-live]").wait_for()

    for state, ms in (("thinking", 7000), ("answering", 12_000)):
        told = {"state": state, "waited_ms": ms}
        served.shop.hub.signals.send("WorkshopModelProgress", told, workbench_id=bench)

    page.wait_for_function(
        "() => document.querySelector('#tool').textContent == 'The model is thinking… (7 s)'"
    )
