"""The command line as a program: exit codes, one JSON document, nothing half-created."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from backshop import __version__
from backshop.base.errors import DiskFull
from backshop.cli import main
from backshop.store import Moved, ReadOnlyHome

ROOT = Path(__file__).resolve().parents[2]


def run(*args, home=None, env=None, stdin=None):
    """Run the program for real."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **(env or {})}
    if home is not None:
        env["BACKSHOP_HOME"] = str(home)
    command = [sys.executable, "-m", "backshop.cli", *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, input=stdin)


@pytest.mark.rule("S4.1")
def test_exit_codes_and_where_errors_go(tmp_path):
    done = run("doctor", "--json", home=tmp_path / "h")
    refused = run("restore", str(tmp_path / "nothing"), home=tmp_path / "h")
    refused_json = run("restore", str(tmp_path / "nothing"), "--json", home=tmp_path / "h")
    usage = run("gc", "--no-such-option", home=tmp_path / "h")

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["findings"]
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "bad_backup" in refused.stderr
    assert (refused_json.returncode, refused_json.stderr) == (1, "")
    assert json.loads(refused_json.stdout)["reason"] == "bad_backup"
    assert usage.returncode == 2
    assert not (tmp_path / "h").exists()


@pytest.mark.rule("S4.1")
def test_json_and_home_are_taken_before_and_after_the_command(tmp_path, capsys):
    for args in (
        ["--json", "--home", str(tmp_path), "gc"],
        ["gc", "--json", "--home", str(tmp_path)],
    ):
        assert main(args) == 0
        swept = {"blobs": 0, "bytes": 0, "applied": False, "sessions": []}
        assert json.loads(capsys.readouterr().out) == swept


@pytest.mark.rule("T5.4", "S4.2")
def test_backup_and_restore_make_a_second_home(tmp_path, capsys):
    home, copy, second = (str(tmp_path / name) for name in ("home", "copy", "second"))

    assert main(["bench", "create", "B", "--home", home]) == 0
    assert main(["backup", copy, "--home", home]) == 0
    assert f"the backup is in {copy}: its database was examined" in capsys.readouterr().out
    assert main(["restore", copy, "--home", second]) == 0
    assert f"the home is in {second}: every chain was checked" in capsys.readouterr().out
    assert main(["doctor", "--home", second]) == 0
    assert main(["restore", copy, "--home", second]) == 1


@pytest.mark.rule("T5.5", "S4.2")
def test_moving_a_store_shows_no_password(tmp_path, capsys, monkeypatch):
    done = Moved(streams=1, events=2, blobs=3, bytes=4, last_seq=5)
    monkeypatch.setattr("backshop.store.move_store", lambda *_, **__: done)
    target = "postgresql://ada:secret@example.org/shop"
    (tmp_path / "home").mkdir()
    assert main(["migrate-store", "--to", target, "--home", str(tmp_path / "home")]) == 0

    told = capsys.readouterr().out
    assert "postgresql://ada:***@example.org/shop" in told
    assert "secret" not in told


@pytest.mark.rule("S3.1")
def test_config_shows_origins_and_sets_values(tmp_path, capsys):
    home = str(tmp_path / "home")

    assert main(["config", "set", "offline", "true", "--home", home]) == 0
    assert main(["config", "set", "workshop.flw", "1", "--home", home]) == 1
    assert "there is no setting 'workshop.flw'" in capsys.readouterr().err
    assert main(["config", "show", "--json", "--home", home]) == 0

    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["offline"] == {"name": "offline", "value": True, "source": "file"}
    assert rows["home"]["source"] == "command line"


@pytest.mark.rule("S3.1")
def test_what_config_shows_of_a_setting_can_be_set_again(tmp_path, capsys):
    home = ["--home", str(tmp_path / "home")]
    wanted = [
        {"model_id": "openai:gpt-6", "efforts": ["low", "high"]},
        {"model_id": "local-a:b", "supports": {"vision": True}},
    ]
    assert main(["config", "set", "models", json.dumps(wanted), *home]) == 0
    capsys.readouterr()

    assert main(["config", "show", *home]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    shown = rows["models"].removeprefix("file").strip()
    assert json.loads(shown) == wanted
    assert rows["offline"].split() == ["default", "false"]
    assert main(["config", "set", "models", shown, *home]) == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make another account's folder")
def test_a_home_that_cannot_be_written_is_a_clear_error(tmp_path, capsys):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")

    assert main(["bench", "create", "B", "--home", str(blocked / "home"), "--json"]) == 1

    envelope = json.loads(capsys.readouterr().out)
    assert envelope["error_code"] == "FILE_WRITE_FAILED"


@pytest.mark.rule("S4.2", "B18.1")
def test_the_demo_is_made_once_and_kept(tmp_path, capsys):
    home = ["--json", "--home", str(tmp_path / "home")]

    made = []
    for _ in range(2):
        assert main(["demo", "--setup-only", *home]) == 0
        made.append(json.loads(capsys.readouterr().out))
    assert main(["call", "WorkshopGetState", json.dumps(_of(made[0])), *home]) == 0

    state = json.loads(capsys.readouterr().out)
    assert [one["created"] for one in made] == [True, False]
    assert made[0]["workbench_id"] == made[1]["workbench_id"]
    assert len(made[0]["tasks"]) == 8
    assert state["model_id"] == "scripted:demo"


@pytest.mark.rule("B18.1", "M15.6", "S4.8")
def test_the_command_the_demo_names_makes_a_sample_it_can_work_on(tmp_path, capsys):
    home = ["--home", str(tmp_path / "home")]
    assert main(["demo", "--setup-only", *home]) == 0
    assert main(["send", "Sample Workbench", "Sing me a song", *home]) == 0
    [command] = set(re.findall(r"`backshop (demo [^`]+)`", capsys.readouterr().out))

    assert main([*command.split(), "--json", *home]) == 0
    made = json.loads(capsys.readouterr().out)
    assert main(["send", made["workbench_id"], made["tasks"][-1]["prompt"], *home]) == 0

    assert made["name"] == "Sample Workbench 2"
    assert "I cannot work on your request" not in capsys.readouterr().out


def _of(made):
    return {"workbench_id": made["workbench_id"]}


@pytest.mark.rule("S2.1")
def test_the_demo_serves_the_web_app_and_prints_the_link(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "BACKSHOP_HOME": str(tmp_path / "h")}
    command = [sys.executable, "-m", "backshop.cli", "demo", "--port", "0", "--no-browser"]

    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as server:
        assert server.stderr is not None
        told: list[str] = []
        try:
            while not told or "login?token=" not in told[-1]:
                told.append(server.stderr.readline())
                assert told[-1], told
            address = next(line for line in told if "Backshop is at" in line).split()[-1]
            with urllib.request.urlopen(f"{address}healthz", timeout=5) as answer:
                healthy = answer.status
        finally:
            server.terminate()

    assert healthy == 200
    assert any("Sample Workbench is ready" in line for line in told)


@pytest.mark.rule("S2.4")
def test_the_version_needs_no_heavy_library():
    script = (
        "import sys; from backshop.cli import main; code = main(['--version']);"
        "heavy = {'pysqlite3','sqlite3','pydantic','duckdb','lxml','openai','anthropic'};"
        "heavy |= {'mcp','starlette'};"
        "print(sorted(heavy & set(sys.modules))); sys.exit(code)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)

    assert done.stdout.splitlines() == [f"backshop, version {__version__}", "[]"]


@pytest.mark.rule("S5.3")
def test_a_defect_is_told_by_reference_and_kept_in_the_log(tmp_path, capsys, monkeypatch):
    from backshop.store import Store

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of the program")

    monkeypatch.setattr(Store, "collect", broken)
    home = tmp_path / "home"
    home.mkdir()

    assert main(["gc", "--home", str(home), "--json"]) == 1

    envelope = json.loads(capsys.readouterr().out)
    log = home / "logs" / "backshop.log"
    assert envelope["error_code"] == "INTERNAL_ERROR"
    assert "secret" not in str(envelope)
    assert envelope["detail_ref"] in log.read_text()
    assert "a secret of the program" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.rule("S3.3", "S5.3")
def test_a_home_that_cannot_be_used_is_named_and_nothing_is_left(tmp_path):
    (tmp_path / "file").write_text("mine")
    is_file = run("bench", "list", home=tmp_path / "file")
    below = run("bench", "create", "B", home=tmp_path / "file" / "h")
    away = {"BACKSHOP_DATABASE_URL": "postgresql://u:sekret@127.0.0.1:1/db"}
    malformed = {"BACKSHOP_DATABASE_URL": "postgresql://u:sekret@127.0.0.1:port/db"}
    unreachable = run("bench", "list", "--json", home=tmp_path / "h", env=away)
    no_port = run("bench", "list", "--json", home=tmp_path / "h", env=malformed)

    assert [is_file.returncode, below.returncode, unreachable.returncode] == [1, 1, 1]
    assert "BACKSHOP_HOME" in is_file.stderr
    assert "bad_setting" in is_file.stderr
    assert str(tmp_path / "file" / "h") in below.stderr
    assert "ENOTDIR" in below.stderr
    assert json.loads(unreachable.stdout)["error_code"] == "STORE_UNAVAILABLE"
    assert json.loads(no_port.stdout)["reason"] == "bad_setting"
    assert "sekret" not in no_port.stdout + unreachable.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.rule("S3.6")
def test_a_folder_of_other_files_does_not_become_a_home(tmp_path, capsys):
    (tmp_path / "letter.txt").write_text("mine")
    wishes = (
        ["bench", "list"],
        ["bench", "create", "B"],
        ["demo", "--setup-only"],
        ["config", "set", "offline", "true"],
        ["restore", str(tmp_path / "copy")],
    )

    for words in wishes:
        assert main([*words, "--json", "--home", str(tmp_path)]) == 1
        refused = json.loads(capsys.readouterr().out)
        assert refused["reason"] == "bad_setting"
        assert "holds other files" in refused["message"]
    assert main(["bench", "list", "--home", str(tmp_path)]) == 1
    assert "hint: `--home` names another folder" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.rule("S3.6")
@pytest.mark.parametrize("held", ["lost+found", ".cache", "logs", "settings.json"])
def test_a_folder_that_holds_nothing_of_anybody_becomes_a_home(tmp_path, held):
    if held == "settings.json":
        (tmp_path / held).write_text("{}")
        (tmp_path / "notes.txt").write_text("of the administrator")
    else:
        (tmp_path / held).mkdir()

    assert main(["bench", "create", "B", "--home", str(tmp_path)]) == 0


@pytest.mark.rule("S4.16")
def test_a_home_that_is_not_there_is_made_only_by_what_begins_something(tmp_path, capsys):
    home = tmp_path / "second-hom"

    for words in (["bench", "list"], ["workflow", "list"], ["publish", "B", "--yes"], ["gc"]):
        assert main([*words, "--json", "--home", str(home)]) == 1
        refused = json.loads(capsys.readouterr().out)
        assert (refused["error_code"], refused["reason"]) == ("NOT_FOUND", "no_home")
        assert refused["message"] == f"there is no home at {home}"
    assert not home.exists()
    assert main(["bench", "create", "B", "--home", str(home)]) == 0
    assert main(["bench", "list", "--home", str(home)]) == 0


@pytest.mark.rule("S3.3")
def test_a_mistyped_variable_is_answered_with_variables_for_people(tmp_path):
    home = tmp_path / "h"
    home.mkdir()
    typo = run("bench", "list", "--json", home=home, env={"BACKSHOP_OFLINE": "1"})
    other = run("bench", "list", "--json", home=home, env={"BACKSHOP_PROF": "1"})

    refused = json.loads(typo.stdout)
    assert (refused["reason"], "BACKSHOP_OFFLINE" in typo.stdout) == ("bad_setting", True)
    assert other.returncode == 0  # near to what tests read, which is nothing for people


@pytest.mark.rule("S4.1")
def test_nothing_is_deleted_without_a_yes_and_a_program_has_to_say_it(tmp_path, capsys):
    home = ["--home", str(tmp_path / "home")]
    assert main(["bench", "create", "B", *home]) == 0
    assert main(["run", "start", "wr.change_review", *home]) == 0
    capsys.readouterr()
    assert main(["session", "list", "--json", *home]) == 0
    (session,) = json.loads(capsys.readouterr().out)["sessions"]

    asked = run("bench", "delete", "B", *home, stdin="n\n")
    deletions = (["bench", "delete", "B"], ["session", "delete", session["sessionId"]])
    as_program = [run(*what, "--json", *home) for what in deletions]
    still = run("bench", "show", "B", *home)

    assert (asked.returncode, asked.stdout) == (1, "")
    assert "nobody can be asked here" in asked.stderr
    assert [one.returncode for one in as_program] == [1, 1]
    assert all("--yes" in one.stdout for one in as_program)
    assert still.returncode == 0


@pytest.mark.rule("S4.1")
def test_an_error_names_what_it_is_about(tmp_path):
    (tmp_path / "twice.txt").write_text("a")
    home = ["--home", str(tmp_path / "home")]
    assert main(["bench", "create", "B", *home]) == 0
    assert main(["bench", "add", "B", str(tmp_path / "twice.txt"), *home]) == 0

    again = run("bench", "add", "B", str(tmp_path / "twice.txt"), *home)

    assert again.returncode == 1
    assert "twice.txt" in again.stderr
    assert "next: `--on-conflict replace` or `keep_both`" in again.stderr


@pytest.mark.rule("S4.18")
@pytest.mark.parametrize("words", [["open"], ["do", "x"], ["file", "map"]])
def test_a_path_that_is_not_there_is_told_whole(tmp_path, capsys, words):
    missing = str(tmp_path / "far" / "budget")
    home = tmp_path / "home"
    home.mkdir()

    assert main([*words, missing, "--home", str(home)]) == 1
    assert missing in capsys.readouterr().err


@pytest.mark.rule("S4.18")
@pytest.mark.parametrize(
    ("words", "place", "then"),
    [
        (["bench", "extract", "B"], "far/away", "make it first"),
        (["bench", "extract", "B"], "a.txt", ""),
        (["bench", "extract", "B"], "home/benches", "name a folder outside it"),
        (["restore"], "far", "the folder that `backshop backup` wrote"),
        (["open"], "far", "make it first"),
        (["open"], "home", "apart from it"),
        (["open"], "", "apart from it"),
        (["do", "x", "--model", "scripted:demo"], "empty", "name files"),
        (["context", "set", "B", "situation", "--file"], "far.txt", ""),
    ],
)
def test_a_place_that_cannot_be_used_is_named_with_what_to_do(tmp_path, capsys, words, place, then):
    home = ["--home", str(tmp_path / "home")]
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "empty").mkdir()
    main(["bench", "create", "B", *home])
    main(["model", "use", "scripted:demo", "--bench", "B", *home])
    capsys.readouterr()
    is_begun = words[0] == "restore"
    target = ["--home", str(tmp_path / "other")] if is_begun else home

    assert main([*words, str(tmp_path / place), *target]) == 1
    told = capsys.readouterr().err
    assert str(tmp_path / place) in told
    assert then in told


@pytest.mark.rule("S4.18")
def test_a_home_that_cannot_be_made_is_told_with_why_and_what_to_do(tmp_path, capsys):
    (tmp_path / "file").write_text("no folder")

    assert main(["bench", "create", "B", "--home", str(tmp_path / "file" / "home")]) == 1
    told = capsys.readouterr().err
    assert f"the home '{tmp_path / 'file' / 'home'}' cannot be used" in told
    assert "ENOTDIR" in told
    assert "make its place writable, or name another home with --home" in told


@pytest.mark.rule("S4.1")
@pytest.mark.parametrize(
    ("error", "then"),
    [
        (ReadOnlyHome("the home is read-only"), "make that place writable, or name another one"),
        (DiskFull("no room left on the disk"), "make room on that disk, then repeat the command"),
    ],
)
def test_a_disk_that_is_full_or_read_only_is_told_with_what_to_do(monkeypatch, capsys, error, then):
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("backshop.cli.door.Door.shop", fail)

    assert main(["bench", "create", "B"]) == 1
    assert f"  next: {then}" in capsys.readouterr().err


@pytest.mark.rule("S4.18")
def test_a_file_that_cannot_be_written_there_is_told_with_its_folder(tmp_path, capsys):
    home = ["--home", str(tmp_path / "home")]
    main(["bench", "create", "B", *home])
    far = tmp_path / "far" / "all.jsonl"
    capsys.readouterr()

    assert main(["history", "B", "--jsonl", str(far), *home]) == 1
    assert f"there is no folder {far.parent}" in capsys.readouterr().err


@pytest.mark.rule("S4.3")
def test_a_workbench_nobody_has_is_told_with_names_that_begin_so_or_how_to_list_them(
    tmp_path, capsys
):
    home = ["--home", str(tmp_path / "home")]
    main(["bench", "create", "Sample Workbench", *home])
    capsys.readouterr()

    assert main(["bench", "show", "sampl", *home]) == 1
    assert "did you mean: Sample Workbench" in capsys.readouterr().err
    assert main(["bench", "show", "zzz", *home]) == 1
    assert "`backshop bench list` names them" in capsys.readouterr().err


@pytest.mark.rule("B6.15")
def test_what_is_not_copied_out_is_told_in_words(tmp_path, capsys):
    home = ["--home", str(tmp_path / "home")]
    main(["bench", "create", "B", *home])
    capsys.readouterr()

    assert main(["bench", "extract", "B", str(tmp_path), "no.txt", "../x", *home]) == 1
    told = capsys.readouterr().out
    assert "no such file in this workbench" in told
    assert "no path of a file in a workbench" in told


@pytest.mark.rule("S4.2", "R5.9")
@pytest.mark.parametrize("words", [["session", "list"], ["run", "list"]])
def test_a_list_that_is_filtered_says_that_nothing_is_like_that(tmp_path, capsys, words):
    home = ["--home", str(tmp_path / "home")]
    main(["run", "start", "wr.change_review", *home])
    capsys.readouterr()

    assert main([*words, "--status", "complete", *home]) == 0
    assert "is like that" in capsys.readouterr().out
    assert main([*words, "--status", "nope", *home]) == 2
    assert "'in_progress', 'blocked', 'dormant'" in capsys.readouterr().err


@pytest.mark.rule("B5.3")
def test_the_list_with_the_trash_says_what_is_in_it(tmp_path, capsys):
    home = ["--home", str(tmp_path / "home")]
    for name in ("Kept", "Gone"):
        main(["bench", "create", name, *home])
    main(["bench", "delete", "Gone", "--yes", *home])
    capsys.readouterr()

    assert main(["bench", "list", "--trash", *home]) == 0
    lines = {line.split()[1]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["Gone"].endswith("in the trash")
    assert "trash" not in lines["Kept"]


@pytest.mark.rule("S4.18")
def test_a_place_that_is_taken_is_named_with_what_to_do(tmp_path, capsys):
    (tmp_path / "home").mkdir()
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine.txt").write_text("mine")

    assert main(["backup", str(tmp_path / "copy"), "--home", str(tmp_path / "home")]) == 1
    told = capsys.readouterr().err
    assert f"{tmp_path / 'copy'} exists and is not empty" in told
    assert "choose a folder that is new or empty" in told


@pytest.mark.rule("S4.1", "B6.7")
def test_files_that_are_not_taken_are_told_and_fail_the_command(tmp_path, capsys):
    home = ["--home", str(tmp_path / "home")]
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "folder").mkdir()
    main(["bench", "create", "Files", *home])
    capsys.readouterr()
    sources = [str(tmp_path / name) for name in ("a.txt", "missing.txt", "folder")]

    refused = main(["bench", "add", "Files", *sources, *home])
    told = capsys.readouterr().out
    again = main(["bench", "add", "Files", sources[0], "--on-conflict", "skip", *home])

    assert (refused, again) == (1, 0)
    lines = [line.split(maxsplit=1) for line in told.splitlines()[1:]]
    assert [line[0] for line in lines] == ["added", "skipped", "skipped"]
    assert "not there, or not readable" in lines[1][1]
    assert "--recursive takes it" in lines[2][1]


@pytest.mark.rule("S4.1", "M2.1")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["bnech", "list"], 2, "Did you mean bench?"),
        (["bench", "lst"], 2, "Did you mean list"),
        (["publish", "Files", "--tree", "abc"], 2, "that `backshop review BENCH` ends with"),
        (["send", "Files", "hello"], 1, "`backshop provider set-key PROVIDER`, or `backshop model"),
        (["model", "use", "gpt-5"], 1, "openai:gpt-5"),
        (["workflow", "inspect", "wr.change_revue"], 1, "`backshop workflow list` shows all"),
    ],
)
def test_a_mistake_is_answered_with_what_to_type(tmp_path, capsys, monkeypatch, words, code, told):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    home = ["--home", str(tmp_path / "home")]
    main(["bench", "create", "Files", *home])
    capsys.readouterr()

    assert main([*words, *home]) == code

    assert told in capsys.readouterr().err
