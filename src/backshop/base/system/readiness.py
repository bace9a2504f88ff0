"""Waiting for an open file or socket until it can be read or written.

By `poll`, not `select`: a server may have more than 1,024 files open.
"""

from __future__ import annotations

import select


def is_readable(descriptor: int, timeout_s: float) -> bool:
    """Wait so long for something to read, or for the end; say whether there is."""
    return _is_ready(descriptor, select.POLLIN, timeout_s)


def is_writable(descriptor: int, timeout_s: float) -> bool:
    """Wait so long until something can be written, or never will; say whether it is so."""
    return _is_ready(descriptor, select.POLLOUT, timeout_s)


def _is_ready(descriptor: int, event: int, timeout_s: float) -> bool:
    ready = select.poll()
    ready.register(descriptor, event)
    return bool(ready.poll(timeout_s * 1000))
