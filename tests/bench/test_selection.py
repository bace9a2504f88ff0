"""Changes of the Draft taken and left one by one (B25)."""

from __future__ import annotations

import random

import pytest

from backshop.app import Backshop
from backshop.base.errors import BackshopError

LINES = [f"line {number}\n" for number in range(1, 41)]
BEFORE = "".join(LINES)
AFTER = "".join(
    [*LINES[:4], "line five\n", *LINES[5:14], *LINES[16:29], "line thirty\n", *LINES[30:], "end\n"]
)


@pytest.fixture
def drafted(room):
    room.add({"a.txt": BEFORE, "t.csv": "k,v\na,1\nb,2\nc,3\n", "gone.txt": "gone\n"})
    room.write({"a.txt": AFTER, "t.csv": "k,v\na,10\nb,2\nc,30\n", "new.txt": "new\n"})
    room.call("DraftDeletePath", path="gone.txt")
    return room


def listed(room, path="a.txt"):
    return room.call("ReviewListChanges", path=path)


def ids(room, path="a.txt"):
    return [one["id"] for one in listed(room, path)["changes"]]


def refusal(room, name, **request):
    with pytest.raises(BackshopError) as caught:
        room.call(name, **request)
    return caught.value.code, caught.value.reason


@pytest.mark.rule("B25.1")
def test_the_changes_of_a_text_are_listed_one_by_one(drafted):
    found = listed(drafted)

    assert found["total"] == 4
    assert [one["is_left"] for one in found["changes"]] == [False] * 4
    assert next((one["before"], one["after"]) for one in found["changes"]) == (
        "line 5",
        "line five",
    )
    assert found["groups"] == [{"group": "text", "count": 4, "left": 0}]


@pytest.mark.rule("B25.3", "B25.7")
def test_a_change_that_is_left_out_is_not_in_the_draft_and_the_others_are(drafted):
    first = ids(drafted)[0]

    done = drafted.call("DraftLeaveChanges", path="a.txt", ids=[first])

    assert done["files"] == [{"path": "a.txt", "count": 4, "left_count": 1}]
    assert drafted.draft()["a.txt"] == AFTER.replace("line five\n", "line 5\n")
    assert [one["is_left"] for one in listed(drafted)["changes"]] == [True, False, False, False]
    entries = drafted.call("ReviewGetChangeSet")["entries"]
    assert {one["path"]: one["left_out"] for one in entries}["a.txt"] == 1


@pytest.mark.rule("B25.3")
def test_the_result_depends_on_the_set_and_not_on_the_order_of_choices(drafted):
    every = ids(drafted)
    wanted = {every[0], every[2]}
    results = set()
    for seed in range(6):
        rng = random.Random(seed)
        for _ in range(4):
            one = rng.choice(every)
            drafted.call(
                rng.choice(["DraftLeaveChanges", "DraftTakeChanges"]), path="a.txt", ids=[one]
            )
        left = {one["id"] for one in listed(drafted)["changes"] if one["is_left"]}
        steps = [("DraftLeaveChanges", one) for one in wanted - left]
        steps += [("DraftTakeChanges", one) for one in left - wanted]
        rng.shuffle(steps)
        for name, one in steps:
            drafted.call(name, path="a.txt", ids=[one])
        results.add(drafted.draft_bytes("a.txt"))

    assert len(results) == 1


@pytest.mark.rule("B25.3")
def test_everything_left_out_is_what_was_and_nothing_left_out_what_was_written(drafted):
    drafted.call("DraftLeaveChanges", path="a.txt")

    assert drafted.draft()["a.txt"] == BEFORE
    found = drafted.call("ReviewGetChangeSet")
    assert "a.txt" not in [one["path"] for one in found["entries"]]
    assert found["left_whole"] == ["a.txt"]
    drafted.call("DraftTakeChanges", path="a.txt")
    assert drafted.draft()["a.txt"] == AFTER


@pytest.mark.rule("B25.4")
def test_a_new_and_a_deleted_file_are_taken_or_left_whole(drafted):
    for path, there in (("new.txt", False), ("gone.txt", True)):
        (one,) = listed(drafted, path)["changes"]
        assert (one["kind"], bool(one["tied"])) == ("file", True)

        drafted.call("DraftLeaveChanges", path=path, ids=[one["id"]])
        assert (path in drafted.draft()) is there
        assert listed(drafted, path)["left_count"] == 1
        drafted.call("DraftTakeChanges", path=path)
        assert (path in drafted.draft()) is not there


@pytest.mark.rule("B25.4")
def test_a_renamed_file_is_taken_or_left_under_both_names(drafted):
    drafted.call("DraftRevertPath", path="a.txt")
    drafted.call("DraftRenamePath", path="a.txt", new_path="b.txt")

    drafted.call("DraftLeaveChanges", path="b.txt")
    assert (drafted.draft()["a.txt"], "b.txt" in drafted.draft()) == (BEFORE, False)
    drafted.call("DraftTakeChanges", path="b.txt")
    assert ("a.txt" in drafted.draft(), drafted.draft()["b.txt"]) == (False, BEFORE)


@pytest.mark.rule("B25.2")
def test_all_changes_of_one_sort_are_left_over_all_files_in_one_step(drafted):
    before = drafted.call("DraftGetState")["revision_id"]

    done = drafted.call("DraftLeaveChanges", group="values")

    assert [one["path"] for one in done["files"]] == ["t.csv"]
    assert drafted.draft()["t.csv"] == "k,v\na,1\nb,2\nc,3\n"
    assert drafted.draft()["a.txt"] == AFTER
    drafted.call("DraftUndo", revision_id=done["draft_revision_id"])
    assert drafted.draft()["t.csv"] == "k,v\na,10\nb,2\nc,30\n"
    assert before


@pytest.mark.rule("B25.5", "B8.22")
def test_a_choice_is_taken_back_by_undo_and_outlasts_a_restart(drafted, tmp_path):
    first, second = ids(drafted)[:2]
    drafted.call("DraftLeaveChanges", path="a.txt", ids=[first])
    drafted.call("DraftLeaveChanges", path="a.txt", ids=[second])
    drafted.call("DraftUndo")
    drafted.shop.close()

    with Backshop.open(tmp_path / "home") as again:
        found = again.call("ReviewListChanges", {"workbench_id": drafted.id, "path": "a.txt"})

    assert [one["is_left"] for one in found["changes"]] == [True, False, False, False]


@pytest.mark.rule("B25.6")
def test_whoever_writes_the_file_afterwards_ends_the_choice(drafted):
    drafted.call("DraftLeaveChanges", path="a.txt", ids=[ids(drafted)[0]])
    now = drafted.draft()["a.txt"]

    drafted.write({"a.txt": now + "more\n"})

    found = listed(drafted)
    assert found["left_count"] == 0
    assert "line five" not in str(found["changes"])
    drafted.write({"a.txt": now})  # the same again is written by somebody, and not chosen
    assert listed(drafted)["left_count"] == 0


@pytest.mark.rule("B25.7", "B9.15")
def test_publishing_takes_exactly_what_is_left(drafted):
    drafted.call("DraftLeaveChanges", path="a.txt", ids=[ids(drafted)[0]])
    drafted.call("DraftLeaveChanges", path="gone.txt")
    reviewed = drafted.call("ReviewGetChangeSet")["tree"]
    wanted = drafted.draft()

    drafted.call("DraftPublish", reviewed_tree=reviewed)

    assert drafted.published() == wanted


@pytest.mark.rule("B25.2")
def test_choices_that_mean_nothing_are_refused(drafted):
    revision = drafted.call("DraftGetState")["revision_id"]

    assert refusal(drafted, "DraftLeaveChanges", path="a.txt", ids=["0" * 16]) == (
        "NOT_FOUND",
        "change_not_found",
    )
    assert refusal(drafted, "DraftLeaveChanges", path="no.txt")[0] == "NOT_FOUND"
    assert refusal(drafted, "DraftLeaveChanges", ids=["0" * 16])[1] == "bad_params"
    assert refusal(drafted, "DraftLeaveChanges", group="colours")[1] == "bad_params"
    assert drafted.call("DraftTakeChanges", path="a.txt")["no_changes"] is True
    assert drafted.call("DraftGetState")["revision_id"] == revision


@pytest.mark.rule("B25.2", "B9.16")
def test_a_sort_is_chosen_over_all_files_after_others_changed_one_that_was_chosen_from(drafted):
    drafted.call("DraftLeaveChanges", path="a.txt")
    published = drafted.shop.config.home / "benches" / drafted.id / "published" / "a.txt"
    published.chmod(0o644)
    published.write_text(AFTER)
    drafted.call("PublishedReconcile", keep="theirs")

    done = drafted.call("DraftLeaveChanges", group="values")

    assert [one["path"] for one in done["files"]] == ["t.csv"]
