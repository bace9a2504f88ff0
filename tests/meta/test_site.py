"""The documentation site builds, and no link of it leads nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_site_builds_and_every_link_leads_somewhere(tmp_path):
    program = [sys.executable, str(ROOT / "tools" / "site.py"), str(tmp_path / "site")]
    done = subprocess.run(program, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "site" / "docs" / "guides" / "team.html").read_text()
    assert '<a href="../reference/settings.html">' in page
    assert len(list((tmp_path / "site").rglob("*.html"))) > 40


def test_a_link_that_leads_nowhere_stops_it(tmp_path):
    root = tmp_path / "repository"
    (root / "docs").mkdir(parents=True)
    (root / "tools").mkdir()
    (root / "docs" / "index.md").write_text("# A\n[x](gone.md) [y](#nothing)\n")
    (root / "tools" / "site.py").write_text((ROOT / "tools" / "site.py").read_text())

    program = [sys.executable, str(root / "tools" / "site.py"), str(tmp_path / "site")]
    done = subprocess.run(program, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "docs/index.md: gone.md leads nowhere",
        "docs/index.md: #nothing names no heading",
    ]
    assert not (tmp_path / "site").exists()
