"""The blobs' suite on local files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backshop.base.ids import BlobId
from backshop.store import Store
from backshop.testing.conformance.blobs import BlobConformance


class TestLocalBlobs(BlobConformance):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Iterator[Callable[[], Store]]:
        opened: list[Store] = []

        def open_one() -> Store:
            opened.append(Store.open(tmp_path / "home"))
            return opened[-1]

        yield open_one
        for store in opened:
            store.close()

    @pytest.fixture
    def alter(self) -> Callable[[Store, BlobId], None]:
        def spoil(store: Store, blob: BlobId) -> None:
            path = store.blobs.folder / blob[:2] / blob[2:]
            path.chmod(0o600)
            path.write_bytes(b"other bytes")
            os.utime(path, (1, 1))

        return spoil
