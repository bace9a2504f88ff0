"""The product for Python programs: what an open home gives (S8.1)."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace
from typing import Any

import pytest
from tests.workshop.conftest import says, story

from backshop import AsyncBackshop, Backshop
from backshop.app import BenchWorkshop
from backshop.app.aio import AsyncFacade
from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.bench import Bench
from backshop.rails import RailsError, SessionDelete, SessionGet, SessionsList


@pytest.mark.rule("S8.1")
def test_sessions_are_listed_shown_and_deleted_from_python(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        started = shop.call("start_workflow", {"workflowId": "wr.change_review", "goal": "Look"})
        session = started["session"]["sessionId"]
        listed = shop.sessions.sessions_list(SessionsList())
        shown = shop.sessions.session_get(SessionGet(session_id=session))
        shop.sessions.session_delete(SessionDelete(session_id=session, confirm=session))
        with pytest.raises(RailsError):
            shop.sessions.session_get(SessionGet(session_id=session))

    assert [one.title for one in listed.sessions] == ["Look"]
    assert shown.session_id == session


@pytest.fixture
def shop(tmp_path):
    with Backshop.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def shed(shop, tmp_path):
    (tmp_path / "a.txt").write_text("red")
    shop.call("WorkbenchCreate", {"name": "Shed"})
    shop.models.play("test", story(("b.txt", "blue"), answer="Wrote b.txt."))
    made = shop.workshop("Shed")
    made.add(tmp_path / "a.txt")
    made.use_model("scripted:test")
    return made


def said(shed: BenchWorkshop) -> list[str]:
    kinds = ("user_message", "assistant_message")
    return [one.text for one in shed.history().messages if one.type in kinds]


@pytest.mark.rule("S8.1")
def test_a_workbench_is_worked_on_reviewed_and_published_from_python(shed):
    answer = shed.send("Write b.txt")

    assert (answer.text, answer.status, answer.has_draft) == ("Wrote b.txt.", "complete", True)
    assert said(shed) == ["Write b.txt", "Wrote b.txt."]
    assert [item.label for item in shed.plan().items] == ["Write b.txt"]
    review = shed.review()
    assert [(one.kind, one.path) for one in review.entries] == [("ADDED", "b.txt")]
    assert [one.path for one in shed.publish(review.tree).changed] == ["b.txt"]
    assert [one.path for one in shed.files()] == ["a.txt", "b.txt"]


@pytest.mark.rule("S8.1")
def test_going_back_from_python_takes_the_files_along(shed):
    shed.send("Write b.txt")
    asked = next(one for one in shed.history().messages if one.text == "Write b.txt")

    assert [one.path for one in shed.rewind(asked.message_id, dry_run=True).changed] == ["b.txt"]
    assert shed.state().has_draft
    shed.rewind(asked.message_id)
    assert not shed.state().has_draft
    shed.redo()
    assert shed.state().has_draft
    shed.discard()
    assert not shed.state().has_draft


@pytest.mark.rule("S8.1")
def test_an_agent_of_ones_own_writes_by_tools_into_the_draft(shed):
    change = {"search": "red", "replace": "green"}
    done = shed.tool("edit_text_file", path="a.txt", edits=[change])

    assert done.ok
    assert [(one.kind, one.path) for one in shed.review().entries] == [("MODIFIED", "a.txt")]
    with pytest.raises(NotFound) as unknown:
        shed.tool("edit_text")
    assert "edit_text_file" in unknown.value.hints
    with pytest.raises(ValidationFailed) as wrong:
        shed.tool("edit_text_file", paths="a.txt")
    assert wrong.value.reason == "bad_arguments"


@pytest.mark.rule("M9.5", "F16.5")
def test_older_names_of_an_operations_fields_hold_from_python_too(shed, tmp_path):
    make = {"path": "note.docx", "create_if_missing": True, "change_note": "Made it"}
    lines = [{"op": "append_paragraph", "text": "The red shed"}]
    assert shed.tool("docx_operations", operations=lines, **make).ok

    legacy = [{"op": "replace_text", "find": "red", "replace": "green"}]
    done = shed.tool("docx_operations", path="note.docx", operations=legacy, change_note="Green")

    assert done.ok, done.message
    assert "The green shed" in shed.tool("read_file", path="note.docx").text()


@pytest.mark.rule("S8.1", "B13.5")
def test_deletions_are_agreed_to_from_python(shop, shed):
    shed.tool("write_text_file", path="b.txt", content="blue", change_note="Added b")
    shop.call("DraftDeletePath", {"workbench_id": shed.id, "path": "a.txt"})
    with pytest.raises(BackshopError) as unconfirmed:
        shed.publish()

    agreed = shed.review(confirm_deletions=True)
    shed.publish(agreed.tree)

    assert unconfirmed.value.code == "CONFIRMATION_REQUIRED"
    assert agreed.unconfirmed == ()
    assert [one.path for one in shed.files()] == ["b.txt"]


def meanwhile(shop: Backshop, shed: BenchWorkshop, times: int) -> BenchWorkshop:
    """Return the bench with reviews of one change a page; before later pages somebody writes."""
    left = iter(range(times))

    def ask(method: Any, request: Any) -> Any:
        if method is Bench.review_get_change_set:
            request = replace(request, limit=1)
            if request.cursor and (number := next(left, None)) is not None:
                path = f"0{number}.txt"
                shed.tool("write_text_file", path=path, content="new", change_note="Added")
        return shop.ask(method, request)

    return BenchWorkshop(shed.id, ask, lambda: shop.benches, lambda: shop.workshops.book)


@pytest.mark.rule("S8.1", "B11.3")
def test_a_review_lists_what_its_tree_holds_also_if_somebody_writes_meanwhile(shop, shed):
    for path in ("b.txt", "c.txt", "d.txt"):
        shed.tool("write_text_file", path=path, content=path, change_note="Added")

    found = meanwhile(shop, shed, times=2).review()

    assert found == shed.review()
    assert [one.path for one in found.entries] == [*("00.txt", "01.txt", "b.txt", "c.txt", "d.txt")]
    with pytest.raises(BackshopError) as busy:
        meanwhile(shop, shed, times=1000).review()
    assert (busy.value.code, busy.value.reason) == ("BENCH_BUSY", "draft_changed")


@pytest.mark.rule("S8.1", "W3.2")
def test_what_failed_is_tried_again_from_python(shop, shed):
    with pytest.raises(ValidationFailed) as nothing:
        shed.retry()
    shop.models.play("broken", [{"when": {}, "times": 0, "respond": {"error": "empty"}}])
    shed.use_model("scripted:broken")
    failed = shed.send("What is this?", ask=True)
    shop.models.play("good", [says("research", "# R"), says("summary", "A shed.")])
    shed.use_model("scripted:good")

    again = shed.retry()

    assert nothing.value.reason == "nothing_to_retry"
    assert (failed.status, again.status, again.text) == ("failed", "complete", "A shed.")
    assert shed.regenerate().text == "A shed."
    assert not shed.cancel()  # nothing runs


@pytest.mark.rule("S8.1", "S4.3")
def test_a_workbench_is_named_as_everywhere(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Shed"})["workbench_id"]
        shop.call("WorkbenchCreate", {"name": "Barn"})

        assert shop.workshop("Shed").id == shop.workshop(bench).id == bench
        with pytest.raises(NotFound):
            shop.workshop("Stable")
        with pytest.raises(ValidationFailed):
            shop.workshop("wb_")


@pytest.mark.rule("S8.1")
def test_asynchronous_programs_say_the_same_words(tmp_path):
    (tmp_path / "a.txt").write_text("red")

    async def work() -> list[str]:
        async with await AsyncBackshop.open(tmp_path / "home") as shop:
            await shop.call("WorkbenchCreate", {"name": "Shed"})
            shed = await shop.workshop("Shed")
            await shed.add(tmp_path / "a.txt")
            await shop.models.play("test", story(("b.txt", "blue"), answer="Wrote b.txt."))
            await shed.use_model("scripted:test")
            answer = await shed.send("Write b.txt")
            await shed.publish((await shed.review()).tree)
            sessions = await shop.sessions.sessions_list(SessionsList())
            words = [name for name, _ in inspect.getmembers(BenchWorkshop, inspect.isfunction)]
            assert all(callable(getattr(shed, name)) for name in words if name[0] != "_")
            for facade in (shop.benches, shop.rails, shop.models, shop.prompts):
                assert isinstance(facade, AsyncFacade)
            assert sessions.sessions  # of the turn
            return [answer.text, shed.id[:3], *(one.path for one in await shed.files())]

    assert asyncio.run(work()) == ["Wrote b.txt.", "wb_", "a.txt", "b.txt"]
