"""Kill a turn between any two appends: resuming ends in the same files and one answer (W23.75)."""

from __future__ import annotations

import random
import shutil

import pytest
from tests.crash import workshop_story as story
from tests.crash.harness import Harness

pytestmark = pytest.mark.timeout(900)
RUN = "tests.crash.workshop_story:run"


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workshop") / "start"
    folder.mkdir()
    story.start(folder)
    return folder


def files(shop, bench) -> dict[str, str]:
    desk = shop.benches.desk
    draft = desk.state(bench).draft
    assert draft is not None
    entries = desk.entries(draft.tree).items()
    return {path: desk.store.blobs.read(file.sha256).decode() for path, file in entries}


def resumed(folder) -> None:
    shop, bench, message = story.opened(folder)
    with shop:
        shop.call("WorkbenchOpen", {"workbench_id": bench})
        state = shop.call("WorkshopGetState", {"workbench_id": bench})
        assert "active_turn" not in state  # the dead process holds nothing
        done = shop.call("WorkshopRunAgent", {"workbench_id": bench, "message_id": message})
        again = shop.call("WorkshopRunAgent", {"workbench_id": bench, "message_id": message})
        page = shop.call("WorkshopGetConversation", {"workbench_id": bench})
        answers = [m for m in page["messages"] if m["type"] == "assistant_message"]
        plan = shop.call("WorkshopGetPlan", {"workbench_id": bench})
        shown = shop.config.home / "benches" / bench / "draft" / "table.txt"

        assert (done["status"], again) == ("complete", done)
        assert files(shop, bench) == story.DONE
        assert shown.read_text() == story.DONE["table.txt"]
        assert [(a["status"], a["text"]) for a in answers] == [
            ("complete", "I changed table.txt and new.txt.")
        ]
        assert [item["status"] for item in plan["items"]] == ["done"] * 3
        assert all(shop.store.health(head.stream).is_healthy for head in shop.store.streams())


@pytest.mark.rule("W23.75", "W23.30", "W23.31", "W13.6", "W11.13", "W5.10", "W12.1")
def test_killed_between_any_two_appends(start, scaled):
    with Harness() as harness:
        whole = start.with_name("whole")
        shutil.copytree(start, whole)
        said = harness.run(RUN, whole).said
        status, count = said[0].split()
        assert status == "complete"
        points = list(range(1, int(count) + 1))
        for point in sorted(random.Random(5).sample(points, scaled(6, len(points)))):
            folder = start.with_name(f"kill-{point}")
            shutil.copytree(start, folder)
            (folder / "kill").write_text(str(point))

            outcome = harness.run(RUN, folder)

            assert outcome.ended == "killed", (point, outcome)
            resumed(folder)
            shutil.rmtree(folder)
