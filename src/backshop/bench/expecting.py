"""What folders should hold, remembered between commands: a tree changes by a few files at a time.

Without it, comparing a folder before it is replaced would read the whole tree for each batch.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from backshop.base import tree
from backshop.base.paths import BenchPath
from backshop.store import Shown, Store

from .soundness import UNREADABLE

_FOLDERS_KEPT = 32
Files = dict[BenchPath, tree.File]


class Expecting:
    """The files of the trees that folders show."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, tuple[Shown, Files]] = OrderedDict()
        self._lock = threading.Lock()

    def files(self, folder: str, head: Shown) -> Mapping[BenchPath, tree.File]:
        """Return what the view at this folder should hold; the answer is not to be changed."""
        with self._lock:
            known = self._known.pop(folder, None)
        found = self._moved(*known, head) if known else self._whole(head)
        with self._lock:
            self._known[folder] = (head, found)
            while len(self._known) > _FOLDERS_KEPT:
                self._known.popitem(last=False)
        return found

    def _whole(self, head: Shown) -> Files:
        changes = tree.diff(head.base, head.tree, self._store.load_tree)
        return {one.path: one.after for one in changes if one.after is not None}

    def _moved(self, known: Shown, files: Files, head: Shown) -> Files:
        if known == head:
            return files
        if known.base != head.base:
            return self._whole(head)
        load = self._store.load_tree
        try:
            changes = list(tree.diff(known.tree, head.tree, load))
        except UNREADABLE:  # the old tree was collected meanwhile
            return self._whole(head)
        moved = dict(files)
        for change in changes:
            after = change.after
            if after is None or tree.lookup(head.base, change.path, load) == after:
                moved.pop(change.path, None)
            else:
                moved[change.path] = after
        return moved
