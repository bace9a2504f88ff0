"""Whose wrong token it was, behind a proxy and without one: the servers people start (T6.4)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from tests.web.browsing import PLAIN

from backshop.app.people.token_throttle import PER_ADDRESS

SERVERS = {"web": ["serve", "--port", "0", "--no-browser"], "mcp": ["mcp", "--http", "--port", "0"]}
WRONG = {"web": 403, "mcp": 401}


@contextmanager
def guessing(door: str, home: Path, proxies: str | None) -> Iterator[Callable[[str], int]]:
    """Start a server as its owner does; gives a way to send it a wrong token with a header."""
    env = {**os.environ, "BACKSHOP_HOME": str(home)}
    env |= {} if proxies is None else {"BACKSHOP_TRUSTED_PROXIES": proxies}
    command = [sys.executable, "-m", "backshop.cli", *SERVERS[door]]
    with (
        httpx2.Client(timeout=60, verify=PLAIN) as client,
        subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process,
    ):
        try:
            assert process.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
            assert found is not None

            def guess(forwarded: str) -> int:
                headers = {"x-forwarded-for": forwarded}
                if door == "mcp":
                    headers["authorization"] = "Bearer bsu_wrong"
                    sent = client.post(f"{found[0]}/mcp", json={}, headers=headers)
                else:
                    form = {"token": "bsu_wrong"}
                    sent = client.post(f"{found[0]}/login", data=form, headers=headers)
                return sent.status_code

            yield guess
        finally:
            process.terminate()
            process.communicate(timeout=60)


@pytest.mark.rule("T6.4", "S3.2")
@pytest.mark.parametrize("proxies", [None, "10.0.0.7"])
@pytest.mark.parametrize("door", SERVERS)
def test_who_is_no_trusted_proxy_guesses_under_one_address_whatever_it_says(
    tmp_path, door, proxies
):
    with guessing(door, tmp_path / "home", proxies) as guess:
        answers = [guess(f"203.0.113.{n}") for n in range(PER_ADDRESS + 1)]

    assert answers == [WRONG[door]] * PER_ADDRESS + [429]


@pytest.mark.rule("T6.4", "S3.2")
@pytest.mark.parametrize("door", SERVERS)
def test_behind_a_trusted_proxy_one_who_guesses_locks_out_nobody_else(tmp_path, door):
    with guessing(door, tmp_path / "home", "10.0.0.7,127.0.0.0/8") as guess:
        answers = [guess("203.0.113.1") for _ in range(PER_ADDRESS + 1)]
        other = guess("203.0.113.2")
        forged = guess("203.0.113.3, 203.0.113.1")  # the proxy adds whom it sees at the end

    assert answers == [WRONG[door]] * PER_ADDRESS + [429]
    assert (other, forged) == (WRONG[door], 429)
