"""Consent for what a real workbench holds: what asks again, and what does not."""

from __future__ import annotations

import pytest
from tests.bench.conftest import room  # noqa: F401  # a fixture


def status(room):  # noqa: F811
    found = room.call("EgressGetConsentStatus")
    return found["consented"], found["new_items"]


def grant(room):  # noqa: F811
    found = room.call("EgressGetConsentStatus")
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
    asked = room.shop.call("EgressGetConsentStatus", {"workbench_id": forked})
    assert (asked["consented"], asked["new_items"]) == (False, ["a.txt"])

    room.call("EgressRevokeConsent")
    room.call("CheckpointRestore", checkpoint_id=kept["checkpoint_id"])
    assert status(room)[0] is False
