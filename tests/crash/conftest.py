"""How often a test killed is told with its result; `tools/proof.py` shows it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.crash.harness import Tally


@pytest.fixture(autouse=True)
def _told(record_property) -> Iterator[None]:
    Tally.kills = Tally.failures = 0
    yield
    for name in ("kills", "failures"):
        if count := getattr(Tally, name):
            record_property(name, count)
