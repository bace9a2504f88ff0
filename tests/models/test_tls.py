"""Built-in providers over TLS: the certificate must be the host's, and nothing else is trusted."""

from __future__ import annotations

import base64
import datetime
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import replace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from backshop.base.ambient import SystemClock
from backshop.base.errors import ValidationFailed
from backshop.base.limits import CONNECT_TIMEOUT_S
from backshop.models.catalog.catalog import builtin
from backshop.models.egress import stream
from backshop.models.egress.gate import Egress, EgressKind, Errand
from backshop.models.egress.proxy import proxy_for, read_proxy
from backshop.models.messages import Done, Failed, Message, ModelRequest, Role, TextDelta
from backshop.models.providers.registry import Wires
from backshop.prompts import CancelToken

from .calling import KEY, OpenGate, record
from .provider import Provider, Reply, chat, messages, responses


def certificate(folder, name):
    """Return the file of a certificate for one host, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


class SecureProvider(Provider):
    """The same server behind TLS."""

    def __init__(self, pem, *replies):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(pem)
        super().__init__(*replies)

    def _answer(self, connection):
        try:
            secure = self._context.wrap_socket(connection, server_side=True)
        except OSError:
            connection.close()
            return
        super()._answer(secure)


class Tunnel:
    """A proxy that answers `CONNECT` and passes bytes on, or does not."""

    def __init__(self, target, answer=b"HTTP/1.1 200 Connection established\r\n\r\n"):
        self.asked = b""
        self._target, self._reply = target, answer
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        near, _ = self._socket.accept()
        with near, socket.create_connection(("127.0.0.1", self._target)) as far:
            while b"\r\n\r\n" not in self.asked:
                self.asked += near.recv(1)
            near.sendall(self._reply)
            if b" 200 " not in self._reply:
                return
            back = threading.Thread(target=self._pass, args=(far, near), daemon=True)
            back.start()
            self._pass(near, far)
            back.join(5)

    @staticmethod
    def _pass(source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def close(self):
        self._socket.close()


@pytest.mark.rule("M4.1")
def test_a_proxy_that_was_set_sees_the_host_and_nothing_else(tmp_path):
    pem = certificate(tmp_path, "api.openai.com")
    server = SecureProvider(pem, Reply(responses("Hello")))
    tunnel = Tunnel(server.port)

    url = f"http://me:s3cret-word@proxy.example:{tunnel.port}"
    events, asked = call("openai:gpt-5.2", server, pem, proxy=url, at=tunnel.port)
    server.close()
    tunnel.close()

    assert TextDelta("Hello") in events
    assert asked == [f"proxy.example:{tunnel.port}"]
    head = tunnel.asked.decode().split("\r\n")
    assert head[0] == "CONNECT api.openai.com:443 HTTP/1.1"
    assert base64.b64decode(head[2].removeprefix("Proxy-Authorization: Basic ")) == (
        b"me:s3cret-word"
    )
    assert KEY.encode() not in tunnel.asked
    assert "proxy-authorization" not in server.seen[0].headers


@pytest.mark.rule("M4.1", "M11.6")
@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 407 Login\r\n\r\n", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 2000 \r\n\r\n", b""],
)
def test_a_proxy_that_refuses_is_no_network(tmp_path, answer):
    pem = certificate(tmp_path, "api.openai.com")
    server = SecureProvider(pem, Reply(responses("Hello")))
    tunnel = Tunnel(server.port, answer)

    url = f"http://127.0.0.1:{tunnel.port}"
    events, _ = call("openai:gpt-5.2", server, pem, proxy=url, at=tunnel.port)
    server.close()
    tunnel.close()

    assert isinstance(events[-1], Failed)
    assert (events[-1].error.error_code, events[-1].error.reason) == (
        "NETWORK_UNAVAILABLE",
        "proxy",
    )
    assert server.seen == []


def test_what_is_not_encrypted_or_stays_here_goes_through_no_proxy():
    proxy = read_proxy("http://proxy.example:3128")
    addresses = ("http://127.0.0.1:1/v1", "https://localhost:1/v1", "http://10.0.0.1/v1")

    assert [proxy_for(record(url), proxy) for url in addresses] == [None] * 3
    assert proxy_for(record("https://far.example/v1"), proxy) == proxy
    for bad in ("https://p:1", "http://p", "http://p:x", "http://p:1/path", "http://:1", "p:1"):
        with pytest.raises(ValidationFailed):
            read_proxy(bad)


def call(model_id, server, trusted, *, proxy=None, at=None, cancel=None):
    catalog = builtin()
    model, _ = catalog.resolve(model_id)
    provider = catalog.provider(model.provider_id)
    provider = replace(provider, allows_private=True)  # it is served on this machine
    asked: list[str] = []

    def resolve(host, port):
        asked.append(f"{host}:{port}")
        return [("127.0.0.1", at or server.port)]

    way = Egress(
        clock=SystemClock(),
        gate=OpenGate(),
        resolver=resolve,
        proxy=proxy,
        ssl_context=lambda: ssl.create_default_context(cafile=str(trusted) if trusted else None),
    )
    errand = Errand(kind=EgressKind.CALL, model_id=model_id)
    channel = way.open(provider, KEY, errand, cancel or CancelToken())
    request = ModelRequest(model_id=model_id, messages=(Message(role=Role.USER, text="hi"),))
    events = list(stream.complete(Wires().of(provider, model), request, model, channel))
    return events, asked


@pytest.mark.rule("M1.9", "M4.1", "M4.2")
@pytest.mark.parametrize(
    ("model_id", "make", "host", "path"),
    [
        ("openai:gpt-5.2", responses, "api.openai.com", "/v1/responses"),
        ("anthropic:claude-opus-4-6", messages, "api.anthropic.com", "/v1/messages"),
        (
            "google:gemini-3-pro",
            chat,
            "generativelanguage.googleapis.com",
            "/v1beta/openai/chat/completions",
        ),
        ("mistral:mistral-large", chat, "api.mistral.ai", "/v1/chat/completions"),
    ],
)
def test_a_built_in_provider_is_reached_under_its_own_name(tmp_path, model_id, make, host, path):
    pem = certificate(tmp_path, host)
    server = SecureProvider(pem, Reply(make("Hello")))

    events, asked = call(model_id, server, pem)
    server.close()

    assert TextDelta("Hello") in events
    assert isinstance(events[-1], Done)
    assert asked == [f"{host}:443"]
    assert [(one.path, one.headers["host"]) for one in server.seen] == [(path, host)]
    assert KEY not in server.seen[0].path


@pytest.mark.rule("M4.1")
def test_a_certificate_of_another_host_or_of_nobody_is_refused(tmp_path):
    wrong = certificate(tmp_path, "evil.example")
    right = certificate(tmp_path, "api.openai.com")

    for pem, trusted in ((wrong, wrong), (right, None), (right, wrong)):
        server = SecureProvider(pem, Reply(responses("Hello")))
        events, _ = call("openai:gpt-5.2", server, trusted)
        server.close()
        assert isinstance(events[-1], Failed)
        assert (events[-1].error.error_code, events[-1].error.reason) == (
            "NETWORK_UNAVAILABLE",
            "tls",
        )
        assert server.seen == []
    assert threading.active_count() < 50


@pytest.mark.rule("M12.1")
def test_a_server_that_never_shakes_hands_does_not_outlast_a_cancellation(tmp_path):
    pem = certificate(tmp_path, "api.openai.com")
    cancel = CancelToken()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        events: list[object] = []

        def ask() -> None:
            port = silent.getsockname()[1]
            events.extend(call("openai:gpt-5.2", None, pem, at=port, cancel=cancel)[0])

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        near, _ = silent.accept()
        with near:
            assert near.recv(5)  # it greets, and nobody answers
            cancel.request()
            asking.join(CONNECT_TIMEOUT_S / 2)

        assert not asking.is_alive()
    assert isinstance(events[-1], Failed)
    assert events[-1].error.error_code == "USER_CANCELED"
