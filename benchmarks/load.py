"""A team at work: many benches, event streams, browsers, turns and MCP sessions at once.

    python -m benchmarks.load --minutes 10                     PostgreSQL, 2 servers, 2 workers
    python -m benchmarks.load --database sqlite --minutes 2    one process, sizes of one person

Real processes on loopback and a database that waits for the disk. The offline model takes a second
for each answer; people and agents read what they get before they go on. Everything has to be there
at once, so the sizes are what is measured, not the speed of clients that never rest. Processes
keep states of conversations at hand, up to a weight (T3.2); `--warm` are the minutes before, in
which they fill, and count for errors only. Fails on any error or lost stream, when fewer turns than
asked for were in progress, and when a process holds more memory at the end than at the beginning.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from .loadhosts import Team, started

SIZES = {
    "postgres": {"benches": 200, "streams": 50, "browsers": 2, "turns": 20, "sessions": 100},
    "sqlite": {"benches": 20, "streams": 3, "browsers": 1, "turns": 2, "sessions": 4},
}
BEGIN_S = 30.0  # people and agents do not all begin in the same second
READS_S = 2.0  # between an answer and the next message
ASKERS = 1.5  # for each turn that is to be in progress: while some read, others wait
MESSAGES = 6  # to one bench, before a person goes on to the next
AGENT_S = 10.0  # between two calls of an agent
PERSON_S = 1.0  # between two looks of somebody who walks over the benches
WAIT_MS = 120_000
FLAT = 1.10  # what a process may hold at the end, of what it held when everything had begun
FLAT_MB = 5.0
LAST_ANSWER = "() => [...document.querySelectorAll('#transcript .assistant.complete')].at(-1)?.id"
NEXT_ANSWER = f"(known) => ({LAST_ANSWER})() !== known"
QUESTION = "Which category earned most in the second half of the year?"
MCP_HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@dataclass
class Figures:
    """What was measured."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    read: dict[str, int] = field(default_factory=dict)
    """Events that streams read, by bench."""
    memory: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cores: dict[str, float] = field(default_factory=dict)
    running: int = 0
    """Turns in progress now."""
    asked: dict[str, int] = field(default_factory=dict)
    """How many messages the benches got that people are at now."""
    at_once: list[int] = field(default_factory=list)
    """How many were in progress, from time to time."""

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


class Client:
    """One logged-in program that calls commands."""

    def __init__(self, link: str) -> None:
        self.http = httpx2.AsyncClient(base_url=link.partition("login?")[0], timeout=120)
        self._link = link
        self._numbers = itertools.count(1)

    async def enter(self) -> None:
        (await self.http.get(self._link, follow_redirects=True)).raise_for_status()

    def cookies(self) -> list[Any]:
        """Return what lets a browser in as well."""
        own = str(self.http.base_url)
        jar = self.http.cookies.jar
        return [{"name": one.name, "value": one.value, "url": own} for one in jar]

    async def call(self, method: str, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        answer = (await self.http.post("/rpc", json=body)).json()
        if "error" in answer:
            raise Refused(f"{answer['error']['message']}")
        return answer["result"]


async def follow(client: Client, bench: str, figures: Figures) -> None:
    """Be one open page: read its events; a stream that ends is an error."""
    figures.read.setdefault(bench, 0)
    while True:
        reason = "it ended"
        try:
            url = f"/events?workbench_id={bench}"
            async with client.http.stream("GET", url, timeout=None) as stream:
                stream.raise_for_status()
                async for line in stream.aiter_lines():
                    figures.read[bench] += line.startswith("event:")
        except httpx2.HTTPError as error:
            reason = str(error)[:80] or type(error).__name__
        figures.errors[f"stream: {reason}"] += 1
        await asyncio.sleep(1)


async def ask(client: Client, benches: list[str], figures: Figures) -> None:
    """Ask the agent again and again, at one bench after the other."""
    for bench in itertools.cycle(benches):
        for asked in range(MESSAGES):
            figures.asked[bench] = asked
            sent = await figures.timed(
                "message", client.call("WorkshopSendUserMessage", workbench_id=bench, text=QUESTION)
            )
            if sent:
                await figures.timed("turn", _turn(client, bench, sent["message_id"], figures))
            await asyncio.sleep(READS_S)
        del figures.asked[bench]


async def _turn(client: Client, bench: str, message: str, figures: Figures) -> None:
    figures.running += 1
    try:
        run = {"workbench_id": bench, "message_id": message}
        done = await client.call("WorkshopRunAgent", **run)
    finally:
        figures.running -= 1
    if done["status"] != "complete":
        raise Refused(f"it ended {done['status']}")


async def look(client: Client, benches: list[str], figures: Figures) -> None:
    """Walk over the benches as people do."""
    for bench in itertools.cycle(benches):
        await figures.timed("open a bench", client.call("WorkbenchOpen", workbench_id=bench))
        await figures.timed("state", client.call("WorkshopGetState", workbench_id=bench))
        await asyncio.sleep(PERSON_S)


class Agent:
    """One MCP session: it learns the tools, then starts workflows and looks where they stand."""

    def __init__(self, http: httpx2.AsyncClient, address: str, figures: Figures) -> None:
        self._http = http
        self._address = address
        self._figures = figures
        self._numbers = itertools.count(1)

    async def run(self) -> None:
        """Work until cancelled."""
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
        who = {"clientInfo": {"name": "load", "version": "1"}}
        await self._timed("initialize", "initialize", **hello, **who)
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        (await self._http.post(self._address, json=ready)).raise_for_status()
        await self._timed("tools/list", "tools/list")
        while True:
            begun = await self._tool("start_workflow", workflowId="wr.rpi", goal="load")
            for _ in range(3):
                await asyncio.sleep(AGENT_S)
                if begun is not None:
                    token = begun["structuredContent"]["stateToken"]
                    await self._tool("continue_workflow", stateToken=token)

    async def _tool(self, name: str, **arguments: Any) -> Any:
        return await self._timed(name, "tools/call", name=name, arguments=arguments)

    async def _timed(self, what: str, method: str, **params: Any) -> Any:
        return await self._figures.timed(f"mcp {what}", self._send(method, **params))

    async def _send(self, method: str, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        answer = await self._http.post(self._address, json=body)
        if "mcp-session-id" in answer.headers:
            self._http.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        text = answer.text.partition("data:")[2] or answer.text
        found = json.loads(text.strip().splitlines()[0]) if text.strip() else {}
        if answer.status_code >= 400 or "error" in found or found["result"].get("isError"):
            raise Refused(f"{answer.status_code} {text[:80]}")
        return found["result"]


async def agent(team: Team, figures: Figures) -> None:
    """Be one agent."""
    headers = {**MCP_HEADERS, "authorization": f"Bearer {team.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
        await Agent(http, team.mcp, figures).run()


async def browse(client: Client, figures: Figures) -> None:
    """Be a person with a browser: follow one answer after another on the real pages."""
    from playwright.async_api import Error, async_playwright
    from tests.conftest import browser_path
    from tests.web.browsing import ARGUMENTS

    async with async_playwright() as playwright:
        path = browser_path()
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        page = await browser.new_page()
        page.set_default_timeout(WAIT_MS)
        await page.context.add_cookies(client.cookies())
        broken: list[str] = []
        page.on("pageerror", lambda error: broken.append(str(error)))
        base = str(client.http.base_url).rstrip("/")
        while True:
            early = [bench for bench, asked in figures.asked.items() if asked < MESSAGES // 2]
            if not early:  # somebody has to stay there for a while
                await asyncio.sleep(PERSON_S)
                continue
            bench = early[-1]
            try:
                begun = time.perf_counter()
                await page.goto(f"{base}/bench/{bench}")
                await page.wait_for_selector("#transcript [data-message]")
                figures.seconds["page in a browser"].append(time.perf_counter() - begun)
                begun = time.perf_counter()
                known = await page.evaluate(LAST_ANSWER)
                await page.wait_for_function(NEXT_ANSWER, arg=known)
                figures.seconds["next answer in a browser"].append(time.perf_counter() - begun)
            except Error as error:
                figures.errors[f"page: {error.message[:80]}"] += 1
            for one in broken:
                figures.errors[f"script: {one[:80]}"] += 1
            broken.clear()
            await asyncio.sleep(PERSON_S)


async def work(args: argparse.Namespace, folder: Path, figures: Figures) -> None:
    """Set the team up, let it work, and watch its memory."""
    with started(args.database, folder) as team:
        clients = [Client(link) for link in team.links]
        for client in clients:
            await client.enter()
            await client.call("UserSetDefaultModel", model_id="scripted:demo")
        benches = [
            (await clients[0].call("WorkbenchCreateSample"))["workbench_id"]
            for _ in range(args.benches)
        ]
        askers = round(args.turns * ASKERS)
        print(
            f"{len(benches)} benches are there; {args.warm:g} + {args.minutes:g} minutes begin",
            file=sys.stderr,
        )
        turn = itertools.cycle(clients).__next__
        followed = itertools.islice(itertools.cycle(benches), args.streams)
        jobs = [
            *_spread(ask(turn(), benches[n::askers], figures) for n in range(askers)),
            *_spread(follow(turn(), bench, figures) for bench in followed),
            *_spread(agent(team, figures) for _ in range(args.sessions)),
            *_spread(browse(turn(), figures) for _ in range(args.browsers)),
            look(turn(), benches, figures),
        ]
        running = [asyncio.ensure_future(job) for job in jobs]
        await asyncio.sleep(args.warm * 60)
        figures.seconds.clear()
        await _watch(team, args.minutes * 60, figures)
        for one in running:
            one.cancel()
        for found in await asyncio.gather(*running, return_exceptions=True):
            if not isinstance(found, asyncio.CancelledError):  # none of them ends by itself
                figures.errors[repr(found)[:100]] += 1
        for client in clients:
            await client.http.aclose()
        deaf = [bench for bench in benches[:askers] if figures.read.get(bench) == 0]
        if deaf:
            figures.errors["stream: it read no event of a bench at work"] += len(deaf)


def _spread(works: Any) -> list[Coroutine[Any, Any, None]]:
    """Return the same works, begun one after the other."""
    found = list(works)

    async def later(work: Coroutine[Any, Any, None], after_s: float) -> None:
        try:
            await asyncio.sleep(after_s)
        except asyncio.CancelledError:
            work.close()
            raise
        await work

    return [later(one, n * BEGIN_S / len(found)) for n, one in enumerate(found)]


async def _watch(team: Team, seconds: float, figures: Figures) -> None:
    used = {one.name: one.processor_s() for one in team.processes}
    begun = time.monotonic()
    while time.monotonic() < begun + seconds:
        await asyncio.sleep(5)
        figures.at_once.append(figures.running)
        for process in team.processes:
            figures.memory[process.name].append(process.megabytes())
    for one in team.processes:
        figures.cores[one.name] = (one.processor_s() - used[one.name]) / seconds


def show(figures: Figures, turns: int) -> bool:
    """Print the tables; say whether everything was as it should be."""
    print("| what | times | median | 95 % | longest |\n|---|---|---|---|---|")
    for what, seconds in sorted(figures.seconds.items()):
        seconds.sort()
        late = seconds[int(len(seconds) * 0.95)]
        middle = statistics.median(seconds)
        print(f"| {what} | {len(seconds)} | {middle:.2f} s | {late:.2f} s | {seconds[-1]:.2f} s |")
    calls = sum(len(one) for one in figures.seconds.values())
    print(f"\n{calls:,} calls, {sum(figures.read.values()):,} events read; errors: ", end="")
    print(dict(figures.errors) or "none")
    at_once = statistics.median(figures.at_once) if figures.at_once else 0
    print(f"Turns in progress: {at_once:g} (median)\n")
    print("| process | cores used | first third | last third | flat |\n|---|---|---|---|---|")
    holds = not figures.errors and at_once >= turns
    for name, held in figures.memory.items():
        third = max(1, len(held) // 3)
        first, last = statistics.median(held[:third]), statistics.median(held[-third:])
        flat = last <= first * FLAT + FLAT_MB
        holds = holds and flat
        said = f"{first:.0f} MB | {last:.0f} MB | {'yes' if flat else 'NO'}"
        print(f"| {name} | {figures.cores[name]:.2f} | {said} |")
    return holds


def main() -> int:
    """Run with the sizes that were asked for."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--database", choices=tuple(SIZES), default="postgres")
    asked.add_argument("--minutes", type=float, default=10)
    asked.add_argument("--warm", type=float, default=6)
    for name in SIZES["postgres"]:
        asked.add_argument(f"--{name}", type=int)
    args = asked.parse_args()
    for name, size in SIZES[args.database].items():
        if getattr(args, name) is None:
            setattr(args, name, size)
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="backshop-load-") as folder:
        asyncio.run(work(args, Path(folder), figures))
    return 0 if show(figures, args.turns) else 1


if __name__ == "__main__":
    raise SystemExit(main())
