"""A workflow of your own, walked as an agent walks it: one step at a time, and back.

python examples/own_workflow
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from backshop import Backshop
from backshop.rails import TOOLS

WORKFLOW = Path(__file__).parent / "invoice_check.yaml"


def main() -> None:
    """Start a run, do its steps, then go back and do one differently."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        (home / "workflows").mkdir(parents=True)
        shutil.copy(WORKFLOW, home / "workflows")
        with Backshop.open(home) as shop:
            agent = Agent(shop)
            first = agent.call(
                "start_workflow",
                workflowId="user.invoice_check",
                context={"invoice": "no. 7"},
            )
            second = agent.done(first, "Three lines each.")
            third = agent.done(second, "All lines agree.")
            agent.done(third, "Nothing to do.")
            print("the same tokens again give the recorded answer:")
            agent.done(second, "All lines agree.")
            print("going back to the second step begins a branch:")
            again = agent.call("continue_workflow", stateToken=second["stateToken"])
            other = agent.done(again, "Line 2 is 10 euros too much.")
            agent.done(other, "Ask for a credit note.")
            session = shop.call("RailsSessionsList", {})["sessions"][0]
            print("branches kept:", session["branches"])


class Agent:
    """Calls the tools a coding agent has over MCP."""

    def __init__(self, shop: Backshop) -> None:
        self._shop = shop
        self._tools = {tool.name: tool for tool in TOOLS}

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and tell which step comes next."""
        answer = self._tools[name].call(self._shop.rails, arguments).structured
        pending = answer.get("pending")
        print("step:", pending["title"] if isinstance(pending, dict) else "complete")
        return dict(answer)

    def done(self, answer: dict[str, Any], notes: str) -> dict[str, Any]:
        """Hand a step over."""
        return self.call(
            "continue_workflow",
            stateToken=answer["stateToken"],
            ackToken=answer["ackToken"],
            output={"notesMarkdown": notes},
        )


if __name__ == "__main__":
    main()
