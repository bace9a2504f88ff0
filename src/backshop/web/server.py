"""The web app: routes behind the gate, and the server that runs them (S7)."""

from __future__ import annotations

import mimetypes
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from backshop import __version__
from backshop.app import (
    COOKIE_DAYS,
    Backshop,
    Links,
    fault_of,
    running,
    secret_of,
    sharing,
    web_address,
)
from backshop.base.canon import parse
from backshop.base.errors import (
    AccessDenied,
    BackshopError,
    LimitExceeded,
    NotFound,
    ValidationFailed,
)
from backshop.base.ids import UserId

from . import forms, pages, turns
from .events import events
from .files import download, download_all, upload
from .markdown import rendered
from .pages.kit import THEME_COOKIE, THEMES
from .render import page as render
from .render import static_file, version
from .rpc import read_body, rpc
from .security import Door, Login, WebGate, cookie_of
from .site import Site, fault_response, waiting, wants_page

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Found = TypeVar("Found")
KEY_FILE = "web.key"
BACKLOG = 128
GRACE_S = 1
REFUSALS = {
    400: ("That did not work", "VALIDATION_FAILED", "the form cannot be read, or is too large"),
    404: ("Not found", "NOT_FOUND", "there is no such page"),
    405: ("Not found", "NOT_FOUND", "there is no page here, only what answers a form"),
}
MARKDOWN_MAX_BYTES = 2 * 1024 * 1024


def application(shop: Backshop, door: Door, login: Login) -> ASGIApp:
    """Return the ASGI application on an open shop."""
    site = Site(shop, door, login)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        threading.Thread(target=site.warm, name="backshop-warm", daemon=True).start()
        yield
        site.hub.close()

    app = Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/login", enter),
            Route("/login", enter_by_token, methods=["POST"]),
            Route("/join", invited),
            Route("/join", take_up, methods=["POST"]),
            Route("/logout", leave, methods=["POST"]),
            Route("/rpc", rpc, methods=["POST"]),
            Route("/events", events),
            Route("/static/{version}/{name}", static),
            Route("/bench/{bench_id}/files", upload, methods=["POST"]),
            Route("/bench/{bench_id}/files.zip", download_all),
            Route("/bench/{bench_id}/files/{path:path}", download),
            Route("/markdown", markdown, methods=["POST"]),
            *turns.ROUTES,
            *forms.ROUTES,
            *pages.ROUTES,
        ],
        exception_handlers={
            HTTPException: _refused,
            BackshopError: _failed,
            ClientDisconnect: _left,
        },
        middleware=[Middleware(Caught)],
        lifespan=lifespan,
    )
    app.state.site = site
    return WebGate(app, door, login, site.is_here, _failure)


class Caught:
    """Answers for what no handler has caught; a defect goes to the log under a reference (S5.3).

    It stands within the framework's own, which would give the traceback to the server's log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_begun = False

        async def sending(message: Message) -> None:
            nonlocal is_begun
            is_begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:  # a surface's outermost handler
            if isinstance(error.__cause__, ClientDisconnect):
                return
            answer = _failure(scope, error)
            if not is_begun:  # else it breaks off, which whoever reads it sees
                await answer(scope, receive, send)


async def healthz(_: Request) -> Response:
    """Say that the server lives, to anybody."""
    return JSONResponse({"status": "ok", "version": __version__})


async def markdown(request: Request) -> Response:
    """Render a piece of Markdown: an answer while it is still being written (U3.1)."""
    site: Site = request.app.state.site
    try:
        body = parse(await read_body(request, MARKDOWN_MAX_BYTES))
        text = body.get("text") if isinstance(body, dict) else None
        if not isinstance(text, str):
            raise ValidationFailed("a text is wanted", reason="bad_params")
    except BackshopError as error:
        return fault_response(error)
    return JSONResponse({"html": str(await site.run(rendered, text))})


async def enter(request: Request) -> Response:
    """Exchange a one-time link for a cookie, or say where to find one."""
    site: Site = request.app.state.site
    token = request.query_params.get("token")
    if token is None:
        return await _entered(request, None, refused=False)
    answer = await _guarded(request, token, lambda: site.login.exchange(token))
    if answer.status_code == 403 and await _is_in(request):
        return _home()
    return answer


async def _is_in(request: Request) -> bool:
    """Say whether the browser is let in already, whatever link it came by."""
    site: Site = request.app.state.site
    user = site.login.knows(cookie_of(request))
    return user is not None and await site.is_here(user, cookie_of(request))


def _home() -> Response:
    return RedirectResponse("/", status_code=303, headers={"cache-control": "no-store"})


async def enter_by_token(request: Request) -> Response:
    """Let somebody in who shares the home, by their personal token (T6.4)."""
    site: Site = request.app.state.site
    form = await request.form(max_files=0, max_fields=4)
    token = str(form.get("token") or "").strip()

    def cookie() -> str | None:
        user = site.shop.people.who(token)
        return site.login.cookie_for(user) if user else None

    return await _guarded(request, token, cookie)


async def invited(request: Request) -> Response:
    """Show what an invitation is for; a link is followed by programs too, so it is not used yet."""
    site: Site = request.app.state.site
    token = request.query_params.get("token", "")
    try:
        found = await _looked_up(request, token, lambda: site.shop.people.invited(token))
    except LimitExceeded as error:
        return _failure(request.scope, error)
    return _joining(request, {"invite": found, "token": token}, 200 if found else 403)


async def take_up(request: Request) -> Response:
    """Let the invited person in: their browser at once, with a token for every other one (T6.7)."""
    site: Site = request.app.state.site
    form = await request.form(max_files=0, max_fields=4)
    token = str(form.get("token") or "")

    def made() -> sharing.UserMade | None:
        try:
            return site.shop.people.take_up(token)
        except (AccessDenied, ValidationFailed):  # over, or the name is somebody's by now
            return None

    try:
        found = await _looked_up(request, token, made)
    except LimitExceeded as error:
        return _failure(request.scope, error)
    if found is None:
        return _joining(request, {"invite": None}, 403)
    cookie = await site.run(site.login.cookie_for, UserId(found.user_id))
    return _with_cookie(request, _joining(request, {"person": found}, 200), cookie)


def _joining(request: Request, context: dict[str, Any], status: int) -> Response:
    theme = request.cookies.get(THEME_COOKIE, "auto")
    common = {
        **{"title": "Invitation", "path": "/login", "invite": None, "person": None, "token": ""},
        "theme": theme if theme in THEMES else "auto",
    }
    headers = {"cache-control": "no-store"}
    text = render("join.html", {**common, **context})
    return HTMLResponse(text, status_code=status, headers=headers)


async def _guarded(request: Request, token: str, cookie: Callable[[], str | None]) -> Response:
    """Look whose token it is, unless too many wrong ones came from there."""
    try:
        found = await _looked_up(request, token, cookie)
    except LimitExceeded as error:
        return fault_response(error)
    return await _entered(request, found, refused=True)


async def _looked_up(
    request: Request, token: str, look: Callable[[], Found | None]
) -> Found | None:
    """Look a token up, and count it where it is none of ours.

    Raises:
        LimitExceeded: too many wrong ones came from there.
    """
    site: Site = request.app.state.site
    address = request.client.host if request.client else ""
    site.guesses.check(address, token)
    found = await site.run(look)
    if found is None:
        site.guesses.note_wrong(address)
    else:
        site.guesses.note_right(token)
    return found


async def _entered(request: Request, cookie: str | None, *, refused: bool) -> Response:
    site: Site = request.app.state.site
    if cookie is None:
        theme = request.cookies.get(THEME_COOKIE, "auto")
        has_people = bool((await site.run(lambda: site.shop.people.state)).users)
        context = {
            "title": "Log in",
            "path": "/login",
            "theme": theme if theme in THEMES else "auto",
            "used": refused,
            "by_token": request.method == "POST",
            "left": "left" in request.query_params,
            "ended": "ended" in request.query_params,
            "has_people": has_people,
        }
        return HTMLResponse(render("login.html", context), status_code=403 if refused else 200)
    return _with_cookie(request, _home(), cookie)


def _with_cookie(request: Request, answer: Response, cookie: str) -> Response:
    site: Site = request.app.state.site
    answer.set_cookie(
        site.door.cookie,
        cookie,
        max_age=COOKIE_DAYS * 86_400,
        httponly=True,
        samesite="strict",
        secure=site.door.is_secure_at(request.headers.get("host", ""), request.url.scheme),
    )
    return answer


async def leave(request: Request) -> Response:
    """End this browser's login, or every login of the same person; the cookie is worth nothing."""
    site: Site = request.app.state.site
    form = await request.form(max_files=0, max_fields=4)
    is_everywhere = form.get("everywhere") is not None
    await site.run(site.login.leave, cookie_of(request), everywhere=is_everywhere)
    answer = RedirectResponse(
        "/login?left=1", status_code=303, headers={"cache-control": "no-store"}
    )
    answer.delete_cookie(site.door.cookie, httponly=True, samesite="strict")
    return answer


KINDS = {".js": "text/javascript", ".woff2": "font/woff2"}  # machines differ in what they know


async def static(request: Request) -> Response:
    """Send one of our own files; its address changes with its content, so it is kept for ever."""
    name = request.path_params["name"]
    path = static_file(name)
    if path is None:
        return fault_response(NotFound("there is no such file"))
    is_current = request.path_params["version"] == version()
    caching = "public, max-age=31536000, immutable" if is_current else "no-store"
    kind = KINDS.get(path.suffix) or mimetypes.guess_type(name)[0]
    return Response(path.read_bytes(), media_type=kind, headers={"cache-control": caching})


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status not in REFUSALS:
        return Response(status_code=status)
    title, code, message = REFUSALS[status]
    refusal = {"error_code": code, "message": message}
    if wants_page(request.headers):
        return _plain_page(title, refusal, status)
    return JSONResponse({"error": refusal}, status_code=status)


async def _left(_: Request, __: Exception) -> Response:
    return Response(status_code=400)  # whoever sent it is gone and reads nothing


async def _failed(request: Request, error: Exception) -> Response:
    return _failure(request.scope, error)


def _failure(scope: Scope, error: Exception) -> Response:
    """Return a refusal that no page has caught: a page of its own for people, else data (U1.6)."""
    if not wants_page(Headers(scope=scope)):
        return fault_response(error)
    fault = fault_of(error)
    bench_id = scope.get("path_params", {}).get("bench_id")
    back = f"/bench/{quote(bench_id)}?stay=1" if bench_id else "/"
    page = _plain_page("That did not work", fault.envelope, fault.http, back)
    page.headers.update(waiting(fault))
    return page


def _plain_page(title: str, error: dict[str, Any], status: int, back: str = "/") -> Response:
    context = {"title": title, "path": "", "theme": "auto", "back": back, "error": error}
    return HTMLResponse(render("error.html", context), status_code=status)


def serve(
    shop: Backshop,
    *,
    host: str,
    port: int,
    announce: Callable[[str, str], Any],
) -> None:
    """Serve until stopped; `announce` gets the address and the one-time login link."""
    import uvicorn  # loaded when a server is started

    listening = _listen(host, port)
    bound = listening.getsockname()[1]
    door = Door(
        host=host,
        port=bound,
        names=(socket.gethostname().lower(),),
        public_url=shop.config["web.public_url"],
    )
    secret = secret_of(shop.config.home, KEY_FILE)
    login = Login(secret, shop.clock, Links(shop.store, secret, shop.clock))
    config = uvicorn.Config(
        application(shop, door, login),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        ws="none",
        log_config=None,  # its own would go past the filter of M3.12
        forwarded_allow_ips=list(shop.config["web.trusted_proxies"]),  # whom T6.4 counts by
    )
    announce(_address(host, bound), _link(shop, _address(host, bound), login))
    try:
        with running(shop.config, "web", address=_address(host, bound)):
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()


def further_link(shop: Backshop, *, host: str, port: int | None) -> str:
    """Return a link for one more browser, to a server of this home that runs already (S4.11).

    Without a port it is where the server on this machine noted that it is.

    Raises:
        NotFound: `no_server`; none runs here that noted it.
    """
    address = web_address(shop.config) if port is None else _address(host, port)
    if address is None and not shop.config["web.public_url"]:
        raise NotFound(
            "no web app of this home runs on this machine",
            reason="no_server",
            hints=("`backshop serve` starts one; --port names one that is known to run elsewhere",),
        )
    secret = secret_of(shop.config.home, KEY_FILE)
    login = Login(secret, shop.clock, Links(shop.store, secret, shop.clock))
    return _link(shop, address or "", login)


def _link(shop: Backshop, address: str, login: Login) -> str:
    outside = shop.config["web.public_url"] or address  # how a browser gets there
    return f"{outside.rstrip('/')}/login?token={login.new_link()}"


def _address(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in {"0.0.0.0", "::", "localhost"} else host  # noqa: S104  # compared
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ValidationFailed(
            f"{host}:{port} cannot be listened on",
            reason="bad_params",
            detail=error.strerror or str(error),
            hints=(
                "if Backshop runs there already, `backshop serve --link` prints a link to it",
                'else choose another port with --port N; make run ARGS="--port N"',
            ),
        ) from error
