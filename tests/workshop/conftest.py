"""A bench with a conversation; calls go through the command registry, as every door does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bench.conftest import Room

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.testing.ambient import FixedClock


class Chat(Room):
    """One bench and its conversation."""

    def send(self, text: str = "Do it", **more) -> str:
        """Send a message and return its id."""
        return str(self.call("WorkshopSendUserMessage", text=text, **more)["message_id"])

    def state(self):
        """Return the Workshop's state."""
        return self.call("WorkshopGetState")

    def said(self, **more) -> list[tuple[str, str]]:
        """Return the transcript in short: what kind of record, and its text."""
        found = self.call("WorkshopGetConversation", **more)["messages"]
        return [(one.get("event_kind") or one.get("role"), one["text"]) for one in found]

    def refused(self, name: str, /, **request) -> tuple[str, str | None, tuple[str, ...]]:
        """Return the code, reason and choices of a refusal."""
        before = self.shop.store.last_seq()
        with pytest.raises(BackshopError) as caught:
            self.call(name, **request)
        assert self.shop.store.last_seq() == before  # a failed operation changes nothing
        return caught.value.code, caught.value.reason, caught.value.choices


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        yield Chat(shop, tmp_path)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()
