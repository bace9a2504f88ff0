"""Where a damaged content may be found whole: in the folders that were made from it (B2.11)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from backshop.base.errors import BackshopError
from backshop.base.ids import BenchId, BlobId
from backshop.store import Head, Store

from ..state import BenchState
from .folder import Views

_BENCHES = 200  # those changed last, whose folders are looked into
_NEVER = -1  # where no stream ends: to be listed again

StateOf = Callable[[str], BenchState]


class Copies:
    """Files of the folders of a home's benches by the content they should hold.

    The list is made when a content is damaged, and anew for benches where something happened since.
    """

    def __init__(self, store: Store, views: Views, state_of: StateOf) -> None:
        self._store = store
        self._views = views
        self._state_of = state_of
        self._known: dict[str, tuple[int, dict[BlobId, list[Path]]]] = {}
        """By stream: where it ended when its files were listed, and they."""
        self._lock = threading.Lock()

    def of(self, blob: BlobId) -> Iterable[Path]:
        """Return the files that should hold a content; they may hold something else by now."""
        with self._lock:
            heads = self._store.streams("bench")[-_BENCHES:]
            found = {head.stream: self._listed(head) for head in reversed(heads)}
            self._known = found
            return tuple(path for _, files in found.values() for path in files.get(blob, ()))

    def _listed(self, head: Head) -> tuple[int, dict[BlobId, list[Path]]]:
        known = self._known.get(head.stream)
        if known is not None and known[0] == head.last_seq:
            return known
        files: dict[BlobId, list[Path]] = {}
        try:
            state = self._state_of(BenchId(head.stream.partition(":")[2]))
            for name, file in self._views.files(state):
                files.setdefault(file.sha256, []).append(name)
        except (BackshopError, ValueError):  # damaged itself: others may help
            return _NEVER, files
        return head.last_seq, files
