"""How far long work has come, for whoever shows it; work that nobody watches reports to nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Watcher = Callable[[str, int, int], None]
"""Gets what is being done, how many of it are done, and how many there are; 0: nobody knows."""

_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def report(what: str, done: int, total: int) -> None:
    """Say how far the work of this thread has come; costs nothing when nobody watches."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher(what, done, total)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Show the progress of everything done inside the block, also to who watches already."""
    outer = _WATCHER.get()

    def told(what: str, done: int, total: int) -> None:
        watcher(what, done, total)
        if outer is not None:
            outer(what, done, total)

    token = _WATCHER.set(told)
    try:
        yield
    finally:
        _WATCHER.reset(token)
