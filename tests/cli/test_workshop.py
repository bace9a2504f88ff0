"""Talking with the agent in the terminal, and going back and forth."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator

import pytest
from tests.workshop.conftest import Chat, calls, says, story

from backshop.app import Answer, Backshop
from backshop.cli import main
from backshop.cli.door import Door
from backshop.cli.workshop import _show, _Shown


@pytest.fixture
def run(tmp_path, capsys):
    """Run a command on one home; return exit code and output."""

    def run_one(*args: str) -> tuple[int, str, str]:
        code = main([*args, "--home", str(tmp_path / "home")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_one


@pytest.mark.rule("S4.2", "S4.3", "W3.2")
def test_a_conversation_in_the_terminal(run, tmp_path):
    (tmp_path / "a.txt").write_text("hello\n")
    (tmp_path / "home").mkdir()
    assert "`backshop bench create NAME`" in run("review", "Talk")[2]
    run("bench", "create", "Talk")
    run("bench", "add", "Talk", str(tmp_path / "a.txt"))
    assert run("model", "use", "scripted:demo", "--bench", "Talk")[0] == 0

    code, out, _ = run("send", "Talk", "What is this?", "--ask")
    again = run("regenerate", "Talk", "--json")
    told = run("history", "Talk")[1]
    exported = run("history", "Talk", "--jsonl", str(tmp_path / "all.jsonl"))

    assert (code, out.startswith("I am the offline demo")) == (0, True)
    assert json.loads(again[1])["status"] == "complete"
    assert "What is this?" in told
    assert "Answer asked for again" in told
    records = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    left = [one.get("event_kind") or one["role"] for one in records if not one["active"]]
    assert (exported[0], left) == (0, ["assistant", "undo"])
    refused = run("retry", "Talk", "--json")
    assert (refused[0], json.loads(refused[1])["reason"]) == (1, "nothing_to_retry")
    preview = run("rewind", "Talk", "-2", "--dry-run")
    assert "1 record is discarded:\n  the agent: I am the offline demo" in preview[1]
    assert run("rewind", "Talk", "-2", "--yes")[0] == 0
    assert "ends at" in run("redo", "Talk")[1]
    assert run("cancel", "Talk")[1].strip() == "nothing runs"
    far = run("rewind", "Talk", "-99", "--yes")
    assert far[0] == 1
    assert "does not go back as far as -99; it has -1 to -3" in far[2]
    assert run("send", "Talk", "  ")[0] == 1
    found = run("search", "WHAT", "this")[1].splitlines()
    assert [line.split()[:2] for line in found[1:]] == [["person", "Talk"]]
    assert run("search", "nowhere")[1] == "nothing has these words\n"


@pytest.mark.rule("S4.8", "S4.12", "B5.1")
def test_what_is_proposed_can_be_pasted(run, tmp_path):
    demo = run("demo", "--setup-only")
    task = "Rewrite the section Outlook of the annual report with the real figures"
    first = run("send", "Sample Workbench", task)
    waits = run("send", "Sample Workbench", task)
    changed = run("publish", "Sample Workbench", "--yes", "--tree", "a" * 64)
    run("publish", "Sample Workbench", "--yes")
    chosen = run("rewind", "Sample Workbench", "-3")
    consent = run("consent", "list", "Sample Workbench")
    refused = run("digest", "refresh", "Sample Workbench", "--model", "--json")
    (folder,) = (tmp_path / "home" / "benches").iterdir()
    (folder / "published" / "odd").symlink_to("/nowhere")
    opened = run("bench", "show", "Sample Workbench")
    (folder / "published" / "typed.txt").write_text("typed")
    shutil.copytree(folder / "published", folder / "copied")
    shutil.rmtree(folder / "published")
    (folder / "copied").rename(folder / "published")
    copied = run("bench", "show", "Sample Workbench")
    made = run("bench", "create", "Shed", "--reuse", "--json")
    again = run("bench", "create", "Shed", "--reuse", "--json")

    assert demo[0] == 0
    assert first[2].endswith("backshop review 'Sample Workbench'\n")
    assert "`backshop discard 'Sample Workbench'`" in waits[2]
    assert "next: `backshop review 'Sample Workbench'` shows it as it is now" in changed[2]
    assert "--confirm-deletions" not in changed[2]
    assert "choose: --mode chat_only, or --mode restore_published" in chosen[2]
    assert "nothing leaves" in consent[1]
    assert json.loads(refused[1])["reason"] == "script_unable"
    assert "offline demo" not in run("digest", "show", "Sample Workbench")[1]
    assert "put right: the folder of Published held links or devices" in opened[1]
    assert "note: files that another program wrote were in the way; they were kept" in copied[1]
    first_made, second = json.loads(made[1]), json.loads(again[1])
    assert (first_made["created"], second["created"]) == (True, False)
    assert second["workbench_id"] == first_made["workbench_id"]


@pytest.mark.rule("S4.2", "W3")
def test_the_terminal_shows_the_plan_and_the_tool_calls_of_a_turn(run, tmp_path):
    run("bench", "create", "Talk")
    assert run("plan", "Talk")[1] == "no turn made a plan yet\n"
    with Backshop.open(tmp_path / "home") as shop:
        shop.models.play("test", story(("b.txt", "blue")))
        talk = shop.workshop("Talk")
        talk.use_model("scripted:test")
        talk.send("Write b.txt")

    shown = run("plan", "Talk")[1]
    data = json.loads(run("plan", "Talk", "--json")[1])
    file = tmp_path / "all.jsonl"
    exported = run("history", "Talk", "--jsonl", str(file), "--tools")

    assert all(part.strip() in shown for part in (data["research_md"], data["items"][0]["label"]))
    assert "(done)" in shown
    records = [json.loads(line) for line in file.read_text().splitlines()]
    kinds = [one["type"] for one in records]
    assert (exported[0], "tool_call" in kinds) == (0, True)
    assert kinds.index("user_message") < kinds.index("tool_call") < kinds.index("assistant_message")
    assert {one["tool"] for one in records if one["type"] == "tool_call"} >= {"write_text_file"}
    assert run("history", "Talk", "--tools")[0] == 2


@pytest.mark.rule("S4.3", "S4.17")
def test_history_tells_its_records_in_words_with_the_number_that_leads_back_to_each(run, tmp_path):
    run("bench", "create", "Talk")
    with Backshop.open(tmp_path / "home") as shop:
        shop.models.play("writes", story(("a.txt", "hello\n")))
        talk = shop.workshop("Talk")
        talk.use_model("scripted:writes")
        talk.send("Write a.txt")
        talk.publish(talk.review().tree)

    told = run("history", "Talk")[1]
    heads = [line for line in told.splitlines() if line.startswith("[20")]
    said = [line.partition("] ")[2].partition("  msg_")[0] for line in heads]
    numbers = [line.rpartition("  (")[2] for line in heads if line.endswith(")")]
    back = run("rewind", "Talk", "-3", "--dry-run")[1]

    assert said == [
        "Model switched to scripted:writes",
        "user",
        "Draft begun",
        "assistant",
        "Draft changed: a.txt",
        "Published: a.txt",
    ]
    assert numbers == ["-4)", "-3)", "-2)", "-1)"]
    assert back.startswith("2 records are discarded:\n  the agent: ")
    assert "\n  Published: a.txt\n" in back


@pytest.mark.rule("W11.20", "S4.2", "S8.1", "W11.23")
def test_the_facts_of_a_turn_are_the_same_in_terminal_history_export_and_python(run, tmp_path):
    run("bench", "create", "Talk")
    run("model", "use", "scripted:demo", "--bench", "Talk")

    _, sent, _ = run("send", "Talk", "What is this?")
    asked = json.loads(run("send", "Talk", "And this?", "--json")[1])
    told = run("history", "Talk")[1]
    run("history", "Talk", "--jsonl", str(tmp_path / "all.jsonl"))
    with Backshop.open(tmp_path / "home") as shop:
        answer = shop.workshop("Talk").send("And that?")

    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    records = [one for one in map(json.loads, lines) if one["type"] == "assistant_message"]
    facts = ["No file was changed."]
    assert sent.endswith("".join(("\n\n", *(f"| {line}\n" for line in facts))))
    assert told.count(f"| {facts[0]}\n") == 2
    assert asked["facts_lines"] == facts
    assert [one["facts_lines"] for one in records] == [facts, facts]
    assert records[0]["metadata"]["facts"] == asked["facts"]
    assert answer.facts is not None
    assert (list(answer.facts_lines), answer.facts.files) == (facts, ())


@pytest.mark.rule("W11.29", "B13.10")
def test_what_wants_a_look_first_is_marked_in_terminal_history_review_and_python(run, tmp_path):
    run("bench", "create", "Talk")
    steps = story(("a.txt", "https://evil.example\n"))
    with Backshop.open(tmp_path / "home") as shop:
        shop.models.play("hosts", steps)
        talk = shop.workshop("Talk")
        talk.use_model("scripted:hosts")
        answer = talk.send("Write a.txt")

    line = "New host evil.example: 1 mention in a.txt."
    told, review = run("history", "Talk")[1], run("review", "Talk")[1]
    data = json.loads(run("review", "Talk", "--json")[1])

    assert (answer.facts_first, answer.facts_lines[0]) == (1, line)
    assert f"! {line}\n| 1 file was changed:" in told
    assert review.splitlines()[0] == f"! {line}"
    assert review.count(line) == 1
    assert (data["draft_facts_first"], data["draft_facts"][0]) == (1, line)


@pytest.mark.rule("F24.15", "S4.2")
def test_the_review_in_the_terminal_names_formulas_without_a_result(run, tmp_path):
    run("bench", "create", "Talk")
    cells = [{"cell": "A1", "value": 1}, {"cell": "B1", "value": "=A1+NOW()"}]
    write = {"op": "set_cells", "sheet": "S", "cells": cells}
    call = {"path": "w.xlsx", "operations": [write], "create_if_missing": True}
    with Backshop.open(tmp_path / "home") as shop:
        steps = [s for s in story(("w.xlsx", "")) if s["when"].get("turn") != 1]
        steps.insert(0, calls("implement", 1, ("xlsx_operations", call), item=1))
        shop.models.play("gap", steps)
        talk = shop.workshop("Talk")
        talk.use_model("scripted:gap")
        talk.send("Write w.xlsx")

    listed, one = run("review", "Talk")[1], run("review", "Talk", "w.xlsx")[1]
    data = json.loads(run("review", "Talk", "w.xlsx", "--json")[1])

    line = "no result: S!B1: NOW gives another value every time"
    assert "! 1 formula cell(s) without a result" in listed
    assert line in listed
    assert line in one.splitlines()
    assert data["uncomputed"] == ["S!B1: NOW gives another value every time"]


@pytest.mark.rule("W1.4", "S4.2")
def test_the_flow_of_a_workbench_is_shown_and_chosen(run):
    run("bench", "create", "Plain")

    shown = [run("bench", "flow", "Plain", *more)[1].strip() for more in ((), ("compat",), ())]
    kept = json.loads(run("bench", "flow", "Plain", "--json")[1])
    wrong = run("bench", "flow", "Plain", "other")

    assert (shown, kept) == (["auto", "compat", "compat"], {"flow": "compat"})
    assert wrong[0] == 2
    assert run("bench", "flow", "Plain")[1].strip() == "compat"


@pytest.mark.rule("S4.3")
def test_a_name_that_is_nearly_right_brings_the_right_one_as_a_hint(run):
    run("bench", "create", "Sample Workbench")

    wrong = run("history", "sampel workbench")
    strange = run("history", "zzz")

    assert (wrong[0], wrong[1]) == (1, "")
    assert "did you mean: Sample Workbench" in wrong[2]
    assert "did you mean" not in strange[2]
    assert "`backshop bench list` names them" in strange[2]


@pytest.mark.rule("W15.3", "S4.2", "S4.17")
def test_a_rewind_that_needs_a_choice_names_the_choices_instead_of_asking(run, monkeypatch):
    run("demo", "--setup-only")
    bench = "Sample Workbench"
    run("send", bench, "Translate the customers' comments into English, in a new column")
    run("publish", bench, "--yes")

    refused = run("rewind", bench, "-3")

    assert refused[0] == 1
    assert "choose: --mode chat_only, or --mode restore_published" in refused[2]
    assert "Go back?" not in refused[2]
    monkeypatch.setattr(Door, "has_person", True)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    stopped = run("rewind", bench, "-3")
    monkeypatch.setattr("sys.stdin", io.StringIO("No\n"))
    refused = run("rewind", bench, "-3")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\nchat\n"))
    asked = run("rewind", bench, "-3")
    assert (stopped[0], "files were published" in stopped[2]) == (1, True)
    assert "\n  the agent: The comments in `customer-feedback.xlsx`" in stopped[2]
    assert "chat_only: the conversation goes back; all files stay" in stopped[2]
    assert (refused[0], refused[2].endswith("Nothing was done.\n")) == (1, True)
    assert "more than one way back. Type one of: chat_only, restore_published" in asked[2]
    assert (asked[0], "went back over 2 records" in asked[1]) == (0, True)


@pytest.mark.rule("S4.5", "S4.17")
def test_what_asks_refuses_where_nobody_can_be_asked_and_asks_where_somebody_can(run, monkeypatch):
    run("bench", "create", "Talk")
    again = run("bench", "create", "Talk", "--reuse")
    kept = run("checkpoint", "create", "Talk", "one")[1].strip()
    restore = ("checkpoint", "restore", "Talk", kept)

    refused = run(*restore)
    monkeypatch.setattr(Door, "has_person", True)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    stopped = run(*restore)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    done = run(*restore)

    assert "other workbench" not in again[2]
    assert (refused[0], "nobody can be asked here" in refused[2]) == (1, True)
    assert (stopped[0], "Bring this back?" in stopped[2]) == (1, True)
    assert stopped[2].endswith("[y/N]: Nothing was done.\n")
    assert done[0] == 0


@pytest.mark.rule("S4.3")
def test_a_second_workbench_of_a_name_is_told_of(run):
    first = run("bench", "create", "Talk")
    second = run("bench", "create", "Talk")
    asked = run("history", "Talk")

    assert "other workbench" not in first[2]
    assert "--reuse" in second[2]
    assert asked[2].count(", last changed 2") == 2


@pytest.mark.rule("W15.2", "B9.15", "S4.2")
def test_going_back_and_restoring_say_before_what_changes_and_prove_it_after(run):
    run("demo", "--setup-only")
    bench, changed = "Sample Workbench", "~ customer-feedback.xlsx  ("
    run("send", bench, "Translate the customers' comments into English, in a new column")
    draft = run("rewind", bench, "-2", "--dry-run")[1]
    back = run("rewind", bench, "-2", "--yes")[1]
    again = run("redo", bench)[1]
    run("publish", bench, "--yes")
    kept = json.loads(run("checkpoint", "list", bench, "--json")[1])["checkpoints"][0]
    planned = run("checkpoint", "restore", bench, kept["checkpoint_id"], "--dry-run")[1]
    restored = run("checkpoint", "restore", bench, kept["checkpoint_id"], "--yes")[1]

    assert [changed in said for said in (draft, back, again, planned, restored)] == [True] * 5
    proof = "1 file(s) read back, each as"
    assert [proof in said for said in (back, again, restored)] == [True] * 3
    assert [proof in said for said in (draft, planned)] == [False] * 2


@pytest.mark.rule("W3.2", "S4.2", "W12.1")
@pytest.mark.parametrize("ended", ["failed", "canceled"])
def test_what_stopped_or_failed_is_tried_again_from_the_terminal(run, tmp_path, ended):
    with Backshop.open(tmp_path / "home") as shop:
        chat = Chat(shop, tmp_path)
        wire = chat.play(story(("b.txt", "b")))
        if ended == "failed":
            chat.play([{"when": {}, "times": 0, "respond": {"error": "empty"}}])
        else:
            real = wire.complete

            def stop(request, model, channel):
                chat.call("WorkshopCancelRun")
                return real(request, model, channel)

            wire.complete = stop
        assert chat.ask("What is this?", mode="ask")["status"] == ended
        chat.call("WorkshopSwitchModel", model_id="scripted:demo")

    code, out, _ = run("retry", chat.id)

    assert (code, out.startswith("I am the offline demo")) == (0, True)
    assert run("retry", chat.id)[0] == 1  # there is nothing any more


@pytest.mark.rule("P7.11", "S4.2")
def test_a_digest_is_shown_line_by_line_and_cannot_steer_the_terminal(run, tmp_path):
    (tmp_path / "d.md").write_text("# Files\n\n- one\x1b[2J\n- two\n")
    run("bench", "create", "Talk")
    run("digest", "set", "Talk", str(tmp_path / "d.md"), "--pin")

    shown = run("digest", "show", "Talk")[1]

    assert "- two" in shown.splitlines()
    assert "\x1b" not in shown


@pytest.mark.rule("S4.3")
def test_a_talk_stays_with_its_workbench_whoever_gets_the_name(run, tmp_path, monkeypatch):
    with Backshop.open(tmp_path / "home") as shop:
        first = shop.call("WorkbenchCreate", {"name": "Shed"})["workbench_id"]
    run("model", "use", "scripted:demo", "--bench", "Shed")

    def rename() -> None:
        with Backshop.open(tmp_path / "home") as shop:
            shop.call("WorkbenchRename", {"workbench_id": first, "new_name": "Barn"})
            shop.call("WorkbenchCreate", {"name": "Shed"})

    def typed() -> Iterator[str]:
        yield "What is here?\n"
        rename()
        yield "And what else?\n"
        yield "\n"

    class Typing(io.TextIOBase):
        lines = typed()

        def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
            return next(self.lines)

    monkeypatch.setattr("sys.stdin", Typing())
    assert run("chat", "Shed")[0] == 0

    told = run("history", first)[1]
    assert ("What is here?" in told, "And what else?" in told) == (True, True)
    assert run("history", "Shed")[1] == "nothing was said yet\n"


@pytest.mark.rule("M8.10")
def test_a_model_that_is_waited_for_is_told_in_the_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    shown = _Shown(Door())

    for state in ("waiting", "thinking", "answering"):
        shown.see("WorkshopModelProgress", {"state": state, "waited_ms": 7000})

    assert capsys.readouterr().err.splitlines() == [
        "Waiting for the model… (7 s)",
        "The model is thinking… (7 s)",
    ]


@pytest.mark.rule("W25.1", "W25.3", "W25.4", "S4.2")
def test_a_turn_is_saved_in_the_terminal_and_done_again_with_another_file(run, tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        chat = Chat(shop, tmp_path)
        chat.add({"one.csv": "a\n1\n", "two.csv": "a\n2\n"})
        chat.call("WorkshopSetFlow", flow="auto")
        chat.play([says("work", "It holds 1.")])
        chat.ask("Read one.csv")

    saved = run("workflow", "save-turn", chat.id, "Read it")
    same = run("workflow", "save-turn", chat.id, "Read it")
    (file,) = (tmp_path / "home" / "workflows").iterdir()
    kept = file.read_text()
    file.write_text(f"{kept}# by hand\n")
    edited = run("workflow", "save-turn", chat.id, "Read it")
    by_hand = file.read_text()
    replaced = run("workflow", "save-turn", chat.id, "Read it", "--replace")
    taken = run("workflow", "new", "user.read_it")
    told = run("workflow", "inputs", chat.id)[1]
    missing = run("send", chat.id, "Again", "--workflow", "user.read_it")
    shape = run("send", chat.id, "Again", "--workflow", "user.read_it", "--input", "one")
    alone = run("send", chat.id, "Again", "--input", "one=two.csv")
    said = run("history", chat.id)[1]

    assert saved[0] == 0
    assert same[1].startswith("is there already, the same: ")
    assert (edited[0], by_hand.endswith("# by hand\n")) == (1, True)
    assert "next: --replace replaces it" in edited[2]
    assert (replaced[0], file.read_text()) == (0, kept)
    assert "`backshop workflow save FILE`" in taken[2]
    assert "input one: read, here one.csv" in saved[1]
    assert "--workflow user.read_it --input one=PATH" in saved[1]
    assert "user.read_it  Read it" in told
    assert (missing[0], shape[0], alone[0]) == (1, 2, 2)
    assert "input_missing" in missing[2]
    assert "Again" not in said


@pytest.mark.rule("W27.6", "S4.2", "S8.1")
def test_a_note_is_written_from_terminal_and_python(run, tmp_path):
    run("bench", "create", "Talk")
    nobody = run("note", "Talk", "Shorter", "--json")
    with Backshop.open(tmp_path / "home") as shop:
        talk = shop.workshop("Talk")
        wire = shop.models.play("one", story(("b.txt", "blue\n")))
        talk.use_model("scripted:one")
        real = wire.complete
        told: list[tuple[int, str, str]] = []

        def noted(request, model, channel):
            if not told:
                told.append(run("note", "Talk", "From the terminal"))
                talk.note("From Python")
            return real(request, model, channel)

        wire.complete = noted  # type: ignore[method-assign]
        talk.send("Write b.txt")
    shown = run("history", "Talk")[1]

    assert json.loads(nobody[1])["reason"] == "no_turn"
    assert told[0][:2] == (0, "noted; the agent reads it before its next step\n")
    assert "From the terminal\n(read)" in shown
    assert "From Python\n(read)" in shown


@pytest.mark.rule("W5.11", "S4.2")
@pytest.mark.parametrize("status", ["paused", "canceled", "complete"])
def test_work_that_can_go_on_says_how_in_the_terminal(capsys, status):
    done = Answer(text="Stopped.", status=status, has_draft=True, turn_id="turn_1")

    _show(Door(as_json=False), done, "", "Talk", is_round=False)

    err = capsys.readouterr().err
    assert ("It can go on: backshop retry Talk" in err) == (status != "complete")
    assert ("backshop review Talk" in err) == (status != "paused")


@pytest.mark.rule("W24.11", "S4.2", "S8.1", "B9.15")
def test_changes_of_a_draft_are_asked_for_in_terminal_and_python(run, tmp_path):
    run("bench", "create", "Talk")
    with Backshop.open(tmp_path / "home") as shop:
        talk = shop.workshop("Talk")
        shop.models.play("one", story(("b.txt", "blue\n")))
        talk.use_model("scripted:one")
        talk.send("Write b.txt")
        first = talk.review()
    run("review", "Talk")
    with Backshop.open(tmp_path / "home") as shop:
        talk = shop.workshop("Talk")
        shop.models.play("one", story(("b.txt", "red\n")))
        done = talk.request_changes("Red, please")
        since = talk.review(since="last_look")
        shop.models.play("two", story(("b.txt", "rot\n")))
        again = talk.regenerate(note="In German", model="scripted:two")
        assert talk.state().model_id == "scripted:one"
    asked = run("revise", "Talk", "Which colour?", "--ask", "--model", "scripted:demo")
    empty = run("revise", "Talk", "--json")
    shown = run("review", "Talk", "b.txt", "--since", "last")
    listed = run("review", "Talk", "--since", "last")
    told = run("history", "Talk")[1]

    assert (done.status, again.status) == ("complete", "complete")
    assert [one.path for one in since.entries] == ["b.txt"]
    assert (since.reference_source, first.reference_source) == (
        "last_look",
        "draft_start_snapshot",
    )
    assert (asked[0], asked[1].startswith("I am the offline demo")) == (0, True)
    assert json.loads(empty[1])["reason"] == "empty_message"
    assert "-blue\n+rot" in shown[1]  # the question that came after is no look
    assert listed[1].startswith("since changes were asked for last:\n~ b.txt")
    assert "\nin the last round:\n| 1 file was changed: b.txt" in listed[1]
    assert "request for changes" in told
    assert "(asked again: In German)" in told
    done_so = run("publish", "Talk", "--yes", "--json")  # the rest was shown before the round
    assert json.loads(done_so[1])["published_generation"] == 1
    assert run("revise", "Talk", "More", "--json")[0] == 1


@pytest.mark.rule("S6.27", "W24.10", "W24.11", "W24.12")
def test_a_request_for_changes_is_left_to_an_agent_outside(run, tmp_path):
    run("bench", "create", "Talk")
    with Backshop.open(tmp_path / "home") as shop:
        talk = shop.workshop("Talk")
        shop.models.play("one", story(("b.txt", "blue\n")))
        talk.use_model("scripted:one")
        talk.send("Write b.txt")
    both = run("revise", "Talk", "Red, please", "--for-agent", "--ask")
    left = run("revise", "Talk", "Red, please", "--for-agent")
    reviewed = run("review", "Talk")
    published = run("publish", "Talk", "--dry-run")
    with Backshop.open(tmp_path / "home") as shop:
        found = shop.workshop("Talk").review()

    assert both[0] == 2
    for said in (reviewed[1], published[2]):
        assert "you asked for this and nobody took it up: Red, please\n" in said
    assert (left[0], "review_draft" in left[1]) == (0, True)
    assert found.request is not None
    assert found.request.text == "Red, please"


@pytest.mark.rule("B27.1", "B27.5", "S4.2", "S8.1")
def test_one_file_of_a_checkpoint_comes_back_in_terminal_and_python(run, tmp_path):
    run("bench", "create", "Talk")
    with Backshop.open(tmp_path / "home") as shop:
        talk = shop.workshop("Talk")
        for name, text in (("one", "blue\n"), ("two", "red\n")):
            shop.models.play(name, story(("a.txt", text), ("b.txt", text)))
            talk.use_model(f"scripted:{name}")
            talk.send(f"Paint both {text.strip()}")
            talk.publish()
        kept = talk.checkpoints()[0]
    listed = run("checkpoint", "list", "Talk")[1]
    restore = ("checkpoint", "restore", "Talk", kept.checkpoint_id, "--file")
    planned = run(*restore, "b.txt", "--dry-run")
    done = run(*restore, "a.txt", "--yes")
    with Backshop.open(tmp_path / "home") as shop:
        talk = shop.workshop("Talk")
        again = talk.restore(kept.checkpoint_id, "b.txt")
        newest = talk.checkpoints()[0]

    assert kept.request == "Paint both red"
    assert "Before: Paint both red" in listed
    assert "Before: Paint both blue" in listed
    assert "b.txt" in planned[1]
    assert (done[0], "a.txt" in done[1], "b.txt" in done[1]) == (0, True, False)
    assert [one.path for one in again.changed] == ["b.txt"]
    assert newest.description == "Before restoring b.txt"
