"""MCP over streamable HTTP: loopback, a bearer token, and no foreign Host or Origin (S6.1).

The home's own token is its owner's. Somebody who shares the home comes in with their personal one
and has their own roles (T6.4).
"""

from __future__ import annotations

import hmac
import json
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio.to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings

from backshop.base.ambient import SystemClock
from backshop.base.errors import BackshopError, LimitExceeded, ValidationFailed
from backshop.base.ids import UserId

from .server import USER, build
from .toolbox import Toolbox

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

TOKEN_FILE = "mcp.token"  # noqa: S105  # the name of the file, not a token
_BEARER = b"Bearer "
SESSIONS_MAX = 2000  # open at once; each keeps its last answer, a quarter of a megabyte at most
SESSION_IDLE_S = 30 * 60  # then one ends that no request is about and no stream is open for
_REFUSED = -32000  # the first of JSON-RPC's codes that are a server's own


def token_of(home: Path) -> str:
    """Return the home's token, made on first use and readable by its owner only."""
    from backshop.app import secret_of  # loaded when a server is started

    return secret_of(home, TOKEN_FILE)


class RequireToken:
    """Lets a request in with the home's token or a person's, and notes whose it was."""

    def __init__(self, app: ASGIApp, offering: Toolbox, token: str) -> None:
        from backshop.app import TokenThrottle  # loaded when a server is started

        self._app = app
        self._offering = offering
        self._wanted = _BEARER + token.encode()
        self._guesses = TokenThrottle(SystemClock())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            given = dict(scope.get("headers", ())).get(b"authorization", b"")
            refusal = await self._admitted(scope, given)
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await refusal.send(send)

    async def _admitted(self, scope: Scope, given: bytes) -> Refusal | None:
        """Note who it is in the request, or return what to answer instead."""
        if hmac.compare_digest(given, self._wanted):
            scope[USER], scope["user"] = None, _principal("owner")
            return None
        if not given:
            return Refusal(401, "token_missing", "send the header `Authorization: Bearer TOKEN`")
        address, text = (scope.get("client") or ("",))[0], given.decode("latin-1")
        try:
            self._guesses.check(address, text)
            user = await anyio.to_thread.run_sync(self._person, text)
        except LimitExceeded as error:
            return _slowed(error)
        except BackshopError as error:
            return Refusal(503, error.code.lower(), error.message)
        if user is None:
            self._guesses.note_wrong(address)
            return Refusal(401, "token_wrong", "this token is not valid here, or not any more")
        self._guesses.note_right(text)
        scope[USER], scope["user"] = user, _principal(user)
        return None

    def _person(self, given: str) -> UserId | None:
        bearer = _BEARER.decode()
        if not given.startswith(bearer):
            return None
        return self._offering.person(given.removeprefix(bearer).strip())


class Refusal:
    """An answer to a request that is not let in: JSON-RPC's error, with a reason to go by."""

    def __init__(self, status: int, reason: str, text: str, *headers: tuple[bytes, bytes]) -> None:
        code = {503: "STORE_UNAVAILABLE", 429: "LIMIT_EXCEEDED"}.get(status, "ACCESS_DENIED")
        error = {"code": _REFUSED, "message": text, "data": {"code": code, "reason": reason}}
        self._body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
        self._status = status
        challenge = [] if status != 401 else [(b"www-authenticate", b"Bearer")]
        self._headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self._body)).encode()),
            (b"cache-control", b"no-store"),
            *challenge,
            *headers,
        ]

    async def send(self, send: Send) -> None:
        """Answer with it."""
        start = {"type": "http.response.start", "status": self._status, "headers": self._headers}
        await send(start)
        await send({"type": "http.response.body", "body": self._body})


def _slowed(error: LimitExceeded) -> Refusal:
    from backshop.app import wait_s  # loaded when a server is started

    seconds = wait_s(error)
    text = f"too many wrong tokens; try again in {seconds} s"
    return Refusal(429, "too_many_guesses", text, (b"retry-after", str(seconds).encode()))


def _principal(name: str) -> AuthenticatedUser:
    """Return who the SDK takes a request to come from: a session is of its opener alone."""
    return AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))


def application(offering: Toolbox, token: str, public_url: str | None = None) -> ASGIApp:
    """Return the ASGI application; the SDK checks Host and Origin, we check the token.

    `public_url` is what clients call the server behind a proxy (S3.2).
    """
    served = build(offering).streamable_http_app(
        max_sessions=SESSIONS_MAX,
        session_idle_timeout=SESSION_IDLE_S,
        transport_security=_names(public_url),
    )
    return RequireToken(served, offering, token)


def _names(public_url: str | None) -> TransportSecuritySettings:
    """Return what a request may call this server, and where a page may be that sends one."""
    hosts = [f"{name}:*" for name in ("127.0.0.1", "localhost", "[::1]")]
    origins = [f"http://{host}" for host in hosts]
    if public_url:
        parts = urlsplit(public_url.lower())
        hosts.append(parts.netloc)
        origins.append(f"{parts.scheme}://{parts.netloc}")
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def serve_http(
    offering: Toolbox,
    home: Path,
    *,
    port: int,
    announce: Callable[[str, str], Any],
    public_url: str | None = None,
    trusted_proxies: Sequence[str] = (),
) -> None:
    """Serve on loopback until stopped; `announce` gets the address and the token.

    Wrong tokens are counted by address: of whom a trusted proxy names, else of who connects (T6.4).
    """
    import uvicorn  # loaded when a server is started

    offering.tools()  # what stands in their way is said before anybody connects
    token = token_of(home)
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise ValidationFailed(
            f"port {port} cannot be listened on",
            reason="bad_params",
            detail=error.strerror,
            hints=("choose another port with --port",),
        ) from error
    config = uvicorn.Config(
        application(offering, token, public_url),
        log_level="warning",
        server_header=False,
        log_config=None,  # its own would go past the filter of M3.12
        forwarded_allow_ips=list(trusted_proxies),
    )
    announce(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", token)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
        offering.close()
