"""What is kept and what goes: revisions of Drafts by number, never the present one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backshop.app import Backshop
from backshop.base.ambient import Mint, SystemClock
from backshop.base.errors import BackshopError
from backshop.base.ids import CheckpointId, MessageId
from backshop.bench import decide
from backshop.bench.events import CheckpointsPruned

from .conftest import AGENT, Room


@pytest.mark.rule("B8.15", "B22.51")
def test_old_revisions_become_stubs_and_the_newest_stay(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"workshop.max_revisions": 10}) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "zero"})
        made = [room.write({"a.txt": f"text {n}"}).draft_revision_id for n in range(15)]
        state = shop.benches.desk.state(room.id)

        live = [one.revision_id for one in state.revisions.kept]
        assert live == made[-10:]
        assert {one.revision_id for one in state.revisions.all() if one.is_pruned} >= set(made[:5])
        with pytest.raises(BackshopError) as caught:
            room.call("DraftRestoreRevision", revision_id=made[0])
        assert caught.value.code == "NOT_FOUND"
        assert room.draft() == {"a.txt": "text 14"}
        room.call("DraftRestoreRevision", revision_id=made[-9])
        assert room.draft() == {"a.txt": "text 6"}
        state = shop.benches.desk.state(room.id)
        wanted = {one.tree for one in state.revisions.kept}
        assert wanted <= {pin.ref for pin in shop.store.pins(f"bench:{room.id}")}


@pytest.mark.rule("B8.15", "B8.14")
def test_steps_on_the_way_to_a_message_go_before_what_messages_are_bound_to(tmp_path):
    settings = {"workshop.max_revisions": 10, "model.default": "scripted:demo"}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "zero"})
        made = {}
        for name in ("one", "two"):
            message = MessageId(Mint(SystemClock()).new("msg"))
            author = replace(AGENT, message_id=message)
            made[name] = [
                room.write({"a.txt": f"{name} {n}"}, author).draft_revision_id for n in range(7)
            ]
        live = {r.revision_id for r in shop.benches.desk.state(room.id).revisions.kept}

        assert made["one"][-1] in live  # a rewind to the first message still has its files
        assert set(made["two"]) <= live
        assert len(live) == 10
        assert made["one"][0] not in live


@pytest.mark.rule("B8.15")
def test_states_of_the_message_at_work_are_kept_before_those_of_earlier_messages(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"workshop.max_revisions": 10}) as shop:
        room = Room(shop, tmp_path)
        made = []
        for count in (2, 12):
            author = replace(AGENT, message_id=MessageId(Mint(SystemClock()).new("msg")))
            texts = (f"{count} {n}" for n in range(count))
            made = [room.write({"a.txt": text}, author).draft_revision_id for text in texts]
        live = [one.revision_id for one in shop.benches.desk.state(room.id).revisions.kept]

        assert live == made[-10:]


@pytest.mark.rule("B10.6")
def test_a_pinned_checkpoint_outlives_the_count_of_its_kind(room):
    room.add({"a.txt": "one"})
    room.add({"a.txt": "two"}, on_conflict="replace")
    state = room.shop.benches.desk.state(room.id)
    [made] = state.checkpoints
    many = tuple(
        replace(made, checkpoint_id=CheckpointId(f"cp_{n}"), pinned=n == 0) for n in range(202)
    )

    gone = decide.prune(replace(state, checkpoints=many), 100)

    assert gone == [CheckpointsPruned(checkpoint_ids=(many[1].checkpoint_id,), reason="count")]


@pytest.mark.rule("B10.6")
def test_checkpoints_that_keep_too_many_bytes_go_oldest_first(tmp_path):
    settings = {"bench.checkpoint_max_bytes": 250_000}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "0" * 100_000})
        pinned = room.call("CheckpointCreate")["checkpoint_id"]
        for number in range(1, 6):
            room.add({"a.txt": str(number) * 100_000}, on_conflict="replace")
        reasons = [one["reason"] for one in room.call("CheckpointsList")["checkpoints"]]

        assert reasons == ["auto", "manual"]
        pruned = room.call("AuditList", kinds=["checkpoint_pruned"])["entries"]
        assert len(pruned) == 3
        room.call("CheckpointRestore", checkpoint_id=pinned)
        assert room.published() == {"a.txt": "0" * 100_000}


@pytest.mark.rule("B10.6")
def test_the_newest_checkpoint_of_a_publish_stays_however_many_bytes_it_keeps(tmp_path):
    settings = {"bench.checkpoint_max_bytes": 1}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "0" * 100_000})
        for number in (1, 2):
            room.write({"a.txt": str(number) * 100_000})
            room.call("DraftPublish")
        found = room.call("CheckpointsList")["checkpoints"]

        assert [one["reason"] for one in found] == ["publish"]
        room.call("CheckpointRestore", checkpoint_id=found[0]["checkpoint_id"])
        assert room.published() == {"a.txt": "1" * 100_000}


@pytest.mark.rule("B10.6")
def test_what_published_itself_holds_costs_no_checkpoint_its_place(tmp_path):
    settings = {"bench.checkpoint_max_bytes": 50_000}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        room = Room(shop, tmp_path)
        room.add({"large.txt": "0" * 100_000, "small.txt": "old"})
        room.add({"small.txt": "new"}, on_conflict="replace")
        found = room.call("CheckpointsList")["checkpoints"]

        assert [one["reason"] for one in found] == ["auto"]


@pytest.mark.rule("B6.4", "B9.5")
def test_outside_edits_are_taken_over_within_the_limits_only(room):
    room.add({"a.txt": "one"})
    limits = {"max_files": 2, "max_file_bytes": 100, "max_total_bytes": 150, "max_depth": 1}
    room.call("WorkbenchSetLimits", limits=limits)
    folder = room.shop.config.home / "benches" / room.id / "published"
    for name, size in (("b.txt", 101), ("c.txt", 99)):
        (folder / name).write_text("x" * size)
    before = room.published()

    with pytest.raises(BackshopError) as caught:
        room.call("PublishedRepair", mode="adopt")
    assert caught.value.code == "LIMIT_EXCEEDED"
    assert room.published() == before
    (folder / "b.txt").unlink()
    room.call("PublishedRepair", mode="adopt")
    assert sorted(room.published()) == ["a.txt", "c.txt"]
