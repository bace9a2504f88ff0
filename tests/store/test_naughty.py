"""Every naughty string as an event value, a key's origin and a bench's name: stored, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.store.store_conformance import Counted

from backshop.app import Backshop
from backshop.base.canon import sha256_hex
from backshop.base.errors import ValidationFailed
from backshop.store import NewEvent, Part, Plan

pytestmark = pytest.mark.needs("corpora")


@pytest.fixture(scope="module")
def naughty(corpora) -> list[str]:
    text = (corpora / "strings" / "naughty.txt").read_text(encoding="utf-8")
    return [line for line in text.split("\n") if not line.startswith("#")]


def test_every_string_comes_back_from_an_event_as_it_was(open_store, naughty):
    store = open_store()
    events = [
        NewEvent(Counted(number=n, note=text), f"{n}:{sha256_hex(text.encode())[:16]}")
        for n, text in enumerate(naughty)
    ]

    store.append(Plan((Part("bench:naughty", events),)))

    again = open_store()
    assert [row.fact.note for row in again.read("bench:naughty")] == naughty
    assert again.health("bench:naughty").is_healthy


def test_names_are_taken_or_refused_and_nothing_appears_outside_the_home(tmp_path, naughty):
    home = tmp_path / "home"
    before = _everything(tmp_path, home)
    taken = refused = 0
    with Backshop.open(home) as shop:
        for text in naughty:
            try:
                made = shop.call("WorkbenchCreate", {"name": text})["workbench_id"]
            except ValidationFailed as error:
                assert error.reason == "bad_name"
                refused += 1
            else:
                taken += 1
                assert shop.call("WorkbenchOpen", {"workbench_id": made})["health"] == "ok"

    assert taken > 300
    assert taken + refused == len(naughty)
    assert _everything(tmp_path, home) == before
    folders = {path.name for path in (home / "benches").iterdir()}
    assert all(name.startswith("wb_") for name in folders)


def _everything(root: Path, home: Path) -> set[Path]:
    return {path for path in root.rglob("*") if home not in (path, *path.parents)}
