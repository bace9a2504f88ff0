"""People who share a home: every command with every role, through the registry (T6.4, T6.5)."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import pytest

from backshop.app import Backshop
from backshop.app.access import ANYBODY, OWN_ROLE, PATHS, PUBLISH, role_for
from backshop.app.people import Role
from backshop.base.codec import schema
from backshop.base.command import Command
from backshop.base.errors import AccessDenied, BackshopError, LimitExceeded, NotFound
from backshop.testing.ambient import FixedClock

SLOW = [{"when": {}, "times": 0, "respond": {"text": "…", "delay_ms": 60_000}}]
ROLES = ("none", "read", "write", "publish")
ABOUT = {"workbench_id", "sessionId", "session_id", "runId", "nodeId", "stateToken"}


class Team:
    """A home with one bench and one session of the owner's, and a person."""

    def __init__(self, shop: Backshop) -> None:
        self.shop = shop
        made = shop.call("UserAdd", {"name": "Ada"})
        self.ada, self.token = made["user_id"], made["token"]
        self.bench = shop.call("WorkbenchCreate", {"name": "Ours"})["workbench_id"]
        self.started = shop.call("start_workflow", {"workflowId": "wr.rpi", "goal": "x"})
        rows = shop.call("RailsSessionsList", {})["sessions"]
        self.session = rows[0]["sessionId"]
        page = shop.call("RailsSessionGet", {"sessionId": self.session})
        self.run = page["runList"][0]["runId"]
        self.node = shop.call("RailsRunGet", {"runId": self.run})["nodes"][0]["nodeId"]

    def give(self, role: str) -> None:
        for subject in ({"workbench_id": self.bench}, {"session_id": self.session}):
            self.shop.call("AccessSet", {**subject, "user_id": self.ada, "role": role})

    def try_as_ada(self, name: str) -> str:
        """Return how a call ends: 'denied', or 'in' whatever the command itself says."""
        request = self.sample(schema(self.shop.commands.find(name).command.request))
        try:
            self.shop.call(name, request, user=self.ada)
        except AccessDenied as error:
            assert error.reason in ("role", "owner_only", "paths"), error
            return "denied"
        except BackshopError:
            return "in"
        return "in"

    def is_about_something(self, command: Command[Any, Any, Any]) -> bool:
        """Say whether our request is about a bench or a session, and names no path of ours."""
        request = self.sample(schema(command.request))
        return bool(ABOUT & set(request)) and not any(request.get(name) for name in PATHS)

    def sample(self, kind: dict[str, Any]) -> dict[str, Any]:
        """Return a request that decodes, about our bench, session, run and node."""
        known = {
            "workbench_id": self.bench,
            "sessionId": self.session,
            "session_id": self.session,
            "runId": self.run,
            "nodeId": self.node,
            "stateToken": self.started["stateToken"],
            "checkpointToken": self.started["checkpointToken"],
            "role": "read",
            "workflowHash": f"sha256:{'0' * 64}",
        }
        properties = kind.get("properties", {})
        wanted = set(kind.get("required", ()))
        wanted |= {"stateToken"} & set(properties)
        if "workbench_id" in properties:
            wanted.add("workbench_id")
        defs = kind.get("$defs", {})
        return {name: known.get(name, _value(properties[name], defs)) for name in sorted(wanted)}


def _value(kind: dict[str, Any], defs: dict[str, Any]) -> Any:
    if "$ref" in kind:
        return _value(defs[kind["$ref"].rpartition("/")[2]], defs)
    if "enum" in kind:
        return kind["enum"][0]
    if "const" in kind:
        return kind["const"]
    if "anyOf" in kind:
        return _value(kind["anyOf"][0], defs)
    if kind.get("type") == "object":
        properties = kind.get("properties", {})
        return {name: _value(properties[name], defs) for name in kind.get("required", ())}
    return {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": []}[kind["type"]]


@pytest.fixture
def team(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"team.requests_per_minute": 0}) as shop:
        yield Team(shop)


@pytest.mark.rule("T6.4")
def test_every_command_with_every_role(team):
    names = [bound.command.name for bound in team.shop.commands]
    assert set(names) >= PUBLISH | set(OWN_ROLE)
    held = {}
    for role in ROLES:
        for name in names:
            if role == "publish" and name in ("WorkbenchDelete", "RailsSessionDelete"):
                continue  # they would end what the others are about
            team.give(role)
            held[role, name] = team.try_as_ada(name)

    wrong = {}
    for bound in team.shop.commands:
        command = bound.command
        if command.name in ANYBODY:
            continue  # what they see is another test
        outcomes = [held.get((role, command.name), "in") for role in ROLES]
        is_shared = team.is_about_something(command)  # else the owner's own: no role is enough
        expected = [
            "in" if is_shared and Role(one).includes(role_for(command)) else "denied"
            for one in ROLES
        ]
        if outcomes != expected:
            wrong[command.name] = (outcomes, expected)
        if command.writes and outcomes[1] == "in":
            assert OWN_ROLE.get(command.name) == "read", f"{command.name} writes for readers"

    assert wrong == {}


@pytest.mark.rule("T6.4")
def test_people_see_what_is_theirs_and_own_what_they_make(team):
    shop = team.shop
    mine = shop.call("WorkbenchCreate", {"name": "Mine"}, user=team.ada)["workbench_id"]
    seen = shop.call("WorkbenchList", {}, user=team.ada)["workbenches"]
    assert [one["workbench_id"] for one in seen] == [mine]
    assert len(shop.call("WorkbenchList", {})["workbenches"]) == 2

    assert shop.call("RailsSessionsList", {}, user=team.ada)["sessions"] == []
    assert shop.call("resume_session", {}, user=team.ada)["candidates"] == []
    begun = shop.call("start_workflow", {"workflowId": "wr.rpi", "goal": "y"}, user=team.ada)
    assert len(shop.call("RailsSessionsList", {}, user=team.ada)["sessions"]) == 1
    shop.call("continue_workflow", {"stateToken": begun["stateToken"]}, user=team.ada)

    with pytest.raises(AccessDenied):
        shop.call("continue_workflow", {"stateToken": team.started["stateToken"]}, user=team.ada)
    access = shop.call("AccessList", {"workbench_id": mine}, user=team.ada)["access"]
    assert access[0]["owner"]
    assert access[0]["name"] == "Ada"


@pytest.mark.rule("T6.4", "B18.1")
def test_nobody_gets_into_the_sample_of_another(team):
    shop = team.shop
    ours = shop.call("WorkbenchCreateSample", {})["workbench_id"]

    with pytest.raises(AccessDenied):
        shop.call("WorkbenchCreateSample", {"reuse": True}, user=team.ada)
    own = shop.call("WorkbenchCreateSample", {}, user=team.ada)

    assert own["workbench_id"] != ours
    with pytest.raises(AccessDenied):
        shop.call("WorkbenchOpen", {"workbench_id": ours}, user=team.ada)


@pytest.mark.rule("T6.4")
def test_a_removed_person_is_out_at_once_and_their_token_with_them(team):
    shop = team.shop
    team.give("publish")
    assert shop.people.who(team.token) == team.ada
    shop.call("UserRemove", {"user_id": team.ada})

    assert shop.people.who(team.token) is None
    with pytest.raises(AccessDenied) as refused:
        shop.call("WorkbenchOpen", {"workbench_id": team.bench}, user=team.ada)
    assert refused.value.reason == "user_removed"
    assert shop.call("AccessList", {})["access"] == []
    with pytest.raises(NotFound):
        shop.call("UserRemove", {"user_id": team.ada})


@pytest.mark.rule("T6.4")
def test_tokens_are_not_kept_and_forgeries_are_nobody(team):
    home = team.shop.config.home
    secret = team.token.encode()
    assert all(secret not in path.read_bytes() for path in home.rglob("*") if path.is_file())
    for forged in ("", "bsu_", team.token[:-1], team.token + "A", team.token.swapcase(), "x" * 50):
        assert team.shop.people.who(forged) is None


@pytest.mark.rule("T6.5")
def test_too_many_requests_are_refused_with_the_time_to_wait(tmp_path):
    clock = FixedClock()
    with Backshop.open(
        tmp_path / "home", settings={"team.requests_per_minute": 3}, clock=clock
    ) as shop:
        ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
        for _ in range(3):
            shop.call("WorkbenchList", {}, user=ada)
        with pytest.raises(LimitExceeded) as refused:
            shop.call("WorkbenchList", {}, user=ada)
        assert refused.value.reason == "user_limit"
        assert 0 < (refused.value.retry.after_ms or 0) <= 60_000
        shop.call("WorkbenchList", {})  # the owner is not counted
        clock.move(61_000)
        shop.call("WorkbenchList", {}, user=ada)


@pytest.mark.rule("T6.4", "R7.6")
def test_a_key_of_ones_own_never_leads_to_somebody_elses_session(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        ada, ben = (shop.call("UserAdd", {"name": name})["user_id"] for name in ("Ada", "Ben"))
        asked = {"workflowId": "wr.change_review", "idempotencyKey": "the-same-key"}
        sessions = [
            shop.call("start_workflow", asked, user=user)["session"]["sessionId"]
            for user in (None, ada, ben, ada)
        ]
        notes = [
            shop.call("start_session", {"idempotencyKey": "the-same-key"}, user=user)["session"]
            for user in (None, ada, ben)
        ]
        grants = shop.call("AccessList", {})["access"]

    assert len(set(sessions)) == 3
    assert sessions[1] == sessions[3]
    assert len({one["sessionId"] for one in notes}) == 3
    assert {(one["subject"], one["name"]) for one in grants} == {
        (sessions[1], "Ada"),
        (sessions[2], "Ben"),
        (notes[1]["sessionId"], "Ada"),
        (notes[2]["sessionId"], "Ben"),
    }


@pytest.mark.rule("T6.5")
def test_limits_are_counted_over_all_processes(tmp_path):
    settings = {"team.requests_per_minute": 3, "team.bench_requests_per_minute": 2}
    clock = FixedClock()
    with (
        Backshop.open(tmp_path / "home", settings=settings, clock=clock) as one,
        Backshop.open(tmp_path / "home", settings=settings, clock=clock) as other,
    ):
        ada = one.call("UserAdd", {"name": "Ada"})["user_id"]
        for shop in (one, other, one):
            shop.call("WorkbenchList", {}, user=ada)
        with pytest.raises(LimitExceeded) as refused:
            other.call("WorkbenchList", {}, user=ada)
        assert refused.value.detail == "team.requests_per_minute"

        clock.move(61_000)
        bench = one.call("WorkbenchCreate", {"name": "Mine"}, user=ada)["workbench_id"]
        clock.move(61_000)
        for shop in (one, other):
            shop.call("WorkbenchOpen", {"workbench_id": bench}, user=ada)
        with pytest.raises(LimitExceeded) as refused:
            one.call("WorkbenchOpen", {"workbench_id": bench}, user=ada)
        assert refused.value.detail == "team.bench_requests_per_minute"


@pytest.mark.rule("T6.5")
def test_what_one_person_stores_and_runs_is_limited(tmp_path):
    settings = {"team.stored_bytes": 10, "team.turns": 1, "model.default": "scripted:test"}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
        bench = shop.call("WorkbenchCreate", {"name": "Mine"}, user=ada)["workbench_id"]
        (tmp_path / "a.txt").write_text("more than ten bytes")
        paths = {"workbench_id": bench, "source_paths": [str(tmp_path / "a.txt")]}
        shop.gate.require_room(ada)
        shop.call("WorkbenchFilesAdd", paths)

        for try_it in (
            lambda: shop.gate.require_room(ada),
            lambda: shop.call("WorkbenchFork", {"workbench_id": bench, "name": "B"}, user=ada),
        ):
            with pytest.raises(LimitExceeded) as refused:
                try_it()
            assert refused.value.detail == "team.stored_bytes"


@pytest.mark.rule("T6.4", "T6.5")
def test_a_person_removed_in_mid_turn_gets_no_further(tmp_path):
    settings = {"model.default": "scripted:slow", "team.turns": 1}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        shop.models.play("slow", SLOW)
        ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
        benches = [
            shop.call("WorkbenchCreate", {"name": name}, user=ada)["workbench_id"]
            for name in ("One", "Two")
        ]
        wishes = []
        for bench in benches:
            sent = {"workbench_id": bench, "text": "Work"}
            message = shop.call("WorkshopSendUserMessage", sent, user=ada)["message_id"]
            wishes.append({"workbench_id": bench, "message_id": message})
        ended: Future[Any] = Future()
        work = threading.Thread(
            target=lambda: ended.set_result(shop.call("WorkshopRunAgent", wishes[0], user=ada))
        )
        work.start()
        while not shop.workshop.turns_of(ada):
            assert work.is_alive()

        with pytest.raises(LimitExceeded) as refused:
            shop.call("WorkshopRunAgent", wishes[1], user=ada)
        assert refused.value.detail == "team.turns"
        shop.call("UserRemove", {"user_id": ada})

        assert ended.result(120)["status"] == "canceled"
        with pytest.raises(AccessDenied):
            shop.call("WorkshopRunAgent", wishes[1], user=ada)
        work.join(10)
