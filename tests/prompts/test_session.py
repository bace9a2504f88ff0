"""Prompt sessions: slices, reducers, rewind, children; in memory and in the event store."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.postgres import fresh_database

from backshop import prompts
from backshop.base.event import event
from backshop.prompts import (
    LOG,
    STATE,
    Append,
    ConversationItem,
    DigestUpdated,
    MarkdownSection,
    MemoryLog,
    NewRecord,
    Prompt,
    PromptError,
    PromptValidationError,
    ReducerError,
    Replace,
    RunLimits,
    Session,
    SessionError,
    SessionRewound,
    Snapshot,
    SnapshotError,
    TextDelta,
    TokenUsage,
    ToolInvoked,
    WorkspaceDigest,
    event_type,
    keep_last,
    part_of,
    replace_latest,
    slice_type,
    upsert_by,
)
from backshop.prompts.session.history import History
from backshop.prompts.session.log import Recorded
from backshop.prompts.slices import slice_of
from backshop.store import Plan, Store


class FixedClock:
    def __init__(self) -> None:
        self.ms = 1_767_323_045_000

    def now_ms(self) -> int:
        self.ms += 1
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


@slice_type("test-note", 1, STATE)
@dataclass(frozen=True)
class Note:
    text: str
    tags: tuple[str, ...] = ()


@slice_type("test-count", 1, STATE)
@dataclass(frozen=True)
class Count:
    name: str
    n: int


@event("test.session_counted")
@dataclass(frozen=True)
class Counted:
    name: str
    by: int = 1


@slice_type("test-seen", 1, LOG)
@event("test.seen")
@dataclass(frozen=True)
class Seen:
    what: str


def count(items, fact):
    known = next((item.n for item in items if item.name == fact.name), 0)
    if fact.by < 0:
        raise ValueError("no")
    rest = tuple(item for item in items if item.name != fact.name)
    return Replace((*rest, Count(fact.name, known + fact.by)))


@pytest.fixture(
    params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))]
)
def log(request, tmp_path):
    clock = FixedClock()
    if request.param == "memory":
        yield MemoryLog(clock)
        return
    with ExitStack() as stack:
        url = stack.enter_context(fresh_database()) if request.param == "postgres" else None
        yield stack.enter_context(Store.open(tmp_path / "home", database_url=url, clock=clock))


def make(log, **given) -> Session:
    session = Session(log=log, clock=FixedClock(), **given)
    session.register(Counted, Count, count)
    return session


def code_of(act, kind: type[PromptError] = SessionError) -> str:
    with pytest.raises(kind) as caught:
        act()
    return caught.value.code


@pytest.mark.rule("P2.1", "P2.4", "P2.5", "P2.6")
def test_slices_change_by_events_only(log):
    session = make(log)
    session[Note].append(Note("a"))
    session.dispatch(Note("b", ("x",)))
    session.dispatch(Counted("n", 2))
    session.dispatch(Counted("n"))

    assert session.session_id.startswith("ps_")
    assert session[Note].all() == (Note("a"), Note("b", ("x",)))
    assert session[Note].latest() == Note("b", ("x",))
    assert session[Note].where(lambda note: note.text == "a") == (Note("a"),)
    assert session[Count].all() == (Count("n", 3),)
    assert session.seq == 4
    session[Note].clear(lambda note: note.text == "a")
    assert session[Note].count() == 1
    session[Note].clear()
    assert session[Note].latest() is None
    assert code_of(lambda: session.dispatch(object())) == "UNROUTED_EVENT"
    assert code_of(lambda: session[Seen].clear()) == "LOG_IS_APPEND_ONLY"


@slice_type("test-plan", 1, STATE)
@dataclass(frozen=True)
class Steps:
    name: str
    n: int = 0


@event_type("test.step-added")
@dataclass(frozen=True)
class StepAdded:
    name: str


@pytest.mark.rule("P2.6")
def test_the_reducer_of_a_slice_decides_about_dispatched_items(log):
    session = Session(log=log, clock=FixedClock())
    session.dispatch(Steps("before"))
    session.register(Steps, Steps, replace_latest)
    session.dispatch(Steps("a"))
    session.dispatch(Steps("b"))
    again = Session(session_id=session.session_id, log=log, clock=FixedClock())

    assert session[Steps].all() == (Steps("b"),)
    assert again[Steps].all() == (Steps("before"), Steps("a"), Steps("b"))
    again.register(Steps, Steps, replace_latest)
    assert again.snapshot() == session.snapshot()


@pytest.mark.rule("P2.6", "P2.12")
def test_a_slice_upserted_by_key_keeps_one_item_a_key_in_a_tool_too(log):
    session = Session(log=log, clock=FixedClock())
    session.register(Steps, Steps, upsert_by(lambda one: one.name))
    for n in range(30):
        session.dispatch(Steps(f"k{n % 10}", n))
    here = session.seq
    work = session.begin()
    work.dispatch(Steps("k0", 100))
    assert work.view()[Steps].where(lambda one: one.name == "k0") == (Steps("k0", 100),)
    work.commit()

    assert session[Steps].count() == 10
    session.rewind_to(here)
    assert session[Steps].all() == tuple(Steps(f"k{n}", 20 + n) for n in range(10))
    session[Steps].append(Steps("k0", 7))
    assert session[Steps].count() == 11


@pytest.mark.rule("P2.5", "P2.6", "P2.9")
def test_an_event_of_ones_own_reaches_its_reducer_and_its_subscribers(log):
    session = Session(log=log, clock=FixedClock())
    session.register(StepAdded, Steps, lambda items, fact: Append(Steps(fact.name, len(items))))
    heard: list[object] = []
    session.bus.subscribe(StepAdded, lambda envelope: heard.append(envelope.event))
    session.bus.subscribe(Steps, lambda envelope: heard.append(envelope.event))

    session.dispatch(StepAdded("look"))
    session.dispatch(Steps("write", 5))

    assert session[Steps].all() == (Steps("look", 0), Steps("write", 5))
    assert heard == [StepAdded("look"), Steps("write", 5)]
    assert session.dispatch(StepAdded("x")).events[0].type == "own.test.step-added"


@pytest.mark.rule("P2.5", "P2.6", "P2.9")
def test_what_could_never_run_is_refused_where_it_is_registered():
    @dataclass(frozen=True)
    class Unmarked:
        name: str

    async def later(items, fact):
        return Append(fact)

    def alone(items):
        return Append(items)

    session = Session()
    register: Any = session.register
    subscribe: Any = session.bus.subscribe

    assert code_of(lambda: register(Unmarked, Steps, replace_latest)) == "UNKNOWN_EVENT"
    assert code_of(lambda: register(StepAdded, Unmarked, replace_latest)) == "UNKNOWN_SLICE"
    assert code_of(lambda: register(StepAdded, Steps, later)) == "BAD_REDUCER"
    assert code_of(lambda: register(StepAdded, Steps, alone)) == "BAD_REDUCER"
    assert code_of(lambda: register(StepAdded, Steps, "no")) == "BAD_REDUCER"
    assert code_of(lambda: subscribe(Steps, later)) == "BAD_SUBSCRIBER"
    with pytest.raises(ValueError, match="not an event name"):
        event_type("Not a name")(Unmarked)
    with pytest.raises(ValueError, match="is taken by StepAdded"):
        event_type("test.step-added")(Unmarked)
    with pytest.raises(PromptValidationError):

        @event_type("test.loose")
        @dataclass(frozen=True)
        class Loose:
            items: list[str]


@pytest.mark.rule("P2.2", "P2.5")
def test_a_slice_and_an_event_may_be_defined_again_by_the_same_definition(log):
    def cell() -> tuple[Any, Any]:
        @slice_type("test-cell", 1, STATE)
        @dataclass(frozen=True)
        class Cell:
            text: str

        @event_type("test.cell-run")
        @dataclass(frozen=True)
        class CellRun:
            text: str

        return Cell, CellRun

    first, run_first = cell()
    session = Session(log=log, clock=FixedClock())
    session.register(run_first, first, lambda items, fact: Append(first(fact.text)))
    session.register(first, first, upsert_by(lambda one: one.text))
    session.dispatch(first("a"))
    session.dispatch(run_first("b"))
    second, run_second = cell()

    session.dispatch(second("a"))
    session.dispatch(run_second("c"))

    assert [one.text for one in session[second].all()] == ["a", "b", "c"]
    with pytest.raises(ValueError, match="is taken by Cell"):

        @slice_type("test-cell", 1, STATE)
        @dataclass(frozen=True)
        class Other:
            text: str


@pytest.mark.rule("P2.6")
def test_items_a_log_holds_as_appended_stay_appended(log):
    """Homes of 0.1.0 recorded dispatched items so; their state is what it was."""
    session = Session(log=log, clock=FixedClock())
    session[Steps].append(Steps("a"))
    session[Steps].append(Steps("b"))
    session.register(Steps, Steps, replace_latest)

    assert session[Steps].all() == (Steps("a"), Steps("b"))


@pytest.mark.rule("P2.2")
def test_items_that_could_not_be_stored_are_refused():
    with pytest.raises(PromptValidationError):

        @slice_type("test-bad", 1, STATE)
        @dataclass(frozen=True)
        class Bad:
            items: list[str]

    with pytest.raises(PromptValidationError):

        @slice_type("test-bad", 1, STATE)
        @dataclass
        class Loose:
            text: str


@pytest.mark.rule("P2.7", "P11.27")
def test_a_raising_reducer_leaves_no_trace(log):
    session = make(log)
    session.dispatch(Counted("n"))
    before = session.snapshot()

    assert code_of(lambda: session.dispatch(Counted("n", -1)), ReducerError) == "REDUCER_FAILED"
    nonsense: Any = lambda items, fact: "nonsense"  # noqa: E731
    assert code_of(lambda: session.register(Counted, Note, nonsense), ReducerError) == (
        "REDUCER_FAILED"
    )

    assert session.snapshot() == before
    assert make(log, session_id=session.session_id).seq == 1


@pytest.mark.rule("P2.11", "P2.13", "P11.28")
def test_reopening_gives_an_equal_snapshot(log):
    session = make(log)
    session.dispatch(Counted("n"))
    session[Note].append(Note("ü", ("a",)))
    session.workspace_digest.set("workspace-digest", "body")
    session.rewind_to(2)
    session.dispatch(Seen("x"))

    again = make(log, session_id=session.session_id)

    assert again.snapshot() == session.snapshot()
    assert Snapshot.from_json(session.snapshot().to_json()) == session.snapshot()


@pytest.mark.rule("P2.13", "P2.14")
def test_opening_a_session_costs_what_its_log_is_long():
    """Ten times the events take about ten times as long; a hundred times would be a defect."""

    def folded_in(count: int) -> float:
        records = [
            Recorded(place, f"e{place}", 0, Seen(str(place))) for place in range(1, count + 1)
        ]
        took = []
        for _ in range(3):
            history = History((), lambda ref: b"")
            started = time.process_time()
            history.add(records)
            took.append(time.process_time() - started)
            assert history.slices["test-seen"] == tuple(one.fact for one in records)
        return min(took)

    assert folded_in(20_000) < 40 * max(folded_in(2_000), 0.001)


@pytest.mark.rule("P2.11", "P11.29")
def test_restoring_brings_state_back_and_leaves_history(log):
    session = make(log)
    session[Note].append(Note("kept"))
    snapshot = session.snapshot()
    session[Note].append(Note("gone"))
    session.dispatch(Counted("n"))
    session.dispatch(Seen("x"))

    session.restore(snapshot)

    assert session[Note].all() == (Note("kept"),)
    assert session[Count].all() == ()
    assert session[Seen].all() == (Seen("x"),)
    before = session.snapshot()
    strange = Snapshot.from_json(snapshot.to_json().replace(b"test-note", b"test-nope"))
    assert code_of(lambda: session.restore(strange), SnapshotError) == "BAD_SNAPSHOT"
    assert session.snapshot() == before


@pytest.mark.rule("P2.11", "P11.29")
def test_an_unknown_slice_or_a_newer_version_is_not_restored():
    from backshop.base.canon import canonical, sha256_hex
    from backshop.prompts.session.history import Snapshot as Raw

    session = make(None)
    for name, version, code in (
        ("test-nope", 1, "UNKNOWN_SLICE"),
        ("test-note", 2, "UNSUPPORTED_VERSION"),
    ):
        head: dict[str, Any] = {
            "schema": 1,
            "session_id": session.session_id,
            "seq": 0,
            "slices": {name: {"version": version, "items": []}},
        }
        snapshot = Raw(1, session.session_id, 0, head["slices"], sha256_hex(canonical(head)))
        assert code_of(lambda snapshot=snapshot: session.restore(snapshot), SnapshotError) == code
    assert session.seq == 0


@pytest.mark.rule("P2.14", "P2.17", "P11.30")
def test_rewinding_brings_back_the_digest_of_that_time_and_keeps_history(log):
    session = make(log)
    prompt = Prompt("t", "p", sections=[WorkspaceDigest()])
    session.workspace_digest.set("workspace-digest", "early")
    for number in range(1, 6):
        session[ConversationItem].append(ConversationItem(message_id=f"m{number}", role="user"))
        session.dispatch(
            ToolInvoked(
                call_id=f"c{number}", tool="look", effects="read", ok=True, started_at=session.now()
            )
        )
        if number == 3:
            third, at = session.seq, session.snapshot()
    session.workspace_digest.set("workspace-digest", "late")
    assert "late" in prompt.render(session=session).text

    session.rewind_to(third, "m3")

    assert "early" in prompt.render(session=session).text
    assert [item.message_id for item in session[ConversationItem].all()] == ["m1", "m2", "m3"]
    assert session[ToolInvoked].count() == 5
    state = {k: v for k, v in session.snapshot().slices.items() if k in at.slices}
    assert {k: v for k, v in state.items() if k in ("conversation", "workspace-digest")} == {
        k: v for k, v in at.slices.items() if k in ("conversation", "workspace-digest")
    }


@pytest.mark.rule("P2.14", "P11.31")
def test_a_discarded_region_is_no_target(log):
    session = make(log)
    for _ in range(4):
        session.dispatch(Counted("n"))
    session.rewind_to(2)

    assert code_of(lambda: session.rewind_to(3)) == "REWIND_TARGET_INACTIVE"
    assert code_of(lambda: session.rewind_to(99)) == "REWIND_TARGET_INACTIVE"
    session.rewind_to(5)
    session.rewind_to(0)
    assert session[Count].all() == ()


@pytest.mark.rule("P2.14")
@given(steps=st.lists(st.one_of(st.just("add"), st.just("log"), st.integers(0, 30)), max_size=30))
def test_rewinding_anywhere_equals_never_having_gone_on(steps):
    session = make(None)
    states: dict[int, tuple[Count, ...]] = {0: ()}
    logged = 0
    for step in steps:
        if step == "add":
            session.dispatch(Counted("n"))
        elif step == "log":
            session.dispatch(Seen("x"))
            logged += 1
        elif session._history.is_active(step):
            session.rewind_to(step)
            assert session[Count].all() == states[step]
        states[session.seq] = session[Count].all()
        assert session[Seen].count() == logged


@pytest.mark.rule("P2.15", "P11.32")
def test_a_rewind_commits_with_other_streams_or_not_at_all(tmp_path):
    with Store.open(tmp_path / "home", clock=FixedClock()) as store:
        session = make(store)
        session.dispatch(Counted("n"))
        session.dispatch(Counted("n"))
        record = NewRecord(session.new_id("evt"), SessionRewound(to_seq=1))
        stale = part_of(session.session_id, [record], after=1)

        with pytest.raises(Exception, match="head"):
            store.append(Plan([stale]))
        store.append(Plan([part_of(session.session_id, [record], after=2)]))
        session.reload()

        assert session[Count].all() == (Count("n", 1),)


@pytest.mark.rule("P2.12", "P11.33")
def test_a_failed_tool_leaves_no_state_but_its_own_record(log):
    session = make(log)
    work = session.begin()
    work.dispatch(Counted("n"))
    work[Note].append(Note("a"))
    assert (work[Count].all(), work[Note].count()) == ((Count("n", 1),), 1)
    assert session.seq == 0

    work.discard()
    session.dispatch(
        ToolInvoked(call_id="c", tool="t", effects="write", ok=False, started_at=session.now())
    )

    assert (session.seq, session[Count].all(), session[ToolInvoked].count()) == (1, (), 1)
    assert code_of(lambda: work.dispatch(Counted("n"))) == "TRANSACTION_ENDED"

    good = session.begin()
    good.dispatch(Counted("n"))
    good.dispatch(Counted("n"))
    good.commit()
    assert session[Count].all() == (Count("n", 2),)
    assert code_of(lambda: good.dispatch(Counted("n"))) == "TRANSACTION_ENDED"


@slice_type("test-plain", 1)
@dataclass(frozen=True)
class Plain:
    text: str


@pytest.mark.rule("P2.3", "P2.12")
def test_state_goes_back_in_three_ways_and_history_in_none(log):
    session = make(log)
    session[Note].append(Note("a"))
    session[Plain].append(Plain("a"))
    session.dispatch(Seen("a"))
    at, then = session.seq, session.snapshot()

    def on(number: int, writer) -> None:
        writer[Note].append(Note(f"b{number}"))
        writer[Plain].append(Plain(f"b{number}"))
        writer.dispatch(Seen(f"b{number}"))
        writer[Seen].append(Seen(f"c{number}"))

    on(1, session)
    session.restore(then)
    on(2, session)
    session.rewind_to(at)
    work = session.begin()
    on(3, work)
    record = ToolInvoked(call_id="c", tool="t", effects="write", ok=False, started_at=session.now())
    work.discard(record)

    assert session[Note].all() == (Note("a"),)
    assert session[Plain].all() == (Plain("a"),), "what says nothing about it is state"
    assert [one.what for one in session[Seen].all()] == ["a", "b1", "c1", "b2", "c2", "b3", "c3"]
    assert session[ToolInvoked].all() == (record,)
    again = make(log, session_id=session.session_id)
    assert again.snapshot() == session.snapshot()


TOLD = (
    *("PromptRendered", "ToolInvoked", "PromptExecuted", "PromptFailed", "OptimizationStarted"),
    *("OptimizationCompleted", "OptimizationFailed", "DigestUpdated", "DigestMissing"),
    *("DigestStale", "OverrideIgnored", "SandboxUnavailable", "LimitReached"),
)


@pytest.mark.rule("P2.3", "P2.8")
@pytest.mark.parametrize("name", TOLD)
def test_what_is_told_about_a_run_is_history(name):
    assert slice_of(getattr(prompts, name)).policy is LOG


@pytest.mark.rule("P2.9", "P11.34")
def test_a_failing_subscriber_loses_nothing(log, caplog):
    session = make(log)
    heard = []

    def failing(envelope):
        raise KeyError("no")

    session.bus.subscribe(Counted, failing)
    stop = session.bus.subscribe(object, lambda envelope: heard.append(envelope.seq))

    result = session.dispatch(Counted("n"))

    assert heard == [1]
    assert [type(error) for error in result.errors] == [KeyError]
    assert result.events[0].type == "test.session_counted"
    session.strict_bus = True
    with pytest.raises(ExceptionGroup):
        session.dispatch(Counted("n"))
    assert heard == [1, 2]
    assert session[Count].all() == (Count("n", 2),)
    stop()
    session.strict_bus = False
    session.dispatch(Counted("n"))
    assert heard == [1, 2]


@pytest.mark.rule("P2.8")
def test_a_piece_of_an_answer_is_published_and_not_stored(log):
    session = make(log)
    heard = []
    session.bus.subscribe(TextDelta, lambda envelope: heard.append(envelope.event.text))

    session.publish(TextDelta(text="hel"))

    assert (heard, session.seq) == (["hel"], 0)


@pytest.mark.rule("P2.10")
def test_two_writers_of_one_stream_agree(log):
    one = make(log)
    one.dispatch(Counted("n"))
    two = make(log, session_id=one.session_id)
    two.dispatch(Counted("n"))

    one.dispatch(Counted("n"))

    assert one[Count].all() == (Count("n", 3),)
    two.reload()
    assert two.snapshot() == one.snapshot()


@pytest.mark.rule("P2.10")
def test_threads_share_a_session():
    session = make(None)

    def work():
        for _ in range(50):
            session.dispatch(Counted("n"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert session[Count].all() == (Count("n", 200),)
    assert session.seq == 200


@pytest.mark.rule("P2.16", "P11.35")
def test_only_the_digest_of_a_child_reaches_its_parents(log):
    main = make(log)
    main[Note].append(Note("a"))
    heard = []
    main.bus.subscribe(Counted, lambda envelope: heard.append(envelope.session_id))
    child = main.child("work")
    grandchild = child.child("deeper")

    assert grandchild[Note].all() == (Note("a"),)
    grandchild[Note].append(Note("b"))
    grandchild.dispatch(Counted("n"))
    grandchild.workspace_digest.set("workspace-digest", "found")

    assert main[Note].all() == (Note("a"),)
    assert main[Count].all() == ()
    assert heard == [grandchild.session_id]
    for one in (main, child, grandchild):
        latest = one.workspace_digest.latest()
        assert latest is not None
        assert latest.body == "found"
    assert code_of(lambda: grandchild.child("x")) == "SESSION_TOO_DEEP"
    reopened = make(log, session_id=grandchild.session_id)
    assert reopened.snapshot() == grandchild.snapshot()


@pytest.mark.rule("P2.17", "P11.36")
def test_twenty_digests_per_key_are_kept(log):
    session = make(log)
    session.workspace_digest.set("other", "o")
    for number in range(21):
        session.workspace_digest.set("workspace-digest", f"d{number}")

    assert [item.body for item in session.workspace_digest.history("workspace-digest")] == [
        f"d{number}" for number in range(1, 21)
    ]
    assert session.workspace_digest.latest("other") is not None
    assert session[DigestUpdated].count() == 22
    session.workspace_digest.clear("workspace-digest")
    assert session.workspace_digest.latest() is None
    assert code_of(lambda: session.workspace_digest.set("Bad Key", "x")) == "BAD_IDENTIFIER"


@pytest.mark.rule("P2.18")
def test_limits_only_get_tighter():
    session = make(None)
    soon = session.now() + timedelta(minutes=1)

    with session.limited(max_turns=10, deadline=soon):
        with session.limited(max_turns=20, max_total_tokens=5):
            inner = session.limits
            child = session.child("x").limits
        outer = session.limits
    assert (inner.max_turns, inner.max_total_tokens, inner.deadline) == (10, 5, soon)
    assert child == inner
    assert (outer.max_turns, outer.max_total_tokens) == (10, None)
    assert session.limits == RunLimits()
    for bad in (
        {"deadline": datetime(2026, 1, 1)},
        {"deadline": datetime(2000, 1, 1, tzinfo=UTC)},
        {"max_turns": 0},
        {"speed": 1},
    ):
        assert code_of(lambda bad=bad: session.limited(**bad).__enter__()) == "BAD_LIMIT"


@pytest.mark.rule("P2.18", "P5.7")
def test_a_child_charges_its_parents_and_hears_their_wish_to_stop():
    main = make(None)
    child = main.child("x")

    child.charge(TokenUsage(input_tokens=5))
    main.cancel.request()

    assert main.spent.input_tokens == 5
    assert child.cancel.requested
    assert child.cancel.wait(0)


def test_a_closed_session_takes_nothing(log):
    session = make(log)
    session.close()

    assert code_of(lambda: session.dispatch(Counted("n"))) == "SESSION_CLOSED"


@pytest.mark.rule("P2.6")
def test_ready_made_reducers():
    by_name = upsert_by(lambda item: item.name)
    newest = keep_last(2)
    one, two, three = Count("a", 1), Count("b", 2), Count("c", 3)

    assert by_name((one,), two) == Append(two)
    assert by_name((one, two), Count("a", 2)) == Replace((Count("a", 2), two))
    assert newest((one, two), three) == Replace((two, three))


@pytest.mark.rule("P1.7", "P4.3")
def test_one_prompt_serves_many_sessions():
    prompt = Prompt("t", "p", sections=[MarkdownSection("A", "a", key="a"), WorkspaceDigest()])
    one, two = make(None), make(None)
    one.workspace_digest.set("workspace-digest", "first")
    two.workspace_digest.set("workspace-digest", "second")

    texts = [prompt.render(session=session).text for session in (one, two.view())]

    assert [text.splitlines()[-1] for text in texts] == ["first", "second"]


@pytest.mark.rule("P2.6", "P2.13")
def test_values_that_would_not_read_back_never_reach_the_stream(log):
    session = make(log)
    wrong: Any = 5

    assert code_of(lambda: session.dispatch(Counted(wrong))) == "BAD_EVENT"
    assert code_of(lambda: session.dispatch(Counted("n", wrong / 2))) == "BAD_EVENT"
    assert code_of(lambda: session[Note].append(Note(wrong))) == "WRONG_ITEM"
    assert code_of(lambda: session[Note].append(wrong)) == "WRONG_ITEM"
    robot: Any = "robot"
    assert code_of(lambda: session.workspace_digest.set("workspace-digest", "x", source=robot)) == (
        "BAD_EVENT"
    )
    assert session.seq == 0
    assert make(log, session_id=session.session_id).seq == 0
