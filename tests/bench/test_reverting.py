"""Reading Published beside the Draft, and taking one file of the Draft back (W7.6, B8.23)."""

from __future__ import annotations

import json

import pytest

from backshop.base.codec import compact
from backshop.bench.tools.reversion import REVERT_FILE


@pytest.mark.rule("W7.6")
def test_published_and_draft_are_read_side_by_side(room, use):
    room.add({"a.txt": "old\n", "t.csv": "n\n1\n"})
    none_yet = use("read_file", path="a.txt", version="draft")
    room.write({"a.txt": "new\nnew\n", "t.csv": "n\n1\n2\n", "b.txt": "added\n"})

    def texts(version):
        return [
            use("read_file", path="a.txt", version=version).value["text"],
            use("get_file_map", path="a.txt", version=version).value["line_count"],
        ]

    assert (none_yet.ok, none_yet.value["error_code"]) == (False, "NOT_FOUND")
    assert texts("published") == ["old", 1]
    assert texts("draft") == texts(None) == ["new\nnew", 2]
    assert use("read_file", path="b.txt", version="published").code == "not_found"
    assert use("read_file", path="a.txt", version="newest").code == "bad_value"


@pytest.mark.rule("B8.23", "B8.1", "W7.2")
def test_a_file_is_taken_back_and_that_can_be_taken_back_too(room, use):
    room.add({"a.txt": "old\n", "b.txt": "b\n"})
    room.write({"a.txt": "new\n", "b.txt": "B\n", "c.txt": "added\n"})
    before = room.call("DraftGetState")["revision_id"]

    changed = use("revert_file", path="draft/a.txt")
    added = use("revert_file", path="c.txt")
    again = use("revert_file", path="a.txt")

    assert [one.value["became"] for one in (changed, added, again)] == [
        *("restored", "removed", "unchanged"),
    ]
    assert room.draft() == {"a.txt": "old\n", "b.txt": "B\n"}
    assert [one["path"] for one in room.call("ReviewGetChangeSet")["entries"]] == ["b.txt"]
    assert room.published() == {"a.txt": "old\n", "b.txt": "b\n"}
    assert added.value["draft_revision_id"] == room.call("DraftGetState")["revision_id"]

    room.call("DraftRestoreRevision", revision_id=before)

    assert room.draft() == {"a.txt": "new\n", "b.txt": "B\n", "c.txt": "added\n"}


@pytest.mark.rule("B8.23", "B8.7")
def test_what_the_person_did_is_theirs_to_take_back(room, use):
    room.add({name: f"{name}\n" for name in ("gone.txt", "named.txt", "typed.txt", "same.txt")})
    no_draft = use("revert_file", path="same.txt")
    room.write({"same.txt": "new\n"})
    room.call("DraftDeletePath", path="gone.txt")
    room.call("DraftRenamePath", path="named.txt", new_path="other.txt")
    folder = room.shop.config.home / "benches" / room.id / "draft"
    (folder / "typed.txt").write_text("by hand\n")
    room.call("DraftRescan", mode="adopt")
    before = room.draft()

    answers = {
        path: use("revert_file", path=path).code
        for path in ("gone.txt", "named.txt", "other.txt", "typed.txt", "nowhere.txt", "../x")
    }

    assert no_draft.value["error_code"] == "NOT_FOUND"
    assert answers == {
        "gone.txt": "persons_change",
        "named.txt": "persons_change",
        "other.txt": "persons_change",
        "typed.txt": "persons_change",
        "nowhere.txt": "not_found",
        "../x": "bad_path",
    }
    assert room.draft() == before


@pytest.mark.rule("W7.3")
def test_the_tool_weighs_little():
    shown = {
        "name": REVERT_FILE.name,
        "description": REVERT_FILE.description,
        "input_schema": compact(REVERT_FILE.schema),
    }

    assert len(json.dumps(shown, separators=(",", ":"))) <= 200
