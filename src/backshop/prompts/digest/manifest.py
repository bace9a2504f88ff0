"""The files a prompt or a digest speaks about, and the fingerprint of their state (P7.6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from backshop.base.canon import canonical, sha256_hex


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One file; `type` is its kind, `reason` says why an unreadable one is that."""

    path: str
    size: int
    sha256: str
    type: str = "text"
    readable: bool = True
    reason: str = ""


@dataclass(frozen=True)
class Manifest:
    """Files sorted by the bytes of their paths; `complete` unless some could not be listed."""

    entries: tuple[ManifestEntry, ...]
    complete: bool = True

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.entries, key=lambda entry: entry.path.encode()))
        if ordered != self.entries:
            object.__setattr__(self, "entries", ordered)

    @cached_property
    def data(self) -> bytes:
        """The canonical JSON that the fingerprint is the hash of."""
        return canonical([[e.path, e.size, e.sha256, e.type, e.readable] for e in self.entries])

    @cached_property
    def fingerprint(self) -> str:
        """The hash of the manifest: equal files, equal fingerprint."""
        return sha256_hex(self.data)

    @cached_property
    def by_path(self) -> Mapping[str, ManifestEntry]:
        """The entries by their paths."""
        return {entry.path: entry for entry in self.entries}


def read_manifest(data: bytes) -> Manifest:
    """Return the manifest whose canonical JSON this is; why a file is unreadable is not in it."""
    return Manifest(tuple(ManifestEntry(*row) for row in json.loads(data)))


@dataclass(frozen=True, slots=True)
class ManifestChange:
    """How two manifests differ."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many paths differ."""
        return len(self.added) + len(self.removed) + len(self.changed)


def compare(before: Manifest, after: Manifest) -> ManifestChange:
    """Return what was added, removed and changed, each sorted by path."""
    old, new = before.by_path, after.by_path
    return ManifestChange(
        tuple(path for path in new if path not in old),
        tuple(path for path in old if path not in new),
        tuple(path for path in new if path in old and _state(new[path]) != _state(old[path])),
    )


def _state(one: ManifestEntry) -> tuple[object, ...]:
    """Return what the fingerprint is made of, less the path."""
    return (one.size, one.sha256, one.type, one.readable)
