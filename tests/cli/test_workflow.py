"""`backshop workflow` from a terminal: begin, check, save, copy, list, sync."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backshop.cli import main
from backshop.rails.catalog.builtin import builtins
from backshop.rails.catalog.catalog import Catalog
from backshop.rails.catalog.source import Places

ROOT = Path(__file__).resolve().parents[2]
BROKEN = {"id": "user.x", "name": "X", "description": "X.", "version": "1.0.0", "steps": [{}]}


@pytest.fixture
def workflow(tmp_path, capsys):
    """Run `backshop workflow` on a home of its own; returns exit code and output."""
    (tmp_path / "home").mkdir()

    def run(*args):
        code = main(["workflow", *map(str, args), "--home", str(tmp_path / "home")])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def parsed(result):
    code, text = result
    return code, json.loads(text)


@pytest.mark.rule("S4.2", "R3.10")
def test_from_a_starting_point_to_a_listed_workflow(workflow, tmp_path):
    file = tmp_path / "home" / "workflows" / "user.invoice_check.yaml"

    code, said = workflow("new", "user.invoice_check")
    assert (code, said) == (0, f"wrote {file}\nstart it as user.invoice_check\n")

    code, said = workflow("validate", "--strict", file)
    assert code == 0
    assert said.startswith("user.invoice_check is in order (sha256:")

    code, found = parsed(workflow("list", "--query", "invoice", "--json"))
    assert code == 0
    assert [one["workflowId"] for one in found["workflows"]] == ["user.invoice_check"]

    code, said = workflow("inspect", "user.invoice_check")
    assert "passes: Work in passes  (while, at most 5 times)" in said
    assert workflow("inspect", "user.invoice_check", "--mode", "source") == (
        0,
        file.read_text() + "\n",
    )
    code, snapshot = parsed(workflow("inspect", "user.invoice_check", "--mode", "compiled"))
    assert snapshot["workflowId"] == "user.invoice_check"


@pytest.mark.rule("S4.2", "R3.10")
def test_a_workflow_of_ones_own_is_deleted_after_a_question(workflow, tmp_path):
    file = tmp_path / "home" / "workflows" / "user.mine.yaml"
    workflow("new", "user.mine")

    assert workflow("delete", "user.mine")[0] != 0  # nobody is there to say yes
    assert file.exists()
    assert workflow("delete", "user.mine", "--yes", "--expect", "other")[0] == 1
    assert workflow("delete", "user.mine", "--yes") == (0, f"deleted {file}\n")
    assert not file.exists()
    code, said = workflow("delete", "wr.rpi", "--yes")
    assert code == 1
    assert "comes with Backshop" in said


@pytest.mark.rule("R1.2", "S4.1")
def test_a_broken_file_ends_with_one_and_says_everything(workflow, tmp_path):
    file = tmp_path / "x.json"
    file.write_text(json.dumps(BROKEN))

    code, said = workflow("validate", file)
    assert code == 1
    assert said.splitlines() == [
        "  WF_PROMPT_SOURCE /steps/0: a step has exactly one of prompt, promptBlocks, templateCall;"
        " this one has none",
        "  WF_SCHEMA /steps/0: `id` is missing",
        "  WF_SCHEMA /steps/0: `title` is missing",
        "user.x cannot run",
    ]

    code, found = parsed(workflow("validate", file, "--json"))
    assert (code, found["valid"], len(found["findings"])) == (1, False, 3)
    code, error = parsed(workflow("save", file, "--json"))
    assert (code, error["error"]["code"]) == (1, "WORKFLOW_INVALID")
    assert workflow("validate", tmp_path / "none.json")[0] == 1


@pytest.mark.rule("R3.10", "S4.2")
def test_saving_over_what_somebody_changed_is_refused_where_one_says_what_one_saw(
    workflow, tmp_path
):
    steps = [{"id": "a", "title": "A", "prompt": "Do it."}]
    file = tmp_path / "x.json"

    def save(name, *options):
        file.write_text(json.dumps({**BROKEN, "id": "team.x", "name": name, "steps": steps}))
        return parsed(workflow("save", file, "--json", *options))

    code, made = save("One", "--expect", "none")
    assert code == 0
    assert save("Two", "--expect", "none")[1]["error"]["code"] == "PRECONDITION_FAILED"
    _, seen = parsed(workflow("inspect", "team.x", "--mode", "source", "--json"))
    assert seen["sourceHash"] == made["sourceHash"]
    assert save("Two", "--expect", seen["sourceHash"])[1]["replaced"]
    code, error = save("Three", "--expect", seen["sourceHash"])

    assert (code, error["error"]["code"]) == (1, "PRECONDITION_FAILED")
    _, kept = parsed(workflow("inspect", "team.x", "--mode", "source", "--json"))
    assert json.loads(kept["source"])["name"] == "Two"
    assert kept["sourceHash"] == error["error"]["details"]["sourceHash"]
    assert save("Three")[1]["replaced"]  # who names nothing replaces, and is told


def test_saved_and_copied_into_a_project(workflow, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    steps = [{"id": "a", "title": "A", "prompt": "Do it."}]
    file = tmp_path / "x.json"
    file.write_text(json.dumps({**BROKEN, "id": "team.x", "steps": steps}))

    assert workflow("save", file, "--project", "--workspace", project)[0] == 0
    copied = workflow("copy", "team.x", "team.y", "--project", "--workspace", project)
    assert copied[1].endswith(f"start it as team.y --workspace {project}\n")
    code, said = workflow("save", file, "--project")

    assert code == 1
    assert "there is no project" in said
    folder = project / ".backshop" / "workflows"
    assert sorted(one.name for one in folder.iterdir()) == ["team.x.json", "team.y.json"]
    _, found = parsed(workflow("list", "--query", "team", "--workspace", project, "--json"))
    assert [one["workflowId"] for one in found["workflows"]] == ["team.x", "team.y"]


@pytest.mark.rule("S4.14", "R3.4")
def test_the_workflows_of_the_current_folder_are_told_where_none_was_named(
    workflow, tmp_path, monkeypatch, capsys
):
    told = "the workflows of this folder count with `--workspace .`"
    monkeypatch.chdir(tmp_path)
    elsewhere = workflow("inspect", "project.x")
    workflow("new", "project.x", "--project", "--workspace", ".")
    inspected, listed = workflow("inspect", "project.x"), workflow("list")
    code = main(["run", "start", "project.x", "--home", str(tmp_path / "home")])
    started = capsys.readouterr().err
    named = (
        workflow("inspect", "project.x", "--workspace", "."),
        workflow("list", "--workspace", "."),
    )

    assert (elsewhere[0], inspected[0], code) == (1, 1, 1)
    assert told not in elsewhere[1]
    assert f"  next: {told}\n" in inspected[1]
    assert f"  next: {told}\n" in started
    assert f"note: {told}\n" in listed[1]
    assert [(code, told in said) for code, said in named] == [(0, False)] * 2


@pytest.mark.rule("R3.2")
def test_configured_repositories_are_fetched(workflow, tmp_path):
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "a.json").write_text(
        json.dumps(
            {**BROKEN, "id": "acme.a", "steps": [{"id": "a", "title": "A", "prompt": "Do it."}]}
        )
    )
    who = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    for args in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *args], cwd=repository, check=True)
    home = tmp_path / "home"
    sources = [{"url": f"file://{repository}", "ref": "main"}]
    (home / "settings.json").write_text(json.dumps({"rails.git_sources": sources}))

    code, said = workflow("sync")

    assert code == 0
    assert " main: at " in said
    _, found = parsed(workflow("list", "--query", "acme", "--json"))
    assert [(one["workflowId"], one["sourceKind"]) for one in found["workflows"]] == [
        ("acme.a", "git")
    ]


@pytest.mark.rule("R11.5")
def test_builtins_are_listed(workflow):
    code, found = parsed(workflow("builtins", "--json"))

    assert code == 0
    assert [one["id"] for one in found["builtins"]] == [
        one.id for one in builtins(Catalog(Places()).look().library)
    ]
    assert "wr.contracts.findings" in workflow("builtins")[1]


@pytest.mark.timeout(60)
def test_a_watched_file_is_checked_again_when_it_changes(tmp_path):
    file = tmp_path / "x.json"
    file.write_text(json.dumps(BROKEN))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "backshop.cli", "workflow", "validate", str(file)]
    options = ["--watch", "--json", "--home", str(tmp_path / "home")]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, text=True, env=environment
    ) as run:
        assert run.stdout is not None
        first = next(line for line in run.stdout if '"valid"' in line)
        good = {**BROKEN, "steps": [{"id": "a", "title": "A", "prompt": "Do it."}]}
        file.write_text(json.dumps(good))
        second = next(line for line in run.stdout if '"valid"' in line)
        run.send_signal(signal.SIGINT)

        assert (first.strip(), second.strip()) == ('"valid": false,', '"valid": true,')
        assert run.wait(timeout=30) == 0
