"""`backshop run` and `backshop session` from a terminal."""

from __future__ import annotations

import json
import shlex

import pytest
from tests.rails.workflows import LOOP_CONTROL, flow, loop, step

from backshop.cli import main

WORK = flow(step("one"), step("two", **LOOP_CONTROL))


@pytest.fixture
def backshop(tmp_path, capsys):
    """Run `backshop` on a home of its own; returns exit code and output."""
    folder = tmp_path / "home" / "workflows"
    folder.mkdir(parents=True)
    (folder / "user.flow.json").write_text(json.dumps(WORK), encoding="utf-8")

    def run(*args, home="home"):
        code = main([*map(str, args), "--home", str(tmp_path / home)])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


@pytest.mark.rule("S4.2")
def test_a_run_by_hand_from_start_to_end(backshop):
    code, said = backshop("run", "start", "user.flow", "--goal", "by hand", "--json")
    ref = json.loads(said)["session"]["resumeRef"]
    shown = backshop("run", "show", ref)
    noted = backshop("run", "checkpoint", ref, "--notes", "half way")
    second = backshop("run", "continue", ref, "--notes", "did one")
    blocked = backshop("run", "continue", ref, "--notes", "no artifact")
    artifact = json.dumps({"kind": "wr.loop_control", "decision": "stop"})
    done = backshop("run", "continue", ref, "--artifact", artifact)
    graph = backshop("run", "graph", ref)

    assert code == 0
    assert "One [one]" in shown[1]
    assert noted[0] == 0
    assert "Two [two]" in second[1]
    assert "half way" not in second[1]
    assert blocked[0] == 1
    assert "blocked: This step needs a wr.loop_control artifact" in blocked[1]
    assert 'fix: give --artifact \'{"kind": "wr.loop_control"' in blocked[1]
    assert f"to `backshop run continue {ref}`." in blocked[1]
    assert f"then: backshop run continue {ref} --artifact '{{" in second[1]
    assert done[1].endswith("complete\n")
    assert "blocked_attempt" in graph[1]


def proposed(said):
    """The words of the command that is proposed for the pending step."""
    line = next(one for one in said.splitlines() if one.startswith("then: backshop "))
    return shlex.split(line.removeprefix("then: backshop "))


BRANCHES = flow(
    step("one", prompt="Set the context key `difference` to none or large."),
    step("two", runCondition={"var": "difference", "equals": "large"}, **LOOP_CONTROL),
    step("three", requireConfirmation={"kind": "human_approval"}),
    name="user.branches",
)
BLANK_KEY = '{"difference": "<the value of difference>"}'
BLANK_NOTES = "<what you did in this step>"


@pytest.mark.rule("S4.13", "R8.33", "R8.42")
def test_a_proposed_command_is_a_form_that_passes_no_step_unfilled(backshop, tmp_path):
    (tmp_path / "home" / "workflows" / "user.branches.json").write_text(json.dumps(BRANCHES))
    begun = backshop("run", "start", "user.branches")[1]
    ref = begun.split()[1]
    first = proposed(begun)
    copied = backshop(*first)
    large = '{"difference": "large"}'
    dots = [
        backshop("run", "continue", ref, "--notes", notes, "--context", context)
        for notes, context in (("…", large), ("...", large), ("x", '{"difference": "<…>"}'))
    ]
    second = backshop("run", "continue", ref, "--notes", "Compared.", "--context", large)
    again = backshop(*proposed(second[1]))
    stop = '{"kind": "wr.loop_control", "decision": "stop"}'
    third = backshop("run", "continue", ref, "--artifact", stop)
    waits = backshop("run", "continue", ref, "--notes", "Paid.")
    still = backshop(*proposed(waits[1]))

    assert first == ["run", "continue", ref, "--context", BLANK_KEY, "--notes", BLANK_NOTES]
    assert [copied[0], *(code for code, _ in dots), again[0], waits[0], still[0]] == [1] * 7
    assert "One [one]" in copied[1]
    assert copied[1].count("still the placeholder") == 2
    assert proposed(second[1])[3:] == [
        "--artifact",
        '{"kind": "wr.loop_control", "decision": "<continue|stop>"}',
    ]
    assert third[0] == 0
    assert proposed(waits[1]) == ["run", "continue", ref, "--done"]
    assert "Three [three]" in still[1]


@pytest.mark.rule("S4.13")
def test_a_fork_proposes_the_command_that_branches(backshop):
    ref = backshop("run", "start", "user.flow")[1].split()[1]
    backshop("run", "continue", ref, "--notes", "did one")
    root = json.loads(backshop("run", "graph", ref, "--json")[1])["nodes"][0]["nodeId"]
    words = proposed(backshop("run", "fork", root)[1])
    words[-1] = "did one otherwise"

    assert words[3] == "--ack"
    assert "Two [two]" in backshop(*words)[1]
    assert json.loads(backshop("run", "graph", ref, "--json")[1])["branches"] == 2


@pytest.mark.rule("S4.15", "S4.8")
def test_a_refusal_of_a_workflow_command_is_in_words_of_the_terminal(backshop, tmp_path):
    each = {"type": "forEach", "items": "lines", "itemVar": "line"}
    over = flow(loop("each", step("look", prompt="{{line}}"), **each), name="user.over")
    (tmp_path / "home" / "workflows" / "user.over.json").write_text(json.dumps(over))
    ref = backshop("run", "start", "user.flow")[1].split()[1]
    run = [backshop("run", verb, ref)[1] for verb in ("branch", "fork")]
    gone = backshop("run", "branch", "node_zzz")[1]
    unknown = backshop("run", "start", "nothing.like.it")[1]
    lacking = backshop("run", "start", "user.over")[1]
    said = "".join((*run, gone, unknown, lacking))

    assert all(f"`backshop run graph {ref}` lists the nodes" in one for one in run)
    assert "next: Run `backshop session resume` to find the work, or `backshop run start`" in gone
    assert "error: the step that is named is not in this store" in gone
    assert "Run `backshop workflow list` to see what there is." in unknown
    assert 'Run `backshop run start` again and give --context \'{"lines": "<a list>"}\'' in lacking
    assert not [one for one in ("_workflow", "resume_session", "token") if one in said]


@pytest.mark.rule("S4.7", "R7.18")
def test_earlier_work_is_said_to_be_meant_in_words_people_know(backshop):
    backshop("run", "start", "user.flow", "--goal", "Paint the shed")
    recent, strange = backshop("session", "resume"), backshop("session", "resume", "boat")

    assert recent[1].splitlines()[0].startswith("work ")
    assert "only recent" in recent[1]
    assert strange[1].startswith("nothing has these words; what is recent:\nwork ")


@pytest.mark.rule("R8.33")
def test_a_placeholder_is_no_answer_of_a_person(backshop, tmp_path):
    wanted = {"id": "where", "reason": "needs_user_artifact", "prompt": "Where?"}
    asking = flow(step("one", userInputs=[wanted]), name="user.ask")
    (tmp_path / "home" / "workflows" / "user.ask.json").write_text(json.dumps(asking))
    ref = backshop("run", "start", "user.ask")[1].split()[1]
    answered = ("run", "answer", ref, "provided", "--input", "where", "--summary")

    blank, given = backshop(*answered, "<the person's answer>"), backshop(*answered, "here")

    assert (blank[0], given[0]) == (1, 0)
    assert "still the placeholder" in blank[1]


@pytest.mark.rule("S4.2", "S4.1")
def test_sessions_are_found_exported_imported_and_deleted(backshop, tmp_path):
    _, said = backshop("run", "start", "user.flow", "--goal", "Tidy up", "--json")
    session = json.loads(said)["session"]["sessionId"]
    listed = backshop("session", "list")
    resumed = backshop("session", "resume", "tidy")
    file = tmp_path / "out.json"
    wrote = backshop("session", "export", session, "--output", file)
    moved = backshop("session", "import", file, home="other")
    shown = backshop("session", "show", session, home="other")
    text = backshop("session", "export", session, "--format", "markdown")
    kept = backshop("session", "keep", session)
    gone = backshop("session", "delete", session, "--yes")
    missing = backshop("session", "show", session)

    assert "Tidy up" in listed[1]
    assert "words of its title, goal or workflow" in resumed[1]
    assert wrote == (0, f"wrote {file}\n")
    assert moved == (0, f"{session}\n")
    assert "user.flow" in shown[1]
    assert text[1].startswith("# Tidy up\n")
    assert kept == (0, "kept\n")
    assert gone == (0, f"deleted {session}\n")
    assert missing[0] == 1


@pytest.mark.rule("S4.1")
def test_refusals_are_envelopes_with_exit_code_one(backshop):
    code, said = backshop("run", "show", "st.v1.x", "--json")
    usage = backshop("run", "start", "user.flow", "--context", "{")

    assert code == 1
    assert json.loads(said)["error"]["code"] == "TOKEN_INVALID_FORMAT"
    assert usage[0] == 2


def test_mode_and_inputs_are_changed_from_outside(backshop):
    _, said = backshop("run", "start", "user.flow", "--json")
    answer = json.loads(said)
    ref = answer["session"]["resumeRef"]
    changed = backshop(
        "run", "set", ref, "--autonomy", "full_auto_never_stop", "--context", '{"k": 1}'
    )
    shown = json.loads(backshop("run", "show", ref, "--json")[1])
    graph = json.loads(backshop("run", "graph", ref, "--json")[1])
    node = graph["preferredTip"]
    rotated = backshop("session", "rotate-keys")
    forked = backshop("run", "fork", node)

    assert changed[0] == 0
    assert shown["preferences"]["autonomy"] == "full_auto_never_stop"
    assert rotated[0] == 0
    assert graph["driver"] == "cli"
    assert "One [one]" in forked[1]
    assert backshop("session", "start", "--title", "Notes")[0] == 0


@pytest.mark.rule("R8.21", "R8.35", "R8.43", "S4.2", "R10.11", "R10.13", "R10.16", "R10.17")
def test_a_person_answers_what_a_step_asks_of_them(backshop, tmp_path):
    choice = {"id": "where", "reason": "needs_user_choice", "prompt": "Where?", "contextKey": "to"}
    asking = flow(
        step("one", requireConfirmation={"kind": "human_approval"}),
        step("two", userInputs=[{**choice, "choiceKind": "irreversible_action"}]),
        step("three", prompt="Go to {{to}}."),
        name="user.ask",
    )
    (tmp_path / "home" / "workflows" / "user.ask.json").write_text(json.dumps(asking))
    ref = json.loads(backshop("run", "start", "user.ask", "--json")[1])["session"]["resumeRef"]
    handing = ("--notes", "did\none", "--artifact", '{"kind": "user.sum", "total": 7}')
    early = backshop("run", "waiting"), backshop("run", "answer", ref, "approved")
    blocked = backshop("run", "continue", ref, *handing)
    waiting = backshop("run", "waiting")
    shown = backshop("run", "show", ref)
    backshop("run", "answer", ref, "approved")
    rules = [{"rule": "delete everything " + 30 * "and more "}]
    backshop("run", "continue", ref, *handing, "--context", json.dumps({"rules": rules}))
    backshop("run", "checkpoint", ref, "--notes", "asked by mail")
    other, whole = backshop("run", "waiting"), backshop("run", "show", ref)
    raw = json.loads(backshop("run", "show", ref, "--json")[1])
    approved = backshop("run", "answer", ref, "approved")
    listed = backshop("run", "list", "--status", "in_progress")
    root = json.loads(backshop("run", "graph", ref, "--json")[1])["nodes"][0]["nodeId"]
    second = backshop("run", "continue", ref, "--done")
    silent = backshop("run", "answer", ref, "provided", "--input", "where")
    given = backshop("run", "answer", ref, "provided", "--input", "where", "--summary", "prod")
    third = backshop("run", "continue", ref, "--notes", "did two")
    branched = backshop("run", "branch", root, "--note", "elsewhere")

    assert f"{ref}  approval    approval" in waiting[1]
    assert f'{ref} handed in: did one user.sum: {{"kind":"user.sum","total":7}}' in waiting[1]
    assert "handed in (notes):\n  did\n  one\n" in shown[1]
    assert '"total":7' in shown[1]
    assert f"{ref}: nothing handed in yet" in early[0][1]
    assert early[1][0] == 1
    assert "nothing to approve" in early[1][1]
    cut = [line for line in other[1].splitlines() if line.startswith(f"{ref} context: rules = ")]
    assert [("delete everything" in line, line[-1]) for line in cut] == [(True, "…")]
    assert f"  rules: {json.dumps(rules)}" in whole[1]
    assert "handed in (notes):\n  did\n  one\n" in whole[1]
    assert raw["handedIn"]["context"] == {"rules": rules}
    assert ref in listed[1]
    assert f"resume {ref}" in branched[1]
    assert f"backshop run answer {ref} --input approval" in blocked[1]
    assert approved[0] == given[0] == 0
    assert "Two [two]" in second[1]
    assert silent[0] == 2
    assert "Go to prod." in third[1]


@pytest.mark.rule("S4.7")
def test_work_is_resumed_by_what_it_is_called(backshop):
    starts = [
        json.loads(backshop("run", "start", "user.flow", "--goal", goal, "--json")[1])["session"]
        for goal in ("Paint the shed", "Paint the boat")
    ]
    shed, boat = starts

    found = {
        text: backshop("session", "resume", text)[1].splitlines()[1:]
        for text in (
            *(shed["resumeRef"], shed["resumeRef"][:9], shed["runId"]),
            *(shed["sessionId"], shed["sessionId"].removeprefix("sess_")),
        )
    }
    words = backshop("session", "resume", "boat")
    nothing = backshop("session", "resume", "r-zzzzzz")

    assert {len(rows) for rows in found.values()} == {1}
    assert all(rows[0].startswith(shed["resumeRef"]) for rows in found.values())
    assert words[1].splitlines()[1].startswith(boat["resumeRef"])
    assert nothing[0] == 1
    assert "`backshop session list`" in nothing[1]


@pytest.mark.rule("S4.3")
def test_a_session_or_run_is_named_by_its_beginning(backshop):
    starts = [json.loads(backshop("run", "start", "user.flow", "--json")[1]) for _ in range(2)]
    one, two = ([start["session"][key] for start in starts] for key in ("sessionId", "runId"))
    ref = starts[0]["session"]["resumeRef"]
    session = shortest(one[0], one[1])
    run = shortest(two[0], two[1])

    shown = backshop("session", "show", session)
    bare = backshop("session", "show", one[0].removeprefix("sess_")[:12])
    kept = backshop("session", "keep", session)
    step = backshop("run", "show", run)
    by_ref = backshop("run", "show", ref[:8])
    gone_on = backshop("run", "continue", run, "--notes", "did one")
    graph = backshop("run", "graph", run)
    exported = backshop("session", "export", session, "--format", "markdown", "--run", run)
    many = backshop("session", "show", "sess_", "--json")
    none = backshop("run", "show", "run_zzz")
    empty = backshop("run", "show", "")
    deleted = backshop("session", "delete", session, "--yes")

    assert one[0] in shown[1]
    assert bare == shown
    assert kept == (0, "kept\n")
    assert "One [one]" in step[1]
    assert by_ref == step
    assert "Two [two]" in gone_on[1]
    assert (graph[0], exported[0]) == (0, 0)
    error = json.loads(many[1])["error"]
    assert (many[0], error["code"]) == (1, "VALIDATION_ERROR")
    assert error["details"]["candidates"] == sorted(one)
    assert "could be 2 sessions" in error["message"]
    assert (none[0], empty[0]) == (1, 1)
    assert "there is no run 'run_zzz'" in none[1]
    assert deleted == (0, f"deleted {one[0]}\n")


def shortest(name, other):
    """The shortest beginning of a name that the other does not share."""
    same = next(n for n, (a, b) in enumerate(zip(name, other, strict=True)) if a != b)
    return name[: same + 1]
