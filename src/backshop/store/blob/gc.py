"""Garbage collection: what no stream pins, and nobody has put lately, goes (T4.5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backshop.base import tree
from backshop.base.errors import NotFound
from backshop.base.ids import BlobId, TreeId
from backshop.base.progress import report

from ..database.connection import Cursor
from ..database.engine import Database
from ..errors import StorageCorrupt
from .blob import Blobs

TREE = "tree"  # the pin kind whose content names more blobs
_BATCH = 20  # blobs removed while writers wait; each may be a request to another machine


@dataclass(frozen=True, slots=True)
class Swept:
    """What a collection removed, or with `applied` false would remove."""

    blobs: int
    bytes: int
    applied: bool
    refused: str | None = None
    """Why nothing was removed although it was asked for."""


def mark(pins: Iterable[tuple[str, str]], blobs: Blobs) -> set[BlobId]:
    """Return every blob that the pins need, through trees to files.

    Raises:
        StorageCorrupt: a tree cannot be read, so nothing can be said about what it names.
    """
    marked = Marked(blobs)
    marked.add(pins)
    return marked.needed


class Marked:
    """What pins need. Trees that were walked are not read again when more pins come."""

    def __init__(self, blobs: Blobs) -> None:
        self.needed: set[BlobId] = set()
        self._walked: set[TreeId] = {tree.EMPTY}
        self._blobs = blobs

    def add(self, pins: Iterable[tuple[str, str]]) -> None:
        """Walk down from these pins too."""
        open_trees: list[TreeId] = []
        for ref, kind in pins:
            self.needed.add(BlobId(ref))
            if kind == TREE:
                open_trees.append(TreeId(ref))
        while open_trees:
            node = open_trees.pop()
            if node in self._walked:
                continue
            body = _node(node, self._blobs)
            self._walked.add(node)
            self.needed.add(BlobId(node))
            self.needed.update(tree.blobs(body))
            open_trees.extend(tree.children(body))


class Collector:
    """One collection over one database and its blobs, of what is older than `before_ms`."""

    def __init__(self, database: Database, blobs: Blobs, before_ms: int) -> None:
        self._database = database
        self._blobs = blobs
        self._before_ms = before_ms
        self._marked = Marked(blobs)

    def collect(self, *, apply: bool) -> Swept:
        """Mark, then sweep in batches under the write lock."""
        try:
            with self._database.reader() as cursor:
                seq = self._mark(cursor, None)
        except StorageCorrupt as error:
            return Swept(0, 0, applied=False, refused=error.message)
        old = self._unneeded()
        if not apply:
            return Swept(len(old), sum(old.values()), applied=False)
        return self._sweep(old, seq)

    def _mark(self, cursor: Cursor, known: int | None) -> int:
        """Mark what is needed now, unless `known` is still the newest; return the newest.

        The position is read first: what comes after it is marked the next time.
        """
        newest = int((cursor.one("last_seq") or (0,))[0])
        if newest != known:
            pins = [(str(ref), str(kind)) for ref, kind in cursor.all("pins_all")]
            self._marked.add(pins)
        return newest

    def _unneeded(self) -> dict[BlobId, int]:
        """Return old blobs nothing pins, with their sizes."""
        needed = self._marked.needed
        found: dict[BlobId, int] = {}
        for one in self._blobs.listed():
            if one.name not in needed and one.modified_ns < self._before_ms * 1_000_000:
                found[one.name] = one.size
        with self._database.reader() as cursor:
            for sha256, at_ms, size in cursor.all("blob_ages"):
                if sha256 not in needed and at_ms < self._before_ms:
                    found[BlobId(sha256)] = found.get(BlobId(sha256), 0) + int(size)
        return found

    def _sweep(self, old: dict[BlobId, int], seq: int) -> Swept:
        """Remove batch by batch, marking again whenever something was appended in between.

        Writers wait for a batch, so nearly all of the marking is done before it begins.
        """
        names, count, size = sorted(old), 0, 0
        for start in range(0, len(names), _BATCH):
            report("contents", start, len(names))
            with self._database.reader() as cursor:
                seq = self._mark(cursor, seq)
            with self._database.transaction() as cursor:
                cursor.lock_sweep()
                cursor.lock_seq()
                seq = self._mark(cursor, seq)
                for name in names[start : start + _BATCH]:
                    if name not in self._marked.needed and self._remove(cursor, name):
                        count, size = count + 1, size + old[name]
        self._blobs.remove_leftovers(self._before_ms * 1_000_000)
        return Swept(count, size, applied=True)

    def _remove(self, cursor: Cursor, name: BlobId) -> bool:
        freed = self._blobs.remove_if_older(name, self._before_ms * 1_000_000)
        inline = cursor.count("blob_delete", {"name": name, "before": self._before_ms})
        return freed is not None or inline > 0


def _node(node: TreeId, blobs: Blobs) -> bytes:
    try:
        return blobs.read(BlobId(node))
    except NotFound as error:
        raise StorageCorrupt(
            "a tree is missing", reason="missing_blob", detail=f"blob: {node}"
        ) from error
