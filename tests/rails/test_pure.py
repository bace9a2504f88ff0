"""Compiling and rendering look at what they are given and at nothing else (R2.1, R7.25)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.rails.workflows import LOOP_CONTROL, flow, loop, step

from backshop.base.ids import did
from backshop.rails.compile import Library, compile_data, template_id
from backshop.rails.run import answer, prompt
from backshop.rails.token import token

OUTSIDE = {"time", "_io", "io", "posix", "nt", "_socket", "_random", "_ssl", "_posixsubprocess"}
SLOTS = [{"slotId": "review", "purpose": "Who reviews", "default": "wr.rpi"}]
RICH = flow(
    {
        "id": "call",
        "title": "Call",
        "templateCall": {"templateId": "wr.templates.routine.look", "args": {"what": "it"}},
        "verification": {"command": "make test"},
    },
    loop("l", step("again", **LOOP_CONTROL), type="while"),
    capabilities={"delegation": "required"},
    features=["wr.features.capabilities", "wr.features.mode_guidance"],
    extensionPoints=SLOTS,
)
ROUTINE = flow(
    {
        "id": "look",
        "title": "Look",
        "promptBlocks": {
            "goal": [
                {"kind": "text", "text": "Look at {what} with {{wr.bindings.review}}. "},
                {"kind": "ref", "refId": "wr.refs.tokens"},
            ],
            "constraints": ["Own."],
        },
    },
    name="wr.routine-look",
)
SCRIPT = """
import json, sys
from pathlib import Path
from backshop.rails import Catalog, Places
home, workspace = map(Path, sys.argv[1:])
Catalog(Places(user_dirs=(home,))).look(workspace).load("project.all")  # everything is imported now
seen = []
def note(event, args):
    if event == "open" or event.startswith(("socket.", "subprocess.", "os.system", "urllib.")):
        seen.append([event, str(args[0])])
sys.addaudithook(note)
found = Catalog(Places(user_dirs=(home,))).look(workspace).load("project.all")
print(json.dumps([found.workflow_hash, seen]))
"""


def routines() -> Library:
    definition = compile_data(ROUTINE).definition
    assert definition is not None
    return Library({template_id(definition.id): definition})


def touched(act: Callable[[], Any]) -> set[str]:
    """Return what an act calls of the clock, files, network and chance."""
    seen: set[str] = set()

    def called(_: object, kind: str, what: Any) -> None:
        if kind == "c_call":
            module = getattr(what, "__module__", None) or type(what.__self__).__module__
            name = f"{module}.{what.__qualname__}"
            is_clock = what.__qualname__ in ("datetime.now", "date.today")
            if is_clock or (module in OUTSIDE and name != "posix.fspath"):
                seen.add(name)

    sys.setprofile(called)
    try:
        act()
    finally:
        sys.setprofile(None)
    return seen


def test_the_detector_sees_what_it_is_for(tmp_path):
    import time

    assert touched(time.time) == {"time.time"}
    assert touched(lambda: (tmp_path / "x").exists()) == {"posix.stat"}
    assert touched(lambda: os.urandom(1)) == {"posix.urandom"}
    assert touched(lambda: sorted([2, 1])) == set()


@pytest.mark.rule("R2.1")
def test_compiling_needs_no_clock_no_files_and_no_network():
    library = routines()
    compile_data(RICH, library=library)  # imports and caches

    found: list[Any] = []
    seen = touched(lambda: found.append(compile_data(RICH, library=library)))

    assert found[0].compiled is not None
    assert seen == set()


@pytest.mark.rule("R2.1", "R1.27", "R1.28", "R1.38", "R8.15")
def test_each_pass_works_on_what_the_one_before_made():
    whole = compile_data(RICH, library=routines(), bindings={"review": "team.own"}).compiled

    assert whole is not None
    assert [one.step_id for one in whole.walk()] == [
        *("wr-probe-delegation", "call.look", "call__verification", "l", "again"),
    ]
    look = whole.steps[1]
    goal, constraints = look.prompt.split("\n\n")[:2]
    assert goal.startswith("## Goal\nLook at it with team.own. ")
    assert len(goal) > 200, "the text of the ref is in it"
    assert constraints.startswith("## Constraints\n- Own.\n- Do not assume")
    assert "{{wr." not in look.prompt
    assert look.fragments[0].id == "wr-mode-guided"
    assert [one.contract_ref for one in whole.contracts] == [
        "wr.contracts.capability_observation",
        "wr.contracts.loop_control",
    ]


@pytest.mark.rule("R2.1")
def test_the_budget_is_weighed_at_the_end():
    """What was written fits; what bindings and features make of it does not."""
    long = "team." + "x" * 150
    text = "{{wr.bindings.review}} " * 500
    data = flow(step("a", prompt=text), extensionPoints=SLOTS)

    assert compile_data(data).compiled is not None
    found = compile_data(data, bindings={"review": long}).findings
    assert [one.code for one in found] == ["WF_BUDGET", "WW_LONG_PROMPT"]


@pytest.mark.rule("R2.1", "R2.4", "C14")
def test_only_definition_routines_and_bindings_are_read_and_every_process_agrees(tmp_path):
    place = tmp_path / "project"
    (place / ".backshop" / "workflows").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    own = place / ".backshop" / "workflows" / "all.json"
    own.write_text(
        json.dumps({**RICH, "id": "project.all", "steps": RICH["steps"][1:]}), encoding="utf-8"
    )
    bound = place / ".backshop" / "bindings.json"
    bound.write_text(json.dumps({"project.all": {"review": "team.own"}}), encoding="utf-8")

    def process(seed: str, zone: str, folder: Path) -> Any:
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "home"), str(place)],
            env=env,
            cwd=folder,
            capture_output=True,
            check=True,
            timeout=60,
        )
        return json.loads(done.stdout)

    one, other = process("1", "UTC", tmp_path), process("2", "Asia/Tokyo", place)
    opened = {Path(name) for event, name in one[1]}
    assert one == other
    assert {event for event, _ in one[1]} == {"open"}
    assert {own, bound} <= opened
    assert all(name in {own, bound} or "bundled" in name.parts for name in opened)


@pytest.mark.rule("R7.25", "R2.6", "R8.3")
def test_a_step_is_told_the_same_wherever_and_whenever_it_is_fetched(agent, tmp_path):
    place = tmp_path / "project"
    place.mkdir()
    (place / "rules.md").write_text("x", encoding="utf-8")
    reference = {"id": "r", "title": "R", "source": "rules.md", "purpose": "p"}
    work = flow(
        step("one", prompt="k is {{k}}", **LOOP_CONTROL),
        step("two"),
        references=[{**reference, "authoritative": True}],
        features=["wr.features.mode_guidance"],
    )
    ann = agent(work)
    first = ann.start("user.flow", workspacePath=str(place), context={"k": 1})
    blocked = ann.go(first, "words only")

    def fetched(who) -> list[Any]:
        return [
            who.answer("continue_workflow", stateToken=one["stateToken"])
            for one in (first, blocked)
        ]

    before = fetched(ann)
    (place / "rules.md").unlink()
    later = agent(
        home="home", preset="full_auto_nonstop", notes="required", max_blocked=1, driver="cli"
    )

    for now, then in zip(fetched(later), before, strict=True):
        for key in then.structured:
            assert now.structured[key] == then.structured[key], key
        assert now.texts == then.texts


@pytest.mark.rule("R7.25")
def test_rendering_needs_no_clock_no_files_and_no_network(agent):
    ann = agent(flow(step("one", prompt="k is {{k}}", **LOOP_CONTROL), step("two")))
    first = ann.start("user.flow", context={"k": 1})
    sessions = ann.rails.sessions
    state = sessions.state(first["session"]["sessionId"])
    (node,) = state.nodes.values()
    workflow, position = sessions.workflow(node.workflow_hash), sessions.snapshot(node.snapshot_ref)
    told = []

    def render() -> None:
        rendered = prompt.render(workflow, position.engine, node.context, node.preferences)
        place = answer.Place(session_id="s", run_id="r", workflow_id="w")
        facts = answer.AnswerFacts(place=place, mode=node.preferences, rendered=rendered)
        offer = answer.Offer(node_id=node.node_id, workflow_hash="h", ack=None, checkpoint="c")
        told.append(answer.stored(answer.body(facts, offer)))

    render()

    assert touched(render) == set()
    assert told[0] == told[1]


OLD: dict[str, Any] = {
    "data": {
        "kind": "ok",
        "isComplete": True,
        "pending": None,
        "nextIntent": "complete",
        "session": {"sessionId": "sess_x", "runId": "run_x", "resumeRef": "r-x", "workflowId": "w"},
        "preferences": {"autonomy": "guided", "riskPolicy": "conservative"},
        "warnings": [],
        "gaps": [],
    },
    "offer": {
        "nodeId": did("node", "x"),
        "workflowHash": "sha256:" + "0" * 64,
        "ack": None,
        "checkpoint": did("att", "x"),
    },
    "output": None,
    "text": "# Complete",
    "guidance": "",
}
"""An answer as version 0.1.0 recorded it."""


@pytest.mark.rule("R6.12", "C41")
def test_an_answer_of_an_earlier_version_is_given_back_as_it_was():
    keys = token.Keys(b"k" * 32)
    done = answer.filled(keys, answer.stored(dict(OLD)))
    data = {**OLD["data"], "isComplete": False, "nextIntent": "perform_pending_then_continue"}
    example = {"artifacts": [{"kind": "wr.loop_control", "decision": "stop"}]}
    offer = {**OLD["offer"], "ack": did("att", "y")}
    old = answer.stored({**OLD, "data": data, "offer": offer, "output": example})
    pending: Any = answer.filled(keys, old)

    block = json.dumps({"checkpointToken": done.structured["checkpointToken"]})
    assert done.texts == (f"# Complete\n\n```json\n{block}\n```",)
    assert list(pending.structured["nextCall"]["arguments"]) == ["stateToken", "ackToken", "output"]
    assert pending.structured["nextCall"]["arguments"]["output"] == example
