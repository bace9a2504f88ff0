"""Kill `backshop do`: the person's files are old or new, and doing it again is safe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.crash import one_line_scenarios as scenarios
from tests.crash.bench_scenarios import Bench
from tests.crash.one_line_scenarios import DRAFT, OWN

pytestmark = [pytest.mark.needs("strace"), pytest.mark.timeout(3600)]
SCENARIOS = "tests.crash.one_line_scenarios"


def text(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def begun(tmp_path: Path, make: Callable[[Path], None]) -> Path:
    (start := tmp_path / "start").mkdir()
    make(start)
    return start


@pytest.mark.rule("B26.2", "B26.4", "S4.6")
def test_killed_while_results_go_back_each_file_is_old_or_new_and_the_bench_knows(
    harness, tmp_path, scaled
):
    start = begun(tmp_path, scenarios.start_draft)

    for kill in harness.kills(f"{SCENARIOS}:finish", start, sample=scaled(6, 10_000)):
        outside = kill.folder / "outside"
        for path, after in DRAFT.items():
            assert text(outside / path) in (OWN.get(path), after)
        with Bench(kill.folder) as bench:
            is_published = not bench.call("DraftGetState")["has_draft"]
            assert is_published or "published" not in kill.said
            if is_published:
                known = bench.shop.benches.desk.state(bench.id).originals
                noted = {path for path, one in known.items() if one.became == "written"}
                assert all(text(outside / path) == DRAFT[path] for path in noted)
                became = bench.call("WorkbenchWriteBack")["files"]
                assert {one["became"] for one in became} <= {"written", "unchanged"}
                assert not {one["path"] for one in became} & noted
                assert {path: text(outside / path) for path in DRAFT} == DRAFT
            else:
                assert {path: text(outside / path) for path in OWN} == OWN
        assert not [one for one in outside.iterdir() if one.name.startswith(".bs-tmp")]


@pytest.mark.proof
@pytest.mark.rule("S4.6")
def test_killed_anywhere_it_can_be_done_again(harness, tmp_path, scaled):
    start = begun(tmp_path, scenarios.start_file)

    for kill in harness.kills(f"{SCENARIOS}:do", start, sample=scaled(1, 500)):
        outside = kill.folder / "outside"
        assert text(outside / "a.txt") in ("old\n", "new\n")
        assert text(outside / "made.txt") in (None, "made\n")

        again = harness.run(f"{SCENARIOS}:do", kill.folder)

        assert again.said in (["ended 0"], ["ended 1"])  # what was made already is in the way
        assert (text(outside / "a.txt"), text(outside / "made.txt")) == ("new\n", "made\n")
