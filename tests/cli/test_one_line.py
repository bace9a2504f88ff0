"""`backshop do`: one line from a file to the file, with a person's word in between."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import cast

import pytest
from tests.cli import one_line_program as program
from tests.conftest import PROOF
from tests.terminal import Terminal
from tests.workshop.conftest import Chat, says

from backshop.app import Backshop, BenchWorkshop
from backshop.base.errors import ValidationFailed
from backshop.cli import main
from backshop.models import PRESETS

ASKS = "say what to change: "


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Run a command on one home with a scripted model; return exit code, output and errors."""
    monkeypatch.setattr(Backshop, "open", program.scripted(Backshop.open))

    def run_one(*args: str) -> tuple[int, str, str]:
        code = main([*args, "--home", str(tmp_path / "home")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_one


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Return a file of the person's own."""
    (folder := tmp_path / "mine").mkdir()
    (folder / "a.txt").write_text("old\n")
    return folder / "a.txt"


def at_a_terminal(tmp_path: Path, *words: str) -> Terminal:
    more = {"HOME_OF_TEST": str(tmp_path / "home")}
    return Terminal(sys.executable, program.__file__, *words, **more)


def benches(run) -> list[str]:
    listed = json.loads(run("bench", "list", "--json")[1])["workbenches"]
    return [one["workbench_id"] for one in listed]


DO = ("do", "Say it anew", "--model", "scripted:test")


@pytest.mark.rule("S4.6", "B26.2")
def test_with_yes_it_publishes_and_writes_back_and_leaves_no_workbench(run, mine):
    code, out, _ = run(*DO, str(mine), "--yes")

    assert code == 0
    assert "--- a.txt\n@@ -1 +1 @@\n-old\n+new\n" in out
    assert f"written: {mine}" in out
    assert mine.read_text() == "new\n"
    assert mine.with_name("made.txt").read_text() == "made\n"
    assert benches(run) == []


@pytest.mark.rule("S4.6", "S4.1")
def test_without_a_terminal_the_draft_waits_and_it_says_how_to_go_on(run, mine):
    code, out, _ = run(*DO, str(mine), "--json")
    told = json.loads(out)
    (bench,) = benches(run)
    early = run("bench", "write-back", bench)
    before = mine.read_text()
    run("publish", bench, "--yes")
    back = run("bench", "write-back", bench)
    again = run("bench", "write-back", bench)

    assert (code, told["status"], told["workbench_id"]) == (1, "waiting", bench)
    assert sorted(told["changed"]) == ["a.txt", "made.txt"]
    assert f"backshop bench write-back {bench}" in told["next"]
    assert before == "old\n"
    assert early[:2] == (1, "nothing was written back\n")
    assert (
        f"a Draft waits, and nothing of it is written back before `backshop publish {bench}`"
        in (early[2])
    )
    assert (back[0], mine.read_text()) == (0, "new\n")
    assert again == (0, "every file is as Published has it\n", "")


@pytest.mark.rule("S4.6")
def test_a_server_that_cannot_be_reached_leaves_the_work_to_be_gone_on_with(run, mine):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        run("provider", "add", "local-away", "--url", url, "--model", "m")
        run("consent", "mode", "allow_all", "--yes")

        code, out, _ = run("do", "Say it anew", str(mine), "--model", "local-away:m", "--json")

    told = json.loads(out)
    assert (code, told["status"], benches(run)) == (1, "paused", [told["workbench_id"]])
    assert "cannot be reached" in told["answer"]
    assert told["next"][0] == f"backshop retry {told['workbench_id']}"
    assert mine.read_text() == "old\n"


@pytest.mark.rule("W24.1", "S4.2")
def test_a_round_that_changed_nothing_points_to_no_changes(run, mine):
    run(*DO, str(mine), "--json")
    (bench,) = benches(run)

    looked = run("revise", bench, "only look, please")
    changed = run("revise", bench, "make it louder")

    assert (looked[0], changed[0]) == (0, 0)
    assert "The changes wait in a Draft" in looked[2]
    assert "What this changed in it" not in looked[2]
    assert f"What this changed in it: backshop review {bench} --since last" in changed[2]


@pytest.mark.rule("S4.6", "W24.1")
def test_a_person_asks_for_changes_until_it_is_right(tmp_path, mine):
    terminal = at_a_terminal(tmp_path, *DO, str(mine))
    first = terminal.until(ASKS)
    terminal.type("make it louder\n")
    second = terminal.until(ASKS)
    kept = mine.read_text()
    terminal.type("y\n")
    terminal.until("written: ")

    assert "+new" in first
    assert "+louder" in second
    assert kept == "old\n"
    assert terminal.status() == 0
    assert mine.read_text() == "louder\n"


@pytest.mark.rule("S4.6")
@pytest.mark.parametrize("word", ["n\n", *(["\x04"] if PROOF else [])])
def test_no_leaves_everything_as_it_was_and_going_away_leaves_the_draft(tmp_path, run, mine, word):
    terminal = at_a_terminal(tmp_path, *DO, str(mine))
    terminal.until(ASKS)
    terminal.type(word)
    status = terminal.status()

    assert (mine.read_text(), mine.with_name("made.txt").exists()) == ("old\n", False)
    assert (status, len(benches(run))) == ((0, 0) if word == "n\n" else (1, 1))


@pytest.mark.rule("S4.6", "B26.2", "B26.3")
def test_what_somebody_changed_meanwhile_stays_and_the_result_is_kept(tmp_path, run, mine):
    terminal = at_a_terminal(tmp_path, *DO, str(mine))
    terminal.until(ASKS)
    mine.write_text("theirs\n")
    mine.with_name("made.txt").write_text("theirs too\n")
    terminal.type("y\n")
    told = terminal.until("write-back wb_")

    assert terminal.status() == 1
    assert told.count("NOT written: ") == 2
    (bench,) = benches(run)
    assert (mine.read_text(), mine.with_name("made.txt").read_text()) == (
        "theirs\n",
        "theirs too\n",
    )
    (out := tmp_path / "out").mkdir()
    run("bench", "extract", bench, str(out))
    assert (out / "a.txt").read_text() == "new\n"


@pytest.mark.rule("S4.6")
def test_an_answer_without_changes_and_a_turn_that_fails_leave_nothing(run, mine):
    looked = run("do", "only look", str(mine), "--model", "scripted:test")
    kept = run("do", "only look", str(mine), "--model", "scripted:test", "--keep")
    failed = run("do", "break down", str(mine), "--model", "scripted:test", "--yes")

    assert (looked[0], "It says old." in looked[1]) == (0, True)
    assert (kept[0], failed[0]) == (0, 1)
    assert len(benches(run)) == 1
    assert mine.read_text() == "old\n"


@pytest.mark.rule("S4.6")
def test_a_refusal_on_the_way_says_where_the_result_is_or_leaves_nothing(run, mine, monkeypatch):
    def refused(*_: object, **__: object) -> None:
        raise ValidationFailed("not now", reason="bad_params")

    monkeypatch.setattr(BenchWorkshop, "publish", refused)
    late = run(*DO, str(mine), "--yes")
    kept = benches(run)
    monkeypatch.setattr(BenchWorkshop, "send", refused)
    early = run(*DO, str(mine), "--yes")

    assert (late[0], early[0]) == (1, 1)
    assert f"the result waits in workbench {kept[0]}" in late[2]
    assert (benches(run), mine.read_text()) == (kept, "old\n")


@pytest.mark.rule("S4.6", "M2.2")
def test_without_a_model_it_names_the_ways_to_one_and_changes_nothing(run, mine):
    code, _, told = run("do", "Anything", str(mine))

    assert code == 1
    assert "backshop provider set-key openai" in told
    assert "backshop provider add local-" in told
    assert "--model scripted:demo" in told
    assert benches(run) == []
    assert json.loads(run("bench", "list", "--json", "--trash")[1])["workbenches"] == []


@pytest.mark.rule("S4.6", "M6.5")
def test_a_server_that_answers_on_this_machine_is_named(run, mine, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://localhost:{server.getsockname()[1]}/v1"
        monkeypatch.setitem(cast("dict[str, str]", PRESETS), "llamacpp", address)
        _, _, told = run("do", "Anything", str(mine))

    assert f"a server answers at {address}" in told
    assert "backshop provider add local-llamacpp --preset llamacpp" in told


@pytest.mark.rule("S4.6", "M4.11")
def test_content_that_nobody_let_go_stays_here_and_no_workbench_is_left(run, mine, monkeypatch):
    monkeypatch.setenv("BACKSHOP_OPENAI_API_KEY", "sk-test-0123456789abcdef")

    code, _, told = run("do", "Anything", str(mine), "--model", "openai:gpt-5.2", "--yes")

    assert code == 1
    assert "EGRESS_CONSENT_REQUIRED" in told
    assert (mine.read_text(), benches(run)) == ("old\n", [])


@pytest.mark.rule("S4.6")
def test_what_cannot_be_copied_is_refused_before_anything_is_asked(run, mine, tmp_path):
    link = mine.with_name("link.txt")
    link.symlink_to(mine)
    (empty := tmp_path / "empty").mkdir()

    for bad in (link, mine.with_name("nothing.txt"), tmp_path / "no" / "x.txt", empty):
        code, _, told = (
            run(*DO, str(mine), str(bad), "--yes")
            if bad is not empty
            else run(*DO, str(bad), "--yes")
        )
        assert (code, "bad_params" in told) == (1, True), bad
    strange = mine.with_name("what: b.txt")
    strange.write_text("x")
    assert (
        f"there is no file {mine.with_name('nothing.txt')}\n"
        in run(*DO, str(mine.with_name("nothing.txt")))[2]
    )
    assert "link.txt cannot be copied: it is a link\n" in run(*DO, str(link))[2]
    said = "its name is none in a workbench (it has the forbidden character :)\n"
    assert f"what: b.txt cannot be copied: {said}" in run(*DO, str(strange))[2]
    assert (mine.read_text(), benches(run)) == ("old\n", [])


@pytest.mark.rule("S4.6", "B26.3")
def test_the_files_of_a_folder_go_back_where_they_were(run, tmp_path):
    folder = tmp_path / "mine"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "x.txt").write_text("x\n")
    (folder / "b.txt").write_text("old\n")

    code, out, _ = run(*DO, str(folder), "--yes")

    assert code == 0, out
    assert (folder / "made.txt").read_text() == "made\n"
    assert (folder / "a.txt").read_text() == "new\n"
    assert (folder / "deep" / "x.txt").read_text() == "x\n"


@pytest.mark.rule("S4.6", "W25.4")
def test_a_saved_workflow_runs_on_the_files_that_are_named(run, tmp_path, mine):
    with Backshop.open(tmp_path / "home") as shop:
        chat = Chat(shop, tmp_path)
        chat.add({"b.txt": "x\n"})
        chat.call("WorkshopSetFlow", flow="auto")
        chat.play([says("work", "It says x.")], name="other")
        chat.ask("Read b.txt")
        chat.call("WorkshopSaveWorkflow", name="Read it")
        chat.call("WorkbenchDelete", confirm=chat.id)
    other = mine.with_name("b.txt")
    other.write_text("mine\n")

    alone = run(*DO, str(other), "--workflow", "user.read_it", "--yes")
    both = (*DO, str(mine), str(other), "--workflow", "user.read_it", "--yes")
    missing = run(*both)
    other.write_text("mine\n")
    named = run(*both, "--input", f"b={other}")

    assert (alone[0], missing[0], named[0]) == (0, 1, 0)
    assert "input_missing" in missing[2]
    assert other.read_text() == "driven\n"
