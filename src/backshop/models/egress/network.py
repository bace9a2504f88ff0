"""Sockets that can be stopped: waits end by a cancellation or a limit (M8.7, M12.1)."""

from __future__ import annotations

import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2

from backshop.base.limits import CONNECT_TIMEOUT_S
from backshop.base.system import readiness
from backshop.base.system.acknowledgement import acknowledge_at_once

from ..errors import EgressBlocked, NetworkUnavailable
from .address import Address, Resolver, resolve
from .deadline import Patience
from .proxy import PROXY_HEAD_MAX_BYTES, Proxy

_WRITE_BYTES = 256 * 1024


class Network(httpcore2.NetworkBackend):
    """Connects to allowed addresses only, and gives streams that obey the watch of the moment."""

    def __init__(
        self,
        watch: Patience,
        allowed: Callable[[str], bool],
        resolver: Resolver = resolve,
        proxy: Proxy | None = None,
    ) -> None:
        self.watch = watch
        self._allowed = allowed
        self._resolve = resolver
        self._proxy = proxy

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address that answers; one that policy forbids is never tried."""
        if self._proxy is not None:
            return self._through(self._proxy, host, port)
        addresses = self._addresses(host, port)
        for address in addresses:
            if not self._allowed(address[0]):
                raise EgressBlocked(
                    f"{host[:128]} leads to {address[0]}, where this provider may not be",
                    reason="address",
                )
        return self._first(addresses, f"the provider cannot be reached at {host[:128]}:{port}")

    def _first(self, addresses: list[Address], message: str) -> Stream:
        failure: OSError | None = None
        for address in addresses:
            try:
                return Stream(self._connect(address), self)
            except OSError as error:
                failure = error
        raise NetworkUnavailable(message, reason="connect") from failure

    def _through(self, proxy: Proxy, host: str, port: int) -> httpcore2.NetworkStream:
        """Let the proxy the person set connect to the host; TLS goes on behind it (M4.1)."""
        stream = self._first(self._addresses(proxy.host, proxy.port), "the proxy cannot be reached")
        try:
            stream.write(proxy.greeting(host, port))
            answer = b""
            while b"\r\n\r\n" not in answer:
                piece = stream.read(1) if len(answer) < PROXY_HEAD_MAX_BYTES else b""
                if not piece:
                    raise NetworkUnavailable("the proxy's answer is no HTTP", reason="proxy")
                answer += piece  # byte by byte: what follows belongs to TLS
            if not re.match(rb"HTTP/1\.[01] 200(?: |\r)", answer):
                raise NetworkUnavailable("the proxy refuses to connect", reason="proxy")
        except BaseException:
            stream.close()
            raise
        return stream

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
            thread.join(self.watch.pause())
            self.watch.connecting()
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
        while not readiness.is_writable(sock.fileno(), self.watch.pause()):
            self.watch.connecting()
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, "connect failed")


class Stream(httpcore2.NetworkStream):
    """A connection whose reads and writes end when the watch says so."""

    def __init__(self, sock: socket.socket, network: Network) -> None:
        self._sock = sock
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what is there, waiting in slices."""
        self._sock.settimeout(self._network.watch.pause())
        while True:
            self._network.watch.reading()
            try:
                acknowledge_at_once(self._sock)
                return self._sock.recv(max_bytes)
            except TimeoutError:
                continue
            except OSError as error:
                raise httpcore2.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write everything, looking for a cancellation between pieces."""
        view, stalled = memoryview(buffer), 0
        self._sock.settimeout(self._network.watch.pause())
        while view:
            self._network.watch.reading()
            try:
                sent = self._sock.send(view[:_WRITE_BYTES])
            except TimeoutError as error:
                stalled += 1
                if stalled * self._network.watch.pause() >= CONNECT_TIMEOUT_S:
                    raise httpcore2.WriteTimeout("writing took too long") from error
                continue
            except OSError as error:
                raise httpcore2.WriteError(str(error)) from error
            view, stalled = view[sent:], 0

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
        self._sock.setblocking(False)
        try:
            secure = ssl_context.wrap_socket(
                self._sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
            try:
                self._shake_hands(secure)
            except BaseException:
                secure.close()
                raise
        except (ssl.SSLError, OSError) as error:
            self._sock.close()
            raise NetworkUnavailable("the connection is not secure", reason="tls") from error
        return Stream(secure, self._network)

    def _shake_hands(self, secure: ssl.SSLSocket) -> None:
        """Agree on keys, waiting in slices like everything else."""
        while True:
            try:
                secure.do_handshake()
                return
            except ssl.SSLWantReadError:
                readiness.is_readable(secure.fileno(), self._network.watch.pause())
            except ssl.SSLWantWriteError:
                readiness.is_writable(secure.fileno(), self._network.watch.pause())
            self._network.watch.connecting()

    def get_extra_info(self, info: str) -> Any:
        """Return what the HTTP library asks about the connection."""
        match info:
            case "ssl_object":
                return self._sock if isinstance(self._sock, ssl.SSLSocket) else None
            case "socket":
                return self._sock
            case "is_readable":
                return readiness.is_readable(self._sock.fileno(), 0)
            case _:
                return None
