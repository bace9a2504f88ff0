"""What every blob store must do, wherever the bytes lie (T4).

A subclass gives `open_store`, a fixture that returns a function: each call opens one more `Store`
on the same data, as another machine would; and `alter(store, blob)`, which spoils the stored bytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.store_conformance import Counted

from backshop.base import tree
from backshop.base.canon import sha256_hex
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath
from backshop.store import NewEvent, Part, Pin, Plan, StorageCorrupt, Store

OpenStore = Callable[[], Store]
Alter = Callable[[Store, BlobId], None]


class BlobConformance:
    """The suite. Contents are named by their sha256 and never change."""

    @pytest.mark.rule("T4.1")
    @pytest.mark.parametrize("content", [b"", b"x", b"y" * 70_000, bytes(range(256)) * 5000])
    def test_what_was_put_comes_back(self, open_store: OpenStore, content: bytes) -> None:
        store, other = open_store(), open_store()

        name = store.blobs.put(content)

        assert name == sha256_hex(content)
        for one in (store, other):
            assert one.blobs.has(name)
            assert one.blobs.read(name) == content
            assert one.blobs.path(name).read_bytes() == content
            assert one.blobs.size(name) == len(content)
            assert one.blobs.verify(name)
            assert one.blobs.is_sound(name)
            with one.blobs.open(name) as file:
                assert file.read() == content

    @pytest.mark.rule("T4.1")
    def test_content_is_stored_once(self, open_store: OpenStore, tmp_path: Path) -> None:
        store = open_store()
        source = tmp_path / "source"
        source.write_bytes(b"the same")

        names = {
            store.blobs.put(b"the same"),
            store.blobs.put(source),
            *store.blobs.put_many([source, b"the same"]),
            store.blobs.put_stream(io.BytesIO(b"the same"), 8),
        }

        assert names == {sha256_hex(b"the same")}
        assert list(store.blobs.names()) == [sha256_hex(b"the same")]

    @pytest.mark.rule("T4.1")
    def test_what_is_not_there_is_said_so(self, open_store: OpenStore) -> None:
        store, nobody = open_store(), BlobId(sha256_hex(b"nobody put this"))

        assert not store.blobs.has(nobody)
        assert not store.blobs.verify(nobody)
        assert not store.blobs.is_sound(nobody)
        for ask in (store.blobs.read, store.blobs.path, store.blobs.open, store.blobs.size):
            with pytest.raises(NotFound):
                ask(nobody)
        for name in ("../../etc/passwd", "", "a" * 63, "A" * 64):
            with pytest.raises(ValidationFailed):
                store.blobs.read(BlobId(name))

    @pytest.mark.rule("T4.1", "T2.6")
    def test_a_batch_is_seen_when_it_ends_and_not_before(
        self, open_store: OpenStore, tmp_path: Path
    ) -> None:
        store, other = open_store(), open_store()
        source = tmp_path / "source"
        source.write_bytes(b"a file")

        with store.blobs.batch() as batch:
            names = [batch.add(f"content {n}".encode()) for n in range(100)]
            names.append(batch.add(source))
            streamed = batch.add_stream(io.BytesIO(b"streamed"), 100)
            too_long = batch.add_stream(io.BytesIO(b"streamed"), 7)
            assert not any(other.blobs.has(name) for name in names)

        assert streamed == (sha256_hex(b"streamed"), 8)
        assert too_long is None
        assert all(other.blobs.verify(name) for name in (*names, streamed[0]))
        assert sorted(other.blobs.names()) == sorted({*names, streamed[0]})

    @pytest.mark.rule("T4.1")
    def test_a_batch_that_fails_leaves_nothing(self, open_store: OpenStore) -> None:
        store = open_store()
        store.blobs.put(b"known before")

        with pytest.raises(NotFound), store.blobs.batch() as batch:  # noqa: PT012
            batch.add(b"taken in")
            batch.add_stream(io.BytesIO(b"and this"), 100)
            raise NotFound("something else went wrong")

        assert list(store.blobs.names()) == [sha256_hex(b"known before")]
        assert not [p for p in store.blobs.folder.rglob("*") if p.name.startswith("tmp-")]

    @pytest.mark.rule("T8.8", "T8.16", "B2.11")
    def test_altered_bytes_are_never_given_out(self, open_store: OpenStore, alter: Alter) -> None:
        store = open_store()
        name = store.blobs.put(b"what was stored" * 10_000)
        alter(store, name)

        other = open_store()

        assert not other.blobs.verify(name)
        assert not other.blobs.is_sound(name)
        for ask in (other.blobs.read, other.blobs.path, other.blobs.open):
            with pytest.raises(StorageCorrupt):
                ask(name)

    @pytest.mark.rule("T8.8")
    def test_putting_it_again_mends_it(self, open_store: OpenStore, alter: Alter) -> None:
        content = b"what was stored" * 10_000
        store = open_store()
        name = store.blobs.put(content)
        alter(store, name)

        open_store().blobs.put(content)

        assert open_store().blobs.read(name) == content

    @pytest.mark.rule("T4.5")
    def test_collection_takes_what_is_old_and_unpinned(self, open_store: OpenStore) -> None:
        store = open_store()
        kept = store.blobs.put(b"in a tree")
        built = tree.build({BenchPath("a.txt"): tree.File(kept, 9)})
        store.blobs.put_many([b"loose", b"loose as well"])
        pins = [Pin(BlobId(built.id), "tree")]
        plan = (Part("bench:a", [NewEvent(Counted(number=1), "k")], pins=pins),)
        store.append(Plan(plan, tuple(built.nodes.values())))

        young = store.collect(apply=True)
        swept = store.collect(apply=True, grace_hours=-1)

        assert (young.blobs, swept.blobs, swept.bytes) == (0, 2, 18)
        assert list(open_store().blobs.names()) == [kept]
        assert open_store().blobs.read(kept) == b"in a tree"
