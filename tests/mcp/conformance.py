"""Our server with the tools the MCP project's conformance suite calls, in place of our own.

    python -m tests.mcp.conformance

Serves them through the whole of `backshop.mcp` over HTTP on a free port of this machine and
prints the address. The suite sends no bearer token, so one is put into its requests on the way.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import uvicorn

from backshop.mcp.http import application
from backshop.mcp.offer import Called, OfferedTool
from backshop.mcp.toolbox import Toolbox

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

TOKEN = "conformance"  # of a server that serves nothing of anybody's
DIALECT = "https://json-schema.org/draft/2020-12/schema"
NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
ADDRESS: dict[str, Any] = {
    "$schema": DIALECT,
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
REGION: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
    "additionalProperties": False,
}


def _tool(
    name: str,
    text: str,
    *,
    schema: dict[str, Any] = NOTHING,
    is_error: bool = False,
    reports: tuple[tuple[int, int], ...] = (),
) -> OfferedTool:
    def call(_: Mapping[str, Any], __: object) -> Called:
        return Called((text,), {"text": text}, is_error=is_error)

    return OfferedTool(
        name=name,
        title=name,
        description=f"Answers {text!r}.",
        input_schema=schema,
        answer_schema={},
        read_only=True,
        idempotent=True,
        call=call,
        progress=(lambda _: reports) if reports else None,
    )


class Fixture(Toolbox):
    """Offers the suite's tools; opens no home."""

    def person(self, token: str) -> None:
        """Nobody shares what is not there."""

    def tools(self) -> dict[str, OfferedTool]:
        """Return what the suite calls and our kind of tool can answer."""
        found = [
            _tool("test_simple_text", "This is a simple text response for testing."),
            _tool("test_error_handling", "This tool intentionally fails.", is_error=True),
            _tool("test_tool_with_progress", "done", reports=((0, 100), (50, 100), (100, 100))),
            _tool("json_schema_2020_12_tool", "done", schema=ADDRESS),
            _tool("test_x_mcp_header", "done", schema=REGION),
        ]
        return {tool.name: tool for tool in found}


class Introduce:
    """Puts the bearer token into requests that carry none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "http":
            given = (b"authorization", f"Bearer {TOKEN}".encode())
            scope = {**scope, "headers": [*scope["headers"], given]}
        await self._app(scope, receive, send)


def main() -> None:
    """Serve until stopped."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
        app = Introduce(application(Fixture(), TOKEN))
        uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])


if __name__ == "__main__":
    main()
