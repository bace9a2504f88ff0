"""What a turn costs: model calls, bytes sent, what a provider's cache can keep of them, our time.

    python -m benchmarks.measure_cost           print the table
    python -m benchmarks.measure_cost --page    and put it into docs/explain/what-a-turn-costs.md

A real home and a real connection; behind it, on this machine, a model that does each task in the
fewest sensible calls from what the requests show (`minimal`). Bytes are those of the HTTP bodies.
The prefix is what a request shares with the start of the one before it, in the order in which
providers cache: tools, instructions, messages. The time is that of the whole turn, from its
beginning to its end, less that in which the model works out its answers, divided by the calls: all
of it is ours. Of a busy machine the processor time says more; beside it stands how much of that
passes between an answer and the next request. With COST_BODIES=FOLDER every request is kept there.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import backshop.models as models
from backshop.app import Backshop
from backshop.base.errors import BackshopError

from .costtasks import TASKS, Lookup, OneWord, Question, Task, written
from .minimal import MinimalModel, stream
from .report import head, row

PAGE = Path(__file__).parent.parent / "docs" / "explain" / "what-a-turn-costs.md"
FLOWS = ("auto", "rpi", "compat")
ROUNDS = 5  # of each row; the first one of a run loads what a turn needs and is not measured
BETWEEN_MS, TURN_MS = 30.0, 45.0  # processor time, decision 018
CHARS_PER_TOKEN = 4
_PROVIDER, _MODEL, _KEY = "local-cost", "local-cost:gpt-5.2", "COST_API_KEY"

BARS = {  # most calls, most KB in all, by task; for the flow a new workbench has
    OneWord: (3, 45.0),
    Question: (3, 60.0),
    Lookup: (5, 126.0),
}
BEFORE = {OneWord: (7, 385.7, 0.55), Question: (4, 84.2, 0.76), Lookup: (9, 281.0, 0.64)}
"""Calls, KB sent and prefix of flow `rpi` in 0.1.0, taken on 2026-11-17 by this script, put into a
checkout of commit 3b4cce3."""
RPI_SHARE = {OneWord: 0.4, Lookup: 0.75}  # of that, at most


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived, and the ids of the calls it was answered with."""

    body: bytes
    calls: tuple[str, ...]

    @property
    def parts(self) -> tuple[bytes, bytes, list[bytes]]:
        """Return tools, instructions and messages, each as bytes."""
        sent = json.loads(self.body)
        messages = [_bytes(one) for one in sent.get("input", [])]
        return _bytes(sent.get("tools", [])), _bytes(sent.get("instructions", "")), messages

    @property
    def in_cache_order(self) -> bytes:
        """Return the whole request in the order in which providers cache."""
        tools, instructions, messages = self.parts
        return b"".join((tools, instructions, *messages))


@dataclass(slots=True)
class Provider:
    """A server on this machine that lets a model answer, and keeps what it was sent."""

    model: MinimalModel | None = None
    asked: list[Asked] = field(default_factory=list)
    thought_s: float = 0.0
    thought_cpu_s: float = 0.0
    between_s: list[float] = field(default_factory=list)
    """Processor time from each answer to the request after it."""
    _answered_at: float | None = None

    def begin(self, model: MinimalModel) -> None:
        """Let a model answer from now on."""
        self.model, self.asked = model, []
        self.thought_s = self.thought_cpu_s = 0.0
        self.between_s, self._answered_at = [], None

    def reply(self, body: bytes) -> bytes:
        """Answer one request."""
        assert self.model is not None
        if self._answered_at is not None:
            self.between_s.append(time.process_time() - self._answered_at)
        begun, worked = time.perf_counter(), time.thread_time()
        number = len(self.asked)
        said = self.model.answer(json.loads(body))
        calls = tuple(f"call_{number}_{place}" for place in range(len(said.calls)))
        asked = Asked(body, calls)
        before = self.asked[-1].in_cache_order if self.asked else b""
        usage = _usage(asked.in_cache_order, before, said.text)
        self.asked.append(asked)
        made = b"".join(stream(said, number, usage))
        self.thought_s += time.perf_counter() - begun
        self.thought_cpu_s += time.thread_time() - worked
        self._answered_at = time.process_time()
        return made


@dataclass(frozen=True, slots=True)
class Cost:
    """What one turn cost."""

    calls: int
    sent_bytes: int
    prefix: float
    """Share of what the later requests sent that the one before had already sent."""
    is_kept: bool
    """Whether every request of a loop begins with the whole request before it."""
    is_right: bool
    ms: float
    cpu_ms: float
    between_ms: float = 0.0
    """Processor time between an answer and the next request, the median of the turn."""

    @property
    def kb(self) -> float:
        """Return what was sent in thousands of bytes."""
        return self.sent_bytes / 1000


@contextmanager
def serving() -> Iterator[tuple[Provider, str]]:
    """Give a provider and the address it answers at."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            made = provider.reply(body)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(made)))
            self.end_headers()
            self.wfile.write(made)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider, f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def opened(folder: Path, address: str) -> Iterator[Backshop]:
    """Give a home whose model is spoken to as OpenAI's are, at this address."""
    provider = models.ProviderRecord(
        provider_id=_PROVIDER,
        display_name="cost",
        adapter=models.AdapterKind.OPENAI_RESPONSES,
        auth=models.Auth.API_KEY,
        base_url=address,
        hosts=("127.0.0.1",),
        key_variable=_KEY,
    )
    model = models.ModelRecord(
        model_id=_MODEL,
        provider_id=_PROVIDER,
        wire_name="gpt-5.2",
        display_name="cost",
        context_tokens_estimate=400_000,
        max_output_tokens=128_000,
        efforts=("none", "low", "medium", "high", "xhigh"),
    )
    plugin = models.Plugin(provider=provider, models=(model,), wire=mock.Mock())
    with (
        mock.patch.dict(os.environ, {_KEY: "a-key-of-the-benchmark"}),
        mock.patch.object(models, "load_plugins", return_value={_PROVIDER: plugin}),
        Backshop.open(folder / "home", settings={"model.default": _MODEL}) as shop,
    ):
        yield shop


def knows(shop: Backshop, flow: str) -> bool:
    """Say whether the program has a flow."""
    bench = shop.call("WorkbenchCreate", {"name": flow})["workbench_id"]
    try:
        shop.call("WorkshopSetFlow", {"workbench_id": bench, "flow": flow})
    except BackshopError:
        return False
    return True


def run(shop: Backshop, provider: Provider, task: Task, flow: str, folder: Path) -> Cost:
    """Let the model do a task at a bench of its own, and count."""
    files = task.files()
    bench = {"workbench_id": shop.call("WorkbenchCreate", {"name": task.name})["workbench_id"]}
    shop.call("WorkbenchFilesAdd", {**bench, "source_paths": written(files, folder)})
    shop.call("WorkshopSetFlow", {**bench, "flow": flow})
    sent = {**bench, "text": task.request, "mode": task.mode}
    message = shop.call("WorkshopSendUserMessage", sent)["message_id"]
    provider.begin(MinimalModel(task))
    begun, worked = time.perf_counter(), time.process_time()
    done = shop.call("WorkshopRunAgent", {**bench, "message_id": message})
    taken, cpu = time.perf_counter() - begun, time.process_time() - worked
    assert done["status"] == "complete", done
    calls = len(provider.asked)
    answer = _answer(shop, bench)
    return Cost(
        calls=calls,
        sent_bytes=sum(len(one.body) for one in provider.asked),
        prefix=_prefix(provider.asked),
        is_kept=is_append_only(provider.asked),
        is_right=task.is_right(files, _active(shop, bench["workbench_id"]), answer),
        ms=1000 * (taken - provider.thought_s) / calls,
        cpu_ms=1000 * (cpu - provider.thought_cpu_s) / calls,
        between_ms=1000 * statistics.median(provider.between_s or [0.0]),
    )


def _answer(shop: Backshop, bench: dict[str, str]) -> str:
    found = shop.call("WorkshopGetConversation", bench)["messages"]
    return str([one["text"] for one in found if one["type"] == "assistant_message"][-1])


def _active(shop: Backshop, bench_id: str) -> dict[str, bytes]:
    desk = shop.benches.desk
    state = desk.state(bench_id)
    tree = state.published if state.draft is None else state.draft.tree
    blobs = desk.store.blobs
    return {str(path): blobs.read(one.sha256) for path, one in desk.entries(tree).items()}


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _shared(before: bytes, after: bytes) -> int:
    most = min(len(before), len(after))
    return next((n for n in range(most) if before[n] != after[n]), most)


def _prefix(asked: list[Asked]) -> float:
    whole = [one.in_cache_order for one in asked]
    shared = sum(_shared(before, after) for before, after in pairwise(whole))
    return shared / (sum(map(len, whole[1:])) or 1)


def is_append_only(asked: list[Asked]) -> bool:
    """Say whether every request of a loop begins with the whole request before it."""
    for before, after in pairwise(asked):
        if not any(f'"{call}"'.encode() in after.body for call in before.calls):
            continue  # another loop: what was called is not in it
        (tools, system, messages), now = before.parts, after.parts
        if (tools, system, messages) != (now[0], now[1], now[2][: len(messages)]):
            return False
    return True


def _usage(now: bytes, before: bytes, text: str) -> dict[str, Any]:
    sent, made = len(now) // CHARS_PER_TOKEN, 1 + len(text) // CHARS_PER_TOKEN
    cached = _shared(before, now) // CHARS_PER_TOKEN
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sent + made,
    }


def measured(
    shop: Backshop, provider: Provider, task: Task, flow: str, folder: Path, rounds: int = ROUNDS
) -> Cost:
    """Run a task some times; counts are the same each time, of the times it is the median."""
    found = [run(shop, provider, task, flow, folder) for _ in range(rounds)]
    assert len({(one.calls, one.is_right, one.is_kept) for one in found}) == 1, found
    return replace(
        found[0],
        ms=statistics.median(one.ms for one in found),
        cpu_ms=statistics.median(one.cpu_ms for one in found),
        between_ms=statistics.median(one.between_ms for one in found),
    )


def main() -> None:
    """Print the table, and what is held against a bar."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-cost-") as name,
        serving() as (provider, address),
        opened(Path(name), address) as shop,
    ):
        files = Path(name) / "files"
        files.mkdir()
        flows = [flow for flow in FLOWS if knows(shop, flow)]
        run(shop, provider, OneWord(), flows[0], files)
        costs = {}
        for task in TASKS:
            for flow in flows:
                costs[task, flow] = measured(shop, provider, task, flow, files)
                _keep(provider, task, flow)
    _table(costs)
    if "--page" in sys.argv:
        put_into_page(costs)
    for flow in FLOWS:
        if flow not in flows:
            print(f"\nThis program has no flow `{flow}`: its rows are left out.")
    print()
    head()
    for (task, flow), cost in costs.items():
        _bars(task, flow, cost)


def _keep(provider: Provider, task: Task, flow: str) -> None:
    if folder := os.environ.get("COST_BODIES"):
        for number, one in enumerate(provider.asked, 1):
            name = f"{type(task).__name__}-{flow}-{number}.json"
            (Path(folder) / name).write_bytes(one.body)


def _table(costs: dict[tuple[Task, str], Cost]) -> None:
    heads = ("task", "flow", "calls", "KB sent", "prefix", "append-only", "right", "ms a call")
    print("| " + " | ".join((*heads, "processor", "between")) + " |")
    print("|---" * (len(heads) + 2) + "|")
    said = {True: "yes", False: "NO"}
    for (task, flow), one in costs.items():
        prefix = f"{one.prefix:.0%}" if one.calls > 1 else "–"
        print(
            f"| {task.name} | `{flow}` | {one.calls} | {one.kb:.1f} | {prefix} |"
            f" {said[one.is_kept]} | {said[one.is_right]} |"
            f" {one.ms:.1f} | {one.cpu_ms:.1f} | {one.between_ms:.1f} |"
        )


def put_into_page(costs: dict[tuple[Task, str], Cost]) -> None:
    """Put the figures that do not depend on the machine into the page about them."""
    rows = []
    for task in TASKS:
        calls, kb, share = BEFORE[type(task)]
        rows.append(f"| {task.name} | `rpi` of 0.1.0 | {calls} | {kb:.0f} | {share:.0%} | yes |")
        for flow in FLOWS:
            if one := costs.get((task, flow)):
                share_told = f"{one.prefix:.0%}" if one.calls > 1 else "–"
                right = "yes" if one.is_right else "no"
                figures = f"{one.calls} | {one.kb:.0f} | {share_told} | {right}"
                rows.append(f"| {task.name} | `{flow}` | {figures} |")
    head = "| task | flow | calls | KB sent | sent before | right |\n|---|---|---|---|---|---|"
    day = time.strftime("%Y-%m-%d", time.gmtime())
    table = "\n".join((f"Taken on {day}:", "", head, *rows))
    begin, end = "<!-- figures -->\n", "<!-- end of figures -->\n"
    before, rest = PAGE.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(end)
    PAGE.write_text(f"{before}{begin}{table}\n{end}{after}", encoding="utf-8")


def _bars(task: Task, flow: str, cost: Cost) -> None:
    name, kind = f"{task.name}, `{flow}`", type(task)
    if flow == "auto":
        calls, kb = BARS[kind]
        row(f"{name}: calls", cost.calls, calls, unit="calls")
        row(f"{name}: sent in all", cost.kb, kb, unit="KB")
    if flow == "rpi" and kind in RPI_SHARE:
        row(f"{name}: sent / sent by 0.1.0", cost.kb / BEFORE[kind][1], RPI_SHARE[kind])
    if flow != "compat":
        row(f"{name}: loops that only grow", float(cost.is_kept), 1, at_least=True, unit="of 1")
        row(f"{name}: right", float(cost.is_right), 1, at_least=True, unit="of 1")
        row(f"{name}: work between two calls", cost.between_ms, BETWEEN_MS, unit="ms")
        row(f"{name}: work of the whole turn, a call", cost.cpu_ms, TURN_MS, unit="ms")


if __name__ == "__main__":
    main()
