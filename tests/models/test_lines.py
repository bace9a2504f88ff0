"""Connections that are kept between calls (M4.13)."""

from __future__ import annotations

import os
import threading
from dataclasses import replace

import pytest

from backshop.base.ambient import SystemClock
from backshop.models.egress import stream
from backshop.models.egress.gate import Egress, EgressKind, Errand
from backshop.models.errors import ConsentRequired
from backshop.models.messages import Failed, TextDelta
from backshop.prompts import CancelToken

from .calling import KEY, MODEL, WIRES, OpenGate, Outcome, record, request
from .provider import Provider, Reply, serving


def call(way: Egress, provider: Provider, name: str = "chat", **fields) -> Outcome:
    """Make one call on a way out that outlives it."""
    errand = Errand(kind=EgressKind.CALL, model_id="local-x:m")
    cancel = fields.pop("cancel", None) or CancelToken()
    channel = way.open(replace(record(provider.url), **fields), KEY, errand, cancel)
    return Outcome(list(stream.complete(WIRES[name][0], request(), MODEL, channel)))


@pytest.fixture
def gate():
    return OpenGate()


@pytest.fixture
def way(gate):
    made = Egress(clock=SystemClock(), gate=gate)
    yield made
    made.close()


def kept(name: str, **fields) -> Reply:
    return Reply(WIRES[name][1]("Hello"), keeps=True, **fields)


@pytest.mark.rule("M4.13")
@pytest.mark.parametrize("name", WIRES)
def test_calls_after_one_another_use_one_connection(way, gate, name):
    with serving(kept(name)) as provider:
        texts = [call(way, provider, name).text for _ in range(3)]

    assert texts == ["Hello"] * 3
    assert (provider.connections, len(provider.seen), len(gate.noted)) == (1, 3, 3)


@pytest.mark.rule("M4.13")
def test_a_connection_the_server_closed_meanwhile_is_no_error(way, gate):
    with serving(kept("chat"), Reply([], drops=True), kept("chat")) as provider:
        assert call(way, provider).text == "Hello"
        assert call(way, provider).text == "Hello"

    assert provider.connections == 2
    assert len(gate.noted) == len(provider.seen) == 3  # what left twice is noted twice


@pytest.mark.rule("M4.13")
def test_a_server_that_closes_after_each_answer_gets_each_request_once(way):
    closing = Reply(WIRES["chat"][1]("Hello"), headers={"connection": "close"}, keeps=True)
    with serving(closing) as provider:
        for _ in range(2):
            assert call(way, provider).text == "Hello"

    assert (provider.connections, len(provider.seen)) == (2, 2)


@pytest.mark.rule("M4.13")
def test_a_connection_that_was_closed_while_nobody_used_it_is_not_tried(way, gate):
    hung_up = threading.Event()
    with serving(kept("chat", until=hung_up), kept("chat")) as provider:
        assert call(way, provider).text == "Hello"
        assert hung_up.wait(5)
        assert call(way, provider).text == "Hello"

    assert (provider.connections, len(gate.noted)) == (2, 2)


@pytest.mark.rule("M4.13")
def test_a_first_request_that_is_dropped_is_not_sent_again_by_itself(way):
    with serving(Reply([], drops=True)) as provider:
        failure = call(way, provider).failure

    assert failure == ("PROVIDER_UNAVAILABLE", "stream_interrupted")
    assert len(provider.seen) == 1


@pytest.mark.rule("M4.13", "M12.1")
def test_a_cancelled_call_leaves_no_connection_behind(way):
    cancel = CancelToken()
    half = Reply(WIRES["chat"][1]("Hello")[:2], hang=True)
    with serving(half, kept("chat")) as provider:
        errand = Errand(kind=EgressKind.CALL, model_id="local-x:m")
        channel = way.open(record(provider.url), KEY, errand, cancel)
        events = stream.complete(WIRES["chat"][0], request(), MODEL, channel)
        next(events)
        cancel.request()
        *_, last = events
        assert isinstance(last, Failed)
        assert last.error.error_code == "USER_CANCELED"

        assert call(way, provider).text == "Hello"

    assert provider.connections == 2


@pytest.mark.rule("M4.13")
def test_an_answer_nobody_reads_to_its_end_is_closed_at_once(way):
    half = Reply(WIRES["chat"][1]("Hello")[:2], then=lambda: lambda: None)
    with serving(half) as provider:
        errand = Errand(kind=EgressKind.CALL, model_id="local-x:m")
        channel = way.open(record(provider.url), KEY, errand, CancelToken())
        events = stream.complete(WIRES["chat"][0], request(), MODEL, channel)
        assert isinstance([next(events), next(events)][1], TextDelta)

        events.close()  # type: ignore[attr-defined]  # it is a generator

        provider.idle(5)


@pytest.mark.rule("M4.10", "M4.13")
def test_a_kept_connection_is_no_permission(way, gate, monkeypatch):
    with serving(kept("chat")) as provider:
        assert call(way, provider).text == "Hello"

        def refuse(*_: object) -> str:
            raise ConsentRequired("not yet")

        monkeypatch.setattr(gate, "admit", refuse)
        assert call(way, provider).failure[0] == "EGRESS_CONSENT_REQUIRED"

    assert len(provider.seen) == 1


@pytest.mark.rule("M4.13")
def test_a_provider_that_was_changed_gets_a_connection_of_its_own(way):
    with serving(kept("chat")) as provider:
        call(way, provider)
        call(way, provider, display_name="another")

    assert provider.connections == 2


@pytest.mark.rule("M4.13")
def test_calls_at_the_same_time_have_connections_of_their_own(way):
    both = threading.Barrier(2, timeout=5)
    texts: list[str] = []
    with serving(kept("chat", before=both.wait)) as provider:
        threads = [
            threading.Thread(target=lambda: texts.append(call(way, provider).text))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)

    assert (texts, provider.connections) == (["Hello", "Hello"], 2)


@pytest.mark.rule("M4.13")
def test_a_fork_does_not_speak_on_its_parents_connection(way, monkeypatch):
    with serving(kept("chat")) as provider:
        call(way, provider)
        monkeypatch.setattr(os, "getpid", lambda: -1)  # as a child sees it
        assert call(way, provider).text == "Hello"

    assert provider.connections == 2
