"""The files of a bench for prompts: complete or an error, their maps as far as they can be drawn.

Sizes and hashes come from the tree; a file whose content cannot be looked into is still listed,
with the reason. Only a tree that cannot be read is a failure (W6.5, W6.6).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from backshop.base.errors import BackshopError
from backshop.base.ids import BlobId, TreeId
from backshop.formats import FormatError, Selector
from backshop.prompts import Manifest, ManifestEntry

from ..errors import ManifestUnavailable
from ..files import published_files
from ..service import Bench
from .listing import INLINE_MAX_BYTES, Content, FileFact

_CONTENTS_TRIED = 60  # maps drawn for one prompt; what was spoken of comes first
_KINDS_KEPT = 50_000
_LOOKED_KEPT = 1_000  # of at most 16 KiB each

_Kind = tuple[str, str, str, bool, str | None]

Reading = Callable[[str | None, int, int], None]
"""Hears which file is about to be looked into, how many were before it, and of how many; None
where there is no more to look into."""


def unheard(path: str | None, done: int, total: int) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class BenchManifest:
    """Every file of one view. `tree` is what it was read from."""

    tree: TreeId
    files: tuple[FileFact, ...]

    @cached_property
    def fingerprinted(self) -> Manifest:
        """The same as prompts and digests compare it (P7.6)."""
        return Manifest(
            tuple(
                ManifestEntry(
                    one.path, one.size_bytes, one.sha256, one.kind, one.readable, one.reason
                )
                for one in self.files
            )
        )

    @property
    def changed(self) -> frozenset[str]:
        """What the Draft added or modified."""
        return frozenset(one.path for one in self.files if one.change)


@dataclass(frozen=True, slots=True)
class Contents:
    """What was found inside files, and why nothing was found in others (W6.5)."""

    found: tuple[Content, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


class Manifests:
    """Lists a bench's files and looks into them; what it learnt of a content it keeps."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._kinds: OrderedDict[tuple[str, str], _Kind] = OrderedDict()
        self._looked: OrderedDict[tuple[str, str], tuple[str, bool]] = OrderedDict()

    def of(self, bench_id: str) -> BenchManifest:
        """Return the files of the active view: the Draft, or Published without one.

        Raises:
            ManifestUnavailable: the tree cannot be read; no call may be made without it.
        """
        state = self._bench.desk.state(bench_id)
        head = state.published if state.draft is None else state.draft.tree
        return self._listed(head, state.published)

    def published(self, bench_id: str) -> BenchManifest:
        """Return the files of Published, which a turn begins with and which stay as they are.

        Raises:
            ManifestUnavailable: the tree cannot be read; no call may be made without it.
        """
        head = self._bench.desk.state(bench_id).published
        return self._listed(head, head)

    def at(self, bench_id: str, head: TreeId) -> BenchManifest:
        """Return the files of one state of the Draft, told apart from Published.

        Raises:
            ManifestUnavailable: the tree cannot be read; no call may be made without it.
        """
        return self._listed(head, self._bench.desk.state(bench_id).published)

    def _listed(self, head: TreeId, published: TreeId) -> BenchManifest:
        desk = self._bench.desk
        try:
            entries = desk.entries(head)
            before = desk.entries(published) if head != published else entries
        except BackshopError as error:
            raise ManifestUnavailable(
                "the list of files cannot be read", reason="manifest_unavailable"
            ) from error
        files = []
        for path in sorted(entries, key=lambda one: one.encode()):
            file, old = entries[path], before.get(path)
            change = None if old == file else ("added" if old is None else "modified")
            files.append(self._fact(path, file.sha256, file.size, change))
        return BenchManifest(head, tuple(files))

    def contents(
        self,
        files: Sequence[FileFact],
        *,
        first: Collection[str] = (),
        reading: Reading = unheard,
    ) -> Contents:
        """Return maps and small texts of these files; a failing one gives its reason."""
        found: list[Content] = []
        failed: dict[str, str] = {}
        ranked = sorted(
            (one for one in files if one.readable),
            key=lambda one: (one.path not in first, one.size_bytes, one.path.encode()),
        )
        tried = ranked[:_CONTENTS_TRIED]
        new = [one.path for one in tried if (one.sha256, one.kind) not in self._looked]
        for one in _told(tried, new, reading):
            try:
                found.append(self._content(one))
            except FormatError as error:
                failed[one.path] = error.reason or "failed"
            except BackshopError as error:
                failed[one.path] = error.reason or error.code.lower()
        return Contents(tuple(found), failed)

    def maps(
        self, files: Sequence[FileFact], reading: Reading = unheard
    ) -> dict[str, Mapping[str, Any]]:
        """Return the maps of these files as data, those that can be drawn (P7.8)."""
        return dict(self._maps(_told(files, [one.path for one in files], reading)))

    def read(self, one: FileFact, max_bytes: int) -> bytes | None:
        """Return the beginning of a file, or None if it cannot be read."""
        try:
            with self._bench.desk.store.blobs.open(BlobId(one.sha256)) as file:
                return file.read(max_bytes)
        except (BackshopError, OSError):
            return None

    def _maps(self, files: Iterable[FileFact]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for one in files:
            try:
                yield one.path, self._bench.formats.get_map(self._source(one), "prompt")
            except BackshopError:
                continue

    def _content(self, one: FileFact) -> Content:
        """Return what a prompt shows of a file; a content is looked into once."""
        key = (one.sha256, one.kind)
        known = self._looked.get(key)
        if known is None:
            known = self._look(one)
            self._looked[key] = known
            if len(self._looked) > _LOOKED_KEPT:
                self._looked.popitem(last=False)
        return Content(one.path, *known)

    def _look(self, one: FileFact) -> tuple[str, bool]:
        source = self._source(one)
        if one.kind == "text" and one.size_bytes <= INLINE_MAX_BYTES:
            return self._bench.formats.read(source, Selector()).text, False
        drawn = self._bench.formats.get_map(source, "prompt")
        return json.dumps(drawn, ensure_ascii=False, separators=(",", ":")), True

    def _source(self, one: FileFact) -> Any:
        blob = self._bench.desk.store.blobs.path(BlobId(one.sha256))
        return self._bench.formats.source(blob, one.path, one.sha256)

    def _fact(self, path: str, sha256: str, size: int, change: str | None) -> FileFact:
        fact = FileFact(path=path, kind="binary", size_bytes=size, sha256=sha256, change=change)
        try:
            kind, _, access, readable, reason = self._kind(path, sha256)
        except (BackshopError, OSError):
            return replace(fact, readable=False, reason="content_missing", writable=False)
        return replace(
            fact,
            kind=kind,
            readable=readable,
            reason=reason or ("" if readable else "opaque"),
            is_opaque=access == "opaque",
            writable=access == "read_write",
        )

    def _kind(self, path: str, sha256: str) -> _Kind:
        key = (sha256, path.rpartition("/")[2].rpartition(".")[2].lower())
        known = self._kinds.get(key)
        if known is None:
            known = published_files.kind_of(self._bench.desk, path, BlobId(sha256))
            self._kinds[key] = known
            if len(self._kinds) > _KINDS_KEPT:
                self._kinds.popitem(last=False)
        return known


def _told(files: Iterable[FileFact], new: Sequence[str], reading: Reading) -> Iterator[FileFact]:
    """Yield the files, and tell of those that nobody has looked into before (W5.16)."""
    places = {path: at for at, path in enumerate(new)}
    for one in files:
        if one.path in places:
            reading(one.path, places[one.path], len(new))
        yield one
    if new:
        reading(None, len(new), len(new))
