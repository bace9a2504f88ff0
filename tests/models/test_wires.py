"""The three protocols through the real SDKs, against a server that also misbehaves."""

from __future__ import annotations

import json
import random
import threading
from typing import Any

import pytest

from backshop.base.ambient import SystemClock
from backshop.models.egress.deadline import CallLimits
from backshop.models.egress.gate import Egress, EgressKind, Errand
from backshop.models.messages import Done, Failed, ReasoningProgress, Started, TextDelta
from backshop.models.wires import openai_chat, openai_responses
from backshop.prompts import CancelToken

from .calling import KEY, WIRES, OpenGate, call, record, request
from .provider import Reply, chat, responses, serving, sse

CALLS = (("call_1", "look", '{"q": "é😀"}'), ("call_2", "look", '{"q": "b"}'))
QUICK = CallLimits(connect_s=2, first_event_s=0.4, first_event_local_s=0.4, idle_s=0.4, call_s=1.5)


@pytest.fixture(params=list(WIRES), name="name")
def _name(request):
    return request.param


@pytest.mark.rule("M8.3", "M8.4", "M8.5", "M13.1", "M19.10")
def test_text_tools_and_usage_arrive(name):
    wire, make = WIRES[name]

    with serving(Reply(make("Hél", "lo 😀", calls=CALLS))) as server:
        got = call(wire, server.url)

    assert got.text == "Héllo 😀"
    assert isinstance(got.events[0], Started)
    assert [(one.id, one.name, json.loads(one.arguments)) for one in got.calls] == [
        ("call_1", "look", {"q": "é😀"}),
        ("call_2", "look", {"q": "b"}),
    ]
    assert got.usage is not None
    assert (got.usage.usage.input_tokens, got.usage.usage.output_tokens) == (11, 7)
    assert got.finish == "tool_calls"


@pytest.mark.rule("M8.5", "M19.10")
def test_pieces_of_a_call_that_name_only_their_item_are_joined():
    wire, make = WIRES["responses"]
    begun = {"type": "function_call", "id": "fc_9", "call_id": "call_1", "name": "look"}
    added = {"type": "response.output_item.added", "output_index": 0}
    pieces = [
        {"type": "response.function_call_arguments.delta", "item_id": "fc_9", "delta": piece}
        for piece in ('{"q":', ' "a"}')
    ]
    first, *_, last = make()

    with serving(
        Reply([first, *sse(added | {"item": {**begun, "arguments": ""}}, *pieces), last])
    ) as server:
        got = call(wire, server.url)

    assert [(one.id, one.name, one.arguments) for one in got.calls] == [
        ("call_1", "look", '{"q": "a"}')
    ]
    assert got.finish == "tool_calls"


@pytest.mark.rule("M8.3")
def test_a_stream_cut_at_any_byte_reads_the_same(name, scaled):
    wire, make = WIRES[name]
    whole = b"".join(make("Hél", "lo 😀", calls=CALLS[:1]))
    places = range(1, len(whole))
    chosen = sorted(random.Random(7).sample(places, min(len(places), scaled(25, len(whole)))))
    with serving(Reply([whole])) as server:
        expected = call(wire, server.url).events

    for place in chosen:
        with serving(Reply([whole[:place], whole[place:]], pause_s=0.002)) as server:
            assert call(wire, server.url).events == expected


@pytest.mark.rule("M8.6", "M19.11")
def test_a_connection_dropped_at_any_event_is_an_error_with_the_text_so_far(name):
    wire, make = WIRES[name]
    chunks = make("one ", "two ", "three")
    terminal = 1 if name != "chat" else 3

    for count in range(len(chunks) - terminal + 1):
        with serving(Reply(chunks[:count])) as server:
            got = call(wire, server.url)
        assert got.failure == ("PROVIDER_UNAVAILABLE", "stream_interrupted")
        assert "one two three".startswith(got.text)


@pytest.mark.rule("M8.6")
def test_a_stream_that_breaks_inside_an_event_keeps_the_text(name):
    wire, make = WIRES[name]
    whole = b"".join(make("one ", "two"))
    cut = whole.index(b"two") + 1

    with serving(Reply([whole[:cut]])) as server:
        got = call(wire, server.url)

    assert got.failure == ("PROVIDER_UNAVAILABLE", "stream_interrupted")
    assert got.text == "one "


def test_a_content_length_that_promises_more_is_a_broken_connection(name):
    wire, make = WIRES[name]

    with serving(Reply(make("one ")[:3], headers={"content-length": "999999"})) as server:
        got = call(wire, server.url)

    assert got.failure == ("PROVIDER_UNAVAILABLE", "stream_interrupted")


@pytest.mark.rule("M8.7")
def test_a_few_unreadable_events_are_passed_over_and_many_are_not(name):
    wire, make = WIRES[name]
    good = make("fine")
    bad = [b"event: x\ndata: {not json\n\n"]

    with serving(Reply([good[0], *bad * 10, *good[1:]]), Reply([*bad * 11, *good])) as server:
        few = call(wire, server.url)
        many = call(wire, server.url)

    assert few.text == "fine"
    assert isinstance(few.last, Done)
    assert many.failure == ("PROVIDER_BAD_RESPONSE", "unparsable_events")


@pytest.mark.rule("M8.3")
@pytest.mark.parametrize(
    "events",
    [
        [{"type": "response.output_text.delta"}],
        [{"type": "response.output_item.added", "item": None}],
        [{"type": "response.function_call_arguments.delta", "item_id": 7, "delta": {}}],
        [{"type": "content_block_delta", "index": None, "delta": "x"}],
        [{"type": "message_start", "message": []}],
        [{"choices": [{}]}, {"choices": "x"}, {"choices": [{"delta": {"tool_calls": [None]}}]}],
        [{"choices": [{"delta": {"tool_calls": {"index": 1}}, "finish_reason": 9}]}],
        [{}],
    ],
)
def test_events_of_the_wrong_shape_never_break_out(name, events):
    wire, make = WIRES[name]

    with serving(Reply([*sse(*events, named=False), *make("fine")])) as server:
        got = call(wire, server.url)

    assert isinstance(got.last, Done | Failed)
    if isinstance(got.last, Failed):
        assert got.last.error.error_code in {"PROVIDER_BAD_RESPONSE", "PROVIDER_UNAVAILABLE"}


@pytest.mark.rule("M11.6", "M19.33", "M19.50")
@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, "no", "PROVIDER_AUTH_FAILED"),
        (403, "no", "PROVIDER_AUTH_FAILED"),
        (403, "your country, region is not supported", "PROVIDER_REQUEST_REJECTED"),
        (404, "no such model", "PROVIDER_REQUEST_REJECTED"),
        (400, "bad", "PROVIDER_REQUEST_REJECTED"),
        (400, '{"error":{"code":"context_length_exceeded"}}', "CONTEXT_EXHAUSTED"),
        (400, "prompt is too long: 250000 tokens > 200000 maximum", "CONTEXT_EXHAUSTED"),
        (413, "too large", "PROVIDER_REQUEST_REJECTED"),
        (422, "bad", "PROVIDER_REQUEST_REJECTED"),
        (409, "conflict", "PROVIDER_REQUEST_REJECTED"),
        (408, "slow", "PROVIDER_UNAVAILABLE"),
        (425, "early", "PROVIDER_UNAVAILABLE"),
        (429, "wait", "PROVIDER_RATE_LIMITED"),
        (500, "oops", "PROVIDER_UNAVAILABLE"),
        (503, "", "PROVIDER_UNAVAILABLE"),
        (501, "", "PROVIDER_UNAVAILABLE"),
        (502, "<html>bad gateway</html>", "PROVIDER_UNAVAILABLE"),
        (504, "", "PROVIDER_UNAVAILABLE"),
        (529, "overloaded", "PROVIDER_UNAVAILABLE"),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"retry-after": "2"}], ids=["", "retry_after"])
def test_a_refusal_is_mapped_and_asked_once(name, status, body, code, headers):
    wire, _ = WIRES[name]
    reply = Reply([body.encode()], status, headers, content_type="application/json")

    with serving(reply) as server:
        got = call(wire, server.url)

    assert got.failure[0] == code
    assert len(server.seen) == 1
    assert isinstance(got.last, Failed)
    assert KEY not in repr(got.last)


@pytest.mark.rule("M10.2", "M19.31", "M19.32")
@pytest.mark.parametrize(
    ("headers", "body", "reason", "after_ms"),
    [
        ({"retry-after": "2"}, "", "retry_after", 2000),
        ({"retry-after": "900"}, "", "retry_after", 900_000),
        ({"retry-after-ms": "150"}, "", "retry_after", 150),
        ({"x-ratelimit-reset-tokens": "1m30s"}, "", "retry_after", 90_000),
        ({}, "", "rate_limit", 1000),
        ({}, '{"error":{"code":"insufficient_quota"}}', "quota", None),
        ({"retry-after": "-3"}, "", "rate_limit", 1000),
        ({"retry-after": "soon"}, "", "rate_limit", 1000),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(name, headers, body, reason, after_ms):
    wire, _ = WIRES[name]
    reply = Reply([body.encode()], status=429, headers=headers, content_type="application/json")

    with serving(reply) as server:
        got = call(wire, server.url)

    assert got.failure == ("PROVIDER_RATE_LIMITED", reason)
    assert isinstance(got.last, Failed)
    assert got.last.error.retry.after_ms == after_ms


@pytest.mark.rule("M11.6")
def test_a_huge_error_body_is_not_read_to_its_end(name):
    wire, _ = WIRES[name]
    flood = [b"x" * 65536] * 800

    with serving(Reply(flood, status=500)) as server:
        got = call(wire, server.url)

    assert got.failure[0] == "PROVIDER_UNAVAILABLE"


@pytest.mark.rule("M8.7")
def test_an_event_that_never_ends_is_refused(name):
    wire, make = WIRES[name]
    flood = [b"data: " + b"x" * 65536] + [b"x" * 1_048_576] * 17

    with serving(Reply([*make("one")[:1], *flood])) as server:
        got = call(wire, server.url)

    assert got.failure == ("PROVIDER_BAD_RESPONSE", "event_too_large")


def test_a_long_answer_arrives_whole(name, scaled):
    wire, make = WIRES[name]
    piece = "lorem ipsum " * 4096
    count = scaled(20, 1100)  # 54 MB

    with serving(Reply(make(*[piece] * count))) as server:
        got = call(wire, server.url)

    assert len(got.text) == len(piece) * count


@pytest.mark.rule("M8.7")
def test_trickling_bytes_is_not_progress(name):
    wire, make = WIRES[name]
    trickle = [b":"] * 200

    with serving(Reply([*make("one")[:2], *trickle], pause_s=0.02)) as server:
        got = call(wire, server.url, limits=QUICK)

    assert got.failure == ("PROVIDER_UNAVAILABLE", "timeout")


@pytest.mark.rule("M8.7")
def test_a_head_that_trickles_or_never_ends_is_no_progress(name):
    wire, make = WIRES[name]
    endless = {f"x-{number}": "y" * 1000 for number in range(300)}

    with serving(Reply(make("one"), head_pause_s=0.05)) as server:
        slow = call(wire, server.url, limits=QUICK)
    with serving(Reply(make("one"), headers=endless)) as server:
        long = call(wire, server.url, limits=QUICK)

    assert slow.failure == ("PROVIDER_UNAVAILABLE", "timeout")
    assert long.failure[0] in {"PROVIDER_UNAVAILABLE", "PROVIDER_BAD_RESPONSE"}


@pytest.mark.rule("M8.7")
def test_a_server_that_says_nothing_is_given_up(name):
    wire, make = WIRES[name]
    silent = threading.Event()

    def keep_silent():
        silent.wait(5)

    with serving(Reply(make("x"), before=keep_silent)) as server:
        got = call(wire, server.url, limits=QUICK)
        silent.set()
    with serving(Reply(make("one ")[:3], hang=True)) as server:
        stalled = call(wire, server.url, limits=QUICK)

    assert got.failure == ("PROVIDER_UNAVAILABLE", "timeout")
    assert stalled.failure == ("PROVIDER_UNAVAILABLE", "timeout")


@pytest.mark.rule("M8.7")
def test_an_answer_that_goes_on_for_ever_ends_with_the_call(name):
    wire, make = WIRES[name]
    start = make("x")[:3]

    with serving(Reply([*start, *start[-1:] * 1000], pause_s=0.05)) as server:
        got = call(
            wire,
            server.url,
            limits=CallLimits(first_event_s=1, first_event_local_s=1, idle_s=1, call_s=0.5),
        )

    assert got.failure == ("PROVIDER_UNAVAILABLE", "timeout")


@pytest.mark.rule("M12.1", "M12.2")
def test_a_cancellation_closes_the_stream_of_an_answer_that_never_ends(name):
    """The server asks for it, when its answer is on the way, and waits for the line to close."""
    wire, make = WIRES[name]
    cancel = CancelToken()

    def stop():
        cancel.request()
        return lambda: None

    with serving(Reply(make("one ")[:3], then=stop)) as server:
        got = call(wire, server.url, cancel=cancel)
        server.idle(30)

    assert got.failure == ("USER_CANCELED", None)
    assert "one ".startswith(got.text)


@pytest.mark.rule("M11.6")
def test_nobody_listening_is_no_network(name):
    wire, make = WIRES[name]
    with serving(Reply(make("x"))) as server:
        url = server.url

    got = call(wire, url, limits=QUICK)

    assert got.failure == ("NETWORK_UNAVAILABLE", "connect")


def test_an_unknown_name_is_no_network(name):
    wire, _ = WIRES[name]

    def nobody(host, port):
        raise OSError("no such name")

    got = call(wire, "http://127.0.0.1:1/v1", resolver=nobody)

    assert got.failure == ("NETWORK_UNAVAILABLE", "dns")


@pytest.mark.rule("M11.6")
@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_a_page_instead_of_a_stream_is_a_bad_response(name, kind):
    wire, _ = WIRES[name]

    with serving(Reply([b"<html>log in to the wifi</html>"], content_type=kind)) as server:
        got = call(wire, server.url)

    assert got.failure == ("PROVIDER_BAD_RESPONSE", "not_a_stream")


def test_something_that_is_not_http_is_a_broken_connection(name):
    wire, _ = WIRES[name]

    with serving(Reply([b"\x00\x01garbage"], headers={"content-length": "nonsense"})) as server:
        got = call(wire, server.url)

    assert got.failure[0] in {"PROVIDER_UNAVAILABLE", "PROVIDER_BAD_RESPONSE"}


@pytest.mark.rule("M8.7")
def test_an_empty_answer_is_a_bad_response(name):
    wire, make = WIRES[name]

    with serving(Reply(make())) as server:
        got = call(wire, server.url)

    assert got.failure == ("PROVIDER_BAD_RESPONSE", "empty_answer")


@pytest.mark.rule("M8.4", "M8.9", "W9.4")
@pytest.mark.parametrize(
    ("name", "fields", "finish"),
    [
        (
            "responses",
            {"final": "response.incomplete", "incomplete": "max_output_tokens"},
            "length",
        ),
        (
            "responses",
            {"final": "response.incomplete", "incomplete": "content_filter"},
            "content_filter",
        ),
        ("chat", {"finish": "length"}, "length"),
        ("chat", {"finish": "content_filter"}, "content_filter"),
        ("messages", {"stop": "max_tokens"}, "length"),
        ("messages", {"stop": "refusal"}, "refusal"),
        ("messages", {"stop": "stop_sequence"}, "stop"),
    ],
)
def test_how_an_answer_ended_is_kept(name, fields, finish):
    wire, make = WIRES[name]

    with serving(Reply(make("part", **fields))) as server:
        got = call(wire, server.url)

    assert (got.finish, got.text) == (finish, "part")


@pytest.mark.rule("M8.4")
@pytest.mark.parametrize(
    ("name", "fields", "failure"),
    [
        (
            "responses",
            {"final": "response.incomplete", "incomplete": "new"},
            "PROVIDER_BAD_RESPONSE",
        ),
        ("chat", {"finish": "new"}, "PROVIDER_BAD_RESPONSE"),
        ("messages", {"stop": "new"}, "PROVIDER_BAD_RESPONSE"),
        ("messages", {"stop": "model_context_window_exceeded"}, "CONTEXT_EXHAUSTED"),
    ],
)
def test_an_ending_nobody_knows_is_an_error(name, fields, failure):
    wire, make = WIRES[name]

    with serving(Reply(make("part", **fields))) as server:
        got = call(wire, server.url)

    assert got.failure[0] == failure


@pytest.mark.rule("W9.4")
def test_a_call_cut_by_the_output_bound_does_not_look_like_one_without_arguments(name):
    wire, make = WIRES[name]
    fields = {
        "responses": {"final": "response.incomplete", "incomplete": "max_output_tokens"},
        "chat": {"finish": "length"},
        "messages": {"stop": "max_tokens"},
    }[name]

    with serving(Reply(make(calls=(("c1", "look", ""),), **fields))) as server:
        got = call(wire, server.url)

    assert [one.arguments for one in got.calls] == ["{"]


@pytest.mark.rule("M11.6")
@pytest.mark.parametrize(
    ("name", "event", "code"),
    [
        (
            "responses",
            {
                "type": "response.failed",
                "response": {"error": {"code": "server_error", "message": "x"}},
            },
            "PROVIDER_UNAVAILABLE",
        ),
        (
            "responses",
            {
                "type": "response.failed",
                "response": {"error": {"code": "rate_limit_exceeded", "message": "x"}},
            },
            "PROVIDER_RATE_LIMITED",
        ),
        (
            "responses",
            {"type": "error", "code": "server_error", "message": "x"},
            "PROVIDER_UNAVAILABLE",
        ),
        ("chat", {"error": {"message": "busy", "code": "overloaded"}}, "PROVIDER_UNAVAILABLE"),
        (
            "chat",
            {"error": {"message": "x", "code": "context_length_exceeded"}},
            "CONTEXT_EXHAUSTED",
        ),
        (
            "messages",
            {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
            "PROVIDER_UNAVAILABLE",
        ),
        (
            "messages",
            {"type": "error", "error": {"type": "invalid_request_error", "message": "x"}},
            "PROVIDER_REQUEST_REJECTED",
        ),
    ],
)
def test_a_failure_told_inside_the_stream_is_mapped(name, event, code):
    wire, make = WIRES[name]
    start = make("one ")[:3]

    with serving(Reply([*start, *sse(event, named="type" in event)])) as server:
        got = call(wire, server.url)

    assert got.failure[0] == code
    assert "one ".startswith(got.text)


@pytest.mark.rule("M6.3", "M19.14")
def test_what_a_server_adds_to_a_call_is_kept_for_it():
    wire, make = WIRES["chat"]
    extra = {"extra_content": {"google": {"thought_signature": "sig"}}}

    with serving(Reply(make(calls=CALLS[:1], extra=extra))) as server:
        got = call(wire, server.url)

    assert isinstance(got.last, Done)
    assert got.last.state is not None
    assert got.last.state.data == {"message": {}, "calls": [extra]}


@pytest.mark.rule("M5.2", "M6.2")
def test_reasoning_comes_back_as_state_and_is_never_shown():
    wire, make = WIRES["responses"]
    with serving(Reply(make("x", reasoning="enc", calls=CALLS[:1]))) as server:
        openai = call(wire, server.url)
    wire, make = WIRES["messages"]
    with serving(Reply(make("x", thinking="sig", calls=CALLS[:1]))) as server:
        claude = call(wire, server.url)

    assert isinstance(openai.last, Done)
    assert isinstance(claude.last, Done)
    assert openai.last.state is not None
    assert claude.last.state is not None
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "enc"}
    assert openai.last.state.data == [item, "text", "call"]
    thought = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    assert claude.last.state.data == [thought, "text", "call"]
    assert ReasoningProgress(2) in claude.events
    assert not any("hm" in repr(event) for event in claude.events[:-1])


@pytest.mark.rule("M19.42")
def test_a_server_without_usage_reports_none():
    wire, make = WIRES["chat"]

    with serving(Reply(make("x", usage=False, done=False))) as server:
        got = call(wire, server.url)

    assert got.usage is None
    assert got.finish == "stop"
    assert got.events[1] == TextDelta("x")


@pytest.mark.rule("M1.9")
def test_only_the_listed_headers_leave(name):
    wire, make = WIRES[name]
    gate = OpenGate()

    with serving(Reply(make("x"))) as server:
        call(wire, server.url, gate=gate, asked=request(tools=()))

    (seen,) = server.seen
    allowed = {"host", "accept", "content-type", "content-length", "authorization"}
    assert set(seen.headers) - {"user-agent", "accept-encoding", "anthropic-version"} == allowed
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["user-agent"] == "backshop"
    assert [one.bytes_out for one in gate.noted] == [len(seen.body)]


@pytest.mark.rule("M1.9", "M19.49")
def test_the_environment_changes_no_byte(name, monkeypatch):
    wire, make = WIRES[name]
    hostile = {
        "OPENAI_BASE_URL": "http://evil.example",
        "OPENAI_ORG_ID": "evil",
        "OPENAI_PROJECT_ID": "evil",
        "OPENAI_API_KEY": "sk-evil",
        "OPENAI_ADMIN_KEY": "sk-evil",
        "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer evil\nContent-Type: evil",
        "OPENAI_LOG": "debug",
        "ANTHROPIC_BASE_URL": "http://evil.example",
        "ANTHROPIC_API_KEY": "sk-evil",
        "ANTHROPIC_AUTH_TOKEN": "evil",
        "ANTHROPIC_PROFILE": "evil",
        "ANTHROPIC_CUSTOM_HEADERS": "anthropic-version: evil\nAUTHORIZATION: Bearer evil",
        "HTTPS_PROXY": "http://127.0.0.1:1",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "ALL_PROXY": "http://127.0.0.1:1",
        "SSL_CERT_FILE": "/nonexistent",
    }

    with serving(Reply(make("x"))) as server:
        call(wire, server.url)
        for variable, value in hostile.items():
            monkeypatch.setenv(variable, value)
        call(wire, server.url)

    plain, hostile_seen = server.seen
    assert (hostile_seen.path, hostile_seen.headers, hostile_seen.body) == (
        plain.path,
        plain.headers,
        plain.body,
    )


@pytest.mark.rule("M6.3", "M8.3")
def test_text_that_comes_as_a_list_of_parts_is_read():
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts: list[Any] = [[thought], [{"type": "text", "text": "Hel"}], "lo", [7, None], 7]
    with serving(Reply(chat(*parts))) as server:
        got = call(openai_chat, server.url)

    assert (got.text, got.finish) == ("Hello", "stop")
    assert [one.chars for one in got.events if isinstance(one, ReasoningProgress)] == [2]


@pytest.mark.rule("M5.2", "M8.3")
def test_a_messages_phase_is_kept_for_the_next_request():
    stream = [
        one.replace(b'"type": "message",', b'"type": "message", "phase": "commentary",')
        for one in responses("Hello")
    ]
    with serving(Reply(stream)) as server:
        got = call(openai_responses, server.url)

    assert isinstance(got.last, Done)
    assert got.last.state is not None
    assert got.last.state.data == [{"with text": {"phase": "commentary"}}]


@pytest.mark.rule("M1.9")
def test_headers_that_turn_a_providers_features_on_pass_and_others_do_not():
    with serving(Reply([b"{}"], content_type="application/json")) as provider:
        way = Egress(clock=SystemClock(), gate=OpenGate())
        errand = Errand(kind=EgressKind.VALIDATION)
        channel = way.open(record(provider.url), KEY, errand, CancelToken())
        with channel.client() as client:
            client.get(provider.url, headers={"anthropic-beta": "a-2026", "x-other": "b"})

    assert provider.seen[0].headers["anthropic-beta"] == "a-2026"
    assert "x-other" not in provider.seen[0].headers
