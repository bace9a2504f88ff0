"""Whether the contents of a bench are all there: missing and altered ones, by path (B2.11, B3.11).

Looking at a tree costs one `stat` a file. What was found whole is remembered, so that a command
looks only at what changed since; a content of the right length that is still read-only but has
other bytes is found by the process that knew its time, when it is read, or by a thorough look.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backshop.base import tree
from backshop.base.errors import NotFound
from backshop.base.ids import BenchId, BlobId, TreeId
from backshop.base.paths import BenchPath
from backshop.store import StorageCorrupt, Store

from ..state import BenchState

LISTED = 20
_WRITABLE = 0o222
UNREADABLE = (NotFound, StorageCorrupt, ValueError)
"""What reading a list of files raises where it is gone or altered, not where the store is away."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One content that cannot be had: `missing_blob`, `altered_blob`, or `missing_tree`."""

    reason: str
    path: str
    sha256: BlobId | None = None


class Soundness:
    """Looks after the contents of one home's benches."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._whole: dict[tuple[BenchId, str], TreeId] = {}

    def damage(self, tree_id: TreeId, *, thorough: bool = False) -> list[Damage]:
        """Return what of a tree cannot be had, at most so many; empty when it is whole."""
        try:
            entries = list(tree.walk(tree_id, self._stored))
        except UNREADABLE:
            return [Damage("missing_tree", "")]
        return self._looked(entries, thorough)

    def beyond(self, known: TreeId, other: TreeId, *, thorough: bool = False) -> list[Damage]:
        """Return what cannot be had of a tree, looking only at what `known` has not."""
        return self._beyond(known, other, self._stored, thorough)

    def _beyond(
        self, known: TreeId, other: TreeId, load: tree.Load, thorough: bool
    ) -> list[Damage]:
        if known == other:
            return []
        try:
            changes = tree.diff(known, other, load)
            entries = [(one.path, one.after) for one in changes if one.after is not None]
        except UNREADABLE:
            return self.damage(other, thorough=thorough)
        return self._looked(entries, thorough)

    def of_file(self, path: BenchPath, file: tree.File) -> list[Damage]:
        """Return what keeps one content from being brought back; it is read for it."""
        return self._looked([(path, file)], thorough=True)

    def of_older(self, state: BenchState, other: TreeId, *, thorough: bool = False) -> list[Damage]:
        """Return what keeps an older tree of a bench from being brought back."""
        is_whole = not self.damage(state.published) if thorough else not self.of_heads(state)
        if is_whole:
            return self.beyond(state.published, other, thorough=thorough)
        return self.damage(other, thorough=thorough)

    def of_heads(self, state: BenchState) -> list[Damage]:
        """Return what keeps a bench from being whole; remembers what is."""
        found: list[Damage] = []
        for name, head in heads(state).items():
            key = (state.id, name)
            known = self._whole.get(key)
            if known is None and name == "draft":  # it differs little from what was just seen
                known = self._whole.get((state.id, "published"))
            if known is None:
                lost = self.damage(head)
            else:
                lost = self._beyond(known, head, self._store.load_tree, thorough=False)
            if not lost:
                self._whole[key] = head
            found += lost
        return found[:LISTED]

    def forget(self, bench_id: BenchId) -> None:
        """Look at everything again next time."""
        for key in list(self._whole):  # copied at once: other threads go on meanwhile
            if key[0] == bench_id:
                self._whole.pop(key, None)

    def _stored(self, node: TreeId) -> bytes:
        """Return a tree object as it is stored now, not as it was read before."""
        return self._store.blobs.read(BlobId(node))

    def _looked(self, entries: Iterable[tuple[str, tree.File]], thorough: bool) -> list[Damage]:
        found: list[Damage] = []
        for path, file in entries:
            reason = self._reason(file, thorough)
            if reason is not None:
                found.append(Damage(reason, path, file.sha256))
                if len(found) == LISTED:
                    break
        return found

    def _reason(self, file: tree.File, thorough: bool) -> str | None:
        """Return what is wrong with a content that no copy of it could heal (B2.11)."""
        blobs, blob = self._store.blobs, file.sha256
        stat = blobs.stat(blob)
        if stat is None and not blobs.has(blob):
            return None if blobs.heal(blob) else "missing_blob"
        if stat is not None and stat.st_size != file.size:
            return None if blobs.heal(blob) else "altered_blob"
        touched = stat is not None and (
            stat.st_mode & _WRITABLE  # contents are read-only (B2.6)
            or blobs.is_touched(blob, stat)
        )
        if (thorough or touched) and not blobs.is_sound(blob):
            return "altered_blob"
        return None


def heads(state: BenchState) -> dict[str, TreeId]:
    """Return the trees a bench cannot do without."""
    found = {"published": state.published, "context": state.context_tree}
    return found if state.draft is None else {**found, "draft": state.draft.tree}
