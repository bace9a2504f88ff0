"""Built-in providers over TLS: the certificate must be the host's, and nothing else is trusted."""

from __future__ import annotations

import datetime
import ssl
import threading

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from backshop.base.ambient import SystemClock
from backshop.models import stream
from backshop.models.catalog import builtin
from backshop.models.egress import Egress, EgressKind, Errand
from backshop.models.messages import Done, Failed, Message, ModelRequest, Role, TextDelta
from backshop.models.registry import Wires
from backshop.prompts import CancelToken

from .calling import KEY, OpenGate
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


def call(model_id, server, trusted):
    catalog = builtin()
    model, _ = catalog.resolve(model_id)
    provider = catalog.provider(model.provider_id)
    asked: list[str] = []

    def resolve(host, port):
        asked.append(f"{host}:{port}")
        return [("127.0.0.1", server.port)]

    way = Egress(
        clock=SystemClock(),
        gate=OpenGate(),
        resolver=resolve,
        ssl_context=lambda: ssl.create_default_context(cafile=str(trusted) if trusted else None),
    )
    errand = Errand(kind=EgressKind.CALL, model_id=model_id)
    channel = way.open(provider, KEY, errand, CancelToken())
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
