"""Asking for changes from the review, in a browser and without scripts (U4, W24)."""

from __future__ import annotations

import html
import re

import pytest
from tests.web.accessible import violations
from tests.workshop.conftest import story

from backshop.models.wires.scripted import bundled


@pytest.fixture
def drafted(served):
    """A bench with a Draft of a turn; the model writes it anew in every round."""
    bench = served.call("WorkbenchCreate", name="Rounds")["workbench_id"]
    served.shop.models.play("rounds", story(("a.txt", "two\n"), answer="a.txt says two."))
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:rounds")
    sent = served.call("WorkshopSendUserMessage", workbench_id=bench, text="Make it two")
    served.call("WorkshopRunAgent", workbench_id=bench, message_id=sent["message_id"])
    served.shop.models.play("rounds", story(("a.txt", "three\n"), answer="a.txt says three."))
    return bench


@pytest.mark.rule("W24.1", "W24.11", "U4.6")
def test_a_plain_form_asks_for_changes_and_leads_back_to_the_review(served, drafted):
    with served.client() as client:
        form = {"on_draft": "1", "text": "Now three", "mode": "agent"}
        answer = client.post(f"/bench/{drafted}/turn", data=form, follow_redirects=True)
        assert answer.url.path == f"/bench/{drafted}/review"
        assert "Since the last look" in answer.text
        since = client.get(f"/bench/{drafted}/review?since=last_look").text
        question = client.post(
            f"/bench/{drafted}/turn", data={**form, "text": "Why?", "mode": "ask"}
        )

    assert "compared with your last look" in since
    assert re.search(r">two<.*>three<", since, re.S)
    assert str(question.headers["location"]).endswith("?stay=1")
    assert served.call("DraftGetState", workbench_id=drafted)["rounds"] == 1  # a question is none


@pytest.mark.needs("browser")
@pytest.mark.rule("W24.1", "W24.6", "W24.11", "U4.6")
def test_changes_are_asked_for_and_looked_at_in_the_review(served, drafted, new_page):
    page = new_page(f"/bench/{drafted}/review")
    page.wait_for_selector("body[data-ready=yes]")
    assert violations(page) == []
    page.locator("#ask-changes-box summary").click()
    assert violations(page) == []
    page.get_by_label("What should be different").fill("Now three")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("link", name="Since the last look").click()
    page.wait_for_selector("body[data-ready=yes]")

    assert page.get_by_text("compared with your last look").is_visible()
    assert page.locator("table.lines .removed").inner_text().split()[-1] == "two"
    assert page.locator("table.lines .added").inner_text().split()[-1] == "three"
    assert violations(page) == []
    page.goto(f"{served.address}/bench/{drafted}?stay=1")
    assert page.locator(".message.user").last.get_by_text("asks for changes").is_visible()
    assert page.locator("#composer").is_hidden()


@pytest.mark.needs("browser")
@pytest.mark.rule("W24.7", "W24.11", "U3.4")
def test_another_answer_is_asked_for_with_a_note(served, drafted, new_page):
    page = new_page(f"/bench/{drafted}?stay=1")
    page.locator(".message.assistant .menu summary").click()
    page.get_by_role("button", name="Regenerate", exact=True).click()
    page.get_by_label("With this note, if you like").fill("In German")
    assert page.get_by_label("Model, this once").input_value() == "scripted:rounds"
    page.get_by_role("dialog").get_by_role("button", name="Regenerate").click()
    page.wait_for_url("**/review")
    page.goto(f"{served.address}/bench/{drafted}?stay=1")

    assert page.get_by_text("Asked again with the note: In German").is_visible()
    page.get_by_role("link", name="Compare both answers").click()
    page.get_by_role("heading", name="Two answers to one message").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard").wait_for()
    page.keyboard.press("Escape")
    assert page.locator("table.lines .added").inner_text().split()[-1] == "three"
    served.call("DraftDiscard", workbench_id=drafted)
    page.locator(".draft-bar").wait_for(state="detached")


@pytest.mark.rule("U3.10", "W24.9")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("a.txt says <b>so</b>.", "What they said differs."),
        ("a.txt says two.", "They said the same"),
    ],
)
def test_two_answers_with_the_same_files_show_what_both_said(served, drafted, answer, told):
    served.shop.models.play("rounds", story(("a.txt", "two\n"), answer=answer))
    served.call("WorkshopRegenerate", workbench_id=drafted)
    found = served.call("WorkshopGetConversation", workbench_id=drafted)["messages"]
    about = next(m for m in found if m.get("event_kind") == "regenerate")["metadata"]
    a, b = about["replaced_revision_id"], about["new_revision_id"]

    with served.client() as client:
        page = client.get(f"/bench/{drafted}/answers?a={a}&b={b}").text

    assert "Both answers made the same files" in page
    assert told in page
    said = [
        re.sub(r"<[^>]+>", "", one) for one in re.findall(r'class="prose">(.*?)</div>', page, re.S)
    ]
    shown = answer.replace("<", "&lt;").replace(">", "&gt;")
    assert [one.strip() for one in said] == ["a.txt says two.", shown]


@pytest.mark.rule("M15.9", "U4.6")
def test_a_follow_up_is_offered_on_the_draft_of_its_own_task_alone(served):
    tasks = {one.id: one for one in bundled("demo").script.tasks}
    follow = next(one for one in tasks.values() if one.follows)
    other = next(one for one in tasks.values() if one.id == "translate")
    bench = served.call("WorkbenchCreateSample")["workbench_id"]
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:demo")

    def offered(prompt):
        sent = served.call("WorkshopSendUserMessage", workbench_id=bench, text=prompt)
        served.call("WorkshopRunAgent", workbench_id=bench, message_id=sent["message_id"])
        with served.client() as client:
            page = client.get(f"/bench/{bench}/review").text
        served.call("DraftDiscard", workbench_id=bench)
        return re.findall(r"data-ask>(.*?)</button>", page)

    assert offered(tasks[str(follow.follows)].prompt) == [html.escape(follow.prompt)]
    assert offered(other.prompt) == []
