"""Cases of the specification that no other story tells (B22)."""

from __future__ import annotations

import io
import threading
from typing import Any

import pytest
from openpyxl import Workbook
from tests.workshop.conftest import Chat, story

from backshop.app import Backshop
from backshop.base.paths import BenchPath
from backshop.bench.events import CheckpointsPruned

from .conftest import Room
from .test_story import refused


@pytest.mark.rule("B22.11", "B6.7", "B4.2")
def test_names_no_bench_takes_are_passed_over_one_by_one(room, tmp_path):
    names = ("CON.txt", "a:b.txt", "x.", "fine.txt")
    for name in names:
        (tmp_path / name).write_text("x")

    added = room.call("WorkbenchFilesAdd", source_paths=[str(tmp_path / one) for one in names])

    assert [(one["status"], one.get("reason")) for one in added["add_results"]] == [
        *[("skipped", "invalid_name")] * 3,
        ("added", None),
    ]
    assert room.published() == {"fine.txt": "x"}


@pytest.mark.rule("B22.12", "B9.9")
def test_files_that_look_like_ours_are_the_persons(room):
    own = {"_plan.md": "p", "__init__.py": "i", "research.md": "r", ".hidden": "h"}
    room.add({**own, "a.txt": "one"})
    room.write({"a.txt": "two"})

    room.call("DraftPublish")

    assert room.published() == {**own, "a.txt": "two"} == room.on_disk("published")


@pytest.mark.rule("B22.18", "B6.14")
def test_two_extracts_at_once_get_a_name_each(room, tmp_path):
    room.add({"a.txt": "a"})
    (out := tmp_path / "out").mkdir()
    ready, answers = threading.Barrier(4), []

    def extract() -> None:
        ready.wait(60)
        answers.append(room.call("WorkbenchFilesExtract", destination_dir=str(out)))

    workers = [threading.Thread(target=extract) for _ in range(4)]
    for one in workers:
        one.start()
    for one in workers:
        one.join(60)

    results = [one["extract_results"][0] for one in answers]
    assert {one["status"] for one in results} == {"extracted"}
    assert len({one["final_path"] for one in results}) == 4
    assert [path.read_text() for path in out.iterdir()] == ["a"] * 4


@pytest.mark.rule("B22.28", "B13.5")
def test_an_agreement_is_about_these_bytes_and_ends_with_a_revert(room):
    room.add({"a.txt": "a"})
    room.call("DraftCreate")
    room.call("DraftDeletePath", path="a.txt")
    room.call("ReviewSetDeletionConfirmations", paths=["a.txt"])
    room.call("DraftRevertPath", path="a.txt")
    room.write({"a.txt": "b"})
    room.call("DraftDeletePath", path="a.txt")

    assert refused(room.call, "DraftPublish")[0] == "CONFIRMATION_REQUIRED"
    room.call("ReviewSetDeletionConfirmations", paths=["a.txt"])
    room.call("DraftPublish")
    assert room.published() == {}


@pytest.mark.rule("B22.42", "B10.6")
def test_automatic_checkpoints_go_from_the_201st_on_and_manual_ones_never(room):
    room.add({"0.txt": "x"})
    for number in range(60):
        room.call("CheckpointCreate", description=f"mine {number}")
    for number in range(201):
        new_path = f"{number + 1}.txt"
        room.call("WorkbenchFileRename", path=f"{number}.txt", new_path=new_path)

    state = room.shop.benches.desk.state(room.id)
    reasons = [one.reason for one in state.checkpoints]
    facts = [event.fact for event in room.shop.store.read(f"bench:{room.id}")]
    (pruned,) = [one for one in facts if isinstance(one, CheckpointsPruned)]
    assert (reasons.count("auto"), reasons.count("manual")) == (200, 60)
    assert (len(pruned.checkpoint_ids), pruned.reason) == (1, "count")
    kinds = [one["kind"] for one in room.call("AuditList", limit=500)["entries"]]
    assert kinds.count("checkpoint_pruned") == 1


@pytest.mark.rule("B22.40", "B10.10", "B10.11")
def test_a_restore_ends_the_conversation_where_the_checkpoint_was_made(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        chat = Chat(shop, tmp_path)
        chat.add({"a.txt": "one"})
        first = chat.send("First")
        kept = chat.call("CheckpointCreate")["checkpoint_id"]
        for number in range(100):
            chat.send(f"Later {number}")
        before = [one["text"] for one in _messages(chat)]
        audit = chat.call("AuditList")["entries"]

        done = chat.call("CheckpointRestore", checkpoint_id=kept)

        users = [one for one in _messages(chat) if one["type"] == "user_message"]
        assert [one["message_id"] for one in users] == [first]
        assert chat.call("AuditList")["entries"][: len(audit)] == audit
        chat.call("CheckpointRestore", checkpoint_id=done["pre_restore_checkpoint_id"])
        assert [one["text"] for one in _messages(chat)][: len(before)] == before


def _messages(chat: Chat) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = chat.call("WorkshopGetConversation", limit=500)["messages"]
    return found


@pytest.mark.rule("B22.45", "B8.14", "W15.1")
def test_going_back_to_an_answer_brings_what_the_person_made_of_its_draft(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        chat = Chat(shop, tmp_path)
        chat.play(story(("b.txt", "b"), ("c.txt", "c")))
        done = chat.ask()
        chat.call("DraftRenamePath", path="b.txt", new_path="d/B.txt")
        edited = chat.draft()
        chat.call("WorkshopSwitchModel", model_id="scripted:echo")
        chat.call("DraftDeletePath", path="c.txt")

        chat.call("WorkshopUndoToMessage", message_id=done["message_id"])

        assert chat.draft() == edited == chat.on_disk("draft")
        assert edited == {"d/B.txt": "b", "c.txt": "c"}


@pytest.mark.rule("B22.54", "B22.55", "B22.56", "B12.2")
def test_a_text_is_compared_by_what_changed_and_within_bounds(room):
    lines = [f"line {number}\n" for number in range(10_000)]
    huge = [f"{number}\n" for number in range(300_000)]
    room.add({"long.txt": "".join(lines), "huge.txt": "".join(huge), "eol.txt": "a\r\nb\r\n"})
    lines[5000:5005] = ["other\n"] * 5
    huge[7] = "seven\n"
    room.write({"long.txt": "".join(lines), "huge.txt": "".join(huge), "eol.txt": "a\nb\n"})

    found = {
        path: room.call("ReviewGetTextDiff", path=path)["body"]
        for path in ("long.txt", "huge.txt", "eol.txt")
    }

    (hunk,) = found["long.txt"]["hunks"]
    kinds = [line["type"] for line in hunk["lines"]]
    assert (len(kinds), kinds.count("context")) == (16, 6)
    assert (found["huge.txt"]["too_large"], found["huge.txt"]["hunks"]) == (True, [])
    assert found["huge.txt"]["stats"] == {"added": 1, "removed": 1}
    assert (found["eol.txt"]["flags"], found["eol.txt"]["hunks"]) == (["eol_changed"], [])
    listed = {one["path"]: one["kind"] for one in room.call("ReviewGetChangeSet")["entries"]}
    assert listed["eol.txt"] == "MODIFIED"
    room.call("DraftPublish")


@pytest.mark.rule("B22.57", "B22.60", "B12.18")
def test_what_is_new_is_said_to_be_new_and_looked_at_first(room: Room, use: Any) -> None:
    book = Workbook()
    for name in ("A", "B", "C"):
        book.create_sheet(name)
    buffer = io.BytesIO()
    book.save(buffer)
    room.add({"w.xlsx": buffer.getvalue()})
    paragraph = {"op": "append_paragraph", "text": "Hello"}
    cells = {"op": "set_cells", "sheet": "Annual", "cells": [{"cell": "A1", "value": 1}]}
    sheet = [{"op": "ensure_sheet", "sheet": "Annual"}, cells]
    assert use("docx_operations", path="n.docx", operations=[paragraph]).ok
    assert use("xlsx_operations", path="w.xlsx", operations=sheet).ok

    new, changed = (room.call("ReviewGetDiff", path=path) for path in ("n.docx", "w.xlsx"))

    assert (new["reference_source"], new.get("reference_warning")) == ("none", None)
    assert "Hello" in str(new["body"])
    assert changed["focus_hint"]["sheet"] == "Annual"


@pytest.mark.rule("B22.58", "B12.16", "B9.5")
def test_where_the_reference_is_lost_published_stands_in_and_is_called_so(room):
    old, new, theirs = ("old\n" * 20_000, "new\n" * 20_000, "theirs\n" * 20_000)
    room.add({"a.txt": old, "b.txt": "b"})
    room.write({"a.txt": new})
    shown = room.shop.config.home / "benches" / room.id / "published" / "a.txt"
    shown.unlink()
    shown.write_text(theirs)
    room.call("PublishedRepair", mode="adopt")
    desk = room.shop.benches.desk
    draft = desk.state(room.id).draft
    desk.store.blobs.path(desk.find(draft.base_tree, BenchPath("a.txt")).sha256).unlink()

    found = room.call("ReviewGetTextDiff", path="a.txt")

    assert found["reference_source"] == "published_current_fallback"
    assert found["reference_warning"]
    assert found["body"]["stats"] == {"added": 20_000, "removed": 20_000}


@pytest.mark.rule("B22.22", "B8.3")
def test_a_batch_whose_third_write_fails_is_none(room):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "two"})
    before = room.shop.benches.desk.state(room.id)

    refusal = refused(room.write, {"a.txt": "three", "b.txt": "b", "A.TXT": "x"})

    after = room.shop.benches.desk.state(room.id)
    assert refusal == ("VALIDATION_FAILED", "path_collision")
    assert (after.draft, len(after.revisions.kept)) == (before.draft, len(before.revisions.kept))
