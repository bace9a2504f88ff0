"""Shell completion and the manual page, made from the commands themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from backshop.cli import main
from backshop.cli.main import LAZY

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.rule("S4.2")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_what_it_needs_to_complete(shell, capsys):
    assert main(["completion", shell]) == 0

    assert "_BACKSHOP_COMPLETE" in capsys.readouterr().out


def test_completing_offers_the_commands_that_fit():
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "_BACKSHOP_COMPLETE": "bash_complete",
        "COMP_WORDS": "backshop bench cr",
        "COMP_CWORD": "2",
    }

    done = subprocess.run(
        [sys.executable, "-m", "backshop.cli"], capture_output=True, text=True, env=env, timeout=60
    )

    assert done.stdout.split() == ["plain,create"]


@pytest.mark.rule("S4.2")
def test_the_manual_has_every_command_and_is_sound_roff(capsys):
    assert main(["man"]) == 0

    page = capsys.readouterr().out
    plain = page.replace(r"\-", "-")
    for name in LAZY:
        assert f".B backshop {name}" in plain, name
    assert all(
        line.startswith((".TH", ".ad", ".SH", ".TP", ".B ", ".br", ".sp", ".nf", ".fi"))
        for line in page.splitlines()
        if line.startswith((".", "'"))
    )
    if shutil.which("groff"):
        shown = subprocess.run(
            ["groff", "-K", "utf8", "-man", "-Tutf8"], input=page, capture_output=True, text=True
        )
        assert (shown.returncode, shown.stderr) == (0, "")
