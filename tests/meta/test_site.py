"""The documentation site builds, and no link of it leads nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Read(HTMLParser):
    """What a built page links to, and the places in it that can be linked to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.page = page
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [found[name] for name in ("href", "src") if found.get(name)]
        self.ids |= {found["id"]} if "id" in found else set()

    def aims(self) -> list[tuple[str, Path, str]]:
        """Return each link within the site, the file it leads to, and the place there."""
        inside = [(link, urlsplit(link)) for link in self.links]
        return [
            (link, Path(os.path.normpath(self.page.parent / unquote(parts.path))), parts.fragment)
            if parts.path
            else (link, self.page, parts.fragment)
            for link, parts in inside
            if not parts.scheme
        ]


def built(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(root / "tools" / "site.py"), str(site)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> dict[Path, Read]:
    """Build the site; return its pages."""
    folder = tmp_path_factory.mktemp("built") / "site"
    done = built(ROOT, folder)
    assert (done.returncode, done.stderr) == (0, "")
    return {page: Read(page) for page in folder.rglob("*.html")}


def test_every_link_of_the_built_site_leads_to_a_file_and_a_place_of_it(site):
    assert len(site) > 40
    wrong = [
        f"{page.name}: {link}"
        for page, read in site.items()
        for link, aim, place in read.aims()
        if not aim.is_file() or (place and unquote(place) not in site[aim].ids)
    ]
    assert wrong == []


def test_every_page_is_reached_from_the_first(site):
    folder = next(page for page in site if page.name == "SECURITY.html").parent
    seen: set[Path] = set()
    waiting = [folder / "README.html", folder / "docs" / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in site and page not in seen:
            seen.add(page)
            waiting += [aim for _, aim, _ in site[page].aims()]

    assert sorted(set(site) - seen) == []


def test_links_to_folders_and_to_files_of_the_repository_lead_into_the_site(tmp_path):
    root = tmp_path / "repository"
    for path, text in {
        "docs/index.md": "# A\n[guides](guides) [spec](spec/) [code](../examples/one.py)",
        "docs/guides/a.md": "# First\n[back](../index.md#a)",
        "docs/guides/b.md": "# Second",
        "docs/spec/README.md": "# Rules",
        "examples/one.py": "pass",
        "tools/site.py": (ROOT / "tools" / "site.py").read_text(),
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    done = built(root, tmp_path / "site")

    assert (done.returncode, done.stderr) == (0, "")
    docs = tmp_path / "site" / "docs"
    own = Read(docs / "index.html").links[2:]  # after the style and the heading of the site
    assert own == ["guides/index.html", "spec/README.html", "../examples/one.py"]
    assert Read(docs / "guides" / "index.html").links[2:] == ["a.html", "b.html"]
    assert (tmp_path / "site" / "examples" / "one.py").read_text() == "pass"


def test_a_link_that_leads_nowhere_stops_it(tmp_path):
    root = tmp_path / "repository"
    (root / "docs").mkdir(parents=True)
    (root / "tools").mkdir()
    wrong = "[x](gone.md) [y](#nothing) [z](../tools) [o](../../other.md)"
    (root / "docs" / "index.md").write_text(f"# A\n{wrong}\n")
    (root / "tools" / "site.py").write_text((ROOT / "tools" / "site.py").read_text())
    (tmp_path / "other.md").write_text("# Outside")

    done = built(root, tmp_path / "site")

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "docs/index.md: gone.md leads nowhere",
        "docs/index.md: #nothing names no heading",
        "docs/index.md: ../tools leads nowhere",
        "docs/index.md: ../../other.md leads nowhere",
    ]
    assert not (tmp_path / "site").exists()
