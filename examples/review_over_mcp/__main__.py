"""An agent works on a workbench over MCP; there is no tool to publish, that is the person's part.

    python examples/review_over_mcp

The agent here is a few lines of code. Yours is Claude Code, Codex, Cursor or any other client, with
`backshop mcp --bench NAME` in its configuration.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import anyio

from backshop import Backshop
from mcp import Client, StdioServerParameters

LETTER = "Dear Ms Quill,\n\nYour parcel is late. We do not care.\n\nYours\n"


async def work(home: Path) -> None:
    """Do what an agent does: look, read, edit, look at the result."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "backshop.cli", "mcp", "--bench", "Letters"],
        env={**os.environ, "BACKSHOP_HOME": str(home)},
    )
    async with Client(server) as agent:
        tools = sorted(tool.name for tool in (await agent.list_tools()).tools)
        print(f"{len(tools)} tools; one of them publishes: {any('publish' in t for t in tools)}")
        read = await agent.call_tool("read_file", {"path": "letter.txt"})
        print("read:", (read.structured_content or {})["text"].splitlines()[2])
        edit = {"search": "We do not care.", "replace": "We are sorry and will send it today."}
        await agent.call_tool(
            "edit_text_file",
            {"path": "letter.txt", "edits": [edit], "change_note": "A kinder sentence"},
        )
        refused = await agent.call_tool("write_text_file", {"path": "../x", "content": "x"})
        print("outside the workbench:", "refused" if refused.is_error else "written")


def main() -> None:
    """Let the agent work, then decide."""
    with tempfile.TemporaryDirectory() as folder:
        home, letter = Path(folder) / "home", Path(folder) / "letter.txt"
        letter.write_text(LETTER, encoding="utf-8")
        with Backshop.open(home) as shop:
            bench = {
                "workbench_id": shop.call("WorkbenchCreate", {"name": "Letters"})["workbench_id"]
            }
            shop.call("WorkbenchFilesAdd", {**bench, "source_paths": [str(letter)]})
        anyio.run(work, home)
        with Backshop.open(home) as shop:
            review = shop.call("ReviewGetChangeSet", bench)
            for entry in review["entries"]:
                print(f"review: {entry['kind'].lower()} {entry['path']}: {entry['summary']}")
            done = shop.call("DraftPublish", {**bench, "reviewed_tree": review["tree"]})
            print(
                "published; what it replaced is kept as a checkpoint:", bool(done["checkpoint_id"])
            )


if __name__ == "__main__":
    main()
