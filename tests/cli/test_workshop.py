"""Talking with the agent in the terminal, and going back and forth."""

from __future__ import annotations

import json

import pytest

from backshop.cli import main


@pytest.fixture
def run(tmp_path, capsys):
    """Run a command on one home; return exit code and output."""

    def run_one(*args: str) -> tuple[int, str, str]:
        code = main([*args, "--home", str(tmp_path / "home")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_one


@pytest.mark.rule("S4.2", "S4.3", "W3.2")
def test_a_conversation_in_the_terminal(run, tmp_path):
    (tmp_path / "a.txt").write_text("hello\n")
    run("bench", "create", "Talk")
    run("bench", "add", "Talk", str(tmp_path / "a.txt"))
    assert run("model", "use", "scripted:demo", "--bench", "Talk")[0] == 0

    code, out, _ = run("send", "Talk", "What is this?", "--ask")
    again = run("regenerate", "Talk", "--json")
    told = run("history", "Talk")[1]
    exported = run("history", "Talk", "--jsonl", str(tmp_path / "all.jsonl"))

    assert (code, out.startswith("I am the offline demo")) == (0, True)
    assert json.loads(again[1])["status"] == "complete"
    assert "What is this?" in told
    assert "regenerate" in told
    records = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert (exported[0], sum(not one["active"] for one in records)) == (0, 1)
    refused = run("retry", "Talk", "--json")
    assert (refused[0], json.loads(refused[1])["reason"]) == (1, "nothing_to_retry")
    preview = run("rewind", "Talk", "-2", "--dry-run")
    assert "1 records are discarded" in preview[1]
    assert run("rewind", "Talk", "-2", "--yes")[0] == 0
    assert "ends at" in run("redo", "Talk")[1]
    assert run("cancel", "Talk")[1].strip() == "nothing runs"
    assert run("rewind", "Talk", "-99", "--yes")[0] == 1
    assert run("send", "Talk", "  ")[0] == 1
