"""What people who share a home see, keep and use up of each other's (T6.4, T6.5)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from backshop.app import Backshop, Role
from backshop.app.people.people import AccessChanged, Grant, PeopleState, UserAdded, apply
from backshop.base.codec import decode
from backshop.base.errors import AccessDenied, LimitExceeded, ValidationFailed
from backshop.base.ids import UserId
from backshop.testing.ambient import FixedClock


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Backshop]:
    with Backshop.open(tmp_path / "home", settings={"team.requests_per_minute": 0}) as opened:
        yield opened


def person(shop: Backshop, name: str) -> Any:
    return shop.call("UserAdd", {"name": name})["user_id"]


def bench(shop: Backshop, name: str, user: Any = None) -> str:
    return str(shop.call("WorkbenchCreate", {"name": name}, user=user)["workbench_id"])


@pytest.mark.rule("T6.4", "B5.3")
def test_a_page_of_workbenches_is_a_page_of_ones_own(shop):
    ada = person(shop, "Ada")
    hers = [bench(shop, f"Hers {n}", ada) for n in range(3)]
    others = [bench(shop, f"Not hers {n}") for n in range(3)]

    first = shop.call("WorkbenchList", {"limit": 2}, user=ada)
    rest = shop.call("WorkbenchList", {"limit": 2, "cursor": first["next_cursor"]}, user=ada)
    with pytest.raises(ValidationFailed):
        shop.call("WorkbenchList", {"cursor": others[1]}, user=ada)

    assert [one["workbench_id"] for one in first["workbenches"]] == [hers[2], hers[1]]
    assert first["next_cursor"] == hers[1]
    assert [one["workbench_id"] for one in rest["workbenches"]] == [hers[0]]
    assert "next_cursor" not in rest


@pytest.mark.rule("T6.4")
def test_a_persons_name_is_one_line_in_any_script(shop):
    for name in ("علی\u200cرضا", "Ana\u00a0María", "Jo \U0001f469\u200d\U0001f4bb"):
        person(shop, name)
        assert name in [one["name"] for one in shop.call("UserList", {})["users"]]
    for name in (
        "",
        " ",
        "\u200d",
        "\u200b \u2060",
        "two\nlines",
        "two\u2029lines",
        "A\u202ead",
        "B\x00",
        "x" * 81,
    ):
        with pytest.raises(ValidationFailed, match="one line of 1 to 80"):
            person(shop, name)


@pytest.mark.rule("T6.4", "T6.7")
def test_nobody_is_let_in_under_a_name_that_looks_like_another_ones(shop):
    person(shop, "Ana María")
    shop.call("UserInvite", {"name": "Eve"})
    for name in ("Ana María\u200b", "Ana\u00a0María", "\u2060Ana  María"):
        with pytest.raises(ValidationFailed, match="is here already"):
            person(shop, name)
    with pytest.raises(ValidationFailed):
        shop.call("UserInvite", {"name": "E\u200dve"})


@pytest.mark.rule("T6.4", "R7.26")
def test_a_page_of_sessions_is_a_page_of_ones_own(shop):
    ada = person(shop, "Ada")
    hers = [begun(shop, ada) for _ in range(3)]
    for _ in range(3):
        begun(shop)

    first = shop.call("RailsSessionsList", {"limit": 2}, user=ada)
    more = {"limit": 2, "cursor": first["nextCursor"]}
    rest = shop.call("RailsSessionsList", more, user=ada)

    assert [len(one["sessions"]) for one in (first, rest)] == [2, 1]
    seen = [*first["sessions"], *rest["sessions"]]
    assert {one["sessionId"] for one in seen} == set(hers)
    assert "nextCursor" not in rest


def begun(shop: Backshop, user: Any = None) -> str:
    started = shop.call("start_workflow", {"workflowId": "wr.rpi", "goal": "x"}, user=user)
    return str(started["session"]["sessionId"])


@pytest.mark.rule("T6.4")
def test_what_somebody_was_making_when_they_were_removed_is_nobodys(shop):
    ada, ben = person(shop, "Ada"), person(shop, "Ben")
    command = shop.commands.find("WorkbenchCreate").command
    request = decode(command.request, {"name": "Late"})
    caller = shop.commands.admitted("WorkbenchCreate", request, ada)
    shop.call("UserRemove", {"user_id": ada})
    made = command.answer(shop.benches, request, caller).workbench_id
    about = {"workbench_id": made}
    shop.call("AccessSet", {**about, "user_id": ben, "role": "read"})

    access = shop.call("AccessList", about)["access"]

    assert [(one["name"], one["role"], one["owner"]) for one in access] == [("Ben", "read", False)]
    assert shop.call("AccessList", {})["access"] == access


LIMITS = {"team.requests_per_minute": 0, "team.bench_requests_per_minute": 2}


@pytest.mark.rule("T6.5")
def test_who_may_not_use_a_workbench_uses_up_nothing_of_it(tmp_path):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", settings=LIMITS, clock=clock) as shop:
        ada, eve = person(shop, "Ada"), person(shop, "Eve")
        hers = {"workbench_id": bench(shop, "Hers", ada)}
        for wanted in [*[hers] * 5, {"workbench_id": "x" * 500}]:
            with pytest.raises(AccessDenied):
                shop.call("WorkbenchOpen", wanted, user=eve)
        with pytest.raises(AccessDenied):
            shop.gate.admit_to(eve, hers["workbench_id"], Role.READ)
        for _ in range(2):
            shop.call("WorkbenchOpen", hers, user=ada)
        with pytest.raises(LimitExceeded) as refused:
            shop.call("WorkbenchOpen", hers, user=ada)

        assert refused.value.detail == "team.bench_requests_per_minute"
        assert counted(shop) == {hers["workbench_id"]}


@pytest.mark.rule("T6.5", "T1.5")
def test_counts_of_minutes_that_are_over_are_not_kept(tmp_path):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", settings=LIMITS, clock=clock) as shop:
        ada = person(shop, "Ada")
        first, second = bench(shop, "First", ada), bench(shop, "Second", ada)
        shop.call("WorkbenchOpen", {"workbench_id": first}, user=ada)
        before = counted(shop)
        clock.move(61_000)
        shop.call("WorkbenchOpen", {"workbench_id": second}, user=ada)

        assert (before, counted(shop)) == ({first}, {second})


def counted(shop: Backshop) -> set[str]:
    """Return everything that is counted in the database."""
    with shop.store.database.reader() as reading:
        return {name for (name,) in reading.text("SELECT name FROM quota")}


@pytest.mark.rule("T6.4")
@pytest.mark.parametrize("role", ["none", "read", "write"])
def test_only_the_maker_and_the_owner_of_the_home_take_a_role_from_the_maker(shop, role):
    ada, ben = person(shop, "Ada"), person(shop, "Ben")
    hers = bench(shop, "Hers", ada)
    give(shop, hers, ben, "publish", by=ada)
    before = shop.call("AccessList", {"workbench_id": hers})

    with pytest.raises(AccessDenied) as refused:
        give(shop, hers, ada, role, by=ben)

    assert refused.value.reason == "owner_only"
    assert shop.call("AccessList", {"workbench_id": hers}) == before
    give(shop, hers, ada, "publish", by=ben)  # nothing that she has is taken
    give(shop, hers, ben, "none", by=ada)
    give(shop, hers, ben, "publish", by=ada)
    give(shop, hers, ben, role, by=ben)  # who did not make it keeps no right to it
    for by in (ada, None):
        own = bench(shop, f"For {by}", ada)
        give(shop, own, ada, role, by=by)
        assert shop.people.state.role(ada, own) == role


@pytest.mark.rule("T6.4")
def test_who_made_something_is_its_owner_again_when_they_are_let_in_again(shop):
    ada, ben = person(shop, "Ada"), person(shop, "Ben")
    hers = bench(shop, "Hers", ada)
    give(shop, hers, ben, "publish", by=ada)
    give(shop, hers, ada, "none", by=ada)
    out = access(shop, hers)

    with pytest.raises(AccessDenied):
        give(shop, hers, ada, "read", by=ada)
    give(shop, hers, ada, "write", by=ben)
    again = access(shop, hers)

    assert out == {"Ada": ("none", True), "Ben": ("publish", False)}
    assert again == {"Ada": ("write", True), "Ben": ("publish", False)}
    with pytest.raises(AccessDenied):
        give(shop, hers, ada, "none", by=ben)
    give(shop, hers, ben, "none", by=None)
    assert access(shop, hers) == {"Ada": ("write", True)}


@pytest.mark.rule("T6.4", "T5.2")
def test_a_log_that_forgot_who_made_something_remembers_it():
    """Before, a role that was taken took the mark of the maker with it."""
    ada = UserId("user_a")
    state = apply(PeopleState(), UserAdded(user_id=ada, name="Ada", token_sha256="x"), 0)
    for role, owner in ((Role.PUBLISH, True), (Role.NONE, False), (Role.READ, False)):
        fact = AccessChanged(subject="wb_a", user_id=ada, role=role, owner=owner)
        state = apply(state, fact, 0)

    assert state.grants == {("wb_a", ada): Grant(Role.READ, owner=True)}


def access(shop: Backshop, subject: str) -> dict[str, tuple[str, bool]]:
    found = shop.call("AccessList", {"workbench_id": subject})["access"]
    return {one["name"]: (one["role"], one["owner"]) for one in found}


def give(shop: Backshop, subject: str, user: Any, role: str, *, by: Any) -> None:
    wish = {"workbench_id": subject, "user_id": user, "role": role}
    shop.call("AccessSet", wish, user=by)


@pytest.mark.rule("T6.4")
def test_a_tool_on_a_workbench_needs_its_role_like_a_command(shop):
    ada = person(shop, "Ada")
    ours = bench(shop, "Ours")
    shop.call("AccessSet", {"workbench_id": ours, "user_id": ada, "role": "read"})

    shop.gate.admit_to(ada, ours, Role.READ)
    shop.gate.admit_to(None, ours, Role.PUBLISH)  # the home's owner
    with pytest.raises(AccessDenied):
        shop.gate.admit_to(ada, ours, Role.WRITE)
    shop.call("UserRemove", {"user_id": ada})
    with pytest.raises(AccessDenied):
        shop.gate.admit_to(ada, ours, Role.READ)


@pytest.mark.rule("T6.4")
def test_a_name_is_of_one_person_until_they_are_removed(shop):
    ada = person(shop, "Ada")

    with pytest.raises(ValidationFailed) as refused:
        person(shop, " Ada ")
    shop.call("UserRemove", {"user_id": ada})

    assert refused.value.reason == "name_taken"
    assert person(shop, "Ada") != ada


@pytest.mark.rule("T6.5")
def test_requests_drawn_in_one_minute_are_not_used_up_in_the_next(tmp_path):
    clock = FixedClock(60_000 * 30_000_000)  # at the beginning of a minute
    limits = {"team.requests_per_minute": 40}  # two are drawn at once
    with Backshop.open(tmp_path / "home", settings=limits, clock=clock) as shop:
        ada = person(shop, "Ada")
        shop.call("WorkbenchList", {}, user=ada)
        clock.move(60_000)
        for _ in range(40):
            shop.call("WorkbenchList", {}, user=ada)

        with pytest.raises(LimitExceeded):
            shop.call("WorkbenchList", {}, user=ada)


@pytest.mark.rule("T6.4")
def test_a_call_about_two_sessions_needs_a_role_on_both(shop):
    """Ids are drawn, so there are many: some of hers stand before one of somebody else's."""
    ada = person(shop, "Ada")
    asked = {"workflowId": "wr.change_review"}
    hers, others = (
        [shop.call("start_workflow", asked, user=one) for _ in range(6)] for one in (ada, None)
    )

    for one, other in product(hers, others):
        for state, ack in ((one, other), (other, one)):
            mixed = {"stateToken": state["stateToken"], "ackToken": ack["ackToken"]}
            with pytest.raises(AccessDenied):
                shop.call("continue_workflow", mixed, user=ada)
