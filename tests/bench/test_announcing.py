"""What those who follow a bench are told while and after it is published or restored."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from backshop.app import About
from backshop.app.notice.table import Notification
from backshop.app.rpc_line import RpcLine
from backshop.base.errors import BackshopError, DiskFull
from backshop.base.progress import watched
from backshop.store import Store

from .conftest import Room

LATE = ("WorkbenchClutterChanged",)  # comes when it was weighed, apart from the order (B16.8)
PUBLISH = [
    "validating",
    "conflict_check",
    "checkpoint_pre_publish",
    "swap_directories",
    "finalizing",
]
RESTORE = ["validating", "checkpoint_pre_restore", "swap_directories", "finalizing"]


class Ear:
    """Hears everything about one bench from now on."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._following = room.shop.hub.subscribe(About(workbench_id=room.id))

    def __enter__(self) -> Ear:
        self._live = self._following.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._following.__exit__(None, None, None)

    def heard(self) -> list[Notification]:
        """Return all up to a signal sent now, which comes after what was committed before."""
        self._room.shop.hub.signals.send("EndProgress", {}, workbench_id=self._room.id)
        found: list[Notification] = []
        while not found or found[-1].name != "EndProgress":
            found += self._live.wait(60)
        return [one for one in found[:-1] if one.name not in LATE]


def phases(notes: list[Notification], name: str) -> list[str]:
    return [one.payload["phase"] for one in notes if one.name == name and len(one.payload) == 1]


@pytest.mark.rule("B9.2", "B9.10", "S5.2", "B7.13")
def test_a_publish_says_where_it_stands_and_then_what_changed_in_order(room):
    room.add({"a.txt": "one", "b.txt": "keep"})
    room.write({"a.txt": "two"})
    with Ear(room) as ear:
        room.call("DraftPublish", dry_run=True)
        assert ear.heard() == []
        room.call("DraftPublish")
        heard = ear.heard()

    progress = [one for one in heard if one.name == "DraftPublishProgress"]
    assert phases(heard, "DraftPublishProgress") == PUBLISH
    assert all(one.position is None and one.workbench_id == room.id for one in progress)
    assert [one.name for one in heard if one not in progress] == [
        "CheckpointCreated",
        "DraftStateChanged",
        "WorkbenchFilesChanged",
        "WorkshopMessageAdded",
    ]
    names = [one.payload.get("phase", one.name) for one in heard]
    assert names.index("swap_directories") < names.index("CheckpointCreated")
    assert names.index("WorkshopMessageAdded") < names.index("finalizing")  # commit lies between


@pytest.mark.rule("B10.9", "B10.16", "B14.18")
def test_a_restore_says_where_it_stands_and_then_what_changed_in_order(room):
    room.add({"a.txt": "one"})
    situation = [{"path": "context.md", "content": "- now"}]
    room.call("ContextUpdateDirect", category="situation", files=situation, create=True)
    wanted = room.call("CheckpointCreate")["checkpoint_id"]
    room.add({"b.txt": "two"})
    changed = [{"path": "context.md", "content": "- later"}]
    room.call("ContextUpdateDirect", category="situation", files=changed)
    company = [{"path": "SKILL.md", "content": "---\nname: company-context\n---\nWe"}]
    room.call("ContextUpdateDirect", category="company-context", files=company, create=True)
    with Ear(room) as ear:
        room.call("CheckpointRestore", checkpoint_id=wanted, dry_run=True)
        assert ear.heard() == []
        room.call("CheckpointRestore", checkpoint_id=wanted)
        heard = ear.heard()

    assert phases(heard, "CheckpointRestoreProgress") == RESTORE
    facts = [one for one in heard if one.name != "CheckpointRestoreProgress"]
    assert [one.name for one in facts] == [
        "CheckpointCreated",
        "CheckpointRestored",
        "WorkbenchFilesChanged",
        "ContextChanged",
        "ContextChanged",
        "WorkshopMessageAdded",
    ]
    assert [dict(one.payload) for one in facts[3:5]] == [
        {"category": "company-context", "action": "deleted"},
        {"category": "situation", "action": "updated"},
    ]
    assert facts[0].payload["reason"] == "pre_restore"
    assert facts[1].payload == {"checkpoint_id": wanted}


@pytest.mark.rule("B9.2")
def test_a_publish_of_many_files_says_how_far_it_is_and_never_less(room):
    room.add({f"{n}.txt": str(n) for n in range(60)})
    room.write({f"{n}.txt": f"new {n}" for n in range(60)})
    counted: list[tuple[str, int, int]] = []
    with Ear(room) as ear, watched(lambda *said: counted.append(said)):
        room.call("DraftPublish")
        heard = ear.heard()

    percents = [one.payload["percent"] for one in heard if "percent" in one.payload]
    assert len(percents) > 5
    assert percents == sorted(percents)
    assert percents[-1] <= 100
    assert ("files placed", 60, 60) in counted  # the bar of the command line counts along
    assert [what for what, _, total in counted if not total] == PUBLISH


@pytest.mark.rule("B9.2", "B9.12", "B10.9", "B3.10", "B22.32")
def test_a_commit_that_fails_is_taken_back_and_says_so(room, monkeypatch):
    room.add({"a.txt": "one"})
    wanted = room.call("CheckpointCreate")["checkpoint_id"]
    room.write({"a.txt": "two"})
    before = room.call("CheckpointsList")
    real = Store.update

    def full(self, *args, **more):
        monkeypatch.setattr(Store, "update", real)
        raise DiskFull("the disk is full", reason="disk_full")

    def refuse(command: str, **request: object) -> BackshopError:
        monkeypatch.setattr(Store, "update", full)
        with pytest.raises(BackshopError) as caught:
            room.call(command, **request)
        return caught.value

    with Ear(room) as ear:
        assert refuse("DraftPublish").code == "DISK_FULL"
        publish = ear.heard()
        assert (room.published(), room.draft()) == ({"a.txt": "one"}, {"a.txt": "two"})
        assert room.call("CheckpointsList") == before
        room.call("DraftDiscard")
        ear.heard()
        assert refuse("CheckpointRestore", checkpoint_id=wanted).code == "DISK_FULL"
        restore = ear.heard()

    assert phases(publish, "DraftPublishProgress") == [*PUBLISH[:4], "rolling_back"]
    assert publish[-1].name == "DraftPublishFailed"
    assert publish[-1].payload == {
        "error": {"code": "DISK_FULL", "reason": "disk_full"},
        "recovery_action": "free_disk_space",
    }
    assert phases(restore, "CheckpointRestoreProgress") == [*RESTORE[:3], "rolling_back"]
    assert room.call("CheckpointsList") == before


@pytest.mark.rule("B3.6", "B3.10", "B9.2", "B22.32", "B22.33")
@pytest.mark.parametrize("since", [*PUBLISH, "the commit"])
def test_a_disk_that_is_full_from_some_phase_on(room, monkeypatch, since):
    """Before the commit nothing is changed; after it folders lag behind until there is room."""
    room.add({"a.txt": "one", "b.txt": "b"})
    room.write({"a.txt": "two", "d/c.txt": "c"})
    after, before = room.draft(), (room.published(), room.draft(), room.call("CheckpointsList"))
    real = Store.update

    def no_room(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def no_folders() -> None:
        for name in ("link", "symlink", "rename", "replace", "mkdir", "fsync"):
            monkeypatch.setattr(os, name, no_room)

    def full(self: Store, *_: object, **__: object) -> None:
        raise DiskFull("the disk is full", reason="disk_full")

    def last(self: Store, *given: Any, **more: Any) -> Any:
        done = real(self, *given, **more)
        no_folders()
        return done

    def fill() -> None:
        monkeypatch.setattr(Store, "update", full)
        no_folders()

    def heard(_: str, __: str, told: Mapping[str, Any]) -> None:
        if told["phase"] == since:
            fill()

    room.shop.benches.desk.announce = heard
    if since == "the commit":
        monkeypatch.setattr(Store, "update", last)
    try:
        done = room.call("DraftPublish")
    except BackshopError as error:
        done = {"error": error.code}
    monkeypatch.undo()
    room.shop.benches.desk.announce = lambda *_: None

    if since in PUBLISH[:4]:
        assert done == {"error": "DISK_FULL"}
        assert (room.published(), room.draft(), room.call("CheckpointsList")) == before
        done = room.call("DraftPublish")
        assert done["warnings"] == []
    elif since == "the commit":
        assert done["warnings"] == ["view_stale"]
        assert {one["path"]: one["verified"] for one in done["changed"]} == {
            **{"a.txt": False, "d/c.txt": False},
        }
        assert room.call("WorkbenchOpen")["health"] == "ok"
    assert room.published() == after == room.on_disk("published")
    assert (room.draft(), room.on_disk("draft")) == (None, None)


@pytest.mark.rule("B9.12", "B9.2")
def test_a_refused_publish_says_what_helps(room):
    room.add({"a.txt": "one", "b.txt": "two"})
    room.call("DraftCreate")
    room.call("DraftDeletePath", path="b.txt")
    folder = room.shop.config.home / "benches" / room.id
    with Ear(room) as ear:
        seen = []

        def refused() -> None:
            with pytest.raises(BackshopError):
                room.call("DraftPublish")
            seen.extend(ear.heard())

        refused()
        room.call("ReviewSetDeletionConfirmations", paths=["b.txt"], confirmed=True)
        ear.heard()
        _overwrite(folder / "published" / "a.txt")
        refused()

    failed = [one.payload for one in seen if one.name == "DraftPublishFailed"]
    assert [(one["error"]["code"], one["recovery_action"]) for one in failed] == [
        ("CONFIRMATION_REQUIRED", "review_draft"),
        ("CONFLICT_PUBLISHED_CHANGED", "repair_published"),
    ]
    assert "rolling_back" not in phases(seen, "DraftPublishProgress")
    assert room.draft() == {"a.txt": "one"}


def _overwrite(path: Path) -> None:
    path.unlink()
    path.write_text("somebody else's")


@pytest.mark.rule("S5.2", "B9.2")
def test_the_line_of_a_program_carries_the_phases(room):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "two"})
    said: list[dict[str, Any]] = []
    line = RpcLine(room.shop, "1", said.append)
    for number, (method, params) in enumerate(
        (("rpc.subscribe", {}), ("DraftPublish", {"workbench_id": room.id}))
    ):
        call = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        line.take(json.dumps(call).encode())
    line.close()

    told = [one["params"] for one in said if one.get("method") == "DraftPublishProgress"]
    assert [one["phase"] for one in told if "percent" not in one] == PUBLISH
    assert {one["workbench_id"] for one in told} == {room.id}
