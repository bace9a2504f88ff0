"""Which SQLite the store takes, and what it does where none is sound (T2.5)."""

from __future__ import annotations

import sqlite3
import sys
from types import SimpleNamespace

import pytest
from tests.store.store_conformance import counted

from backshop.base.errors import BackshopError
from backshop.store import Part, Plan, Store
from backshop.store.database import driver

STANDARD, OTHER = "a_standard_sqlite", "another_sqlite"


@pytest.fixture
def machine(monkeypatch):
    """A machine whose two modules have these versions; None is one that is not installed."""

    def made(*versions: str | None) -> tuple[str, str]:
        for name, version in zip((STANDARD, OTHER), versions, strict=True):
            module = SimpleNamespace(__name__=name, sqlite_version=version) if version else None
            monkeypatch.setitem(sys.modules, name, module)
        return STANDARD, OTHER

    return made


@pytest.mark.rule("T2.5")
@pytest.mark.parametrize(
    ("version", "has"),
    [
        *(((3, 44, 5), True), ((3, 44, 6), False), ((3, 45, 0), True), ((3, 46, 1), True)),
        *(((3, 50, 6), True), ((3, 50, 7), False), ((3, 50, 8), False), ((3, 51, 0), True)),
        *(((3, 51, 2), True), ((3, 51, 3), False), ((3, 53, 4), False), ((4, 0, 0), False)),
    ],
)
def test_the_wal_reset_defect_is_known_by_its_versions(version, has):
    assert driver.has_wal_reset_defect(version) == has


@pytest.mark.rule("T2.5")
@pytest.mark.parametrize(
    ("versions", "taken"),
    [
        (("3.53.4", "3.53.4"), STANDARD),
        (("3.51.3", None), STANDARD),
        (("3.40.1", "3.53.4"), OTHER),
        ((None, "3.53.4"), OTHER),
        (("3.46.1", "3.40.0"), STANDARD),
        (("3.40.1", "3.46.1"), OTHER),
        (("3.35.0", None), STANDARD),
    ],
)
def test_the_standard_library_is_taken_unless_another_sqlite_is_sounder(machine, versions, taken):
    assert driver.sqlite_module(machine(*versions)).__name__ == taken


@pytest.mark.parametrize(
    ("versions", "has"), [(("3.34.1", None), "has 3.34.1"), ((None, None), "has none")]
)
def test_a_sqlite_that_is_too_old_is_refused_with_the_version_needed(machine, versions, has):
    with pytest.raises(BackshopError) as refused:
        driver.sqlite_module(machine(*versions))

    assert (refused.value.code, refused.value.reason) == ("STORE_UNAVAILABLE", "driver_missing")
    assert "SQLite 3.35.0 or later" in str(refused.value)
    assert has in str(refused.value)


@pytest.mark.rule("T2.5")
def test_a_machine_without_pysqlite_keeps_its_events_in_the_sqlite_it_has(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pysqlite3.dbapi2", None)
    with Store.open(tmp_path / "home") as store:
        store.append(Plan((Part("session:a", [counted(1)]),)))
    with Store.open(tmp_path / "home") as store, store.database.reader() as cursor:
        found = cursor.text("SELECT count(*) FROM event")
        journal = cursor.text("PRAGMA journal_mode")
        version = getattr(store.database, "version", "")

    assert found == [(1,)]
    assert version == sqlite3.sqlite_version
    is_sound = not driver.has_wal_reset_defect(sqlite3.sqlite_version_info)
    assert journal == [("wal" if is_sound else "delete",)]
