"""Kill a turn at any durable write: resuming ends in the same files and one answer (W23.75)."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from tests.conftest import PROOF
from tests.crash import workshop_story as story
from tests.crash.harness import Harness
from tests.postgres import fresh_database

from backshop.base.errors import BackshopError

pytestmark = pytest.mark.timeout(7200 if PROOF else 900)
RUN = "tests.crash.workshop_story:run"
DATABASES = ["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))]


@contextmanager
def started(folder: Path, database: str) -> Iterator[Path]:
    """Give the beginning of the story on a database of this kind."""
    folder.mkdir()
    with fresh_database() if database == "postgres" else nullcontext() as url:
        if url:
            (folder / "url").write_text(url)
        story.start(folder)
        yield folder


@contextmanager
def copied(start: Path, name: str) -> Iterator[Path]:
    """Give a copy of the beginning, its database included."""
    folder = start.with_name(name)
    shutil.copytree(start, folder, symlinks=True)
    url = folder / "url"
    with fresh_database(url.read_text()) if url.exists() else nullcontext() as twin:
        if twin:
            url.write_text(twin)
        yield folder
    shutil.rmtree(folder)


def files(shop, bench) -> dict[str, str]:
    desk = shop.benches.desk
    draft = desk.state(bench).draft
    assert draft is not None
    entries = desk.entries(draft.tree).items()
    return {path: desk.store.blobs.read(file.sha256).decode() for path, file in entries}


def resumed(folder: Path) -> None:
    """Go on with the turn in a new process's place, and look at everything it left."""
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
        shown = shop.config.home / "benches" / bench / "draft"

        assert (done["status"], again) == ("complete", done)
        assert files(shop, bench) == story.DONE
        assert {path: (shown / path).read_text() for path in story.DONE} == story.DONE
        assert [(a["status"], a["text"]) for a in answers] == [("complete", story.ANSWER)]
        assert [item["status"] for item in plan["items"]] == ["done"] * story.ITEMS
        assert all(shop.store.health(head.stream).is_healthy for head in shop.store.streams())


def killed_and_resumed(harness: Harness, start: Path, sort: str, sample: int | None) -> None:
    """Kill the story before each durable write of a sort, or a sample of them, and go on.

    A run makes some files more or less than another: by timers, beside what it does. So a child may
    come to its end before the last points; what it left is looked at all the same.
    """
    with copied(start, "whole") as whole:
        status, appends, written = harness.run(RUN, whole).said[0].split()
        assert status == "complete"
    points = range(1, int(appends if sort == "append" else written) + 1)
    assert len(points) >= (20 if sort == "append" else 60)
    for point in sorted(random.Random(5).sample(points, sample or len(points))):
        with copied(start, f"kill-{point}") as folder:
            (folder / "kill").write_text(f"{sort} {point}")

            outcome = harness.run(RUN, folder)

            is_late = sort == "file" and point > 0.9 * len(points)
            assert outcome.ended == "killed" or is_late, (point, outcome)
            resumed(folder)


@pytest.mark.rule("W23.75", "W23.30", "W23.31", "W13.6", "W11.13", "W5.10", "W12.1", "W10.2")
@pytest.mark.parametrize("database", DATABASES)
def test_killed_between_any_two_appends(harness, tmp_path, database):
    with started(tmp_path / "start", database) as start:
        killed_and_resumed(harness, start, "append", None if PROOF else 3)


@pytest.mark.rule("W23.75", "W10.2", "B3.2")
def test_killed_at_any_write_beside_the_log(harness, tmp_path):
    """Contents and folders are files on either database; here each step that makes one last."""
    with started(tmp_path / "start", "sqlite") as start:
        killed_and_resumed(harness, start, "file", None if PROOF else 2)


@pytest.mark.rule("W23.46", "W5.10", "W5.9", "W12.6")
def test_killed_while_the_answer_comes(harness, tmp_path):
    with started(tmp_path / "start", "sqlite") as start:
        outcome = harness.run("tests.crash.workshop_story:stream", start)
        shop, bench, _ = story.opened(start)
        with shop:
            shop.call("WorkbenchOpen", {"workbench_id": bench})
            state = shop.call("WorkshopGetState", {"workbench_id": bench})
            page = shop.call("WorkshopGetConversation", {"workbench_id": bench})

        assert outcome.ended == "killed"
        [kept] = [m for m in page["messages"] if m["type"] == "assistant_message"]
        assert (kept["status"], state["resumable_turn"]["done_items"]) == ("interrupted", 6)
        assert kept["text"].startswith("I changed table.txt, ")  # all that came before
        resumed(start)


@pytest.mark.rule("B22.82", "W12.1", "B7.6")
def test_killed_after_its_second_batch_only_its_own_message_goes_on(harness, tmp_path):
    with started(tmp_path / "start", "sqlite") as start:
        (start / "kill").write_text("batch 3")
        outcome = harness.run(RUN, start)
        shop, bench, _ = story.opened(start)
        with shop:
            left = files(shop, bench)
            sent = {"workbench_id": bench, "text": "Something else"}
            with pytest.raises(BackshopError) as other:
                shop.call("WorkshopSendUserMessage", sent)

        assert outcome.ended == "killed"
        assert left == {"table.txt": "rows\none\ntwo\nend\n"}
        assert other.value.code == "DRAFT_EXISTS"
        resumed(start)


@pytest.mark.rule("W23.91", "W11.34", "W12.7", "W5.10")
def test_killed_in_direct_work_it_goes_on_with_what_it_wrote(harness, tmp_path):
    with started(tmp_path / "start", "sqlite") as start:
        (start / "direct").touch()
        (start / "kill").write_text("batch 2")
        outcome = harness.run(RUN, start)
        shop, bench, message = story.opened(start)
        with shop:
            shop.call("WorkbenchOpen", {"workbench_id": bench})
            state = shop.call("WorkshopGetState", {"workbench_id": bench})
            left = files(shop, bench)
            done = shop.call("WorkshopRunAgent", {"workbench_id": bench, "message_id": message})
            page = shop.call("WorkshopGetConversation", {"workbench_id": bench})
            whole = files(shop, bench)

        assert (outcome.ended, state["resumable_turn"]["phase"]) == ("killed", "implement")
        assert left == {"table.txt": "rows\none\nend\n"}
        assert (done["status"], whole) == ("complete", story.DIRECTLY_DONE)
        answers = [m for m in page["messages"] if m["type"] == "assistant_message"]
        assert [(one["status"], one["text"]) for one in answers] == [("complete", "Two rows.")]
