"""Kill what writes into a person's own folder: each file is old or new, and the rest goes on."""

from __future__ import annotations

import pytest
from tests.crash import folder_scenarios as scenarios
from tests.crash.folder_scenarios import NEW, THEIRS, WISHES

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

    for kill in harness.kills(f"{SCENARIOS}:{name}", start, sample=scaled(8, 10_000)):
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
