"""A bench with a conversation; calls go through the command registry, as every door does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bench.conftest import Room

from backshop.app import Backshop
from backshop.app.notice.hub import Subscription
from backshop.app.notice.table import Notification
from backshop.base.errors import BackshopError
from backshop.testing.ambient import FixedClock

Step = dict[str, Any]
LOOK: Step = {"tool_calls": [{"name": "list_files", "arguments": {}}]}


def says(purpose: str, text: str, **more: Any) -> Step:
    """Return a step in which the model ends a phase with text, as often as it is asked."""
    return {"when": {"purpose": purpose}, "times": 0, "respond": {"text": text, **more}}


def calls(purpose: str, turn: int, *wanted: tuple[str, dict[str, Any]], **when: Any) -> Step:
    """Return a step in which the model calls tools in a turn of a phase."""
    made = [{"name": name, "arguments": arguments} for name, arguments in wanted]
    return {
        "when": {"purpose": purpose, "turn": turn, **when},
        "times": 0,
        "respond": {"tool_calls": made},
    }


def write(path: str, content: str) -> tuple[str, dict[str, Any]]:
    """Return a call that writes a text file."""
    return "write_text_file", {"path": path, "content": content, "change_note": f"wrote {path}"}


def plan(*labels: str) -> str:
    """Return a plan with these items."""
    lines = [f"- [ ] {number}. {label}" for number, label in enumerate(labels, 1)]
    return "\n".join(("# Execution Plan", "", "## Task", "Do it.", "", "## Items", *lines))


def hears(news: Subscription, last: Callable[[Notification], bool]) -> list[Notification]:
    """Return what comes until the last that is waited for."""
    heard: list[Notification] = []
    while not any(map(last, heard)):
        more = news.wait(60)
        assert more, heard
        heard += more
    return heard


def story(*items: tuple[str, str], answer: str = "All done.") -> list[Step]:
    """Return a script that writes one file for each item (path and content)."""
    steps = [
        calls("research", 1, ("list_files", {})),
        says("research", "# Research\n\nFound what is there."),
        says("plan", plan(*(f"Write {path}" for path, _ in items))),
    ]
    for number, (path, content) in enumerate(items, 1):
        steps.append(calls("implement", 1, write(path, content), item=number))
    steps += [says("implement", "Wrote it."), says("summary", answer)]
    return steps


class Chat(Room):
    """One bench and its conversation."""

    def play(self, steps: list[Step], name: str = "test"):
        """Let the bench's model be a script."""
        wire = self.shop.models.play(name, steps)
        self.call("WorkshopSwitchModel", model_id=f"scripted:{name}")
        return wire

    def send(self, text: str = "Do it", **more) -> str:
        """Send a message and return its id."""
        return str(self.call("WorkshopSendUserMessage", text=text, **more)["message_id"])

    def ask(self, text: str = "Do it", **more) -> dict[str, Any]:
        """Send a message and run the agent on it."""
        return self.run(self.send(text, **more))

    def run(self, message_id: str) -> dict[str, Any]:
        """Run the agent on a message."""
        done: dict[str, Any] = self.call("WorkshopRunAgent", message_id=message_id)
        return done

    def state(self):
        """Return the Workshop's state."""
        return self.call("WorkshopGetState")

    def said(self, **more) -> list[tuple[str, str]]:
        """Return the transcript in short: what kind of record, and its text."""
        found = self.call("WorkshopGetConversation", **more)["messages"]
        return [(one.get("event_kind") or one.get("role"), one["text"]) for one in found]

    def answer(self) -> dict[str, Any]:
        """Return the newest answer on the active line."""
        found = self.call("WorkshopGetConversation")["messages"]
        answers: list[dict[str, Any]] = [m for m in found if m["type"] == "assistant_message"]
        return answers[-1]

    def facts(self) -> list[str]:
        """Return what stands beside the newest answer."""
        return list(self.answer()["facts_lines"])

    def told(self) -> str:
        """Return all that the person reads of the newest answer: its text, and the facts."""
        answer = self.answer()
        return "\n".join((answer["text"], *answer.get("facts_lines", ())))

    def kinds(self) -> list[str]:
        """Return what the bench's stream holds."""
        return [event.kind for event in self.shop.store.read(f"bench:{self.id}")]

    def refused(self, name: str, /, **request) -> tuple[str, str | None, tuple[str, ...]]:
        """Return the code, reason and choices of a refusal."""
        mark = "workshop.run_refused"  # what says under a message why nobody takes it up (W5.15)
        before = self.shop.store.last_seq() - self.kinds().count(mark)
        with pytest.raises(BackshopError) as caught:
            self.call(name, **request)
        after = self.shop.store.last_seq() - self.kinds().count(mark)
        assert after == before  # a failed operation changes nothing
        return caught.value.code, caught.value.reason, caught.value.choices


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        yield Chat(shop, tmp_path)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()
