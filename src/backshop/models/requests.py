"""Requests and responses of the models room's commands (M16)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.usage import ModelUsage, Used

from .catalog.catalog import Price, Sampling, Supports
from .catalog.profile import Efforts
from .ledger.ledger import EgressEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """Which provider."""

    provider_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetApiKey(ProviderRequest):
    """A key for a provider."""

    api_key: str

    def __repr__(self) -> str:
        return f"SetApiKey(provider_id={self.provider_id!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetEnabled(ProviderRequest):
    """Whether a provider may be used."""

    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetReasoningEffort(ProviderRequest):
    """How hard a provider's models think, per phase."""

    research_effort: str
    plan_effort: str
    implement_effort: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsertLocal(ProviderRequest):
    """A server of the person's own."""

    preset: str
    base_url: str | None = None
    models: tuple[str, ...] | None = None
    allow_private_host: bool = False
    needs_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """How a provider stands (M3.1)."""

    provider_id: str
    display_name: str
    auth: str
    status: str
    enabled: bool
    key_source: str
    models: tuple[str, ...]
    key_hint: str | None = None
    attention: str | None = None
    last_validated_at: str | None = None
    last_error: str | None = None
    cooldown_until: str | None = None
    rpi_reasoning: Efforts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveKeys:
    """Where the master key of the stored keys is to be kept: keyring, file or passphrase."""

    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysMoved:
    """Where it is kept now."""

    secrets_source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidersStatus:
    """How every provider stands, and where the master key of their keys is kept."""

    providers: tuple[ProviderStatus, ...]
    secrets_source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusOnly:
    """A provider's status after a change."""

    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """Whether a provider accepts its key."""

    ok: bool
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What a server can do, as far as a few fixed requests can tell (M6.6)."""

    models: tuple[str, ...]
    supports: Supports
    context_tokens: int
    pictures: tuple[str, ...] = ()
    """The models that take pictures, as far as the server says so."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequestById:
    """Which model."""

    model_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """A model of the registry, and why it cannot be used if it cannot (M2.2)."""

    model_id: str
    provider_id: str
    display_name: str
    context_tokens_estimate: int
    max_output_tokens: int
    efforts: tuple[str, ...]
    supports: Supports | None
    wire_name: str | None = None
    sampling: Sampling | None = None
    price: Price | None = None
    requires_key: bool = True
    approximate: bool = False
    is_default: bool = False
    unavailable_reason: str | None = None
    invalid_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelList:
    """Every model there is."""

    models: tuple[ModelStatus, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Something to say to a model that can do only so much: a task of a script (M15.9)."""

    id: str
    title: str
    prompt: str
    follows: str | None = None
    """The task whose Draft it changes; None for one to begin with."""
    needs: tuple[str, ...] = ()
    """The files that must be there for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCapabilities:
    """What can be done with a model (M1.7)."""

    supports_file_read: bool
    supports_file_ops: bool
    supported_formats: tuple[str, ...]
    context_tokens: int
    supports: Supports
    warnings: tuple[str, ...] = ()
    scripted: bool = False
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultModel:
    """The model new workbenches begin with; None while there is none that could answer (M2.6)."""

    model_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFound:
    """A server that answers on this machine; `provider_id` is what it would be added as."""

    provider_id: str
    preset: str
    base_url: str
    is_added: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServersFound:
    """Servers that answer at their usual address on this machine (M6.11)."""

    servers: tuple[ServerFound, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetConsentMode:
    """Whether the person is asked before content leaves."""

    mode: str
    approved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """The consent mode in force."""

    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentQuery:
    """Whose consent, and for which model; without one for the user's default."""

    workbench_id: str
    model_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeItem:
    """A file the consent is about."""

    path: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentStatus:
    """What may leave for a workbench's model, and what is new since the person agreed (M4.11).

    `asked`: whether their consent is needed for that model at all (M4.5).
    """

    consented: bool
    asked: bool
    mode: str
    provider_id: str
    model_id: str
    host: str
    scope_hash: str
    persisted: bool
    files: tuple[ScopeItem, ...]
    context: tuple[str, ...]
    new_items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantConsent:
    """The person agrees that this content goes to this model."""

    workbench_id: str
    provider_id: str
    model_id: str
    scope_hash: str
    persist: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeConsent:
    """The person takes permissions back."""

    workbench_id: str
    provider_id: str | None = None
    model_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEgress:
    """Which records; without a workbench those of the home."""

    workbench_id: str | None = None
    run_id: str | None = None
    after: int = -1
    limit: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressList:
    """What left the machine."""

    events: tuple[EgressEvent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageQuery:
    """Whose usage."""

    workbench_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport(Used):
    """What was used (M13.2)."""

    by_model: tuple[ModelUsage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Nothing to say: it is done."""
