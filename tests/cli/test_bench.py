"""A person with documents, in the terminal: add, see what an agent did, publish, go back."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime

import pytest
import xlsxwriter
from tests.terminal import Terminal

from backshop.app import Backshop
from backshop.bench import Author, Put, Source
from backshop.cli import main


@pytest.fixture
def run(tmp_path, capsys):
    """Run a command on one home; return exit code and output."""

    def run_one(*args: str) -> tuple[int, str]:
        code = main([*args, "--home", str(tmp_path / "home")])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run_one


def agent_writes(tmp_path, bench: str, path: str, text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    with Backshop.open(tmp_path / "home") as shop:
        blob = shop.store.blobs.put(data)
        put = Put(path=path, blob=blob, size=len(data), note="Made it better.")
        shop.benches.apply_batch(bench, [put], Author(source=Source(kind="workshop")))


@pytest.mark.rule("S4.2", "B9.11")
def test_a_draft_in_which_nothing_is_left_is_not_told_as_published(run, tmp_path):
    (tmp_path / "report.txt").write_text("good\n")
    bench = run("bench", "create", "Reports")[1].strip()
    run("bench", "add", "Reports", str(tmp_path / "report.txt"))
    agent_writes(tmp_path, bench, "report.txt", "better\n")
    agent_writes(tmp_path, bench, "report.txt", "good\n")

    dry = run("publish", "Reports", "--dry-run")
    done = run("publish", "Reports", "--yes")

    assert dry == (0, "there is nothing to publish; publishing ends the Draft\n")
    assert done == (0, "there was nothing to publish; the Draft is gone\n")
    assert "no_draft" in run("publish", "Reports", "--yes")[1]


@pytest.mark.rule("S4.2", "S4.3")
def test_the_whole_round_in_the_terminal(run, tmp_path):
    (tmp_path / "report.txt").write_text("good\n")
    bench = run("bench", "create", "Reports")[1].strip()
    assert run("bench", "add", "Reports", str(tmp_path / "report.txt"))[0] == 0
    agent_writes(tmp_path, bench, "report.txt", "better\n")

    listed = run("review", "Reports")[1]
    difference = run("review", bench[:12], "report.txt")[1]
    tree = listed.split("--tree ")[1].split()[0]
    published = run("publish", "Reports", "--tree", tree, "--yes")
    (out := tmp_path / "out").mkdir()
    run("bench", "extract", "Reports", str(out))
    checkpoint = json.loads(run("checkpoint", "list", "Reports", "--json")[1])["checkpoints"][0]
    back = run("checkpoint", "restore", "Reports", checkpoint["checkpoint_id"], "--yes")

    assert "~ report.txt" in listed
    assert "Made it better." in listed
    assert "-good\n+better" in difference
    assert (published[0], back[0]) == (0, 0)
    assert (out / "report.txt").read_text() == "better\n"
    assert (tmp_path / "report.txt").read_text() == "good\n"
    home = tmp_path / "home" / "benches" / bench / "published" / "report.txt"
    assert home.read_text() == "good\n"
    assert "draft_published" in run("bench", "audit", "Reports")[1]


@pytest.mark.rule("S4.3", "B1.3")
def test_a_checkpoint_is_found_by_the_beginning_of_its_id_and_else_named(run, tmp_path):
    run("bench", "create", "Reports")
    (tmp_path / "a.txt").write_text("one")
    run("bench", "add", "Reports", str(tmp_path / "a.txt"))
    first = run("checkpoint", "create", "Reports", "before lunch")[1].strip()
    run("checkpoint", "create", "Reports", "after lunch")

    unknown, said = run("checkpoint", "restore", "Reports", "cp_nope", "--yes")
    unclear, asked = run("checkpoint", "show", "Reports", "cp_")

    assert unknown != 0
    assert "there is no checkpoint 'cp_nope'" in said
    assert f"{first} (before lunch)" in said
    assert unclear != 0
    assert "could be 2 checkpoints" in asked
    assert run("checkpoint", "restore", "Reports", first, "--yes")[0] == 0
    assert run("checkpoint", "show", "Reports", first[:-1])[0] == 0


@pytest.mark.rule("B6.7", "B4.2")
def test_a_name_that_cannot_be_added_says_which_character(run, tmp_path):
    run("bench", "create", "Reports")
    bad = tmp_path / "what?.txt"
    bad.write_text("one")

    said = run("bench", "add", "Reports", str(bad))[1]

    assert "forbidden character ?" in said


@pytest.mark.rule("S4.3")
def test_a_name_that_fits_two_is_refused_with_both(run):
    ids = [run("bench", "create", "Twin")[1].split()[0] for _ in range(2)]

    code, text = run("bench", "show", "Twin")

    assert code == 1
    assert all(one in text for one in ids)
    assert run("bench", "show", "nobody")[0] == 1
    assert run("bench", "show", "")[0] == 1


@pytest.mark.rule("B18.3", "B9.17")
def test_discarding_from_the_terminal_and_what_cannot_be_done(run, tmp_path):
    bench = run("bench", "create", "B")[1].strip()
    agent_writes(tmp_path, bench, "a.txt", "x")

    assert run("bench", "delete", "B", "--yes")[0] == 1
    assert run("discard", "B")[0] != 0  # nobody answers the question
    assert run("--json", "discard", "B")[0] == 1
    assert "+ a.txt" in run("review", "B")[1]
    assert f"undo: backshop draft undo {bench}" in run("discard", "B", "--yes")[1]
    assert "comes back with `backshop draft undo`" in run("draft", "show", "B")[1]
    assert "the discarded Draft is back" in run("draft", "undo", "B")[1]
    assert "+ a.txt" in run("review", "B")[1]
    assert run("draft", "undo", "B")[0] == 1  # and nothing is left to take back
    assert run("discard", "B", "--yes")[0] == 0
    assert run("discard", "B")[0] == 1
    assert run("bench", "delete", "B", "--yes")[0] == 0
    assert run("bench", "undelete", "B")[0] == 0
    assert run("draft", "rescan", "B")[0] == 2


@pytest.mark.rule("B8.10", "B9.5")
def test_the_review_in_the_terminal_tells_of_edits_in_the_folder_of_the_draft(run, tmp_path):
    bench = run("bench", "create", "B")[1].strip()
    agent_writes(tmp_path, bench, "a.txt", "x")
    before = run("review", "B")[1]
    (tmp_path / "home" / "benches" / bench / "draft" / "theirs.txt").write_text("theirs\n")

    told = run("review", "B")[1]

    assert "edited   Draft's folder, by another program: theirs.txt\n" in told
    assert f"backshop draft rescan {bench} --adopt|--revert" in told
    assert ("publish exactly this" in before, "publish exactly this" in told) == (True, False)


def with_a_file(run, tmp_path):
    """Make workbench B with a.txt in it; return its id."""
    (tmp_path / "a.txt").write_text("a\n")
    bench = run("bench", "create", "B")[1].strip()
    run("bench", "add", "B", str(tmp_path / "a.txt"))
    return bench


@pytest.mark.rule("S4.2", "B8.9")
def test_taking_back_a_renamed_file_by_both_its_names(run, tmp_path):
    bench = with_a_file(run, tmp_path)
    agent_writes(tmp_path, bench, "b.txt", "b\n")
    run("draft", "rename", "B", "a.txt", "c.txt")

    done = run("discard", "B", "a.txt", "c.txt")

    assert done[0] == 0
    listed = run("review", "B")[1]
    assert "+ b.txt" in listed
    assert "a.txt" not in listed
    assert "c.txt" not in listed


@pytest.mark.rule("B8.22", "S4.2")
def test_a_file_that_was_taken_back_comes_back_by_draft_undo(run, tmp_path):
    bench = with_a_file(run, tmp_path)
    agent_writes(tmp_path, bench, "a.txt", "b\n")
    agent_writes(tmp_path, bench, "c.txt", "c\n")

    one = run("discard", "B", "a.txt", "c.txt")
    empty = run("review", "B")[1]
    back = [run("draft", "undo", "B")[1].strip() for _ in range(2)]
    late = run("draft", "undo", "B")

    assert "2 file(s) are as they were" in one[1]
    assert f"backshop draft undo {bench}, once for each file" in one[1]
    assert "0 added, 0 modified" in empty
    assert back == ["again as the Draft had it: c.txt", "again as the Draft had it: a.txt"]
    assert (late[0], "nothing_to_undo" in late[1]) == (1, True)
    assert {"~ a.txt", "+ c.txt"} <= set(run("review", "B")[1].splitlines())


@pytest.mark.rule("B12.2", "B12.9", "S4.2")
def test_the_review_of_a_file_shows_all_its_lines_and_cells(run, tmp_path):
    bench = with_a_file(run, tmp_path)
    for name, add in (("old.xlsx", 0), ("new.xlsx", 1)):
        with xlsxwriter.Workbook(str(tmp_path / name)) as made:
            made.set_properties({"created": datetime(2026, 1, 1, tzinfo=UTC)})  # not two seconds
            for title in ("One", "Two"):
                sheet = made.add_worksheet(title)
                for row in range(300):
                    sheet.write_number(row, 0, row + add)
    run("bench", "add", "B", str(tmp_path / "old.xlsx"))
    agent_writes(tmp_path, bench, "a.txt", "".join(f"{n}\n" for n in range(5_200)))
    agent_writes(tmp_path, bench, "old.xlsx", (tmp_path / "new.xlsx").read_bytes())

    lines = run("review", "B", "a.txt")[1].splitlines()
    cells = run("review", "B", "old.xlsx")[1].splitlines()
    data = json.loads(run("--json", "review", "B", "old.xlsx")[1])

    assert sum(line.startswith("+") for line in lines) == 5_200
    assert sum(line.startswith("~ ") for line in cells) == 600
    assert cells[0] == "# Made it better."
    assert cells[1] == "~ One!A1  value changed: 0 → 1"
    assert cells[-2:] == ["One: 300 changed cell(s)", "Two: 300 changed cell(s)"]
    assert [len(one["cells"]) for one in data["body"]["sheets"]] == [300, 300]


@pytest.mark.rule("S4.1", "S4.2")
def test_taking_back_several_files_is_all_or_nothing(run, tmp_path):
    bench = with_a_file(run, tmp_path)
    agent_writes(tmp_path, bench, "a.txt", "b\n")

    refused = run("discard", "B", "a.txt", "nope.txt")
    still = run("review", "B")
    tried = run("publish", "B", "--dry-run")
    done = run("discard", "B", "a.txt")

    assert refused[0] == 1
    assert "nope.txt" in refused[1]
    assert "~ a.txt" in still[1]
    assert f"backshop publish {bench} --tree" in still[1]
    assert "generation" not in tried[1]
    assert done[0] == 0


@pytest.mark.rule("S4.1")
def test_a_refusal_says_how_to_go_on_in_the_terminal(run, tmp_path):
    bench = with_a_file(run, tmp_path)
    agent_writes(tmp_path, bench, "new.txt", "b\n")
    run("draft", "delete", "B", "a.txt")

    refused = run("publish", "B", "--yes")
    waiting = run("bench", "add", "B", str(tmp_path / "a.txt"))
    run("review", "B", "--confirm-deletions")
    published = run("publish", "B", "--yes")

    assert refused[0] == 1
    assert "backshop review B --confirm-deletions" in refused[1]
    assert "backshop discard B" in waiting[1]
    assert published[0] == 0


@pytest.mark.rule("S4.1")
def test_files_that_could_not_be_extracted_are_a_failure(run, tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    (out := tmp_path / "out").mkdir()
    run("bench", "create", "B")
    run("bench", "add", "B", str(tmp_path / "a.txt"))

    some = run("bench", "extract", "B", str(out), "a.txt", "nope.txt")
    whole = run("bench", "extract", "B", str(out))

    assert some[0] == 1
    assert "nope.txt" in some[1]
    assert whole[0] == 0


@pytest.mark.rule("B9.16", "B9.15", "B12.4", "S4.2")
def test_edits_of_others_are_settled_in_the_terminal(run, tmp_path):
    (tmp_path / "t.csv").write_text("id,name,amount\n1,a,10\n2,b,20\n")
    bench = run("bench", "create", "Shared")[1].strip()
    run("bench", "add", "Shared", str(tmp_path / "t.csv"))
    agent_writes(tmp_path, bench, "t.csv", "id,name,amount\n1,a,10\n2,b,25\n3,c,30\n")
    theirs = tmp_path / "home" / "benches" / bench / "published" / "t.csv"
    theirs.unlink()
    theirs.write_text("id,name,amount\n1,a,11\n2,b,20\n")

    difference = run("review", "Shared", "t.csv")[1]
    run("review", "Shared")
    refused = run("publish", "Shared", "--yes")
    preview = run(
        "draft", "reconcile", "Shared", "--keep", "theirs", "--both", "t.csv", "--dry-run"
    )
    settled = run("draft", "reconcile", "Shared", "--keep", "both")
    changed = run("publish", "Shared", "--yes")
    run("review", "Shared")
    planned = run("publish", "Shared", "--dry-run")[1]
    published = run("publish", "Shared", "--yes")

    assert "~ row 2  amount: 20 → 25" in difference
    assert "+ row 3  3, c, 30" in difference
    assert refused[0] == 1
    assert "choose: `backshop draft reconcile Shared --keep theirs|ours|both`" in refused[1]
    assert changed[0] == 1  # what was reviewed is not what would be published
    assert "draft_changed" in changed[1]
    assert "t (draft).csv" in changed[1]
    assert "t.csv: both, ours as t (draft).csv" in preview[1]
    assert (settled[0], published[0]) == (0, 0)
    assert "+ t (draft).csv  (" in planned
    assert "1 file(s) read back, each as published" in published[1]
    assert theirs.read_text() == "id,name,amount\n1,a,11\n2,b,20\n"
    assert theirs.with_name("t (draft).csv").read_text().endswith("3,c,30\n")


@pytest.mark.rule("B9.15", "S4.2")
def test_a_note_of_the_review_that_is_damaged_or_cannot_be_kept_never_means_publish_anything(
    run, tmp_path
):
    bench = run("bench", "create", "B")[1].strip()
    agent_writes(tmp_path, bench, "a.txt", "x")
    assert run("review", "B")[0] == 0
    (note,) = tmp_path.rglob(f"cache/terminal/{bench}.json")
    note.write_text("{")

    damaged = run("publish", "B", "--yes")
    note.unlink()
    note.mkdir()  # as unwritable as a full disk, for every user
    shown = run("review", "B")
    unread = run("publish", "B", "--yes")

    assert (damaged[0], unread[0], shown[0]) == (2, 2, 2)
    assert "--tree" in damaged[1] + shown[1]
    assert "+ a.txt" in shown[1]
    assert "+ a.txt" in run("review", "B", "--confirm-deletions")[1]  # it is still a Draft


@pytest.mark.rule("B9.15", "S4.2")
def test_a_review_of_a_draft_that_is_gone_says_nothing_about_the_next_one(run, tmp_path):
    bench = run("bench", "create", "B")[1].strip()
    agent_writes(tmp_path, bench, "a.txt", "thrown away")
    run("review", "B")
    run("discard", "B", "--yes")
    agent_writes(tmp_path, bench, "a.txt", "another one")

    assert run("publish", "B", "--yes")[0] == 0


@pytest.mark.rule("S4.2")
def test_an_audit_is_written_over_no_file(run, tmp_path):
    run("bench", "create", "B")
    (there := tmp_path / "audit.jsonl").write_text("mine")
    code, told = run("bench", "audit", "B", "--export", str(there))

    assert (code, "target_exists" in told, there.read_text()) == (1, True, "mine")
    assert run("bench", "audit", "B", "--export", str(tmp_path / "new.jsonl"))[0] == 0


@pytest.mark.rule("B12.2", "S4.2")
def test_a_difference_whose_draft_changes_meanwhile_is_shown_of_no_two_contents(
    run, tmp_path, monkeypatch
):
    bench = run("bench", "create", "B")[1].strip()
    agent_writes(tmp_path, bench, "a.txt", "x")
    seen = iter(range(100))
    monkeypatch.setattr(
        "backshop.cli.draft.review._content", lambda *_: next(seen)
    )  # never the same
    code, told = run("review", "B", "a.txt")

    assert (code, "BENCH_BUSY" in told, "+x" in told) == (1, True, False)


@pytest.mark.rule("B2.12", "B8.10", "B9.5", "S4.2")
def test_folders_are_told_completed_and_counted_in_the_terminal(run, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"{name}\n")
    bench = run("bench", "create", "Folders")[1].strip()
    run("bench", "add", "Folders", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    agent_writes(tmp_path, bench, "a.txt", "better\n")
    place = tmp_path / "home" / "benches" / bench

    part = run("draft", "folder", "Folders")[1]
    whole = run("draft", "folder", "Folders", "--all")[1]
    for edited in (place / "draft" / "b.txt", place / "published" / "a.txt"):
        edited.chmod(0o644)
        edited.write_text("theirs\n")
    shown = run("bench", "show", "Folders")[1]
    again = run("draft", "folder", "Folders", "--changes")[1]
    size = json.loads(run("bench", "size", "Folders", "--json")[1])

    assert part.splitlines() == [
        str(place / "draft"),
        "1 file(s): the files that the Draft changes",
    ]
    assert whole.splitlines()[1] == "2 file(s): every file of the Draft"
    assert "edited   Published's folder, by another program: a.txt\n" in shown
    assert "edited   Draft's folder, by another program: b.txt\n" in shown
    assert "health   ok" in shown
    assert "changed by another program: b.txt" in again
    assert (place / "draft" / "b.txt").read_text() == "theirs\n"
    assert size["published_bytes"] > 0
    assert "folders on this machine" in run("bench", "size", "Folders")[1]


@pytest.mark.rule("B3.12")
def test_who_removes_an_edited_file_is_told_that_the_edit_was_kept(run, tmp_path):
    (tmp_path / "a.txt").write_text("one")
    bench = run("bench", "create", "Reports")[1].strip()
    run("bench", "add", "Reports", str(tmp_path / "a.txt"))
    file = tmp_path / "home" / "benches" / bench / "published" / "a.txt"
    file.chmod(0o644)
    file.write_text("theirs")

    code, said = run("bench", "remove", "Reports", "a.txt")

    assert code == 0
    assert "kept in meta/salvage" in said


@pytest.mark.rule("S4.5")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_nothing_is_published_where_nobody_can_be_asked_unless_yes(run, tmp_path, more):
    bench = with_a_file(run, tmp_path)
    agent_writes(tmp_path, bench, "a.txt", "b\n")
    published = tmp_path / "home" / "benches" / bench / "published" / "a.txt"

    planned = run("publish", "B", "--dry-run", *more)
    refused = run("publish", "B", *more)
    kept = published.read_text()
    done = run("publish", "B", "--yes", *more)

    assert (planned[0], refused[0], done[0]) == (0, 1, 0)
    assert "no_terminal" in refused[1]
    assert "--yes" in refused[1]
    assert (kept, published.read_text()) == ("a\n", "b\n")


@pytest.mark.rule("S4.5")
def test_what_is_wrong_is_said_before_anybody_is_asked_to_agree(run, tmp_path):
    with_a_file(run, tmp_path)
    run("user", "add", "Ada")

    said = {
        words: run(*words)[1]
        for words in (
            ("publish", "B"),
            ("publish", "Nope"),
            ("checkpoint", "restore", "B", "cp_x"),
            ("user", "remove", "Adda"),
            ("bench", "share", "B", "Eve", "write"),
            ("workflow", "delete", "user.nope"),
        )
    }

    assert [text.splitlines()[0] for text in said.values()] == [
        "error: this workbench has no Draft",
        "error: there is no workbench 'Nope'",
        "error: there is no checkpoint 'cp_x' here",
        "error: there is no person 'Adda'",
        "error: there is no person 'Eve'",
        "error: there is no workflow `user.nope`",
    ]
    assert "did you mean: Ada" in said["user", "remove", "Adda"]
    assert "nobody can be asked here" in run("user", "remove", "Ada")[1]


@pytest.mark.rule("S4.5")
def test_a_person_is_shown_what_would_be_published_and_asked(run, tmp_path):
    bench = with_a_file(run, tmp_path)
    agent_writes(tmp_path, bench, "a.txt", "b\n")
    published = tmp_path / "home" / "benches" / bench / "published" / "a.txt"
    command = ["-m", "backshop.cli", "publish", "B", "--home", str(tmp_path / "home")]

    no = Terminal(sys.executable, *command)
    asked = no.until("Publish this? [y/N]: ")
    no.type("n\n")
    refused, kept = no.status(), published.read_text()
    changed = Terminal(sys.executable, *command)
    changed.until("Publish this? [y/N]: ")
    agent_writes(tmp_path, bench, "a.txt", "c\n")  # while the person looks
    changed.type("y\n")
    other = changed.until("draft_changed")
    late, still = changed.status(), published.read_text()
    yes = Terminal(sys.executable, *command)
    yes.until("Publish this? [y/N]: ")
    yes.type("y\n")
    told = yes.until("generation 2")

    assert "~ a.txt  (2 → 2 bytes)" in asked
    assert (refused, kept) == (1, "a\n")
    assert (late, still, "a.txt" in other) == (1, "a\n", True)
    assert "published" in told
    assert (yes.status(), published.read_text()) == (0, "c\n")
