"""Every Python block of the guides runs, page by page, as a reader would run it (S8.2)."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
    *sorted((ROOT / "docs" / "start").glob("*.md")),
    ROOT / "README.md",
]
BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```\s*$", re.MULTILINE | re.DOTALL)


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

    for line, code in python_blocks(page):
        # Blank lines first, so that a traceback names the line of the page.
        exec(compile("\n" * line + code, str(page), "exec"), module.__dict__)


@pytest.mark.parametrize("page", GUIDES, ids=[page.stem for page in GUIDES])
def test_every_block_of_a_guide_says_its_language(page):
    text = page.read_text(encoding="utf-8")

    assert text.count("```") % 2 == 0
    assert "```py\n" not in text, "say `python`, so that the block is run"
    assert "```Python" not in text
