"""Where a turn stops and how it goes on: limits, full disks, what the person did meanwhile."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

import pytest
from tests.workshop.conftest import Chat, Step, calls, plan, says, story, write

from backshop.app import Backshop
from backshop.models.script.script import item_of
from backshop.testing.ambient import FixedClock

TWO = story(("b.txt", "b"), ("c.txt", "c"), answer="b.txt c.txt")
BOTH = {"b.txt": "b", "c.txt": "c"}
SECOND: Step = {"purpose": "implement", "item": 2}


def failing(error: object, when: Step | None = None) -> Step:
    """Return a step in which the provider gives up."""
    return {"when": when or SECOND, "times": 0, "respond": {"error": error}}


def before(wire, purpose: str, do, item: int | None = None) -> None:
    """Do something at each request of a phase, before it is answered."""
    original = wire.complete

    def complete(request, model, channel):
        if request.purpose.value == purpose and item in (None, item_of(request)):
            do()
        yield from original(request, model, channel)

    wire.complete = complete


def status_of(chat, turn_id: str) -> str:
    """Return a turn's state, as the log has it."""
    return str(chat.shop.workshops.book.state(chat.id).turns[turn_id].status)


HOUR_MS = 3_600_000


@pytest.mark.rule("W5.14", "W5.1", "W12.2", "U3.20")
def test_a_turn_that_takes_two_hours_is_paused_and_goes_on(tmp_path):
    clock = FixedClock()
    options = {"model.default": "scripted:demo"}
    with Backshop.open(tmp_path / "home", settings=options, clock=clock) as shop:
        chat = Chat(shop, tmp_path)
        wire = chat.play(TWO)
        leases, stream = shop.store.leases, f"bench:{chat.id}"

        def two_hours() -> None:
            for _ in range(121 * 60 // 50 + 1):
                clock.move(50_000)
                leases.take(stream, leases.holder(stream) or "", 60)  # as its own beat does

        once = iter([two_hours])
        before(wire, "plan", lambda: next(once, list)())
        question = chat.send()

        done = chat.run(question)

        error = chat.state()["resumable_turn"]["error"]
        assert (done["status"], done["has_draft"]) == ("paused", False)
        assert (error["code"], error["reason"]) == ("LIMIT_EXCEEDED", "turn_time_limit")
        asked = [request.purpose.value for request in wire.requests]
        clock.move(5 * HOUR_MS)  # nobody is there
        again = chat.run(question)
        assert (again["status"], again["turn_id"]) == ("complete", done["turn_id"])
        answer = shop.workshops.book.state(chat.id).records[again["message_id"]]
        took = answer.metadata["job_elapsed_ms"]
        assert isinstance(took, int)
        assert 2 * HOUR_MS < took < 3 * HOUR_MS
        assert chat.draft() == BOTH
        later = [request.purpose.value for request in wire.requests][len(asked) :]
        assert "research" not in later  # it was finished: no call, no write


@pytest.mark.rule("W5.14", "M13.3", "W11.14")
def test_a_budget_that_is_used_up_pauses_the_turn(chat):
    wire = chat.play(TWO)
    once = iter([lambda: chat.shop.call("SettingsSet", CAP)])
    before(wire, "implement", lambda: next(once, list)())
    question = chat.send()

    done = chat.run(question)

    code = chat.state()["resumable_turn"]["error"]["code"]
    assert (done["status"], code) == ("paused", "BUDGET_CAP_REACHED")
    chat.shop.call("SettingsSet", {**CAP, "value": None})
    assert (chat.run(question)["status"], chat.draft()) == ("complete", BOTH)


CAP = {"key": "budget.tokens", "value": 1}


@pytest.mark.rule("W5.13", "M10.2", "M10.7")
@pytest.mark.parametrize(
    ("error", "asked"), [("auth", 1), ({"kind": "rate_limit", "retry_after_s": 0.001}, 6)]
)
def test_a_provider_is_asked_again_only_as_often_as_its_own_rules_say(chat, error, asked):
    wire = chat.play([failing(error), *TWO])

    assert chat.ask()["status"] == "paused"

    made = [r for r in wire.requests if (r.purpose.value, item_of(r)) == ("implement", 2)]
    assert (len(made), chat.draft()) == (asked, {"b.txt": "b"})


@pytest.mark.rule("W12.3", "W5.1", "W10.8")
@pytest.mark.parametrize("what", ["rewind", "regenerate", "publish", "discard", "message"])
def test_a_paused_turn_is_given_up_by_whatever_comes_instead(chat, what):
    when = {"purpose": "plan"} if what == "message" else SECOND  # a Draft would refuse it
    chat.play([failing("auth", when), *TWO], "bad")
    question = chat.send()
    stopped = chat.run(question)
    assert stopped["status"] == "paused"
    chat.play(TWO, "good")

    match what:
        case "rewind":
            chat.call("WorkshopUndoToMessage", message_id=question)
        case "regenerate":
            chat.call("WorkshopRegenerate")
        case "publish":
            chat.call("DraftPublish")
        case "discard":
            chat.call("DraftDiscard")
        case _:
            chat.send("Something else")

    assert status_of(chat, stopped["turn_id"]) == "abandoned"
    assert chat.state().get("resumable_turn") is None
    kinds = chat.kinds()
    assert "workshop.turn_paused" in kinds  # nothing is taken out of the log
    shown = chat.call("WorkshopGetPlan", turn_id=stopped["turn_id"])
    assert shown["research_md"]


@pytest.mark.rule("W12.4", "B7.12")
def test_a_turn_does_not_go_on_over_files_that_changed_meanwhile(chat):
    chat.play([failing("auth", {"purpose": "plan"}), *TWO], "bad")
    question = chat.send()
    assert chat.run(question)["status"] == "paused"
    chat.add({"a.txt": "new"})

    refusal = chat.refused("WorkshopRunAgent", message_id=question)

    assert refusal[:2] == ("CONFLICT_PUBLISHED_CHANGED", "published_changed")


@pytest.mark.rule("W19.5", "B3.10", "W5.12")
def test_a_full_disk_pauses_the_turn_and_it_goes_on_when_there_is_room(chat, monkeypatch):
    chat.add({"a.txt": "one"})
    large = "x" * 100_000  # more than fits into the database: a file is written
    wire = chat.play(story(("b.txt", "b"), ("c.txt", large), answer="b.txt c.txt"))

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    once = iter([lambda: monkeypatch.setattr(os, "fsync", full)])
    before(wire, "implement", lambda: next(once, list)(), item=2)
    question = chat.send()
    done = chat.run(question)
    monkeypatch.undo()

    error = chat.state()["resumable_turn"]["error"]
    assert (done["status"], error["code"]) == ("paused", "DISK_FULL")
    assert chat.draft() == {"a.txt": "one", "b.txt": "b"} == chat.on_disk("draft")
    assert chat.run(question)["status"] == "complete"
    assert chat.draft() == {"a.txt": "one", "b.txt": "b", "c.txt": large}


@pytest.mark.rule("W10.1", "W10.3", "W10.6", "B7.3", "W23.27", "W23.29")
def test_each_write_is_one_batch_and_one_that_fails_is_none(chat):
    chat.add({"a.txt": "one\n"})
    bad = (
        "edit_text_file",
        {
            "path": "a.txt",
            "edits": [
                {"search": "one", "replace": "two"},
                {"search": "nothing", "replace": "x"},
            ],
        },
    )
    same = write("a.txt", "one\n")
    wire = chat.play(
        [
            says("research", "Found."),
            says("plan", plan("Write", "Fail")),
            calls("implement", 1, same, item=1),
            calls("implement", 2, bad, item=1),
            calls("implement", 3, write("b.txt", "b"), item=1),
            calls("implement", 4, write("c.txt", "c"), item=1),
            calls("implement", 1, write("d.txt", "d"), item=2),
            {**failing("refused"), "respond": {"tool_calls": [{"name": "nothing"}]}},
            says("implement", "Done."),
            says("summary", "b.txt c.txt; Fail failed"),
        ]
    )
    drafts: list[object] = []
    before(wire, "implement", lambda: drafts.append(chat.draft()), item=1)

    done = chat.ask()

    assert done["status"] == "complete"
    start = {"a.txt": "one\n"}
    assert drafts == [
        None,
        None,
        None,
        start | {"b.txt": "b"},
        start | {"b.txt": "b", "c.txt": "c"},
    ]
    first = next(e for e in chat.shop.store.read(f"bench:{chat.id}") if e.kind == "draft.created")
    batch = next(
        e for e in chat.shop.store.read(f"bench:{chat.id}") if e.kind == "draft.batch_applied"
    )
    assert batch.seq - first.seq <= 1
    log = chat.call("WorkshopGetToolLog")["entries"]
    assert [bool(one.get("batch_id")) for one in log[:4]] == [False, False, True, True]
    answered = [m.text for r in wire.requests for m in r.messages if m.role.value == "tool"]
    assert any("edits[1].search" in text and "no_match" in text for text in answered)
    assert chat.state()["draft"]["source"] == f"workshop:{done['run_id']}"
    assert chat.draft() == start | {"b.txt": "b", "c.txt": "c"} == chat.on_disk("draft")
    kinds = [one.kind for one in chat.shop.benches.desk.state(chat.id).revisions.all()]
    assert kinds.count("rollback") == 2


@pytest.mark.rule("W19.6", "W19.4", "W1.3")
def test_what_files_and_people_say_is_in_no_error_and_no_log(chat, caplog):
    caplog.set_level(logging.INFO)
    chat.add({"a.txt": "FILE-SECRET"})
    steps = [
        calls("research", 1, ("read_file", {"path": "a.txt"})),
        calls("research", 2, ("read_file", {"path": "a.txt", "sheet": "FILE-SECRET"})),
        failing("auth", {"purpose": "research", "turn": 3}),
    ]
    chat.play(steps)

    done = chat.ask("PERSON-SECRET")

    events = [
        one
        for one in chat.call("WorkshopGetConversation")["messages"]
        if one["type"] != "user_message"
    ]
    logs = [path.read_text() for path in chat.shop.config.home.rglob("*.log")]
    assert done["status"] == "failed"
    for secret in ("FILE-SECRET", "PERSON-SECRET"):
        assert secret not in f"{events} {caplog.text} {logs}"


@pytest.mark.rule("W6.12", "W23.85", "B14.17")
def test_the_same_shortcoming_is_told_once_until_its_item_changes(chat):
    desk = chat.shop.benches.desk
    desk.store.blobs.copies = lambda _: ()  # no folder heals it

    def broken_item(text: str) -> Path:
        files = [{"path": "context.md", "content": text * 20_000}]
        chat.call("ContextUpdateDirect", category="situation", files=files, create=True)
        tree = desk.state(chat.id).context_tree
        kept = desk.store.blobs.path(desk.find(tree, "situation/context.md").sha256)
        return Path(kept.rename(kept.with_suffix(".away")))

    def notices() -> int:
        return [kind for kind, _ in chat.said()].count("notice")

    chat.play([says("research", "r"), says("plan", "## Items\nnone"), says("summary", "s")])
    away = broken_item("Friday. ")
    for number in range(3):
        chat.ask(f"Question {number}")
    before = notices()
    away.rename(away.with_suffix(""))
    broken_item("Monday. ")
    chat.ask("And now?")

    assert (before, notices()) == (1, 2)
