"""A run, told by calls that repeat themselves exactly; children of the crash harness tell it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.rails.agent import Agent, rails_of
from tests.rails.workflows import LOOP_CONTROL, STOP, flow, step

Say = Callable[[str], None]
WORK = flow(step("one"), step("two", **LOOP_CONTROL), step("three"))
LONG = "x" * 90_000  # more than fits into the database: a file is written first


def agent_of(folder: Path) -> Agent:
    """Open the story's home."""
    return Agent(rails_of(folder / "home", database_url=url_of(folder, "home")))


def url_of(folder: Path, home: str) -> str | None:
    """Return where a home's database is, if a file says that it is a server."""
    url = folder / f"{home}-url"
    return url.read_text(encoding="utf-8") if url.exists() else None


def start(folder: Path) -> None:
    """Make the home, with a session to export."""
    agent = Agent(rails_of(folder / "home", workflows=[WORK], database_url=url_of(folder, "home")))
    answer = agent.go(agent.start("user.flow"), LONG)
    session = answer["session"]["sessionId"]
    text = agent.studio("RailsSessionExport", sessionId=session)["text"]
    (folder / "bundle.json").write_text(text, encoding="utf-8")
    agent.rails.sessions.store.close()


def warm(folder: Path) -> None:
    """Tell it once, so that everything it loads on first use is loaded."""
    start(folder)
    run(folder, lambda _: None)
    take(folder, lambda _: None)


def run(folder: Path, say: Say) -> None:
    """Start, advance, be blocked, checkpoint, advance to the end; say every answer's digest."""
    agent = agent_of(folder)

    def told(tool: str, **arguments: Any) -> dict[str, Any]:
        answer = agent.answer(tool, **arguments)
        assert not answer.is_error, answer.structured
        said = json.dumps([answer.structured, answer.texts]).encode()
        say(hashlib.sha256(said).hexdigest())
        return answer.structured

    def go(answer: dict[str, Any], **output: Any) -> dict[str, Any]:
        return told("continue_workflow", ackToken=answer["ackToken"], output=output)

    first = told("start_workflow", workflowId="user.flow", idempotencyKey="the-story")
    second = go(first, notesMarkdown=LONG)
    blocked = go(second, notesMarkdown="no artifact")
    third = go(blocked, artifacts=[STOP])
    noted = told(
        "checkpoint_workflow",
        stateToken=third["stateToken"],
        checkpointToken=third["checkpointToken"],
        output={"notesMarkdown": "half way"},
    )
    go(noted, notesMarkdown="the end")
    agent.rails.sessions.store.close()


def take(folder: Path, say: Say) -> None:
    """Import a session into an empty home."""
    agent = Agent(rails_of(folder / "other", database_url=url_of(folder, "other")))
    text = (folder / "bundle.json").read_text(encoding="utf-8")
    say(agent.studio("RailsSessionImport", bundle=text)["sessionId"])
    agent.rails.sessions.store.close()
