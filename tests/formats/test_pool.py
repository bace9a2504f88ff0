from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from backshop.base.errors import RetryKind
from backshop.base.limits import GIB
from backshop.base.system import fence
from backshop.formats.errors import FormatError
from backshop.formats.worker.pool import Ambient, Pool, StartFailed
from backshop.formats.worker.process import Task

HERE = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def pool():
    sys.path.append(HERE)  # workers import `hostile` from here
    pool = Pool(workers=2, memory_bytes=GIB)
    yield pool
    pool.close()
    sys.path.remove(HERE)


def task(function, *args, **options):
    return Task(module="hostile", function=function, args=args, **options)


def failure(pool, task, timeout_s=20.0, outputs=()):
    with pytest.raises(FormatError) as caught:
        pool.call(task, timeout_s, outputs)
    return caught.value


@pytest.mark.rule("F2.7")
def test_a_worker_answers_and_is_kept(pool):
    assert pool.call(task("echo", {"a": [1, None]}), 20) == {"a": [1, None]}
    assert pool.call(task("print_much"), 20) == "quiet"
    assert pool.call(task("pid"), 20) == pool.call(task("pid"), 20)


@pytest.mark.rule("F2.7", "F3")
@pytest.mark.parametrize(
    ("function", "reason", "code"),
    [
        ("die", "worker_crashed", "TOOL_WORKER_UNAVAILABLE"),
        ("grow", "memory_limit", "FILE_READ_FAILED"),
        ("break_down", "corrupt_file", "FILE_READ_FAILED"),
        ("evil", "worker_crashed", "TOOL_WORKER_UNAVAILABLE"),
        ("nowhere", "unsupported_format", "VALIDATION_FAILED"),
    ],
)
def test_whatever_happens_in_a_worker_has_a_reason(pool, function, reason, code):
    error = failure(pool, task(function))

    assert (error.reason, error.code) == (reason, code)
    assert "secret content" not in f"{error.message} {error.detail}"
    assert pool.call(task("echo", 1), 20) == 1


@pytest.mark.rule("F2.7")
@pytest.mark.parametrize(
    ("writing", "code"), [(False, "FILE_READ_FAILED"), (True, "FILE_WRITE_FAILED")]
)
def test_a_worker_that_takes_too_long_is_killed(pool, writing, code):
    error = failure(pool, task("sleep_forever", writing=writing), timeout_s=0.2)

    assert (error.reason, error.code, error.retry.kind) == ("timeout", code, RetryKind.NOW)
    assert pool.call(task("echo", 1), 20) == 1


@pytest.mark.rule("F2.8")
@pytest.mark.parametrize(
    ("function", "args"),
    [
        ("connect", ()),
        ("run_program", ()),
        ("open_file", ("/etc/passwd",)),
        ("swallow", ("/etc/passwd",)),
        ("write_file", ("{out}",)),
        ("remove", ("{out}",)),
    ],
)
def test_the_guard_refuses_what_no_file_may_cause(pool, tmp_path, function, args):
    kept = tmp_path / "kept"
    kept.write_bytes(b"kept")

    error = failure(pool, task(function, *(arg.format(out=kept) for arg in args)))

    assert (error.reason, error.code) == ("guard_refused", "SANDBOX_VIOLATION")
    assert kept.read_bytes() == b"kept"


@pytest.mark.rule("F2.8", "B4.11")
def test_files_of_the_task_can_be_opened_and_only_in_that_task(pool, tmp_path):
    path = tmp_path / "in"
    path.write_bytes(b"content")
    link = tmp_path / "link"
    link.symlink_to("/etc/passwd")

    assert pool.call(task("open_file", str(path), reads=(str(path),)), 20) == b"content"
    assert failure(pool, task("open_file", str(path))).reason == "guard_refused"
    inside = task("open_file", str(link), writes=(str(tmp_path),))
    assert failure(pool, inside).reason == "guard_refused"
    over = task("write_file", str(path), reads=(str(path),))
    assert failure(pool, over).reason == "guard_refused"  # what is read is never written to
    assert path.read_bytes() == b"content"


@pytest.mark.rule("F2.8")
def test_a_worker_moves_its_own_file_over_no_other(pool, tmp_path):
    mine, kept = tmp_path / "mine", tmp_path / "kept"
    mine.mkdir()
    kept.write_bytes(b"kept")

    moved = task("move", str(mine / "a"), str(kept), writes=(str(mine),))

    assert failure(pool, moved).reason == "guard_refused"
    assert kept.read_bytes() == b"kept"
    pool.call(task("move", str(mine / "a"), str(mine / "b"), writes=(str(mine),)), 20)
    assert (mine / "b").read_bytes() == b"mine"


@pytest.mark.rule("F2.8")
@pytest.mark.skipif(fence.abi() == 0, reason="the kernel has no Landlock")
def test_native_code_is_held_by_the_kernel(pool, tmp_path):
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.write_bytes(b"mine")
    other.write_bytes(b"other")
    out = tmp_path / "out"
    out.mkdir()

    given = {"reads": (str(mine),), "writes": (str(out),)}
    assert pool.call(task("open_natively", str(mine), **given), 20) >= 0
    assert pool.call(task("write_natively", str(out / "new"), **given), 20) >= 0
    for path in (other, tmp_path, "/etc/passwd", "/proc/1/environ"):
        assert pool.call(task("open_natively", str(path), **given), 20) == -1
    for path in (mine, other, tmp_path / "new"):
        assert pool.call(task("write_natively", str(path), **given), 20) == -1
    assert pool.call(task("query_natively", str(mine), **given), 20) == [("mine",)]
    assert pool.call(task("query_natively", str(other), **given), 20) == "refused"
    assert pool.call(task("open_natively", str(other), reads=(str(other),)), 20) >= 0


@pytest.mark.rule("F2.8")
@pytest.mark.skipif(fence.abi() == 0, reason="the kernel has no Landlock")
def test_native_code_reaches_no_network_and_no_program(pool):
    assert pool.call(task("connect_natively"), 20) == -1
    assert pool.call(task("run_natively"), 20) == -1
    assert pool.call(task("echo", 1), 20) == 1


@pytest.mark.rule("F32.83")
def test_a_worker_killed_while_writing_leaves_nothing(pool, tmp_path):
    out, other = tmp_path / "out", tmp_path / "other"
    other.write_bytes(b"base")

    error = failure(
        pool,
        task("half_write", str(out), writes=(str(tmp_path),), writing=True),
        outputs=(out, other),
    )

    assert error.reason == "worker_crashed"
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


@pytest.mark.rule("F2.7")
def test_what_is_nested_too_deeply_is_refused_and_costs_no_worker(pool):
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]

    assert failure(pool, task("echo", deep)).reason == "bad_value"
    assert pool.call(task("echo", 1), 20) == 1


OWNER = """
import os
from backshop.formats.worker.pool import Process
process = Process(2**30)
print(process.pid, process._scratch, flush=True)
input()
os._exit(9)
"""


@pytest.mark.rule("F2.7")
def test_a_worker_whose_owner_dies_ends_and_leaves_no_folder():
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", OWNER], stdin=pipe, stdout=pipe) as owner:
        assert owner.stdout is not None
        pid, scratch = owner.stdout.readline().decode().split(maxsplit=1)
        ended = select.poll()
        ended.register(os.pidfd_open(int(pid)), select.POLLIN)
        existed = Path(scratch.strip()).exists()
        owner.communicate(b"\n")

    assert ended.poll(60_000)
    assert existed
    assert not Path(scratch.strip()).exists()


def test_threads_share_the_workers(pool):
    seen = []
    threads = [
        threading.Thread(target=lambda n=n: seen.append(pool.call(task("echo", n), 20)))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(seen) == list(range(8))


@pytest.mark.rule("F2.7")
def test_failing_starts_are_retried_then_probed_once_a_minute():
    now = [0.0]
    starts: list[float] = []
    waits: list[float] = []

    def start(memory):
        starts.append(now[0])
        raise StartFailed

    pool = Pool(ambient=Ambient(start=start, now=lambda: now[0], wait=waits.append))

    assert failure(pool, task("echo", 1)).reason == "worker_crashed"
    assert (len(starts), waits) == (3, [0.5, 2.0])
    now[0] = 59.0
    failure(pool, task("echo", 1))
    assert len(starts) == 3
    now[0] = 60.0
    failure(pool, task("echo", 1))
    assert len(starts) == 4
