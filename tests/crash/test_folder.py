"""Kill what writes into a person's own folder: each file is old or new, and the rest goes on."""

from __future__ import annotations

import pytest
from tests.crash import folder_scenarios as scenarios
from tests.crash.bench_scenarios import Bench
from tests.crash.folder_scenarios import AFTER, BEFORE, NEW, THEIRS, WISHES

from backshop.bench.folder.exchange import Became

pytestmark = [pytest.mark.needs("strace"), pytest.mark.timeout(3600)]
SCENARIOS = "tests.crash.folder_scenarios"


def text(path):
    return path.read_text() if path.exists() else None


@pytest.mark.rule("B23.7", "B23.12")
@pytest.mark.parametrize("name", ["exchange", "exchange_by_turns"])
def test_killed_anywhere_each_file_is_old_or_new_and_all_are_finished(
    harness, tmp_path, scaled, name
):
    start = tmp_path / "start"
    start.mkdir()
    scenarios.start_files(start)

    for kill in harness.kills_at_each(f"{SCENARIOS}:{name}", start, sample=scaled(8, 10_000)):
        own = kill.folder / "own"
        for file, (before, after) in WISHES.items():
            allowed = {before, after, THEIRS} if file == "theirs.txt" else {before, after}
            if name == "exchange_by_turns" and before is not None:
                allowed.add(None)  # for a moment, and told
            assert text(own / file) in allowed
        (own / "beside").unlink(missing_ok=True)  # the other program's own

        became = {file: scenarios.exchanged(kill.folder, file) for file in WISHES}

        saved = any(line.startswith("theirs.txt") for line in kill.said)
        assert not saved or became["theirs.txt"] is Became.CHANGED
        for file, (_, after) in WISHES.items():
            wanted = THEIRS if became[file] is Became.CHANGED else after
            assert text(own / file) == wanted
        assert text(own / "theirs.txt") in (THEIRS, NEW)
        assert {one.name for one in own.iterdir()} <= set(WISHES)


@pytest.mark.rule("B23.6", "B23.12")
@pytest.mark.parametrize("name", ["publish_folder", "resume_folder"])
def test_killed_while_a_folder_is_written_each_file_is_old_or_new_and_the_log_knows(
    harness, tmp_path, scaled, name
):
    start = tmp_path / "start"
    start.mkdir()
    begin = scenarios.start_bench if name == "publish_folder" else scenarios.start_unwritten
    begin(start)

    for kill in harness.kills_at_each(f"{SCENARIOS}:{name}", start, sample=scaled(8, 10_000)):
        for path in {**BEFORE, **AFTER}:
            assert text(kill.folder / "own" / path) in (BEFORE.get(path), AFTER.get(path))
        check(kill)


@pytest.mark.rule("B23.21")
def test_a_full_disk_while_a_folder_is_written_leaves_it_resumable(harness, tmp_path, scaled):
    start = tmp_path / "start"
    start.mkdir()
    scenarios.start_unwritten(start)
    runs = harness.failures(
        f"{SCENARIOS}:resume_folder",
        start,
        "ENOSPC",
        sample=scaled(4, 10_000),
        calls="write,fsync,mkdirat,renameat2",
    )
    for run in runs:
        for path in {**BEFORE, **AFTER}:
            assert text(run.folder / "own" / path) in (BEFORE.get(path), AFTER.get(path))
        check(run)


def check(outcome) -> None:
    """After the next open: the folder holds what Published is, nothing is left beside it."""
    own = outcome.folder / "own"
    with Bench(scenarios.here(outcome.folder)) as bench:
        bench.call("WorkbenchOpen")
        state = bench.call("FolderGetState")
        draft = bench.call("DraftGetState")["has_draft"]
        desk = bench.shop.benches.desk
        entries = desk.entries(desk.state(bench.id).published).items()
        published = {path: desk.store.blobs.read(file.sha256).decode() for path, file in entries}
    held = {
        one.relative_to(own).as_posix(): one.read_text() for one in own.rglob("*") if one.is_file()
    }
    assert published == held == (BEFORE if draft else AFTER)
    assert state["in_step"]
    assert draft is False or "done" not in outcome.said
