"""Puts right what can be put right without guessing: contents that are still somewhere (S4.2).

Nothing here touches an event: a damaged stream stays as it is, readable up to the damage.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from backshop.base.ids import BlobId
from backshop.base.limits import BLOB_GRACE_HOURS
from backshop.base.progress import report

from .blob import gc
from .blob.blob import hash_file
from .commands import Finding
from .errors import StorageCorrupt
from .service import Store


def repair_store(store: Store, folders: Iterable[Path]) -> list[Finding]:
    """Bring back needed contents that are missing or altered from folders that still hold them.

    Caches and leftovers of killed processes go as well.
    """
    found = [_clean(store)]
    try:
        with store.database.reader() as cursor:
            pins = [(str(ref), str(kind)) for ref, kind in cursor.all("pins_all")]
        needed = gc.mark(pins, store.blobs)
    except StorageCorrupt as error:
        text = f"which contents are needed cannot be told: {error.message}"
        return [*found, Finding(level="problem", subject="contents", message=text)]
    lost = _lost(store, needed)
    for path in _files(folders) if lost else ():
        blob = _brought_back(path, lost, store)
        if blob is not None:
            lost.discard(blob)
            found.append(Finding(level="ok", subject=blob, message=f"brought back from {path}"))
    gone = [
        Finding(level="problem", subject=blob, message="lost: nothing here holds it any more")
        for blob in sorted(lost)
    ]
    return [*found, *gone]


def _brought_back(path: Path, lost: set[BlobId], store: Store) -> BlobId | None:
    """Store a file again if it holds something that was lost."""
    try:
        blob = BlobId(hash_file(path))
    except OSError:  # gone or closed meanwhile: not a place to take it from
        return None
    return blob if blob in lost and store.blobs.put(path) == blob else None


def _clean(store: Store) -> Finding:
    grace_ns = BLOB_GRACE_HOURS * 3_600_000_000_000
    store.blobs.remove_leftovers(store.now_ms() * 1_000_000 - grace_ns)
    with store.database.transaction() as cursor:
        cursor.run("snapshots_clear")
    return Finding(level="ok", subject="caches", message="emptied; they fill again by themselves")


def _lost(store: Store, needed: set[BlobId]) -> set[BlobId]:
    lost: set[BlobId] = set()
    for number, blob in enumerate(sorted(needed), 1):
        if not store.blobs.verify(blob):
            lost.add(blob)
        report("contents", number, len(needed))
    return lost


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield regular files; links are not followed."""
    for folder in folders:
        for root, _, names in os.walk(folder, followlinks=False):
            for name in names:
                path = Path(root) / name
                if path.is_file() and not path.is_symlink():
                    yield path
