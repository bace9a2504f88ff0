"""An agent follows `wr.change_review` over MCP; the server is replaced and the chat is rewound.

    python examples/change_review_over_mcp

The agent here is the SDK's client and a few lines of code that write notes instead of a review.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio

from mcp import Client, StdioServerParameters

CHANGED = {
    "kind": "mr_review.changed_files",
    "changedFiles": [{"path": "parser.py", "summary": "reads dates", "risk": "H"}],
}
AREAS = [{"name": "callers", "question": "Does every caller still get what it relies on?"}]
FOUND = "One file; the parser is the risky one."


def server(home: Path) -> StdioServerParameters:
    """Return what a client's configuration says: `backshop mcp`."""
    env = {**os.environ, "BACKSHOP_HOME": str(home)}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "backshop.cli", "mcp"], env=env
    )


async def call(agent: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """Call a tool and show which step it leads to, or what stands in the way."""
    answer = dict((await agent.call_tool(tool, arguments)).structured_content or {})
    if answer.get("pending"):
        print(f"{tool}: {answer['kind']}, the step is: {answer['pending']['title']}")
    for blocker in answer.get("blockers", ()):
        print(f"   {blocker['message']}")
    return answer


async def done(agent: Client, answer: dict[str, Any], notes: str) -> dict[str, Any]:
    """Say that the first step is done, with the output it asks for."""
    tokens = {"stateToken": answer["stateToken"], "ackToken": answer["ackToken"]}
    output = {"notesMarkdown": notes, "artifacts": [CHANGED]}
    return await call(
        agent, "continue_workflow", **tokens, output=output, context={"reviewAreas": AREAS}
    )


def notes_of(answer: dict[str, Any]) -> list[str]:
    """Return the notes an answer carries over to a chat that has forgotten them."""
    return [entry["notesMarkdown"] for entry in answer["recap"]["entries"]]


async def work(home: Path) -> None:
    """Walk, lose the server, find the place again, go back."""
    async with Client(server(home)) as agent:
        first = await call(
            agent, "start_workflow", workflowId="wr.change_review", goal="Review the parser change"
        )
        tokens = {"stateToken": first["stateToken"], "ackToken": first["ackToken"]}
        blocked = await call(agent, "continue_workflow", **tokens)
        second = await done(agent, blocked, FOUND)
    print("-- the server is gone; a new one, a new chat")
    async with Client(server(home)) as agent:
        found = await call(agent, "resume_session", query="parser change")
        token = found["candidates"][0]["stateToken"]
        place = await call(agent, "continue_workflow", stateToken=token)
        print("   remembered:", notes_of(place))
        again = await done(agent, blocked, FOUND)
        print("   the same call gives the recorded answer:", again == second)
        print("-- the chat is rewound to the first step")
        older = await call(agent, "continue_workflow", stateToken=first["stateToken"])
        branch = await done(agent, older, "Two files: a test was missed.")
        there = await call(agent, "continue_workflow", stateToken=branch["stateToken"])
        print("   this branch knows:", notes_of(there))
        other = await call(agent, "continue_workflow", stateToken=second["stateToken"])
        print("   the other still knows:", notes_of(other))


def main() -> None:
    """Let the agent work in a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(work, Path(folder) / "home")


if __name__ == "__main__":
    main()
