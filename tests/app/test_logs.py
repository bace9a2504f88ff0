"""The program's log: structured if asked for, and without keys."""

from __future__ import annotations

import json
import logging
import stat

import pytest

from backshop.app import Backshop, attach, save
from backshop.app.logs import FILES_KEPT
from backshop.cli import main
from backshop.store import StoreUnavailable

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

    assert main(["doctor", "--home", str(tmp_path)]) == 1

    assert "wJalrXUtnFEMI" not in capsys.readouterr().err
    assert "RuntimeError: it said [secret]" in (tmp_path / "logs" / "backshop.log").read_text()


@pytest.mark.rule("S10.2")
def test_the_log_is_rotated_and_old_files_go(tmp_path, quiet, monkeypatch):
    monkeypatch.setattr("backshop.app.logs.FILE_MAX_BYTES", 2000)
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
