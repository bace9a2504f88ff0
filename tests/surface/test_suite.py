"""`make test`: everything, and an honest word about what this machine cannot run (S2.2)."""

from __future__ import annotations

import os
import shutil
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


LACKING = {"strace": "strace is not installed", "browser": "no Chromium is installed"}
TESTS = ("tests/crash/test_store.py", "tests/web/test_benches.py")


def suite(**env: str) -> subprocess.CompletedProcess[str]:
    """Run tests that need a program on a machine that has no programs."""
    words = ["-m", "pytest", *TESTS, "-x", "-p", "no:randomly"]
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
    assert recipe.splitlines()[-1].endswith(" $(BIN)/python -m pytest $(SPREAD) $(ARGS)")
    assert "\nSPREAD := -n $(WORKERS) --dist worksteal\n" in MAKEFILE


@pytest.mark.rule("S2.2")
def test_what_cannot_run_here_is_named_at_the_end_with_its_reason():
    done = suite()

    told = done.stdout.split("short test summary info")[1]
    assert done.returncode == 0
    assert "SKIPPED" in told
    assert [part for part, reason in LACKING.items() if f"{part}: {reason}" not in told] == []


@pytest.mark.rule("S2.2")
def test_what_was_said_to_be_there_and_is_not_is_a_failure():
    done = suite(BACKSHOP_REQUIRE="browser")

    assert done.returncode == 1
    assert f"browser is required and missing: {LACKING['browser']}" in done.stdout
    assert f"strace: {LACKING['strace']}" in done.stdout  # nobody said that it is there


@pytest.mark.rule("S2.2")
@pytest.mark.parametrize("has_browser", [False, True])
def test_ci_installs_a_browser_where_there_is_none_and_lets_no_test_of_it_skip(
    tmp_path, has_browser
):
    told = tmp_path / "told"
    programs = tmp_path / "bin"
    programs.mkdir()
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    for name in ("bash", "dirname"):
        (programs / name).symlink_to(str(shutil.which(name)))
    stubs = {"id": "echo 0", "apt-get": f'echo "$*" >> {told}', "strace": "", "bwrap": ""}
    stubs["make"] = f'echo "make $* with $BACKSHOP_REQUIRE" >> {told}'
    for name, does in (stubs | ({"chromium": ""} if has_browser else {})).items():
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)

    subprocess.run(
        [programs / "bash", tmp_path / ".ci" / "run"], env={"PATH": str(programs)}, check=True
    )

    *installed, tested = told.read_text().splitlines()
    assert [line.split()[-1] for line in installed if "install" in line] == (
        [] if has_browser else ["chromium"]
    )
    assert tested.startswith("make test with ")
    assert "browser" in tested.split()[-1].split(",")
