"""`make bench` measures against something done in the same run (S9.1)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from benchmarks import __main__ as measuring
from benchmarks import measure_start

ROOT = Path(__file__).resolve().parents[2]
MEASURES = sorted((ROOT / "benchmarks").glob("measure_*.py"))


@pytest.mark.rule("S9.1")
@pytest.mark.parametrize("path", MEASURES, ids=[path.stem for path in MEASURES])
def test_each_measure_divides_by_a_baseline(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    divisions = [
        node
        for function in said
        for node in ast.walk(function)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div)
        and not isinstance(node.right, ast.Constant)
        and not (isinstance(node.right, ast.Name) and node.right.id.isupper())
    ]

    assert any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
    assert divisions, "it prints seconds alone"


@pytest.mark.rule("S9.1", "S2.4")
def test_a_run_prints_ratios(capsys, monkeypatch):
    monkeypatch.setattr(measure_start, "ROUNDS", 1)

    measuring.main(["start"])

    said = capsys.readouterr().out
    assert "## start" in said
    assert " / a Python that loads click | " in said
    assert said.count(" × |") >= 3


@pytest.mark.rule("S9.1")
def test_a_measure_that_is_not_there_is_named():
    with pytest.raises(SystemExit, match="no benchmark 'nope'; there are: bench, docx"):
        measuring.main(["nope"])
