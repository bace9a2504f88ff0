"""Ctrl-C as a wish instead of an exception, for work that has to come to a whole end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
