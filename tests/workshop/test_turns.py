"""A whole turn with the offline model: phases, Draft, records, log; and every way it can end."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest
from tests.workshop.conftest import calls, plan, says, story, write

from backshop.app.notice.hub import About
from backshop.base.errors import BackshopError, InternalError
from backshop.bench import Author, Source, Workspace
from backshop.models.catalog.catalog import builtin
from backshop.models.messages import Role
from backshop.models.wires import openai_responses
from backshop.rails import Driving

PERSON = Author(source=Source(kind="system"), actor="user")
OUTSIDE = Author(source=Source(kind="workshop", ref="mcp"), actor="mcp:agent")

PHASES = [
    (name, phase)
    for phase in ("research", "plan", "implement", "summary")
    for name in ("WorkshopPhaseStarted", "WorkshopPhaseCompleted")
]


def phases(chat) -> list[tuple[str, str]]:
    """The phases of its turns, as whoever follows the workbench is told."""
    with chat.shop.hub.subscribe(About(workbench_id=chat.id), after=0) as told:
        heard = told.take()
    return [(n.name, n.payload["phase"]) for n in heard if "Phase" in n.name]


@pytest.mark.rule("M5.3", "M5.1", "W16.3")
def test_a_tool_is_required_once_a_turn_and_never_again(chat):
    chat.add({"a.txt": "one\n"})
    wire = chat.play(story(("b.txt", "b"), ("c.txt", "c")))
    chat.ask("Write two files")
    model, _ = builtin().resolve("openai:gpt-5.2")
    seen = []
    for request in wire.requests:
        body = openai_responses.body(replace(request, model_id=model.model_id), model)
        results = sum(one.role is Role.TOOL for one in request.messages)
        seen.append((request.purpose.value, results, body.get("tool_choice")))
        assert body["parallel_tool_calls"] is False
        assert request.tools == wire.requests[0].tools

    assert seen == [
        ("research", 0, "required"),
        ("research", 1, "auto"),
        ("plan", 0, "auto"),
        ("implement", 0, "auto"),
        ("implement", 1, "auto"),
        ("implement", 0, "auto"),
        ("implement", 1, "auto"),
        ("summary", 0, "auto"),
    ]


@pytest.mark.rule("W5", "W11.1", "W11.10", "W13.1", "W13.2", "W23.27", "W23.73", "W4.2")
def test_a_turn_ends_with_a_draft_and_one_answer(chat):
    chat.add({"a.txt": "one\n"})
    chat.play(story(("b.txt", "b"), ("c.txt", "c")))

    done = chat.ask("Write two files")

    assert (done["status"], done["has_draft"]) == ("complete", True)
    assert chat.draft() == {"a.txt": "one\n", "b.txt": "b", "c.txt": "c"} == chat.on_disk("draft")
    assert chat.published() == {"a.txt": "one\n"}
    answer = chat.answer()
    assert (answer["message_id"], answer["status"]) == (done["message_id"], "complete")
    assert answer["text"] == "All done."
    assert "- b.txt (added, 1 line change)" in answer["facts_lines"]
    assert phases(chat) == PHASES
    shown = chat.call("WorkshopGetPlan")
    assert [(i["label"], i["status"]) for i in shown["items"]] == [
        ("Write b.txt", "done"),
        ("Write c.txt", "done"),
    ]
    log = chat.call("WorkshopGetToolLog")["entries"]
    assert [(e["id"], e["phase"], e["tool"], e["success"]) for e in log] == [
        (1, "research", "list_files", True),
        (2, "implement", "write_text_file", True),
        (3, "implement", "write_text_file", True),
    ]
    assert all(e["batch_id"] for e in log[1:])
    state = chat.state()
    assert (state.get("active_turn"), state.get("resumable_turn")) == (None, None)
    assert state["can_send"] is False
    run = chat.shop.call("RailsRunGet", {"runId": done["run_id"]})
    assert run["status"] == "complete"


@pytest.mark.rule("B13.1", "B13.2")
def test_the_review_says_what_the_answer_said(chat):
    chat.play(story(("a.md", "a\n"), answer="A **file** was written.\n" + "x" * 5000))
    chat.ask()

    found = chat.call("ReviewGetChangeSet")
    own = chat.call("ReviewGetSummary", path="a.md")

    assert found["draft_summary"] == "A **file** was written."
    assert own["source"] == "file"
    chat.call("DraftDiscard")
    for author in (PERSON, OUTSIDE):
        chat.write({"b.md": "b\n"}, author)
        assert "draft_summary" not in chat.call("ReviewGetChangeSet")
        chat.call("DraftDiscard")


@pytest.mark.rule("W1.1", "W15.1", "W10.5", "W23.54", "W23.55", "B8.14", "B22.44")
def test_going_back_to_question_and_answer_of_a_turn(chat):
    chat.play(story(("b.txt", "b")))
    question = chat.send("First")
    done = chat.run(question)
    chat.call("DraftDeletePath", path="b.txt")
    edited = chat.draft()

    chat.call("WorkshopUndoToMessage", message_id=question)
    assert chat.draft() is None
    chat.call("WorkshopRedo")
    assert chat.draft() == edited
    assert chat.state()["conversation_head_id"] == done["message_id"]


@pytest.mark.rule("W1.5", "W11.9", "W23.37", "W23.41", "W23.42", "B22.20")
@pytest.mark.parametrize("mode", ["agent", "ask"])
def test_a_question_is_answered_without_a_draft(chat, mode):
    chat.add({"a.txt": "one\n"})
    wire = chat.play(
        [
            calls("research", 1, ("list_files", {}), write("a.txt", "two\n")),
            says("research", "There is 1 row."),
            says("plan", "## Items\nnone"),
            says("summary", "It has 1 row."),
        ]
    )

    done = chat.ask("How many rows?", mode=mode)

    assert (done["status"], done["has_draft"], chat.draft()) == ("complete", False, None)
    assert chat.answer()["text"] == "It has 1 row."
    purposes = [request.purpose.value for request in wire.requests]
    assert ("plan" in purposes) == (mode == "agent")
    entries = chat.call("WorkshopGetToolLog")["entries"]
    assert [(one["tool"], one.get("error")) for one in entries] == [
        ("list_files", None),
        ("write_text_file", "tool_not_available"),
    ]
    summary = wire.requests[-1]
    assert "There is 1 row." in "\n".join(message.text for message in summary.messages)


@pytest.mark.rule("W11.12", "W11.13", "W13.4", "W23.32", "W23.33")
def test_an_item_that_fails_leaves_nothing_and_the_next_one_runs(chat):
    bad = ("write_text_file", {"path": "../x", "content": "x"})
    steps = [
        says("research", "Found."),
        says("plan", plan("Bad", "Good")),
        calls("implement", 1, write("half.txt", "half"), item=1),
        {
            "when": {"purpose": "implement", "item": 1},
            "times": 0,
            "respond": {"tool_calls": [{"name": bad[0], "arguments": bad[1]}]},
        },
        calls("implement", 1, write("good.txt", "good"), item=2),
        says("implement", "Done."),
        says("summary", "Good is done, Bad failed: `good.txt`."),
    ]
    chat.play(steps)

    done = chat.ask()

    assert done["status"] == "complete"
    assert chat.draft() == {"good.txt": "good"}
    items = chat.call("WorkshopGetPlan")["items"]
    assert [(i["status"], bool(i.get("reason"))) for i in items] == [
        ("failed", True),
        ("done", False),
    ]
    assert chat.kinds().count("workshop.item_attempt_failed") == 1
    run = chat.shop.call("RailsRunGet", {"runId": done["run_id"]})
    tip = chat.shop.call("RailsNodeGet", {"nodeId": run["nodes"][-1]["nodeId"]})
    assert "Item 1 (Bad) failed" in str(tip["openGaps"])
    nodes = (chat.shop.call("RailsNodeGet", {"nodeId": n["nodeId"]}) for n in run["nodes"])
    outputs = [one for node in nodes for one in node["outputs"]]
    results = [json.loads(o["content"]) for o in outputs if o.get("kind") == "workshop.item_result"]
    assert [(r["status"], len(r["batch_ids"])) for r in results] == [("failed", 0), ("done", 1)]
    assert tip["preferences"]["autonomy"] == "full_auto_never_stop"


@pytest.mark.rule("W11.11", "W23.34")
def test_a_claim_without_a_write_is_asked_again_and_told(chat):
    wire = chat.play(
        [
            says("research", "Found."),
            says("plan", plan("Write it")),
            says("implement", "I wrote it."),
            says("summary", "Nothing had to change."),
        ]
    )

    done = chat.ask()

    asked = [r for r in wire.requests if r.purpose.value == "implement"]
    assert (len(asked), done["has_draft"]) == (2, False)
    [item] = chat.call("WorkshopGetPlan")["items"]
    assert (item["status"], item["no_effect"]) == ("done", True)
    told = "\n".join(message.text for message in wire.requests[-1].messages)
    assert "Item 1, Write it: changed nothing." in told


@pytest.mark.rule("W10.4", "W23.28")
def test_writes_that_cancel_each_other_out_leave_no_draft(chat):
    chat.add({"a.txt": "one"})
    chat.play(
        [
            says("research", "Found."),
            says("plan", plan("There", "Back")),
            calls("implement", 1, write("a.txt", "two"), item=1),
            calls("implement", 1, write("a.txt", "one"), item=2),
            says("implement", "Done."),
            says("summary", "As it was."),
        ]
    )

    done = chat.ask()

    assert (done["status"], done["has_draft"], chat.draft()) == ("complete", False, None)
    assert chat.answer()["metadata"]["has_draft"] is False
    assert chat.state()["can_send"] is True


@pytest.mark.rule("W11.15", "W23.39")
def test_forgotten_work_is_added_up_to_twice_the_plan(chat):
    more = "\n".join(f"- [ ] Extra {n} — write e{n}" for n in range(3))
    chat.play(
        [
            says("research", "Found."),
            says("plan", plan("One", "Two")),
            calls("implement", 1, write("1.txt", "1"), item=1),
            {
                "when": {"purpose": "implement", "item": 1, "turn": 2},
                "times": 0,
                "respond": {"text": f"Wrote 1.\n- [ ] Two\n{more}"},
            },
            calls("implement", 1, write("2.txt", "2"), item=2),
            calls("implement", 1, write("3.txt", "3"), item=3),
            calls("implement", 1, write("4.txt", "4"), item=4),
            says("implement", "Done."),
            says("summary", "1.txt 2.txt 3.txt 4.txt"),
        ]
    )

    chat.ask()

    assert set(chat.draft() or {}) == {"1.txt", "2.txt", "3.txt", "4.txt"}
    shown = chat.call("WorkshopGetPlan")
    assert [i["label"] for i in shown["items"]] == ["One", "Two", "Extra 0", "Extra 1"]
    assert shown["items"][2]["description"] == "write e0"


@pytest.mark.rule("W5.12", "W23.26")
def test_a_failure_before_any_write_is_said_and_can_be_tried_again(chat):
    chat.play([says("research", "")])

    done = chat.ask()

    assert (done["status"], done["has_draft"]) == ("failed", False)
    answer = chat.answer()
    assert (answer["status"], answer["facts_lines"]) == ("failed", ["No file was changed."])
    [event] = [
        m
        for m in chat.call("WorkshopGetConversation")["messages"]
        if m.get("event_kind") == "run_failed"
    ]
    assert event["metadata"]["error"]["reason"] == "model_output_invalid"
    assert chat.state()["can_send"] is True


@pytest.mark.rule("W5.12")
def test_a_turn_that_the_engine_fails_after_a_write_waits_with_what_was_written(chat, monkeypatch):
    chat.play(story(("b.txt", "b"), ("c.txt", "c"), answer="b.txt c.txt"))
    question = chat.send()
    acknowledge = Driving.acknowledge

    def failing(self, node_id, **more):
        is_item = more["artifacts"][0]["kind"] == "workshop.item_result"
        if is_item and (chat.draft() or {}).get("c.txt"):
            raise InternalError("the step could not be recorded")
        return acknowledge(self, node_id, **more)

    monkeypatch.setattr(Driving, "acknowledge", failing)
    done = chat.run(question)
    monkeypatch.undo()

    assert (done["status"], chat.draft()) == ("paused", {"b.txt": "b"})
    assert chat.run(question)["status"] == "complete"
    assert chat.draft() == {"b.txt": "b", "c.txt": "c"}


@pytest.mark.rule("W5.12", "W11.14", "W12.1", "W12.6", "W23.49", "W23.50")
def test_a_provider_that_gives_up_pauses_the_turn_and_it_goes_on_later(chat):
    failing = {
        "when": {"purpose": "implement", "item": 2},
        "times": 0,
        "respond": {"error": "auth"},
    }
    good = story(("b.txt", "b"), ("c.txt", "c"), answer="b.txt and c.txt")
    chat.play([failing, *good], "bad")
    question = chat.send()
    done = chat.run(question)

    assert (done["status"], chat.draft()) == ("paused", {"b.txt": "b"})
    state = chat.state()
    assert state["resumable_turn"]["done_items"] == 1
    assert chat.answer()["status"] == "interrupted"
    assert chat.refused("WorkshopSendUserMessage", text="x")[1] == "draft_exists"
    wire = chat.play(good, "good")
    again = chat.run(question)

    assert (again["status"], again["turn_id"]) == ("complete", done["turn_id"])
    assert chat.draft() == {"b.txt": "b", "c.txt": "c"}
    assert [r.purpose.value for r in wire.requests if r.purpose.value != "implement"] == ["summary"]
    said = [one for one in chat.said() if one[0] in ("user", "assistant")]
    assert said == [("user", "Do it"), ("assistant", "b.txt and c.txt")]
    assert chat.run(question) == again  # W3.1: a finished turn costs nothing


@pytest.mark.rule("W11.17", "W23.43")
def test_a_summary_that_fails_is_written_from_the_facts(chat):
    steps = [s for s in story(("b.txt", "b")) if s["when"]["purpose"] != "summary"]
    broken = {"when": {"purpose": "summary"}, "times": 0, "respond": {"error": "auth"}}
    chat.play([broken, *steps])

    done = chat.ask()

    assert (done["status"], done["has_draft"]) == ("complete", True)
    answer = chat.answer()
    assert answer["metadata"]["summary_source"] == "engine"
    assert "b.txt (added, 1 line change)" in answer["facts_lines"][0]


@pytest.mark.rule("W11.18", "W23.45", "W12.6")
def test_a_summary_that_breaks_off_is_kept_and_only_it_is_made_again(chat):
    steps = [s for s in story(("b.txt", "b")) if s["when"]["purpose"] != "summary"]
    broken = {
        "when": {"purpose": "summary"},
        "times": 0,
        "respond": {
            "deltas": ["I wrote", " b and more"],
            "error": {"kind": "stream_cut", "after_chars": 9},
        },
    }
    chat.play([broken, *steps], "bad")
    question = chat.send()
    done = chat.run(question)

    assert done["status"] == "paused"
    answer = chat.answer()
    assert answer["text"].startswith("I wrote b")
    assert answer["status"] == "interrupted"
    tree = chat.state()["draft"]["tree"]
    wire = chat.play([says("summary", "I wrote b.txt.")], "good")
    chat.run(question)

    assert chat.answer()["text"] == "I wrote b.txt."
    assert [r.purpose.value for r in wire.requests] == ["summary"]
    assert chat.state()["draft"]["tree"] == tree
    assert [m for m in chat.said() if m[0] == "assistant"] == [("assistant", "I wrote b.txt.")]


@pytest.mark.rule("M12.1", "M12.2", "M19.35", "W5.11", "W23.48", "B8.5")
def test_a_write_during_which_the_turn_is_cancelled_is_there_whole(chat, monkeypatch):
    chat.play(story(("b.txt", "b" * 5000), ("c.txt", "c")))
    original = Workspace.write
    stopping: list[threading.Thread] = []

    def write(self, raw, make, note):
        def make_and_stop(*given):
            stop = threading.Thread(target=lambda: chat.call("WorkshopCancelRun"))
            stopping.append(stop)
            stop.start()  # while the bench is locked for this batch
            return make(*given)

        done = original(self, raw, make_and_stop, note)
        stopping[-1].join(10)
        return done

    monkeypatch.setattr(Workspace, "write", write)
    done = chat.ask()
    monkeypatch.undo()

    assert done["status"] == "canceled"
    assert "b.txt" in chat.facts()[0]
    assert (chat.state()["has_draft"], chat.kinds().count("draft.batch_applied")) == (True, 1)
    changes = chat.call("ReviewGetChangeSet")["entries"]
    assert [one["path"] for one in changes] == ["b.txt"]
    chat.call("DraftPublish")
    listed = chat.call("WorkbenchFilesList")["files"]
    assert ("b.txt", 5000) in [(one["path"], one["size"]) for one in listed]
    assert "c.txt" not in [one["path"] for one in listed]


@pytest.mark.rule("W5.11", "W12.1", "W12.2")
def test_a_stopped_turn_goes_on_where_it_stopped(chat):
    wire = chat.play(story(("b.txt", "b"), ("c.txt", "c"), ("d.txt", "d")))
    original = wire.complete
    seen: list[str] = []

    def stopping(request, model, channel):
        seen.append(request.purpose.value)
        if seen.count("implement") == 4:  # the second item has written and says that it is done
            chat.call("WorkshopCancelRun")
        return original(request, model, channel)

    wire.complete = stopping
    question = chat.send()
    stopped = chat.run(question)
    left = chat.draft()
    waiting = chat.state()["resumable_turn"]
    wire.complete = original
    before = len(wire.requests)
    done = chat.run(question)

    assert (stopped["status"], done["status"]) == ("canceled", "complete")
    assert set(left) >= {"b.txt", "c.txt"}
    assert (waiting["message_id"], waiting["done_items"]) == (question, 1)
    assert waiting["error"]["code"] == "USER_CANCELED"
    assert {r.purpose.value for r in list(wire.requests)[before:]} == {"implement", "summary"}
    assert {one: chat.draft()[one] for one in ("b.txt", "c.txt", "d.txt")} == {
        "b.txt": "b",
        "c.txt": "c",
        "d.txt": "d",
    }
    assert "resumable_turn" not in chat.state()
    spoken = [who for who, _ in chat.said() if who in ("user", "assistant")]
    assert spoken == ["user", "assistant"]


@pytest.mark.rule("W5.11", "W12.3")
@pytest.mark.parametrize("since", ["revert", "discard", "publish", "rewind"])
def test_a_stopped_turn_is_over_when_something_happened_since(chat, since):
    chat.add({"a.txt": "a"})
    wire = chat.play(story(("b.txt", "b"), ("c.txt", "c")))
    original = wire.complete

    def stopping(request, model, channel):
        if chat.state()["has_draft"]:
            chat.call("WorkshopCancelRun")
        return original(request, model, channel)

    wire.complete = stopping
    question = chat.send()
    stopped = chat.run(question)
    assert "resumable_turn" in chat.state()
    if since == "revert":
        chat.call("DraftRevertPath", path="b.txt")
    elif since == "rewind":
        chat.call("WorkshopUndoToMessage", message_id=question)
    else:
        chat.call("DraftDiscard" if since == "discard" else "DraftPublish")
    asked = len(wire.requests)

    assert "resumable_turn" not in chat.state()
    if since in ("revert", "discard", "publish"):
        assert chat.run(question)["message_id"] == stopped["message_id"]
    assert len(wire.requests) == asked


@pytest.mark.rule("W16.1", "W5.4", "W23.65")
def test_a_model_switched_during_a_turn_answers_the_next_one(chat):
    chat.shop.models.play("other", [says("research", "x")])
    wire = chat.play(story(("b.txt", "b"), answer="b.txt"))
    original = wire.complete

    def switching(request, model, channel):
        if request.purpose.value == "plan":
            chat.call("WorkshopSwitchModel", model_id="scripted:other")
        yield from original(request, model, channel)

    wire.complete = switching
    chat.ask()

    found = chat.call("WorkshopGetConversation")["messages"]
    kinds = [m.get("event_kind") or m["role"] for m in found]
    assert kinds[-2:] == ["draft_changes_applied", "model_switched"]
    assert chat.answer()["metadata"]["model_id"] == "scripted:test"
    assert chat.state()["model_id"] == "scripted:other"


@pytest.mark.rule("W8.7", "W23.18", "W23.20")
def test_a_large_result_becomes_a_receipt_that_can_be_recalled(chat):
    chat.add({"big.txt": "line\n" * 30_000})
    recall = ("recall_tool_result", {"entry_id": 1, "offset": 0, "max_bytes": 100})
    wire = chat.play(
        [
            calls("research", 1, ("read_file", {"path": "big.txt", "line_count": 10_000})),
            calls("research", 2, recall),
            calls("research", 3, ("recall_tool_result", {"entry_id": 999})),
            says("research", "Found."),
            says("plan", "## Items\nnone"),
            says("summary", "Done."),
        ]
    )

    chat.ask()

    texts = [m.text for m in wire.requests[1].messages if m.role.value == "tool"]
    assert "Receipt of read_file, entry 1" in texts[0]
    entries = chat.call("WorkshopGetToolLog")["entries"]
    assert [(e["success"], e.get("error")) for e in entries] == [
        (True, None),
        (True, None),
        (False, "entry_not_found"),
    ]
    first = chat.call("WorkshopGetToolLogEntry", entry_id=1, max_bytes=50)
    assert (len(first["content"]), first["has_more"]) == (50, True)
    shapes = chat.call("WorkshopGetConversation", include_tools=True)["messages"]
    assert [m["type"] for m in shapes[2:-1]] == ["assistant_message", "tool_result"] * 3


@pytest.mark.rule("W15.6", "W15.8", "W15.9", "W13.2", "W23.62", "W23.74")
def test_regenerating_is_another_branch_of_the_same_run(chat):
    chat.play(story(("b.txt", "b"), answer="b.txt"), "first")
    done = chat.ask()
    chat.play(story(("c.txt", "c"), answer="c.txt"), "second")

    again = chat.call("WorkshopRegenerate")

    assert (again["status"], again["run_id"]) == ("complete", done["run_id"])
    assert chat.draft() == {"c.txt": "c"}
    said = [m for m in chat.said() if m[0] in ("user", "assistant")]
    assert said == [("user", "Do it"), ("assistant", "c.txt")]
    assert chat.said()[-1][0] == "regenerate"
    run = chat.shop.call("RailsRunGet", {"runId": done["run_id"]})
    causes = [edge["cause"] for edge in run["edges"]]
    assert causes.count("intentional_fork") == 1
    inactive = chat.call("WorkshopGetToolLog")["entries"]
    assert {e["active"] for e in inactive if e["turn_id"] == done["turn_id"]} == {False}


@pytest.mark.rule("W15.9", "W15.12", "W23.64")
def test_a_regenerated_turn_that_fails_can_be_taken_back(chat):
    chat.play([says("research", "r"), says("plan", "## Items\nnone"), says("summary", "Old.")], "a")
    done = chat.ask()
    chat.play([says("research", "")], "b")

    again = chat.call("WorkshopRegenerate")

    assert again["status"] == "failed"
    record = chat.call("WorkshopGetConversation")["messages"][-1]
    assert record["event_kind"] == "regenerate"
    assert record["metadata"]["new_message_id"] is None
    chat.call("WorkshopRedo")
    assert chat.answer()["message_id"] == done["message_id"]


@pytest.mark.rule("W15.12", "W15.9", "B8.14")
def test_redo_goes_to_and_fro_between_two_answers_and_their_drafts(chat):
    chat.play(story(("b.txt", "b"), answer="b.txt"), "first")
    question = chat.send()
    first = chat.run(question)
    chat.play(story(("c.txt", "c"), answer="c.txt"), "second")
    second = chat.call("WorkshopRegenerate")

    for answer, draft in ((first, {"b.txt": "b"}), (second, {"c.txt": "c"})) * 2:
        assert chat.state()["can_redo"] is True
        chat.call("WorkshopRedo")
        assert chat.answer()["message_id"] == answer["message_id"]
        assert chat.draft() == draft == chat.on_disk("draft")
    chat.call("WorkshopUndoToMessage", message_id=question)
    chat.call("WorkshopRedo")
    assert chat.draft() == {"c.txt": "c"}
    chat.call("WorkshopRedo")  # below the rewind the other answer is still there
    assert chat.draft() == {"b.txt": "b"}
    chat.write({"d.txt": "d"})
    assert chat.refused("WorkshopRedo")[1] == "nothing_to_redo"


@pytest.mark.rule("W15.12", "W5.1", "W12.3")
def test_redo_gives_up_the_regenerated_turn_that_stopped(chat):
    chat.play(story(("b.txt", "b"), answer="b.txt"), "first")
    first = chat.ask()
    failing = {"when": {"purpose": "implement", "item": 2}, "times": 0}
    steps = story(("c.txt", "c"), ("d.txt", "d"))
    chat.play([{**failing, "respond": {"error": "auth"}}, *steps], "second")
    assert chat.call("WorkshopRegenerate")["status"] == "paused"

    chat.call("WorkshopRedo")

    assert (chat.state().get("resumable_turn"), chat.draft()) == (None, {"b.txt": "b"})
    assert chat.answer()["message_id"] == first["message_id"]


@pytest.mark.rule("W15.6", "W15.7", "W23.62", "W15.8")
def test_there_is_not_always_something_to_regenerate(chat):
    name = "WorkshopRegenerate"
    assert chat.refused(name)[1] == "nothing_to_regenerate"
    question = chat.send("First")
    assert chat.call("WorkshopGetState")["regenerate_target_id"] == question
    chat.play(story(("b.txt", "b"), answer="b.txt"))
    chat.run(question)
    chat.call("DraftPublish")
    refusal = chat.refused(name)
    assert refusal[1:] == ("published_changed", ("chat_only", "restore_published"))
    card = chat.state()["conversation_head_id"]
    assert chat.refused(name, message_id=card)[1] == "bad_target"
    done = chat.call(name, mode="restore_published")
    assert (done["status"], chat.published(), chat.draft()) == ("complete", {}, {"b.txt": "b"})


@pytest.mark.rule("W21.1", "W21.2", "W23.80", "B17.5")
def test_counters_grow_and_name_nothing(chat):
    chat.play(story(("secret-name.txt", "b"), answer="Done."))
    chat.ask()
    first = chat.call("WorkshopGetConversation")["messages"][0]["message_id"]
    chat.call("WorkshopUndoToMessage", message_id=first)
    chat.call("DraftCreate")
    chat.call("DraftDiscard")
    chat.add({"secret-name.txt": "a"})
    chat.call("DraftCreate")
    chat.call("DraftDeletePath", path="secret-name.txt")
    with pytest.raises(BackshopError):
        chat.call("DraftPublish")
    chat.call("ReviewSetDeletionConfirmations", paths=["secret-name.txt"])
    chat.call("DraftPublish")
    chat.call("WorkshopSwitchModel", model_id="scripted:echo")

    counters = chat.call("WorkshopGetMetrics")["counters"]

    assert counters["turns_total{rpi,agent,complete}"] == 1
    assert counters["items_total{done}"] == 1
    assert counters["tool_calls_total{write_text_file,true}"] == 1
    assert (counters["drafts_created"], counters["batches_applied"]) == (3, 2)
    assert (counters["drafts_published"], counters["drafts_discarded"]) == (1, 1)
    assert counters["failures_total{publish_failed,CONFIRMATION_REQUIRED}"] == 1
    assert counters["model_switch_total"] == 2  # to the script, and away from it
    assert (counters["undo_total{plain}"], counters["undo_distance"]) == (1, 2)
    assert "secret-name" not in str(counters)


@pytest.mark.rule("W5.5", "W12.5", "W15.11", "W23.52", "B3.8", "B7.6")
def test_only_one_works_at_a_time(chat):
    chat.add({"a.txt": "one"})
    wire = chat.play(story(("b.txt", "b"), answer="b.txt"))
    question = chat.send()
    original = wire.complete
    refusals: list[tuple[str, tuple[str, str | None]]] = []

    def busy(request, model, channel):
        if request.purpose.value == "plan" and not refusals:
            for name, more in (
                ("WorkshopRunAgent", {"message_id": question}),
                ("WorkshopSendUserMessage", {"text": "more"}),
                ("WorkshopRegenerate", {}),
                ("WorkshopUndoToMessage", {"message_id": question}),
                ("WorkshopRedo", {}),
                ("DraftCreate", {}),
                ("WorkbenchFilesRemove", {"workbench_paths": ["a.txt"]}),
            ):
                refusals.append((name, chat.refused(name, **more)[:2]))
        yield from original(request, model, channel)

    wire.complete = busy
    done = chat.run(question)

    assert done["status"] == "complete"
    assert {what for _, what in refusals} == {("BENCH_BUSY", "turn_active")}
    assert len(refusals) == 7
    assert chat.draft() == {"a.txt": "one", "b.txt": "b"}


@pytest.mark.rule("W5.5", "W23.53")
def test_who_lost_the_lease_commits_nothing_more(chat):
    wire = chat.play(story(("b.txt", "b"), ("c.txt", "c")))
    question = chat.send()
    original = wire.complete
    stream = f"bench:{chat.id}"

    def robbed(request, model, channel):
        if request.purpose.value == "implement":
            holder = chat.shop.store.leases.holder(stream)
            if holder is not None and holder.startswith("turn_"):
                chat.shop.store.leases.drop(stream, holder)
                chat.shop.store.leases.take(stream, "somebody else", 60)
        yield from original(request, model, channel)

    wire.complete = robbed
    chat.run(question)

    assert chat.draft() is None
    chat.shop.store.leases.drop(stream, "somebody else")
    wire.complete = original
    assert chat.run(question)["status"] == "complete"
    assert chat.draft() == {"b.txt": "b", "c.txt": "c"}
