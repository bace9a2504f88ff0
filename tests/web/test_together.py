"""Browsers, a terminal and an agent on one bench at the same time: every page shows the truth.

The terminal and the agent are processes of their own.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from tests.models.provider import Reply, chat, serving
from tests.web.elsewhere import committed_ms, environment, terminal
from tests.web.watching import Watched

from mcp import Client, StdioServerParameters

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(300)]


def agent(served, bench, tool, **arguments):
    """Let an outside agent use a tool of the bench over MCP."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "backshop.cli", "mcp", "--bench", bench],
        env=environment(served),
    )

    async def story():
        async with Client(server) as client:
            return await client.call_tool(tool, arguments)

    with ThreadPoolExecutor(1) as beside:  # the browser's loop has this thread
        result = beside.submit(anyio.run, story).result(120)
    assert not result.is_error, result.content


@pytest.mark.rule("S5.2", "U2.3", "U5.2", "U3.5")
def test_what_a_terminal_and_an_agent_do_is_on_every_page_at_once(served, new_page):
    bench = served.bench("Shared", {"notes.txt": "first words\n", "old.txt": "old\n"})
    pages = {
        name: new_page(f"/bench/{bench}{path}")
        for name, path in (
            ("workshop", "?stay=1"),
            ("checkpoints", "/checkpoints"),
            ("file", "/file/notes.txt"),
            ("review", "/review"),
        )
    }
    late = {}

    watched = Watched(pages["checkpoints"])
    watched.expect("before the audit")
    terminal(served, "checkpoint", "create", bench, "before the audit")
    late["checkpoint"] = watched.late_ms("before the audit", committed_ms(served))

    everywhere = Watched(*(page for name, page in pages.items() if name != "review"))
    everywhere.expect("Draft in progress")
    Watched(pages["file"]).expect("Draft in progress", "second words")
    agent(served, bench, "write_text_file", path="notes.txt", content="second words\n")
    late["draft"] = everywhere.late_ms("Draft in progress", committed_ms(served))
    late["file"] = Watched(pages["file"]).late_ms("second words", committed_ms(served))
    pages["review"].get_by_text("second words").wait_for()  # it shows what there is to review now
    pages["review"].locator("#publish:enabled").wait_for()  # and is the page of a review
    assert "Draft in progress" in pages["review"].locator(".decision").inner_text()

    workshop = Watched(pages["workshop"])
    workshop.expect("Published", "Draft discarded")
    terminal(served, "discard", bench, "--yes")
    late["discard"] = workshop.late_ms("Draft discarded", committed_ms(served))
    pages["file"].get_by_text("first words").wait_for()

    watched = Watched(pages["workshop"], pages["file"])
    watched.expect("Renamed by hand")
    terminal(served, "bench", "rename", bench, "Renamed by hand")
    late["name"] = watched.late_ms("Renamed by hand", committed_ms(served))

    assert late == dict.fromkeys(late, 0.0)
    assert all(page.locator(".draft-bar").count() == 0 for page in pages.values())


@pytest.mark.rule("S5.2", "U4.1", "U3.5", "B3.7")
def test_what_a_browser_a_terminal_and_an_agent_do_at_the_same_moment_is_on_every_page(
    served, new_page
):
    bench = served.bench("Busy", {"kept.txt": "kept\n", "named.txt": "named\n", "gone.txt": "x\n"})
    agent(served, bench, "write_text_file", path="kept.txt", content="begun\n")
    acting = new_page(f"/bench/{bench}/file/gone.txt")
    acting.get_by_role("button", name="Remove…").click()
    pages = [new_page(f"/bench/{bench}{path}") for path in ("/review", "?stay=1")]
    watched, reviewed = Watched(*pages), Watched(pages[0])
    watched.expect("by-agent.txt", "by-terminal.txt", "1 deletion waits")
    before = served.shop.store.last_seq()

    with ThreadPoolExecutor(2) as others:  # the browser's loop has this thread
        doing = [
            others.submit(
                terminal, served, "draft", "rename", bench, "named.txt", "by-terminal.txt"
            ),
            others.submit(
                agent, served, bench, "write_text_file", path="by-agent.txt", content="a"
            ),
        ]
        acting.get_by_role("button", name="Delete it in the Draft").click()
        acting.wait_for_url("**/review")
        for one in doing:
            one.result()

    facts = served.shop.store.tail(before)
    at_ms = {
        path: next(one.at_ms for one in facts if path.encode() in one.body)
        for path in ("by-agent.txt", "by-terminal.txt", "gone.txt")
    }
    late = {
        "agent": watched.late_ms("by-agent.txt", at_ms["by-agent.txt"]),
        "terminal": watched.late_ms("by-terminal.txt", at_ms["by-terminal.txt"]),
        "browser": reviewed.late_ms("1 deletion waits", at_ms["gone.txt"]),
    }
    assert late == dict.fromkeys(late, 0.0)
    assert served.paths(bench) == {"kept.txt", "by-agent.txt", "by-terminal.txt"}


class Gated:
    """Chunks of an answer, one part at a time."""

    def __init__(self, *parts):
        self._parts = parts
        self._gates = [threading.Event() for _ in parts]

    def __iter__(self):
        for gate, part in zip(self._gates, self._parts, strict=True):
            assert gate.wait(60)
            yield from part

    def open(self, number):
        self._gates[number].set()


@contextmanager
def model(served, bench, *replies):
    """A model server of the person's own, used by the bench."""
    with serving(*replies) as server:
        about = {"provider_id": "local-slow", "preset": "custom", "base_url": server.url}
        served.call("ProvidersUpsertLocal", **about, models=["m"])
        served.call("WorkshopSwitchModel", workbench_id=bench, model_id="local-slow:m")
        yield server


@pytest.mark.rule("S5.2", "W5.9", "U3.1", "U3.2")
def test_a_turn_run_in_a_terminal_grows_on_the_page_and_ends_as_its_record(served, new_page):
    bench = served.bench("Elsewhere", {"a.txt": "a\n"})
    first, second = "First half. " * 500, "Second half. " * 500  # each is kept by itself (W5.9)
    whole = chat(first, second, "The end.", usage=False)
    starts = [number for number, chunk in enumerate(whole) if b"half" in chunk]
    answer = Gated(
        whole[: starts[0] + 1], whole[starts[0] + 1 : starts[1] + 1], whole[starts[1] + 1 :]
    )
    with model(served, bench, Reply(answer)):  # type: ignore[arg-type]
        page = new_page(f"/bench/{bench}")
        page.locator("html[data-live]").wait_for()
        asking = subprocess.Popen(
            [sys.executable, "-m", "backshop.cli", "send", bench, "Tell me", "--ask"],
            env=environment(served),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            page.get_by_text("Tell me").wait_for(timeout=60_000)
            page.locator("#stop").wait_for(timeout=60_000)
            stoppable = page.locator("#turn-line").is_visible()
            answer.open(0)
            page.locator(".message.assistant").get_by_text("First half.").wait_for(timeout=60_000)
            answer.open(1)
            page.locator(".message.assistant").get_by_text("Second half.").wait_for(timeout=60_000)
            answer.open(2)
            page.locator(".message.assistant.complete").wait_for(timeout=60_000)
        finally:
            out, err = asking.communicate(timeout=60)

    shown = page.locator(".message.assistant [data-rendered]").text_content()
    record = served.call("WorkshopGetConversation", workbench_id=bench)["messages"][-1]["text"]
    assert (asking.returncode, stoppable) == (0, True), err
    assert shown.split() == record.split() == out.split() == f"{first}{second}The end.".split()
