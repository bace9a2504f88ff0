"""Who acted: every event says it, and whoever looks back is told (T1.6)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from tests.cli.test_bench import run as run_cli  # noqa: F401  # a fixture
from tests.store.store_conformance import Counted
from tests.workshop.conftest import Chat, story

from backshop.app import Backshop
from backshop.base.acting import OWNER, Acted, By, acting, acting_as, acting_by, by_of, who
from backshop.base.canon import canonical
from backshop.base.event import SIGNATURE, from_body, signed
from backshop.base.ids import UserId
from backshop.rails import RailsError
from backshop.store import Event, NewEvent, Part, Plan, wire

GOLDEN = Path(__file__).parent.parent / "golden" / "events.jsonl"


@pytest.fixture
def shop(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as opened:
        yield opened


@pytest.fixture
def people(shop) -> dict[str, Any]:
    return {name: shop.call("UserAdd", {"name": name})["user_id"] for name in ("Ada", "Ben")}


def bench(shop: Backshop, user: Any, *others: Any) -> str:
    made = str(shop.call("WorkbenchCreate", {"name": "Ours"}, user=user)["workbench_id"])
    for one in others:
        grant = {"workbench_id": made, "user_id": one, "role": "publish"}
        shop.call("AccessSet", grant, user=user)
    return made


def say(shop: Backshop, bench_id: str, text: str, user: Any) -> Any:
    sent = {"workbench_id": bench_id, "text": text}
    return shop.call("WorkshopSendUserMessage", sent, user=user)["message_id"]


def after(shop: Backshop, seq: int) -> list[Event]:
    return shop.store.tail(seq, 10_000)


@pytest.mark.rule("T1.6")
def test_every_event_of_a_call_says_whose_it_was_and_through_which_door(shop, people, tmp_path):
    ada, ben = people["Ada"], people["Ben"]
    (tmp_path / "a.txt").write_text("a")
    start = shop.store.last_seq()
    ours = bench(shop, ada, ben)
    about = {"workbench_id": ours}
    shop.call("WorkbenchFilesAdd", {**about, "source_paths": [str(tmp_path / "a.txt")]})
    middle = shop.store.last_seq()
    shop.call("CheckpointCreate", {**about, "description": "mine"}, user=ben)
    say(shop, ours, "Hello", ben)

    first = {one.by for one in after(shop, start) if one.seq <= middle}
    assert first == {By(person=one, door="python") for one in (ada, OWNER)}
    assert {one.by for one in after(shop, middle)} == {By(person=ben, door="python")}


@pytest.mark.rule("T1.6", "W5.4")
def test_the_events_of_a_turn_say_who_asked_and_that_the_agent_acted(shop, people, tmp_path):
    ada = people["Ada"]
    chat = Chat(shop, tmp_path)
    shop.call("AccessSet", {"workbench_id": chat.id, "user_id": ada, "role": "publish"})
    chat.play(story(("b.txt", "b")))
    request = {"workbench_id": chat.id, "message_id": say(shop, chat.id, "Do it", ada)}
    start = shop.store.last_seq()

    shop.call("WorkshopRunAgent", request, user=ada)

    made = after(shop, start)
    by = {one.kind: one.by for one in made if one.stream == f"bench:{chat.id}"}
    asked, worked = By(person=ada, door="python"), By(person=ada, agent="agent", door="python")
    assert {one.by for one in made} == {asked, worked}
    assert by["workshop.turn_started"] == asked
    assert {by["draft.batch_applied"], by["workshop.turn_ended"]} == {worked}


@pytest.mark.rule("T1.6")
def test_calls_of_two_people_at_once_are_never_mixed(shop, people):
    ours, meet = bench(shop, people["Ada"], people["Ben"]), Barrier(2, timeout=30)

    def talk(name: str) -> None:
        for number in range(10):
            meet.wait()
            say(shop, ours, f"{name} {number}", people[name])

    with ThreadPoolExecutor() as threads:
        for one in [threads.submit(talk, name) for name in people]:
            one.result()

    said = [one for one in shop.store.read(f"bench:{ours}") if "message_sent" in one.kind]
    assert len(said) == 20
    assert [people[one.fact.text.split()[0]] for one in said] == [one.by.person for one in said]
    assert acting_by() == By()


@pytest.mark.rule("T1.6")
def test_a_call_within_a_call_is_of_whoever_the_first_was_for():
    ada = UserId("user_ada")
    with acting(ada), acting(None):
        within = acting_by()
    with acting_as(By(person=ada, agent="mcp:x")), acting(None):
        outside = acting_by()
    with acting(None):
        own = acting_by()

    assert (within, outside) == (By(person=ada), By(person=ada, agent="mcp:x"))
    assert own == By(person=OWNER)


@pytest.mark.rule("T1.6", "T1.2")
def test_who_acted_is_under_the_hash_and_events_that_do_not_say_it_stay_as_they_were(shop):
    store = shop.store
    store.place = By()
    store.append(Plan([Part("test:x", [NewEvent(Counted(number=1), "old")])]))
    store.place = By(door="web")
    store.append(Plan([Part("test:x", [NewEvent(Counted(number=2), "new")])]))

    old, new = store.read("test:x")
    assert (old.body, old.by) == (b'{"number":1}', None)
    assert (new.data, new.fact, new.by) == ({"number": 2}, Counted(number=2), By(door="web"))
    assert store.health("test:x").is_healthy
    assert wire(new)["data"][SIGNATURE] == {"door": "web"}

    with store.database.transaction() as cursor:
        cursor.text("UPDATE event SET body = replace(body, 'web', 'cli') WHERE dedupe_key = 'new'")
    assert store.health("test:x").reason == "digest_mismatch"


@pytest.mark.rule("T1.6", "T5.2")
def test_every_released_event_reads_the_same_with_who_acted_in_it():
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        known = json.loads(line)
        for data in known["samples"]:
            plain, named = (
                from_body(known["kind"], known["v"], canonical(one))
                for one in (data, signed(data, By(person="user_1", agent='}"', door="web")))
            )
            assert plain == named, known["kind"]


@pytest.mark.rule("T1.6")
def test_what_a_later_program_says_about_who_acted_is_passed_over():
    assert by_of({"person": "user_1", "machine": "m", "door": 7}) == By(person="user_1")
    assert by_of({"machine": "m"}) is None
    assert by_of("nobody") is None


@pytest.mark.rule("T1.6")
def test_who_acted_is_said_in_the_words_of_whoever_reads_it():
    ada = Acted(person="user_1", name="Ada")
    words = [
        who(None),
        who(Acted(door="web")),
        who(Acted(person=OWNER)),
        who(Acted(person=OWNER, name="the home's owner")),
        who(ada),
        who(ada, me="user_1"),
        who(replace(ada, agent="agent")),
        who(replace(ada, agent="mcp:Claude Code"), me="user_1"),
        who(Acted(person="user_elsewhere")),
    ]

    assert words == [
        *(None, None, None, "the home's owner", "Ada", "you", "the agent for Ada"),
        *("Claude Code for you", "user_elsewhere"),
    ]


def in_words(by: dict[str, str] | None) -> str | None:
    return who(None if by is None else Acted(**by))


@pytest.mark.rule("T1.6", "B17.1", "B10.8", "B12.1")
def test_audit_history_review_and_checkpoints_name_the_people(shop, people, tmp_path):
    ada, ben = people["Ada"], people["Ben"]
    chat = Chat(shop, tmp_path)
    about = {"workbench_id": chat.id}
    for one in (ada, ben):
        shop.call("AccessSet", {**about, "user_id": one, "role": "publish"})
    chat.play(story(("b.txt", "b")))
    message = say(shop, chat.id, "Do it", ada)
    shop.call("WorkshopRunAgent", {**about, "message_id": message}, user=ada)
    listed = shop.call("ReviewGetChangeSet", about, user=ben)
    shop.call("DraftPublish", about, user=ben)
    shop.call("UserRemove", {"user_id": ada})

    talk = shop.call("WorkshopGetConversation", about)["messages"]
    kept = shop.call("CheckpointsList", about)["checkpoints"]
    audit = {one["kind"]: one for one in shop.call("AuditList", about)["entries"]}
    assert [in_words(one) for one in listed["writers"]] == ["the agent for Ada"]
    said = {one.get("event_kind") or one["role"]: in_words(one.get("by")) for one in talk}
    assert (said["user"], said["checkpoint_published"]) == ("Ada", "Ben")
    assert in_words(kept[0]["by"]) == "Ben"
    assert {one: in_words(audit[one]["by"]) for one in ("batch_applied", "draft_published")} == {
        "batch_applied": "the agent for Ada",
        "draft_published": "Ben",
    }
    assert audit["access_changed"]["by"]["name"] == "the home's owner"
    assert f"user_id={ben}" in audit["access_changed"]["refs"]


@pytest.mark.rule("T1.6", "T6.4")
def test_access_says_who_gave_it(shop, people):
    ours = bench(shop, people["Ada"], people["Ben"])

    listed = shop.call("AccessList", {"workbench_id": ours})["access"]

    assert {one["name"]: one["given_by"] for one in listed} == {"Ada": "Ada", "Ben": "Ada"}
    assert shop.call("UserList", {})["users"][0]["name"] == "Ada"


@pytest.mark.rule("T1.6")
def test_a_home_of_one_person_names_nobody(run_cli, tmp_path):  # noqa: F811
    (tmp_path / "a.txt").write_text("a")
    run_cli("bench", "create", "Alone")
    run_cli("bench", "add", "Alone", str(tmp_path / "a.txt"))
    run_cli("checkpoint", "create", "Alone")

    _, audit = run_cli("bench", "audit", "Alone")
    _, kept = run_cli("checkpoint", "list", "Alone")

    assert "user (cli)" in audit
    assert " user " in kept
    assert "owner" not in audit + kept


@pytest.mark.rule("T1.6", "T5.4")
def test_a_backup_brings_along_who_acted(shop, people, tmp_path):
    ours = bench(shop, people["Ada"])
    shop.call("StoreBackup", {"path": str(tmp_path / "copy")})
    from backshop.store import restore_backup

    restore_backup(tmp_path / "copy", tmp_path / "again")

    with Backshop.open(tmp_path / "again") as again:
        made = next(again.store.read(f"bench:{ours}"))
        audit = again.call("AuditList", {"workbench_id": ours})["entries"]
    assert made.by == By(person=people["Ada"], door="python")
    assert in_words(audit[0]["by"]) == "Ada"


@pytest.mark.rule("T1.6", "R9.3", "R4.19")
def test_a_bundle_brings_along_who_acted_and_is_refused_where_that_is_nonsense(
    shop, people, tmp_path
):
    begun = shop.call("start_workflow", {"workflowId": "wr.rpi", "goal": "x"}, user=people["Ada"])
    named = {"sessionId": begun["session"]["sessionId"]}
    text = shop.call("RailsSessionExport", named)["text"]

    with Backshop.open(tmp_path / "elsewhere") as other:
        other.call("RailsSessionImport", {"bundle": text})
        came = list(other.store.read(f"session:{named['sessionId']}"))
    assert {one.by for one in came} == {By(person=people["Ada"], door="python")}

    from backshop.rails.bundle import import_ids

    for said in ({"person": 7}, {"machine": "m"}, "Ada"):
        with pytest.raises(RailsError):
            import_ids._by({SIGNATURE: said})
