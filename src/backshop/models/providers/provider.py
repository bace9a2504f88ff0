"""The record of what a person set up for a provider: server, efforts, last status (M3)."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol
from urllib.parse import urlsplit

from backshop.base.codec import decode, encode
from backshop.base.errors import BackshopError, ValidationFailed

from ..catalog.catalog import (
    AdapterKind,
    Auth,
    Catalog,
    ModelRecord,
    ProviderRecord,
    Sampling,
    Supports,
    with_overlay,
)
from ..catalog.profile import Efforts
from ..catalog.told import ModelFacts, with_told
from ..egress.address import is_loopback, is_no_host, is_private
from ..egress.policy import LOOPBACK_NAMES, is_ip_literal
from ..errors import KeyUnusable

_LOCAL_ID = re.compile(r"local-[a-z0-9][a-z0-9-]{0,24}")
_KEY = re.compile(r"[!-~]{8,512}")
_DEFAULT_WINDOW = 32_000
_OLLAMA_WINDOW = 4096
PRESETS: Mapping[str, str] = {  # M6.5
    "ollama": "http://localhost:11434/v1",
    "vllm": "http://localhost:8000/v1",
    "llamacpp": "http://localhost:8080/v1",
    "lmstudio": "http://localhost:1234/v1",
    "custom": "",
}
_PRESET_SUPPORTS = {
    "ollama": Supports(tool_choice_required=False, strict_tools=False, parallel_flag=False),
    "vllm": Supports(strict_tools=False),
    "llamacpp": Supports(tool_choice_required=False, strict_tools=False),
    "lmstudio": Supports(strict_tools=False, parallel_flag=False),
    "custom": Supports(strict_tools=False, parallel_flag=False),
}


class Status(StrEnum):
    """How a provider stands."""

    NOT_CONFIGURED = "not_configured"
    CONFIGURED = "configured"
    NEEDS_ATTENTION = "needs_attention"
    DISABLED = "disabled"


class Settings(Protocol):
    """The person's settings, as the application keeps them."""

    def get(self, name: str) -> Any:
        """Return a value in force, or None."""
        ...

    def put(self, name: str, value: Any) -> None:
        """Keep a value; None removes it."""
        ...

    def update(self, name: str, change: Callable[[Any], Any]) -> None:
        """Keep what `change` makes of a value; nobody writes in between (M3.11)."""
        ...


@dataclass(slots=True)
class MemorySettings:
    """Settings that live as long as the process, for use without a home."""

    values: dict[str, Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def get(self, name: str) -> Any:
        """Return a value, or None."""
        return self.values.get(name)

    def put(self, name: str, value: Any) -> None:
        """Keep a value; None removes it."""
        self.values.pop(name, None)
        if value is not None:
            self.values[name] = value

    def update(self, name: str, change: Callable[[Any], Any]) -> None:
        """Keep what `change` makes of a value."""
        with self.lock:
            self.put(name, change(self.get(name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A server the person added (M3.5)."""

    preset: str
    base_url: str
    models: tuple[str, ...] = ()
    allow_private_host: bool = False
    needs_key: bool = False
    supports: Supports | None = None
    context_tokens: int | None = None
    windows: Mapping[str, int] = field(default_factory=dict)
    """What the server gives each model, where it says so; else `context_tokens`."""
    probed_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """What is kept about one provider."""

    enabled: bool = True
    efforts: Efforts | None = None
    local: LocalServer | None = None
    told: Mapping[str, ModelFacts] = field(default_factory=dict)
    """What the provider told of its models when it was last asked, by name."""
    last_validated_at: str | None = None
    last_error: str | None = None


class ProviderBook:
    """Reads and writes the `providers` setting."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def all(self) -> dict[str, ProviderSettings]:
        """Return what is kept, by provider id.

        Raises:
            ValidationFailed: the setting is malformed.
        """
        return _kept(self._settings.get("providers"))

    def of(self, provider_id: str) -> ProviderSettings:
        """Return what is kept about a provider."""
        return self.all().get(provider_id, ProviderSettings())

    def change(self, provider_id: str, **changes: Any) -> ProviderSettings:
        """Change what is kept about a provider."""
        made: list[ProviderSettings] = []

        def changed(stored: Any) -> Any:
            everything = _kept(stored)
            made[:] = [replace(everything.get(provider_id, ProviderSettings()), **changes)]
            return _stored({**everything, provider_id: made[0]})

        self._settings.update("providers", changed)
        return made[0]

    def remove(self, provider_id: str) -> None:
        """Forget a provider."""

        def without(stored: Any) -> Any:
            everything = _kept(stored)
            everything.pop(provider_id, None)
            return _stored(everything)

        self._settings.update("providers", without)


def _kept(stored: Any) -> dict[str, ProviderSettings]:
    return {name: decode(ProviderSettings, one) for name, one in dict(stored or {}).items()}


def _stored(everything: Mapping[str, ProviderSettings]) -> dict[str, Any]:
    return {name: encode(one) for name, one in everything.items()}


def assemble(catalog: Catalog, book: ProviderBook, overlay: Any) -> Catalog:
    """Return the catalog with the person's servers and models in it."""
    kept = book.all()
    records = [
        replace(record, enabled=kept[name].enabled) if name in kept else record
        for name, record in catalog.providers.items()
    ]
    local = {
        name: local_record(name, one.local, enabled=one.enabled)
        for name, one in kept.items()
        if one.local is not None
    }
    models = [
        local_model(name, model, one.local)
        for name, one in kept.items()
        if one.local is not None
        for model in one.local.models
    ]
    whole = catalog.joined(providers=[*records, *local.values()], models=models)
    for name, one in kept.items():
        whole = with_told(whole, name, one.told)
    return with_overlay(whole, overlay or ())


def local_record(provider_id: str, server: LocalServer, *, enabled: bool = True) -> ProviderRecord:
    """Return the record of a server the person added."""
    host = urlsplit(server.base_url).hostname or ""
    return ProviderRecord(
        provider_id=provider_id,
        display_name=provider_id.removeprefix("local-"),
        adapter=AdapterKind.OPENAI_CHAT,
        auth=Auth.API_KEY if server.needs_key else Auth.NONE,
        base_url=server.base_url,
        hosts=(host,),
        dialect=server.supports or _PRESET_SUPPORTS[server.preset],
        enabled=enabled,
        preset=server.preset,
        allows_private=server.allow_private_host,
    )


def local_model(provider_id: str, name: str, server: LocalServer) -> ModelRecord:
    """Return the record of a model on such a server; its window is a guess until probed (M6.5)."""
    guess = _OLLAMA_WINDOW if server.preset == "ollama" else _DEFAULT_WINDOW
    window = server.windows.get(name) or server.context_tokens or guess
    return ModelRecord(
        model_id=f"{provider_id}:{name}",
        provider_id=provider_id,
        wire_name=name,
        display_name=name,
        context_tokens_estimate=window,
        max_output_tokens=max(1, window // 4),
        sampling=Sampling.DETERMINISTIC,
        supports=server.supports or _PRESET_SUPPORTS[server.preset],
        requires_key=server.needs_key,
        approximate=name not in server.windows and server.context_tokens is None,
    )


def check_local_id(provider_id: str) -> str:
    """Return the id if a person may use it for a server of their own."""
    if _LOCAL_ID.fullmatch(provider_id) is None:
        raise ValidationFailed(
            f"{provider_id[:64]!r} is not `local-` and a short name", reason="bad_provider_id"
        )
    return provider_id


def check_base_url(url: str, *, allow_private_host: bool) -> str:
    """Return the address of a server if requests may go there (M4.3, M17).

    Raises:
        ValidationFailed: `bad_base_url`.
    """
    if not url:
        raise _bad_url("none is given")
    if not url.isascii() or not url.isprintable() or any(sign in url for sign in " \\"):
        raise _bad_url("it holds characters no address has")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _bad_url("it is not a URL") from error
    if parts.scheme not in ("http", "https"):
        raise _bad_url("it is neither http nor https")
    if not host or port == 0 or "%" in host:
        raise _bad_url("it names no host")
    if parts.username is not None or parts.password is not None:
        raise _bad_url("it holds credentials")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise _bad_url("it has a query or fragment")
    if host.endswith("."):
        raise _bad_url("its host ends with a point")
    is_here = host in LOOPBACK_NAMES or is_loopback(host)
    if is_ip_literal(host) and is_no_host(host):
        raise _bad_url("it is a link-local or metadata address, or none of a server's")
    if is_ip_literal(host) and not is_here and not is_private(host):
        raise _bad_url("it is an address outside private networks")
    if is_private(host) and not allow_private_host:
        raise _bad_url("it is in a private network, which was not allowed for this provider")
    if parts.scheme == "http" and not is_here and not is_private(host):
        raise _bad_url("http is for this machine, or a private address that is allowed")
    return url


def check_key(api_key: str) -> str:
    """Return the key, trimmed, if it could be one (M3.2)."""
    trimmed = api_key.strip()
    if _KEY.fullmatch(trimmed) is None:
        raise ValidationFailed(
            "a key is 8 to 512 printable characters without spaces", reason="bad_key_format"
        )
    return trimmed


def environment_key(
    provider: ProviderRecord, environ: Mapping[str, str] | None = None
) -> str | None:
    """Return the key the environment gives for a provider, ours before the vendor's (M3.6).

    Raises:
        KeyUnusable: what stands there cannot be a key, and so is not sent.
    """
    env = os.environ if environ is None else environ
    own = f"BACKSHOP_{provider.provider_id.upper().replace('-', '_')}_API_KEY"
    for name in (own, provider.key_variable):
        value = env.get(name, "").strip() if name else ""
        if value and _KEY.fullmatch(value) is None:
            raise KeyUnusable(
                f"{name} holds no key: 8 to 512 printable characters without spaces",
                reason="bad_key_format",
                provider_id=provider.provider_id,
            )
        if value:
            return value
    return None


def error_line(error: BackshopError) -> str:
    """Return an error in one line for the provider's status."""
    return f"{error.code}: {error.reason}" if error.reason else error.code


def _bad_url(what: str) -> ValidationFailed:
    return ValidationFailed(f"the address cannot be used: {what}", reason="bad_base_url")
