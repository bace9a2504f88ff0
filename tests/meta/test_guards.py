"""The list of lines whose breaking must be noticed stays true."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tools.guards import ROOT, guards


@pytest.mark.parametrize("guard", guards(), ids=lambda one: one.name)
def test_a_guard_line_stands_once_and_its_tests_are_there(guard):
    broken = guard.broken_text(ROOT)

    ast.parse(broken)
    assert guard.line != guard.broken
    for one in guard.tests:
        path, _, name = one.partition("::")
        assert (
            f"def {name}(" in Path(ROOT / path).read_text() if name else Path(ROOT / path).exists()
        )


def test_guard_names_are_told_apart():
    names = [one.name for one in guards()]

    assert len(set(names)) == len(names)
