"""What the guides show can be done: Python runs, twice too, and commands are commands (S8.2)."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from backshop.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
    *sorted((ROOT / "docs" / "start").glob("*.md")),
    ROOT / "README.md",
]
EXPLAINED = sorted((ROOT / "docs" / "explain").glob("*.md"))
BLOCK = re.compile(r"^ *```(?P<info>[^\n`]*)\n(?P<code>.*?)^ *```\s*$", re.MULTILINE | re.DOTALL)
RULE = re.compile(r"\b[BFMPRSTUW]\d{1,2}\.\d+\b|\([BFMPRSTUW]\d{1,2}\)")
WORDLESS = re.compile(r" {3,}(?!#)[A-Za-z]")
LEAVES_A_TRACE = {"README", "python", "digest", "your-own-folder"}
"""Pages whose blocks make folders or workbenches by name, which are there the second time."""


def python_blocks(page: Path) -> list[tuple[int, str]]:
    """Return the line and the code of each block marked as Python."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, block.start("code")), block["code"])
        for block in BLOCK.finditer(text)
        if block["info"].strip() == "python"
    ]


@pytest.mark.rule("S8.2")
@pytest.mark.parametrize("page", GUIDES, ids=[page.stem for page in GUIDES])
def test_the_python_of_a_guide_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = f"guide_{page.stem.replace('-', '_')}"
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)

    for _ in range(2 if page.stem in LEAVES_A_TRACE else 1):
        for line, code in python_blocks(page):
            # Blank lines first, so that a traceback names the line of the page.
            exec(compile("\n" * line + code, str(page), "exec"), module.__dict__)


@pytest.mark.parametrize("page", GUIDES, ids=[page.stem for page in GUIDES])
def test_every_block_of_a_guide_says_its_language(page):
    text = page.read_text(encoding="utf-8")

    assert text.count("```") % 2 == 0
    assert "```py\n" not in text, "say `python`, so that the block is run"
    assert "```Python" not in text


def commands(page: Path) -> list[str]:
    """Return each command line of the product in the blocks of a page, as it would be pasted."""
    text = page.read_text(encoding="utf-8")
    lines = [
        line.strip().removeprefix("$ ").removeprefix(".venv/bin/")
        for block in BLOCK.finditer(text)
        if block["info"].strip() in {"", "sh", "console", "text"}
        for line in block["code"].splitlines()
    ]
    return [line for line in lines if line.startswith("backshop ")]


def check_command(line: str) -> None:
    """Raise unless every word of a command line is a command, an option or a value it takes."""
    known: click.Command = cli
    words = shlex.split(line, comments=True)[1:]
    while isinstance(known, click.Group) and words and not words[0].startswith("-"):
        found = known.get_command(click.Context(known), words[0])
        assert found is not None, f"{words[0]!r} of: {line}"
        known, words = found, words[1:]
    given = [word.partition("=")[0] for word in words if word.startswith("--")]
    options = {name for parameter in known.params for name in parameter.opts}
    assert set(given) <= options, f"{set(given) - options} of: {line}"


@pytest.mark.rule("S8.2")
@pytest.mark.parametrize("page", [*GUIDES, *EXPLAINED], ids=lambda page: page.stem)
def test_the_commands_of_a_page_are_commands_and_can_be_pasted(page):
    for line in commands(page):
        assert not WORDLESS.search(line), f"say it behind a #: {line}"
        check_command(line)


@pytest.mark.parametrize("page", GUIDES, ids=[page.stem for page in GUIDES])
def test_a_guide_speaks_in_words_and_not_in_numbers_of_rules(page):
    text = page.read_text(encoding="utf-8")

    assert RULE.findall(BLOCK.sub("", text)) == []
