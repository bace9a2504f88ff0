"""MCP over streamable HTTP: loopback, a bearer token, and no foreign Host or Origin (S6.1)."""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backshop.base.errors import ValidationFailed

from .server import build
from .toolbox import Offering

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

TOKEN_BYTES = 32
_TOKEN_FILE = "mcp.token"  # noqa: S105  # the name of the file, not a token


def token_of(home: Path) -> str:
    """Return the home's token, made on first use and readable by its owner only."""
    from backshop.store import file_error  # loaded when a server is started

    path = home / _TOKEN_FILE
    try:
        if found := _stored(path):
            return found
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temp = tempfile.mkstemp(prefix=".mcp-token-", dir=home)  # for its owner only
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(TOKEN_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temp, path)
        except FileExistsError:  # another process was first, or what is there is no token
            if not _stored(path):
                Path(temp).replace(path)
        finally:
            Path(temp).unlink(missing_ok=True)
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise file_error(error) from error


def _stored(path: Path) -> str | None:
    """Return the token in the file; an empty or cut one would let anybody in."""
    try:
        text = path.read_bytes().decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    return text if len(text) >= TOKEN_BYTES else None


class RequireToken:
    """Lets a request in only with the bearer token; everything else gets 401."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if hmac.compare_digest(given, self._wanted):
            await self._app(scope, receive, send)
            return
        if scope["type"] == "http":
            headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b""})


def application(offering: Offering, token: str, host: str = "127.0.0.1") -> ASGIApp:
    """Return the ASGI application; the SDK checks Host and Origin, we check the token."""
    return RequireToken(build(offering).streamable_http_app(host=host), token)


def serve_http(
    offering: Offering,
    home: Path,
    *,
    port: int,
    announce: Callable[[str, str], Any],
) -> None:
    """Serve on loopback until stopped; `announce` gets the address and the token."""
    import uvicorn  # loaded when a server is started

    token = token_of(home)
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise ValidationFailed(
            f"port {port} cannot be listened on", reason="bad_params", detail=error.strerror
        ) from error
    config = uvicorn.Config(application(offering, token), log_level="warning", server_header=False)
    announce(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", token)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
        offering.close()
