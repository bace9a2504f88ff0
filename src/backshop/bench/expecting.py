"""What folders should hold, remembered between commands: a tree changes by a few files at a time.

Without it, comparing a folder before it is replaced would read the whole tree and look at every
stored content for each batch.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from backshop.base import tree
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath
from backshop.store import Shown, Store

from .soundness import UNREADABLE

_FOLDERS_KEPT = 16
_INODES_KEPT = 500_000
Files = dict[BenchPath, tree.File]


class Expecting:
    """The files of the trees that folders show, and the inodes of contents."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, tuple[Shown, Files]] = OrderedDict()
        self._inodes: dict[BlobId, int] = {}
        self._lock = threading.Lock()

    def files(self, folder: str, head: Shown) -> Mapping[BenchPath, tree.File]:
        """Return what a view in this folder should hold; the answer is not to be changed.

        One is remembered for all views of a folder: Draft and Published differ by little.
        """
        with self._lock:
            known = self._known.pop(folder, None)
        found = self._moved(*known, head) if known else self._whole(head)
        with self._lock:
            self._known[folder] = (head, found)
            while len(self._known) > _FOLDERS_KEPT:
                self._known.popitem(last=False)
        return found

    def inode(self, blob: BlobId) -> int | None:
        """Return the inode a content had when it was first looked at, None if it is no file.

        A content written anew has another one; then the file is compared the long way.
        """
        found = self._inodes.get(blob)
        if found is None:
            found = self._store.blobs.inode(blob)
            if found is not None:
                if len(self._inodes) >= _INODES_KEPT:
                    self._inodes.clear()
                self._inodes[blob] = found
        return found

    def _whole(self, head: Shown) -> Files:
        changes = tree.diff(head.base, head.tree, self._store.load_tree)
        return {one.path: one.after for one in changes if one.after is not None}

    def _moved(self, known: Shown, files: Files, head: Shown) -> Files:
        if known == head:
            return files
        if (known.base, head.base) != (tree.EMPTY, tree.EMPTY):
            return self._whole(head)
        try:
            changes = list(tree.diff(known.tree, head.tree, self._store.load_tree))
        except UNREADABLE:  # the old tree was collected meanwhile
            return self._whole(head)
        moved = dict(files)
        for change in changes:
            if change.after is None:
                moved.pop(change.path, None)
            else:
                moved[change.path] = change.after
        return moved
