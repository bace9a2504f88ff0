"""Server-sent events: `GET /events?workbench_id=…`, resumed by `Last-Event-ID` (S5.2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress

import anyio
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from backshop.app import About, Notification, Subscription
from backshop.base.errors import AccessDenied, BackshopError, ValidationFailed

from .security import cookie_of, user_of
from .site import Site, fault_response

KEEP_ALIVE_S = 15.0
RETRY_MS = 1000


async def events(request: Request) -> Response:
    """Follow a bench, a session, or everything."""
    site: Site = request.app.state.site
    try:
        after = _position(request)
    except ValidationFailed as error:
        return fault_response(error)
    about = About(
        workbench_id=request.query_params.get("workbench_id"),
        session_id=request.query_params.get("session_id"),
        listener=site.shop.gate.listener(user_of(request)),
    )
    if not await site.run(about.is_allowed):
        return fault_response(AccessDenied("this needs the role 'read'", reason="role"))
    return StreamingResponse(
        _stream(site, about, after, cookie_of(request)),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


def _position(request: Request) -> int | None:
    given = request.headers.get("last-event-id") or request.query_params.get("after")
    if not given:
        return None
    if not given.isdecimal() or len(given) > 18:
        raise ValidationFailed("not a position of an event", reason="bad_params")
    return int(given)


async def _stream(site: Site, about: About, after: int | None, cookie: str) -> AsyncIterator[bytes]:
    news = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wake() -> None:  # called by any thread, which must not wait for this one
        with suppress(RuntimeError):  # the loop has ended, and with it this client
            loop.call_soon_threadsafe(news.set)

    stack = ExitStack()
    try:
        opened = site.hub.subscribe(about, after=after, wake=wake)
        subscription: Subscription = await site.run(stack.enter_context, opened)
        yield f"retry: {RETRY_MS}\n\n".encode()
        while not subscription.closed:
            news.clear()
            is_over = subscription.lagged or subscription.ended  # before what was still queued
            sent = b"".join(_frame(note) for note in subscription.take())
            if await site.run(site.login.is_over, cookie):
                return  # logged out meanwhile: nothing more, not even what was queued
            if sent:
                yield sent
                continue
            if is_over:
                return  # the client comes back with its last position, and may be refused then
            try:
                await asyncio.wait_for(news.wait(), KEEP_ALIVE_S)
            except TimeoutError:
                yield b": still here\n\n"
    except BackshopError:  # the store is away: the client comes back and asks again
        return
    finally:
        with anyio.CancelScope(shield=True):  # leaving may have to wait for the hub
            await site.run(stack.close)


def _frame(note: Notification) -> bytes:
    place = "" if note.position is None else f"id: {note.position}\n"
    data = json.dumps(note.params, ensure_ascii=False, separators=(",", ":"))
    return f"{place}event: {note.name}\ndata: {data}\n\n".encode()
