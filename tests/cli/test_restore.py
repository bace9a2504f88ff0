"""A restore that is stopped halfway leaves nothing behind that stands in the way of the next."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.objects import KEYS, fresh_bucket
from tests.postgres import fresh_database
from tests.store.store_conformance import counted

from backshop.app import Backshop
from backshop.cli import main
from backshop.store import Part, Pin, Plan, Store, StoreUnavailable
from backshop.store.blob.shared import SharedBlobs

CONTENT = b"far away" * 20_000


class _Refusing(BaseHTTPRequestHandler):
    """An object storage that lets nobody in."""

    def _refuse(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    do_GET = do_HEAD = do_PUT = _refuse

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def refusing_storage() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(5)


@pytest.fixture
def copy(tmp_path, capsys):
    """A backup with one stream and one content that is no part of the database."""
    with Store.open(tmp_path / "first") as store:
        blob = store.blobs.put(CONTENT)
        store.append(Plan((Part("session:a", [counted(1)], pins=[Pin(blob, "artifact")]),)))
    assert main(["backup", str(tmp_path / "copy"), "--home", str(tmp_path / "first")]) == 0
    capsys.readouterr()
    return tmp_path / "copy", blob


def run(capsys, *args):
    code = main([*map(str, args), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def team(monkeypatch):
    """An empty database on a server and an empty bucket, set for every command."""
    with fresh_database() as url, fresh_bucket() as bucket:
        monkeypatch.setenv("BACKSHOP_DATABASE_URL", url)
        monkeypatch.setenv("BACKSHOP_BLOBS_URL", bucket)
        yield url, bucket


def _comes_back(capsys, tmp_path, copy, team):
    path, blob = copy
    code, done = run(capsys, "restore", path, "--home", tmp_path / "second")
    assert (code, done["streams"], done["blobs"]) == (0, 1, 1)
    with Store.open(tmp_path / "second", database_url=team[0], blobs_url=team[1]) as store:
        assert store.blobs.read(blob) == CONTENT
        assert store.health("session:a").is_healthy


@pytest.mark.needs("postgres", "s3")
@pytest.mark.rule("T5.4")
def test_a_restore_whose_storage_was_away_can_be_repeated(
    tmp_path, capsys, monkeypatch, copy, team
):
    with refusing_storage() as away, monkeypatch.context() as outage:
        for name, value in {**KEYS, "AWS_ENDPOINT_URL": away}.items():
            outage.setenv(name, value)
        code, refused = run(capsys, "restore", copy[0], "--home", tmp_path / "second")

    assert (code, refused["reason"]) == (1, "refused")
    assert not (tmp_path / "second").exists()
    _comes_back(capsys, tmp_path, copy, team)


@pytest.mark.needs("postgres", "s3")
@pytest.mark.rule("T5.4")
def test_a_restore_whose_storage_went_away_at_the_last_check_can_be_repeated(
    tmp_path, capsys, monkeypatch, copy, team
):
    def away(*_: object) -> bool:
        raise StoreUnavailable("the object storage cannot be reached")

    with monkeypatch.context() as outage:
        outage.setattr(SharedBlobs, "has", away)
        code, _ = run(capsys, "restore", copy[0], "--home", tmp_path / "second")

    assert code == 1
    assert not (tmp_path / "second").exists()
    _comes_back(capsys, tmp_path, copy, team)


@pytest.mark.needs("postgres", "s3")
@pytest.mark.rule("T5.4", "T5.5")
def test_a_database_that_holds_something_is_not_restored_into(tmp_path, capsys, copy, team):
    assert run(capsys, "restore", copy[0], "--home", tmp_path / "one")[0] == 0
    with Store.open(tmp_path / "one", database_url=team[0], blobs_url=team[1]) as store:
        store.append(Plan((Part("session:a", [counted(2)]),)))

    code, refused = run(capsys, "restore", copy[0], "--home", tmp_path / "two")

    assert (code, refused["reason"]) == (1, "target_exists")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "first", "one"]


@pytest.mark.needs("postgres", "s3")
@pytest.mark.rule("T5.4")
def test_a_restore_that_ended_between_its_commit_and_its_folder_can_be_repeated(
    tmp_path, capsys, monkeypatch, copy, team
):
    rename = Path.rename

    def full(path: Path, target: Path) -> Path:
        if target == tmp_path / "second":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return rename(path, target)

    with monkeypatch.context() as end:
        end.setattr(Path, "rename", full)
        code, _ = run(capsys, "restore", copy[0], "--home", tmp_path / "second")

    assert code == 1
    assert not (tmp_path / "second").exists()
    _comes_back(capsys, tmp_path, copy, team)


@pytest.mark.rule("T5.4")
def test_what_a_person_wrote_beside_the_log_comes_back(tmp_path, capsys):
    home = tmp_path / "first"
    Store.open(home).close()
    own = {
        "workflows/my.check.yaml": "id: my.check\n",
        "workflows/refs/house.md": "# House rules\n",
        "prompts/overrides/backshop/workshop/research/latest.json": "{}\n",
    }
    for name, text in own.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (tmp_path / "secret").write_text("not in the home")
    (home / "workflows" / "leads-out").symlink_to(tmp_path / "secret")

    assert run(capsys, "backup", tmp_path / "copy", "--home", home)[0] == 0
    assert run(capsys, "restore", tmp_path / "copy", "--home", tmp_path / "again")[0] == 0

    found = [
        one for name in ("workflows", "prompts") for one in (tmp_path / "again" / name).rglob("*")
    ]
    files = {
        str(one.relative_to(tmp_path / "again")): one.read_text() for one in found if one.is_file()
    }
    assert files == own


NEW = json.dumps(
    {
        "id": "our.check",
        "name": "New",
        "description": "For tests.",
        "version": "1.0.0",
        "steps": [{"id": "a", "title": "A", "prompt": "Do it."}],
    }
)
PROMPT = {"namespace": "backshop/workshop", "key": "research", "section": "phase"}
SAVES = {
    "workflows": ("RailsWorkflowSave", {"source": NEW, "target": "user"}),
    "prompts": ("PromptOverridesSet", {**PROMPT, "body": "Be brief."}),
}


@pytest.mark.rule("T5.4")
@pytest.mark.parametrize("folder", SAVES)
def test_a_backup_is_whole_while_something_is_saved(tmp_path, monkeypatch, folder):
    """The file is listed under the name it is written under, and has its own when it is copied."""
    is_written, is_listed = threading.Event(), threading.Event()
    replace, copyfile = os.replace, shutil.copyfile
    with Backshop.open(tmp_path / "home") as shop:
        shop.call("PromptOverridesSet", {**PROMPT, "body": "Before."})
        shop.call("RailsWorkflowNew", {"workflowId": "our.other", "target": "user"})
        before = own_files(tmp_path / "home")
        saving = threading.Thread(target=shop.call, args=SAVES[folder])

        def late(*args: Any, **named: Any) -> None:
            if threading.current_thread() is saving:
                is_written.set()
                assert is_listed.wait(20)
            replace(*args, **named)

        def finish(source: str, target: str) -> Any:
            if Path(source).is_relative_to(tmp_path / "home" / folder):
                is_listed.set()
                saving.join(20)
            return copyfile(source, target)

        monkeypatch.setattr(os, "replace", late)
        monkeypatch.setattr(shutil, "copyfile", finish)
        saving.start()
        assert is_written.wait(20)
        shop.call("StoreBackup", {"path": str(tmp_path / "copy")})

    assert before <= own_files(tmp_path / "copy") <= own_files(tmp_path / "home")


@pytest.mark.rule("T5.4")
def test_a_workflow_that_is_removed_during_a_backup_is_not_in_it(tmp_path, monkeypatch):
    copyfile = shutil.copyfile
    with Backshop.open(tmp_path / "home") as shop:
        shop.call("RailsWorkflowNew", {"workflowId": "our.check", "target": "user"})

        def remove(source: str, target: str) -> Any:
            Path(source).unlink()
            return copyfile(source, target)

        monkeypatch.setattr(shutil, "copyfile", remove)
        shop.call("StoreBackup", {"path": str(tmp_path / "copy")})

    assert own_files(tmp_path / "copy") == set()


def own_files(home: Path) -> set[str]:
    """Return which workflows and overrides a home or a copy of it holds."""
    found = [one for name in ("workflows", "prompts") for one in (home / name).rglob("*")]
    return {str(one.relative_to(home)) for one in found if one.is_file()}
