"""A home that cannot be written can be read, extracted from and backed up, and says what it is."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from backshop.app import Backshop

MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
NOBODY = 65534
ACTS = """
import json, sys
from backshop.app import Backshop
from backshop.base.errors import BackshopError
home, out, bench = sys.argv[1:4]
found = {}
with Backshop.open(home) as shop:
    for key, name, request in json.loads(sys.argv[4]):
        try:
            found[key] = shop.call(name, request)
        except BackshopError as error:
            found[key] = [error.code, error.reason]
print(json.dumps(found))
"""
WRITER = """
import os, sys
from backshop.app import Backshop
shop = Backshop.open(sys.argv[1])
shop.call("WorkbenchCreate", {"name": "Only in the log of writes"})
print("done", flush=True)
sys.stdin.readline()
"""


def closed(how: str, home: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program that cannot write to the home."""
    if how == "mounted":
        command = ["unshare", "-m", "sh", "-c", MOUNTED, str(home), *command]
    else:
        for path in (home, *home.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o555 if path.is_dir() else 0o444)
        if os.geteuid() == 0:
            command = [
                "setpriv",
                f"--reuid={NOBODY}",
                f"--regid={NOBODY}",
                "--clear-groups",
                *command,
            ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder that others can enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="backshop-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(params=["mounted", "somebody else's"])
def how(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A way to keep a program from writing that works on this machine."""
    probe = tmp_path / "probe"
    probe.mkdir()
    code = "import sys; open(sys.argv[1], 'w')"
    tried = closed(request.param, probe, [sys.executable, "-c", code, str(probe / "x")])
    refused = ("Read-only file system" in tried.stderr, "Permission denied" in tried.stderr)
    if not any(refused) or "unshare" in tried.stderr or "mount:" in tried.stderr:
        pytest.skip("this account cannot make a folder read-only for a program")
    return str(request.param)


@pytest.fixture
def home(tmp_path: Path) -> tuple[Path, str]:
    """A home with a Draft that waits, and its workbench."""
    folder = tmp_path / "home"
    (tmp_path / "a.txt").write_text("one\n" * 30_000)
    (tmp_path / "b.txt").write_text("two\n")
    with Backshop.open(folder) as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Mine"})["workbench_id"]
        sources = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
        shop.call("WorkbenchFilesAdd", {"workbench_id": bench, "source_paths": sources})
        shop.call("DraftCreate", {"workbench_id": bench})
        shop.call("DraftDeletePath", {"workbench_id": bench, "path": "b.txt"})
    return folder, bench


@pytest.mark.rule("T5.8", "S3.5")
def test_a_read_only_home_is_read_extracted_and_backed_up_and_refuses_to_change(
    home, tmp_path, how
):
    folder, bench = home
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o777)
    about = {"workbench_id": bench}
    acts = [
        ("list", "WorkbenchList", {}),
        ("open", "WorkbenchOpen", about),
        ("files", "WorkbenchFilesList", about),
        ("review", "ReviewGetChangeSet", about),
        ("said", "WorkshopGetState", about),
        ("out", "WorkbenchFilesExtract", {**about, "destination_dir": str(out)}),
        ("backup", "StoreBackup", {"path": str(out / "backup")}),
        ("create", "WorkbenchCreate", {"name": "New"}),
        ("add", "WorkbenchFilesAdd", {**about, "source_paths": [str(tmp_path / "a.txt")]}),
        ("publish", "DraftPublish", about),
        ("rename", "WorkbenchRename", {**about, "new_name": "Other"}),
        ("user", "UserAdd", {"name": "Ann"}),
    ]
    before = {path: path.lstat().st_mtime_ns for path in sorted(folder.rglob("*"))}

    ended = closed(
        how, folder, [sys.executable, "-c", ACTS, str(folder), str(out), bench, json.dumps(acts)]
    )

    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert [one["name"] for one in found["list"]["workbenches"]] == ["Mine"]
    assert (found["open"]["health"], found["open"]["draft"]["has_draft"]) == ("ok", True)
    assert [one["path"] for one in found["files"]["files"]] == ["a.txt", "b.txt"]
    assert len(found["review"]["entries"]) == 1
    assert found["out"]["warnings"] == ["read_only"]
    assert (out / "a.txt").read_bytes() == (tmp_path / "a.txt").read_bytes()
    assert found["backup"]["blobs"] > 0
    for name in ("create", "add", "publish", "rename", "user"):
        assert found[name] == ["FILE_WRITE_FAILED", "read_only"], name
    assert {path: path.lstat().st_mtime_ns for path in sorted(folder.rglob("*"))} == before


@pytest.mark.rule("T5.8")
@pytest.mark.parametrize("how", ["somebody else's"], indirect=True)
def test_a_log_of_writes_that_a_killed_program_left_is_read_too(home, tmp_path, how):
    folder, bench = home
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    assert writer.stdin is not None
    assert writer.stdout.readline() == "done\n"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    writer.stdin.close()
    assert (folder / "store.db-wal").stat().st_size
    (folder / "store.db-shm").unlink()
    acts = json.dumps([("list", "WorkbenchList", {})])

    ended = closed(
        how, folder, [sys.executable, "-c", ACTS, str(folder), str(tmp_path), bench, acts]
    )

    assert ended.returncode == 0, ended.stderr
    names = {one["name"] for one in json.loads(ended.stdout)["list"]["workbenches"]}
    assert names == {"Mine", "Only in the log of writes"}


@pytest.mark.rule("T5.8", "S4.2")
@pytest.mark.parametrize("how", ["mounted"], indirect=True)
def test_the_command_line_and_the_doctor_say_read_only(home, how):
    folder, _ = home
    program = [sys.executable, "-m", "backshop.cli", "--home", str(folder)]

    listed = closed(how, folder, [*program, "bench", "list"])
    doctor = closed(how, folder, [*program, "doctor"])
    renamed = closed(how, folder, [*program, "bench", "rename", "Mine", "Other"])

    assert (listed.returncode, doctor.returncode, renamed.returncode) == (0, 0, 1)
    assert "read-only" in listed.stderr
    assert "Mine" in listed.stdout
    assert "read-only" in doctor.stdout
    assert "(FILE_WRITE_FAILED: read_only)" in renamed.stderr


@pytest.mark.rule("T5.8", "T5.3")
@pytest.mark.parametrize("how", ["mounted"], indirect=True)
def test_a_read_only_home_of_an_earlier_version_says_that_a_copy_can_be_opened(home, how):
    folder, _ = home
    with closing(sqlite3.connect(folder / "store.db")) as database, database:
        database.execute("UPDATE meta SET value = '3' WHERE key = 'schema_version'")
    program = [sys.executable, "-m", "backshop.cli", "--home", str(folder)]

    listed = closed(how, folder, [*program, "bench", "list"])
    shutil.copytree(folder, folder.with_name("copy"), symlinks=True)
    copied = Backshop.open(folder.with_name("copy"))

    assert listed.returncode == 1
    assert "of an earlier version" in listed.stderr
    assert "open the copy" in listed.stderr
    with copied as shop:
        assert [one["name"] for one in shop.call("WorkbenchList", {})["workbenches"]] == ["Mine"]
