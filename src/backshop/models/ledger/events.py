"""Facts about models: what was allowed, what was sent, what it cost (M4, M13)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.event import event
from backshop.prompts import PromptRendered

from ..messages import Usage
from .consent import Scope


@event("consent.granted")
@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentGranted:
    """The person allowed this content to go to this model; kept across restarts."""

    workbench_id: str
    provider_id: str
    model_id: str
    host: str
    scope: Scope
    scope_hash: str
    granted_at: str


@event("consent.revoked")
@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentRevoked:
    """The person took permissions back: all of a bench, of a provider, or of a model."""

    workbench_id: str
    provider_id: str | None = None
    model_id: str | None = None


@event("provider.changed")
@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChanged:
    """A provider was set up, checked, switched or forgotten; never with its key (M16)."""

    provider_id: str
    status: str


@event("egress.sent")
@dataclass(frozen=True, slots=True, kw_only=True)
class EgressSent:
    """A request is about to leave the machine; written before its first byte (M4.12)."""

    call_id: str
    kind: str
    provider_id: str
    model_id: str | None = None
    host: str
    scope_hash: str | None = None
    consent_mode: str
    purpose: str
    bytes_out: int
    run_id: str | None = None


@event("egress.blocked")
@dataclass(frozen=True, slots=True, kw_only=True)
class EgressBlockedRecord:
    """A request was refused by policy; nothing was sent."""

    provider_id: str
    model_id: str | None = None
    host: str
    reason: str
    purpose: str
    run_id: str | None = None


@event("egress.completed", v=2, upgraders={1: dict})  # 2: with cached tokens
@dataclass(frozen=True, slots=True, kw_only=True)
class EgressCompleted:
    """How a request that left ended; without it the outcome is unknown."""

    call_id: str
    status: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    """Of `tokens_in`, what the provider read from its cache."""
    tokens_cache_write: int | None = None
    """Of `tokens_in`, what it wrote to its cache."""
    usd_estimate: float | None = None
    duration_ms: int


@event("model.called", v=2, upgraders={1: dict})  # 2: with its prompt
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled:
    """One call to a model, offline ones too, and what it used (M13.2)."""

    model_id: str
    purpose: str
    usage: Usage
    usd_estimate: float | None = None
    status: str
    run_id: str | None = None
    prompt: PromptRendered | None = None
    """What it was asked with, on the first call of a prompt."""
    is_answered: bool = True
    """Whether anything came back; what did not is recorded for its prompt alone, and costs nothing
    that we know of."""
