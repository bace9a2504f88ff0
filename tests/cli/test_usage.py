"""What models used, in the terminal."""

from __future__ import annotations

import json

import pytest
from tests.workshop.conftest import story

from backshop.app import Backshop
from backshop.cli import main

PRICE = {"input": 2.0, "cached_input": 0.2, "output": 10.0}
PRICED = {"model_id": "scripted:priced", "context_tokens_estimate": 128_000, "price": PRICE}
TOLD = {"input_tokens": 14_200, "cached_input_tokens": 11_900, "output_tokens": 310}


@pytest.fixture
def run(tmp_path, capsys):
    """Run a command on one home; return exit code, output and complaint."""

    def run_one(*args: str) -> tuple[int, str, str]:
        code = main([*args, "--home", str(tmp_path / "home")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_one


@pytest.fixture
def worked(run, tmp_path):
    """Two benches: one with a priced turn and one of the offline demo, one with the demo's only."""
    run("config", "set", "models", json.dumps([PRICED]))
    for name in ("Money", "Talk"):
        run("bench", "create", name)
        run("bench", "flow", name, "rpi")
    with Backshop.open(tmp_path / "home") as shop:
        steps = story(("b.txt", "blue"))
        for one in steps:
            one["respond"]["usage"] = TOLD
        shop.models.play("priced", steps)
        money = shop.workshop("Money")
        money.use_model("scripted:priced")
        money.send("Write b.txt")
        money.publish()
        for name in ("Money", "Talk"):
            shop.workshop(name).use_model("scripted:demo")
            shop.workshop(name).send("What is this?", ask=True)
    return run


@pytest.mark.rule("S4.2", "M13.2", "M13.4")
def test_a_bench_tells_what_models_used_by_model_and_by_turn(worked):
    heading, demo, priced, together, legend = worked("usage", "Money")[1].splitlines()
    turns = worked("usage", "Money", "--turns")[1].splitlines()
    told = json.loads(worked("usage", "Money", "--turns", "--json")[1])
    short = json.loads(worked("usage", "Money", "--json")[1])
    one_run = json.loads(worked("usage", "Money", "--run", "run_unknown", "--json")[1])

    assert heading.split()[:2] == ["model", "calls"]
    assert priced.split() == ["scripted:priced", "6", "85,200", "71,400", "0", "1,860", "$0.06"]
    assert demo.split()[:2] == ["scripted:demo", "2"]
    assert together.endswith("$0.06 for 6 of 8 calls")
    assert legend.startswith("? estimated")
    assert [line.split()[1:5] for line in turns[1:3]] == [
        ["rpi", "complete", "scripted:priced", "6"],
        ["rpi", "complete", "scripted:demo", "2"],
    ]
    assert [one["calls"] for one in told["turns"]] == [2, 6]  # the newest first
    assert told["turns"][1]["usd_estimate"] == pytest.approx(
        (13_800 * 2 + 71_400 * 0.2 + 1_860 * 10) / 1e6
    )
    assert (short["calls"], short["turns"]) == (8, [])
    assert one_run["calls"] == 0


@pytest.mark.rule("S4.2", "M13.5")
def test_a_home_tells_what_models_used_by_bench(worked):
    before = worked("usage", "--turns")
    worked("bench", "delete", "Talk", "--yes")
    heading, money, talk, together, _ = worked("usage")[1].splitlines()
    told = json.loads(worked("usage", "--json")[1])

    assert (before[0], "name it" in before[2]) == (2, True)
    assert heading.split()[0] == "workbench"
    assert money.split()[:2] == ["Money", "8"]
    assert talk.split()[:3] == ["Talk", "(deleted)", "2"]
    assert together.split()[:2] == ["together", "10"]
    assert (told["calls"], told["priced_calls"], told["estimated_calls"]) == (10, 6, 4)
    assert [one["is_deleted"] for one in told["benches"]] == [False, True]


@pytest.mark.rule("S4.2", "M13.5")
def test_a_home_where_no_model_was_called_says_so(run):
    run("bench", "create", "Quiet")

    assert run("usage")[1] == run("usage", "Quiet")[1] == "no model was called yet\n"
    assert run("bench", "usage", "Quiet")[1] == "no model was called yet\n"
