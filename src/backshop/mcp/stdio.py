"""MCP over standard input and output: nothing but frames on stdout."""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from .server import build
from .toolbox import Toolbox


def serve_stdio(offering: Toolbox) -> None:
    """Serve until the client closes its end."""
    try:
        anyio.run(_serve, offering)
    finally:
        offering.close()


async def _serve(offering: Toolbox) -> None:
    server = build(offering)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
