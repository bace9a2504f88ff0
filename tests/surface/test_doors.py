"""All doors offer the same commands: those of the registry, and no door one of its own (S5.1)."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest
from tests.web.browsing import serving

from backshop.app import Backshop
from backshop.cli import main

SOURCE = Path(__file__).resolve().parents[2] / "src" / "backshop"
ASKED = {"jsonrpc": "2.0", "id": 1, "method": "rpc.discover", "params": {}}
# How the doors that have words or buttons of their own name the command behind them: in this
# process by the method that it is (S5.4), elsewhere by its name.
METHOD = r"\b(?:_?ask(?:_about)?|tried)\((?:\s*\w+,)*\s*([A-Z]\w*\.\w+)"
CALLS = {
    "cli/**/*.py": METHOD,
    "web/**/*.py": METHOD,
    "web/static/*.js": r'(?:\bcall\(|command: )"(\w+)"',
    "web/templates/*.html": r'(?:\bcommand\("|/do/)(\w+)"',
}


@pytest.mark.rule("S5.1")
def test_every_door_offers_exactly_the_commands_of_the_registry(tmp_path, capsys, monkeypatch):
    with serving(tmp_path / "home") as served, served.client() as client:
        registered = [one.command.name for one in served.shop.commands]
        over_http = client.post("/rpc", json=ASKED).json()
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(ASKED).encode() + b"\n"))
    )
    assert main(["rpc", "--home", str(tmp_path / "home")]) == 0
    over_stdio = json.loads(capsys.readouterr().out)

    for answer in (over_http, over_stdio):
        assert [one["name"] for one in answer["result"]["methods"]] == registered
    with Backshop.open(tmp_path / "home") as shop:
        assert [one.command.name for one in shop.commands] == registered


@pytest.mark.rule("S5.1", "S4.4", "S5.4")
@pytest.mark.parametrize(("files", "pattern"), CALLS.items())
def test_what_a_door_calls_is_in_the_registry(tmp_path, files, pattern):
    called = {
        name
        for path in SOURCE.glob(files)
        for name in re.findall(pattern, path.read_text(encoding="utf-8"))
    }

    with Backshop.open(tmp_path / "home") as shop:
        commands = [one.command for one in shop.commands]
    known = {one.run.__qualname__ if pattern is METHOD else one.name for one in commands}
    assert called - known == set()
    assert len(called) > 20
