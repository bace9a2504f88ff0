"""Providers, addresses and environments that mean harm: nothing breaks out, nothing leaks."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import pytest

from backshop.models import Attendant, Image
from backshop.models.catalog.catalog import Auth
from backshop.models.errors import KeyUnusable, SecretsUnreadable
from backshop.models.messages import Failed, Message, Role
from backshop.models.providers.vault import KeyringVault
from backshop.models.requests import (
    ProviderRequest,
    SetApiKey,
    UpsertLocal,
)
from backshop.prompts import CancelToken, Session, Tool, ToolContext, ToolResult

from .calling import KEY, WIRES, call, request
from .prompting import Ask, Review, make_prompt
from .provider import Reply, chat, serving, sse
from .test_service import Shop, far, refused, remote, say, to_server

LATE = "Fri, 31 Dec 9999 23:59:59 -2359"


@pytest.fixture
def shop(tmp_path):
    made = Shop(tmp_path / "home")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _loopback_counts_as_private(monkeypatch):
    monkeypatch.setattr("backshop.models.egress.policy.is_private", lambda address: True)


@pytest.fixture(params=list(WIRES), name="name")
def _name(request):
    return request.param


def listing(*ids: Any) -> Reply:
    body = {"object": "list", "data": [{"id": one} for one in ids]}
    return Reply([json.dumps(body).encode()], content_type="application/json")


def standing(models, provider_id: str):
    (found,) = (
        one for one in models.providers.status().providers if one.provider_id == provider_id
    )
    return found


@pytest.mark.rule("M4.3")
@pytest.mark.parametrize("bad", ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254"])
def test_a_host_that_leads_to_a_forbidden_address_too_is_never_connected_to(shop, bad):
    with serving(Reply(chat("Hello"))) as server:
        far(shop, server.url)
        models = shop.open(resolver=lambda host, port: [("127.0.0.1", port), (bad, port)])

        error = refused(models, bench=None).error

    assert (error.error_code, error.reason) == ("EGRESS_BLOCKED_BY_POLICY", "address")
    assert server.seen == []


@pytest.mark.rule("M1.9")
def test_a_server_that_takes_no_key_gets_no_word_in_its_place(shop, name):
    wire, make = WIRES[name]
    with serving(Reply(make("Hello"))) as server:
        far(shop, server.url, wire=wire, path="" if name == "messages" else "/v1")
        plugin = shop.plugins["local-far"]
        keyless = replace(plugin.provider, auth=Auth.NONE)
        shop.plugins = {"local-far": replace(plugin, provider=keyless)}
        models = shop.open(resolver=to_server)

        assert say(models, bench=None).text == "Hello"

    assert not {"authorization", "x-api-key"} & {key.lower() for key in server.seen[0].headers}


@pytest.mark.rule("M3.12", "M11.1", "M11.6")
def test_a_key_the_provider_says_back_reaches_no_error_and_no_log(shop, name, caplog):
    wire, make = WIRES[name]
    kinds: dict[str, dict[str, Any]] = {
        "responses": {"type": "response.failed", "response": {"error": {"code": KEY}}},
        "chat": {"error": {"code": KEY, "message": KEY, "type": KEY}},
        "messages": {"type": "error", "error": {"type": KEY, "message": KEY}},
    }
    replies = (
        Reply([*make("x")[:1], *sse(kinds[name], named=name != "chat")]),
        Reply([json.dumps({"error": {"message": KEY, "code": KEY}}).encode()], 400),
        Reply([KEY.encode()], 401, {"www-authenticate": KEY}),
    )
    with serving(*replies) as server:
        models = far(shop, server.url, wire=wire, path="" if name == "messages" else "/v1")
        caplog.handler.addFilter(models.redactor)
        errors = [refused(models, bench=None) for _ in replies]

    for error in errors:
        assert KEY not in f"{error!r} {error} {error.error!r}"
        assert KEY.lower() not in f"{error.error!r}".lower()
    assert KEY not in caplog.text
    assert shop.store is not None
    assert not any(KEY in repr(event) for event in shop.store.read("home"))


@pytest.mark.rule("M10.2", "M10.6", "M3.1")
def test_a_moment_no_calendar_has_is_a_long_wait_and_no_more(shop):
    with serving(Reply([b""], 429, {"retry-after": LATE})) as server:
        models = far(shop, server.url)
        error = refused(models, bench=None).error

    assert (error.error_code, error.reason) == ("PROVIDER_RATE_LIMITED", "retry_after")
    assert standing(models, "local-far").cooldown_until is not None


@pytest.mark.rule("M8.5")
def test_halves_of_characters_are_joined_and_lone_ones_replaced(name):
    wire, make = WIRES[name]
    events = [
        chunk.replace(b"ONE", b"a\\ud83d").replace(b"TWO", b"\\ude00b\\ud800c")
        for chunk in make("ONE", "TWO")
    ]

    with serving(Reply(events)) as server:
        got = call(wire, server.url)

    assert got.text == "a😀b\N{REPLACEMENT CHARACTER}c"
    assert got.finish == "stop"


@pytest.mark.rule("M9.5", "M9.7", "M19.36")
def test_a_call_nothing_could_store_is_made_storable(shop, name):
    wire, make = WIRES[name]
    calls = [
        chunk.replace(b"ID1", b"\\ud800").replace(b"PATH", b"a\\\\ud800\\\\u0000")
        for chunk in make(calls=(("ID1", "look", '{"path": "PATH"}'),))
    ]
    with serving(Reply(calls), Reply(make('{"summary": "fine"}'))) as server:
        models = far(shop, server.url, wire=wire, path="" if name == "messages" else "/v1")
        session = Session(log=shop.store)
        adapter = models.adapter("local-far:m")
        response = adapter.evaluate(make_prompt(), Ask("Look."), session=session)

        again = Session(session_id=session.session_id, log=shop.store)
        assert again.snapshot() == session.snapshot()

    assert response.output == Review("fine")
    (record,) = response.tool_results
    assert (record.ok, record.message) == (True, "a\N{REPLACEMENT CHARACTER}\0:1")


@dataclass(frozen=True)
class Weight:
    value: float


def weigh(params: Weight, *, context: ToolContext) -> ToolResult:
    return ToolResult(ok=True, message=f"{params.value:g} kg")


@pytest.mark.rule("M9.6")
@pytest.mark.parametrize("number", ["1e999", "9007199254740993"])
def test_a_number_nothing_could_store_is_answered_and_the_loop_goes_on(shop, name, number):
    wire, make = WIRES[name]
    tool = Tool("weigh", "Weigh it.", Weight, weigh, effects="read")
    call_it = make(calls=(("c1", "weigh", f'{{"value": {number}}}'),))
    with serving(Reply(call_it), Reply(make("fine"))) as server:
        models = far(shop, server.url, wire=wire, path="" if name == "messages" else "/v1")
        response = models.adapter("local-far:m").attended(
            make_prompt(output=None, tools=(tool,)),
            Ask("Weigh it."),
            attendant=Attendant(),
            session=Session(log=shop.store),
        )

    (record,) = response.tool_results
    assert (record.ok, record.code, response.text) == (False, "bad_arguments", "fine")


@pytest.mark.rule("M9.8", "M8.7")
def test_a_flood_of_calls_is_no_answer(name):
    wire, make = WIRES[name]
    few = tuple((f"c{number}", "look", "{}") for number in range(256))

    with serving(Reply(make(calls=few)), Reply(make(calls=(*few, ("c", "look", "{}"))))) as server:
        assert len(call(wire, server.url).calls) == 256
        assert call(wire, server.url).failure == ("PROVIDER_BAD_RESPONSE", "too_many_calls")


@pytest.mark.rule("M9.6", "M9.7")
def test_a_name_or_id_without_end_is_cut(name):
    wire, make = WIRES[name]

    with serving(Reply(make(calls=(("i" * 10_000, "n" * 1_000_000, "{}"),)))) as server:
        (one,) = call(wire, server.url).calls

    assert (one.id, len(one.name)) == ("", 256)


@pytest.mark.rule("M8.7", "M13.1")
@pytest.mark.parametrize("number", ["NaN", "-1", "1e400", "true", "1" + "0" * 400, '"7"', "[]"])
def test_a_count_that_is_none_counts_nothing(shop, number):
    events = [
        chunk.replace(b'"prompt_tokens": 11', f'"prompt_tokens": {number}'.encode())
        for chunk in chat("x")
    ]
    with serving(Reply(events)) as server:
        response = say(far(shop, server.url), bench=None)

    assert response.text == "x"
    assert type(response.usage.input_tokens) is int
    assert 0 <= response.usage.input_tokens < 100


@pytest.mark.rule("M6.6", "M1.1")
def test_a_probe_keeps_only_names_a_model_can_have(shop):
    names = ("good", "\x1b]0;evil\x07", "a b", "x" * 100_000, "", "also/good:7b")
    with serving(listing(*names), Reply(chat("yes"))) as server:
        models = shop.open()
        models.providers.upsert_local(
            UpsertLocal(provider_id="local-x", preset="custom", base_url=server.url)
        )
        found = models.providers.probe(ProviderRequest(provider_id="local-x"))

    assert found.models == ("also/good:7b", "good")


@pytest.mark.rule("M11.6", "M6.6", "M3.3")
@pytest.mark.parametrize(
    "body", [b'{"data": ' + b"[" * 5000 + b"]" * 5000 + b"}", b"[1]", b"null", b'{"data": 5}', b""]
)
def test_a_list_of_models_that_is_none_is_a_bad_response(shop, body):
    with serving(Reply([body], content_type="application/json")) as server:
        models = shop.open()
        models.providers.upsert_local(
            UpsertLocal(provider_id="local-x", preset="ollama", base_url=server.url)
        )
        checked = models.providers.validate(ProviderRequest(provider_id="local-x"))

    assert checked.ok is False
    assert str(checked.error).startswith("PROVIDER_BAD_RESPONSE")


@pytest.mark.rule("M3.6", "M3.2", "M17")
@pytest.mark.parametrize(
    "key", ["sk-bad\r\nX-Evil: 1", "sk-ünïcode-key", "sk with spaces", "short"]
)
def test_a_key_of_the_environment_that_cannot_be_one_is_not_sent(shop, key, caplog):
    with serving(Reply(chat("x"))) as server:
        shop.plugins = {"local-far": remote(server.url)}
        shop.environ = {"BACKSHOP_LOCAL_FAR_API_KEY": key}
        models = shop.open(resolver=to_server)

        with pytest.raises(KeyUnusable) as caught:
            models.adapter("local-far:m")
        found = standing(models, "local-far")

    assert server.seen == []
    assert "BACKSHOP_LOCAL_FAR_API_KEY" in caught.value.message
    assert key not in f"{caught.value!r} {caplog.text}"
    assert (found.status, found.attention) == ("needs_attention", "bad_key_format")
    assert found.key_hint is None


@pytest.mark.rule("M3.1", "M3.5")
def test_a_key_belongs_to_the_server_it_was_given_to(shop):
    with serving(listing("m")) as first, serving(listing("m")) as second:
        models = shop.open()

        def point(url: str, **more: Any) -> None:
            models.providers.upsert_local(
                UpsertLocal(
                    provider_id="local-x", preset="custom", base_url=url, needs_key=True, **more
                )
            )

        point(first.url)
        models.providers.set_api_key(SetApiKey(provider_id="local-x", api_key="12345678"))
        assert standing(models, "local-x").key_hint is None  # half of it would be too much
        models.providers.set_api_key(SetApiKey(provider_id="local-x", api_key=KEY))
        point(first.url, models=("m",))
        assert standing(models, "local-x").key_hint == KEY[-4:]
        point(second.url)
        moved = standing(models, "local-x")

    assert (moved.status, moved.key_source) == ("not_configured", "none")
    assert second.seen == []


@pytest.mark.rule("M12.1", "M8.7")
def test_a_server_that_does_not_read_is_left_at_once_when_told_so(name):
    wire, _ = WIRES[name]
    cancel = CancelToken()
    picture = Image(media_type="image/png", data=b"x" * 20_000_000)  # more than buffers take
    long = request(messages=(Message(role=Role.USER, text="See.", images=(picture,)),))
    took: list[float] = []

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        deaf.settimeout(30)
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        outcome: list[Any] = []
        asking = threading.Thread(
            target=lambda: outcome.append(call(wire, url, cancel=cancel, asked=long)), daemon=True
        )
        asking.start()
        near, _ = deaf.accept()
        with near:
            near.settimeout(30)
            assert near.recv(1)  # it has begun to write
            asked = time.monotonic()
            cancel.request()
            asking.join(8)  # the limit for a write that stalls is 10 s
            took.append(time.monotonic() - asked)

    assert took[0] < 8
    (got,) = outcome
    assert isinstance(got.last, Failed)
    assert got.failure[0] == "USER_CANCELED"


@pytest.mark.rule("M1.9")
@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_no_sdk_writes_requests_to_its_log(shop, sdk, monkeypatch, caplog):
    name = {"openai": "responses", "anthropic": "messages"}[sdk]
    wire, make = WIRES[name]
    monkeypatch.setenv(f"{sdk.upper()}_LOG", "debug")
    caplog.set_level(logging.DEBUG)
    logging.getLogger(sdk).setLevel(logging.DEBUG)  # what its import does with that variable
    said = request(messages=(Message(role=Role.USER, text="a word of the files"),))

    with serving(Reply(make("x"))) as server:
        assert call(wire, server.url, asked=said).text == "x"

    assert "a word of the files" not in caplog.text


@pytest.mark.rule("M3.8", "M3.10")
def test_a_keyring_that_misbehaves_is_no_key_store(tmp_path, monkeypatch):
    import keyring

    vault = KeyringVault(tmp_path)
    monkeypatch.setattr(keyring, "get_password", lambda service, name: "no base64!")
    with pytest.raises(SecretsUnreadable):
        vault.read()

    def locked(*args: str) -> None:
        raise RuntimeError("locked")

    for function in ("get_password", "set_password"):
        monkeypatch.setattr(keyring, function, locked)
    for act in (vault.read, vault.fresh):
        with pytest.raises(SecretsUnreadable):
            act()
