"""Others changed Published while a Draft was open: nothing is lost, and the Draft goes on."""

from __future__ import annotations

import pytest
from tests.bench.test_story import refused

from backshop.base.canon import canonical
from backshop.base.errors import BackshopError
from backshop.bench import Put

from .conftest import AGENT


def edit_outside(room, **files: str | None) -> None:
    """Change the Published folder as another program does."""
    folder = room.shop.config.home / "benches" / room.id / "published"
    for name, text in files.items():
        path = folder / f"{name}.txt"
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)


@pytest.fixture
def clash(room):
    """Both changed a; only they changed b; only we changed c; they deleted d, which we changed."""
    room.add({f"{n}.txt": f"{n} base\n" for n in "abcd"})
    room.write({"a.txt": "a ours\n", "c.txt": "c ours\n", "d.txt": "d ours\n"})
    edit_outside(room, a="a theirs\n", b="b theirs\n", d=None)
    return room


EXPECTED = {
    "theirs": {"a.txt": "a theirs\n", "b.txt": "b theirs\n", "c.txt": "c ours\n"},
    "ours": {"a.txt": "a ours\n", "b.txt": "b base\n", "c.txt": "c ours\n", "d.txt": "d ours\n"},
    "both": {
        "a.txt": "a theirs\n",
        "a (draft).txt": "a ours\n",
        "b.txt": "b theirs\n",
        "c.txt": "c ours\n",
        "d.txt": "d ours\n",
    },
}


@pytest.mark.rule("B9.16", "B9.4")
@pytest.mark.parametrize("keep", ["theirs", "ours", "both"])
def test_every_choice_leads_to_a_draft_that_can_be_published(clash, keep):
    with pytest.raises(BackshopError) as caught:
        clash.call("DraftPublish")
    preview = clash.call("PublishedReconcile", keep=keep, dry_run=True)
    before = clash.draft()

    done = clash.call("PublishedReconcile", keep=keep)

    assert caught.value.code == "CONFLICT_PUBLISHED_CHANGED"
    assert caught.value.choices == ("keep_theirs", "keep_ours", "keep_both")
    assert before["a.txt"] == "a ours\n"
    assert done["resolved"] == preview["resolved"]
    assert clash.draft() == EXPECTED[keep] == clash.on_disk("draft")
    assert clash.published() == {
        **{"a.txt": "a theirs\n", "b.txt": "b theirs\n", "c.txt": "c base\n"}
    }
    assert clash.on_disk("published") == clash.published()
    review = clash.call("ReviewGetChangeSet")
    gone = [one["path"] for one in review["entries"] if one["kind"] == "DELETED"]
    if gone:
        clash.call("ReviewSetDeletionConfirmations", paths=gone)
    clash.call("DraftPublish", reviewed_tree=review["tree"])
    assert clash.published() == EXPECTED[keep]
    clash.call("CheckpointRestore", checkpoint_id=done["checkpoint_id"])
    assert clash.published() == {f"{n}.txt": f"{n} base\n" for n in "abcd"}


@pytest.mark.rule("B9.16")
def test_single_paths_may_be_settled_otherwise(clash):
    choices = [{"path": "a.txt", "keep": "theirs"}, {"path": "b.txt", "keep": "ours"}]

    done = clash.call("PublishedReconcile", keep="both", choices=choices)

    assert {one["path"]: one["keep"] for one in done["resolved"]} == {
        "a.txt": "theirs",
        "b.txt": "ours",
        "d.txt": "ours",
    }
    assert clash.draft() == {
        **{"a.txt": "a theirs\n", "b.txt": "b base\n", "c.txt": "c ours\n", "d.txt": "d ours\n"}
    }


@pytest.mark.rule("B9.16", "B9.5")
def test_a_draft_left_behind_by_adopted_edits_can_go_on(room):
    room.add({"a.txt": "base\n", "b.txt": "b\n"})
    room.write({"b.txt": "b ours\n"})
    edit_outside(room, a="theirs\n")
    room.call("PublishedRepair", mode="adopt")
    assert refused(room.call, "DraftPublish") == ("CONFLICT_PUBLISHED_CHANGED", "published_changed")
    assert "published_changed" in room.call("ReviewGetChangeSet")["warnings"]

    room.call("PublishedReconcile", keep="theirs")
    room.call("DraftPublish")

    assert room.published() == {"a.txt": "theirs\n", "b.txt": "b ours\n"}


@pytest.mark.rule("B9.4", "B9.16")
def test_a_draft_whose_published_moved_and_came_back_is_left_behind_too(room):
    room.add({"a.txt": "one\n"})
    room.write({"b.txt": "ours\n"})
    for text in ("two\n", "one\n"):
        edit_outside(room, a=text)
        room.call("PublishedRepair", mode="adopt")

    refusal = refused(room.call, "DraftPublish")

    assert refusal == ("CONFLICT_PUBLISHED_CHANGED", "published_changed")
    assert room.call("DraftGetState")["stale_reason"] == "published_changed"
    room.call("PublishedReconcile", keep="both")
    assert "stale_reason" not in room.call("DraftGetState")
    room.call("DraftPublish")
    assert room.published() == {"a.txt": "one\n", "b.txt": "ours\n"}


@pytest.mark.rule("B12.21", "B9.16")
def test_errors_of_a_write_that_gave_way_are_not_told_of_the_next_one(clash):
    desk = clash.shop.benches.desk

    def written(text: str, *errors: str) -> None:
        report = {"new_errors": list(errors), "totals": {"new_errors": len(errors)}}
        blob = desk.store.blobs.put(text.encode())
        put = Put(path="a.txt", blob=blob, size=len(text), effects=canonical(report))
        clash.shop.benches.apply_batch(clash.id, [put], AGENT)

    written("a wrong\n", "A1")
    clash.call("PublishedReconcile", keep="theirs")
    written("a right\n")

    entries = {one["path"]: one for one in clash.call("ReviewGetChangeSet")["entries"]}
    assert (entries["a.txt"]["new_errors"], entries["a.txt"]["new_error_count"]) == ([], 0)


@pytest.mark.rule("B9.16")
def test_what_cannot_be_settled_changes_nothing(clash):
    before = (clash.draft(), clash.published(), clash.call("AuditList"))

    assert refused(clash.call, "PublishedReconcile", keep="mine")[1] == "bad_params"
    choice = [{"path": "c.txt", "keep": "ours"}]
    assert refused(clash.call, "PublishedReconcile", keep="ours", choices=choice) == (
        "NOT_FOUND",
        "not_found",
    )

    assert (clash.draft(), clash.published(), clash.call("AuditList")) == before
    clash.call("DraftDiscard")
    assert refused(clash.call, "PublishedReconcile", keep="ours") == ("NOT_FOUND", "no_draft")


@pytest.mark.rule("B9.15")
def test_publishing_says_what_will_change_and_afterwards_proves_it(room):
    room.add({"a.txt": "one\n", "gone.txt": "x\n"})
    room.write({"a.txt": "three\n", "new.txt": "new\n"})
    room.call("DraftDeletePath", path="gone.txt")
    room.call("ReviewSetDeletionConfirmations", paths=["gone.txt"])

    preview = room.call("DraftPublish", dry_run=True)
    done = room.call("DraftPublish")
    back = room.call("CheckpointRestore", checkpoint_id=done["checkpoint_id"])

    sizes = [(c["path"], c.get("bytes_before"), c.get("bytes_after")) for c in preview["changed"]]
    assert sizes == [("new.txt", None, 4), ("a.txt", 4, 6), ("gone.txt", 2, None)]
    assert not any("verified" in c for c in preview["changed"])
    assert [c["verified"] for c in done["changed"]] == [True] * 3
    assert [c["verified"] for c in back["changed"]] == [True] * 3


@pytest.mark.rule("B9.15")
def test_a_draft_that_changed_since_its_review_says_where(room):
    room.add({"a.txt": "one", "b.txt": "b"})
    room.write({"a.txt": "two"})
    reviewed = room.call("ReviewGetChangeSet")["tree"]
    room.write({"b.txt": "three"})

    with pytest.raises(BackshopError) as caught:
        room.call("DraftPublish", reviewed_tree=reviewed)
    with pytest.raises(BackshopError) as unknown:
        room.call("DraftPublish", reviewed_tree="0" * 64)

    assert (caught.value.reason, caught.value.detail) == ("draft_changed", "b.txt")
    assert (unknown.value.reason, unknown.value.detail) == ("draft_changed", None)


@pytest.mark.rule("B17.4")
def test_the_log_is_exported_and_the_last_error_remembered(room):
    room.add({"a.txt": "one"})
    entries = room.call("AuditList")["entries"]

    assert room.call("AuditExport")["jsonl"].count("\n") == len(entries)
    assert room.call("EngineGetLastError") == {}
    refused(room.call, "DraftDiscard")
    assert room.call("EngineGetLastError")["error"]["reason"] == "no_draft"
