"""Consent for what a real workbench holds: what asks again, and what does not."""

from __future__ import annotations

import pytest
from tests.bench.conftest import room  # noqa: F401  # a fixture

MODEL = "openai:gpt-5.2"


def status(room):  # noqa: F811
    found = room.call("EgressGetConsentStatus", model_id=MODEL)
    return found["consented"], found["new_items"]


def grant(room):  # noqa: F811
    found = room.call("EgressGetConsentStatus", model_id=MODEL)
    names = ("provider_id", "model_id", "scope_hash")
    granted = {name: found[name] for name in names}
    room.call("EgressGrantWorkshopConsent", **granted, persist=True)


@pytest.mark.rule("M4.6", "M4.7", "M19.24")
def test_publishing_and_removing_ask_nobody_again_and_new_material_does(room):  # noqa: F811
    room.add({"a.txt": "hello", "b.txt": "bye"})
    grant(room)

    room.write({"a.txt": "hello, everybody", "made.txt": "by the agent"})
    assert status(room) == (True, [])
    room.call("DraftPublish")
    assert status(room) == (True, [])
    room.call("WorkbenchFilesRemove", workbench_paths=["b.txt"])
    assert status(room) == (True, [])

    room.add({"c.txt": "new"})
    assert status(room) == (False, ["c.txt"])
    grant(room)
    room.add({"c.txt": "another text"}, on_conflict="replace")
    assert status(room) == (False, ["c.txt"])


def drop(room, name, text):  # noqa: F811
    """Put a file into the Draft's folder as another program does, and take it over."""
    path = room.shop.config.home / "benches" / room.id / "draft" / name
    path.unlink(missing_ok=True)
    path.write_text(text)
    room.call("DraftRescan", mode="adopt")


def listed(room):  # noqa: F811
    files = room.call("EgressGetConsentStatus", model_id=MODEL)["files"]
    return sorted((one["path"], one["size"]) for one in files)


@pytest.mark.rule("M4.6", "M4.7", "B8.10")
def test_a_file_put_into_the_folder_of_the_draft_asks_again(room):  # noqa: F811
    room.add({"a.txt": "hello"})
    grant(room)
    room.write({"made.txt": "by the agent"})
    assert status(room) == (True, [])

    drop(room, "secret.txt", "from elsewhere")
    assert status(room) == (False, ["secret.txt"])
    grant(room)
    room.write({"secret.txt": "as the agent has it now"})
    assert status(room) == (True, [])
    room.call("DraftPublish")
    assert status(room) == (True, [])
    assert listed(room) == [("a.txt", 5), ("secret.txt", 14)]


@pytest.mark.rule("M4.6", "M4.7", "B9.9", "B6.5")
def test_a_published_file_that_came_through_the_folder_was_brought_in_by_the_person(
    room,  # noqa: F811
):
    room.add({"a.txt": "hello"})
    room.call("DraftCreate")
    drop(room, "b.txt", "from elsewhere")
    drop(room, "a.txt", "another hello")
    assert listed(room) == [("a.txt", 5), ("a.txt", 13), ("b.txt", 14)]
    room.call("DraftPublish")

    assert listed(room) == [("a.txt", 13), ("b.txt", 14)]
    files = room.call("WorkbenchFilesList")["files"]
    assert {one["path"]: one["origin"] for one in files} == {"a.txt": "import", "b.txt": "import"}


@pytest.mark.rule("M4.6", "M4.7", "B8.11")
def test_what_a_draft_no_longer_holds_is_not_asked_for(room):  # noqa: F811
    room.add({"a.txt": "hello"})
    grant(room)
    before = room.call("DraftCreate")["draft_revision_id"]
    drop(room, "b.txt", "from elsewhere")
    assert status(room) == (False, ["b.txt"])
    room.call("DraftRenamePath", path="b.txt", new_path="c.txt")
    assert status(room) == (False, ["c.txt"])

    room.call("DraftRestoreRevision", revision_id=before)
    assert status(room) == (True, [])
    drop(room, "b.txt", "from elsewhere")
    room.call("DraftDeletePath", path="b.txt")
    assert status(room) == (True, [])


@pytest.mark.rule("M4.6", "M4.7", "B6.5", "B9.9")
def test_a_file_that_an_agent_edited_or_the_person_renamed_stays_on_the_list(room):  # noqa: F811
    room.add({"a.txt": "hello", "b.txt": "some words of a letter"})
    grant(room)
    room.write({"a.txt": "hello, everybody"})
    room.call("DraftRenamePath", path="b.txt", new_path="c.txt")
    room.call("DraftPublish")

    assert listed(room) == [("a.txt", 5), ("c.txt", 22)]
    assert status(room) == (True, [])  # nothing the model was not allowed to see before


@pytest.mark.rule("B17.2", "B17.1", "B22.41")
def test_the_log_of_a_workbench_tells_of_its_consents_and_of_no_others(room):  # noqa: F811
    room.add({"a.txt": "hello"})
    other = room.shop.call("WorkbenchCreate", {"name": "Other"})["workbench_id"]
    grant(room)
    checkpoint = room.call("CheckpointCreate")["checkpoint_id"]
    room.call("EgressRevokeConsent")
    room.call("CheckpointRestore", checkpoint_id=checkpoint)

    kinds = [one["kind"] for one in room.call("AuditList")["entries"]]
    wanted = ["consent_granted", "checkpoint_created", "consent_revoked", "checkpoint_created"]
    assert kinds == ["bench_created", "files_added", *wanted, "checkpoint_restored"]
    assert status(room)[0] is False  # stays revoked
    entries = room.shop.call("AuditList", {"workbench_id": other})["entries"]
    assert [one["kind"] for one in entries] == ["bench_created"]
    granted = room.call("AuditList", kinds=["consent_granted"])["entries"][0]
    assert {"provider_id", "model_id", "scope_hash"} <= granted.keys()


@pytest.mark.rule("M4.8", "M4.11")
def test_a_fork_and_a_restored_checkpoint_bring_no_consent(room):  # noqa: F811
    room.add({"a.txt": "hello"})
    room.call("CheckpointCreate")
    (kept,) = room.call("CheckpointsList")["checkpoints"]
    grant(room)

    forked = room.call("WorkbenchFork", name="Other")["workbench_id"]
    asked = room.shop.call("EgressGetConsentStatus", {"workbench_id": forked, "model_id": MODEL})
    assert (asked["consented"], asked["new_items"]) == (False, ["a.txt"])

    room.call("EgressRevokeConsent")
    room.call("CheckpointRestore", checkpoint_id=kept["checkpoint_id"])
    assert status(room)[0] is False
