"""What a conversation is made of: records, their ids and shapes, and the state that sums it up."""

from __future__ import annotations

import json
import re

import pytest
from tests.workshop.conftest import Step, hears, says, story

from backshop.cli import main

ULID = "[0-9A-HJKMNP-TV-Z]{26}"
COMMON = {
    "active",
    "advances_head",
    "by",
    "created_at",
    "message_id",
    "metadata",
    "role",
    "status",
    "text",
    "type",
}
STATE = {
    "can_redo",
    "can_regenerate",
    "can_request_changes",
    "can_send",
    "default_model_id",
    "flow",
    "has_draft",
    "model_id",
    "reminder",
    "workbench_id",
}


def watching(chat, wire, purpose: str) -> list[Step]:
    """Return a list that gets the state at each request for a purpose."""
    seen: list[Step] = []
    original = wire.complete

    def complete(request, model, channel):
        if request.purpose.value == purpose:
            seen.append(chat.state())
        yield from original(request, model, channel)

    wire.complete = complete
    return seen


@pytest.mark.rule("W2.2", "W2.3", "W2.4", "W1.2", "T1.6")
def test_records_of_a_turn_say_who_what_when_and_after_what(chat):
    wire = chat.play(story(("b.txt", "b"), answer="b.txt"))
    first = chat.send("First")
    running = watching(chat, wire, "research")
    done = chat.run(first)
    chat.call("DraftPublish")
    second = chat.send("Second", mode="ask", origin="cli", client_message_id="mine")

    records = chat.call("WorkshopGetConversation")["messages"]

    switched, user, _, answer, applied, card, last = records
    assert set(switched) == COMMON | {"event_kind"}
    assert set(user) == COMMON | {"parent_id", "turn_id"}
    assert set(last) == COMMON | {"parent_id"}
    assert set(answer) == COMMON | {"parent_id", "turn_id", "facts_lines"}
    assert [one["role"] for one in (switched, user, answer)] == ["system", "user", "assistant"]
    assert (user["by"], answer["by"]) == (
        {"person": "owner", "door": "python"},
        {"person": "owner", "agent": "agent"},
    )
    assert [one["parent_id"] for one in (user, answer, card, last)] == [
        switched["message_id"],
        first,
        answer["message_id"],
        card["message_id"],
    ]
    assert (applied["parent_id"], applied["advances_head"]) == (answer["message_id"], False)
    assert (user["metadata"], last["metadata"]) == (
        {"mode": "agent", "origin": "rpc"},
        {"mode": "ask", "origin": "cli", "client_message_id": "mine"},
    )
    assert set(answer["metadata"]) == {
        "draft_revision_id",
        "facts",
        "flow",
        "has_draft",
        "job_elapsed_ms",
        "model_id",
        "provider_id",
        "run_id",
        "summary_source",
        "usage",
        "workflow_id",
    }
    assert (answer["metadata"]["provider_id"], answer["metadata"]["summary_source"]) == (
        "scripted",
        "model",
    )
    assert answer["message_id"] == running[0]["active_turn"]["message_id"]  # reserved
    assert user["turn_id"] == answer["turn_id"] == done["turn_id"]
    assert last["message_id"] == second
    assert all(re.fullmatch(f"msg_{ULID}", one["message_id"]) for one in records)
    assert re.fullmatch(f"turn_{ULID}", done["turn_id"])
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    assert all(re.fullmatch(stamp, one["created_at"]) for one in records)


@pytest.mark.rule("W2.1", "W2.7", "W2.9", "W11.2")
def test_a_conversation_is_given_out_on_request_and_kept_in_the_log_only(chat, tmp_path, capsys):
    chat.play(story(("b.txt", "b"), answer="b.txt"))
    question = chat.send("First")
    chat.run(question)
    chat.call("WorkshopUndoToMessage", message_id=question)
    chat.send("Second")
    whole = chat.call("WorkshopGetConversation", include_inactive=True)["messages"]
    target = tmp_path / "all.jsonl"

    main(["history", "Test", "--jsonl", str(target), "--home", str(tmp_path / "home")])

    capsys.readouterr()
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert lines == whole
    kinds = [(one.get("event_kind") or one["role"], one["active"]) for one in lines]
    assert kinds == [
        ("model_switched", True),
        ("user", True),
        ("draft_created", False),  # it went with the Draft
        ("assistant", False),
        ("draft_changes_applied", False),
        ("undo", True),
        ("user", True),
    ]
    names = {path.name for path in (tmp_path / "home").rglob("*")}
    assert not names & {
        "conversation.jsonl",
        "plan.md",
        "proposals",
        "research.md",
        "tool_log.jsonl",
        "workshop_state.json",
    }
    commands = [bound.command.name for bound in chat.shop.commands]
    assert not [one for one in commands if "Workshop" in one and "Import" in one]


@pytest.mark.rule("W2.8", "W2.9", "W10.8")
def test_the_state_sums_up_the_conversation_at_every_moment(chat):
    empty = chat.state()
    wire = chat.play(story(("b.txt", "b"), ("c.txt", "c"), answer="b.txt c.txt"))
    question = chat.send()
    ready = chat.state()
    seen = watching(chat, wire, "implement")
    done = chat.run(question)
    drafted = chat.state()
    chat.call("WorkshopUndoToMessage", message_id=question)
    back = chat.state()

    assert set(empty) == STATE
    assert (empty["can_request_changes"], drafted["can_request_changes"]) == (False, True)
    assert (empty["can_send"], empty["can_regenerate"], empty["reminder"]) == (True, False, "none")
    assert set(ready) == STATE | {"conversation_head_id", "head_type", "regenerate_target_id"}
    assert (ready["head_type"], ready["regenerate_target_id"]) == ("user_message", question)
    running = seen[-1]
    assert {name: running[name] for name in ("can_send", "can_regenerate", "can_redo")} == {
        "can_send": False,
        "can_regenerate": False,
        "can_redo": False,
    }
    turn = running["active_turn"]
    assert (turn["current_item"], turn["total_items"], turn["item_label"]) == (
        2,
        2,
        "Write c.txt",
    )
    assert set(turn) == {
        "cancel_requested",
        "current_item",
        "item_label",
        "message_id",
        "mode",
        "phase",
        "run_id",
        "started_at",
        "takes_notes",
        "total_items",
        "turn_id",
    }
    assert (drafted["conversation_head_id"], drafted["head_type"]) == (
        done["message_id"],
        "assistant_message",
    )
    assert (drafted["can_send"], drafted["can_regenerate"]) == (False, True)
    assert drafted["draft"] == chat.call("DraftGetState") | drafted["draft"]
    assert drafted["active_draft_revision_id"] == drafted["draft"]["revision_id"]
    assert (back["can_redo"], back["has_draft"], "draft" in back) == (True, False, False)


@pytest.mark.rule("W2.10", "W23.81", "W8.4")
def test_tool_calls_can_be_shown_in_place_but_are_never_told_to_a_model_again(chat):
    wire = chat.play(story(("b.txt", "b"), answer="b.txt"))
    done = chat.ask()

    plain = chat.call("WorkshopGetConversation")["messages"]
    shown = chat.call("WorkshopGetConversation", include_tools=True)["messages"]

    added = [one for one in shown if one not in plain]
    place = [one.get("message_id") for one in shown].index(done["message_id"])
    assert shown[place - len(added) : place] == added
    calls, results = added[::2], added[1::2]
    assert [(one["type"], one["text"]) for one in calls] == [("assistant_message", "")] * 2
    asked = [one["tool_calls"][0] for one in calls]
    assert [one["function"]["name"] for one in asked] == ["list_files", "write_text_file"]
    assert json.loads(asked[1]["function"]["arguments"])["path"] == "b.txt"
    assert [one["type"] for one in results] == ["tool_result"] * 2
    assert [one["tool_call_id"] for one in results] == [one["id"] for one in asked]
    log = chat.call("WorkshopGetToolLog")["entries"]
    assert [one["content"] for one in results] == [one["receipt"] for one in log]
    assert all(re.fullmatch(f"tr_{ULID}", one["message_id"]) for one in results)
    chat.call("DraftDiscard")
    before = len(wire.requests)
    chat.ask("Again")
    first = wire.requests[before]
    assert not [one for one in first.messages if one.role.value == "tool" or one.tool_calls]


@pytest.mark.rule("W2.4", "W2.5", "W4.3", "W19.4")
def test_what_went_less_well_is_a_system_event_that_everybody_hears(chat):
    chat.play([says("research", "")])
    with chat.shop.hub.subscribe() as news:
        chat.ask()
        heard = hears(news, lambda note: note.name == "WorkshopTurnFinished")

    told = [note.payload["message"] for note in heard if note.name == "WorkshopMessageAdded"]
    [event] = [one for one in told if one.get("event_kind") == "run_failed"]
    assert (event["type"], event["role"], event["advances_head"]) == (
        "system_event",
        "system",
        False,
    )
    assert set(event["metadata"]) == {"error", "phase", "turn_id"}
