"""The product in one page (S1.1–S1.4): each sentence of it, through the doors people use."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.workshop.conftest import Chat, story

from backshop.app import Backshop

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = {"a.txt": "one\n", "b.txt": "two\n"}
CHANGED = {"a.txt": "ONE\n", "b.txt": "two\n", "c.txt": "new\n"}
ALONE = """
import sys
from backshop.prompts import MarkdownSection, Prompt, Session
prompt = Prompt("own/app", "hello", sections=[MarkdownSection("Say", "Say hello.", key="say")])
assert "Say hello." in prompt.render(session=Session()).text
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("backshop.")}
print(sorted(rooms & {"app", "bench", "workshop", "rails", "web", "cli", "mcp", "models"}))
"""


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        yield Chat(shop, tmp_path)


def record(chat: Chat) -> list[tuple[int, str]]:
    return [(one.idx, one.hash) for one in chat.shop.store.read(f"bench:{chat.id}")]


def talk(chat: Chat) -> list[tuple[str, str]]:
    """What was said, without the cards about files."""
    return [(who, text) for who, text in chat.said() if who in ("user", "assistant")]


@pytest.mark.rule("S1.1")
def test_an_agent_spoils_nothing_and_every_point_comes_back(chat):
    chat.add(FILES)
    chat.play(story(("a.txt", "ONE\n"), ("c.txt", "new\n")))
    begin = chat.send("Change them")
    chat.run(begin)
    draft, review = chat.draft(), chat.call("ReviewGetChangeSet")
    untouched = chat.published()
    chat.call("DraftDiscard")
    discarded = chat.published()
    chat.ask("Change them again")
    chat.call("DraftPublish")
    published, said, so_far = chat.published(), talk(chat), record(chat)
    chat.call("WorkshopUndoToMessage", message_id=begin, mode="restore_published")
    back, told = chat.published(), talk(chat)
    chat.call("WorkshopRedo")

    outside = {one.name: one.read_text() for one in (chat.folder / "outside").iterdir()}
    assert draft == CHANGED
    assert sorted(one["path"] for one in review["entries"]) == ["a.txt", "c.txt"]
    assert untouched == discarded == FILES
    assert published == CHANGED
    assert (back, told) == (FILES, [("user", "Change them")])
    assert (chat.published(), talk(chat)) == (CHANGED, said)
    assert record(chat)[: len(so_far)] == so_far, "nothing that was written is ever changed"
    assert outside == FILES, "the originals are never touched"


@pytest.mark.rule("S1.2", "W13.1")
def test_the_same_log_carries_the_course_of_the_work(chat):
    chat.add(FILES)
    chat.play(story(("a.txt", "ONE\n"), ("c.txt", "new\n")))
    done = chat.ask("Change them")
    run = chat.shop.call("RailsRunGet", {"runId": done["run_id"]})
    steps = [one["completedStepId"] for one in run["nodes"] if one["completedStepId"]]
    begun = chat.shop.call("start_workflow", {"workflowId": "wr.change_review"})
    streams = {head.stream.partition(":")[0] for head in chat.shop.store.streams()}

    assert run["workflowId"] == "wr.rpi"
    assert steps == ["research", "plan", "implement_item", "implement_item", "summary"]
    assert (run["status"], begun["kind"]) == ("complete", "ok")
    assert {"bench", "session"} <= streams


@pytest.mark.rule("S1.3", "P7.11")
def test_one_prompt_system_builds_every_call(chat):
    chat.add(FILES)
    wire = chat.play(story(("a.txt", "ONE\n")))
    done = chat.ask("Change it")
    shown = {
        phase: chat.call("PromptShow", message_id=done["message_id"], phase=phase)["text"]
        for phase in ("research", "plan", "implement", "summary")
    }

    assert len(wire.requests) >= len(shown)
    for request in wire.requests:
        assert shown[request.purpose.value].startswith(request.system_text)


@pytest.mark.rule("S1.3", "S8.1")
def test_the_prompt_system_is_a_library_of_its_own(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )

    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.rule("S1.4", "S6.3")
def test_three_kinds_of_people_find_their_way_and_the_tests_walk_it():
    """The transcript runs in test_readme, the example and the Python in their own tests."""
    parts = re.findall(r"^## (For people .*)$", README, re.MULTILINE)
    shown = re.search(r"```\n(start_workflow: ok.*?)```", README, re.DOTALL)
    rows = re.findall(r"^\| (.+?) \| (`.*`) \|$", README, re.MULTILINE)
    from tests.examples.test_examples import SHOWN

    assert parts == [
        "For people with documents",
        "For people with a coding agent",
        "For people who build agents in Python",
    ]
    assert shown is not None
    assert shown[1] == SHOWN["change_review_over_mcp"]
    assert README.count("```console") == README.count("```python") == 1
    for page in ("documents", "agents", "python"):
        assert (ROOT / "docs" / "start" / f"{page}.md").exists()
    assert len(rows) >= 5
    for _, text in rows:
        if text.startswith("`{"):
            (server,) = next(iter(json.loads(text.strip("`")).values())).values()
            command = server["command"]
            words = command if isinstance(command, list) else [command, *server["args"]]
            assert words[:2] == ["backshop", "mcp"]
