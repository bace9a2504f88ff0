"""What models used, turn by turn, as the log has it."""

from __future__ import annotations

import pytest
from tests.workshop.conftest import Chat, says, story

from backshop.app import Backshop
from backshop.models import EgressCompleted, EgressSent
from backshop.prompts import MarkdownSection, Prompt, Session
from backshop.store import NewEvent, Part, Plan


@pytest.mark.rule("M13.4")
def test_each_turn_counts_its_own_calls_whatever_its_flow(chat: Chat):
    chat.call("WorkshopSetFlow", flow="rpi")
    chat.play(story(("b.txt", "b\n")), "planned")
    chat.ask("Write b.txt")
    chat.call("DraftPublish")
    proposal = (
        '{"schema_version": 2, "summary": "None.", "no_changes": true, "writes": [], "ops": []}'
    )
    chat.play([says("reply", "Nothing to do."), says("proposal", proposal)], "plain")
    chat.call("WorkshopSetFlow", flow="compat")
    chat.ask("And now?")

    used = chat.call("WorkshopGetUsage")
    plain, planned = used["turns"]
    log = [one for one in chat.shop.store.read(f"bench:{chat.id}") if one.kind == "model.called"]
    assert (planned["flow"], planned["calls"]) == ("rpi", 6)
    assert (plain["flow"], plain["calls"]) == ("compat", 2)
    assert used["calls"] == len(log) == 8
    assert used["besides"]["calls"] == 0
    assert planned["model_ids"] == ["scripted:planned"]
    assert [one["model_id"] for one in used["by_model"]] == ["scripted:plain", "scripted:planned"]
    assert used["usage"] == chat.call("UsageGet")["usage"]
    assert plain["message_id"] == chat.answer()["message_id"]


@pytest.mark.rule("M13.4")
def test_a_turn_that_goes_on_counts_all_its_calls_and_what_made_no_answer_none(chat: Chat):
    chat.call("WorkshopSetFlow", flow="rpi")
    items = story(("b.txt", "b\n"), ("c.txt", "c\n"))
    refused = {
        "when": {"purpose": "implement", "item": 2},
        "times": 1,
        "respond": {"error": "auth"},
    }
    chat.play([refused, *items])
    question = chat.send("Write b.txt and c.txt")
    first = chat.run(question)
    [stopped] = chat.call("WorkshopGetUsage")["turns"]

    again = chat.run(question)
    [over] = chat.call("WorkshopGetUsage")["turns"]

    log = [one for one in chat.shop.store.read(f"bench:{chat.id}") if one.kind == "model.called"]
    assert (first["status"], again["status"]) == ("paused", "complete")
    assert (stopped["status"], stopped["calls"]) == ("paused", 5)
    assert (over["status"], over["calls"]) == ("complete", 8)
    assert len([one for one in log if not one.fact.is_answered]) == 1


@pytest.mark.rule("M13.4")
def test_calls_beside_turns_belong_to_none(chat: Chat):
    chat.call("WorkshopSetFlow", flow="rpi")
    chat.play([says("digest", "A file."), *story(("b.txt", "b\n"))])
    chat.add({"a.txt": "one\n"})
    chat.call("DigestRefresh", mode="model")
    chat.ask("Write b.txt")

    used = chat.call("WorkshopGetUsage")

    assert used["besides"]["calls"] >= 1
    assert used["calls"] == used["besides"]["calls"] + used["turns"][0]["calls"]


@pytest.mark.rule("M13.4")
def test_turns_are_paged_picked_and_left_out(chat: Chat):
    chat.call("WorkshopSwitchModel", model_id="scripted:demo")
    turns = [chat.ask(f"Question {n}", mode="ask")["turn_id"] for n in range(3)]

    def asked(**more):
        found = chat.call("WorkshopGetUsage", **more)
        return [one["turn_id"] for one in found["turns"]], found["has_more"]

    assert asked() == (turns[::-1], False)
    assert asked(limit=2) == ([turns[2], turns[1]], True)
    assert asked(limit=2, before=turns[1]) == ([turns[0]], False)
    assert asked(turn_ids=[turns[1], "turn_unknown"]) == ([turns[1]], False)
    assert asked(limit=0) == ([], True)
    assert chat.refused("WorkshopGetUsage", before="turn_unknown")[0] == "NOT_FOUND"
    for limit in (-1, 1001):
        assert chat.refused("WorkshopGetUsage", limit=limit)[1] == "bad_params"


@pytest.mark.rule("M13.5", "T6.4")
def test_others_are_told_about_the_benches_they_see_and_the_home_s_owner_about_all(tmp_path):
    settings = {"model.default": "scripted:demo"}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        benches = [shop.call("WorkbenchCreate", {"name": name})["workbench_id"] for name in "ab"]
        for bench in benches:
            shop.workshop(bench).send("What is this?", ask=True)
        alone = Prompt("tests", "alone", sections=[MarkdownSection("Task", "Hello.", key="task")])
        shop.models.adapter("scripted:echo").evaluate(alone, session=Session())
        other = shop.call("UserAdd", {"name": "Kim"})["user_id"]
        shop.call("AccessSet", {"workbench_id": benches[0], "user_id": other, "role": "read"})

        mine = shop.call("WorkshopListUsage", {})
        theirs = shop.call("WorkshopListUsage", {}, user=other)
        typed = shop.workshop(benches[0]).usage()

    assert {one["workbench_id"] for one in mine["benches"]} == set(benches)
    assert [one["workbench_id"] for one in theirs["benches"]] == benches[:1]
    assert (mine["elsewhere"]["calls"], theirs["elsewhere"]["calls"]) == (1, 0)
    assert mine["calls"] == 2 * theirs["calls"] + 1 > 1
    assert (typed.calls, typed.usage.estimated) == (theirs["calls"], True)
    assert typed.turns[0].estimated_calls == typed.calls


@pytest.mark.rule("M13.7")
def test_a_run_tells_its_calls_one_by_one_and_another_run_none(chat: Chat):
    chat.call("WorkshopSetFlow", flow="rpi")
    chat.play(story(("b.txt", "b\n")), "planned")
    chat.ask("Write b.txt")
    [row] = chat.shop.call("RailsRunsList", {})["runs"]
    used = chat.shop.call("WorkshopGetRunUsage", {"run_id": row["runId"]})
    [turn] = chat.call("WorkshopGetUsage")["turns"]

    assert used["workbench_id"] == chat.id
    assert used["calls"] == len(used["by_call"]) == turn["calls"] > 0
    assert used["usage"] == turn["usage"]
    none = chat.shop.call("WorkshopGetRunUsage", {"run_id": "run_none"})
    assert (none["calls"], none["by_call"]) == (0, [])


@pytest.mark.rule("M13.7")
def test_a_call_that_left_the_machine_says_how_long_its_provider_took(chat: Chat):
    chat.call("WorkshopSetFlow", flow="rpi")
    chat.play(story(("b.txt", "b\n")), "planned")
    chat.ask("Write b.txt")
    [row] = chat.shop.call("RailsRunsList", {})["runs"]
    run, stream = row["runId"], f"bench:{chat.id}"
    called = [one.fact for one in chat.shop.store.read(stream) if one.kind == "model.called"][-1]
    sent = EgressSent(
        call_id="call_1",
        kind="model",
        provider_id="openai",
        host="api.example",
        consent_mode="ask",
        purpose="summary",
        bytes_out=1,
        run_id=run,
    )
    ended = EgressCompleted(call_id="call_1", status="ok", duration_ms=1500)
    facts = [NewEvent(one, dedupe_key=f"x{at}") for at, one in enumerate((sent, ended, called))]
    chat.shop.store.append(Plan((Part(stream, tuple(facts)),)))

    by_call = chat.shop.call("WorkshopGetRunUsage", {"run_id": run})["by_call"]
    assert [one.get("took_ms") for one in by_call] == [None] * (len(by_call) - 1) + [1500]
