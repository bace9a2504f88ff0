"""The generated pages say what the program does, and links in our pages lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def test_the_reference_is_as_the_program_is():
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "reference.py"), "--check"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    missing = []
    for name, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in headings(target)):
            missing.append(f"{name}#{anchor}" if anchor else name)

    assert missing == []


def headings(page: Path) -> set[str]:
    """Return the anchors a page has, as the usual renderers make them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_every_page_is_reached_from_the_first():
    """Whoever begins at docs/index.md or the README can get to every page by links."""
    seen: set[Path] = set()
    waiting = [ROOT / "README.md", ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in seen:
            continue
        seen.add(page)
        if page.is_dir():
            waiting += page.glob("*.md")
        elif page.suffix == ".md":
            links = re.findall(r"\]\(([^)#:\s]+)", page.read_text(encoding="utf-8"))
            waiting += [page.parent / link for link in links if (page.parent / link).exists()]

    assert sorted(set(PAGES) - seen) == []
