"""The queue of turns beside the store in one database."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.postgres import fresh_database

from backshop.app.operation.queue import TurnQueue
from backshop.store import Store
from backshop.store.database import lock_key


@pytest.mark.needs("postgres")
@pytest.mark.rule("T6.2", "T4.5")
def test_the_queue_opens_while_contents_are_renewed_or_removed(tmp_path):
    with fresh_database() as url, Store.open(tmp_path / "home", database_url=url) as store:
        waiting = TurnQueue(url)
        opening = threading.Thread(target=waiting.prepare)
        with store.database.transaction() as cursor:
            cursor.lock_sweep()
            opening.start()
            opening.join(5)
            is_open = not opening.is_alive()
        opening.join(5)
        waiting.close()

    assert is_open


@pytest.mark.needs("postgres")
@pytest.mark.rule("T6.2")
def test_programs_that_make_the_tables_at_once_all_find_them():
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with fresh_database() as url, psycopg.connect(url) as other:
        queues = [TurnQueue(url) for _ in range(3)]
        other.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key.QUEUE_LOCK,))
        with ThreadPoolExecutor() as threads:
            made = [threads.submit(queue.prepare) for queue in queues]
            while other.execute(waiting).fetchone() != (len(queues),):
                assert not any(one.done() for one in made)
            other.rollback()
        found = [one.exception() for one in made]
        for queue in queues:
            queue.close()

    assert found == [None] * 3


def test_every_lock_has_a_key_of_its_own():
    keys = [value for name, value in vars(lock_key).items() if name.endswith("_LOCK")]

    assert len(keys) == len(set(keys)) == 4
