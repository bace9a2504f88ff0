"""One server per test module, one browser per process; pages like new for each test."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import browser_path
from tests.web.browsing import ARGUMENTS, Opened, Pages, Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A web app on a home of its own."""
    before = {name: os.environ.get(name) for name in ("HOME", "BACKSHOP_HOME")}
    os.environ["HOME"] = str(tmp_path_factory.mktemp("person"))
    os.environ.pop("BACKSHOP_HOME", None)
    try:
        with serving(tmp_path_factory.mktemp("web") / "home") as made:
            yield made
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Any, Pages, asyncio.AbstractEventLoop]]:
    """A headless Chromium, its pages, and the loop that talks to it."""
    from playwright.sync_api import sync_playwright

    path = browser_path()
    assert path is not None, "tests with a browser are marked with needs('browser')"
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        made = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        asyncio._set_running_loop(None)
        yield made, Pages(made), loop
        asyncio._set_running_loop(loop)
        made.close()


@pytest.fixture
def pages_of(chromium: tuple[Any, Pages, asyncio.AbstractEventLoop]) -> Iterator[Pages]:
    """The pages; the loop of the browser is the running one only for tests that have a browser."""
    _, pages, loop = chromium
    asyncio._set_running_loop(loop)
    yield pages
    asyncio._set_running_loop(None)


@pytest.fixture
def browser(chromium: tuple[Any, Pages, asyncio.AbstractEventLoop], pages_of: Pages) -> Any:
    """The Chromium itself; mark tests that use it with `needs("browser")`."""
    return chromium[0]


@pytest.fixture
def new_page(served: Served, pages_of: Pages) -> Iterator[Callable[..., Any]]:
    """Open logged-in pages; every script error and refused load of theirs fails the test.

    A page that is listened to or gets scripts has to be the test's `own`.
    """
    taken: list[Opened] = []

    def make(path: str = "/", *, own: bool = False, **options: Any) -> Any:
        opened = pages_of.take(options, own=own)
        opened.problems.clear()
        taken.append(opened)
        cookies = served.cookies().items()
        opened.context.add_cookies(
            [{"name": name, "value": value, "url": served.address} for name, value in cookies]
        )
        opened.page.goto(f"{served.address}{path}")
        return opened.page

    yield make
    for opened in taken:
        pages_of.give_back(opened)
    assert [problem for opened in taken for problem in opened.problems] == []


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Any:
    """One logged-in page on `/`."""
    return new_page("/")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a few of the person's files."""
    (tmp_path / "notes.md").write_text("# Notes\n\nThe south needs a new plan.\n", encoding="utf-8")
    (tmp_path / "sales.csv").write_text("region,amount\nnorth,1200\nsouth,900\n", encoding="utf-8")
    return tmp_path
