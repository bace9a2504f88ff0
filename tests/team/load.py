"""Load over HTTP: writers that try again, and a follower of events (T7, T6.3)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress

import httpx2
from tests.team.conftest import until
from tests.web.browsing import Served

MORE = 3  # files every writer adds before a restart, and after it
PAUSE_S = 0.05
WAIT_S = 60.0
Frame = tuple[int, str, str | None]


class Writer(threading.Thread):
    """Somebody who adds one file after another, and tries again when that fails."""

    def __init__(self, server: Served, bench: str, name: str) -> None:
        super().__init__(daemon=True)
        self.bench = bench
        self.acknowledged: list[str] = []
        self.refused = 0
        self._name = name
        self._client = server.client()
        self._ends = threading.Event()

    def content(self, path: str) -> bytes:
        return path.encode() * 8_000  # not small enough to live in the database

    def run(self) -> None:
        number = 0
        with self._client as client:
            while not self._ends.wait(PAUSE_S):
                number += self._is_there(client, f"{self._name}-{number}.txt")

    def _is_there(self, client: httpx2.Client, path: str) -> bool:
        """Say whether a file is there; what was acknowledged is noted."""
        try:
            files = {"files": (path, self.content(path))}
            where, skip = f"/bench/{self.bench}/files", {"on_conflict": "skip"}
            answer = client.post(where, files=files, data=skip, timeout=WAIT_S)
            status = answer.json()["add_results"][0]["status"]
        except (httpx2.HTTPError, ValueError, LookupError):  # no answer, or a refusal
            self.refused += 1
            return False
        assert status in ("added", "skipped"), answer.text
        self.acknowledged.append(path)
        return True

    def stop(self) -> None:
        self._ends.set()
        self.join(WAIT_S)
        assert not self.is_alive()


def frames(server: Served, after: int) -> Iterator[Frame]:
    """Follow events as a browser does: where a stream ends, the next begins at its last place."""
    with server.client() as client:
        while True:
            with suppress(httpx2.TransportError):
                for frame in _one_stream(client, after):
                    after = frame[0]
                    yield frame


def _one_stream(client: httpx2.Client, after: int) -> Iterator[Frame]:
    with client.stream("GET", f"/events?after={after}", timeout=WAIT_S) as stream:
        found: dict[str, str] = {}
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if line:
                found[name] = value
                continue
            if "id" in found:  # a signal has none
                about = json.loads(found["data"]).get("workbench_id")
                yield int(found["id"]), found["event"], about
            found = {}


def read_on(following: Iterator[Frame]) -> list[Frame]:
    """Return the events of a follower up to the one the test ends with."""
    seen: list[Frame] = []
    while not seen or seen[-1][1] != "PeopleChanged":
        seen.append(next(following))
    return seen


def hold_on(writers: list[Writer]) -> None:
    """Wait until every writer had some more files acknowledged."""
    wanted = [len(one.acknowledged) + MORE for one in writers]
    until(
        lambda: all(len(w.acknowledged) >= n for w, n in zip(writers, wanted, strict=True)),
        "every writer at work",
    )
