"""The only way out of the machine: checks, filters, limits and records (M1.9, M4)."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlsplit

import httpcore2
import httpx2

from backshop.base.ambient import Clock
from backshop.base.limits import FIRST_EVENT_LOCAL_S

from .catalog import Auth, ProviderRecord
from .errors import (
    BadResponse,
    EgressBlocked,
    ModelError,
    NetworkUnavailable,
    ProviderUnavailable,
)
from .messages import Purpose
from .network import (
    Limits,
    Network,
    Resolver,
    Watch,
    resolve,
)
from .policy import allows, is_loopback_url, policy
from .reading import Reading, bounded, events, first_bytes
from .retry import Cancel

_HEADERS = frozenset(  # what a request may carry; everything else stays here (M1.9)
    (
        *("host", "accept", "content-type", "content-length", "transfer-encoding"),
        *("authorization", "x-api-key", "anthropic-version"),
    )
)
_AUTH_HEADERS = frozenset(("authorization", "x-api-key"))
_USER_AGENT = "backshop"
_DOCUMENTS = frozenset(("application/json", "text/html", "text/plain"))


class EgressKind(StrEnum):
    """What a request is for."""

    CALL = "call"
    VALIDATION = "validation"
    PROBE = "probe"
    BLOCKED = "blocked"


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
    limits: Limits
    client: Callable[[], httpx2.Client] = field(repr=False)
    now_ms: Callable[[], int]
    cancel: Cancel

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
        limits: Limits | None = None,
    ) -> None:
        self._clock = clock
        self._gate = gate
        self._offline = offline
        self._resolver = resolver
        self._make_ssl = ssl_context
        self._ssl: ssl.SSLContext | None = None
        self._limits = limits

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

        def client() -> httpx2.Client:
            transport = Transport(
                provider=provider,
                key=key,
                errand=errand,
                watch=Watch(self._clock, cancel, limits),
                egress=self,
            )
            return httpx2.Client(
                transport=transport, trust_env=False, follow_redirects=False, timeout=None
            )

        return Channel(
            provider=provider,
            key=key,
            errand=errand,
            limits=limits,
            client=client,
            now_ms=self._clock.now_ms,
            cancel=cancel,
        )

    def limits_for(self, provider: ProviderRecord, call_s: float | None) -> Limits:
        """Return the time limits of a call to this provider."""
        limits = self._limits
        if limits is None:
            local = is_loopback_url(provider.base_url)
            limits = Limits(first_event_s=FIRST_EVENT_LOCAL_S) if local else Limits()
        if call_s is None:
            return limits
        return Limits(
            connect_s=min(limits.connect_s, call_s),
            first_event_s=min(limits.first_event_s, call_s),
            idle_s=min(limits.idle_s, call_s),
            call_s=min(limits.call_s, call_s),
        )

    def check(self, errand: Errand, provider: ProviderRecord, request: httpx2.Request) -> None:
        """Let a request pass and note it, or refuse it before anything is opened.

        Raises:
            EgressBlocked: scheme, host, or the machine is to stay offline.
            ConsentRequired: the person has not allowed this content to go there.
        """
        host = request.url.host
        outgoing = Outgoing(
            errand=errand,
            provider_id=provider.provider_id,
            host=host,
            bytes_out=int(request.headers.get("content-length", "0")),
        )
        refused = policy(provider, str(request.url), offline=self._offline)
        if refused is not None:
            self._gate.note(_blocked(outgoing, refused))
            raise EgressBlocked(
                f"the policy does not let a request go to {host[:128]!r}",
                reason=refused,
                provider_id=provider.provider_id,
                model_id=errand.model_id,
            )
        scope_hash = self._gate.admit(errand, provider, host)
        self._gate.note(
            Outgoing(
                errand=errand,
                provider_id=provider.provider_id,
                host=host,
                bytes_out=outgoing.bytes_out,
                scope_hash=scope_hash,
            )
        )

    def pool(self, provider: ProviderRecord, watch: Watch) -> httpcore2.ConnectionPool:
        """Return connections that live as long as one call."""
        if self._ssl is None and urlsplit(provider.base_url).scheme == "https":
            self._ssl = self._make_ssl()
        network = Network(watch, lambda address: allows(provider, address), self._resolver)
        return httpcore2.ConnectionPool(
            ssl_context=self._ssl, network_backend=network, max_connections=1, retries=0
        )


class Transport(httpx2.BaseTransport):
    """Carries the requests of one SDK client."""

    def __init__(
        self,
        *,
        provider: ProviderRecord,
        key: str | None,
        errand: Errand,
        watch: Watch,
        egress: Egress,
    ) -> None:
        self._provider = provider
        self._key = key
        self._errand = errand
        self._watch = watch
        self._egress = egress
        self._pool = egress.pool(provider, watch)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Check, send, and give back an answer whose reading obeys the limits."""
        request.read()
        self._egress.check(self._errand, self._provider, request)
        outgoing = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=self._headers(request),
            content=request.content,
        )
        try:
            answer = self._pool.handle_request(outgoing)
        except _NETWORK_ERRORS as error:
            raise network_fault(error) from error
        try:
            return self._answer(answer)
        except BaseException:
            answer.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

    def _headers(self, request: httpx2.Request) -> list[tuple[bytes, bytes]]:
        kept = [
            (name, value)
            for name, value in request.headers.raw
            if name.decode("ascii", "replace").lower() in self._allowed_headers()
        ]
        return [
            *kept,
            (b"User-Agent", _USER_AGENT.encode()),
            (b"Accept-Encoding", b"identity"),  # events are counted before anything decodes them
        ]

    def _allowed_headers(self) -> frozenset[str]:
        has_key = self._provider.auth is Auth.API_KEY and self._key is not None
        return _HEADERS if has_key else _HEADERS - _AUTH_HEADERS

    def _answer(self, answer: httpcore2.Response) -> httpx2.Response:
        headers = httpx2.Headers(answer.headers)
        if 300 <= answer.status < 400:
            raise EgressBlocked(
                "the provider sends the request elsewhere",
                reason="redirect",
                provider_id=self._provider.provider_id,
                model_id=self._errand.model_id,
            )
        if headers.get("content-encoding", "identity") != "identity":
            raise BadResponse("the answer is encoded although it was not to be", reason="encoding")
        return httpx2.Response(
            status_code=answer.status,
            headers=headers,
            stream=_Body(answer, self._watch, self._reading(answer.status, headers)),
            extensions={"http_version": b"HTTP/1.1"},
        )

    def _reading(self, status: int, headers: httpx2.Headers) -> Reading:
        if status >= 400:
            return first_bytes
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _DOCUMENTS:
            return events
        if self._errand.kind is EgressKind.CALL:
            raise BadResponse("the provider answered with a document", reason="not_a_stream")
        return bounded


class _Body(httpx2.SyncByteStream):
    """An answer's bytes, read under the watch; closing it closes the connection."""

    def __init__(
        self,
        answer: httpcore2.Response,
        watch: Watch,
        reading: Reading,
    ) -> None:
        self._answer = answer
        self._watch = watch
        self._reading = reading

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._reading(self._answer.iter_stream(), self._watch)
        except _NETWORK_ERRORS as error:
            raise network_fault(error) from error

    def close(self) -> None:
        self._answer.close()


def network_fault(error: BaseException) -> ModelError:
    """Return our error for one of the HTTP library's (M11.6), or the one it hides."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ModelError):
            return seen
        if isinstance(seen, httpcore2.ConnectError | httpcore2.ConnectTimeout):
            return NetworkUnavailable("the provider cannot be reached", reason="connect")
        if isinstance(seen, httpcore2.TimeoutException | httpx2.TimeoutException):
            return ProviderUnavailable("the provider stopped answering", reason="timeout")
        if isinstance(seen, httpcore2.LocalProtocolError | httpx2.LocalProtocolError):
            return BadResponse("the provider's answer is no HTTP", reason="protocol")
        if isinstance(seen, _NETWORK_ERRORS):
            return ProviderUnavailable("the connection broke", reason="stream_interrupted")
        seen = seen.__cause__ or seen.__context__
    return BadResponse("the provider's answer cannot be understood", reason="unknown_failure")


_NETWORK_ERRORS = (
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.ConnectionNotAvailable,
    httpx2.TransportError,
)


def _blocked(outgoing: Outgoing, reason: str) -> Outgoing:
    return Outgoing(
        errand=outgoing.errand,
        provider_id=outgoing.provider_id,
        host=outgoing.host,
        bytes_out=0,
        blocked=reason,
    )
