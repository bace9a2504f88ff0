"""What a provider says of its own models: window, longest answer, efforts (M1.10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from backshop.base.limits import WINDOW_MIN_TOKENS

from .catalog import Catalog, ModelRecord
from .profile import EFFORTS

_TOKENS_MAX = 10**9  # a larger number is none of a model's


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What was told of one model; None is what was not told."""

    context_tokens: int | None = None
    max_output_tokens: int | None = None
    efforts: tuple[str, ...] | None = None
    vision: bool | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was told but the name."""
        return self == ModelFacts()


def facts(
    *,
    window: object = None,
    output: object = None,
    efforts: object = None,
    vision: object = None,
) -> ModelFacts:
    """Return what can be believed of what a server says; the rest counts as not told."""
    levels = efforts if isinstance(efforts, list | tuple) else None
    known = None if levels is None else tuple(one for one in EFFORTS if one in levels)
    return ModelFacts(
        context_tokens=_count(window, WINDOW_MIN_TOKENS),
        max_output_tokens=_count(output, 1),
        efforts=known,
        vision=vision if isinstance(vision, bool) else None,
    )


def with_told(catalog: Catalog, provider_id: str, told: Mapping[str, ModelFacts]) -> Catalog:
    """Return the catalog with what a provider told of the models that are in it."""
    changed = [
        _model(one, told[one.wire_name])
        for one in catalog.models_of(provider_id)
        if one.wire_name in told
    ]
    return catalog.joined(models=changed)


def _model(model: ModelRecord, told: ModelFacts) -> ModelRecord:
    window = told.context_tokens or model.context_tokens_estimate
    output = told.max_output_tokens or model.max_output_tokens
    return replace(
        model,
        context_tokens_estimate=window,
        max_output_tokens=min(output, window),
        efforts=model.efforts if told.efforts is None else told.efforts,
        supports=model.supports
        if told.vision is None
        else replace(model.supports, vision=told.vision),
        approximate=model.approximate and told.context_tokens is None,
    )


def _count(value: object, least: int) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if isinstance(value, int) and is_count and least <= value <= _TOKENS_MAX else None
