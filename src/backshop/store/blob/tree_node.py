"""Tree objects read lately, kept in memory: one command asks for the same few many times.

They are named by what they hold, so a kept one cannot be out of date. Whoever wants to know
whether a tree is still *stored* must not ask here.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from backshop.base import tree
from backshop.base.ids import BlobId, TreeId

from .blob import Blobs

_MAX_BYTES = 8 * 1024 * 1024


class Nodes:
    """The newest tree objects, up to so many bytes."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._kept: OrderedDict[TreeId, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def read(self, node: TreeId) -> bytes:
        """Return a tree object.

        Raises:
            NotFound, StorageCorrupt: as reading any content.
        """
        if node == tree.EMPTY:
            return tree.EMPTY_NODE
        with self._lock:
            if node in self._kept:
                self._kept.move_to_end(node)
                return self._kept[node]
        data = self._blobs.read(BlobId(node))
        with self._lock:
            if node not in self._kept:
                self._kept[node] = data
                self._bytes += len(data)
            while self._bytes > _MAX_BYTES:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return data
