"""`make bench` measures against something done in the same run (S9.1)."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from benchmarks import __main__ as measuring
from benchmarks import costtasks, measure_cost, measure_start

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
    with pytest.raises(
        SystemExit, match="no benchmark 'nope'; there are: bench, cost, discussion, docx"
    ):
        measuring.main(["nope"])


@pytest.mark.rule("S9.1")
def test_the_cost_of_a_turn_is_counted_from_what_was_sent(tmp_path):
    with (
        measure_cost.serving() as (provider, address),
        measure_cost.opened(tmp_path, address) as shop,
    ):
        cost = measure_cost.run(shop, provider, costtasks.Question(), "rpi", tmp_path)
        is_known = [measure_cost.knows(shop, flow) for flow in ("rpi", "no-such-flow")]

    assert provider.model is not None
    assert provider.model.phases == ["research", "research", "research", "summary"]
    assert cost.calls == len(provider.asked) == 4
    assert cost.sent_bytes == sum(len(one.body) for one in provider.asked) > 10_000
    assert (cost.is_right, cost.is_kept) == (True, True)
    assert 0.3 < cost.prefix < 1
    assert is_known == [True, False]


@pytest.mark.rule("S9.1")
def test_a_loop_that_rewrites_what_it_sent_is_told():
    def asked(*messages: str, call: str = "call_0_0") -> measure_cost.Asked:
        return measure_cost.Asked(json.dumps({"input": [*messages, call]}).encode(), (call,))

    grown = [asked("a"), asked("a", "call_0_0", "b", call="call_1_0")]
    rewritten = [asked("a"), asked("A", "call_0_0", call="call_1_0")]
    another = [asked("a"), asked("A", call="call_1_0")]

    kept = [measure_cost.is_append_only(one) for one in (grown, rewritten, another)]
    assert kept == [True, False, True]


@pytest.mark.rule("S8.2")
def test_the_figures_of_the_page_are_put_in_its_place_and_nowhere_else(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(measure_cost.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(measure_cost, "PAGE", page)
    cost = measure_cost.Cost(2, 41_900, 0.97, True, True, 1.0, 1.0)
    before = page.read_text(encoding="utf-8")

    for _ in range(2):  # what was put there is replaced
        measure_cost.put_into_page({(costtasks.TASKS[0], "auto"): cost})

    after = page.read_text(encoding="utf-8")
    marks = "<!-- figures -->", "<!-- end of figures -->"
    assert [after.count(mark) for mark in marks] == [1, 1]
    assert after.partition(marks[0])[0] == before.partition(marks[0])[0]
    assert after.partition(marks[1])[2] == before.partition(marks[1])[2]
    assert after.count("| one word among 30 files | `auto` | 2 | 42 | 97% | yes |") == 1
    assert "`rpi` of 0.1.0 | 7 | 386 | 55% | yes |" in after
