"""What differs between two trees, with renames found; kept under the two tree ids (B11.1–B11.8).

Walks only subtrees that differ. Contents are opened for the first bytes that tell a kind, and for
the lines of files that were deleted and added.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from backshop.base import tree
from backshop.base.errors import BackshopError
from backshop.base.ids import TreeId
from backshop.base.paths import BenchPath
from backshop.formats import FileKind, FormatError, Formats, Kind, classify
from backshop.store import Store

from . import rename
from .soundness import UNREADABLE

KINDS = ("ADDED", "MODIFIED", "RENAMED", "DELETED")
_KEPT_LISTS = 16
_KEPT_KINDS = 20_000
_HEAD_BYTES = 64 * 1024
_TEXTS = frozenset({Kind.TEXT, Kind.CSV})
_DOCUMENTS = frozenset({Kind.DOCX, Kind.ODT})

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Change:
    """One changed path; `similarity` in percent where it was renamed."""

    path: BenchPath
    kind: str
    before: tree.File | None
    after: tree.File | None
    old_path: BenchPath | None = None
    similarity: int | None = None


class Kept(Generic[K, V]):
    """The newest values that were asked for; derived data named by content never goes stale."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def peek(self, key: K) -> V | None:
        """Return the value of a key if it is there."""
        with self._lock:
            return self._values.get(key)

    def get(self, key: K, make: Callable[[], V], *, worth: Callable[[V], bool] | None = None) -> V:
        """Return the value of a key, made when it is not there; `worth` says if it is kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        if worth is None or worth(value):
            with self._lock:
                self._values[key] = value
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
        return value


class Comparer:
    """Compares trees of one store."""

    def __init__(self, store: Store, formats: Formats) -> None:
        self._store = store
        self._formats = formats
        self._lists: Kept[tuple[TreeId, TreeId], tuple[Change, ...]] = Kept(_KEPT_LISTS)
        self._kinds: Kept[tuple[str, str], FileKind | None] = Kept(_KEPT_KINDS)

    def changes(self, before: TreeId, after: TreeId) -> tuple[Change, ...]:
        """Return what differs, renames found, in the order of B11.3."""
        return self._lists.get((before, after), lambda: self._compare(before, after))

    def against(self, before: TreeId, after: TreeId) -> tuple[Change, ...]:
        """Return what differs; all of `after` where what was before cannot be read any more."""
        try:
            return self.changes(before, after)
        except UNREADABLE:
            return self.changes(tree.EMPTY, after)

    def find(self, before: TreeId, after: TreeId, path: BenchPath) -> Change | None:
        """Return the change of one path, by its new name or the one it had."""
        found = self.changes(before, after)
        return next((c for c in found if path in (c.path, c.old_path)), None)

    def kind(self, path: str, file: tree.File | None) -> FileKind | None:
        """Return what a file of a tree is; None for what is gone or cannot be told."""
        if file is None:
            return None
        ending = path.rpartition("/")[2].rpartition(".")[2].lower()
        return self._kinds.get(
            (file.sha256, ending),
            lambda: self._classified(path, file),
            worth=lambda kind: kind is not None,
        )

    def _classified(self, path: str, file: tree.File) -> FileKind | None:
        try:
            with self._store.blobs.open(file.sha256) as content:
                return classify(path, content.read(_HEAD_BYTES))
        except (FormatError, BackshopError):
            return None

    def _compare(self, before: TreeId, after: TreeId) -> tuple[Change, ...]:
        found = list(tree.diff(before, after, self._store.load_tree))
        gone = {c.path: c.before for c in found if c.after is None and c.before is not None}
        come = {c.path: c.after for c in found if c.before is None and c.after is not None}
        moved = self._renamed(gone, come)
        old_names = {old for old, _ in moved.values()}
        result = [
            Change(new, "RENAMED", gone[old], come[new], old, similarity)
            for new, (old, similarity) in moved.items()
        ]
        for change in found:
            if change.path in moved or change.path in old_names:
                continue
            kind = "ADDED" if change.before is None else "DELETED"
            kind = "MODIFIED" if change.before is not None and change.after is not None else kind
            result.append(Change(change.path, kind, change.before, change.after))
        return tuple(sorted(result, key=lambda c: (KINDS.index(c.kind), c.path.encode())))

    def _renamed(
        self, gone: Mapping[BenchPath, tree.File], come: Mapping[BenchPath, tree.File]
    ) -> dict[BenchPath, tuple[BenchPath, int]]:
        exact = rename.equal(gone, come)
        found = {new: (old, 100) for new, old in exact.items()}
        old_rest = {p: f for p, f in gone.items() if p not in exact.values()}
        new_rest = {p: f for p, f in come.items() if p not in exact}
        if not 0 < len(old_rest) * len(new_rest) <= rename.PAIRS_MAX:
            return found
        for kinds in ({Kind.TEXT}, {Kind.CSV}, {Kind.DOCX}, {Kind.ODT}):
            sides = [self._of_kind(rest, kinds) for rest in (old_rest, new_rest)]
            if not all(sides):
                continue
            if kinds <= _DOCUMENTS and sum(map(len, sides)) > rename.DOCUMENTS_MAX:
                continue
            found |= rename.similar(*(self._lines(side, kinds) for side in sides))
        return found

    def _of_kind(
        self, files: Mapping[BenchPath, tree.File], kinds: Iterable[Kind]
    ) -> dict[BenchPath, tree.File]:
        return {
            path: file
            for path, file in files.items()
            if 0 < file.size <= rename.TEXT_MAX_BYTES
            and (kind := self.kind(path, file)) is not None
            and kind.kind in kinds
        }

    def _lines(
        self, files: Mapping[BenchPath, tree.File], kinds: Iterable[Kind]
    ) -> dict[BenchPath, Counter[str]]:
        found: dict[BenchPath, Counter[str]] = {}
        for path, file in files.items():
            try:
                lines = self._plain(file) if set(kinds) <= _TEXTS else self._document(path, file)
            except (FormatError, BackshopError):
                continue  # what cannot be read is not like anything
            found[path] = Counter(line.rstrip() for line in lines)
        return found

    def _plain(self, file: tree.File) -> list[str]:
        data = self._store.blobs.read(file.sha256)
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        return data.decode("utf-16" if wide else "utf-8", "replace").splitlines()

    def _document(self, path: str, file: tree.File) -> list[str]:
        blob = self._store.blobs.path(file.sha256)
        return self._formats.extract_lines(self._formats.source(blob, path, file.sha256))
