"""What folders should hold, remembered between commands: a tree changes by a few files at a time.

Without it, comparing a folder before it is replaced would read the whole tree for each batch.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from backshop.base import tree
from backshop.base.paths import BenchPath
from backshop.store import Shown, Store

from ..tree.soundness import UNREADABLE

_FOLDERS_KEPT = 32


@dataclass(frozen=True, slots=True)
class Expected:
    """What a folder should hold; not to be changed."""

    head: Shown
    files: Mapping[BenchPath, tree.File]
    deleted: frozenset[BenchPath]
    """Paths of the base that the tree has not: a folder of changes cannot show them."""


class ExpectedTrees:
    """The files of the trees that folders show."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, Expected] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, folder: str, head: Shown) -> Expected:
        """Return what the view at this folder should hold."""
        with self._lock:
            known = self._known.pop(folder, None)
        found = self._moved(known, head) if known else self._whole(head)
        with self._lock:
            self._known[folder] = found
            while len(self._known) > _FOLDERS_KEPT:
                self._known.popitem(last=False)
        return found

    def _whole(self, head: Shown) -> Expected:
        changes = list(tree.diff(head.base, head.tree, self._store.load_tree))
        files = {one.path: one.after for one in changes if one.after is not None}
        return Expected(head, files, frozenset(one.path for one in changes if one.after is None))

    def _moved(self, known: Expected, head: Shown) -> Expected:
        if known.head == head:
            return known
        if known.head.base != head.base:
            return self._whole(head)
        load = self._store.load_tree
        try:
            changes = list(tree.diff(known.head.tree, head.tree, load))
        except UNREADABLE:  # the old tree was collected meanwhile
            return self._whole(head)
        files, deleted = dict(known.files), set(known.deleted)
        for change in changes:
            path, after = change.path, change.after
            before = tree.lookup(head.base, path, load)
            deleted.discard(path)
            if after is None and before is not None:
                deleted.add(path)
            if after is None or after == before:
                files.pop(path, None)
            else:
                files[path] = after
        return Expected(head, files, frozenset(deleted))
