"""Programs of the MCP project against our server: its conformance suite and its inspector."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import NODE_PROGRAMS, REPOSITORY

from backshop.mcp.http import token_of

HERE = Path(__file__).parent
SUITE = NODE_PROGRAMS / "conformance" / "dist" / "index.js"
INSPECTOR = NODE_PROGRAMS / "inspector-cli" / "build" / "index.js"
SIMPLE = "tools-call-simple-text/tools-call-simple-text"
REVISIONS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")  # the first has few checks
pytestmark = [pytest.mark.needs("node", "mcp programs"), pytest.mark.timeout(300)]


@contextmanager
def serving(*command: str, **env: str) -> Iterator[str]:
    """Start a server of ours as a process; give the first line it prints."""
    child = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": f"{REPOSITORY / 'src'}:{REPOSITORY}", **env},
    )
    assert child.stdout is not None
    try:
        yield child.stdout.readline().strip()
    finally:
        child.kill()
        child.wait(10)
        child.stdout.close()


def results(url: str, revision: str, folder: Path) -> dict[str, str]:
    """Run the suite; return the status of each check by scenario/check."""
    preload = ["--import", str(HERE / "node" / "older-node.mjs")]
    asked = ["server", "--url", url, "--suite", "all", "--spec-version", revision]
    done = subprocess.run(
        ["node", *preload, str(SUITE), *asked, "-o", str(folder)],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=folder.parent,
    )
    found: dict[str, str] = {}
    for file in folder.glob("server-*/checks.json"):
        scenario = file.parent.name.removeprefix("server-").rsplit("-", 6)[0]
        for check in json.loads(file.read_text()):
            name = f"{scenario}/{check['id']}"
            if found.get(name) != "FAILURE":  # a check may be made more than once
                found[name] = check["status"]
    assert found, done.stdout + done.stderr
    return found


@pytest.mark.rule("S6.1")
def test_the_conformance_suite_passes_but_for_the_listed_exceptions(tmp_path, record_property):
    listed = tomllib.loads((HERE / "exceptions.toml").read_text())["exception"]
    excepted = {check for one in listed for check in one["checks"]}
    assert all(one["reason"] for one in listed)
    ran: set[str] = set()
    with serving("-m", "tests.mcp.conformance") as url:
        for revision in REVISIONS:
            found = results(url, revision, tmp_path / revision)
            failed = {name for name, status in found.items() if status == "FAILURE"}
            passed = {name for name, status in found.items() if status == "SUCCESS"}

            assert sorted(failed - excepted) == []
            assert sorted(excepted & passed) == [], "exceptions no longer needed"
            assert passed
            assert (SIMPLE in passed) == (revision != REVISIONS[0])
            record_property(f"checks passed in {revision}", len(passed))
            ran |= set(found)

    record_property("excepted", len(excepted))
    assert sorted(excepted - ran) == [], "exceptions of checks that are not made"


def inspected(target: list[str], method: list[str], rest: list[str], home: Path) -> dict[str, Any]:
    done = subprocess.run(
        ["node", str(INSPECTOR), *target, *method, *rest],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "src"), "BACKSHOP_HOME": str(home)},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


STARTING = ["--tool-name", "start_workflow", "--tool-arg", "workflowId=wr.change_review"]


@pytest.mark.rule("S6.1", "S6.2")
def test_the_inspector_lists_and_calls_over_stdio(tmp_path):
    target, rest = [sys.executable], ["--", "-m", "backshop.cli", "mcp"]

    listed = inspected(target, ["--method", "tools/list"], rest, tmp_path)
    started = inspected(target, ["--method", "tools/call", *STARTING], rest, tmp_path)

    assert {"start_workflow", "continue_workflow"} <= {one["name"] for one in listed["tools"]}
    assert started["structuredContent"]["pending"]["stepId"] == "scope"
    assert "# What changed" in started["content"][0]["text"]


@pytest.mark.rule("S6.1")
def test_the_inspector_calls_over_http_with_the_token(tmp_path):
    header = ["--transport", "http", "--header", f"Authorization: Bearer {token_of(tmp_path)}"]
    with serving(
        *("-m", "backshop.cli", "mcp", "--http", "--port", "0"), BACKSHOP_HOME=str(tmp_path)
    ) as said:
        url = next(word for word in said.split() if word.startswith("http://"))
        called = inspected([url], ["--method", "tools/call", *STARTING], header, tmp_path)

    assert called["structuredContent"]["pending"]["stepId"] == "scope"
