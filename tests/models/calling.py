"""What the wire tests share: a gate that notes, and one call through a real SDK."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from backshop.base.ambient import SystemClock
from backshop.models.catalog.catalog import AdapterKind, Auth, ModelRecord, ProviderRecord
from backshop.models.egress import stream
from backshop.models.egress.deadline import CallLimits
from backshop.models.egress.gate import Egress, EgressKind, Errand, Outgoing
from backshop.models.messages import (
    Done,
    Failed,
    Message,
    ModelRequest,
    Role,
    StreamEvent,
    TextDelta,
    ToolCallDone,
    ToolSpec,
    UsageReported,
)
from backshop.models.wires import anthropic_messages, openai_chat, openai_responses
from backshop.prompts import CancelToken

from . import provider as fake

KEY = "sk-very-secret-0123456789"
WIRES: dict[str, tuple[ModuleType, Any]] = {
    "responses": (openai_responses, fake.responses),
    "chat": (openai_chat, fake.chat),
    "messages": (anthropic_messages, fake.messages),
}
TOOL = ToolSpec(
    name="look",
    description="Look.",
    parameters={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
)
MODEL = ModelRecord(
    model_id="local-x:m",
    provider_id="local-x",
    wire_name="m",
    display_name="M",
    context_tokens_estimate=200_000,
    max_output_tokens=4096,
)


@dataclass
class OpenGate:
    """Lets everything pass and remembers it."""

    noted: list[Outgoing] = field(default_factory=list)

    def admit(self, errand: Errand, provider: ProviderRecord, host: str) -> str | None:
        return "hash"

    def note(self, outgoing: Outgoing) -> None:
        self.noted.append(outgoing)


@dataclass
class Outcome:
    """A call's events, taken apart."""

    events: list[StreamEvent]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def calls(self) -> list[ToolCallDone]:
        return [event for event in self.events if isinstance(event, ToolCallDone)]

    @property
    def last(self) -> StreamEvent:
        return self.events[-1]

    @property
    def failure(self) -> tuple[str, str | None]:
        assert isinstance(self.last, Failed), self.last
        return self.last.error.error_code, self.last.error.reason

    @property
    def finish(self) -> str:
        assert isinstance(self.last, Done), self.last
        return self.last.finish_reason.value

    @property
    def usage(self) -> UsageReported | None:
        found = [event for event in self.events if isinstance(event, UsageReported)]
        return found[-1] if found else None


def record(url: str, **changes: Any) -> ProviderRecord:
    fields: dict[str, Any] = {
        "provider_id": "local-x",
        "display_name": "X",
        "adapter": AdapterKind.OPENAI_CHAT,
        "auth": Auth.API_KEY,
        "base_url": url,
        "hosts": ("127.0.0.1",),
    }
    return ProviderRecord(**(fields | changes))


def request(**changes: Any) -> ModelRequest:
    fields: dict[str, Any] = {
        "model_id": "local-x:m",
        "messages": (Message(role=Role.USER, text="Hi"),),
        "tools": (TOOL,),
    }
    return ModelRequest(**(fields | changes))


def call(
    wire: ModuleType,
    url: str,
    *,
    cancel: CancelToken | None = None,
    limits: CallLimits | None = None,
    gate: OpenGate | None = None,
    asked: ModelRequest | None = None,
    **egress: Any,
) -> Outcome:
    way = Egress(clock=SystemClock(), gate=gate or OpenGate(), limits=limits, **egress)
    errand = Errand(kind=EgressKind.CALL, model_id="local-x:m")
    channel = way.open(record(url), KEY, errand, cancel or CancelToken())
    events = list(stream.complete(wire, asked or request(), MODEL, channel))
    endings = [event for event in events if isinstance(event, Done | Failed)]
    assert len(endings) == 1, endings
    assert events[-1] is endings[0]
    return Outcome(events)
