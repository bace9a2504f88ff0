"""MCP over streamable HTTP: loopback, a bearer token, and no foreign Host or Origin (S6.1)."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backshop.base.errors import ValidationFailed

from .server import build
from .toolbox import Offering

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_TOKEN_FILE = "mcp.token"  # noqa: S105  # the name of the file, not a token


def token_of(home: Path) -> str:
    """Return the home's token, made on first use and readable by its owner only."""
    from backshop.app import secret_of  # loaded when a server is started

    return secret_of(home, _TOKEN_FILE)


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
