"""Texts and files at the terminal: lines stay lines, and a file that is refused is said so."""

from __future__ import annotations

import json
import sys

import pytest
from tests.rails.workflows import LOOP_CONTROL, flow, step

from backshop.cli import main

NOTES = "first line\n\tsecond \x1b[31mline\r\nthird"
SHOWN = ["first line", "\tsecond \ufffd[31mline", "third"]
DATA = b"\xff\xfe no text"


@pytest.fixture
def run(tmp_path, capsys):
    """Run `backshop` on a home of its own; return exit code and output."""
    work = flow(step("one"), step("two", **LOOP_CONTROL))
    folder = tmp_path / "home" / "workflows"
    folder.mkdir(parents=True)
    (folder / "user.flow.json").write_text(json.dumps(work), encoding="utf-8")

    def run_one(*args):
        code = main([*map(str, args), "--home", str(tmp_path / "home")])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run_one


def lines_of(said: str) -> list[str]:
    return [line.strip(" ") for line in said.split("\n")]


@pytest.mark.rule("S4.2")
def test_a_context_item_is_shown_line_by_line(run, tmp_path):
    (tmp_path / "notes.md").write_bytes(NOTES.encode())
    run("bench", "create", "B")
    assert run("context", "edit", "B", "situation", tmp_path / "notes.md", "--create")[0] == 0

    code, said = run("context", "show", "B", "situation")

    assert code == 0
    assert lines_of(said)[1:4] == SHOWN


@pytest.mark.rule("S4.2")
def test_notes_are_shown_line_by_line(run, tmp_path):
    started = json.loads(run("run", "start", "user.flow", "--goal", "x", "--json")[1])
    ref, session = started["session"]["resumeRef"], started["session"]["sessionId"]
    run("run", "continue", ref, "--notes", NOTES)

    recap = run("run", "show", ref)[1]

    assert lines_of(recap)[1:4] == [f"One: {SHOWN[0]}", *SHOWN[1:]]
    assert run("session", "show", session)[0] == 0


@pytest.mark.rule("S4.2")
def test_the_own_notes_of_a_session_are_shown_line_by_line(run):
    started = json.loads(run("session", "start", "--title", "T", "--json")[1])
    session, tokens = started["session"]["sessionId"], ("sessionToken", "checkpointToken")
    wish = {**{name: started[name] for name in tokens}, "output": {"notesMarkdown": NOTES}}
    code, said = run("call", "checkpoint_workflow", json.dumps(wish))
    assert code == 0, said

    shown = run("session", "show", session)[1]

    assert lines_of(shown)[1:4] == [f"note: {SHOWN[0]}", *SHOWN[1:]]


@pytest.mark.rule("S4.2")
def test_tabs_of_a_workflow_and_of_a_diff_stay_tabs(run, tmp_path):
    source = json.dumps(flow(step("one"), id="user.tabs"), indent="\t")
    (tmp_path / "tabs.json").write_text(source, encoding="utf-8")
    assert run("workflow", "save", tmp_path / "tabs.json")[0] == 0

    assert '\n\t"' in run("workflow", "inspect", "user.tabs", "--mode", "source")[1]


READING = {
    "run notes": ("run", "continue", "{run}", "--notes", "@{file}"),
    "context": ("context", "edit", "B", "situation", "{file}", "--create"),
    "digest": ("digest", "set", "B", "{file}"),
    "workflow": ("workflow", "save", "{file}"),
    "override": ("prompts", "override", "set", "a", "b", "c", "--file", "{file}"),
    "overrides": ("prompts", "override", "import", "{file}"),
    "prompt": ("prompts", "render", "a", "b", "--params", "{file}"),
    "session": ("session", "import", "{file}"),
}
WRITING = {
    "session": ("session", "export", "{session}", "--output", "{file}"),
    "history": ("history", "B", "--jsonl", "{file}"),
    "audit": ("bench", "audit", "B", "--export", "{file}"),
}


@pytest.fixture
def filled(run):
    """What the commands are about: a bench and a run."""
    run("bench", "create", "B")
    started = json.loads(run("run", "start", "user.flow", "--goal", "x", "--json")[1])["session"]

    def asked(words, file):
        fields = {"run": started["resumeRef"], "session": started["sessionId"], "file": file}
        return run(*(word.format(**fields) for word in words))

    return asked


@pytest.mark.rule("S4.1", "S5.3")
@pytest.mark.parametrize("words", READING.values(), ids=READING)
def test_a_file_that_is_no_text_is_refused_by_its_name(filled, tmp_path, words):
    (tmp_path / "data.md").write_bytes(DATA)

    code, said = filled(words, tmp_path / "data.md")

    assert code == 1
    assert "data.md is not UTF-8 text" in said
    assert "VALIDATION_FAILED" in said


@pytest.mark.rule("S4.1", "S5.3")
def test_a_file_of_notes_that_is_not_there_is_refused_by_its_name(filled, tmp_path):
    code, said = filled(READING["run notes"], tmp_path / "none.md")

    assert code == 1
    assert "none.md cannot be read" in said
    assert "FILE_READ_FAILED" in said


@pytest.mark.rule("S4.1", "S5.3")
@pytest.mark.parametrize("words", WRITING.values(), ids=WRITING)
def test_a_place_that_cannot_be_written_is_said_so(filled, tmp_path, words):
    code, said = filled(words, tmp_path / "no" / "such" / "x")

    assert code == 1
    assert f"there is no folder {tmp_path / 'no' / 'such'}" in said
    assert "bad_destination" in said
    assert not (tmp_path / "no").exists()


@pytest.mark.rule("S4.1", "S5.3")
def test_a_file_that_the_system_does_not_let_be_written_is_said_so(filled, tmp_path):
    code, said = filled(WRITING["history"], tmp_path / ("long" * 100))

    assert code == 1
    assert "longlong" in said
    assert "FILE_WRITE_FAILED" in said


@pytest.mark.rule("S3.1", "S4.1")
@pytest.mark.parametrize("way", ["option", "environment"])
def test_an_error_goes_to_the_log_of_the_home_that_was_meant(tmp_path, monkeypatch, capsys, way):
    person, here = tmp_path / "person", tmp_path / "here"
    for folder in (person, here):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.chdir(here)
    options = ["--home=~/x"] if way == "option" else []
    if way == "environment":
        monkeypatch.setenv("BACKSHOP_HOME", "~/x")

    monkeypatch.setattr(sys, "stdin", None)  # whatever goes wrong inside
    assert main(["rpc", *options]) == 1

    assert list(here.iterdir()) == []
    assert "Traceback" in (person / "x" / "logs" / "backshop.log").read_text()


@pytest.mark.rule("S3.1", "S4.1")
def test_a_home_of_a_person_nobody_knows_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    assert main(["bench", "list", "--home=~nobody-of-that-name/x"]) == 1

    assert "bad_setting" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
