"""The machines of a team, as processes on loopback: servers, workers, an MCP server, a database."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from .report import child_env

STARTS_S = 300.0


class Process:
    """One program, and what it says at its start."""

    def __init__(self, name: str, arguments: list[str], env: dict[str, str], says: str) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.paced", *arguments],
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = ""
        self._heard = threading.Event()
        threading.Thread(target=self._listen, args=(re.compile(says),), daemon=True).start()

    def _listen(self, says: re.Pattern[str]) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.said += line
            if says.search(line):
                self._heard.set()

    def wait(self) -> str:
        """Return what it said once it is ready."""
        if not self._heard.wait(STARTS_S):
            raise SystemExit(f"{self.name} did not start: {self.said}")
        return self.said

    def megabytes(self) -> float:
        """Return the memory it holds."""
        return float(psutil.Process(self._process.pid).memory_info().rss) / 2**20

    def processor_s(self) -> float:
        """Return the processor time it has used."""
        used = psutil.Process(self._process.pid).cpu_times()
        return float(used.user + used.system)

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        self._process.kill()
        self._process.wait()


@dataclass(frozen=True)
class Team:
    """What was started, and how to come in."""

    processes: list[Process]
    links: list[str]
    mcp: str
    token: str


@contextmanager
def started(database: str, folder: Path) -> Iterator[Team]:
    """Start what the database calls for."""
    with ExitStack() as stack:
        env = {"BACKSHOP_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}
        servers, workers = 1, 0
        if database == "postgres":
            from tests.postgres import private_server

            # a server of its own: the one the tests share does not wait for the disk
            env["BACKSHOP_DATABASE_URL"] = stack.enter_context(private_server()).url()
            env["BACKSHOP_WORKERS"] = "external"
            env["BACKSHOP_BLOBS_URL"] = f"file://{folder}/blobs"
            servers, workers = 2, 2
        made: list[Process] = []

        def start(name: str, arguments: list[str], says: str) -> Process:
            own = child_env(**env, BACKSHOP_HOME=str(folder / (name if workers else "home")))
            process = Process(name, arguments, own, says)
            stack.callback(process.stop)
            made.append(process)
            return process

        serve = ["serve", "--port", "0", "--no-browser"]
        webs = [start(f"web {n}", serve, "log in") for n in range(1, servers + 1)]
        webs[0].wait()  # makes the tables
        for n in range(1, workers + 1):
            start(f"worker {n}", ["worker", "--turns", "10", "--grace", "0"], "ready").wait()
        said = start("mcp", ["mcp", "--http", "--port", "0"], "Bearer").wait()
        links = [_found(r"http\S+/login\S+", web.wait()) for web in webs]
        yield Team(made, links, _found(r"http\S+/mcp", said), _found(r"(?<=Bearer )\S+", said))


def _found(pattern: str, said: str) -> str:
    match = re.search(pattern, said)
    assert match is not None, said
    return match[0]
