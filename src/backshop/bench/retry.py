"""A change that another machine overtook is worked out anew, with all its checks (B3.9)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, TypeVar

from .errors import Overtaken

P = ParamSpec("P")
T = TypeVar("T")

_TRIES = 20  # each one lost is one that somebody else won; then the caller is told to come again


def decided_again(command: Callable[P, T]) -> Callable[P, T]:
    """Return the command as one that begins anew when its trees moved before it committed."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(_TRIES - 1):
            with suppress(Overtaken):
                return command(*args, **kwargs)
        return command(*args, **kwargs)

    return run
