"""Contents removed or altered by hand, folders deleted, benches past their time in the trash."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from backshop.app import Backshop
from backshop.base.ambient import Mint
from backshop.base.errors import BackshopError
from backshop.base.ids import BenchId
from backshop.base.paths import BenchPath
from backshop.bench import inject
from backshop.cli import main
from backshop.testing.ambient import FixedClock

from .conftest import Room

BIG = "x" * 100_000  # a file of its own, not in the database
DAY_MS = 86_400_000


def refused(call, *args, **kwargs) -> tuple[str, str | None]:
    with pytest.raises(BackshopError) as caught:
        call(*args, **kwargs)
    return caught.value.code, caught.value.reason


def blob_of(room: Room, path: str):
    desk = room.shop.benches.desk
    return desk.store.blobs.path(desk.find(desk.state(room.id).published, BenchPath(path)).sha256)


def alone(room: Room) -> None:
    """Let no folder be a second copy of contents."""
    room.shop.store.blobs.copies = lambda _: ()


def replaced(path, content: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(content)


@pytest.mark.rule("B3.11", "B5.3")
def test_a_damaged_bench_shows_itself_and_takes_only_what_helps(room):
    room.add({"a.txt": BIG, "b.txt": "fine"})
    kept = room.call("CheckpointCreate")["checkpoint_id"]
    room.add({"c.txt": BIG + "c"})
    blob_of(room, "c.txt").unlink()
    alone(room)

    opened = room.call("WorkbenchOpen")
    listed = room.shop.call("WorkbenchList", {})["workbenches"]

    assert (opened["health"], opened["health_reason"]) == ("damaged", "missing_blob")
    assert [one["health"] for one in listed] == ["damaged"]
    for name, request in (
        ("CheckpointCreate", {}),
        ("WorkbenchFork", {"name": "Other"}),
        ("PublishedRepair", {"mode": "restore"}),
    ):
        assert refused(room.call, name, **request) == ("STORAGE_CORRUPT", "missing_blob"), name
    room.call("CheckpointsList")
    room.call("AuditList")
    room.call("CheckpointRestore", checkpoint_id=kept)
    assert room.published() == {"a.txt": BIG, "b.txt": "fine"}
    assert room.call("WorkbenchOpen")["health"] == "degraded"  # the way back lacks c.txt


@pytest.mark.rule("B10.8", "B22.43")
@pytest.mark.parametrize("altered", [None, b"y" * 100_000, b"short"])
def test_a_checkpoint_that_lacks_contents_says_why_and_others_work(room, altered):
    room.add({"a.txt": BIG, "b.txt": "fine"})
    bad = room.call("CheckpointCreate")["checkpoint_id"]
    lost = blob_of(room, "a.txt")
    room.call("WorkbenchFilesRemove", workbench_paths=["a.txt"])
    good = room.call("CheckpointCreate")["checkpoint_id"]
    if altered is None:
        lost.unlink()
    else:
        replaced(lost, altered)
    word = "missing_blob" if altered is None else "altered_blob"

    listed = {
        one["checkpoint_id"]: (one["restorable"], one.get("unrestorable_reason"))
        for one in room.call("CheckpointsList")["checkpoints"]
    }

    before = room.published()
    assert listed[good] == (True, None)
    if altered != b"y" * 100_000:  # the same length shows when its bytes are looked at
        assert listed[bad] == (False, word)
    error = refused(room.call, "CheckpointRestore", checkpoint_id=bad)
    assert error == ("CHECKPOINT_RESTORE_FAILED", word)
    assert room.published() == before
    room.call("CheckpointRestore", checkpoint_id=good)


@pytest.mark.rule("B3.11", "B10.9", "B9.15")
@pytest.mark.parametrize("lost", ["published", "context_tree"])
def test_a_bench_whose_list_of_files_is_gone_can_be_restored(tmp_path, lost):
    with Backshop.open(tmp_path / "home") as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "a", "b.txt": "b"})
        kept = room.call("CheckpointCreate")["checkpoint_id"]
        room.add({"c.txt": "c"})
        now = [{"path": "context.md", "content": "- now"}]
        room.call("ContextUpdateDirect", category="situation", files=now, create=True)
        tree = getattr(shop.benches.desk.state(room.id), lost)
    with closing(sqlite3.connect(tmp_path / "home" / "store.db")) as database, database:
        assert database.execute("DELETE FROM blob WHERE sha256 = ?", (tree,)).rowcount == 1

    with Backshop.open(tmp_path / "home") as shop:
        room.shop = shop
        opened = room.call("WorkbenchOpen")
        assert refused(room.call, "DraftCreate") == ("STORAGE_CORRUPT", "missing_tree")
        preview = room.call("CheckpointRestore", checkpoint_id=kept, dry_run=True)
        done = room.call("CheckpointRestore", checkpoint_id=kept)

        assert (opened["health"], opened["health_reason"]) == ("damaged", "missing_tree")
        paths = [one["path"] for one in preview["changed"]]
        assert paths == (["a.txt", "b.txt"] if lost == "published" else ["c.txt"])
        assert [(one["path"], one["verified"]) for one in done["changed"]] == [
            (path, True) for path in paths
        ]
        assert room.published() == {"a.txt": "a", "b.txt": "b"} == room.on_disk("published")
        assert room.call("WorkbenchOpen")["health"] == "degraded"  # the way back lacks its list


@pytest.mark.rule("B2.11", "B22.84")
def test_a_content_written_over_is_never_served_and_what_was_written_is_kept(room):
    room.add({"a.txt": BIG})
    replaced(blob_of(room, "a.txt"), b"z" * 100_000)
    alone(room)

    with pytest.raises(BackshopError) as caught:
        room.published()
    assert caught.value.code == "STORAGE_CORRUPT"
    opened = room.call("WorkbenchOpen")
    assert (opened["health"], opened["health_reason"]) == ("damaged", "altered_blob")
    salvage = room.shop.config.home / "benches" / room.id / "meta" / "salvage"
    assert [one.read_bytes() for one in salvage.rglob("a.txt")] == [b"z" * 100_000]
    room.call("WorkbenchOpen")
    assert len(list(salvage.rglob("a.txt"))) == 1


@pytest.mark.rule("B3.4", "B22.78", "B2.8")
def test_folders_deleted_by_hand_are_made_again(room):
    room.add({"a.txt": "a", "b.txt": "b"})
    room.write({"a.txt": "changed"})
    folder = room.shop.config.home / "benches" / room.id
    heads = room.shop.benches.desk.state(room.id)
    for gone in ("published", "draft", "meta/view.json", "meta", "."):
        target = folder / gone
        shutil.rmtree(target) if target.is_dir() else target.unlink()

        opened = room.call("WorkbenchOpen")

        assert opened["health"] == "ok", gone
        assert opened["recovery"], gone
        assert room.on_disk("draft") == {"a.txt": "changed", "b.txt": "b"}
        assert room.on_disk("published") == {"a.txt": "a", "b.txt": "b"}
        told = json.loads((folder / "meta" / "view.json").read_text())
        assert (told["published_tree"], told["draft_tree"]) == (heads.published, heads.draft.tree)
        assert room.call("WorkbenchOpen")["recovery"] == []
    after = room.shop.benches.desk.state(room.id)
    assert (after.published, after.draft, after.generation) == (
        heads.published,
        heads.draft,
        heads.generation,
    )


@pytest.mark.rule("B2.11", "B3.11", "B10.8")
def test_a_content_altered_at_the_same_length_and_mode_is_noticed_where_its_time_was_known(room):
    room.add({"a.txt": BIG})
    kept = room.call("CheckpointCreate")["checkpoint_id"]
    blob = blob_of(room, "a.txt")
    replaced(blob, b"y" * len(BIG))
    blob.chmod(0o444)
    alone(room)

    opened = room.call("WorkbenchOpen")

    assert (opened["health"], opened["health_reason"]) == ("damaged", "altered_blob")
    [one] = room.call("CheckpointsList")["checkpoints"]
    assert (one["checkpoint_id"], one["restorable"]) == (kept, False)
    salvage = room.shop.config.home / "benches" / room.id / "meta" / "salvage"
    assert [path.read_bytes()[:1] for path in salvage.rglob("a.txt")] == [b"y"]


@pytest.mark.rule("B2.6", "B2.11", "B3.11")
def test_a_content_that_was_made_writable_is_read_also_by_who_never_saw_it(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": BIG})
        blob = blob_of(room, "a.txt")
    replaced(blob, b"y" * len(BIG))

    with Backshop.open(tmp_path / "home") as shop:
        room.shop = shop
        assert shop.benches.desk.state(room.id).exists
        alone(room)
        opened = room.call("WorkbenchOpen")

        assert (opened["health"], opened["health_reason"]) == ("damaged", "altered_blob")


@pytest.mark.rule("B10.8", "B10.12")
def test_a_checkpoint_that_shares_a_lost_content_with_published_is_not_brought_back(room):
    room.add({"a.txt": BIG, "b.txt": "fine"})
    kept = room.call("CheckpointCreate")["checkpoint_id"]
    room.add({"c.txt": "c"})
    blob_of(room, "a.txt").unlink()
    alone(room)
    room.call("WorkbenchOpen")  # looks at everything again

    [one] = room.call("CheckpointsList")["checkpoints"]
    error = refused(room.call, "CheckpointRestore", checkpoint_id=kept)

    assert (one["restorable"], one["unrestorable_reason"]) == (False, "missing_blob")
    assert error == ("CHECKPOINT_RESTORE_FAILED", "missing_blob")


@pytest.mark.rule("B10.8", "B10.11")
def test_a_checkpoint_whose_context_items_lack_contents_is_not_brought_back(room):
    situation = [{"path": "context.md", "content": BIG}]
    room.call("ContextUpdateDirect", category="situation", files=situation, create=True)
    kept = room.call("CheckpointCreate")["checkpoint_id"]
    room.call("ContextDelete", category="situation")
    room.shop.store.blobs.path(room.shop.store.blobs.put(BIG.encode())).unlink()

    [one] = room.call("CheckpointsList")["checkpoints"]
    error = refused(room.call, "CheckpointRestore", checkpoint_id=kept)

    assert (one["restorable"], one["unrestorable_reason"]) == (False, "missing_blob")
    assert error == ("CHECKPOINT_RESTORE_FAILED", "missing_blob")


@pytest.mark.rule("B2.11", "B3.11", "B8.18")
def test_a_draft_whose_contents_were_altered_unseen_neither_comes_back_nor_is_published(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        room = Room(shop, tmp_path)
        first = room.write({"a.txt": BIG}).draft_revision_id
        room.write({"a.txt": BIG + "later"})
        blobs = [shop.store.blobs.put(text.encode()) for text in (BIG, BIG + "later")]
        paths = [shop.store.blobs.path(blob) for blob in blobs]
    for path in paths:
        size = path.stat().st_size
        replaced(path, b"y" * size)
        path.chmod(0o444)

    with Backshop.open(tmp_path / "home") as shop:  # nobody here knew their times
        room.shop = shop
        assert shop.benches.desk.state(room.id).draft is not None
        alone(room)
        back = refused(room.call, "DraftRestoreRevision", revision_id=first)

        assert back == ("STORAGE_CORRUPT", "altered_blob")
        assert refused(room.call, "DraftPublish") == ("STORAGE_CORRUPT", "altered_blob")
        assert room.call("DraftGetState")["has_draft"]


@pytest.mark.rule("B2.9", "B10.11", "T4.5")
def test_a_collection_leaves_what_the_checkpoint_of_a_bench_leads_to(tmp_path):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", clock=clock, mint=Mint(clock)) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "before"})
        situation = {"category": "situation", "create": True}
        files = [{"path": "context.md", "content": "before"}]
        room.call("ContextUpdateDirect", files=files, **situation)
        kept = room.call("CheckpointCreate")["checkpoint_id"]
        room.call("WorkbenchFilesRemove", workbench_paths=["a.txt"])
        room.call("ContextDelete", category="situation")
        clock.move(8 * DAY_MS)

        shop.call("StoreGc", {"apply": True})
        room.call("CheckpointRestore", checkpoint_id=kept)

        assert room.published() == {"a.txt": "before"}
        assert room.call("ContextGet", category="situation")["summary"] == "before"


@pytest.mark.rule("B9.14", "B22.36")
def test_a_damaged_draft_can_still_be_thrown_away(room):
    room.add({"a.txt": "a"})
    room.write({"a.txt": BIG})
    draft = room.shop.benches.desk.state(room.id).draft
    room.shop.store.blobs.path(
        room.shop.benches.desk.find(draft.tree, BenchPath("a.txt")).sha256
    ).unlink()
    alone(room)
    room.call("WorkbenchOpen")

    assert refused(room.call, "DraftPublish")[0] == "STORAGE_CORRUPT"
    room.call("DraftDiscard")
    assert room.published() == {"a.txt": "a"}
    assert room.call("WorkbenchOpen")["health"] == "ok"


@pytest.mark.rule("B5.6", "B22.76")
def test_the_trash_keeps_a_bench_for_its_time_and_then_a_tombstone(tmp_path):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", clock=clock, mint=Mint(clock)) as shop:
        room, other = Room(shop, tmp_path), Room(shop, tmp_path)
        room.add({"a.txt": BIG})
        other.add({"b.txt": "b"})
        heads = shop.benches.desk.state(room.id)
        room.call("WorkbenchDelete", confirm=room.id)
        clock.move(7 * DAY_MS)
        room.call("WorkbenchUndelete")
        after = shop.benches.desk.state(room.id)
        assert (after.published, after.generation) == (heads.published, heads.generation)

        room.call("WorkbenchDelete", confirm=room.id)
        clock.move(7 * DAY_MS + 1)
        listed = shop.call("WorkbenchList", {"include_trash": True})["workbenches"]

        assert [one["workbench_id"] for one in listed] == [other.id]
        assert refused(room.call, "WorkbenchUndelete") == ("NOT_FOUND", "not_found")
        assert refused(room.call, "WorkbenchOpen") == ("NOT_FOUND", "not_found")
        left = [one.fact for one in shop.store.read("home") if one.kind == "bench.purged"]
        assert [(one.bench_id, one.name) for one in left] == [(room.id, "Test")]
        assert not list((shop.config.home / "trash").iterdir())
        assert other.published() == {"b.txt": "b"}


@pytest.mark.rule("B14.17", "M4.6")
def test_a_lost_list_of_context_items_is_told_and_calls_go_on(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "a"})
        now = [{"path": "context.md", "content": "- now"}]
        room.call("ContextUpdateDirect", category="situation", files=now, create=True)
        room.call("WorkbenchSetDefaultModel", model_id="openai:gpt-5.2")
        lost = shop.benches.desk.state(room.id).context_tree
    with closing(sqlite3.connect(tmp_path / "home" / "store.db")) as database, database:
        assert database.execute("DELETE FROM blob WHERE sha256 = ?", (lost,)).rowcount == 1

    with Backshop.open(tmp_path / "home") as shop:
        room.shop = shop
        items = room.call("ContextList")["items"]
        told = inject(shop.benches.desk, room.id, paths=["a.txt"], texts=[])
        asked = room.call("EgressGetConsentStatus")

    assert [one["broken"] for one in items] == [True] * len(items)
    reasons = {one.category: one.reason for one in told.notices}
    assert reasons == {one["category"]: "context_item_unavailable" for one in items}
    assert (asked["new_items"], asked["context"]) == (["a.txt"], [])


@pytest.mark.rule("B17.2", "B5.3")
@pytest.mark.parametrize("tree", ["no hash", "0" * 64])
def test_a_refused_publish_of_no_bench_makes_none(room, tree):
    nobody = f"wb_{'0' * 26}"

    with pytest.raises(BackshopError):
        room.shop.call("DraftPublish", {"workbench_id": nobody, "reviewed_tree": tree})

    assert [one.stream for one in room.shop.store.streams("bench")] == [f"bench:{room.id}"]


@pytest.mark.rule("B3.11")
def test_a_bench_is_forgotten_while_another_one_is_looked_at(room):
    soundness = room.shop.benches.desk.soundness
    states = [room.shop.benches.desk.state(Room(room.shop, room.folder).id) for _ in range(4)]

    class Busy(str):
        """An id; others look at their benches whenever it is compared."""

        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            if states:
                soundness.of_heads(states.pop())
            return str.__eq__(self, other)

    soundness.of_heads(room.shop.benches.desk.state(room.id))
    soundness.forget(Busy(room.id))

    assert len(states) < 4


# ---------------------------------------------------------------- one content costs one file


def damaged(room: Room, path: str, how: str) -> None:
    """Lose the content of one file, as a failing disk or another program does."""
    alone(room)
    blob = blob_of(room, path)
    data = b"" if how == "missing" else blob.read_bytes()[::-1].replace(b"x", b"y", 1)
    blob.unlink()
    for view in ("published", "draft"):  # which would heal it
        (room.shop.config.home / "benches" / room.id / view / path).unlink(missing_ok=True)
    if how == "altered":
        blob.write_bytes(data)
        blob.chmod(0o444)
    room.shop.benches.desk.soundness.forget(BenchId(room.id))


@pytest.mark.rule("T5.7", "B6.5", "B6.15")
@pytest.mark.parametrize("how", ["missing", "altered"])
def test_one_damaged_content_costs_its_own_file_in_lists_and_extracts(room, tmp_path, how):
    room.add({"a.txt": BIG, "b.txt": "fine", "c.txt": BIG + "c"})
    damaged(room, "a.txt", how)
    out = tmp_path / "out"
    out.mkdir()

    listed = room.call("WorkbenchFilesList")["files"]
    done = room.call("WorkbenchFilesExtract", destination_dir=str(out))["extract_results"]

    told = {one["path"]: (one["readable"], one.get("unreadable_reason")) for one in listed}
    word = f"{how}_blob"
    assert told == {"a.txt": (False, word), "b.txt": (True, None), "c.txt": (True, None)}
    found = {one["path"]: (one["status"], one.get("reason")) for one in done}
    assert found == {
        "a.txt": ("failed", word),
        "b.txt": ("extracted", None),
        "c.txt": ("extracted", None),
    }
    assert {path.name for path in out.iterdir()} == {"b.txt", "c.txt"}


@pytest.mark.rule("T5.7", "B3.11", "B9.3")
def test_a_draft_of_other_files_is_published_and_names_the_damaged_one(room):
    room.add({"a.txt": BIG, "b.txt": "fine"})
    room.write({"b.txt": "changed"})
    damaged(room, "a.txt", "missing")
    room.write({"c.txt": "new"})

    done = room.call("DraftPublish")

    assert sorted(one["path"] for one in done["changed"]) == ["b.txt", "c.txt"]
    assert done["damaged"] == ["a.txt"]
    assert room.call("WorkbenchOpen")["health"] == "damaged"


@pytest.mark.rule("T5.7", "B9.3")
def test_a_draft_is_not_published_with_a_lost_content_of_its_own(room):
    room.add({"a.txt": "one", "b.txt": "fine"})
    room.write({"a.txt": BIG})
    desk = room.shop.benches.desk
    lost = desk.find(desk.state(room.id).draft.tree, BenchPath("a.txt")).sha256
    desk.store.blobs.path(lost).unlink()
    alone(room)
    desk.soundness.forget(BenchId(room.id))

    assert refused(room.call, "DraftPublish") == ("STORAGE_CORRUPT", "missing_blob")
    assert room.published() == {"a.txt": "one", "b.txt": "fine"}


@pytest.mark.rule("T5.7", "B3.11")
@pytest.mark.parametrize("how", ["missing", "altered"])
def test_adding_the_same_bytes_again_makes_a_damaged_bench_whole(room, how):
    room.add({"a.txt": BIG, "b.txt": "fine"})
    damaged(room, "a.txt", how)

    room.add({"a.txt": BIG}, on_conflict="replace")

    assert room.published() == {"a.txt": BIG, "b.txt": "fine"}
    assert room.call("WorkbenchOpen")["health"] == "ok"


@pytest.mark.rule("B7.6", "B6.14")
def test_files_are_extracted_while_a_draft_waits_and_while_an_agent_works(room, tmp_path):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "two"})
    assert room.shop.store.leases.take(f"bench:{room.id}", "somebody", 60)
    out = tmp_path / "out"
    out.mkdir()

    room.call("WorkbenchFilesExtract", destination_dir=str(out))

    assert (out / "a.txt").read_text() == "one"


@pytest.mark.rule("B6.14", "B4.8")
@pytest.mark.parametrize("link", ["d", "d/e"])
def test_an_extract_does_not_follow_a_linked_folder_below_its_destination(room, tmp_path, link):
    room.add({"d/e/a.txt": "one", "b.txt": "two"}, recursive=True)
    source = room.folder / "outside" / "d"
    room.call("WorkbenchFilesAdd", source_paths=[str(source)], recursive=True)
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    (out / link).parent.mkdir(parents=True)
    elsewhere.mkdir()
    (out / link).symlink_to(elsewhere)

    done = room.call("WorkbenchFilesExtract", destination_dir=str(out))["extract_results"]

    assert list(elsewhere.iterdir()) == []
    found = {one["path"]: (one["status"], one.get("reason")) for one in done}
    assert found["d/e/a.txt"] == ("failed", "symlink")
    assert found["b.txt"] == ("extracted", None)


@pytest.mark.rule("T5.7", "T5.4")
@pytest.mark.parametrize("how", ["missing", "altered"])
def test_a_backup_goes_on_without_a_damaged_content_and_names_it(room, tmp_path, capsys, how):
    room.add({"a.txt": BIG, "b.txt": BIG + "b"})
    desk = room.shop.benches.desk
    lost = desk.find(desk.state(room.id).published, BenchPath("a.txt")).sha256
    damaged(room, "a.txt", how)
    home, kept = room.shop.config.home, tmp_path / "kept"
    room.shop.close()

    code = main(["backup", str(kept), "--json", "--home", str(home)])
    told = json.loads(capsys.readouterr().out)

    named = {"sha256": lost, "reason": how, "needed_by": [f"'a.txt' of {room.id}"]}
    assert (code, told["left_out"]) == (1, [named])
    assert lost in (kept / "backup.json").read_text()
    assert main(["restore", str(kept), "--json", "--home", str(tmp_path / "again")]) == 1
    again = json.loads(capsys.readouterr().out)
    assert again["left_out"] == [{**named, "reason": "missing"}]
    with Backshop.open(tmp_path / "again") as shop:
        out = tmp_path / "out"
        out.mkdir()
        request = {"workbench_id": room.id, "destination_dir": str(out)}
        shop.call("WorkbenchFilesExtract", request)
        assert (out / "b.txt").read_text() == BIG + "b"


@pytest.mark.rule("T5.7", "S4.2")
def test_the_list_on_the_command_line_names_the_damaged_file_and_ends_with_one(
    room, tmp_path, capsys
):
    room.add({"a.txt": BIG, "b.txt": "fine"})
    damaged(room, "a.txt", "missing")
    home = str(room.shop.config.home)
    room.shop.close()

    listed = main(["bench", "files", room.id, "--home", home])
    said = capsys.readouterr().out
    doctor = main(["doctor", "--json", "--home", home])
    found = json.loads(capsys.readouterr().out)["findings"]

    assert (listed, doctor) == (1, 1)
    assert [line.split()[-1] for line in said.splitlines() if line.startswith("a.txt")] == [
        "MISSING"
    ]
    assert any("'a.txt'" in one["message"] for one in found if one["level"] == "problem")
