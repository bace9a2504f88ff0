"""What providers tell of their models, and what is made of it (M1.10, M6.10)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from backshop.models.catalog.catalog import builtin
from backshop.models.catalog.told import ModelFacts, facts, with_told
from backshop.models.egress.deadline import CallLimits
from backshop.models.egress.gate import Channel, EgressKind, Errand
from backshop.models.messages import Failed, Message, ModelRequest, Role
from backshop.models.providers.description import described
from backshop.models.requests import ListEgress, ProviderRequest, UpsertLocal
from backshop.models.wires import anthropic_messages, openai_chat
from backshop.prompts import CancelToken

from .calling import KEY
from .provider import Reply, chat, serving
from .test_service import Shop, remote, shop, to_server

__all__ = ["shop"]  # a fixture


@pytest.fixture(autouse=True)
def _loopback_counts_as_private(monkeypatch):
    monkeypatch.setattr("backshop.models.egress.policy.is_private", lambda address: True)


def answer(value: Any) -> Reply:
    return Reply([json.dumps(value).encode()], content_type="application/json")


def claude(**fields: Any) -> dict[str, Any]:
    """A model as Anthropic's list describes it (SDK 2.8, `ModelInfo`)."""
    yes, no = {"supported": True}, {"supported": False}
    return {
        "type": "model",
        "id": "m",
        "display_name": "M",
        "created_at": "2026-10-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": 750_000,
        "max_tokens": 96_000,
        "capabilities": {
            "effort": {
                "supported": True,
                **{"low": yes, "medium": yes, "high": yes, "max": no, "xhigh": yes},
            },
            "image_input": yes,
            "structured_outputs": yes,
        },
    } | fields


def known(models: Any, model_id: str = "local-far:m") -> Any:
    return next(one for one in models.models().models if one.model_id == model_id)


@pytest.mark.rule("M1.10", "M1.6")
def test_what_a_provider_tells_counts_before_the_catalogue_and_a_persons_entry_before_it(
    shop: Shop,
):
    shop.environ = {"BACKSHOP_LOCAL_FAR_API_KEY": KEY}
    with serving(answer({"data": [claude()], "has_more": False})) as server:
        shop.plugins = {"local-far": remote(server.url, wire=anthropic_messages, path="")}
        models = shop.open(resolver=to_server)
        assert known(models).context_tokens_estimate == 100_000

        assert models.providers.validate(ProviderRequest(provider_id="local-far")).ok

        assert server.seen[0].path.startswith("/v1/models?")
        models = shop.open(resolver=to_server)  # as after a restart
        found = known(models)
    assert (found.context_tokens_estimate, found.max_output_tokens) == (750_000, 96_000)
    assert found.efforts == ("low", "medium", "high", "xhigh")
    assert found.supports.vision is True

    shop.settings.put("models", [{"model_id": "local-far:m", "context_tokens_estimate": 50_000}])
    found = known(shop.open(resolver=to_server))
    assert (found.context_tokens_estimate, found.max_output_tokens) == (50_000, 96_000)


@pytest.mark.rule("M1.10")
def test_a_failed_check_forgets_nothing(shop: Shop):
    shop.environ = {"BACKSHOP_LOCAL_FAR_API_KEY": KEY}
    refused = Reply([b'{"error": {"message": "no"}}'], status=401, content_type="application/json")
    with serving(answer({"data": [claude()]}), refused) as server:
        shop.plugins = {"local-far": remote(server.url, wire=anthropic_messages, path="")}
        models = shop.open(resolver=to_server)
        models.providers.validate(ProviderRequest(provider_id="local-far"))
        assert not models.providers.validate(ProviderRequest(provider_id="local-far")).ok

        assert known(models).context_tokens_estimate == 750_000


@pytest.mark.rule("M1.10")
@pytest.mark.parametrize(
    "told",
    [
        {"window": "large", "output": 0, "efforts": "high", "vision": 1},
        {"window": True, "output": -1, "efforts": 7},
        {"window": 3, "output": 10**12},
        {},
    ],
)
def test_what_no_model_has_counts_as_not_told(told):
    assert facts(**told) == ModelFacts()


@pytest.mark.rule("M1.10")
def test_an_answer_is_never_longer_than_the_window():
    catalog = with_told(builtin(), "mistral", {"mistral-large-latest": facts(window=8192)})

    model, _ = catalog.resolve("mistral:mistral-large")

    assert (model.context_tokens_estimate, model.max_output_tokens) == (8192, 8192)


def channel(provider_id: str, answers: dict[str, Any], **fields: Any) -> Channel:
    """A channel whose server answers by path."""

    def answered(request: httpx2.Request) -> httpx2.Response:
        found = answers.get(request.url.path)
        return httpx2.Response(404) if found is None else httpx2.Response(200, json=found)

    provider = builtin().providers.get(provider_id) or builtin().providers["mistral"]
    return Channel(
        provider=replace(provider, provider_id=provider_id, **fields),
        key=KEY,
        errand=Errand(kind=EgressKind.VALIDATION),
        limits=CallLimits(),
        client=lambda: httpx2.Client(transport=httpx2.MockTransport(answered)),
        now_ms=lambda: 0,
        cancel=CancelToken(),
    )


@pytest.mark.rule("M1.10")
@pytest.mark.parametrize(
    ("provider_id", "fields", "answers", "name", "expected"),
    [
        pytest.param(
            "google",
            {},
            {
                "/v1beta/openai/models": {"data": [{"id": "models/gemini-3.6-flash"}]},
                "/v1beta/models": {
                    "models": [
                        {
                            "name": "models/gemini-3.6-flash",
                            "inputTokenLimit": 2_000_000,
                            "outputTokenLimit": 70_000,
                        }
                    ]
                },
            },
            "gemini-3.6-flash",
            ModelFacts(context_tokens=2_000_000, max_output_tokens=70_000),
            id="gemini",
        ),
        pytest.param(
            "google",
            {},
            {"/v1beta/openai/models": {"data": [{"id": "gemini-3.6-flash"}]}},
            "gemini-3.6-flash",
            ModelFacts(),
            id="gemini-without-its-own-list",
        ),
        pytest.param(
            "mistral",
            {},
            {
                "/v1/models": {
                    "data": [
                        {
                            "id": "mistral-large-latest",
                            "max_context_length": 262_144,
                            "capabilities": {"vision": True, "function_calling": True},
                        }
                    ]
                }
            },
            "mistral-large-latest",
            ModelFacts(context_tokens=262_144, vision=True),
            id="mistral",
        ),
        pytest.param(
            "local-v",
            {"preset": "vllm"},
            {"/v1/models": {"data": [{"id": "q", "max_model_len": 40_960}]}},
            "q",
            ModelFacts(context_tokens=40_960),
            id="vllm",
        ),
        pytest.param(
            "local-l",
            {"preset": "llamacpp"},
            {"/v1/models": {"data": [{"id": "s", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}}]}},
            "s",
            ModelFacts(context_tokens=4096),
            id="llamacpp",
        ),
        pytest.param(
            "local-l",
            {"preset": "llamacpp"},
            {
                "/v1/models": {"data": [{"id": "s", "meta": {"n_ctx": 4096}}]},
                "/props": {"modalities": {"vision": True, "audio": False}},
            },
            "s",
            ModelFacts(context_tokens=4096, vision=True),
            id="llamacpp with eyes",
        ),
        pytest.param(
            "local-s",
            {"preset": "lmstudio"},
            {
                "/v1/models": {"data": [{"id": "q"}]},
                "/api/v0/models": {
                    "data": [
                        {
                            "id": "q",
                            "type": "vlm",
                            "max_context_length": 131_072,
                            "loaded_context_length": 4096,
                        }
                    ]
                },
            },
            "q",
            ModelFacts(context_tokens=4096, vision=True),
            id="lmstudio",
        ),
    ],
)
def test_each_provider_is_understood(provider_id, fields, answers, name, expected):
    assert described(openai_chat, channel(provider_id, answers, **fields))[name] == expected


def ask(models: Any, words: int) -> Any:
    asked = ModelRequest(
        model_id="local-x:m", messages=(Message(role=Role.USER, text="word " * words),)
    )
    *_, last = models.adapter("local-x:m").complete(asked, CancelToken())
    return last


@pytest.mark.rule("M6.10")
def test_what_ollama_would_cut_is_not_sent(shop: Shop):
    loaded = answer({"models": [{"name": "m:latest", "context_length": 4096}]})
    with serving(loaded, Reply(chat("Hello"))) as server:
        models = shop.open()
        models.providers.upsert_local(
            UpsertLocal(provider_id="local-x", preset="ollama", base_url=server.url, models=("m",))
        )

        refused = ask(models, 4000)
        assert isinstance(refused, Failed)
        assert (refused.error.error_code, refused.error.reason) == (
            "CONTEXT_EXHAUSTED",
            "server_window",
        )
        assert any("OLLAMA_CONTEXT_LENGTH" in hint for hint in refused.error.hints or ())
        assert [one.path for one in server.seen] == ["/api/ps"]

        assert not isinstance(ask(models, 300), Failed)  # small ones are not asked about
        assert [one.path for one in server.seen] == ["/api/ps", "/v1/chat/completions"]

    events = models.permissions.egress_events(ListEgress()).events
    assert [(one.kind, one.status) for one in events] == [("probe", "ok"), ("call", "stop")]
