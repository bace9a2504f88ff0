"""The only way out of the machine: checks, filters, limits and records (M1.9, M4)."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from backshop.base.ambient import Clock
from backshop.base.limits import ERROR_BODY_MAX_BYTES

from ..catalog.catalog import ProviderRecord
from ..errors import AuthFailed, EgressBlocked, ModelError, RateLimited, RequestRejected
from ..messages import Purpose
from . import fault
from .address import Resolver, resolve
from .deadline import CallLimits, Watch
from .policy import is_loopback_url, policy
from .proxy import proxy_for, read_proxy
from .retry import Cancel

if TYPE_CHECKING:
    from .line import Lines


class EgressKind(StrEnum):
    """What a request is for."""

    CALL = "call"
    VALIDATION = "validation"
    PROBE = "probe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """Why a request is made and on whose behalf; what the record of it says (M4.12)."""

    kind: EgressKind
    purpose: Purpose = Purpose.OTHER
    model_id: str | None = None
    workbench_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request about to be sent, or refused."""

    errand: Errand
    provider_id: str
    host: str
    bytes_out: int
    scope_hash: str | None = None
    blocked: str | None = None


class Gate(Protocol):
    """Who says whether content may leave, and who remembers that it did."""

    def admit(self, errand: Errand, provider: ProviderRecord, host: str) -> str | None:
        """Return the scope hash of the permission; raise `ConsentRequired` when there is none."""
        ...

    def note(self, outgoing: Outgoing) -> None:
        """Record a request before its first byte is sent, or that it was blocked."""
        ...


@dataclass(frozen=True, kw_only=True)
class Channel:
    """Everything a wire needs to talk to its provider once."""

    provider: ProviderRecord
    key: str | None = field(repr=False)
    errand: Errand
    limits: CallLimits
    client: Callable[[], Any] = field(repr=False)
    """Makes the `httpx2.Client` for the SDK."""
    now_ms: Callable[[], int]
    cancel: Cancel
    keep: Callable[[str], str | None] = field(default=lambda text: None, repr=False)
    """Keeps what a provider said about an error in the log; returns the reference to it."""

    def referred(self, error: ModelError, said: str) -> ModelError:
        """Return the error with what the provider said about it (M11.6).

        Where it refuses the key, the request or to be paid more, only its own words say what to
        change, or until when.
        """
        body = said[:ERROR_BODY_MAX_BYTES]
        error.detail_ref = self.keep(body)
        reason = fault.said(body, self.key)
        is_spent = isinstance(error, RateLimited) and error.reason == "quota"
        if reason and (is_spent or isinstance(error, AuthFailed | RequestRejected)):
            error.message = f"{error.message} ({reason})"
        return error

    @property
    def api_key(self) -> str:
        """The key for the SDK; servers without keys get a word that never leaves."""
        return self.key or "none"


class Egress:
    """Opens channels. Nothing else in the product talks to the network."""

    def __init__(
        self,
        *,
        clock: Clock,
        gate: Gate,
        offline: bool = False,
        resolver: Resolver = resolve,
        ssl_context: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        limits: CallLimits | None = None,
        keep: Callable[[str], str | None] = lambda text: None,
        proxy: str | None = None,
    ) -> None:
        self.proxy = read_proxy(proxy)
        self._keep = keep
        self._clock = clock
        self._gate = gate
        self._offline = offline
        self._resolver = resolver
        self._make_ssl = ssl_context
        self._ssl: ssl.SSLContext | None = None
        self._limits = limits or CallLimits()
        self._lines: Lines | None = None
        self._lock = threading.Lock()

    def open(
        self,
        provider: ProviderRecord,
        key: str | None,
        errand: Errand,
        cancel: Cancel,
        *,
        call_s: float | None = None,
    ) -> Channel:
        """Return a channel to a provider for one errand. Opens no connection yet."""
        limits = self.limits_for(provider, call_s)

        def client() -> Any:
            from .transport import Transport, make_client  # loads the HTTP library

            transport = Transport(
                provider=provider,
                key=key,
                watch=Watch(self._clock, cancel, limits),
                guard=lambda url, size: self.check(errand, provider, url, size),
                streams=errand.kind is EgressKind.CALL,
                resolver=self._resolver,
                ssl_context=self._context(provider),
                lines=self._kept_lines(),
                proxy=proxy_for(provider, self.proxy),
            )
            return make_client(transport)

        return Channel(
            provider=provider,
            key=key,
            errand=errand,
            limits=limits,
            client=client,
            now_ms=self._clock.now_ms,
            cancel=cancel,
            keep=self._keep,
        )

    def close(self) -> None:
        """Close connections that were kept; what is under way goes on."""
        if self._lines is not None:
            self._lines.close()

    def _kept_lines(self) -> Lines:
        from .line import Lines  # loads the HTTP library

        with self._lock:
            if self._lines is None:
                self._lines = Lines(self._clock)
            return self._lines

    def limits_for(self, provider: ProviderRecord, call_s: float | None) -> CallLimits:
        """Return the time limits of a call to this provider."""
        limits = self._limits
        if is_loopback_url(provider.base_url):
            limits = replace(limits, first_event_s=limits.first_event_local_s)
        if call_s is None:
            return limits
        return CallLimits(
            connect_s=min(limits.connect_s, call_s),
            first_event_s=min(limits.first_event_s, call_s),
            idle_s=min(limits.idle_s, call_s),
            call_s=min(limits.call_s, call_s),
        )

    def check(self, errand: Errand, provider: ProviderRecord, url: str, size: int) -> None:
        """Let a request pass and note it, or refuse it before anything is opened.

        Raises:
            EgressBlocked: scheme, host, or the machine is to stay offline.
            ConsentRequired: the person has not allowed this content to go there.
        """
        host = urlsplit(url).hostname or ""
        outgoing = Outgoing(
            errand=errand, provider_id=provider.provider_id, host=host, bytes_out=size
        )
        refused = policy(provider, url, offline=self._offline)
        if refused is not None:
            self._gate.note(replace(outgoing, bytes_out=0, blocked=refused))
            raise EgressBlocked(
                f"the policy does not let a request go to {host[:128]!r}",
                reason=refused,
                provider_id=provider.provider_id,
                model_id=errand.model_id,
            )
        scope_hash = self._gate.admit(errand, provider, host)
        self._gate.note(replace(outgoing, scope_hash=scope_hash))

    def _context(self, provider: ProviderRecord) -> ssl.SSLContext | None:
        if self._ssl is None and urlsplit(provider.base_url).scheme == "https":
            self._ssl = self._make_ssl()
        return self._ssl
