"""Telling the other end of a connection at once that its bytes arrived.

Systems wait up to 40 ms with that, and a server that sends little by little waits for it.
"""

from __future__ import annotations

import socket
from contextlib import suppress

_AT_ONCE: int | None = getattr(socket, "TCP_QUICKACK", None)  # Linux


def acknowledge_at_once(sock: socket.socket) -> None:
    """Ask that what is read next is acknowledged at once; holds for a while, where it can be."""
    if _AT_ONCE is not None:
        with suppress(OSError):  # a connection that is gone acknowledges nothing
            sock.setsockopt(socket.IPPROTO_TCP, _AT_ONCE, 1)
