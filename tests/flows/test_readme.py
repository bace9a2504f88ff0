"""The transcripts of the README and of a guide are what really happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from backshop.cli import main

ROOT = Path(__file__).parents[2]
BENCH = re.compile(r"\bwb_[0-9A-Z]{26}")
IDS = re.compile(r"\b(?:wb|cp)_[0-9A-Z]{26}|\b[0-9a-f]{64}\b|(?<=→ )\d+|(?<=wrote )/\S+")


def scenes(page: str) -> list[tuple[list[str], str]]:
    """Return each command of the transcript with what it prints."""
    text = (ROOT / page).read_text(encoding="utf-8")
    (block,) = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    parts = re.split(r"^\$ backshop (.*)\n", block, flags=re.MULTILINE)[1:]
    return [(shlex.split(line), told) for line, told in zip(parts[::2], parts[1::2], strict=True)]


@pytest.mark.parametrize("page", ["README.md", "docs/guides/one-line-and-again.md"])
def test_the_transcript_is_what_happens(tmp_path, capsys, monkeypatch, page):
    monkeypatch.setenv("BACKSHOP_HOME", str(tmp_path / "home"))
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    last = ""

    for command, told in scenes(page):
        assert main([last if word == "wb_…" else word for word in command]) == 0, command
        out = capsys.readouterr().out
        last = (BENCH.findall(out) or [last])[-1]
        shown = IDS.sub("…", out)
        wanted = re.sub(r"\b(?:wb|cp)_…", "…", told)
        if told.rstrip().endswith("\n…"):  # only its beginning is quoted
            assert shown.startswith(wanted.rstrip().removesuffix("…"))
        else:
            assert shown.rstrip() == wanted.rstrip()
