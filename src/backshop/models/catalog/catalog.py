"""Which providers and models there are: data of the package, an overlay of the person (M1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from importlib.resources import files
from typing import Any

from backshop.base.codec import decode, encode
from backshop.base.errors import BackshopError, ValidationFailed
from backshop.base.limits import WINDOW_MIN_TOKENS

from ..messages import MODEL_ID

SCRIPTED = "scripted"
LOCAL = "local-"
_OUTPUT_TOKENS = 16_384  # of a model that nobody described, or a quarter of its window


class AdapterKind(StrEnum):
    """The kinds of API there are (M1.2)."""

    OPENAI_RESPONSES = "openai_responses"
    OPENAI_CHAT = "openai_chat"
    ANTHROPIC_MESSAGES = "anthropic_messages"
    SCRIPTED = "scripted"
    PLUGIN = "plugin"


class Auth(StrEnum):
    """How a provider knows who calls."""

    API_KEY = "api_key"
    NONE = "none"


class Sampling(StrEnum):
    """Whether temperature and top_p are sent."""

    OMIT = "omit"
    DETERMINISTIC = "deterministic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supports:
    """What a model or its server can do; a field is sent only when its flag is set (M6.3)."""

    vision: bool = False
    tools: bool = True
    tool_choice_required: bool = True
    strict_tools: bool = True
    parallel_flag: bool = True
    structured_output: bool = True
    streaming: bool = True
    usage: bool = True
    short_call_ids: bool = False
    user_after_tool: bool = True
    cache_key: bool = False
    """Whether requests that begin alike are named (`prompt_cache_key`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """Of tokens read from the provider's cache; without it what `input` costs."""
    cache_write: float | None = None
    """Of tokens written to it; without it what `input` costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """A model as the registry knows it (M1.4)."""

    model_id: str
    provider_id: str
    wire_name: str
    display_name: str
    context_tokens_estimate: int
    max_output_tokens: int
    efforts: tuple[str, ...] = ()
    sampling: Sampling = Sampling.OMIT
    supports: Supports = field(default_factory=Supports)
    price: Price | None = None
    requires_key: bool = True
    approximate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRecord:
    """A provider as the registry knows it (M1.1)."""

    provider_id: str
    display_name: str
    adapter: AdapterKind
    auth: Auth
    base_url: str
    hosts: tuple[str, ...]
    dialect: Supports = field(default_factory=Supports)
    enabled: bool = True
    key_variable: str | None = None
    preset: str | None = None
    allows_private: bool = False
    """Whether it may be in a private network, because the person said so."""

    @property
    def is_local(self) -> bool:
        """Whether the person added it."""
        return self.provider_id.startswith(LOCAL)


@dataclass(frozen=True, slots=True)
class InvalidModel:
    """An overlay entry that cannot be used, and why."""

    model_id: str
    invalid_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Every provider and model, in the order they are shown."""

    providers: Mapping[str, ProviderRecord]
    models: Mapping[str, ModelRecord]
    invalid: tuple[InvalidModel, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def resolve(self, model_id: str) -> tuple[ModelRecord, tuple[str, ...]]:
        """Return the model and warnings (`model_aliased:<old>`, M1.8).

        Raises:
            ValidationFailed: `unknown_model`.
        """
        warnings: tuple[str, ...] = ()
        if model_id in self.aliases and model_id not in self.models:
            warnings = (f"model_aliased:{model_id}",)
            model_id = self.aliases[model_id]
        found = self.models.get(model_id)
        if found is None and model_id.startswith(f"{SCRIPTED}:") and MODEL_ID.fullmatch(model_id):
            found = scripted_model(model_id)
        if found is None:
            raise ValidationFailed(
                f"there is no model {model_id[:160]!r}",
                reason="unknown_model",
                hints=_near(model_id, self.models),
            )
        return found, warnings

    def provider(self, provider_id: str) -> ProviderRecord:
        """Return a provider.

        Raises:
            ValidationFailed: `unknown_provider`.
        """
        found = self.providers.get(provider_id)
        if found is None:
            raise ValidationFailed(
                f"there is no provider {provider_id[:64]!r}",
                reason="unknown_provider",
                hints=_near(provider_id, self.providers),
            )
        return found

    def models_of(self, provider_id: str) -> tuple[ModelRecord, ...]:
        """Return a provider's models."""
        return tuple(one for one in self.models.values() if one.provider_id == provider_id)

    def joined(
        self,
        providers: Iterable[ProviderRecord] = (),
        models: Iterable[ModelRecord] = (),
        invalid: Iterable[InvalidModel] = (),
    ) -> Catalog:
        """Return this catalog with more in it; later entries win."""
        return replace(
            self,
            providers={**self.providers, **{one.provider_id: one for one in providers}},
            models={**self.models, **{one.model_id: one for one in models}},
            invalid=(*self.invalid, *invalid),
        )


def builtin() -> Catalog:
    """Return the package's own catalog."""
    data = json.loads(files(__package__).joinpath("catalog.json").read_text(encoding="utf-8"))
    providers = [decode(ProviderRecord, one) for one in data["providers"]]
    models = [decode(ModelRecord, one) for one in data["models"]]
    return Catalog(
        providers={one.provider_id: one for one in providers},
        models={one.model_id: one for one in models},
        aliases=data["aliases"],
    )


def with_overlay(catalog: Catalog, entries: Iterable[Any]) -> Catalog:
    """Return the catalog with the person's models; a bad entry is only listed (M1.6)."""
    good: list[ModelRecord] = []
    bad: list[InvalidModel] = []
    for entry in entries:
        try:
            good.append(_overlay_model(catalog, entry))
        except BackshopError as error:
            name = entry.get("model_id") if isinstance(entry, Mapping) else None
            bad.append(InvalidModel(str(name or "(no id)")[:161], error.message))
    return catalog.joined(models=good, invalid=bad)


def _near(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return names that come near, those of models also without their provider."""
    asked, names = name[:160], list(known)
    near = get_close_matches(asked, names, n=3, cutoff=0.5)
    short = {one.partition(":")[2]: one for one in names}
    return tuple(near or (short[one] for one in get_close_matches(asked, short, n=3, cutoff=0.5)))


def scripted_model(model_id: str) -> ModelRecord:
    """Return the record of an offline model; any name is one."""
    return ModelRecord(
        model_id=model_id,
        provider_id=SCRIPTED,
        wire_name=model_id.partition(":")[2],
        display_name=f"Offline {model_id.partition(':')[2]} (a script)",
        context_tokens_estimate=128_000,
        max_output_tokens=16_384,
        supports=Supports(vision=True),
        requires_key=False,
    )


def _overlay_model(catalog: Catalog, entry: Any) -> ModelRecord:
    if not isinstance(entry, Mapping):
        raise ValidationFailed("an entry is not an object", reason="bad_request")
    provider_id = str(entry.get("model_id", "")).partition(":")[0]
    provider = catalog.providers.get(provider_id)
    if provider is None:
        raise ValidationFailed(f"unknown provider {provider_id[:64]!r}", reason="unknown_provider")
    known = catalog.models.get(str(entry["model_id"]))
    model = decode(ModelRecord, _filled(entry, provider, known))
    if MODEL_ID.fullmatch(model.model_id) is None:
        raise ValidationFailed("not a model id", reason="unknown_model")
    if model.provider_id != provider_id:
        raise ValidationFailed("the id names another provider", reason="unknown_provider")
    if model.context_tokens_estimate < WINDOW_MIN_TOKENS:
        raise ValidationFailed(f"window below {WINDOW_MIN_TOKENS} tokens", reason="bad_window")
    if model.max_output_tokens < 1:
        raise ValidationFailed("no output tokens", reason="bad_window")
    return model


def _filled(
    entry: Mapping[str, Any], provider: ProviderRecord, known: ModelRecord | None
) -> dict[str, Any]:
    """Return an entry with what it leaves out, from the catalog or its provider (M1.6)."""
    if known is not None:
        base: dict[str, Any] = encode(known)
    else:
        name = str(entry["model_id"]).partition(":")[2]
        is_fixed = provider.adapter is not AdapterKind.ANTHROPIC_MESSAGES
        base = {
            "provider_id": provider.provider_id,
            "wire_name": name,
            "display_name": name,
            "max_output_tokens": _default_output(entry.get("context_tokens_estimate")),
            "sampling": (Sampling.DETERMINISTIC if is_fixed else Sampling.OMIT).value,
            "supports": encode(provider.dialect),
            "requires_key": provider.auth is Auth.API_KEY,
        }
    flags = entry.get("supports")
    if isinstance(flags, Mapping):
        entry = {**entry, "supports": {**base["supports"], **flags}}
    return {**base, **entry}


def _default_output(window: object) -> int:
    return max(1, min(_OUTPUT_TOKENS, window // 4)) if isinstance(window, int) else _OUTPUT_TOKENS
