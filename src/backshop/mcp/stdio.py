"""MCP over standard input and output: nothing but frames on stdout."""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from .server import build
from .toolbox import Offering


def serve_stdio(offering: Offering) -> None:
    """Serve until the client closes its end."""
    try:
        anyio.run(_serve, offering)
    finally:
        offering.close()


async def _serve(offering: Offering) -> None:
    server = build(offering)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
