"""Who is let in and what a page may do: login link, cookie, Host, Origin, content policy (S7.2).

Plain ASGI: the gate stands in front of everything, and no handler can forget it.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from backshop.app import COOKIE_DAYS, OWNER
from backshop.base.ambient import Clock
from backshop.base.ids import UserId

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from backshop.app import Links

_DAY_MS = 86_400_000
IsHere = Callable[[str, str], Awaitable[bool]]
"""Says of somebody and their cookie whether they are still let in."""
Failed = Callable[["Scope", Exception], "ASGIApp"]

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types backshop",
    )
)
HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
FRAGMENT = "x-fragment"  # the header of a script that asks for a part of a page
OPEN_PATHS = ("/healthz", "/join", "/login")  # and what stands below /static/
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach a server that listens on `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Login:
    """One-time links, and the cookies they are exchanged for; cookies survive a restart."""

    def __init__(self, secret: str, clock: Clock, links: Links) -> None:
        self._secret = secret.encode()
        self._clock = clock
        self._links = links

    def new_link(self) -> str:
        """Return a token that lets one browser in, once."""
        return self._links.new()

    def exchange(self, token: str) -> str | None:
        """Return the owner's cookie for a link that was not used yet, else None."""
        return self._cookie() if self._links.spend(token) else None

    def cookie_for(self, user: UserId) -> str:
        """Return a cookie for somebody whose personal token was shown (T6.4)."""
        return self._cookie(user)

    def knows(self, cookie: str) -> str | None:
        """Return whose cookie this is, "" for the owner's; None if it is none of ours, or old.

        Whether its login has ended meanwhile says `is_over`, which asks the store.
        """
        head, _, signature = cookie.rpartition(".")
        if not head or not hmac.compare_digest(self._sign(head).encode(), signature.encode()):
            return None
        issued, user, *_ = head.split(".")
        age_ms = self._clock.now_ms() - int(issued)
        return user if -_DAY_MS <= age_ms <= COOKIE_DAYS * _DAY_MS else None

    def is_over(self, cookie: str) -> bool:
        """Say whether somebody has logged out what a cookie of ours let in."""
        _, user, *rest = cookie.split(".")
        made_in = int(rest[0]) if len(rest) == 3 else 0  # without a round: of 0.1.0
        return self._links.is_over(cookie, user, made_in)

    def leave(self, cookie: str, *, everywhere: bool) -> None:
        """End the login of a cookie, or every one of whose it is."""
        if everywhere:
            self._links.end_all(cookie.split(".")[1])
        else:
            self._links.end(cookie)

    def _cookie(self, user: str = OWNER) -> str:
        made_in = self._links.round_of(user)
        head = f"{self._clock.now_ms()}.{user}.{made_in}.{secrets.token_urlsafe(12)}"
        return f"{head}.{self._sign(head)}"

    def _sign(self, head: str) -> str:
        return hmac.new(self._secret, head.encode(), sha256).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where the server listens, which decides what a request may call it."""

    host: str
    port: int
    names: tuple[str, ...] = field(default=())
    """Further host names it answers to."""
    public_url: str | None = None
    """What people type into their browser where a proxy stands in front (T6.1)."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can come in."""
        return is_loopback(self.host)

    @property
    def cookie(self) -> str:
        """The name of the cookie; cookies do not know ports, so the port is in the name.

        Servers behind one name share it, whatever their ports.
        """
        return "backshop" if self.public_url else f"backshop_{self.port}"

    def is_secure_at(self, host: str, scheme: str) -> bool:
        """Say whether a browser that calls us so comes over TLS; on this machine itself none does.

        A proxy that is not trusted says nothing about that, but passes on the name.
        """
        public = urlsplit(self.public_url or "")
        is_public = public.scheme == "https" and host.lower() == public.netloc.lower()
        return is_public or scheme == "https"

    def answers_to(self, host: str) -> bool:
        """Say whether a Host header is ours. A name that leads here by DNS alone is not."""
        if self.public_url and host.lower() == urlsplit(self.public_url).netloc.lower():
            return True
        name, port = _split_host(host)
        if port != self.port:
            return False
        if name in _LOOPBACK or name == self.host or name in self.names:
            return True
        return not self.loopback and _is_address(name)

    def is_own_origin(self, origin: str, host: str) -> bool:
        """Say whether a request comes from one of our own pages."""
        try:
            parts = urlsplit(origin)
        except ValueError:  # no address at all
            return False
        return parts.scheme in {"http", "https"} and parts.netloc == host


def _is_of_a_person(method: str, headers: dict[bytes, str]) -> bool:
    """Say whether a browser shows the answer: of a page, or of a form that was sent from one."""
    is_form = method == "POST" and FRAGMENT.encode() not in headers
    return (method == "GET" or is_form) and "text/html" in headers.get(b"accept", "")


def _split_host(host: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{host}")
        return (parts.hostname or "").lower(), parts.port or 80
    except ValueError:
        return "", 0


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class WebGate:
    """Lets a request through to the pages, or answers it here: 403, or the way to log in."""

    def __init__(
        self, app: ASGIApp, door: Door, login: Login, is_here: IsHere, failed: Failed
    ) -> None:
        self._app = app
        self._door = door
        self._login = login
        self._is_here = is_here
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no web sockets here
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(headers)
        if refusal is not None:
            await _refuse(send, 403, refusal)
            return
        path = scope["path"]
        is_open = path in OPEN_PATHS or path.startswith("/static/")
        user, cookie = self._who(headers)
        way_in = "/login?ended=1" if scope["method"] == "POST" else "/login"
        try:
            if user is not None and not is_open and not await self._is_here(user, cookie):
                user = None  # removed or logged out since; the cookie alone is good for weeks
                way_in = "/login?ended=1"
        except Exception as error:  # an outermost handler: nobody can say whether they are let in
            await self._failed(scope, error)(scope, receive, _with_headers(send))
            return
        if user is not None or is_open:
            scope["backshop.user"] = UserId(user) if user else None
            scope["backshop.cookie"] = cookie
            await self._app(scope, receive, _with_headers(send))
        elif _is_of_a_person(scope["method"], headers):
            await _redirect(send, way_in)
        else:
            await _refuse(send, 401, "log in first: open the link that was printed at start")

    def _refusal(self, headers: dict[bytes, str]) -> str | None:
        host = headers.get(b"host", "")
        if not self._door.answers_to(host):
            return "this server is not called that"
        origin = headers.get(b"origin")
        if origin is not None and not self._door.is_own_origin(origin, host):
            return "requests come from Backshop's own pages only"
        if headers.get(b"sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            mode = headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")
            if mode != ("navigate", "document"):
                return "requests come from Backshop's own pages only"
        return None

    def _who(self, headers: dict[bytes, str]) -> tuple[str | None, str]:
        """Return who a request says it is from, and the cookie that says so."""
        try:
            morsel = SimpleCookie(headers.get(b"cookie", "")).get(self._door.cookie)
        except CookieError:
            return None, ""
        return (None, "") if morsel is None else (self._login.knows(morsel.value), morsel.value)


def user_of(request: Request) -> UserId | None:
    """Return who sent a request the gate let in; None is the home's owner (T6.4)."""
    found: UserId | None = request.scope["backshop.user"]
    return found


def cookie_of(request: Request) -> str:
    """Return the cookie of a request that the gate let in."""
    return str(request.scope["backshop.cookie"])


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message["headers"]}
            added = [pair for pair in HEADERS if pair[0] not in own]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sending


async def _refuse(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await _answer(send, status, headers, text.encode())


async def _redirect(send: Send, path: str) -> None:
    await _answer(send, 303, [(b"location", path.encode()), *HEADERS], b"")


async def _answer(
    send: Send, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes
) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
