"""Two real processes on one bench: one wins, nothing is half done, a dead agent blocks nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from backshop.app import Backshop
from backshop.base.ambient import Mint
from backshop.base.errors import BackshopError
from backshop.store import Store, whereabouts
from backshop.testing.ambient import FixedClock

from .conftest import Room

ROOT = Path(__file__).resolve().parents[2]
RACER = """
import json, sys
from pathlib import Path
from backshop.app import Backshop
from backshop.base.errors import BackshopError
home, bench, steps = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
with Backshop.open(Path(home)) as shop:
    shop.call("WorkbenchOpen", {"workbench_id": bench})
    print("ready", flush=True)
    sys.stdin.readline()
    for name, request in steps:
        try:
            shop.call(name, {"workbench_id": bench, **request})
            print(json.dumps([name, None]), flush=True)
        except BackshopError as error:
            print(json.dumps([name, error.code]), flush=True)
"""
Steps = list[tuple[str, dict[str, object]]]


def race(room: Room, *histories: Steps) -> list[list[tuple[str, str | None]]]:
    """Let processes run their commands at the same moment; return how each step came out."""
    command = [sys.executable, "-c", RACER, str(room.shop.config.home), room.id]
    children = [
        subprocess.Popen(
            [*command, json.dumps(steps)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
        )
        for steps in histories
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    said = [child.communicate(timeout=60)[0].splitlines() for child in children]
    assert [child.returncode for child in children] == [0] * len(children)
    return [[tuple(json.loads(line)) for line in lines] for lines in said]


def settled(room: Room) -> None:
    """The folders show what the log says."""
    opened = room.call("WorkbenchOpen")
    assert opened["health"] == "ok"
    assert room.on_disk("published") == room.published()
    assert room.on_disk("draft") == room.draft()


@pytest.mark.rule("B3.7", "B22.74")
def test_two_processes_publish_and_one_wins(room):
    room.add({"a.txt": "one"})
    for turn in range(3):
        room.write({"a.txt": f"turn {turn}"})
        results = race(room, [("DraftPublish", {})], [("DraftPublish", {})])

        codes = sorted(str(code) for [(_, code)] in results)
        assert codes[0] in ("BENCH_BUSY", "NOT_FOUND", "None")
        assert codes.count("None") == 1
        assert len(room.call("CheckpointsList")["checkpoints"]) == turn + 1
        assert room.published() == {"a.txt": f"turn {turn}"}
        settled(room)


@pytest.mark.rule("B3.1", "B3.7", "B1.2")
def test_two_histories_at_once_leave_one_that_could_have_been(room, tmp_path):
    room.add({"a.txt": "one", "b.txt": "two"})
    first = room.call("CheckpointCreate")["checkpoint_id"]
    sources = {}
    for who in ("x", "y"):
        folder = tmp_path / who
        folder.mkdir()
        sources[who] = [folder / f"{who}{number}.txt" for number in range(5)]
        for path in sources[who]:
            path.write_text(path.name)

    def history(who: str) -> Steps:
        steps: Steps = []
        for path in sources[who]:
            steps.append(("WorkbenchFilesAdd", {"source_paths": [str(path)]}))
            steps.append(("DraftCreate", {}))
            steps.append(("DraftDiscard", {}))
            steps.append(("CheckpointCreate", {}))
        return [*steps, ("CheckpointRestore", {"checkpoint_id": first})]

    results = race(room, history("x"), history("y"))

    allowed = {None, "DRAFT_EXISTS", "NOT_FOUND", "BENCH_BUSY"}
    assert {code for lines in results for _, code in lines} <= allowed
    made = sum(line == ("CheckpointCreate", None) for lines in results for line in lines)
    restored = sum(line == ("CheckpointRestore", None) for lines in results for line in lines)
    added = sum(line == ("WorkbenchFilesAdd", None) for lines in results for line in lines)
    reasons = [one["reason"] for one in room.call("CheckpointsList")["checkpoints"]]
    assert reasons.count("manual") == made + 1
    assert reasons.count("pre_restore") == restored
    state = room.shop.benches.desk.state(room.id)
    assert state.generation == 1 + added + restored
    settled(room)


@pytest.mark.rule("B3.9")
def test_who_comes_second_is_decided_on_what_is_there_now(room, monkeypatch):
    """Another machine commits between the look and the append; no lock of this one stops it."""
    room.add({"a.txt": "one"})
    real = Store.update

    def beaten(command: Callable[[], object], first: Callable[[Room], object]) -> BackshopError:
        def update(self, *args, **more):
            monkeypatch.setattr(Store, "update", real)
            first(other)
            return real(self, *args, **more)

        monkeypatch.setattr(Store, "update", update)
        with pytest.raises(BackshopError) as caught:
            command()
        return caught.value

    with Backshop.open(room.shop.config.home) as elsewhere:
        monkeypatch.setattr(elsewhere.benches.desk.views, "locked", lambda *_: nullcontext())
        other = Room.__new__(Room)
        other.shop, other.id = elsewhere, room.id

        room.write({"a.txt": "two"})
        late = beaten(lambda: room.call("DraftPublish"), lambda they: they.call("DraftDiscard"))
        assert (late.code, late.reason) == ("NOT_FOUND", "no_draft")
        assert (room.published(), room.draft()) == ({"a.txt": "one"}, None)

        late = beaten(
            lambda: room.write({"a.txt": "mine"}), lambda they: they.write({"b.txt": "theirs"})
        )
        assert (late.code, late.reason) == ("CONFLICT_PUBLISHED_CHANGED", "batch_stale")
        assert room.draft() == {"a.txt": "one", "b.txt": "theirs"}
    settled(room)


@pytest.mark.rule("B3.9", "B14.12")
def test_context_items_that_two_machines_write_at_once_are_both_there(room, monkeypatch):
    real = Store.update

    def item(category: str, path: str) -> dict[str, object]:
        files = [{"path": path, "content": "---\nname: x\n---\nText."}]
        return {"workbench_id": room.id, "category": category, "files": files, "create": True}

    def update(self, *args, **more):
        monkeypatch.setattr(Store, "update", real)
        elsewhere.call("ContextUpdateDirect", item("company-context", "SKILL.md"))
        return real(self, *args, **more)

    with Backshop.open(room.shop.config.home) as elsewhere:
        monkeypatch.setattr(elsewhere.benches.desk.views, "locked", lambda *_: nullcontext())
        monkeypatch.setattr(Store, "update", update)

        room.shop.call("ContextUpdateDirect", item("situation", "context.md"))

    items = room.call("ContextList")["items"]
    active = [one["category"] for one in items if one["status"] == "active"]
    assert active == ["company-context", "situation"]


@pytest.mark.rule("B3.8", "B22.75")
def test_a_dead_agent_blocks_a_bench_for_a_minute_at_most(tmp_path):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", clock=clock, mint=Mint(clock)) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "one"})
        shop.store.leases.take(f"bench:{room.id}", "a process that died", 60)
        clock.move(59_999)
        with pytest.raises(BackshopError) as caught:
            room.call("CheckpointCreate")
        assert (caught.value.code, caught.value.reason) == ("BENCH_BUSY", "turn_active")
        clock.move(2)
        room.call("CheckpointCreate")


HOLDER = """
import fcntl, os, sys
handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(handle, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.mark.rule("B3.7")
def test_a_bench_that_another_process_holds_is_waited_for_and_then_busy(room, monkeypatch):
    monkeypatch.setattr("backshop.bench.view.folder.LOCK_WAIT_S", 0.05)
    room.add({"a.txt": "one"})
    lock = room.shop.config.home / "benches" / room.id / "meta" / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BackshopError) as caught:
            room.add({"b.txt": "two"})
    finally:
        holder.communicate("\n", timeout=30)

    assert (caught.value.code, caught.value.reason) == ("BENCH_BUSY", "locked")
    assert room.published() == {"a.txt": "one"}
    room.add({"b.txt": "two"})
    assert sorted(room.published()) == ["a.txt", "b.txt"]


@pytest.mark.rule("B3.8")
def test_files_can_be_added_the_moment_an_agents_process_is_dead(room: Room):
    """The lease had 60 s to go; its process is gone from this very machine."""
    told = "from backshop.store import whereabouts; print(whereabouts())"
    gone = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    owner = f"turn_1:tx_1:{gone.stdout.strip()}"
    assert room.shop.store.leases.take(f"bench:{room.id}", owner, 60)

    room.add({"a.txt": "one"})

    assert room.published() == {"a.txt": "one"}


@pytest.mark.rule("B3.8")
def test_a_living_agent_still_keeps_others_off_its_bench(room: Room):
    owner = f"turn_1:tx_1:{whereabouts()}"
    assert room.shop.store.leases.take(f"bench:{room.id}", owner, 60)

    with pytest.raises(BackshopError) as refused:
        room.add({"a.txt": "one"})

    assert (refused.value.code, refused.value.reason) == ("BENCH_BUSY", "turn_active")
