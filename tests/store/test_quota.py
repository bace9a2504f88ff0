"""Counts of a minute, on every database (T6.5)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from backshop.store import Store, StoreBusy

LONG_AGO = 1  # a minute of 1970


@pytest.mark.rule("T6.5", "T1.5")
def test_counts_of_minutes_that_are_over_go_while_everybody_draws(open_store):
    stores = [open_store() for _ in range(4)]
    with stores[0].database.transaction() as cursor:
        for n in range(40):
            cursor.run("quota_put", {"name": f"old {n}", "minute": LONG_AGO, "used": 1})

    with ThreadPoolExecutor(len(stores)) as pool:
        drawn = list(pool.map(lambda store: store.quotas.draw("old 7", 1, 1000).granted, stores))

    with stores[0].database.reader() as reading:
        kept = {name for (name,) in reading.text("SELECT name FROM quota")}
    assert drawn == [1] * len(stores)
    assert kept == {"old 7"}


@pytest.mark.rule("T6.5", "T1.5")
def test_counts_of_a_minute_are_drawn_by_one_at_a_time(database_url, tmp_path):
    home = tmp_path / "home"
    with (
        Store.open(home, database_url=database_url) as holder,
        Store.open(home, database_url=database_url, lock_wait_ms=100) as store,
    ):
        with holder.database.transaction() as cursor:
            cursor.lock_lease("quota ada")
            with pytest.raises(StoreBusy):
                store.quotas.draw("ada", 1, 1)

        assert store.quotas.draw("ada", 1, 1).granted == 1
