"""Damaged sessions: what is proved can be looked at, carried away and read, never continued."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

import pytest
from tests.rails.agent import Agent, rails_of
from tests.rails.workflows import flow, step

WORK = flow(step("one"), step("two"), step("three"))


def damaged(ann, home, *, at=None, blob=False):
    """Change one event, or lose a snapshot, behind the program's back; open the home anew."""
    first = ann.start("user.flow", goal="carry the piano")
    second = ann.go(first, "first floor")
    ann.go(second, "second floor")
    session = first["session"]["sessionId"]
    ann.rails.sessions.store.close()
    with sqlite3.connect(home / "store.db") as database:
        if blob:
            ref = database.execute("SELECT ref FROM pin WHERE kind = 'snapshot'").fetchone()[0]
            database.execute("DELETE FROM blob WHERE sha256 = ?", (ref,))
        else:
            database.execute(
                "UPDATE event SET at_ms = at_ms + 1 WHERE stream = ? AND idx = ?",
                (f"session:{session}", at),
            )
    database.close()
    return Agent(rails_of(home)), first


def index_of(ann, session, kind, number):
    stream = f"session:{session}"
    return [one.idx for one in ann.rails.sessions.store.read(stream) if one.kind == kind][number]


@pytest.fixture
def cut(agent, tmp_path):
    """A session whose last step is damaged: its proved part ends after the second node."""
    ann = agent(WORK)
    probe = ann.start("user.flow", goal="carry the piano")
    ann.go(ann.go(probe, "first floor"), "second floor")
    at = index_of(ann, probe["session"]["sessionId"], "advance_recorded", 1)
    later, first = damaged(agent(WORK), tmp_path / "home", at=at)
    yield later, first
    later.rails.sessions.store.close()


@pytest.mark.rule("R4.18", "R10.8", "C85")
def test_the_proved_part_of_a_damaged_session_is_shown_as_that(cut):
    ann, first = cut
    session, run = first["session"]["sessionId"], first["session"]["runId"]
    page = ann.studio("RailsSessionGet", sessionId=session, timeline=True)
    graph = ann.studio("RailsRunGet", runId=run)
    node = ann.studio("RailsNodeGet", nodeId=graph["preferredTip"])
    row = ann.studio("RailsSessionsList", health="corrupt_tail")["sessions"]

    assert (page["health"], page["salvage"]) == ("corrupt_tail", True)
    assert [one["title"] for one in page["runList"]] == ["carry the piano"]
    assert [one["pendingStepId"] for one in graph["nodes"]] == ["one", "two"]
    assert graph["salvage"] is True
    assert len(page["timeline"]) == 2
    assert node["outputs"][0]["notesMarkdown"] == "first floor"
    assert node["salvage"] is True
    assert "resume" not in node
    assert [one["sessionId"] for one in row] == [session]
    assert ann.refused("RailsRunSetPreferences", runId=run, preferences={"autonomy": "guided"})[
        "code"
    ] == ("SESSION_NOT_HEALTHY")
    assert ann.refused("RailsRunFork", nodeId=node["nodeId"])["code"] == "SESSION_NOT_HEALTHY"


@pytest.mark.rule("R9.7", "R4.18")
def test_the_markdown_of_a_damaged_session_says_so(cut):
    ann, first = cut
    session = first["session"]["sessionId"]
    text = ann.studio("RailsSessionExport", sessionId=session, format="markdown")["text"]

    assert "> **Salvaged.**" in text
    assert "first floor" in text
    assert "second floor" not in text


@pytest.mark.rule("R4.18")
def test_nothing_of_a_session_without_a_head_is_shown(agent, tmp_path):
    ann, first = damaged(agent(WORK), tmp_path / "home", at=0)
    session = first["session"]["sessionId"]
    page = ann.studio("RailsSessionGet", sessionId=session)
    error = ann.refused("RailsSessionExport", sessionId=session, format="markdown")
    ann.rails.sessions.store.close()

    assert (page["health"], page["runList"]) == ("corrupt_head", [])
    assert error["code"] == "SESSION_NOT_HEALTHY"


@pytest.mark.rule("R9.4", "R9.5", "R4.18")
def test_what_was_salvaged_is_imported_to_be_read_only(cut, agent):
    ann, first = cut
    session, run = first["session"]["sessionId"], first["session"]["runId"]
    plain = ann.refused("RailsSessionExport", sessionId=session, format="bundle")
    text = ann.studio("RailsSessionExport", sessionId=session, format="bundle", salvage=True)[
        "text"
    ]
    bob = agent(WORK, home="b")
    here = bob.studio("RailsSessionImport", bundle=text)["sessionId"]
    page = bob.studio("RailsSessionGet", sessionId=here)
    graph = bob.studio("RailsRunGet", runId=run)
    again = bob.studio("RailsSessionExport", sessionId=here, format="bundle")["text"]

    assert plain["code"] == "SESSION_NOT_HEALTHY"
    assert here == session
    assert page["origin"] == {
        "bundleId": json.loads(text)["bundleId"],
        "sessionId": session,
        "salvaged": True,
    }
    assert [one["pendingStepId"] for one in graph["nodes"]] == ["one", "two"]
    assert bob.call("resume_session", {})["candidates"] == []
    assert bob.refused("RailsRunFork", nodeId=graph["preferredTip"])["code"] == (
        "SESSION_NOT_HEALTHY"
    )
    assert bob.refused("RailsRunSetContext", runId=run, set={"k": 1})["code"] == (
        "SESSION_NOT_HEALTHY"
    )
    assert json.loads(again)["salvaged"] is True
    bob.studio("RailsSessionDelete", sessionId=here, confirm=here)
    assert bob.rails.sessions.ids() == []


@pytest.mark.rule("R4.18", "R9.5", "C87")
def test_a_lost_snapshot_leaves_the_rest_to_be_seen(agent, tmp_path):
    ann, first = damaged(agent(WORK), tmp_path / "home", blob=True)
    session = first["session"]["sessionId"]
    graph = ann.studio("RailsRunGet", runId=first["session"]["runId"])
    pages = [ann.studio("RailsNodeGet", nodeId=one["nodeId"]) for one in graph["nodes"]]
    text = ann.studio("RailsSessionExport", sessionId=session, format="bundle", salvage=True)[
        "text"
    ]
    ann.studio("RailsSessionExport", sessionId=session, format="markdown")
    bob = agent(WORK, home="b")
    here = bob.studio("RailsSessionImport", bundle=text)["sessionId"]
    ann.rails.sessions.store.close()

    assert graph["salvage"] is True
    assert len(graph["nodes"]) == 3
    assert "(lost)" in [page["title"] for page in pages]
    assert len(bob.studio("RailsRunGet", runId=first["session"]["runId"])["nodes"]) == 3
    assert bob.studio("RailsSessionGet", sessionId=here)["salvage"] is True


@pytest.mark.rule("R9.4")
def test_an_imported_session_says_where_it_came_from(agent):
    ann = agent(WORK, home="a")
    first = ann.start("user.flow")
    session = first["session"]["sessionId"]
    text = ann.studio("RailsSessionExport", sessionId=session, format="bundle")["text"]
    copy = ann.studio("RailsSessionImport", bundle=text)["sessionId"]
    page = ann.studio("RailsSessionGet", sessionId=copy)

    assert page["origin"]["sessionId"] == session != copy
    assert page["origin"]["bundleId"] == json.loads(text)["bundleId"]
    assert "salvage" not in page


@pytest.mark.rule("R4.19")
def test_an_optional_field_of_a_later_program_is_passed_over_and_kept(agent, tmp_path):
    """The row is written as such a program would: with its hashes right."""
    from dataclasses import replace

    from backshop.base.canon import canonical

    ann = agent(WORK)
    first = ann.start("user.flow")
    stream = f"session:{first['session']['sessionId']}"
    events = list(ann.rails.sessions.store.read(stream))
    ann.rails.sessions.store.close()
    event = events[-1]
    later = replace(event, body=canonical({**event.data, "brightness": 7}))
    digest = later.computed_hash()
    with sqlite3.connect(tmp_path / "home" / "store.db") as database:
        database.execute(
            "UPDATE event SET body = ?, hash = ? WHERE stream = ? AND idx = ?",
            (later.body, digest, stream, event.idx),
        )
        database.execute("UPDATE stream SET last_hash = ? WHERE stream = ?", (digest, stream))
    database.close()
    (tmp_path / "home" / "store.db-mark").unlink()  # it would tell that the database is another
    bob = Agent(rails_of(tmp_path / "home"))
    second = bob.go(first)
    lines = bob.studio(
        "RailsSessionExport", sessionId=first["session"]["sessionId"], format="jsonl"
    )["text"]
    bob.rails.sessions.store.close()

    assert second["pending"]["stepId"] == "two"
    assert '"brightness":7' in lines


@pytest.mark.rule("C86", "R4.17")
@pytest.mark.parametrize(
    ("health", "reason"),
    [("corrupt_tail", "head_mismatch"), ("unknown_version", "unknown_schema_version")],
)
def test_a_lost_end_and_a_later_version_are_named_and_nothing_goes_on(
    agent, tmp_path, health, reason
):
    ann = agent(WORK)
    first = ann.start("user.flow")
    ann.go(first, "first floor")
    other = ann.start("user.flow")
    session = first["session"]["sessionId"]
    stream = f"session:{session}"
    *_, last = ann.rails.sessions.store.read(stream)
    ann.rails.sessions.store.close()
    with sqlite3.connect(tmp_path / "home" / "store.db") as database:
        if health == "corrupt_tail":
            database.execute("DELETE FROM event WHERE stream = ? AND idx = ?", (stream, last.idx))
        else:  # as a later program would have written it, with the right hash
            digest = replace(last, v=2).computed_hash()
            change = "UPDATE event SET v = 2, hash = ? WHERE stream = ? AND idx = ?"
            database.execute(change, (digest, stream, last.idx))
            database.execute("UPDATE stream SET last_hash = ? WHERE stream = ?", (digest, stream))
    database.close()
    later = agent(home="home")
    refused = later.error("continue_workflow", stateToken=first["stateToken"])
    rows = {one["sessionId"]: one for one in later.studio("RailsSessionsList")["sessions"]}

    assert refused["code"] == "SESSION_NOT_HEALTHY"
    assert refused["details"]["reason"] == reason
    assert rows[session]["health"] == health
    assert later.go(other)["kind"] == "ok"
