"""Where a damaged content may be found whole: in the folders that were made from it (B2.11)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from backshop.base.errors import BackshopError
from backshop.base.ids import BenchId, BlobId
from backshop.store import Store

from .state import BenchState
from .views import Views

_BENCHES = 200  # those changed last, whose folders are looked into

StateOf = Callable[[str], BenchState]


class Copies:
    """Files of the folders of a home's benches by the content they should hold.

    The list is made when a content is damaged, and again when something happened since.
    """

    def __init__(self, store: Store, views: Views, state_of: StateOf) -> None:
        self._store = store
        self._views = views
        self._state_of = state_of
        self._known: dict[BlobId, list[Path]] = {}
        self._made_at: int | None = None
        self._lock = threading.Lock()

    def of(self, blob: BlobId) -> Iterable[Path]:
        """Return the files that should hold a content; they may hold something else by now."""
        with self._lock:
            last = self._store.last_seq()
            if last != self._made_at:
                self._known = self._listed()
                self._made_at = last
            return tuple(self._known.get(blob, ()))

    def _listed(self) -> dict[BlobId, list[Path]]:
        found: dict[BlobId, list[Path]] = {}
        for head in reversed(self._store.streams("bench")[-_BENCHES:]):
            bench_id = BenchId(head.stream.partition(":")[2])
            with suppress(BackshopError, ValueError):  # damaged itself: others may help
                state = self._state_of(bench_id)
                for name, file in self._views.files(state):
                    found.setdefault(file.sha256, []).append(name)
        return found
