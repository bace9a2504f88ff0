"""`AsyncBackshop`: the same product for asynchronous programs, derived from `Backshop` (S8.1).

Nothing is written twice: every call runs the synchronous code in a worker thread.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from .notice.hub import About
from .notice.table import Notification
from .shop import Backshop

T = TypeVar("T")
_FACADES = frozenset(
    {"benches", "definitions", "models", "prompts", "rails", "sessions", "workshops"}
)
_WAIT_S = 1.0  # how long a follower's thread waits before it looks whether it is still wanted


async def in_thread(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run synchronous work in a worker thread."""
    import anyio.to_thread  # loaded by whoever is asynchronous (S2.4)

    return await anyio.to_thread.run_sync(partial(work, *args, **kwargs))


class AsyncFacade:
    """A facade whose methods are awaited: `await shop.benches.list(request)`."""

    def __init__(self, facade: Any) -> None:
        self._facade = facade

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._facade, name)
        if isinstance(found, str):  # an id needs no waiting
            return found
        if not callable(found):
            raise AttributeError(f"{type(self._facade).__name__}.{name} is not a method")
        return partial(in_thread, found)


class AsyncBackshop:
    """The product on one home, for `async` code.

    >>> async with await AsyncBackshop.open(home) as shop:
    ...     await shop.call("WorkbenchCreate", {"name": "Shed"})
    ...     shed = await shop.workshop("Shed")
    ...     print((await shed.send("What is here?", ask=True)).text)
    ...     async for note in shop.events(workbench_id=shed.id):
    ...         print(note.name, note.params)
    """

    def __init__(self, shop: Backshop) -> None:
        self.shop = shop

    @classmethod
    async def open(cls, home: str | Path | None = None, **options: Any) -> AsyncBackshop:
        """Open a home; takes what `Backshop.open` takes."""
        return cls(await in_thread(Backshop.open, home, **options))

    async def call(self, name: str, request: object) -> Any:
        """Run a command by name on parsed JSON and return parsed JSON."""
        return await in_thread(self.shop.call, name, request)

    async def workshop(self, bench: str) -> AsyncFacade:
        """Return the Workshop of one workbench; its methods are awaited."""
        return AsyncFacade(await in_thread(self.shop.workshop, bench))

    def __getattr__(self, name: str) -> AsyncFacade:
        if name not in _FACADES:
            raise AttributeError(f"AsyncBackshop has no {name!r}")
        return AsyncFacade(getattr(self.shop, name))

    async def events(
        self,
        *,
        workbench_id: str | None = None,
        session_id: str | None = None,
        after: int | None = None,
    ) -> AsyncIterator[Notification]:
        """Yield notifications after a position, or from now on, until the shop is closed (S5.2)."""
        about = About(workbench_id=workbench_id, session_id=session_id)
        opened = self.shop.hub.subscribe(about, after=after)
        subscription = await in_thread(opened.__enter__)
        try:
            while not subscription.closed and not subscription.lagged:
                for note in await in_thread(subscription.wait, _WAIT_S):
                    yield note
        finally:
            opened.__exit__(None, None, None)

    async def close(self) -> None:
        """Close as `Backshop.close` does."""
        await in_thread(self.shop.close)

    async def __aenter__(self) -> AsyncBackshop:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.close()
