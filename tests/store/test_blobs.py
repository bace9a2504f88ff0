"""The blobs' suite on local files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backshop.base.ids import BlobId
from backshop.store import StorageCorrupt, Store
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


@pytest.mark.rule("B2.11", "T8.8")
def test_a_content_altered_with_its_length_and_time_put_back_is_not_given_out(tmp_path):
    with Store.open(tmp_path / "home") as store:
        name = store.blobs.put(b"good" * 1000)
        path = store.blobs.path(name)
        before = path.stat()
        path.chmod(0o600)
        path.write_bytes(b"evil" * 1000)
        path.chmod(0o444)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

        with pytest.raises(StorageCorrupt):
            store.blobs.path(name)


@pytest.mark.rule("B2.11")
def test_a_damaged_content_heals_from_the_first_copy_that_holds_it_and_from_no_other(tmp_path):
    with Store.open(tmp_path / "home") as store:
        name = store.blobs.put(b"good" * 1000)
        path = store.blobs.path(name)
        for other, text in (("wrong", b"evil" * 1000), ("right", b"good" * 1000)):
            (tmp_path / other).write_bytes(text)
        path.unlink()
        os.mkfifo(tmp_path / "pipe")  # reading it would never end
        store.blobs.copies = lambda _: (tmp_path / "none", tmp_path / "wrong", tmp_path / "pipe")
        assert not store.blobs.is_sound(name)
        known = set(store.blobs.names())
        store.blobs.copies = lambda _: (tmp_path / "wrong", tmp_path / "right")

        assert store.blobs.read(name) == b"good" * 1000
        assert set(store.blobs.names()) == known | {name}
