"""Which servers of models on this machine answer at their usual address (M6.11)."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from .provider import PRESETS

_WAIT_S = 0.3  # a server on this machine answers at once or is none


def listening() -> list[tuple[str, str]]:
    """Return preset and address of each whose port takes a connection; nothing is sent to it."""
    found = []
    for preset, url in PRESETS.items():
        port = urlsplit(url).port
        if port is None:
            continue
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=_WAIT_S):
                found.append((preset, url))
        except OSError:
            continue
    return found
