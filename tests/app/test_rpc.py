"""JSON-RPC: every command by name, errors as data, and a document that describes them all."""

from __future__ import annotations

import io
import json
import sys

import pytest

from backshop import __version__
from backshop.app import Backshop, answer
from backshop.cli import main


@pytest.fixture
def ask(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        yield lambda text: answer(shop.commands, text, __version__)


def call(method, params=None, call_id=1):
    return json.dumps({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params or {}})


@pytest.mark.rule("S5.1")
def test_a_command_is_run_by_name(ask):
    assert ask(call("StoreGc")) == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"blobs": 0, "bytes": 0, "applied": False},
    }


@pytest.mark.rule("S5.3", "M11.1")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", -32700),
        (b"\xff", -32700),
        ("[]", -32600),
        ("1", -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"StoreGc"}', -32600),
        ('{"jsonrpc":"2.0","id":[],"method":"StoreGc"}', -32600),
        (call("StoreGcc"), -32601),
        (call("StoreGc", {"aply": True}), -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"StoreGc","params":[1]}', -32602),
        (call("WorkbenchOpen", {"workbench_id": "nope"}), -32000),
    ],
)
def test_what_is_wrong_comes_back_as_data(ask, text, code):
    response = ask(text)

    assert response["error"]["code"] == code
    if code == -32000:
        assert response["error"]["data"]["reason"] == "bad_id"


def test_batches_and_notifications(ask):
    note = '{"jsonrpc":"2.0","method":"WorkbenchCreate","params":{"name":"N"}}'

    both = ask(f"[{call('StoreGc', call_id='a')},{note}]")

    assert [one["id"] for one in both] == ["a"]
    assert ask(note) is None
    assert len(ask(call("WorkbenchList"))["result"]["workbenches"]) == 2


@pytest.mark.rule("S5.1")
def test_the_document_lists_exactly_the_registry(tmp_path, ask):
    found = ask(call("rpc.discover"))["result"]

    with Backshop.open(tmp_path / "other") as shop:
        assert [m["name"] for m in found["methods"]] == [b.command.name for b in shop.commands]
    assert all(m["params"][0]["schema"]["type"] == "object" for m in found["methods"])


@pytest.mark.rule("S4.2")
def test_the_terminal_speaks_it_line_by_line(tmp_path, capsys, monkeypatch):
    lines = f"{call('StoreGc')}\n\n{call('rpc.nothing', call_id=2)}\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))

    assert main(["rpc", "--home", str(tmp_path / "home")]) == 0

    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["result"]["applied"] is False
    assert second["error"]["code"] == -32601
