"""A home of version 0.1.0: today's program tells of it what 0.1.0 told, and works on in it."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REPOSITORY
from tests.workshop.conftest import story

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.base.tree import EMPTY
from backshop.bench.repository import raw_state
from backshop.testing.ambient import FixedClock

Json = dict[str, Any]
ARCHIVE = REPOSITORY / "tests" / "data" / "home-0.1.0.tar.xz"  # by make_home_0_1_0.py beside it
CATALOGUE = REPOSITORY / "tests" / "golden" / "events.jsonl"

NOT_MADE = {
    "workshop.noticed": "it tells of a context item or style guide whose contents were lost",
}
CARDS = ("draft_created", "draft_changes_applied")

CHANGED: dict[tuple[str, str], str] = {
    ("ProvidersGetStatus", "providers.models"): "M1.5: the catalogue has today's models",
    ("RailsNodeGet", "pending.prompt"): "R7.17: prompts are rendered with today's wording",
    ("WorkbenchGetClutter", "score"): "B16: it weighs today's prompts",
    ("WorkbenchOpen", "recovery"): "B5.2: folders of an unpacked home are made anew",
}
"""Values that differ on purpose, and by which rule. Answers may always have more fields."""


@dataclass(frozen=True)
class Old:
    """The home, opened by today's program, and what 0.1.0 said about it."""

    shop: Backshop
    home: Path
    facts: Json
    told: list[Json]

    def call(self, bench: str, command: str, **request: Any) -> Json:
        found: Json = self.shop.call(
            command, {"workbench_id": self.shop.bench_id(bench), **request}
        )
        return found

    def files(self, bench: str, view: str) -> list[str]:
        listed = self.call(bench, "WorkbenchFilesList", view=view)["files"]
        return [one["path"] for one in listed]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the archive; nobody writes in it."""
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def old(unpacked: Path, tmp_path: Path) -> Iterator[Old]:
    shutil.copytree(unpacked / "home", tmp_path / "home", symlinks=True)
    lines = (unpacked / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    first, *told = map(json.loads, lines)
    facts = first["answer"]
    clock = FixedClock(facts["clock_ms"])
    options = {"model.default": "scripted:demo"}
    with Backshop.open(tmp_path / "home", settings=options, clock=clock) as shop:
        yield Old(shop, tmp_path / "home", facts, told)


def answered(old: Old, asked: Json) -> Any:
    """Return what today's program answers, in the words of the archive."""
    try:
        answer = old.shop.call(asked["ask"], asked["request"])
    except BackshopError as error:
        answer = {"refused": [error.code, error.reason]}
    return json.loads(json.dumps(answer).replace(str(old.home), "{home}"))


def differing(before: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield where an answer lost or changed something; more fields are no difference."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            yield from differing(value, now.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for one, other in zip(before, now, strict=True):
            yield from differing(one, other, path)
    elif before != now:
        yield path, before, now


def _transcript(answer: Json) -> Json:
    """Leave out cards of Drafts that are gone, which later versions do not show (W2.7)."""
    if "messages" not in answer:
        return answer
    shown = [one for one in answer["messages"] if one.get("event_kind") not in CARDS]
    return {**answer, "messages": shown}


def _audited(answer: Json) -> Json:
    """Leave out what 0.1.0 recorded and did not tell: who was given which role (B17.2)."""
    told = [one for one in answer["entries"] if one["kind"] != "access_changed"]
    return {**answer, "entries": told}


def _settings(answer: Json) -> Json:
    """Compare what somebody set, by name: settings and defaults may be others now (S3)."""
    given = [one for one in answer["settings"] if one["source"] != "default"]
    return {one["name"]: [one.get("value"), one["source"]] for one in given}


PLAIN: dict[str, Callable[[Json], Json]] = {
    "AuditList": _audited,
    "WorkshopGetConversation": _transcript,
    "SettingsGet": _settings,
    "StoreDoctor": lambda _: {},  # it has a test of its own
}


@pytest.mark.rule("T5.2")
def test_every_event_of_0_1_0_is_in_its_home(old):
    catalogue = [json.loads(line) for line in CATALOGUE.read_text(encoding="utf-8").splitlines()]
    released = {one["kind"] for one in catalogue if one["release"] == "0.1.0"}

    stored = {
        event.kind
        for head in old.shop.store.streams()
        for event in old.shop.store.read(head.stream)
    }

    assert released - stored == set(NOT_MADE)
    assert set(old.facts["kinds"]) <= stored


@pytest.mark.rule("T5.2", "T5.3")
def test_a_home_of_0_1_0_is_told_as_0_1_0_told_it(old):
    found = []
    for asked in old.told:
        plain = PLAIN.get(asked["ask"], lambda answer: answer)
        before, now = plain(asked["answer"]), plain(answered(old, asked))
        found += [(asked["ask"], asked["request"], *one) for one in differing(before, now)]

    unexplained = [one for one in found if (one[0], one[2]) not in CHANGED]
    assert unexplained == []
    assert {(one[0], one[2]) for one in found} == set(CHANGED)  # no excuse is kept for nothing


@pytest.mark.rule("T5.1", "T5.3", "T5.4")
def test_the_doctor_finds_a_home_of_0_1_0_whole_and_it_can_be_copied(old, tmp_path):
    (told,) = [one["answer"]["findings"] for one in old.told if one["ask"] == "StoreDoctor"]
    named = [one["message"] for one in told if one["level"] == "problem"]
    assert named == ["corrupt_tail: missing_blob, valid through event 12"]  # a digest's prompt

    findings = old.shop.call("StoreDoctor", {"full": True})["findings"]
    old.shop.call("StoreBackup", {"path": str(tmp_path / "copy")})

    assert [one for one in findings if one["level"] != "ok"] == []


@pytest.mark.rule("W12.1", "W12.2")
def test_a_turn_that_0_1_0_stopped_goes_on(old):
    steps = story(("d.txt", "d\n"), ("e.txt", "e\n"), answer="d.txt and e.txt are there.")
    wire = old.shop.models.play("wait", steps)
    waiting = old.call("Stopped", "WorkshopGetState")["resumable_turn"]

    done = old.call("Stopped", "WorkshopRunAgent", message_id=waiting["message_id"])

    assert (done["status"], done["turn_id"]) == ("complete", waiting["turn_id"])
    assert {request.purpose.value for request in wire.requests} == {"implement", "summary"}
    assert {"d.txt", "e.txt"} <= set(old.files("Stopped", "draft"))


@pytest.mark.rule("W15.1", "W15.12", "B9.6")
def test_a_turn_of_0_1_0_is_taken_back_and_brought_again_and_published(old):
    messages = old.call("Compat", "WorkshopGetConversation", limit=200)["messages"]
    question = [one for one in messages if one["type"] == "user_message"][-1]

    old.call("Compat", "WorkshopUndoToMessage", message_id=question["message_id"])
    gone = old.call("Compat", "DraftGetState")["has_draft"]
    old.call("Compat", "WorkshopRedo")
    old.call("Compat", "DraftPublish")

    read = old.call("Compat", "WorkbenchFileRead", path="a.md", view="published")
    assert (gone, read["text"]) == (False, "new")


@pytest.mark.rule("R6.3", "R6.11", "R6.12")
def test_tokens_of_0_1_0_are_good(old):
    tokens = old.facts["tokens"]

    def go(at: Json, notes: str) -> Json:
        given = {name: at[name] for name in ("stateToken", "ackToken")}
        output = {"notesMarkdown": notes}
        found: Json = old.shop.call("continue_workflow", {**given, "output": output})
        return found

    replayed = go(tokens["third"], "done")
    ended = go(tokens["fork"], "done by a later version")

    assert replayed["pending"]["stepId"] == "four"
    assert ended["isComplete"] is True


@pytest.mark.rule("B9.17")
def test_a_draft_that_0_1_0_discarded_is_not_offered_back(old):
    """It let go of the contents when it discarded: a collection may have them by now."""
    with pytest.raises(BackshopError) as caught:
        old.call("Letters", "DraftBringBack")

    assert caught.value.reason == "no_discarded_draft"
    assert "discarded_draft_id" not in old.call("Letters", "DraftGetState")


@pytest.mark.rule("B2.9", "T4.5")
def test_a_bench_of_0_1_0_pins_exactly_what_it_can_come_back_to(old):
    """Whatever is counted among it without being pinned is never pinned again, and collected."""
    for head in old.shop.store.streams("bench"):
        state = raw_state(old.shop.store, head.stream.partition(":")[2])
        pinned = {pin.ref for pin in old.shop.store.pins(head.stream) if pin.kind == "tree"}
        assert (head.stream, state.roots() - {EMPTY}) == (head.stream, pinned)
