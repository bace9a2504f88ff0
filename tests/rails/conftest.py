"""Agents over fresh homes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from backshop.rails import Settings
from backshop.testing.agent import Agent, rails_of


@pytest.fixture
def agent(tmp_path: Path) -> Callable[..., Agent]:
    """Return a maker of agents whose home holds the given workflows."""

    def make(*workflows: dict[str, object], home: str = "home", **settings: object) -> Agent:
        chosen = Settings(**settings)  # type: ignore[arg-type]  # whatever the test asks for
        return Agent(rails_of(tmp_path / home, workflows=list(workflows), settings=chosen))

    return make
