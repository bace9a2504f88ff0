"""Who may change Published: decided by what a request asks for, not by its name alone (T6.4)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from tests.workshop.conftest import Chat, story

from backshop.app import Backshop
from backshop.base.codec import schema
from backshop.base.errors import AccessDenied, BackshopError
from backshop.base.ids import UserId

BEFORE, NOW = {"a.txt": "one"}, {"a.txt": "two"}
# Every word that some command takes as its `mode`.
MODES = (
    *("restore_published", "restore", "adopt", "revert", "discard_draft", "chat_only"),
    *("agent", "ask", "model", "clone_files_only", "direct", "process"),
)


class Shared(Chat):
    """A bench of the owner's on which something was published, and a person with a role there."""

    def __init__(self, shop: Backshop, folder: Any) -> None:
        super().__init__(shop, folder)
        self.ada: UserId = shop.call("UserAdd", {"name": "Ada"})["user_id"]
        self.play(story(("b.txt", "new"), answer="Done."))
        self.add(dict(BEFORE))
        self.first = self.send("First")
        self.write(dict(NOW))
        self.call("DraftPublish")

    def give(self, role: str) -> None:
        self.call("AccessSet", user_id=self.ada, role=role)

    def as_ada(self, name: str, **request: Any) -> Any:
        return self.shop.call(name, {"workbench_id": self.id, **request}, user=self.ada)

    def denied(self, name: str, **request: Any) -> str | None:
        """Return why Ada is refused; nothing was written then."""
        before = self.shop.store.last_seq()
        with pytest.raises(AccessDenied) as refused:
            self.as_ada(name, **request)
        assert self.shop.store.last_seq() == before
        return refused.value.reason


@pytest.fixture
def bench(tmp_path):
    settings = {"model.default": "scripted:demo", "team.requests_per_minute": 0}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        yield Shared(shop, tmp_path)


@pytest.mark.rule("T6.4", "W15.4")
def test_going_back_changes_published_only_for_who_may_publish(bench):
    back = {"message_id": bench.first, "mode": "restore_published"}
    bench.give("write")

    assert bench.denied("WorkshopUndoToMessage", **back) == "role"
    assert bench.published() == NOW
    assert bench.denied("WorkshopUndoToMessage", **back, dry_run=True) == "role"
    bench.as_ada("WorkshopUndoToMessage", message_id=bench.first, mode="chat_only")
    bench.as_ada("WorkshopRedo")  # that rewind left the files alone
    assert bench.published() == NOW

    bench.give("publish")
    bench.as_ada("WorkshopUndoToMessage", **back)
    assert bench.published() == BEFORE


@pytest.mark.rule("T6.4", "W15.2", "W15.3")
def test_nobody_is_offered_a_way_back_that_is_then_refused(bench):
    look = {"message_id": bench.first, "dry_run": True}
    bench.give("write")

    shown = bench.as_ada("WorkshopUndoToMessage", **look)
    assert (shown["effects"]["choices"], shown["changed"]) == (["chat_only"], [])
    for name in ("WorkshopUndoToMessage", "WorkshopRegenerate"):
        with pytest.raises(BackshopError) as refused:
            bench.as_ada(name, message_id=bench.first)
        assert refused.value.reason == "published_changed"
        assert list(refused.value.choices) == ["chat_only"]

    bench.give("publish")
    shown = bench.as_ada("WorkshopUndoToMessage", **look)
    assert shown["effects"]["choices"] == ["chat_only", "restore_published"]
    assert [one["path"] for one in shown["changed"]] == ["a.txt"]


@pytest.mark.rule("T6.4", "W15.12")
@pytest.mark.parametrize("how", ["rewind", "restore"])
def test_taking_a_restore_back_is_for_who_may_publish(bench, how):
    if how == "rewind":
        bench.call("WorkshopUndoToMessage", message_id=bench.first, mode="restore_published")
    else:
        kept = bench.call("CheckpointsList")["checkpoints"][0]["checkpoint_id"]
        bench.call("CheckpointRestore", checkpoint_id=kept)
    bench.give("write")

    assert bench.denied("WorkshopRedo") == "role"
    assert bench.published() == BEFORE

    bench.give("publish")
    bench.as_ada("WorkshopRedo")
    assert bench.published() == NOW


@pytest.mark.rule("T6.4", "W15.8")
def test_answering_again_changes_published_only_for_who_may_publish(bench):
    again = {"message_id": bench.first, "mode": "restore_published"}
    bench.give("write")

    assert bench.denied("WorkshopRegenerate", **again) == "role"
    assert bench.published() == NOW

    bench.give("publish")
    assert bench.as_ada("WorkshopRegenerate", **again)["status"] == "complete"
    assert bench.published() == BEFORE


@pytest.mark.rule("T6.4", "W15.8")
def test_answering_again_without_touching_published_needs_no_more_than_write(bench):
    bench.give("write")

    done = bench.as_ada("WorkshopRegenerate", message_id=bench.first, mode="chat_only")

    assert (done["status"], bench.published()) == ("complete", NOW)


@pytest.mark.rule("T6.4")
def test_no_mode_of_any_command_lets_a_writer_change_published(bench):
    """Of every command with a mode, with every mode there is."""
    bench.give("write")
    commands = [one.command for one in bench.shop.commands]
    with_mode = [one for one in commands if "mode" in schema(one.request).get("properties", {})]
    filled = {"message_id": bench.first, "user_id": bench.ada, "name": "Copy", "text": "x"}
    for mode in MODES:  # a mode at a time: one that goes back leaves the next nothing to go back
        for command in with_mode:
            wanted = {**filled, "workbench_id": bench.id, "mode": mode}
            known = schema(command.request)["properties"]
            request = {name: value for name, value in wanted.items() if name in known}
            with suppress(BackshopError):
                bench.shop.call(command.name, request, user=bench.ada)
            assert bench.published() == NOW, (command.name, mode)

    tried = {command.name for command in with_mode}
    assert {"WorkshopUndoToMessage", "WorkshopRegenerate", "PublishedRepair"} <= tried
