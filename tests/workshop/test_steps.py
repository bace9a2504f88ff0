"""Steps of a turn: one table, one rule, and what is recorded of the calls between them (W13)."""

from __future__ import annotations

from typing import Any

import pytest

from backshop.base.ambient import Mint
from backshop.base.outbox import Outbox
from backshop.models.ledger.events import ModelCalled
from backshop.models.ledger.ledger import Ledger
from backshop.models.messages import Usage
from backshop.rails import Pending
from backshop.rails.packs.rpi import RPI as PACKS
from backshop.testing.ambient import FixedClock
from backshop.workshop.signals import AnswerStream
from backshop.workshop.turn.step import StepKind, step_of

from .conftest import says, story

ERROR = {"when": {"purpose": "research"}, "times": 0, "respond": {"error": "auth"}}


@pytest.mark.rule("W13.12", "W13.3")
def test_every_contract_of_the_bundled_workflow_is_a_kind_of_step():
    assert {one.contract_ref for one in PACKS} == {one.value for one in StepKind if one.value}


@pytest.mark.rule("W13.2", "W13.12", "W13.10")
def test_phase_and_item_of_a_step_follow_from_where_the_run_stands():
    plan = {"plan_items": [{"number": 1, "label": "First"}, {"number": 2, "label": "Second"}]}
    at: dict[str, Any] = {"node_id": "node_1", "context": plan}
    item = Pending(
        **at, workflow_id="wr.rpi", step_id="x", contract_ref=StepKind.ITEM.value, iteration=1
    )
    other = Pending(**at, workflow_id="user.flow", step_id="x", title="Look around")
    over = Pending(**at, workflow_id="user.flow")

    def told(pending, done):
        step = step_of(pending, done)
        return (step.phase, step.number, step.total, step.label)

    assert told(item, 7) == ("implement", 2, 2, "Second")
    assert told(other, 3) == ("implement", 4, 4, "Look around")
    assert told(over, 3) == ("summary", None, 0, "")


@pytest.mark.rule("P7.5", "W13.13")
def test_the_prompt_of_a_call_that_was_never_answered_can_be_shown(chat):
    chat.add({"a.txt": "hello"})
    chat.play([ERROR, *story()])
    done = chat.ask("What is there?")

    shown = chat.call("PromptShow", turn_id=done["turn_id"], phase="research")

    assert done["status"] == "failed"
    assert ("a.txt" in shown["text"], shown["sent"]) == (True, 1)
    assert chat.call("UsageGet")["calls"] == 0  # nothing came back that would have cost something


@pytest.mark.rule("W13.13", "M13.2")
def test_calls_of_a_turn_that_stops_are_recorded_although_no_step_follows_them(chat):
    chat.add({"a.txt": "hello"})
    wire = chat.play([says("research", "Found it."), {**ERROR, "when": {"purpose": "plan"}}])
    done = chat.ask()

    answered = [one.purpose.value for one in wire.requests if one.purpose.value == "research"]
    assert done["status"] == "paused"
    assert chat.call("UsageGet")["calls"] == len(answered) == 1


@pytest.mark.rule("W13.13", "M13.2")
def test_a_call_whose_record_waits_counts_for_the_budget(chat):
    ledger, outbox = Ledger(chat.shop.store, Mint(FixedClock())), Outbox()
    fact = ModelCalled(
        model_id="scripted:demo", purpose="plan", usage=Usage(input_tokens=7), status="stop"
    )
    before = chat.shop.store.last_seq()
    with ledger.joining(chat.id, outbox):
        ledger.called(chat.id, fact)
        spent = ledger.spent(chat.id)[""]

    assert (spent.calls, spent.usage.input_tokens) == (1, 7)
    assert chat.shop.store.last_seq() == before
    assert [one.fact for one in outbox.waiting()] == [fact]


@pytest.mark.rule("W13.13")
def test_what_was_offered_to_an_append_waits_until_that_stands():
    outbox = Outbox()
    outbox.add("one", ["a"])
    offered = outbox.offered()
    outbox.add("two")
    again = outbox.offered()  # the first append failed
    outbox.add("three")
    outbox.recorded()

    assert [one.fact for one in offered] == ["one"]
    assert [(one.fact, one.pins) for one in again] == [("one", ("a",)), ("two", ())]
    assert [one.fact for one in outbox.waiting()] == ["three"]
    outbox.offered()  # and that append fails
    nothing = outbox.offered(is_wanted=False)  # the next rule decides that there is nothing to do
    outbox.recorded()
    assert nothing == ()
    assert [one.fact for one in outbox.waiting()] == ["three"]


@pytest.mark.rule("W5.11", "W5.9")
@pytest.mark.parametrize("flow", ["rpi", "compat"])
def test_what_was_shown_of_an_answer_stays_when_its_turn_is_stopped(chat, monkeypatch, flow):
    chat.add({"a.txt": "hello"})
    chat.call("WorkshopSetFlow", flow=flow)
    answer = "word " * 400
    chat.play([says("research", "Found it."), says("summary", answer), says("reply", answer)])
    original = AnswerStream.add

    def add(self, piece):
        original(self, piece)
        chat.call("WorkshopCancelRun")  # within the first two seconds

    monkeypatch.setattr(AnswerStream, "add", add)
    done = chat.ask("Tell me", mode="ask")

    shown = chat.answer()["text"]
    assert done["status"] == "canceled"
    assert shown.startswith("word ")
