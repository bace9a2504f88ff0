"""`make test`: everything, and an honest word about what this machine cannot run (S2.2)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def rules_of(target: str) -> tuple[str, str]:
    """Return what a target needs and what it runs."""
    for block in MAKEFILE.split("\n\n"):
        head, _, recipe = block.partition("\n")
        if head.startswith(f"{target}: "):
            return head.partition(":")[2].partition("##")[0], recipe
    raise AssertionError(f"there is no target {target}")


def suite(**env: str) -> subprocess.CompletedProcess[str]:
    """Run a test that needs a program on a machine that has no programs."""
    words = ["-m", "pytest", "tests/crash/test_store.py", "-x", "-p", "no:randomly"]
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**kept, "PATH": "/nowhere", **env},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.rule("S2.2")
def test_the_environment_is_made_first_and_all_tests_are_run():
    needs, recipe = rules_of("test")

    assert needs.split() == ["$(STAMP)", "check"]
    assert recipe.split() == ["$(BIN)/python", "-m", "pytest", "-n", "$(WORKERS)", "$(ARGS)"]


@pytest.mark.rule("S2.2")
def test_what_cannot_run_here_is_named_at_the_end_with_its_reason():
    done = suite()

    assert done.returncode == 0
    assert "SKIPPED" in done.stdout.split("short test summary info")[1]
    assert "strace: strace is not installed" in done.stdout.split("short test summary info")[1]


@pytest.mark.rule("S2.2")
def test_what_was_said_to_be_there_and_is_not_is_a_failure():
    done = suite(BACKSHOP_REQUIRE="strace")

    assert done.returncode == 1
    assert "strace is required and missing" in done.stdout
