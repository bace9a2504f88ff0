"""JSON-RPC: every command by name, errors as data, and a document that describes them all."""

from __future__ import annotations

import io
import json
import sys
import threading
from dataclasses import fields

import pytest

from backshop import __version__
from backshop.app import Backshop, answer
from backshop.app.command.rpc import BATCH_MAX
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
@pytest.mark.parametrize(("count", "answers"), [(0, 0), (1, 1), (BATCH_MAX, BATCH_MAX)])
def test_a_batch_of_requests_is_answered_up_to_its_limit_and_run_in_no_part_beyond(
    ask, count, answers
):
    made = call("WorkbenchCreate", {"name": "N"})

    beyond = ask(f"[{','.join([made] * (BATCH_MAX + 1))}]")
    fine = ask(f"[{','.join([call('EngineGetInfo')] * count)}]")

    assert beyond["error"]["code"] == -32600
    assert ask(call("WorkbenchList"))["result"]["workbenches"] == []
    assert (len(fine) if isinstance(fine, list) else 0) == answers


@pytest.mark.rule("S5.1")
def test_the_document_lists_exactly_the_registry(tmp_path, ask):
    found = ask(call("rpc.discover"))["result"]

    with Backshop.open(tmp_path / "other") as shop:
        assert [m["name"] for m in found["methods"]] == [b.command.name for b in shop.commands]


@pytest.mark.rule("S5.1")
def test_a_client_made_from_the_rpc_document_sends_what_each_method_takes(tmp_path, ask):
    found = ask(call("rpc.discover"))["result"]
    shared = found["components"]["schemas"]

    for method in found["methods"]:
        request = {one["name"]: one["schema"] for one in method["params"]}
        required = [one["required"] for one in method["params"]]
        assert required == sorted(required, reverse=True), method["name"]
        for schema in (*request.values(), method["result"]["schema"], *shared.values()):
            assert set(_refs(schema)) <= {f"#/components/schemas/{name}" for name in shared}
    with Backshop.open(tmp_path / "other") as shop:
        taken = {
            bound.command.name: {_bare(one.name) for one in fields(bound.command.request)}
            for bound in shop.commands
        }
    named = {m["name"]: {_bare(one["name"]) for one in m["params"]} for m in found["methods"]}
    assert named == taken
    create = next(m for m in found["methods"] if m["name"] == "WorkbenchCreate")
    assert create["params"][0]["name"] == "name"
    assert "result" in ask(call("WorkbenchCreate", {create["params"][0]["name"]: "N"}))


def _bare(name: str) -> str:
    """Return a field's name in either spelling, `workflow_id` or `workflowId`."""
    return name.replace("_", "").lower()


def _refs(node):
    if isinstance(node, dict):
        yield from [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        for one in node.values():
            yield from _refs(one)
    elif isinstance(node, list):
        for one in node:
            yield from _refs(one)


class _Patient(io.BytesIO):
    """Input that ends once somebody has seen what was waited for."""

    def __init__(self, lines: bytes, seen: threading.Event) -> None:
        super().__init__(lines)
        self._seen = seen

    def __next__(self) -> bytes:
        line = self.readline()
        if line:
            return line
        assert self._seen.wait(5)
        raise StopIteration


@pytest.mark.rule("S5.2")
def test_the_terminal_tells_events_from_the_start_where_it_is_asked_to(tmp_path, monkeypatch):
    told = threading.Event()
    made = call("WorkbenchCreate", {"name": "Told"}).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(_Patient(made + b"\n", told)))

    class Out(io.StringIO):
        def write(self, text: str) -> int:
            if "WorkbenchFilesChanged" in text:
                told.set()
            return super().write(text)

    out = Out()
    monkeypatch.setattr(sys, "stdout", out)

    assert main(["rpc", "--events", "--home", str(tmp_path / "home")]) == 0

    said = [json.loads(line) for line in out.getvalue().splitlines()]
    assert {one.get("method") for one in said} >= {"WorkbenchFilesChanged"}
    assert not any("error" in one for one in said)


@pytest.mark.rule("S4.2")
def test_the_terminal_speaks_it_line_by_line(tmp_path, capsys, monkeypatch):
    lines = f"{call('StoreGc')}\n\n{call('rpc.nothing', call_id=2)}\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))

    assert main(["rpc", "--home", str(tmp_path / "home")]) == 0

    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["result"]["applied"] is False
    assert second["error"]["code"] == -32601


HOSTILE = [
    b'{"jsonrpc":"2.0","id":1,"method":[]}',
    b'{"jsonrpc":"2.0","id":1,"method":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":null}',
    b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","id":[],"method":"rpc.subscribe"}',
    b'{"id":1,"method":"rpc.subscribe"}',
    b'{"jsonrpc":"2.0","id":1,"method":"rpc.subscribe","params":[1]}',
    b'{"jsonrpc":"2.0","id":1,"method":"rpc.subscribe","params":{"after":[]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"rpc.subscribe","params":{"after":-1}}',
    b'{"jsonrpc":"2.0","id":1,"method":"rpc.subscribe","params":{"workbench_id":{}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"rpc.unsubscribe","params":{"subscription":[]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"rpc.unsubscribe","params":{"subscription":{}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"rpc.unsubscribe","params":{"subscription":true}}',
    b'{"jsonrpc":"2.0","id":1,"method":"rpc.unsubscribe"}',
    b'{"jsonrpc":"2.0","id":1,"method":"WorkshopRunAgent","params":[[]]}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"[[]]",
    b'[{"jsonrpc":"2.0","id":1,"method":[]}]',
    b"9" * 10_000,
    b"1e999",
    b'{"jsonrpc":"2.0","id":1e400,"method":"StoreGc"}',
    b"NaN",
    b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"\x00",
    b'{"jsonrpc":"2.0","id":1,"method":"a\x00b"}',
    b'{"jsonrpc":"2.0","id":1,"method":"a\\u0000b"}',
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"StoreGc"}',
]


@pytest.mark.rule("S5.1", "S5.3")
def test_no_line_ends_the_conversation(tmp_path, capsys, monkeypatch):
    lines = b"\n".join([*HOSTILE, call("StoreGc", call_id="last").encode()])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))

    assert main(["rpc", "--home", str(tmp_path / "home")]) == 0

    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    answers = [one[0] if isinstance(one, list) else one for one in said]
    codes = [one["error"]["code"] for one in answers if one["id"] != "last"]
    assert (len(answers), len(codes)) == (len(HOSTILE) + 1, len(HOSTILE))
    assert all(-32700 <= code <= -32000 for code in codes)
    assert codes[:6] == [-32600] * 6
    assert codes[6:13] == [-32602] * 7


@pytest.mark.rule("S5.1")
def test_what_is_asked_for_without_an_id_gets_no_answer(tmp_path, capsys, monkeypatch):
    note = b'{"jsonrpc":"2.0","method":"rpc.subscribe"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(note)))

    assert main(["rpc", "--home", str(tmp_path / "home")]) == 0

    assert capsys.readouterr().out == ""


class _Cut(io.BytesIO):
    """Input whose other end fails after the last line."""

    def __next__(self) -> bytes:
        line = self.readline()
        if not line:
            raise OSError("the other end is gone")
        return line


@pytest.mark.rule("S5.1")
def test_turns_are_finished_when_the_input_breaks_off(tmp_path, capsys, monkeypatch):
    home = ["--home", str(tmp_path / "home")]
    main(["bench", "create", "B", "--json", *home])
    bench = json.loads(capsys.readouterr().out)["workbench_id"]
    main(["model", "use", "scripted:demo", "--bench", "B", *home])
    said = {"workbench_id": bench, "text": "hello", "mode": "ask"}
    capsys.readouterr()
    main(["call", "WorkshopSendUserMessage", json.dumps(said), *home])
    message = json.loads(capsys.readouterr().out)["message_id"]
    wish = {"workbench_id": bench, "message_id": message}
    asked = call("WorkshopRunAgent", wish).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(_Cut(asked + b"\n")))

    assert main(["rpc", *home]) == 1

    answered = json.loads(capsys.readouterr().out.splitlines()[0])
    assert answered["result"]["status"] == "complete"
