"""Kill a day on a workbench at random moments: what was answered is there, nothing is half done."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from tests.crash import day
from tests.crash.bench_scenarios import Bench
from tests.crash.test_bench import is_part, on_disk, snapshot

pytestmark = pytest.mark.timeout(3600)


def seen(bench: Bench) -> tuple[Any, ...]:
    """Return the files of all heads and what the conversation says."""
    page = bench.call("WorkshopGetConversation")["messages"]
    return snapshot(bench), [(one["type"], one.get("text")) for one in page]


def stages(start: Path) -> tuple[list[Any], float]:
    """Return the states an undisturbed day goes through, and how long it takes."""
    folder = start.with_name("whole")
    shutil.copytree(start, folder, symlinks=True)
    with Bench(folder) as bench:
        found = [seen(bench)]
        begun = time.perf_counter()
        day.live(folder, lambda _: found.append(seen(bench)))
        taken_ms = (time.perf_counter() - begun) * 1000
    shutil.rmtree(folder)
    return found, taken_ms


@pytest.mark.rule("T2.5", "T7.8", "T8.4", "B3.2", "B9.13", "W15.7")
def test_a_day_killed_at_any_moment_goes_on_from_its_last_answer(harness, tmp_path, scaled):
    start = tmp_path / "start"
    start.mkdir()
    day.start(start)
    wanted, taken_ms = stages(start)

    runs = harness.random_kills(
        "tests.crash.day:live", start, count=scaled(4, 500), within_ms=taken_ms
    )
    for kill in runs:
        with Bench(kill.folder) as bench:
            bench.call("WorkbenchOpen")
            assert seen(bench) in wanted[len(kill.said) : len(kill.said) + 2], kill.how
            now = snapshot(bench)
            draft = now.draft
            if draft is not None and is_part(bench):
                draft = dict(draft.items() - now.published.items())
            for view, files in (("published", now.published), ("draft", draft)):
                assert on_disk(bench.place / view) == files, kill.how
            assert bench.call("WorkbenchOpen")["health"] == "ok", kill.how
            assert all(
                bench.shop.store.health(h.stream).is_healthy for h in bench.shop.store.streams()
            ), kill.how
