"""How long an MCP client waits for its first answer (S2.4).

    python -m benchmarks.measure_mcp

`backshop mcp` is held against a bare server of the same SDK with one tool, both started as a
client starts them: a new process, the handshake over stdio, the answer. The second table is about
the first list of tools, which opens the home; no rule bounds it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from .report import child_env, head, medians, row

FIRST_ANSWER_MAX = 1.3
ROUNDS = 11
ROOT = Path(__file__).resolve().parents[1]
BARE = """
import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
import mcp_types as types

async def list_tools(_, __):
    tool = types.Tool(name="echo", description="Say it again.", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])

async def main():
    server = Server("bare", version="1", on_list_tools=list_tools)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

anyio.run(main)
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "measure", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
TOOLS = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def ask(command: list[str], env: dict[str, str], *, wants_tools: bool) -> None:
    """Start a server, wait for its first answer, and end it."""
    process = subprocess.Popen(  # our own server
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        _send(process, HELLO)
        assert b'"result"' in process.stdout.readline()
        if wants_tools:
            _send(process, READY)
            _send(process, TOOLS)
            assert b'"tools"' in process.stdout.readline()
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _send(process: subprocess.Popen[bytes], message: object) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        env = child_env(PYTHONPATH=str(ROOT / "src"), BACKSHOP_HOME=f"{folder}/home")
        ours = [sys.executable, "-m", "backshop.cli", "mcp"]
        bare = [sys.executable, "-c", BARE]
        ask(ours, env, wants_tools=True)  # makes the home
        times = medians(
            {
                "bare": lambda: ask(bare, env, wants_tools=False),
                "ours": lambda: ask(ours, env, wants_tools=False),
                "bare tools": lambda: ask(bare, env, wants_tools=True),
                "our tools": lambda: ask(ours, env, wants_tools=True),
            },
            ROUNDS,
        )
    head()
    row("first answer, against a bare server", times["ours"] / times["bare"], FIRST_ANSWER_MAX)
    print(f"\nBare server {times['bare']:.2f} s, ours {times['ours']:.2f} s;", end=" ")
    print(f"with the list of tools {times['bare tools']:.2f} s and {times['our tools']:.2f} s.")


if __name__ == "__main__":
    main()
