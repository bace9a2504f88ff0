"""A store that is away for a while: said once when it goes and once when it is back.

Everybody who works notices it, several times a second; the log needs one line.
"""

from __future__ import annotations

import logging
import threading

from backshop.base.errors import BackshopError

_LOG = logging.getLogger(__name__)


class Absence:
    """Whether the store answers, as far as anybody in this process has noticed."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._is_away = False

    def begin(self, error: BackshopError) -> None:
        """Hear that it could not be asked."""
        with self._guard:
            is_new, self._is_away = not self._is_away, True
        if is_new:
            why = f"{error.message} ({error.detail})" if error.detail else error.message
            _LOG.warning("work under way waits and is tried again: %s", why)

    def end(self) -> None:
        """Hear that it answered."""
        if not self._is_away:
            return
        with self._guard:
            was_away, self._is_away = self._is_away, False
        if was_away:
            _LOG.warning("work under way goes on: the store answers again")
