"""On whose behalf the present call runs: set where commands are run, read where a fact names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .ids import UserId

_user: ContextVar[UserId | None] = ContextVar("backshop_user", default=None)


def acting_user() -> UserId | None:
    """Return who asked; None is the home's owner."""
    return _user.get()


@contextmanager
def acting(user: UserId | None) -> Iterator[None]:
    """Let what the block does be done for somebody."""
    token = _user.set(user)
    try:
        yield
    finally:
        _user.reset(token)
