"""The program's log: structured if asked for, and without keys."""

from __future__ import annotations

import json
import logging
import stat

import pytest

from backshop.app import Backshop, attach

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
