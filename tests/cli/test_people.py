"""People of a home from the terminal: whose home it is, and whose files (T6.4)."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from backshop.app import Backshop, Links, examine, load, running, secret_of
from backshop.cli import main, people, serve
from backshop.cli.door import Door

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.rule("T6.4", "S4.2")
def test_people_of_a_machine_that_serves_a_team_are_not_those_of_a_private_home(
    tmp_path, monkeypatch, capsys
):
    team = tmp_path / "backshop.env"
    monkeypatch.setattr(people, "TEAM_FILE", team)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.delenv("BACKSHOP_HOME", raising=False)
    assert main(["user", "add", "Alone"]) == 0  # there is no team here
    alone = capsys.readouterr().out
    team.write_text("BACKSHOP_DATABASE_URL=postgresql://db/backshop\n")

    refused = [main(["user", "add", "Ada"]), main(["user", "list"])]
    told = capsys.readouterr().err
    meant = main(["user", "add", "Ben", "--home", str(tmp_path / "other")])

    assert f"in the home {tmp_path / 'person'}" in alone
    assert refused == [1, 1]
    assert str(team) in told
    assert "backshop-team" in told
    assert meant == 0


@pytest.mark.rule("T6.1")
def test_root_in_somebody_elses_home_is_warned_and_doctor_names_what_is_not_theirs(
    tmp_path, monkeypatch, capsys
):
    home = tmp_path / "home"
    main(["bench", "create", "Ours", "--home", str(home)])
    quiet = capsys.readouterr().err
    real = Path.stat

    def owned(self: Path, **more: bool) -> os.stat_result:
        found = real(self, **more)
        if self != home:
            return found
        return os.stat_result((*found[:4], 12345, *found[5:]))

    monkeypatch.setattr(Path, "stat", owned)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    main(["bench", "list", "--home", str(home)])

    told = capsys.readouterr().err
    found = [one.message for one in examine(home) if one.subject == "home"]
    assert "warning" not in quiet
    assert "belongs to #12345" in told
    assert "store.db" in found[0]


@pytest.mark.rule("T6.1")
def test_the_teams_wrapper_gives_a_command_the_teams_settings(tmp_path):
    settings = tmp_path / "backshop.env"
    settings.write_text(
        "# a comment\nBACKSHOP_DATABASE_URL=postgresql://a:b@db/x?one=1&two='2'\n\nAWS_REGION=r"
    )
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "$BACKSHOP_DATABASE_URL" "$AWS_REGION" "$@"\n')
    program.chmod(0o755)
    env = {
        "PATH": os.environ["PATH"],
        "BACKSHOP_TEAM_FILE": str(settings),
        "BACKSHOP_TEAM_PROGRAM": str(program),
        "BACKSHOP_TEAM_USER": subprocess.run(
            ["id", "-un"], capture_output=True, text=True, check=True
        ).stdout.strip(),
    }

    def run() -> tuple[int, str, str]:
        command = [str(ROOT / "deploy" / "backshop-team"), "user", "add", "Ada Lovelace"]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    first = run()
    settings.write_text("nonsense\n")

    assert first == (0, "postgresql://a:b@db/x?one=1&two='2' r user add Ada Lovelace", "")
    assert run()[0] == 1


@pytest.mark.rule("S7.2")
def test_a_login_link_is_not_printed_where_others_keep_what_is_printed(tmp_path, monkeypatch):
    config = load(home=tmp_path)
    team = load(home=tmp_path, overrides={"database_url": "postgresql://db/x"})
    own = os.fstat(2)
    monkeypatch.delenv("JOURNAL_STREAM", raising=False)
    piped = [serve.is_kept(one) for one in (config, team)]
    monkeypatch.setenv("JOURNAL_STREAM", f"{own.st_dev}:{own.st_ino}")
    journal = serve.is_kept(config)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    terminal = [serve.is_kept(one) for one in (config, team)]

    kept = serve.written_secret(tmp_path, "login.link", "http://x/login?token=t")

    assert (piped, journal, terminal) == ([False, True], True, [False, False])
    assert kept.read_text() == "http://x/login?token=t\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert Door(home=tmp_path).home == tmp_path


@pytest.mark.rule("T6.7", "S4.2")
def test_people_are_invited_from_the_terminal(tmp_path, capsys):
    home = ["--home", str(tmp_path / "home")]

    def run(*words: str) -> tuple[int, str]:
        code = main([*words, *home])
        said = capsys.readouterr()
        return code, said.out + said.err

    run("bench", "create", "Our files")
    made = run("user", "invite", "Ada", "--bench", "Our files", "--role", "write")
    half = run("user", "invite", "Ben", "--role", "write")
    waiting = run("user", "invites")
    gone = run("user", "withdraw", "Ada")

    assert "http://127.0.0.1:8421/join?token=bsi_" in made[1]
    assert (half[0], "go together" in half[1]) == (2, True)
    assert waiting[1].splitlines()[1].split()[1:3:2] == ["Ada"]
    assert "write" in waiting[1]
    assert gone == (0, "withdrawn; its link lets nobody in\n")
    assert run("user", "invites")[1] == "no invitation waits\n"
    assert "nobody called 'Ada' is invited" in run("user", "withdraw", "Ada")[1]


@pytest.mark.rule("S4.11")
def test_one_more_login_link_is_good_at_the_server_that_runs(tmp_path, capsys):
    home = tmp_path / "home"
    home.mkdir()
    assert main(["serve", "--link", "--home", str(home)]) == 1
    assert "no web app of this home runs" in capsys.readouterr().err
    with running(load(home=home), "web", address="http://127.0.0.1:8622/"):
        assert main(["serve", "--link", "--home", str(home)]) == 0
        assert capsys.readouterr().out.startswith("http://127.0.0.1:8622/login?token=")
        assert main(["user", "invite", "Ada", "--home", str(home)]) == 0
        assert capsys.readouterr().out.startswith("http://127.0.0.1:8622/join?token=")

    assert main(["serve", "--link", "--port", "9123", "--home", str(home)]) == 0

    address, _, token = capsys.readouterr().out.strip().partition("/login?token=")
    assert address == "http://127.0.0.1:9123"
    with Backshop.open(home) as shop:
        links = Links(shop.store, secret_of(home, "web.key"), shop.clock)
        assert [links.spend(token), links.spend(token)] == [True, False]
