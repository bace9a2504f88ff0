"""The blobs' suite on local files."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.store.blob_conformance import BlobConformance
from tests.store.store_conformance import counted

from backshop.base.canon import sha256_hex
from backshop.base.ids import BlobId
from backshop.store import Part, Plan, StorageCorrupt, Store


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


@pytest.mark.rule("T4.2", "B2.11")
def test_a_file_made_of_a_small_content_is_made_anew_when_its_bytes_are_others(tmp_path):
    with Store.open(tmp_path / "home") as store:
        store.append(Plan((Part("bench:a", [counted(1)]),), [b"small"]))
        path = store.blobs.path(BlobId(sha256_hex(b"small")))
        path.chmod(0o600)
        path.write_bytes(b"other")

        again = store.blobs.path(BlobId(sha256_hex(b"small")))

        assert (again, again.read_bytes()) == (path, b"small")


@pytest.mark.rule("T4.1")
@pytest.mark.parametrize(("size", "is_taken"), [(0, True), (10, True), (11, False), (1000, False)])
def test_a_content_is_taken_up_to_its_limit_and_not_cut(tmp_path, size, is_taken):
    with Store.open(tmp_path / "home") as store:
        name = store.blobs.put_stream(io.BytesIO(b"x" * size), 10)

        assert name == (sha256_hex(b"x" * size) if is_taken else None)
        assert list(store.blobs.names()) == ([name] if is_taken else [])


@pytest.mark.rule("T2.6", "T4.1")
@pytest.mark.parametrize("count", [1, 3])
def test_a_content_is_durable_before_it_is_named_and_its_name_before_anybody_is_told(
    tmp_path, monkeypatch, count
):
    synced: list[tuple[Path, int]] = []
    sync = os.fsync

    with Store.open(tmp_path / "home") as store:

        def noted(handle: int) -> None:
            named = sum(1 for _ in store.blobs.names())
            synced.append((Path(f"/proc/self/fd/{handle}").readlink(), named))
            sync(handle)

        monkeypatch.setattr(os, "fsync", noted)
        names = store.blobs.put_many(f"content {n}".encode() for n in range(count))

        files = [named for path, named in synced if path.name.startswith("tmp-")]
        folders = {path.name: named for path, named in synced if path.is_dir()}
        assert files == [0] * count
        assert {folders[one[:2]] for one in names} == {count}
        assert folders["blobs"] == count


@pytest.mark.rule("T4.1")
def test_a_stored_content_is_closed_to_writing(tmp_path):
    (tmp_path / "given.txt").write_text("of a file")
    with Store.open(tmp_path / "home") as store:
        store.blobs.put(b"of bytes")
        store.blobs.put(tmp_path / "given.txt")
        store.blobs.put_stream(io.BytesIO(b"of a stream"), 100)
        stored = [store.blobs.path(one) for one in store.blobs.names()]

        assert [path.stat().st_mode & 0o777 for path in stored] == [0o444] * 3
