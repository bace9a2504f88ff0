"""The list of lines whose breaking must be noticed stays true."""

from __future__ import annotations

import ast

import pytest
from tools.guards import ROOT, check_home, guards


@pytest.mark.parametrize("guard", guards(), ids=lambda one: one.name)
def test_a_guard_line_stands_once_and_its_tests_are_there(guard):
    broken = guard.broken_text(ROOT)

    if guard.file.endswith(".py"):  # others are read by the browser
        ast.parse(broken)
    assert guard.line != guard.broken
    for one in guard.tests:
        path, *names = one.split("::")
        assert (ROOT / path).exists()
        assert not names or f"def {names[-1].partition('[')[0]}(" in _texts(path)


def _texts(path: str) -> str:
    """Return a test file with the suites its classes may take tests from."""
    users = (ROOT / "src" / "backshop" / "testing" / "conformance").glob("*.py")
    ours = (ROOT / "tests" / "store").glob("*_conformance.py")
    return "".join(one.read_text() for one in (ROOT / path, *sorted(users), *sorted(ours)))


def test_guard_names_are_told_apart():
    names = [one.name for one in guards()]

    assert len(set(names)) == len(names)


def test_guards_do_not_run_over_code_outside_their_copy(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "src").mkdir()

    with pytest.raises(RuntimeError, match="do not run the copy"):
        check_home(tmp_path)
