"""Which contents the streams of a store need, and which of them cannot be had, by name (T5.7).

One damaged content costs what needs it and nothing else: whoever copies or examines a store goes on
without it, and says which files that were.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial

from backshop.base import tree
from backshop.base.errors import NotFound
from backshop.base.ids import BlobId, TreeId
from backshop.base.progress import report

from ..database.engine import Database
from ..errors import StorageCorrupt
from .blob import Blobs, InlineBlobs
from .gc import TREE

_NAMED = 3  # places that are named for one content; a file may be in hundreds of states
_UNREADABLE = (NotFound, StorageCorrupt, ValueError, KeyError)


@dataclass(frozen=True, slots=True)
class Lost:
    """A content that cannot be had: `missing` or `altered`, and what needs it."""

    sha256: BlobId
    reason: str
    needed_by: tuple[str, ...]

    @property
    def told(self) -> str:
        """What a person reads of it."""
        return f"{self.reason}; needed by {', '.join(self.needed_by) or 'nothing that is named'}"


class Needs:
    """The contents that the pins of a database lead to; trees that cannot be read are lost too."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._blobs = blobs.with_inline(InlineBlobs(database))
        self._sizes: dict[BlobId, int | None] = {}
        self.unreadable: dict[BlobId, str] = {}
        """Lists of files that are lost, so that nobody knows what else they need."""
        with database.reader() as cursor:
            self._pins = [(str(s), str(r), str(k)) for s, r, k in cursor.all("pins_streams")]
            self.inline = {BlobId(str(row[0])) for row in cursor.all("blob_ages")}
        self._mark()

    @property
    def names(self) -> list[BlobId]:
        """Every content that is needed, in the order of names."""
        return sorted(self._sizes)

    def lost(self, *, verify: bool) -> list[Lost]:
        """Return what cannot be had; with `verify` every content is read, else looked at."""
        found = dict(self.unreadable)
        for number, blob in enumerate(self.names, 1):
            if blob not in found and (reason := self._reason(blob, verify)) is not None:
                found[blob] = reason
            report("contents", number, len(self._sizes))
        return self.named(found)

    def named(self, found: dict[BlobId, str]) -> list[Lost]:
        """Return lost contents with the names of what needs them."""
        if not found:
            return []
        places = self._places(set(found))
        return [Lost(blob, found[blob], tuple(places[blob])) for blob in sorted(found)]

    def _mark(self) -> None:
        waiting = [TreeId(ref) for _, ref, kind in self._pins if kind == TREE]
        self._sizes.update((BlobId(ref), None) for _, ref, _ in self._pins if ref != tree.EMPTY)
        walked = {tree.EMPTY}
        while waiting:
            node = waiting.pop()
            if node in walked:
                continue
            walked.add(node)
            self._sizes.setdefault(BlobId(node), None)
            try:
                body = self._blobs.read(BlobId(node))
                sizes, children = tree.sizes(body), tree.children(body)
            except _UNREADABLE as error:
                gone = isinstance(error, NotFound)
                self.unreadable[BlobId(node)] = "missing" if gone else "altered"
                continue
            self._sizes.update(sizes)
            waiting += children

    def _reason(self, blob: BlobId, verify: bool) -> str | None:
        stat = self._blobs.stat(blob)
        if stat is None and not self._blobs.has(blob):
            return "missing"
        size = self._sizes[blob]
        if stat is not None and size is not None and stat.st_size != size:
            return "altered"
        return "altered" if verify and not self._blobs.verify(blob) else None

    def _places(self, wanted: set[BlobId]) -> dict[BlobId, list[str]]:
        """Return what needs these contents: files by workbench and path, else the stream."""
        found: dict[BlobId, list[str]] = defaultdict(list)
        for stream, ref, kind in sorted(self._pins, key=lambda pin: pin[2] != TREE):
            name = stream.removeprefix("bench:")
            if kind != TREE:  # last: a path of the same workbench says more
                if not any(one.endswith(f" of {name}") for one in found.get(BlobId(ref), ())):
                    _add(found, BlobId(ref), name, wanted)
                continue
            gone: list[BlobId] = []
            for path, file in tree.walk(TreeId(ref), partial(self._loaded, gone=gone)):
                _add(found, file.sha256, f"{path!r} of {name}", wanted)
            for node in gone:
                _add(found, node, f"a list of files of {name}", wanted)
        return found

    def _loaded(self, node: TreeId, gone: list[BlobId]) -> bytes:
        """Return a list of files; one that is lost is noted, and stands for no files."""
        if BlobId(node) in self.unreadable:
            gone.append(BlobId(node))
            return tree.EMPTY_NODE
        return self._blobs.read(BlobId(node))


def _add(found: dict[BlobId, list[str]], blob: BlobId, told: str, wanted: set[BlobId]) -> None:
    if blob in wanted and told not in found[blob] and len(found[blob]) < _NAMED:
        found[blob].append(told)
