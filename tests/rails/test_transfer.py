"""Sessions travel: out as a bundle, in again whole or not at all (C88–C93)."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager

import pytest
from tests.rails.workflows import ARTIFACT, LOOP_CONTROL, STOP, flow, loop, step

from backshop.base.canon import canonical, digest
from backshop.base.ids import did
from backshop.rails.bundle.document import _manifest

WORK = flow(step("one"), step("two", **LOOP_CONTROL), step("three"))
LONG = "x" * 5000


def told(agent, home):
    """A session with a note that was cut, an artifact, a block, a fork and a checkpoint."""
    ann = agent(WORK, home=home)
    first = ann.start("user.flow", goal="travel", context={"k": [1]})
    second = ann.go(first, LONG)
    blocked = ann.go(second, "none")
    third = ann.go(blocked, None, artifacts=[STOP])
    ann.go(ann.look(first), "another branch")
    ann.answer(
        "checkpoint_workflow",
        stateToken=third["stateToken"],
        checkpointToken=third["checkpointToken"],
        output={"notesMarkdown": "half way"},
    )
    return ann, first, third


def export(ann, session_id, kind="bundle", **more):
    return ann.studio("RailsSessionExport", sessionId=session_id, format=kind, **more)["text"]


def take(ann, text):
    return ann.studio("RailsSessionImport", bundle=text)["sessionId"]


def graph_of(ann, run_id):
    found = ann.studio("RailsRunGet", runId=run_id)
    keep = ("nodeKind", "pendingStepId", "completedStepId", "isTip", "badges", "eventIndex")
    return [{k: node[k] for k in keep} for node in found["nodes"]], found["status"]


@pytest.mark.rule("C88", "R9.4", "R9.5", "C91")
def test_a_session_goes_on_where_it_arrives(agent):
    ann, first, third = told(agent, "a")
    session, run = first["session"]["sessionId"], first["session"]["runId"]
    bob = agent(WORK, home="b")
    here = take(bob, export(ann, session))
    found = bob.call("resume_session", {"runId": run})["candidates"][0]
    looked = bob.look(found)

    assert here == session
    assert graph_of(bob, run) == graph_of(ann, run)
    assert bob.error("continue_workflow", stateToken=third["stateToken"])["code"] == (
        "TOKEN_BAD_SIGNATURE"
    )
    assert (
        looked["recap"]
        == ann.answer(
            "continue_workflow",
            stateToken=ann.call("resume_session", {"runId": run})["candidates"][0]["stateToken"],
        ).structured["recap"]
    )
    assert bob.go(looked)["isComplete"] is True


@pytest.mark.rule("R6.12")
def test_a_used_ack_replays_on_the_importing_side_from_the_record(agent):
    ann, first, _ = told(agent, "a")
    bob = agent(WORK, home="b")
    take(bob, export(ann, first["session"]["sessionId"]))
    keys, theirs = bob.rails.sessions.keyring.keys(), ann.rails.sessions.keyring.keys()
    from backshop.rails.token import token as tk

    old = tk.verify(theirs, first["ackToken"], tk.Kind.ACK)
    ack = tk.ack_token(keys, old.node_id or "", old.attempt_id or "")
    again = bob.answer("continue_workflow", ackToken=ack, output={"notesMarkdown": LONG})

    assert again.structured["pending"]["stepId"] == "two"
    assert "warnings" not in again.structured or again.structured["warnings"] == []


@pytest.mark.rule("C89")
def test_importing_again_makes_a_session_of_its_own(agent):
    ann, first, _ = told(agent, "a")
    session = first["session"]["sessionId"]
    text = export(ann, session)
    second, third = take(ann, text), take(ann, text)
    runs = [
        ann.studio("RailsSessionGet", sessionId=one)["runList"][0]["runId"]
        for one in (session, second, third)
    ]
    graphs = [graph_of(ann, run) for run in runs]

    assert len({session, second, third}) == 3
    assert graphs[0] == graphs[1] == graphs[2]
    for run in runs:
        found = ann.call("resume_session", {"runId": run})["candidates"][0]
        assert ann.go(ann.look(found))["isComplete"] is True
    assert all(
        ann.rails.sessions.store.health(f"session:{one}").is_healthy for one in (second, third)
    )


@pytest.mark.rule("R9.2")
def test_exporting_twice_differs_only_in_the_time(agent):
    ann, first, _ = told(agent, "a")
    one, two = (json.loads(export(ann, first["session"]["sessionId"])) for _ in range(2))

    assert {k: v for k, v in one.items() if k != "exportedAt"} == {
        k: v for k, v in two.items() if k != "exportedAt"
    }
    assert "st.v1." not in json.dumps(one)


def resigned(bundle):
    bundle["integrity"]["entries"] = _manifest(bundle["session"])
    return bundle


def flip_event(bundle):
    bundle["session"]["events"][3]["data"]["x"] = 1
    return bundle


def flip_snapshot(bundle):
    next(iter(bundle["session"]["snapshots"].values()))["v"] = 2
    return bundle


def flip_artifact(bundle):
    next(iter(bundle["session"]["artifacts"].values()))["data"] += " "
    return bundle


def swap(bundle):
    events = bundle["session"]["events"]
    events[3], events[4] = events[4], events[3]
    return resigned(bundle)


def rechain(bundle):
    events = bundle["session"]["events"]
    events[3]["data"] = {**events[3]["data"]}
    events[3]["timestampMs"] += 1
    return resigned(bundle)


def other_artifact(bundle):
    return resigned(flip_artifact(bundle))


def forged_end(**change):
    """Change the envelope of the last event, and give it the hash that follows from it."""

    def forged(bundle):
        session = bundle["session"]
        last = session["events"][-1]
        last |= change
        hashed = {k: v for k, v in last.items() if k not in ("hash", "sessionId")}
        last["hash"] = digest({**hashed, "stream": f"session:{session['sessionId']}"})
        bundle["bundleId"] = did("bundle", session["sessionId"], last["hash"])
        return resigned(bundle)

    return forged


def drop(name):
    def change(bundle):
        bundle["session"][name] = {}
        return resigned(bundle)

    return change


def version(bundle):
    return {**bundle, "bundleSchemaVersion": 2}


def foreign_event(bundle):
    event = bundle["session"]["events"][0]
    event["kind"] = "no_such_thing"
    return resigned(bundle)


def other_digests(bundle):
    return {**bundle, "integrity": {**bundle["integrity"], "kind": "sha256_manifest_v2"}}


@pytest.mark.rule("C90", "R9.2", "R9.3", "R9.6")
@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (flip_event, {"BUNDLE_INTEGRITY_FAILED"}),
        (flip_snapshot, {"BUNDLE_INTEGRITY_FAILED"}),
        (flip_artifact, {"BUNDLE_INTEGRITY_FAILED"}),
        (swap, {"BUNDLE_EVENT_ORDER_INVALID", "BUNDLE_HASH_CHAIN_INVALID"}),
        (rechain, {"BUNDLE_HASH_CHAIN_INVALID"}),
        (other_artifact, {"BUNDLE_INTEGRITY_FAILED"}),
        (forged_end(prevHash=digest("x")), {"BUNDLE_HASH_CHAIN_INVALID"}),
        (forged_end(eventId=did("evt", "x")), {"BUNDLE_HASH_CHAIN_INVALID"}),
        (foreign_event, {"BUNDLE_HASH_CHAIN_INVALID", "BUNDLE_INVALID_FORMAT"}),
        (drop("snapshots"), {"BUNDLE_MISSING_SNAPSHOT"}),
        (drop("pinnedWorkflows"), {"BUNDLE_MISSING_PINNED_WORKFLOW"}),
        (drop("artifacts"), {"BUNDLE_MISSING_ARTIFACT"}),
        (version, {"BUNDLE_UNSUPPORTED_VERSION"}),
        (lambda bundle: {**bundle, "session": 7}, {"BUNDLE_INVALID_FORMAT"}),
        (lambda bundle: [bundle], {"BUNDLE_INVALID_FORMAT"}),
        (lambda bundle: {**bundle, "bundleId": "bundle_x"}, {"BUNDLE_INTEGRITY_FAILED"}),
        (other_digests, {"BUNDLE_INTEGRITY_FAILED"}),
        (lambda bundle: {**bundle, "integrity": None}, {"BUNDLE_INTEGRITY_FAILED"}),
    ],
)
def test_a_bundle_that_is_not_whole_is_refused_and_nothing_stored(agent, change, codes):
    ann, first, _ = told(agent, "a")
    bundle = json.loads(export(ann, first["session"]["sessionId"]))
    bob = agent(WORK, home="b")
    before = bob.rails.sessions.store.last_seq()
    error = bob.refused("RailsSessionImport", bundle=json.dumps(change(bundle)))

    assert error["code"] in codes
    assert bob.rails.sessions.ids() == []
    assert bob.rails.sessions.store.last_seq() == before


def test_no_single_changed_character_passes(agent, scaled):
    import random

    ann, first, _ = told(agent, "a")
    text = export(ann, first["session"]["sessionId"])
    bob = agent(WORK, home="b")
    source = random.Random(3)
    told_only = re.compile(r'"(exportedAt|contentType)": "[^"]*"|"producer": {[^}]*}')
    spans = [one.span() for one in told_only.finditer(text)]
    for _ in range(scaled(150, 3000)):
        at = source.randrange(len(text))
        if any(start <= at < end for start, end in spans):  # information, not stored
            continue
        changed = text[:at] + chr((ord(text[at]) + 1) % 128) + text[at + 1 :]
        assert bob.refused("RailsSessionImport", bundle=changed)["code"].startswith("BUNDLE_")
    assert bob.rails.sessions.ids() == []


@pytest.mark.rule("C93", "R9.7", "R4.22")
def test_markdown_and_lines_are_the_same_every_time(agent):
    ann, first, _ = told(agent, "a")
    session = first["session"]["sessionId"]
    texts = {export(ann, session, "markdown") for _ in range(2)}
    lines = export(ann, session, "jsonl").splitlines()
    one = json.loads(lines[0])

    assert len(texts) == 1
    text = texts.pop()
    assert text.startswith("# travel\n")
    assert LONG in text
    assert "(blocked)" in text
    assert "- Warning: The notes are longer" in text
    assert "### Other branches" in text
    assert len(lines) == ann.events(first)
    assert canonical(one).decode() == lines[0]
    hashed = {k: v for k, v in one.items() if k not in ("hash", "sessionId")}
    assert one["hash"] == digest({**hashed, "stream": f"session:{session}"})


def rewritten(bundle):
    """Give a changed bundle digests, a chain and an id that hold, as a forger would."""
    session = bundle["session"]
    previous = "sha256:" + "0" * 64
    for index, event in enumerate(session["events"]):
        event["eventIndex"], event["prevHash"] = index, previous
        event["eventId"] = did("evt", session["sessionId"], event["dedupeKey"])
        hashed = {k: v for k, v in event.items() if k not in ("hash", "sessionId")}
        previous = event["hash"] = digest({**hashed, "stream": f"session:{session['sessionId']}"})
    bundle["bundleId"] = did("bundle", session["sessionId"], previous)
    return resigned(bundle)


def first_of(bundle, kind, number=0):
    return [one for one in bundle["session"]["events"] if one["kind"] == kind][number]


def no_parent(bundle):
    first_of(bundle, "node_created", 1)["data"]["parentNodeId"] = did("node", "x")


def no_run(bundle):
    events = bundle["session"]["events"]
    events.remove(first_of(bundle, "run_started"))


def no_session(bundle):
    bundle["session"]["events"].pop(0)


def wrong_attempt(bundle):
    first_of(bundle, "advance_recorded")["data"]["attemptId"] = did("att", "x")


def dangling_edge(bundle):
    first_of(bundle, "edge_created")["data"]["toNodeId"] = did("node", "x")


def two_roots(bundle):
    del first_of(bundle, "node_created", 1)["data"]["parentNodeId"]


def cut_short(bundle):
    events = bundle["session"]["events"]
    del events[events.index(first_of(bundle, "advance_recorded", -1)) + 1 :]


def no_such_step(bundle):
    with first_position(bundle) as state:
        state["pending"]["step"]["stepId"] = "nowhere"


def odd_signature(bundle):
    bundle["session"]["events"][-1]["data"]["$by"] = {"person": "user_x", "rank": "captain"}


@contextmanager
def first_position(bundle):
    """Let the state of the first position be changed, and give it the name that it then has."""
    session = bundle["session"]
    old = first_of(bundle, "node_created")["data"]["snapshotRef"]
    found = json.loads(json.dumps(session["snapshots"].pop(old)))
    yield found["engine"]["state"]
    session["snapshots"][digest(found)] = found
    for event in session["events"]:
        if event["data"].get("snapshotRef") == old:
            event["data"]["snapshotRef"] = digest(found)


@pytest.mark.rule("R9.3", "C90")
@pytest.mark.parametrize(
    "change",
    [
        *(no_parent, no_run, no_session, wrong_attempt, dangling_edge, two_roots, no_such_step),
        *(cut_short, odd_signature),
    ],
)
def test_a_well_signed_story_that_cannot_have_happened_is_refused(agent, change):
    ann, first, _ = told(agent, "a")
    bundle = json.loads(export(ann, first["session"]["sessionId"]))
    change(bundle)
    bob = agent(WORK, home="b")
    error = bob.refused("RailsSessionImport", bundle=json.dumps(rewritten(bundle)))

    assert error["code"] == "BUNDLE_INVALID_FORMAT"
    assert bob.rails.sessions.ids() == []


@pytest.mark.rule("R9.3", "R5.5")
def test_an_imported_node_whose_parent_is_in_another_run_is_refused(agent):
    ann = agent(WORK, home="a")
    made = ann.answer("start_session", title="Two").structured
    runs = [ann.start("user.flow", sessionToken=made["sessionToken"]) for _ in range(2)]
    for run in runs:
        ann.go(run, "done")
    bundle = json.loads(export(ann, runs[0]["session"]["sessionId"]))
    nodes = [one for one in bundle["session"]["events"] if one["kind"] == "node_created"]
    stranger, child = nodes[0], nodes[-1]
    assert stranger["scope"]["runId"] != child["scope"]["runId"]
    honest = json.dumps(rewritten(json.loads(json.dumps(bundle))))
    child["data"]["parentNodeId"] = stranger["scope"]["nodeId"]

    error = agent(WORK, home="b").refused(
        "RailsSessionImport", bundle=json.dumps(rewritten(bundle))
    )

    assert (error["code"], "parent" in error["message"]) == ("BUNDLE_INVALID_FORMAT", True)
    agent(WORK, home="c").studio("RailsSessionImport", bundle=honest)


@pytest.mark.rule("R9.3")
def test_an_imported_position_in_a_pass_beyond_the_limit_of_its_loop_is_refused(agent):
    while_asked = {"type": "while", "conditionSource": ARTIFACT, "maxIterations": 2}
    looping = flow(loop("l", step("decide", **LOOP_CONTROL), **while_asked))
    ann = agent(looping, home="a")
    bundle = json.loads(export(ann, ann.start("user.flow")["session"]["sessionId"]))
    codes = []
    for number, iteration in enumerate((1, 2)):  # the last pass it may have, and one more
        with first_position(bundle) as state:
            state["loopStack"][0]["iteration"] = iteration
            state["pending"]["step"]["loopPath"][0]["iteration"] = iteration
        bob = agent(looping, home=f"b{number}")
        text = json.dumps(rewritten(bundle))
        codes.append(
            bob.refused("RailsSessionImport", bundle=text)["code"] if number else take(bob, text)
        )

    assert codes == [bundle["session"]["sessionId"], "BUNDLE_INVALID_FORMAT"]


@pytest.mark.rule("R9.4")
def test_what_people_wrote_stays_as_it_is_when_a_session_gets_new_ids(agent):
    ann = agent(WORK, home="a")
    first = ann.start("user.flow")
    run = first["session"]["runId"]
    ann.go(first, run)  # a note that is an id and nothing else
    here = take(ann, export(ann, first["session"]["sessionId"]))
    nodes = ann.rails.sessions.state(here).nodes.values()

    assert [one.payload.notes_markdown for node in nodes for one in node.outputs] == [run]


@pytest.mark.rule("R9.3")
def test_a_bundle_of_more_bytes_than_bundles_have_is_refused(agent, monkeypatch):
    ann, first, _ = told(agent, "a")
    text = export(ann, first["session"]["sessionId"])
    size = len(text.encode()) + 10
    monkeypatch.setattr("backshop.rails.bundle.document.BUNDLE_MAX_BYTES", size)
    bob = agent(WORK, home="b")
    spaces, wide = (text + one * 10 for one in (" ", "\u2003"))
    codes = [
        bob.refused("RailsSessionImport", bundle=one)["message"] for one in (f"{spaces} ", wide)
    ]

    assert all(f"larger than {size} bytes" in one for one in codes)
    assert take(bob, spaces) == first["session"]["sessionId"]


@pytest.mark.rule("R9.4")
def test_an_imported_session_never_shares_a_node_with_one_that_is_here(agent):
    ann, first, _ = told(agent, "a")
    session, run = first["session"]["sessionId"], first["session"]["runId"]
    text = export(ann, session).replace(session, did("sess", "x")).replace(run, did("run", "x"))
    here = take(ann, json.dumps(rewritten(json.loads(text))))

    assert here not in (session, did("sess", "x"))
    nodes = [set(ann.rails.sessions.state(one).nodes.keys()) for one in (session, here)]
    assert not nodes[0] & nodes[1]


def test_a_forger_who_changes_nothing_is_let_in(agent):
    ann, first, _ = told(agent, "a")
    bundle = json.loads(export(ann, first["session"]["sessionId"]))
    bob = agent(WORK, home="b")

    assert take(bob, json.dumps(rewritten(bundle))) == first["session"]["sessionId"]


@pytest.mark.rule("R9.1")
def test_a_bundle_holds_the_session_and_nothing_of_the_machine(agent, tmp_path):
    workspace = tmp_path / "secret-place"
    workspace.mkdir()
    ann = agent(WORK, home="a")
    first = ann.start("user.flow", workspacePath=str(workspace))
    ann.go(first, LONG)
    text = export(ann, first["session"]["sessionId"])
    bundle = json.loads(text)
    kinds = {pin["kind"] for pin in bundle["session"]["pins"]}

    assert kinds == {"snapshot", "workflow", "artifact"}
    assert str(tmp_path) not in text
    assert not any(mark in text for mark in ("st.v1.", "ack.v1.", "chk.v1.", "ses.v1."))
    assert [one["eventIndex"] for one in bundle["session"]["events"]] == list(
        range(ann.events(first))
    )
