"""The program's log: structured if asked for, and without keys."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import uvicorn

from backshop.app import Backshop, attach, save
from backshop.app.operation.log import FILES_KEPT
from backshop.cli import main
from backshop.mcp import Toolbox, serve_http
from backshop.store import StoreUnavailable
from backshop.web import serve

FULL = Path("/dev/full")
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def quiet():
    """Put the program's logger back as it was."""
    logger = logging.getLogger("backshop")
    kept = (list(logger.handlers), logger.level, logger.propagate)
    yield logger
    for handler in [one for one in logger.handlers if one not in kept[0]]:
        logger.removeHandler(handler)
        handler.close()
    for one in logger.filters[:]:
        logger.removeFilter(one)  # what it learnt is of one test
    logger.setLevel(kept[1])
    logger.propagate = kept[2]


@pytest.mark.rule("M3.12", "S10.2")
@pytest.mark.parametrize("attached", ["before", "after"])
def test_a_key_reaches_no_line_of_the_log(tmp_path, quiet, attached):
    home = tmp_path / "home"
    with Backshop.open(home) as shop:
        if attached == "before":
            attach(home, "info", "json")
        shop.models.redactor.learn([KEY])
        if attached == "after":
            attach(home, "info", "json")
        try:
            raise ValueError(f"refused {KEY}")
        except ValueError:
            logging.getLogger("backshop.store").exception("called with %s", KEY)

    log = home / "logs" / "backshop.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    (line,) = log.read_text().splitlines()
    assert KEY not in line
    record = json.loads(line)
    assert (record["level"], record["logger"]) == ("error", "backshop.store")
    assert record["message"] == "called with [secret]"
    assert "ValueError: refused [secret]" in record["exception"]


@pytest.mark.rule("M3.12", "S10.2")
@pytest.mark.parametrize("held_by", ["environment", "file"])
def test_the_secrets_of_the_stores_are_masked_from_the_beginning(
    tmp_path, quiet, monkeypatch, held_by
):
    """Nobody asks for a model; the database itself cannot be reached."""
    home = tmp_path / "home"
    url = "postgresql://ada:p%40ss-of-ada@127.0.0.1:1/shop"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    monkeypatch.setenv("PGPASSWORD", "libpq-pass")
    monkeypatch.setenv("BACKSHOP_OPENAI_API_KEY", KEY)
    if held_by == "environment":
        monkeypatch.setenv("BACKSHOP_DATABASE_URL", url)
    else:
        save(home, "database_url", url)

    with pytest.raises(StoreUnavailable):
        Backshop.open(home)
    attach(home, "info")
    told = f"{url} p@ss-of-ada wJalrXUtnFEMI libpq-pass {KEY} postgresql://b:pw@h/d"
    try:
        raise ValueError(told)
    except ValueError:
        logging.getLogger("backshop.store").exception("of ours: %s", told)

    log = (home / "logs" / "backshop.log").read_text()
    assert "of ours: postgresql://ada:[secret]@127.0.0.1:1/shop" in log
    for secret in ("p%40ss-of-ada", "p@ss-of-ada", "wJalrXUtnFEMI", "libpq-pass", KEY, ":pw@"):
        assert secret not in log


@pytest.mark.rule("M3.12", "S10.2")
def test_a_fault_before_any_home_is_open_is_logged_without_secrets(
    tmp_path, quiet, monkeypatch, capsys
):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")

    def broken(**_: object) -> None:
        raise RuntimeError("it said wJalrXUtnFEMI")

    monkeypatch.setattr("backshop.app.load", broken)

    assert main(["config", "show", "--home", str(tmp_path)]) == 1

    assert "wJalrXUtnFEMI" not in capsys.readouterr().err
    assert "RuntimeError: it said [secret]" in (tmp_path / "logs" / "backshop.log").read_text()


@pytest.mark.rule("S10.2")
def test_the_log_is_rotated_and_old_files_go(tmp_path, quiet, monkeypatch):
    monkeypatch.setattr("backshop.app.operation.log.FILE_MAX_BYTES", 2000)
    attach(tmp_path, "info")

    for number in range(200):
        logging.getLogger("backshop.store").info("line %d %s", number, "x" * 100)

    files = sorted((tmp_path / "logs").iterdir())
    assert [path.name for path in files] == [
        "backshop.log",
        *(f"backshop.log.{number}" for number in range(1, FILES_KEPT + 1)),
    ]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert all(path.stat().st_size <= 2000 for path in files)
    assert "line 199 " in files[0].read_text()


WRITER = """
import logging, sys
from pathlib import Path
from backshop.app import attach
from backshop.app.operation import log as logs

logs.FILE_MAX_BYTES, logs.FILES_KEPT = 4000, 200
attach(Path(sys.argv[1]), "info")
print("ready", flush=True)
sys.stdin.readline()
for number in range(150):
    logging.getLogger("backshop.store").info("line %s.%d. %s", sys.argv[2], number, "x" * 60)
"""


@pytest.mark.rule("S10.2", "T2.7")
def test_processes_that_share_a_log_rotate_it_and_lose_no_line(tmp_path):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    for one in writers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in writers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in writers:
        one.communicate(timeout=60)

    files = list((tmp_path / "logs").iterdir())
    lines = [line for path in files for line in path.read_text().splitlines()]
    told = sorted(line.split(" line ")[1].split(". ")[0] for line in lines)
    assert told == sorted(f"{who}.{number}" for who in range(3) for number in range(150))
    assert len(files) > 5
    assert all(path.stat().st_size <= 4000 for path in files)


class Alone(logging.Formatter):
    """Notes of each line, while it is written, whether another could write to the log as well."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.others_may_write: list[bool] = []

    def format(self, record: logging.LogRecord) -> str:
        """Try to hold what a writer holds."""
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.others_may_write.append(True)
        except BlockingIOError:
            self.others_may_write.append(False)
        finally:
            os.close(handle)
        return super().format(record)


@pytest.mark.rule("S10.2", "T2.7")
def test_while_a_line_of_the_log_is_written_no_other_process_writes_to_it(tmp_path, quiet):
    others = list(quiet.handlers)
    attach(tmp_path, "info")
    looking = Alone(tmp_path / "logs")
    [own] = [one for one in quiet.handlers if one not in others]
    own.setFormatter(looking)

    logging.getLogger("backshop.store").info("alone")

    assert looking.others_may_write
    assert not any(looking.others_may_write)


SELDOM = """
import logging, sys
from pathlib import Path
from backshop.app import attach

attach(Path(sys.argv[1]), "info")
logging.getLogger("backshop.store").info("the first")
print("ready", flush=True)
sys.stdin.readline()
logging.getLogger("backshop.store").info("the last")
"""


@pytest.mark.rule("S10.2", "T2.7")
def test_a_process_that_logs_seldom_finds_the_log_that_others_rotated(tmp_path, quiet, monkeypatch):
    monkeypatch.setattr("backshop.app.operation.log.FILE_MAX_BYTES", 2000)
    program = [sys.executable, "-c", SELDOM, str(tmp_path)]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        attach(tmp_path, "info")
        for number in range(200):
            logging.getLogger("backshop.store").info("line %d %s", number, "x" * 100)
        other.communicate("go\n", timeout=60)

    assert "the last" in (tmp_path / "logs" / "backshop.log").read_text()


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.rule("S10.2")
@pytest.mark.parametrize("way", ["removed", "rotated"])
def test_a_log_that_could_not_be_written_or_closed_goes_on_in_a_new_file(tmp_path, quiet, way):
    log, logger = tmp_path / "logs" / "backshop.log", logging.getLogger("backshop.store")
    log.parent.mkdir()
    log.symlink_to(FULL)
    attach(tmp_path, "info")
    logger.info("the first")
    log.unlink()
    if way == "rotated":  # as a rotation leaves it that could not write what was left
        with pytest.raises(OSError, match="No space left"):
            quiet.handlers[-1].stream.close()

    logger.info("the second")
    logger.info("the third")

    assert [line.rpartition(" the ")[2] for line in log.read_text().splitlines()] == [
        "second",
        "third",
    ]


@pytest.mark.rule("S10.2", "S5.3")
@pytest.mark.parametrize("held_by", ["environment", "file"])
def test_a_program_that_fails_before_it_begins_writes_its_log_as_asked(
    tmp_path, quiet, monkeypatch, capsys, held_by
):
    home = tmp_path / "new"
    if held_by == "environment":
        monkeypatch.setenv("BACKSHOP_LOG_FORMAT", "json")
    else:
        save(home, "log_format", "json")

    def broken(**_: object) -> None:
        raise RuntimeError("not today")

    monkeypatch.setattr("backshop.app.load", broken)

    assert main(["config", "show", "--json", "--home", str(home)]) == 1

    (line,) = (home / "logs" / "backshop.log").read_text().splitlines()
    record, told = json.loads(line), json.loads(capsys.readouterr().out)
    assert told["detail_ref"] in record["message"]
    assert "RuntimeError: not today" in record["exception"]
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@pytest.mark.rule("M3.12")
@pytest.mark.parametrize("door", ["web", "mcp"])
def test_what_the_server_itself_logs_has_no_secrets_either(
    tmp_path, quiet, monkeypatch, capsys, caplog, door
):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")

    def run(self: uvicorn.Server, sockets: object) -> None:
        logging.getLogger("uvicorn.error").error("it said wJalrXUtnFEMI")

    monkeypatch.setattr(uvicorn.Server, "run", run)

    with Backshop.open(tmp_path / "home") as shop:
        if door == "web":
            serve(shop, host="127.0.0.1", port=0, announce=lambda *_: None)
        else:
            offering = Toolbox(tmp_path / "home")
            serve_http(offering, tmp_path / "home", port=0, announce=lambda *_: None)

    said = capsys.readouterr()
    assert "wJalrXUtnFEMI" not in said.out + said.err
    assert "it said [secret]" in caplog.text
