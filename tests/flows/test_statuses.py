"""What a turn comes to when its provider refuses, before anything was written and after (W5.12)."""

from __future__ import annotations

import json

import pytest
from tests.models.provider import Reply, serving
from tests.workshop.conftest import Chat, plan

from backshop.app import Backshop

from .test_wire import PROBE, call, connect, said

SPENT = "You have reached your specified API usage limits. Access returns on 2026-12-01"


def refusal(status: int, words: str) -> Reply:
    body = {"error": {"message": words, "type": "refused", "code": None}}
    return Reply([json.dumps(body).encode()], status=status, content_type="application/json")


def turn(tmp_path, *answers: Reply):
    """Play a turn; return what it came to, how it was told, and how often was asked."""
    with serving(*PROBE, *answers) as server, Backshop.open(tmp_path / "home") as shop:
        room = Chat(shop, tmp_path)
        room.add({"a.txt": "one\n"})
        connect(room, server)
        room.call("WorkshopSetFlow", flow="rpi")
        before = len(server.seen)
        done = room.ask("Write b.txt")
        messages = room.call("WorkshopGetConversation")["messages"]
        [error] = [
            m["metadata"]["error"] for m in messages if (m.get("metadata") or {}).get("error")
        ]
        told = " ".join(str(m.get("text")) for m in messages)
        return done["status"], error, told, room.draft(), len(server.seen) - before


@pytest.mark.rule("W5.12", "M10.4", "M11.6")
@pytest.mark.parametrize(
    ("status", "words", "code", "state"),
    [
        (403, "this key may not do that", "PROVIDER_AUTH_FAILED", "failed"),
        (404, "no such thing here", "PROVIDER_REQUEST_REJECTED", "failed"),
        (400, SPENT, "PROVIDER_RATE_LIMITED", "paused"),
        (429, "insufficient_quota: nothing is left", "PROVIDER_RATE_LIMITED", "paused"),
    ],
)
def test_a_refusal_before_any_work_is_told_in_its_own_words_and_asked_once(
    tmp_path, status, words, code, state
):
    found, error, told, draft, asked = turn(tmp_path, refusal(status, words))

    assert (found, error["error_code"], draft, asked) == (state, code, None, 1)
    assert words in told


@pytest.mark.rule("W5.12", "M10.4", "M11.6")
@pytest.mark.parametrize("status", [400, 401])
def test_a_refusal_after_a_write_keeps_the_work(tmp_path, status):
    found, error, told, draft, asked = turn(
        tmp_path,
        call("list_files"),
        said("# Research\n\n", "One file."),
        said(plan("Write b.txt", "Write c.txt")),
        call("write_text_file", path="b.txt", content="b\n"),
        said("Wrote b.txt."),
        refusal(status, "field x is not known"),
    )

    assert found == "paused"
    assert draft == {"a.txt": "one\n", "b.txt": "b\n"}
    assert "field x is not known" in told
    assert error["actions"]
    assert asked == 6
