"""Contents in object storage: the blobs' suite, and what only a storage elsewhere can do."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.objects import fresh_bucket, request, server
from tests.postgres import fresh_database
from tests.store.blob_conformance import BlobConformance
from tests.store.store_conformance import counted

from backshop.base.canon import sha256_hex
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.limits import TRANSIENT_DELAYS_S
from backshop.store import (
    Part,
    Pin,
    Plan,
    Store,
    StoreBusy,
    StoreUnavailable,
    restore_backup,
    write_backup,
)
from backshop.store.blob.object_storage import S3Objects
from backshop.store.blob.shared import SharedBlobs
from backshop.testing.ambient import FixedClock

pytestmark = pytest.mark.needs("s3")


@pytest.fixture
def bucket() -> Iterator[str]:
    with fresh_bucket() as url:
        yield url


@pytest.fixture
def open_store(bucket: str, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Open one more store on the same database and bucket, on a machine of its own."""
    opened: list[Store] = []

    def open_one() -> Store:
        url = f"sqlite:///{tmp_path / 'shared.db'}"
        home = tmp_path / f"machine-{len(opened)}"
        opened.append(Store.open(home, database_url=url, blobs_url=bucket))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


def address(bucket: str, blob: str) -> str:
    return f"{bucket.removeprefix('s3://')}/{blob[:2]}/{blob[2:]}"


@pytest.mark.rule("T4.3")
class TestSharedBlobs(BlobConformance):
    @pytest.fixture
    def alter(self, bucket: str) -> Callable[[Store, BlobId], None]:
        def spoil(_: Store, blob: BlobId) -> None:
            request(server(), "PUT", address(bucket, blob), b"other bytes")

        return spoil


@pytest.mark.rule("T4.3", "T6.1")
def test_a_file_that_was_fetched_once_is_not_fetched_again(open_store, bucket):
    name = open_store().blobs.put(b"far away" * 1000)
    store = open_store()
    store.blobs.path(name)
    request(server(), "DELETE", address(bucket, name))

    assert store.blobs.read(name) == b"far away" * 1000
    with pytest.raises(NotFound):
        open_store().blobs.read(name)


@pytest.mark.rule("T4.3")
def test_a_spoilt_cache_is_fetched_again(open_store):
    name = open_store().blobs.put(b"far away" * 1000)
    store = open_store()
    path = store.blobs.path(name)
    path.chmod(0o600)
    path.write_bytes(b"local damage")

    assert store.blobs.read(name) == b"far away" * 1000


@pytest.mark.rule("T4.3", "B2.11")
@pytest.mark.parametrize("found", ["in its cache", "in a folder"])
def test_an_object_that_is_altered_heals_from_a_machine_that_holds_it(
    open_store, bucket, tmp_path, found
):
    content = b"far away" * 1000
    name = open_store().blobs.put(content)
    store, copy = open_store(), tmp_path / "copy"
    if found == "in its cache":
        store.blobs.path(name)
    else:
        copy.write_bytes(content)
        store.blobs.copies = lambda _: (tmp_path / "none", copy)
    request(server(), "PUT", address(bucket, name), b"gar away" * 1000)  # of the same length

    assert store.blobs.verify(name)
    assert open_store().blobs.read(name) == content


@pytest.mark.rule("T4.3")
def test_the_cache_keeps_within_its_limit(open_store, tmp_path):
    store = open_store()
    assert isinstance(store.blobs, SharedBlobs)
    store.blobs._cache_bytes = 10_000

    names = [store.blobs.put(bytes([number]) * 3000) for number in range(8)]

    kept = list(store.blobs.folder.glob("??/*"))
    assert sum(path.stat().st_size for path in kept) <= 10_000
    assert all(store.blobs.read(name) == bytes([n]) * 3000 for n, name in enumerate(names))


def evicted(store: Store) -> Path:
    """Leave a name in the cache whose file another process has just removed."""
    name = store.blobs.folder / "00" / ("0" * 62)
    name.parent.mkdir(parents=True, exist_ok=True)
    name.symlink_to(store.blobs.folder / "gone")
    return name


@pytest.mark.rule("T4.3", "T6.1")
def test_files_that_another_process_removes_from_the_cache_are_passed_over(open_store):
    far = open_store().blobs.put(b"far away" * 1000)
    store = open_store()
    assert isinstance(store.blobs, SharedBlobs)
    store.blobs._cache_bytes = 10_000
    evicted(store)

    names = [store.blobs.put(bytes([number]) * 3000) for number in range(8)]

    assert store.blobs.read(far) == b"far away" * 1000
    assert [store.blobs.read(name)[:1] for name in names] == [bytes([n]) for n in range(8)]


@pytest.mark.rule("T4.3", "T6.1")
def test_content_is_stored_and_read_although_its_file_is_removed_at_once(open_store, monkeypatch):
    store = open_store()
    rename, path = Path.rename, SharedBlobs.path

    def renamed(self: Path, target: Path) -> Path:
        moved = rename(self, target)
        moved.unlink()
        return moved

    def found(self: SharedBlobs, blob: BlobId) -> Path:
        here = path(self, blob)
        here.unlink()
        return here

    with monkeypatch.context() as other:
        other.setattr(Path, "rename", renamed)
        name = store.blobs.put(b"gone at once")
    with monkeypatch.context() as other:
        other.setattr(SharedBlobs, "path", found)
        assert store.blobs.read(name) == b"gone at once"
        with store.blobs.open(name) as file:
            assert file.read() == b"gone at once"


@pytest.mark.rule("T4.5", "T8.12")
def test_old_content_that_is_put_again_is_young_again(open_store, monkeypatch):
    """A day later somebody brings the same file: collection must not take it from under them."""
    old = open_store()
    name = old.blobs.put(b"brought twice")
    later = open_store()
    assert isinstance(later.blobs, SharedBlobs)
    seen = later.blobs._objects.head(f"{name[:2]}/{name[2:]}")
    assert seen is not None
    day_ms = 25 * 3_600_000
    later.blobs._clock = FixedClock(seen.modified_ms + day_ms)
    written: list[str] = []
    objects = later.blobs._objects
    put = objects.put

    def noted(key: str, path: Path) -> None:
        written.append(key)
        put(key, path)

    monkeypatch.setattr(objects, "put", noted)

    later.blobs.put(b"brought twice")

    assert written == [f"{name[:2]}/{name[2:]}"]


class Relay:
    """Stands between client and server, and cuts a request off in the middle of its body."""

    def __init__(self, target: str, after: int) -> None:
        self._target = int(target.rpartition(":")[2])
        self._after = after
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.cut = 0
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            with client, socket.create_connection(("127.0.0.1", self._target)) as far:
                left = self._after
                while left > 0 and (data := client.recv(min(left, 65536))):
                    far.sendall(data)
                    left -= len(data)
                self.cut += 1


@pytest.mark.rule("T8.15", "M10.7")
@pytest.mark.parametrize("after", [10, 500, 60_000, 900_000])
def test_an_upload_that_breaks_off_leaves_no_object(bucket, tmp_path, after, monkeypatch):
    relay = Relay(server(), after)
    monkeypatch.setenv("AWS_ENDPOINT_URL", relay.url)
    waits: list[float] = []
    objects = S3Objects(bucket, pause=waits.append)
    content = os.urandom(1_000_000)
    source = tmp_path / "source"
    source.write_bytes(content)

    with pytest.raises(StoreUnavailable):
        objects.put_new("ab/cdef", source)

    relay.close()
    monkeypatch.setenv("AWS_ENDPOINT_URL", server())
    assert relay.cut == len(waits) + 1 == 4
    assert all(abs(w / d - 1) <= 0.2 for w, d in zip(waits, TRANSIENT_DELAYS_S, strict=True))
    assert S3Objects(bucket).head("ab/cdef") is None


class Leak:
    """Stands between client and server, and cuts answers off: each of the first few, early."""

    def __init__(self, target: str, after: int, times: int) -> None:
        self._target = int(target.rpartition(":")[2])
        self._after = after
        self.left = times
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            threading.Thread(target=self._asked, args=(client, far), daemon=True).start()
            threading.Thread(target=self._answered, args=(client, far), daemon=True).start()

    def _asked(self, client: socket.socket, far: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                far.sendall(data)

    def _answered(self, client: socket.socket, far: socket.socket) -> None:
        passed = 0
        with client, far, suppress(OSError):
            while data := far.recv(65536):
                passed += len(data)
                if passed > self._after and self.left > 0:
                    self.left -= 1
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(data)


@pytest.fixture
def kept(bucket: str, tmp_path: Path) -> tuple[str, bytes]:
    """An object of several pieces: its name and its content."""
    content = os.urandom(9_000_000)
    source = tmp_path / "kept"
    source.write_bytes(content)
    name = sha256_hex(content)
    key = f"{name[:2]}/{name[2:]}"
    assert S3Objects(bucket).put_new(key, source)
    return key, content


@pytest.mark.rule("T4.3", "M10.7")
@pytest.mark.parametrize(
    ("after", "times"),
    [(100, 2), (1_000, 2), (500_000, 2), (5_000_000, 1)],  # what came before the last is kept
)
def test_a_download_that_breaks_off_is_gone_on_with(bucket, kept, after, times, monkeypatch):
    key, content = kept
    leak = Leak(server(), after, times)
    monkeypatch.setenv("AWS_ENDPOINT_URL", leak.url)
    waits: list[float] = []

    pieces = S3Objects(bucket, pause=waits.append).get(key)

    assert pieces is not None
    assert b"".join(pieces) == content
    assert leak.left == 0
    assert len(waits) == times
    leak.close()


@pytest.mark.rule("T4.3", "M10.7")
def test_a_download_that_breaks_off_time_and_again_is_refused(bucket, kept, monkeypatch):
    key, _ = kept
    leak = Leak(server(), 500_000, times=99)
    monkeypatch.setenv("AWS_ENDPOINT_URL", leak.url)
    waits: list[float] = []
    pieces = S3Objects(bucket, pause=waits.append).get(key)
    assert pieces is not None

    with pytest.raises(StoreUnavailable):
        b"".join(pieces)

    assert all(abs(w / d - 1) <= 0.2 for w, d in zip(waits, TRANSIENT_DELAYS_S, strict=True))
    leak.close()


@pytest.mark.rule("T4.3", "T8.15")
def test_half_a_content_never_stays_in_the_cache(open_store, kept, monkeypatch):
    key, content = kept
    leak = Leak(server(), 500_000, times=99)
    monkeypatch.setenv("AWS_ENDPOINT_URL", leak.url)
    store = open_store()
    store.blobs._objects._pause = lambda _: None
    blob = BlobId(key.replace("/", ""))

    with pytest.raises(StoreUnavailable):
        store.blobs.read(blob)
    left = [path for path in store.blobs.folder.rglob("*") if path.is_file()]
    leak.left = 0

    assert left == []
    assert store.blobs.read(blob) == content
    leak.close()


@pytest.mark.rule("T4.3")
def test_content_that_is_there_is_not_stored_again(bucket, kept, tmp_path):
    key, content = kept
    objects = S3Objects(bucket)
    other = tmp_path / "other"
    other.write_bytes(b"not what the name says")
    before = objects.head(key)

    again = [objects.put_new(key, path) for path in (tmp_path / "kept", other)]

    assert again == [False, False]
    assert objects.head(key) == before
    assert request(server(), "GET", address(bucket, key.replace("/", ""))) == content


@pytest.mark.rule("T4.3", "T2.4")
def test_a_storage_that_cannot_be_reached_is_said_so_and_nothing_is_changed(
    open_store, monkeypatch, tmp_path
):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    store = open_store()
    assert isinstance(store.blobs, SharedBlobs)
    assert isinstance(store.blobs._objects, S3Objects)
    store.blobs._objects._pause = lambda _: None

    with pytest.raises(StoreUnavailable) as refused:
        store.append(Plan((Part("session:a", [counted(1)]),), (b"x" * 100_000,)))

    assert "127.0.0.1" not in str(refused.value.info("workbench"))
    assert store.streams() == []
    assert not list(store.blobs.folder.glob("tmp-*"))


@pytest.mark.rule("S3.3", "T4.3")
@pytest.mark.parametrize("url", ["s3:///x", "s3://me:secret@b/x", "http://b/x", "file://host/x"])
def test_a_url_that_names_no_storage_is_refused(tmp_path, url):
    with pytest.raises(ValidationFailed) as refused:
        Store.open(tmp_path / "home", blobs_url=url)

    assert refused.value.reason == "bad_blobs_url"
    assert not (tmp_path / "home").exists()


@pytest.mark.rule("T5.4", "T4.3")
def test_a_backup_of_shared_contents_is_whole_and_comes_back(open_store, bucket, tmp_path):
    store = open_store()
    blob = store.blobs.put(b"z" * 200_000)
    store.append(Plan((Part("session:a", [counted(1)], pins=[Pin(blob, "artifact")]),)))

    write_backup(store, tmp_path / "copy", now_ms=0)
    restore_backup(tmp_path / "copy", tmp_path / "alone")
    with fresh_bucket() as other:
        restore_backup(tmp_path / "copy", tmp_path / "again", blobs_url=other)
        with Store.open(tmp_path / "again", blobs_url=other) as again:
            assert again.blobs.read(blob) == b"z" * 200_000
            assert again.health("session:a").is_healthy

    with Store.open(tmp_path / "alone") as alone:
        assert alone.blobs.read(blob) == b"z" * 200_000


@pytest.mark.needs("postgres")
@pytest.mark.rule("T6.1")
def test_two_machines_share_database_and_contents(bucket, tmp_path):
    with fresh_database() as url:
        homes = [tmp_path / "one", tmp_path / "two"]
        one, two = (Store.open(h, database_url=url, blobs_url=bucket) for h in homes)
        blob = one.blobs.put(b"shared" * 20_000)
        one.append(Plan((Part("bench:a", [counted(1)], pins=[Pin(blob, "artifact")]),)))

        assert two.blobs.path(blob).read_bytes() == b"shared" * 20_000
        assert [row.fact.number for row in two.read("bench:a")] == [1]
        assert not (homes[0] / "blobs").exists()
        one.close()
        two.close()


@pytest.mark.needs("postgres")
@pytest.mark.rule("T2.4", "T4.5")
def test_nobody_waits_for_a_storage_that_is_slow_to_renew_and_nothing_is_removed_meanwhile(
    bucket, tmp_path, monkeypatch
):
    with fresh_database() as url:
        opened = [
            Store.open(tmp_path / name, database_url=url, blobs_url=bucket, lock_wait_ms=200)
            for name in ("one", "two")
        ]
        slow, other = opened
        name = other.blobs.put(b"old and brought again")
        assert isinstance(slow.blobs, SharedBlobs)
        seen = slow.blobs._objects.head(f"{name[:2]}/{name[2:]}")
        assert seen is not None
        slow.blobs._clock = FixedClock(seen.modified_ms + 25 * 3_600_000)
        put = slow.blobs._objects.put

        def meanwhile(key: str, path: Path) -> None:
            other.append(Plan((Part("bench:a", [counted(1)]),)))
            with pytest.raises(StoreBusy):
                other.collect(apply=True, grace_hours=-1)
            put(key, path)

        monkeypatch.setattr(slow.blobs._objects, "put", meanwhile)
        slow.blobs.put(b"old and brought again")

        assert [row.fact.number for row in other.read("bench:a")] == [1]
        assert other.blobs.has(name)
        for store in opened:
            store.close()


@pytest.mark.rule("T4.3")
def test_a_listing_that_breaks_off_goes_on_where_it_was_and_never_seems_to_end(bucket):
    objects = S3Objects(bucket, pause=lambda _: None)
    names = [f"{n:02}" for n in range(6)]
    broken = iter([True, False])

    class Flaky:
        """A storage that answers in pages of two and breaks off once."""

        def list(self, _: object, *, offset: str | None) -> Iterator[list[dict[str, object]]]:
            left = [one for one in names if offset is None or one > offset]
            for at in range(0, len(left), 2):
                if at == 2 and next(broken, False):
                    raise objects._errors.GenericError("it broke off")
                now = datetime.now(UTC)
                yield [{"path": n, "size": 1, "last_modified": now} for n in left[at : at + 2]]

    objects._api = Flaky()

    assert [one.name for one in objects.listed()] == names
