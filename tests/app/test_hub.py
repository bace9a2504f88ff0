"""Notifications: in order, by position, across processes, with nothing lost or doubled (S5.2)."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from importlib import import_module

import pytest
from tests.workshop.conftest import hears

from backshop.app import About, Backshop, Notification
from backshop.app.notice.hub import Subscription
from backshop.app.notice.table import TABLE
from backshop.prompts import MarkdownSection, Prompt, Session
from backshop.store import StoreUnavailable

WAIT_S = 60.0  # a bound for a busy machine; what is waited for comes in milliseconds


@pytest.fixture
def shop(tmp_path):
    with Backshop.open(tmp_path / "home") as made:
        yield made


def gather(subscription, count):
    """Return the next `count` notifications."""
    found: list[Notification] = []
    while len(found) < count:
        more = subscription.wait(WAIT_S)
        assert more, f"only {[one.name for one in found]} came"
        found += [one for one in more if one.name != "WorkbenchClutterChanged"]
    return found


def _gist(note):
    return note.payload.get("has_draft", note.payload.get("message", {}).get("event_kind"))


def make_bench(shop, tmp_path, name="Reports"):
    bench = shop.call("WorkbenchCreate", {"name": name})["workbench_id"]
    (tmp_path / "a.txt").write_text("a")
    request = {"workbench_id": bench, "source_paths": [str(tmp_path / "a.txt")]}
    shop.call("WorkbenchFilesAdd", request)
    return bench


@pytest.mark.rule("S5.2", "B6.12")
def test_what_is_committed_is_announced_in_order_to_those_who_follow_it(shop, tmp_path):
    with shop.hub.subscribe() as everything:
        bench = make_bench(shop, tmp_path)
        with shop.hub.subscribe(About(workbench_id=bench)) as mine:
            shop.call("WorkbenchCreate", {"name": "Other"})
            shop.call("DraftCreate", {"workbench_id": bench})
            shop.call("DraftDiscard", {"workbench_id": bench})

            seen = gather(mine, 4)
        all_seen = gather(everything, 7)

    assert {one.workbench_id for one in seen} == {bench}
    assert [(one.name, _gist(one)) for one in seen] == [
        ("DraftStateChanged", True),
        ("WorkshopMessageAdded", "draft_created"),
        ("DraftStateChanged", False),
        ("WorkshopMessageAdded", "draft_discarded"),
    ]
    positions = [one.position for one in all_seen]
    assert positions == sorted(set(positions))


@pytest.mark.rule("S5.2")
def test_following_again_from_any_position_gives_exactly_the_rest(shop, tmp_path):
    before = shop.hub.position
    with shop.hub.subscribe() as live:
        bench = make_bench(shop, tmp_path)
        shop.call("CheckpointCreate", {"workbench_id": bench, "description": "now"})
        shop.call("DraftCreate", {"workbench_id": bench})
        shop.call("DraftDeletePath", {"workbench_id": bench, "path": "a.txt"})
        shop.call("DraftDiscard", {"workbench_id": bench})
        whole = gather(live, 9)

    for place in (None, *whole):
        after = before if place is None else place.position
        with shop.hub.subscribe(after=after) as resumed:
            rest = [one for one in whole if one.position > after]

            assert resumed.take() == rest


@pytest.mark.rule("W4.1")
def test_a_signal_comes_after_what_was_committed_before_it_and_is_never_replayed(shop, tmp_path):
    begun = shop.hub.position
    with shop.hub.subscribe() as live:
        bench = make_bench(shop, tmp_path)
        shop.hub.signals.send("WorkshopToolExecuting", {"tool_name": "x"}, workbench_id=bench)

        names = [one.name for one in gather(live, 3)]

    with shop.hub.subscribe(after=begun) as later:
        replayed = [one.name for one in later.take()]
    assert names[-1] == "WorkshopToolExecuting"
    assert "WorkshopToolExecuting" not in replayed
    assert names[:-1] == replayed


@pytest.mark.rule("S5.2", "T3.1")
def test_what_another_process_commits_arrives(shop, tmp_path):
    code = (
        "import sys; from backshop import Backshop\n"
        "with Backshop.open(sys.argv[1]) as shop:\n"
        "    shop.call('WorkbenchCreate', {'name': 'Elsewhere'})"
    )
    with shop.hub.subscribe() as live:
        home = str(shop.config.home)
        subprocess.run([sys.executable, "-c", code, home], check=True, timeout=60)

        assert gather(live, 1)[0].name == "WorkbenchFilesChanged"


@pytest.mark.rule("R7.26", "S5.2", "T3.1")
def test_what_another_process_does_to_sessions_and_definitions_arrives(shop):
    code = (
        "import sys; from backshop import Backshop\n"
        "with Backshop.open(sys.argv[1]) as shop:\n"
        "    shop.call('RailsWorkflowNew', {'workflowId': 'user.mine', 'target': 'user'})\n"
        "    made = shop.call('start_session', {'title': 'Notes'})['session']['sessionId']\n"
        "    bundle = shop.call('RailsSessionExport', {'sessionId': made, 'format': 'bundle'})\n"
        "    shop.call('RailsSessionSetKeep', {'sessionId': made, 'keep': True})\n"
        "    shop.call('RailsSessionDelete', {'sessionId': made, 'confirm': made})\n"
        "    shop.call('RailsSessionImport', {'bundle': bundle['text']})\n"
        "    print(made)"
    )
    begun = shop.hub.position
    with shop.hub.subscribe() as live:
        command = [sys.executable, "-c", code, str(shop.config.home)]
        done = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True)
        session = done.stdout.strip()
        notes = gather(live, 1)
        while notes[-1].payload.get("reason") not in ("imported", "created") or len(notes) < 5:
            notes += gather(live, 1)
    with shop.hub.subscribe(after=begun) as later:
        again = later.take()

    # the log has no event of a deleted session any more, so `created` may come once or twice
    assert [one for one in map(_whole, notes) if one] == [one for one in map(_whole, again) if one]
    assert [one for one in map(_whole, again) if one] == [
        ("RailsWorkflowsChanged", None, "user.mine"),
        ("RailsSessionChanged", session, "kept"),
        ("RailsSessionChanged", session, "deleted"),
        ("RailsSessionChanged", session, "imported"),
    ]


def _whole(note):
    """Return what a notification says of a session or of definitions as a whole."""
    reason = note.payload.get("reason", note.payload.get("workflowId"))
    return None if reason == "created" else (note.name, note.session_id, reason)


def test_a_client_far_behind_is_told_to_come_back_and_holds_nobody_up(shop, monkeypatch):
    monkeypatch.setattr("backshop.app.notice.hub.PENDING_MAX", 3)
    with shop.hub.subscribe() as slow:
        for number in range(6):
            shop.hub.signals.send("WorkshopToolExecuting", {"n": number})

        assert slow.lagged
        assert len(slow.take()) == 3


def test_one_event_that_cannot_be_announced_ends_no_news_and_repeats_none(
    shop, tmp_path, monkeypatch, caplog
):
    bench = make_bench(shop, tmp_path)
    (row,) = TABLE["bench.renamed"]

    def odd(fact):
        return {}[fact.data["name"]] if fact.data["name"] == "Odd" else row[1](fact)

    monkeypatch.setitem(TABLE, "bench.renamed", ((row[0], odd),))
    begun = shop.hub.position
    with shop.hub.subscribe(About(workbench_id=bench)) as live:
        for name in ("One", "Odd", "Two"):
            shop.call("WorkbenchRename", {"workbench_id": bench, "new_name": name})
        heard = gather(live, 2)
        shop.hub.signals.send("WorkshopToolExecuting", {}, workbench_id=bench)
        after = gather(live, 1)
    with shop.hub.subscribe(About(workbench_id=bench), after=begun) as later:
        replayed = later.take()

    assert [one.payload["name"] for one in heard] == ["One", "Two"]
    assert [one.name for one in after] == ["WorkshopToolExecuting"]
    assert replayed == heard
    assert "internal error err_" in caplog.text


@pytest.mark.rule("S5.2")
def test_a_store_that_is_away_in_the_middle_of_a_page_repeats_and_loses_nothing(
    shop, tmp_path, monkeypatch
):
    bench = make_bench(shop, tmp_path)
    (row,) = TABLE["bench.renamed"]
    troubles = [StoreUnavailable("the database is away")] * 2

    def sometimes(fact):
        if fact.data["name"] == "Two" and troubles:
            raise troubles.pop()
        return row[1](fact)

    with shop.hub.subscribe(About(workbench_id=bench)) as live, shop.hub._lock:
        monkeypatch.setitem(TABLE, "bench.renamed", ((row[0], sometimes),))
        for name in ("One", "Two", "Three"):  # all in one page: the follower has to wait
            shop.call("WorkbenchRename", {"workbench_id": bench, "new_name": name})
        shop.hub._lock.release()
        heard = gather(live, 3)
        shop.hub._lock.acquire()

    assert troubles == []
    assert [one.payload["name"] for one in heard] == ["One", "Two", "Three"]


@pytest.mark.rule("S5.2")
def test_a_long_replay_holds_nobody_up_and_what_comes_meanwhile_is_in_it_once(
    shop, tmp_path, monkeypatch
):
    bench = make_bench(shop, tmp_path)
    for name in ("One", "Two"):
        shop.call("WorkbenchRename", {"workbench_id": bench, "new_name": name})
    tail, reads, goes_on = shop.store.tail, threading.Event(), threading.Event()
    found: list[Notification] = []

    def slowly(*asked):
        if threading.current_thread() is thread and not reads.is_set():
            reads.set()
            goes_on.wait(WAIT_S)
        return tail(*asked)

    def resume():
        with shop.hub.subscribe(About(workbench_id=bench), after=1) as resumed:
            found.extend(gather(resumed, 5))

    thread = threading.Thread(target=resume, daemon=True)
    with shop.hub.subscribe() as live:
        monkeypatch.setattr(shop.store, "tail", slowly)
        thread.start()
        assert reads.wait(WAIT_S)
        signalling = threading.Thread(
            target=shop.hub.signals.send, args=("WorkshopToolExecuting", {}), daemon=True
        )
        signalling.start()
        signal = live.wait(5)
        shop.call("WorkbenchRename", {"workbench_id": bench, "new_name": "Meanwhile"})
        goes_on.set()
        thread.join(WAIT_S)

    assert [one.name for one in signal] == ["WorkshopToolExecuting"]
    assert [one.payload.get("name") for one in found] == [None, None, "One", "Two", "Meanwhile"]
    positions = [one.position or 0 for one in found]
    assert positions == sorted(set(positions))


def test_a_replay_longer_than_a_client_can_take_ends_there(shop, monkeypatch):
    for number in range(20):
        shop.call("WorkbenchCreate", {"name": f"Bench {number}"})
    monkeypatch.setattr("backshop.app.notice.hub.PENDING_MAX", 3)
    monkeypatch.setattr("backshop.app.notice.hub._PAGE", 2)
    tail, asked = shop.store.tail, []

    def counted(seq, limit):
        if threading.current_thread() is threading.main_thread():
            asked.append(seq)
        return tail(seq, limit)

    monkeypatch.setattr(shop.store, "tail", counted)
    with shop.hub.subscribe(after=1) as slow:
        assert slow.lagged
        assert len(slow.take()) == 3

    assert len(asked) < 10


@pytest.mark.rule("M16", "M3.1")
def test_what_changes_about_a_provider_is_announced_without_its_key(shop):
    secret = "sk-live-0123456789abcdef"
    local = {"provider_id": "local-box", "preset": "custom", "base_url": "http://127.0.0.1:9/v1"}
    with shop.hub.subscribe() as live:
        shop.call("ProvidersUpsertLocal", {**local, "needs_key": True})
        shop.call("ProvidersSetApiKey", {"provider_id": "local-box", "api_key": secret})
        shop.call("ProvidersSetEnabled", {"provider_id": "local-box", "enabled": False})
        shop.call("ProvidersRemove", {"provider_id": "local-box"})

        notes = [one for one in gather(live, 4) if one.name == "ProvidersChanged"]

    assert [(one.payload["provider_id"], one.payload["status"]) for one in notes] == [
        ("local-box", "not_configured"),
        ("local-box", "needs_attention"),
        ("local-box", "disabled"),
        ("local-box", "not_configured"),
    ]
    assert secret not in repr(notes)


@pytest.mark.rule("M16", "M13.2")
def test_usage_is_told_at_once_and_then_once_a_second_at_most(shop, tmp_path):
    bench = make_bench(shop, tmp_path)
    adapter = shop.models.adapter("scripted:echo", workbench_id=bench)
    said = MarkdownSection("Word", "Say hello.", key="word")
    prompt = Prompt("tests/usage", "usage", sections=[said])
    with shop.hub.subscribe(About(workbench_id=bench)) as live:
        begun = shop.clock.monotonic()
        for _ in range(5):
            adapter.evaluate(prompt, session=Session())
        used = shop.call("UsageGet", {"workbench_id": bench})["usage"]
        told = gather(live, 1)
        while told[-1].payload["usage"] != used:  # the newest always comes, however late
            told += gather(live, 1)
        seconds = shop.clock.monotonic() - begun

    counted = [one.payload["usage"]["input_tokens"] for one in told]
    assert {(one.name, one.position) for one in told} == {("UsageUpdated", None)}
    assert counted == sorted(counted)
    assert len(told) <= min(5, 1 + seconds)


def clutter(subscription):
    """Return the next clutter bar that is announced; weighing loads rooms the first time."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        more = subscription.wait(WAIT_S)
        found = [one for one in more if one.name == "WorkbenchClutterChanged"]
        if found:
            return found[0]
    raise AssertionError("nobody said how crowded it is")


@pytest.mark.rule("B16.8", "B6.12")
def test_a_bench_that_gets_more_or_less_crowded_says_so(shop, tmp_path):
    bench = make_bench(shop, tmp_path)
    big = tmp_path / "big.txt"
    big.write_text("word " * 20_000)
    with shop.hub.subscribe(About(workbench_id=bench)) as live:
        shop.call("WorkbenchFilesAdd", {"workbench_id": bench, "source_paths": [str(big)]})
        fuller = clutter(live)
        shop.call("WorkbenchRename", {"workbench_id": bench, "new_name": "Same weight"})
        shop.call("WorkbenchFilesRemove", {"workbench_id": bench, "workbench_paths": ["big.txt"]})
        lighter = clutter(live)

    assert lighter.payload == shop.call("WorkbenchGetClutter", {"workbench_id": bench})
    assert fuller.payload["score"] > lighter.payload["score"] > 0
    assert (lighter.position, lighter.workbench_id) == (None, bench)


def test_closing_ends_every_wait(shop):
    with shop.hub.subscribe() as waiting:
        thread = threading.Thread(target=shop.hub.close)
        thread.start()

        assert waiting.wait(WAIT_S) == []
        thread.join(WAIT_S)
        assert waiting.closed


@pytest.mark.rule("S5.2")
def test_every_row_of_the_table_is_a_stored_fact_and_a_name_of_the_specs():
    from pathlib import Path

    from backshop.base.event import registered

    for room in ("prompts", "bench", "models", "rails", "workshop"):
        import_module(f"backshop.{room}")
    spec = Path(__file__).resolve().parents[2] / "docs" / "spec"
    text = "".join((spec / name).read_text() for name in SPECS)
    kinds = {one.name for one in registered()}

    assert set(TABLE) <= kinds
    assert [n for rows in TABLE.values() for n, _ in rows if f"`{n}" not in text] == []


SPECS = ("bench.md", "workshop.md", "models.md", "prompts.md", "rails.md", "store.md")


@pytest.mark.rule("P7.11", "M16")
def test_digest_and_usage_of_a_bench_are_announced_as_its_own(shop, tmp_path):
    bench = make_bench(shop, tmp_path)
    shop.models.play("short", [{"respond": {"text": "Well."}, "times": 0}])
    shop.call("WorkshopSwitchModel", {"workbench_id": bench, "model_id": "scripted:short"})
    with shop.hub.subscribe(About(workbench_id=bench)) as mine:
        shop.call("DigestRefresh", {"workbench_id": bench})
        request = {"workbench_id": bench, "text": "Hello", "mode": "ask"}
        sent = shop.call("WorkshopSendUserMessage", request)
        shop.call("WorkshopRunAgent", {"workbench_id": bench, "message_id": sent["message_id"]})
        seen = hears(mine, lambda one: one.name == "WorkshopTurnFinished")

    names = [one.name for one in seen]
    assert {one.workbench_id for one in seen} == {bench}
    assert "DigestChanged" in names
    assert "UsageUpdated" in names
    assert names.index("WorkshopPhaseStarted") < names.index("WorkshopTurnFinished")
    assert all(one.position is None for one in seen if one.name == "UsageUpdated")


@pytest.mark.rule("T6.4")
def test_what_is_queued_for_a_slow_client_is_taken_back_with_its_access(shop, tmp_path):
    bench, other = make_bench(shop, tmp_path), shop.call("WorkbenchCreate", {})["workbench_id"]
    user = shop.call("UserAdd", {"name": "Anna"})["user_id"]
    for one in (bench, other):
        shop.call("AccessSet", {"workbench_id": one, "user_id": user, "role": "read"})
    with shop.hub.subscribe(About(listener=shop.gate.listener(user))) as slow:
        for one in (bench, other):
            shop.call("WorkbenchRename", {"workbench_id": one, "new_name": "Secret"})
        shop.hub.signals.send("UsageUpdated", {}, workbench_id=bench)  # all of it is queued
        shop.call("AccessSet", {"workbench_id": bench, "user_id": user, "role": "none"})
        shop.hub.signals.send("UsageUpdated", {}, workbench_id=other)
        rest = [(one.name, one.workbench_id) for one in slow.take()]

    assert rest == [
        ("WorkbenchChanged", other),
        ("AccessChanged", bench),
        ("UsageUpdated", other),
    ]


@pytest.mark.rule("T6.4", "S5.2")
def test_who_was_removed_follows_nothing_any_more_and_others_hear_of_no_access_but_their_own(shop):
    bench = shop.call("WorkbenchCreate", {})["workbench_id"]
    anna, ben = (shop.call("UserAdd", {"name": name})["user_id"] for name in ("Anna", "Ben"))
    with (
        shop.hub.subscribe(About(listener=shop.gate.listener(anna))) as hers,
        shop.hub.subscribe(About(listener=shop.gate.listener(ben))) as his,
    ):
        shop.call("AccessSet", {"workbench_id": bench, "user_id": anna, "role": "read"})
        shop.hub.signals.send("UsageUpdated", {}, workbench_id=bench)  # all of it is queued
        heard = [one.name for one in hers.take()], [one.name for one in his.take()]
        shop.call("UserRemove", {"user_id": anna})
        shop.hub.signals.send("EngineChanged", {})

        assert heard == (["AccessChanged", "UsageUpdated"], [])
        assert (hers.ended, his.ended) == (True, False)
        assert "EngineChanged" not in [one.name for one in hers.take()]
        assert "EngineChanged" in [one.name for one in his.take()]


@pytest.mark.rule("S5.2")
def test_a_notification_that_is_offered_again_after_a_failure_is_queued_once():
    following = Subscription(About())
    first, second = (Notification(name="X", payload={}, position=n) for n in (16, 17))

    for note in (first, first, second, first):  # the store went away while others were told
        following.offer(note)

    assert following.take() == [first, second]
