"""A tool as a client sees it, and what a call comes to; the one shape of every tool set."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backshop.base.ids import UserId
from backshop.base.media.image import Image


@dataclass(frozen=True, slots=True)
class Called:
    """What a call came to: text for the model first, the same facts as data."""

    texts: tuple[str, ...]
    structured: dict[str, Any]
    is_error: bool = False
    image: Image | None = None
    """What it shows beside its text, for clients that take pictures (W26.6)."""


def refusal(message: str, envelope: Mapping[str, Any]) -> Called:
    """Return a refusal: its text says what its envelope says that a reader can use (S6.21)."""
    said = {key: envelope[key] for key in ("suggestion", "reason", "hints") if envelope.get(key)}
    text = f"{message}\n{json.dumps(said, ensure_ascii=False)}" if said else message
    return Called((text,), {"error": dict(envelope)}, is_error=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """One tool as a client sees it."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    answer_schema: dict[str, Any]
    """What the structured content of a call that was not refused is like; not listed (S6.20)."""
    read_only: bool
    idempotent: bool
    call: Callable[[Mapping[str, Any], UserId | None], Called] = field(repr=False)
    """Gets the arguments and who asks; None is the home's owner (T6.4)."""
    progress: Callable[[Mapping[str, Any]], Sequence[tuple[int, int]]] | None = field(
        default=None, repr=False
    )
    """What to report to clients that asked how far it is: (done, of), in order."""
    aliases: tuple[str, ...] = ()
    """Names it is called by as well, which are not listed (W7.12)."""

    @property
    def takes_workspace(self) -> bool:
        """Whether the tool looks at the project it is called for."""
        return "workspacePath" in self.input_schema.get("properties", {})
