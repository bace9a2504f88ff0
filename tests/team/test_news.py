"""What one machine does is heard on the others: facts by position, signals as they come (T6.3)."""

from __future__ import annotations

import time

import pytest
from tests import postgres
from tests.store.store_conformance import counted, one
from tests.team.conftest import until

from backshop.app import About, Backshop, Notification
from backshop.store import Store
from backshop.store.database.bulletin import Bulletin

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.timeout(300)]
WAIT_S = 60.0


def names(subscription, wanted: str) -> list[str]:
    """Return the names of what came, until the wanted one did."""
    seen: list[str] = []
    ends = time.monotonic() + WAIT_S
    while wanted not in seen:
        assert time.monotonic() < ends, seen
        seen += [note.name for note in subscription.wait(1.0)]
    return seen


@pytest.mark.rule("T6.3", "T3.1", "S5.2")
def test_facts_and_signals_of_one_machine_are_heard_on_another(tmp_path):
    with postgres.fresh_database() as url:
        settings = {"database_url": url}
        with (
            Backshop.open(tmp_path / "a", settings=settings) as here,
            Backshop.open(tmp_path / "b", settings=settings) as there,
            here.hub.subscribe(About()) as heard,
        ):
            bulletin = here.store.bulletin
            assert bulletin is not None
            until(lambda: bulletin.is_listening, "the ear", WAIT_S)
            bench = there.call("WorkbenchCreate", {"name": "There"})["workbench_id"]
            text = "é" * 5_000  # longer than one message of the database
            there.hub.signals.send("WorkshopMessageStream", {"delta": text}, workbench_id=bench)

            found: list[Notification] = []
            ends = time.monotonic() + WAIT_S
            while not any(note.name == "WorkshopMessageStream" for note in found):
                assert time.monotonic() < ends, [note.name for note in found]
                found += heard.wait(1.0)

    assert found[-1].payload == {"delta": text}
    assert found[-1].position is None
    assert found[0].workbench_id == bench  # the fact came before the signal
    assert found[0].position is not None


@pytest.mark.rule("T6.3")
def test_a_dropped_connection_loses_no_fact(tmp_path):
    import psycopg

    with postgres.fresh_database() as url:
        settings = {"database_url": url}
        with (
            Backshop.open(tmp_path / "a", settings=settings) as here,
            Backshop.open(tmp_path / "b", settings=settings) as there,
            here.hub.subscribe(About()) as heard,
        ):
            bulletin = here.store.bulletin
            assert bulletin is not None
            until(lambda: bulletin.is_listening, "the ear", WAIT_S)
            with psycopg.connect(url, autocommit=True) as admin:
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
                )
            there.call("WorkbenchCreate", {"name": "Meanwhile"})

            names(heard, "WorkbenchFilesChanged")
            until(lambda: bulletin.is_listening, "the ear again", WAIT_S)


@pytest.mark.rule("T3.1")
def test_who_waits_is_woken_and_does_not_look_again_and_again(tmp_path):
    with (
        postgres.fresh_database() as url,
        Store.open(tmp_path / "a", database_url=url) as here,
        Store.open(tmp_path / "b", database_url=url) as there,
    ):
        assert here.bulletin is not None
        assert not here.wait(here.last_seq(), 0)
        until(lambda: here.bulletin is not None and here.bulletin.is_listening, "the ear", WAIT_S)
        before = here.last_seq()
        there.append(one("bench:a", counted(1)))

        assert here.wait(before, WAIT_S)


class _Deaf(Exception):
    """The database lets nobody listen."""


def deafen(store: Store) -> None:
    """Let listening not work, from before anybody begins with it."""

    def refuse() -> None:
        raise _Deaf

    assert store.bulletin is not None
    store.bulletin._connect = refuse


@pytest.mark.rule("T6.3", "T3.1")
def test_where_listening_does_not_work_whoever_waits_looks(tmp_path):
    with (
        postgres.fresh_database() as url,
        Store.open(tmp_path / "a", database_url=url) as here,
        Store.open(tmp_path / "b", database_url=url) as there,
    ):
        deafen(here)
        before = here.last_seq()
        looks: list[int] = []

        def look() -> int:
            looks.append(here.last_seq())
            if len(looks) == 3 and looks[-1] == before:  # while it waits, long before its end
                there.append(one("bench:a", counted(1)))
            return looks[-1]

        assert here._news.wait(before, WAIT_S, look)
        assert here.bulletin is not None
        assert not here.bulletin.is_listening
        assert (len(looks), looks[-1] > before) == (4, True)  # the very next look found it
        looks.clear()
        assert not here._news.wait(here.last_seq(), 1.0, look)

    assert 4 <= len(looks) <= 12  # ten times a second, fewer on a busy machine


@pytest.mark.rule("T6.3", "S5.2")
def test_events_of_another_machine_arrive_where_listening_does_not_work(tmp_path, monkeypatch):
    def hear(self: Bulletin) -> None:
        raise _Deaf

    monkeypatch.setattr(Bulletin, "_hear", hear)
    with postgres.fresh_database() as url:
        settings = {"database_url": url}
        with (
            Backshop.open(tmp_path / "a", settings=settings) as here,
            Backshop.open(tmp_path / "b", settings=settings) as there,
            here.hub.subscribe(About()) as heard,
        ):
            there.call("WorkbenchCreate", {"name": "Far away"})

            assert "WorkbenchFilesChanged" in names(heard, "WorkbenchFilesChanged")
            assert here.store.bulletin is not None
            assert not here.store.bulletin.is_listening


@pytest.mark.rule("T6.3")
def test_who_sends_a_signal_hears_it_once(tmp_path):
    with postgres.fresh_database() as url:
        settings = {"database_url": url}
        with (
            Backshop.open(tmp_path / "a", settings=settings) as here,
            Backshop.open(tmp_path / "b", settings=settings) as there,
            here.hub.subscribe(About()) as heard,
        ):
            bulletin = here.store.bulletin
            assert bulletin is not None
            until(lambda: bulletin.is_listening, "the ear", WAIT_S)
            here.hub.signals.send("Mine", {})
            there.hub.signals.send("Theirs", {})  # it comes after what the database was told of

            assert names(heard, "Theirs") == ["Mine", "Theirs"]
