"""`backshop run` and `backshop session` from a terminal."""

from __future__ import annotations

import json

import pytest

from backshop.cli import main
from backshop.testing.workflows import LOOP_CONTROL, flow, step

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
    assert "blocked: This step needs a wr.loop_control artifact" in blocked[1]
    assert done[1].endswith("complete\n")
    assert "blocked_attempt" in graph[1]


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
    assert "matched_identity" in resumed[1]
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
