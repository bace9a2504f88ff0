"""Agents over fresh homes, on SQLite and, where a module asks for it, on PostgreSQL too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.postgres import fresh_database
from tests.rails.agent import Agent, rails_of

from backshop.rails import Settings

BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of modules with `BOTH_DATABASES` once per database (C94)."""
    if "database" in metafunc.fixturenames:
        asked = getattr(metafunc.module, "BOTH_DATABASES", False)
        metafunc.parametrize("database", BOTH if asked else ["sqlite"], indirect=True)


@pytest.fixture
def database(request: pytest.FixtureRequest) -> Iterator[Callable[[str], str | None]]:
    """Return what gives each home its database."""
    with ExitStack() as stack:
        urls: dict[str, str] = {}

        def url(home: str) -> str | None:
            if request.param == "sqlite":
                return None
            if home not in urls:
                urls[home] = stack.enter_context(fresh_database())
            return urls[home]

        yield url


@pytest.fixture
def agent(tmp_path: Path, database: Callable[[str], str | None]) -> Iterator[Callable[..., Agent]]:
    """Return a maker of agents; each opens its home the way another process would."""
    made: list[Agent] = []

    def make(*workflows: dict[str, object], home: str = "home", **settings: object) -> Agent:
        chosen = Settings(**settings)  # type: ignore[arg-type]  # whatever the test asks for
        rails = rails_of(
            tmp_path / home,
            workflows=list(workflows),
            settings=chosen,
            database_url=database(home),
        )
        made.append(Agent(rails))
        return made[-1]

    yield make
    for one in made:
        one.rails.sessions.store.close()
