"""The transcript of the README is what really happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from backshop.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
IDS = re.compile(r"\b(?:wb|cp)_[0-9A-Z]{26}|\b[0-9a-f]{64}\b|(?<=→ )\d+")


def scenes() -> list[tuple[list[str], str]]:
    """Return each command of the transcript with what it prints."""
    (block,) = re.findall(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    parts = re.split(r"^\$ backshop (.*)\n", block, flags=re.MULTILINE)[1:]
    return [(shlex.split(line), told) for line, told in zip(parts[::2], parts[1::2], strict=True)]


def test_the_transcript_is_what_happens(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("BACKSHOP_HOME", str(tmp_path / "home"))

    for command, told in scenes():
        assert main(command) == 0, command
        shown = IDS.sub("…", capsys.readouterr().out)
        wanted = re.sub(r"\b(?:wb|cp)_…", "…", told)
        if told.rstrip().endswith("\n…"):  # only its beginning is quoted
            assert shown.startswith(wanted.rstrip().removesuffix("…"))
        else:
            assert shown.rstrip() == wanted.rstrip()
