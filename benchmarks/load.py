"""A team at work: many benches, event streams, turns and MCP sessions at once, for some minutes.

    python -m benchmarks.load --minutes 10                     PostgreSQL, 2 servers, 2 workers
    python -m benchmarks.load --database sqlite --minutes 2    one process, sizes of one person

Real processes on loopback, the offline model. Prints how long calls took, what failed, and how
much memory each process held in the first and in the last third of the time.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psutil

from .report import child_env

SIZES = {
    "postgres": {"benches": 200, "streams": 50, "turns": 20, "sessions": 100},
    "sqlite": {"benches": 20, "streams": 3, "turns": 2, "sessions": 4},
}
STARTS_S = 300.0
QUESTION = "Which category earned most in the second half of the year?"
MCP_HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


Started = tuple[list["Process"], list[str], tuple[str, str]]


@dataclass
class Figures:
    """What was measured."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    events: int = 0
    memory: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def timed(self, what: str, work: Awaitable[Any]) -> Any:
        """Wait for something and note how long it took, or that it failed."""
        begun = time.perf_counter()
        try:
            found = await work
        except (httpx2.HTTPError, Refused) as error:
            self.errors[f"{what}: {str(error)[:80] or type(error).__name__}"] += 1
            return None
        self.seconds[what].append(time.perf_counter() - begun)
        return found


class Refused(Exception):
    """An answer that is an error."""


class Process:
    """One program, and what it says at its start."""

    def __init__(self, name: str, arguments: list[str], env: dict[str, str], says: str) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-m", "backshop.cli", *arguments],
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

    def stop(self) -> None:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        self._process.kill()
        self._process.wait()


class Client:
    """One logged-in program that calls commands."""

    def __init__(self, link: str) -> None:
        self.http = httpx2.AsyncClient(base_url=link.partition("login?")[0], timeout=600)
        self._link = link
        self._numbers = itertools.count(1)

    async def enter(self) -> None:
        await self.http.get(self._link)

    async def call(self, method: str, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        answer = (await self.http.post("/rpc", json=body)).json()
        if "error" in answer:
            raise Refused(f"{answer['error']['message']}")
        return answer["result"]


async def follow(client: Client, bench: str, figures: Figures) -> None:
    """Be one open page: read its events, and come back when the stream ends."""
    while True:
        with suppress(httpx2.HTTPError):
            url = f"/events?workbench_id={bench}"
            async with client.http.stream("GET", url, timeout=None) as stream:
                async for line in stream.aiter_lines():
                    figures.events += line.startswith("event:")
        await asyncio.sleep(1)


async def ask(client: Client, bench: str, figures: Figures) -> None:
    """Ask the agent again and again."""
    while True:
        sent = await figures.timed(
            "message", client.call("WorkshopSendUserMessage", workbench_id=bench, text=QUESTION)
        )
        if sent:
            run = {"workbench_id": bench, "message_id": sent["message_id"]}
            await figures.timed("turn", client.call("WorkshopRunAgent", **run))
        await asyncio.sleep(0.2)


async def look(client: Client, benches: list[str], figures: Figures) -> None:
    """Walk over the benches as people do."""
    for bench in itertools.cycle(benches):
        await figures.timed("open a bench", client.call("WorkbenchOpen", workbench_id=bench))
        await figures.timed("state", client.call("WorkshopGetState", workbench_id=bench))
        await asyncio.sleep(0.1)


async def agent(address: str, token: str, figures: Figures) -> None:
    """Be one MCP session: start a workflow, look at it, start the next."""
    headers = {**MCP_HEADERS, "authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
        numbers = itertools.count(1)

        async def send(method: str, **params: Any) -> Any:
            body = {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}
            answer = await http.post(address, json=body)
            if "mcp-session-id" in answer.headers:
                http.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
            text = answer.text.partition("data:")[2] or answer.text
            found = json.loads(text.strip().splitlines()[0]) if text.strip() else {}
            if answer.status_code >= 400 or "error" in found:
                raise Refused(f"{answer.status_code} {text[:80]}")
            return found["result"]

        hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
        who = {"clientInfo": {"name": "load", "version": "1"}}
        await figures.timed("mcp initialize", send("initialize", **hello, **who))
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        with suppress(httpx2.HTTPError):
            await http.post(address, json=ready)
        while True:
            start = {"workflowId": "wr.rpi", "goal": "load"}
            call = {"name": "start_workflow", "arguments": start}
            await figures.timed("mcp start_workflow", send("tools/call", **call))
            await figures.timed("mcp tools/list", send("tools/list"))
            await asyncio.sleep(5)


@contextmanager
def started(
    args: argparse.Namespace, folder: Path
) -> Iterator[tuple[list[Process], list[str], Any]]:
    """Start what the database calls for; give the processes, login links, and the MCP server."""
    with ExitStack() as stack:
        env = {"BACKSHOP_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}
        if args.database == "postgres":
            from tests.postgres import fresh_database

            env["BACKSHOP_DATABASE_URL"] = stack.enter_context(fresh_database())
            env["BACKSHOP_WORKERS"] = "external"
            env["BACKSHOP_BLOBS_URL"] = f"file://{folder}/blobs"
        servers, workers = (2, 2) if args.database == "postgres" else (1, 0)
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
        mcp = start("mcp", ["mcp", "--http", "--port", "0"], "Bearer")
        links = [re.search(r"http\S+/login\S+", web.wait()) for web in webs]
        said = mcp.wait()
        address = re.search(r"http\S+/mcp", said)
        token = re.search(r"Bearer (\S+)", said)
        assert address is not None
        assert token is not None
        yield made, [link[0] for link in links if link], (address[0], token[1])


async def work(args: argparse.Namespace, folder: Path, figures: Figures) -> None:
    """Set the team up, let it work, and watch its memory."""
    with started(args, folder) as (processes, links, (address, token)):
        clients = [Client(link) for link in links]
        for client in clients:
            await client.enter()
            await client.call("UserSetDefaultModel", model_id="scripted:demo")
        first, samples = clients[0], []
        for _ in range(args.turns):
            made = await first.call("WorkbenchCreateSample")
            samples.append(made["workbench_id"])
        benches = list(samples)
        while len(benches) < args.benches:
            made = await first.call("WorkbenchCreate", name=f"Bench {len(benches)}")
            benches.append(made["workbench_id"])
        print(f"{len(benches)} benches are there; {args.minutes:g} minutes begin", file=sys.stderr)
        turn = itertools.cycle(clients).__next__
        followed = itertools.islice(itertools.cycle(benches), args.streams)
        jobs = [
            *(ask(turn(), bench, figures) for bench in samples),
            *(follow(turn(), bench, figures) for bench in followed),
            *(agent(address, token, figures) for _ in range(args.sessions)),
            look(turn(), benches, figures),
        ]
        running = [asyncio.ensure_future(job) for job in jobs]
        ends = time.monotonic() + args.minutes * 60
        while time.monotonic() < ends:
            await asyncio.sleep(5)
            for process in processes:
                figures.memory[process.name].append(process.megabytes())
        for one in running:
            one.cancel()
        for found in await asyncio.gather(*running, return_exceptions=True):
            if not isinstance(found, asyncio.CancelledError):  # none of them ends by itself
                figures.errors[repr(found)[:100]] += 1
        for client in clients:
            await client.http.aclose()


def show(figures: Figures) -> None:
    """Print the tables."""
    print("| what | times | median | 95 % | longest |\n|---|---|---|---|---|")
    for what, seconds in sorted(figures.seconds.items()):
        seconds.sort()
        late = seconds[int(len(seconds) * 0.95)]
        middle = statistics.median(seconds)
        print(f"| {what} | {len(seconds)} | {middle:.2f} s | {late:.2f} s | {seconds[-1]:.2f} s |")
    print(f"\n{figures.events} events were read; errors: {dict(figures.errors) or 'none'}\n")
    print("| process | first third | last third |\n|---|---|---|")
    for name, held in figures.memory.items():
        third = max(1, len(held) // 3)
        begun, ended = statistics.median(held[:third]), statistics.median(held[-third:])
        print(f"| {name} | {begun:.0f} MB | {ended:.0f} MB |")


def main() -> int:
    """Run with the sizes that were asked for."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--database", choices=tuple(SIZES), default="postgres")
    asked.add_argument("--minutes", type=float, default=10)
    for name in SIZES["postgres"]:
        asked.add_argument(f"--{name}", type=int)
    args = asked.parse_args()
    for name, size in SIZES[args.database].items():
        if getattr(args, name) is None:
            setattr(args, name, size)
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="backshop-load-") as folder:
        asyncio.run(work(args, Path(folder), figures))
    show(figures)
    return 1 if figures.errors else 0


if __name__ == "__main__":
    raise SystemExit(main())
