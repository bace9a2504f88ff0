"""What goes to a model and what comes back: request, messages, stream events (M8)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from backshop.base.errors import ErrorInfo, ValidationFailed
from backshop.base.media.image import Image
from backshop.base.usage import TokenUsage

Json = Mapping[str, Any]
Usage = TokenUsage

MODEL_ID = re.compile(r"[a-z][a-z0-9-]{0,31}:[A-Za-z0-9._:/@-]{1,128}")  # M1.1


class Purpose(StrEnum):
    """What a call is for; the effort and the audit follow it."""

    WORK = "work"
    RESEARCH = "research"
    PLAN = "plan"
    IMPLEMENT = "implement"
    SUMMARY = "summary"
    REPLY = "reply"
    PROPOSAL = "proposal"
    CONTEXT_PROCESS = "context_process"
    COMPRESSION = "compression"
    DIGEST = "digest"
    OTHER = "other"


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolChoice(StrEnum):
    """Whether a tool must be called: until the first result, or never."""

    FIRST_TURN_REQUIRED = "first_turn_required"
    AUTO = "auto"
    NONE = "none"


class FinishReason(StrEnum):
    """Why an answer ended (M8.4)."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool the model wants to run; `arguments` is always an object."""

    id: str
    name: str
    arguments: Json
    written: str | None = field(default=None, compare=False)
    """The arguments to the letter, where they are an object: so they go back to the model."""

    @property
    def text(self) -> str:
        """The arguments as a text."""
        if self.written is not None:
            return self.written
        return json.dumps(dict(self.arguments), ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True)
class ProviderState:
    """What a provider wants back unchanged on the next call: opaque, and only for that provider."""

    provider_id: str
    data: Any = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One entry of the exchange, the same for every provider (M8.2)."""

    role: Role
    text: str = ""
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool = False
    is_context: bool = False
    """Whether it tells of the situation, behind what the person said."""
    provider_state: ProviderState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is the original JSON Schema."""

    name: str
    description: str
    parameters: Json
    aliases: tuple[str, ...] = ()
    """Names the model may call it by as well; they are not sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSchema:
    """The JSON Schema a structured answer must meet."""

    name: str
    schema: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call (M8.1). `messages` hold everything the model sees, `tools` what it may call."""

    model_id: str
    messages: tuple[Message, ...]
    purpose: Purpose = Purpose.OTHER
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = ToolChoice.FIRST_TURN_REQUIRED
    is_parallel: bool = False
    """Whether the model may call several tools in one answer."""
    is_strict: bool = True
    """Whether schemas are sent strict where the provider takes them so."""
    effort: str | None = None
    max_output_tokens: int | None = None
    response_schema: ResponseSchema | None = None
    workbench_id: str | None = None
    run_id: str | None = None
    timeout_s: float | None = None
    prompt: object | None = None
    """The `PromptRendered` this is the first call of, where the record of the call keeps it."""

    def __post_init__(self) -> None:
        if MODEL_ID.fullmatch(self.model_id) is None:
            raise ValidationFailed("not a model id", reason="unknown_model")
        if not self.messages:
            raise ValidationFailed("a request needs messages", reason="bad_request")

    @property
    def provider_id(self) -> str:
        """The part before the colon."""
        return self.model_id.partition(":")[0]

    @property
    def cache_key(self) -> str | None:
        """A name for requests that begin alike: those about one workbench, whatever is asked."""
        if self.workbench_id is None:
            return None
        return hashlib.sha256(f"backshop {self.workbench_id}".encode()).hexdigest()[:32]

    @property
    def system_text(self) -> str:
        """The system messages, joined by a blank line."""
        return "\n\n".join(m.text for m in self.messages if m.role is Role.SYSTEM and m.text)

    @property
    def dialogue(self) -> tuple[Message, ...]:
        """Everything but the system messages."""
        return tuple(m for m in self.messages if m.role is not Role.SYSTEM)

    @property
    def request_end(self) -> int | None:
        """Where in the dialogue the person's request stands, if more is said after it.

        Prompts end with several user messages in a row: the request, then what only this turn or
        phase is told. What comes before the second is the same in every phase of a turn.
        """
        opening = self.dialogue[: self.opening_end]
        for place in range(len(opening) - 2, -1, -1):
            if opening[place].role is Role.USER and opening[place + 1].role is Role.USER:
                while place > 0 and opening[place - 1].role is Role.USER:
                    place -= 1
                return place
        return None

    @property
    def opening_end(self) -> int:
        """How many messages of the dialogue stand before the first call of a tool."""
        calls = (place for place, one in enumerate(self.dialogue) if one.tool_calls)
        return next(calls, len(self.dialogue))

    def reminded(self, text: str | None) -> tuple[Message, ...]:
        """Return the dialogue with something said at the end of its opening, in every request."""
        if text is None:
            return self.dialogue
        end, said = self.opening_end, Message(role=Role.USER, text=text)
        return (*self.dialogue[:end], said, *self.dialogue[end:])

    @property
    def has_tool_result(self) -> bool:
        """Whether this call chain holds a tool result already (M5.1)."""
        return any(m.role is Role.TOOL for m in self.messages)

    def state_for(self, message: Message) -> Any | None:
        """Return the provider's own data of a message, or None when it is another provider's."""
        state = message.provider_state
        return state.data if state and state.provider_id == self.provider_id else None


@dataclass(frozen=True, slots=True)
class Started:
    """The provider accepted the request."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningProgress:
    """The model is thinking; how much, never what."""

    chars: int


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A tool call begins."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of a tool call's arguments arrived."""

    index: int
    chars: int


@dataclass(frozen=True, slots=True)
class ToolCallDone:
    """A tool call is complete; `arguments` as the provider wrote them, not yet checked (M9.5)."""

    index: int
    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What the provider counted; the last one of a stream holds."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Done:
    """The answer is complete. `state` goes back to the provider with the next request."""

    finish_reason: FinishReason
    state: ProviderState | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The call did not end well; text so far is kept by whoever listens."""

    error: ErrorInfo


StreamEvent = (
    Started
    | TextDelta
    | ReasoningProgress
    | ToolCallStarted
    | ToolCallDelta
    | ToolCallDone
    | UsageReported
    | Done
    | Failed
)
