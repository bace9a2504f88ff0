"""MCP over standard input and output: nothing but frames on stdout."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from backshop.base.system.interrupt import end_on_interrupt

from .server import build
from .toolbox import Toolbox


def serve_stdio(offering: Toolbox, tell: Callable[[Exception], None]) -> bool:
    """Serve until the client closes its end; say whether there were tools to offer.

    `tell` hears what stands in their way, as soon as it is known.
    """
    try:
        return anyio.run(_serve, offering, tell)
    finally:
        offering.close()


async def _serve(offering: Toolbox, tell: Callable[[Exception], None]) -> bool:
    end_on_interrupt(asyncio.get_running_loop(), offering.close)
    server = build(offering)
    failed: list[Exception] = []

    async def prepare() -> None:
        """Load the tools while the client is greeted: the first list is then there sooner."""
        try:
            await anyio.to_thread.run_sync(offering.tools)
        except Exception as error:  # answers say it too
            failed.append(error)
            tell(error)
        finally:
            gc.enable()  # who started this may have put it off

    async with stdio_server() as (reading, writing), anyio.create_task_group() as group:
        group.start_soon(prepare)
        await server.run(reading, writing, server.create_initialization_options())
    return not failed
