"""A list of files that was removed by hand: found before anything moves, and there is a way on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.workshop.conftest import Chat, story

from backshop.app import Backshop
from backshop.base.ambient import Mint
from backshop.models.wires.scripted import ScriptedWire
from backshop.store import StoreUnavailable
from backshop.testing.ambient import FixedClock

LOST = ("CHECKPOINT_RESTORE_FAILED", "missing_tree", ())
STEPS = story(("d/b.txt", "b\n"))


@contextmanager
def opened(folder: Path, bench_id: str | None = None) -> Iterator[tuple[Chat, ScriptedWire]]:
    """Open the home in a program that has read nothing yet; with its model."""
    with Backshop.open(folder / "home") as shop:
        chat = Chat(shop, folder)
        chat.id = bench_id or chat.id
        yield chat, chat.play(STEPS)


def remove(folder: Path, tree: str) -> None:
    """Take a tree object out of the store behind the program's back."""
    with closing(sqlite3.connect(folder / "home" / "store.db")) as database, database:
        gone = database.execute("DELETE FROM blob WHERE sha256 = ?", (tree,))
        assert gone.rowcount == 1


@pytest.mark.rule("B7.11", "W15.8", "W6.6", "W23.5", "B3.11")
def test_a_draft_without_its_list_is_found_before_it_is_answered_again(tmp_path):
    with opened(tmp_path) as (chat, _):
        chat.add({"a.txt": "one\n"})
        question = chat.send("Write it")
        assert chat.run(question)["has_draft"]
        draft = chat.shop.benches.desk.state(chat.id).draft
        assert draft is not None
    remove(tmp_path, draft.tree)

    with opened(tmp_path, chat.id) as (chat, wire):
        head = chat.state()["conversation_head_id"]

        refused = chat.refused("WorkshopRegenerate")
        unlisted = chat.refused("ReviewGetChangeSet")

        assert unlisted[:2] == ("STORAGE_CORRUPT", "missing_tree")
        assert refused == ("FILE_READ_FAILED", "manifest_unavailable", ())
        assert not wire.requests
        assert chat.shop.benches.desk.state(chat.id).draft == draft
        assert chat.state()["conversation_head_id"] == head
        preview = chat.call("WorkshopUndoToMessage", message_id=question, dry_run=True)
        assert preview["effects"]["draft"] == "discard"
        back = chat.call("WorkshopUndoToMessage", message_id=question)
        assert [(one["path"], one["verified"]) for one in back["changed"]] == [("a.txt", True)]
        assert (chat.draft(), chat.on_disk("draft")) == (None, None)
        assert chat.on_disk("published") == {"a.txt": "one\n"}
        assert chat.call("WorkbenchOpen")["health"] != "damaged"
        assert chat.call("WorkshopRegenerate")["status"] == "complete"
        assert chat.draft() == {"a.txt": "one\n", "d/b.txt": "b\n"} == chat.on_disk("draft")


@pytest.mark.rule("B7.11", "B10.13", "W15.3", "W15.8")
def test_a_checkpoint_without_its_list_is_found_before_going_back(tmp_path):
    with opened(tmp_path) as (chat, _):
        chat.add({"a.txt": "one\n"})
        question = chat.send("Write it")
        chat.run(question)
        lost = chat.shop.benches.desk.state(chat.id).published
        chat.call("DraftPublish")
    remove(tmp_path, lost)

    with opened(tmp_path, chat.id) as (chat, wire):
        published = chat.published()
        back = {"message_id": question, "mode": "restore_published"}

        assert chat.refused("WorkshopUndoToMessage", **back) == LOST
        assert chat.refused("WorkshopUndoToMessage", **back, dry_run=True) == LOST
        assert chat.refused("WorkshopRegenerate", **back) == LOST

        assert not wire.requests
        assert (chat.published(), chat.draft()) == (published, None)
        told = chat.call("WorkshopUndoToMessage", message_id=question, dry_run=True)
        assert told["effects"]["choices"] == ["chat_only"]
        done = chat.call("WorkshopUndoToMessage", message_id=question, mode="chat_only")
        assert done["conversation_head_id"] == question
        assert chat.published() == published == chat.on_disk("published")


@pytest.mark.rule("B5.6", "R9.8", "P2.13", "W13.2")
def test_nothing_tells_of_a_bench_past_its_time_in_the_trash_but_its_tombstone(tmp_path):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", clock=clock, mint=Mint(clock)) as shop:
        chat, other = Chat(shop, tmp_path), Chat(shop, tmp_path)
        for one in (chat, other):
            one.add({"a.txt": "one\n"})
            one.play(STEPS)
            assert one.ask("Write it")["has_draft"]
            one.call("DigestSet", body="What the files are about.", pin=True)
        chat.call("DraftDiscard")
        before = _streams(shop)
        chat.call("WorkbenchDelete", confirm=chat.id)
        clock.move(8 * 86_400_000)
        shop.call("WorkbenchList", {})

        kinds = sorted(one.partition(":")[0] for one in before - _streams(shop))
        assert kinds == ["bench", "prompt-overrides", "prompt-session", "session"]
        assert {one.partition(":")[0] for one in _streams(shop)} >= {*kinds, "home"}
        assert ("user", "Write it") in other.said()


@pytest.mark.rule("B5.6")
def test_a_bench_that_was_buried_by_half_is_buried_whole_the_next_time(tmp_path, monkeypatch):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", clock=clock, mint=Mint(clock)) as shop:
        before = _streams(shop)
        chat = Chat(shop, tmp_path)
        chat.call("DigestSet", body="What the files are about.", pin=True)
        assert len(_streams(shop) - before) > 1
        chat.call("WorkbenchDelete", confirm=chat.id)
        clock.move(8 * 86_400_000)
        delete = shop.store.delete_stream

        def interrupted(stream: str) -> None:
            if stream.startswith("prompt-"):
                raise StoreUnavailable("the database does not answer")
            delete(stream)

        monkeypatch.setattr(shop.store, "delete_stream", interrupted)
        with pytest.raises(StoreUnavailable):
            shop.call("WorkbenchList", {})
        monkeypatch.undo()
        shop.call("WorkbenchList", {})

        assert _streams(shop) - before <= {"home"}


def _streams(shop: Backshop) -> set[str]:
    return {head.stream for head in shop.store.streams()}
