"""Asks an Ollama server how large the window of a model really is, and what it takes (M6.5).

Its list of models and its model info say what a model could take; what counts is what the server
gives it, because everything beyond is cut away without a word.
"""

from __future__ import annotations

import re

from backshop.base.errors import BackshopError
from backshop.base.limits import WINDOW_MIN_TOKENS

from ..egress.gate import Channel
from .description import asked, objects, root

LARGER = (
    "start the server with OLLAMA_CONTEXT_LENGTH, or set the context length in Ollama's app",
    "or give the model a file of its own with PARAMETER num_ctx",
    "then probe the provider again",
)
_SET = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)


def window(channel: Channel, name: str) -> int | None:
    """Return the window a loaded model has, else the one its file sets, else None."""
    try:
        loaded = asked(channel, f"{root(channel)}/api/ps")
        for one in objects(loaded.get("models")):
            if one.get("name") in _names(name) or one.get("model") in _names(name):
                found = _size(one.get("context_length"))
                if found is not None:
                    return found
        shown = asked(channel, f"{root(channel)}/api/show", {"model": name})
    except (
        BackshopError,
        ValueError,
        RecursionError,
    ):  # an older server, or none of Ollama's: nothing is known
        return None
    parameters = shown.get("parameters")
    match = _SET.search(parameters) if isinstance(parameters, str) else None
    return _size(int(match[1])) if match else None


def vision(channel: Channel, name: str) -> bool | None:
    """Return whether a model takes pictures; None where the server does not say."""
    try:
        found = asked(channel, f"{root(channel)}/api/show", {"model": name}).get("capabilities")
    except (BackshopError, ValueError, RecursionError):
        return None
    return "vision" in found if isinstance(found, list) else None


def _names(name: str) -> tuple[str, str]:
    """Return the names the server may list a model by: without a tag the latest is meant."""
    return name, name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def _size(value: object) -> int | None:
    return value if type(value) is int and value >= WINDOW_MIN_TOKENS else None
