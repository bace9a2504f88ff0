"""How often a test killed is told with its result, and the last kill with a failure.

`tools/proof.py` shows the counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.crash.harness import Harness, Tally


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Say with a failure at which call or moment, and with which seed, the last child ended."""
    try:
        yield
    except BaseException as error:
        if Tally.last:
            error.add_note(f"last disturbed: {Tally.last}")
        raise


@pytest.fixture(scope="session")
def harness() -> Iterator[Harness]:
    """One fork server for all tests of this process."""
    with Harness() as running:
        yield running


@pytest.fixture(autouse=True)
def _told(request, record_property) -> Iterator[None]:
    Tally.kills = Tally.failures = 0
    Tally.last = ""
    yield
    needs = [name for mark in request.node.iter_markers("needs") for name in mark.args]
    case = getattr(request.node, "callspec", None)
    shared = case.params.get("database") if case else None
    is_shared = shared == "postgres" if shared else "postgres" in needs
    record_property("database", "PostgreSQL" if is_shared else "SQLite")
    for name in ("kills", "failures"):
        if count := getattr(Tally, name):
            record_property(name, count)
