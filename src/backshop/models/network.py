"""Sockets that can be stopped: waits end by a cancellation or a limit (M8.7, M12.1)."""

from __future__ import annotations

import ipaddress
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import httpcore2

from backshop.base.ambient import Clock
from backshop.base.limits import (
    CALL_S,
    CONNECT_TIMEOUT_S,
    FIRST_EVENT_S,
    IDLE_S,
)

from .errors import Canceled, EgressBlocked, NetworkUnavailable, ProviderUnavailable
from .retry import Cancel

_SLICE_S = 0.1  # how soon a cancellation is noticed; M12.1 allows 1 s
_WRITE_BYTES = 256 * 1024

Address = tuple[str, int]
Resolver = Callable[[str, int], list[Address]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds a call may take, as a whole and in its parts."""

    connect_s: float = CONNECT_TIMEOUT_S
    first_event_s: float = FIRST_EVENT_S
    idle_s: float = IDLE_S
    call_s: float = CALL_S


class Watch:
    """The limits of one call, counted from its start."""

    def __init__(self, clock: Clock, cancel: Cancel, limits: Limits) -> None:
        self._clock = clock
        self._cancel = cancel
        self._limits = limits
        self._start = self._last = clock.monotonic()
        self._events = 0

    def progress(self) -> None:
        """Note that an event arrived."""
        self._events += 1
        self._last = self._clock.monotonic()

    def connecting(self) -> None:
        """Raise when cancelled or when connecting takes too long."""
        self._stop_if_cancelled()
        if self._clock.monotonic() - self._start >= self._limits.connect_s:
            raise NetworkUnavailable("connecting took too long", reason="connect_timeout")

    def reading(self) -> None:
        """Raise when cancelled, or when the answer does not come, stalls, or never ends."""
        self._stop_if_cancelled()
        now = self._clock.monotonic()
        if now - self._start >= self._limits.call_s:
            raise ProviderUnavailable("the answer took too long", reason="timeout")
        patience = self._limits.idle_s if self._events else self._limits.first_event_s
        if now - self._last >= patience:
            raise ProviderUnavailable("the provider stopped answering", reason="timeout")

    def pause(self) -> float:
        """Return how long one wait may be before looking again."""
        return _SLICE_S

    def _stop_if_cancelled(self) -> None:
        if self._cancel.requested:
            raise Canceled("the call was cancelled")


def resolve(host: str, port: int) -> list[Address]:
    """Return the addresses of a host, as the system knows them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys((str(one[4][0]), int(one[4][1])) for one in found))


class Network(httpcore2.NetworkBackend):
    """Connects to allowed addresses only, and gives streams that obey a watch."""

    def __init__(
        self, watch: Watch, allowed: Callable[[str], bool], resolver: Resolver = resolve
    ) -> None:
        self._watch = watch
        self._allowed = allowed
        self._resolve = resolver

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address that answers; one that policy forbids is never tried."""
        addresses = self._addresses(host, port)
        for address in addresses:
            if not self._allowed(address[0]):
                raise EgressBlocked(f"{host} leads to a forbidden address", reason="address")
        failure: OSError | None = None
        for address in addresses:
            try:
                return Stream(self._connect(address), self._watch)
            except OSError as error:
                failure = error
        raise NetworkUnavailable("the provider cannot be reached", reason="connect") from failure

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Refuse: nothing leaves through a socket file."""
        raise EgressBlocked("socket files are not used", reason="address")

    def _addresses(self, host: str, port: int) -> list[Address]:
        """Ask for the addresses in a thread, because that question cannot be interrupted."""
        answer: list[list[Address] | OSError] = []

        def ask() -> None:
            try:
                answer.append(self._resolve(host, port))
            except (OSError, UnicodeError) as error:
                answer.append(OSError(str(error)))

        thread = threading.Thread(target=ask, daemon=True, name="backshop-resolve")
        thread.start()
        while not answer:
            thread.join(self._watch.pause())
            self._watch.connecting()
        found = answer[0]
        if isinstance(found, OSError) or not found:
            raise NetworkUnavailable("the provider's name is not known", reason="dns")
        return found

    def _connect(self, address: Address) -> socket.socket:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            try:
                sock.connect(address)
            except BlockingIOError:
                self._wait_connected(sock)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            sock.close()
            raise
        return sock

    def _wait_connected(self, sock: socket.socket) -> None:
        while not select.select([], [sock], [sock], self._watch.pause())[1]:
            self._watch.connecting()
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, "connect failed")


class Stream(httpcore2.NetworkStream):
    """A connection whose reads and writes end when the watch says so."""

    def __init__(self, sock: socket.socket, watch: Watch) -> None:
        self._sock = sock
        self._watch = watch

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what is there, waiting in slices."""
        self._sock.settimeout(self._watch.pause())
        while True:
            self._watch.reading()
            try:
                return self._sock.recv(max_bytes)
            except TimeoutError:
                continue
            except OSError as error:
                raise httpcore2.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write everything, looking for a cancellation between pieces."""
        view = memoryview(buffer)
        self._sock.settimeout(CONNECT_TIMEOUT_S)
        while view:
            self._watch.reading()
            try:
                sent = self._sock.send(view[:_WRITE_BYTES])
            except TimeoutError as error:
                raise httpcore2.WriteTimeout("writing took too long") from error
            except OSError as error:
                raise httpcore2.WriteError(str(error)) from error
            view = view[sent:]

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """Speak TLS from here on; the certificate must be the host's."""
        self._sock.settimeout(CONNECT_TIMEOUT_S)
        try:
            secure = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname)
        except (ssl.SSLError, OSError) as error:
            self._sock.close()
            raise NetworkUnavailable("the connection is not secure", reason="tls") from error
        return Stream(secure, self._watch)

    def get_extra_info(self, info: str) -> Any:
        """Return what the HTTP library asks about the connection."""
        match info:
            case "ssl_object":
                return self._sock if isinstance(self._sock, ssl.SSLSocket) else None
            case "socket":
                return self._sock
            case "is_readable":
                return bool(select.select([self._sock], [], [], 0)[0])
            case _:
                return None


def is_loopback(address: str) -> bool:
    """Return whether an address is this machine."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback


def is_private(address: str) -> bool:
    """Return whether an address is of a private network (RFC 1918, RFC 4193)."""
    parsed = _parsed(address)
    return parsed is not None and any(parsed in net for net in _PRIVATE)


def is_link_local(address: str) -> bool:
    """Return whether an address is link-local, where metadata services live."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_link_local


_PRIVATE = tuple(
    ipaddress.ip_network(net)
    for net in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed
