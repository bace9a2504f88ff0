"""What a prompt session records about its own work: telemetry, kept for ever (P2.8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from backshop.base.event import event
from backshop.base.usage import NOTHING_USED, TokenUsage

from .slices import LOG, slice_type

C = TypeVar("C", bound=type)


def _telemetry(name: str) -> Callable[[C], C]:
    """Register a fact that is also the item of its own log slice."""

    def register(cls: C) -> C:
        slice_type(name.replace(".", "-").replace("_", "-"), 1, LOG)(cls)
        return event(name)(cls)

    return register


@dataclass(frozen=True, slots=True)
class PartInfo:
    """A part of a rendered prompt without its text."""

    path: str
    number: str
    source: str
    tokens: int


@_telemetry("prompt.rendered")
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRendered:
    """A prompt was rendered to be sent; the text is the blob `rendered_ref`."""

    namespace: str
    prompt_key: str
    prompt_name: str
    adapter: str = ""
    model_id: str = ""
    overrides_tag: str = ""
    rendered_hash: str
    rendered_ref: str = ""
    token_estimate: int = 0
    parts: tuple[PartInfo, ...] = ()
    tool_names: tuple[str, ...] = ()
    diagnostics: tuple[str, ...] = ()
    turn_id: str = ""


@_telemetry("prompt.tool_invoked")
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInvoked:
    """A tool was called, whatever came of it."""

    call_id: str
    tool: str
    effects: str
    params_ref: str = ""
    ok: bool
    code: str = ""
    message: str = ""
    result_ref: str = ""
    started_at: datetime
    duration_ms: int = 0
    prompt_key: str = ""
    turn_id: str = ""


@_telemetry("prompt.executed")
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptExecuted:
    """A prompt was answered."""

    rendered_hash: str
    text_ref: str = ""
    output_ref: str = ""
    usage: TokenUsage = NOTHING_USED
    finish_reason: str
    turns: int = 1
    tool_calls: int = 0
    duration_ms: int = 0
    turn_id: str = ""


@_telemetry("prompt.failed")
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFailed:
    """An evaluation ended without an answer."""

    phase: str
    code: str
    message: str
    retryable: bool = False
    turn_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Optimization:
    """Which digest a run is for."""

    namespace: str
    prompt_key: str
    section_key: str
    section_path: str
    scope: str
    tag: str = ""
    fingerprint: str = ""


@_telemetry("prompt.optimization_started")
@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationStarted(_Optimization):
    """A digest run passed its preflight."""


@_telemetry("prompt.optimization_completed")
@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationCompleted(_Optimization):
    """A digest run ended and its digest is stored."""

    digest_ref: str = ""
    truncated: bool = False
    suspect: bool = False
    persisted: tuple[str, ...] = ()


@_telemetry("prompt.optimization_failed")
@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationFailed:
    """A digest run ended without a digest, or could not keep it everywhere."""

    phase: str
    code: str
    message: str
    retryable: bool = False


@_telemetry("prompt.digest_missing")
@dataclass(frozen=True, slots=True, kw_only=True)
class DigestMissing:
    """A prompt was rendered with neither a session digest nor an override."""

    section_key: str


@_telemetry("prompt.digest_stale")
@dataclass(frozen=True, slots=True, kw_only=True)
class DigestStale:
    """A digest was rendered although the files it describes have changed."""

    section_key: str
    digest_fingerprint: str
    fingerprint: str


@_telemetry("prompt.override_ignored")
@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideIgnored:
    """A stored override does not apply to the running prompt."""

    namespace: str
    prompt_key: str
    tag: str
    revision: int
    entry: str
    reason: str


@_telemetry("prompt.sandbox_unavailable")
@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxUnavailable:
    """The shell section is switched off, and why."""

    reason: str
    detail: str = ""


@_telemetry("prompt.limit_reached")
@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """A run came to one of its limits; `limit` is a field name of `RunLimits`."""

    limit: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of an answer as it streams; published, never stored."""

    text: str
    turn_id: str = ""
