"""The facade: keys, consent, offline, records of what left."""

from __future__ import annotations

import json
import logging
import socket
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from backshop.base.ambient import Mint, SystemClock
from backshop.base.codec import encode
from backshop.base.command import Nothing
from backshop.base.errors import BackshopError, DiskFull, ValidationFailed
from backshop.base.media.image import Image
from backshop.models import (
    COMMANDS,
    PERMISSION_COMMANDS,
    PROVIDER_COMMANDS,
    AdapterKind,
    Models,
    Scope,
    ScopeFile,
)
from backshop.models.catalog.catalog import Auth, ModelRecord, Price, ProviderRecord, builtin
from backshop.models.egress.policy import policy
from backshop.models.egress.stream import Wire
from backshop.models.errors import AuthFailed, ProviderNotConfigured
from backshop.models.loop.response import PromptEvaluationError
from backshop.models.loop.retrying_call import RetryAnnounced
from backshop.models.messages import (
    Done,
    Failed,
    Message,
    ModelRequest,
    Role,
    TextDelta,
    ToolCall,
    Usage,
)
from backshop.models.providers import listening
from backshop.models.providers.provider import (
    LocalServer,
    MemorySettings,
    check_base_url,
    local_record,
)
from backshop.models.providers.registry import Plugin
from backshop.models.providers.vault import FileVault
from backshop.models.requests import (
    ConsentQuery,
    GrantConsent,
    ListEgress,
    ModelRequestById,
    ProviderRequest,
    RevokeConsent,
    SetApiKey,
    SetConsentMode,
    SetEnabled,
    SetReasoningEffort,
    UpsertLocal,
    UsageQuery,
)
from backshop.models.service import KeyPlaces
from backshop.models.wires import openai_chat
from backshop.prompts import CancelToken, MarkdownSection, Prompt, Session
from backshop.store import Store

from .calling import TOOL, WIRES
from .prompting import Ask, Review, make_prompt
from .provider import Reply, chat, serving, sse

HERE = "http://localhost:9/v1"
KEY = "sk-very-secret-0123456789"
BENCH = "wb_01JAAAAAAAAAAAAAAAAAAAAAAA"
PROMPT = Prompt("tests/plain", "plain", sections=[MarkdownSection("Say", "Say hello.", key="say")])
MODELS_LIST = Reply(
    [json.dumps({"object": "list", "data": [{"id": "m", "max_model_len": 8192}]}).encode()],
    content_type="application/json",
)


@dataclass
class Scopes:
    files: tuple[ScopeFile, ...] = (ScopeFile("a.txt", "0" * 64, 3),)

    def scope(self, workbench_id: str) -> Scope:
        return Scope(self.files)

    def model(self, workbench_id: str) -> str | None:
        return None


@dataclass
class Shop:
    """A home with models, closed and opened like the product does."""

    home: Path
    settings: MemorySettings = field(default_factory=MemorySettings)
    scopes: Scopes = field(default_factory=Scopes)
    plugins: dict[str, Plugin] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    offline: bool = False
    store: Store | None = None

    def open(self, **network: Any) -> Models:
        self.close()
        clock = SystemClock()
        self.store = Store.open(self.home, clock=clock, mint=Mint(clock))
        return Models(
            store=self.store,
            settings=self.settings,
            home=self.home,
            clock=clock,
            mint=Mint(clock),
            scopes=self.scopes,
            keys=KeyPlaces(environ=self.environ, vault=FileVault(self.home)),
            plugins=self.plugins,
            offline=self.offline,
            **network,
        )

    def close(self) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None


@pytest.fixture
def shop(tmp_path):
    made = Shop(tmp_path / "home")
    yield made
    made.close()


def remote(
    url: str,
    *,
    provider_id: str = "local-far",
    price: Price | None = None,
    wire: Wire = openai_chat,
    path: str = "/v1",
) -> Plugin:
    """A provider that counts as being elsewhere, though a test serves it."""
    port = url.rsplit(":", 1)[1].split("/")[0]
    record = ProviderRecord(
        provider_id=provider_id,
        display_name="Far",
        adapter=AdapterKind.PLUGIN,
        auth=Auth.API_KEY,
        base_url=f"http://far.example:{port}{path}",
        hosts=("far.example",),
        allows_private=True,
    )
    model = ModelRecord(
        model_id=f"{provider_id}:m",
        provider_id=provider_id,
        wire_name="m",
        display_name="M",
        context_tokens_estimate=100_000,
        max_output_tokens=1000,
        price=price,
    )
    return Plugin(provider=record, models=(model,), wire=wire)


def to_server(host, port):
    return [("127.0.0.1", port)]


def far(shop: Shop, url: str, **fields: Any) -> Models:
    """Open models whose far provider is the local server; its address counts as private."""
    shop.plugins = {"local-far": remote(url, **fields)}
    shop.environ = {"BACKSHOP_LOCAL_FAR_API_KEY": KEY}
    return shop.open(resolver=to_server)


@pytest.fixture(autouse=True)
def _loopback_counts_as_private(monkeypatch):
    monkeypatch.setattr("backshop.models.egress.policy.is_private", lambda address: True)


def say(models: Models, model_id: str = "local-far:m", bench: str | None = BENCH):
    return models.adapter(model_id, workbench_id=bench).evaluate(PROMPT, session=Session())


def refused(models: Models, **fields: Any) -> PromptEvaluationError:
    with pytest.raises(PromptEvaluationError) as caught:
        say(models, **fields)
    return caught.value


def grant(models: Models, *, persist: bool = False) -> None:
    status = models.permissions.status(ConsentQuery(workbench_id=BENCH, model_id="local-far:m"))
    models.permissions.grant(
        GrantConsent(
            workbench_id=BENCH,
            provider_id="local-far",
            model_id="local-far:m",
            scope_hash=status.scope_hash,
            persist=persist,
        )
    )


@pytest.mark.rule("M4.5", "M4.10", "M4.11", "M19.23")
def test_nothing_is_sent_before_consent_and_one_request_after(shop):
    with serving(Reply(chat("Hello"))) as server:
        models = far(shop, server.url)

        error = refused(models)
        assert error.error.error_code == "EGRESS_CONSENT_REQUIRED"
        assert error.error.actions == ("grant_consent", "switch_model")
        assert error.error.scope_hash == Scope(shop.scopes.files).hash()
        assert server.seen == []

        grant(models)
        assert say(models).text == "Hello"

    assert len(server.seen) == 1
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    (event,) = models.permissions.egress_events(ListEgress(workbench_id=BENCH)).events
    assert (event.kind, event.status, event.host) == ("call", "stop", "far.example")
    assert event.bytes_out == len(server.seen[0].body)
    assert (event.tokens_in, event.tokens_out) == (11, 7)


@pytest.mark.rule("M4.7", "M19.24")
def test_a_new_file_asks_again_and_a_removed_one_does_not(shop):
    with serving(Reply(chat("Hello"))) as server:
        models = far(shop, server.url)
        grant(models)

        shop.scopes.files = ()
        assert say(models).text == "Hello"
        shop.scopes.files = (
            ScopeFile("a.txt", "0" * 64, 3),
            ScopeFile("b.txt", "1" * 64, 4),
        )
        assert refused(models).error.error_code == "EGRESS_CONSENT_REQUIRED"
        status = models.permissions.status(ConsentQuery(workbench_id=BENCH, model_id="local-far:m"))

    assert (status.consented, status.new_items) == (False, ("b.txt",))


@pytest.mark.rule("M4.7", "M19.25", "M2.3")
def test_another_provider_is_asked_for_and_the_first_keeps_its_consent(shop):
    with serving(Reply(chat("Hello"))) as server:
        shop.plugins = {
            name: remote(server.url, provider_id=name) for name in ("local-far", "local-other")
        }
        shop.environ = {f"BACKSHOP_LOCAL_{name}_API_KEY": KEY for name in ("FAR", "OTHER")}
        models = shop.open(resolver=to_server)
        grant(models)

        assert say(models).text == "Hello"
        error = refused(models, model_id="local-other:m").error
        assert (error.error_code, error.provider_id) == ("EGRESS_CONSENT_REQUIRED", "local-other")
        assert say(models).text == "Hello"

    assert len(server.seen) == 2


@pytest.mark.rule("M4.8", "M19.26")
def test_consent_for_the_session_ends_with_it_and_a_persisted_one_does_not(shop):
    with serving(Reply(chat("Hello"))) as server:
        grant(far(shop, server.url))
        again = far(shop, server.url)
        assert refused(again).error.error_code == "EGRESS_CONSENT_REQUIRED"

        grant(again, persist=True)
        assert say(far(shop, server.url)).text == "Hello"

        last = far(shop, server.url)
        last.permissions.revoke(RevokeConsent(workbench_id=BENCH))
        assert refused(last).error.error_code == "EGRESS_CONSENT_REQUIRED"


@pytest.mark.rule("M4.8", "M4.11")
@pytest.mark.parametrize("persist", [False, True])
def test_revoking_takes_back_what_it_names_and_nothing_else(shop, persist):
    with serving(Reply(chat("Hello"))) as server:
        models = far(shop, server.url)
        grant(models, persist=persist)

        for other in (
            RevokeConsent(workbench_id="wb_other"),
            RevokeConsent(workbench_id=BENCH, provider_id="local-other"),
            RevokeConsent(workbench_id=BENCH, provider_id="local-far", model_id="local-far:n"),
        ):
            models.permissions.revoke(other)
            assert say(models).text == "Hello"
        models.permissions.revoke(RevokeConsent(workbench_id=BENCH, model_id="local-far:m"))
        assert refused(models).error.error_code == "EGRESS_CONSENT_REQUIRED"


@pytest.mark.rule("M4.9", "M19.29", "M17")
def test_allow_all_needs_approval_and_is_noted(shop):
    with serving(Reply(chat("Hello"))) as server:
        models = far(shop, server.url)
        for bad in (SetConsentMode(mode="allow_all"), SetConsentMode(mode="never")):
            with pytest.raises(ValidationFailed):
                models.permissions.set_mode(bad)

        models.permissions.set_mode(SetConsentMode(mode="allow_all", approved=True))
        assert say(models).text == "Hello"

    assert shop.store is not None
    facts = [event.fact for event in shop.store.read(f"bench:{BENCH}")]
    assert facts[0].consent_mode == "allow_all"


@pytest.mark.rule("M4.11", "M17")
def test_a_grant_for_something_else_is_refused(shop):
    with serving(Reply(chat("x"))) as server:
        models = far(shop, server.url)
        good = GrantConsent(
            workbench_id=BENCH,
            provider_id="local-far",
            model_id="local-far:m",
            scope_hash=Scope(shop.scopes.files).hash(),
        )

        for bad, reason in (
            (replace(good, scope_hash="0" * 64), "scope_changed"),
            (replace(good, provider_id="openai"), "unknown_provider"),
            (replace(good, model_id="local-far:none"), "unknown_model"),
        ):
            with pytest.raises(ValidationFailed) as caught:
                models.permissions.grant(bad)
            assert caught.value.reason == reason


@pytest.mark.rule("M4.12", "M4.1", "P5.21")
def test_offline_and_without_consent_no_socket_is_opened(shop, monkeypatch):
    opened = []

    class NoSocket(socket.socket):
        def __init__(self, *args, **kwargs):
            opened.append(args)
            raise AssertionError("a socket was opened")

    def no_names(host, port):
        opened.append(host)
        raise AssertionError("a name was looked up")

    shop.environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY}
    asking = shop.open(resolver=no_names)
    monkeypatch.setattr(socket, "socket", NoSocket)
    names = ("openai:gpt-5.2", "anthropic:claude-opus-4-6", "google:gemini-3-pro")
    for name in names:
        assert refused(asking, model_id=name).error.error_code == "EGRESS_CONSENT_REQUIRED"

    shop.offline = True
    offline = shop.open(resolver=no_names)
    offline.permissions.set_mode(SetConsentMode(mode="allow_all", approved=True))
    for name in names:
        error = refused(offline, model_id=name).error
        assert (error.error_code, error.reason) == ("EGRESS_BLOCKED_BY_POLICY", "offline")
    assert offline.providers.validate(ProviderRequest(provider_id="openai")).ok is False

    assert opened == []
    events = offline.permissions.egress_events(ListEgress(workbench_id=BENCH)).events
    assert [event.kind for event in events] == ["blocked"] * 3


@pytest.mark.rule("M11.6", "M19.36")
@pytest.mark.parametrize("error", [KeyError("x"), RuntimeError(KEY), RecursionError(), OSError(5)])
def test_an_exception_nobody_expected_is_a_bad_response(shop, error, caplog):
    class Broken:
        def complete(self, request, model, channel):
            yield TextDelta("half")
            raise error

        def models(self, channel):
            raise error

    with serving(Reply(chat("x"))) as server:
        models = far(shop, server.url, wire=Broken())
        logging.getLogger().addFilter(models.redactor)
        told = refused(models, bench=None)

    assert (told.error.error_code, told.error.reason) == (
        "PROVIDER_BAD_RESPONSE",
        "unknown_failure",
    )
    assert KEY not in f"{told!r} {told.error!r}"


@pytest.mark.rule("M10.2", "M10.3", "M19.31", "M19.32")
def test_a_rate_limit_is_waited_for_as_long_as_the_provider_says(shop, monkeypatch):
    def limited(**fields: Any) -> Reply:
        return Reply([fields.pop("body", b"")], 429, fields, content_type="application/json")

    waits: list[float] = []
    heard: list[int] = []
    session = Session()
    session.bus.subscribe(RetryAnnounced, lambda one: heard.append(one.event.wait_ms))

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return False

    monkeypatch.setattr(session.cancel, "wait", wait)  # nobody waits two seconds here
    quota = b'{"error": {"code": "insufficient_quota"}}'
    replies = (
        *(limited(**{"retry-after": "2"}), Reply(chat("Hello"))),
        *(limited(**{"retry-after": "900"}), limited(body=quota), Reply(chat("Bye"))),
    )
    with serving(*replies) as server:
        adapter = far(shop, server.url).adapter("local-far:m")

        assert adapter.evaluate(PROMPT, session=session).text == "Hello"
        assert (waits, heard) == ([2.0], [2000])
        for after_ms in (900_000, None):
            with pytest.raises(PromptEvaluationError) as caught:
                adapter.evaluate(PROMPT, session=session)
            assert caught.value.error.error_code == "PROVIDER_RATE_LIMITED"
            assert caught.value.error.retry.after_ms == after_ms

    assert len(server.seen) == 4
    assert len(waits) == 1


@pytest.mark.rule("M9.5", "M9.6", "M9.8", "M19.8", "M19.13")
@pytest.mark.parametrize("name", list(WIRES))
def test_calls_nobody_asked_for_at_once_and_broken_ones_are_answered_in_order(shop, name):
    wire, make = WIRES[name]
    calls = (
        ("c1", "look", '{"path": "a"}'),
        ("c2", "look", '{"path": '),
        ("c3", "look", "[1]"),
        ("c4", "fly", "{}"),
        ("c5", "look", '"{\\"path\\": \\"b\\"}"'),
    )
    with serving(Reply(make(calls=calls)), Reply(make('{"summary": "fine"}'))) as server:
        models = far(shop, server.url, wire=wire, path="" if name == "messages" else "/v1")
        adapter = models.adapter("local-far:m")

        response = adapter.evaluate(make_prompt(), Ask("Look."), session=Session())

    assert response.output == Review("fine")
    assert [(one.call_id, one.ok, one.code) for one in response.tool_results] == [
        ("c1", True, ""),
        ("c2", False, "bad_arguments"),
        ("c3", False, "bad_arguments"),
        ("c4", False, "tool_not_available"),
        ("c5", True, ""),
    ]
    again = json.dumps(server.seen[1].json)
    assert [again.count(one) for one, _, _ in calls] == [2] * 5  # each call, and its answer


@pytest.mark.rule("M13.1", "M19.42")
def test_what_a_server_does_not_count_is_estimated(shop):
    with serving(Reply(chat("Hello", usage=False))) as server:
        models = far(shop, server.url)
        grant(models)

        usage = say(models).usage

    assert (usage.estimated, usage.input_tokens > 0, usage.output_tokens > 0) == (True, True, True)
    assert models.permissions.usage(UsageQuery(workbench_id=BENCH)).usage.estimated is True


@pytest.mark.rule("M15.1", "P5.21", "M19.45")
def test_the_offline_model_needs_nothing_and_leaves_no_egress(shop):
    shop.offline = True
    models = shop.open()

    response = say(models, model_id="scripted:echo")

    assert response.text == "Begin."
    assert models.permissions.egress_events(ListEgress(workbench_id=BENCH)).events == ()
    usage = models.permissions.usage(UsageQuery(workbench_id=BENCH))
    assert (usage.calls, usage.usage.estimated) == (1, True)
    assert [one.model_id for one in usage.by_model] == ["scripted:echo"]


@pytest.mark.rule("M4.1", "M19.27")
def test_a_redirect_is_not_followed(shop):
    with serving(Reply([b""], status=302, headers={"location": "http://evil.example/"})) as server:
        models = far(shop, server.url)
        grant(models)

        error = refused(models).error

    assert (error.error_code, error.reason) == ("EGRESS_BLOCKED_BY_POLICY", "redirect")
    assert len(server.seen) == 1


@pytest.mark.rule("M4.3", "M19.28")
def test_localhost_that_leads_elsewhere_is_blocked(shop):
    models = shop.open(resolver=lambda host, port: [("93.184.216.34", port)])
    models.providers.upsert_local(
        UpsertLocal(provider_id="local-x", preset="ollama", models=("m",))
    )

    error = refused(models, model_id="local-x:m").error

    assert (error.error_code, error.reason) == ("EGRESS_BLOCKED_BY_POLICY", "address")


@pytest.mark.rule("M4.5")
def test_a_server_on_this_machine_needs_no_consent_unless_told_so(shop):
    with serving(Reply(chat("Hello"))) as server:
        models = shop.open()
        models.providers.upsert_local(
            UpsertLocal(provider_id="local-x", preset="custom", base_url=server.url, models=("m",))
        )

        assert say(models, model_id="local-x:m").text == "Hello"
        assert "authorization" not in server.seen[0].headers
        shop.settings.put("consent.for_local", True)
        assert refused(models, model_id="local-x:m").error.error_code == "EGRESS_CONSENT_REQUIRED"


@pytest.mark.rule("M3.2", "M3.3", "M19.17")
def test_a_key_is_checked_before_it_is_stored(shop):
    with serving(MODELS_LIST, Reply([b"no"], status=401), MODELS_LIST) as server:
        models = far(shop, server.url)
        shop.environ.clear()

        saved = models.providers.set_api_key(SetApiKey(provider_id="local-far", api_key=f" {KEY} "))
        assert saved.status == "configured"
        with pytest.raises(AuthFailed):
            models.providers.set_api_key(
                SetApiKey(provider_id="local-far", api_key="sk-wrong-0123456789")
            )
        assert models.providers.validate(ProviderRequest(provider_id="local-far")).ok

    assert [one.headers["authorization"] for one in server.seen] == [
        f"Bearer {KEY}",
        "Bearer sk-wrong-0123456789",
        f"Bearer {KEY}",
    ]
    assert {one.method for one in server.seen} == {"GET"}
    status = _status(models, "local-far")
    assert (status.key_source, status.key_hint, status.status) == ("store", "6789", "configured")


@pytest.mark.rule("M3.2", "M19.18")
def test_a_key_saved_while_offline_needs_attention(shop):
    shop.offline = True
    models = shop.open()

    saved = models.providers.set_api_key(SetApiKey(provider_id="openai", api_key=KEY))

    assert saved.status == "needs_attention"
    assert _status(models, "openai").last_error == "EGRESS_BLOCKED_BY_POLICY: offline"


@pytest.mark.rule("M3.2", "M17")
@pytest.mark.parametrize(
    "key", ["", "short", "has space inside", "ü" * 20, "x" * 513, "a\nbcdefgh"]
)
def test_what_cannot_be_a_key_is_refused_unsent(shop, key):
    with pytest.raises(ValidationFailed) as caught:
        shop.open().providers.set_api_key(SetApiKey(provider_id="openai", api_key=key))

    assert caught.value.reason == "bad_key_format"


@pytest.mark.rule("M3.6", "M19.51")
def test_the_stored_key_goes_before_ours_and_ours_before_the_vendors(shop):
    shop.environ = {
        "BACKSHOP_OPENAI_API_KEY": "own-key-of-mine-0002",
        "OPENAI_API_KEY": "vendor-key-of-mine-0003",
    }
    shop.offline = True
    models = shop.open()
    models.providers.set_api_key(SetApiKey(provider_id="openai", api_key="stored-key-of-mine-0001"))

    hints = [_status(models, "openai").key_hint]
    models.providers.clear_api_key(ProviderRequest(provider_id="openai"))
    hints.append(_status(models, "openai").key_hint)
    del shop.environ["BACKSHOP_OPENAI_API_KEY"]
    hints += [_status(models, name).key_hint for name in ("openai", "openai-codex")]
    shop.environ.clear()

    assert hints == ["0001", "0002", "0003", "0003"]
    assert _status(models, "openai").status == "not_configured"
    with pytest.raises(ProviderNotConfigured) as caught:
        models.adapter("openai:gpt-5.2")
    assert caught.value.info("settings").actions == ("open_settings", "switch_model")


@pytest.mark.rule("M3.10")
def test_an_unreadable_key_store_is_shown_on_every_provider(shop):
    models = shop.open()
    (shop.home / "secrets.enc").write_text("{}")

    status = models.providers.status()

    keyed = [one for one in status.providers if one.auth == "api_key"]
    assert {(one.status, one.attention) for one in keyed} == {
        ("needs_attention", "secrets_unreadable")
    }
    assert status.secrets_source == "unreadable"


@pytest.mark.rule("M2.1", "M2.2", "M2.6")
def test_there_is_never_another_model_than_the_one_chosen(shop):
    models = shop.open()

    assert models.default_model().model_id is None  # none that could not answer
    with pytest.raises(ProviderNotConfigured) as nothing:
        models.adapter()
    assert nothing.value.reason == "no_model"
    models.set_default_model(ModelRequestById(model_id="scripted:echo"))
    assert models.adapter().model_id == "scripted:echo"
    models.providers.set_enabled(SetEnabled(provider_id="scripted", enabled=False))
    with pytest.raises(ProviderNotConfigured) as caught:
        models.adapter()
    assert caught.value.reason == "disabled"
    listed = {one.model_id: one for one in models.models().models}
    assert listed["scripted:echo"].unavailable_reason == "disabled"
    assert listed["openai:gpt-5.2"].unavailable_reason == "no_key"
    assert listed["scripted:echo"].is_default


@pytest.mark.rule("M2.6")
def test_the_first_model_that_can_answer_becomes_the_default_and_stays_it(shop):
    models = shop.open()

    def add(name: str, *served: str) -> str | None:
        models.providers.upsert_local(
            UpsertLocal(provider_id=name, preset="custom", base_url=HERE, models=served)
        )
        found: str | None = models.default_model().model_id
        return found

    assert add("local-none") is None
    assert add("local-two", "b", "a") == "local-two:b"
    assert add("local-one", "c") == "local-two:b"
    models.providers.set_enabled(SetEnabled(provider_id="local-two", enabled=False))
    assert models.default_model().model_id == "local-two:b"  # never another in silence (M2.1)


@pytest.mark.rule("M2.6", "M3.2")
def test_a_key_that_nobody_could_check_comes_after_a_model_that_is_ready(shop):
    models = shop.open()
    models.providers.set_api_key(SetApiKey(provider_id="openai", api_key="sk-" + "a" * 20))

    assert (models.default_model().model_id or "").startswith("openai:")  # there is no other
    models.providers.upsert_local(
        UpsertLocal(provider_id="local-a", preset="custom", base_url=HERE, models=("m",))
    )
    assert models.default_model().model_id == "local-a:m"


@pytest.mark.rule("M2.6", "M3.6")
def test_a_key_of_the_environment_makes_a_default_until_somebody_chooses(shop):
    shop.environ["ANTHROPIC_API_KEY"] = "sk-" + "a" * 20
    models = shop.open()

    found = models.default_model().model_id
    assert (found or "").startswith("anthropic:")
    assert shop.settings.get("model.default") is None


@pytest.mark.rule("M6.11")
def test_servers_of_models_are_looked_for_on_this_machine_alone(shop, monkeypatch):
    with (
        socket.create_server(("127.0.0.1", 0)) as answering,
        socket.create_server(("127.0.0.1", 0)) as gone,
    ):
        ports = [one.getsockname()[1] for one in (answering, gone)]
        gone.close()
        urls = {name: f"http://localhost:{port}/v1" for name, port in zip("ab", ports, strict=True)}
        monkeypatch.setattr(listening, "PRESETS", {**urls, "custom": ""})
        models = shop.open()

        (found,) = models.providers.find_local().servers
        assert (found.provider_id, found.base_url, found.is_added) == ("local-a", urls["a"], False)
        models.providers.upsert_local(
            UpsertLocal(provider_id="local-mine", preset="custom", base_url=urls["a"])
        )
        (found,) = models.providers.find_local().servers
        assert (found.provider_id, found.is_added) == ("local-mine", True)


@pytest.mark.rule("M1.6", "M17")
def test_models_of_ones_own_are_data_and_bad_ones_are_listed(shop):
    good = {"model_id": "openai:gpt-6", "context_tokens_estimate": 300_000, "efforts": ["low"]}
    shop.settings.put(
        "models",
        [
            good,
            {"model_id": "openai:tiny", "context_tokens_estimate": 100},
            {"model_id": "nobody:x", "context_tokens_estimate": 9000},
            {"model_id": "openai:y", "context_tokens_estimate": "big"},
            7,
        ],
    )

    listed = {one.model_id: one for one in shop.open().models().models}

    assert listed["openai:gpt-6"].efforts == ("low",)
    invalid = [one for one in listed.values() if one.unavailable_reason == "invalid"]
    assert [one.model_id for one in invalid] == ["openai:tiny", "nobody:x", "openai:y", "(no id)"]
    assert all(one.invalid_reason for one in invalid)


@pytest.mark.rule("M7.1", "M19.3", "M19.4")
def test_efforts_are_kept_per_provider_and_reach_the_request(shop):
    models = shop.open()
    good = SetReasoningEffort(
        provider_id="openai-codex",
        research_effort="xhigh",
        plan_effort="low",
        implement_effort="high",
    )

    models.providers.set_reasoning_effort(good)

    assert _status(models, "openai-codex").rpi_reasoning.research == "xhigh"
    for bad in (replace(good, provider_id="google"), replace(good, provider_id="mistral")):
        with pytest.raises(ValidationFailed):
            models.providers.set_reasoning_effort(bad)


EFFORT_AT = {
    "responses": lambda body: body["reasoning"]["effort"],
    "chat": lambda body: body["reasoning_effort"],
    "messages": lambda body: body["output_config"]["effort"],
}


@pytest.mark.rule("M7.3", "M7.1", "M7.2", "M19.3")
@pytest.mark.parametrize("name", WIRES)
def test_every_provider_whose_models_think_takes_an_effort_per_phase(shop, name):
    wire, answer = WIRES[name]
    wanted = {"research": "high", "plan": "low", "implement": "high"}
    path = "" if name == "messages" else "/v1"
    with serving(Reply(answer("Hello"))) as server:
        far_one = remote(server.url, wire=wire, path=path)
        thinking = replace(far_one.models[0], efforts=("low", "medium", "high"))
        shop.plugins = {"local-far": replace(far_one, models=(thinking,))}
        shop.environ = {"BACKSHOP_LOCAL_FAR_API_KEY": KEY}
        models = shop.open(resolver=to_server)
        models.providers.set_reasoning_effort(
            SetReasoningEffort(
                provider_id="local-far", **{f"{one}_effort": wanted[one] for one in wanted}
            )
        )
        for purpose in (*wanted, "summary", "other"):
            prompt = Prompt("tests/plain", "plain", sections=PROMPT.sections, purpose=purpose)
            models.adapter("local-far:m").evaluate(prompt, session=Session())
    sent = [EFFORT_AT[name](one.json) for one in server.seen]

    assert sent == ["high", "low", "high", "medium", "medium"]


@pytest.mark.rule("M7.3", "M7.1")
def test_phases_of_any_thinking_provider_can_be_set_and_of_no_other(shop):
    models = shop.open()

    def set_to(provider_id: str, effort: str) -> str:
        words = {f"{one}_effort": effort for one in ("research", "plan", "implement")}
        models.providers.set_reasoning_effort(SetReasoningEffort(provider_id=provider_id, **words))
        return str(_status(models, provider_id).rpi_reasoning.plan)

    for provider_id, effort in (
        *(("openai", "none"), ("openai-codex", "xhigh"), ("anthropic", "max"), ("google", "low")),
    ):
        assert set_to(provider_id, effort) == effort
    for provider_id in ("mistral", "scripted"):
        with pytest.raises(ValidationFailed):
            set_to(provider_id, "medium")
        assert _status(models, provider_id).rpi_reasoning is None


@pytest.mark.rule("M1.4", "M2.2")
def test_a_listed_model_says_all_that_the_registry_knows(shop):
    models = shop.open()
    listed = {one.model_id: encode(one) for one in models.models().models}

    for model in builtin().models.values():
        assert encode(model).items() <= listed[model.model_id].items()


@pytest.mark.rule("M1.7")
def test_any_model_reads_files_and_one_with_tools_works_on_them(shop):
    mute = {"model_id": "openai:mute", "context_tokens_estimate": 9_000}
    shop.settings.put("models", [{**mute, "supports": {"tools": False}}])
    models = shop.open()
    able, plain = (
        models.capabilities(ModelRequestById(model_id=name))
        for name in ("openai:gpt-5.2", "openai:mute")
    )

    assert (able.supports_file_read, able.supports_file_ops) == (True, True)
    assert (plain.supports_file_read, plain.supports_file_ops) == (True, False)
    assert (able.context_tokens, plain.context_tokens) == (200_000, 9_000)
    assert plain.supports.tools is False
    assert (able.scripted, able.suggestions) == (False, ())


@pytest.mark.rule("M13.3", "M19.41")
def test_a_budget_stops_a_call_before_it_is_sent(shop):
    with serving(Reply(chat("Hello"))) as server:
        models = far(shop, server.url, price=Price(input=1.0, output=2.0))
        grant(models)
        shop.settings.put("budget.tokens", 2000)
        assert say(models).text == "Hello"
        shop.settings.put("budget.tokens", 1040)
        assert refused(models).error.error_code == "BUDGET_CAP_REACHED"
        shop.settings.put("budget.tokens", None)
        shop.settings.put("budget.usd", 0.000001)
        assert refused(models).error.reason == "budget_usd"

    assert len(server.seen) == 1
    report = models.permissions.usage(UsageQuery(workbench_id=BENCH))
    assert report.calls == 1
    assert report.usd_estimate == pytest.approx((11 + 14) / 1_000_000)


@pytest.mark.rule("M13.1", "M13.2", "M4.12")
def test_cached_tokens_are_kept_and_summed(shop):
    usage = {
        "prompt_tokens": 900,
        "prompt_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 300},
        "completion_tokens": 10,
        "total_tokens": 910,
    }
    choice = {"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}
    answer = sse({"choices": [choice]}, {"choices": [], "usage": usage}, "[DONE]")
    price = Price(input=2.0, cached_input=0.2, cache_write=2.5, output=8.0)
    with serving(Reply(answer)) as server:
        models = far(shop, server.url, price=price)
        grant(models)
        say(models)
        say(models)

    report = models.permissions.usage(UsageQuery(workbench_id=BENCH))
    assert report.usage == Usage(1800, 1000, 600, 20, 0)
    assert report.by_model[0].usage == report.usage
    one = (100 * 2.0 + 500 * 0.2 + 300 * 2.5 + 10 * 8.0) / 1_000_000
    assert report.usd_estimate == pytest.approx(2 * one)
    events = models.permissions.egress_events(ListEgress(workbench_id=BENCH)).events
    assert [(e.tokens_cached, e.tokens_cache_write) for e in events] == [(500, 300)] * 2


@pytest.mark.rule("M6.5", "M19.43")
def test_a_server_that_cut_the_prompt_is_found_out(shop):
    with serving(Reply(chat("Hello"))) as server:
        models = shop.open()
        models.providers.upsert_local(
            UpsertLocal(provider_id="local-x", preset="custom", base_url=server.url, models=("m",))
        )
        long = Prompt(
            "tests/long", "long", sections=[MarkdownSection("Say", "word " * 3000, key="say")]
        )

        with pytest.raises(PromptEvaluationError) as caught:
            models.adapter("local-x:m").evaluate(long, session=Session())

    assert caught.value.error.error_code == "CONTEXT_EXHAUSTED"
    assert caught.value.error.reason == "prompt_cut_by_server"


@pytest.mark.rule("M3.5", "M6.6")
def test_a_probe_finds_out_what_a_server_can_do(shop):
    called = Reply(chat(calls=(("c", "answer", '{"text": "yes"}'),)))
    refusal = Reply([b'{"error": {"message": "unknown field"}}'], status=400)
    with serving(MODELS_LIST, Reply(chat("yes")), refusal, called, refusal) as server:
        models = shop.open()
        models.providers.upsert_local(
            UpsertLocal(provider_id="local-x", preset="custom", base_url=server.url)
        )

        found = models.providers.probe(ProviderRequest(provider_id="local-x"))

    assert (found.models, found.context_tokens) == (("m",), 8192)
    assert (found.supports.tools, found.supports.parallel_flag) == (True, False)
    assert (found.supports.strict_tools, found.supports.usage) == (False, True)
    assert len(found.warnings) == 2
    assert "parallel_tool_calls" not in server.seen[3].json
    listed = [one.model_id for one in models.models().models]
    assert "local-x:m" in listed
    events = models.permissions.egress_events(ListEgress()).events
    assert [(one.kind, one.status) for one in events] == [("probe", "ok")] * 5


def _json(value):
    return Reply([json.dumps(value).encode()], content_type="application/json")


@pytest.mark.rule("M6.5")
@pytest.mark.parametrize(
    ("answers", "window"),
    [
        ([_json({"models": [{"name": "m", "context_length": 16_384}]})], 16_384),
        (
            [_json({"models": []}), _json({"parameters": 'stop "x"\nnum_ctx   12288'})],
            12_288,
        ),
        ([_json({"models": "?"}), _json({"model_info": {"llama.context_length": 131_072}})], 4096),
        ([Reply([b"404"], status=404)], 4096),
        ([Reply([b"no json"], content_type="application/json")], 4096),
    ],
)
def test_ollama_is_asked_what_it_gives_a_model_not_what_the_model_could_take(shop, answers, window):
    listed = _json({"object": "list", "data": [{"id": "m"}]})
    called = Reply(chat(calls=(("c", "answer", '{"text": "yes"}'),)))
    with serving(listed, Reply(chat("yes")), called, called, *answers) as server:
        models = shop.open()
        models.providers.upsert_local(
            UpsertLocal(provider_id="local-x", preset="ollama", base_url=server.url)
        )

        found = models.providers.probe(ProviderRequest(provider_id="local-x"))

    assert found.context_tokens == window
    assert [one.path for one in server.seen][4:5] == ["/api/ps"]
    [model] = [one for one in models.models().models if one.model_id == "local-x:m"]
    assert (model.context_tokens_estimate, model.approximate) == (window, window == 4096)


@pytest.mark.rule("M1.10", "M16.1")
@pytest.mark.parametrize(
    ("preset", "about", "shown", "sees"),
    [
        ("custom", {"capabilities": {"vision": True}}, [], True),
        ("custom", {"capabilities": {"vision": False}}, [], False),
        ("custom", {}, [], False),
        ("ollama", {}, [{"capabilities": ["completion", "vision"]}], True),
        ("ollama", {}, [{"capabilities": ["completion"]}], False),
        ("ollama", {}, [{"capabilities": "vision"}], False),
    ],
)
def test_a_probe_finds_out_which_models_take_pictures(shop, preset, about, shown, sees):
    listed = _json({"object": "list", "data": [{"id": "m", "max_model_len": 8192, **about}]})
    called = Reply(chat(calls=(("c", "answer", '{"text": "yes"}'),)))
    window = [_json({"models": [{"name": "m", "context_length": 8192}]})] if shown else []
    answers = (Reply(chat("yes")), called, called, *window, *map(_json, shown))
    with serving(listed, *answers) as server:
        models = shop.open()
        models.providers.upsert_local(
            UpsertLocal(provider_id="local-x", preset=preset, base_url=server.url)
        )

        found = models.providers.probe(ProviderRequest(provider_id="local-x"))

    assert found.pictures == (("m",) if sees else ())
    [model] = [one for one in models.models().models if one.model_id == "local-x:m"]
    assert (model.supports.vision, model.context_tokens_estimate) == (sees, 8192)


@pytest.mark.rule("M4.3", "M17")
@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:1", "ftp://localhost/", "file:///etc/passwd", "http://", "http:///v1"),
        *("http://user:pw@localhost/", "http://localhost/?a=1", "http://localhost/#x"),
        *("http://169.254.169.254/", "https://169.254.169.254/", "http://[fe80::1]/"),
        *(
            "http://example.com/v1",
            "http://10.0.0.1/v1",
            "https://8.8.8.8/v1",
            "http://localhost:0/",
        ),
        "http://localhost:99999/",
        *("http://localhost:1/v1\n", "http://localhost:1/v 1", "http://localhost\\@e.com/v1"),
        *("https://a%20b/v1", "https://münchen.example/v1", "http://localhost/\x7f"),
    ],
)
def test_an_address_that_could_be_misused_is_refused(url):
    with pytest.raises(ValidationFailed) as caught:
        check_base_url(url, allow_private_host=False)

    assert caught.value.reason == "bad_base_url"


@pytest.mark.rule("M4.3")
@pytest.mark.parametrize(
    ("url", "private"),
    [
        ("http://localhost:11434/v1", False),
        ("http://127.0.0.9:1/v1", False),
        ("http://[::1]:8080/v1", False),
        ("https://models.example.com/v1", False),
        ("https://Models.example.com:443/v1", False),
        ("http://127.0.0.1:80/v1", False),
        ("http://192.168.1.7:8000/v1", True),
    ],
)
def test_addresses_people_use_are_taken(url, private):
    assert check_base_url(url, allow_private_host=private) == url
    record = local_record("local-x", LocalServer(preset="custom", base_url=url))
    assert policy(record, str(httpx2.URL(f"{url}/models")), offline=False) is None
    assert policy(record, "https://evil.example/v1/models", offline=False) is not None


@pytest.mark.rule("M3.5", "M17")
def test_bad_servers_are_refused(shop):
    models = shop.open()
    good = UpsertLocal(provider_id="local-x", preset="ollama")

    for bad, reason in (
        (replace(good, provider_id="x"), "bad_provider_id"),
        (replace(good, provider_id="openai"), "bad_provider_id"),
        (replace(good, preset="other"), "bad_preset"),
        (replace(good, preset="custom"), "bad_base_url"),
        (replace(good, models=("a b",)), "unknown_model"),
    ):
        with pytest.raises(ValidationFailed) as caught:
            models.providers.upsert_local(bad)
        assert caught.value.reason == reason
    with pytest.raises(ValidationFailed):
        models.providers.remove(ProviderRequest(provider_id="openai"))
    models.providers.upsert_local(good)
    models.providers.remove(ProviderRequest(provider_id="local-x"))
    assert "local-x" not in [one.provider_id for one in models.providers.status().providers]


@pytest.mark.rule("M3.12", "M19.16")
def test_a_key_turns_up_nowhere(shop, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    leak = f'{{"error": {{"message": "bad key {KEY}"}}}}'.encode()
    with serving(Reply([leak], status=400), Reply([leak], status=401), Reply(chat("Hi"))) as server:
        models = far(shop, server.url)
        for handler in logging.getLogger().handlers:
            handler.addFilter(models.redactor)
        grant(models)
        errors = [refused(models) for _ in range(2)]
        say(models)
        models.providers.set_api_key(SetApiKey(provider_id="local-far", api_key=KEY))
        assert _status(models, "local-far").last_error == "PROVIDER_BAD_RESPONSE: unknown_failure"
    for handler in logging.getLogger().handlers:
        handler.removeFilter(models.redactor)

    assert shop.store is not None
    assert all(error.error.detail_ref in caplog.text for error in errors)
    shown = [
        *(repr(error.error) + repr(error) + str(error) for error in errors),
        caplog.text,
        *capfd.readouterr(),
        repr(models.providers.status()),
        repr(SetApiKey(provider_id="x", api_key=KEY)),
        *(str(one.path) for one in server.seen),
        json.dumps(shop.settings.values),
    ]
    for stream in ("home", f"bench:{BENCH}"):
        shown += [json.dumps(event.data) for event in shop.store.read(stream)]
    shop.close()
    for file in shop.home.rglob("*"):
        if file.is_file():
            shown.append(file.read_bytes().decode("latin-1"))
    assert not [text for text in shown if KEY in text]


class FullLedger:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def sent(self, outgoing, mode):
        raise DiskFull("no room for the record")


@pytest.mark.rule("M4.12")
@pytest.mark.parametrize("name", ["openai:gpt-5.2", "anthropic:claude-opus-4-6"])
def test_what_cannot_be_recorded_is_not_sent(shop, name):
    shop.environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    models = shop.open(resolver=to_server)
    models.permissions.set_mode(SetConsentMode(mode="allow_all", approved=True))
    models._gate._ledger = FullLedger(models._ledger)

    assert refused(models, model_id=name).error.error_code == "DISK_FULL"


@pytest.mark.rule("M19.47")
def test_a_call_that_never_ended_is_of_unknown_outcome(shop):
    with serving(Reply(chat("Hello"))) as server:
        models = far(shop, server.url)
        grant(models)
        adapter = models.adapter("local-far:m", workbench_id=BENCH)
        from backshop.models.messages import Message, ModelRequest, Role
        from backshop.prompts import CancelToken

        request = ModelRequest(
            model_id="local-far:m",
            messages=(Message(role=Role.USER, text="hi"),),
            workbench_id=BENCH,
        )
        events = adapter.complete(request, CancelToken())
        next(events)
        (pending,) = models.permissions.egress_events(ListEgress(workbench_id=BENCH)).events
        events.close()  # type: ignore[attr-defined]  # a generator
        (ended,) = models.permissions.egress_events(ListEgress(workbench_id=BENCH)).events

    assert pending.status == "unknown"
    assert ended.status == "canceled"


def test_unknown_names_are_refused_by_every_command(shop):
    models = shop.open()
    nobody = ProviderRequest(provider_id="nobody")
    for command in PROVIDER_COMMANDS:
        if command.request is ProviderRequest:
            with pytest.raises(BackshopError) as caught:
                command.run(models.providers, nobody)
            assert caught.value.reason == "unknown_provider"
    for by_model in COMMANDS:
        if by_model.request is ModelRequestById:
            with pytest.raises(BackshopError) as caught:
                by_model.run(models, ModelRequestById(model_id="openai:nothing"))
            assert caught.value.reason == "unknown_model"


@pytest.mark.rule("M16")
def test_every_command_answers_with_what_it_promises(shop):
    models = shop.open()
    tables: dict[Any, Any] = {
        models: COMMANDS,
        models.permissions: PERMISSION_COMMANDS,
        models.providers: PROVIDER_COMMANDS,
    }

    for facade, commands in tables.items():
        for command in commands:
            if command.request is Nothing:
                assert isinstance(command.run(facade, Nothing()), command.response)


@pytest.mark.rule("M15.9")
def test_an_offline_model_says_what_it_can_do(shop):
    models = shop.open()

    demo, echo, real = (
        models.capabilities(ModelRequestById(model_id=model_id))
        for model_id in ("scripted:demo", "scripted:unknown", "openai:gpt-5.2")
    )

    assert demo.scripted
    assert len(demo.suggestions) >= 6
    assert all(one.title and one.prompt for one in demo.suggestions)
    assert (echo.scripted, echo.suggestions) == (True, ())
    assert (real.scripted, real.suggestions) == (False, ())


@pytest.mark.rule("M1.8")
def test_an_alias_warns(shop):
    found = shop.open().capabilities(ModelRequestById(model_id="openai:gpt-5.2-latest"))

    assert found.warnings == ("model_aliased:openai:gpt-5.2-latest",)
    assert (found.supports_file_read, found.supports_file_ops) == (True, True)


def _status(models: Models, provider_id: str):
    return next(
        one for one in models.providers.status().providers if one.provider_id == provider_id
    )


@pytest.mark.rule("M9.11")
def test_a_provider_that_refuses_strict_tools_is_asked_again_without_and_stays_so(shop):
    def no(text: str) -> Reply:
        return Reply([json.dumps({"error": {"message": text}}).encode()], status=400)

    grammar = no("The compiled grammar is too large. Reduce the number of strict tools.")
    with serving(grammar, Reply(chat("Hi")), Reply(chat("Ho")), no("no such field")) as server:
        models = far(shop, server.url)
        grant(models)
        asked = ModelRequest(
            model_id="local-far:m",
            messages=(Message(role=Role.USER, text="Hi"),),
            tools=(TOOL,),
            workbench_id=BENCH,
        )

        def once() -> str:
            adapter = models.adapter("local-far:m", workbench_id=BENCH)
            events = list(adapter.complete(asked, CancelToken()))
            assert sum(isinstance(one, Done | Failed) for one in events) == 1
            return "".join(one.text for one in events if isinstance(one, TextDelta))

        assert (once(), once(), once()) == ("Hi", "Ho", "")
        strict = [seen.json["tools"][0]["function"]["strict"] for seen in server.seen]
        assert strict == [True, False, False, False]
        events = models.permissions.egress_events(ListEgress(workbench_id=BENCH)).events
        assert len(events) == len(server.seen)


@pytest.mark.rule("M9.11")
def test_a_provider_that_refuses_a_forced_call_is_asked_again_without_and_stays_so(shop):
    said = {"error": {"message": "tool_choice of this kind is not supported by this model"}}
    no = Reply([json.dumps(said).encode()], status=400)
    with serving(no, Reply(chat("Hi")), Reply(chat("Ho"))) as server:
        models = far(shop, server.url)
        grant(models)
        asked = ModelRequest(
            model_id="local-far:m",
            messages=(Message(role=Role.USER, text="Hi"),),
            tools=(TOOL,),
            workbench_id=BENCH,
        )
        adapter = models.adapter("local-far:m", workbench_id=BENCH)
        for _ in range(2):
            assert isinstance(list(adapter.complete(asked, CancelToken()))[-1], Done)

    assert [seen.json["tool_choice"] for seen in server.seen] == ["required", "auto", "auto"]
    assert all(seen.json["tools"][0]["function"]["strict"] for seen in server.seen)


@pytest.mark.rule("M16.5")
@pytest.mark.parametrize(
    ("status", "text", "stays"),
    [
        (400, "This model does not support image input", True),
        (500, "image input is not supported - hint: you may need to provide the mmproj", True),
        (400, "At most 1 image may be provided in one request", False),
    ],
)
def test_a_provider_that_refuses_pictures_is_asked_again_without(shop, status, text, stays):
    no = Reply([json.dumps({"error": {"message": text}}).encode()], status=status)
    with serving(no, Reply(chat("Hi")), Reply(chat("Ho"))) as server:
        models = far(shop, server.url)
        grant(models)
        call = ToolCall(id="c1", name=TOOL.name, arguments={"text": "x"})
        asked = ModelRequest(
            model_id="local-far:m",
            messages=(
                Message(role=Role.USER, text="Look"),
                Message(role=Role.ASSISTANT, tool_calls=(call,)),
                Message(
                    role=Role.TOOL,
                    text="page 1",
                    tool_call_id="c1",
                    images=(Image("image/png", b"\x89PNG"),),
                ),
            ),
            tools=(TOOL,),
            workbench_id=BENCH,
        )
        adapter = models.adapter("local-far:m", workbench_id=BENCH)
        for _ in range(2):
            assert isinstance(list(adapter.complete(asked, CancelToken()))[-1], Done)

    bodies = [seen.body.decode() for seen in server.seen]
    assert ["image_url" in one for one in bodies] == [True, False, not stays]
    assert ["This picture was not sent" in one for one in bodies] == [False, True, stays]


@pytest.mark.rule("M11.6")
@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no room"}},
        [{"error": {"code": 400, "message": "no room", "status": "INVALID"}}],
        {"object": "error", "message": {"detail": [{"loc": ["body"], "msg": "no room"}]}},
        {"detail": "no room"},
        {"error": "no room"},
    ],
)
def test_a_refusal_is_told_in_the_words_of_any_provider(shop, body):
    no = Reply([json.dumps(body).encode()], status=400, content_type="application/json")
    with serving(no) as server:
        models = far(shop, server.url)
        grant(models)

        assert "(no room)" in str(refused(models).error.message)
