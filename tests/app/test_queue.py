"""The queue of turns beside the store in one database."""

from __future__ import annotations

import threading

import pytest
from tests.postgres import fresh_database

from backshop.app.queue import TurnQueue
from backshop.store import Store, locks


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


def test_every_lock_has_a_key_of_its_own():
    keys = [value for name, value in vars(locks).items() if name.endswith("_LOCK")]

    assert len(keys) == len(set(keys)) == 4
