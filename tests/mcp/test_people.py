"""People who share a home, over HTTP: their own token, their own roles, nobody else's (T6.4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, closing
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp.client.streamable_http import streamable_http_client
from tests.mcp.test_server import call, over_http

from backshop.app import Backshop
from backshop.app.people.token_throttle import IN_ALL, PER_ADDRESS, TokenThrottle, wait_s
from backshop.base.acting import By
from backshop.base.errors import LimitExceeded
from backshop.mcp.toolbox import Toolbox
from backshop.testing.ambient import FixedClock
from mcp import Client

TOKEN = "the-owners-own"
FIRST = {"workflowId": "wr.change_review"}


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@asynccontextmanager
async def client_of(url: str, token: str, mode: str = "auto", **told: Any):
    http = httpx2.AsyncClient(headers=bearer(token), timeout=30)
    served = streamable_http_client(url, http_client=http)
    async with http, Client(served, mode=mode, **told) as client:
        yield client


class Team:
    """A home with two people, and a server on it."""

    def __init__(self, home: Any, **offered: Any) -> None:
        self.shop = Backshop.open(home)
        self.ada = self.shop.call("UserAdd", {"name": "Ada"})
        self.ben = self.shop.call("UserAdd", {"name": "Ben"})
        self.offering = Toolbox(home, **offered)

    def serve(self, story: Callable[[str], Awaitable[None]]) -> None:
        async def served() -> None:
            async with over_http(self.offering, TOKEN) as url:
                await story(url)

        try:
            anyio.run(served)
        finally:
            self.offering.close()
            self.shop.close()


@pytest.fixture
def team(tmp_path):
    return Team(tmp_path / "home")


def code_of(answer: dict[str, Any]) -> Any:
    return answer["error"]["code"] if answer["_error"] else None


@pytest.mark.rule("T6.4", "S6.1", "R7.3")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_person_works_in_their_own_sessions_and_in_no_other(team, mode):
    async def story(url: str) -> None:
        async with (
            client_of(url, TOKEN) as owner,
            client_of(url, team.ada["token"], mode) as ada,
            client_of(url, team.ben["token"], mode) as ben,
        ):
            hers = await call(ada, "start_workflow", FIRST)
            theirs = await call(owner, "start_workflow", FIRST)
            go = {"ackToken": hers["ackToken"], "output": {"notesMarkdown": "Looked."}}
            found = await call(ada, "resume_session", {})
            stolen = [
                await call(ben, "continue_workflow", {"stateToken": hers["stateToken"]}),
                await call(ben, "continue_workflow", go),
                await call(ada, "continue_workflow", {"stateToken": theirs["stateToken"]}),
                await call(ben, "start_workflow", {**FIRST, "sessionToken": hers["sessionToken"]}),
                await call(ada, "start_workflow", {**FIRST, "workspacePath": "/"}),
            ]
            none = await call(ben, "resume_session", {"sessionId": hers["session"]["sessionId"]})
            gone_on = await call(ada, "continue_workflow", go)
            seen = await call(owner, "continue_workflow", {"stateToken": hers["stateToken"]})

        assert [one["sessionId"] for one in found["candidates"]] == [hers["session"]["sessionId"]]
        assert [code_of(one) for one in stolen] == ["ACCESS_DENIED"] * len(stolen)
        assert "Looked." not in repr(stolen)
        assert code_of(none) == "ACCESS_DENIED"
        assert not gone_on["_error"]
        assert seen["session"] == hers["session"]

    team.serve(story)


@pytest.mark.rule("R7.6", "T6.4")
@pytest.mark.parametrize(("tool", "given"), [("start_workflow", FIRST), ("start_session", {})])
def test_the_same_key_of_two_people_names_a_session_of_each(team, tool, given):
    async def story(url: str) -> None:
        async with (
            client_of(url, TOKEN) as owner,
            client_of(url, team.ada["token"]) as ada,
            client_of(url, team.ben["token"]) as ben,
        ):
            keyed = {**given, "idempotencyKey": "the-same-key"}
            made = [await call(one, tool, keyed) for one in (owner, ada, ben, ada)]

        named = [one["session"]["sessionId"] for one in made]
        assert len(set(named)) == 3
        assert named[1] == named[3]

    team.serve(story)


@pytest.mark.rule("T6.4", "R3.4")
def test_the_roots_of_a_persons_client_are_not_asked_for(team, tmp_path):
    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=tmp_path.as_uri())])

    async def story(url: str) -> None:
        async with client_of(url, team.ada["token"], list_roots_callback=roots) as ada:
            listed = await call(ada, "list_workflows", {})

        assert code_of(listed) is None

    team.serve(story)


@pytest.mark.rule("T6.4", "T1.6", "W7.10")
def test_the_tools_of_a_bench_need_the_role_for_it_and_say_whose_agent_called(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Ours"})["workbench_id"]
    team = Team(tmp_path / "home", tool_sets=("bench",), bench_id=bench)

    def role(name: str) -> None:
        grant = {"workbench_id": bench, "user_id": team.ada["user_id"], "role": name}
        team.shop.call("AccessSet", grant)

    async def story(url: str) -> None:
        write = {"path": "a.txt", "content": "hello"}
        told = types.Implementation(name=f"Pen\x1b\n{'c' * 200}", version="1")
        async with client_of(url, team.ada["token"], client_info=told) as ada:
            nothing = [
                await call(ada, "list_files", {}),
                await call(ada, "write_text_file", write),
            ]
            role("read")
            reading = [
                await call(ada, "list_files", {}),
                await call(ada, "write_text_file", write),
            ]
            role("write")
            writing = [await call(ada, "write_text_file", write)]

        written = list(team.shop.store.read(f"bench:{bench}"))[-1]
        name = f"Pen{'c' * 77}"  # what the client calls itself, without control and not longer
        assert written.by == By(person=team.ada["user_id"], agent=f"mcp:{name}", door="mcp")
        assert [one["_error"] for one in nothing] == [True, True]
        assert {one["error"]["error_code"] for one in nothing} == {"ACCESS_DENIED"}
        assert [one["_error"] for one in reading] == [False, True]
        assert [one["_error"] for one in writing] == [False], writing

    team.serve(story)


@pytest.mark.rule("T6.4", "T6.5", "W13.7")
def test_a_turn_begun_over_http_is_of_the_person_who_began_it(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Ours"})["workbench_id"]
    team = Team(tmp_path / "home", tool_sets=("rails", "bench"), bench_id=bench)
    ada, about = team.ada["user_id"], {"workbench_id": bench}
    team.shop.call("AccessSet", {**about, "user_id": ada, "role": "read"})
    wanted = {"workflowId": "wr.rpi", "context": {"prompt": "Write a note"}}

    async def story(url: str) -> None:
        async with client_of(url, team.ada["token"]) as client:
            reading = await call(client, "start_workflow", wanted)
            team.shop.call("AccessSet", {**about, "user_id": ada, "role": "write"})
            elsewhere = await call(client, "start_workflow", {**wanted, "workspacePath": "/"})
            begun = await call(client, "start_workflow", wanted)
            turns = team.shop.workshops.turns_of(ada)
            before = team.shop.call("WorkshopGetState", about)["active_turn"]
            team.shop.call("UserRemove", {"user_id": ada})
            after = team.shop.call("WorkshopGetState", about)["active_turn"]

        assert code_of(reading) == code_of(elsewhere) == "ACCESS_DENIED"
        assert not begun["_error"]
        assert [bench_id for bench_id, _ in turns] == [bench]
        assert (before["cancel_requested"], after["cancel_requested"]) == (False, True)

    team.serve(story)


@pytest.mark.rule("T6.5", "W13.7", "R7.3")
def test_an_agent_of_a_person_begins_no_turn_beyond_what_they_may_have(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.json").write_text('{"team.turns": 1}')
    wanted = {"workflowId": "wr.rpi", "context": {"prompt": "Write a note"}}
    with Backshop.open(home) as shop:
        ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
        benches = [
            shop.call("WorkbenchCreate", {"name": name}, user=ada)["workbench_id"]
            for name in ("One", "Two")
        ]
        one, two = (
            Toolbox(home, tool_sets=("rails", "bench"), bench_id=bench) for bench in benches
        )
        with closing(two):
            with closing(one):
                first = one.tools()["start_workflow"].call(wanted, ada)
                second = two.tools()["start_workflow"].call(wanted, ada)
            about = {"workbench_id": benches[1]}
            said = shop.call("WorkshopGetConversation", about)["messages"]
            later = two.tools()["start_workflow"].call(wanted, ada)

    assert [one.is_error for one in (first, second, later)] == [False, True, False]
    error = second.structured["error"]
    assert (error["code"], error["details"]) == ("LIMIT_EXCEEDED", {"reason": "user_limit"})
    assert said == []


@pytest.mark.rule("T6.4", "S6.1", "S5.3")
def test_a_wrong_or_ended_token_is_refused_in_words_and_guessing_is_slow(team):
    async def story(url: str) -> None:
        async with httpx2.AsyncClient(timeout=30) as bare:

            async def refusal(**headers: str) -> Any:
                answer = await bare.post(url, json={}, headers=headers)
                assert answer.headers["content-type"] == "application/json"
                return answer.status_code, answer.json()["error"]["data"]["reason"]

            async with client_of(url, team.ada["token"]) as ada:
                await call(ada, "list_workflows", {})
                missing = await refusal()
                removed = team.ben["token"]
                team.shop.call("UserRemove", {"user_id": team.ben["user_id"]})
                first = [
                    await refusal(**bearer(one))
                    for one in ("wrong", removed, removed.swapcase(), f"{removed}x", "bsu_")
                ]
                rest = [await refusal(**bearer(f"bsu_{n}")) for n in range(PER_ADDRESS + 5)]
                late = await bare.post(url, json={}, headers=bearer("bsu_"))
                still = await call(ada, "list_workflows", {})
            async with client_of(url, TOKEN) as owner:
                owned = await call(owner, "list_workflows", {})
            team.shop.call("UserRemove", {"user_id": team.ada["user_id"]})
            gone = await refusal(**bearer(team.ada["token"]))

        assert missing == (401, "token_missing")
        assert first == [(401, "token_wrong")] * len(first)
        assert rest[-1] == (429, "too_many_guesses")
        assert 1 <= int(late.headers["retry-after"]) <= 60
        assert not still["_error"]
        assert not owned["_error"]
        assert gone == (401, "token_wrong")

    team.serve(story)


@pytest.mark.rule("T6.4")
def test_a_connection_is_of_the_one_who_opened_it(team):
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accept = {"accept": "application/json, text/event-stream"}

    async def story(url: str) -> None:
        async with httpx2.AsyncClient(timeout=30) as bare:
            ada, ben = ({**accept, **bearer(one["token"])} for one in (team.ada, team.ben))
            opened = await bare.post(url, json=greeting, headers=ada)
            connection = {"mcp-session-id": opened.headers["mcp-session-id"]}
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            taken = await bare.post(url, json=listing, headers={**ben, **connection})
            own = await bare.post(url, json=listing, headers={**ada, **connection})

        assert opened.status_code == 200
        assert taken.status_code == 404
        assert own.status_code == 200

    team.serve(story)


@pytest.mark.rule("T6.4", "S6.1")
def test_a_minute_later_a_token_is_looked_at_again():
    clock = FixedClock()
    guesses = TokenThrottle(clock)

    def waits(address: str, token: str = "x") -> int:
        try:
            guesses.check(address, token)
        except LimitExceeded as error:
            assert error.reason == "too_many_guesses"
            return wait_s(error)
        return 0

    for _ in range(PER_ADDRESS):
        assert waits("here") == 0
        guesses.note_wrong("here")
    guesses.note_right("known")

    assert (waits("here"), waits("here", "known"), waits("there")) == (60, 0, 0)
    for n in range(IN_ALL - PER_ADDRESS):
        guesses.note_wrong(f"address {n}")
    assert (waits("there"), waits("there", "known")) == (60, 0)
    clock.move(61_000)
    assert waits("here") == waits("there") == 0
