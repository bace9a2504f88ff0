"""`Site`: what every request needs, and how the synchronous product is called from it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response

from backshop.app import Backshop, Fault, Hub, Parcels, TokenThrottle, fault_of
from backshop.base.ids import UserId

from .security import FRAGMENT, Door, Login

T = TypeVar("T")
THREADS = 64  # a turn occupies one for as long as it runs


class Site:
    """One home, served. Everything below is synchronous and runs in worker threads."""

    def __init__(self, shop: Backshop, door: Door, login: Login) -> None:
        self.shop = shop
        self.door = door
        self.login = login
        self.parcels = Parcels(shop.store, shop.clock, shop.limiter.require_room)
        self.guesses = TokenThrottle(shop.clock)
        self._limiter: anyio.CapacityLimiter | None = None
        self._warming = threading.Lock()
        self._is_warm = False

    @property
    def hub(self) -> Hub:
        """Where notifications come from."""
        return self.shop.hub

    async def run(self, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Run synchronous work in a thread; it goes on even if the client has left."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        whole = partial(self._after_warming, partial(work, *args, **kwargs))
        return await anyio.to_thread.run_sync(whole, limiter=self._limiter)

    async def is_here(self, user: str, cookie: str) -> bool:
        """Say whether somebody still has a token of this home, and has not logged out."""

        def look() -> bool:
            is_known = not user or UserId(user) in self.shop.people.state.users
            return is_known and not self.login.is_over(cookie)

        return await self.run(look)

    def warm(self) -> None:
        """Make the rooms, once: two requests at the same moment must not make two of one."""
        with self._warming:
            if not self._is_warm:
                _ = (self.shop.workshops, self.shop.rails, self.shop.definitions, self.shop.prompts)
                _ = list(self.shop.commands)
                self._is_warm = True

    def _after_warming(self, work: Callable[[], T]) -> T:
        if not self._is_warm:
            self.warm()
        return work()


def wants_page(headers: Headers) -> bool:
    """Say whether a refusal is read by a person; scripts, also those that fetch HTML, want data."""
    return "text/html" in headers.get("accept", "") and FRAGMENT not in headers


def fault_response(error: BaseException) -> Response:
    """Return an error as data (S5.3)."""
    fault = fault_of(error)
    headers = waiting(fault)
    return JSONResponse({"error": fault.envelope}, status_code=fault.http, headers=headers)


def waiting(fault: Fault) -> dict[str, str]:
    """Return the header that says when to come again, if that helps."""
    return {} if fault.after_s is None else {"retry-after": str(fault.after_s)}
