"""Signals that ask this process to stop: Ctrl-C, and the one a supervisor sends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

_INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Give an event that Ctrl-C sets, however often and whenever it comes.

    An exception could strike between any two lines and leave the work behind unwatched. Where
    signals are not ours to take, in another thread than the main one, the event stays unset.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGINT, lambda *_: asked.set())
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def end_on_interrupt(loop: asyncio.AbstractEventLoop, close: Callable[[], None]) -> None:
    """Let one Ctrl-C end this process at once, though a thread of it waits for input.

    `close` is called before; a second Ctrl-C does not wait for that.
    """

    def end() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        try:
            close()
        finally:
            os._exit(_INTERRUPTED)

    with suppress(NotImplementedError, ValueError, RuntimeError):  # not the main thread
        loop.add_signal_handler(signal.SIGINT, end)


def stop_on_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Call `stop` in a loop when this process is asked to end."""
    with suppress(NotImplementedError, ValueError, RuntimeError):  # not the main thread
        for one in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(one, stop)
