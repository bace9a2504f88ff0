"""The client's first root: which project a call is about when it does not say (R3.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

WAIT_S = 2.0  # a client that does not answer has no roots


async def root_of(session: Any) -> str | None:
    """Return the folder of the first root that is a file, if the client has and tells roots."""
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return None
    found: types.ListRootsResult | None = None
    try:
        with anyio.move_on_after(WAIT_S):
            found = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    except MCPError:  # it said it could, and cannot
        return None
    paths = (folder_of(str(one.uri)) for one in (found.roots if found else ()))
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
