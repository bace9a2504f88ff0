"""What a review says of a Draft comes from the log alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.workshop.conftest import Chat, story

from backshop.app import Backshop
from backshop.base.event import registered
from backshop.bench import CALLS
from backshop.models.ledger import events

ROOT = Path(__file__).resolve().parents[2]
LOOK = """
import json, sys
from backshop.app import Backshop
from backshop.base.event import registered
with Backshop.open(sys.argv[1]) as shop:
    found = shop.call("ReviewGetChangeSet", {"workbench_id": sys.argv[2]})
rooms = ("models", "prompts", "rails", "web", "workshop.service", "workshop.turns")
loaded = [one for one in rooms if f"backshop.{one}" in sys.modules]
print(json.dumps([found["draft_summary"], [one["path"] for one in found["entries"]], loaded]))
"""


@pytest.mark.rule("B11.8", "B13.2", "S2.4")
def test_a_review_of_an_agents_draft_loads_neither_agent_nor_models(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        chat = Chat(shop, tmp_path)
        chat.play(story(("b.txt", "b"), answer="I wrote b.txt."))
        chat.ask()
        kinds = {kind.partition(".")[0] for kind in chat.kinds()}
    env = {"PYTHONPATH": str(ROOT / "src"), "PATH": os.defpath}
    command = [sys.executable, "-c", LOOK, str(tmp_path / "home"), chat.id]

    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)

    assert kinds >= {"draft", "model", "workshop"}  # it lies between facts of those rooms
    assert json.loads(done.stdout) == ["I wrote b.txt.", ["b.txt"], []]


@pytest.mark.rule("B11.8")
def test_what_is_passed_over_are_the_facts_of_calls_and_no_others():
    passed = {one.name: one.cls.__module__ for one in registered() if one.name.startswith(CALLS)}
    of_models = {one.name for one in registered() if one.cls.__module__ == events.__name__}

    assert set(passed) == of_models
