"""How often a test killed is told with its result; `tools/proof.py` shows it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.crash.harness import Tally


@pytest.fixture(autouse=True)
def _told(request, record_property) -> Iterator[None]:
    Tally.kills = Tally.failures = 0
    yield
    needs = [name for mark in request.node.iter_markers("needs") for name in mark.args]
    case = getattr(request.node, "callspec", None)
    shared = case.params.get("database") if case else None
    is_shared = shared == "postgres" if shared else "postgres" in needs
    record_property("database", "PostgreSQL" if is_shared else "SQLite")
    for name in ("kills", "failures"):
        if count := getattr(Tally, name):
            record_property(name, count)
