"""Stores on both databases; PostgreSQL is a private server the tests start themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.postgres import fresh_database

from backshop.store import Store


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'home' / 'store.db'}"
        return
    with fresh_database() as url:
        yield url


@pytest.fixture
def open_store(database_url: str, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Open one more store on the same home, the way another process would."""
    opened: list[Store] = []

    def open_one() -> Store:
        store = Store.open(tmp_path / "home", database_url=database_url)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()
