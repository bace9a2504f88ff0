"""What is the record and what follows from it; how it is written, pinned and let go (R4, R9.9)."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from tests.rails.agent import Agent, rails_of
from tests.rails.workflows import LOOP_CONTROL, STOP, flow, loop, step
from tests.tamper import tamper

from backshop.base.canon import canonical, parse, sha256_hex
from backshop.base.errors import ValidationFailed
from backshop.rails import Catalog, Places, Rails
from backshop.rails.run import snapshot
from backshop.store import Store
from backshop.testing.ambient import FixedClock

WORK = flow(step("one"), step("two", **LOOP_CONTROL), step("three"))
LONG = flow(loop("pass", step("look"), type="for", count=200, maxIterations=200), step("end"))
DAY_MS = 24 * 3_600_000


def stream_of(answer) -> str:
    return f"session:{answer['session']['sessionId']}"


def rows(ann, query: str) -> list[Any]:
    with ann.rails.sessions.store.database.reader() as cursor:
        return list(cursor.text(query))


def story(ann):
    """Every kind of write: start, advance, block, retry, branch, note, change of mode."""
    first = ann.start("user.flow", goal="tell", context={"k": 1})
    second = ann.go(first, "did one")
    blocked = ann.go(second, "nothing")
    third = ann.go(blocked, None, artifacts=[STOP])
    ann.go(ann.look(first), "another way")
    noted = ann.answer(
        "checkpoint_workflow",
        stateToken=third["stateToken"],
        checkpointToken=third["checkpointToken"],
        output={"notesMarkdown": "half way"},
    ).structured
    ann.studio("RailsRunSetPreferences", runId=first["session"]["runId"], preferences={})
    return first, second, blocked, third, noted


def told(ann, answers) -> list[object]:
    """What the pages and tools say of a session."""
    run = answers[0]["session"]["runId"]
    return [
        *(ann.look(one) for one in answers),
        ann.studio("RailsRunGet", runId=run),
        ann.studio("RailsSessionsList"),
        ann.call("resume_session", {"query": "tell"}),
    ]


@pytest.mark.rule("R4.1", "R5.17")
def test_what_is_kept_beside_the_record_can_be_dropped(agent, tmp_path):
    home = tmp_path / "home"
    ann = agent(LONG)
    answer = first = ann.start("user.flow", goal="tell")
    for number in range(90):
        answer = ann.go(answer, f"note {number}")
    before = told(ann, [first, answer])
    ann.rails.sessions.store.close()
    between = agent(home="home")
    kept = rows(between, "SELECT stream FROM snapshot")
    between.rails.sessions.store.close()
    tamper(home, "DELETE FROM snapshot")
    later = agent(home="home")

    assert kept == [(stream_of(first),)]
    assert told(later, [first, answer]) == before
    assert later.go(answer)["pending"]["loop"]["iteration"] == 92


@pytest.mark.rule("R4.4", "R4.5", "R9.10")
def test_events_are_written_once_and_go_only_with_their_session(agent):
    ann = agent(WORK)
    said: list[str] = []
    with ann.rails.sessions.store.database.reader() as cursor:
        driver = cursor.driver
    driver.set_trace_callback(lambda text: said.append(" ".join(text.split())))
    answers = story(ann)
    session = answers[0]["session"]["sessionId"]
    ann.studio("RailsSessionSetKeep", sessionId=session, keep=True)
    bundle = ann.studio("RailsSessionExport", sessionId=session)["text"]
    ann.studio("RailsSessionImport", bundle=bundle)
    ann.rails.sessions.store.collect(apply=True)
    told(ann, answers)
    written = [one for one in said if one.startswith(("UPDATE event", "DELETE FROM event"))]
    ann.studio("RailsSessionDelete", sessionId=session, confirm=session)
    dropped = [one for one in said if one.startswith(("UPDATE event", "DELETE FROM event"))]
    driver.set_trace_callback(None)

    assert written == []
    assert len(dropped) == 1
    assert rows(ann, f"SELECT 1 FROM event WHERE stream = 'session:{session}'") == []


@pytest.mark.rule("R4.4", "R4.11")
def test_the_head_of_a_session_holds_what_is_of_this_machine_alone(agent, tmp_path):
    ann = agent(WORK)
    first = ann.start("user.flow", workspacePath=str(tmp_path))
    session = first["session"]["sessionId"]
    before = ann.events(first)
    ann.studio("RailsSessionSetKeep", sessionId=session, keep=True)
    head = ann.rails.sessions.store.head(stream_of(first))
    events = [event.data for event in ann.rails.sessions.store.read(stream_of(first))]

    assert head is not None
    assert head.keep
    assert str(tmp_path) in (head.local or "")
    assert str(tmp_path) not in str(events)
    assert ann.events(first) == before


@pytest.mark.rule("R4.14", "R4.4", "R4.6")
def test_every_ref_is_pinned_once_by_the_event_that_brings_it(agent):
    ann = agent(WORK)
    answers = story(ann)
    ann.go(ann.look(answers[1]), "x" * 5000, artifacts=[STOP])
    events = {one.idx: one for one in ann.rails.sessions.store.read(stream_of(answers[0]))}
    stream = stream_of(answers[0])
    pins = rows(ann, f"SELECT ref, kind, idx, event_id FROM pin WHERE stream = '{stream}'")

    first_named: dict[str, int] = {}
    for idx, event in events.items():
        text = canonical(event.data).decode()
        for ref, *_ in pins:
            if ref in text:
                first_named.setdefault(ref, idx)
    parts = {idx: event.key_idx for idx, event in events.items()}
    assert {kind for _, kind, _, _ in pins} == {"snapshot", "workflow", "artifact", "response"}
    assert len({ref for ref, *_ in pins}) == len(pins)
    assert set(first_named) == {ref for ref, *_ in pins}
    for ref, _, idx, event_id in pins:
        assert event_id == events[idx].event_id
        assert parts[idx] == parts[first_named[ref]], "in the plan that first names it"


LAST = {
    "event": "NEW.kind = 'decision_trace_appended'",
    "pin": "NEW.kind = 'snapshot'",
    "blob": "length(NEW.data) > 0",
}


@pytest.mark.rule("R4.5", "R4.6", "R7.21", "R7.24")
@pytest.mark.parametrize("table", LAST)
def test_a_plan_that_cannot_be_written_whole_is_not_written_at_all(agent, tmp_path, table):
    """The database refuses a late row of a table; afterwards the same calls go through."""
    ann = agent(flow(step("one"), step("skipped", runCondition={"var": "x"}), step("two")))
    first = ann.start("user.flow")

    def stored():
        return {name: sorted(rows(ann, f"SELECT * FROM {name}")) for name in (*LAST, "stream")}

    before = stored()
    tamper(
        tmp_path / "home",
        f"CREATE TRIGGER refuse BEFORE INSERT ON {table} WHEN {LAST[table]}"
        " BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    started = ann.answer("start_workflow", workflowId="user.flow", goal="another")
    went = ann.reply(first, "did one")
    after = stored()
    tamper(tmp_path / "home", "DROP TRIGGER refuse")

    assert started.is_error
    assert went.is_error
    assert after == before
    assert ann.go(first, "did one")["pending"]["stepId"] == "two"


@pytest.mark.rule("R4.5", "R4.17", "R4.18")
def test_what_another_process_wrote_is_checked_before_more_is_added(agent, tmp_path):
    ann, bob = agent(WORK), agent(home="home")
    first = ann.start("user.flow")
    ann.look(first)
    bob.go(first, "did one")
    count = bob.events(first)
    stream = stream_of(first)
    tamper(
        tmp_path / "home",
        "UPDATE event SET at_ms = at_ms + 1 WHERE stream = ? AND idx = ?",
        stream,
        count - 1,
    )
    refused = ann.go(first, "did it too")

    assert refused["error"]["code"] == "SESSION_NOT_HEALTHY"
    assert ann.events(first) == count


@pytest.mark.rule("R4.9", "R7.23")
def test_what_is_recorded_is_answered_while_somebody_else_writes(agent, tmp_path):
    ann = agent(WORK)
    first = ann.start("user.flow")
    second = ann.reply(first, "did one")
    given = {
        "stateToken": second.structured["stateToken"],
        "checkpointToken": second.structured["checkpointToken"],
        "output": {"notesMarkdown": "half way"},
    }
    noted = ann.answer("checkpoint_workflow", **given)
    hasty = Agent(rails_of(tmp_path / "home", lock_wait_ms=0))
    with Store.open(tmp_path / "home") as other, other.database.transaction():
        again = hasty.reply(first, "did one")
        noted_again = hasty.answer("checkpoint_workflow", **given)
        fresh = hasty.go(second.structured, "did two")
        looked = hasty.look(first)
    hasty.rails.sessions.store.close()

    assert (again.structured, again.texts) == (second.structured, second.texts)
    assert (noted_again.structured, noted_again.texts) == (noted.structured, noted.texts)
    assert fresh["error"]["code"] == "TOKEN_SESSION_LOCKED"
    assert looked["kind"] == "ok"


def to_schema_2(data: Any) -> None:
    data["schemaVersion"] = 2


def to_v2(data: Any) -> None:
    data["v"] = 2


def to_engine_2(data: Any) -> None:
    data["engine"]["v"] = 2


@pytest.mark.rule("R4.20", "R2.8", "R4.18", "R4.17")
@pytest.mark.parametrize(
    ("kind", "change"),
    [("workflow", to_schema_2), ("snapshot", to_v2), ("snapshot", to_engine_2)],
)
def test_what_a_later_program_wrote_is_left_alone_and_hides_nothing(agent, tmp_path, kind, change):
    """Blob, pins and hashes are right; only this program does not know the version."""
    home = tmp_path / "home"
    ann = agent(WORK, flow(step("one"), name="user.other"))
    first, other = ann.start("user.flow"), ann.start("user.other")
    events = list(ann.rails.sessions.store.read(stream_of(first)))
    ((ref,),) = rows(
        ann, f"SELECT ref FROM pin WHERE kind = '{kind}' AND stream = '{stream_of(first)}'"
    )
    later: Any = parse(ann.rails.sessions.blob(ref))
    ann.rails.sessions.store.close()
    change(later)
    _rewrite(home, events, ref, canonical(later))
    bob = agent(home="home")
    run, session = first["session"]["runId"], first["session"]["sessionId"]
    listed = {one["sessionId"]: one for one in bob.studio("RailsSessionsList")["sessions"]}
    refused = bob.error("continue_workflow", stateToken=first["session"]["resumeRef"])
    found = bob.call("resume_session", {})["candidates"]

    assert refused["code"] == "SESSION_NOT_HEALTHY"
    assert refused["details"] == {"reason": "unknown_schema_version", "status": "unknown_version"}
    assert [one["sessionId"] for one in found] == [other["session"]["sessionId"]]
    assert listed[session]["health"] == "unknown_version"
    assert listed[other["session"]["sessionId"]]["health"] == "healthy"
    assert bob.refused("RailsRunGet", runId=run)["code"] == "SESSION_NOT_HEALTHY"
    exported = bob.refused("RailsSessionExport", sessionId=session, format="markdown")
    assert exported["code"] == "SESSION_NOT_HEALTHY"
    assert bob.go(other)["isComplete"] is True


def test_what_is_no_position_is_not_read():
    with pytest.raises(ValidationFailed):
        snapshot.load(b'{"v":1}')


_PASS = {"loopId": "l", "iteration": 1}
_OPEN = {**_PASS, "bodyIndex": 0, "decision": "none"}


def position(**change):
    """Return a stored position in the second pass of a loop, with a part of it changed."""
    state = {
        "kind": "running",
        "completed": {"kind": "set", "values": ["a", "b"]},
        "loopStack": [_OPEN],
        "pending": {"kind": "some", "step": {"stepId": "s", "loopPath": [_PASS]}},
    }
    engine = {"v": 1, "state": {**state, **change}}
    whole = {"v": 1, "kind": "execution_snapshot", "workflowHash": "sha256:x", "engine": engine}
    return canonical(whole)


@pytest.mark.rule("R5.2")
@pytest.mark.parametrize(
    "change",
    [
        {"loopStack": [_OPEN, _OPEN]},
        {"loopStack": [{**_OPEN, "iteration": 2}]},
        {"loopStack": []},
        {"completed": {"kind": "set", "values": ["l@1::s"]}},
        {"completed": {"kind": "set", "values": ["b", "a"]}},
        {"completed": {"kind": "set", "values": ["a", "a"]}},
        {"kind": "complete"},
        {"pending": {"kind": "none"}},
    ],
)
def test_a_position_that_contradicts_itself_is_not_read(change):
    whole = snapshot.load(position()).engine.pending
    assert whole is not None
    assert whole.key == "l@1::s"
    with pytest.raises(ValidationFailed, match="contradicts itself"):
        snapshot.load(position(**change))


def _rewrite(home, events, old: str, data: bytes) -> None:
    new, previous = sha256_hex(data), None
    with sqlite3.connect(home / "store.db") as database:
        database.execute("UPDATE blob SET sha256 = ?, data = ? WHERE sha256 = ?", (new, data, old))
        database.execute("UPDATE pin SET ref = ? WHERE ref = ?", (new, old))
        for event in events:
            body = canonical(event.data).replace(old.encode(), new.encode())
            changed = replace(event, body=body, prev_hash=previous or event.prev_hash)
            previous = changed.computed_hash()
            database.execute(
                "UPDATE event SET body = ?, prev_hash = ?, hash = ? WHERE stream = ? AND idx = ?",
                (body, changed.prev_hash, previous, event.stream, event.idx),
            )
        database.execute(
            "UPDATE stream SET last_hash = ? WHERE stream = ?", (previous, events[0].stream)
        )
    database.close()


@pytest.mark.rule("R9.9", "R4.14", "R9.10", "C92")
def test_what_no_session_pins_is_collected_and_nothing_else(tmp_path):
    clock = FixedClock()
    home = tmp_path / "home"
    (home / "workflows").mkdir(parents=True)
    rails_of(home, workflows=[WORK]).sessions.store.close()
    store = Store.open(home, clock=clock)
    ann = Agent(Rails(store, Catalog(Places(user_dirs=(home / "workflows",)))))
    gone, kept = story(ann), story(ann)
    ann.go(ann.look(gone[1]), "of the lost one only " + "x" * 5000, artifacts=[STOP])
    store.delete_stream(stream_of(gone[0]))
    early = store.collect(apply=True)
    clock.move(2 * DAY_MS)
    swept = store.collect(apply=True)
    pinned = {pin.ref for pin in store.pins(stream_of(kept[0]))}
    left = {ref for (ref,) in rows(ann, "SELECT sha256 FROM blob")}
    again = told(ann, kept)
    store.close()

    assert early.blobs == 0
    assert swept.blobs > 0
    assert left == pinned
    assert len(again) == len(kept) + 3
