"""Asks an Ollama server how large the window of a model really is (M6.5).

Its list of models and its model info say what a model could take; what counts is what the server
gives it, because everything beyond is cut away without a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from backshop.base.errors import BackshopError
from backshop.base.limits import WINDOW_MIN_TOKENS

from ..egress.gate import Channel

_SET = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)


def window(channel: Channel, name: str) -> int | None:
    """Return the window a loaded model has, else the one its file sets, else None."""
    try:
        loaded = _ask(channel, "api/ps")
        for one in _list(loaded.get("models")):
            if name in (one.get("name"), one.get("model")):
                found = _size(one.get("context_length"))
                if found is not None:
                    return found
        shown = _ask(channel, "api/show", {"model": name})
    except (
        BackshopError,
        ValueError,
        RecursionError,
    ):  # an older server, or none of Ollama's: nothing is known
        return None
    parameters = shown.get("parameters")
    match = _SET.search(parameters) if isinstance(parameters, str) else None
    return _size(int(match[1])) if match else None


def _ask(channel: Channel, path: str, body: object = None) -> Mapping[str, Any]:
    parts = urlsplit(channel.provider.base_url)
    root = parts.path.rstrip("/").removesuffix("/v1")
    url = urlunsplit((parts.scheme, parts.netloc, f"{root}/{path}", "", ""))
    with channel.client() as client:
        answer = client.get(url) if body is None else client.post(url, json=body)
        found = json.loads(answer.read()) if answer.status_code == 200 else None
    return found if isinstance(found, dict) else {}


def _list(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _size(value: object) -> int | None:
    return value if type(value) is int and value >= WINDOW_MIN_TOKENS else None
