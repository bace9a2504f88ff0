"""Keep the golden file of the agent's tools in the form OpenAI receives them (W7.9).

catalog.py          write tests/golden/tools.json
catalog.py --check  say whether it differs; changes nothing
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from backshop.models import relaxed, sent_strict, strict
from backshop.prompts import Tool
from backshop.workshop import agent_tools

FILE = Path(__file__).resolve().parent.parent / "tests" / "golden" / "tools.json"


def sent(tool: Tool) -> dict[str, Any]:
    """Return a tool as it is sent: strict where its schema is closed and asks for little."""
    is_strict = sent_strict(tool.schema)
    return {
        "name": tool.name,
        "description": tool.description,
        "strict": is_strict,
        "parameters": strict(tool.schema) if is_strict else relaxed(tool.schema),
    }


def text() -> str:
    """Return the file as it should be."""
    rows = [json.dumps(sent(tool), ensure_ascii=False, sort_keys=True) for tool in agent_tools()]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def main(arguments: list[str]) -> int:
    """Write or check the file."""
    if arguments == ["--check"]:
        same = FILE.exists() and FILE.read_text(encoding="utf-8") == text()
        print("" if same else "the tools differ: run `make golden` and read the difference")
        return 0 if same else 1
    FILE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
