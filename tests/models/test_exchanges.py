"""What providers are sent and what they answer, replayed by the real wires over loopback.

`exchanges/*.json` are written by us in the shape that SDK types and documentation describe (each
names its source and the day it was read): no provider was asked.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backshop.base.ambient import SystemClock
from backshop.base.media.image import Image
from backshop.models.catalog.catalog import Auth, ModelRecord, ProviderRecord, builtin
from backshop.models.egress import stream
from backshop.models.egress.gate import Egress, EgressKind, Errand
from backshop.models.loop.tool_call import parse_arguments
from backshop.models.messages import (
    Done,
    Failed,
    Message,
    ModelRequest,
    ReasoningProgress,
    Role,
    ToolCall,
    Usage,
)
from backshop.models.providers.provider import LocalServer, local_model, local_record
from backshop.prompts import CancelToken

from .calling import KEY, TOOL, WIRES, OpenGate, Outcome
from .provider import Provider, Reply, serving
from .test_layout import unmarked

FOLDER = Path(__file__).with_name("exchanges")
EXCHANGES = {one.stem: json.loads(one.read_text("utf-8")) for one in sorted(FOLDER.glob("*.json"))}
CASES = [
    pytest.param(name, case, id=f"{name}: {case['name']}")
    for name, exchange in EXCHANGES.items()
    for case in exchange["cases"]
]
EVERY_CHAT = {"text", "cached", "parallel calls", "a call that is cut", "cut by length"}
STATUSES = {400, 401, 403, 404, 429, 500, 529}


def parties(exchange: dict[str, Any], url: str) -> tuple[ProviderRecord, ModelRecord]:
    """The provider and model of an exchange, as the product knows them, served at this address."""
    if "model" in exchange:
        catalog = builtin()
        model, _ = catalog.resolve(exchange["model"])
        provider = catalog.provider(model.provider_id)
    else:
        server = LocalServer(preset=exchange["preset"], base_url=url, context_tokens=40_960)
        provider, model = local_record("local-x", server), local_model("local-x", "m", server)
    base = url.removesuffix("/v1") if exchange["wire"] == "messages" else url
    here: dict[str, Any] = {"provider_id": "local-x", "base_url": base, "hosts": ("127.0.0.1",)}
    return (
        replace(provider, auth=Auth.API_KEY, **here),
        replace(model, provider_id="local-x", model_id="local-x:m"),
    )


def asked(**fields: Any) -> ModelRequest:
    told = (
        Message(role=Role.SYSTEM, text="Rules."),
        Message(role=Role.USER, text="Please."),
        Message(role=Role.USER, text="Now."),
    )
    return ModelRequest(**{"model_id": "local-x:m", "messages": told, "tools": (TOOL,), **fields})


def reply(exchange: dict[str, Any], case: dict[str, Any], size: int | None = None) -> Reply:
    if "body" in case:
        body = json.dumps(case["body"]).encode()
        headers = case.get("headers", {})
        return Reply([body], case["status"], headers, content_type="application/json")
    whole = b""
    for event in case["stream"]:
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        is_named = exchange["wire"] != "chat" and isinstance(event, dict)
        name = f"event: {event['type']}\n" if is_named else ""
        whole += f"{name}data: {data}\n\n".encode()
    step = size or len(whole)
    return Reply([whole[at : at + step] for at in range(0, len(whole), step)])


def exchanged(exchange: dict[str, Any], server: Provider, request: ModelRequest) -> Outcome:
    provider, model = parties(exchange, server.url)
    way = Egress(clock=SystemClock(), gate=OpenGate())
    errand = Errand(kind=EgressKind.CALL, model_id="local-x:m")
    channel = way.open(provider, KEY, errand, CancelToken())
    return Outcome(list(stream.complete(WIRES[exchange["wire"]][0], request, model, channel)))


def judge(done: Outcome, expect: dict[str, Any]) -> None:
    if "error" in expect:
        assert isinstance(done.last, Failed), done.last
        error = done.last.error
        assert error.error_code == expect["error"]
        assert expect.get("says", "") in error.message
        assert expect.get("reason", error.reason) == error.reason
        assert expect.get("wait_ms", error.retry.after_ms) == error.retry.after_ms
    else:
        assert done.finish == expect["finish"]
    assert done.text == expect.get("text", "")
    if "usage" in expect:
        of = expect["usage"]
        assert done.usage is not None
        assert done.usage.usage == Usage(
            of["input"], of["cached"], of["written"], of["output"], of["reasoning"]
        )
    if "calls" in expect:
        read = [(call.name, *parse_arguments(call.arguments)) for call in done.calls]
        assert [[name, None if bad else found] for name, found, bad in read] == expect["calls"]
        assert len({call.id for call in done.calls}) == len(done.calls)
    thought = any(isinstance(one, ReasoningProgress) for one in done.events)
    assert thought or not expect.get("thought")


@pytest.mark.rule("M8.3", "M8.4", "M8.5", "M8.6", "M11.6", "M13.1")
@pytest.mark.parametrize(("name", "case"), CASES)
def test_an_answer_is_understood(name, case):
    exchange = EXCHANGES[name]
    request = asked(max_output_tokens=case.get("max_output_tokens"))
    with serving(reply(exchange, case)) as server:
        done = exchanged(exchange, server, request)

    judge(done, case["expect"])
    assert KEY not in repr(done.events)


@pytest.mark.rule("M8.5", "M8.7")
@pytest.mark.parametrize("name", EXCHANGES)
def test_an_answer_that_comes_in_crumbs_is_the_same(name):
    exchange = EXCHANGES[name]
    case = next(one for one in exchange["cases"] if one["name"] == "parallel calls")
    with serving(reply(exchange, case, size=7)) as server:
        done = exchanged(exchange, server, asked())

    judge(done, case["expect"])


@pytest.mark.rule("M5.1", "M6.1", "M6.3", "M6.9")
@pytest.mark.parametrize("name", EXCHANGES)
def test_a_request_is_what_the_provider_takes(name):
    exchange = EXCHANGES[name]
    wanted = exchange["request"]
    with serving(reply(exchange, exchange["cases"][0])) as server:
        exchanged(exchange, server, asked())

    sent = server.seen[0].json
    assert {key: sent.get(key) for key in wanted["has"]} == wanted["has"]
    assert not set(wanted.get("lacks", ())) & set(sent)
    assert not isinstance(sent["tool_choice"], dict) or exchange["wire"] == "messages"
    assert ("max_tokens" in sent) or not wanted.get("bounded")
    if "roles" in wanted:
        assert [one["role"] for one in sent["messages"]] == wanted["roles"]


@pytest.mark.rule("M16.2", "M6.4")
@pytest.mark.parametrize("name", EXCHANGES)
def test_a_picture_of_a_result_is_shown_as_the_provider_takes_it(name):
    exchange = EXCHANGES[name]
    ids = ("abcdef123", "abcdef456")
    calls = Message(role=Role.ASSISTANT, tool_calls=tuple(ToolCall(i, "look", {}) for i in ids))
    picture = (Image("image/png", b"\x89PNG"),)
    results = (
        Message(role=Role.TOOL, text="a slide", images=picture, tool_call_id=ids[0]),
        Message(role=Role.TOOL, text="a line", tool_call_id=ids[1]),
    )
    with serving(reply(exchange, exchange["cases"][0])) as server:
        exchanged(exchange, server, asked(messages=(*asked().messages, calls, *results)))

    sent = server.seen[0].json
    told = unmarked(sent["input"] if "input" in sent else sent["messages"])
    wanted = exchange["picture"]["results"]
    assert told[-len(wanted) :] == wanted
    assert json.dumps(sent).count("iVBORw==") == 1


@pytest.mark.rule("M5.2", "M6.2", "M2.5")
@pytest.mark.parametrize("name", ["anthropic", "openai-responses"])
def test_what_a_model_thought_goes_back_as_it_came(name):
    exchange = EXCHANGES[name]
    case = next(one for one in exchange["cases"] if one["name"] == "reasoning")
    with serving(reply(exchange, case)) as server:
        done = exchanged(exchange, server, asked())
        assert isinstance(done.last, Done)
        said = Message(role=Role.ASSISTANT, text=done.text, provider_state=done.last.state)
        more = asked(messages=(*asked().messages, said, Message(role=Role.USER, text="Go on.")))
        exchanged(exchange, server, more)

    sent = server.seen[1].json
    if name == "anthropic":
        back = next(one["content"] for one in sent["messages"] if one["role"] == "assistant")
    else:
        back = sent["input"][2:-1]
    assert back == case["expect"]["back"]


@pytest.mark.rule("M6.3", "M19.14")
def test_a_thought_signature_of_gemini_goes_back_with_its_call():
    exchange = EXCHANGES["gemini"]
    case = next(one for one in exchange["cases"] if one["name"] == "parallel calls")
    with serving(reply(exchange, case)) as server:
        done = exchanged(exchange, server, asked())
        assert isinstance(done.last, Done)
        assert done.last.state is not None

    assert done.last.state.data["calls"][0]["extra_content"] == {
        "google": {"thought_signature": "c2ln"}
    }


def test_every_provider_is_shown_with_everything():
    for name, exchange in EXCHANGES.items():
        names = {case["name"] for case in exchange["cases"]}
        assert names >= EVERY_CHAT | {"broken off"}, name
        assert {case["status"] for case in exchange["cases"] if "status" in case} >= STATUSES, name
        assert exchange["source"], name
        assert exchange["read"] == "2026-11-17", name
