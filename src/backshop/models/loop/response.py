"""What evaluating a prompt gives back, and the protocol of adapters (P5.1, P5.4, P5.8–P5.10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from backshop.base.codec import encode
from backshop.base.errors import BackshopError, ErrorInfo
from backshop.prompts import (
    MarkdownSection,
    OptimizationFailed,
    Prompt,
    PromptError,
    PromptFailed,
    PromptOverridesStore,
    Session,
    TokenUsage,
    ToolInvoked,
)

OutputT = TypeVar("OutputT")


class Phase(StrEnum):
    """Where an evaluation ended that gave no answer (P5.8)."""

    PREFLIGHT = "preflight"
    REQUEST = "request"
    RESPONSE = "response"
    TOOL = "tool"
    DEADLINE = "deadline"
    BUDGET = "budget"
    CANCELED = "canceled"
    PERSIST = "persist"


class OptimizationScope(StrEnum):
    """Where a digest is kept: with the session, or for every session of a tag too."""

    SESSION = "session"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an adapter can do."""

    streaming: bool = True
    tools: bool = True
    native_output: bool = False
    reports_usage: bool = True
    pictures: bool = False
    """Whether the model takes pictures (M16.1)."""
    flow: str | None = None
    """The flow of turns that a script is written for; None plays in any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptResponse(Generic[OutputT]):
    """The answer to a prompt. `text` is kept also when `output` was read from it."""

    prompt_name: str
    model_id: str
    text: str | None
    output: OutputT | None = None
    tool_results: tuple[ToolInvoked, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    finish_reason: str = "stop"
    rendered_hash: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further names of output fields: in a digest run the section's key (P5.22)."""

    @property
    def structured_output(self) -> Mapping[str, object]:
        """The output as JSON values; empty when there is none."""
        if self.output is None:
            return {}
        data = encode(self.output, omit_none=False)
        fields = data if isinstance(data, dict) else {"items": data}
        named = {name: fields[own] for name, own in self.aliases.items() if own in fields}
        return {**fields, **named}


@dataclass(frozen=True, slots=True)
class OptimizationResult(Generic[OutputT]):
    """What a digest run came to: its answer, the digest, and where it was kept (P5.10)."""

    response: PromptResponse[OutputT]
    digest: str
    scope: OptimizationScope
    section_key: str = ""
    section_path: tuple[str, ...] = ()
    fingerprint: str = ""
    persisted: tuple[str, ...] = ()
    diagnostics: tuple[str, ...] = ()


class PromptEvaluationError(PromptError):
    """A prompt got no answer; `phase` says where it ended and `error` what a client is told."""

    def __init__(
        self,
        message: str,
        *,
        prompt_name: str,
        phase: Phase,
        code: str,
        error: ErrorInfo | None = None,
        raw_ref: str | None = None,
        result: OptimizationResult[Any] | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.prompt_name = prompt_name
        self.phase = phase
        self.raw_ref = raw_ref
        self.result = result
        self.error = error or self._own_info()

    def info(self, phase: str, *, subphase: str | None = None) -> ErrorInfo:
        """Return the error a client is told: the provider's own, or ours."""
        return replace(self.error, phase=phase, subphase=subphase)

    def _own_info(self) -> ErrorInfo:
        info = super().info("workshop", subphase="prompt")
        return replace(info, error_code=_PHASE_CODES.get(self.phase, info.error_code))


_PHASE_CODES = {  # P1.26
    Phase.DEADLINE: "LIMIT_EXCEEDED",
    Phase.BUDGET: "BUDGET_CAP_REACHED",
    Phase.CANCELED: "USER_CANCELED",
}


def evaluation_error(error: BackshopError, prompt_name: str, phase: Phase) -> PromptEvaluationError:
    """Return any of our errors as the failure of an evaluation."""
    if isinstance(error, PromptEvaluationError):
        return error
    return PromptEvaluationError(
        error.message,
        prompt_name=prompt_name,
        phase=phase,
        code=error.code,
        error=error.info("workshop", subphase="prompt"),
    )


@contextmanager
def told_once(
    session: Session,
    prompt_name: str,
    phase: Phase,
    fact: type[PromptFailed] | type[OptimizationFailed],
) -> Iterator[None]:
    """Publish a failure once, while the session is open, and raise it as one of an evaluation."""
    try:
        yield
    except BackshopError as error:
        failure = evaluation_error(error, prompt_name, phase)
        if not session.closed:
            session.dispatch(
                fact(
                    phase=failure.phase.value,
                    code=failure.code,
                    message=failure.message,
                    retryable=failure.error.retryable,
                )
            )
        if failure is error:
            raise
        raise failure from error


@runtime_checkable
class ProviderAdapter(Protocol):
    """Evaluates prompts and writes digests with one model. Every adapter behaves the same."""

    @property
    def adapter_name(self) -> str:
        """What kind of adapter this is."""
        ...

    @property
    def model_id(self) -> str:
        """The model it calls."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        ...

    def evaluate(
        self,
        prompt: Prompt[OutputT],
        *params: object,
        overrides_store: PromptOverridesStore | None = None,
        overrides_tag: str | None = None,
        parse_output: bool = True,
        session: Session,
    ) -> PromptResponse[OutputT]:
        """Render a prompt, call the model, run its tools, and return the answer."""
        ...

    def optimize(
        self,
        prompt: Prompt[OutputT],
        *params: object,
        store_scope: OptimizationScope = OptimizationScope.SESSION,
        overrides_store: PromptOverridesStore | None = None,
        overrides_tag: str | None = None,
        focus_areas: MarkdownSection | None = None,
        parse_output: bool = True,
        session: Session,
    ) -> OptimizationResult[OutputT]:
        """Let the model describe the workspace, and keep the digest for later prompts."""
        ...
