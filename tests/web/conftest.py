"""One server and one browser per test module; a fresh browser context per test."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import browser_path
from tests.web.browsing import ARGUMENTS, WAIT_MS, Served, serving

EXPECTED = re.compile("status of (4|503)|net::ERR_")  # what a test asks for: a refusal, no network


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; mark tests that use it with `needs("browser")`."""
    from playwright.sync_api import sync_playwright

    path = browser_path()
    assert path is not None, "tests with a browser are marked with needs('browser')"
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield made
        made.close()


@pytest.fixture
def new_page(served: Served, browser: Any) -> Iterator[Callable[..., Any]]:
    """Open logged-in pages; every script error and refused load of theirs fails the test."""
    contexts, problems = [], []

    def make(path: str = "/", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.set_default_timeout(WAIT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"script: {error}"))
        page.on(
            "console",
            lambda message: (
                problems.append(f"console: {message.text} at {message.location}")
                if message.type == "error" and not EXPECTED.search(message.text)
                else None
            ),
        )
        page.goto(served.link())
        page.goto(f"{served.address}{path}")
        return page

    yield make
    for context in contexts:
        context.close()
    assert problems == []


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
