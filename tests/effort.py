"""How much an act costs, counted and not timed: the same on any machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls(function: Callable[..., object], act: Callable[[], object]) -> int:
    """Return how often an act calls one function, which is written in Python."""
    count = 0
    code = getattr(function, "__func__", function).__code__

    def called(frame: FrameType, kind: str, _: object) -> None:
        nonlocal count
        count += kind == "call" and frame.f_code is code

    sys.setprofile(called)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def work(act: Callable[[], object]) -> int:
    """Return how many functions an act calls, of ours and of the libraries below."""
    count = 0

    def called(_: object, kind: str, __: object) -> None:
        nonlocal count
        count += kind in ("call", "c_call")

    sys.setprofile(called)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count
