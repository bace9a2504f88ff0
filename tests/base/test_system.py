"""What the system package promises where systems differ; rooms prove the rest by their doors."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backshop.base.system import (
    account,
    child,
    durability,
    file_copy,
    file_name,
    liveness,
    lock,
    open_folder,
    readiness,
    require_linux,
    writer,
)
from backshop.base.system.mapped_bytes import MappedBytes

HIGH = 1100  # above what select() can name


def opened(path):
    path.touch()
    return os.open(path, os.O_RDWR)


def test_a_lock_is_of_one_holder_until_its_file_is_closed(tmp_path):
    first, second = opened(tmp_path / "lock"), opened(tmp_path / "lock")
    lock.hold_now(first)
    try:
        with pytest.raises(BlockingIOError):
            lock.hold_now(second)
        with pytest.raises(BlockingIOError):
            lock.share_now(second)
        os.close(first)
        lock.hold_now(second)
    finally:
        os.close(second)


def test_a_held_folder_is_free_again_after_an_error(tmp_path):
    with pytest.raises(KeyError), lock.held_folder(tmp_path):
        raise KeyError

    handle = open_folder.open_root(tmp_path)
    try:
        lock.hold_now(handle)
    finally:
        os.close(handle)


def test_readiness_is_told_of_a_file_with_a_number_above_1024():
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard <= HIGH:
        pytest.skip("so many files cannot be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, HIGH + 1), hard))
    here, there = socket.socketpair()
    try:
        os.dup2(here.fileno(), HIGH)
        assert readiness.is_writable(HIGH, 0)
        assert not readiness.is_readable(HIGH, 0)
        there.send(b"x")
        assert readiness.is_readable(HIGH, 5)
    finally:
        here.close()
        there.close()
        os.close(HIGH)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_no_link_is_followed_by_a_name_in_an_open_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder-link").symlink_to("folder")
    root = open_folder.open_root(tmp_path)
    try:
        with pytest.raises(OSError) as of_file:
            open_folder.open_file("link", folder=root)
        with pytest.raises(OSError) as of_folder:
            open_folder.open_folder("folder-link", root)
        with pytest.raises(FileExistsError):
            open_folder.open_file("link", open_folder.NEW, folder=root)
        is_link = open_folder.look("link", root).st_ino == os.lstat(tmp_path / "link").st_ino
    finally:
        os.close(root)

    assert of_file.value.errno == errno.ELOOP
    assert of_folder.value.errno in (errno.ELOOP, errno.ENOTDIR)
    assert is_link


def test_a_name_that_is_taken_is_not_given_again(tmp_path):
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")

    with pytest.raises(FileExistsError):
        file_name.link(tmp_path / "new", tmp_path / "old")

    assert (tmp_path / "old").read_text() == "old"


def test_an_open_file_is_found_where_it_was_moved_to(tmp_path):
    (tmp_path / "before").write_text("x")
    with (tmp_path / "before").open() as file:
        (tmp_path / "before").rename(tmp_path / "after")
        found = file_name.real_path(file.fileno(), tmp_path / "before")

    assert found == str(tmp_path.resolve() / "after")


def test_a_copy_inside_the_system_is_whole_or_told_as_unsupported(tmp_path):
    (tmp_path / "source").write_bytes(b"content" * 1000)
    for way in (file_copy.clone, file_copy.copy_range):
        with (tmp_path / "source").open("rb") as source, (tmp_path / "copy").open("wb") as target:
            try:
                way(source.fileno(), target.fileno())
            except OSError as error:
                assert error.errno in file_copy.UNSUPPORTED
                continue
        assert (tmp_path / "copy").read_bytes() == b"content" * 1000


def test_files_folders_and_their_file_system_can_be_made_durable(tmp_path):
    (tmp_path / "file").write_text("x")

    durability.sync_file(tmp_path / "file")
    durability.sync_folder(tmp_path)
    assert durability.sync_file_system(tmp_path) in (True, False)
    with pytest.raises(NotADirectoryError):
        durability.sync_folder(tmp_path / "file")


def test_a_process_is_gone_when_it_ended_or_another_has_its_number():
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        since = liveness.began(other.pid)
        assert not liveness.is_gone(other.pid, since)
        assert not liveness.is_gone(other.pid, "")
        assert liveness.is_gone(other.pid, f"{since}1")
    finally:
        other.kill()
        other.communicate()
    assert liveness.is_gone(other.pid, since)


def test_a_group_that_is_gone_can_be_ended_again():
    other = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    other.wait()
    with pytest.raises(ProcessLookupError):
        os.killpg(other.pid, 0)

    child.end_group(other.pid)  # raises nothing


def test_an_account_without_a_name_is_called_by_its_number():
    assert account.account_name(2**31 - 7) == f"#{2**31 - 7}"


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_another_system_is_refused_in_words_or_done_without(platform):
    code = (
        f"import sys; sys.platform = {platform!r}\n"
        "from backshop.base.system import durability, fence, require_linux\n"
        "from pathlib import Path\n"
        "assert not fence.enclose((), (), ())\n"
        "assert not fence.forbid_programs_and_network()\n"
        "assert not durability.sync_file_system(Path.cwd())\n"
        "require_linux('a bound on memory')\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    said = told.stderr.strip().splitlines()[-1]
    expected = {
        "win32": "ImportError: Backshop runs on Linux, and this is Windows; inside WSL it is Linux",
        "darwin": f"OSError: [Errno {errno.ENOSYS}] a bound on memory needs Linux, and this is",
    }
    assert said.startswith(expected[platform])


def test_linux_is_no_reason_to_refuse():
    assert sys.platform == "linux"

    require_linux("anything")  # raises nothing


def test_names_of_an_open_folder_are_exchanged_or_given_only_where_free(tmp_path):
    (tmp_path / "one").write_text("1")
    (tmp_path / "two").write_text("2")
    handle = open_folder.open_root(tmp_path)
    try:
        assert file_name.exchange_in(handle, "one", "two")
        with pytest.raises(FileExistsError):
            file_name.rename_new(handle, "one", "two")
        file_name.rename_new(handle, "one", "three")
    finally:
        os.close(handle)

    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {"two": "1", "three": "2"}


def test_whoever_may_write_into_an_open_file_is_told(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    handle = os.open(path, os.O_RDONLY)
    try:
        with writer.watched(handle) as may_be_written:
            assert may_be_written() is False
        with path.open("r+"), writer.watched(handle) as may_be_written:
            assert may_be_written() is True
    finally:
        os.close(handle)


@given(
    places=st.lists(st.integers(0, 2_500_000 - 3), max_size=4),
    start=st.integers(0, 2_500_000),
    length=st.integers(0, 2_500_000),
)
@example(places=[(1 << 20) - 1], start=0, length=2_500_000)
@settings(max_examples=25, deadline=None)
@example(places=[(1 << 16) - 2, (1 << 20) - 2], start=1, length=2_500_000)
def test_bytes_on_the_disk_answer_like_bytes_in_memory(tmp_path_factory, places, start, length):
    data = bytearray(b"-" * 2_500_000)
    for place in places:
        data[place : place + 3] = b"abc"
    path = tmp_path_factory.mktemp("mapped") / "a"
    path.write_bytes(data)
    with path.open("rb") as file:
        mapped = MappedBytes(file.fileno())
    whole, end = bytes(data), start + length

    mapped.release(start, end)
    assert mapped.find(b"abc", start, end) == whole.find(b"abc", start, end)
    assert mapped.count(b"abc", start, end) == whole.count(b"abc", start, end)
    assert (b"abc" in mapped) == (b"abc" in whole)
    assert mapped.startswith(b"-", start) == whole.startswith(b"-", start)
    assert (mapped[start:end], len(mapped)) == (whole[start:end], len(whole))
    path.unlink()
