"""The server as clients meet it: the SDK's own client, stdio and HTTP, old handshake and new."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import httpx2
import jsonschema
import mcp_types as types
import pytest
import uvicorn
from mcp.client.streamable_http import streamable_http_client
from tests.rails.walker import walk

from backshop.app import Backshop, save
from backshop.base.errors import ValidationFailed
from backshop.mcp.http import SESSION_IDLE_S, application, serve_http, token_of
from backshop.mcp.server import build
from backshop.mcp.toolbox import Toolbox
from mcp import Client, MCPError, StdioServerParameters

ROOT = Path(__file__).resolve().parents[2]
MODES = ["auto", "legacy"]
RAILS = {
    *("list_workflows", "inspect_workflow", "start_workflow", "continue_workflow"),
    *("checkpoint_workflow", "resume_session", "start_session"),
}


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Toolbox]:
    made = Toolbox(tmp_path / "home")
    yield made
    made.close()


def stdio(home: Path, *more: str) -> StdioServerParameters:
    env = {"PYTHONPATH": str(ROOT / "src"), "BACKSHOP_HOME": str(home), "PATH": os.environ["PATH"]}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "backshop.cli", "mcp", *more], env=env
    )


async def call(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert result.structured_content is not None
    return {**result.structured_content, "_error": result.is_error, "_texts": result.content}


@pytest.mark.rule("S6.1", "S6.2", "S6.20", "R7.1", "R7.2")
@pytest.mark.parametrize("mode", MODES)
def test_tools_are_listed_with_schemas_within_their_budgets(offering, mode):
    async def story() -> None:
        async with Client(build(offering), mode=mode) as client:
            tools = (await client.list_tools()).tools

        assert {tool.name for tool in tools} == RAILS
        assert all(len((tool.description or "").encode()) <= 1200 for tool in tools)
        whole = [(tool.name, tool.description, tool.input_schema) for tool in tools]
        told = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
        assert len(told.encode()) <= 24 * 1024
        for tool in tools:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert tool.output_schema is None
            assert tool.input_schema["additionalProperties"] is False

    anyio.run(story)


@pytest.mark.rule("S6.2", "R7.2", "R7.3")
@pytest.mark.parametrize("mode", MODES)
def test_answers_are_text_first_and_have_their_shape(offering, mode):
    async def story() -> None:
        async with Client(build(offering), mode=mode) as client:
            shapes = {name: tool.answer_schema for name, tool in offering.tools().items()}
            listed = await client.call_tool("list_workflows", {})
            started = await client.call_tool(
                "start_workflow", {"workflowId": "wr.change_review", "goal": "look"}
            )
            refused = await client.call_tool("start_workflow", {"workflowId": "wr.change_reviw"})
            for name, result in (("list_workflows", listed), ("start_workflow", started)):
                assert not result.is_error
                assert result.content[0].type == "text"
                jsonschema.validate(result.structured_content, shapes[name])
            assert refused.is_error
            assert refused.structured_content is not None
            error = refused.structured_content["error"]
            assert error["code"] == "WORKFLOW_NOT_FOUND"
            assert "wr.change_review" in json.dumps(error)
            with pytest.raises(MCPError):
                await client.call_tool("publish_draft", {})

    anyio.run(story)


@asynccontextmanager
async def over_http(
    offering: Toolbox, token: str, public_url: str | None = None
) -> AsyncIterator[str]:
    """Serve on a free port in a thread of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = uvicorn.Config(
        application(offering, token, public_url),
        host="127.0.0.1",
        port=port,
        log_level="error",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    with anyio.fail_after(5):
        while not server.started:
            await anyio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(thread.join)


@pytest.mark.rule("S6.1")
def test_http_works_with_the_token_and_lets_nobody_else_in(offering, tmp_path):
    token = token_of(tmp_path / "home")

    async def story() -> None:
        async with over_http(offering, token) as url:
            async with httpx2.AsyncClient(timeout=60) as bare:
                for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": token}):
                    answer = await bare.post(url, json={}, headers=headers)
                    assert answer.status_code == 401
                good = {"authorization": f"Bearer {token}"}
                foreign = await bare.post(url, json={}, headers={**good, "host": "evil.example"})
                assert foreign.status_code in (403, 421)
                crossed = {**good, "origin": "https://evil.example"}
                assert (await bare.post(url, json={}, headers=crossed)).status_code == 403
            http = httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60)
            async with http, Client(streamable_http_client(url, http_client=http)) as client:
                found = await call(client, "list_workflows", {"query": "review"})
                assert any(w["workflowId"] == "wr.change_review" for w in found["workflows"])

    anyio.run(story)
    assert (tmp_path / "home" / "mcp.token").stat().st_mode & 0o777 == 0o600


@pytest.mark.rule("S6.1", "S3.2", "T6.4")
def test_behind_a_proxy_that_keeps_the_host_a_person_comes_in_under_the_public_name(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        token = shop.call("UserAdd", {"name": "Ada"})["token"]
    offering = Toolbox(tmp_path / "home")
    good = {"authorization": f"Bearer {token}", "host": "team.example"}

    async def statuses(url: str, *several: dict[str, str]) -> list[int]:
        async with httpx2.AsyncClient(timeout=60) as bare:
            return [(await bare.post(url, json={}, headers=one)).status_code for one in several]

    async def story() -> None:
        async with over_http(offering, "the-owners-own", "https://Team.example/") as url:
            refused = await statuses(
                url,
                {**good, "host": "evil.example"},
                {**good, "host": "team.example.evil.example"},
                {**good, "origin": "https://evil.example"},
                {**good, "origin": "http://team.example"},
                {"host": "team.example"},
            )
            own_page = await statuses(url, {**good, "origin": "https://team.example"})
            http = httpx2.AsyncClient(headers=good, timeout=60)
            async with http, Client(streamable_http_client(url, http_client=http)) as client:
                found = await call(client, "list_workflows", {"query": "review"})
        async with over_http(offering, "the-owners-own") as url:
            unnamed = await statuses(url, good)

        assert refused == [421, 421, 403, 403, 401]
        assert own_page[0] not in (401, 403, 421)
        assert any(w["workflowId"] == "wr.change_review" for w in found["workflows"])
        assert unnamed == [421]

    anyio.run(story)
    offering.close()


@pytest.mark.rule("S6.1", "R6.12", "R6.5")
def test_a_real_process_survives_being_replaced_in_the_middle(tmp_path):
    home = tmp_path / "home"

    async def story() -> None:
        async with Client(stdio(home)) as client:
            first = await call(client, "start_workflow", {"workflowId": "wr.change_review"})
            done = {**first["nextCall"]["arguments"], "output": {"notesMarkdown": "I looked."}}
            second = await call(client, "continue_workflow", done)
        async with Client(stdio(home)) as client:
            again = await call(client, "continue_workflow", done)
            found = await call(client, "resume_session", {"query": "change review"})

        assert again == second
        assert found["candidates"][0]["runId"] == first["session"]["runId"]

    anyio.run(story)


@pytest.mark.rule("R1.23")
def test_a_bundled_workflow_is_walked_to_its_end_over_stdio(tmp_path):
    async def story() -> None:
        async with Client(stdio(tmp_path / "home")) as client:
            walked = await anyio.to_thread.run_sync(walk_over, client)
        assert walked.is_complete

    def walk_over(client: Client):
        def one(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
            result = anyio.from_thread.run(client.call_tool, name, arguments)
            return dict(result.structured_content or {})

        return walk(one, "wr.change_review")

    anyio.run(story)


@pytest.mark.rule("S2.4")
def test_the_client_is_greeted_before_the_product_is_loaded(tmp_path):
    script = (
        "import sys; from backshop.mcp import Toolbox; from backshop.mcp.server import build;"
        "build(Toolbox());"
        "heavy = {'pysqlite3','sqlite3','duckdb','lxml','openai','anthropic'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)

    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.rule("R7.1")
def test_tools_that_are_switched_off_are_not_offered(tmp_path):
    save(tmp_path / "home", "rails.tools.resume_session", False)
    off = Toolbox(tmp_path / "home")

    async def story() -> None:
        async with Client(build(off)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == RAILS - {"resume_session"}

    anyio.run(story)
    off.close()


@pytest.mark.rule("W7.10", "W13.9", "S6.1", "B1.2", "B9.1", "B4.10")
def test_a_program_over_stdio_reads_both_states_and_writes_one(tmp_path):
    home = tmp_path / "home"
    (tmp_path / "a.txt").write_text("one\n")
    with Backshop.open(home) as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Reports"})["workbench_id"]
        own = {"workbench_id": bench}
        shop.call("WorkbenchFilesAdd", {**own, "source_paths": [str(tmp_path / "a.txt")]})

    async def story() -> None:
        async with Client(stdio(home, "--bench", "Reports")) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            nothing = await call(client, "review_draft", {})
            before = await call(client, "read_file", {"path": "a.txt"})
            edits = [{"search": "one", "replace": "two"}]
            edited = await call(client, "edit_text_file", {"path": "a.txt", "edits": edits})
            made = await call(client, "write_text_file", {"path": "n.txt", "content": "new\n"})
            after = await call(client, "read_file", {"path": "a.txt"})
            refusals = [
                await call(client, "write_text_file", {"path": path, "content": "x"})
                for path in ("../x", "/etc/x", "A.TXT")
            ]
            review = await call(client, "review_draft", {})
            for name in ("publish", "publish_draft", "DraftPublish", "discard"):
                assert name not in names
                with pytest.raises(MCPError):
                    await client.call_tool(name, {"workbench_id": bench})

        assert (nothing["_error"], nothing["entries"]) == (False, [])
        assert not edited["_error"]
        assert ("one" in str(before["_texts"]), "two" in str(after["_texts"])) == (True, True)
        assert not made["_error"]
        assert [one["error"]["reason"] for one in refusals] == [
            *("bad_path", "bad_path", "path_collision"),
        ]
        kinds = {entry["path"]: entry["kind"] for entry in review["entries"]}
        assert kinds == {"n.txt": "ADDED", "a.txt": "MODIFIED"}

    anyio.run(story)
    with Backshop.open(home) as shop:
        found = shop.call("DraftGetState", own)
        noted = shop.call("AuditList", {**own, "kinds": ["tool_refused"]})["entries"]
        assert found["source"].endswith(":mcp")
        assert [one["paths"] for one in noted] == [["../x"], ["/etc/x"]]
        files = shop.call("WorkbenchFilesList", {**own, "view": "published"})["files"]
        assert [(one["path"], one["size"]) for one in files] == [("a.txt", 4)]
        review = shop.call("ReviewGetChangeSet", own)
        shop.call("DraftPublish", {**own, "reviewed_tree": review["tree"]})


@pytest.mark.rule("W7.10", "S6.1", "S6.2")
def test_an_outside_agent_works_on_a_bench_and_cannot_publish(tmp_path):
    home = tmp_path / "home"
    (tmp_path / "a.txt").write_text("one\n")
    with Backshop.open(home) as shop:
        bench = shop.call("WorkbenchCreate", {"name": "B"})["workbench_id"]
        request = {"workbench_id": bench, "source_paths": [str(tmp_path / "a.txt")]}
        shop.call("WorkbenchFilesAdd", request)
    both = Toolbox(home, tool_sets=("rails", "bench"), bench_id=bench)

    async def story() -> None:
        async with Client(build(both)) as client:
            tools = (await client.list_tools()).tools
            listed = await call(client, "list_files", {})
            written = await call(client, "write_text_file", {"path": "a.txt", "content": "two\n"})
            refused = await call(client, "write_text_file", {"path": "/etc/x", "content": "x"})
            wrong = await call(client, "write_text_file", {"file": "a.txt"})
            review = await call(client, "review_draft", {})

        names = {tool.name for tool in tools}
        whole = [(tool.name, tool.description, tool.input_schema) for tool in tools]
        assert {"read_file", "xlsx_operations", "review_draft"} | RAILS <= names
        assert not any("publish" in name or "discard" in name for name in names)
        told = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
        assert len(told.encode()) <= 24 * 1024
        assert [one["path"] for one in listed["files"]] == ["a.txt"]
        assert not written["_error"]
        assert refused["_error"]
        assert refused["error"]["reason"] == "bad_path"
        assert wrong["_error"]
        assert [entry["kind"] for entry in review["entries"]] == ["MODIFIED"]

    anyio.run(story)
    both.close()
    with Backshop.open(home) as shop:
        state = shop.benches.desk.state(bench)
        assert state.draft is not None
        assert state.generation == 1


@pytest.mark.rule("S4.3", "S6.1")
def test_a_bench_is_served_by_its_name(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        shop.call("WorkbenchCreate", {"name": "Reports"})

    async def story() -> None:
        offering = Toolbox(tmp_path / "home", tool_sets=("bench",), bench_id="Reports")
        async with Client(build(offering)) as client:
            assert not (await client.call_tool("list_files", {})).is_error
        offering.close()

    anyio.run(story)


@pytest.mark.rule("S5.3", "S6.1", "S6.22")
@pytest.mark.parametrize("mode", MODES)
def test_what_stands_in_the_way_of_the_tools_reaches_the_client_in_words(tmp_path, mode):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "settings.json").write_text('{"nonsense": 1}')
    with Backshop.open(tmp_path / "home") as shop:
        shop.call("WorkbenchCreate", {"name": "Reports"})
    no_bench = Toolbox(tmp_path / "home", tool_sets=("rails", "bench"), bench_id="nope")
    no_home = Toolbox(tmp_path / "broken")

    async def refusal(offering: Toolbox) -> Any:
        async with Client(build(offering), mode=mode) as client:
            (listed,) = (await client.list_tools()).tools
            called = await client.call_tool("list_workflows", {})
        offering.close()
        assert called.is_error
        said = called.content[0]
        assert isinstance(said, types.TextContent)
        assert said.text in (listed.description or "")
        assert "Tell the person" in (listed.description or "")
        return (called.structured_content or {})["error"]

    missing = anyio.run(refusal, no_bench)
    assert (missing["error_code"], missing["hints"]) == ("NOT_FOUND", ["Reports"])
    assert anyio.run(refusal, no_home)["reason"] == "bad_setting"


@pytest.mark.rule("S6.22", "S6.23")
def test_the_command_says_why_it_has_no_tools_and_leaves_its_output_to_the_client(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        shop.call("WorkbenchCreate", {"name": "Reports"})
    command = [sys.executable, "-m", "backshop.cli", "mcp", "--bench", "nope"]

    done = subprocess.run(
        [*command, "--home", str(tmp_path / "home")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no workbench 'nope'" in done.stderr
    assert "Reports" in done.stderr


@pytest.mark.rule("S6.29")
def test_one_interrupt_ends_the_server_while_it_waits_for_its_client(tmp_path):
    command = [sys.executable, "-m", "backshop.cli", "mcp", "--home", str(tmp_path / "home")]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 130


@pytest.mark.rule("S6.1")
@pytest.mark.parametrize("left", ["", "abc", "\n\n"])
def test_an_empty_or_cut_token_file_lets_nobody_in(tmp_path, left):
    (tmp_path / "mcp.token").write_text(left)

    token = token_of(tmp_path)

    assert len(token) >= 32
    assert token_of(tmp_path) == token
    assert (tmp_path / "mcp.token").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["mcp.token"]


@pytest.mark.rule("S5.3")
def test_a_taken_port_is_refused_in_words(offering, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValidationFailed) as refused:
            serve_http(offering, tmp_path, port=port, announce=lambda *_: pytest.fail("announced"))

    assert refused.value.reason == "bad_params"


@pytest.mark.rule("R7.2")
@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_asks_is_told_how_far_the_run_is(offering, mode):
    told: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async def story() -> None:
        async with Client(build(offering), mode=mode) as client:
            answer = await call(client, "start_workflow", {"workflowId": "wr.change_review"})
            arguments = {**answer["nextCall"]["arguments"]}
            await client.call_tool("continue_workflow", arguments, progress_callback=hear)
            await client.call_tool("continue_workflow", {"stateToken": answer["stateToken"]})

    anyio.run(story)
    assert len(told) == 1
    done, total = told[0]
    assert 0 <= done < (total or 0)


@pytest.mark.rule("R3.4")
@pytest.mark.parametrize("mode", MODES)
def test_the_first_root_of_a_client_is_the_project_it_means(offering, tmp_path, mode):
    project = tmp_path / "my project"
    (project / "workflows").mkdir(parents=True)
    flow = {
        "id": "project.own",
        "name": "Own",
        "description": "Of the project.",
        "version": "1.0.0",
    }
    flow["steps"] = [{"id": "a", "title": "A", "prompt": "Do a."}]  # type: ignore[assignment]
    (project / "workflows" / "own.json").write_text(json.dumps(flow))
    (tmp_path / "stranger").mkdir()
    stranger = (tmp_path / "stranger").as_uri().replace("file://", "file://elsewhere")
    uris = [stranger, "file:///no/such/folder", project.as_uri()]

    async def roots(context: Any) -> types.ListRootsResult | types.ErrorData:
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in uris])

    async def story() -> None:
        async with Client(build(offering), mode=mode, list_roots_callback=roots) as client:
            listed = await call(client, "list_workflows", {"query": "project.own"})
            started = await call(client, "start_workflow", {"workflowId": "project.own"})
        async with Client(build(offering), mode=mode) as plain:
            without = await call(plain, "list_workflows", {"query": "project.own"})

        assert [one["workflowId"] for one in listed["workflows"]] == ["project.own"]
        assert started["pending"]["stepId"] == "a"
        assert without["workflows"] == []

    anyio.run(story)


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ASKING = {"accept": "application/json, text/event-stream", "authorization": "Bearer t"}


@pytest.mark.rule("S6.1")
def test_only_so_many_connections_are_open_at_once(offering, tmp_path, monkeypatch):
    monkeypatch.setattr("backshop.mcp.http.SESSIONS_MAX", 2)

    async def story() -> list[int]:
        async with over_http(offering, "t") as url, httpx2.AsyncClient(headers=ASKING) as http:
            opened = [await http.post(url, json=HELLO) for _ in range(3)]
            ended = await http.delete(
                url, headers={"mcp-session-id": opened[0].headers["mcp-session-id"]}
            )
            again = await http.post(url, json=HELLO)
            return [one.status_code for one in (*opened, ended, again)]

    assert anyio.run(story) == [200, 200, 503, 200, 200]


@pytest.mark.rule("S6.1")
def test_a_connection_that_is_idle_ends_and_makes_room(offering, monkeypatch):
    assert SESSION_IDLE_S == 1800
    monkeypatch.setattr("backshop.mcp.http.SESSION_IDLE_S", 0.05)
    monkeypatch.setattr("backshop.mcp.http.SESSIONS_MAX", 1)
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

    async def story() -> int:
        async with over_http(offering, "t") as url, httpx2.AsyncClient(headers=ASKING) as http:
            first = await http.post(url, json=HELLO)
            with anyio.fail_after(5):
                while (await http.post(url, json=HELLO)).status_code != 200:
                    await anyio.sleep(0.01)  # there is room as soon as the first has ended
            session = {"mcp-session-id": first.headers["mcp-session-id"]}
            return (await http.post(url, json=ping, headers=session)).status_code

    assert anyio.run(story) == 404
