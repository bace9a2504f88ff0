"""The transport injected into both SDKs: the only code that sends (M1.9). Loaded on first use."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Callable, Iterator
from functools import partial

import httpcore2
import httpx2

from backshop.base.errors import BackshopError

from ..catalog.catalog import Auth, ProviderRecord
from ..errors import (
    BadResponse,
    EgressBlocked,
    NetworkUnavailable,
    ProviderUnavailable,
)
from .address import Resolver
from .body_limit import Reading, bounded, events, first_bytes
from .deadline import Watch
from .line import Line, Lines
from .network import Network
from .policy import allows
from .proxy import Proxy
from .sse import Frames

_HEADERS = frozenset(  # what a request may carry; everything else stays here (M1.9)
    (
        *("host", "accept", "content-type", "content-length", "transfer-encoding"),
        *("authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "anthropic-beta"),
    )
)
_AUTH_HEADERS = frozenset(("authorization", "x-api-key", "x-goog-api-key"))
_USER_AGENT = "backshop"
_SDK_LOGS = {"OPENAI_LOG": "openai", "ANTHROPIC_LOG": "anthropic"}
_DOCUMENTS = frozenset(("application/json", "text/html", "text/plain"))


Guard = Callable[[str, int], None]
"""Takes address and size of a request: refuses it before anything is opened, or notes it."""


def make_client(transport: Transport) -> httpx2.Client:
    """Return the HTTP client for one SDK client and one call; it reads no environment."""
    for variable, name in _SDK_LOGS.items():
        if variable in os.environ:  # at debug level an SDK writes whole requests to its log
            logging.getLogger(name).setLevel(logging.WARNING)
    return httpx2.Client(transport=transport, trust_env=False, follow_redirects=False, timeout=None)


class Transport(httpx2.BaseTransport):
    """Carries the requests of one SDK client."""

    def __init__(
        self,
        *,
        provider: ProviderRecord,
        key: str | None,
        watch: Watch,
        guard: Guard,
        streams: bool,
        resolver: Resolver,
        ssl_context: ssl.SSLContext | None,
        lines: Lines,
        proxy: Proxy | None = None,
    ) -> None:
        self._provider = provider
        self._key = key
        self._watch = watch
        self._guard = guard
        self._streams = streams
        self._lines = lines
        self._where = (provider, proxy)
        self._line: Line | None = None

        def new_line() -> Line:
            network = Network(watch, lambda address: allows(provider, address), resolver, proxy)
            return Line(network, ssl_context)

        self._new_line = new_line

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Check, send, and give back an answer whose reading obeys the limits."""
        request.read()
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
        self._guard(str(request.url), len(request.content))
        line = self._open_line()
        is_kept = line.is_warm
        try:
            try:
                answer = line.send(outgoing)
            except _CLOSED_MEANWHILE:
                if not is_kept:
                    raise
                self._guard(str(request.url), len(request.content))  # it leaves a second time
                answer = line.send(outgoing)
        except _NETWORK_ERRORS as error:
            raise network_fault(error) from error
        try:
            return self._answer(answer, line)
        except BaseException:
            answer.close()
            raise

    def close(self) -> None:
        """Leave the connection to the next call, if it can carry one."""
        line, self._line = self._line, None
        if line is None:
            return
        if line.is_useful:
            self._lines.give(self._where, line)
        else:
            line.close()

    def _open_line(self) -> Line:
        if self._line is None:
            self._line = self._lines.take(self._where, self._new_line)
            self._line.network.watch = self._watch
        return self._line

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

    def _answer(self, answer: httpcore2.Response, line: Line) -> httpx2.Response:
        headers = httpx2.Headers(answer.headers)
        if 300 <= answer.status < 400:
            raise EgressBlocked(
                "the provider sends the request elsewhere",
                reason="redirect",
                provider_id=self._provider.provider_id,
            )
        if headers.get("content-encoding", "identity") != "identity":
            raise BadResponse("the answer is encoded although it was not to be", reason="encoding")
        return httpx2.Response(
            status_code=answer.status,
            headers=headers,
            stream=self._body(answer, line, headers),
            extensions={"http_version": b"HTTP/1.1"},
        )

    def _body(self, answer: httpcore2.Response, line: Line, headers: httpx2.Headers) -> _Body:
        if answer.status >= 400:
            return _Body(answer, line, self._watch, first_bytes)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _DOCUMENTS:
            frames = Frames()
            return _Body(answer, line, self._watch, partial(events, frames=frames), frames)
        if self._streams:
            raise BadResponse("the provider answered with a document", reason="not_a_stream")
        return _Body(answer, line, self._watch, bounded)


class _Body(httpx2.SyncByteStream):
    """An answer's bytes, read under the watch; closing it early closes the connection."""

    def __init__(
        self,
        answer: httpcore2.Response,
        line: Line,
        watch: Watch,
        reading: Reading,
        frames: Frames | None = None,
    ) -> None:
        self._answer = answer
        self._line = line
        self._watch = watch
        self._reading = reading
        self._frames = frames
        self._pieces = answer.iter_stream()  # held here: who stops reading does not end it
        self._is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._reading(self._pieces, self._watch)
        except _NETWORK_ERRORS as error:
            raise network_fault(error) from error

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self._frames is not None and self._frames.has_ended:
            self._line.leave(self._answer, self._pieces)
        else:
            self._answer.close()


def network_fault(error: BaseException) -> BackshopError:
    """Return our error for one of the HTTP library's (M11.6), or the one it hides."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, BackshopError):
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


_CLOSED_MEANWHILE = (  # what a connection gives that its server closed while nobody used it
    httpcore2.RemoteProtocolError,
    httpcore2.ReadError,
    httpcore2.WriteError,
)
_NETWORK_ERRORS = (
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.ConnectionNotAvailable,
    httpx2.TransportError,
)
