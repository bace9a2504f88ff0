"""The client's first root: which project a call is about when it does not say (R3.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

WAIT_S = 2.0  # a client that does not answer has no roots
ROOTS = "roots"
"""Under what name a client is asked for its roots with an answer that is not final."""


async def root_of(
    session: Any, params: types.CallToolRequestParams
) -> str | types.InputRequiredResult | None:
    """Return the folder of the first root that is a file, if the client has and tells roots.

    Since revision 2026-07-28 a server cannot ask while it answers: then this is what to answer
    instead, and the client makes the same call again with its roots.
    """
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None
    if not session.can_send_request:
        given = params.input_responses
        if given is None:
            return types.InputRequiredResult(input_requests={ROOTS: types.ListRootsRequest()})
        return _first(given.get(ROOTS))
    found: types.ListRootsResult | None = None
    try:
        with anyio.move_on_after(WAIT_S):
            found = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    except MCPError:  # it said it could, and cannot
        return None
    return _first(found)


def _first(found: object) -> str | None:
    if not isinstance(found, types.ListRootsResult):
        return None
    paths = (folder_of(str(one.uri)) for one in found.roots)
    return next((path for path in paths if path is not None), None)


def folder_of(uri: str) -> str | None:
    """Return the folder a `file:` address of this machine names, None for anything else."""
    parts = urlsplit(uri)
    path = Path(unquote(parts.path))
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not path.is_absolute():
        return None
    try:
        return str(path) if path.is_dir() else None
    except (OSError, ValueError):  # too long, not readable, a NUL in it
        return None
