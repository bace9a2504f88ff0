"""Measures what a turn costs besides its model: per call, with 200 files, by length of the chat.

    python -m benchmarks.measure_turn

The model is a script that answers at once, so all the time is ours: prompts, tools, the log. A call
is one request to the model; in the measured turn each but the last three also runs one tool. The
processor time stands beside the clock: the clock of a machine that others use says little.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from backshop.app import Backshop

from .report import head, row

MESSAGES = (50, 200, 800)
FILES = 200
READS = 20
BAR_MS = 30.0
GROWTH = 1.5  # what is sent grows too: up to 48,000 characters of the conversation (W17.1)
ROUNDS = 5


def _step(purpose: str, respond: dict[str, Any], **when: Any) -> dict[str, Any]:
    return {"when": {"purpose": purpose, **when}, "times": 0, "respond": respond}


def _script(reads: int) -> list[dict[str, Any]]:
    calls = [
        {"tool_calls": [{"name": "read_file", "arguments": {"path": f"f{n:03}.txt"}}]}
        for n in range(1, reads + 1)
    ]
    return [
        *(_step("research", one, turn=turn) for turn, one in enumerate(calls, 1)),
        _step("research", {"text": "# Research\n\nNothing new."}),
        _step("plan", {"text": "## Items\nnone"}),
        _step("summary", {"text": "Nothing had to be done."}),
    ]


def main() -> None:
    """Print milliseconds for each call of a turn."""
    with tempfile.TemporaryDirectory(prefix="bench-turn-") as name:
        folder = Path(name)
        settings = {"model.default": "scripted:short"}
        with Backshop.open(folder / "home", settings=settings) as shop:
            _measure(shop, folder)


def _measure(shop: Backshop, folder: Path) -> None:
    bench = shop.call("WorkbenchCreate", {"name": "Turns"})["workbench_id"]
    for number in range(FILES):
        (folder / f"f{number:03}.txt").write_text(f"line {number}\n" * 20)
    paths = [str(path) for path in sorted(folder.glob("*.txt"))]
    shop.call("WorkbenchFilesAdd", {"workbench_id": bench, "source_paths": paths})

    def turn(model: str) -> tuple[float, float]:
        shop.call("WorkshopSwitchModel", {"workbench_id": bench, "model_id": f"scripted:{model}"})
        sent = {"workbench_id": bench, "text": "Look at the files"}
        message = shop.call("WorkshopSendUserMessage", sent)["message_id"]
        begun, worked = time.perf_counter(), time.process_time()
        done = shop.call("WorkshopRunAgent", {"workbench_id": bench, "message_id": message})
        assert done["status"] == "complete", done
        return time.perf_counter() - begun, time.process_time() - worked

    shop.models.play("short", _script(0))
    shop.models.play("long", _script(READS))
    head()
    said, took = 0, {}
    for messages in MESSAGES:
        while said < messages:
            turn("short")
            said += 2
        rounds = [turn("long") for _ in range(ROUNDS)]
        said += 2 * ROUNDS
        clock, took[messages] = (
            1000 * statistics.median(one[which] for one in rounds) / (READS + 3) for which in (0, 1)
        )
        name = f"one call of a turn, {messages} messages, {FILES} files"
        row(name, clock, BAR_MS, unit="ms")
        row(f"{name}, processor time", took[messages], BAR_MS, unit="ms")
    longer = took[MESSAGES[-1]] / took[MESSAGES[0]]
    row(f"the same, {MESSAGES[-1]} over {MESSAGES[0]} messages, processor time", longer, GROWTH)


if __name__ == "__main__":
    main()
