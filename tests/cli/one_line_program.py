"""`backshop` with a model that follows a script: it writes, again and again."""

from __future__ import annotations

import os
import sys

from backshop.app import Backshop
from backshop.cli import main


def _writes(text: str, **when: object) -> dict[str, object]:
    arguments = {"path": "a.txt", "content": text, "change_note": f"wrote {text.strip()}"}
    made = {"path": "made.txt", "content": "made\n", "change_note": "made it"}
    calls = [{"name": "write_text_file", "arguments": one} for one in (arguments, made)]
    return {
        "when": {"purpose": "work", "turn": 1, **when},
        "times": 0,
        "respond": {"tool_calls": calls},
    }


STEPS = [
    {
        "when": {"purpose": "work", "contains": "only look"},
        "times": 0,
        "respond": {"text": "It says old."},
    },
    {"when": {"contains": "break down"}, "times": 0, "respond": {"error": "auth"}},
    _writes("louder\n", contains="make it louder"),
    _writes("new\n"),
    {"when": {"purpose": "work"}, "times": 0, "respond": {"text": "All is well."}},
    {
        "when": {"purpose": "implement", "turn": 1},
        "times": 0,
        "respond": {
            "tool_calls": [
                {"name": "write_text_file", "arguments": {"path": "b.txt", "content": "driven\n"}}
            ]
        },
    },
    {"when": {}, "times": 0, "respond": {"text": "All is well."}},
]


def scripted(opened):
    """Return `Backshop.open` with the script `scripted:test` in every home."""

    def with_script(*args, **more):
        shop = opened(*args, **more)
        shop.models.play("test", STEPS)
        return shop

    return with_script


if __name__ == "__main__":
    Backshop.open = scripted(Backshop.open)  # type: ignore[method-assign]
    sys.exit(main([*sys.argv[1:], "--home", os.environ["HOME_OF_TEST"]]))
