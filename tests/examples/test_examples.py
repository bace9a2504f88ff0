"""Every example runs as a person runs it, offline, and shows what it is there to show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SHOWN = {
    "change_review_over_mcp": """\
start_workflow: ok, the step is: What changed
continue_workflow: blocked, the step is: What changed
   This step needs a mr_review.changed_files artifact; no artifacts were sent.
continue_workflow: ok, the step is: What it is for
-- the server is gone; a new one, a new chat
continue_workflow: ok, the step is: What it is for
   remembered: ['One file; the parser is the risky one.']
continue_workflow: ok, the step is: What it is for
   the same call gives the recorded answer: True
-- the chat is rewound to the first step
continue_workflow: ok, the step is: What changed
continue_workflow: ok, the step is: What it is for
continue_workflow: ok, the step is: What it is for
   this branch knows: ['Two files: a test was missed.']
continue_workflow: ok, the step is: What it is for
   the other still knows: ['One file; the parser is the risky one.']
""",
    "own_format": """\
[{"section": "ingredients", "lines": 2}, {"section": "steps", "lines": 2}]
200 g lentils
1 onion
title: Lentil soup
""",
    "own_prompt": """\
answer: Reply(text='tent: 4 in stock', in_stock=True)
tools: ['look_up']
before: Be brief.
after:  Be warm.
""",
    "own_provider": """\
listed: ['house:counter']
answer: The counter counts 6 words.
""",
    "own_workflow": """\
step: Read invoice and order
step: Compare
step: Report
step: complete
the same tokens again give the recorded answer:
step: Report
going back to the second step begins a branch:
step: Compare
step: Report
step: complete
branches kept: 2
""",
    "review_over_mcp": """\
N tools; one of them publishes: False
read: Your parcel is late. We do not care.
outside the workbench: refused
review: modified letter.txt: A kinder sentence
published; what it replaced is kept as a checkpoint: True
""",
    "translate_workbook": """\
modified: menu.xlsx (Added English names)
changed beyond what was asked: 0
Linsensuppe | 5.5 | Lentil soup
Käsespätzle | 9.8 | Cheese noodles
Apfelkuchen | 3.9 | Apple cake
""",
}


@pytest.mark.rule("S8.2")
@pytest.mark.parametrize("name", SHOWN)
def test_an_example_shows_what_it_says(name, tmp_path):
    env = {**os.environ, "BACKSHOP_OFFLINE": "1", "HOME": str(tmp_path), "PYTHONUTF8": "1"}
    env["PYTHONPATH"] = str(ROOT / "src")

    done = subprocess.run(
        [sys.executable, "-W", "error", os.path.relpath(EXAMPLES / name, ROOT)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=env,
        timeout=100,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert re.sub(r"^\d+ tools", "N tools", done.stdout) == SHOWN[name]


def test_every_example_is_listed_and_run():
    folders = {path.name for path in EXAMPLES.iterdir() if (path / "__main__.py").exists()}
    listed = set(re.findall(r"^\| \[(\w+)\]", (EXAMPLES / "README.md").read_text(), re.MULTILINE))

    assert folders == listed == {*SHOWN, "code_reviewer"}
