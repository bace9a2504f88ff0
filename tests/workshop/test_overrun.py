"""A call that takes too long: it is given up or it stands, and the model is told which (W10.2)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path

import pytest
from tests.workshop.conftest import Chat, story

from backshop.app import Backshop
from backshop.bench import Author, Source
from backshop.models import ToolCall
from backshop.prompts import ToolContext, invoke
from backshop.testing.ambient import FixedClock
from backshop.workshop import AgentSpace, agent_tools
from backshop.workshop.errors import CallGivenUp
from backshop.workshop.tool.tool_log import UNHEARD, Loop, ToolJournal


@pytest.fixture
def chat(tmp_path: Path, clock: FixedClock) -> Iterator[Chat]:
    settings = {"model.default": "scripted:demo", "workshop.max_turn_minutes": 240}
    with Backshop.open(tmp_path / "home", settings=settings, clock=clock) as shop:
        yield Chat(shop, tmp_path)


class Asked:
    """Hears when a journal is asked whether a call can be given up."""

    def __init__(self, monkeypatch) -> None:
        self.event = threading.Event()
        self.answers: list[bool] = []
        given_up = ToolJournal.give_up

        def give_up(journal: ToolJournal, call: ToolCall) -> bool:
            self.answers.append(given_up(journal, call))
            self.event.set()
            return self.answers[-1]

        monkeypatch.setattr(ToolJournal, "give_up", give_up)


def write_log(chat: Chat) -> list[tuple[bool, bool]]:
    """Return of every write in the log: whether it worked, and whether it has a batch."""
    log = chat.call("WorkshopGetToolLog")["entries"]
    return [
        (one["success"], one.get("batch_id") is not None)
        for one in log
        if one["tool"] == "write_text_file"
    ]


@pytest.mark.rule("W10.2", "P5.6")
def test_a_write_that_stands_is_never_told_as_overdue(chat, clock, monkeypatch):
    chat.add({"a.txt": "one"})
    asked = Asked(monkeypatch)
    views = chat.shop.benches.desk.views
    project = views.project

    def slowly(state):
        if threading.current_thread().name == "backshop-tool-write_text_file":
            clock.move(31_000)  # the batch is committed, the folder takes its time
            assert asked.event.wait(5)
        return project(state)

    monkeypatch.setattr(views, "project", slowly)
    chat.play(story(("b.txt", "new")))

    done = chat.ask()

    assert (done["status"], asked.answers) == ("complete", [False])
    assert write_log(chat) == [(True, True)]
    assert chat.draft() == {"a.txt": "one", "b.txt": "new"}
    assert chat.kinds().count("draft.batch_applied") == 1


@pytest.mark.rule("W10.2", "P5.6")
def test_a_write_that_was_given_up_changes_nothing_later(chat, clock, monkeypatch):
    chat.add({"a.txt": "one"})
    asked, ended = Asked(monkeypatch), threading.Event()
    commit, outcome = ToolJournal.commit, []

    def late(journal, *args, **more):
        if asked.answers:
            return commit(journal, *args, **more)
        clock.move(31_000)
        assert asked.event.wait(5)
        try:
            return commit(journal, *args, **more)
        except CallGivenUp as error:
            outcome.append(error.reason)
            raise
        finally:
            ended.set()

    monkeypatch.setattr(ToolJournal, "commit", late)
    chat.play(story(("b.txt", "new")))

    chat.ask()

    assert ended.wait(5)
    assert (asked.answers[0], outcome) == (True, ["tool_timeout"])
    assert write_log(chat)[0] == (False, False)


@pytest.mark.rule("W10.2")
def test_a_late_handler_does_not_write_as_the_call_after_it(chat):
    chat.add({"a.txt": "one"})
    book = chat.shop.workshops.book
    loop = Loop(bench_id=chat.id, turn_id=None, phase="implement", lease=None, model_id="m")
    journal = ToolJournal(book, loop, publish=lambda *_: None, said=UNHEARD, check=lambda: None)
    author = Author(source=Source(kind="workshop", ref="turn"))
    space = AgentSpace(book.bench, chat.id, author, journal.commit, book)
    tool = next(one for one in agent_tools() if one.name == "write_text_file")
    wish = {"path": "b.txt", "content": "late", "change_note": "late"}
    first, second = (ToolCall(name, tool.name, wish) for name in ("c1", "c2"))
    journal.calling(first)
    handler = copy_context()
    given_up = journal.give_up(first)
    journal.calling(second)

    result = handler.run(invoke, tool, tool.decode(wish), context=ToolContext(workspace=space))

    assert (given_up, result.ok) == (True, False)
    assert chat.draft() is None
    assert invoke(tool, tool.decode(wish), context=ToolContext(workspace=space)).ok
