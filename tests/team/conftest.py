"""A team: PostgreSQL, object storage, one server in this process, workers in processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from tests import objects, postgres
from tests.crash import workshop_story as story
from tests.team.hosts import Worker, opened

from backshop.app import Backshop
from backshop.base.ids import UserId

WAIT_S = 240.0


class Team:
    """What several machines share, and the ones that were started."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        self.settings = settings
        self.workers: list[Worker] = []
        self._homes = 0
        self._checked = 0
        """Up to where the streams were looked through."""
        self.shop = self.server()

    def host(self, **more: Any) -> dict[str, Any]:
        """Return a new machine: a home of its own, everything else shared."""
        self._homes += 1
        wish = {"home": str(self.folder / f"host{self._homes}"), "machine": f"m{self._homes}"}
        settings = {**self.settings, **more.pop("settings", {})}
        return {**wish, "settings": settings, **more}

    def server(self, **more: Any) -> Backshop:
        """Open a server that walks no turn itself."""
        wish = self.host(**more)
        wish["settings"] = {**wish["settings"], "team.workers": "external"}
        return opened(wish)

    def worker(self, **more: Any) -> Worker:
        """Start a worker; it is not waited for."""
        made = Worker(self.host(**more))
        self.workers.append(made)
        return made

    def bench(self) -> tuple[str, str]:
        """Make a bench with the story's table and its message."""
        bench = self.shop.call("WorkbenchCreate", {"name": "Story"})["workbench_id"]
        table = self.folder / "table.txt"
        table.write_text(story.TABLE)
        self.shop.call("WorkbenchFilesAdd", {"workbench_id": bench, "source_paths": [str(table)]})
        sent = {"workbench_id": bench, "text": "Add rows and a file"}
        return bench, self.shop.call("WorkshopSendUserMessage", sent)["message_id"]

    def begin(
        self, bench: str, message: str, shop: Backshop | None = None, user: UserId | None = None
    ) -> Future[Any]:
        """Run the agent in a thread, as a web server does."""
        made: Future[Any] = Future()
        wish = {"workbench_id": bench, "message_id": message}

        def work() -> None:
            try:
                made.set_result((shop or self.shop).call("WorkshopRunAgent", wish, user=user))
            except BaseException as error:
                made.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return made

    def is_at_work(self, bench: str) -> bool:
        """Say whether a turn of the bench is running."""
        return "active_turn" in self.shop.call("WorkshopGetState", {"workbench_id": bench})

    def walking(self, bench: str) -> Worker | None:
        """Return the worker that holds the lease of a bench's turn; None if nobody does."""
        holder = self.shop.store.leases.holder(f"bench:{bench}") or ""
        found = (one for one in self.workers if str(one.process.pid) in holder.split(":")[-2:])
        return next(found, None)

    def tools(self, bench: str) -> int:
        """Return how many tool calls a bench's turn has made."""
        page = self.shop.call("WorkshopGetToolLog", {"workbench_id": bench})
        return len(page["entries"])

    def has_called(self, bench: str, times: int) -> bool:
        """Say whether a bench's turn has made so many tool calls."""
        return self.tools(bench) >= times

    def answers(self, bench: str) -> dict[str, str]:
        """Return the answers of the conversation by their status."""
        page = self.shop.call("WorkshopGetConversation", {"workbench_id": bench})
        found = [m for m in page["messages"] if m["type"] == "assistant_message"]
        assert len({m["status"] for m in found}) == len(found), found
        return {m["status"]: m["text"] for m in found}

    def files(self, bench: str, shop: Backshop | None = None) -> dict[str, str]:
        """Return the Draft as any machine of the team reads it."""
        desk = (shop or self.shop).benches.desk
        draft = desk.state(bench).draft
        assert draft is not None
        entries = desk.entries(draft.tree).items()
        return {path: desk.store.blobs.read(file.sha256).decode() for path, file in entries}

    def resumed(self, after: int) -> int:
        """Return how often turns went on where they had stopped, after an event."""
        return sum(one.kind == "workshop.turn_resumed" for one in self.shop.store.tail(after))

    def check_done(self, bench: str) -> None:
        """The turn came out as it always does: every row once, one answer, sound streams."""
        assert self.files(bench) == story.DONE
        assert self.answers(bench) == {"complete": story.ANSWER}
        plan = self.shop.call("WorkshopGetPlan", {"workbench_id": bench})
        assert [item["status"] for item in plan["items"]] == ["done"] * story.ITEMS
        store = self.shop.store
        written = [head.stream for head in store.streams() if head.last_seq > self._checked]
        assert all(store.health(stream).is_healthy for stream in written)
        self._checked = store.last_seq()

    def close(self) -> None:
        for worker in self.workers:
            if worker.process.is_alive():
                worker.kill()
        self.shop.close()


def until(holds: Callable[[], bool], what: str, wait_s: float = WAIT_S) -> None:
    """Wait for something another process does."""
    ends = time.monotonic() + wait_s
    while not holds():
        assert time.monotonic() < ends, f"waited in vain: {what}"
        time.sleep(0.02)


@pytest.fixture
def shared(tmp_path) -> Iterator[dict[str, Any]]:
    """Settings of a database and a bucket that every machine uses."""
    with postgres.fresh_database() as url, objects.fresh_bucket() as bucket:
        yield {"database_url": url, "blobs_url": bucket, "team.lease_s": 2}


@pytest.fixture
def team(tmp_path, shared) -> Iterator[Team]:
    """A team whose leases are short."""
    made = Team(tmp_path, shared)
    yield made
    made.close()
