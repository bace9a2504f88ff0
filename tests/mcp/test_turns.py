"""An outside agent's run of `wr.rpi` on a bench is a turn of its conversation (W13.7, W13.9)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.workshop.conftest import Chat, says, story

from backshop.app import Backshop
from backshop.app.notice.hub import About
from backshop.app.people.quota import Limiter
from backshop.base.acting import agent_acting
from backshop.base.errors import LimitExceeded
from backshop.mcp.toolbox import Toolbox
from backshop.testing.ambient import FixedClock
from backshop.workshop.turn.outside_lease import IDLE_S

Json = dict[str, Any]
PROMPT: Json = {"workflowId": "wr.rpi", "context": {"prompt": "Write two notes"}}
PLAN_ITEMS = [{"number": 1, "label": "First"}, {"number": 2, "label": "Second"}]


class Agent:
    """Calls the tools of one server, as a client would."""

    def __init__(self, offering: Toolbox) -> None:
        self.offering = offering
        self.at: Json = {}

    def call(self, name: str, **arguments: Any) -> Json:
        """Return the data of a call that works."""
        answer = self.offering.tools()[name].call(arguments, None)
        assert not answer.is_error, answer
        return answer.structured

    def refused(self, name: str, **arguments: Any) -> Json:
        """Return the error of a call that does not."""
        answer = self.offering.tools()[name].call(arguments, None)
        assert answer.is_error, answer
        error: Json = answer.structured["error"]
        return error

    def start(self, **more: Any) -> None:
        self.at = self.call("start_workflow", **{**PROMPT, **more})

    def hand(self, artifact: Json, context: Json | None = None) -> None:
        """Hand in the pending step."""
        output = {"notesMarkdown": "done", "artifacts": [artifact]}
        more = {"context": context} if context else {}
        self.at = self.call(
            "continue_workflow", ackToken=self.at["ackToken"], output=output, **more
        )

    def research(self) -> None:
        self.hand({"kind": "workshop.research", "markdown": "Nothing there yet."})

    def plan(self) -> None:
        text = "## Items\n- [ ] 1. First\n- [ ] 2. Second"
        plan = {"kind": "workshop.plan", "markdown": text, "items": PLAN_ITEMS}
        self.hand({**plan, "answer_only": False}, {"plan_items": PLAN_ITEMS})

    def item(self, number: int, **more: Any) -> None:
        result = {"item_number": number, "status": "done", "no_effect": False}
        more = {"report_markdown": "Wrote it.", "amendments": [], "batch_ids": [], **more}
        self.hand({"kind": "workshop.item_result", **result, **more})

    def summary(self) -> None:
        answer = {"markdown": "one.txt is there.", "source": "model", "changed_paths": []}
        self.hand({"kind": "workshop.summary", **answer})

    def write(self, path: str) -> Json:
        return self.call("write_text_file", path=path, content=f"{path}\n")


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    options = {"model.default": "scripted:demo"}
    with Backshop.open(tmp_path / "home", settings=options) as shop:
        yield Chat(shop, tmp_path)


@pytest.fixture
def agent(chat: Chat, tmp_path: Path) -> Iterator[Agent]:
    made = Toolbox(tmp_path / "home", tool_sets=("rails", "bench"), bench_id=chat.id)
    yield Agent(made)
    made.close()


def phases(chat: Chat) -> list[tuple[str, str]]:
    """The phases of its turns, as whoever follows the workbench is told."""
    names = {"WorkshopPhaseStarted": "begins", "WorkshopPhaseCompleted": "ends"}
    with chat.shop.hub.subscribe(About(workbench_id=chat.id), after=0) as told:
        heard = told.take()
    return [(names[n.name], n.payload["phase"]) for n in heard if n.name in names]


@pytest.mark.rule("W13.7", "W23.77", "W7.10", "W8.4", "W13.5", "W4.2")
def test_a_run_over_mcp_is_a_turn_of_the_conversation(chat, agent):
    agent.start()
    running = chat.state()["active_turn"]
    refused = agent.refused("write_text_file", path="early.txt", content="x")
    agent.research()
    agent.plan()
    agent.write("one.txt")
    agent.item(1)
    agent.write("two.txt")
    at = chat.state()["active_turn"]
    agent.item(2)
    agent.summary()

    state = chat.state()
    records = chat.call("WorkshopGetConversation")["messages"]
    user, answer = (
        next(m for m in records if m["type"] == kind)
        for kind in ("user_message", "assistant_message")
    )
    assert (user["text"], user["metadata"]["origin"]) == ("Write two notes", "mcp")
    assert answer["status"] == "complete"
    assert answer["text"] == "one.txt is there."
    assert "- two.txt (added, 1 line change)" in answer["facts_lines"]  # what the agent forgot
    [told] = [one["message"] for one in agent.at["warnings"] if one["code"] == "TURN_FACTS"]
    assert told.splitlines()[1:] == answer["facts_lines"]
    assert refused["reason"] == "tool_not_available"
    assert (running["phase"], at["phase"], at["current_item"]) == ("research", "implement", 2)
    assert "active_turn" not in state
    assert state["draft"]["source"] == f"workshop:{running['run_id']}"
    assert chat.draft() == {"one.txt": "one.txt\n", "two.txt": "two.txt\n"}
    log = chat.call("WorkshopGetToolLog")["entries"]
    assert [(e["tool"], e["phase"], e.get("item"), e["success"]) for e in log] == [
        ("write_text_file", "research", None, False),
        ("write_text_file", "implement", 1, True),
        ("write_text_file", "implement", 2, True),
    ]
    assert {e["run_id"] for e in log} == {running["run_id"]}
    pairs = [
        (kind, name)
        for name in ("research", "plan", "implement", "summary")
        for kind in ("begins", "ends")
    ]
    assert phases(chat) == pairs
    plan = chat.call("WorkshopGetPlan")
    assert [item["status"] for item in plan["items"]] == ["done", "done"]
    undone = chat.call("WorkshopUndoToMessage", message_id=user["message_id"])
    assert (chat.draft(), undone["discarded_count"]) == (None, 1)


@pytest.mark.rule("W23.76", "W13.5")
def test_an_acknowledgement_that_is_said_again_does_nothing_again(chat, agent):
    wire = chat.play(story(("b.txt", "b")))
    said: list[tuple[Json, Json]] = []
    original = agent.call

    def call(name: str, **arguments: Any) -> Json:
        answer: Json = original(name, **arguments)
        if name == "continue_workflow":
            said.append((arguments, answer))
            before = heads(chat)
            assert [original(name, **arguments) for _ in range(2)] == [answer, answer]
            assert heads(chat) == before  # no batch, no record, no node
        return answer

    agent.call = call
    agent.start()
    agent.research()
    agent.plan()
    for number, path in enumerate(("one.txt", "two.txt"), 1):
        agent.write(path)
        agent.item(number)
    agent.summary()
    done = heads(chat)

    assert [original("continue_workflow", **asked) for asked, _ in said] == [a for _, a in said]
    assert heads(chat) == done
    assert chat.draft() == {"one.txt": "one.txt\n", "two.txt": "two.txt\n"}
    assert not wire.requests


def heads(chat: Chat) -> set[object]:
    return set(chat.shop.store.streams())


@pytest.mark.rule("W13.7", "W23.77", "W5.3", "W5.2")
def test_a_second_start_and_a_bench_with_a_draft_are_refused(chat, agent, tmp_path):
    assert agent.refused("start_workflow", workflowId="wr.rpi", context={"prompt": " "})[
        "details"
    ] == {"reason": "empty_message"}
    agent.start(idempotencyKey="the-same-key")
    first = agent.at
    agent.start(idempotencyKey="the-same-key")
    something_else = {"idempotencyKey": "the-same-key", "context": {"prompt": "Something else"}}
    clash = agent.refused("start_workflow", **{**PROMPT, **something_else})
    other = Toolbox(tmp_path / "home", tool_sets=("rails", "bench"), bench_id=chat.id)

    again = agent.refused("start_workflow", **PROMPT)
    elsewhere = Agent(other).refused("start_workflow", **PROMPT)
    write = Agent(other).refused("write_text_file", path="x.txt", content="x")
    sent = chat.refused("WorkshopSendUserMessage", text="Me too")
    other.close()

    assert agent.at == first
    assert clash["code"] == "ALREADY_RECORDED"
    assert (again["code"], again["details"]) == ("SESSION_LOCKED", {"reason": "turn_active"})
    assert elsewhere["details"] == {"reason": "turn_active"}
    assert (write["error_code"], write["reason"]) == ("BENCH_BUSY", "turn_active")
    assert sent[0] == "BENCH_BUSY"
    assert len(chat.said()) == 1
    agent.research()
    agent.plan()
    agent.write("one.txt")
    agent.item(1)
    agent.item(2)
    agent.summary()
    assert agent.refused("start_workflow", **PROMPT)["details"] == {"reason": "draft_exists"}


@pytest.mark.rule("W13.7", "R7.6")
@pytest.mark.parametrize(
    "more",
    [
        {"context": {**PROMPT["context"], "audience": "the board"}},
        {"context": {**PROMPT["context"], "mode": "ask"}},
        {"context": {"prompt": "Something else"}},
        {"preferences": {"riskPolicy": "conservative"}},
    ],
)
def test_a_key_that_began_something_else_is_refused(chat, agent, more):
    agent.start(idempotencyKey="the-same-key")
    first, before = agent.at, heads(chat)

    refused = agent.refused(
        "start_workflow", **{**PROMPT, **more, "idempotencyKey": "the-same-key"}
    )

    assert refused["code"] == "ALREADY_RECORDED"
    assert heads(chat) == before
    agent.start(idempotencyKey="the-same-key")
    assert agent.at == first


@pytest.mark.rule("W13.7", "W5.11", "M12.1")
def test_the_person_can_stop_an_agent_outside(chat, agent):
    agent.start()
    agent.research()
    agent.plan()
    agent.write("one.txt")

    chat.call("WorkshopCancelRun")
    agent.call("list_files")  # the next thing it does finds out

    assert "active_turn" not in chat.state()
    assert chat.answer()["status"] == "canceled"
    assert "one.txt" in chat.facts()[0]
    assert chat.draft() == {"one.txt": "one.txt\n"}
    assert agent.refused("write_text_file", path="two.txt", content="x")["error_code"] == (
        "DRAFT_EXISTS"
    )


@pytest.mark.rule("W13.7", "W12.1", "W12.6", "W11.13")
def test_silence_pauses_the_turn_and_the_agent_or_ours_goes_on(tmp_path):
    clock = FixedClock()
    options = {"model.default": "scripted:demo"}
    with Backshop.open(tmp_path / "home", settings=options, clock=clock) as shop:
        chat = Chat(shop, tmp_path)
        seat = shop.workshops.outside(chat.id)
        agent = Agent(Seated(shop, seat))
        agent.start()
        agent.research()
        agent.plan()
        agent.write("one.txt")
        agent.item(1)
        agent.write("two.txt")

        clock.move(int(IDLE_S + 1) * 1000)
        agent.call("list_files")
        paused = chat.state()["resumable_turn"]
        kept = chat.draft()
        agent.item(2)
        agent.summary()

        assert (paused["done_items"], kept) == (1, {"one.txt": "one.txt\n"})
        assert chat.answer()["status"] == "complete"
        chat.call("DraftPublish")

        agent.start()
        agent.research()
        seat.close()
        question = chat.state()["resumable_turn"]["message_id"]
        chat.play(story(("three.txt", "3")))
        done = chat.run(question)
        assert done["status"] == "complete"
        assert chat.draft() == {"one.txt": "one.txt\n", "three.txt": "3"}


class Seated(Toolbox):
    """The tools of a seat that is there already."""

    def __init__(self, shop: Backshop, seat: Any) -> None:
        from backshop.mcp.benchtools import bench_tools
        from backshop.mcp.toolbox import _rails_tools

        self._all = {
            tool.name: tool for tool in (*_rails_tools(shop, seat), *bench_tools(shop, seat))
        }

    def tools(self):
        return self._all


@pytest.mark.rule("W13.9", "W23.84", "W8.4", "W8.7")
def test_without_a_run_calls_are_logged_and_can_be_recalled(chat, agent):
    chat.add({"big.txt": "line\n" * 2_000})
    agent.call("read_file", path="big.txt")
    texts = agent.offering.tools()["read_file"].call({"path": "big.txt"}, None).texts
    agent.write("one.txt")

    recalled = agent.call("recall_tool_result", entry_id=1, max_bytes=100)

    log = chat.call("WorkshopGetToolLog")["entries"]
    assert [(e["id"], e["tool"], e.get("turn_id"), e["active"]) for e in log] == [
        (1, "read_file", None, True),
        (2, "read_file", None, True),
        (3, "write_text_file", None, True),
        (4, "recall_tool_result", None, True),
    ]
    assert (recalled["tool"], recalled["has_more"], len(recalled["content"])) == (
        "read_file",
        True,
        100,
    )
    assert "entry 2" in texts[-1]
    assert log[2]["batch_id"]
    assert agent.refused("recall_tool_result", entry_id=99)["reason"] == "entry_not_found"
    assert chat.draft() == {"big.txt": "line\n" * 2_000, "one.txt": "one.txt\n"}
    draft = chat.shop.benches.desk.state(chat.id).draft
    assert draft is not None
    assert draft.source.ref == "mcp"


@pytest.mark.rule("W13.7", "R7.22")
def test_a_step_that_is_refused_leaves_the_turn_where_it_is(chat, agent):
    agent.start(preferences={"autonomy": "guided"})
    before = chat.state()["active_turn"]["phase"]

    agent.at = agent.call(
        "continue_workflow", ackToken=agent.at["ackToken"], output={"notesMarkdown": "no artifact"}
    )
    blocked = agent.at["kind"]
    agent.research()

    assert (before, blocked) == ("research", "blocked")
    assert chat.state()["active_turn"]["phase"] == "plan"
    assert phases(chat).count(("ends", "research")) == 1


@pytest.mark.rule("W13.7", "W11.13", "W4.2", "R6.10", "R5.6")
def test_an_agent_that_goes_back_finds_the_files_its_step_began_with(chat, agent):
    chat.add({"a.txt": "a"})
    agent.start()
    agent.research()
    agent.plan()
    first = agent.at["stateToken"]
    agent.write("one.txt")
    agent.item(1)
    second = agent.at
    agent.write("two.txt")
    start = {"a.txt": "a"}
    before = chat.shop.store.last_seq()

    agent.at = agent.call("continue_workflow", stateToken=first)

    assert chat.shop.store.last_seq() == before  # looking writes nothing
    assert [one["code"] for one in agent.at["warnings"]] == ["FILES_OF_ANOTHER_BRANCH"]
    assert [one["path"] for one in agent.call("list_files")["files"]] == ["a.txt"]
    agent.write("other.txt")
    assert chat.draft() == start | {"other.txt": "other.txt\n"} == chat.on_disk("draft")
    agent.item(1)
    assert (bool(agent.at["fork"]["siblings"]), agent.at["warnings"]) == (True, [])
    assert chat.state()["active_turn"]["current_item"] == 2
    branch = agent.at

    agent.at = agent.call("continue_workflow", stateToken=second["stateToken"])
    agent.call("list_files")
    assert chat.draft() == start | {"one.txt": "one.txt\n"}  # the item that was not done is gone
    agent.at = agent.call("continue_workflow", stateToken=branch["stateToken"])
    agent.write("two.txt")
    agent.item(2)
    agent.summary()
    assert chat.draft() == start | {"other.txt": "other.txt\n", "two.txt": "two.txt\n"}
    assert chat.answer()["status"] == "complete"
    names = [kind for kind, _ in phases(chat)]
    assert names == ["begins", "ends"] * (len(names) // 2)


INSTEAD = {"notesMarkdown": "Wrote other.txt instead."}


@pytest.mark.rule("W13.7", "R6.13")
def test_who_writes_before_saying_where_it_stands_is_told_what_the_files_hold(chat, agent):
    agent.start()
    agent.research()
    agent.plan()
    earlier = agent.at
    agent.write("one.txt")
    agent.item(1)
    agent.write("two.txt")  # of the branch that is left now, by going back in the chat
    agent.write("other.txt")

    agent.at = earlier
    told = agent.refused("continue_workflow", ackToken=earlier["ackToken"], output=INSTEAD)
    agent.at = {**earlier, "ackToken": told["details"]["forkAckToken"]}
    agent.item(1, report_markdown="Wrote other.txt instead.")

    assert told["code"] == "ALREADY_RECORDED"
    assert [one["code"] for one in agent.at["warnings"]] == ["FILES_OF_ANOTHER_BRANCH"]
    assert set(chat.draft() or {}) == {"one.txt", "two.txt", "other.txt"}
    at = chat.state()["active_turn"]
    assert (at["current_item"], at["phase"]) == (2, "implement")
    agent.item(2, status="failed", reason="no")
    assert chat.state()["active_turn"]["phase"] == "summary"
    refused = agent.refused("write_text_file", path="x.txt", content="x")
    assert "stateToken" in refused["message"]
    agent.summary()
    assert chat.answer()["status"] == "complete"


@pytest.mark.rule("W12.1", "W13.7")
def test_a_turn_of_ours_is_not_taken_up_by_an_agent_outside(chat, agent):
    stopped = {"when": {"purpose": "plan"}, "times": 0, "respond": {"error": "auth"}}
    chat.play([says("research", "Found."), stopped])
    message = chat.send()
    done = chat.run(message)
    before, head = chat.state()["resumable_turn"], chat.shop.store.position(f"bench:{chat.id}")
    [found] = agent.call("resume_session", runId=done["run_id"])["candidates"]
    agent.at = agent.call("continue_workflow", stateToken=found["stateToken"])

    agent.plan()

    assert chat.state()["resumable_turn"] == before
    assert chat.shop.store.position(f"bench:{chat.id}") == head
    chat.play(story(("one.txt", "1"), ("two.txt", "2")))
    assert chat.run(message)["status"] == "complete"
    assert chat.draft() == {"one.txt": "1", "two.txt": "2"}


@pytest.mark.rule("T6.5", "W12.1", "W13.7")
def test_a_turn_too_many_is_refused_to_an_agent_outside(tmp_path, monkeypatch):
    full: list[bool] = []

    def require_turn(limiter: Limiter, user: object) -> None:
        if full:
            raise LimitExceeded("2 turns are running", reason="user_limit")

    monkeypatch.setattr(Limiter, "require_turn", require_turn)
    clock, options = FixedClock(), {"model.default": "scripted:demo"}
    with Backshop.open(tmp_path / "home", settings=options, clock=clock) as shop:
        chat = Chat(shop, tmp_path)
        agent = Agent(Seated(shop, shop.workshops.outside(chat.id)))
        full.append(True)
        assert agent.refused("start_workflow", **PROMPT)["code"] == "LIMIT_EXCEEDED"
        full.clear()
        agent.start()
        clock.move(int(IDLE_S + 1) * 1000)
        agent.call("list_files")
        paused = chat.state()["resumable_turn"]
        research = {"kind": "workshop.research", "markdown": "Nothing there yet."}
        step = {"notesMarkdown": "done", "artifacts": [research]}
        full.append(True)

        refusal = agent.refused("continue_workflow", ackToken=agent.at["ackToken"], output=step)

        assert refusal["code"] == "LIMIT_EXCEEDED"
        assert chat.state()["resumable_turn"] == paused
        full.clear()
        agent.research()
        assert chat.state()["active_turn"]["turn_id"] == paused["turn_id"]


def drafted(chat: Chat) -> None:
    """Let the built-in agent make a Draft."""
    chat.add({"a.txt": "one\n"})
    chat.play(story(("a.txt", "two\n")), "one")
    chat.ask("Make it two")


@pytest.mark.rule("W24.10", "W24.12", "W13.9", "W7.10")
def test_a_request_for_changes_opens_the_draft_to_plain_tools(chat, agent):
    drafted(chat)
    closed = agent.refused("write_text_file", path="b.txt", content="b")
    assert closed["error_code"] == "DRAFT_EXISTS"
    assert "request" not in agent.call("review_draft")
    message = chat.call("WorkshopRequestChanges", text="Add b.txt")["message_id"]

    asked = agent.call("review_draft")["request"]
    assert (asked["message_id"], asked["text"]) == (message, "Add b.txt")
    with agent_acting("mcp:probe"):
        agent.write("b.txt")
    assert chat.draft() == {"a.txt": "two\n", "b.txt": "b.txt\n"}
    [done] = agent.call("review_draft")["requests"]
    assert asked["written_since"] == []
    assert done["written_since"] == [{"path": "b.txt", "agent": "mcp:probe"}]
    since = chat.call("ReviewGetChangeSet", since="last_look")
    assert [one["path"] for one in since["entries"]] == ["b.txt"]
    chat.play(story(("a.txt", "three\n")), "two")
    chat.run(message)
    closed = agent.refused("write_text_file", path="c.txt", content="c")
    assert closed["error_code"] == "DRAFT_EXISTS"


@pytest.mark.rule("W24.10", "W13.7")
@pytest.mark.parametrize("goal", [{}, {"goal": "Also one and two"}])
def test_a_run_takes_up_the_request_for_changes(chat, agent, goal):
    drafted(chat)
    message = chat.call("WorkshopRequestChanges", text="Also one and two")["message_id"]
    other = agent.refused("start_workflow", workflowId="wr.rpi", goal="Something else")
    assert other["details"]["reason"] == "draft_exists"

    key = {"workflowId": "wr.rpi", "idempotencyKey": "round-of-one", **goal}
    agent.at = agent.call("start_workflow", **key)
    assert agent.call("start_workflow", **key)["stateToken"] == agent.at["stateToken"]
    agent.research()
    agent.plan()
    agent.write("one.txt")
    agent.item(1)
    agent.write("two.txt")
    agent.item(2)
    agent.summary()

    said = [m for m in chat.call("WorkshopGetConversation")["messages"] if m["role"] == "user"]
    assert [m["text"] for m in said] == ["Make it two", "Also one and two"]
    assert said[-1]["message_id"] == message
    assert chat.draft() == {"a.txt": "two\n", "one.txt": "one.txt\n", "two.txt": "two.txt\n"}
    assert [one["path"] for one in chat.answer()["metadata"]["facts"]["files"]] == [
        "one.txt",
        "two.txt",
    ]
    assert "unanswered_request_id" not in chat.state()
    again = agent.refused("start_workflow", workflowId="wr.rpi", goal="More")
    assert again["details"]["reason"] == "draft_exists"


@pytest.mark.rule("W24.12", "W24.10")
@pytest.mark.parametrize("goal", [{}, {"goal": "Add one"}, {"goal": "Add two"}])
def test_requests_that_nobody_took_up_are_told_and_taken_up_together(chat, agent, goal):
    drafted(chat)
    asked = [
        chat.call("WorkshopRequestChanges", text=text)["message_id"]
        for text in ("Add one", "Add two\n\nNicely")
    ]
    told = agent.call("review_draft")
    key = {"workflowId": "wr.rpi", "idempotencyKey": "round-of-both", **goal}
    begun = agent.call("start_workflow", **key)
    again = agent.call("start_workflow", **key)
    looked = agent.call("continue_workflow", stateToken=begun["stateToken"])

    assert [one["message_id"] for one in told["requests"]] == asked
    assert told["request"]["message_id"] == asked[-1]
    assert looked["goal"] == "Add one\n\nAdd two\n\nNicely"
    assert again["stateToken"] == begun["stateToken"]
    assert agent.call("review_draft")["requests"] == []


@pytest.mark.rule("W24.10", "W11.30", "B9.1")
def test_no_tool_asks_for_changes_or_publishes(agent):
    names = set(agent.offering.tools())
    assert not {one for one in names if "publish" in one or "request" in one or "discard" in one}
