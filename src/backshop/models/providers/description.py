"""Asks a provider which models it has, and what it tells of them (M1.10, M3.3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from backshop.base.errors import BackshopError

from ..catalog.told import ModelFacts, facts
from ..egress.gate import Channel
from ..egress.stream import Wire, listed, ours

_GOOGLE = "google"
_LM_STUDIO = "lmstudio"
_LLAMA = "llamacpp"


def described(wire: Wire, channel: Channel) -> dict[str, ModelFacts]:
    """Return the provider's models by name, each with what it tells of it.

    Raises:
        ModelError: the provider does not even list its models.
    """
    ask: Callable[[Channel], Mapping[str, ModelFacts]] | None = getattr(wire, "described", None)
    if ask is None:
        return dict.fromkeys(listed(wire, channel), ModelFacts())
    with ours():
        found = dict(ask(channel))
    if channel.provider.provider_id == _GOOGLE:
        return found | _known(found, _google(channel))
    if channel.provider.preset == _LM_STUDIO:
        return found | _known(found, _lm_studio(channel))
    if channel.provider.preset == _LLAMA:
        return found | {name: replace(one, vision=_eyes(channel)) for name, one in found.items()}
    return found


def asked(channel: Channel, path: str, body: object = None, **headers: str) -> Mapping[str, Any]:
    """Ask a server beside its OpenAI-compatible door; nothing where it does not know the path."""
    parts = urlsplit(channel.provider.base_url)
    url = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    with channel.client() as client:
        answer = (
            client.get(url, headers=headers)
            if body is None
            else client.post(url, json=body, headers=headers)
        )
        found = json.loads(answer.read()) if answer.status_code == 200 else None
    return found if isinstance(found, dict) else {}


def root(channel: Channel) -> str:
    """Return the path a server's own API begins at, beside `/v1`."""
    return urlsplit(channel.provider.base_url).path.rstrip("/").removesuffix("/v1")


def objects(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of what should be a list of them."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _google(channel: Channel) -> Iterable[tuple[str, ModelFacts]]:
    """Ask Gemini's own list, because the compatible one tells names alone."""
    for one in _asked_of_google(channel):
        name = str(one.get("name", ""))
        told = facts(window=one.get("inputTokenLimit"), output=one.get("outputTokenLimit"))
        yield name, told
        yield name.removeprefix("models/"), told


def _asked_of_google(channel: Channel) -> list[Mapping[str, Any]]:
    try:
        found = asked(channel, "/v1beta/models", **{"x-goog-api-key": channel.api_key})
    except (BackshopError, ValueError, RecursionError):  # then the catalogue's numbers hold
        return []
    return objects(found.get("models"))


def _lm_studio(channel: Channel) -> Iterable[tuple[str, ModelFacts]]:
    """Ask LM Studio what a loaded model is given; its compatible list tells names alone."""
    try:
        found = asked(channel, f"{root(channel)}/api/v0/models")
    except (BackshopError, ValueError, RecursionError):  # an older one
        return
    for one in objects(found.get("data")):
        window = one.get("loaded_context_length") or one.get("max_context_length")
        sort = one.get("type")
        vision = sort == "vlm" if sort in ("llm", "vlm") else None
        yield str(one.get("id", "")), facts(window=window, vision=vision)


def _eyes(channel: Channel) -> bool | None:
    """Ask llama.cpp whether what it runs, which is one model, takes pictures."""
    try:
        found = asked(channel, f"{root(channel)}/props").get("modalities")
    except (BackshopError, ValueError, RecursionError):  # an older one
        return None
    return facts(vision=found.get("vision")).vision if isinstance(found, dict) else None


def _known(
    found: Mapping[str, ModelFacts], told: Iterable[tuple[str, ModelFacts]]
) -> dict[str, ModelFacts]:
    """Return what was told of models; of those that were not listed nothing but what is new."""
    return {name: one for name, one in told if name in found or not one.is_empty}
