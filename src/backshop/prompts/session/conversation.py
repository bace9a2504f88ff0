"""The conversation a model sees: a slice, so that a rewind takes back what was said (P2.19)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..slices import STATE, slice_type


@dataclass(frozen=True, slots=True)
class ConversationCall:
    """A tool call in an assistant message; `arguments` is a JSON object as text."""

    id: str
    name: str
    arguments: str = "{}"


@slice_type("conversation", 1, STATE)
@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationItem:
    """One message."""

    message_id: str
    role: Literal["user", "assistant", "tool", "summary"]
    text: str = ""
    tool_calls: tuple[ConversationCall, ...] = ()
    tool_call_id: str = ""
